//! Transfers over smoltcp.

use crate::common::*;

/// 20 Mbit/s and 40 ms of round trip, a buffer of one.
const PATH: &str = r#"
    name = "test"
    duration = "60s"
    [topology.dumbbell]
    pairs = 2
    access = { rate = "1Gbit", delay = "1ms" }
    bottleneck = { rate = "20Mbit", delay = "18ms", buffer = "67packets" }
    [traffic.one]
    arrivals = { at = ["0s", "2s"] }
    size = "10MB"
    transport = { quic = { stack = "smoltcp" } }
"#;

/// All bytes arrive, in either direction and with either control, each at most once: two flows of
/// 10 MB take 8.3 s at 20 Mbit/s, headers included, and more where losses are repaired slowly. What
/// is sent again is counted: more than the 67 packets that a window of twice the buffer loses.
#[test]
fn transfers_arrive_whole() {
    for direction in ["upload", "download"] {
        for control in ["cubic", "new-reno"] {
            let settings = [
                ("traffic.one.transport.quic.control", control),
                ("traffic.one.direction", direction),
            ];
            let results = run(PATH, &settings);
            let delivered = column(&results.flows, "delivered_bytes");
            assert_eq!(delivered, [10e6, 10e6], "{direction} {control}");
            let done = column(&results.flows, "data_done_s");
            assert!(done.iter().all(|&at| (4.0..50.0).contains(&at)), "{control}: {done:?}");
            let closed = column(&results.flows, "closed_s");
            assert!(closed.iter().zip(&done).all(|(closed, done)| closed >= done), "{closed:?}");
            assert!(one(&results, "retransmitted_packets") > 10.0, "{direction} {control}");
        }
    }
}

/// A connection of a kilobyte, by hand: SYN and SYN+ACK take a round trip of 40 ms, the data and its
/// acknowledgement another; with service it is complete after 60 ms and closed after 80.
#[test]
fn a_small_transfer_takes_two_round_trips() {
    let results =
        run(PATH, &[("traffic.one.size", "1kB"), ("traffic.one.arrivals", "{ at = [\"0s\"] }")]);
    let (done, closed) = (one(&results, "data_done_s"), one(&results, "closed_s"));
    assert!((done - 0.0605).abs() < 0.001, "{done}");
    assert!((closed - 0.0805).abs() < 0.012, "{closed}");
}

/// The same seed gives the same columns, in one thread and in another; initial sequence numbers are
/// drawn from it.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let other = std::thread::spawn(|| bits(&run(PATH, &[])));
    assert_eq!(Some(bits(&run(PATH, &[]))), other.join().ok());
}

/// A link that loses everything: SYNs leave after 1, 2, 4 ... s (RFC 6298, 5.5 in smoltcp's own
/// steps), nothing is delivered, and the connection never opens.
#[test]
fn nothing_comes_through_a_dead_link() {
    let results = run(PATH, &[("topology.dumbbell.bottleneck.loss", "1.0")]);
    assert_eq!(column(&results.flows, "delivered_bytes"), [0.0, 0.0]);
    assert!(one(&results, "admitted_s").is_nan());
}
