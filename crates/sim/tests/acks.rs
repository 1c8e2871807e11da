//! The state of a sender at every acknowledgement.

use crate::common::*;
use tidegate_sim::Results;

/// One flow without end over the link of 10 Mbit/s; every segment is acknowledged, and every
/// acknowledgement counts as one segment.
const LONG: &str = r#"
    [traffic.long]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { tcp = { profile = "ns2-2005", window = 300 } }
"#;

fn with(series: &str, traffic: &str, settings: &[(&str, &str)]) -> Results {
    run(&load(&format!("{LINK}\n[series]\n{series}\n{traffic}"), settings), 1)
}

#[test]
fn a_trace_changes_nothing_and_costs_no_rows_when_off() {
    let (plain, traced) = (with("", LONG, &[]), with("acks = [\"long:0\"]", LONG, &[]));
    assert!(plain.acks.is_empty() && plain.flow_series.is_empty());
    assert!(traced.flow_series.is_empty(), "nothing was asked for at intervals");
    assert_eq!(all_bits(&plain), all_bits(&traced));
    assert_eq!(plain.packet_hops, traced.packet_hops);
    assert!(column(&traced.acks, "time_s").len() > 1000);
}

/// RFC 5681, 3.1: in slow start an acknowledgement of a new segment opens the window by one
/// segment. So after `n` of them it is the first window and `n`, `n` segments are acknowledged,
/// and the sender has as many in flight as the window allows.
#[test]
fn slow_start_opens_by_a_segment_at_each_acknowledgement() {
    let results = with("acks = [\"long:0\"]", LONG, &[]);
    let [cwnd, ssthresh, flight, acked, again] = [
        "cwnd_packets",
        "ssthresh_packets",
        "flight_bytes",
        "acked_bytes",
        "retransmitted_packets",
    ]
    .map(|name| column(&results.acks, name));
    // the acknowledgement of the handshake is an opening packet, and has no row
    let segment = acked[0];
    let first = cwnd[0] - 1.0;
    let mut rows = 0;
    for row in 0..cwnd.len() {
        if cwnd[row] >= ssthresh[row].min(200.0) {
            break;
        }
        rows += 1;
        assert_eq!(cwnd[row], first + rows as f64);
        assert_eq!(acked[row], rows as f64 * segment);
        assert_eq!(flight[row], cwnd[row].floor() * segment);
        assert_eq!(again[row], 0.0);
    }
    assert!(rows > 20, "{rows}");
}

/// At the instant of a row of `flow_series`, the last acknowledgement says the same.
#[test]
fn the_trace_agrees_with_the_series() {
    let asked = "acks = [\"long:0\"]\nflows = [\"long:0\"]\nevery = \"100ms\"";
    let results = with(asked, LONG, &[]);
    let times = column(&results.acks, "time_s");
    let mut compared = 0;
    for (trace, series, unit) in [
        ("cwnd_packets", "cwnd_packets", 1.0),
        ("srtt_s", "srtt_s", 1.0),
        // segments of one size
        ("flight_bytes", "flight_packets", column(&results.acks, "acked_bytes")[0]),
    ] {
        let trace = column(&results.acks, trace);
        let table = &results.flow_series;
        for (at, value) in column(table, "time_s").iter().zip(column(table, series)) {
            let before = times.partition_point(|time| time <= at);
            if before > 0 {
                assert_eq!(trace[before - 1], value * unit, "{series} at {at}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// Every expiry of the timer has its row, with the window of one segment that RFC 5681, 3.1 asks
/// for, and so has every acknowledgement: none is later than the flow's last.
#[test]
fn timeouts_have_their_rows() {
    // a buffer of 4 packets behind a link that loses: many losses in a window
    let settings = [
        ("topology.dumbbell.bottleneck.buffer", "4packets"),
        ("topology.dumbbell.bottleneck.loss", "0.05"),
    ];
    let results = with("acks = [\"long:0\"]", LONG, &settings);
    let [cause, cwnd, again] =
        ["cause", "cwnd_packets", "retransmitted_packets"].map(|name| column(&results.acks, name));
    let expired: Vec<usize> = (0..cause.len()).filter(|&row| cause[row] == 1.0).collect();
    assert!(expired.len() > 3);
    assert_eq!(expired.len() as f64, flow(&results, "timeouts"));
    assert!(expired.iter().all(|&row| cwnd[row] == 1.0));
    assert!(again.is_sorted());
    assert!(*again.last().expect("there are rows") <= flow(&results, "retransmitted_packets"));
}

/// A flow of 20 segments and one of a single segment have a row for each acknowledgement of data
/// or FIN; flows that were not chosen have none, and neither has UDP.
#[test]
fn chosen_flows_alone_are_traced_to_their_ends() {
    let traffic = r#"
        [traffic.web]
        arrivals = { at = ["0s", "1s", "5s"] }
        size = "20kB"
        transport = { tcp = { profile = "linux" } }
        [traffic.voice]
        arrivals = { at = ["1s"] }
        transport = { udp = { rate = "64kbit", packet = "200B" } }
    "#;
    let results = with("acks = [\"web:0\", \"web:2\", \"voice:0\"]", traffic, &[]);
    let [flows, number, acked, flight, class] =
        ["flow", "number", "acked_bytes", "flight_bytes", "class"]
            .map(|name| column(&results.acks, name));
    assert!(class.iter().all(|&class| class == 0.0));
    for (place, chosen) in [(0.0, true), (1.0, false), (2.0, true)] {
        let rows: Vec<usize> = (0..number.len()).filter(|&row| number[row] == place).collect();
        assert_eq!(!rows.is_empty(), chosen);
        let Some(&last) = rows.last() else { continue };
        assert_eq!((acked[last], flight[last]), (20_000.0, 0.0));
        assert!(rows.iter().all(|&row| flows[row] == flows[last]));
        assert!(rows.iter().all(|&row| acked[row] + flight[row] <= 20_000.0));
    }
}

/// Connections of users who load pages are traced too, though other code drives them.
#[test]
fn connections_of_users_can_be_traced() {
    let traffic = r#"
        [traffic.web]
        arrivals = { at = ["0s"] }
        size = "20kB"
        pages = { objects = 3, connections = 1 }
        transport = { tcp = { profile = "linux" } }
    "#;
    let results = with("acks = [\"web:0\"]", traffic, &[]);
    assert!(column(&results.acks, "acked_bytes").last().is_some_and(|&last| last >= 60_000.0));
}
