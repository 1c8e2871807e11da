//! The transport against ns-2, RFCs and hand calculations.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// The transmission of 40 B at 100 Mbit/s: how long data waits behind an ACK.
const BEHIND_ACK: f64 = 3.2e-6;

/// What a port has seen: time in seconds, sequence number, whether it was lost.
type Seen = Arc<Mutex<Vec<(f64, u32, bool)>>>;

/// Loses the listed transmissions of data (the n-th, counted from 0) or of
/// SYNs, and notes everything of that kind.
struct Lose {
    what: Flags,
    which: Vec<usize>,
    seen: Seen,
}

impl PerPacket for Lose {
    fn arrive(&mut self, packet: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
        if !packet.flags.has(self.what) {
            return Verdict::Pass;
        }
        let mut seen = self.seen.lock().expect("no one panicked");
        let lost = self.which.contains(&seen.len());
        seen.push((now.secs(), packet.seq, lost));
        if lost { Verdict::Drop(Reason::Custom) } else { Verdict::Pass }
    }
}

/// Runs one flow over the link while its port loses what is listed.
fn lossy(class: &str, what: Flags, which: &[usize]) -> (Results, Vec<(f64, u32, bool)>) {
    let text = format!("{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n{class}");
    let seen = Seen::default();
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(Lose { what, which: which.to_vec(), seen: seen.clone() }));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &[("duration", "400s")]), 1, custom);
    let seen = seen.lock().expect("no one panicked").clone();
    (results, seen)
}

/// features C7 (a flow completes after its FIN) and C9 (segment size, a window of 20):
/// ns-2.35's FullTcp over the same idle link: data complete and closed, in
/// seconds after the first SYN, as its package prints them. It closes when the
/// other end's FIN arrives, 32 us (40 B) behind the last ACK.
#[test]
fn one_flow_on_an_idle_link_takes_what_ns2_takes() {
    let cases = [
        (536, 100, 0.3002, 0.400_305_600),
        (536, 536, 0.3006, 0.400_703_360),
        (536, 1000, 0.5012, 0.601_225_600),
        (536, 1072, 0.3011, 0.601_240_960),
        (536, 10_000, 1.1042, 1.204_274_560),
        (536, 1_000_000, 19.564, 19.663_756_160),
        (1000, 10_000, 0.7056, 1.005_795_200),
    ];
    for (mss, size, data_done, closed) in cases {
        let text = format!(
            "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"{size}B\"\n\
             transport = {{ tcp = {{ profile = \"ns2-2006\", mss = \"{mss}B\" }} }}"
        );
        let results = run(&load(&text, &[]), 1);
        let measured = flow(&results, "data_done_s");
        assert!((measured - data_done).abs() < 0.001, "{mss} {size}: {measured}");
        let measured = flow(&results, "closed_s") + 32e-6;
        assert!((measured - closed).abs() < 1e-9, "{mss} {size}: {measured}");
    }
}

/// features C7 and C8: SYNs lost at t0 come back RTO0, 3 RTO0 and 7 RTO0 later.
#[test]
fn lost_syns_come_back_after_doubling_waits() {
    for (profile, rto) in [("ns2-2005", 6.0), ("ns2-2006", 3.0), ("rfc", 1.0)] {
        let class =
            format!("size = \"100B\"\ntransport = {{ tcp = {{ profile = \"{profile}\" }} }}");
        let (results, seen) = lossy(&class, Flags::SYN, &[0, 1, 2]);
        // 1 ms and the transmission of 40 B at 100 Mbit/s to the port
        let first = 0.001 + 40.0 * 8.0 / 100e6;
        let waits: Vec<f64> = seen.iter().map(|(at, ..)| at - first).collect();
        for (wait, expected) in waits.iter().zip([0.0, rto, 3.0 * rto, 7.0 * rto]) {
            assert!((wait - expected).abs() < 1e-9, "{profile}: {waits:?}");
        }
        assert_eq!(waits.len(), 4);
        assert_eq!(flow(&results, "syn_tries"), 4.0);
        // admitted when the fourth SYN reaches the receiver: the port has no gate
        let reached = 7.0 * rto + 0.1 + 2.0 * 3.2e-6 + 32e-6;
        assert!((flow(&results, "admitted_s") - reached).abs() < 1e-9);
    }
}

/// Linux, `tcp_retransmit_timer`: with `tcp_syn_linear_timeouts` = 4 the wait doubles from the fifth
/// retry on, so that retries follow after 1, 1, 1, 1, 1, 2, 4, 8, 16 and 32 s; after ten (that and
/// `tcp_syn_retries` = 6) and one more wait, of 64 s, it gives up. By hand 5 + 2 + 4 + ... + 64 = 131 s
/// (`ip-sysctl.rst` has the same sum). Exactly so where timers fire at their time.
#[test]
fn linux_retries_linearly_first_and_gives_up() {
    let class =
        "size = \"100B\"\ntransport = { tcp = { profile = \"linux\", timer_rule = \"rfc\" } }";
    let (results, seen) = lossy(class, Flags::SYN, &Vec::from_iter(0..20));
    let gaps: Vec<f64> = seen.windows(2).map(|two| (two[1].0 - two[0].0).round()).collect();
    assert_eq!(gaps, [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    assert!((flow(&results, "gave_up_s") - 131.0).abs() < 1e-9, "after one more wait of 64 s");
    assert!(flow(&results, "admitted_s").is_nan());
}

/// Sequence numbers of the data packets, grouped by round trips of 200 ms.
fn rounds(seen: &[(f64, u32, bool)]) -> Vec<Vec<u32>> {
    let mut rounds: Vec<Vec<u32>> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for (at, seq, _) in seen {
        if at - last > 0.1 {
            rounds.push(Vec::new());
        }
        last = *at;
        rounds.last_mut().expect("a round was begun").push(*seq);
    }
    rounds
}

/// features C6, RFC 5681, 3.1: the window doubles every round trip from its initial value.
#[test]
fn slow_start_doubles_every_round_trip() {
    let class = "size = \"62000B\"\ntransport = { tcp = { profile = \"rfc\", mss = \"1000B\", \
                 initial_window = 2, delayed_ack = false } }";
    let (_, seen) = lossy(class, Flags::DATA, &[]);
    let sizes: Vec<usize> = rounds(&seen).iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 4, 8, 16, 32]);
}

/// RFC 5681, 4.2: a receiver that delays acknowledges every second segment, or
/// one alone when its timer runs out. By hand, from a window of two: 0 and 1
/// are acknowledged together, so the window is three; 2 and 3 together and 4
/// by itself 50 ms later, so the window is four and then five.
#[test]
fn delayed_acknowledgements_slow_the_start() {
    let class = "size = \"9000B\"\ntransport = { tcp = { profile = \"rfc\", mss = \"1000B\", \
                 initial_window = 2, delayed_ack = \"50ms\" } }";
    let (_, seen) = lossy(class, Flags::DATA, &[]);
    let sent = |from: f64, to: f64| -> Vec<u32> {
        let within = seen.iter().filter(|(at, ..)| (from..to).contains(at));
        within.map(|&(_, seq, _)| seq).collect()
    };
    assert_eq!(sent(0.2, 0.25), [0, 1]);
    assert_eq!(sent(0.4, 0.45), [2, 3, 4]);
    assert_eq!(sent(0.6, 0.645), [5, 6, 7]);
    assert_eq!(sent(0.65, 0.7), [8]);
}

/// Linux's first acknowledgements are not delayed (`tcp_incr_quickack`). By hand, from a window of
/// three and with three quick ones: each of 0, 1 and 2 is acknowledged at once, so all of 3 to 8
/// follow at once, where 2 would have waited 50 ms. Then every second one is: of 3 to 7 the last
/// waits.
#[test]
fn the_first_acknowledgements_are_quick_on_request() {
    let sent = |quick: u32, from: f64, to: f64| -> Vec<u32> {
        let class = format!(
            "size = \"30000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", mss = \"1000B\", \
             initial_window = 3, delayed_ack = \"50ms\", quick_acks = {quick} }} }}"
        );
        let (_, seen) = lossy(&class, Flags::DATA, &[]);
        let within = seen.iter().filter(|(at, ..)| (from..to).contains(at));
        within.map(|&(_, seq, _)| seq).collect()
    };
    assert_eq!(sent(0, 0.4, 0.43), [3, 4, 5], "one acknowledgement, which opens by one segment");
    assert_eq!(sent(0, 0.44, 0.5), [6, 7], "that of 2, later");
    assert_eq!(sent(3, 0.4, 0.5), [3, 4, 5, 6, 7, 8]);
    // 3 and 4, 5 and 6, 7 and 8: three acknowledgements, each opens by one
    assert_eq!(sent(3, 0.6, 0.7).len(), 9);
}

/// RFC 5681, 3.2: the third duplicate acknowledgement sends the hole again,
/// long before the timer, and halves the window.
#[test]
fn a_single_loss_is_repaired_by_fast_retransmit() {
    for recovery in ["reno", "newreno", "sack"] {
        let class = format!(
            "size = \"100000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", mss = \"1000B\", \
             initial_window = 2, delayed_ack = false, recovery = \"{recovery}\" }} }}"
        );
        // 2 + 4 + 8 sent before: number 20 is in the round of 16
        let (results, seen) = lossy(&class, Flags::DATA, &[20]);
        assert_eq!(flow(&results, "retransmitted_packets"), 1.0, "{recovery}");
        assert_eq!(flow(&results, "timeouts"), 0.0, "{recovery}");
        let again = seen.iter().filter(|(_, seq, _)| *seq == 20).nth(1).expect("sent again");
        let lost = seen[20].0;
        assert!((again.0 - lost - 0.2).abs() < 0.02, "{recovery}: one round trip later");
        assert_eq!(seen.iter().filter(|(.., lost)| *lost).count(), 1);
        assert!(flow(&results, "closed_s") > 0.0, "{recovery}");
    }
}

/// features C9, RFC 6582 and 6675: three losses in one window cost NewReno three round
/// trips and SACK one, and neither a timeout; Reno falls back on its timer.
#[test]
fn several_losses_in_a_window_need_no_timeout_with_newreno_or_sack() {
    let mut finished = Vec::new();
    for (recovery, timeouts) in [("newreno", false), ("sack", false), ("reno", true)] {
        let class = format!(
            "size = \"100000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", mss = \"1000B\", \
             initial_window = 2, delayed_ack = false, recovery = \"{recovery}\" }} }}"
        );
        let (results, _) = lossy(&class, Flags::DATA, &[15, 17, 19]);
        assert_eq!(flow(&results, "timeouts") > 0.0, timeouts, "{recovery}");
        if !timeouts {
            assert_eq!(flow(&results, "retransmitted_packets"), 3.0, "{recovery}");
        }
        finished.push(flow(&results, "closed_s"));
    }
    assert!(finished[1] < finished[0] && finished[0] < finished[2], "{finished:?}");
}

/// RFC 6298, 5.5 and 5.7: a segment lost again and again comes back after
/// doubling timeouts; the first is at least the minimum.
#[test]
fn timeouts_back_off() {
    let class = "size = \"100B\"\ntransport = { tcp = { profile = \"rfc\", min_rto = \"1s\" } }";
    let (results, seen) = lossy(class, Flags::DATA, &[0, 1, 2]);
    let gaps: Vec<f64> = seen.windows(2).map(|two| two[1].0 - two[0].0).collect();
    // first sample 200.08 ms: RTO = R + 4 R / 2 = 600 ms, raised to 1 s; the
    // first transmission comes to the port behind the handshake's ACK
    for (gap, expected) in gaps.iter().zip([1.0 - BEHIND_ACK, 2.0, 4.0]) {
        assert!((gap - expected).abs() < 1e-9, "{gaps:?}");
    }
    assert_eq!(flow(&results, "timeouts"), 3.0);
    assert_eq!(flow(&results, "retransmitted_packets"), 3.0);
}

/// RFC 6298, 2.2 and 2.3 by hand: one sample R gives R + 4 (R / 2) = 3 R.
#[test]
fn the_first_timeout_is_three_round_trips() {
    let class = "size = \"100B\"\ntransport = { tcp = { profile = \"rfc\", min_rto = \"1ms\" } }";
    let (_, seen) = lossy(class, Flags::DATA, &[0]);
    // the SYN and its answer: 2 (100 ms + 40 B at 100, 10 and 100 Mbit/s)
    let sample = 2.0 * (0.1 + 3.2e-6 + 32e-6 + 3.2e-6);
    let gap = seen[1].0 - seen[0].0;
    assert!((gap - 3.0 * sample + BEHIND_ACK).abs() < 1e-9, "{seen:?}");
}

/// ns-2's FullTcp starts a connection whose SYN was lost in congestion
/// avoidance at two segments; RFC 5681, 3.1 with one segment in slow start.
#[test]
fn a_lost_syn_changes_the_start_as_the_profile_says() {
    let sizes = |profile: &str| {
        let class = format!(
            "size = \"20000B\"\ntransport = {{ tcp = {{ profile = \"{profile}\", mss = \"1000B\", \
             delayed_ack = false, initial_window = 2 }} }}"
        );
        let (_, seen) = lossy(&class, Flags::SYN, &[0]);
        assert_eq!(seen.len(), 2);
        let (_, data) = lossy_syns_then_data(&class, 1, &[]);
        rounds(&data).iter().map(Vec::len).take(3).collect::<Vec<usize>>()
    };
    assert_eq!(sizes("ns2-2006"), [2, 2, 3], "ssthresh 2: one more a round trip");
    assert_eq!(sizes("rfc"), [1, 2, 4], "one segment, slow start");
    assert_eq!(sizes("linux"), [2, 4, 8], "Linux does not mind");
}

/// Linux starts with one segment if the SYN was sent again more than once: a first timeout may
/// have been too early (tcp_init_transfer). Likewise for the SYN+ACK of a download, under each
/// control.
#[test]
fn a_syn_that_is_lost_twice_leaves_one_segment_where_the_profile_says() {
    for control in ["reno", "cubic", "bbr", "bbr3"] {
        for opens in ["sender", "receiver"] {
            let first = |syns: u32| {
                let class = format!(
                    "size = \"20000B\"\nopens = \"{opens}\"\ntransport = {{ tcp = {{ profile = \"linux\", \
                     mss = \"1000B\", lost_syn = \"linux\", control = \"{control}\" }} }}"
                );
                let (_, data) = lossy_syns_then_data(&class, syns, &[]);
                rounds(&data)[0].len()
            };
            assert_eq!([first(0), first(2)], [10, 1], "{control}, {opens}");
            if opens == "sender" {
                assert_eq!(first(1), 10, "{control}: once may have been too early");
            }
        }
    }
}

fn lossy_syn_then_data(class: &str, which: &[usize]) -> (Results, Vec<(f64, u32, bool)>) {
    lossy_syns_then_data(class, 1, which)
}

/// Loses so many SYNs and SYN+ACKs, and what is listed of the data, and notes the data.
fn lossy_syns_then_data(
    class: &str,
    syns: u32,
    which: &[usize],
) -> (Results, Vec<(f64, u32, bool)>) {
    struct First(u32, Lose);
    impl PerPacket for First {
        fn arrive(&mut self, packet: &Packet, now: Time, draw: &mut dyn Draw) -> Verdict {
            if packet.flags.has(Flags::SYN) && self.0 > 0 {
                self.0 -= 1;
                return Verdict::Drop(Reason::Custom);
            }
            self.1.arrive(packet, now, draw)
        }
    }
    let text = format!("{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n{class}");
    let seen = Seen::default();
    let mut stages = Stages::new();
    let lose = Lose { what: Flags::DATA, which: which.to_vec(), seen: seen.clone() };
    stages.custom = Some(Box::new(First(syns, lose)));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &[]), 1, custom);
    let seen = seen.lock().expect("no one panicked").clone();
    (results, seen)
}

/// ns-2's change log, 8 March 2002: before it the back-off of a lost SYN lasted into the
/// data, until a round trip was measured: two segments lost behind it come again after
/// twice the initial 6 s, from then on after 6 s.
#[test]
fn the_back_off_of_a_lost_syn_lasts_as_the_profile_says() {
    for (profile, waits) in [("ns2-2001", 12.0), ("ns2-2003", 6.0)] {
        let class =
            format!("size = \"1072B\"\ntransport = {{ tcp = {{ profile = \"{profile}\" }} }}");
        let (_, data) = lossy_syn_then_data(&class, &[0, 1]);
        let gap = data[2].0 - data[0].0;
        assert!((gap - waits).abs() < 1e-3, "{profile}: {data:?}");
    }
}

/// ns-2.1b8a's FullTcp closes right behind a last segment that goes out alone, with a packet
/// of its own: 40 B at 100 Mbit/s later. From 2002 on the FIN rides on that segment. Two full
/// segments are acknowledged before the FIN in both.
#[test]
fn the_fin_is_a_packet_of_its_own_where_the_profile_says() {
    let last = |profile: &str, size: u32| {
        let class =
            format!("size = \"{size}B\"\ntransport = {{ tcp = {{ profile = \"{profile}\" }} }}");
        let (results, seen) = lossy(&class, Flags::PUSH, &[]);
        assert!(flow(&results, "closed_s").is_finite());
        seen
    };
    let seen = last("ns2-2001", 100);
    assert_eq!(seen.iter().map(|each| each.1).collect::<Vec<u32>>(), [0, 1]);
    assert!((seen[1].0 - seen[0].0 - BEHIND_ACK).abs() < 1e-9, "{seen:?}");
    assert_eq!(last("ns2-2003", 100).len(), 1);
    for profile in ["ns2-2001", "ns2-2003"] {
        let seen = last(profile, 1072);
        assert_eq!(seen.iter().map(|each| each.1).collect::<Vec<u32>>(), [1, 2]);
        assert!(seen[1].0 - seen[0].0 > 0.2, "a round trip later: {seen:?}");
    }
}

/// A download opens from the other end: SYN, SYN+ACK, ACK, then data, so its
/// first byte comes half a round trip later than an upload's.
#[test]
fn a_download_is_opened_by_the_end_that_receives() {
    let at = |opens: &str| {
        let text = format!(
            "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"100B\"\n\
             opens = \"{opens}\"\ntransport = {{ tcp = {{ profile = \"ns2-2006\" }} }}"
        );
        let results = run(&load(&text, &[]), 1);
        (flow(&results, "admitted_s"), flow(&results, "data_done_s"), flow(&results, "closed_s"))
    };
    let one_way = |bytes: f64| 0.1 + bytes * 8.0 * (2.0 / 100e6 + 1.0 / 10e6);
    let (admitted, done, closed) = at("receiver");
    assert!((admitted - 2.0 * one_way(40.0)).abs() < 1e-9, "SYN and SYN+ACK: {admitted}");
    assert!((done - 3.0 * one_way(40.0) - one_way(140.0)).abs() < 1e-9, "{done}");
    assert!((closed - done - one_way(40.0)).abs() < 1e-9, "{closed}");
    let (admitted, done, _) = at("sender");
    assert!((admitted - one_way(40.0)).abs() < 1e-9);
    // the data follows the handshake's ACK, which holds it up at the slow link
    let behind = 40.0 * 8.0 * (1.0 / 10e6 + 1.0 / 100e6) - 140.0 * 8.0 / 100e6;
    let expected = 2.0 * one_way(40.0) + one_way(140.0) + behind;
    assert!((done - expected).abs() < 1e-9, "{done}");
}

/// A user without patience leaves at that instant and counts as having given up.
#[test]
fn patience_ends_a_flow() {
    let class =
        "size = \"1MB\"\npatience = \"2s\"\ntransport = { tcp = { profile = \"ns2-2006\" } }";
    let (results, _) = lossy(class, Flags::SYN, &[]);
    assert_eq!(flow(&results, "gave_up_s"), 2.0);
    assert!(flow(&results, "closed_s").is_nan());
    assert!(flow(&results, "delivered_bytes") > 0.0);
}

/// Every byte arrives exactly once whatever is lost, and the row says so.
#[test]
fn heavy_loss_delivers_every_byte() {
    for recovery in ["reno", "newreno", "sack"] {
        let class = format!(
            "size = \"54321B\"\ntransport = {{ tcp = {{ profile = \"linux\", recovery = \"{recovery}\" }} }}"
        );
        let which: Vec<usize> = (0..200).filter(|n| n * n % 7 < 3).collect();
        let (results, seen) = lossy(&class, Flags::DATA, &which);
        assert_eq!(flow(&results, "delivered_bytes"), 54_321.0, "{recovery}");
        assert!(flow(&results, "closed_s") > flow(&results, "data_done_s"), "{recovery}");
        let sent = flow(&results, "sent_packets");
        assert_eq!(sent, seen.len() as f64, "{recovery}");
        assert_eq!(sent - flow(&results, "retransmitted_packets"), 38.0, "54321 / 1448 up");
    }
}

/// 10 Gbit/s and 202 ms hold 168,333 segments of 1500 bytes: blocks lie further from the
/// acknowledgement than 65,535 segments. What is lost is sent again once, within 2 %.
#[test]
fn selective_acknowledgements_reach_across_long_fast_paths() {
    let class = "size = \"450MB\"\ntransport = { tcp = { profile = \"linux\", \
                 control = \"cubic\", initial_window = 200000, receive_buffer = \"0B\" } }";
    let text = format!("{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n{class}");
    let path = [
        ("topology.dumbbell.access.rate", "100Gbit"),
        ("topology.dumbbell.access.buffer", "1000000packets"),
        ("topology.dumbbell.bottleneck.rate", "10Gbit"),
        ("topology.dumbbell.bottleneck.delay", "99ms"),
        ("topology.dumbbell.bottleneck.buffer", "60000packets"),
    ];
    let results = run(&load(&text, &path), 1);
    let lost = total(&results, "bottleneck", "data_dropped");
    let again = flow(&results, "retransmitted_packets");
    assert!(lost > 100_000.0, "{lost}");
    assert_eq!(flow(&results, "timeouts"), 0.0);
    close(again, lost, 0.02);
}
