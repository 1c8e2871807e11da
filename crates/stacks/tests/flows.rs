//! Transfers over connections of quinn.

use crate::common::*;

/// By hand, over 100 ms in each direction and 10 Mbit/s. The client's Initial has 1228 B, padded
/// (RFC 9000, 14.1): 0.98 ms at 10 Mbit/s and 0.2 ms at the access links. The server's flight of
/// some 2700 B takes 2.2 ms, and 0.1 ms at either access link; then data goes with the client's
/// Finished, in some 1230 B: 1 ms and 0.2 ms. Together 304.7 ms. A download needs the way back too.
#[test]
fn a_small_transfer_takes_the_round_trips_of_the_handshake() {
    let upload = run(LINK, &[("traffic.one.size", "1kB")]);
    let done = one(&upload, "data_done_s");
    assert!((done - 0.3047).abs() < 0.001, "{done}");
    assert!(
        (one(&upload, "admitted_s") - 0.101_179).abs() < 1e-6,
        "{}",
        one(&upload, "admitted_s")
    );
    assert_eq!(one(&upload, "delivered_bytes"), 1000.0);
    assert_eq!(one(&upload, "syn_tries"), 1.0);
    let closed = one(&upload, "closed_s");
    assert!((closed - done - 0.1).abs() < 0.03, "the acknowledgement may wait 25 ms: {closed}");
    let turned = [("traffic.one.size", "1kB"), ("traffic.one.direction", "download")];
    let download = one(&run(LINK, &turned), "data_done_s");
    assert!((download - 0.4).abs() < 0.01, "{download}");
}

/// 5 MB at 10 Mbit/s and 28 + 29 to 45 B of headers in 1500 B take 4.15 to 4.2 s; slow start
/// from 10 datagrams fills 250 kB (10 Mbit/s for 200 ms) in 4.1 round trips, in which half a link is
/// lost at most, after two of the handshake.
#[test]
fn a_long_transfer_takes_its_bytes_at_the_rate_of_the_link() {
    for control in ["cubic", "new-reno"] {
        let settings =
            [("traffic.one.size", "5MB"), ("traffic.one.transport.quic.control", control)];
        let results = run(LINK, &settings);
        let done = one(&results, "data_done_s");
        assert!((4.15..4.2 + 0.2 * 4.1 + 0.5).contains(&done), "{control}: {done}");
        let (sent, again) = (one(&results, "sent_packets"), one(&results, "retransmitted_packets"));
        assert_eq!(again, 0.0, "{control}");
        assert!((5e6 / 1443.0..5e6 / 1425.0 + 20.0).contains(&sent), "{control}: {sent}");
    }
}

/// A link that loses everything: the client sends its Initial at 0, 1, 3, 7, 15 s (RFC 9002, 6.2:
/// three times the 333 ms of 6.2.2, doubled), and gives up after 30 s of silence.
#[test]
fn an_unanswered_client_tries_again_and_gives_up() {
    let settings = [("traffic.one.size", "1kB"), ("topology.dumbbell.bottleneck.loss", "1.0")];
    let results = run(LINK, &settings);
    assert_eq!(one(&results, "gave_up_s"), 30.0);
    assert!(one(&results, "admitted_s").is_nan());
    let tries = one(&results, "syn_tries");
    assert!((5.0..=10.0).contains(&tries), "{tries}");
}

/// 300 connections of 20 kB and 20 of 20 MB want 406 MB of a link that carries 75 MB in the run.
const OVERLOAD: &str = r#"
    name = "overload"
    duration = "30s"
    [topology.dumbbell]
    pairs = 4
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "20Mbit", delay = "18ms", buffer = "100packets" }
    [traffic.small]
    arrivals = { uniform = 300, within = "20s" }
    size = "20kB"
    direction = "download"
    transport = { quic = {} }
    [traffic.large]
    arrivals = { uniform = 20, within = "1s" }
    size = "20MB"
    transport = { quic = { control = "new-reno" } }
"#;

/// The same columns twice, once on another thread; the link is full and loses packets, and no
/// flow reads more than was sent to it.
#[test]
fn an_overload_is_the_same_each_time_and_on_any_thread() {
    let other = std::thread::spawn(|| bits(&run(OVERLOAD, &[])));
    let results = run(OVERLOAD, &[]);
    assert_eq!(Some(bits(&results)), other.join().ok());
    let delivered: f64 = column(&results.flows, "delivered_bytes").iter().sum();
    assert!(delivered > 60e6, "{delivered}");
    assert!(column(&results.flows, "retransmitted_packets").iter().sum::<f64>() > 1000.0);
    let size = column(&results.flows, "size_bytes");
    for (size, delivered) in size.iter().zip(column(&results.flows, "delivered_bytes")) {
        assert!(delivered <= *size);
    }
}

/// A gate that admits one session a second, of thirty that come in the first: for uploads by the
/// client's Initial, for downloads by the server's. In 20 s there are 20 tokens, and one at the
/// start. Clients try after 0, 1, 3, 7 and 15 s, so that at least five find one.
#[test]
fn a_gate_admits_by_the_first_initial_in_the_direction_of_the_data() {
    for opens in ["sender", "receiver"] {
        let settings = [
            ("duration", "20s"),
            ("traffic.one.arrivals", "{ uniform = 30, within = \"1s\" }"),
            ("traffic.one.size", "5kB"),
            ("traffic.one.opens", opens),
            ("port.bottleneck.gate", "{ law = \"fixed-rate\", rate = \"1/s\", quic = {} }"),
        ];
        let results = run(LINK, &settings);
        let count = |name| column(&results.flows, name).iter().filter(|at| !at.is_nan()).count();
        let (admitted, done) = (count("admitted_s"), count("closed_s"));
        assert!((5..=21).contains(&admitted), "{opens}: {admitted}");
        assert!(done <= admitted && done + 3 >= admitted, "{opens}: {done} of {admitted}");
        let refused = column(&results.port_totals, "drops_session_refused").iter().sum::<f64>();
        assert!(refused >= 30.0, "{opens}: {refused}");
    }
}
