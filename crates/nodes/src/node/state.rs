//! The state of a node, and what services can do with it. `filtering` adds the part about filters.
//! Services see the state, but not each other.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::active::message::{FlowMessage, Trace, service};
use tidegate_core::active::{self, Address, HEADER, Header};
use tidegate_core::law::greedy::lgc;
use tidegate_core::law::greedy::{Filters, Key, Node};
use tidegate_core::units::Time;

use super::link::{Cargo, Label, NodeLink};
use super::ranges::Ranges;
use super::reason::Reason;
use super::sink::Sink;
use super::source::Source;
use super::status::{Event, FilterStatus, LinkStatus, SourceStatus, Status};

/// Events that are stored.
const MOST_EVENTS: usize = 1_024;
/// Datagram buffers that are stored for reuse.
const MOST_SPARE: usize = 1_024;
/// Answers to traces that are stored until they are fetched.
const MOST_TRACES: usize = 256;

/// An answer to a trace: its number, the node that answered, and the hops up to there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traced {
    /// The number that the trace was sent with.
    pub number: u32,
    /// The node that answered.
    pub by: Address,
    /// Its answer.
    pub trace: Trace,
}

/// The state of a node, without its services.
pub struct Core {
    pub(super) name: String,
    pub(super) me: Address,
    pub(super) now: Time,
    pub(super) clock_us: u64,
    pub(super) lgc: lgc::Config,
    pub(super) links: Vec<NodeLink>,
    /// Index of the link to each neighbour.
    pub(super) neighbours: BTreeMap<Address, usize>,
    /// Index of the link towards each node.
    pub(super) routes: BTreeMap<Address, usize>,
    pub(super) filters: Filters,
    pub(super) asked: BTreeMap<Key, Asked>,
    pub(super) filtered: BTreeMap<Address, Ranges>,
    pub(super) events: VecDeque<Event>,
    pub(super) most_connections: usize,
    pub(super) traces: VecDeque<Traced>,
    pub(super) sink: Sink,
    pub(super) source: Option<Source>,
    pub(super) counts: NodeCounts,
    pub(super) longest_life_ms: u32,
    pub(super) number: u32,
    /// Reused buffer of packet numbers.
    pub(super) numbers: Vec<u32>,
    /// Free datagram buffers.
    pub(super) spare: Vec<Vec<u8>>,
}

/// The counters of a node.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct NodeCounts {
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) drops: [u64; Reason::ALL.len()],
}

/// A filter that the previous hop was asked to take over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) at: Time,
    pub(super) until: Time,
}

/// A duration in whole milliseconds, rounded up.
pub(super) fn ms(span: Time) -> u32 {
    u32::try_from(span.ps().div_ceil(Time::from_ms(1).ps())).unwrap_or(u32::MAX)
}

/// The interface for services.
impl Core {
    /// The address of the node.
    pub fn address(&self) -> Address {
        self.me
    }

    /// Time since the node started; never steps back.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The wall clock, in microseconds since 1970; may step.
    pub fn clock_us(&self) -> u64 {
        self.clock_us
    }

    /// Packets waiting for the link towards a node; none if that is this node.
    pub fn queue_towards(&mut self, node: Address) -> u32 {
        let (now, link) = (self.now, self.routes.get(&node).copied());
        link.map_or(0, |link| self.links[link].queue_packets(now))
    }

    /// The next neighbour on the route to a node.
    pub fn neighbour_towards(&self, node: Address) -> Option<Address> {
        self.routes.get(&node).map(|link| self.links[*link].peer)
    }

    /// Sends a packet of the node itself.
    pub fn send(&mut self, header: &Header, payload: &[u8]) {
        if header.active && header.service == service::TRACED && header.destination == self.me {
            if let Ok(trace) = Trace::decode(payload) {
                self.traced(header.number, header.source, trace);
            }
            return;
        }
        self.forward(header, payload);
    }

    /// Stores the answer to a trace that was sent from here.
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

    pub(super) fn record(&mut self, event: Event) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    pub(super) fn forward(&mut self, header: &Header, payload: &[u8]) {
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

    /// The queue of the packet's outgoing link.
    pub(super) fn route(&mut self, header: &Header, bytes: Vec<u8>, key: Key) {
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

    /// Stores a buffer for reuse.
    pub(super) fn reuse(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Handles a passive packet for this node: data for its sink, or an acknowledgement for its
    /// source.
    pub(super) fn take(&mut self, header: &Header, payload: &[u8]) {
        self.counts.delivered += 1;
        match FlowMessage::decode(payload) {
            // an injected packet need not contain a segment
            Err(_) => {
                if self.sink.take(header.source, header.number).is_none() {
                    self.drop(Reason::ConnectionsFull);
                }
            }
            Ok(FlowMessage::Data { number, answer }) => match self.sink.take(header.source, number)
            {
                None => self.drop(Reason::ConnectionsFull),
                Some(next) if answer => self.answer(header, next),
                Some(_) => {}
            },
            Ok(FlowMessage::Ack { next }) => {
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
        self.forward(&answer, &FlowMessage::Ack { next }.encode(0));
    }

    pub(super) fn advance_source(&mut self) {
        let Some(source) = self.source.as_mut().filter(|source| source.due() <= self.now) else {
            return;
        };
        let mut numbers = std::mem::take(&mut self.numbers);
        source.advance(self.now, &mut numbers);
        self.transmit(numbers);
    }

    /// Sends the source's packets with these numbers.
    fn transmit(&mut self, mut numbers: Vec<u32>) {
        let Some(source) = self.source.as_mut() else { return };
        source.sent += numbers.len() as u64;
        let (config, answer) = (source.config().clone(), source.answered());
        let payload = (config.size.bytes() as usize).saturating_sub(HEADER);
        for number in numbers.drain(..) {
            let header = Header {
                source: self.me,
                destination: config.destination().unwrap_or_default(),
                previous: self.me,
                number,
                life_ms: ms(config.life),
                ..Header::default()
            };
            // a source is filtered at its own node as at any first hop
            let own = Key { from: Node::from(self.me), origin: Node::from(self.me) };
            if self.filter_takes(own, number) {
                self.drop(Reason::Filtered);
            } else {
                self.forward(&header, &FlowMessage::Data { number, answer }.encode(payload));
            }
        }
        self.numbers = numbers;
    }

    pub(super) fn status(&mut self) -> Status {
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
