//! What holds at every moment of every run, over random scenarios, and what
//! must not depend on how a run is cut up.

use crate::common::*;
use proptest::prelude::*;
use tidegate_core::law::Reason;
use tidegate_core::units::Time;
use tidegate_sim::{Column, Custom, Progress, Simulation};

/// Buffer and losses of the bottleneck, and what else its link does.
fn link() -> impl Strategy<Value = (&'static str, &'static str, &'static str)> {
    let buffer = prop::sample::select(vec!["1packets", "7packets", "3000B", "1bdp", "50ms"]);
    let loss = prop::sample::select(vec![
        "0",
        "0.1",
        "{ ack = 0.3 }",
        "{ burst = { enter = 0.05, leave = 0.3 } }",
    ]);
    let crossing = prop::sample::select(vec![
        "",
        "jitter = { uniform = \"10ms\", order = \"free\" }",
        "jitter = { normal = \"5ms\" }\nreorder = { share = 0.2, by = \"20ms\" }",
        "medium = { name = \"air\", gap = \"1ms\" }\n[port.\"bottleneck.reverse\"]\nmedium = { name = \"air\" }",
        "[port.\"bottleneck.reverse\"]\nrate = { trace = \"tidegate:starlink\", scale = 0.01 }\n\
         delay = { trace = \"tidegate:starlink\", start = \"10s\", order = \"free\" }",
        "batch = { every = \"15ms\", packets = 3 }\npolice = { rate = \"800kbit\", burst = \"4kB\" }",
    ]);
    (buffer, loss, crossing)
}

/// Any session law, by connections or by clients, whatever is charged and with or without an onset.
fn gate() -> impl Strategy<Value = String> {
    let law = prop::sample::select(vec![
        "fixed-rate",
        "gss-ga",
        "close-probe",
        "tide",
        "occupancy",
        "loss-rate",
        "gss-ga, admit = \"clients\", eligibility = true",
        "close-probe, admit = \"clients\", eligibility = true, limiter = \"saving-bucket\"",
        "tide, admit = \"clients\"",
        "tide, limiter = \"token-bucket\", young = { sample = 2 }",
    ]);
    let refuse = prop::sample::select(vec!["drop", "rst"]);
    let charge = prop::sample::select(vec!["passed", "queued"]);
    let onset = prop::sample::select(vec!["0s", "1s"]);
    let sees = prop::sample::select(vec![
        "",
        ", ends_of = \"peer\"",
        ", ends_of = \"peer\", refuse_at = \"egress\"",
        ", refuse_at = \"ingress\"",
    ]);
    let gate = (law, refuse, charge, onset, sees).prop_map(|(law, refuse, charge, onset, sees)| {
        // what is judged as it comes in meets no queue
        let judged_coming_in = !sees.is_empty() && !sees.contains("egress");
        let charge = if judged_coming_in { "passed" } else { charge };
        let (name, more) = law.split_once(',').unwrap_or((law, ""));
        let more = if more.is_empty() { String::new() } else { format!(",{more}") };
        format!(
            "{{ law = \"{name}\"{more}, opener = \"OPENER\", refuse = \"{refuse}\", \
             charge = \"{charge}\", onset = \"{onset}\"{sees} }}"
        )
    });
    prop_oneof![1 => Just("{ law = \"none\" }".to_owned()), 9 => gate]
}

/// A scenario with everything in it that a document can ask for.
fn document() -> impl Strategy<Value = String> {
    let profile =
        prop::sample::select(vec!["ns2-2001", "ns2-2003", "ns2-2005", "ns2-2006", "rfc", "linux"]);
    let size = prop::sample::select(vec![
        "\"700B\"",
        "{ pareto = { mean = \"10kB\", shape = 1.5 } }",
        "{ exponential = { mean = \"5kB\" } }",
        "{ lognormal = { mean = \"8kB\", sigma = 1.0 } }",
        "\"unlimited\"",
    ]);
    let change = prop::sample::select(vec![
        "",
        "[[change]]\nwhat = \"bottleneck.rate\"\nat = \"2s\"\nto = \"300kbit\"\npulse = \"2s\"\n",
        "[[change]]\nwhat = \"bottleneck.delay\"\nat = \"2s\"\nto = \"1ms\"\npulse = \"2s\"\n",
        "[[change]]\nwhat = \"traffic.a.arrivals\"\nat = \"1s\"\nuntil = \"3s\"\nto = \"80/s\"\n",
    ]);
    let opens = prop::sample::select(vec![("sender", "syn"), ("receiver", "syn-ack")]);
    (gate(), profile, size, link(), change, opens, 1..4u32, 1..40u32).prop_map(
        |(gate, profile, size, (buffer, loss, crossing), change, (opens, opener), pairs, rate)| {
            let gate = gate.replace("OPENER", opener);
            format!(
                r#"
                name = "random"
                duration = "6s"
                warmup = "1s"
                sample = "500ms"
                sample_access = true
                [topology.dumbbell]
                pairs = {pairs}
                access = {{ rate = "10Mbit", delay = "1ms", buffer = "20packets" }}
                bottleneck = {{ rate = "1Mbit", delay = "10ms", buffer = "{buffer}", loss = {loss} }}
                [port.bottleneck]
                gate = {gate}
                {crossing}
                [traffic.a]
                arrivals = {{ poisson = "{rate}/s" }}
                size = {size}
                opens = "{opens}"
                opaque_share = 0.1
                patience = "4s"
                transport = {{ tcp = {{ profile = "{profile}" }} }}
                [traffic.b]
                arrivals = {{ every = "300ms" }}
                size = "4000B"
                {change}"#
            )
        },
    )
}

/// `arrived = lost before the queue + enqueued`, `enqueued = departed + dropped out of the queue + waiting`.
fn conserved(run: &mut Simulation) -> Result<(), TestCaseError> {
    for port in run.ports() {
        let count = port.counters();
        let out = count.dropped_waiting;
        let beyond = count.drops[Reason::LinkLoss as usize];
        let before: u64 = count.drops.iter().sum::<u64>() - out - beyond;
        prop_assert_eq!(count.arrived, before + count.enqueued);
        let left = count.departed + out + u64::from(port.queue_packets());
        prop_assert_eq!(count.enqueued, left);
        let Some(gate) = port.gate_counts() else { continue };
        // every opener is admitted, refused or lost at its arrival before it was charged
        let refused = count.drops[Reason::SessionRefused as usize];
        prop_assert_eq!(gate.arrived, gate.admitted + refused + gate.uncharged);
        prop_assert_eq!(gate.refused(), refused);
        // each is lost at most once, at its arrival or later, and so is each end
        prop_assert!(gate.uncharged <= gate.lost_openers && gate.lost_openers <= gate.passed());
        prop_assert!(refused + gate.lost_openers <= count.syn_dropped);
        prop_assert!(gate.lost_ends <= gate.departed);
        prop_assert!(gate.let_in <= gate.passed() && gate.inside <= gate.arrived);
        prop_assert!(gate.young_bytes <= gate.bytes);
    }
    Ok(())
}

/// What every row of the flows table must fulfil.
fn ordered(flows: &[Column]) -> Result<(), TestCaseError> {
    let get = |name: &str| column(flows, name);
    let (start, admitted, done, closed) =
        (get("start_s"), get("admitted_s"), get("data_done_s"), get("closed_s"));
    let (gave_up, size, delivered) = (get("gave_up_s"), get("size_bytes"), get("delivered_bytes"));
    let (sent, again, tries) =
        (get("sent_packets"), get("retransmitted_packets"), get("syn_tries"));
    for row in 0..start.len() {
        // comparisons with an empty value are false: what has not happened contradicts nothing
        let backwards = admitted[row] < start[row]
            || done[row] < admitted[row]
            || closed[row] < done[row]
            || gave_up[row] < start[row];
        prop_assert!(!backwards, "row {}", row);
        prop_assert!(closed[row].is_nan() || gave_up[row].is_nan());
        prop_assert!(closed[row].is_nan() || size[row].is_nan() || delivered[row] == size[row]);
        prop_assert!(size[row].is_nan() || delivered[row] <= size[row]);
        prop_assert!(again[row] <= sent[row]);
        prop_assert!(tries[row] >= 1.0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_at_every_moment(text in document(), seed in 0..1000u64) {
        let scenario = load(&text, &[]);
        let mut run = Simulation::new(&scenario, seed, Custom::default())
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        // a prime number of events, so that the pauses fall anywhere
        while run.advance(Time::NEVER, 7)
            .map_err(|fault| TestCaseError::fail(fault.to_string()))? == Progress::Paused
        {
            conserved(&mut run)?;
        }
        conserved(&mut run)?;
        let results = run.finish();
        ordered(&results.flows)?;
        let refused: f64 = column(&results.port_totals, "syn_refused").iter().sum();
        let drops: f64 = column(&results.port_totals, "drops_session_refused").iter().sum();
        prop_assert_eq!(refused, drops);
        for busy in column(&results.ports, "utilisation") {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&busy), "utilisation {}", busy);
        }
    }

    /// features C1: the same seed gives the same bytes however the run is sliced; another seed, others.
    #[test]
    fn a_run_does_not_depend_on_its_slices(text in document(), seed in 0..1000u64) {
        let scenario = load(&text, &[]);
        let whole = run(&scenario, seed);
        let mut sliced = Simulation::new(&scenario, seed, Custom::default())
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut until = Time::ZERO;
        while sliced.advance(until, 50)
            .map_err(|fault| TestCaseError::fail(fault.to_string()))? == Progress::Paused
        {
            until = until.saturating_add(Time::from_ms(3));
        }
        prop_assert_eq!(all_bits(&whole), all_bits(&sliced.finish()));
        prop_assert_ne!(all_bits(&whole), all_bits(&run(&scenario, seed + 1)));
    }
}

/// One more traffic class leaves the flows of the others as they were: start, size and pair.
#[test]
fn another_class_leaves_the_flows_of_the_others_as_they_were() {
    let one = format!(
        "{LINK}\n[traffic.web]\narrivals = {{ poisson = \"50/s\" }}\n\
         size = {{ pareto = {{ mean = \"10kB\", shape = 1.5 }} }}\n"
    );
    let two =
        format!("{one}\n[traffic.aaa]\narrivals = {{ poisson = \"70/s\" }}\nsize = \"1kB\"\n");
    let draws = |text: &str| {
        let scenario = load(text, &[]);
        let results = run(&scenario, 5);
        let place = scenario.traffic.iter().position(|class| class.name == "web");
        let class = column(&results.flows, "class");
        let rows: Vec<usize> =
            (0..class.len()).filter(|&row| Some(class[row] as usize) == place).collect();
        ["start_s", "size_bytes"].map(|name| {
            let values = column(&results.flows, name);
            rows.iter().map(|&row| values[row].to_bits()).collect::<Vec<u64>>()
        })
    };
    assert!(draws(&one)[0].len() > 1500);
    assert_eq!(draws(&one), draws(&two));
}

/// features C10: every control meets the very same flows on one seed.
#[test]
fn every_control_meets_the_same_flows() {
    let text = format!(
        "{LINK}\n[port.bottleneck]\ngate = {{ law = \"none\" }}\n[traffic.web]\n\
         arrivals = {{ poisson = \"300/s\" }}\nsize = {{ pareto = {{ mean = \"10kB\", shape = 1.5 }} }}\n"
    );
    let flows = |law: &str| {
        let results = run(&load(&text, &[("port.bottleneck.gate.law", law)]), 3);
        (column(&results.flows, "start_s"), column(&results.flows, "size_bytes"))
    };
    let none = flows("none");
    for law in ["fixed-rate", "gss-ga", "close-probe"] {
        assert_eq!(flows(law), none, "{law}");
    }
}
