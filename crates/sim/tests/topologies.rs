//! Networks spelled out: arrival times by hand, asymmetric ways, gates in
//! series, and packets that leave the way of their session.

use crate::common::*;
use proptest::prelude::*;
use tidegate_core::law::Reason;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Progress, Results, Simulation};

/// features C1: one packet over 10 Mbit/s and 100 ms arrives after size x 8 / rate + delay.
/// The SYN of 40 B: 32 us and 100 ms; and the close of a flow of one segment by hand.
#[test]
fn a_packet_arrives_when_it_was_sent_and_has_travelled() {
    let text = r#"
        name = "one link"
        duration = "5s"
        [topology.links.only]
        from = "a"
        to = "b"
        rate = "10Mbit"
        delay = "100ms"
        [traffic.one]
        from = "a"
        to = "b"
        arrivals = { at = ["0s"] }
        size = "1000B"
        transport = { tcp = { profile = "linux", mss = "1000B", header = "40B", delayed_ack = false,
                               send_buffer = 0 } }
    "#;
    let results = run(&load(text, &[]), 1);
    let near = |name: &str, expected: f64| {
        let measured = flow(&results, name);
        assert!((measured - expected).abs() < 1e-9, "{name}: {measured}, not {expected}");
    };
    let small = 40.0 * 8.0 / 10e6 + 0.1;
    let large = 1040.0 * 8.0 / 10e6 + 0.1;
    near("admitted_s", small);
    // SYN, SYN+ACK, then the segment with the FIN, and its acknowledgement
    // behind the handshake's own acknowledgement, which takes 32 us to send
    let behind = 40.0 * 8.0 / 10e6;
    near("data_done_s", 2.0 * small + behind + large);
    near("closed_s", 3.0 * small + behind + large);
}

/// A way there of 1 + 10 + 1 ms and a way back of 1 + 30 + 20 + 1 ms, by hand.
const RING: &str = r#"
    name = "ring"
    duration = "60s"
    [topology.links.up]
    from = "client"
    to = "r1"
    rate = "100Mbit"
    delay = "1ms"
    [topology.links.short]
    from = "r1"
    to = "r2"
    rate = "10Mbit"
    delay = "10ms"
    [topology.links.long]
    from = "r1"
    to = "r3"
    rate = "10Mbit"
    delay = "20ms"
    [topology.links.last]
    from = "r3"
    to = "r2"
    rate = "10Mbit"
    delay = "30ms"
    [topology.links.down]
    from = "r2"
    to = "server"
    rate = "100Mbit"
    delay = "1ms"
"#;

#[test]
fn there_and_back_may_be_different_ways() {
    let text = format!(
        "{RING}\n[[route]]\nat = \"r2\"\nto = \"client\"\nvia = \"last\"\n\
         [traffic.one]\nfrom = \"client\"\nto = \"server\"\narrivals = {{ at = [\"0s\"] }}\n\
         size = \"100B\"\ntransport = {{ tcp = {{ profile = \"linux\", header = \"40B\", send_buffer = 0 }} }}\n"
    );
    let results = run(&load(&text, &[]), 1);
    let spent = |bytes: f64, slow: f64| bytes * 8.0 * (2.0 / 100e6 + slow / 10e6);
    let there = |bytes: f64| 0.012 + spent(bytes, 1.0);
    let back = 0.052 + spent(40.0, 2.0);
    // the data waits at the slow link for the handshake's acknowledgement
    let behind = 40.0 * 8.0 * (1.0 / 10e6 + 1.0 / 100e6) - 140.0 * 8.0 / 100e6;
    let closed = there(40.0) + back + there(140.0) + behind + back;
    assert!((flow(&results, "closed_s") - closed).abs() < 1e-9);
    assert_eq!(total(&results, "short.reverse", "arrived_packets"), 0.0);
    // the SYN+ACK, the acknowledgement and the server's own FIN
    assert_eq!(total(&results, "last.reverse", "departed_packets"), 3.0);
}

/// A gate on the short way of the ring, with 20 sessions a second for 50 s.
fn gated(route: &str, law: &str) -> Results {
    let text = format!(
        "{RING}\n{route}\n[port.short]\ngate = {law}\n\
         [traffic.web]\nfrom = \"client\"\nto = \"server\"\n\
         arrivals = {{ every = \"50ms\", stop = \"49.99s\" }}\nsize = \"1000B\"\n\
         transport = {{ tcp = {{ profile = \"ns2-2005\" }} }}\n"
    );
    run(&load(&text, &[]), 1)
}

const DETOUR: &str = "[[route]]\nat = \"r1\"\nto = \"server\"\nvia = \"long\"\nflags = ";

/// features S19: a gate counts the SYN that it sees and misses the FIN that
/// goes another way; no session is the worse for it.
#[test]
fn a_gate_misses_what_goes_another_way() {
    let law = "{ law = \"fixed-rate\", rate = \"1000/s\" }";
    let sums = |results: &Results| {
        let sum = |name: &str| column(&results.events, name).iter().sum::<f64>();
        (sum("arrived"), sum("departed"))
    };
    let every = gated("", law);
    assert_eq!(sums(&every), (1000.0, 1000.0));
    let without_fins = gated(&format!("{DETOUR}\"fin\""), law);
    assert_eq!(sums(&without_fins), (1000.0, 0.0));
    let without_syns = gated(&format!("{DETOUR}\"syn\""), law);
    assert_eq!(sums(&without_syns), (0.0, 1000.0));
    for results in [every, without_fins, without_syns] {
        assert!(column(&results.flows, "closed_s").iter().all(|at| at.is_finite()));
        assert!(column(&results.flows, "admitted_s").iter().all(|at| at.is_finite()));
    }
}

/// features S19 and S6: a law that sees the end of only some sessions admits
/// ever fewer, but never below its floor: 10 in each epoch of 1 s. One that
/// sees no end at all has nothing to go by, and refuses nobody.
#[test]
fn a_gate_that_misses_ends_starves_nobody() {
    let text = format!(
        "{RING}\n[topology.links.aside]\nfrom = \"r2\"\nto = \"other\"\nrate = \"100Mbit\"\n\
         delay = \"1ms\"\n[port.short]\ngate = {{ law = \"close-probe\", alpha_min = 10 }}\n\
         [traffic.web]\nfrom = \"client\"\nto = [\"server\", \"other\"]\n\
         arrivals = {{ every = \"50ms\" }}\nsize = \"1000B\"\n\
         transport = {{ tcp = {{ profile = \"ns2-2005\" }} }}\n"
    );
    let bypassing = |to: &str| {
        let route = format!("[{{ at = \"r1\", to = {to}, via = \"long\", flags = \"fin\" }}]");
        run(&load(&text, &[("route", &route)]), 1)
    };
    let some = bypassing("\"server\"");
    // half of 20 sessions a second end before the gate's eyes, then half of 10:
    // from the second half on the floor is what is left
    let late: Vec<f64> = column(&some.events, "admitted").split_off(30);
    assert!(late.len() >= 30 && late.iter().all(|&admitted| admitted == 10.0), "{late:?}");
    let none = bypassing("[\"server\", \"other\"]");
    assert_eq!(total(&none, "short", "syn_refused"), 0.0);
}

/// features S20: of two gates in series a session must pass both: the lower
/// rate of the two gets through, and `admitted_s` is when it passed the last.
#[test]
fn two_gates_in_series_admit_the_lesser_of_both() {
    let text = r#"
        name = "series"
        duration = "60s"
        warmup = "10s"
        [topology.links.up]
        from = "client"
        to = "r1"
        rate = "100Mbit"
        delay = "1ms"
        [topology.links.first]
        from = "r1"
        to = "r2"
        rate = "10Mbit"
        delay = "10ms"
        [topology.links.second]
        from = "r2"
        to = "r3"
        rate = "10Mbit"
        delay = "10ms"
        [topology.links.down]
        from = "r3"
        to = "server"
        rate = "100Mbit"
        delay = "1ms"
        [port.first]
        gate = { law = "fixed-rate", rate = "30/s" }
        [port.second]
        gate = { law = "fixed-rate", rate = "20/s" }
        [traffic.web]
        from = "client"
        to = "server"
        arrivals = { poisson = "100/s" }
        size = "1000B"
        transport = { tcp = { profile = "ns2-2006" } }
    "#;
    for (first, second) in [("30/s", "20/s"), ("20/s", "30/s")] {
        let set = [("port.first.gate.rate", first), ("port.second.gate.rate", second)];
        let results = run(&load(text, &set), 1);
        let passed =
            total(&results, "first", "syn_arrived") - total(&results, "first", "syn_refused");
        let rate: f64 = first.trim_end_matches("/s").parse().expect("a number");
        assert_eq!(passed, rate * 50.0, "the first gate is overloaded");
        let admitted = column(&results.flows, "admitted_s");
        let within = admitted.iter().filter(|at| (10.0..60.0).contains(*at)).count() as f64;
        assert!((within - 20.0 * 50.0).abs() <= 20.0, "{first} {second}: {within}");
    }
}

/// A node with several neighbours may send, receive and forward at once.
#[test]
fn a_router_may_be_an_end() {
    let text = format!(
        "{RING}\n[traffic.one]\nfrom = [\"client\", \"r3\", \"r1\"]\nto = [\"r2\", \"server\", \"r3\"]\n\
         arrivals = {{ uniform = 30, within = \"1s\" }}\nsize = \"5000B\"\n"
    );
    let results = run(&load(&text, &[]), 1);
    assert!(column(&results.flows, "delivered_bytes").iter().all(|&bytes| bytes == 5000.0));
    assert!(column(&results.flows, "closed_s").iter().all(|at| at.is_finite()));
}

/// A refused opener at the gate's own node hears of it after a trip to the
/// neighbour: 2 (10 ms + 32 us).
#[test]
fn a_reset_reaches_an_opener_at_the_gate_itself() {
    let text = format!(
        "{RING}\n[port.short]\ngate = {{ law = \"fixed-rate\", rate = \"1/s\", refuse = \"rst\" }}\n\
         [traffic.one]\nfrom = \"r1\"\nto = \"r2\"\narrivals = {{ at = [\"0s\", \"0.5s\"] }}\nsize = \"100B\"\n\
         transport = {{ tcp = {{ profile = \"ns2-2006\" }} }}\n"
    );
    let results = run(&load(&text, &[]), 1);
    let gave_up = column(&results.flows, "gave_up_s");
    assert!(gave_up[0].is_nan());
    assert!((gave_up[1] - (0.5 + 2.0 * (0.01 + 32e-6))).abs() < 1e-9, "{gave_up:?}");
}

/// Random connected networks: a tree and more links, some of them lossless
/// but tight, every class between two random nodes.
fn networks() -> impl Strategy<Value = String> {
    let link = (any::<u32>(), any::<u32>(), 1..4u32, 1..30u32);
    let links = prop::collection::vec(link, 7..14);
    let class = (any::<u32>(), any::<u32>(), prop::bool::ANY);
    let classes = prop::collection::vec(class, 1..4);
    (2..8usize, links, classes, 2..12u32).prop_map(|(nodes, links, classes, buffer)| {
        let mut text = String::from("name = \"x\"\nduration = \"120s\"\nsample = \"10s\"\n");
        for (number, (a, b, cost, delay)) in links.iter().enumerate() {
            let to = if number + 1 < nodes { number + 1 } else { *b as usize % nodes };
            let from = *a as usize % (number + 1).min(nodes);
            if from != to {
                text.push_str(&format!(
                    "[topology.links.l{number}]\nfrom = \"n{from}\"\nto = \"n{to}\"\n\
                     rate = \"{delay}Mbit\"\ndelay = \"{delay}ms\"\ncost = {cost}\n\
                     buffer = \"{buffer}packets\"\n"
                ));
            }
        }
        for (number, (from, by, download)) in classes.iter().enumerate() {
            let from = *from as usize % nodes;
            let to = (from + 1 + *by as usize % (nodes - 1)) % nodes;
            let direction = if *download { "download" } else { "upload" };
            text.push_str(&format!(
                "[traffic.c{number}]\nfrom = \"n{from}\"\nto = \"n{to}\"\n\
                 arrivals = {{ uniform = 10, within = \"2s\" }}\nsize = \"30kB\"\n\
                 direction = \"{direction}\"\ntransport = {{ tcp = {{ profile = \"linux\" }} }}\n"
            ));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// On any connected network every flow is delivered to its last byte and
    /// closed, and at every port packets are conserved.
    #[test]
    fn random_networks_deliver_and_conserve(text in networks(), seed in 0..100u64) {
        let scenario = load(&text, &[]);
        let mut run = Simulation::new(&scenario, seed, Custom::default())
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        while run.advance(Time::NEVER, 1000)
            .map_err(|fault| TestCaseError::fail(fault.to_string()))? == Progress::Paused
        {
            for port in run.ports() {
                let count = port.counters();
                let before: u64 = count.drops[Reason::QueueFull as usize];
                prop_assert_eq!(count.arrived, before + count.enqueued);
                prop_assert_eq!(count.enqueued, count.departed + u64::from(port.queue_packets()));
            }
        }
        let departed: u64 = run.ports().iter().map(|port| port.counters().departed).sum();
        let results = run.finish();
        prop_assert_eq!(results.packet_hops, departed, "nothing is left under way, and nothing got lost");
        for row in 0..column(&results.flows, "flow").len() {
            prop_assert_eq!(column(&results.flows, "delivered_bytes")[row], 30_000.0);
            prop_assert!(column(&results.flows, "closed_s")[row].is_finite());
        }
    }
}
