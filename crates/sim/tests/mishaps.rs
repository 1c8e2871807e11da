//! Packets that a link damages, or delivers twice: how many, and what their receivers make of them.

use crate::common::*;
use tidegate_sim::Results;

/// Places of ports in the scenario's order.
const THERE: usize = 0;

fn total(results: &Results, port: usize, name: &str) -> f64 {
    column(&results.port_totals, name)[port]
}

fn port_named(results: &Results, name: &str) -> usize {
    let column = results.port_totals.iter().find(|column| column.name == "port");
    let Some(tidegate_model::columns::Data::Category { codes, names }) = column.map(|c| &c.data)
    else {
        panic!("no names of ports");
    };
    codes.iter().position(|code| names[*code as usize] == name).expect("it is there")
}

/// 100,000 packets of UDP of 400 B each over a dumbbell whose bottleneck is a port with `keys`.
fn datagrams(keys: &str, seed: u64) -> Results {
    let text = format!(
        "{LINK}\n[port.bottleneck]\n{keys}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n\
         stop = \"39.9999s\"\ntransport = {{ udp = {{ rate = \"8Mbit\", packet = \"400B\" }} }}\n"
    );
    run(&load(&text, &[("duration", "60s")]), seed)
}

const N: f64 = 100_000.0;

/// Whether a count of N packets is within three standard deviations of a share.
fn binomial(count: f64, share: f64) {
    let sigma = (N * share * (1.0 - share)).sqrt();
    assert!((count - N * share).abs() < 3.0 * sigma, "{count}, expected {}", N * share);
}

/// A tenth is damaged. It goes on to the last link, and nobody takes it there: it is lost, and no
/// port has dropped it.
#[test]
fn damaged_packets_go_on_and_are_refused_by_their_receivers() {
    for seed in [1, 2] {
        let results = datagrams("corrupt = 0.1", seed);
        let damaged = total(&results, THERE, "damaged_packets");
        binomial(damaged, 0.1);
        let last = port_named(&results, "access.sink1");
        assert_eq!(total(&results, last, "departed_packets"), N);
        assert_eq!(column(&results.udp, "lost_packets"), [damaged]);
        assert_eq!(column(&results.udp, "received_packets"), [N - damaged]);
        assert_eq!(flow(&results, "delivered_bytes"), (N - damaged) * 372.0);
        assert_eq!(total(&results, THERE, "drops_link_loss"), 0.0);
    }
}

/// A tenth is delivered twice: so many more packets cross the last link, and each counts once at
/// its receiver.
#[test]
fn copies_go_on_and_count_once() {
    for seed in [1, 2] {
        let results = datagrams("duplicate = 0.1", seed);
        let copied = total(&results, THERE, "copied_packets");
        binomial(copied, 0.1);
        let last = port_named(&results, "access.sink1");
        assert_eq!(total(&results, last, "departed_packets"), N + copied);
        assert_eq!(column(&results.udp, "lost_packets"), [0.0]);
        assert_eq!(column(&results.udp, "received_packets"), [N]);
        assert_eq!(flow(&results, "delivered_bytes"), N * 372.0);
        // the copy uses no time of the link that made it
        assert_eq!(total(&results, THERE, "departed_packets"), N);
    }
}

/// By hand: every packet is sent on twice, and each of the two is lost with probability 0.3 behind
/// it: 0.3 * 0.3 = 9 % never arrive. What arrives first is the one that counts.
#[test]
fn either_of_the_two_may_be_lost() {
    let text = format!(
        "{LINK}\n[port.bottleneck]\nduplicate = 1\n[traffic.one]\n\
         arrivals = {{ at = [\"0s\"] }}\nstop = \"39.9999s\"\n\
         transport = {{ udp = {{ rate = \"8Mbit\", packet = \"400B\" }} }}\n"
    );
    let set = [("duration", "60s"), ("topology.dumbbell.access.loss", "0.3")];
    let results = run(&load(&text, &set), 1);
    // the host's own link loses 0.3 of N first
    let sent = total(&results, THERE, "departed_packets");
    binomial(N - sent, 0.3);
    let received = column(&results.udp, "received_packets")[0];
    let expected = 0.91 * sent;
    assert!((received - expected).abs() < 3.0 * (sent * 0.91 * 0.09).sqrt(), "{received}");
    assert_eq!(column(&results.udp, "lost_packets"), [N - received]);
}

/// The order is: a packet is lost, or damaged, or delivered twice, or both of the last.
#[test]
fn what_is_lost_is_neither_damaged_nor_copied() {
    let text = format!(
        "{LINK}\n[port.bottleneck]\nduplicate = 0.5\ncorrupt = 0.5\n[traffic.one]\n\
         arrivals = {{ at = [\"0s\"] }}\nstop = \"39.9999s\"\n\
         transport = {{ udp = {{ rate = \"8Mbit\", packet = \"400B\" }} }}\n"
    );
    let set = [("duration", "60s"), ("topology.dumbbell.bottleneck.loss", "0.2")];
    let results = run(&load(&text, &set), 3);
    let lost = total(&results, THERE, "drops_link_loss");
    binomial(lost, 0.2);
    binomial(total(&results, THERE, "damaged_packets"), 0.4);
    binomial(total(&results, THERE, "copied_packets"), 0.4);
    binomial(column(&results.udp, "received_packets")[0], 0.4);
}

/// One transfer over a link that delivers every packet of both directions twice.
fn doubled(transport: &str, keys: &str) -> Results {
    let text = format!(
        "{LINK}\n[port.bottleneck]\n{keys}\n[port.\"bottleneck.reverse\"]\n{keys}\n\
         [traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"2MB\"\ntransport = {transport}\n"
    );
    run(&load(&text, &[("duration", "200s")]), 1)
}

/// RFC 6675, 2: an acknowledgement without a new block is no duplicate where blocks are used. So a
/// sender with SACK takes copies for nothing, and sends nothing again.
#[test]
fn tcp_with_sack_takes_copies_for_nothing() {
    let results = doubled("{ tcp = { profile = \"linux\" } }", "duplicate = 1");
    assert_eq!(flow(&results, "delivered_bytes"), 2e6);
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
    let (there, copied) = ("departed_packets", "copied_packets");
    assert_eq!(total(&results, THERE, there), total(&results, THERE, copied));
}

/// RFC 5681, 3.2: without SACK the third duplicate is a loss, also where it is of a copy. A link
/// that doubles data and acknowledgements makes three of each: the sender sends again what has
/// arrived, and all the same the data is delivered once.
#[test]
fn reno_takes_copies_for_losses() {
    let sender = "{ tcp = { profile = \"ns2-2001\", recovery = \"reno\" } }";
    let results = doubled(sender, "duplicate = 1");
    assert_eq!(flow(&results, "delivered_bytes"), 2e6);
    assert!(flow(&results, "retransmitted_packets") > 10.0);
}

/// Every control comes to its end where a tenth is damaged and a tenth comes twice.
#[test]
fn each_transport_copes() {
    let keys = "duplicate = 0.1\ncorrupt = 0.02";
    for transport in [
        "{ tcp = { profile = \"linux\", control = \"bbr3\" } }",
        "{ tcp = { profile = \"linux\", control = \"cubic\" } }",
        "{ tcp = { profile = \"linux\", control = \"prague\" } }",
        "{ tcp = { profile = \"ns2-2003\" } }",
        "{ qfcp = {} }",
        "{ rcp = { reliability = \"own\" } }",
        "{ xcp = {} }",
        "{ blitz = {} }",
    ] {
        let results = doubled(transport, keys);
        assert_eq!(flow(&results, "delivered_bytes"), 2e6, "{transport}");
        assert!(total(&results, THERE, "damaged_packets") > 0.0, "{transport}");
    }
}

/// Streams of their own: what is lost does not depend on what is copied.
#[test]
fn losses_do_not_depend_on_copies() {
    let lost = |keys: &str| {
        let text = format!(
            "{LINK}\n[port.bottleneck]\n{keys}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n\
             stop = \"39.9999s\"\n\
             transport = {{ udp = {{ rate = \"8Mbit\", packet = \"400B\" }} }}\n"
        );
        let set = [("duration", "60s"), ("topology.dumbbell.bottleneck.loss", "0.05")];
        total(&run(&load(&text, &set), 4), THERE, "drops_link_loss")
    };
    assert_eq!(lost(""), lost("duplicate = 0.3"));
}

/// A scenario without the keys has no column for them, so that its digest is what it was.
#[test]
fn the_columns_are_there_where_the_keys_are() {
    let has = |results: &Results, name: &str| results.ports.iter().any(|c| c.name == name);
    let plain = datagrams("", 1);
    assert!(!has(&plain, "damaged_packets") && !has(&plain, "copied_packets"));
    let copied = datagrams("duplicate = 0.001", 1);
    assert!(!has(&copied, "damaged_packets") && has(&copied, "copied_packets"));
}
