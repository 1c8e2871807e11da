//! Gates that see the other direction of their link.

use crate::common::*;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Progress, Results, Simulation};

/// Downloads of 20 kB, ten a second, through a gate at the router; hosts of RFC 6298 send a SYN
/// again after 1 and 3 s. What they send after 10 s is over by the end.
fn downloads(gate: &str, loss: &str) -> String {
    format!(
        "name = 'ingress'\nduration = '90s'\n\
         [topology.dumbbell]\npairs = 2\naccess = {{ rate = '100Mbit', delay = '1ms' }}\n\
         bottleneck = {{ rate = '10Mbit', delay = '18ms', buffer = '100packets', loss = {loss} }}\n\
         [port.bottleneck]\ngate = {gate}\n\
         [traffic.web]\narrivals = {{ every = '100ms', stop = '10s' }}\nsize = '20kB'\n\
         opens = 'receiver'\ntransport = {{ tcp = {{ profile = 'rfc' }} }}\n"
    )
}

/// The results of a run, with what its gate has counted: openers, admissions and ends.
fn counted(text: &str) -> ((u64, u64, u64), Results) {
    let mut run = Simulation::new(&load(text, &[]), 1, Custom::default()).expect("it is right");
    while run.advance(Time::NEVER, 100_000).expect("built-in laws do not fail") == Progress::Paused
    {
    }
    let gates: Vec<_> = run.ports().iter().filter_map(|port| port.gate_counts()).collect();
    let [gate] = gates[..] else { panic!("there is one gate") };
    ((gate.arrived, gate.admitted, gate.departed), run.finish())
}

/// One token in ten minutes: the first session takes the one that the bucket holds. Of the others
/// each SYN is an opener at ingress, and no other packet crosses the link. At egress each is
/// answered, and the servers send their SYN+ACKs again too, so that more openers come.
#[test]
fn a_server_never_hears_of_a_session_that_is_refused_as_it_comes_in() {
    let gate = |at: &str| {
        format!("{{ law = 'fixed-rate', rate = '0.0017/s', limiter = 'token-bucket'{at} }}")
    };
    let (at_ingress, results) = counted(&downloads(&gate(", refuse_at = 'ingress'"), "0"));
    let tries: f64 = column(&results.flows, "syn_tries").iter().sum();
    assert_eq!((at_ingress.0 as f64, at_ingress.1), (tries, 1));
    let sent = |results: &Results| total(results, "access.source1.reverse", "syn_arrived");
    let refused = total(&results, "bottleneck", "syn_refused");
    assert_eq!(refused, tries - 1.0);
    let (at_egress, other) = counted(&downloads(&gate(""), "0"));
    assert!(at_egress.0 > at_ingress.0 && at_egress.1 == 1, "{at_egress:?} {at_ingress:?}");
    assert!(sent(&results) <= 1.0 && sent(&other) > 10.0, "SYNs that come to a server");
}

/// By hand: an endless upload of Reno keeps at least 33 packets of a buffer of three round trips
/// waiting, and from five on dqm refuses every connection. At ingress no server hears of the ten
/// downloads, and each SYN is lost; at egress servers answer, and send their SYN+ACKs again.
#[test]
fn dqm_refuses_a_download_where_it_is_told_to() {
    let run = |at: &str| {
        let text = format!(
            "name = 'ingress'\nduration = '40s'\n\
             [topology.dumbbell]\npairs = 2\naccess = {{ rate = '100Mbit', delay = '1ms' }}\n\
             bottleneck = {{ rate = '10Mbit', delay = '18ms', buffer = '100packets' }}\n\
             [port.bottleneck]\nqueue = {{ law = 'dqm', x_m = 5, x_M = 5, \
             measure = 'instantaneous'{at} }}\n\
             [traffic.bulk]\nsize = 'unlimited'\narrivals = {{ at = ['0s'] }}\n\
             [traffic.web]\narrivals = {{ every = '100ms', start = '5s', stop = '6s' }}\nsize = '20kB'\n\
             opens = 'receiver'\ntransport = {{ tcp = {{ profile = 'rfc' }} }}\n"
        );
        crate::common::run(&load(&text, &[]), 1)
    };
    let heard = |results: &Results| {
        let at = |host: &str| total(results, &format!("access.{host}.reverse"), "syn_arrived");
        at("source1") + at("source2")
    };
    let (came, left) = (run(", refuse_at = 'ingress'"), run(""));
    for results in [&came, &left] {
        let admitted = column(&results.flows, "admitted_s");
        assert_eq!(admitted.iter().filter(|time| time.is_finite()).count(), 1, "bulk alone");
    }
    let tries: f64 = column(&came.flows, "syn_tries")[1..].iter().sum();
    assert!(tries > 20.0, "{tries}");
    assert_eq!(heard(&came), 1.0, "the answer to the upload");
    assert_eq!(total(&came, "bottleneck", "syn_dropped"), tries);
    assert!(heard(&left) > 10.0);
    assert!(total(&left, "bottleneck", "syn_dropped") > tries);
}

/// Every session is admitted and ends, and its end counts once, though a tenth of the packets is
/// lost, and FINs are sent again.
#[test]
fn each_end_counts_once_where_the_receivers_counts() {
    let gate = "{ law = 'fixed-rate', rate = '1000/s', ends_of = 'peer' }";
    let ((arrived, admitted, ended), results) =
        counted(&downloads(gate, "{ data = 0.1, ack = 0.1 }"));
    assert_eq!(admitted, arrived);
    let closed = column(&results.flows, "closed_s");
    assert!(closed.len() > 90 && closed.iter().all(|time| time.is_finite()));
    assert_eq!(ended, closed.len() as u64);
}
