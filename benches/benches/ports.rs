//! What a packet costs at a port alone: it arrives, and one leaves.
//!
//! `cargo bench -p tidegate-core` prints the time per packet: of a plain port
//! and of one with each discipline, with 10,000 packets waiting; in balance, and
//! with twice as much coming as leaves.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tidegate_core::law::Draw;
use tidegate_core::law::queue::{
    QueueLaw, cake, codel, dqm, drop_tail, fq_codel, pie, pushout, red,
};
use tidegate_core::law::settings::Link;
use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::port::{Limit, Port, Stages};
use tidegate_core::units::{Rate, Time};

const WAITING: u32 = 10_000;
const LINK: Link = Link { rate: Rate::from_bps(1_000_000_000), delay: Time::from_ms(1) };
/// 500 B at 1 Gbit/s.
const SERVICE_NS: u64 = 4_000;
const PACKETS: u32 = 20_000;

struct NoDraw;

impl Draw for NoDraw {
    fn uniform(&mut self) -> f64 {
        0.5
    }
}

fn plain() -> Port {
    Port::new(0, LINK.rate, LINK.delay, Limit::Packets(WAITING))
}

/// A port with this discipline.
fn under(law: &QueueLaw) -> Port {
    let mut stages = Stages::new();
    stages.queue = law.build(LINK);
    let mut port = plain().with_stages(stages, Box::new(NoDraw));
    port.start(Time::ZERO).expect("built-in laws start");
    port
}

/// Every discipline, by its name.
fn laws() -> Vec<(String, QueueLaw)> {
    let priority = pushout::Config { service: pushout::Service::Priority, ..Default::default() };
    let laws = [
        QueueLaw::DropTail(drop_tail::Config {}),
        QueueLaw::Red(red::Config::default()),
        QueueLaw::Dqm(dqm::Config::default()),
        QueueLaw::PushOut(pushout::Config::default()),
        QueueLaw::Pie(pie::Config::default()),
        QueueLaw::Codel(codel::Config::default()),
        QueueLaw::FqCodel(fq_codel::Config::default()),
        QueueLaw::Cake(cake::Config::default()),
    ];
    let mut named: Vec<_> = laws.into_iter().map(|law| (law.key().to_owned(), law)).collect();
    named.push(("pushout, priority service".to_owned(), QueueLaw::PushOut(priority)));
    named
}

/// Bursts whose levels rise, 200 of them mixed: 100 kB files in packets of 500 B.
fn packet(number: u32) -> Packet {
    let level = (number / 200).wrapping_mul(61) % 200;
    Packet {
        flow: number % 50,
        size: 500,
        flags: Flags::DATA,
        ext: Ext::Priority { level: (number % 7 + level) % 200, burst: 0 },
        ..Packet::default()
    }
}

/// A port with a full queue, at the instant at which the next packet would leave.
fn full(mut port: Port) -> Port {
    for number in 0..=WAITING {
        port.arrive(&packet(number), (), Time::ZERO);
    }
    port
}

/// Packets arrive `gap_ns` apart, and what has crossed the link is taken.
fn run(port: &mut Port, gap_ns: u64) -> u64 {
    let mut delivered = 0;
    for number in 1..=PACKETS {
        let now = Time::from_ns(u64::from(number) * gap_ns);
        while port.tick_at() <= now {
            port.tick(port.tick_at()).expect("built-in laws never fail");
        }
        while port.next_event() <= now {
            delivered += u64::from(port.deliver(now).is_some());
        }
        port.arrive(&packet(number + WAITING), (), now);
    }
    delivered
}

fn ports(criterion: &mut Criterion) {
    for (load, gap_ns) in [("in balance", SERVICE_NS), ("twice the load", SERVICE_NS / 2)] {
        let mut group = criterion.benchmark_group(format!("10,000 waiting, {load}"));
        group.throughput(Throughput::Elements(u64::from(PACKETS)));
        let mut measure = |name: &str, make: &dyn Fn() -> Port| {
            group.bench_function(name, |bencher| {
                bencher.iter_batched_ref(
                    || full(make()),
                    |port| black_box(run(port, gap_ns)),
                    BatchSize::LargeInput,
                );
            });
        };
        measure("plain", &plain);
        for (name, law) in laws() {
            measure(&name, &|| under(&law));
        }
        group.finish();
    }
}

criterion_group!(benches, ports);
criterion_main!(benches);
