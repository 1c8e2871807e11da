//! Links that vary, as flows meet them.

use std::collections::BTreeMap;

use crate::common::*;
use tidegate_sim::Results;

/// 250 packets of 1000 B a second for 40 s over an idle link of 10 Mbit/s, whose port is said
/// more of: without that each takes 100.96 ms.
fn udp(port: &str, more: &str) -> Results {
    let text = format!(
        "{LINK}\n[port.bottleneck]\n{port}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n\
         size = \"9720000B\"\ntransport = {{ udp = {{ rate = \"2Mbit\", packet = \"1000B\" }} }}\n{more}"
    );
    run(&load(&text, &[("duration", "60s"), ("warmup", "0s")]), 1)
}

fn ms(results: &Results, name: &str) -> f64 {
    column(&results.udp, name)[0] * 1e3
}

/// As `netem delay 100ms 20ms`: evenly from 80 to 120 ms, whose standard deviation is
/// 20 ms / sqrt(3). The error of the mean of 10,000 packets is 0.12 ms.
#[test]
fn jitter_spreads_the_delays_around_that_of_the_link() {
    let results = udp("jitter = { uniform = \"20ms\", order = \"free\" }", "");
    assert_eq!(column(&results.udp, "received_packets")[0], 10_000.0);
    let found = ["delay_min_s", "delay_mean_s", "delay_max_s"].map(|name| ms(&results, name));
    assert!((80.96..81.2).contains(&found[0]), "{found:?}");
    assert!((found[1] - 100.96).abs() < 0.5, "{found:?}");
    assert!((120.7..=120.96).contains(&found[2]), "{found:?}");
}

/// In order every packet takes at least as long, and none is longer under way than 120.96 ms.
#[test]
fn jitter_that_keeps_the_order_only_delays() {
    let results = udp("jitter = { uniform = \"20ms\" }", "");
    assert!(ms(&results, "delay_mean_s") > 105.0);
    assert!(ms(&results, "delay_max_s") <= 120.96);
}

/// A step of the delay holds for what is sent from then on: half of the packets take 50 ms less.
#[test]
fn a_delay_changes_in_the_middle_of_the_run() {
    let change = "[[change]]\nwhat = \"bottleneck.delay\"\nat = \"20s\"\nto = \"48ms\"\n";
    let results = udp("", change);
    let delays = ["delay_min_s", "delay_mean_s", "delay_max_s"].map(|name| ms(&results, name));
    for (found, expected) in delays.into_iter().zip([50.96, 75.96, 100.96]) {
        assert!((found - expected).abs() < 0.01, "{delays:?}");
    }
}

/// TCP takes three duplicates for a loss: where packets overtake each other it sends again what
/// was not lost, and where they keep their order it does not.
#[test]
fn only_packets_that_overtake_each_other_look_like_losses() {
    let again = |jitter: &str| {
        let text = format!(
            "{LINK}\n[port.bottleneck]\n{jitter}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n\
             size = \"1MB\"\ntransport = {{ tcp = {{ profile = \"rfc\" }} }}\n"
        );
        let results = run(&load(&text, &[("duration", "60s")]), 1);
        assert_eq!(flow(&results, "delivered_bytes"), 1e6, "{jitter}");
        flow(&results, "retransmitted_packets")
    };
    assert_eq!(again("jitter = { uniform = \"20ms\" }"), 0.0);
    assert!(again("jitter = { uniform = \"20ms\", order = \"free\" }") > 10.0);
    assert!(again("reorder = { share = 0.02, by = \"10ms\" }") > 3.0);
}

/// By hand: of 10,000 packets of 1000 B at 2 Mbit/s a policer of 1 Mbit/s lets pass what the
/// bucket holds at first, 15 packets, and 125 a second for 40 s: 5015 (the last of them is due at
/// the very end). The port counts the others.
#[test]
fn a_policer_drops_what_comes_too_fast() {
    let results = udp("police = { rate = \"1Mbit\", burst = \"15kB\" }", "");
    let received = column(&results.udp, "received_packets")[0];
    assert!((received - 5015.0).abs() <= 1.0, "{received}");
    assert_eq!(column(&results.port_totals, "drops_policed")[0], 10_000.0 - received);
    // nothing waits at a policer: no delay but that of an idle link
    assert!((ms(&results, "delay_max_s") - 100.96).abs() < 1e-6);
}

fn traced(trace: &str) -> Results {
    let text = format!(
        "{LINK}\n[port.bottleneck]\nrate = {{ trace = \"link\" }}\n[traffic.one]\n\
         arrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\" }} }}\n"
    );
    let files = BTreeMap::from([("link".to_owned(), trace.as_bytes().to_vec())]);
    run(&load_with(&text, &[("duration", "40s"), ("warmup", "10s")], &files), 1)
}

/// Opportunities of 1504 B, three in 4 ms, are 9.024 Mbit/s, and a table of 6 and 12 Mbit/s for a
/// second each 9 Mbit/s: a long flow takes as much.
#[test]
fn a_flow_takes_what_a_trace_gives() {
    let table = "time_s,rate_bit_s\n0,6e6\n1,12e6\n2,0\n";
    for (trace, expected) in [("1\n2\n4\n", 9.024e6), (table, 9e6)] {
        let results = traced(trace);
        let sent = column(&results.port_totals, "departed_bytes")[0] * 8.0 / 30.0;
        close(sent, expected, 0.02);
        assert!(column(&results.port_totals, "utilisation")[0] > 0.97);
    }
}
