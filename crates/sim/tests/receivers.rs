//! Receivers that misbehave (RFC 9743, 7.5), against hand calculations: what they gain depends on
//! what the sender counts.

use tidegate_core::packet::Flags;

use crate::common::*;
use crate::controls::{lossy, rounds};
use crate::ecn::{flagged, per_round_trip, steady_with};

/// One flow of some segments of 1460 B over a round trip of 100 ms.
fn class(segments: u32, receiver: &str, tcp: &str) -> String {
    let size = segments * 1460;
    format!(
        "size = \"{size}B\"\n{receiver}\ntransport = {{ tcp = {{ profile = \"rfc\", {tcp} }} }}"
    )
}

/// Savage et al. 1999, 2.1: a sender whose window grows by a segment for each ACK that covers
/// anything new grows by ten for a segment that is acknowledged in ten parts: from 10 to 110, and
/// then to 1210. RFC 3465 and RFC 5681, 3.1: one that counts what is acknowledged doubles, with
/// and without the limit of a segment for each ACK.
#[test]
fn split_acks_speed_up_who_counts_them() {
    let split = "receiver = \"split-acks\"";
    for control in ["reno", "cubic"] {
        let rounds_of = |receiver: &str, counting: &str| {
            let tcp =
                format!("control = \"{control}\", byte_counting = {counting}, delayed_ack = false");
            let (results, seen) = lossy(&class(1500, receiver, &tcp), &[]);
            assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
            assert_eq!(flow(&results, "delivered_bytes"), 1500.0 * 1460.0);
            rounds(&seen)[..3].to_vec()
        };
        assert_eq!(rounds_of(split, "0"), [10, 110, 1210], "{control}");
        for counting in ["1", "2", "\"none\""] {
            assert_eq!(rounds_of(split, counting), [10, 20, 40], "{control} {counting}");
        }
        assert_eq!(rounds_of("", "0"), [10, 20, 40], "{control}");
    }
}

/// RFC 5681, 3.1: in congestion avoidance too each ACK counts, by `1/cwnd` of a segment: hardly
/// less than ten segments a round trip in place of one, as the window grows meanwhile. By hand,
/// from 10: after n ACKs the window is about sqrt(100 + 2n), 17.3 after 100.
#[test]
fn split_acks_count_in_congestion_avoidance_too() {
    let second = |receiver: &str| {
        let tcp = "initial_ssthresh = 10, byte_counting = 0, delayed_ack = false";
        rounds(&lossy(&class(200, receiver, tcp), &[]).1)[1]
    };
    assert_eq!(second("receiver = \"split-acks\""), 17);
    assert_eq!(second(""), 10);
}

/// A loss before parts of segments: duplicates are duplicates still, the loss is repaired once,
/// and parts are no duplicates.
#[test]
fn split_acks_are_no_sign_of_a_loss() {
    for recovery in ["newreno", "sack"] {
        let tcp = format!("recovery = \"{recovery}\", rack = false, tlp = false");
        let (results, _) = lossy(&class(100, "receiver = \"split-acks\"", &tcp), &[(15, 0)]);
        assert_eq!(flow(&results, "retransmitted_packets"), 1.0, "{recovery}");
        assert_eq!(flow(&results, "timeouts"), 0.0, "{recovery}");
        assert_eq!(flow(&results, "delivered_bytes"), 146_000.0, "{recovery}");
    }
}

/// The sender sees no loss, sends nothing again and goes on doubling: of 20 segments in the second round trip two are lost, and the one ACK of
/// three counts as a segment with a limit of one (38), as three without (40). The receiver never
/// gets the two.
#[test]
fn hidden_losses_are_not_repaired() {
    let lost = [(15, 0), (16, 0)];
    let optimistic = "receiver = \"hidden-losses\"";
    for (counting, third) in [("1", 38), ("\"none\"", 40)] {
        let tcp = format!("byte_counting = {counting}");
        let (results, seen) = lossy(&class(100, optimistic, &tcp), &lost);
        assert_eq!(rounds(&seen), [10, 20, third, 70 - third], "{counting}");
        assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
        assert_eq!(flow(&results, "timeouts"), 0.0);
        assert_eq!(flow(&results, "delivered_bytes"), 98.0 * 1460.0);
        assert!(flow(&results, "closed_s") > 0.0);
        let (results, _) = lossy(&class(100, "", &tcp), &lost);
        assert_eq!(flow(&results, "retransmitted_packets"), 2.0);
        assert_eq!(flow(&results, "delivered_bytes"), 100.0 * 1460.0);
    }
}

/// Savage et al. 1999, 2.3: who hears of a segment when it is half way sees half a round trip. By
/// hand: with a window of 20 and a round trip of 100 ms, in which the receiver answers for n / 2 of
/// the n segments of the last one too, n = 20 + n / 2 = 40 at the end, 400 a second in place of 200.
/// Of 20 losses in a row the sender hears nothing.
#[test]
fn optimistic_acks_halve_the_round_trip_and_hide_losses() {
    let tcp = "control = \"reno\", window = 20, initial_ssthresh = 20";
    let lost: Vec<(u32, usize)> = (2000..2020).map(|seq| (seq, 0)).collect();
    let in_a_second = |receiver: &str, lost: &[(u32, usize)]| {
        let (results, seen) = lossy(&class(3000, receiver, tcp), lost);
        let sent = seen.iter().filter(|(at, ..)| (2.0..3.0).contains(at)).count();
        (sent, results)
    };
    let optimistic = "receiver = \"optimistic-acks\"";
    let (sent, results) = in_a_second(optimistic, &lost);
    assert!((390..=410).contains(&sent), "{sent}");
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
    assert_eq!(flow(&results, "timeouts"), 0.0);
    assert_eq!(flow(&results, "delivered_bytes"), 2980.0 * 1460.0);
    assert!(flow(&results, "closed_s") > 0.0);
    assert_eq!(in_a_second("", &[]).0, 200);
}

/// RFC 9293, 3.10.7.4: who acknowledges more than was sent is not heard. Flows of any
/// length come to their end all the same, with all of their data, as nothing was lost.
#[test]
fn optimistic_acks_of_what_was_not_sent_end_nothing() {
    for segments in [1, 2, 9, 40, 333] {
        let receiver = "receiver = \"optimistic-acks\"";
        let (results, _) = lossy(&class(segments, receiver, "control = \"cubic\""), &[]);
        assert!(flow(&results, "closed_s") > 0.0, "{segments}");
        assert_eq!(flow(&results, "delivered_bytes"), f64::from(segments) * 1460.0);
    }
}

/// RFC 3168, 20.2; RFC 8257: of a sender that hears of no mark the window stays: 20 segments each
/// round trip, whatever is marked, and no word of a cut. A receiver that tells halves it.
#[test]
fn hidden_marks_cut_no_window() {
    let whole: Vec<u32> = (200..220).collect();
    for tcp in ["ecn = true", "control = \"dctcp\"", "control = \"prague\""] {
        let hidden = "receiver = \"hidden-marks\"";
        let tcp = format!("{tcp}, delayed_ack = false");
        let (results, [forth, back]) = steady_with(hidden, &tcp, &whole, &[]);
        assert_eq!(flagged(&forth, Flags::CE), whole);
        assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
        assert_eq!(per_round_trip(&forth, 220), [20, 20, 20, 20], "{tcp}");
        let words: Vec<Flags> = back.iter().map(|(_, ack)| ack.flags).collect();
        // no echo, and what AccECN counts stays at its first value, 5: ECE and AE
        let tells = tcp.starts_with("control");
        let same = |flags: &Flags| flags.has(Flags::SYN) || flags.has(Flags::ECE) == tells;
        assert!(words.iter().all(same), "{tcp}");
        let (_, [forth, _]) = steady_with("", &tcp, &whole, &[]);
        assert!(per_round_trip(&forth, 220)[0] < 20, "{tcp}");
    }
}
