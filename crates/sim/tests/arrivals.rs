//! Arrivals kept one by one.

use crate::common::*;
use tidegate_sim::{Data, Results};

/// Four packets of 500 B, 1 ms apart, come to a link that takes 10 ms for each and lets one wait.
const BURST: &str = r#"
name = "burst"
duration = "1s"
[topology.links.entry]
from = "a"
to = "r"
rate = "4Mbit"
delay = "0s"
[topology.links.last]
from = "r"
to = "b"
rate = "400kbit"
delay = "0s"
buffer = "1packets"
[port.last]
record = 1000
[traffic.burst]
from = "a"
to = "b"
arrivals = { at = ["0s"] }
size = "1888B"
transport = { udp = { rate = "4Mbit", packet = "500B" } }
"#;

// By hand: the first is sent at once; the second finds nobody waiting and waits; the third and the fourth
// find one and no room. Each takes 1 ms to come.
#[test]
fn each_arrival_says_what_it_found_and_what_became_of_it() {
    let arrivals = run(&load(BURST, &[]), 1).arrivals;
    assert_eq!(column(&arrivals, "time_s"), [0.001, 0.002, 0.003, 0.004]);
    assert_eq!(column(&arrivals, "number"), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(column(&arrivals, "queue_packets"), [0.0, 0.0, 1.0, 1.0]);
    assert!(column(&arrivals, "avg_queue_packets").iter().all(|average| average.is_nan()));
    assert_eq!(words(&arrivals, "port"), ["last"; 4]);
    assert_eq!(words(&arrivals, "origin"), ["a"; 4]);
    assert_eq!(words(&arrivals, "fate"), ["queued", "queued", "queue_full", "queue_full"]);
}

// By hand: a packet is 1 ms old when it comes, and the policer's bucket holds three of 500 B.
#[test]
fn a_fate_has_the_name_of_its_reason() {
    let old = [("port.last.lifetime", "500us")];
    assert_eq!(words(&run(&load(BURST, &old), 1).arrivals, "fate"), ["expired"; 4]);
    let fast = [("port.last.police", "{ rate = \"1kbit\", burst = \"1500B\" }")];
    let fates = ["queued", "queued", "queue_full", "policed"];
    assert_eq!(words(&run(&load(BURST, &fast), 1).arrivals, "fate"), fates);
}

// Looking changes nothing, and the number of rows is limited.
#[test]
fn a_record_is_limited_and_changes_nothing() {
    let kept = run(&load(BURST, &[("port.last.record", "3")]), 1);
    assert_eq!(column(&kept.arrivals, "number"), [0.0, 1.0, 2.0]);
    let plain = run(&load(BURST, &[("port.last.record", "0")]), 1);
    assert!(column(&plain.arrivals, "number").is_empty());
    // as text, in which what is not a number equals itself
    let tables = |results: &Results| format!("{:?}", (&results.flows, &results.port_totals));
    assert_eq!(tables(&kept), tables(&plain));
}

// RED's average, by hand (lgc, 2.2.1): w = 0.5 and queues of 0, 0, 1 found while the link is busy give
// 0, 0, 0.5; the very first finds the link idle since the start, and an average of 0 stays 0.
#[test]
fn the_average_is_that_after_the_arrival() {
    let red = "{ law = \"red\", min_th = 5, max_th = 15, w = 0.5 }";
    let settings = [("port.last.queue", red), ("topology.links.last.buffer", "9packets")];
    let arrivals = run(&load(BURST, &settings), 1).arrivals;
    assert_eq!(column(&arrivals, "queue_packets"), [0.0, 0.0, 1.0, 2.0]);
    assert_eq!(column(&arrivals, "avg_queue_packets"), [0.0, 0.0, 0.5, 1.25]);
}

fn words(columns: &[tidegate_sim::Column], name: &str) -> Vec<String> {
    let column = columns.iter().find(|column| column.name == name).expect("the column is there");
    let Data::Category { codes, names } = &column.data else { panic!("{name} has names") };
    codes.iter().map(|&code| names[code as usize].clone()).collect()
}
