//! Queue laws from end to end: what their sources promise of them.

mod common;

use common::*;
use tidegate_sim::Results;

/// Ten flows without end over 20 Mbit/s and 100 ms of round trip.
const LONG: &str = r#"
    name = "long"
    duration = "60s"
    warmup = "20s"
    [topology.dumbbell]
    pairs = 10
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "20Mbit", delay = "48ms", buffer = "600packets" }
    [port.bottleneck]
    queue = { law = "pie" }
    [traffic.long]
    arrivals = { uniform = 10, within = "1s" }
    size = "unlimited"
    transport = { tcp = { profile = "rfc", mss = "1460B", window = 500 } }
"#;

fn bottleneck(results: &Results, name: &str) -> f64 {
    column(&results.port_totals, name)[0]
}

/// The mean delay of the bottleneck's queue, in seconds, by Little's law on
/// packets of 1500 B at 20 Mbit/s.
fn delay_s(results: &Results) -> f64 {
    bottleneck(results, "queue_mean_packets") * 1500.0 * 8.0 / 20e6
}

/// RFC 8033, 1 and 4.2: PIE steers the mean delay to `QDELAY_REF`, whatever it is
/// and however the delay is known, and keeps the link in use; drop-tail with
/// the same buffer of 360 ms stands at ten times the default and more.
#[test]
fn pie_settles_near_its_reference() {
    let tail = run(&load(LONG, &[("port.bottleneck.queue", "{ law = \"drop-tail\" }")]), 1);
    assert!(delay_s(&tail) > 0.15, "{}", delay_s(&tail));
    for (law, reference) in [
        ("{ law = \"pie\" }", 0.015),
        ("{ law = \"pie\", qdelay_ref = \"30ms\" }", 0.030),
        ("{ law = \"pie\", latency = \"departure-rate\" }", 0.015),
        ("{ law = \"pie\", derandomize = true }", 0.015),
    ] {
        let results = run(&load(LONG, &[("port.bottleneck.queue", law)]), 1);
        let delay = delay_s(&results);
        assert!((0.6..1.4).contains(&(delay / reference)), "{law}: {delay}");
        assert!(bottleneck(&results, "utilisation") > 0.9, "{law}");
        assert!(bottleneck(&results, "drops_early") > 50.0, "{law}");
    }
}

/// RFC 8033, 5.1: where both ends understand marks, and few are needed, nothing is lost.
#[test]
fn pie_with_ecn_marks_instead_of_dropping() {
    let set = [("port.bottleneck.queue.ecn", "true"), ("traffic.long.transport.tcp.ecn", "true")];
    let results = run(&load(LONG, &set), 1);
    assert!(bottleneck(&results, "marked") > 50.0);
    assert_eq!(bottleneck(&results, "drops_early"), 0.0);
    assert!((0.6..1.4).contains(&(delay_s(&results) / 0.015)), "{}", delay_s(&results));
}
