//! FQ-PIE in whole runs: a queue for each flow, and PIE in each.

use crate::common::*;
use tidegate_sim::Results;

/// 10 Mbit/s and 40 ms, with room for 1000 packets.
fn over(queue: &str, traffic: &str) -> Results {
    let text = format!(
        "name = \"fq-pie\"\nduration = \"40s\"\nwarmup = \"10s\"\n\
         [topology.dumbbell]\npairs = 3\naccess = {{ rate = \"1Gbit\", delay = \"1ms\" }}\n\
         bottleneck = {{ rate = \"10Mbit\", delay = \"18ms\", buffer = \"1000packets\" }}\n\
         [port.bottleneck]\nqueue = {queue}\n{traffic}"
    );
    run(&load(&text, &[]), 1)
}

fn tcp(name: &str, start: &str) -> String {
    format!(
        "[traffic.{name}]\narrivals = {{ at = [\"{start}\"] }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\" }} }}\n"
    )
}

fn udp(name: &str, rate: &str) -> String {
    format!(
        "[traffic.{name}]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
         transport = {{ udp = {{ rate = \"{rate}\", packet = \"1000B\" }} }}\n"
    )
}

const FQ_PIE: &str = "{ law = \"fq-pie\" }";

/// One flow has one queue, so it is PIE with spaced drops: the same packets, one by one.
#[test]
fn one_flow_is_under_pie() {
    let measured = |queue: &str| {
        let results = over(queue, &tcp("one", "0s"));
        ["queue_mean_packets", "drops_early", "departed_bytes"]
            .map(|name| total(&results, "bottleneck", name))
    };
    assert_eq!(measured(FQ_PIE), measured("{ law = \"pie\", derandomize = true }"));
}

/// A flood of twice the link and a call of 200 kbit/s: PIE drops the same share of both, half and
/// more; here the call loses nothing and waits for a packet of the flood or two (0.8 ms each).
#[test]
fn a_flood_harms_itself_alone() {
    let traffic = udp("call", "200kbit") + &udp("flood", "20Mbit");
    let call = |queue: &str| {
        let results = over(queue, &traffic);
        let [sent, lost, delay] = ["sent_packets", "lost_packets", "delay_max_s"]
            .map(|name| column(&results.udp, name)[0]);
        (lost / sent, delay)
    };
    let (lost, delay) = call(FQ_PIE);
    assert!(lost == 0.0 && delay < 0.0231, "{lost} {delay}");
    let (lost, _) = call("{ law = \"pie\" }");
    assert!(lost > 0.3, "{lost}");
}

/// Queues served in turn give two flows the same rate; both delays stay near 15 ms.
#[test]
fn flows_get_the_same() {
    let results = over(FQ_PIE, &(tcp("one", "0s") + &tcp("two", "100ms")));
    let bytes = column(&results.flows, "delivered_bytes");
    close(bytes[0], bytes[1], 0.05);
    let queue = total(&results, "bottleneck", "queue_mean_packets");
    // two queues at 5 Mbit/s of 15 ms each: 6 packets each
    assert!((4.0..25.0).contains(&queue), "{queue}");
    assert!(total(&results, "bottleneck", "drops_early") > 10.0);
}
