//! Time series on request: what they say adds up to what the other tables say.

use crate::common::*;
use tidegate_sim::{Column, Results};

/// Two flows without end and many short ones, over the link of 10 Mbit/s.
const TRAFFIC: &str = r#"
    [traffic.bulk]
    arrivals = { at = ["0s", "5s"] }
    size = "unlimited"
    [traffic.web]
    arrivals = { poisson = "10/s" }
    size = { pareto = { mean = "30kB", shape = 1.5 } }
    [traffic.voice]
    arrivals = { at = ["1s"] }
    transport = { udp = { rate = "64kbit", packet = "200B" } }
    stop = "20s"
"#;
const SERIES: &str = r#"
    [series]
    flows = ["bulk:0", "bulk:1", "web:3", "voice:0"]
    classes = ["bulk", "web", "voice"]
    every = "500ms"
"#;

fn with(series: &str) -> Results {
    let text = format!("{LINK}\n{series}\n{TRAFFIC}");
    run(&load(&text, &[]), 1)
}

/// Sums of bits by the code in another column: rates over intervals of half a second.
fn bytes(table: &[Column], key: &str, code: f64) -> f64 {
    let keys = column(table, key);
    let rates = column(table, "rate_bps");
    keys.iter().zip(rates).filter(|(at, _)| **at == code).map(|(_, rate)| rate * 0.5 / 8.0).sum()
}

#[test]
fn what_is_not_asked_for_is_not_there_and_changes_nothing() {
    let (without, followed) = (with(""), with(SERIES));
    let tables = [&without.flow_series, &without.class_series, &without.queue_series];
    assert!(tables.iter().all(|table| table.is_empty()));
    assert!(!followed.flow_series.is_empty());
    assert_eq!(all_bits(&without), all_bits(&followed));
}

/// The rates of a flow, times their intervals, are the bytes that it had delivered.
#[test]
fn rates_of_flows_add_up_to_what_was_delivered() {
    let results = with(SERIES);
    let delivered = column(&results.flows, "delivered_bytes");
    let mut followed = column(&results.flow_series, "flow");
    followed.dedup();
    followed.sort_by(f64::total_cmp);
    followed.dedup();
    assert_eq!(followed.len(), 4);
    for flow in followed {
        close(bytes(&results.flow_series, "flow", flow), delivered[flow as usize], 1e-9);
    }
}

/// So are those of a class, of the flows that have come to their end among them.
#[test]
fn rates_of_classes_add_up_to_what_was_delivered() {
    let results = with(SERIES);
    let (classes, delivered) =
        (column(&results.flows, "class"), column(&results.flows, "delivered_bytes"));
    for class in [0.0, 1.0, 2.0] {
        let all = classes.iter().zip(&delivered).filter(|(at, _)| **at == class);
        close(bytes(&results.class_series, "class", class), all.map(|(_, all)| all).sum(), 1e-9);
    }
}

/// What waits of each class is what waits: with endless flows alone, whose
/// packets all belong to open flows, to the packet and the byte.
#[test]
fn queues_by_class_add_up_to_the_queue() {
    let text = format!(
        "{LINK}\n[series]\nclasses = [\"one\", \"two\"]\n
         [traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n
         [traffic.two]\narrivals = {{ at = [\"1s\"] }}\n
         transport = {{ udp = {{ rate = \"9Mbit\" }} }}"
    );
    for queue in ["drop-tail", "fq-codel"] {
        let queue = format!("{{ law = \"{queue}\" }}");
        let scenario = load(&text, &[("sample", "500ms"), ("port.bottleneck.queue", &queue)]);
        let results = run(&scenario, 1);
        for (name, most) in [("queue_packets", 100.0), ("queue_bytes", 20_000.0)] {
            let whole = at_port(&results.ports, "bottleneck", name);
            let parts = at_port(&results.queue_series, "bottleneck", name);
            let sums: Vec<f64> = parts.chunks(2).map(|pair| pair.iter().sum()).collect();
            assert_eq!(sums, whole, "{queue} {name}");
            assert!(queue.contains("codel") || sums.iter().copied().fold(0.0, f64::max) > most);
        }
    }
}

/// A sender without end fills its window, and no round trip is shorter than
/// that of the link, 200 ms. UDP has neither.
#[test]
fn windows_and_round_trips_are_those_of_the_sender() {
    let results = with(SERIES);
    let table = &results.flow_series;
    let [class, cwnd, flight, srtt] =
        ["class", "cwnd_packets", "flight_packets", "srtt_s"].map(|name| column(table, name));
    let (mut windows, mut full) = (0, 0);
    for row in 0..class.len() {
        if class[row] == 2.0 {
            assert!(cwnd[row].is_nan() && flight[row].is_nan() && srtt[row].is_nan());
        } else if class[row] == 0.0 {
            windows += 1;
            full += usize::from(flight[row] >= cwnd[row].floor());
            assert!(srtt[row].is_nan() || srtt[row] >= 0.2, "{}", srtt[row]);
        }
    }
    // one from 0.5 s and one from 5 s on, twice a second until 40 s; mostly an
    // endless flow has sent all that its window allows
    assert_eq!(windows, 80 + 71);
    assert!(full > windows / 2, "{full} of {windows}");
}

/// Flows are admitted and over as the table of flows says.
#[test]
fn open_flows_are_those_admitted_and_not_over() {
    let results = with(SERIES);
    let [class, admitted, closed] =
        ["class", "admitted_s", "closed_s"].map(|name| column(&results.flows, name));
    let [time, of, open] =
        ["time_s", "class", "open_flows"].map(|name| column(&results.class_series, name));
    for row in (0..time.len()).filter(|&row| of[row] == 1.0) {
        let counted = (0..class.len()).filter(|&flow| {
            class[flow] == 1.0
                && admitted[flow] <= time[row]
                && (closed[flow].is_nan() || closed[flow] > time[row])
        });
        assert_eq!(open[row], counted.count() as f64, "at {}", time[row]);
    }
}
