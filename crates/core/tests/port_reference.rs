//! The lazily served port against a plain one that has an event at every end
//! of transmission: the same packets, in the same order, to the picosecond.
//!
//! The reference below is the textbook port (one event when a packet arrives,
//! one when the link falls free, one when a packet that was kept back may go)
//! and shares no code with the port under test but the packet record and the
//! quantities.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tidegate_core::law::queue::red::{self, Red};
use tidegate_core::law::queue::{
    ArrivalContext, Discipline, Next, Queue, Room, Slot, Sum, Waiting,
};
use tidegate_core::law::settings::{Link, Setting};
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::port::{Limit, LinkVariation, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Time};

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
    Capacity { rate: u64, limit: u32 },
    Look,
}

/// Space-priority push-out: a full queue gives up its worst packet (largest
/// level, the latest of equals) for a better one; service stays first come,
/// first served.
struct PushOut;

impl Discipline for PushOut {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        if found.fits {
            return Verdict::Pass;
        }
        let worst = waiting.iter().enumerate().max_by_key(|(at, (_, packet))| (level(packet), *at));
        match worst.map(|(_, (handle, packet))| (handle, level(packet))) {
            Some((handle, worst)) if worst > level(packet) => {
                waiting.evict(handle);
                Verdict::Pass
            }
            _ => Verdict::Drop(Reason::QueueFull),
        }
    }
}

/// Serves the best level first, the oldest of equals.
struct Priority;

impl Discipline for Priority {
    fn next(&mut self, waiting: &mut Waiting, _: &Slot, _: &mut dyn Draw) -> Next {
        let best = waiting.iter().enumerate().min_by_key(|(at, (_, packet))| (level(packet), *at));
        Next::Send(best.expect("something waits").1.0)
    }
}

/// So long a packet may wait.
const AGE: Time = Time::from_ns(700_000);

/// Looks at ages when service starts: marks what has waited too long, or drops
/// it and looks at the next.
struct Aging;

impl Discipline for Aging {
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let oldest = waiting.oldest().expect("something waits");
        let packet = waiting.get(oldest).expect("it waits");
        if slot.start - packet.at <= AGE {
            return Next::Send(oldest);
        }
        // odd levels bear a mark; of a packet that does not a mark is a drop
        match level(packet) {
            0 | 1 => Next::Mark(oldest),
            _ => Next::Drop(oldest, Reason::Custom),
        }
    }
}

/// No two packets start closer than this.
const GAP: Time = Time::from_ns(450_000);

/// Spaces what it sends, and drops the fifth packet of those whose turn it is.
#[derive(Default)]
struct Spaced {
    next: Time,
    seen: u32,
}

impl Discipline for Spaced {
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        if slot.start < self.next {
            return Next::NotBefore(self.next);
        }
        let oldest = waiting.oldest().expect("something waits");
        self.seen += 1;
        if self.seen.is_multiple_of(5) {
            return Next::Drop(oldest, Reason::Custom);
        }
        self.next = slot.start + GAP;
        Next::Send(oldest)
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
    Aging,
    Spaced,
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

/// A packet of the textbook queue.
#[derive(Clone, Copy)]
struct Entry {
    id: u32,
    size: u16,
    level: u32,
    came: Time,
}

/// What became of a packet: who, when, and whether it was marked.
pub type Delivered = (u32, Time, bool);

/// The textbook port.
struct Reference {
    kind: Kind,
    rate: Rate,
    /// Whether a change of the rate holds for the rest of the packet in service.
    varying: bool,
    limit: usize,
    delay: Time,
    queue: VecDeque<Entry>,
    /// End of the present transmission.
    busy_until: Option<Time>,
    /// Its start, and the time of all transmissions before it.
    busy_since: Time,
    busy_before: Time,
    /// What was left of it at the last change of the rate (its start at first),
    /// in bits times 1e12.
    left: (Time, u128),
    /// End of the last one, while there is none.
    idle_since: Time,
    /// When what is kept back may go.
    wake: Option<Time>,
    /// When the next packet may start, and how many had their turn (`Spaced`).
    spaced: (Time, u32),
    red: Option<Red>,
    draw: Golden,
    delivered: Vec<Delivered>,
    lost: Vec<u32>,
}

impl Reference {
    fn new(kind: Kind, rate: Rate, delay: Time, varying: bool) -> Reference {
        Reference {
            kind,
            rate,
            varying,
            limit: 5,
            delay,
            queue: VecDeque::new(),
            busy_until: None,
            busy_since: Time::ZERO,
            busy_before: Time::ZERO,
            left: (Time::ZERO, 0),
            idle_since: Time::ZERO,
            wake: None,
            spaced: (Time::ZERO, 0),
            red: red(kind),
            draw: Golden::default(),
            delivered: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// The link is free: starts what can be started.
    fn start(&mut self, now: Time) {
        self.wake = None;
        while !self.queue.is_empty() {
            if self.kind == Kind::Spaced && now < self.spaced.0 {
                self.wake = Some(self.spaced.0);
                return;
            }
            let place = match self.kind {
                Kind::Priority => {
                    (0..self.queue.len()).min_by_key(|&at| (self.queue[at].level, at))
                }
                _ => Some(0),
            };
            let Some(next) = place.and_then(|place| self.queue.remove(place)) else { return };
            let old = self.kind == Kind::Aging && now - next.came > AGE;
            self.spaced.1 += 1;
            let fifth = self.kind == Kind::Spaced && self.spaced.1.is_multiple_of(5);
            if fifth || old && next.level != 1 {
                self.lost.push(next.id);
                continue;
            }
            self.spaced.0 = now + GAP;
            self.left = (now, u128::from(next.size) * 8_000_000_000_000);
            self.busy_since = now;
            let end = self.end();
            self.busy_until = Some(end);
            self.delivered.push((next.id, end + self.delay, old));
            return;
        }
    }

    /// When what is left will have been sent: the quotient is rounded up to a picosecond.
    fn end(&self) -> Time {
        let (at, left) = self.left;
        at + Time::from_ps(left.div_ceil(u128::from(self.rate.bps())) as u64)
    }

    /// What was sent so far of the packet in service stays sent; the rest goes at the new rate.
    fn set_rate(&mut self, now: Time, rate: Rate) {
        self.run_to(now);
        let (at, left) = self.left;
        let sent = u128::from((now - at).ps()) * u128::from(self.rate.bps());
        self.rate = rate;
        if self.varying && self.busy_until.is_some() {
            self.left = (now, left.saturating_sub(sent));
            self.busy_until = Some(self.end());
            let due = self.end() + self.delay;
            self.delivered.last_mut().expect("a transmission has started").1 = due;
        }
        self.run_to(now);
    }

    /// Transmission time up to `now`.
    fn busy(&self, now: Time) -> Time {
        match self.busy_until {
            Some(_) => self.busy_before + (now - self.busy_since),
            None => self.busy_before,
        }
    }

    /// Ends every transmission that ends by `now`, and starts what was kept back.
    fn run_to(&mut self, now: Time) {
        loop {
            if let Some(end) = self.busy_until.filter(|end| *end <= now) {
                self.busy_until = None;
                self.busy_before += end - self.busy_since;
                self.idle_since = end;
                self.start(end);
            } else if let Some(wake) = self.wake.filter(|wake| *wake <= now) {
                self.start(wake);
            } else {
                return;
            }
        }
    }

    fn arrive(&mut self, now: Time, id: u32, size: u16, level: u32) {
        self.run_to(now);
        let entry = Entry { id, size, level, came: now };
        if self.red_loses(now, size) {
            self.lost.push(id);
            return;
        }
        let idle = self.busy_until.is_none();
        if !(idle && self.queue.is_empty()) && self.queue.len() >= self.limit {
            let worst = (0..self.queue.len()).max_by_key(|&at| (self.queue[at].level, at));
            match worst {
                Some(at) if self.kind == Kind::PushOut && self.queue[at].level > level => {
                    self.lost.extend(self.queue.remove(at).map(|gone| gone.id));
                }
                _ => {
                    self.lost.push(id);
                    return;
                }
            }
        }
        self.queue.push_back(entry);
        if idle {
            self.start(now);
        }
    }

    /// Asks the same law about the textbook queue: what the port shows it must be the same.
    fn red_loses(&mut self, now: Time, size: u16) -> bool {
        let idle = self.busy_until.is_none();
        let packets = self.queue.len() as u32;
        let bytes = self.queue.iter().map(|waiting| u64::from(waiting.size)).sum();
        let found = ArrivalContext {
            now,
            queue: Sum { packets, bytes },
            fits: idle || self.queue.len() < self.limit,
            idle: idle.then(|| now - self.idle_since),
            pace: self.rate.pace(),
            room: Room { packets: self.limit as u32, bytes: u64::MAX },
        };
        let verdict = self.red.as_mut().map(|red| red.meet(size, &found, &mut self.draw));
        verdict.is_some_and(|verdict| verdict != Verdict::Pass)
    }
}

/// Notes every packet lost, in order.
#[derive(Default)]
struct Losses(Arc<Mutex<Vec<u32>>>);

impl PerPacket for Losses {
    fn dropped(&mut self, packet: &Packet, _: Reason, _: Time) {
        if let Ok(mut lost) = self.0.lock() {
            lost.push(packet.flow);
        }
    }
}

/// Rates in kbit/s that divide 8e12 ps evenly, so that the reference needs no fixed point.
const RATES: [u64; 7] = [1, 64, 1_000, 3_200, 10_000, 100_000, 1_000_000];

/// Any size, and often one whose transmission time at 10 Mbit/s is a multiple of 80 us.
fn sizes() -> impl Strategy<Value = u16> {
    prop_oneof![40..1500u16, (1..5u16).prop_map(|hundreds| hundreds * 100)]
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        9 => (sizes(), 0..5u32).prop_map(|(size, level)| Step::Arrive { size, level }),
        1 => (0..RATES.len(), 0..12u32)
            .prop_map(|(rate, limit)| Step::Capacity { rate: RATES[rate] * 1_000, limit }),
        2 => Just(Step::Look),
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
    /// What the port's own law saw lost; nothing where the port is plain.
    noted: Option<Arc<Mutex<Vec<u32>>>>,
    delivered: Vec<Delivered>,
    lost: Vec<u32>,
}

impl Pair {
    fn new(kind: Kind, plain: bool, varying: bool) -> Pair {
        let (rate, delay) = (Rate::from_bps(10_000_000), Time::from_ns(700));
        let losses = Losses::default();
        let noted = (!plain).then(|| losses.0.clone());
        let mut stages = Stages::new();
        stages.custom = Some(Box::new(losses));
        stages.queue = match kind {
            Kind::PushOut => Queue::Custom(Box::new(PushOut)),
            Kind::Priority => Queue::Custom(Box::new(Priority)),
            Kind::Aging => Queue::Custom(Box::new(Aging)),
            Kind::Spaced => Queue::Custom(Box::new(Spaced::default())),
            Kind::DropTail | Kind::Red { .. } => red(kind).map_or(Queue::default(), Queue::Red),
        };
        let port = Port::new(3, rate, delay, Limit::Packets(5));
        let port = if plain { port } else { port.with_stages(stages, Box::new(Golden::default())) };
        let port = if varying { port.varying(LinkVariation::default()) } else { port };
        let reference = Reference::new(kind, rate, delay, varying);
        Pair { port, reference, noted, delivered: Vec::new(), lost: Vec::new() }
    }

    fn step(&mut self, now: Time, id: u32, step: &Step) {
        match *step {
            Step::Arrive { size, level } => {
                self.reference.arrive(now, id, size, level);
                let ext = Ext::Custom([level, 0, 0, 0]);
                let flags = if level % 2 == 1 { Flags::ECT } else { Flags::NONE };
                let packet = Packet { flow: id, size, ext, flags, ..Packet::default() };
                if self.port.arrive(&packet, id, now) != Outcome::Taken {
                    self.lost.push(id);
                }
            }
            Step::Capacity { rate, limit } => {
                let rate = Rate::from_bps(rate);
                self.reference.set_rate(now, rate);
                self.reference.limit = limit as usize;
                self.port.set_capacity(now, rate, Limit::Packets(limit));
            }
            Step::Look => {}
        }
        self.port.advance(now);
    }

    /// The link was transmitting for as long as the textbook one.
    fn used_alike(&mut self, now: Time) -> Result<(), TestCaseError> {
        self.reference.run_to(now);
        prop_assert_eq!(self.port.busy_ps(now), self.reference.busy(now).ps());
        Ok(())
    }

    /// Everything has left: the same packets went and were lost, at the same times.
    fn compare_at_end(mut self) -> Result<(), TestCaseError> {
        // 400 packets of 1500 B at 1 kbit/s take 4800 s
        let end = Time::from_secs(10_000);
        drain(&mut self.port, end, &mut self.delivered)?;
        self.reference.run_to(end);
        let marked = self.reference.delivered.iter().filter(|(.., marked)| *marked).count();
        prop_assert_eq!(self.port.counters().marked, marked as u64);
        prop_assert_eq!(self.delivered, self.reference.delivered);
        if let Some(noted) = self.noted {
            self.lost = noted.lock().map_err(|_| TestCaseError::fail("poisoned"))?.clone();
        }
        prop_assert_eq!(self.lost, self.reference.lost);
        Ok(())
    }
}

fn check(
    kind: Kind,
    steps: &[(u64, Step)],
    slack: u64,
    varying: bool,
) -> Result<(), TestCaseError> {
    let plain = kind == Kind::DropTail && slack.is_multiple_of(2);
    let mut pair = Pair::new(kind, plain, varying);
    let mut now = Time::ZERO;
    for (id, (gap, step)) in (0..).zip(steps) {
        now += Time::from_ps(*gap);
        // some callers look at every delivery in time, some only now and then
        if gap.is_multiple_of(slack + 1) {
            drain(&mut pair.port, now, &mut pair.delivered)?;
        }
        pair.step(now, id, step);
        conserved(&pair.port)?;
        pair.used_alike(now)?;
    }
    pair.compare_at_end()
}

pub fn drain(
    port: &mut Port<u32>,
    until: Time,
    to: &mut Vec<Delivered>,
) -> Result<(), TestCaseError> {
    while port.next_event() <= until {
        let at = port.next_event();
        if let Some((packet, cargo)) = port.deliver(at) {
            prop_assert_eq!(packet.flow, cargo, "what it carries stays with its packet");
            prop_assert_eq!(packet.prev_port, 3);
            to.push((packet.flow, packet.at, packet.flags.has(Flags::CE)));
        }
    }
    Ok(())
}

/// The identities of the port's counters.
fn conserved(port: &Port<u32>) -> Result<(), TestCaseError> {
    let count = port.counters();
    let out = count.dropped_waiting;
    let before: u64 = count.drops.iter().sum::<u64>() - out;
    prop_assert_eq!(count.arrived, before + count.enqueued);
    prop_assert_eq!(count.enqueued, count.departed + out + u64::from(port.queue_packets()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn drop_tail_equals_the_two_event_port(steps in steps(), slack in 0..4u64, varying: bool) {
        check(Kind::DropTail, &steps, slack, varying)?;
    }

    #[test]
    fn push_out_equals_the_two_event_port(steps in steps(), slack in 0..4u64, varying: bool) {
        check(Kind::PushOut, &steps, slack, varying)?;
    }

    #[test]
    fn priority_equals_the_two_event_port(steps in steps(), slack in 0..4u64, varying: bool) {
        check(Kind::Priority, &steps, slack, varying)?;
    }

    #[test]
    fn ages_are_those_of_the_two_event_port(steps in steps(), slack in 0..4u64, varying: bool) {
        check(Kind::Aging, &steps, slack, varying)?;
    }

    #[test]
    fn what_is_kept_back_goes_as_at_the_two_event_port(steps in steps(), slack in 0..4u64, varying: bool) {
        check(Kind::Spaced, &steps, slack, varying)?;
    }

    #[test]
    fn red_sees_the_queue_of_the_two_event_port(steps in steps(), slack in 0..4u64, varying: bool) {
        check(Kind::Red { bytes: slack.is_multiple_of(2) }, &steps, slack, varying)?;
    }
}

/// 1250 B take 1 ms at 10 Mbit/s. After half of it the link falls to 1 kbit/s for 10 ms, in
/// which 10 bits go; the other 4,990 bits take 0.499 ms at 10 Mbit/s again: sent at 10.999 ms.
#[test]
fn a_fade_holds_a_packet_up_for_as_long_as_it_lasts() {
    let (fast, slow) = (Rate::from_bps(10_000_000), Rate::from_bps(1_000));
    let limit = Limit::Packets(5);
    let mut port: Port =
        Port::new(0, fast, Time::from_ms(20), limit).varying(LinkVariation::default());
    let packet = Packet { size: 1250, ..Packet::default() };
    port.arrive(&packet, (), Time::ZERO);
    port.set_capacity(Time::from_ns(500_000), slow, limit);
    // at this rate the rest would take 5 s
    assert_eq!(port.next_event(), Time::from_ns(5_000_500_000));
    port.set_capacity(Time::from_ns(10_500_000), fast, limit);
    assert_eq!(port.next_event(), Time::from_ns(10_999_000));
    assert!(port.deliver(Time::from_ns(10_999_000)).is_none(), "it propagates");
    assert_eq!(port.held().count(), 1);
    let delivered = Time::from_ns(30_999_000);
    assert_eq!(port.next_event(), delivered);
    assert_eq!(port.deliver(delivered).map(|(packet, ())| packet.at), Some(delivered));
    assert_eq!(port.busy_ps(delivered), 10_999_000_000);
}
