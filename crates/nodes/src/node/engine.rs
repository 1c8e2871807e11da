//! How a node processes a datagram; without sockets and clocks.
//!
//! A datagram passes, in this order: the format check; the neighbour that it comes from; its
//! lifetime; the filters of its incoming link; the menu of services, if it is active; the route;
//! the queue of its outgoing link (lgc, 4.1). `docs/active-nodes.md` has the picture.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::active::message::service;
use tidegate_core::active::{self, Address, Header};
use tidegate_core::law::greedy::lgc::Lgc;
use tidegate_core::law::greedy::{Filters, Key};
use tidegate_core::units::Time;

use super::config::Config;
use super::link::NodeLink;
use super::menu::Menu;
use super::reason::Reason;
use super::service::{Answer, Request, Service};
use super::sink::Sink;
use super::source::Source;
use super::state::{Core, NodeCounts, Traced, ms};
use super::status::Status;
use super::trust::Trust;

/// A node.
pub struct Engine {
    core: Core,
    services: Vec<Box<dyn Service>>,
}

impl Engine {
    /// A node with a checked configuration, starting at `now`.
    pub fn new(config: &Config, menu: &Menu, now: Time, clock_us: u64) -> Engine {
        let mut links = Vec::new();
        for (number, link) in config.link.iter().enumerate() {
            let lgc = config.lgc.as_ref().filter(|_| link.detect).map(Lgc::new);
            let trust = link.key_bytes().map(|key| Trust::new(&key, clock_us));
            links.push(NodeLink::new(number as u32, link, lgc, trust));
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
            counts: NodeCounts::default(),
            longest_life_ms: ms(config.longest_life),
            number: 0,
            numbers: Vec::new(),
            spare: Vec::new(),
        };
        Engine { core, services: menu.choose(&config.services) }
    }

    /// Sets the node's time, and that of the wall clock.
    pub fn at(&mut self, now: Time, clock_us: u64) {
        // a monotonic clock does not step back; if it does, time stands still
        self.core.now = self.core.now.max(now);
        self.core.clock_us = clock_us;
    }

    /// A datagram has arrived from this address.
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

    /// Sends a datagram of this node: from its source, or injected by a user.
    ///
    /// # Errors
    /// Its payload is too long.
    pub fn inject(&mut self, header: &Header, payload: &[u8]) -> Result<(), active::FormatError> {
        let mut bytes = Vec::new();
        active::encode(header, payload, &mut bytes)?;
        self.arrive(*header, payload, &bytes);
        Ok(())
    }

    /// Why the node drops an injected datagram at once, whatever the network does; none: it sends it.
    pub fn refuses(&self, header: &Header) -> Option<Reason> {
        if header.life_ms == 0 {
            return Some(Reason::Expired);
        }
        let served = self.services.iter().any(|one| one.numbers().contains(&header.service));
        if header.active && !served {
            return Some(Reason::UnknownService);
        }
        let there = header.destination == self.core.me
            || self.core.routes.contains_key(&header.destination);
        (!there).then_some(Reason::NoRoute)
    }

    fn arrive(&mut self, header: Header, payload: &[u8], bytes: &[u8]) {
        if header.life_ms == 0 {
            return self.core.drop(Reason::Expired);
        }
        let key = Key { from: header.previous.into(), origin: header.source.into() };
        // a node's requests are not part of its traffic: a filter on the traffic does not apply to
        // them
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

    /// Processes everything that is due, passes datagrams for neighbours to `send`, and returns
    /// when there is more to do.
    pub fn advance(&mut self, mut send: impl FnMut(Address, &[u8])) -> Time {
        self.core.advance_source();
        let mut due = self.core.source.as_ref().map_or(Time::NEVER, Source::due);
        for index in 0..self.core.links.len() {
            let (peer, now) = (self.core.links[index].peer, self.core.now);
            while let Some((at, mut cargo)) = self.core.links[index].deliver(now) {
                // every hop reduces the lifetime, so that loops end
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

    /// Starts the source.
    pub fn begin(&mut self) {
        let now = self.core.now;
        if let Some(source) = &mut self.core.source {
            source.begin(now);
        }
    }

    /// Counts a datagram that the socket dropped.
    pub fn drop(&mut self, reason: Reason) {
        self.core.drop(reason);
    }

    /// The number for an injected packet.
    pub fn next_number(&mut self) -> u32 {
        self.core.next_number()
    }

    /// Removes and returns the answers to the trace with this number.
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

    /// The status of the node.
    pub fn status(&mut self) -> Status {
        self.core.status()
    }
}
