//! What control costs a packet-hop: the yardstick with no stage, with a gate at
//! the bottleneck, with each discipline there, and with every stage at every
//! port; and what pacing costs.
//!
//! `cargo bench -p tidegate-sim` prints the time per run and, as throughput,
//! packet-hops per second.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tidegate_core::law::PerPacket;
use tidegate_core::law::queue::{Discipline, Queue};
use tidegate_core::law::session::{Admit, fixed_rate};
use tidegate_core::packet::{Ext, Packet};
use tidegate_core::port::{Stage, Stages};
use tidegate_core::units::{Frequency, Time};
use tidegate_model::{Scenario, Setting, Source};
use tidegate_sim::transport::control::{CongestionEvent, Control, RateSample, Signal};
use tidegate_sim::{Custom, Factory, Progress, Simulation};

const YARDSTICK: &str = include_str!("../../python/tidegate/results/yardstick.toml");

/// Drop-tail as a discipline behind `dyn`, as a law of the user's own would be.
struct Tail;

impl Discipline for Tail {}

/// Writes the time of departure into packets that have room for it.
struct Stamp;

impl PerPacket for Stamp {
    fn depart(&mut self, packet: &mut Packet, now: Time) {
        if let Ext::Custom(words) = &mut packet.ext {
            words[0] = (now.ps() >> 20) as u32;
        }
    }
}

fn gate() -> Stage<Admit> {
    let config = fixed_rate::Config { rate: Frequency::per_s(1e6), ..Default::default() };
    Stage::new(Admit::default(), Box::new(fixed_rate::FixedRate::new(config)))
}

fn all() -> Stages {
    let mut stages = Stages::new();
    stages.gate = Some(gate());
    stages.queue = Queue::Custom(Box::new(Tail));
    stages.custom = Some(Box::new(Stamp));
    stages
}

fn nothing(_: &Scenario) -> Custom<'static> {
    Custom::default()
}

fn one_gate(_: &Scenario) -> Custom<'static> {
    let mut stages = Stages::new();
    stages.gate = Some(gate());
    Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() }
}

fn everywhere(scenario: &Scenario) -> Custom<'static> {
    let ports = scenario.network.ports.iter();
    Custom { stages: ports.map(|port| (port.name.clone(), all())).collect(), ..Custom::default() }
}

/// A fixed window, paced or not: the same packets, with and without the gaps' timers.
struct Fixed(Option<Time>);

impl Control for Fixed {
    fn cwnd(&self) -> f64 {
        30.0
    }
    fn gap(&self) -> Option<Time> {
        self.0
    }
    fn on_ack(&mut self, _: &RateSample<'_>) {}
    fn on_congestion(&mut self, _: Signal, _: &CongestionEvent) {}
    fn on_timeout(&mut self, _: &CongestionEvent, _: bool) {}
}

fn controlled(gap: Option<Time>) -> Custom<'static> {
    let factory: Factory = Box::new(move || Box::new(Fixed(gap)));
    Custom { controls: vec![("long".into(), factory)], ..Custom::default() }
}

fn unpaced(_: &Scenario) -> Custom<'static> {
    controlled(None)
}

fn paced(_: &Scenario) -> Custom<'static> {
    // 30 segments in a round trip of 40 ms
    controlled(Some(Time::from_ns(1_300_000)))
}

/// The yardstick with this discipline at its bottleneck.
fn load(queue: &str) -> Scenario {
    let queue = format!("{{ law = \"{queue}\" }}");
    let settings = [
        Setting { key: "duration", value: "6s" },
        Setting { key: "port.bottleneck.queue", value: &queue },
    ];
    let source = Source { name: "yardstick.toml", text: YARDSTICK };
    match tidegate_model::load(source, &settings, &BTreeMap::new()) {
        Ok(scenario) => scenario,
        Err(report) => panic!("{}", report.render(false)),
    }
}

fn run(scenario: &Scenario, custom: Custom<'_>) -> u64 {
    let mut run = match Simulation::new(scenario, 1, custom) {
        Ok(run) => run,
        Err(error) => panic!("{error}"),
    };
    while run.advance(Time::NEVER, 1_000_000).is_ok_and(|progress| progress == Progress::Paused) {}
    run.packet_hops()
}

fn stages(criterion: &mut Criterion) {
    let scenario = load("drop-tail");
    type Parts = fn(&Scenario) -> Custom<'static>;
    let cases: [(&str, Parts); 5] = [
        ("no stage", nothing),
        ("a gate at the bottleneck", one_gate),
        ("every stage at every port", everywhere),
        ("fixed window", unpaced),
        ("fixed window, paced", paced),
    ];
    let mut group = criterion.benchmark_group("yardstick, 6 s");
    group.sample_size(10);
    for (name, parts) in cases {
        group.throughput(Throughput::Elements(run(&scenario, parts(&scenario))));
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(run(&scenario, parts(&scenario))));
        });
    }
    for queue in ["red", "dqm", "pushout", "pie", "codel", "fq-codel", "cake"] {
        let scenario = load(queue);
        group.throughput(Throughput::Elements(run(&scenario, nothing(&scenario))));
        group.bench_function(format!("{queue} at the bottleneck"), |bencher| {
            bencher.iter(|| black_box(run(&scenario, nothing(&scenario))));
        });
    }
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
