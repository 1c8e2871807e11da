//! CoDel and FQ-CoDel from end to end, and what a discipline sees of its port.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::queue::{Discipline, Next, Queue, Slot, Waiting};
use tidegate_core::law::{Draw, Reason};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// One flow over 10 Mbit/s and 40 ms of round trip: 50 kB fit into the way, 250 kB into the buffer.
const ONE: &str = r#"
    name = "one"
    duration = "60s"
    warmup = "20s"
    sample = "20ms"
    [topology.dumbbell]
    pairs = 2
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "18ms", buffer = "250packets" }
    [traffic.long]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { tcp = { profile = "rfc", mss = "960B", delayed_ack = false } }
"#;

const QUEUE: &str = "port.bottleneck.queue";

fn bottleneck(results: &Results, name: &str) -> f64 {
    column(&results.port_totals, name)[0]
}

/// The mean delay of what waits, in ms: packets of 1000 B take 0.8 ms each.
fn delay_ms(results: &Results) -> f64 {
    bottleneck(results, "queue_mean_packets") * 0.8
}

/// One sawtooth of Reno under CoDel, by hand. Above target (6.25 packets of 0.8 ms) for an interval
/// of 100 ms and a round trip until the loss is known, at a packet per round trip of 46 ms: the
/// queue peaks at some 9.5 packets, the window at 59.5, and is cut to 29.7. On the way back up the
/// queue holds something for the last 9.5 of 29.7 round trips: 9.5^2 / 2 / 29.7 = 1.5 packets
/// on average, 1.2 ms, and somewhat more as these round trips are the longer ones. Below 50
/// packets the link is used by the window's share: 0.87 in all, less a round trip of repair. With a target of 20 ms (25 packets)
/// the peak is 28, the cut to 39, and 28^2 / 2 / 39 = 10 packets are 8 ms.
#[test]
fn a_flow_swings_around_the_target() {
    for (target, least, most, used) in [("5ms", 1.1, 1.7, 0.82), ("20ms", 7.0, 10.0, 0.95)] {
        let law = format!("{{ law = \"codel\", target = \"{target}\" }}");
        let results = run(&load(ONE, &[(QUEUE, &law)]), 1);
        let delay = delay_ms(&results);
        assert!((least..most).contains(&delay), "{delay} ms at a target of {target}");
        let utilisation = bottleneck(&results, "utilisation");
        assert!(utilisation > used, "{utilisation} at a target of {target}");
        assert!(bottleneck(&results, "drops_early") >= 3.0);
        assert_eq!(bottleneck(&results, "drops_queue_full"), 0.0);
    }
    let tail = delay_ms(&run(&load(ONE, &[]), 1));
    assert!(tail > 100.0, "{tail} ms over drop-tail");
}

/// RFC 8289: several flows leave a standing queue, and its delay settles near the target, with the
/// link in full use.
#[test]
fn a_few_flows_settle_near_the_target() {
    let set = [
        (QUEUE, "{ law = \"codel\" }"),
        ("traffic.long.arrivals", "{ uniform = 4, within = \"1s\" }"),
    ];
    let results = run(&load(ONE, &set), 1);
    assert!((2.5..7.5).contains(&delay_ms(&results)), "{} ms", delay_ms(&results));
    assert!(bottleneck(&results, "utilisation") > 0.98);
}

/// RFC 8289: with ECN the same control by marks, and no data is lost.
#[test]
fn with_ecn_nothing_is_lost() {
    let set =
        [(QUEUE, "{ law = \"codel\", ecn = true }"), ("traffic.long.transport.tcp.ecn", "true")];
    let results = run(&load(ONE, &set), 1);
    assert_eq!(bottleneck(&results, "drops_early"), 0.0);
    assert!(bottleneck(&results, "marked") >= 3.0);
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
    assert!((1.1..1.7).contains(&delay_ms(&results)), "{} ms", delay_ms(&results));
}

/// A sender that paces so much whatever is lost.
fn blind(name: &str, rate: &str) -> String {
    format!(
        "[traffic.{name}]\narrivals = {{ at = [\"0s\"] }}\n\
         transport = {{ udp = {{ rate = \"{rate}\", packet = \"1000B\" }} }}\n"
    )
}

/// Goodput of the first two flows over 60 s, in Mbit/s.
fn shares(text: &str, law: &str) -> [f64; 2] {
    let bytes = column(&run(&load(text, &[(QUEUE, law)]), 1).flows, "delivered_bytes");
    [bytes[0], bytes[1]].map(|bytes| bytes * 8.0 / 60.0 / 1e6)
}

/// RFC 8290: two senders of 8 and 30 Mbit/s have half of 10 Mbit/s each (972 B of 1000 are payload:
/// 4.86); over drop-tail they share as they send.
#[test]
fn unequal_senders_have_equal_shares() {
    let link = &ONE[..ONE.find("[traffic").expect("it has traffic")];
    let text = format!("{link}{}{}", blind("slow", "8Mbit"), blind("fast", "30Mbit"));
    for share in shares(&text, "{ law = \"fq-codel\" }") {
        close(share, 4.86, 0.01);
    }
    let [slow, fast] = shares(&text, "{ law = \"drop-tail\" }");
    assert!(fast > 2.5 * slow, "{slow} and {fast} Mbit/s");
}

/// A TCP flow has its half beside one that does not slow down, as far as one sawtooth over CoDel
/// uses it (0.87, see above; 960 B of 1000 are payload), and the other what is left; over drop-tail
/// it has next to nothing.
#[test]
fn a_flow_that_slows_down_keeps_its_share() {
    let text = format!("{ONE}{}", blind("blind", "30Mbit"));
    let [tcp, other] = shares(&text, "{ law = \"fq-codel\" }");
    assert!((0.85 * 4.8..=4.8).contains(&tcp), "TCP {tcp} Mbit/s");
    close(tcp / 0.96 + other / 0.972, 10.0, 0.01);
    let [tcp, _] = shares(&text, "{ law = \"drop-tail\" }");
    assert!(tcp < 0.5, "over drop-tail {tcp} Mbit/s");
}

/// Drops what has waited for 3 ms, and notes when it has looked at which packet.
struct Impatient(Arc<Mutex<Vec<(Time, Time)>>>);

impl Discipline for Impatient {
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let oldest = waiting.oldest().expect("something waits");
        let came = waiting.get(oldest).expect("it waits").at;
        self.0.lock().expect("no one panicked").push((slot.start, came));
        if slot.start - came > Time::from_ms(3) {
            return Next::Drop(oldest, Reason::Custom);
        }
        Next::Send(oldest)
    }
}

/// A discipline of one's own sees the start of service, whoever looks at the port in between: with a
/// sample each 5 s and each 0.7 ms it is asked the same, and drops the same.
#[test]
fn a_discipline_does_not_see_who_looks() {
    let asked = ["5s", "0.7ms"].map(|sample| {
        let noted = Arc::default();
        let mut stages = Stages::new();
        stages.queue = Queue::Custom(Box::new(Impatient(Arc::clone(&noted))));
        let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
        let scenario = load(ONE, &[("sample", sample), ("duration", "20s"), ("warmup", "0s")]);
        let results = run_with(&scenario, 1, custom);
        let noted = noted.lock().expect("no one panicked").clone();
        (noted, flow(&results, "delivered_bytes"), bottleneck(&results, "drops_custom"))
    });
    assert!(asked[0].2 > 20.0, "{} dropped", asked[0].2);
    assert_eq!(asked[0], asked[1]);
}

/// Connections that a dual queue holds back at a link that has fallen idle: the average
/// sinks at the pace of the link. When the link becomes a hundred times as fast, it sinks as fast, and
/// they go at once and not when the slow link would have let them go.
#[test]
fn held_connections_go_sooner_when_the_link_becomes_faster() {
    let text = r#"
        name = "held"
        duration = "200s"
        [topology.dumbbell]
        pairs = 2
        access = { rate = "10Mbit", delay = "1ms" }
        bottleneck = { rate = "100kbit", delay = "1ms", buffer = "90packets" }
        [port.bottleneck]
        queue = { law = "dqm", x_m = 5, x_M = 5, P_M = 1, w = 0.002, blocked = "hold", mean_packet = "576B" }
        [traffic.burst]
        arrivals = { at = ["0s"] }
        stop = "40s"
        transport = { udp = { rate = "120kbit", packet = "576B" } }
        [traffic.late]
        arrivals = { at = ["45s"] }
        size = "1000B"
        transport = { tcp = { profile = "rfc", initial_rto = "100s", max_rto = "200s" } }
    "#;
    let change =
        "\n[[change]]\nwhat = \"topology.dumbbell.bottleneck.rate\"\nat = \"60s\"\nto = \"10Mbit\"";
    let admitted = |text: &str| column(&run(&load(text, &[]), 1).flows, "admitted_s")[1];
    let (slow, fast) = (admitted(text), admitted(&format!("{text}{change}")));
    assert!(slow > 65.0, "held until {slow} s");
    // the idle time that lies behind counts at the new pace, as in every average of this kind
    assert!((60.0..60.1).contains(&fast), "{fast} s");
}
