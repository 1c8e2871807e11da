//! Early drops and marks from end to end.

use crate::common::*;
use tidegate_sim::Results;

/// Twenty flows without end over 10 Mbit/s and 100 ms of round trip.
const CROWD: &str = r#"
    name = "crowd"
    duration = "60s"
    warmup = "10s"
    [topology.dumbbell]
    pairs = 20
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "48ms", buffer = "250packets" }
    [port.bottleneck]
    queue = { law = "red", min_th = 20, max_th = 60, w = 0.002, mean_packet = "1000B" }
    [traffic.long]
    arrivals = { uniform = 20, within = "1s" }
    size = "unlimited"
    transport = { tcp = { profile = "rfc", mss = "960B", window = 200 } }
"#;

fn bottleneck(results: &Results, name: &str) -> f64 {
    column(&results.port_totals, name)[0]
}

/// Floyd and Jacobson 1993: the average stays between the thresholds, where drop-tail fills the
/// buffer; losses are early ones, and the link stays in use.
#[test]
fn red_keeps_the_queue_between_its_thresholds() {
    let red = run(&load(CROWD, &[]), 1);
    let tail = run(&load(CROWD, &[("port.bottleneck.queue", "{ law = \"drop-tail\" }")]), 1);
    let queue = bottleneck(&red, "queue_mean_packets");
    assert!((20.0..60.0).contains(&queue), "{queue}");
    assert!(bottleneck(&tail, "queue_mean_packets") > 120.0);
    assert!(bottleneck(&red, "drops_early") > 100.0);
    assert_eq!(bottleneck(&red, "drops_queue_full"), 0.0);
    assert_eq!(bottleneck(&tail, "drops_early"), 0.0);
    assert!(bottleneck(&red, "utilisation") > 0.97);
    // the law's average is that of the queue, smoothed
    let shown = column(&red.ports, "avg_queue_packets");
    let averages: Vec<f64> = shown.iter().copied().filter(|avg| !avg.is_nan()).collect();
    assert_eq!(averages.len(), 60, "a row a second at the one port with RED");
    let measured = mean(&averages[10..]);
    assert!((measured / queue - 1.0).abs() < 0.1, "{measured} {queue}");
    assert!(column(&tail.ports, "avg_queue_packets").iter().all(|avg| avg.is_nan()));
}

/// Early drops come of the port's own stream of numbers: the same seed, the same run.
#[test]
fn the_same_seed_drops_the_same_packets() {
    let scenario = load(CROWD, &[("duration", "15s")]);
    let outcome = |seed| {
        let results = run(&scenario, seed);
        assert!(bottleneck(&results, "drops_early") > 0.0);
        let sent = column(&results.flows, "sent_packets");
        (bottleneck(&results, "avg_queue_packets"), sent, results.packet_hops)
    };
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

/// features C5: where both ends understand marks RED marks in place of every early
/// drop, nothing is lost, and the queue stays between the thresholds all the same.
#[test]
fn red_with_ecn_marks_instead_of_dropping() {
    let set = [("port.bottleneck.queue.ecn", "true"), ("traffic.long.transport.tcp.ecn", "true")];
    let results = run(&load(CROWD, &set), 1);
    assert!(bottleneck(&results, "marked") > 100.0);
    for loss in ["drops_early", "drops_queue_full", "data_dropped"] {
        assert_eq!(bottleneck(&results, loss), 0.0, "{loss}");
    }
    let queue = bottleneck(&results, "queue_mean_packets");
    assert!((20.0..60.0).contains(&queue), "{queue}");
    assert!(bottleneck(&results, "utilisation") > 0.97);
}

/// A transport without ECN meets the same drops at a queue with ECN as at one without.
#[test]
fn red_with_ecn_drops_what_cannot_be_marked() {
    let drops = |ecn: &str| {
        let results = run(&load(CROWD, &[("port.bottleneck.queue.ecn", ecn)]), 1);
        assert_eq!(bottleneck(&results, "marked"), 0.0);
        (bottleneck(&results, "drops_early"), results.packet_hops)
    };
    assert_eq!(drops("true"), drops("false"));
    assert!(drops("true").0 > 100.0);
}

/// A full queue drops what could be marked too: RED that hardly looks (w = 1e-9) is drop-tail.
#[test]
fn a_full_queue_drops_in_spite_of_ecn() {
    let set = [
        ("port.bottleneck.queue.ecn", "true"),
        ("port.bottleneck.queue.w", "1e-9"),
        ("traffic.long.transport.tcp.ecn", "true"),
    ];
    let results = run(&load(CROWD, &set), 1);
    assert!(bottleneck(&results, "drops_queue_full") > 100.0);
    assert_eq!(bottleneck(&results, "marked"), 0.0);
}

/// ns-2.35: twenty endless FullTcp flows (window 40) over its RED with the same
/// parameters, from 20 s to 120 s; the share of packets dropped, the mean queue
/// and the utilisation, each the mean of three runs that differ by 1 % or less.
#[test]
fn red_under_fulltcp_does_what_ns2_does() {
    let cases = [
        ("wait", "true", [0.009_33, 21.22, 0.9338]),
        ("wait", "false", [0.012_20, 13.48, 0.8347]),
        ("bytes", "true", [0.009_40, 21.14, 0.9303]),
    ];
    for (key, value, expected) in cases {
        let key = format!("port.bottleneck.queue.{key}");
        let set = [
            ("duration", "120s"),
            ("warmup", "20s"),
            ("port.bottleneck.queue.mean_packet", "576B"),
            ("traffic.long.transport", "{ tcp = { profile = \"ns2-2006\", window = 40 } }"),
            (key.as_str(), value),
        ];
        let results = run(&load(CROWD, &set), 1);
        assert_eq!(bottleneck(&results, "drops_queue_full"), 0.0);
        let share = bottleneck(&results, "drops_early") / bottleneck(&results, "arrived_packets");
        close(share, expected[0], 0.05);
        close(bottleneck(&results, "queue_mean_packets"), expected[1], 0.04);
        close(bottleneck(&results, "utilisation"), expected[2], 0.02);
    }
}
