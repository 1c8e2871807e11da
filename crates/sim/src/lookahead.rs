//! Landings that are left out, as nothing can come between them and what follows.
//!
//! A packet that enters the last port but one of its way will land at a router, and enter the port
//! of its host there. If no other port leads packets to that host, nothing can come between: when
//! the packet leaves the last port is known before it has left the one before. So it passes both at
//! once, and lands at its host alone. The results are those of a run in which it lands at the router
//! too, to the bit.
//!
//! The port before foresees ([`Port::look_ahead`]), the last one is booked ([`Port::book`]). Which
//! ports these are is found before the run, from the paths of its traffic: both are plain and stay
//! as they are, the last one belongs to a link of a host and is not the slower one, and no router
//! sends packets of its own to the host.

use std::collections::BTreeSet;

use tidegate_core::packet::Packet;
use tidegate_core::port::{Before, Port};
use tidegate_core::units::Time;
use tidegate_model::route::{NO_PORT, Routes};
use tidegate_model::scenario::{self, Scenario};

use crate::flight::Way;

/// Which ports are booked, and from where.
#[derive(Default)]
pub(crate) struct Lookahead {
    /// For each port that foresees, the start of the part of `onward` of the node at its far end;
    /// for another one a number beyond `onward`, with any destination added to it.
    starts: Vec<u32>,
    /// As the table of routes: for each of these nodes and each destination the port that is booked.
    onward: Vec<u32>,
    /// For each port that is booked: what it was before it was set back.
    booked: Vec<Option<Before>>,
}

/// Beyond every table, also with a destination added to it.
const NONE: u32 = u32::MAX - u16::MAX as u32;

/// What becomes of a packet that enters a port.
pub(crate) enum Entry<'a> {
    /// It is on its way; with the hint for its lane.
    Leaves(Way, &'a mut u16),
    /// The port foresees, and has no room for it.
    Lost,
    /// This port keeps it or loses it, or has stages.
    Stays(&'a mut Port),
}

/// In place of a span of time: the packets that wait at a port land in the order in which they came.
#[inline(always)]
fn line_of(number: u32) -> Time {
    Time::from_ps(Time::NEVER.ps() - 1 - u64::from(number))
}

/// Which port packets come from that enter a port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    /// None have been found.
    Unknown,
    /// All from this one.
    One(u32),
    /// From more than one, or from the port's own node.
    More,
}

impl Lookahead {
    /// Finds the ports of a run, and makes those before them foresee.
    /// `looked_at`: whether a gate looks at what comes in over a port.
    pub(crate) fn of(
        scenario: &Scenario,
        routes: &Routes,
        ports: &mut [Port],
        looked_at: impl Fn(u32) -> bool,
    ) -> Lookahead {
        let specs = &scenario.network.ports;
        let filters = specs.iter().any(|port| port.filter.is_some());
        if filters || !routes.sorted.is_empty() || !scenario.series.classes.is_empty() {
            // messages of filters go to hosts; paths depend on more than the destination; the
            // packets that wait are looked at one by one
            return Lookahead::default();
        }
        let changing: BTreeSet<u32> = scenario.changes.iter().map(|change| change.port).collect();
        let stays = |number: u32| {
            let spec = &specs[number as usize];
            let whole = !spec.mistreats() && !changing.contains(&number) && !looked_at(number);
            whole && ports[number as usize].is_plain()
        };
        let is_host = |node: u16| routes.starts[usize::from(node)].is_none();
        let mut found = Vec::new();
        for (last, feeder) in (0..).zip(feeders(scenario, routes)) {
            let Feeder::One(before) = feeder else { continue };
            let (spec, fed_by) = (&specs[last as usize], &specs[before as usize]);
            let suits = spec.access && is_host(spec.to) && !is_host(fed_by.from);
            if suits && spec.rate >= fed_by.rate && stays(last) && stays(before) {
                found.push((before, last));
            }
        }
        Lookahead::between(&found, specs, routes, ports)
    }

    /// The same with the ports that were found, each before the other.
    fn between(
        found: &[(u32, u32)],
        specs: &[scenario::Port],
        routes: &Routes,
        ports: &mut [Port],
    ) -> Lookahead {
        if found.is_empty() {
            return Lookahead::default();
        }
        let mut lookahead = Lookahead {
            starts: vec![NONE; specs.len()],
            onward: vec![NO_PORT; routes.table.len()],
            booked: vec![None; specs.len()],
        };
        for &(before, last) in found {
            let (node, host) = (specs[before as usize].to, specs[last as usize].to);
            let Some(start) = routes.starts[usize::from(node)] else { continue };
            lookahead.starts[before as usize] = start;
            lookahead.onward[start as usize + usize::from(host)] = last;
            lookahead.booked[last as usize] = Some(Before::default());
            ports[before as usize].look_ahead();
            ports[last as usize].expect_bookings();
        }
        lookahead
    }

    /// Whether any port is booked.
    pub(crate) fn is_some(&self) -> bool {
        !self.starts.is_empty()
    }

    /// The port that a packet for this destination enters behind port `number`, if that is booked.
    #[inline(always)]
    pub(crate) fn behind(&self, number: u32, destination: u16) -> Option<u32> {
        let start = *self.starts.get(number as usize)?;
        self.onward.get(start as usize + usize::from(destination)).copied()
    }

    /// A packet enters a port at `now`, and if that has no stage perhaps the one behind it in advance.
    #[inline(always)]
    pub(crate) fn enter<'a>(
        &self,
        ports: &'a mut [Port],
        hops: &mut u64,
        number: u32,
        packet: &Packet,
        now: Time,
    ) -> Entry<'a> {
        let port = &mut ports[number as usize];
        let (at, waits) = match port.pass(packet, now) {
            Some(at) => (at, false),
            None if !port.foresees() => return Entry::Stays(&mut ports[number as usize]),
            None => match port.foresee(packet, now) {
                Some(at) => (at, true),
                None => return Entry::Lost,
            },
        };
        // what waits at a port leaves in the order in which it came, and mostly lands so
        let span = |lands: Time| if waits { line_of(number) } else { lands - now };
        if let Some(behind) = self.behind(number, packet.dst)
            && let Some(last) = ports.get_mut(behind as usize)
            && let Some(lands) = last.book(packet, at, now)
        {
            *hops += 1;
            return Entry::Leaves((behind, lands, span(lands)), &mut ports[behind as usize].hint);
        }
        Entry::Leaves((number, at, span(at)), &mut ports[number as usize].hint)
    }

    /// Whether a packet that is on its way has been booked at a port, and enters it after `now`.
    pub(crate) fn is_early(&self, packet: &Packet, ports: &[Port], now: Time) -> bool {
        let number = packet.prev_port as usize;
        let booked = self.booked.get(number).is_some_and(Option::is_some);
        booked && ports[number].is_early(packet, now)
    }

    /// Sets the counts of booked ports back to now; `packets`: all on their way.
    pub(crate) fn set_back<'a>(
        &mut self,
        packets: impl Iterator<Item = &'a Packet>,
        ports: &mut [Port],
        now: Time,
    ) {
        packets.for_each(|packet| {
            let number = packet.prev_port as usize;
            if let Some(Some(before)) = self.booked.get_mut(number) {
                ports[number].set_back(before, packet, now);
            }
        });
    }

    /// Undoes that.
    pub(crate) fn undo_set_back(&mut self, ports: &mut [Port]) {
        for (before, port) in self.booked.iter_mut().zip(ports) {
            if let Some(before) = before {
                port.undo_set_back(before);
            }
        }
    }
}

/// Which ports packets come from, for each port.
fn feeders(scenario: &Scenario, routes: &Routes) -> Vec<Feeder> {
    let ports = &scenario.network.ports;
    let mut feeders = vec![Feeder::Unknown; ports.len()];
    let pairs = scenario.traffic.iter().flat_map(|class| class.pairs.iter().copied());
    let pairs: BTreeSet<(u16, u16)> =
        pairs.flat_map(|(one, other)| [(one, other), (other, one)]).collect();
    let mut follow = |from: u16, to: u16| {
        let (mut node, mut before) = (from, None);
        // no path is longer than that; one in a circle never arrives
        for _ in 0..ports.len() {
            let Some(port) = routes.next(node, to, None) else { return };
            let feeder = &mut feeders[port as usize];
            *feeder = match (*feeder, before) {
                (Feeder::Unknown, Some(before)) => Feeder::One(before),
                (Feeder::One(known), Some(before)) if known == before => Feeder::One(known),
                _ => Feeder::More,
            };
            (node, before) = (ports[port as usize].to, Some(port));
            if node == to {
                return;
            }
        }
    };
    for &(from, to) in &pairs {
        follow(from, to);
    }
    // a node that refuses sessions tells their openers
    let gates: BTreeSet<u16> =
        ports.iter().filter(|port| port.gate.is_some()).map(|port| port.from).collect();
    let ends: BTreeSet<u16> = pairs.iter().map(|&(_, to)| to).collect();
    for &gate in &gates {
        for &to in ends.iter().filter(|&&to| to != gate) {
            follow(gate, to);
        }
    }
    feeders
}
