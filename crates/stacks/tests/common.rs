//! Runs of scenarios with real stacks and their controls.

use std::collections::BTreeMap;

use tidegate_core::units::Time;
use tidegate_model::{Setting, Source};
use tidegate_sim::{Column, Custom, Data, Progress, Results, Simulation};
use tidegate_stacks::{controls, stack};

/// Runs a scenario; bytes of datagrams are freed with their packets at any time.
pub fn run(text: &str, settings: &[(&str, &str)]) -> Results {
    logged(text, settings, &[]).0
}

/// The same with logs of the first flows of these classes.
pub fn logged(text: &str, settings: &[(&str, &str)], classes: &[&str]) -> (Results, Vec<Vec<u8>>) {
    let settings: Vec<Setting<'_>> =
        settings.iter().map(|&(key, value)| Setting { key, value }).collect();
    let source = Source { name: "test.toml", text };
    let scenario = tidegate_model::load(source, &settings, &BTreeMap::new())
        .unwrap_or_else(|report| panic!("{}", report.render(false)));
    let custom = Custom {
        stacks: Some(&mut stack),
        crate_controls: Some(&mut controls::factory),
        qlogs: classes.iter().map(|class| (String::from(*class), 0)).collect(),
        ..Custom::default()
    };
    let mut run = Simulation::new(&scenario, 7, custom).expect("the scenario can be built");
    let mut logs = vec![Vec::new(); classes.len()];
    let mut drain = |run: &mut Simulation| {
        logs.iter_mut().zip(run.drain_qlogs()).for_each(|(log, more)| log.extend(more));
    };
    while run.advance(Time::NEVER, 100_000).expect("built-in laws do not fail") == Progress::Paused
    {
        let (kept, under_way) = run.payloads();
        assert_eq!(kept, under_way);
        drain(&mut run);
    }
    drain(&mut run);
    let (kept, under_way) = run.payloads();
    assert_eq!(kept, under_way, "at the end");
    (run.finish(), logs)
}

pub fn column(columns: &[Column], name: &str) -> Vec<f64> {
    match &columns.iter().find(|column| column.name == name).expect("the column exists").data {
        Data::F64(values) => values.clone(),
        Data::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Data::U32(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Data::Category { codes, .. } => codes.iter().map(|&code| f64::from(code)).collect(),
    }
}

pub fn one(results: &Results, name: &str) -> f64 {
    column(&results.flows, name)[0]
}

/// Two hosts, 100 Mbit/s and 1 ms to the routers, 10 Mbit/s and 98 ms between them.
pub const LINK: &str = r#"
    name = "test"
    duration = "60s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "98ms", buffer = "1000packets" }
    [traffic.one]
    arrivals = { at = ["0s"] }
    transport = { quic = { stack = "quinn" } }
"#;

/// Everything that a run has measured.
pub fn bits(results: &Results) -> Vec<u64> {
    let tables =
        [&results.flows, &results.ports, &results.port_totals, &results.pages, &results.objects];
    let names = tables.iter().flat_map(|table| table.iter());
    names
        .flat_map(|column| match &column.data {
            Data::F64(values) => values.iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
            Data::U64(values) => values.clone(),
            Data::U32(values) | Data::Category { codes: values, .. } => {
                values.iter().map(|&value| u64::from(value)).collect()
            }
        })
        .collect()
}
