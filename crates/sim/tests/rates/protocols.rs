//! XCP, RCP, VCP and Quick-Start beside QFCP.

use tidegate_sim::{Custom, Results};

use super::{class, link, noted, rates_after, throughput, watched};
use crate::common::*;

/// `n` flows without end, half a second apart.
fn staggered(transport: &str, n: u32, options: &str) -> String {
    (0..n)
        .map(|k| {
            let at = format!("{}ms", 500 * k);
            class(&format!("f{k}"), &at, "\"unlimited\"", transport, options)
        })
        .collect()
}

/// Bits per second of payload of each flow from `from` on, by what had been delivered by then.
fn rates(text: &str, from: f64, to: f64) -> Vec<f64> {
    let run_to = |until: f64| {
        let value = format!("{until}s");
        column(&run(&load(text, &[("duration", &value)]), 1).flows, "delivered_bytes")
    };
    let (before, after) = (run_to(from), run_to(to));
    after.iter().zip(before).map(|(after, before)| (after - before) * 8.0 / (to - from)).collect()
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) =
        rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    sum * sum / (rates.len() as f64 * squares)
}

fn lost(results: &Results) -> f64 {
    column(&results.ports, "drops_queue_full").iter().sum()
}

/// Long XCP flows: utilisation above 95 %, equal shares, hardly a loss (Katabi 2002, 5).
#[test]
fn xcp_fills_the_link_fairly_and_loses_nothing() {
    let text = format!("{}{}", link("law = \"xcp\"", 5), staggered("xcp", 5, ""));
    let results = run(&load(&text, &[]), 1);
    assert!(throughput(&results, 5.0, 20.0) > 0.95 * 10e6);
    assert!(lost(&results) < 5.0, "{}", lost(&results));
    let rates = rates(&text, 15.0, 20.0);
    assert!(jain(&rates) > 0.99, "{rates:?}");
}

/// Round trips of 40 and 120 ms: XCP gives both the same (2002, 5.2.3).
#[test]
fn xcp_is_fair_to_long_round_trips() {
    let mut text = "name = \"rtt\"\nduration = \"60s\"\n".to_owned();
    for (name, from, to, delay) in [
        ("near", "a", "left", 1),
        ("far", "b", "left", 41),
        ("one", "right", "c", 1),
        ("other", "right", "d", 1),
        ("middle", "left", "right", 18),
    ] {
        let rate = if name == "middle" { "10Mbit" } else { "1Gbit" };
        text += &format!(
            "[topology.links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\n\
             delay = \"{delay}ms\"\nbuffer = \"150packets\"\n"
        );
    }
    text += "[port.middle]\nstamp = { law = \"xcp\" }\n";
    for (name, from, to) in [("near", "a", "c"), ("far", "b", "d")] {
        text += &class(name, "0s", "\"unlimited\"", "xcp", "");
        text += &format!("from = \"{from}\"\nto = \"{to}\"\n");
    }
    let rates = rates(&text, 30.0, 60.0);
    assert!(jain(&rates) > 0.99, "{rates:?}");
}

/// A single RCP flow reaches the capacity, and a new one starts at the rate of the first.
#[test]
fn rcp_reaches_the_capacity_and_newcomers_start_at_the_rate() {
    let text =
        format!("{}{}", link("law = \"rcp\"", 2), class("one", "0s", "\"unlimited\"", "rcp", ""));
    let results = run(&load(&text, &[]), 1);
    close(throughput(&results, 10.0, 20.0), 10e6, 0.03);
    let text = text + &class("two", "10s", "\"unlimited\"", "rcp", "");
    let scenario = load(&text, &[]);
    let (stages, sent) = watched(&scenario, "access.source2", |_, _| false);
    let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
    let times: Vec<f64> = noted(&sent).iter().map(|(at, _)| *at).filter(|at| *at > 10.0).collect();
    if !times.is_empty() {
        let first: f64 = times[1] - times[0];
        close(first, 0.0008, 0.1);
    }
    close(mean(&rates_after(&results, 18.0)), 5e6, 0.1);
}

/// RCP's own reliability: a tenth of the packets is lost, everything arrives, and
/// nothing is sent again before all was sent once.
#[test]
fn rcp_repairs_what_is_missing_at_the_end() {
    let one = class("one", "0s", "\"500kB\"", "rcp", "reliability = \"own\"");
    let text = format!("{}{one}", link("law = \"rcp\"", 1));
    let scenario = load(&text, &[("topology.dumbbell.bottleneck.loss", "{ data = 0.1, ack = 0 }")]);
    let (stages, sent) = watched(&scenario, "access.source1", |_, _| false);
    let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
    assert!(flow(&results, "closed_s") > 0.0);
    assert_eq!(flow(&results, "delivered_bytes"), 500_000.0);
    let order: Vec<u32> = noted(&sent).iter().map(|(_, packet)| packet.seq).collect();
    let once = order.iter().position(|&seq| seq == 520).expect("all were sent");
    assert!(order[..=once].is_sorted(), "nothing twice before the end");
    let again = flow(&results, "retransmitted_packets");
    assert!((40.0..90.0).contains(&again), "a tenth of 521, and a tenth of that: {again}");
}

/// VCP fills the link without much loss; equal flows come to equal shares in the end.
#[test]
fn vcp_fills_the_link() {
    let text = format!("{}{}", link("law = \"vcp\"", 2), staggered("vcp", 2, ""));
    let settings = [("duration", "120s")];
    let results = run(&load(&text, &settings), 1);
    assert!(throughput(&results, 20.0, 120.0) > 0.85 * 10e6);
    let rates = rates(&text, 80.0, 120.0);
    assert!(jain(&rates) > 0.95, "{rates:?}");
    let codes = column(&results.events, "set");
    assert!([1.0, 2.0, 3.0].iter().all(|code| codes.contains(code)), "all three loads occur");
}

/// Quick-Start (RFC 4782): the first window is what the path grants, 50 packets in
/// 40 ms and paced, where Reno starts with 2; from then on it is Reno.
#[test]
fn quick_start_sends_the_granted_rate_for_a_round_trip() {
    let text = |transport: &str| {
        let one = class("one", "0s", "\"40kB\"", transport, "");
        format!("{}{one}", link("law = \"qfcp\"", 1))
    };
    let (quick, reno) =
        (run(&load(&text("quick-start"), &[]), 1), run(&load(&text("tcp"), &[]), 1));
    let (quick, reno) = (flow(&quick, "fct_s"), flow(&reno, "fct_s"));
    // handshake, 42 packets of 0.8 ms, and half a round trip twice
    close(quick, 0.040 + 42.0 * 0.0008 + 0.040, 0.05);
    // 2, 4, 8, 16, 12 (or half as fast with delayed acknowledgements)
    assert!(reno > quick + 3.0 * 0.040, "{reno} {quick}");
}

/// One new flow beside a standing one: XCP lets it in little by little, QFCP at
/// once, so in its first round trip of data it sends many times as much (qfcp, 3.2).
#[test]
fn a_new_flow_starts_low_under_xcp_and_high_under_qfcp() {
    let started = |law: &str| {
        let text = format!(
            "{}{}{}",
            link(&format!("law = \"{law}\""), 1),
            class("old", "0s", "\"unlimited\"", law, ""),
            class("new", "10s", "\"unlimited\"", law, "")
        );
        let results = run(&load(&text, &[("duration", "10100ms")]), 1);
        column(&results.flows, "delivered_bytes")[1]
    };
    let (xcp, qfcp) = (started("xcp"), started("qfcp"));
    assert!(qfcp > 5.0 * xcp, "new: {qfcp} {xcp}");
}

/// Explicit rates and TCP on one drop-tail link: TCP keeps the queue full, which a
/// port takes for too many flows at too high a rate, and QFCP is left with next to nothing.
#[test]
fn tcp_takes_the_link_from_qfcp() {
    let text = format!(
        "{}{}{}",
        link("law = \"qfcp\"", 2),
        class("rate", "0s", "\"unlimited\"", "qfcp", ""),
        class("tcp", "0s", "\"unlimited\"", "tcp", "")
    );
    let rates = rates(&text, 5.0, 20.0);
    assert!(rates[0] < 0.1 * rates[1] && rates[1] > 9e6, "{rates:?}");
}
