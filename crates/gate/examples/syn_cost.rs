//! What a SYN costs a gate by client, where few clients or a million open connections: `cargo run
//! --release -p tidegate-gate --example syn_cost`, as root, on a quiet machine.
//!
//! The time is that of the kernel's clock around one run of the program.

use etherparse::PacketBuilder;
use tidegate_core::law::session::Knobs;
use tidegate_core::units::Time;
use tidegate_gate::program::KernelGate;
use tidegate_gate::shared::Settings;

const SYNS: u32 = 1_000_000;
/// Where the source address of a packet begins, behind the header of Ethernet.
const SOURCE: usize = 26;

/// The clients of a gate with the defaults of `tide` by client; seconds are 2^20 ns.
fn settings() -> Settings {
    Settings {
        opener: 2,
        limiter: 2,
        ends: 1,
        ethernet: 1,
        test_clock: 1,
        end_words: 64,
        salt: 7,
        hashed: 1,
        client_cells: 65_536,
        client_idle: 14_305,
        client_wait: 28_610,
        client_prefix4: 32,
        client_prefix6: 64,
        ..Settings::default()
    }
}

fn main() {
    let mut gate = KernelGate::load(&settings(), 0, &[]).expect("the kernel takes the program");
    gate.program
        .set(|control| (control.lease_ns, control.enforce) = (30_000_000_000, 1))
        .expect("the kernel takes the lease");
    let mut knobs = Knobs::default();
    knobs.allow(10, Time::from_secs(1));
    knobs.bypass = 2 << 16;
    gate.set_knobs(&knobs).expect("the kernel takes them");
    let mut packet = Vec::new();
    PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4([1, 0, 0, 0], [10, 0, 0, 1], 64)
        .tcp(1, 443, 1000, 64_000)
        .syn()
        .write(&mut packet, &[])
        .expect("a vector takes it");
    for clients in [100, 10_000, SYNS, 100, 10_000, SYNS] {
        let mut took: Vec<u128> = (0..SYNS)
            .map(|number| {
                let address = 0x0100_0000 + number.wrapping_mul(0x9e37_79b1) % clients;
                packet[SOURCE..SOURCE + 4].copy_from_slice(&address.to_be_bytes());
                gate.program.show(&packet, 1).expect("the kernel shows it").each.as_nanos()
            })
            .collect();
        took.sort_unstable();
        let mean = took.iter().sum::<u128>() as f64 / f64::from(SYNS);
        println!("{clients} clients: median {} ns, mean {mean:.0} ns", took[took.len() / 2]);
    }
}
