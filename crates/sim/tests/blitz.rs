//! Blitz from end to end: bursts of falling priority, restarts, push-out.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// One host behind 150 Mbit/s, 15 Mbit/s between the switches, 30 ms one way; one file of 200
/// packets of 500 B.
const LINE: &str = r#"
    name = "blitz"
    duration = "20s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "150Mbit", delay = "0s" }
    bottleneck = { rate = "15Mbit", delay = "30ms", buffer = "1000packets" }
    [port.bottleneck]
    queue = { law = "pushout" }
    [traffic.file]
    arrivals = { at = ["0s"] }
    size = "92000B"
    transport = { blitz = { mss = "460B", header = "40B" } }
"#;

/// What a source sent: when, which segment, at which level.
type Sent = Arc<Mutex<Vec<(Time, u32, u32)>>>;

/// Notes data as it leaves the host.
struct Note(Sent);

impl PerPacket for Note {
    fn depart(&mut self, packet: &mut Packet, now: Time) {
        let Ext::Priority { level, .. } = packet.ext else { return };
        if packet.flags.has(Flags::DATA)
            && let Ok(mut sent) = self.0.lock()
        {
            sent.push((now, packet.seq, level));
        }
    }
}

/// Loses a segment, as often as it is told.
struct Lose {
    seq: u32,
    times: u32,
}

impl PerPacket for Lose {
    fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        if packet.flags.has(Flags::DATA) && packet.seq == self.seq && self.times > 0 {
            self.times -= 1;
            return Verdict::Drop(Reason::Custom);
        }
        Verdict::Pass
    }
}

/// The run with a segment lost so many times, and what the source sent.
fn trace(settings: &[(&str, &str)], seq: u32, times: u32) -> (Results, Vec<(Time, u32, u32)>) {
    let sent = Sent::default();
    let (mut note, mut lose) = (Stages::new(), Stages::new());
    note.custom = Some(Box::new(Note(sent.clone())));
    lose.custom = Some(Box::new(Lose { seq, times }));
    let stages = vec![("access.source1".to_owned(), note), ("bottleneck".to_owned(), lose)];
    let results = run_with(&load(LINE, settings), 1, Custom { stages, ..Custom::default() });
    let sent = sent.lock().expect("nobody panicked").clone();
    (results, sent)
}

/// features B1: without a loss the file is one burst, one packet as soon as the host's link has
/// sent the one before (500 B at 150 Mbit/s: 26.667 us), each a level below the last.
#[test]
fn a_file_is_one_burst_of_falling_priority() {
    let (results, sent) = trace(&[], 0, 0);
    assert_eq!(sent.len(), 200);
    for (number, pair) in (0u32..).zip(sent.windows(2)) {
        assert_eq!((pair[0].1, pair[0].2), (number, number));
        let gap = (pair[1].0 - pair[0].0).secs();
        assert!((gap - 4000.0 / 150e6).abs() < 1e-9, "{gap}");
    }
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
    // a handshake of 60 ms, the SYN's and SYN+ACK's 40 B on three links each, one packet on the
    // first link, 200 on the bottleneck, one on the last, and 30 ms
    let syn = 2.0 * 320.0 * (2.0 / 150e6 + 1.0 / 15e6);
    let ends = 2.0 * 4000.0 / 150e6;
    // the acknowledgement of the SYN+ACK goes before the data, on the first link
    let ack = 320.0 / 150e6;
    let expected = 0.06 + syn + ends + ack + 200.0 * 4000.0 / 15e6 + 0.03;
    assert!((flow(&results, "data_done_s") - expected).abs() < 5e-6, "{expected}");
}

/// features B1, blitz fig. 1: packet n is lost; when three duplicates tell of it a new burst begins
/// with n at the highest priority. What the receiver holds is sent again only until it says so.
#[test]
fn a_loss_starts_a_new_burst_with_the_lost_packet() {
    let (results, sent) = trace(&[], 50, 1);
    let first: Vec<(u32, u32)> = sent[..200].iter().map(|&(_, seq, level)| (seq, level)).collect();
    assert_eq!(first, (0..200).map(|number| (number, number)).collect::<Vec<_>>());
    let second: Vec<(u32, u32)> = sent[200..].iter().map(|&(_, seq, level)| (seq, level)).collect();
    let expected: Vec<(u32, u32)> = (0..second.len() as u32).map(|k| (50 + k, k)).collect();
    assert_eq!(second, expected);
    // the whole of the rest, 150 packets, takes 4 ms at the host, and the round trip is 60 ms
    assert_eq!(second.len(), 150);
    assert_eq!(flow(&results, "retransmitted_packets"), 150.0);
    assert_eq!(flow(&results, "timeouts"), 0.0);
    assert_eq!(flow(&results, "delivered_bytes"), 92_000.0);
    // packet 53 brings the third duplicate: 54 packets of the bottleneck's time after the first
    let told = (sent[200].0 - sent[0].0).secs();
    let expected = 0.06 + 4000.0 / 150e6 + 54.0 * 4000.0 / 15e6;
    assert!((told - expected).abs() < 1e-3, "{told} {expected}");
}

/// algorithms.md 9: with one duplicate the notice comes two packets sooner.
#[test]
fn one_duplicate_is_notice_enough_if_told_so() {
    let told = |notice| {
        let (_, sent) = trace(&[("traffic.file.transport.blitz.notice", notice)], 50, 1);
        (sent[200].0 - sent[0].0).secs()
    };
    let sooner = told("3") - told("1");
    assert!((sooner - 2.0 * 4000.0 / 15e6).abs() < 1e-9, "{sooner}");
}

/// algorithms.md 9: one loss starts one burst, though 149 duplicates come for it; on a host so
/// slow that a round trip ends within the burst, the receiver's jump moves the burst on.
#[test]
fn one_loss_starts_one_burst() {
    let restarts = |sent: &[(Time, u32, u32)]| sent.iter().filter(|sent| sent.2 == 0).count() - 1;
    let (_, sent) = trace(&[], 3, 1);
    assert_eq!(restarts(&sent), 1);
    let slow = [("topology.dumbbell.access.rate", "5Mbit"), ("duration", "60s")];
    let (results, sent) = trace(&slow, 3, 1);
    assert_eq!(restarts(&sent), 1);
    // 4000 bits take 0.8 ms: in 60 ms and a bit some 76 packets go, a round trip after the notice
    // the burst jumps from there to what has come before it, and sends no more of it again
    let again = flow(&results, "retransmitted_packets");
    assert!((70.0..90.0).contains(&again), "{again}");
    let (jump, next) = {
        let place = sent.windows(2).position(|pair| pair[1].1 > pair[0].1 + 1).expect("it jumps");
        (sent[place], sent[place + 1])
    };
    assert_eq!(next.2, jump.2 + 1, "the priority falls on");
}

/// A restart that is lost too: duplicates of its burst tell of it a round trip later, without a
/// timeout; if nothing comes any more (the last packet), the timer does.
#[test]
fn a_lost_restart_is_repaired() {
    let (results, sent) = trace(&[], 50, 2);
    assert_eq!(flow(&results, "timeouts"), 0.0);
    assert_eq!(sent.iter().filter(|sent| sent.2 == 0).count(), 3);
    assert_eq!(flow(&results, "delivered_bytes"), 92_000.0);
    let (results, sent) = trace(&[], 199, 2);
    assert_eq!(flow(&results, "timeouts"), 2.0);
    assert_eq!(sent[200..].iter().map(|sent| (sent.1, sent.2)).collect::<Vec<_>>(), [(199, 0); 2]);
    assert_eq!(flow(&results, "delivered_bytes"), 92_000.0);
}

/// Without a handshake the first packet goes at once, and the flow is as complete at its end.
#[test]
fn without_a_handshake_data_goes_at_once() {
    let plain = [
        ("traffic.file.transport.blitz.handshake", "false"),
        ("traffic.file.arrivals", "{ at = [\"1s\"] }"),
    ];
    let (results, sent) = trace(&plain, 0, 0);
    assert_eq!((sent[0].0, sent[0].2), (Time::from_secs(1), 0));
    assert_eq!(sent.last().map(|sent| (sent.1, sent.2)), Some((199, 199)));
    // one packet on the first link, 200 on the bottleneck, one on the last, 30 ms
    let expected = 1.0 + 2.0 * 4000.0 / 150e6 + 200.0 * 4000.0 / 15e6 + 0.03;
    assert!((flow(&results, "data_done_s") - expected).abs() < 1e-9);
    assert_eq!(flow(&results, "admitted_s"), 1.0);
    assert_eq!(flow(&results, "syn_tries"), 0.0);
    assert!(flow(&results, "closed_s") > expected + 0.03);
}

/// blitz, 2.1: a newcomer finds room at the cost of a long burst. A short file that starts while
/// long ones fill the buffer loses nothing at a push-out port, and a lot at a drop-tail port.
#[test]
fn short_files_are_favoured_over_long_bursts() {
    let crowd = r#"
        name = "crowd"
        duration = "20s"
        [topology.dumbbell]
        pairs = 4
        access = { rate = "150Mbit", delay = "0s" }
        bottleneck = { rate = "15Mbit", delay = "30ms", buffer = "225packets" }
        [port.bottleneck]
        queue = { law = "pushout" }
        [traffic.long]
        arrivals = { at = ["0s", "1ms", "2ms"] }
        size = "1MB"
        transport = { blitz = { mss = "460B", header = "40B" } }
        [traffic.short]
        arrivals = { at = ["300ms", "500ms", "700ms"] }
        size = "10kB"
        transport = { blitz = { mss = "460B", header = "40B" } }
    "#;
    let short = |queue: &str| {
        let results = run(&load(crowd, &[("port.bottleneck.queue.law", queue)]), 1);
        let again = column(&results.flows, "retransmitted_packets");
        let done = column(&results.flows, "closed_s");
        let start = column(&results.flows, "start_s");
        let waited = done.iter().zip(&start).map(|(done, start)| done.min(20.0) - start);
        let fct: Vec<f64> = waited.collect();
        let class = column(&results.flows, "class");
        let of = |values: &[f64]| -> f64 {
            values.iter().zip(&class).filter(|(_, class)| **class == 1.0).map(|(v, _)| v).sum()
        };
        assert!(column(&results.port_totals, "drops_evicted")[0] > 100.0 || queue != "pushout");
        (of(&again), of(&fct))
    };
    let (again, fct) = short("pushout");
    let (again_tail, fct_tail) = short("drop-tail");
    assert_eq!(again, 0.0);
    assert!(again_tail > 0.0 && fct < fct_tail, "{fct} {fct_tail} {again_tail}");
}
