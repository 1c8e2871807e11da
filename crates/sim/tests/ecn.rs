//! Marks in place of losses (RFC 3168), from the queue to the sender and back.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// What passed a port: time in seconds, the packet.
pub type Seen = Arc<Mutex<Vec<(f64, Packet)>>>;

/// Marks or loses the listed first transmissions (by sequence number), and
/// notes every packet that leaves.
struct Tamper {
    mark: Vec<u32>,
    lose: Vec<u32>,
    seen: Seen,
}

impl PerPacket for Tamper {
    fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        let first = packet.flags.has(Flags::DATA) && !packet.flags.has(Flags::RETRANSMIT);
        if first && self.lose.contains(&packet.seq) {
            return Verdict::Drop(Reason::Custom);
        }
        if first && self.mark.contains(&packet.seq) {
            return Verdict::Mark(Reason::Custom);
        }
        Verdict::Pass
    }
    fn depart(&mut self, packet: &mut Packet, now: Time) {
        if let Ok(mut seen) = self.seen.lock() {
            seen.push((now.secs(), *packet));
        }
    }
}

/// One flow of 600 segments over 200 ms of round trip and 10 Mbit/s: 20 in
/// flight at most, reached in slow start before segment 100.
fn steady(tcp: &str, mark: &[u32], lose: &[u32]) -> (Results, [Vec<(f64, Packet)>; 2]) {
    steady_with("", tcp, mark, lose)
}

/// The same with more keys of the class.
pub fn steady_with(
    class: &str,
    tcp: &str,
    mark: &[u32],
    lose: &[u32],
) -> (Results, [Vec<(f64, Packet)>; 2]) {
    let text = format!(
        "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"576000B\"\n{class}\n\
         transport = {{ tcp = {{ profile = \"rfc\", mss = \"960B\", window = 20, initial_window = 2, \
         {tcp} }} }}"
    );
    let (forth, back) = (Seen::default(), Seen::default());
    let stages = |mark: &[u32], lose: &[u32], seen: &Seen| {
        let mut stages = Stages::new();
        let law = Tamper { mark: mark.to_vec(), lose: lose.to_vec(), seen: seen.clone() };
        stages.custom = Some(Box::new(law));
        stages
    };
    let custom = Custom {
        stages: vec![
            ("bottleneck".into(), stages(mark, lose, &forth)),
            ("bottleneck.reverse".into(), stages(&[], &[], &back)),
        ],
        ..Custom::default()
    };
    let results = run_with(&load(&text, &[]), 1, custom);
    assert!(flow(&results, "closed_s") > 0.0, "the transfer is complete");
    let taken = |seen: Seen| std::mem::take(&mut *seen.lock().expect("no one panicked"));
    (results, [taken(forth), taken(back)])
}

/// How many data packets passed in each of the round trips that begin with
/// segment `from`. By hand: 200 ms of propagation, 1000 B over 100, 10 and 100 Mbit/s
/// (0.96 ms) and an ACK of 40 B back (0.04 ms) make 201.0 ms.
pub fn per_round_trip(forth: &[(f64, Packet)], from: u32) -> Vec<usize> {
    let data = || forth.iter().filter(|(_, packet)| packet.flags.has(Flags::DATA));
    let start = data().find(|(_, packet)| packet.seq == from).expect("it passed").0 - 2e-4;
    let trip = |at: f64| ((at - start) / 0.2010).floor();
    (0..4).map(|k| data().filter(|(at, _)| trip(*at) == f64::from(k)).count()).collect()
}

/// The sequence numbers of data packets that carry a flag.
pub fn flagged(forth: &[(f64, Packet)], flag: Flags) -> Vec<u32> {
    let flagged = forth.iter().filter(|(_, p)| p.flags.has(Flags::DATA) && p.flags.has(flag));
    flagged.map(|(_, packet)| packet.seq).collect()
}

/// features C5; RFC 3168, 6.1.2: the window of 20 is halved once, however many packets of
/// one window are marked, and nothing is sent again. The first new packet says so (CWR).
#[test]
fn a_window_of_marks_halves_the_window_once() {
    let whole: Vec<u32> = (200..220).collect();
    for mark in [&[200][..], &[200, 201, 210], &whole] {
        let (results, [forth, back]) = steady("ecn = true, delayed_ack = false", mark, &[]);
        assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
        assert_eq!(column(&results.port_totals, "marked")[0], mark.len() as f64);
        assert_eq!(flagged(&forth, Flags::CE), mark);
        // when the echo of 200 comes, 201 .. 219 have been sent; and 220 goes
        // only when 10 of them are acknowledged
        assert_eq!(flagged(&forth, Flags::CWR), [220]);
        let rounds = per_round_trip(&forth, 220);
        assert_eq!(rounds[0], 10, "{rounds:?}");
        assert!((10..=11).contains(&rounds[1]), "{rounds:?}");
        assert!((11..=12).contains(&rounds[2]), "{rounds:?}");
        // echoes until the CWR has come: 20 segments from the marked one on
        let echoes: Vec<u32> = back
            .iter()
            .filter(|(_, ack)| ack.flags.has(Flags::ECE))
            .map(|(_, ack)| ack.ack)
            .collect();
        assert_eq!(echoes, (201..=220).collect::<Vec<u32>>());
    }
}

/// RFC 3168, 6.1.2: marks in two round trips halve it twice: 20, 10, 5. When the
/// echo of 225 comes, ten from 225 on have been sent, so 235 is the first after it.
#[test]
fn marks_in_two_round_trips_halve_the_window_twice() {
    let (results, [forth, _]) = steady("ecn = true, delayed_ack = false", &[200, 225], &[]);
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
    assert_eq!(flagged(&forth, Flags::CWR), [220, 235]);
    assert_eq!(per_round_trip(&forth, 235)[0], 5);
}

/// RFC 3168, 6.1.1, 6.1.4, 6.1.5: SYN, pure acknowledgements and repairs cannot be marked.
#[test]
fn only_new_data_is_ecn_capable() {
    let (results, [forth, back]) = steady("ecn = true, delayed_ack = false", &[], &[150]);
    assert_eq!(flow(&results, "retransmitted_packets"), 1.0);
    for (_, packet) in forth.iter().chain(&back) {
        let new = packet.flags.has(Flags::DATA) && !packet.flags.has(Flags::RETRANSMIT);
        assert_eq!(packet.flags.has(Flags::ECT), new, "{packet:?}");
    }
    // a loss cuts the window too, and the next new packet says so
    assert_eq!(flagged(&forth, Flags::CWR).len(), 1);
    let (_, [forth, _]) = steady("delayed_ack = false", &[], &[150]);
    assert!(flagged(&forth, Flags::ECT).is_empty());
    assert!(flagged(&forth, Flags::CWR).is_empty());
}

/// A law that marks what cannot carry a mark drops it, for that reason.
#[test]
fn what_cannot_carry_a_mark_is_dropped() {
    let (results, [forth, _]) = steady("delayed_ack = false", &[200], &[]);
    assert_eq!(column(&results.port_totals, "drops_custom")[0], 1.0);
    assert_eq!(column(&results.port_totals, "marked")[0], 0.0);
    assert_eq!(flow(&results, "retransmitted_packets"), 1.0);
    assert!(flagged(&forth, Flags::CE).is_empty());
}

/// RFC 3168, 6.1.2: a loss in a window that a mark has cut is repaired and does
/// not cut it again: 10 after it, as after the mark alone.
#[test]
fn a_loss_in_a_marked_window_does_not_cut_it_again() {
    for recovery in ["reno", "newreno", "sack"] {
        let tcp = format!("ecn = true, delayed_ack = false, recovery = \"{recovery}\"");
        let (results, [forth, _]) = steady(&tcp, &[200], &[205]);
        assert_eq!(flow(&results, "retransmitted_packets"), 1.0, "{recovery}");
        assert_eq!(flow(&results, "timeouts"), 0.0, "{recovery}");
        // the round trip after the repair is over has a window of 10
        let rounds = per_round_trip(&forth, 232);
        assert!((10..=11).contains(&rounds[0]), "{recovery}: {rounds:?}");
    }
}

/// RFC 3168, 6.1.3: an acknowledgement of two segments echoes a mark on either.
#[test]
fn a_delayed_acknowledgement_echoes_a_mark_on_either_segment() {
    // 199 and 200 have one acknowledgement; when it comes, 199 .. 218 are in flight
    for marked in [199, 200] {
        let (results, [forth, back]) = steady("ecn = true, delayed_ack = true", &[marked], &[]);
        assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
        let echo = back.iter().find(|(_, ack)| ack.flags.has(Flags::ECE)).expect("an echo").1;
        assert_eq!(echo.ack, 201, "{marked}");
        assert_eq!(flagged(&forth, Flags::CWR), [219], "{marked}");
    }
}

/// RFC 3168, 6.1.3: a mark on the packet that carries CWR is a new one, and so is
/// one on the packet before it where one acknowledgement is for both.
#[test]
fn a_mark_that_meets_the_word_of_the_last_cut_is_echoed() {
    // the loss shifts the pairs: the acknowledgement of the CWR is for the packet before it too
    let tcp = "ecn = true, delayed_ack = true, byte_counting = 0";
    let (_, [forth, back]) = steady(tcp, &[200], &[151]);
    let cwr = flagged(&forth, Flags::CWR)[1];
    assert!(back.iter().any(|(_, ack)| ack.ack == cwr + 1));
    assert!(!back.iter().any(|(_, ack)| ack.ack == cwr), "one for both");
    for again in [cwr - 1, cwr] {
        let (results, [forth, back]) = steady(tcp, &[200, again], &[151]);
        let echo = |(_, ack): &&(f64, Packet)| ack.ack == cwr + 1 && ack.flags.has(Flags::ECE);
        assert!(back.iter().any(|ack| echo(&ack)), "{again}");
        assert_eq!(flagged(&forth, Flags::CWR).len(), 3, "{again}");
        assert_eq!(flow(&results, "retransmitted_packets"), 1.0);
    }
}
