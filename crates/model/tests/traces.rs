//! Capacities and delays from traces: what they load to, and how errors point at their line.

use std::collections::BTreeMap;

use tidegate_core::units::{Rate, Time};
use tidegate_model::lint::warnings;
use tidegate_model::scenario::{LinkValue, Scenario};
use tidegate_model::{Report, Setting, Source, files, load};

const TEXT: &str = r#"
name     = "a link from a trace"
duration = "10s"
[topology.dumbbell]
pairs      = 1
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms" }
[port.bottleneck]
rate = { trace = "link.trace" }
[traffic.one]
arrivals = { at = ["0s"] }
size     = "unlimited"
"#;

fn loaded(trace: &str, set: &[(&str, &str)]) -> Result<Scenario, Report> {
    let settings: Vec<Setting<'_>> =
        set.iter().map(|&(key, value)| Setting { key, value }).collect();
    let contents = BTreeMap::from([("link.trace".to_owned(), trace.as_bytes().to_vec())]);
    load(Source { name: "test.toml", text: TEXT }, &settings, &contents)
}

/// Seconds and bit/s of every change, all of the bottleneck.
fn changes(trace: &str, set: &[(&str, &str)]) -> Vec<(f64, u64)> {
    let scenario = loaded(trace, set).unwrap_or_else(|report| panic!("{}", report.render(false)));
    let found = scenario.changes.iter().map(|change| match change.to {
        LinkValue::Rate(rate) => {
            assert_eq!(scenario.network.ports[change.port as usize].name, "bottleneck");
            (change.at.secs(), rate.bps())
        }
        LinkValue::Delay { .. } => panic!("{change:?} is one of a delay"),
    });
    found.collect()
}

/// The same with the delay from the file, in place of the rate.
fn delayed(trace: &str, set: &[(&str, &str)]) -> Result<Scenario, Report> {
    let text = TEXT.replace("rate = { trace", "delay = { trace");
    let settings: Vec<Setting<'_>> =
        set.iter().map(|&(key, value)| Setting { key, value }).collect();
    let contents = BTreeMap::from([("link.trace".to_owned(), trace.as_bytes().to_vec())]);
    load(Source { name: "test.toml", text: &text }, &settings, &contents)
}

/// Seconds, delay in ms and whether packets may overtake, of every change.
fn delays(trace: &str, set: &[(&str, &str)]) -> Vec<(f64, f64, bool)> {
    let scenario = delayed(trace, set).unwrap_or_else(|report| panic!("{}", report.render(false)));
    let found = scenario.changes.iter().map(|change| match change.to {
        LinkValue::Delay { delay, another_path } => {
            assert_eq!(scenario.network.ports[change.port as usize].name, "bottleneck");
            (change.at.secs(), delay.secs() * 1e3, another_path)
        }
        LinkValue::Rate(_) => panic!("{change:?} is one of a rate"),
    });
    found.collect()
}

/// A satellite that changes every 3 s.
const STEPS: &str = "time_s,rate_bit_s,delay_s\n0,1e6,0.020\n3,2e6,0.040\n6,0,0\n";

/// By hand: 20 and 40 ms for 3 s each, then again; the mean is 30 ms.
#[test]
fn a_table_of_delays_becomes_changes_and_begins_again() {
    assert_eq!(
        delays(STEPS, &[]),
        [(0.0, 20.0, false), (3.0, 40.0, false), (6.0, 20.0, false), (9.0, 40.0, false)]
    );
    let port = &delayed(STEPS, &[]).unwrap().network.ports[0];
    assert_eq!(port.delay, Time::from_ms(30));
    assert!(port.impairments.changes);
}

/// From 4 s on, once: 40 ms until the end of the trace, 2 s later, and then what its last line says.
#[test]
fn a_table_of_delays_can_begin_in_its_middle_and_end() {
    let set = [
        ("port.bottleneck.delay.start", "\"4s\""),
        ("port.bottleneck.delay.repeat", "false"),
        ("port.bottleneck.delay.order", "\"free\""),
    ];
    assert_eq!(delays(STEPS, &set), [(0.0, 40.0, true), (2.0, 0.0, true)]);
}

/// A start after many turns is a start in one of them: 1,000,003 = 166,667 * 6 + 1.
#[test]
fn a_late_start_skips_whole_turns() {
    let set = [("port.bottleneck.delay.start", "\"1000003s\"")];
    let found = delays(STEPS, &set);
    assert_eq!(found[..2], [(0.0, 20.0, false), (2.0, 40.0, false)]);
}

#[test]
fn one_file_says_both_rate_and_delay() {
    let set = [("port.bottleneck.delay", "{ trace = \"link.trace\" }")];
    let scenario = loaded(STEPS, &set).unwrap();
    let rates = scenario.changes.iter().filter(|change| matches!(change.to, LinkValue::Rate(_)));
    assert_eq!((rates.count(), scenario.changes.len()), (4, 8));
}

/// A trace of delays, and what the message about it must hold.
const WRONG_DELAYS: &[(&str, &[&str])] = &[
    ("", &["link.trace, line 1", "says nothing", "at least two lines"]),
    ("5\n10\n", &["link.trace, line 1", "no column `time_s`", "`time_s,delay_s`"]),
    ("time_s,delay\n0,1\n", &["line 1", "no column `delay_s`"]),
    ("time_s,delay_s\n0,0.1\n", &["says nothing"]),
    ("time_s,delay_s\n0,0.1\n1,0.2\n0.5,0.1\n", &["line 4", "does not come after 1 s", "sort"]),
    ("time_s,delay_s\n0,-0.1\n1,1\n", &["line 2", "`delay_s` is no delay", "up to 3600"]),
    ("time_s,delay_s\n0,inf\n1,1\n", &["line 2", "`delay_s` is no delay"]),
    ("time_s,delay_s\n0,0,1\n1,0,2\n", &["line 2", "3 fields, where the first line names 2"]),
    ("time_s,delay_s,time_s\n0,0.1,0\n", &["line 1", "two columns `time_s`"]),
    ("time_s,delay_s\n0,0.1\ninf,1\n", &["line 3", "`time_s` is no time"]),
    ("PAR1", &["Parquet", "write it as CSV"]),
];

#[test]
fn errors_in_a_trace_of_delays_show_the_line() {
    for (trace, expected) in WRONG_DELAYS {
        let message = match delayed(trace, &[]) {
            Ok(_) => panic!("{trace:?} was not refused"),
            Err(report) => report.render(false),
        };
        for part in *expected {
            assert!(message.contains(part), "{trace:?}: {part:?} is not in\n{message}");
        }
    }
}

#[test]
fn a_trace_of_delays_does_not_go_with_a_change_of_the_delay_or_too_much_jitter() {
    let change = "[{ what = \"bottleneck.delay\", at = \"1s\", to = \"1ms\" }]";
    let low = "time_s,delay_s\n0,0.02\n1,0.004\n2,0.02\n";
    for (trace, set, part) in [
        (STEPS, ("change", change), "leave one of the two out"),
        (
            low,
            ("port.bottleneck.jitter", "{ uniform = \"5ms\" }"),
            "the trace's least, which is 4ms",
        ),
    ] {
        let message = delayed(trace, &[set]).map(drop).map_err(|report| report.render(false));
        assert!(message.as_ref().is_err_and(|message| message.contains(part)), "{message:?}");
    }
    assert!(delayed(low, &[("port.bottleneck.jitter", "{ uniform = \"4ms\" }")]).is_ok());
}

#[test]
fn a_document_names_its_trace() {
    let found = files(Source { name: "test.toml", text: TEXT }, &[]);
    assert_eq!(found.ok(), Some(vec!["link.trace".to_owned()]));
}

const TABLE: &str = "# a table\ntime_s,rate_bit_s\n0,1e6\n2,3e6\n4,0\n";

/// By hand: 1 and 3 Mbit/s for two seconds each, then again; the mean is 2 Mbit/s.
#[test]
fn a_table_becomes_changes_and_begins_again() {
    let (low, high) = (1_000_000, 3_000_000);
    let expected = [(0.0, low), (2.0, high), (4.0, low), (6.0, high), (8.0, low)];
    assert_eq!(changes(TABLE, &[]), expected);
    let port = &loaded(TABLE, &[]).unwrap().network.ports[0];
    assert_eq!(port.rate, Rate::from_bps(2_000_000));
    assert!(port.impairments.changes);
}

/// A table of a logger: its clock counts from 1970, and the run begins with its first row.
#[test]
fn a_table_with_the_times_of_a_clock_is_counted_from_its_first_row() {
    let clock = "time_s,rate_bit_s\n1700000000.5,1e6\n1700000002.5,3e6\n1700000004.5,0\n";
    assert_eq!(changes(clock, &[]), changes(TABLE, &[]));
    let scenario = loaded(clock, &[]).unwrap();
    assert_eq!(scenario.network.ports[0].rate, Rate::from_bps(2_000_000));
    let said =
        ["the trace of `bottleneck` begins at 1700000000.5 s: its times are counted from there"];
    assert_eq!(warnings(&scenario), said);
    assert!(warnings(&loaded(TABLE, &[]).unwrap()).is_empty());
}

/// From 3 s on, twice as fast, once: after the last line its rate holds, which is 0.
#[test]
fn a_table_can_begin_in_its_middle_and_end() {
    let set = [
        ("port.bottleneck.rate.start", "\"3s\""),
        ("port.bottleneck.rate.scale", "2.0"),
        ("port.bottleneck.rate.repeat", "false"),
    ];
    assert_eq!(changes(TABLE, &set), [(0.0, 6_000_000), (1.0, 0)]);
}

/// Mahimahi's: four opportunities of 1504 B in 20 ms are 2.4064 Mbit/s.
#[test]
fn opportunities_are_the_links_own() {
    let scenario = loaded("5\n5\n# a comment\n10\n20\n", &[]).unwrap();
    let port = &scenario.network.ports[0];
    assert!(scenario.changes.is_empty());
    assert!(port.impairments.opportunities.is_some());
    assert_eq!(port.rate, Rate::from_bps(2_406_400));
    let others = &scenario.network.ports[1..];
    assert!(others.iter().all(|port| port.impairments.opportunities.is_none()));
    assert_eq!(scenario.duration, Time::from_secs(10));
}

/// A trace, and what the message about it must hold.
const MISTAKES: &[(&str, &[&str])] = &[
    ("", &["link.trace, line 1", "says nothing"]),
    ("# nothing\n", &["says nothing"]),
    ("0\n0\n", &["ends when it begins"]),
    ("5\n4\n", &["link.trace, line 2", "4 ms comes after 5 ms", "sort"]),
    ("5\nx\n", &["link.trace, line 2", "no time of an opportunity", "milliseconds"]),
    ("5\n1.5\n", &["link.trace, line 2", "whole milliseconds"]),
    ("time_s,rate\n0,1\n", &["link.trace, line 1", "no column `rate_bit_s`"]),
    ("time_s,rate_bit_s\n0,1e6\n", &["says nothing", "at least two lines"]),
    ("time_s,rate_bit_s\n0,1e6\n0,2e6\n", &["line 3", "does not come after"]),
    ("time_s,rate_bit_s\n0,-1\n1,1\n", &["line 2", "`rate_bit_s` is no rate"]),
    ("time_s,rate_bit_s\nnan,1\n", &["line 2", "`time_s` is no time"]),
    ("time_s,rate_bit_s\n9,1\n8,1\n", &["line 3", "8 s does not come after 9 s"]),
    ("time_s,rate_bit_s\n5,1\n2e7,1\n", &["line 3", "after the first row", "10000000 s"]),
];

#[test]
fn errors_in_a_trace_show_the_line_and_what_would_be_right() {
    for (trace, expected) in MISTAKES {
        let message = match loaded(trace, &[]) {
            Ok(_) => panic!("{trace:?} was not refused"),
            Err(report) => report.render(false),
        };
        for part in *expected {
            assert!(message.contains(part), "{trace:?}: {part:?} is not in\n{message}");
        }
    }
}

#[test]
fn a_trace_does_not_go_with_a_change_of_the_rate_or_a_scale_of_opportunities() {
    let change = "[{ what = \"bottleneck.rate\", at = \"1s\", to = \"1Mbit\" }]";
    for (trace, set, part) in [
        (TABLE, ("change", change), "leave one of the two out"),
        ("1\n2\n", ("port.bottleneck.rate.scale", "2.0"), "cannot be scaled"),
        (TABLE, ("port.bottleneck.rate.scale", "0.0"), "above 0"),
    ] {
        let message = loaded(trace, &[set]).map(drop).map_err(|report| report.render(false));
        assert!(message.as_ref().is_err_and(|message| message.contains(part)), "{message:?}");
    }
}
