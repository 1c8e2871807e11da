//! Loads and runs the scenario that it reads, and prints what that took: `cargo run --release -p
//! tidegate-benches --example cost < SCENARIO`. `python -m tools.scaling` compares such costs.
//!
//! [`load_it`] and [`run_it`] are functions of their own, so that a profiler can count either.

use std::collections::BTreeMap;
use std::io::Read;

use tidegate_core::units::Time;
use tidegate_model::{Scenario, Source};
use tidegate_sim::{Custom, Progress, Simulation};

/// CPU time of this thread, in seconds.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

#[inline(never)]
fn load_it(text: &str) -> Scenario {
    let source = Source { name: "scenario", text };
    match tidegate_model::load(source, &[], &BTreeMap::new()) {
        Ok(scenario) => scenario,
        Err(report) => panic!("{}", report.render(false)),
    }
}

#[inline(never)]
fn run_it(run: &mut Simulation) {
    while matches!(run.advance(Time::NEVER, 20_000), Ok(Progress::Paused)) {}
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("a scenario in UTF-8");
    let start = cpu();
    let scenario = load_it(&text);
    let loaded = cpu();
    let mut run =
        Simulation::new(&scenario, 1, Custom::default()).expect("a scenario without laws");
    let built = cpu();
    run_it(&mut run);
    let (load, build, took) = (loaded - start, built - loaded, cpu() - built);
    println!("hops {} load {load} build {build} run {took}", run.packet_hops());
}
