//! What connections of quinn cost: microseconds a packet, and memory of an open connection.
//!
//! `cargo run --release -p tidegate-stacks --example figures`. Times are the best of five runs, turn
//! about, so that what else a machine does shows least.

use std::collections::BTreeMap;

use tidegate_core::units::Time;
use tidegate_model::Source;
use tidegate_sim::{Custom, Progress, Simulation};
use tidegate_stacks::stack;

/// Connections, where there are many.
const FLOWS: f64 = 2_000.0;
/// Runs of which the best counts.
const RUNS: u32 = 5;

/// Packets that reached their hosts, the processor's seconds that took, and bytes of memory gained.
fn measure(text: &str) -> (f64, f64, f64) {
    let source = Source { name: "figures", text };
    let scenario = tidegate_model::load(source, &[], &BTreeMap::new())
        .unwrap_or_else(|report| panic!("{}", report.render(false)));
    let custom = Custom { stacks: Some(&mut stack), ..Custom::default() };
    let before = resident();
    let mut run = Simulation::new(&scenario, 1, custom).expect("the scenario can be built");
    let start = processor();
    while run.advance(Time::NEVER, 1_000_000).expect("built-in laws do not fail")
        == Progress::Paused
    {}
    let taken = processor() - start;
    // each packet crosses three links
    (run.packet_hops() as f64 / 3.0, taken, resident() - before)
}

/// Seconds that this process has had a processor, as Linux counts them.
fn processor() -> f64 {
    let said = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    said.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(f64::NAN) / 1e9
}

/// Bytes of memory in use by this process, as Linux counts them.
fn resident() -> f64 {
    let said = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = said.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * 4096.0
}

fn scenario(arrivals: &str, size: &str, transport: &str, seconds: u32) -> String {
    format!(
        r#"
        name = "figures"
        duration = "{seconds}s"
        [topology.dumbbell]
        pairs = 10
        access = {{ rate = "1Gbit", delay = "1ms" }}
        bottleneck = {{ rate = "100Mbit", delay = "18ms", buffer = "1bdp" }}
        [traffic.one]
        arrivals = {arrivals}
        size = "{size}"
        transport = {transport}
        "#
    )
}

fn main() {
    if let Some(transport) = std::env::args().nth(1) {
        return memory(&transport);
    }
    let every = "{ uniform = 20, within = \"1s\" }";
    let cases = [
        ("quinn, CUBIC", "{ quic = {} }"),
        ("quinn, NewReno", "{ quic = { control = \"new-reno\" } }"),
        ("quinn, CUBIC, TLS by rustls", "{ quic = { crypto = \"rustls\" } }"),
        (
            "the TCP of the simulator, CUBIC",
            "{ tcp = { profile = \"linux\", control = \"cubic\" } }",
        ),
    ];
    let mut best = cases.map(|_| (0.0, f64::INFINITY));
    for _ in 0..RUNS {
        for ((_, transport), best) in cases.iter().zip(&mut best) {
            let (packets, taken, _) = measure(&scenario(every, "20MB", transport, 40));
            *best = (packets, best.1.min(taken));
        }
    }
    for ((name, _), (packets, taken)) in cases.iter().zip(best) {
        println!("{name}: {:.2} us a packet ({packets:.0} packets)", taken / packets * 1e6);
    }
    // connections that open, carry 100 B and close: nearly all of it is the handshake
    for (name, transport) in &cases[..3] {
        let short = scenario("{ uniform = 2000, within = \"2s\" }", "100B", transport, 4);
        let taken = (0..RUNS).map(|_| measure(&short).1).fold(f64::INFINITY, f64::min);
        println!("{name}: {:.0} us a connection of 100 B", taken / FLOWS * 1e6);
    }
    // each in a process of its own: memory that a run has freed would not grow again
    let own = std::env::current_exe().expect("Linux knows the program");
    for (name, transport) in &cases[..3] {
        let said = std::process::Command::new(&own).arg(transport).output();
        let said = said.expect("it can be run once more").stdout;
        println!("{name}: {} kB a connection that sends", String::from_utf8_lossy(&said));
    }
}

/// Prints the memory of a connection, both ends, of many that are open and have data in flight.
fn memory(transport: &str) {
    let open = scenario("{ uniform = 2000, within = \"2s\" }", "unlimited", transport, 3);
    print!("{:.1}", measure(&open).2 / FLOWS / 1e3);
}
