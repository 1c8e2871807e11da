//! Replayed flows on the simulated link: when they start, and which way their data goes.

use std::collections::BTreeMap;

use crate::common::*;

/// Runs a table of flows over the usual link: the flows' columns, and the
/// bytes that left the bottleneck either way.
fn replay(table: &str, direction: &str) -> (tidegate_sim::Results, f64, f64) {
    let text = format!(
        "{LINK}\n[traffic.mine]\nflows = \"flows.csv\"\n{direction}\n\
         transport = {{ tcp = {{ profile = \"ns2-2006\" }} }}"
    );
    let files = BTreeMap::from([("flows.csv".to_owned(), table.as_bytes().to_vec())]);
    let results = run(&load_with(&text, &[], &files), 1);
    let bytes = column(&results.port_totals, "departed_bytes");
    (results, bytes[0], bytes[1])
}

/// 40 000 B and 10 000 B of data; headers, SYNs and acknowledgements come on top.
const BOTH: &str = "start_s,size_bytes,direction\n1.5,40000,download\n3,10000,upload\n";

#[test]
fn flows_start_when_they_were_recorded_and_carry_as_much() {
    let (results, ..) = replay(BOTH, "");
    assert_eq!(column(&results.flows, "start_s"), [1.5, 3.0]);
    assert_eq!(column(&results.flows, "size_bytes"), [40_000.0, 10_000.0]);
    assert_eq!(column(&results.flows, "delivered_bytes"), [40_000.0, 10_000.0]);
    assert!(column(&results.flows, "closed_s").iter().all(|closed| closed.is_finite()));
}

/// Clients stay on one side of the link: what they send and what they fetch
/// cross it in opposite ways. Segments of 536 B carry 40 B of headers each.
#[test]
fn data_of_the_two_directions_crosses_the_link_in_opposite_ways() {
    // most bytes are downloaded: they take the way of the class
    let (_, there, back) = replay(BOTH, "");
    assert!((40_000.0..50_000.0).contains(&there), "{there}");
    assert!((10_000.0..20_000.0).contains(&back), "{back}");
    // which direction the class is said to have moves none of them: the users stay where they are
    let (_, there, back) = replay(BOTH, "direction = \"upload\"");
    assert!((40_000.0..50_000.0).contains(&there), "{there}");
    assert!((10_000.0..20_000.0).contains(&back), "{back}");
}

/// A flow of the class's own direction is the very flow that it is without a file.
#[test]
fn a_replayed_flow_is_as_any_other() {
    for direction in ["upload", "download"] {
        let table = format!("start_s,size_bytes,direction\n2,30000,{direction}\n");
        let (replayed, ..) = replay(&table, "");
        let text = format!(
            "{LINK}\n[traffic.mine]\narrivals = {{ at = [\"2s\"] }}\nsize = \"30kB\"\n\
             direction = \"{direction}\"\ntransport = {{ tcp = {{ profile = \"ns2-2006\" }} }}"
        );
        let usual = run(&load(&text, &[]), 1);
        // as text: what has not happened is not a number, which equals nothing
        assert!(format!("{usual:?}") == format!("{replayed:?}"), "{direction}");
    }
}

/// The opener of a replayed flow is its own: an upload's SYN goes the way of its data.
#[test]
fn each_flow_is_opened_by_its_own_client() {
    let (results, ..) = replay(BOTH, "");
    let start = column(&results.flows, "start_s");
    let admitted = column(&results.flows, "admitted_s");
    // one way: 100 ms and the transmission of a packet of 40 B
    let one_way = 0.1 + 40.0 * 8.0 * (2.0 / 100e6 + 1.0 / 10e6);
    // a download is admitted by the SYN+ACK that answers its SYN
    assert!((admitted[0] - start[0] - 2.0 * one_way).abs() < 1e-9);
    assert!((admitted[1] - start[1] - one_way).abs() < 1e-9);
}
