//! Runs of days: sums and times that 64 bits of picoseconds are just wide enough for.

use crate::common::*;

/// A second for each packet of 1000 B, and two that come in each.
const DROWNED: &str = r#"
    name = "drowned"
    duration = "172800s"
    warmup = "1000s"
    sample = "86400s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "8kbit", delay = "98ms", buffer = "300packets" }
    [traffic.voice]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { udp = { rate = "16kbit", packet = "1000B" } }
"#;

/// By hand: the queue grows by a packet a second, so it is full after 300 s. Then it has 300
/// packets but for the moments between a departure and the next arrival: at most half of each
/// second, with 299. Two days at 300 packets are 5.2e19 packet picoseconds, 2.8 times 2^64.
#[test]
fn the_mean_queue_of_two_days_is_right() {
    let results = run(&load(DROWNED, &[]), 1);
    let mean = total(&results, "bottleneck", "queue_mean_packets");
    assert!((299.5..=300.0).contains(&mean), "{mean} packets after the warm-up");
    // the first row has the 300 s in which the queue fills, at 150 packets on the average
    let rows = at_port(&results.ports, "bottleneck", "queue_mean_packets");
    assert_eq!(rows.len(), 2);
    let filling = 300.0 * 150.0 / 86_400.0;
    assert!((299.5 - filling - 0.1..=300.0 - filling + 0.1).contains(&rows[0]), "{rows:?}");
    assert!((299.5..=300.0).contains(&rows[1]), "{rows:?}");
    // a packet a second has left, but for the first one
    let left = at_port(&results.ports, "bottleneck", "departed_packets").iter().sum::<f64>();
    assert!((172_799.0..=172_801.0).contains(&left), "{left}");
}

/// One transfer at the very beginning, and the same one 29 days later: time has no place in what
/// happens to it, so each of its spans is the same to the picosecond.
#[test]
fn a_transfer_takes_as_long_after_29_days() {
    let text = r#"
        name = "late"
        duration = "100s"
        [topology.dumbbell]
        pairs = 1
        access = { rate = "100Mbit", delay = "1ms" }
        bottleneck = { rate = "1Mbit", delay = "98ms", buffer = "5packets" }
        [traffic.web]
        arrivals = { at = ["0s"] }
        size = "300kB"
        transport = { tcp = { profile = "linux" } }
    "#;
    let late = [
        ("duration", "2505700s"),
        ("sample", "2505600s"),
        ("traffic.web.arrivals.at", "[\"2505600s\"]"),
    ];
    let (now, later) = (run(&load(text, &[]), 1), run(&load(text, &late), 1));
    assert_eq!(flow(&later, "start_s"), 2_505_600.0);
    for name in ["fct_s", "fct_admitted_s", "goodput_bps", "retransmitted_packets", "timeouts"] {
        assert_eq!(flow(&later, name), flow(&now, name), "{name}");
    }
    assert!(flow(&now, "retransmitted_packets") > 0.0, "a loss is repaired in both");
    for name in ["arrived_packets", "departed_bytes", "drops_queue_full"] {
        assert_eq!(total(&later, "bottleneck", name), total(&now, "bottleneck", name), "{name}");
    }
    // the sums of the whole run are those of the last row, as nothing was before it
    let waited = |results, seconds| total(results, "bottleneck", "queue_mean_packets") * seconds;
    close(waited(&later, 2_505_700.0), waited(&now, 100.0), 1e-9);
}
