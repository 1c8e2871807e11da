//! What every law may rely on: when it is asked, and what it is told.

use std::sync::{Arc, Mutex};

use tidegate_core::law::greedy::Filter;
use tidegate_core::law::rate::{Grant, qfcp, rcp, vcp, xcp};
use tidegate_core::law::session::{
    self, Admission, Admit, Counts, Knobs, close_probe, fixed_rate, gss_ga, loss_rate, occupancy,
    tide, young,
};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{
    Controller, Decision, Draw, Fault, PerPacket, Reason, Step, Turn, Verdict, View,
};
use tidegate_core::packet::{Ext, Flags, Packet, RateHeader, XcpHeader};
use tidegate_core::port::{Limit, Outcome, Port, Stage, Stages, Stamp, Ticked};
use tidegate_core::units::{Rate, Time};

use crate::draws::{Always, Never};

/// 8 Mbit/s: a packet of 1000 B takes 1 ms.
const LINK: Link = Link { rate: Rate::from_bps(8_000_000), delay: Time::from_ms(10) };

fn port(stages: Stages) -> Port {
    Port::new(0, LINK.rate, LINK.delay, Limit::Packets(20)).with_stages(stages, Box::new(Never))
}

fn gate(law: impl Controller<Knobs, Counts> + 'static) -> Stages {
    let mut stages = Stages::new();
    stages.gate = Some(Stage::new(Admit::new(Admission::default()), Box::new(law)));
    stages
}

fn flags(flags: Flags) -> Packet {
    Packet { size: 100, flags, ..Packet::default() }
}

/// What a law was told, by time.
type Seen = Arc<Mutex<Vec<(Time, Counts, u64)>>>;

/// Admits two sessions a turn; answers with deadlines from a list, the last again and again.
struct Recorder {
    seen: Seen,
    spans: Vec<Time>,
}

impl Recorder {
    fn next(&mut self, now: Time) -> Time {
        let last = *self.spans.last().expect("a span");
        now + if self.spans.len() > 1 { self.spans.remove(0) } else { last }
    }
}

impl Controller<Knobs, Counts> for Recorder {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.allow(2, Time::from_secs(1));
        self.seen.lock().unwrap().push((now, Counts::default(), 0));
        Ok(self.next(now))
    }
    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, _: &mut Knobs) -> Step {
        self.seen.lock().unwrap().push((now, *counts, view.queue_offered));
        Ok((self.next(now), None))
    }
}

/// Counts grow without end, and a law is told of what came since its last turn;
/// an allowance is one of each turn, though the law leaves the knobs alone.
/// By hand: 5 SYN in the first second, 1 in the second, 3 and a FIN in the third.
#[test]
fn a_law_is_told_of_differences() {
    let seen = Seen::default();
    let law = Recorder { seen: seen.clone(), spans: vec![Time::from_secs(1)] };
    let mut port = port(gate(law));
    let begin = Time::from_secs(1_000);
    // what passed before the laws were started is none of theirs
    port.arrive(&flags(Flags::DATA), (), Time::from_secs(999));
    port.start(begin).expect("it starts");
    for (second, syns) in [(0, 5), (1, 1), (2, 3)] {
        let now = begin + Time::from_secs(second) + Time::from_ms(500);
        let taken = (0..syns)
            .filter(|_| port.arrive(&flags(Flags::SYN), (), now) == Outcome::Taken)
            .count();
        assert_eq!(taken, syns.min(2));
        if second == 2 {
            port.arrive(&flags(Flags::FIN), (), now);
        }
        assert_eq!(port.tick_at(), begin + Time::from_secs(second + 1));
        assert_eq!(port.tick(port.tick_at()).expect("never fails"), None, "it only looks");
    }
    let counts = |arrived, admitted, departed| Counts {
        arrived,
        admitted,
        departed,
        eligible: arrived,
        ..Counts::default()
    };
    let expected = [
        (begin, Counts::default(), 0),
        (begin + Time::from_secs(1), counts(5, 2, 0), 2),
        (begin + Time::from_secs(2), counts(1, 1, 0), 1),
        (begin + Time::from_secs(3), counts(3, 2, 1), 3),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

/// A deadline that is not later than now is refused, at the start as at any
/// turn, by a gate as by a stamp; the message says both times.
#[test]
fn a_law_that_stands_still_is_a_fault() {
    let spans = |spans: &[u64]| spans.iter().map(|&s| Time::from_secs(s)).collect();
    let refused = |fault: Fault| {
        let message = fault.to_string();
        assert!(message.contains("later than now"), "{message}");
        message
    };
    let begin = Time::from_secs(7);
    let law = Recorder { seen: Seen::default(), spans: spans(&[0, 1]) };
    let message = refused(port(gate(law)).start(begin).expect_err("it stands still"));
    assert!(message.contains("7"), "{message}");

    let law = Recorder { seen: Seen::default(), spans: spans(&[1, 0]) };
    let mut gated = port(gate(law));
    gated.start(begin).expect("it starts");
    let message = refused(gated.tick(Time::from_secs(8)).expect_err("it stands still"));
    assert!(message.contains("8"), "{message}");

    struct Still;
    impl Controller<tidegate_core::law::rate::Knobs, tidegate_core::law::rate::Counts> for Still {
        fn start(
            &mut self,
            now: Time,
            _: &mut tidegate_core::law::rate::Knobs,
        ) -> Result<Time, Fault> {
            Ok(now + Time::from_ms(1))
        }
        fn update(
            &mut self,
            now: Time,
            _: &View<'_>,
            _: &tidegate_core::law::rate::Counts,
            _: &mut tidegate_core::law::rate::Knobs,
        ) -> Result<Turn, Fault> {
            Ok((now, None))
        }
    }
    let mut stages = Stages::new();
    stages.stamp = Some(Stamp::grant(Box::new(Still)));
    let mut stamped = port(stages);
    stamped.start(begin).expect("it starts");
    refused(stamped.tick(begin + Time::from_ms(1)).expect_err("it stands still"));
}

/// A port whose stages were made by `Stages::default` has nothing to do until a packet comes.
#[test]
fn default_stages_ask_for_nothing() {
    let port = port(Stages::default());
    assert_eq!((port.next_event(), port.tick_at()), (Time::NEVER, Time::NEVER));
}

type Make = fn() -> Stages;

fn stamp(stamp: Stamp) -> Stages {
    let mut stages = Stages::new();
    stages.stamp = Some(stamp);
    stages
}

const LAWS: [(&str, Make); 10] = [
    ("fixed-rate", || gate(fixed_rate::FixedRate::new(fixed_rate::Config::default()))),
    ("gss-ga", || gate(gss_ga::GssGa::new(gss_ga::Config::default()))),
    ("close-probe", || gate(close_probe::CloseProbe::new(close_probe::Config::default()))),
    ("occupancy", || gate(occupancy::Occupancy::new(occupancy::Config::default()))),
    ("tide", || gate(tide::Tide::new(tide::Config::default()))),
    ("loss-rate", || gate(loss_rate::LossRate::new(loss_rate::Config::default()))),
    ("qfcp", || {
        let law = Box::new(qfcp::Qfcp::new(&qfcp::Config::default(), LINK));
        stamp(Stamp::Grant(Stage::new(Grant, law)))
    }),
    ("rcp", || {
        let law = Box::new(rcp::Rcp::new(&rcp::Config::default(), LINK));
        stamp(Stamp::Grant(Stage::new(Grant, law)))
    }),
    ("vcp", || {
        let law = Box::new(vcp::Vcp::new(&vcp::Config::default(), LINK));
        stamp(Stamp::Load(Stage::new(vcp::Load, law)))
    }),
    ("xcp", || {
        let law = Box::new(xcp::Xcp::new(&xcp::Config::default(), LINK));
        stamp(Stamp::Share(Stage::new(xcp::Share::default(), law)))
    }),
];

/// Ten seconds of traffic at a port whose laws start at `begin`: what was
/// decided, when (from `begin` on), and what became of each packet.
fn driven(stages: Stages, begin: Time) -> (Vec<(Time, session::Counts, Decision)>, Vec<Outcome>) {
    let mut port = port(stages);
    port.start(begin).expect("built-in laws start");
    let (mut decisions, mut outcomes) = (Vec::new(), Vec::new());
    for step in 0..10_000u64 {
        let now = begin + Time::from_ns(step * 1_000_000);
        while port.tick_at() <= now {
            let at = port.tick_at();
            match port.tick(at).expect("built-in laws never fail") {
                Some(Ticked::Gate { counts, decision }) => {
                    decisions.push((at - begin, counts, decision));
                }
                Some(Ticked::Queue(decision) | Ticked::Stamp(decision)) => {
                    decisions.push((at - begin, Counts::default(), decision));
                }
                None => {}
            }
        }
        while port.next_event() <= now {
            port.deliver(port.next_event());
        }
        let rate = RateHeader { request: u32::MAX, feedback: 0, rtt_us: 60_000 };
        let xcp = XcpHeader { rtt_us: 60_000, spacing_s: 0.002, delta: 1e6, reverse: 0.0 };
        let kinds = [
            (Flags::SYN, 60, Ext::None),
            (Flags::DATA, 1500, Ext::Rate(rate)),
            (Flags::DATA, 900, Ext::Xcp(xcp)),
            (Flags::FIN, 60, Ext::None),
        ];
        let (flags, size, ext) = kinds[(step * step % 11 % 4) as usize];
        let packet = Packet { flags, size, ext, ..Packet::default() };
        outcomes.push(port.arrive(&packet, (), now));
    }
    (decisions, outcomes)
}

/// A daemon starts long after zero: a law does the same from any start.
#[test]
fn laws_start_at_the_now_of_their_port() {
    for (name, make) in LAWS {
        let at_zero = driven(make(), Time::ZERO);
        assert!(at_zero.0.len() >= 4, "{name}: {} decisions", at_zero.0.len());
        let begin = Time::from_secs(1_000_000) + Time::from_ns(123_456_789);
        assert_eq!(driven(make(), begin), at_zero, "{name}");
    }
}

/// Marks what it sees, as a filter may.
struct Marks;

impl PerPacket for Marks {
    fn arrive(&mut self, _: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        Verdict::Mark(Reason::Filtered)
    }
}

impl Filter for Marks {}

/// Lets pass or loses what it sees, as a datapath of the user's own may.
struct Own(Verdict);

impl PerPacket for Own {
    fn arrive(&mut self, _: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        self.0
    }
}

/// What a filter marks stays marked, whatever stands behind it; one that cannot be marked is lost.
#[test]
fn a_mark_of_the_filter_reaches_the_queue() {
    for own in [None, Some(Verdict::Pass)] {
        let mut stages = Stages::new();
        stages.filter = Some(Box::new(Marks));
        stages.custom = own.map(|verdict| Box::new(Own(verdict)) as Box<dyn PerPacket>);
        let mut port = port(stages);
        port.arrive(&flags(Flags::DATA.with(Flags::ECT)), (), Time::ZERO);
        port.arrive(&flags(Flags::DATA), (), Time::ZERO);
        let counted = port.counters();
        assert_eq!((counted.marked, counted.drops[Reason::Filtered as usize]), (1, 1), "{own:?}");
    }
}

/// An opener that passes the gate and is lost at the user's own datapath behind it is a lost opener.
#[test]
fn an_opener_that_is_lost_behind_the_gate_is_known_to_it() {
    let seen = Seen::default();
    let law = Recorder { seen: seen.clone(), spans: vec![Time::from_secs(1)] };
    let mut stages = gate(law);
    stages.custom = Some(Box::new(Own(Verdict::Drop(Reason::Custom))));
    let mut port = port(stages);
    port.start(Time::ZERO).expect("it starts");
    for _ in 0..3 {
        port.arrive(&flags(Flags::SYN), (), Time::from_ms(1));
    }
    port.tick(Time::from_secs(1)).expect("it decides");
    let told = seen.lock().unwrap()[1].1;
    assert_eq!((told.arrived, told.admitted, told.lost_openers), (3, 2, 2));
}

/// Tide's K is of the present rate, in its datapath too: 255 packets at 10 Mbit/s, 1020 at 40. One
/// packet in four is counted there, so it is a few more or less.
#[test]
fn a_flow_is_young_for_as_long_as_the_present_rate_says() {
    let slow = Rate::from_bps(10_000_000);
    let young = Some(young::Config::default().at(slow));
    let admit = Admit::new(Admission { young, ..Admission::default() });
    let mut stages = Stages::new();
    stages.gate = Some(Stage::new(admit, Box::new(tide::Tide::new(tide::Config::default()))));
    let limit = Limit::Packets(u32::MAX);
    let port: Port<()> = Port::new(0, slow, LINK.delay, limit);
    let mut port = port.with_stages(stages, Box::new(Always(0.0)));
    port.start(Time::ZERO).expect("it starts");
    let young_at = |port: &mut Port, ms: u64, flow| {
        let of = |flags, size| Packet { flow, flags, size, ..Packet::default() };
        port.arrive(&of(Flags::SYN, 0), (), Time::from_ms(ms));
        for _ in 0..3_000 {
            port.arrive(&of(Flags::DATA, 1000), (), Time::from_ms(ms));
        }
        match port.tick(Time::from_ms(ms / 500 * 500 + 500)).expect("it decides") {
            Some(Ticked::Gate { counts, .. }) => counts.young_bytes / 1000,
            other => panic!("{other:?}"),
        }
    };
    // the opening packet is the first of the 255
    assert_eq!(young_at(&mut port, 100, 1), 254);
    port.set_capacity(Time::from_ms(600), Rate::from_bps(40_000_000), limit);
    young_at(&mut port, 700, 2);
    let fast = young_at(&mut port, 1_100, 3);
    assert!(fast.abs_diff(1020) < 60, "{fast}");
    port.set_capacity(Time::from_ms(1_600), slow, limit);
    young_at(&mut port, 1_700, 4);
    assert_eq!(young_at(&mut port, 2_100, 5), 254);
}
