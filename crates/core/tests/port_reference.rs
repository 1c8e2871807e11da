//! The lazily served port against a plain one that has an event at every end
//! of transmission: the same packets, in the same order, to the picosecond.
//!
//! The reference below is the textbook port (one event when a packet arrives,
//! one when the link falls free) and shares no code with the port under test
//! but the packet record and the quantities.

use std::collections::VecDeque;

use proptest::prelude::*;
use tidegate_core::law::aqm::Found;
use tidegate_core::law::aqm::red::{self, Red};
use tidegate_core::law::settings::{Link, Setting};
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Ext, Packet};
use tidegate_core::port::{Backlog, Discipline, Limit, Next, Outcome, Port, Queue, Stages};
use tidegate_core::units::{Rate, Time};

struct NoDraw;

impl Draw for NoDraw {
    fn uniform(&mut self) -> f64 {
        panic!("nothing here is random")
    }
}

/// Always the same numbers, evenly spread (multiples of the golden ratio).
#[derive(Default)]
struct Golden(f64);

impl Draw for Golden {
    fn uniform(&mut self) -> f64 {
        self.0 = (self.0 + 0.618_033_988_749_895).fract();
        self.0
    }
}

/// What is done to a port at an instant.
#[derive(Clone, Debug)]
enum Step {
    Arrive { size: u16, level: u32 },
    Capacity { mbit: u64, limit: u32 },
}

/// Space-priority push-out: a full queue gives up its worst packet (largest
/// level, the latest of equals) for a better one; service stays first come,
/// first served.
struct PushOut;

impl Discipline for PushOut {
    fn admit(
        &mut self,
        packet: &Packet,
        backlog: &mut Backlog<'_>,
        _: Time,
        _: &mut dyn Draw,
    ) -> Verdict {
        if backlog.fits(packet.size) {
            return Verdict::Pass;
        }
        let worst = backlog.iter().max_by_key(|(place, packet)| (level(packet), *place));
        match worst.map(|(place, packet)| (place, level(packet))) {
            Some((place, worst)) if worst > level(packet) => {
                backlog.evict(place);
                Verdict::Pass
            }
            _ => Verdict::Drop(Reason::QueueFull),
        }
    }
}

/// Serves the best level first, the oldest of equals.
struct Priority;

impl Discipline for Priority {
    fn admit(
        &mut self,
        packet: &Packet,
        backlog: &mut Backlog<'_>,
        _: Time,
        _: &mut dyn Draw,
    ) -> Verdict {
        if backlog.fits(packet.size) { Verdict::Pass } else { Verdict::Drop(Reason::QueueFull) }
    }

    fn next(&mut self, (first, second): (&[Packet], &[Packet]), _: Time) -> Next {
        let best =
            first.iter().chain(second).zip(0..).min_by_key(|(packet, at)| (level(packet), *at));
        Next::At(best.map_or(0, |(_, at)| at))
    }
}

fn level(packet: &Packet) -> u32 {
    match packet.ext {
        Ext::Custom([level, ..]) => level,
        _ => 0,
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    DropTail,
    PushOut,
    Priority,
    Red { bytes: bool },
}

/// RED with thresholds that a queue of five crosses all the time.
fn red(kind: Kind) -> Option<Red> {
    let Kind::Red { bytes } = kind else { return None };
    let config = red::Config {
        min_th: Setting::Is(0.5),
        max_th: Setting::Is(2.0),
        max_p: 0.4,
        w: Setting::Is(0.3),
        bytes,
        wait: false,
        ..red::Config::default()
    };
    Some(Red::new(&config, Link { rate: Rate::from_bps(10_000_000), delay: Time::ZERO }))
}

/// The textbook port.
struct Reference {
    kind: Kind,
    rate: Rate,
    limit: usize,
    delay: Time,
    queue: VecDeque<(u32, u16, u32)>,
    /// End of the present transmission.
    busy_until: Option<Time>,
    /// End of the last one, while there is none.
    idle_since: Time,
    red: Option<Red>,
    draw: Golden,
    delivered: Vec<(u32, Time)>,
    lost: Vec<u32>,
}

impl Reference {
    fn start(&mut self, now: Time) {
        let place = match self.kind {
            Kind::Priority => (0..self.queue.len()).min_by_key(|&at| (self.queue[at].2, at)),
            _ => (!self.queue.is_empty()).then_some(0),
        };
        let Some((id, size, _)) = place.and_then(|place| self.queue.remove(place)) else {
            self.busy_until = None;
            self.idle_since = now;
            return;
        };
        // 8e12 ps per second and bit; the quotient is rounded up
        let ps = (u128::from(size) * 8_000_000_000_000).div_ceil(u128::from(self.rate.bps()));
        let end = now + Time::from_ps(ps as u64);
        self.busy_until = Some(end);
        self.delivered.push((id, end + self.delay));
    }

    /// Ends every transmission that ends by `now`.
    fn run_to(&mut self, now: Time) {
        while let Some(end) = self.busy_until.filter(|end| *end <= now) {
            self.start(end);
        }
    }

    fn arrive(&mut self, now: Time, id: u32, size: u16, level: u32) {
        self.run_to(now);
        if self.red_loses(now, size) {
            self.lost.push(id);
            return;
        }
        if self.busy_until.is_none() {
            self.queue.push_back((id, size, level));
            self.start(now);
            return;
        }
        if self.queue.len() >= self.limit {
            let worst = (0..self.queue.len()).max_by_key(|&at| (self.queue[at].2, at));
            match worst {
                Some(at) if self.kind == Kind::PushOut && self.queue[at].2 > level => {
                    self.lost.extend(self.queue.remove(at).map(|gone| gone.0));
                }
                _ => {
                    self.lost.push(id);
                    return;
                }
            }
        }
        self.queue.push_back((id, size, level));
    }
}

impl Reference {
    /// Asks the same law about the textbook queue: what the port shows it must be the same.
    fn red_loses(&mut self, now: Time, size: u16) -> bool {
        let idle = self.busy_until.is_none();
        let found = Found {
            packets: self.queue.len() as u32,
            bytes: self.queue.iter().map(|waiting| u64::from(waiting.1)).sum(),
            fits: idle || self.queue.len() < self.limit,
            idle: idle.then(|| now - self.idle_since),
            pace: self.rate.pace(),
        };
        let verdict = self.red.as_mut().map(|red| red.arrive(size, &found, &mut self.draw));
        verdict.is_some_and(|verdict| verdict != Verdict::Pass)
    }
}

/// Notes every packet lost, in order.
#[derive(Default)]
struct Losses(std::sync::Arc<std::sync::Mutex<Vec<u32>>>);

impl PerPacket for Losses {
    fn dropped(&mut self, packet: &Packet, _: Reason, _: Time) {
        if let Ok(mut lost) = self.0.lock() {
            lost.push(packet.flow);
        }
    }
}

/// Rates that divide 8e12 ps evenly, so that the reference needs no fixed point.
const RATES: [u64; 4] = [1, 10, 100, 1000];

/// Any size, and often one whose transmission time at 10 Mbit/s is a multiple of 80 us.
fn sizes() -> impl Strategy<Value = u16> {
    prop_oneof![40..1500u16, (1..5u16).prop_map(|hundreds| hundreds * 100)]
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        9 => (sizes(), 0..5u32).prop_map(|(size, level)| Step::Arrive { size, level }),
        1 => (0..4usize, 0..12u32)
            .prop_map(|(rate, limit)| Step::Capacity { mbit: RATES[rate], limit }),
    ];
    // gaps around the transmission time of a packet; multiples of 80 us make
    // arrivals coincide with ends of transmission
    let gap = prop_oneof![1 => Just(0), 1 => 0..2_000_000_000u64, 4 => (0..6u64).prop_map(|k| k * 80_000_000)];
    prop::collection::vec((gap, step), 1..400)
}

/// The port under test and the textbook one, side by side.
struct Pair {
    port: Port<u32>,
    reference: Reference,
    draw: Golden,
    /// What the port's own law saw lost; nothing where the port is plain.
    noted: Option<std::sync::Arc<std::sync::Mutex<Vec<u32>>>>,
    delivered: Vec<(u32, Time)>,
    lost: Vec<u32>,
}

impl Pair {
    fn new(kind: Kind, plain: bool) -> Pair {
        let (rate, delay) = (Rate::from_bps(10_000_000), Time::from_ns(700));
        let losses = Losses::default();
        let noted = (!plain).then(|| losses.0.clone());
        let mut stages = Stages::new();
        stages.custom = Some(Box::new(losses));
        stages.queue = match kind {
            Kind::PushOut => Queue::Custom(Box::new(PushOut)),
            Kind::Priority => Queue::Custom(Box::new(Priority)),
            Kind::DropTail | Kind::Red { .. } => red(kind).map_or(Queue::DropTail, Queue::Red),
        };
        let port = Port::new(3, rate, delay, Limit::Packets(5));
        let reference = Reference {
            kind,
            rate,
            limit: 5,
            delay,
            queue: VecDeque::new(),
            busy_until: None,
            idle_since: Time::ZERO,
            red: red(kind),
            draw: Golden::default(),
            delivered: Vec::new(),
            lost: Vec::new(),
        };
        let port = if plain { port } else { port.with_stages(stages) };
        Pair {
            port,
            reference,
            draw: Golden::default(),
            noted,
            delivered: Vec::new(),
            lost: Vec::new(),
        }
    }

    fn step(&mut self, now: Time, id: u32, step: &Step) {
        match *step {
            Step::Arrive { size, level } => {
                self.reference.arrive(now, id, size, level);
                let ext = Ext::Custom([level, 0, 0, 0]);
                let packet = Packet { flow: id, size, ext, ..Packet::default() };
                if self.port.arrive(&packet, id, now, &mut self.draw) != Outcome::Taken {
                    self.lost.push(id);
                }
            }
            Step::Capacity { mbit, limit } => {
                self.reference.run_to(now);
                self.reference.rate = Rate::from_bps(mbit * 1_000_000);
                self.reference.limit = limit as usize;
                self.port.set_capacity(now, self.reference.rate, Limit::Packets(limit));
            }
        }
        self.port.advance(now);
    }

    /// Everything has left: the same packets went and were lost, at the same times.
    fn settle(mut self) -> Result<(), TestCaseError> {
        let end = Time::from_secs(1000);
        drain(&mut self.port, end, &mut self.delivered)?;
        self.reference.run_to(end);
        prop_assert_eq!(self.delivered, self.reference.delivered);
        if let Some(noted) = self.noted {
            self.lost = noted.lock().map_err(|_| TestCaseError::fail("poisoned"))?.clone();
        }
        prop_assert_eq!(self.lost, self.reference.lost);
        Ok(())
    }
}

fn check(kind: Kind, steps: &[(u64, Step)], slack: u64) -> Result<(), TestCaseError> {
    let plain = kind == Kind::DropTail && slack.is_multiple_of(2);
    let mut pair = Pair::new(kind, plain);
    let mut now = Time::ZERO;
    for (id, (gap, step)) in (0..).zip(steps) {
        now += Time::from_ps(*gap);
        // some callers look at every delivery in time, some only now and then
        if gap.is_multiple_of(slack + 1) {
            drain(&mut pair.port, now, &mut pair.delivered)?;
        }
        pair.step(now, id, step);
        conserved(&pair.port)?;
    }
    pair.settle()
}

fn drain(
    port: &mut Port<u32>,
    until: Time,
    to: &mut Vec<(u32, Time)>,
) -> Result<(), TestCaseError> {
    while port.next_event() <= until {
        let at = port.next_event();
        if let Some((packet, cargo)) = port.deliver(at) {
            prop_assert_eq!(packet.flow, cargo, "what it carries stays with its packet");
            prop_assert_eq!(packet.prev_port, 3);
            to.push((packet.flow, packet.at));
        }
    }
    Ok(())
}

/// The identities of the port's counters.
fn conserved(port: &Port<u32>) -> Result<(), TestCaseError> {
    let count = port.counters();
    let evicted = count.drops[Reason::Evicted as usize];
    let before: u64 = count.drops.iter().sum::<u64>() - evicted;
    prop_assert_eq!(count.arrived, before + count.enqueued);
    prop_assert_eq!(count.enqueued, count.departed + evicted + u64::from(port.queue_packets()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn drop_tail_equals_the_two_event_port(steps in steps(), slack in 0..4u64) {
        check(Kind::DropTail, &steps, slack)?;
    }

    #[test]
    fn push_out_equals_the_two_event_port(steps in steps(), slack in 0..4u64) {
        check(Kind::PushOut, &steps, slack)?;
    }

    #[test]
    fn priority_equals_the_two_event_port(steps in steps(), slack in 0..4u64) {
        check(Kind::Priority, &steps, slack)?;
    }

    #[test]
    fn red_sees_the_queue_of_the_two_event_port(steps in steps(), slack in 0..4u64) {
        check(Kind::Red { bytes: slack.is_multiple_of(2) }, &steps, slack)?;
    }
}

/// features C1: one packet over 10 Mbit/s and 100 ms arrives after size * 8 / rate + delay.
#[test]
fn one_packet_takes_its_transmission_and_propagation_time() {
    let mut port: Port =
        Port::new(0, Rate::from_bps(10_000_000), Time::from_ms(100), Limit::Packets(1));
    let packet = Packet { size: 1500, ..Packet::default() };
    port.arrive(&packet, (), Time::ZERO, &mut NoDraw);
    assert_eq!(port.next_event(), Time::from_ms(100) + Time::from_ns(1_200_000));
}

/// Holds everything until 5 ms, then lets it go.
struct Hold;

impl Discipline for Hold {
    fn admit(&mut self, _: &Packet, _: &mut Backlog<'_>, _: Time, _: &mut dyn Draw) -> Verdict {
        Verdict::Pass
    }
    fn next(&mut self, _: (&[Packet], &[Packet]), now: Time) -> Next {
        let release = Time::from_ms(5);
        if now < release { Next::NotBefore(release) } else { Next::Oldest }
    }
}

/// A discipline that has to wait says so, and its packets start when it said:
/// 1000 B at 8 Mbit/s take 1 ms each, so they leave at 6 and 7 ms.
#[test]
fn a_held_packet_starts_when_it_is_let_go() {
    let mut stages = Stages::new();
    stages.queue = Queue::Custom(Box::new(Hold));
    let mut port: Port<u32> =
        Port::new(3, Rate::from_bps(8_000_000), Time::ZERO, Limit::Packets(9)).with_stages(stages);
    for flow in 0..2 {
        let packet = Packet { size: 1000, flow, ..Packet::default() };
        port.arrive(&packet, flow, Time::from_ms(1), &mut NoDraw);
    }
    assert_eq!(port.next_event(), Time::from_ms(5));
    let mut delivered = Vec::new();
    drain(&mut port, Time::from_secs(1), &mut delivered).expect("what is carried stays in order");
    assert_eq!(delivered, [(0, Time::from_ms(6)), (1, Time::from_ms(7))]);
}

/// features C2: with room for two behind the one in transmission, the fourth is lost and order is kept.
#[test]
fn drop_tail_keeps_order_and_loses_what_does_not_fit() {
    let mut port: Port<u32> =
        Port::new(3, Rate::from_bps(8_000_000), Time::ZERO, Limit::Packets(2));
    let outcomes: Vec<Outcome> = (0..4)
        .map(|flow| {
            let packet = Packet { size: 1000, flow, ..Packet::default() };
            port.arrive(&packet, flow, Time::ZERO, &mut NoDraw)
        })
        .collect();
    assert_eq!(outcomes[3], Outcome::Lost(Reason::QueueFull));
    let mut delivered = Vec::new();
    drain(&mut port, Time::from_secs(1), &mut delivered).expect("what is carried stays in order");
    let times: Vec<(u32, Time)> =
        (0..3).map(|flow| (flow, Time::from_ms(u64::from(flow) + 1))).collect();
    assert_eq!(delivered, times);
    // the second waited 1 ms, the third 2 ms: 3 packet milliseconds
    assert_eq!(port.waiting_ps(Time::from_ms(3)), Time::from_ms(3).ps());
}
