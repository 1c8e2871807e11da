//! Dual-queue management from end to end, at the paper's bottleneck.

use crate::common::*;
use tidegate_sim::Results;

/// dqm, III-A: 0.1 Mbit/s, 50 ms there and back, 90 packets; flows of 20 packets of 576 B on
/// average, 1.5 times what the link can carry (1.628 a second).
const BOTTLENECK: &str = r#"
    name = "dqm"
    duration = "400s"
    [topology.dumbbell]
    access = { rate = "10Mbit", delay = "2.5ms" }
    bottleneck = { rate = "100kbit", delay = "20ms", buffer = "90packets" }
    [port.bottleneck]
    queue = { law = "dqm", over = { law = "red", min_th = 15, max_th = 45, mean_packet = "576B" }, mean_packet = "576B" }
    [traffic.flows]
    arrivals = { poisson = "1.628/s" }
    size = { exponential = { mean = "10720B" } }
    transport = { tcp = { profile = "ns2-2003" } }
"#;

const QUEUE: &str = "port.bottleneck.queue";

fn bottleneck(results: &Results, name: &str) -> f64 {
    column(&results.port_totals, name)[0]
}

/// dqm, fig. 5 and 6: refusing connections, a step has fewer flows in the network, which finish
/// sooner and send less again than over RED alone, at the same use of the link. (By how much is the
/// business of `tidegate paper dqm`: ns-2 too has less than the paper.)
#[test]
fn a_step_turns_retransmissions_into_refused_connections() {
    let red = "{ law = \"red\", min_th = 15, max_th = 45, mean_packet = \"576B\" }";
    let plain = run(&load(BOTTLENECK, &[(QUEUE, red)]), 1);
    let dual = run(&load(BOTTLENECK, &[]), 1);
    let again =
        |results: &Results| -> f64 { column(&results.flows, "retransmitted_packets").iter().sum() };
    assert!(again(&dual) < 0.6 * again(&plain), "{} {}", again(&dual), again(&plain));
    let latency = |results: &Results| {
        let all = column(&results.flows, "fct_admitted_s");
        mean(&all.into_iter().filter(|fct| !fct.is_nan()).collect::<Vec<_>>())
    };
    assert!(latency(&dual) < 0.8 * latency(&plain), "{} {}", latency(&dual), latency(&plain));
    for results in [&plain, &dual] {
        assert!(bottleneck(results, "utilisation") > 0.95);
    }
    assert_eq!(bottleneck(&plain, "drops_connection"), 0.0);
    assert!(bottleneck(&dual, "syn_dropped") > 0.3 * bottleneck(&dual, "syn_arrived"));
    let lost = |results: &Results| {
        bottleneck(results, "data_dropped") / bottleneck(results, "data_arrived")
    };
    assert!(lost(&dual) < 0.7 * lost(&plain), "{} {}", lost(&dual), lost(&plain));
}

/// What the columns say adds up: SYNs are lost to the curve and for no other reason, and those
/// that are not lost are admitted, one flow each but for repeated ones.
#[test]
fn lost_connection_packets_are_counted() {
    let results = run(&load(BOTTLENECK, &[]), 2);
    let (arrived, dropped) =
        (bottleneck(&results, "syn_arrived"), bottleneck(&results, "syn_dropped"));
    assert_eq!(dropped, bottleneck(&results, "drops_connection"));
    let tries: f64 = column(&results.flows, "syn_tries").iter().sum();
    assert_eq!(arrived, tries);
    let admitted = column(&results.flows, "admitted_s").iter().filter(|at| !at.is_nan()).count();
    assert!(
        arrived - dropped >= admitted as f64 && admitted > 200,
        "{arrived} {dropped} {admitted}"
    );
    // the same sums, row by row
    let rows: f64 = column(&results.ports, "syn_dropped").iter().sum();
    assert_eq!(rows, dropped, "the other way carries SYN+ACKs, and loses none");
}

/// dqm, II: what is held back is not lost: with room for all of them no connection packet is, and
/// with room for ten some are. The link goes on working.
#[test]
fn held_connections_are_not_lost() {
    let refused = |held: &str| {
        let set = [
            ("port.bottleneck.queue.blocked", "hold"),
            ("port.bottleneck.queue.hold_packets", held),
            ("topology.dumbbell.bottleneck.buffer", "2000packets"),
        ];
        let results = run(&load(BOTTLENECK, &set), 1);
        assert!(bottleneck(&results, "utilisation") > 0.95);
        bottleneck(&results, "drops_connection")
    };
    assert_eq!(refused("2000"), 0.0);
    assert!(refused("10") > 0.0);
}

/// features D5: with room to spare it makes no difference whether the two sorts share a buffer.
#[test]
fn one_queue_or_two_is_the_same_with_room_to_spare() {
    let outcome = |queues| {
        let set = [
            ("topology.dumbbell.bottleneck.buffer", "5000packets"),
            ("port.bottleneck.queue.queues", queues),
        ];
        let results = run(&load(BOTTLENECK, &set), 1);
        (
            column(&results.flows, "closed_s").iter().map(|at| at.to_bits()).collect::<Vec<_>>(),
            results.packet_hops,
        )
    };
    assert_eq!(outcome("1"), outcome("2"));
}
