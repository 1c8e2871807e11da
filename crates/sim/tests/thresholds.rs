//! The threshold baselines measure the link that the results describe.

use crate::common::*;
use tidegate_sim::{Column, Data, Results};

/// More sessions than 10 Mbit/s can bear.
const OVERLOAD: &str = r#"
    [port.bottleneck]
    gate = { law = "none" }
    [traffic.web]
    arrivals = { poisson = "300/s" }
    size = { pareto = { mean = "10kB", shape = 1.5 } }
    transport = { tcp = { profile = "ns2-2005" } }
"#;

fn overload(gate: &str) -> Results {
    run(&load(&format!("{LINK}{OVERLOAD}"), &[("port.bottleneck.gate", gate)]), 1)
}

/// The rows of the bottleneck, which is the first port.
fn bottleneck(columns: &[Column], name: &str) -> Vec<f64> {
    let Some(Data::Category { codes, .. }) =
        columns.iter().find(|column| column.name == "port").map(|column| &column.data)
    else {
        panic!("no ports");
    };
    let values = column(columns, name).into_iter().zip(codes);
    values.filter(|(_, port)| **port == 0).map(|(value, _)| value).collect()
}

/// Epochs are as long as sampling intervals, and end with them: what the law
/// goes by is what the table says, and in closed epochs nothing is admitted.
fn follows(results: &Results, threshold: f64, measured: &[f64]) {
    let from = column(&results.events, "from");
    let admitted = column(&results.events, "admitted");
    assert_eq!(from.len(), 40, "40 s in epochs of one");
    let mut closed = 0;
    for (k, (from, measured)) in from.iter().zip(measured).enumerate() {
        assert!((from - measured).abs() < 1e-9, "epoch {k}: {from} {measured}");
        let set = column(&results.events, "set")[k];
        assert_eq!(set == 0.0, *from >= threshold, "epoch {k}: {from} {set}");
        if set == 0.0 && k + 1 < admitted.len() {
            closed += 1;
            assert_eq!(admitted[k + 1], 0.0, "after epoch {k}");
        }
    }
    assert!((5..35).contains(&closed), "it opens and closes: closed {closed} of 39 times");
}

#[test]
fn occupancy_follows_the_utilisation_of_the_link() {
    let results = overload("{ law = \"occupancy\", threshold = 0.9 }");
    let utilisation = bottleneck(&results.ports, "utilisation");
    follows(&results, 0.9, &utilisation);
}

/// A link that loses 2 % says nothing about its queue: a gate that closes at
/// 1 % of losses never does while the queue stays empty, and close-probe with
/// relief refuses nobody. By hand: 20 sessions/s of 3 kB are a twentieth of the link.
#[test]
fn what_the_link_loses_the_queue_has_not_lost() {
    let calm = r#"
        [port.bottleneck]
        gate = { law = "none" }
        [traffic.web]
        arrivals = { every = "50ms" }
        size = "3kB"
        transport = { tcp = { profile = "ns2-2005" } }
    "#;
    for gate in
        ["{ law = \"loss-rate\", threshold = 0.01 }", "{ law = \"close-probe\", relief = true }"]
    {
        let set = [("port.bottleneck.gate", gate), ("topology.dumbbell.bottleneck.loss", "0.02")];
        let results = run(&load(&format!("{LINK}{calm}"), &set), 1);
        let total = |name| bottleneck(&results.port_totals, name)[0];
        assert!(total("drops_link_loss") > 20.0, "{gate}");
        assert_eq!(total("drops_queue_full"), 0.0);
        assert_eq!(total("drops_session_refused"), 0.0, "{gate}");
        assert!(column(&results.events, "set").iter().all(|set| set.is_infinite()), "{gate}");
    }
}

#[test]
fn loss_rate_follows_the_losses_of_the_queue() {
    let results = overload("{ law = \"loss-rate\", threshold = 0.02 }");
    let part = |name| bottleneck(&results.ports, name);
    let (arrived, refused) = (part("arrived_packets"), part("drops_session_refused"));
    let full = part("drops_queue_full");
    let loss = |k: usize| full[k] / f64::max(arrived[k] - refused[k], 1.0);
    let losses: Vec<f64> = (0..arrived.len()).map(loss).collect();
    follows(&results, 0.02, &losses);
}
