//! Random loss on links: how much, of what, and where it is counted.

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Verdict};
use tidegate_core::packet::Packet;
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// Place of a port in the scenario's order: the bottleneck and its reverse come first.
const THERE: usize = 0;
const BACK: usize = 1;

fn total(results: &Results, port: usize, name: &str) -> f64 {
    column(&results.port_totals, name)[port]
}

/// One long transfer over a dumbbell whose bottleneck loses packets.
fn lossy(loss: &str, seed: u64) -> Results {
    let text = format!(
        "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\", window = 200 }} }}\n"
    );
    let set = [("topology.dumbbell.bottleneck.loss", loss), ("duration", "400s")];
    run(&load(&text, &set), seed)
}

/// Whether `lost` of `sent` packets is within three standard deviations of
/// independent losses with probability `p`.
fn binomial(lost: f64, sent: f64, p: f64) {
    let sigma = (sent * p * (1.0 - p)).sqrt();
    assert!((lost - sent * p).abs() < 3.0 * sigma, "{lost} of {sent} with {p}, sigma {sigma}");
    assert!(sigma < 0.1 * sent * p, "too few packets to tell");
}

/// features C11: the loss ratio is within 3 sigma of what was asked for, of
/// data alone where that was asked for.
#[test]
fn data_is_lost_with_the_probability_that_was_asked_for() {
    for (p, seed) in [(0.01, 1), (0.01, 2), (0.03, 3), (0.1, 4)] {
        let results = lossy(&format!("{{ data = {p} }}"), seed);
        let sent = total(&results, THERE, "data_arrived");
        let lost = total(&results, THERE, "drops_link_loss");
        binomial(lost, sent, p);
        assert_eq!(total(&results, BACK, "drops_link_loss"), 0.0, "no data goes that way");
        assert_eq!(total(&results, THERE, "data_dropped"), lost);
        assert_eq!(column(&results.flows, "syn_tries"), [1.0]);
    }
}

/// features C11: acknowledgements alone; the data gets through, and none of it is sent twice
/// but where a timer ran out.
#[test]
fn acknowledgements_alone_may_be_lost() {
    let results = lossy("{ ack = 0.05 }", 1);
    let sent = total(&results, BACK, "arrived_packets");
    binomial(total(&results, BACK, "drops_link_loss"), sent, 0.05);
    assert_eq!(total(&results, THERE, "data_dropped"), 0.0);
    let again = flow(&results, "retransmitted_packets");
    assert!(again <= 0.01 * flow(&results, "sent_packets"), "{again}");
}

/// One number means both.
#[test]
fn one_share_stands_for_all_packets() {
    let results = lossy("0.02", 1);
    let sent = total(&results, THERE, "arrived_packets");
    binomial(total(&results, THERE, "drops_link_loss"), sent, 0.02);
    let acks = total(&results, BACK, "arrived_packets");
    binomial(total(&results, BACK, "drops_link_loss"), acks, 0.02);
}

/// A lost packet has been transmitted: it counts as departed and used the
/// link, but it crosses no link. All data lost: the SYN gets through, and the
/// first window is sent again and again.
#[test]
fn what_is_lost_on_a_link_has_used_it() {
    let results = lossy("{ data = 1.0 }", 1);
    let lost = total(&results, THERE, "drops_link_loss");
    let departed = total(&results, THERE, "departed_packets");
    assert_eq!(flow(&results, "delivered_bytes"), 0.0);
    // SYN and the acknowledgement of the SYN+ACK are no data
    assert_eq!(lost, flow(&results, "sent_packets"));
    assert!(departed > lost && lost >= 10.0);
    let all: f64 = column(&results.port_totals, "departed_packets").iter().sum();
    assert_eq!(results.packet_hops as f64, all - lost);
    let busy = total(&results, THERE, "departed_bytes") * 8.0 / 10e6;
    close(total(&results, THERE, "utilisation") * 400.0, busy, 1e-9);
}

/// The same losses whatever else is random: a named stream for each port.
#[test]
fn losses_are_drawn_from_a_stream_of_their_port() {
    let lost = |results: &Results| total(results, THERE, "drops_link_loss");
    let alone = lossy("{ data = 0.01 }", 9);
    let text = format!(
        "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\", window = 200 }} }}\n"
    );
    let set = [
        ("topology.dumbbell.bottleneck.loss", "{ data = 0.01 }"),
        // a draw for every packet, though none is ever lost
        ("topology.dumbbell.access.loss", "{ data = 1e-300 }"),
        ("duration", "400s"),
    ];
    let beside = run(&load(&text, &set), 9);
    assert_eq!(lost(&alone), lost(&beside));
    assert_eq!(flow(&alone, "delivered_bytes"), flow(&beside, "delivered_bytes"));
}

/// features C11: losses are independent from packet to packet. Of `n` packets
/// each lost with probability p, `n p^2` neighbours are lost together, with a
/// variance of `n p^2 (1 - p^2) + 2 n p^3 (1 - p)`.
#[test]
fn losses_are_independent_of_each_other() {
    let (n, p) = (100_000.0, 0.1);
    let text = format!(
        "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nstop = \"39.9999s\"\n\
         transport = {{ udp = {{ rate = \"8Mbit\", packet = \"400B\" }} }}\n"
    );
    let set = [("topology.dumbbell.bottleneck.loss", "0.1"), ("duration", "60s")];
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    struct Note(std::sync::Arc<std::sync::Mutex<Vec<u32>>>);
    impl PerPacket for Note {
        fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
            self.0.lock().expect("no one panicked").push(packet.seq);
            Verdict::Pass
        }
    }
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(Note(seen.clone())));
    let custom = Custom { stages: vec![("access.sink1".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &set), 1, custom);
    assert_eq!(flow(&results, "sent_packets"), n);
    let seen = seen.lock().expect("no one panicked");
    binomial(n - seen.len() as f64, n, p);
    let together: u32 = seen.windows(2).map(|two| (two[1] - two[0]).saturating_sub(2)).sum();
    let sigma = (n * p * p * (1.0 - p * p) + 2.0 * n * p * p * p * (1.0 - p)).sqrt();
    let (together, expected) = (f64::from(together), n * p * p);
    assert!((together - expected).abs() < 3.0 * sigma, "{together}, {expected} +- {sigma}");
}
