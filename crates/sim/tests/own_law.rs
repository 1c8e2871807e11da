//! A law of the caller's own in a whole run: the one of docs/own-law.md, and two that fail.

#[allow(dead_code, reason = "a simulation checks no settings")]
#[path = "../../../examples/own_law.rs"]
mod law;

use tidegate_core::law::session::{Admission, Admit, Counts, Knobs, Limiter, fixed_rate};
use tidegate_core::law::{Controller, Fault, Step, View};
use tidegate_core::port::{Stage, Stages};
use tidegate_core::units::Time;
use tidegate_model::Scenario;
use tidegate_sim::{Custom, Progress, Results, Simulation};

type Boxed = Box<dyn Controller<Knobs, Counts>>;

/// A link of 10 Mbit/s that bears some 100 sessions of 10 kB a second, and 1000 that come.
const OVERLOAD: &str = r#"
    name = "overload"
    duration = "60s"
    [topology.dumbbell]
    pairs = 10
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "98ms", buffer = "217packets" }
    [port.bottleneck]
    gate = { law = "python", name = "mine", limiter = "token-bucket" }
    [traffic.web]
    arrivals = { poisson = "1000/s" }
    size = { pareto = { mean = "10kB", shape = 1.5 } }
    transport = { tcp = { profile = "ns2-2005" } }
"#;

fn start(scenario: &Scenario, make: fn() -> Boxed) -> Simulation {
    let mut laws = |name: &str| (name == "mine").then(make);
    let custom = Custom { laws: Some(&mut laws), ..Custom::default() };
    Simulation::new(scenario, 1, custom).expect("the scenario can be built")
}

fn total(results: &Results, name: &str) -> f64 {
    crate::common::column(&results.flows, name).iter().filter(|value| !value.is_nan()).sum()
}

fn completed(results: &Results) -> usize {
    crate::common::column(&results.flows, "closed_s").iter().filter(|at| !at.is_nan()).count()
}

/// Additive increase by 5, decrease to 0.8, from 10, once a second for a
/// minute; and what a control is for: more sessions end, fewer packets go twice.
#[test]
fn the_law_of_the_page_controls_a_link() {
    let gated = crate::common::load(OVERLOAD, &[]);
    let open = crate::common::load(OVERLOAD, &[("port.bottleneck.gate", r#"{ law = "none" }"#)]);
    let make: fn() -> Boxed = || Box::new(law::Aimd::new(law::Config::default()));
    let (gated, open) = (crate::common::finish(start(&gated, make)), crate::common::run(&open, 1));

    let set = crate::common::column(&gated.events, "set");
    assert!((59..=60).contains(&set.len()), "{} epochs of a minute", set.len());
    let mut before = law::Config::default().alpha_min;
    for &alpha in &set {
        let next = [before + 5.0, before, (before * 0.8).max(10.0)];
        assert!(next.contains(&alpha), "{alpha} after {before}");
        before = alpha;
    }
    assert!(set.windows(2).any(|pair| pair[1] > pair[0]), "it rises");
    assert!(set.windows(2).any(|pair| pair[1] < pair[0]), "it falls");
    assert!(completed(&gated) > completed(&open));
    let again = "retransmitted_packets";
    assert!(total(&gated, again) < total(&open, again) / 2.0);
}

#[test]
fn its_limiter_spreads_by_default() {
    assert_eq!(law::Config::default().limiter(), Limiter::TokenBucket);
}

/// Fails at its third update, or answers with a time that is not later.
struct Broken {
    updates: u32,
    wait: Option<Time>,
}

impl Controller<Knobs, Counts> for Broken {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.open();
        Ok(now + Time::from_secs(1))
    }
    fn update(
        &mut self,
        now: Time,
        _view: &View<'_>,
        _counts: &Counts,
        _knobs: &mut Knobs,
    ) -> Step {
        self.updates += 1;
        let next = match (self.updates, self.wait) {
            (3, None) => return Err("three is too many".into()),
            (3, Some(wait)) => now.saturating_sub(Time::from_secs(1)) + wait,
            _ => now + Time::from_secs(1),
        };
        Ok((next, None))
    }
}

fn fault(make: fn() -> Boxed) -> (String, Time) {
    let mut simulation = start(&crate::common::load(OVERLOAD, &[]), make);
    let fault = simulation.advance(Time::NEVER, u64::MAX).expect_err("the law fails");
    (fault.to_string(), simulation.now())
}

#[test]
fn a_fault_ends_the_run_when_it_happens() {
    let (message, now) = fault(|| Box::new(Broken { updates: 0, wait: None }));
    assert_eq!((message.as_str(), now), ("three is too many", Time::from_secs(3)));
}

#[test]
fn a_law_that_would_stand_still_is_a_fault() {
    for make in [
        || -> Boxed { Box::new(Broken { updates: 0, wait: Some(Time::from_secs(1)) }) },
        || -> Boxed { Box::new(Broken { updates: 0, wait: Some(Time::ZERO) }) },
    ] {
        let (message, now) = fault(make);
        assert!(message.contains("later than now"), "{message}");
        assert_eq!(now, Time::from_secs(3));
    }
}

/// Stages of the caller's own replace those of the document, whose law never runs: the run has as many
/// events as one whose document has no law. By hand: ten epochs of a second in ten seconds.
#[test]
fn a_port_with_stages_of_the_callers_own_is_started_once() {
    let events = |law: &str| {
        let stages = {
            let config = fixed_rate::Config::default();
            let mut stages = Stages::new();
            let law = Box::new(fixed_rate::FixedRate::new(config));
            stages.gate = Some(Stage::new(Admit::new(Admission::default()), law));
            stages
        };
        let settings = [("port.bottleneck.gate", law), ("duration", "10.5s")];
        let scenario = crate::common::load(OVERLOAD, &settings);
        let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
        let mut run = Simulation::new(&scenario, 1, custom).expect("the scenario can be built");
        let mut events = 0;
        while run.advance(Time::NEVER, 1).expect("it runs") == Progress::Paused {
            events += 1;
        }
        (events, crate::common::column(&run.finish().events, "set").len())
    };
    let once = events(r#"{ law = "none" }"#);
    assert_eq!(once.1, 10);
    assert_eq!(events(r#"{ law = "tide" }"#), once);
}
