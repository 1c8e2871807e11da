//! UDP at a constant rate, and a drop-tail queue under bursts of it.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Verdict};
use tidegate_core::packet::Packet;
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// UDP from one host over the link of 10 Mbit/s.
fn class(transport: &str, more: &str) -> String {
    format!("{LINK}\n[traffic.background]\ntransport = {{ udp = {transport} }}\n{more}\n")
}

fn total(results: &Results, port: usize, name: &str) -> f64 {
    column(&results.port_totals, name)[port]
}

/// features C13: 2 Mbit/s in packets of 1000 B are 250 packets a second, the
/// first at once; 972 B of each are payload.
#[test]
fn packets_go_at_the_rate_of_the_flow() {
    let text = class(
        "{ rate = \"2Mbit\", packet = \"1000B\" }",
        "arrivals = { at = [\"1s\"] }\nstop = \"10.999s\"",
    );
    let results = run(&load(&text, &[]), 1);
    assert_eq!(flow(&results, "start_s"), 1.0);
    assert_eq!(flow(&results, "sent_packets"), 2500.0);
    assert_eq!(flow(&results, "delivered_bytes"), 2500.0 * 972.0);
    assert_eq!(results.delivered_packets, 2500);
    // over when the next packet would have been due
    assert!((flow(&results, "closed_s") - 11.0).abs() < 1e-9);
    assert!((flow(&results, "goodput_bps") - 2e6 * 0.972).abs() < 1e-3);
    // nobody answers
    assert_eq!(total(&results, 1, "arrived_packets"), 0.0);
    assert_eq!(total(&results, 0, "departed_bytes"), 2500.0 * 1000.0);
}

/// 10000 B are ten packets with 972 B and one with 280 B. By hand: the last
/// one leaves after 10 x 4 ms and arrives after three transmissions of 308 B
/// and 100 ms; then the flow is complete.
#[test]
fn a_flow_of_a_size_ends_with_a_short_packet() {
    let text = class("{ rate = \"2Mbit\" }", "arrivals = { at = [\"0s\"] }\nsize = \"10000B\"");
    let results = run(&load(&text, &[]), 1);
    assert_eq!(flow(&results, "sent_packets"), 11.0);
    assert_eq!(flow(&results, "delivered_bytes"), 10_000.0);
    let arrived = 0.04 + 308.0 * 8.0 * (2.0 / 100e6 + 1.0 / 10e6) + 0.1;
    for name in ["data_done_s", "closed_s", "fct_s"] {
        assert!((flow(&results, name) - arrived).abs() < 1e-9, "{name}");
    }
    assert!((flow(&results, "goodput_bps") - 80_000.0 / arrived).abs() < 1e-6);
    assert_eq!(flow(&results, "syn_tries"), 0.0);
}

/// docs/metrics.md: a flow of UDP is complete when its last byte is delivered, so a sender that is
/// faster than the link makes it no shorter. By hand: at 50 Mbit/s everything is sent within 50 ms,
/// and 309 packets with headers of 28 B need 2.5 s at 1 Mbit/s.
#[test]
fn a_sender_faster_than_the_link_is_not_done_sooner() {
    let text = class("{ rate = \"50Mbit\" }", "arrivals = { at = [\"0s\"] }\nsize = \"300kB\"");
    let slow = [
        ("topology.dumbbell.bottleneck.rate", "1Mbit"),
        ("topology.dumbbell.bottleneck.buffer", "1000packets"),
    ];
    let results = run(&load(&text, &slow), 1);
    let least = (300_000.0 + 309.0 * 28.0) * 8.0 / 1e6;
    assert_eq!(flow(&results, "fct_s"), flow(&results, "data_done_s"));
    assert!((least..least + 0.2).contains(&flow(&results, "fct_s")));
    assert!(flow(&results, "goodput_bps") < 1e6);
}

/// docs/columns.md: of UDP of a size `closed_s` is when everything was sent and the last packet
/// that gets through was delivered; it is complete only if all arrived. Of a burst of eleven packets
/// the first six find room (one in transmission, five that wait), and the sixth leaves after six
/// transmissions of 0.8 ms.
#[test]
fn a_flow_that_lost_data_is_over_when_its_last_packet_is_there() {
    let text = class("{ rate = \"100Mbit\" }", "arrivals = { at = [\"0s\"] }\nsize = \"10000B\"");
    let small = [("topology.dumbbell.bottleneck.buffer", "5packets")];
    let results = run(&load(&text, &small), 1);
    assert_eq!(flow(&results, "delivered_bytes"), 6.0 * 972.0);
    let last = 2.0 * 8000.0 / 100e6 + 6.0 * 8000.0 / 10e6 + 0.1;
    assert!((flow(&results, "closed_s") - last).abs() < 1e-9, "{}", flow(&results, "closed_s"));
    assert!(flow(&results, "fct_s").is_nan());
}

/// docs/columns.md: where nothing gets through, a flow of UDP is over when everything was sent.
#[test]
fn a_flow_that_lost_data_has_no_completion_time() {
    let text = class("{ rate = \"2Mbit\" }", "arrivals = { at = [\"0s\"] }\nsize = \"10000B\"");
    for (loss, timed) in [("0", true), ("1", false)] {
        let results = run(&load(&text, &[("topology.dumbbell.bottleneck.loss", loss)]), 1);
        let sent = 10_308.0 * 8.0 / 2e6;
        assert!(timed || (flow(&results, "closed_s") - sent).abs() < 1e-9);
        for name in ["fct_s", "fct_admitted_s", "goodput_bps"] {
            assert_eq!(flow(&results, name).is_finite(), timed, "{name} with a loss of {loss}");
        }
    }
}

/// features C13: beside TCP it takes what it asks for, and TCP the rest.
#[test]
fn a_constant_rate_takes_its_share() {
    let text = class("{ rate = \"4Mbit\" }", "arrivals = { at = [\"0s\"] }")
        + "[traffic.long]\narrivals = { uniform = 10, within = \"1s\" }\nsize = \"unlimited\"\n\
           transport = { tcp = { profile = \"linux\" } }\n";
    let results = run(&load(&text, &[("duration", "200s")]), 1);
    let class = column(&results.flows, "class");
    let delivered = column(&results.flows, "delivered_bytes");
    let of = |wanted: f64| -> f64 {
        let of_class = class.iter().zip(&delivered).filter(|(class, _)| **class == wanted);
        of_class.map(|(_, bytes)| bytes * 8.0 / 200.0).sum()
    };
    // what the full queue takes from it is some percent
    close(of(0.0), 4e6 * 0.972, 0.05);
    close(of(0.0) / 0.972 + of(1.0) * 1500.0 / 1448.0, 10e6, 0.03);
}

/// features C13: session control does not count UDP, nor refuse it.
#[test]
fn a_gate_leaves_udp_alone() {
    let text = class(
        "{ rate = \"2Mbit\" }",
        "arrivals = { every = \"100ms\", stop = \"10s\" }\nsize = \"20kB\"",
    ) + "[port.bottleneck]\ngate = { law = \"fixed-rate\", rate = \"1/s\" }\n";
    let results = run(&load(&text, &[]), 1);
    let flows = column(&results.flows, "delivered_bytes");
    assert!(flows.len() > 100 && flows.iter().all(|&bytes| bytes == 20_000.0));
    for name in ["arrived", "admitted", "departed"] {
        assert_eq!(column(&results.events, name).iter().sum::<f64>(), 0.0, "{name}");
    }
    assert_eq!(total(&results, 0, "syn_arrived"), 0.0);
}

/// features C13: with half of the link taken the admit rate that completions
/// keep up with is about half.
#[test]
fn less_can_be_admitted_beside_udp() {
    let completed = |rate: &str| {
        let text = class(&format!("{{ rate = \"{rate}\" }}"), "arrivals = { at = [\"0s\"] }")
            + "[port.bottleneck]\ngate = { law = \"close-probe\" }\n\
             [traffic.web]\narrivals = { poisson = \"300/s\" }\n\
             size = { exponential = { mean = \"10kB\" } }\n\
             transport = { tcp = { profile = \"ns2-2005\" } }\n";
        let results = run(&load(&text, &[("duration", "200s")]), 1);
        let closed = column(&results.flows, "closed_s");
        closed.iter().filter(|at| (100.0..200.0).contains(*at)).count() as f64
    };
    let (free, shared) = (completed("1kbit"), completed("5Mbit"));
    assert!((0.35..0.65).contains(&(shared / free)), "{shared} of {free}");
}

/// What arrives at a port, by sequence number.
struct Note(Arc<Mutex<Vec<u32>>>);

impl PerPacket for Note {
    fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        self.0.lock().expect("no one panicked").push(packet.seq);
        Verdict::Pass
    }
}

/// One burst at 100 Mbit/s into 10 Mbit/s with a buffer of five packets: which got through.
fn burst(packets: u32) -> (Results, Vec<u32>) {
    let text = class(
        &format!("{{ rate = \"100Mbit\", burst = {{ packets = {packets}, every = \"100s\" }} }}"),
        "arrivals = { at = [\"0s\"] }",
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(Note(seen.clone())));
    let custom = Custom { stages: vec![("access.sink1".into(), stages)], ..Custom::default() };
    let set = [("topology.dumbbell.bottleneck.buffer", "5packets")];
    let results = run_with(&load(&text, &set), 1, custom);
    let seen = seen.lock().expect("no one panicked").clone();
    (results, seen)
}

/// features C2: with one packet in transmission and B waiting the next is
/// dropped, and the others keep their order.
#[test]
fn a_full_queue_drops_the_next_packet() {
    assert_eq!(burst(6).1, [0, 1, 2, 3, 4, 5]);
    let (results, seen) = burst(7);
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    assert_eq!(total(&results, 0, "drops_queue_full"), 1.0);
    // every 0.08 ms one comes, every 0.8 ms one goes: places are free again at
    // 0.8, 1.6 and 2.4 ms, for the packets that come right then
    let (results, seen) = burst(40);
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 10, 20, 30]);
    let count = |name: &str| total(&results, 0, name);
    assert_eq!(count("arrived_packets"), count("departed_packets") + count("drops_queue_full"));
    assert_eq!(count("arrived_packets"), 40.0);
}

/// Bursts begin when they should: 3 packets every 0.5 s, 8 packets in all.
#[test]
fn bursts_follow_each_other() {
    let text = class(
        "{ rate = \"8Mbit\", burst = { packets = 3, every = \"0.5s\" } }",
        "arrivals = { at = [\"0s\"] }\nsize = \"7776B\"",
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    struct When(Arc<Mutex<Vec<f64>>>);
    impl PerPacket for When {
        fn arrive(&mut self, _: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
            self.0.lock().expect("no one panicked").push(now.secs());
            Verdict::Pass
        }
    }
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(When(seen.clone())));
    let custom = Custom { stages: vec![("access.source1".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &[]), 1, custom);
    // 1000 B at 8 Mbit/s take 1 ms
    let expected = [0.0, 0.001, 0.002, 0.5, 0.501, 0.502, 1.0, 1.001];
    assert_eq!(*seen.lock().expect("no one panicked"), expected);
    // the last one arrives after three transmissions and 100 ms
    let arrived = 1.001 + 8000.0 * (2.0 / 100e6 + 1.0 / 10e6) + 0.1;
    assert!((flow(&results, "closed_s") - arrived).abs() < 1e-9);
}

/// features C12: capacity and buffer follow the schedule. Packets of 1250 B
/// take 1 ms at 10 and 2 ms at 5 Mbit/s; a buffer of 100 ms holds 100 and 50
/// of them. Twice as many come as the link can carry, so that it is always busy.
#[test]
fn service_and_buffer_follow_the_capacity() {
    service_and_buffer_follow("100ms", "");
}

/// As above: `buffer_follows` is for buffers in packets and in bytes, which
/// otherwise stay as they are.
#[test]
fn a_buffer_in_packets_or_bytes_follows_the_capacity_if_asked_to() {
    service_and_buffer_follow("100packets", "buffer_follows = true");
    service_and_buffer_follow("125kB", "buffer_follows = true");
}

fn service_and_buffer_follow(buffer: &str, more: &str) {
    let text = class(
        "{ rate = \"20Mbit\", packet = \"1250B\" }",
        &format!(
            "arrivals = {{ at = [\"0s\"] }}\n[[change]]\nwhat = \"bottleneck.rate\"\n\
             at = \"2s\"\nto = \"5Mbit\"\npulse = \"2s\"\n{more}"
        ),
    );
    let set = [("topology.dumbbell.bottleneck.buffer", buffer), ("duration", "6s")];
    let results = run(&load(&text, &set), 1);
    let rows: Vec<usize> = (0..column(&results.ports, "port").len())
        .filter(|&row| column(&results.ports, "port")[row] == 0.0)
        .collect();
    let trace = |name: &str| -> Vec<f64> {
        let values = column(&results.ports, name);
        rows.iter().map(|&row| values[row]).collect()
    };
    let near = |name: &str, expected: [f64; 5]| {
        // from the second second on the queue is full
        for (measured, expected) in trace(name)[1..].iter().zip(expected) {
            assert!((measured - expected).abs() <= 1.0, "{name}: {:?}", trace(name));
        }
    };
    near("departed_packets", [1000.0, 500.0, 500.0, 1000.0, 1000.0]);
    near("queue_packets", [100.0, 50.0, 50.0, 100.0, 100.0]);
    assert_eq!(trace("capacity_bps")[1..5], [5e6, 5e6, 10e6, 10e6]);
}

/// The value of a class in the table of what receivers of UDP heard; there is one class.
fn heard(results: &Results, name: &str) -> f64 {
    column(&results.udp, name)[0]
}

/// 1000 B take 80 us on either access link and 800 us on the link between, and
/// 100 ms to cross them: every packet of an empty network takes 100.96 ms. Of
/// 250 a second from 1 s to 11 s those after 6 s are measured: 1250.
#[test]
fn an_empty_network_delays_all_alike() {
    let text = class(
        "{ rate = \"2Mbit\", packet = \"1000B\" }",
        "arrivals = { at = [\"1s\"] }\nstop = \"10.999s\"",
    );
    let results = run(&load(&text, &[("warmup", "6s")]), 1);
    for name in ["sent_packets", "received_packets"] {
        assert_eq!(heard(&results, name), 1250.0, "{name}");
    }
    assert_eq!(heard(&results, "lost_packets"), 0.0);
    for name in ["delay_min_s", "delay_mean_s", "delay_max_s"] {
        assert!((heard(&results, name) - 0.10096).abs() < 1e-9, "{name}");
    }
    for name in ["delay_p50_s", "delay_p95_s", "delay_p99_s"] {
        close(heard(&results, name), 0.10096, 1e-3);
    }
    assert!(heard(&results, "jitter_s") < 1e-12);
}

/// Two packets at once every second: the second one waits for the first at the
/// link between, 800 us less the 80 us that it comes later, and comes 800 us
/// after it. Transits differ by D = 0.72 ms from each packet to the next, and J
/// goes to D: after n steps it is D (1 - (15/16)^n).
#[test]
fn jitter_is_what_bursts_make_of_it() {
    let text = class(
        "{ rate = \"100Mbit\", packet = \"1000B\", burst = { packets = 2, every = \"1s\" } }",
        "arrivals = { at = [\"0s\"] }\nsize = \"38880B\"",
    );
    let results = run(&load(&text, &[]), 1);
    assert_eq!(heard(&results, "received_packets"), 40.0);
    assert!((heard(&results, "delay_min_s") - 0.10096).abs() < 1e-9);
    assert!((heard(&results, "delay_max_s") - (0.10096 + 0.00072)).abs() < 1e-9);
    let steps = (0..40).map(|step| 0.00072 * (1.0 - libm::pow(15.0 / 16.0, f64::from(step))));
    close(heard(&results, "jitter_s"), steps.sum::<f64>() / 40.0, 1e-9);
}

/// 20 Mbit/s into 10 Mbit/s: what the ports dropped is what never came, and
/// what is under way at the end is neither. A full buffer of 50 packets of
/// 1500 B delays a packet by 51 transmissions of 1.2 ms, its own among them.
#[test]
fn what_an_overloaded_link_drops_is_lost() {
    let text = class("{ rate = \"20Mbit\", packet = \"1500B\" }", "arrivals = { at = [\"0s\"] }");
    let full = [("topology.dumbbell.bottleneck.buffer", "50packets")];
    let results = run(&load(&text, &full), 1);
    let dropped: f64 = column(&results.port_totals, "drops_queue_full").iter().sum();
    assert_eq!(heard(&results, "lost_packets"), dropped);
    let left = heard(&results, "sent_packets") - heard(&results, "received_packets") - dropped;
    // 50 wait, one is being sent, and 98 ms + 1 ms of the link's rate are on the way
    assert!((130.0..150.0).contains(&left), "{left}");
    let whole = 0.1 + 1500.0 * 8.0 * 2.0 / 100e6 + 51.0 * 0.0012;
    assert!(heard(&results, "delay_max_s") <= whole + 1e-9);
    close(heard(&results, "delay_p50_s"), whole, 0.02);
}

/// By hand: 2 Mbit/s in packets of 1000 B are one each 4 ms, 250 in a second of sending. From 1 s to
/// 10.999 s it sends in five seconds and is silent in five.
#[test]
fn it_sends_and_is_silent_in_turn() {
    let text = class(
        "{ rate = \"2Mbit\", packet = \"1000B\", on_off = { on = \"1s\", off = \"1s\" } }",
        "arrivals = { at = [\"1s\"] }\nstop = \"10.999s\"",
    );
    let results = run(&load(&text, &[("sample", "1s"), ("warmup", "0s")]), 1);
    assert_eq!(flow(&results, "sent_packets"), 1250.0);
    // what the port has sent by each second, 100 ms later at the most
    let arrived = column(&results.ports, "arrived_packets");
    let of_port = column(&results.ports, "port");
    let by_second: Vec<f64> =
        arrived.iter().zip(&of_port).filter(|(_, port)| **port == 0.0).map(|(a, _)| *a).collect();
    assert_eq!(by_second[1..7], [250.0, 0.0, 250.0, 0.0, 250.0, 0.0]);
}

/// Exponential times with means of 50 ms and 150 ms: a quarter of the time, and a packet of 2 ms is
/// begun whole, so each time of sending has half a packet more in the mean. 100 flows of 50 s have
/// some 25,000 such times; the standard error is below one per cent.
#[test]
fn drawn_times_have_their_means_and_belong_to_the_class_alone() {
    let times = "{ on = { exponential = { mean = \"50ms\" } }, \
                 off = { exponential = { mean = \"150ms\" } } }";
    let text = class(
        &format!("{{ rate = \"100kbit\", packet = \"29B\", on_off = {times} }}"),
        "arrivals = { uniform = 100, within = \"10ms\" }",
    );
    let set = [("duration", "50s"), ("warmup", "0s")];
    let alone = run(&load(&text, &set), 3);
    let sent = column(&alone.flows, "sent_packets");
    let packet = 29.0 * 8.0 / 100e3;
    let share = sent.iter().sum::<f64>() * packet / (100.0 * 50.0);
    close(share, (50.0 + packet * 500.0) / 200.0, 0.02);
    // flows differ from each other, and another class changes nothing
    assert!(sent.iter().any(|each| *each != sent[0]));
    let other = "[traffic.other]\ntransport = { udp = { rate = \"1kbit\" } }\n\
                 arrivals = { at = [\"0s\"] }\n";
    let beside = run(&load(&format!("{text}{other}"), &set), 3);
    let class = column(&beside.flows, "class");
    let same = column(&beside.flows, "sent_packets");
    let same: Vec<f64> = same
        .iter()
        .zip(&class)
        .filter(|(_, class)| **class == 0.0)
        .map(|(sent, _)| *sent)
        .collect();
    assert_eq!(same, sent);
}
