//! What must be the same on every machine: a digest of all that runs of quinn measure, and how many
//! of the cube roots of this target differ from those of the crate `libm`.
//!
//! `cargo run --release -p tidegate-stacks --example machines`, with `--target` for another machine.

#[path = "../tests/common.rs"]
#[allow(dead_code)]
mod common;

use std::hint::black_box;

/// Endless transfers that share a short buffer: each has hundreds of losses and climbs back along
/// the cubic function.
const LOSSES: &str = r#"
    name = "losses"
    duration = "120s"
    [topology.dumbbell]
    pairs = 5
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "20Mbit", delay = "28ms", buffer = "40packets" }
    [traffic.large]
    arrivals = { uniform = 10, within = "5s" }
    size = "200MB"
    direction = "download"
    transport = { quic = {} }
"#;

fn main() {
    for crypto in ["null", "rustls"] {
        for control in ["cubic", "new-reno"] {
            let settings = [
                ("traffic.large.transport.quic.control", control),
                ("traffic.large.transport.quic.crypto", crypto),
            ];
            let results = common::run(LOSSES, &settings);
            let again: f64 = common::column(&results.flows, "retransmitted_packets").iter().sum();
            // FNV-1a, so that the digest depends on no library
            let digest = common::bits(&results)
                .iter()
                .flat_map(|bits| bits.to_le_bytes())
                .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
                    (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                });
            println!("{control} {crypto}: {digest:016x}, {again} packets sent again");
        }
    }
    let differs = |of: f64| black_box(of).cbrt().to_bits() != libm::cbrt(of).to_bits();
    let windows = (1..=20_000).filter(|&window| differs(f64::from(window) * (1.0 - 0.7) / 0.4));
    println!("{} of 20000 cube roots of windows differ from those of libm", windows.count());
    let others = (1..=1_000_000).filter(|&step| differs(f64::from(step) * 0.001_37));
    println!("{} of 1000000 other ones differ", others.count());
}
