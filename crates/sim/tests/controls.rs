//! The controls inside TCP and the repair that goes with them, against RFCs and hand calculations.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// A round trip of 100 ms over a link that is never busy for long.
const FAST: &str = r#"
    name = "fast"
    duration = "60s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "10Gbit", delay = "1ms" }
    bottleneck = { rate = "1Gbit", delay = "48ms", buffer = "100000packets" }
"#;

/// What a port has seen: time in seconds, sequence number, whether it was lost.
pub type Seen = Arc<Mutex<Vec<(f64, u32, bool)>>>;

/// Loses data by sequence number: the n-th sending of a segment, from 0.
struct Lose {
    which: Vec<(u32, usize)>,
    seen: Seen,
}

impl PerPacket for Lose {
    fn arrive(&mut self, packet: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
        if !packet.flags.has(Flags::DATA) {
            return Verdict::Pass;
        }
        let mut seen = self.seen.lock().expect("no one panicked");
        let before = seen.iter().filter(|(_, seq, _)| *seq == packet.seq).count();
        let lost = self.which.contains(&(packet.seq, before));
        seen.push((now.secs(), packet.seq, lost));
        if lost { Verdict::Drop(Reason::Custom) } else { Verdict::Pass }
    }
}

/// One flow over the fast link, whose port loses what is listed.
pub fn lossy(class: &str, which: &[(u32, usize)]) -> (Results, Vec<(f64, u32, bool)>) {
    let text = format!("{FAST}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n{class}");
    let seen = Seen::default();
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(Lose { which: which.to_vec(), seen: seen.clone() }));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &[]), 1, custom);
    let seen = seen.lock().expect("no one panicked").clone();
    (results, seen)
}

/// Packets of each round trip of 100 ms.
pub fn rounds(seen: &[(f64, u32, bool)]) -> Vec<usize> {
    let mut rounds = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for (at, ..) in seen {
        if at - last > 0.04 {
            rounds.push(0);
        }
        last = *at;
        *rounds.last_mut().expect("a round was begun") += 1;
    }
    rounds
}

/// Linux counts what is acknowledged (RFC 3465 without a limit), so that its window
/// doubles though every second segment is acknowledged: 691 segments in rounds of 10, 20,
/// 40, 80, 160, 320, and what is left. Each round but the last is as long as its name says. The
/// receiver offers all from the start.
#[test]
fn linux_doubles_with_delayed_acknowledgements() {
    let class = "size = \"1000000B\"\n\
                 transport = { tcp = { profile = \"linux\", receive_buffer = \"0B\" } }";
    let (results, seen) = lossy(class, &[]);
    assert_eq!(rounds(&seen), [10, 20, 40, 80, 160, 320, 61]);
    // the SYN's round trip, six more, and half of one
    let done = flow(&results, "data_done_s");
    assert!((done - 0.75).abs() < 0.01, "{done}");
}

/// RFC 5681, 3.1 as `rfc` has it: one segment for each ACK, so half as many more a round;
/// with `byte_counting = "none"` it doubles. From a window of ten with ACKs of two.
#[test]
fn the_limit_of_byte_counting_says_how_fast_slow_start_is() {
    let rounds_of = |counting: &str| {
        let class = format!(
            "size = \"146000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", byte_counting = {counting} }} }}"
        );
        rounds(&lossy(&class, &[]).1)
    };
    assert_eq!(rounds_of("\"none\"")[..3], [10, 20, 40]);
    assert_eq!(rounds_of("2")[..3], [10, 20, 40]);
    assert_eq!(rounds_of("1")[..2], [10, 15]);
    assert_eq!(rounds_of("0")[..2], [10, 15]);
}

/// RFC 8985, 7.2 and 7.3: the last of several segments is lost. Two round trips after
/// the last acknowledgement (of 100 ms, with 200 ms more as one segment is out) a probe
/// repairs it, without a timeout; without probes the timer does.
#[test]
fn a_probe_repairs_a_lost_tail() {
    let class = |tlp: bool| {
        format!(
            "size = \"7240B\"\ntransport = {{ tcp = {{ profile = \"linux\", delayed_ack = false, \
             min_rto = \"1s\", send_buffer = 0, tlp = {tlp} }} }}"
        )
    };
    let (with, seen) = lossy(&class(true), &[(4, 0)]);
    assert_eq!(flow(&with, "timeouts"), 0.0);
    assert_eq!(flow(&with, "retransmitted_packets"), 1.0);
    let again = seen.last().expect("something was sent").0;
    // the last acknowledgement reaches the sender 0.2 s after the start, and 1 ms lies before the port
    // Linux adds 2 ms, and looks at a timer of 0.4 s every 32 ms (kernel/time/timer.c)
    assert!((0.603..0.640).contains(&again), "{again}");
    let (without, _) = lossy(&class(false), &[(4, 0)]);
    assert_eq!(flow(&without, "timeouts"), 1.0);
    assert!(flow(&without, "closed_s") > flow(&with, "closed_s") + 0.5);
}

/// Captured between hosts of Linux 6.18 (docs/emulate-tables.md), of a round trip of 100 ms: the FIN of
/// ten segments is a packet of its own, and waits for the window; that of 11 and 17 is on the last
/// one. Of 30 the program writes 21, and the rest when the acknowledgements of the first window
/// have come: it leaves at once, and the FIN waits again. Where the socket takes all at once, the
/// FIN is always on the last segment.
#[test]
fn the_fin_is_on_a_last_segment_that_waited_in_the_socket() {
    let rounds = |segments: u32, settings: &str| {
        let class = format!(
            "size = \"{}B\"\ntransport = {{ tcp = {{ profile = \"linux\"{settings} }} }}",
            1448 * segments
        );
        let (results, _) = lossy(&class, &[]);
        (flow(&results, "closed_s") * 10.0).round() as u32
    };
    assert_eq!([10, 11, 17, 30].map(|segments| rounds(segments, "")), [3, 3, 3, 4]);
    let at_once = ", send_buffer = 0";
    assert_eq!([10, 11, 17, 30].map(|segments| rounds(segments, at_once)), [2, 3, 3, 3]);
    // the last of 17 is lost, and the FIN with it: a probe repairs it, two round trips later. A FIN
    // of its own would tell of the loss
    let again = |settings: &str| {
        let class = format!(
            "size = \"24616B\"\ntransport = {{ tcp = {{ profile = \"linux\"{settings} }} }}"
        );
        lossy(&class, &[(16, 0)]).1.last().expect("something was sent").0
    };
    let (rides, alone) = (again(""), again(", fin_rides = false"));
    assert!(rides > alone + 0.05, "{rides} {alone}");
}

/// RFC 8985, 6.2: the repair of a segment is lost too. What was sent after it and has
/// arrived shows that; by the rules of RFC 6675 only the timer does.
#[test]
fn a_lost_repair_is_noticed_by_time() {
    let class = |rack: bool| {
        format!(
            "size = \"300000B\"\ntransport = {{ tcp = {{ profile = \"linux\", rack = {rack}, tlp = false }} }}"
        )
    };
    // the repair of number 15 is its second sending
    let (timed, seen) = lossy(&class(true), &[(15, 0), (15, 1)]);
    assert_eq!(flow(&timed, "timeouts"), 0.0);
    assert_eq!(flow(&timed, "retransmitted_packets"), 2.0);
    let sent: Vec<f64> = seen.iter().filter(|(_, seq, _)| *seq == 15).map(|s| s.0).collect();
    // each notice takes a round trip
    assert!((sent[1] - sent[0] - 0.1).abs() < 0.02 && (sent[2] - sent[1] - 0.1).abs() < 0.03);
    let (counted, _) = lossy(&class(false), &[(15, 0), (15, 1)]);
    assert_eq!(flow(&counted, "timeouts"), 1.0);
}

/// Every pairing of control and repair gets everything through over a lossy link, and
/// repairs little more than was lost.
#[test]
fn every_repair_works_with_every_control() {
    let lost: Vec<(u32, usize)> = (0..400).step_by(17).map(|seq| (seq, 0)).collect();
    for control in ["reno", "cubic", "bbr", "bbr3", "ledbat"] {
        for (sack, prr, rack, tlp) in [
            (false, false, false, false),
            (true, false, false, false),
            (true, true, false, false),
            (true, false, true, false),
            (true, false, false, true),
            (true, true, true, true),
        ] {
            let class = format!(
                "size = \"600000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", control = \"{control}\", \
                 sack = {sack}, prr = {prr}, rack = {rack}, tlp = {tlp} }} }}"
            );
            let (results, _) = lossy(&class, &lost);
            let case = format!("{control} {sack} {prr} {rack} {tlp}");
            assert_eq!(flow(&results, "delivered_bytes"), 600_000.0, "{case}");
            assert!(flow(&results, "closed_s") < 30.0, "{case}");
            let again = flow(&results, "retransmitted_packets");
            assert!(again >= lost.len() as f64, "{case}: {again}");
            if sack {
                assert!(again <= 2.0 * lost.len() as f64, "{case}: {again}");
            }
        }
    }
}

/// Goodput of classes `one` and `two` over a shared link, in segments per second.
fn share(link: &str, one: &str, two: &str, seconds: f64) -> (f64, f64) {
    let text = format!(
        "{link}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\ntransport = {one}\n\
         [traffic.two]\narrivals = {{ at = [\"0.1s\"] }}\nsize = \"unlimited\"\ntransport = {two}\n"
    );
    let results = run(&load(&text, &[]), 1);
    let bytes = column(&results.flows, "delivered_bytes");
    (bytes[0] / 1460.0 / seconds, bytes[1] / 1460.0 / seconds)
}

/// RFC 9438, 4.3: where the product of rate and delay is small CUBIC takes what Reno takes.
/// 10 Mbit/s and 20 ms are 17 segments; the buffer holds as many.
#[test]
fn cubic_is_friendly_to_reno_where_the_window_is_small() {
    let link = r#"
        name = "friendly"
        duration = "200s"
        [topology.dumbbell]
        pairs = 2
        access = { rate = "100Mbit", delay = "1ms" }
        bottleneck = { rate = "10Mbit", delay = "8ms", buffer = "17packets" }
    "#;
    let tcp = |control| {
        format!("{{ tcp = {{ profile = \"rfc\", sack = true, control = \"{control}\" }} }}")
    };
    let (cubic, reno) = share(link, &tcp("cubic"), &tcp("reno"), 200.0);
    assert!((0.6..1.7).contains(&(cubic / reno)), "{cubic} {reno}");
    assert!(cubic + reno > 0.9 * 10e6 / 8.0 / 1500.0, "{cubic} {reno}");
}

const BBR: &str = r#"
    name = "bbr"
    duration = "25s"
    sample = "10ms"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "1Gbit", delay = "1ms" }
    bottleneck = { rate = "20Mbit", delay = "48ms", buffer = "1000packets" }
    [traffic.one]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { tcp = { profile = "linux", control = "bbr" } }
"#;

/// A column of the bottleneck's samples.
fn sampled(results: &Results, name: &str) -> Vec<f64> {
    let port = column(&results.ports, "port");
    let values = column(&results.ports, name);
    port.iter().zip(&values).filter(|(at, _)| **at == port[0]).map(|(_, value)| *value).collect()
}

/// BBR's phases over 20 Mbit/s and 100 ms, a product of 167 packets. Startup doubles each
/// round trip and leaves up to two products in flight, so about one or two in the queue; the
/// drain empties it within some round trips. Then the queue is far below one product on
/// the average, while the link is busy.
#[test]
fn bbr_fills_the_link_and_not_the_queue() {
    let results = run(&load(BBR, &[]), 1);
    let (time, queue) = (sampled(&results, "time_s"), sampled(&results, "queue_packets"));
    let within = |from: f64, to: f64| -> Vec<f64> {
        let rows = time.iter().zip(&queue).filter(|(at, _)| (from..to).contains(*at));
        rows.map(|(_, packets)| *packets).collect()
    };
    let peak = within(0.0, 2.0).into_iter().fold(0.0, f64::max);
    assert!((80.0..500.0).contains(&peak), "startup: {peak}");
    let least = within(1.0, 4.0).into_iter().fold(f64::INFINITY, f64::min);
    assert!(least < 5.0, "drain: {least}");
    let usual = mean(&within(4.0, 10.0));
    assert!(usual < 167.0 / 2.0, "{usual}");
    let bytes = sampled(&results, "departed_bytes");
    let sent: f64 =
        time.iter().zip(&bytes).filter(|(at, _)| **at > 4.0 && **at <= 10.0).map(|r| r.1).sum();
    assert!(sent * 8.0 / 6.0 > 0.9 * 20e6, "{}", sent * 8.0 / 6.0);
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
}

/// Every ten seconds at most four segments are in flight for 200 ms: the link is all but idle
/// then (4 in 100 ms are 3 % of it), once in 25 s that begin with the least round trip, or twice.
#[test]
fn bbr_pauses_every_ten_seconds() {
    let results = run(&load(BBR, &[]), 1);
    let (time, bytes) = (sampled(&results, "time_s"), sampled(&results, "departed_bytes"));
    let mut pauses: Vec<(f64, f64)> = Vec::new();
    // windows of 100 ms in which less than a fifth of the capacity left
    for (place, at) in time.iter().enumerate().skip(400) {
        let sent: f64 = bytes[place - 9..=place].iter().sum();
        if sent * 8.0 < 0.2 * 20e6 * 0.1 {
            match pauses.last_mut() {
                Some((_, end)) if at - *end < 1.0 => *end = *at,
                _ => pauses.push((*at, *at)),
            }
        }
    }
    assert_eq!(pauses.len(), 2, "{pauses:?}");
    let apart = pauses[1].0 - pauses[0].0;
    assert!((10.0..11.5).contains(&apart), "{pauses:?}");
    for (from, to) in pauses {
        // 200 ms and up to a round trip or two, less the 100 ms of the window
        assert!((0.08..0.5).contains(&(to - from)), "{from} {to}");
    }
}

/// BBR's draft, 4.2.3.4: in the first round of a recovery as much leaves as arrives, however many
/// losses it tells of: `packets_lost` takes from the window what the pipe loses by them. Of BBR's
/// startup every second of forty segments is lost. What is sent in the round trip of the first
/// repair is compared with what passed the port in the one before.
#[test]
fn bbr_sends_what_arrives_while_losses_are_noticed() {
    for recovery in ["recovery = \"sack\"", "recovery = \"sack\", prr = true"] {
        let class = format!(
            "size = \"1000000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", control = \"bbr\", \
             delayed_ack = false, {recovery} }} }}"
        );
        let lost: Vec<(u32, usize)> = (80..120).step_by(2).map(|seq| (seq, 0)).collect();
        let (_, seen) = lossy(&class, &lost);
        let again = seen.iter().position(|(_, seq, _)| *seq == 80).expect("it was sent");
        let begin = seen[again + 1..].iter().find(|(_, seq, _)| *seq == 80).expect("and again").0;
        let within = |from: f64, to: f64| seen.iter().filter(move |s| (from..to).contains(&s.0));
        let passed = within(begin - 0.1, begin).filter(|(.., lost)| !lost).count();
        let left = within(begin, begin + 0.1).count();
        assert!(passed > 40, "{passed}");
        assert!(left.abs_diff(passed) <= 2, "{left} left, {passed} arrived");
    }
}

/// BBR's startup: the rate doubles in a round trip, 10, 20 or more, and so on, until the link is full.
#[test]
fn bbr_doubles_in_startup() {
    let class =
        "size = \"2000000B\"\ntransport = { tcp = { profile = \"linux\", control = \"bbr\" } }";
    let (_, seen) = lossy(class, &[]);
    let sent = |round: u32| {
        let from = 0.1 + 0.1 * f64::from(round);
        seen.iter().filter(|(at, ..)| (from..from + 0.1).contains(at)).count() as f64
    };
    for round in 1..5 {
        let growth = sent(round + 1) / sent(round);
        assert!((1.6..3.0).contains(&growth), "round {round}: {growth}");
    }
}

/// blitz over SACK: the receiver says of which burst a packet beyond the hole was, beside its
/// blocks, so restarts need no timer; losses on a link of 15 Mbit/s, one packet in fifty.
#[test]
fn blitz_restarts_with_sack_as_without() {
    let timeouts = |sack: bool| {
        let text = format!(
            "{FAST}\n[traffic.one]\narrivals = {{ every = \"2s\" }}\nsize = \"300kB\"\n\
             transport = {{ blitz = {{ sack = {sack}, delayed_ack = false }} }}"
        );
        let settings = [("topology.dumbbell.bottleneck.loss", "{ data = 0.02 }")];
        let results = run(&load(&text, &settings), 1);
        column(&results.flows, "timeouts").iter().sum::<f64>()
    };
    let (with, without) = (timeouts(true), timeouts(false));
    assert!(with <= without + 3.0, "{with} with SACK, {without} without");
}

/// Loses every n-th packet of data.
struct Every(u64, u64);

impl PerPacket for Every {
    fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        self.1 += u64::from(packet.flags.has(Flags::DATA));
        if packet.flags.has(Flags::DATA) && self.1.is_multiple_of(self.0) {
            return Verdict::Drop(Reason::Custom);
        }
        Verdict::Pass
    }
}

/// RFC 9438, 5.1, eq. 6 and table 1: losses at equal distances of 1 / p packets leave CUBIC a mean
/// window of 1.054 RTT^0.75 / p^0.75 segments: at 100 ms 187 for p = 1e-4 and 1052 for 1e-5.
/// Reno has 120 and 379 (RFC 3649, 1.2 / p^0.5).
#[test]
fn the_mean_window_is_that_of_the_response_function() {
    for (control, p, expected) in
        [("cubic", 10_000, 187.0), ("cubic", 100_000, 1052.0), ("reno", 10_000, 120.0)]
    {
        let text = format!(
            "{FAST}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
             transport = {{ tcp = {{ profile = \"rfc\", control = \"{control}\", sack = true, prr = true, \
             rack = true, initial_ssthresh = 100, delayed_ack = false }} }}"
        );
        let mut stages = Stages::new();
        stages.custom = Some(Box::new(Every(p, 0)));
        let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
        let scenario = load(&text, &[("duration", "600s")]);
        let results = run_with(&scenario, 1, custom);
        let window = flow(&results, "delivered_bytes") / 1460.0 / 600.0 * 0.1;
        assert!((window / expected - 1.0).abs() < 0.1, "{control} {p}: {window}, {expected}");
        assert_eq!(flow(&results, "timeouts"), 0.0, "{control} {p}");
    }
}

/// Whatever is lost, data, acknowledgements or both, everything arrives in the end and no
/// count contradicts another: the books of a sender are kept by additions and subtractions
/// that must never fall below zero.
#[test]
fn heavy_losses_both_ways_are_survived() {
    for control in ["reno", "cubic", "bbr", "bbr3"] {
        for repair in [
            "sack = false",
            "prr = true, rack = false, tlp = false",
            "prr = false, rack = true, tlp = false",
            "prr = false, rack = false, tlp = true",
            "prr = true, rack = true, tlp = true",
            "prr = true, rack = false, tlp = true, ecn = true, window = 12",
        ] {
            for (data, ack, seed) in [(0.02, 0.0, 1), (0.1, 0.1, 2), (0.3, 0.05, 3), (0.05, 0.2, 4)]
            {
                let text = format!(
                    "{FAST}\n[traffic.some]\narrivals = {{ uniform = 6, within = \"1s\" }}\nsize = \"200kB\"\n\
                     transport = {{ tcp = {{ profile = \"linux\", control = \"{control}\", {repair} }} }}"
                );
                let loss = format!("{{ data = {data}, ack = {ack} }}");
                // a timeout is up to 120 s, and where a third is lost, many follow one another
                let settings =
                    [("topology.dumbbell.bottleneck.loss", loss.as_str()), ("duration", "10000s")];
                let results = run(&load(&text, &settings), seed);
                let case = format!("{control} {repair} {data} {ack}");
                let delivered = column(&results.flows, "delivered_bytes");
                let gave_up = column(&results.flows, "gave_up_s");
                for (bytes, gave_up) in delivered.iter().zip(gave_up) {
                    assert!(*bytes == 200_000.0 || !gave_up.is_nan(), "{case}: {bytes}");
                }
            }
        }
    }
}
