//! What connections of quinn cost: microseconds a packet, and memory of an open connection.
//!
//! `cargo run --release -p tidegate-stacks --example figures`

use std::collections::BTreeMap;

use tidegate_core::host::Stack;
use tidegate_core::units::Time;
use tidegate_model::Source;
use tidegate_model::scenario::{Quic, QuicControl};
use tidegate_sim::{Custom, Progress, Simulation};
use tidegate_stacks::quinn::{Control, stack};

fn quinn(quic: &Quic) -> Option<Stack> {
    let control = match quic.control {
        QuicControl::Cubic => Control::Cubic,
        QuicControl::NewReno => Control::NewReno,
    };
    Some(stack(control, quic.datagram()))
}

/// Packets that reached their hosts, the processor's seconds that took, and bytes of memory gained.
fn measure(text: &str) -> (f64, f64, f64) {
    let source = Source { name: "figures", text };
    let scenario = tidegate_model::load(source, &[], &BTreeMap::new())
        .unwrap_or_else(|report| panic!("{}", report.render(false)));
    let custom = Custom { stacks: Some(&mut quinn), ..Custom::default() };
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
    const FLOWS: f64 = 2_000.0;
    let every = "{ uniform = 20, within = \"1s\" }";
    for (name, transport) in [
        ("quinn, CUBIC", "{ quic = {} }"),
        ("quinn, NewReno", "{ quic = { control = \"new-reno\" } }"),
        (
            "the TCP of the simulator, CUBIC",
            "{ tcp = { profile = \"linux\", control = \"cubic\" } }",
        ),
    ] {
        let (packets, taken, _) = measure(&scenario(every, "20MB", transport, 40));
        println!("{name}: {:.2} us a packet ({packets:.0} packets)", taken / packets * 1e6);
    }
    // all of them are open at the end, and have data in flight
    let open = scenario("{ uniform = 2000, within = \"2s\" }", "unlimited", "{ quic = {} }", 3);
    let (_, _, memory) = measure(&open);
    println!("{:.1} kB a connection, both ends, {FLOWS:.0} sending", memory / FLOWS / 1e3);
}
