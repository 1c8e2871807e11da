//! Scenarios in a few lines, and their columns by name.
#![allow(dead_code)] // every test file uses its own part

use std::collections::BTreeMap;

use tidegate_core::units::Time;
use tidegate_model::{Scenario, Setting, Source};
use tidegate_sim::{Column, Custom, Data, Progress, Results, Simulation};

/// Two hosts, 100 Mbit/s and 1 ms to the routers, 10 Mbit/s and 98 ms between
/// them: a round trip of 200 ms, as in the paper on session control.
pub const LINK: &str = r#"
    name = "test"
    duration = "40s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "98ms", buffer = "217packets" }
"#;

pub fn load(text: &str, settings: &[(&str, &str)]) -> Scenario {
    load_with(text, settings, &BTreeMap::new())
}

/// A scenario that refers to files.
pub fn load_with(
    text: &str,
    settings: &[(&str, &str)],
    files: &BTreeMap<String, Vec<u8>>,
) -> Scenario {
    let settings: Vec<Setting<'_>> =
        settings.iter().map(|&(key, value)| Setting { key, value }).collect();
    let source = Source { name: "test.toml", text };
    match tidegate_model::load(source, &settings, files) {
        Ok(scenario) => scenario,
        Err(report) => panic!("{}", report.render(false)),
    }
}

pub fn finish(mut simulation: Simulation) -> Results {
    while simulation.advance(Time::NEVER, 100_000).expect("built-in laws do not fail")
        == Progress::Paused
    {}
    simulation.finish()
}

pub fn run_with(scenario: &Scenario, seed: u64, custom: Custom<'_>) -> Results {
    finish(Simulation::new(scenario, seed, custom).expect("the scenario can be built"))
}

pub fn run(scenario: &Scenario, seed: u64) -> Results {
    run_with(scenario, seed, Custom::default())
}

/// The values of a column as real numbers.
pub fn column(columns: &[Column], name: &str) -> Vec<f64> {
    let column = columns.iter().find(|column| column.name == name);
    match &column.unwrap_or_else(|| panic!("no column {name}")).data {
        Data::F64(values) => values.clone(),
        Data::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Data::U32(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Data::Category { codes, .. } => codes.iter().map(|&code| f64::from(code)).collect(),
    }
}

pub fn flow(results: &Results, name: &str) -> f64 {
    column(&results.flows, name)[0]
}

/// The rows of a table whose port has that name, as values of a column.
pub fn at_port(table: &[Column], port: &str, name: &str) -> Vec<f64> {
    let ports = table.iter().find(|column| column.name == "port").expect("there is a port");
    let Data::Category { codes, names } = &ports.data else { panic!("ports have names") };
    let code = names.iter().position(|name| name == port).expect("the port exists") as u32;
    let values = column(table, name);
    codes.iter().zip(values).filter(|(at, _)| **at == code).map(|(_, value)| value).collect()
}

/// The sum of a port's values in the table of totals.
pub fn total(results: &Results, port: &str, name: &str) -> f64 {
    at_port(&results.port_totals, port, name).iter().sum()
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub fn close(measured: f64, expected: f64, relative: f64) {
    assert!(
        (measured - expected).abs() <= relative * expected.abs(),
        "measured {measured}, expected {expected} within {relative}"
    );
}

fn bits(columns: &[Column]) -> Vec<(&'static str, Vec<u64>)> {
    let values = |data: &Data| match data {
        Data::F64(values) => values.iter().map(|value| value.to_bits()).collect(),
        Data::U64(values) => values.clone(),
        Data::U32(values) | Data::Category { codes: values, .. } => {
            values.iter().map(|&value| u64::from(value)).collect()
        }
    };
    columns.iter().map(|column| (column.name, values(&column.data))).collect()
}

/// Every value of every table, to the bit: NaN equals itself.
pub fn all_bits(results: &Results) -> Vec<(&'static str, Vec<u64>)> {
    [&results.flows, &results.ports, &results.events, &results.port_totals]
        .into_iter()
        .flat_map(|columns| bits(columns))
        .collect()
}
