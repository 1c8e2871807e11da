//! LEDBAT++ in whole runs: what its target and its rules come to.

use crate::common::*;
use tidegate_sim::Results;

/// 10 Mbit/s and 100 ms with a buffer of two products: 833.3 packets a second, 83 packets.
fn run_flows(classes: &[(&str, &str, &str)], seconds: u32) -> Results {
    let mut text = format!(
        "name = \"ledbat\"\nduration = \"{seconds}s\"\nwarmup = \"20s\"\nsample = \"50ms\"\n\
         [topology.dumbbell]\npairs = 4\naccess = {{ rate = \"1Gbit\", delay = \"1ms\" }}\n\
         bottleneck = {{ rate = \"10Mbit\", delay = \"48ms\", buffer = \"2bdp\" }}\n"
    );
    for (name, start, control) in classes {
        text += &format!(
            "[traffic.{name}]\narrivals = {{ at = [\"{start}\"] }}\nsize = \"unlimited\"\n\
             transport = {{ tcp = {{ profile = \"linux\", control = \"{control}\" }} }}\n"
        );
    }
    run(&load(&text, &[]), 1)
}

/// Alone it keeps the queue at 60 ms (50 packets), and now and then lets it drain for a slowdown,
/// which takes a tenth of the time.
#[test]
fn alone_it_queues_for_60_ms() {
    let results = run_flows(&[("one", "0s", "ledbat")], 120);
    let queue = at_port(&results.ports, "bottleneck", "queue_packets");
    let most = queue.iter().skip(400).fold(0.0, |most: f64, &one| most.max(one));
    assert!((45.0..75.0).contains(&most), "{most}");
    let low = queue.iter().skip(400).filter(|&&packets| packets < 1.0).count();
    assert!((0.02..0.4).contains(&(low as f64 / queue.len() as f64)), "{low}");
    let busy = total(&results, "bottleneck", "utilisation");
    assert!(busy > 0.85, "{busy}");
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
}

/// Beside CUBIC, whose queue is up to 200 ms long, it gets next to nothing.
#[test]
fn it_gives_way_to_cubic() {
    let results = run_flows(&[("one", "0s", "ledbat"), ("two", "5s", "cubic")], 120);
    let bytes = column(&results.flows, "delivered_bytes");
    assert!(bytes[1] > 8.0 * bytes[0], "{bytes:?}");
}

/// Slowdowns show a late flow the base delay, so it has no advantage: both get a fair share.
#[test]
fn a_late_flow_has_no_advantage() {
    let results = run_flows(&[("one", "0s", "ledbat"), ("two", "30s", "ledbat")], 400);
    let bytes = column(&results.flows, "delivered_bytes");
    // by shares of the link: the first had 30 s alone
    let share = bytes[1] / (bytes[0] - 30.0 * 10e6 / 8.0 * 1448.0 / 1500.0 + bytes[1]);
    assert!((0.3..0.7).contains(&share), "{share}");
}
