//! Controls out of other projects' crates in the simulator's own TCP.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tidegate_core::units::Time;
use tidegate_model::profile::Tcp;
use tidegate_sim::transport::control::{
    CongestionEvent, Control, Feedback, Marks, RateSample, Signal,
};
use tidegate_sim::{Custom, Factory, Progress, Simulation};
use tidegate_stacks::controls::NAMES;

use crate::common::*;

/// 20 Mbit/s and 40 ms of round trip: 100 kB, or 67 packets of 1500 B.
const PATH: &str = r#"
    name = "test"
    duration = "30s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "1Gbit", delay = "1ms" }
    bottleneck = { rate = "20Mbit", delay = "18ms", buffer = "67packets" }
    [traffic.one]
    arrivals = { at = ["0s"] }
    transport = { crate = { name = "quinn:cubic", profile = "linux" } }
    size = "15MB"
"#;

fn transport(name: &str) -> String {
    format!("{{ crate = {{ name = \"{name}\", profile = \"linux\" }} }}")
}

fn alone(name: &str, settings: &[(&str, &str)]) -> tidegate_sim::Results {
    let control = transport(name);
    let mut all = vec![("traffic.one.transport", control.as_str())];
    all.extend(settings);
    run(PATH, &all)
}

/// Each of them fills the link: 15 MB in segments of 1448 B and 1500 B with headers take 6.2 s at
/// 20 Mbit/s, and a control of today leaves no more than a tenth of it unused where the buffer holds a
/// round trip, and a third of a second for the start. None loses a twentieth of the packets.
#[test]
fn each_control_fills_the_link() {
    for name in NAMES {
        let results = alone(name, &[]);
        let (done, sent) = (one(&results, "data_done_s"), one(&results, "sent_packets"));
        let again = one(&results, "retransmitted_packets");
        assert!((6.2..7.1).contains(&done), "{name}: {done} s");
        assert!(again < sent / 20.0, "{name}: {again} of {sent}");
    }
}

/// The same seed gives the same columns, in one thread and in another, though BBR draws at random
/// when it looks for more bandwidth.
#[test]
fn a_control_draws_from_the_seed_alone() {
    let lossy = [("topology.dumbbell.bottleneck.loss", "0.001"), ("duration", "5s")];
    for name in NAMES {
        let other = std::thread::spawn(move || bits(&alone(name, &lossy)));
        assert_eq!(Some(bits(&alone(name, &lossy))), other.join().ok(), "{name}");
    }
}

/// RFC 9002, 7.3.2, by hand: NewReno halves its window at a loss and opens it by a packet a round
/// trip. It starts from 12000 B in quinn and in noq, 8.15 packets of 1472 B, and doubles each round
/// trip until the buffer is full: 134 packets are under way then, and the queue drops.
#[test]
fn new_reno_of_two_crates_is_the_same() {
    let [quinn, noq] = ["quinn:new-reno", "noq:new-reno"].map(|name| bits(&alone(name, &[])));
    assert_eq!(quinn, noq);
}

/// Into a link that stands still a sender sends one window at most: of path and buffer, or of two
/// round trips (BBR), both 134 packets. Behind it its retransmission timer alone speaks (RFC 6298,
/// 5.5: after 0.2 s and then each time twice as long, four packets in three seconds), and a probe of
/// the tail.
#[test]
fn a_dead_link_gets_no_window() {
    let change = "[[change]]\nwhat = \"bottleneck.rate\"\nat = \"3s\"\nto = \"1kbit\"";
    let text = format!("{PATH}\n{change}");
    for name in NAMES {
        let control = transport(name);
        let sent = |duration| {
            let settings = [("traffic.one.transport", control.as_str()), ("duration", duration)];
            one(&run(&text, &settings), "sent_packets")
        };
        let (before, after) = (sent("3s"), sent("6s"));
        assert!(after - before <= 134.0 + 4.0 + 1.0, "{name}: {before}, {after}");
        assert!(after - before >= 4.0, "{name}: {before}, {after}");
    }
}

/// Where a link carries a packet in twelve seconds, an acknowledgement of one that left before says
/// nothing of those behind it: they stay in the window, and no window leaves into the dark. quinn as a
/// whole stack sends 9.5 packets a flow in that time (`tidegate certify quic:cubic --only outage`),
/// our Reno and CUBIC 4.9.
#[test]
fn an_acknowledgement_out_of_the_dark_opens_no_window() {
    let change =
        "[[change]]\nwhat = \"bottleneck.rate\"\nat = \"3s\"\nto = \"1kbit\"\npulse = \"20s\"";
    let text = format!("{PATH}\n{change}");
    for name in NAMES {
        let control = transport(name);
        let sent = |duration| {
            let settings = [
                ("traffic.one.transport", control.as_str()),
                ("traffic.one.size", "100MB"),
                ("duration", duration),
            ];
            one(&run(&text, &settings), "sent_packets")
        };
        let dark = sent("23s") - sent("4s");
        assert!((3.0..=20.0).contains(&dark), "{name}: {dark}");
    }
}

/// A control whose class understands marks hears of them and retreats: CoDel marks, and its queue is
/// less than half full on average. Without a reaction it is full, 67 packets: nothing is dropped before.
#[test]
fn each_control_retreats_at_marks() {
    for name in NAMES {
        let control =
            format!("{{ crate = {{ name = \"{name}\", profile = \"linux\", ecn = true }} }}");
        let settings = [
            ("traffic.one.transport", control.as_str()),
            ("traffic.one.size", "100MB"),
            ("port.bottleneck.queue", "{ law = \"codel\", ecn = true }"),
        ];
        let ports = run(PATH, &settings).port_totals;
        let [marked, queue] = ["marked", "queue_mean_packets"].map(|of| column(&ports, of)[0]);
        assert!(marked > 0.0, "{name}");
        assert!(queue < 33.0, "{name}: {queue}");
    }
}

/// A control that keeps its window, and counts the marks that it is told of.
struct Counting {
    marks: Marks,
    told: Arc<AtomicU32>,
}

impl Control for Counting {
    fn cwnd(&self) -> f64 {
        100.0
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        self.told.fetch_add(self.marks.count(sample), Ordering::Relaxed);
    }

    fn on_congestion(&mut self, _: Signal, _: &CongestionEvent) {}

    fn on_timeout(&mut self, _: &CongestionEvent, _: bool) {}

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.marks.heard(feedback);
    }
}

/// A control out of a crate is told of every mark, as QUIC tells (RFC 9000, 13.4.2.1): as many as the
/// queue has set.
#[test]
fn a_control_is_told_of_every_mark() {
    let control = "{ crate = { name = \"own:counting\", profile = \"linux\", ecn = true } }";
    let settings = [
        ("traffic.one.transport", control),
        ("port.bottleneck.queue", "{ law = \"codel\", ecn = true }"),
    ];
    let settings = settings.map(|(key, value)| tidegate_model::Setting { key, value });
    let source = tidegate_model::Source { name: "test.toml", text: PATH };
    let scenario = tidegate_model::load(source, &settings, &BTreeMap::new()).expect("it is right");
    let told = Arc::new(AtomicU32::new(0));
    let mut counting = |_: &str, _: &Tcp, _: u64| -> Option<Factory> {
        let told = Arc::clone(&told);
        let make = move || Counting { marks: Marks::new(), told: Arc::clone(&told) };
        Some(Box::new(move || Box::new(make()) as Box<dyn Control>))
    };
    let custom = Custom { crate_controls: Some(&mut counting), ..Custom::default() };
    let mut run = Simulation::new(&scenario, 7, custom).expect("the scenario can be built");
    while run.advance(Time::NEVER, 100_000).expect("built-in laws do not fail") == Progress::Paused
    {
    }
    let set = column(&run.finish().port_totals, "marked")[0];
    assert!(set > 100.0, "{set}");
    assert_eq!(f64::from(told.load(Ordering::Relaxed)), set);
}
