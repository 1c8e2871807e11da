//! The clock, the events and the ports. They move packets and know nothing of flows.
//!
//! The network is separate from the flows, so that a borrowed flow can send packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::law::Verdict;
use tidegate_core::law::greedy::{Key, Names, Node};
use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::port::{Outcome, Port, Stages};
use tidegate_core::units::{Pace, Time};
use tidegate_model::port::{Media, Mishap, Mishaps, NoSuchLaw, OwnLaws, Supplied};
use tidegate_model::route::{NO_PORT, Routes};
use tidegate_model::scenario::{self, PacketKind, Scenario};

use crate::arrivals::Records;
use crate::datagrams::Datagrams;
use crate::engine::{Entity, EventKind, Events};
use crate::error::BuildError;
use crate::flight::{Flight, Landing};
use crate::flow_id::FlowId;
use crate::lookahead::{Entry, Lookahead};
use crate::services::{Decided, Hop};

/// Where packets go after a port's link: to a node whose routes start at this index of the table of
/// routes, or elsewhere.
type Exit = u32;
/// To a host with one link, which receives every packet.
const HOST: Exit = OTHER - 1;
/// Over a link where something befalls packets, past a gate that looks at what comes in, or to a
/// node that does not route by destination alone. Beyond
/// every table, as the one above, and so with the number of any destination added to it: also where
/// a place in a table has 32 bits, as in WebAssembly.
const OTHER: Exit = u32::MAX - u16::MAX as u32;

/// The ports, their events and the routes between them.
pub(crate) struct Network {
    pub(crate) now: Time,
    pub(crate) events: Events,
    /// Packets on links, unless their ports store them.
    pub(crate) flight: Flight,
    pub(crate) ports: Vec<Port>,
    /// Where packets go after each port.
    exits: Vec<Exit>,
    pub(crate) routes: Routes,
    /// What befalls packets behind a link, by the port's number.
    mishaps: BTreeMap<u32, Mishaps>,
    /// The gates that look at what comes in: by the port that it comes over, their own port.
    looked_at: BTreeMap<u32, u32>,
    /// The copy of the packet that has just arrived at its destination, if a link made one.
    copy: Option<Packet>,
    /// The nodes at the near and at the far end of each port.
    pub(crate) ends: Vec<(u16, u16)>,
    /// Decisions that laws made outside of their intervals, since they were last taken.
    pub(crate) decided: Vec<Decided>,
    /// Answers of nodes that were asked for their queues.
    pub(crate) traced: Vec<Hop>,
    /// Arrivals that are recorded one by one.
    pub(crate) records: Records,
    /// The bytes of datagrams in the network.
    pub(crate) datagrams: Datagrams,
    /// Packets that crossed a link, or will have before they land.
    hops: u64,
    /// Ports that packets pass in advance.
    lookahead: Lookahead,
    /// Whether those are set back to now.
    is_set_back: bool,
}

impl Network {
    /// Builds and starts the ports; some have these `stages` in place of those of the scenario.
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        own: &mut OwnLaws<'_>,
        mut stages: BTreeMap<u32, Stages>,
    ) -> Result<Network, BuildError> {
        let specs = &scenario.network.ports;
        let mut ports = Vec::with_capacity(specs.len());
        let near: Arc<[u16]> = specs.iter().map(|spec| spec.from).collect();
        let names = |own| names(own, near.clone());
        let mut media = Media::default();
        let mut supplied = Supplied { own, names: &names, media: &mut media };
        for (number, spec) in (0..).zip(specs) {
            let port = match stages.remove(&number) {
                Some(stages) => Ok(spec.with_stages(number, seed, stages, supplied.media)),
                None => spec.build(number, seed, &mut supplied),
            };
            ports.push(port.map_err(|NoSuchLaw(name)| BuildError::NoSuchLaw(name))?);
        }
        let routes = Routes::of(&scenario.network);
        let looks = (0..).zip(&ports).filter(|(_, port): &(u32, &Port)| port.looks_at_ingress());
        let looked_at: BTreeMap<u32, u32> =
            looks.filter_map(|(own, _)| Some((scenario.network.reverse(own)?, own))).collect();
        let exits = (0..).zip(specs).map(|(number, spec)| match looked_at.contains_key(&number) {
            true => OTHER,
            false => exit(&routes, spec),
        });
        let exits = exits.collect();
        let mishaps = |(number, spec)| Some((number, Mishaps::of(spec, seed)?));
        let mut network = Network {
            now: Time::ZERO,
            events: Events::default(),
            flight: Flight::new(),
            ports,
            exits,
            routes,
            mishaps: (0..).zip(specs).filter_map(mishaps).collect(),
            looked_at,
            copy: None,
            ends: specs.iter().map(|spec| (spec.from, spec.to)).collect(),
            decided: Vec::new(),
            traced: Vec::new(),
            records: Records::new(scenario),
            datagrams: Datagrams::default(),
            hops: 0,
            lookahead: Lookahead::default(),
            is_set_back: false,
        };
        for number in 0..network.ports.len() as u32 {
            network.start(number)?;
        }
        Ok(network)
    }

    /// Starts the laws of a port.
    fn start(&mut self, port: u32) -> Result<(), BuildError> {
        self.ports[port as usize].start(self.now).map_err(BuildError::Law)?;
        self.schedule_tick(port);
        Ok(())
    }

    /// Schedules the next deadline of the port's interval law.
    pub(crate) fn schedule_tick(&mut self, port: u32) {
        let at = self.ports[port as usize].tick_at();
        if at != Time::NEVER {
            self.events.push(at, Entity::new(EventKind::Tick, port));
        }
    }

    /// Finds the landings that can be left out. The stages of the ports are those of the run.
    pub(crate) fn look_ahead(&mut self, scenario: &Scenario) {
        let looked_at = |port: u32| self.looked_at.contains_key(&port);
        self.lookahead = Lookahead::of(scenario, &self.routes, &mut self.ports, looked_at);
    }

    /// Whether any landing is left out.
    pub(crate) fn looks_ahead(&self) -> bool {
        self.lookahead.is_some()
    }

    /// Packets that have crossed a link.
    pub(crate) fn hops(&self) -> u64 {
        let under_way = self.flight.packets(&self.events);
        let early = under_way.filter(|each| self.lookahead.is_early(each, &self.ports, self.now));
        self.hops - early.count() as u64
    }

    /// The ports as they are now, until [`Network::undo_set_back`].
    pub(crate) fn set_back(&mut self) -> &mut [Port] {
        if !self.is_set_back {
            self.is_set_back = true;
            let under_way = self.flight.packets(&self.events);
            self.lookahead.set_back(under_way, &mut self.ports, self.now);
        }
        &mut self.ports
    }

    /// The run goes on.
    pub(crate) fn undo_set_back(&mut self) {
        if self.is_set_back {
            self.is_set_back = false;
            self.lookahead.undo_set_back(&mut self.ports);
        }
    }

    /// All packets that were sent and have neither arrived nor been lost.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &Packet> {
        let held = self.ports.iter().flat_map(Port::held);
        held.chain(self.flight.packets(&self.events))
    }

    /// The pace of a host's link; none: the host has several links.
    pub(crate) fn access(&self, node: u16) -> Option<Pace> {
        let uplink = self.routes.uplinks[usize::from(node)];
        self.ports.get(uplink as usize).map(|port| port.rate().pace())
    }

    /// Keeps what a host sends in [`Records::leaving`].
    pub(crate) fn follow(&mut self, host: u16) {
        let uplink = self.routes.uplinks[usize::from(host)];
        if let Some(port) = self.ports.get_mut(uplink as usize) {
            port.pass_by_stages();
            self.records.follow(uplink);
        }
    }

    /// A host sends a packet.
    #[inline(never)]
    pub(crate) fn send(&mut self, packet: &Packet) {
        match self.routes.uplinks[packet.src as usize] {
            NO_PORT => self.emit(packet.src, packet),
            uplink => self.enter(uplink, packet),
        }
    }

    /// The same for the most frequent packets.
    // inlined, so that the compiler writes a new packet straight into its lane: a copy of it would
    // wait for the narrow stores before it (most of 10 % of a packet-hop)
    #[inline(always)]
    pub(crate) fn send_often(&mut self, packet: Packet) {
        let uplink = self.routes.uplinks[packet.src as usize];
        let now = self.now;
        if let Some(port) = self.ports.get_mut(uplink as usize)
            && self.flight.set_out(&mut self.events, (port, uplink), &packet, now)
        {
            return;
        }
        // a copy, so that the packet itself need not lie in memory
        let elsewhere = packet;
        self.send(&elsewhere);
    }

    /// A node with more than one neighbour sends a packet of its own.
    #[cold]
    fn emit(&mut self, node: u16, packet: &Packet) {
        match self.routes.next(node, packet.dst, PacketKind::of(packet.flags)) {
            Some(port) => self.enter(port, packet),
            None => self.datagrams.end(packet),
        }
    }

    /// A packet that will reach its destination soon, some deliveries ahead.
    #[inline(always)]
    pub(crate) fn ahead(&self) -> Option<&Packet> {
        let packet = self.flight.ahead()?;
        (self.exits[packet.prev_port as usize] == HOST).then_some(packet)
    }

    /// The same for packets without a lane: `tell` gets each once.
    #[inline(always)]
    pub(crate) fn parcels_ahead(&mut self, mut tell: impl FnMut(&Packet)) {
        let exits = &self.exits;
        self.events.foretell_parcels(|packet| {
            if exits[packet.prev_port as usize] == HOST {
                tell(packet);
            }
        });
    }

    /// A packet has crossed its link. Returns whether it is at its destination (then it is
    /// copied to `arrived`).
    #[inline(always)]
    pub(crate) fn land<L: Landing>(&mut self, from: L, arrived: &mut Packet) -> bool {
        let packet = from.lift(&mut self.flight, &self.events, arrived);
        let now = packet.at;
        self.now = now;
        self.hops += 1;
        let exit = self.exits[packet.prev_port as usize];
        if exit == HOST {
            from.arrive(&mut self.flight, &mut self.events, arrived);
            return true;
        }
        let Some(&onward) = self.routes.table.get(exit as usize + packet.dst as usize) else {
            return self.land_elsewhere(from, arrived);
        };
        let (ports, hops) = (&mut self.ports, &mut self.hops);
        if onward as usize >= ports.len() {
            return self.land_elsewhere(from, arrived);
        }
        match self.lookahead.enter(ports, hops, onward, packet, now) {
            Entry::Leaves(way, hint) => {
                let (flight, events) = (&mut self.flight, &mut self.events);
                from.send_on(flight, events, arrived, way, hint);
            }
            Entry::Lost => {
                self.datagrams.end(packet);
                from.free(&mut self.flight, &mut self.events);
            }
            Entry::Stays(port) if port.is_plain() => {
                if let Outcome::Lost(..) = port.line_up(packet, (), now) {
                    self.datagrams.end(packet);
                }
                from.free(&mut self.flight, &mut self.events);
                self.look_at_first(onward);
            }
            Entry::Stays(_) => return self.land_elsewhere(from, arrived),
        }
        false
    }

    /// The slow cases of [`Network::land`]: links where something befalls packets, routes by more than the
    /// destination, ports with stages, and destinations.
    #[inline(never)]
    fn land_elsewhere<L: Landing>(&mut self, from: L, arrived: &mut Packet) -> bool {
        from.arrive(&mut self.flight, &mut self.events, arrived);
        let packet = *arrived;
        let exit = self.exits[packet.prev_port as usize];
        match self.routes.table.get(exit as usize + packet.dst as usize) {
            Some(&onward) => self.go_on(onward, &packet, arrived),
            None => self.land_other(&packet, arrived),
        }
    }

    /// Schedules the next event of a plain port where a packet waits. A pending event of the port
    /// concerns an earlier packet.
    #[inline(always)]
    fn look_at_first(&mut self, number: u32) {
        let port = &mut self.ports[number as usize];
        if port.armed == Time::NEVER {
            let due = port.rearm();
            self.look_at(number, due);
        }
    }

    /// The slow cases of [`Network::land`] where something befalls packets, or they are routed by
    /// more than the destination.
    #[inline(never)]
    fn land_other(&mut self, packet: &Packet, arrived: &mut Packet) -> bool {
        let number = packet.prev_port;
        let node = self.ends[number as usize].1;
        let onward = self.routes.next(node, packet.dst, PacketKind::of(packet.flags));
        let onward = onward.unwrap_or(NO_PORT);
        let fate = match self.mishaps.get_mut(&number) {
            Some(mishaps) => mishaps.befall(packet, packet.at),
            None => Some(Mishap::NONE),
        };
        match fate {
            Some(Mishap::NONE) => self.come_in(onward, packet, arrived),
            Some(fate) => self.go_on_amiss(onward, fate, packet, arrived),
            None => {
                self.hops -= 1;
                self.ports[number as usize].lose_passed(packet.flags);
                self.datagrams.end(packet);
                false
            }
        }
    }

    /// A packet goes on that is damaged, or is followed by its copy.
    #[cold]
    fn go_on_amiss(
        &mut self,
        onward: u32,
        mishap: Mishap,
        packet: &Packet,
        arrived: &mut Packet,
    ) -> bool {
        self.ports[packet.prev_port as usize].note_mishap(mishap.damaged, mishap.twice);
        let mut packet = *packet;
        if mishap.damaged {
            packet.flow = FlowId::new(FlowId::DAMAGED, 0).0;
        }
        let copy = mishap.twice.then(|| self.datagrams.copy(&packet));
        let arrives = self.come_in(onward, &packet, arrived);
        let Some(copy) = copy else { return arrives };
        self.hops += 1;
        // one of two that arrive waits until the other is delivered
        if self.come_in(onward, &copy, &mut packet) {
            self.copy = Some(packet);
        }
        arrives
    }

    /// The copy of the packet that was delivered last, if a link made one.
    #[inline]
    pub(crate) fn take_copy(&mut self) -> Option<Packet> {
        self.copy.take()
    }

    /// Whether some link delivers packets twice.
    pub(crate) fn makes_copies(scenario: &Scenario) -> bool {
        scenario.network.ports.iter().any(|port| port.impairments.duplicate > 0.0)
    }

    /// A packet goes on unless a gate refuses it that looks at what comes in over this link.
    #[inline]
    fn come_in(&mut self, onward: u32, packet: &Packet, arrived: &mut Packet) -> bool {
        let Some(&gate) = self.looked_at.get(&packet.prev_port) else {
            return self.go_on(onward, packet, arrived);
        };
        match self.ports[gate as usize].come_in(packet, self.now) {
            Verdict::Pass | Verdict::Mark(_) => return self.go_on(onward, packet, arrived),
            Verdict::Drop(_) => self.datagrams.end(packet),
            Verdict::Reject(_) => self.reject(gate, packet),
        }
        false
    }

    /// A packet enters the next port, or has reached its destination.
    #[inline(never)]
    fn go_on(&mut self, onward: u32, packet: &Packet, arrived: &mut Packet) -> bool {
        if onward as usize >= self.ports.len() {
            return self.end_here(packet, arrived);
        }
        self.enter(onward, packet);
        false
    }

    /// There is no next port: this node is the destination. (Or a reset has no path back,
    /// and is dropped.)
    #[cold]
    fn end_here(&mut self, packet: &Packet, arrived: &mut Packet) -> bool {
        *arrived = *packet;
        let here = packet.dst == self.ends[packet.prev_port as usize].1;
        if !here {
            self.datagrams.end(packet);
        }
        here
    }

    /// Handles the due event of a port and schedules its next one. Returns whether a packet has
    /// reached its destination over this port (then it is copied to `arrived`).
    #[inline(always)]
    pub(crate) fn cross(&mut self, number: u32, arrived: &mut Packet) -> bool {
        let now = self.now;
        let port = &mut self.ports[number as usize];
        let Some((packet, ())) = port.deliver(now) else {
            port.rearm();
            return false;
        };
        self.hops += 1;
        let exit = self.exits[number as usize];
        if exit == HOST {
            *arrived = *packet;
            port.rearm();
            return true;
        }
        let Some(&onward) = self.routes.table.get(exit as usize + packet.dst as usize) else {
            let packet = *packet;
            port.rearm();
            return self.land_other(&packet, arrived);
        };
        let Ok([port, other]) = self.ports.get_disjoint_mut([number as usize, onward as usize])
        else {
            return self.hand_over(number, onward, arrived);
        };
        if other.foresees() {
            let packet = *port.last_delivered();
            port.rearm();
            self.enter_plain(onward, &packet);
            return false;
        }
        // straight from the ring
        let (packet, events) = (port.last_delivered(), &mut self.events);
        if self.flight.set_out(events, (other, onward), packet, now) {
            port.rearm();
            return false;
        }
        self.hand_over(number, onward, arrived)
    }

    /// The packet that port `number` has just delivered continues to `onward`.
    #[inline(never)]
    fn hand_over(&mut self, number: u32, onward: u32, arrived: &mut Packet) -> bool {
        let port = &mut self.ports[number as usize];
        let packet = *port.last_delivered();
        port.rearm();
        self.go_on(onward, &packet, arrived)
    }

    /// A packet arrives at the queue of a port.
    #[inline]
    fn enter(&mut self, number: u32, packet: &Packet) {
        let now = self.now;
        let Some(port) = self.ports.get_mut(number as usize) else { return };
        if port.is_plain() {
            return self.enter_plain(number, packet);
        }
        let outcome = match self.records.wants(number) {
            false => port.arrive(packet, (), now),
            true => self.enter_recorded(number, packet),
        };
        if self.ports[number as usize].has_acted() {
            self.take_decisions(number);
        }
        if self.ports[number as usize].has_lost() {
            self.free_lost(number);
        }
        self.arm(number);
        match outcome {
            Outcome::Taken => {}
            Outcome::Lost(..) => self.datagrams.end(packet),
            // protocols over UDP have no common reset
            Outcome::Rejected(..) if packet.payload().is_some() => self.datagrams.end(packet),
            Outcome::Rejected(..) => self.reject(number, packet),
        }
    }

    /// A packet arrives at a port without stages.
    #[inline(always)]
    fn enter_plain(&mut self, number: u32, packet: &Packet) {
        let (now, hops) = (self.now, &mut self.hops);
        match self.lookahead.enter(&mut self.ports, hops, number, packet, now) {
            Entry::Leaves(way, hint) => self.flight.take(&mut self.events, packet, way, hint),
            Entry::Lost => self.datagrams.end(packet),
            Entry::Stays(port) => {
                if let Outcome::Lost(..) = port.line_up(packet, (), now) {
                    self.datagrams.end(packet);
                }
                self.look_at_first(number);
            }
        }
    }

    /// Frees the bytes of packets that a port has lost while they waited.
    #[cold]
    fn free_lost(&mut self, number: u32) {
        for (packet, ..) in self.ports[number as usize].take_lost() {
            self.datagrams.end(&packet);
        }
    }

    /// The number of stored datagrams, and of packets in the network that have one.
    pub(crate) fn payloads(&mut self) -> (usize, usize) {
        (0..self.ports.len() as u32).for_each(|port| self.free_lost(port));
        let named = self.under_way().filter(|packet| packet.payload().is_some()).count();
        (self.datagrams.held(), named)
    }

    /// The same at a port that records its arrivals.
    #[cold]
    fn enter_recorded(&mut self, number: u32, packet: &Packet) -> Outcome {
        let (now, port) = (self.now, &mut self.ports[number as usize]);
        port.advance(now);
        let found = port.queue_packets();
        let outcome = port.arrive(packet, (), now);
        let average = port.avg_queue_packets(now);
        self.records.keep(number, packet, (found, average), outcome, now);
        outcome
    }

    /// Schedules the next event of a port if it is earlier than the pending one.
    #[inline]
    pub(crate) fn arm(&mut self, number: u32) {
        let port = &mut self.ports[number as usize];
        let due = port.next_event();
        if due < port.armed {
            port.armed = due;
            self.look_at(number, due);
        }
    }

    /// Schedules the next event of a port, if it has one.
    #[inline]
    pub(crate) fn look_at(&mut self, number: u32, next: Time) {
        if next != Time::NEVER {
            self.events.push(next, Entity::new(EventKind::Port, number));
        }
    }

    /// Tells the opener of a session that it was refused.
    ///
    /// The opener of an upload sent the SYN; that of a download is where the
    /// refused SYN+ACK was going.
    #[cold]
    fn reject(&mut self, port: u32, refused: &Packet) {
        let to_opener = !refused.flags.has(Flags::ACK);
        let (src, dst) =
            if to_opener { (refused.dst, refused.src) } else { (refused.src, refused.dst) };
        let toggled = refused.flags.has(Flags::TO_SOURCE) != to_opener;
        let flags = if toggled { Flags::RST.with(Flags::TO_SOURCE) } else { Flags::RST };
        let reset = Packet { sent: self.now, src, dst, flags, ..*refused };
        // an opener at this node gets it from its neighbour
        let node = self.ends[port as usize].0;
        let way = self.routes.next(node, dst, PacketKind::of(reset.flags));
        self.answer(way.unwrap_or(port), &reset);
    }

    /// The node of a port sends a packet of its own.
    #[cold]
    pub(crate) fn answer(&mut self, number: u32, packet: &Packet) {
        let now = self.now;
        if let Some(port) = self.ports.get_mut(number as usize) {
            port.arrive_own(packet, (), now);
            self.arm(number);
        }
    }
}

/// The keys that filters of a node use: the node that a packet came from (by its last
/// port) and the node that sent it; `near` has the node that each port belongs to.
fn names(own: u16, near: Arc<[u16]>) -> Names {
    Box::new(move |packet| {
        let node = |node: u16| Node(node.into());
        let named = packet.src != own && !matches!(packet.ext, Ext::Active { .. });
        let from = near.get(packet.prev_port as usize).filter(|_| named)?;
        Some(Key { from: node(*from), origin: node(packet.src) })
    })
}

fn exit(routes: &Routes, port: &scenario::Port) -> Exit {
    let sorts = routes.sorted.range((port.to, 0)..=(port.to, u16::MAX)).next().is_some();
    match routes.starts[port.to as usize] {
        _ if sorts || port.mistreats() => OTHER,
        None => HOST,
        Some(start) => start,
    }
}
