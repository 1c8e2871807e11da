//! What a packet costs at a port alone: it arrives, and one leaves.
//!
//! `cargo bench -p tidegate-core` prints the time per packet: of a drop-tail
//! port and of a push-out port, with 10,000 packets waiting at either; in
//! balance, and with twice as much coming as leaves.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tidegate_core::law::Draw;
use tidegate_core::law::queue::Queue;
use tidegate_core::law::queue::pushout::{Config, PushOut, Service};
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

fn push_out(service: Service) -> Port {
    let mut stages = Stages::new();
    let config = Config { service, ..Config::default() };
    stages.queue = Queue::PushOut(PushOut::new(&config, LINK));
    plain().with_stages(stages, Box::new(NoDraw))
}

/// Bursts whose levels rise, 200 of them mixed: 100 kB files in packets of 500 B.
fn packet(number: u32) -> Packet {
    let level = (number / 200).wrapping_mul(61) % 200;
    Packet {
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
        while port.next_event() <= now {
            delivered += u64::from(port.deliver(now).is_some());
        }
        port.arrive(&packet(number + WAITING), (), now);
    }
    delivered
}

type Make = fn() -> Port;

fn ports(criterion: &mut Criterion) {
    let makes: [(&str, Make); 3] = [
        ("drop-tail", plain),
        ("push-out", || push_out(Service::Fifo)),
        ("push-out, priority service", || push_out(Service::Priority)),
    ];
    for (load, gap_ns) in [("in balance", SERVICE_NS), ("twice the load", SERVICE_NS / 2)] {
        let mut group = criterion.benchmark_group(format!("10,000 waiting, {load}"));
        group.throughput(Throughput::Elements(u64::from(PACKETS)));
        for (name, make) in makes {
            group.bench_function(name, |bencher| {
                bencher.iter_batched_ref(
                    || full(make()),
                    |port| black_box(run(port, gap_ns)),
                    BatchSize::LargeInput,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, ports);
criterion_main!(benches);
