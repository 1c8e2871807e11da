//! Viewers of video over one link: when playback begins, when it stands still.
//!
//! Times are worked out by hand: a packet takes 100 ms and its transmission at 100 Mbit/s
//! twice and at 10 Mbit/s once; a full one of 1500 B takes 1.2 ms at the bottleneck.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Progress, Results, Simulation};

/// A window of more than the 167 packets of 0.2 s, and less than the buffer of 217: the
/// bottleneck is never idle within a segment, and nothing is lost. All of it is offered at once.
const WIDE: &str = "{ tcp = { profile = \"linux\", initial_window = 200, window = 200, \
                    receive_buffer = \"0B\" } }";
/// From a window of ten, with what RFC 5681 says of idle times.
const GROWING: &str = "{ tcp = { profile = \"rfc\", mss = \"1448B\", header = \"52B\" } }";

fn film(video: &str, transport: &str, more: &str) -> String {
    format!(
        "{LINK}\n[traffic.film]\narrivals = {{ at = [\"0s\"] }}\nvideo = {video}\n\
         transport = {transport}\n{more}\n"
    )
}

fn viewer(results: &Results, name: &str) -> f64 {
    column(&results.video, name)[0]
}

fn near(measured: f64, expected: f64, by: f64) {
    assert!((measured - expected).abs() < by, "{measured}, by hand {expected}");
}

/// 1 Mbit/s for 4 s are 500 kB: 346 packets of 1448 B, 0.4152 s at the bottleneck. SYN, SYN+ACK,
/// request and first packet take 0.1 s each, so the first segment is there at 0.816 s, with the
/// transmissions of the small packets. The second is asked for at once and there 0.616 s later,
/// at 1.432 s, with 7.384 s in the buffer; 10 s hold one more when 1.384 s are played, at
/// 2.816 s. That is the last; it is there at 3.432 s, and playback ends at 12.816 s.
#[test]
fn segments_come_one_after_the_other_as_they_fit() {
    let video = "{ ladder = [\"1Mbit\"], segment = \"4s\", buffer = \"10s\", length = \"12s\" }";
    let results = run(&load(&film(video, WIDE, ""), &[]), 1);
    near(viewer(&results, "startup_s"), 0.816, 0.001);
    near(flow(&results, "data_done_s"), 3.432, 0.002);
    near(flow(&results, "closed_s"), 3.532, 0.002);
    assert_eq!(flow(&results, "delivered_bytes"), 3.0 * 346.0 * 1448.0);
    assert_eq!(flow(&results, "sent_packets"), 3.0 * 346.0);
    assert_eq!(viewer(&results, "segments"), 3.0);
    assert_eq!((viewer(&results, "stalls"), viewer(&results, "played_s")), (0.0, 12.0));
    assert_eq!(viewer(&results, "rate_mean_bps"), 1e6);
}

/// Of 20 Mbit/s over 10 Mbit/s each segment of 6907 packets takes 8.288 s and a round trip of
/// 0.2 s. The first is there at 8.69 s, each further one 8.49 s later; each plays 4 s. So it
/// stands still from 12.69, 21.18, 29.67 and 38.16 s on, 4.49 s each but for the last.
#[test]
fn a_rate_above_the_link_stalls_after_every_segment() {
    let results = run(&load(&film("{ ladder = [\"20Mbit\"] }", WIDE, ""), &[]), 1);
    near(viewer(&results, "startup_s"), 8.69, 0.01);
    assert_eq!(viewer(&results, "stalls"), 4.0);
    near(viewer(&results, "stalled_s"), 3.0 * 4.49 + 1.84, 0.05);
    near(viewer(&results, "played_s"), 16.0, 0.05);
}

/// A viewer whose patience is 2 s does not wait 8.69 s for a picture.
#[test]
fn a_viewer_gives_up_when_nothing_is_shown() {
    let text = film("{ ladder = [\"20Mbit\"] }", WIDE, "patience = \"2s\"");
    let results = run(&load(&text, &[]), 1);
    assert_eq!(flow(&results, "gave_up_s"), 2.0);
    assert!(viewer(&results, "startup_s").is_nan());
    // 9 s are enough for it, and for the stalls of 4.49 s
    let text = film("{ ladder = [\"20Mbit\"] }", WIDE, "patience = \"9s\"");
    assert!(flow(&run(&load(&text, &[]), 1), "gave_up_s").is_nan());
    // two segments before playback are there at 17.18 s
    let text = film("{ ladder = [\"20Mbit\"], start = \"8s\" }", WIDE, "patience = \"12s\"");
    assert_eq!(flow(&run(&load(&text, &[]), 1), "gave_up_s"), 12.0);
}

/// The window lives on between segments. By hand, with an ACK for every second packet slow start
/// takes the rounds 10, 15, 22, 33, 50, 75, 112 and 29 for the first, eight round trips. The
/// second, asked for at once, has a window of 112 or more: at least the 0.615 s of a full one and
/// at most three round trips and the 0.135 s of a window. The third is asked for after more than
/// the timeout of 1 s without a packet: RFC 5681, 4.1, starts it like the first.
#[test]
fn the_window_lives_on_and_an_idle_one_starts_anew() {
    let film_of = |seconds: u32| {
        let video = format!("{{ ladder = [\"1Mbit\"], buffer = \"8s\", length = \"{seconds}s\" }}");
        run(&load(&film(&video, GROWING, ""), &[]), 1)
    };
    let two = film_of(8);
    let startup = viewer(&two, "startup_s");
    let first = startup - 0.2;
    let second = flow(&two, "data_done_s") - startup;
    let third = flow(&film_of(12), "data_done_s") - startup - 4.0;
    assert!((0.615..0.735).contains(&second), "{second}");
    near(first, 8.0 * 0.2, 0.1);
    near(third, first, 0.002);
}

/// Drops the packets of the viewer with data of their own that are listed.
struct Lose {
    which: Vec<usize>,
    seen: Arc<Mutex<usize>>,
}

impl PerPacket for Lose {
    fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        if !packet.flags.has(Flags::DATA) {
            return Verdict::Pass;
        }
        let mut seen = self.seen.lock().expect("no one panicked");
        *seen += 1;
        if self.which.contains(&*seen) { Verdict::Drop(Reason::Custom) } else { Verdict::Pass }
    }
}

/// A request that is lost is sent again after the first timeout of 1 s, and after 2 s more
/// (RFC 6298, 5.5); Linux's timer wheel is late by up to an eighth of that. Nothing else changes.
#[test]
fn a_lost_request_is_sent_again() {
    let video = "{ ladder = [\"1Mbit\"], buffer = \"10s\", length = \"12s\" }";
    let scenario = load(&film(video, WIDE, ""), &[]);
    for (which, later) in [(vec![], 0.0), (vec![1], 1.0), (vec![1, 2], 3.0)] {
        let mut stages = Stages::new();
        stages.custom = Some(Box::new(Lose { which, seen: Arc::default() }));
        let stages = vec![("bottleneck.reverse".to_owned(), stages)];
        let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
        let waited = viewer(&results, "startup_s") - 0.816;
        assert!(waited > later - 0.001, "{waited} of {later}");
        assert!(waited < later * 1.125 + 0.001, "{waited} of {later}");
        assert_eq!(viewer(&results, "segments"), 3.0);
    }
}

/// What a viewer does from the first SYN on is waiting, watching or standing still: the three
/// make up the run, under every control and profile, with losses in both directions.
#[test]
fn every_second_is_waited_watched_or_stalled() {
    let video = "{ ladder = [\"0.3Mbit\", \"1Mbit\", \"3Mbit\", \"6Mbit\"], buffer = \"12s\", \
                  start = \"6s\" }";
    for profile in ["ns2-2006", "rfc", "linux"] {
        for control in ["reno", "cubic", "bbr", "bbr3"] {
            let transport =
                format!("{{ tcp = {{ profile = \"{profile}\", control = \"{control}\" }} }}");
            for rule in ["bba", "throughput", "fixed"] {
                let set = [
                    ("traffic.film.video.rule", &*format!("{{ law = \"{rule}\" }}")),
                    ("traffic.film.arrivals", "{ at = [\"0s\", \"1s\", \"2.5s\"] }"),
                    ("topology.dumbbell.bottleneck.loss", "0.02"),
                    ("duration", "60s"),
                ];
                let results = run(&load(&film(video, &transport, ""), &set), 7);
                let seen = |name| column(&results.video, name);
                let starts = column(&results.flows, "start_s");
                assert_eq!(seen("segments").len(), 3);
                for (viewer, start) in starts.iter().enumerate() {
                    let [startup, stalled, played] =
                        ["startup_s", "stalled_s", "played_s"].map(|name| seen(name)[viewer]);
                    if startup.is_nan() {
                        assert_eq!((stalled, played), (0.0, 0.0));
                        continue;
                    }
                    near(start + startup + stalled + played, 60.0, 1e-6);
                    assert!(seen("segments")[viewer] * 4.0 >= played, "{profile} {control} {rule}");
                }
            }
        }
    }
}

/// Same scenario, same seed, same bits, however the run is cut into slices.
#[test]
fn slices_change_nothing() {
    let scenario = load(
        &film("{ ladder = [\"1Mbit\", \"4Mbit\"] }", GROWING, ""),
        &[("traffic.film.arrivals", "{ poisson = \"0.5/s\" }"), ("series.classes", "[\"film\"]")],
    );
    let whole = run(&scenario, 3);
    let mut sliced = Simulation::new(&scenario, 3, Custom::default()).unwrap();
    while sliced.advance(Time::NEVER, 7).unwrap() == Progress::Paused {}
    let sliced = sliced.finish();
    assert_eq!(all_bits(&whole), all_bits(&sliced));
    for name in ["startup_s", "stalled_s", "played_s", "rate_mean_bps"] {
        let bits = |results: &Results| -> Vec<u64> {
            column(&results.video, name).iter().map(|value| value.to_bits()).collect()
        };
        assert_eq!(bits(&whole), bits(&sliced), "{name}");
    }
    assert!(whole.video[0].name == "flow" && whole.class_series.len() > 2);
}

/// A scenario without video has no such table.
#[test]
fn without_viewers_there_is_no_table() {
    let text = format!("{LINK}\n[traffic.a]\narrivals = {{ at = [\"0s\"] }}\nsize = \"10kB\"\n");
    assert!(run(&load(&text, &[]), 1).video.is_empty());
}
