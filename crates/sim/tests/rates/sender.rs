//! What senders do with what comes back.

use tidegate_core::packet::{Ext, Flags};
use tidegate_sim::Custom;

use super::{class, link, noted, peak, throughput, watched};
use crate::common::*;

const QFCP: &str = "law = \"qfcp\"";

/// qfcp, 2.1 and 2.3: the rate comes with the first answer, and from then on a
/// packet of 1000 B leaves every 0.8 ms (C = 10 Mbit/s), never two at once.
#[test]
fn a_flow_starts_at_the_rate_granted_and_is_paced() {
    for (opens, opener_rtts) in [("sender", 1.0), ("receiver", 1.5)] {
        let one = class("one", "0s", "\"100kB\"", "qfcp", "");
        let text = format!("{}{one}opens = \"{opens}\"\n", link(QFCP, 1));
        let scenario = load(&text, &[]);
        let (stages, sent) = watched(&scenario, "access.source1", |_, _| false);
        let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
        let times: Vec<f64> = noted(&sent).iter().map(|(at, _)| *at).collect();
        assert_eq!(times.len(), 105, "100 kB in segments of 960 B, each once");
        close(times[0], opener_rtts * 0.040, 0.01);
        for pair in times.windows(2) {
            close(pair[1] - pair[0], 0.0008, 0.1);
        }
        assert_eq!(peak(&results, "queue_packets", 0.0, 20.0), 0.0, "no burst at all");
    }
}

/// qfcp, 2.3, burstiness control switched off: a window of 50 leaves at once, and waits.
#[test]
fn without_pacing_the_window_leaves_in_bursts() {
    let queue = |options: &str| {
        let one = class("one", "0s", "\"1MB\"", "qfcp", options);
        peak(&run(&load(&format!("{}{one}", link(QFCP, 1)), &[]), 1), "queue_packets", 0.0, 20.0)
    };
    let (paced, bursts) = (queue(""), queue("pacing = false"));
    assert!(paced <= 1.0 && bursts >= 40.0, "{paced} {bursts}");
}

/// A sender that wants less than R gets what it asks for, and the rest is the other's.
#[test]
fn a_modest_sender_leaves_the_rest_to_others() {
    let modest = class("modest", "0s", "\"unlimited\"", "qfcp", "request = \"2Mbit\"");
    let eager = class("eager", "0s", "\"unlimited\"", "qfcp", "");
    let results = run(&load(&format!("{}{modest}{eager}", link(QFCP, 2)), &[]), 1);
    let bps: Vec<f64> = column(&results.flows, "delivered_bytes");
    // payload is 960 of 1000 B
    let rates: Vec<f64> = bps.iter().map(|bytes| bytes * 8.0 / 20.0 / 0.96).collect();
    close(rates[0], 2e6, 0.03);
    close(rates[1], 8e6, 0.03);
}

/// Nobody on the way stamps: the flow keeps its initial window of 2 in 40 ms.
#[test]
fn without_a_port_that_stamps_the_initial_window_stays() {
    for transport in ["qfcp", "rcp"] {
        let one = class("one", "0s", "\"unlimited\"", transport, "");
        let results = run(&load(&format!("{}{one}", link("law = \"none\"", 1)), &[]), 1);
        close(throughput(&results, 5.0, 15.0), 2.0 * 8000.0 / 0.0400, 0.05);
    }
}

/// qfcp, 3.4: three duplicates bring out the repair and nothing else. One packet
/// lost in the middle costs no time: the flow ends when it would have ended.
#[test]
fn a_single_loss_leaves_the_rate_alone() {
    for recovery in ["sack", "newreno"] {
        let one = class("one", "0s", "\"1MB\"", "qfcp", &format!("recovery = \"{recovery}\""));
        let scenario = load(&format!("{}{one}", link(QFCP, 1)), &[]);
        let run = |wanted: u32| {
            let mut lost = false;
            let lose = move |packet: &tidegate_core::packet::Packet, _: f64| {
                let it = packet.flags.has(Flags::DATA) && packet.seq == wanted && !lost;
                lost |= it;
                it
            };
            let (stages, sent) = watched(&scenario, "bottleneck", lose);
            let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
            let count = |name| flow(&results, name);
            let times: Vec<f64> = noted(&sent).iter().map(|(at, _)| *at).collect();
            let gap = times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
            (count("retransmitted_packets"), count("timeouts"), count("fct_s"), gap)
        };
        let (whole, lossy) = (run(u32::MAX), run(500));
        assert_eq!((whole.0, whole.1), (0.0, 0.0));
        assert_eq!((lossy.0, lossy.1), (1.0, 0.0), "{recovery}: one repair, no timeout");
        // the repair takes one packet's time, and the pace is kept throughout
        assert!((lossy.2 - whole.2 - 0.0008).abs() < 0.0005, "{recovery}: {lossy:?} {whole:?}");
        assert!(lossy.3 < 0.0017, "{recovery}: no gap of more than two packets: {}", lossy.3);
    }
}

/// qfcp, 3.4: a timeout shrinks the window to one packet; the first
/// acknowledgement after it brings the whole rate back, without any growth.
#[test]
fn one_acknowledgement_after_a_timeout_brings_the_rate_back() {
    let one = class("one", "0s", "\"unlimited\"", "qfcp", "min_rto = \"200ms\"");
    let scenario = load(&format!("{}{one}", link(QFCP, 1)), &[]);
    let (stages, sent) = watched(&scenario, "bottleneck", |_, now| (5.0..5.3).contains(&now));
    let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
    assert!(flow(&results, "timeouts") >= 1.0);
    let times: Vec<f64> = noted(&sent).iter().map(|(at, _)| *at).filter(|at| *at > 5.3).collect();
    // one packet alone, a round trip later the full rate of 1250 packets/s at once
    assert!((times[1] - times[0] - 0.040).abs() < 0.003, "{:?}", &times[..3]);
    let within = |from: f64, to: f64| times.iter().filter(|at| (from..to).contains(*at)).count();
    let restored = within(times[1], times[1] + 0.2) as f64 / 0.2;
    close(restored, 1250.0, 0.05);
}

/// qfcp, 3.4: every acknowledgement of a control period carries the same rate, so
/// one that is lost takes nothing with it: with a tenth of them lost the rate stays.
#[test]
fn lost_acknowledgements_do_not_matter() {
    let one = class("one", "0s", "\"unlimited\"", "qfcp", "");
    let text = format!("{}{one}", link(QFCP, 1));
    let lossy = [("topology.dumbbell.bottleneck.loss", "{ data = 0, ack = 0.1 }")];
    let rate = |settings: &[(&str, &str)]| throughput(&run(&load(&text, settings), 1), 5.0, 20.0);
    let (clean, lossy) = (rate(&[]), rate(&lossy));
    close(clean, 10e6, 0.01);
    close(lossy, clean, 0.01);
}

/// What a receiver hands back: the request as feedback; beside SACK blocks the rate stays.
#[test]
fn acknowledgements_carry_the_rate_even_with_sack_blocks() {
    let one = class("one", "0s", "\"300kB\"", "qfcp", "recovery = \"sack\"");
    let scenario = load(&format!("{}{one}", link(QFCP, 1)), &[]);
    let seen = std::sync::Arc::new(std::sync::Mutex::new((0, 0)));
    let counts = seen.clone();
    let look = move |packet: &tidegate_core::packet::Packet, _: f64| {
        let mut counts = counts.lock().expect("no one panicked");
        match packet.ext {
            Ext::Rate(header) if header.request == 0 && header.feedback > 0 => counts.0 += 1,
            Ext::SackWith { word, .. } if word > 0 => {
                let first = packet.ext.blocks().and_then(|mut blocks| blocks.next());
                counts.1 += u32::from(first.is_some_and(|block| block.len > 0));
            }
            Ext::None => {}
            other => panic!("an acknowledgement with {other:?}"),
        }
        false
    };
    let (mut stages, _) = watched(&scenario, "access.sink1.reverse", look);
    let mut dropped = 0;
    let (more, _) = watched(&scenario, "bottleneck", move |packet, _| {
        dropped += u32::from(packet.flags.has(Flags::DATA));
        dropped == 100
    });
    stages.extend(more);
    let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
    assert!(flow(&results, "closed_s") > 0.0);
    let (plain, blocks) = *seen.lock().expect("no one panicked");
    assert!(plain > 200 && blocks > 20, "{plain} {blocks}");
}

/// Every session has a SYN and a FIN, so gates work on all controls: of 20 flows a
/// second 5 are admitted, and retries come later.
#[test]
fn gates_work_on_every_control() {
    for transport in ["qfcp", "rcp", "xcp", "vcp", "quick-start"] {
        let gate = "gate = { law = \"fixed-rate\", rate = \"5/s\" }\n";
        let law = if transport == "quick-start" { "rcp" } else { transport };
        let text = format!(
            "{}{gate}[traffic.web]\narrivals = {{ poisson = \"20/s\" }}\nsize = \"20kB\"\n\
             transport = \"{transport}\"\n",
            link(&format!("law = \"{law}\""), 2)
        );
        let results = run(&load(&text, &[]), 1);
        let closed = column(&results.flows, "closed_s");
        let done = closed.iter().filter(|at| !at.is_nan()).count();
        assert!((95..=100).contains(&done), "{transport}: {done} of 5/s in 20 s");
    }
}
