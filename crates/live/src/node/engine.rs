//! What a node does with a datagram, and when: no socket and no clock in it.
//!
//! A datagram meets, in this order: the format; the neighbour that it comes
//! from; its life; the filters of the link that it came over; the menu of
//! services, if it is active; the route; the queue of the link that it leaves
//! through (lgc, 4.1). `docs/active-nodes.md` has the picture.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::active::message::{Segment, Trace, service};
use tidegate_core::active::{self, Address, HEADER, Header};
use tidegate_core::law::greedy::lgc::{self, Lgc};
use tidegate_core::law::greedy::{Filters, Key, Node};
use tidegate_core::units::Time;

use super::config::Config;
use super::filtering::Asked;
use super::link::{Cargo, Label, Link};
use super::ranges::Ranges;
use super::reason::Reason;
use super::service::{Answer, Menu, Request, Service};
use super::sink::Sink;
use super::source::Source;
use super::status::{Event, FilterStatus, LinkStatus, SourceStatus, Status};
use super::trust::Trust;

/// Events that are kept.
const MOST_EVENTS: usize = 1_024;
/// Buffers of datagrams that are kept to be used again.
const MOST_SPARE: usize = 1_024;
/// Answers to traces that wait to be fetched.
const MOST_TRACES: usize = 256;

/// What came back of a trace: its number, who answered, and the hops until there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traced {
    /// The number that the trace was sent with.
    pub number: u32,
    /// Who answered.
    pub by: Address,
    /// What it answered.
    pub trace: Trace,
}

/// Everything of a node but its services, which see it.
pub struct Core {
    pub(super) name: String,
    pub(super) me: Address,
    pub(super) now: Time,
    pub(super) clock_us: u64,
    pub(super) lgc: lgc::Config,
    pub(super) links: Vec<Link>,
    /// Index of the link to each neighbour.
    pub(super) neighbours: BTreeMap<Address, usize>,
    /// Index of the link that leads to a node.
    pub(super) routes: BTreeMap<Address, usize>,
    pub(super) filters: Filters,
    pub(super) asked: BTreeMap<Key, Asked>,
    pub(super) filtered: BTreeMap<Address, Ranges>,
    pub(super) events: VecDeque<Event>,
    pub(super) most_connections: usize,
    traces: VecDeque<Traced>,
    sink: Sink,
    source: Option<Source>,
    counts: Counts,
    longest_life_ms: u32,
    number: u32,
    /// Reused buffer of packet numbers.
    numbers: Vec<u32>,
    /// Buffers of datagrams that have left.
    spare: Vec<Vec<u8>>,
}

/// What a node counts.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counts {
    received: u64,
    sent: u64,
    delivered: u64,
    pub(super) drops: [u64; Reason::ALL.len()],
}

/// A node.
pub struct Engine {
    core: Core,
    services: Vec<Box<dyn Service>>,
}

impl Engine {
    /// A node with a configuration that was checked, starting at `now`.
    pub fn new(config: &Config, menu: &Menu, now: Time, clock_us: u64) -> Engine {
        let mut links = Vec::new();
        for (number, link) in config.link.iter().enumerate() {
            let lgc = config.lgc.as_ref().filter(|_| link.detect).map(Lgc::new);
            let trust = link.key_bytes().map(|key| Trust::new(&key, clock_us));
            links.push(Link::new(number as u32, link, lgc, trust));
        }
        let neighbours: BTreeMap<_, _> =
            links.iter().enumerate().map(|(index, link)| (link.peer, index)).collect();
        let mut routes = neighbours.clone();
        routes.extend(config.route.iter().map(|route| (route.to, neighbours[&route.via])));
        let lgc = config.lgc.clone().unwrap_or_default();
        let most_connections = config.most_connections as usize;
        let core = Core {
            name: config.name.clone(),
            me: config.address,
            now,
            clock_us,
            filters: Filters::new(lgc.most_filters as usize),
            lgc,
            links,
            neighbours,
            routes,
            asked: BTreeMap::new(),
            filtered: BTreeMap::new(),
            events: VecDeque::new(),
            most_connections,
            traces: VecDeque::new(),
            sink: Sink::new(most_connections),
            source: config.source.as_ref().map(|source| Source::new(source, config.wait, now)),
            counts: Counts::default(),
            longest_life_ms: ms(config.longest_life),
            number: 0,
            numbers: Vec::new(),
            spare: Vec::new(),
        };
        Engine { core, services: menu.choose(&config.services) }
    }

    /// It is `now`, by the node's own time and by the clock on the wall.
    pub fn at(&mut self, now: Time, clock_us: u64) {
        // a monotonic time that steps back would be a defect of the platform: time then stands still
        self.core.now = self.core.now.max(now);
        self.core.clock_us = clock_us;
    }

    /// A datagram has come from an address.
    pub fn receive(&mut self, from: Address, bytes: &[u8]) {
        self.core.counts.received += 1;
        if !self.core.neighbours.contains_key(&from) {
            return self.core.drop(Reason::Stranger);
        }
        let Ok(datagram) = active::decode(bytes) else {
            return self.core.drop(Reason::Malformed);
        };
        if datagram.header.previous != from {
            return self.core.drop(Reason::WrongPrevious);
        }
        self.arrive(datagram.header, datagram.payload, bytes);
    }

    /// A datagram that begins here: from the source, or injected by hand.
    ///
    /// # Errors
    /// Its payload is too long.
    pub fn inject(&mut self, header: &Header, payload: &[u8]) -> Result<(), active::FormatError> {
        let mut bytes = Vec::new();
        active::encode(header, payload, &mut bytes)?;
        self.arrive(*header, payload, &bytes);
        Ok(())
    }

    fn arrive(&mut self, header: Header, payload: &[u8], bytes: &[u8]) {
        if header.life_ms == 0 {
            return self.core.drop(Reason::Expired);
        }
        let key = Key { from: header.previous.into(), origin: header.source.into() };
        // requests of a node are not its traffic: a filter of the one leaves the other alone
        let request = header.active && header.service == service::FILTER;
        if !request && self.core.filter_takes(key, header.number) {
            return self.core.drop(Reason::Filtered);
        }
        if header.active {
            self.serve(header, payload);
        } else if header.destination == self.core.me {
            self.core.take(&header, payload);
        } else {
            let mut copy = self.core.spare.pop().unwrap_or_default();
            copy.extend_from_slice(bytes);
            self.core.route(&header, copy, key);
        }
    }

    fn serve(&mut self, header: Header, payload: &[u8]) {
        let serves = |service: &&mut Box<dyn Service>| service.numbers().contains(&header.service);
        let Some(service) = self.services.iter_mut().find(serves) else {
            return self.core.drop(Reason::UnknownService);
        };
        match service.serve(&Request { header, payload }, &mut self.core) {
            Answer::Forward(payload) => self.core.forward(&header, &payload),
            Answer::Done => self.core.counts.delivered += 1,
            Answer::Drop(reason) => self.core.drop(reason),
        }
    }

    /// Does what is due by now, hands what reaches neighbours to `send`, and
    /// says when there will be more to do.
    pub fn advance(&mut self, mut send: impl FnMut(Address, &[u8])) -> Time {
        self.core.advance_source();
        let mut due = self.core.source.as_ref().map_or(Time::NEVER, Source::due);
        for index in 0..self.core.links.len() {
            let (peer, now) = (self.core.links[index].peer, self.core.now);
            while let Some((at, mut cargo)) = self.core.links[index].deliver(now) {
                // every hop takes something off, so that no loop lasts
                let spent = ms(at - cargo.came).max(1);
                match cargo.life_ms.checked_sub(spent).filter(|left| *left > 0) {
                    None => self.core.drop(Reason::Expired),
                    Some(left) => {
                        active::forward(&mut cargo.bytes, self.core.me, left);
                        self.core.counts.sent += 1;
                        send(peer, &cargo.bytes);
                    }
                }
                self.core.reuse(cargo.bytes);
            }
            due = due.min(self.core.links[index].due());
        }
        due
    }

    /// The source may begin.
    pub fn begin(&mut self) {
        let now = self.core.now;
        if let Some(source) = &mut self.core.source {
            source.begin(now);
        }
    }

    /// Something that the carrier had to drop.
    pub fn drop(&mut self, reason: Reason) {
        self.core.drop(reason);
    }

    /// The number for a packet that is injected by hand.
    pub fn next_number(&mut self) -> u32 {
        self.core.next_number()
    }

    /// Takes what came back of the trace with this number.
    pub fn take_traces(&mut self, number: u32) -> Vec<Traced> {
        let (mine, others): (Vec<_>, Vec<_>) =
            self.core.traces.drain(..).partition(|traced| traced.number == number);
        self.core.traces = others.into();
        mine
    }

    /// The address of the node.
    pub fn address(&self) -> Address {
        self.core.me
    }

    /// What the node says of itself.
    pub fn status(&mut self) -> Status {
        self.core.status()
    }
}

/// Whole milliseconds, rounded up, of a span.
fn ms(span: Time) -> u32 {
    u32::try_from(span.ps().div_ceil(Time::from_ms(1).ps())).unwrap_or(u32::MAX)
}

/// What a service may do at its node.
impl Core {
    /// The address of the node.
    pub fn address(&self) -> Address {
        self.me
    }

    /// Time since the node started; it never steps.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The clock on the wall, in microseconds since 1970; it may step.
    pub fn clock_us(&self) -> u64 {
        self.clock_us
    }

    /// Packets that wait for the link that leads to a node; none where the node is this one.
    pub fn queue_towards(&mut self, node: Address) -> u32 {
        let (now, link) = (self.now, self.routes.get(&node).copied());
        link.map_or(0, |link| self.links[link].queue_packets(now))
    }

    /// The neighbour that is next on the way to a node.
    pub fn neighbour_towards(&self, node: Address) -> Option<Address> {
        self.routes.get(&node).map(|link| self.links[*link].peer)
    }

    /// Sends a packet of the node's own.
    pub fn send(&mut self, header: &Header, payload: &[u8]) {
        if header.active && header.service == service::TRACED && header.destination == self.me {
            if let Ok(trace) = Trace::decode(payload) {
                self.traced(header.number, header.source, trace);
            }
            return;
        }
        self.forward(header, payload);
    }

    /// An answer to a trace that was sent from here.
    pub fn traced(&mut self, number: u32, by: Address, trace: Trace) {
        if self.traces.len() >= MOST_TRACES {
            self.traces.pop_front();
        }
        self.traces.push_back(Traced { number, by, trace });
    }

    pub(super) fn next_number(&mut self) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.number
    }

    pub(super) fn drop(&mut self, reason: Reason) {
        self.counts.drops[reason as usize] += 1;
    }

    pub(super) fn note(&mut self, event: Event) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn forward(&mut self, header: &Header, payload: &[u8]) {
        if header.destination == self.me {
            return self.drop(Reason::NoRoute);
        }
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        match active::encode(header, payload, &mut bytes) {
            Ok(()) => {
                let key = Key { from: header.previous.into(), origin: header.source.into() };
                self.route(header, bytes, key);
            }
            Err(_) => self.drop(Reason::Malformed),
        }
    }

    /// The queue of the link that the packet leaves through.
    fn route(&mut self, header: &Header, bytes: Vec<u8>, key: Key) {
        let Some(index) = self.routes.get(&header.destination).copied() else {
            return self.drop(Reason::NoRoute);
        };
        let life_ms = header.life_ms.min(self.longest_life_ms);
        let cargo = Cargo { bytes, came: self.now, life_ms };
        let label = Label { key, number: header.number };
        let (lost, trigger) = self.links[index].send(cargo, label, self.now);
        if let Some(cargo) = lost {
            self.drop(Reason::QueueFull);
            self.reuse(cargo.bytes);
        }
        if let Some(trigger) = trigger {
            self.triggered(index, &trigger);
        }
    }

    /// Keeps a buffer for the next datagram.
    fn reuse(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// A passive packet for this node: data for its sink, or an answer to its source.
    fn take(&mut self, header: &Header, payload: &[u8]) {
        self.counts.delivered += 1;
        match Segment::decode(payload) {
            // bytes that are no segment were sent by hand
            Err(_) => {
                if self.sink.take(header.source, header.number).is_none() {
                    self.drop(Reason::ConnectionsFull);
                }
            }
            Ok(Segment::Data { number, answer }) => match self.sink.take(header.source, number) {
                None => self.drop(Reason::ConnectionsFull),
                Some(next) if answer => self.answer(header, next),
                Some(_) => {}
            },
            Ok(Segment::Ack { next }) => {
                let Some(source) = self.source.as_mut() else { return };
                let mut numbers = std::mem::take(&mut self.numbers);
                source.acknowledged(next, self.now, &mut numbers);
                self.transmit(numbers);
            }
        }
    }

    fn answer(&mut self, header: &Header, next: u32) {
        let answer = Header {
            source: self.me,
            destination: header.source,
            previous: self.me,
            number: self.next_number(),
            life_ms: self.longest_life_ms.min(10_000),
            ..Header::default()
        };
        self.forward(&answer, &Segment::Ack { next }.encode(0));
    }

    fn advance_source(&mut self) {
        let Some(source) = self.source.as_mut().filter(|source| source.due() <= self.now) else {
            return;
        };
        let mut numbers = std::mem::take(&mut self.numbers);
        source.advance(self.now, &mut numbers);
        self.transmit(numbers);
    }

    /// The packets of the source with these numbers.
    fn transmit(&mut self, mut numbers: Vec<u32>) {
        let Some(source) = self.source.as_mut() else { return };
        source.sent += numbers.len() as u64;
        let (config, answer) = (source.config().clone(), source.answered());
        let payload = (config.size.bytes() as usize).saturating_sub(HEADER);
        for number in numbers.drain(..) {
            let header = Header {
                source: self.me,
                destination: config.to,
                previous: self.me,
                number,
                life_ms: ms(config.life),
                ..Header::default()
            };
            // a source is filtered at its own node as at any other first hop
            let own = Key { from: Node::from(self.me), origin: Node::from(self.me) };
            if self.filter_takes(own, number) {
                self.drop(Reason::Filtered);
            } else {
                self.forward(&header, &Segment::Data { number, answer }.encode(payload));
            }
        }
        self.numbers = numbers;
    }

    fn status(&mut self) -> Status {
        let now = self.now;
        let rest = |until: Time| until.saturating_sub(now).secs();
        let links = self.links.iter_mut().map(|link| LinkStatus {
            name: link.name.clone(),
            peer: link.peer,
            queue_packets: link.queue_packets(now),
            avg_queue_packets: link.average(now),
            record: link.record.clone(),
        });
        let filters = self.filters.active(now).map(|(key, until)| FilterStatus {
            origin: key.origin.into(),
            from: key.from.into(),
            rest_s: rest(until),
        });
        let counts = Reason::ALL.iter().zip(self.counts.drops);
        Status {
            name: self.name.clone(),
            address: self.me,
            up_s: now.secs(),
            received: self.counts.received,
            sent: self.counts.sent,
            delivered: self.counts.delivered,
            drops: counts.map(|(reason, count)| (reason.name().to_owned(), count)).collect(),
            links: links.collect(),
            filters: filters.collect(),
            filtered: self.filtered.clone(),
            source: self.source.as_ref().map(|source| SourceStatus {
                packets: source.config().packets,
                sent: source.sent,
                done: source.done(),
            }),
            arrived: self.sink.delivered().clone(),
            events: self.events.iter().cloned().collect(),
        }
    }
}
