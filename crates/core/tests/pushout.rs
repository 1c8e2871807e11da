//! The push-out queue against a naive one: a list that is searched.

use std::collections::VecDeque;

use proptest::prelude::*;
use tidegate_core::law::Reason;
use tidegate_core::law::queue::Queue;
use tidegate_core::law::queue::pushout::{Config, PushOut, Service};
use tidegate_core::law::settings::Link;
use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Time};

use crate::draws::Never;

/// 1000 B take a millisecond.
const LINK: Link = Link { rate: Rate::from_bps(8_000_000), delay: Time::from_ms(3) };

/// What waits in the naive queue; no level: no payload, never given up.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: u32,
    size: u16,
    level: Option<u32>,
}

/// The textbook port: an event for every arrival and every end of transmission.
struct Naive {
    service: Service,
    limit: Limit,
    last_level: u32,
    queue: VecDeque<Waiting>,
    busy_until: Option<Time>,
    delivered: Vec<(u32, Time)>,
    lost: Vec<u32>,
}

impl Naive {
    fn start(&mut self, now: Time) {
        // `None` sorts before every level: what has no payload goes first
        let place = match self.service {
            Service::Fifo => (!self.queue.is_empty()).then_some(0),
            Service::Priority => {
                (0..self.queue.len()).min_by_key(|&at| (self.queue[at].level, self.queue[at].id))
            }
        };
        self.busy_until = place.and_then(|place| self.queue.remove(place)).map(|next| {
            let end = now + Time::from_ns(u64::from(next.size) * 1000);
            self.delivered.push((next.id, end + LINK.delay));
            end
        });
    }

    fn run_to(&mut self, now: Time) {
        while let Some(end) = self.busy_until.filter(|end| *end <= now) {
            self.start(end);
        }
    }

    fn fits(&self, size: u16) -> bool {
        let bytes: u64 = self.queue.iter().map(|waiting| u64::from(waiting.size)).sum();
        match self.limit {
            Limit::Packets(packets) => self.queue.len() < packets as usize,
            Limit::Bytes(limit) => bytes + u64::from(size) <= limit,
        }
    }

    fn arrive(&mut self, now: Time, mut packet: Waiting) {
        packet.level = packet.level.map(|level| level.min(self.last_level));
        self.run_to(now);
        if self.busy_until.is_none() {
            self.queue.push_back(packet);
            return self.start(now);
        }
        let before = self.queue.clone();
        let mut gone = Vec::new();
        while !self.fits(packet.size) {
            let worst = (0..self.queue.len())
                .max_by_key(|&at| (self.queue[at].level, self.queue[at].id))
                .filter(|&at| self.queue[at].level > packet.level);
            let Some(victim) = worst.and_then(|at| self.queue.remove(at)) else {
                // there is not enough that is worse: nothing is given up
                self.queue = before;
                return self.lost.push(packet.id);
            };
            gone.push(victim.id);
        }
        self.lost.extend(gone);
        self.queue.push_back(packet);
    }
}

fn port(service: Service, levels: u32, limit: Limit) -> Port<u32> {
    let mut stages = Stages::new();
    let config = Config { levels, service };
    config.check(LINK).expect("the parameters are in range");
    stages.queue = Queue::PushOut(PushOut::new(&config, LINK));
    Port::new(0, LINK.rate, LINK.delay, limit).with_stages(stages, Box::new(Never))
}

fn packet(waiting: Waiting) -> Packet {
    let (flags, ext) = match waiting.level {
        Some(level) => (Flags::DATA, Ext::Priority { level, burst: 0 }),
        None => (Flags::ACK, Ext::None),
    };
    Packet { flow: waiting.id, size: waiting.size, flags, ext, ..Packet::default() }
}

fn drain(port: &mut Port<u32>, until: Time, to: &mut Vec<(u32, Time)>) {
    while port.next_event() <= until {
        let at = port.next_event();
        if let Some((packet, cargo)) = port.deliver(at) {
            assert_eq!(packet.flow, cargo, "what it carries stays with its packet");
            to.push((packet.flow, packet.at));
        }
    }
}

type Arrival = (u64, u16, Option<u32>);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let size = prop_oneof![3 => Just(1000u16), 1 => 40..1500u16];
    let level = prop_oneof![8 => (0..12u32).prop_map(Some), 1 => Just(None), 1 => Just(Some(900))];
    // bursts, and pauses in which some of it drains
    let gap = prop_oneof![4 => Just(0), 4 => 0..2_000_000u64, 1 => 0..20_000_000u64];
    prop::collection::vec((gap, size, level), 1..600)
}

fn same(
    service: Service,
    levels: u32,
    limit: Limit,
    arrivals: &[Arrival],
) -> Result<(), TestCaseError> {
    let mut port = port(service, levels, limit);
    let mut naive = Naive {
        service,
        limit,
        last_level: levels - 1,
        queue: VecDeque::new(),
        busy_until: None,
        delivered: Vec::new(),
        lost: Vec::new(),
    };
    let (mut now, mut delivered, mut refused) = (Time::ZERO, Vec::new(), 0);
    for (id, (gap, size, level)) in (0..).zip(arrivals) {
        now += Time::from_ns(*gap);
        if gap.is_multiple_of(3) {
            drain(&mut port, now, &mut delivered);
        }
        let waiting = Waiting { id, size: *size, level: *level };
        naive.arrive(now, waiting);
        let outcome = port.arrive(&packet(waiting), id, now);
        refused += u64::from(outcome != Outcome::Taken);
        prop_assert_eq!(port.queue_packets() as usize, naive.queue.len());
        let bytes: u64 = naive.queue.iter().map(|waiting| u64::from(waiting.size)).sum();
        prop_assert_eq!(port.queue_bytes(), bytes);
    }
    let end = Time::from_secs(1000);
    drain(&mut port, end, &mut delivered);
    naive.run_to(end);
    prop_assert_eq!(delivered, naive.delivered);
    let drops = port.counters().drops;
    prop_assert_eq!(drops[Reason::QueueFull as usize], refused);
    prop_assert_eq!(drops.iter().sum::<u64>(), naive.lost.len() as u64);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// features B2: the worst goes, and service is in the order of arrival.
    #[test]
    fn it_equals_a_list_that_is_searched(arrivals in arrivals(), limit in 0..90u32) {
        same(Service::Fifo, 4096, Limit::Packets(limit), &arrivals)?;
    }

    #[test]
    fn with_few_levels_the_last_stands_for_the_rest(arrivals in arrivals(), limit in 0..20u32) {
        same(Service::Fifo, 5, Limit::Packets(limit), &arrivals)?;
    }

    #[test]
    fn in_bytes_it_gives_up_as_many_as_it_takes(arrivals in arrivals(), limit in 0..30_000u64) {
        same(Service::Fifo, 4096, Limit::Bytes(limit), &arrivals)?;
    }

    #[test]
    fn with_priority_service_the_best_goes_first(arrivals in arrivals(), limit in 0..90u32) {
        same(Service::Priority, 4096, Limit::Packets(limit), &arrivals)?;
    }

    #[test]
    fn in_bytes_with_priority_service_too(arrivals in arrivals(), limit in 0..30_000u64) {
        same(Service::Priority, 65_535, Limit::Bytes(limit), &arrivals)?;
    }
}

/// What the port did with packets of these levels, sent at once into room for three.
fn burst(levels: &[Option<u32>]) -> (Vec<bool>, Vec<u32>) {
    let mut port = port(Service::Fifo, 4096, Limit::Packets(3));
    let arrivals = (0..).zip(levels).map(|(id, &level)| Waiting { id, size: 1000, level });
    let taken = arrivals
        .map(|waiting| port.arrive(&packet(waiting), waiting.id, Time::ZERO) == Outcome::Taken)
        .collect();
    let mut delivered = Vec::new();
    drain(&mut port, Time::from_secs(1), &mut delivered);
    (taken, delivered.into_iter().map(|(id, _)| id).collect())
}

/// features B2, by hand: packet 0 is in transmission, 1 to 3 fill the queue. 4 is as bad as the
/// worst and is lost; 5 is better than 3, the worst; 6 is better than 2 and 1, of which the
/// later one goes. What is left goes in the order of arrival.
#[test]
fn the_victim_is_the_latest_of_the_worst() {
    let levels = [0, 7, 7, 9, 9, 8, 2].map(Some);
    let (taken, delivered) = burst(&levels);
    assert_eq!(taken, [true, true, true, true, false, true, true]);
    assert_eq!(delivered, [0, 1, 2, 6]);
}

/// algorithms.md 9: ACKs are never pushed out; they push out even the best data, and a queue of
/// nothing but ACKs loses what comes.
#[test]
fn packets_without_payload_are_never_pushed_out() {
    let (taken, delivered) = burst(&[None, None, None, Some(0), Some(0), None, None]);
    assert_eq!(taken, [true, true, true, true, false, true, false]);
    assert_eq!(delivered, [0, 1, 2, 5]);
}

/// What states no priority yields to all that does, and among itself it is drop-tail.
#[test]
fn data_without_a_priority_has_the_last_level() {
    let mut port = port(Service::Fifo, 4096, Limit::Packets(2));
    let plain = Packet { size: 1000, flags: Flags::DATA, ..Packet::default() };
    let outcomes: Vec<bool> = (0..5)
        .map(|id| {
            let ext = if id == 4 { Ext::Priority { level: 4094, burst: 0 } } else { Ext::None };
            let packet = Packet { flow: id, ext, ..plain };
            port.arrive(&packet, id, Time::ZERO) == Outcome::Taken
        })
        .collect();
    assert_eq!(outcomes, [true, true, true, false, true]);
    let mut delivered = Vec::new();
    drain(&mut port, Time::from_secs(1), &mut delivered);
    assert_eq!(delivered.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 1, 4]);
}

/// Out of range: fewer than two levels say nothing, more than 65535 do not fit.
#[test]
fn the_number_of_levels_is_checked() {
    for levels in [0, 1, 65_536] {
        let refused = Config { levels, ..Config::default() }.check(LINK);
        assert_eq!(refused.expect_err("out of range").0, "levels");
    }
}
