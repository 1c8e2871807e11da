//! Sends more than 2^32 packets through one port of 100 Gbit/s, and prints what it has counted:
//! `cargo run --release -p tidegate-benches --example beyond_32_bits`. It takes about a minute.
//!
//! Packets of 1500 B come two by two, as fast as the link sends them. So the link is never idle,
//! one packet waits half of the time, and the mean queue is a half.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Port};
use tidegate_core::units::{Rate, Time};

const PACKETS: u64 = (1 << 32) + 1000;
/// 1500 B at 100 Gbit/s.
const SERVICE: Time = Time::from_ns(120);

fn main() {
    let delay = Time::ZERO;
    let mut port: Port = Port::new(0, Rate::from_bps(100_000_000_000), delay, Limit::Packets(10));
    let packet = Packet { size: 1500, flags: Flags::DATA, ..Packet::default() };
    let mut delivered: u64 = 0;
    for pair in 0..PACKETS / 2 {
        let now = SERVICE * 2 * pair;
        while port.deliver(now).is_some() {
            delivered += 1;
        }
        port.arrive(&packet, (), now);
        port.arrive(&packet, (), now);
    }
    let end = SERVICE * PACKETS;
    while port.deliver(end).is_some() {
        delivered += 1;
    }
    let counts = port.counters();
    println!("delivered {delivered}, expected {PACKETS}");
    println!("arrived {}, departed {}", counts.arrived, counts.departed);
    println!("data {}, dropped {}", counts.data_arrived, counts.data_dropped);
    println!("bytes {}, expected {}", counts.departed_bytes, 1500 * PACKETS);
    println!("mean queue {}", port.waiting_ps(end) as f64 / end.ps() as f64);
    println!("utilisation {}", port.busy_ps(end) as f64 / end.ps() as f64);
}
