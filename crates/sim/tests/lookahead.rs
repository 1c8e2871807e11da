//! Landings before links of hosts that are left out change no result.
//!
//! The reference is the same run in which every packet lands at every node
//! (`Custom::each_landing`): all columns are the same to the bit, those of ports at every sample
//! and so while packets are between the ports that they pass at once.

use crate::common::*;
use proptest::prelude::*;
use proptest::sample::select;
use tidegate_core::units::Time;
use tidegate_model::Scenario;
use tidegate_sim::{Custom, Data, Progress, Results, Simulation};

/// Links of hosts and between routers of every relation: slower, alike, faster; with and without a
/// delay; with room for one packet or for many; some that lose packets, and some that change.
fn dumbbell() -> impl Strategy<Value = String> {
    let pairs = 1..4usize;
    let access = (
        select(vec!["500kbit", "1Mbit", "20Mbit"]),
        select(vec!["\"0ms\"", "\"1ms\"", "[\"1ms\", \"9ms\"]"]),
        select(vec!["1packets", "2packets", "40packets", "3kB"]),
        select(vec!["", "", "", "loss = { ack = 0.1 }"]),
    );
    let middle = (
        select(vec!["1Mbit", "5Mbit"]),
        select(vec!["0ms", "8ms"]),
        select(vec!["1packets", "9packets", "20kB"]),
        select(vec!["", "", "", "loss = { data = 0.05 }"]),
    );
    (pairs, access, middle).prop_map(|(pairs, access, middle)| {
        let (fast, near, room, loses) = access;
        let (slow, far, buffer, loss) = middle;
        format!(
            "[topology.dumbbell]\npairs = {pairs}\n\
             access = {{ rate = \"{fast}\", delay = {near}, buffer = \"{room}\", {loses} }}\n\
             bottleneck = {{ rate = \"{slow}\", delay = \"{far}\", buffer = \"{buffer}\", {loss} }}\n"
        )
    })
}

/// What is at the ports, and what happens to them.
fn ports() -> impl Strategy<Value = String> {
    let (one, other) = (queue(), queue());
    let change = select(vec![
        "",
        "",
        "[[change]]\nwhat = \"bottleneck.rate\"\nat = \"1s\"\nto = \"300kbit\"\npulse = \"700ms\"\n",
        "[[change]]\nwhat = \"access.sink1.delay\"\nat = \"800ms\"\nto = \"3ms\"\n",
        "[[change]]\nwhat = \"bottleneck.reverse.rate\"\nat = \"1s\"\nto = \"2Mbit\"\n",
    ]);
    (one, other, change).prop_map(|(one, other, change)| {
        format!("[port.bottleneck]\n{one}\n[port.\"bottleneck.reverse\"]\n{other}\n{change}")
    })
}

fn queue() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "",
        "",
        "queue = { law = \"red\", min_th = 2, max_th = 6 }",
        "gate = { law = \"fixed-rate\", rate = \"8/s\", refuse = \"rst\" }",
        "gate = { law = \"fixed-rate\", rate = \"8/s\", refuse = \"drop\" }",
        "reorder = { share = 0.3, by = \"7ms\" }",
    ])
}

/// Flows in both directions, so that acknowledgements follow large packets.
fn flows() -> impl Strategy<Value = String> {
    let arrivals = select(vec![
        "{ poisson = \"25/s\" }",
        "{ uniform = 6, within = \"500ms\" }",
        "{ at = [\"0s\", \"0s\", \"1.5s\"] }",
    ]);
    let size = select(vec!["\"1B\"", "\"9000B\"", "\"unlimited\""]);
    let transport = select(vec![
        "{ tcp = { profile = \"ns2-2005\" } }",
        "{ tcp = { profile = \"linux\" } }",
        "{ tcp = { profile = \"linux\", control = \"bbr\" } }",
        "{ udp = { rate = \"300kbit\", packet = \"90B\" } }",
        "{ udp = { rate = \"800kbit\", packet = \"1500B\", burst = { packets = 7, every = \"180ms\" } } }",
    ]);
    let direction = select(vec!["upload", "download"]);
    (arrivals, size, transport, direction).prop_map(|(arrivals, size, transport, direction)| {
        format!(
            "arrivals = {arrivals}\nsize = {size}\ntransport = {transport}\n\
             direction = \"{direction}\"\n"
        )
    })
}

fn document() -> impl Strategy<Value = String> {
    let sample = (select(vec!["7ms", "90ms"]), any::<bool>());
    (sample, dumbbell(), ports(), flows(), flows()).prop_map(
        |((every, access), topology, ports, one, other)| {
            format!(
                "name = \"ahead\"\nduration = \"2500ms\"\nwarmup = \"303ms\"\nsample = \"{every}\"\n\
                 sample_access = {access}\n{topology}{ports}\
                 [traffic.a]\n{one}\n[traffic.b]\n{other}\n"
            )
        },
    )
}

fn start(scenario: &Scenario, seed: u64, each_landing: bool) -> Simulation {
    let custom = Custom { each_landing, ..Custom::default() };
    Simulation::new(scenario, seed, custom).expect("the scenario can be built")
}

/// Every value of every table and both counts of packets.
fn everything(results: Results) -> Vec<(&'static str, &'static str, Vec<u64>)> {
    let counts = vec![results.packet_hops, results.delivered_packets];
    let mut all = vec![("counts", "both", counts)];
    for (table, columns) in results.into_tables() {
        all.extend(columns.into_iter().map(|column| {
            let values = match column.data {
                Data::F64(values) => values.iter().map(|value| value.to_bits()).collect(),
                Data::U64(values) => values,
                Data::U32(values) | Data::Category { codes: values, .. } => {
                    values.into_iter().map(u64::from).collect()
                }
            };
            (table, column.name, values)
        }));
    }
    all
}

/// The steps that a run takes, and its results.
fn steps(scenario: &Scenario, each_landing: bool) -> (u64, Results) {
    let (mut run, mut steps) = (start(scenario, 1, each_landing), 0);
    while run.advance(Time::NEVER, 1).expect("nothing fails") == Progress::Paused {
        steps += 1;
    }
    (steps, run.finish())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whoever looks at the ports in between, and however the run is cut up.
    #[test]
    fn a_landing_that_is_left_out_changes_nothing(
        text in document(),
        seed in 0..1000u64,
        budget in 1..900u64,
        step in 1..400u64,
    ) {
        let scenario = load(&text, &[]);
        let (mut each, mut left_out) = (start(&scenario, seed, true), start(&scenario, seed, false));
        let mut until = Time::ZERO;
        loop {
            until = until.saturating_add(Time::from_ms(step));
            while left_out.advance(until, budget).expect("nothing fails") == Progress::Paused
                && left_out.now() < until
            {
                prop_assert_eq!(left_out.ports().len(), scenario.network.ports.len());
            }
            // the budget may have ended among what happens at that instant
            left_out.advance(until, u64::MAX).expect("nothing fails");
            let progress = each.advance(until, u64::MAX).expect("nothing fails");
            prop_assert_eq!(each.packet_hops(), left_out.packet_hops(), "at {:?}", until);
            for (one, other) in each.ports().iter().zip(left_out.ports()) {
                let (one, other) = (one.counters(), other.counters());
                prop_assert_eq!((one.arrived, one.drops), (other.arrived, other.drops));
            }
            if progress == Progress::Done {
                break;
            }
        }
        let (each, left_out) = (everything(each.finish()), everything(left_out.finish()));
        for (one, other) in each.iter().zip(&left_out) {
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(each.len(), left_out.len());
    }
}

/// Of the six links of a segment and its acknowledgement through routers, two are the last before a
/// host: four landings are left. A timer, an arrival or a sample is a step too.
#[test]
fn a_segment_and_its_acknowledgement_land_four_times() {
    let scenario = load(
        LINK,
        &[
            ("duration", "20s"),
            ("traffic.a.arrivals.at", "[\"0s\"]"),
            ("traffic.a.size", "unlimited"),
            ("traffic.a.transport.tcp.profile", "rfc"),
        ],
    );
    let ((all, each), (fewer, left_out)) = (steps(&scenario, true), steps(&scenario, false));
    let landings = each.packet_hops as f64;
    assert_eq!(each.packet_hops, left_out.packet_hops);
    close((all - fewer) as f64, landings / 3.0, 0.01);
}

/// Packets that wait at the link of the host behind a larger one, and all that come after them. By
/// hand: 90 B leave the bottleneck 72 us after 1500 B, which take 600 us on that link. More is sent
/// than the bottleneck carries, so there is always something on the way. Each packet has three
/// links, and one landing is left out.
#[test]
fn landings_are_left_out_behind_a_packet_that_waits() {
    let text = r#"
        name = "by hand"
        duration = "20s"
        [topology.dumbbell]
        pairs = 1
        access = { rate = "20Mbit", delay = "1ms" }
        bottleneck = { rate = "10Mbit", delay = "9ms" }
        [traffic.large]
        arrivals = { at = ["0s"] }
        size = "unlimited"
        transport = { udp = { rate = "9.9Mbit", packet = "1500B" } }
        [traffic.small]
        arrivals = { at = ["0s"] }
        size = "unlimited"
        transport = { udp = { rate = "200kbit", packet = "90B" } }
    "#;
    let scenario = load(text, &[]);
    let ((all, each), (fewer, left_out)) = (steps(&scenario, true), steps(&scenario, false));
    assert_eq!(each.packet_hops, left_out.packet_hops);
    close((all - fewer) as f64, each.delivered_packets as f64, 0.01);
}

/// By hand: 1500 B leave a link of 10 Mbit/s each 1.2 ms, and take 15 us on that of 800 Mbit/s of the
/// host, 5 ms behind. Of the packets that the bottleneck has sent by 100 ms the last five are in
/// between: the host's port has not seen them.
#[test]
fn a_sample_does_not_see_what_has_not_arrived() {
    let text = r#"
        name = "by hand"
        duration = "200ms"
        sample = "100ms"
        sample_access = true
        [topology.dumbbell]
        pairs = 1
        access = { rate = "800Mbit", delay = "0ms" }
        bottleneck = { rate = "10Mbit", delay = "6ms", buffer = "1000packets" }
        [traffic.a]
        arrivals = { at = ["0s"] }
        size = "unlimited"
        transport = { udp = { rate = "20Mbit", packet = "1500B" } }
    "#;
    let results = run(&load(text, &[]), 1);
    let first = |port: &str, name: &str| at_port(&results.ports, port, name)[0];
    // the first comes after 15 us, then one begins each 1.2 ms: 0.015 + 1.2 n <= 100
    assert_eq!(first("bottleneck", "departed_packets"), 84.0);
    // the first arrives at 7.215 ms: 7.215 + 1.2 n <= 100
    assert_eq!(first("access.sink1", "arrived_packets"), 78.0);
    assert_eq!(first("access.sink1", "departed_bytes"), 78.0 * 1500.0);
    assert!((first("access.sink1", "utilisation") - 78.0 * 15e-6 / 0.1).abs() < 1e-12);
}
