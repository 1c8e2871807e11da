//! Whatever is put together at a port and at its ends, nothing is lost track of.
//!
//! A random filter, gate, queue, stamp and link meet random senders and traffic. What
//! must hold needs no reference: packets are conserved, a flow that closed has
//! delivered its size, and a run is a function of scenario and seed alone.

use crate::common::*;
use proptest::prelude::*;
use proptest::sample::select;
use tidegate_core::law::Reason;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Progress, Results, Simulation};

/// Session control: which law, how its allowance is spread, what it looks at, how it refuses.
fn gate() -> impl Strategy<Value = String> {
    let law = select(vec![
        "law = \"none\"",
        "law = \"fixed-rate\", rate = \"15/s\", limiter = \"counter\"",
        "law = \"fixed-rate\", rate = \"15/s\", limiter = \"token-bucket\"",
        "law = \"gss-ga\", epoch = \"500ms\"",
        "law = \"close-probe\", epoch = \"300ms\", relief = true",
        "law = \"close-probe\", epoch = \"300ms\", limiter = \"saving-bucket\", eligibility = true",
        "law = \"tide\", epoch = \"300ms\", young = { cells = 64, packets = 5, sample = 2 }",
        "law = \"occupancy\", epoch = \"200ms\"",
        "law = \"loss-rate\", epoch = \"200ms\"",
    ]);
    let (admit, refuse) = (select(vec!["syn", "syn-ack"]), select(vec!["drop", "rst"]));
    (law, admit, refuse).prop_map(|(law, admit, refuse)| {
        format!("{{ {law}, admit = \"{admit}\", refuse = \"{refuse}\" }}")
    })
}

/// A filter against greedy flows: seldom, or as soon as anything waits.
fn filter() -> impl Strategy<Value = &'static str> {
    select(vec!["law = \"none\"", "law = \"lgc\"", "law = \"lgc\", max_th = 2"])
}

/// The queues that stand alone, and beneath a dual queue; some of them mark.
const QUEUES: [&str; 12] = [
    "law = \"drop-tail\"",
    "law = \"red\", min_th = 3, max_th = 9, max_p = 0.2",
    "law = \"red\", min_th = 2, max_th = 8, gentle = false, bytes = true, mean_packet = \"1kB\"",
    "law = \"red\", min_th = 2, max_th = 6, ecn = true, w = 0.05",
    "law = \"pushout\"",
    "law = \"pushout\", levels = 16, service = \"priority\"",
    "law = \"pie\"",
    "law = \"codel\"",
    "law = \"codel\", target = \"1ms\", interval = \"20ms\", ecn = true",
    "law = \"fq-codel\"",
    "law = \"fq-codel\", flows = 2, quantum = \"300B\", drop_batch = 2, ecn = false",
    "law = \"cake\"",
];

fn queue() -> impl Strategy<Value = String> {
    let dual = (
        select(QUEUES.to_vec()),
        select(vec!["drop", "hold"]),
        select(vec!["average", "instantaneous"]),
        1..=2u32,
        0.0..=1.0f64,
    )
        .prop_map(|(over, blocked, measure, queues, share)| {
            format!(
                "{{ law = \"dqm\", x_m = 2, x_M = 9, P_M = {share:.3}, queues = {queues}, \
                 measure = \"{measure}\", blocked = \"{blocked}\", over = {{ {over} }} }}"
            )
        });
    let plain = select(QUEUES.to_vec()).prop_map(|law| format!("{{ {law} }}"));
    prop_oneof![3 => plain, 2 => dual]
}

fn stamp() -> impl Strategy<Value = &'static str> {
    select(vec!["none", "qfcp", "rcp", "xcp", "vcp"])
}

/// What the receivers of a class do; not what leaves a flow that closed without its data.
fn receiver() -> impl Strategy<Value = &'static str> {
    select(vec!["", "", "", "\nreceiver = \"split-acks\"", "\nreceiver = \"hidden-marks\""])
}

/// A sender: TCP of every era, every control beside it, and a host of another kind; and what its
/// receivers do.
fn sender() -> impl Strategy<Value = String> {
    let profile = select(vec!["ns2-2001", "ns2-2003", "ns2-2005", "ns2-2006", "rfc", "linux"]);
    let recovery = select(vec!["reno", "newreno", "sack"]);
    let tcp = (profile, recovery, any::<bool>(), any::<bool>(), receiver()).prop_map(
        |(profile, recovery, ecn, delayed, receiver)| {
            let delayed = delayed && !receiver.contains("split");
            format!(
                "{{ tcp = {{ profile = \"{profile}\", recovery = \"{recovery}\", ecn = {ecn}, \
                 delayed_ack = {delayed} }} }}{receiver}"
            )
        },
    );
    let beside = select(vec!["qfcp", "rcp", "xcp", "vcp", "quick-start", "blitz"]);
    let beside = (beside, select(vec!["rfc", "linux"]), any::<bool>(), receiver()).prop_map(
        |(name, profile, ecn, receiver)| {
            format!("{{ {name} = {{ profile = \"{profile}\", ecn = {ecn} }} }}{receiver}")
        },
    );
    let own = Just("{ rcp = { reliability = \"own\" } }".to_owned());
    let host = Just("{ quic = { stack = \"simple\" } }".to_owned());
    prop_oneof![4 => tcp, 4 => beside, 1 => own, 3 => host]
}

/// Flows of one class, without their sender.
fn flows() -> impl Strategy<Value = String> {
    let arrivals = select(vec![
        "{ poisson = \"12/s\" }",
        "{ every = \"70ms\" }",
        "{ uniform = 6, within = \"500ms\" }",
        "{ at = [\"0s\", \"0s\", \"1.5s\"] }",
    ]);
    let size = select(vec![
        "\"1B\"",
        "\"9000B\"",
        "{ pareto = { mean = \"10kB\", shape = 1.5 } }",
        "{ exponential = { mean = \"20kB\" } }",
        "\"unlimited\"",
    ]);
    let direction = select(vec!["upload", "download"]);
    let rest = select(vec!["", "patience = \"1s\"", "opaque_share = 0.3", "stop = \"2s\""]);
    (arrivals, size, direction, rest).prop_map(|(arrivals, size, direction, rest)| {
        // only what has no end can be stopped
        let rest = if rest.starts_with("stop") && size != "\"unlimited\"" { "" } else { rest };
        format!("arrivals = {arrivals}\nsize = {size}\ndirection = \"{direction}\"\n{rest}")
    })
}

/// The link behind the port, and what happens to it.
fn link() -> impl Strategy<Value = [&'static str; 4]> {
    let buffer = select(vec!["1packets", "12packets", "20kB", "1bdp", "80ms"]);
    let loss = select(vec!["0", "0.05", "{ ack = 0.2 }", "{ data = 0.1 }"]);
    let change = select(vec![
        "",
        "[[change]]\nwhat = \"bottleneck.rate\"\nat = \"1s\"\nto = \"300kbit\"\npulse = \"700ms\"\n",
        "[[change]]\nwhat = \"bottleneck.rate\"\nat = \"800ms\"\nto = \"4Mbit\"\n",
        "[[change]]\nwhat = \"bottleneck.delay\"\nat = \"800ms\"\nuntil = \"1.5s\"\nto = \"0ms\"\n",
    ]);
    let crossing = select(vec![
        "",
        "jitter = { uniform = \"2ms\" }",
        "jitter = { normal = \"5ms\", order = \"free\" }\nbatch = { every = \"4ms\" }",
        "reorder = { share = 0.3, by = \"7ms\" }",
        "duplicate = 0.3\ncorrupt = 0.1",
    ]);
    (buffer, loss, change, crossing).prop_map(<[_; 4]>::from)
}

/// A scenario that puts one of each together; the way back has a queue of its own.
fn document() -> impl Strategy<Value = String> {
    let port = (filter(), gate(), queue(), queue(), stamp());
    let traffic = ((flows(), sender()), (flows(), sender()), any::<bool>());
    (port, link(), traffic).prop_map(|(port, link, (one, other, datagrams))| {
        let [buffer, loss, change, crossing] = link;
        let (filter, gate, queue, reverse, stamp) = port;
        let udp = if datagrams {
            "[traffic.c]\narrivals = { at = [\"1s\"] }\nsize = \"40kB\"\n\
             transport = { udp = { rate = \"800kbit\", packet = \"700B\" } }\n"
        } else {
            ""
        };
        format!(
            r#"
            name = "combined"
            duration = "3s"
            sample = "500ms"
            [topology.dumbbell]
            pairs = 2
            access = {{ rate = "20Mbit", delay = "1ms", buffer = "40packets" }}
            bottleneck = {{ rate = "1Mbit", delay = "8ms", buffer = "{buffer}", loss = {loss} }}
            [port."access.source1"]
            filter = {{ {filter} }}
            [port.bottleneck]
            filter = {{ {filter} }}
            gate = {gate}
            queue = {queue}
            stamp = {{ law = "{stamp}" }}
            {crossing}
            [port."bottleneck.reverse"]
            queue = {reverse}
            [traffic.a]
            {}
            transport = {}
            [traffic.b]
            {}
            transport = {}
            {udp}{change}"#,
            one.0, one.1, other.0, other.1
        )
    })
}

/// `arrived = dropped before the queue + enqueued` and
/// `enqueued = departed + dropped out of the queue + waiting`, at every port. The bytes that are
/// kept of datagrams are those of packets under way.
fn conserved(run: &mut Simulation) -> Result<(), TestCaseError> {
    let (kept, under_way) = run.payloads();
    prop_assert_eq!(kept, under_way);
    for port in run.ports() {
        let count = port.counters();
        let beyond = count.drops[Reason::LinkLoss as usize];
        let behind = count.dropped_waiting;
        let before = count.drops.iter().sum::<u64>() - behind - beyond;
        prop_assert_eq!(count.arrived, before + count.enqueued);
        let waiting = u64::from(port.queue_packets());
        prop_assert_eq!(count.enqueued, count.departed + behind + waiting);
        prop_assert!(beyond <= count.departed);
        prop_assert_eq!(waiting == 0, port.queue_bytes() == 0);
        prop_assert!(count.data_arrived + count.syn_arrived <= count.arrived);
        prop_assert!(count.data_dropped <= count.data_arrived);
        prop_assert!(count.syn_dropped <= count.syn_arrived);
    }
    Ok(())
}

/// A flow that closed has delivered its size, and nobody more than that.
fn delivered(results: &Results) -> Result<(), TestCaseError> {
    let get = |name: &str| column(&results.flows, name);
    let (size, sum, closed) = (get("size_bytes"), get("delivered_bytes"), get("closed_s"));
    let (class, sent, again) = (get("class"), get("sent_packets"), get("retransmitted_packets"));
    for row in 0..size.len() {
        prop_assert!(size[row].is_nan() || sum[row] <= size[row], "row {}", row);
        prop_assert!(again[row] <= sent[row], "row {}", row);
        // a datagram may be lost for good: class c
        if class[row] < 2.0 && !closed[row].is_nan() && !size[row].is_nan() {
            prop_assert_eq!(sum[row], size[row], "row {}", row);
        }
    }
    Ok(())
}

fn start(text: &str, seed: u64) -> Result<Simulation, TestCaseError> {
    let custom = Custom { stacks: Some(&mut crate::hosts::simple), ..Custom::default() };
    Simulation::new(&load(text, &[]), seed, custom)
        .map_err(|error| TestCaseError::fail(error.to_string()))
}

fn advance(run: &mut Simulation, until: Time, budget: u64) -> Result<bool, TestCaseError> {
    let progress =
        run.advance(until, budget).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
    Ok(progress == Progress::Paused)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_track_of(text in document(), seed in 0..1000u64, budget in 1..60u64) {
        let mut run = start(&text, seed)?;
        while advance(&mut run, Time::NEVER, budget)? {
            conserved(&mut run)?;
        }
        conserved(&mut run)?;
        delivered(&run.finish())?;
    }

    /// However a run is cut up, by events or by time, its columns are the same; and so once more.
    #[test]
    fn a_run_is_a_function_of_scenario_and_seed(
        text in document(),
        seed in 0..1000u64,
        budget in 1..300u64,
        step in 1..400u64,
    ) {
        let whole = all_bits(&finish(start(&text, seed)?));
        let mut cut = start(&text, seed)?;
        let mut until = Time::ZERO;
        while advance(&mut cut, until, budget)? {
            until = until.saturating_add(Time::from_ms(step));
        }
        prop_assert_eq!(&whole, &all_bits(&cut.finish()));
        prop_assert_eq!(&whole, &all_bits(&finish(start(&text, seed)?)));
    }
}
