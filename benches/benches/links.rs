//! What a packet costs at a port alone, by what its link does to packets: it arrives, and one
//! leaves.
//!
//! `cargo bench -p tidegate-benches --bench links` prints the time per packet: of a link that
//! never changes, and of one with each impairment, at 80 % of its capacity.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Port;
use tidegate_core::units::Time;
use tidegate_model::port::{Media, Mishaps, OwnLaws, Supplied};
use tidegate_model::scenario::{self, LinkChange};
use tidegate_model::{Scenario, Source};

const DOCUMENT: &str = r#"
name = "link"
duration = "1s"
[topology.dumbbell]
access = { rate = "10Gbit", delay = "1ms" }
bottleneck = { rate = "1Gbit", delay = "5ms", buffer = "1000packets", loss = LOSS }
[traffic.one]
arrivals = { at = ["0s"] }
size = "1kB"
[port.bottleneck]
"#;
/// Arrivals in an iteration.
const PACKETS: u32 = 20_000;
/// 500 B at 1 Gbit/s take 4 us: 80 % of the capacity.
const GAP_NS: u64 = 5_000;

/// A name, what the port is said to do, and its losses.
const CASES: &[(&str, &str, &str)] = &[
    ("a link that never changes", "", "0"),
    ("a table of rates, a change each ms", "rate = { trace = \"table\" }", "0"),
    ("opportunities", "rate = { trace = \"opportunities\" }", "0"),
    ("a table of delays, a change each ms", "delay = { trace = \"table\" }", "0"),
    ("jitter, in order", "jitter = { uniform = \"1ms\" }", "0"),
    ("jitter, free", "jitter = { uniform = \"1ms\", order = \"free\" }", "0"),
    ("normal jitter, in order", "jitter = { normal = \"1ms\" }", "0"),
    ("reordering", "reorder = { share = 0.01, by = \"1ms\" }", "0"),
    ("batches of 1 ms", "batch = { every = \"1ms\" }", "0"),
    ("a policer", "police = { rate = \"900Mbit\", burst = \"15kB\" }", "0"),
    ("loss", "", "0.01"),
    ("bursts of loss", "", "{ burst = { enter = 0.01, leave = 0.3 } }"),
    (
        "a shared medium",
        "medium = { name = \"air\" }\n[port.\"bottleneck.reverse\"]\nmedium = { name = \"air\" }",
        "0",
    ),
];

/// Times, rates and delays that change each millisecond; opportunities of 1504 B each 12 us in the
/// mean.
fn files() -> BTreeMap<String, Vec<u8>> {
    let lines = (0..20).map(|ms| {
        let odd = f64::from(ms % 2);
        format!("{},{},{}\n", f64::from(ms) / 1e3, 0.9e9 + 0.2e9 * odd, 5e-3 + 1e-3 * odd)
    });
    let table = "time_s,rate_bit_s,delay_s\n".to_owned() + &lines.collect::<String>();
    let opportunities: String =
        (1..=20).flat_map(|ms| (0..83).map(move |_| format!("{ms}\n"))).collect();
    [("table", table), ("opportunities", opportunities)]
        .map(|(name, text)| (name.to_owned(), text.into_bytes()))
        .into()
}

fn scenario(port: &str, loss: &str) -> Scenario {
    let text = DOCUMENT.replace("LOSS", loss) + port;
    match tidegate_model::load(Source { name: "link.toml", text: &text }, &[], &files()) {
        Ok(scenario) => scenario,
        Err(report) => panic!("{}", report.render(false)),
    }
}

/// A port, with what its carrier does for its link.
struct Link {
    port: Port,
    spec: scenario::Port,
    mishaps: Option<Mishaps>,
    changes: Vec<LinkChange>,
}

fn link(scenario: &Scenario) -> Link {
    let spec = scenario.network.ports[0].clone();
    let (own, media) = (&mut OwnLaws::default(), &mut Media::default());
    let mut supplied = Supplied { own, names: &|_| Box::new(|_| None), media };
    let Ok(mut port) = spec.build(0, 1, &mut supplied) else { panic!("no law of its own") };
    port.start(Time::ZERO).expect("built-in laws start");
    let mut changes = scenario.changes.clone();
    changes.reverse();
    Link { port, mishaps: Mishaps::of(&spec, 1), spec, changes }
}

fn run(link: &mut Link) -> u64 {
    let mut delivered = 0;
    for number in 1..=PACKETS {
        let now = Time::from_ns(u64::from(number) * GAP_NS);
        while let Some(change) = link.changes.pop_if(|change| change.at <= now) {
            link.spec.change(&mut link.port, change.to, change.at);
        }
        while link.port.next_event() <= now {
            if let Some((packet, ())) = link.port.deliver(link.port.next_event()) {
                let packet = *packet;
                let lost =
                    link.mishaps.as_mut().is_some_and(|one| one.befall(&packet, now).is_none());
                delivered += u64::from(!lost);
            }
        }
        let packet =
            Packet { flow: number % 50, size: 500, flags: Flags::DATA, ..Packet::default() };
        link.port.arrive(&packet, (), now);
    }
    delivered
}

fn links(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("80 % of a link");
    group.throughput(Throughput::Elements(u64::from(PACKETS)));
    for (name, port, loss) in CASES {
        let scenario = scenario(port, loss);
        group.bench_function(*name, |bencher| {
            bencher.iter_batched_ref(
                || link(&scenario),
                |link| black_box(run(link)),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, links);
criterion_main!(benches);
