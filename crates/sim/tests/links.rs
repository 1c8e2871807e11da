//! Links that vary, as flows meet them.

use std::collections::BTreeMap;

use crate::common::*;
use tidegate_sim::Results;

/// 250 packets of 1000 B a second for 40 s over an idle link of 10 Mbit/s, whose port is said
/// more of: without that each takes 100.96 ms.
fn udp(port: &str, more: &str) -> Results {
    udp_at(&format!("[port.bottleneck]\n{port}\n{more}"))
}

/// The same, with nothing said of the bottleneck's port.
fn udp_at(more: &str) -> Results {
    let text = format!(
        "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n\
         size = \"9720000B\"\ntransport = {{ udp = {{ rate = \"2Mbit\", packet = \"1000B\" }} }}\n{more}"
    );
    run(&load(&text, &[("duration", "60s"), ("warmup", "0s")]), 1)
}

fn ms(results: &Results, name: &str) -> f64 {
    column(&results.udp, name)[0] * 1e3
}

/// As `netem delay 100ms 20ms`: evenly from 80 to 120 ms, whose standard deviation is
/// 20 ms / sqrt(3). The error of the mean of 10,000 packets is 0.12 ms.
#[test]
fn jitter_spreads_the_delays_around_that_of_the_link() {
    let results = udp("jitter = { uniform = \"20ms\", order = \"free\" }", "");
    assert_eq!(column(&results.udp, "received_packets")[0], 10_000.0);
    let found = ["delay_min_s", "delay_mean_s", "delay_max_s"].map(|name| ms(&results, name));
    assert!((80.96..81.2).contains(&found[0]), "{found:?}");
    assert!((found[1] - 100.96).abs() < 0.5, "{found:?}");
    assert!((120.7..=120.96).contains(&found[2]), "{found:?}");
}

/// In order every packet takes at least as long, and none is longer under way than 120.96 ms.
#[test]
fn jitter_that_keeps_the_order_only_delays() {
    let results = udp("jitter = { uniform = \"20ms\" }", "");
    assert!(ms(&results, "delay_mean_s") > 105.0);
    assert!(ms(&results, "delay_max_s") <= 120.96);
}

/// A step of the delay holds for what is sent from then on: half of the packets take 50 ms less.
#[test]
fn a_delay_changes_in_the_middle_of_the_run() {
    let change = "[[change]]\nwhat = \"bottleneck.delay\"\nat = \"20s\"\nto = \"48ms\"\n";
    let results = udp("", change);
    let delays = ["delay_min_s", "delay_mean_s", "delay_max_s"].map(|name| ms(&results, name));
    for (found, expected) in delays.into_iter().zip([50.96, 75.96, 100.96]) {
        assert!((found - expected).abs() < 0.01, "{delays:?}");
    }
}

/// TCP takes three duplicates for a loss: where packets overtake each other it sends again what
/// was not lost, and where they keep their order it does not.
#[test]
fn only_packets_that_overtake_each_other_look_like_losses() {
    let again = |jitter: &str| {
        let text = format!(
            "{LINK}\n[port.bottleneck]\n{jitter}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n\
             size = \"1MB\"\ntransport = {{ tcp = {{ profile = \"rfc\" }} }}\n"
        );
        let results = run(&load(&text, &[("duration", "60s")]), 1);
        assert_eq!(flow(&results, "delivered_bytes"), 1e6, "{jitter}");
        flow(&results, "retransmitted_packets")
    };
    assert_eq!(again("jitter = { uniform = \"20ms\" }"), 0.0);
    assert!(again("jitter = { uniform = \"20ms\", order = \"free\" }") > 10.0);
    assert!(again("reorder = { share = 0.02, by = \"10ms\" }") > 3.0);
}

/// By hand: of 10,000 packets of 1000 B at 2 Mbit/s a policer of 1 Mbit/s lets pass what the
/// bucket holds at first, 15 packets, and 125 a second for 40 s: 5015 (the last of them is due at
/// the very end). The port counts the others.
#[test]
fn a_policer_drops_what_comes_too_fast() {
    let results = udp("police = { rate = \"1Mbit\", burst = \"15kB\" }", "");
    let received = column(&results.udp, "received_packets")[0];
    assert!((received - 5015.0).abs() <= 1.0, "{received}");
    assert_eq!(column(&results.port_totals, "drops_policed")[0], 10_000.0 - received);
    // nothing waits at a policer: no delay but that of an idle link
    assert!((ms(&results, "delay_max_s") - 100.96).abs() < 1e-6);
}

/// By hand: a packet comes to the last port 99.88 ms after it was sent, and 49.88 ms where the
/// delay is 48 ms, from 20 s on: half of them are older than 60 ms. At the bottleneck they are
/// 1.08 ms old. Acknowledgements go by no age: TCP gets all through where its data may be older.
#[test]
fn a_port_drops_what_is_too_old() {
    let change = "[[change]]\nwhat = \"bottleneck.delay\"\nat = \"20s\"\nto = \"48ms\"\n";
    for (port, lifetime, passed) in [
        ("access.sink1", "60ms", 5000.0),
        ("access.sink1", "100ms", 10_000.0),
        ("bottleneck", "1ms", 0.0),
        ("bottleneck", "2ms", 10_000.0),
    ] {
        let more = format!("{change}[port.\"{port}\"]\nlifetime = \"{lifetime}\"\n");
        let results = udp_at(&more);
        assert_eq!(column(&results.udp, "received_packets")[0], passed, "{port} {lifetime}");
        let expired: f64 = column(&results.port_totals, "drops_expired").iter().sum();
        assert_eq!(expired, 10_000.0 - passed, "{port} {lifetime}");
    }
    let text = format!(
        "{LINK}\n[port.\"access.source1.reverse\"]\nlifetime = \"150ms\"\n[traffic.one]\n\
         arrivals = {{ at = [\"0s\"] }}\nsize = \"100kB\"\n\
         transport = {{ tcp = {{ profile = \"rfc\" }} }}\n"
    );
    let results = run(&load(&text, &[]), 1);
    assert_eq!(flow(&results, "delivered_bytes"), 1e5);
}

/// By hand: the delay is 48 ms for the first 10 s of a turn and 98 ms for the other 10 s, so that
/// half of the packets take 50.96 ms and half 100.96 ms. When it falls, at 20 s, packets wait for
/// those before them: the 12 or 13 that are sent within 50 ms, one in 4 ms, take 24 ms more in the
/// mean.
#[test]
fn a_delay_follows_its_trace() {
    let trace = "time_s,delay_s\n0,0.048\n10,0.098\n20,0\n";
    let udp = |order: &str| {
        let text = format!(
            "{LINK}\n[port.bottleneck]\ndelay = {{ trace = \"link\", order = \"{order}\" }}\n\
             [traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"9720000B\"\n\
             transport = {{ udp = {{ rate = \"2Mbit\", packet = \"1000B\" }} }}\n"
        );
        let files = BTreeMap::from([("link".to_owned(), trace.as_bytes().to_vec())]);
        run(&load_with(&text, &[("duration", "60s"), ("warmup", "0s")], &files), 1)
    };
    let names = ["delay_min_s", "delay_mean_s", "delay_max_s"];
    let free = udp("free");
    for (name, expected) in names.into_iter().zip([50.96, 75.96, 100.96]) {
        assert!((ms(&free, name) - expected).abs() < 0.02, "{name}");
    }
    let kept = udp("kept");
    assert_eq!(column(&kept.udp, "received_packets")[0], 10_000.0);
    let more = (ms(&kept, "delay_mean_s") - ms(&free, "delay_mean_s")) * 10_000.0;
    assert!((more - 12.0 * 24.0).abs() < 60.0, "{more}");
}

/// By hand: an object of 10 Mbit/s each way over a medium of 10 Mbit/s. Packets of 1000 B and 500 B take
/// turns, 0.8 and 0.4 ms: a packet each way in 1.2 ms, or in 1.4 ms with gaps of 0.1 ms. In one
/// direction alone the medium is a plain link.
#[test]
fn two_directions_share_the_air() {
    let both = |gap: &str, back: &str| {
        let class = |name: &str, direction: &str, packet: u32| {
            format!(
                "[traffic.{name}]\narrivals = {{ at = [\"0s\"] }}\nstop = \"20s\"\n{direction}\n\
                 transport = {{ udp = {{ rate = \"10Mbit\", packet = \"{packet}B\" }} }}\n"
            )
        };
        let there = class("there", "from = \"r1\"\nto = \"r2\"", 1000);
        let text = format!(
            "name = \"air\"\nduration = \"20s\"\nwarmup = \"0s\"\n[topology.tandem]\n\
             access = {{ rate = \"1Gbit\", delay = \"1ms\" }}\n\
             links = [{{ rate = \"10Mbit\", delay = \"5ms\", buffer = \"50packets\" }}]\n\
             [port.link1]\nmedium = {{ name = \"air\", gap = \"{gap}\" }}\n\
             [port.\"link1.reverse\"]\nmedium = {{ name = \"air\", gap = \"{gap}\" }}\n{there}{}",
            class("back", "from = \"r2\"\nto = \"r1\"", 500).repeat(usize::from(!back.is_empty())),
        );
        let results = run(&load(&text, &[]), 1);
        ["link1", "link1.reverse"].map(|port| total(&results, port, "departed_packets") / 20.0)
    };
    for (gap, period) in [("0s", 1.2e-3), ("100us", 1.4e-3)] {
        let [there, back] = both(gap, "back");
        close(there, 1.0 / period, 0.002);
        close(back, 1.0 / period, 0.002);
    }
    let [there, back] = both("0s", "");
    close(there, 1250.0, 0.002);
    assert_eq!(back, 0.0);
}

/// By hand: a long download over half duplex with a gap of 0.1 ms. Two packets of 1500 B and the ACK of
/// 40 B for both take 1.2 + 0.1 + 1.2 + 0.1 + 0.032 + 0.1 = 2.732 ms, and carry 2 * 1460 B.
#[test]
fn acknowledgements_take_air_from_their_data() {
    let text = format!(
        "{LINK}\n[port.bottleneck]\nmedium = {{ name = \"air\", gap = \"100us\" }}\n\
         [port.\"bottleneck.reverse\"]\nmedium = {{ name = \"air\", gap = \"100us\" }}\n\
         [traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"rfc\", mss = \"1460B\", delayed_ack = \"40ms\" }} }}\n"
    );
    let results = run(&load(&text, &[("duration", "60s"), ("warmup", "20s")]), 1);
    let acks = total(&results, "bottleneck.reverse", "departed_packets");
    let data = total(&results, "bottleneck", "departed_packets");
    let busy = data * 1.3e-3 + acks * 0.132e-3;
    // after the warm-up of 20 s the medium is never free
    close(busy, 40.0, 0.001);
    assert!((1.8..2.1).contains(&(data / acks)), "{data} {acks}");
}

fn traced(trace: &str) -> Results {
    let text = format!(
        "{LINK}\n[port.bottleneck]\nrate = {{ trace = \"link\" }}\n[traffic.one]\n\
         arrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\" }} }}\n"
    );
    let files = BTreeMap::from([("link".to_owned(), trace.as_bytes().to_vec())]);
    run(&load_with(&text, &[("duration", "40s"), ("warmup", "10s")], &files), 1)
}

/// Opportunities of 1504 B, three in 4 ms, are 9.024 Mbit/s, and a table of 6 and 12 Mbit/s for a
/// second each 9 Mbit/s: a long flow takes as much.
#[test]
fn a_flow_takes_what_a_trace_gives() {
    let table = "time_s,rate_bit_s\n0,6e6\n1,12e6\n2,0\n";
    for (trace, expected) in [("1\n2\n4\n", 9.024e6), (table, 9e6)] {
        let results = traced(trace);
        let sent = column(&results.port_totals, "departed_bytes")[0] * 8.0 / 30.0;
        close(sent, expected, 0.02);
        assert!(column(&results.port_totals, "utilisation")[0] > 0.97);
    }
}

/// An outage loses what is on the link and what waits for it, and then a share of the rest. By hand:
/// 100 packets a second from 0 s; the link of 10 Mbit/s passes each at once, and they reach its end
/// 0.8 ms and 50 ms after they were sent. From 2 s to 3 s all are lost, from 5 s on three in ten.
#[test]
fn a_change_of_the_loss_is_an_outage() {
    let text = format!(
        "{LINK}\n[traffic.udp]\ntransport = {{ udp = {{ rate = \"800kbit\", packet = \"1000B\" }} }}\n\
         arrivals = {{ at = [\"0s\"] }}\n\
         [[change]]\nwhat = \"bottleneck.loss\"\nat = \"2s\"\nto = \"1\"\npulse = \"1s\"\n\
         [[change]]\nwhat = \"bottleneck.loss\"\nat = \"5s\"\nto = \"0.3\"\n"
    );
    let set = [("duration", "105s"), ("warmup", "0s"), ("sample", "1s")];
    let results = run(&load(&text, &set), 1);
    let port = column(&results.ports, "port");
    let lost: Vec<f64> = column(&results.ports, "drops_link_loss")
        .iter()
        .zip(&port)
        .filter(|(_, port)| **port == 0.0)
        .map(|(lost, _)| *lost)
        .collect();
    assert_eq!(lost[..5], [0.0, 0.0, 100.0, 0.0, 0.0]);
    let later: f64 = lost[5..105].iter().sum();
    // 3000 of 10,000; four standard deviations are 183
    assert!((later - 3000.0).abs() < 183.0, "{later}");
}

/// While the link has 10 kbit/s, QFCP grants 12 B/s: a packet in two minutes. The queue of then leaves
/// at once when the link is back, with that rate. A sender waits a second at most, and then hears
/// of the new one.
#[test]
fn who_was_granted_almost_nothing_hears_that_the_link_is_back() {
    for law in ["qfcp", "rcp"] {
        let text = format!(
            "{LINK}\n[port.bottleneck]\nstamp = {{ law = \"{law}\" }}\n[traffic.one]\n\
             arrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\ntransport = \"{law}\"\n\
             [[change]]\nwhat = \"bottleneck.rate\"\nat = \"10s\"\nto = \"10kbit\"\npulse = \"1s\"\n"
        );
        let settings = [("topology.dumbbell.bottleneck.buffer", "30packets"), ("warmup", "15s")];
        let results = run(&load(&text, &settings), 1);
        let utilisation = column(&results.port_totals, "utilisation")[0];
        assert!(utilisation > 0.8, "{law}: {utilisation}");
    }
}

/// From 5 s to 15 s the link carries nothing, though a packet is in service all the time. By hand: 217
/// packets of 1000 B fill the buffer then, and take 173.6 ms at 10 Mbit/s; at 1 bit/s it would be
/// 20 days.
#[test]
fn an_outage_of_a_trace_has_no_capacity_and_no_delay() {
    let port = "[port.bottleneck]\nrate = { trace = \"link\" }\n";
    let text = format!(
        "{LINK}\n{port}[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"9720000B\"\n\
         transport = {{ udp = {{ rate = \"2Mbit\", packet = \"1000B\" }} }}\n"
    );
    let trace = "time_s,rate_bit_s\n0,10e6\n5,0\n15,10e6\n40,10e6\n";
    let files = BTreeMap::from([("link".to_owned(), trace.as_bytes().to_vec())]);
    let set = [("duration", "40s"), ("warmup", "0s")];
    let results = run(&load_with(&text, &set, &files), 1);
    let of_link = |name: &str| -> Vec<f64> {
        let ports = column(&results.ports, "port");
        let rows = column(&results.ports, name).into_iter().zip(ports);
        rows.filter(|row| row.1 == 0.0).map(|row| row.0).collect()
    };
    let (capacity, used) = (of_link("capacity_bps"), of_link("utilisation"));
    for (second, (capacity, used)) in (1..).zip(capacity.into_iter().zip(used)) {
        // the value at the end of the interval
        let outage = (5..15).contains(&second);
        assert_eq!(capacity, if outage { 0.0 } else { 10e6 }, "{second}");
        if second > 5 && outage {
            assert_eq!(used, 0.0, "{second}");
        }
    }
    assert_eq!(column(&results.queues, "queue_p99_packets")[0], 217.0);
    let mean = column(&results.queues, "queue_delay_mean_s")[0];
    assert!(mean > 0.0 && mean < 0.1736, "{mean}");
    let total = column(&results.port_totals, "utilisation")[0];
    let sent: f64 = of_link("departed_bytes").iter().sum();
    assert!((total - sent * 8.0 / 10e6 / 40.0).abs() < 1e-4, "{total}");
}
