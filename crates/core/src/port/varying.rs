//! A link whose rate or delay varies over time or from packet to packet.
//!
//! On a constant link the delivery of a packet is known when its transmission starts. Here it is
//! known when the transmission ends. Until then the packet in service is stored apart, and a change
//! of the rate moves its end: the bits not yet sent are sent at the new rate.
//!
//! The link may gather packets into batches. Their propagation follows from the delay and from a law
//! of the carrier ([`Propagation`]).

use crate::packet::Packet;
use crate::units::{Rate, Time};

use super::medium::{Leave, Medium};
use super::opportunities::Opportunities;
use super::outages::Outages;
use super::ring::Ring;

/// How long each packet propagates, if this differs from packet to packet.
pub trait Propagation: Send {
    /// Draws the crossing of the next packet on a link with this delay.
    fn cross(&mut self, delay: Time) -> Crossing;
}

/// How a packet crosses a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// How long it propagates.
    pub delay: Time,
    /// Whether it waits for those sent before it.
    pub waits: bool,
    /// Whether later packets that keep their order wait for it.
    pub holds: bool,
}

/// When a link that gathers packets sends them on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batching {
    /// At multiples of this time, above zero.
    pub every: Time,
    /// Or when this many packets are gathered; at least one.
    pub packets: u32,
}

/// How a link differs from one with a constant rate and delay.
#[derive(Default)]
pub struct LinkVariation {
    /// Propagation of each packet; none: the link's delay, in the order of sending.
    pub propagation: Option<Box<dyn Propagation>>,
    /// Batches; none: each packet propagates at once.
    pub batching: Option<Batching>,
    /// Opportunities to send, in place of the rate; none: it sends at its rate.
    pub opportunities: Option<Opportunities>,
    /// The medium that it shares with other links; none: it has its own.
    pub medium: Option<Medium>,
}

/// The state of a varying link.
pub(super) struct Varying<C> {
    service: Option<Service<C>>,
    gathered: Vec<(Packet, C)>,
    /// When the gathered packets are sent on, if there are any.
    release: Time,
    /// The latest delivery of a packet that others wait for.
    last: Time,
    link: LinkVariation,
    /// When the rate changed last, and how much could be sent until then, in units of 1e-12 bit.
    possible: (Time, u128),
    pub(super) outages: Outages,
}

/// The packet in service.
struct Service<C> {
    packet: Packet,
    cargo: C,
    left: Work,
}

/// The rest of a transmission at an instant, in units of 1e-12 bit.
///
/// A rate in bit/s times a time in ps needs no rounding, however often the rate changes.
#[derive(Clone, Copy)]
struct Work {
    at: Time,
    amount: u64,
}

/// Picoseconds in a second.
const PS_PER_S: u64 = 1_000_000_000_000;

impl Work {
    fn of(size: u16, start: Time) -> Work {
        Work { at: start, amount: 8 * u64::from(size) * PS_PER_S }
    }

    /// The rest at `now`, after sending at `rate` since then.
    fn after(self, now: Time, rate: Rate) -> Work {
        let sent = u128::from((now - self.at).ps()) * u128::from(rate.bps());
        let sent = u64::try_from(sent).unwrap_or(u64::MAX);
        Work { at: now, amount: self.amount.saturating_sub(sent) }
    }

    /// When it ends at this rate, rounded up to a picosecond.
    fn end(self, rate: Rate) -> Time {
        self.at + Time::from_ps(self.amount.div_ceil(rate.bps().max(1)))
    }
}

impl<C: Default> Varying<C> {
    pub(super) fn new(link: LinkVariation) -> Varying<C> {
        let (service, gathered, zero) = (None, Vec::new(), Time::ZERO);
        let (possible, outages) = ((zero, 0), Outages::default());
        Varying { service, gathered, release: zero, last: zero, link, possible, outages }
    }

    /// Starts the transmission of a packet, which would end at `end` at the port's rate; returns its
    /// end on this link.
    pub(super) fn begin(&mut self, packet: Packet, cargo: C, (start, end): (Time, Time)) -> Time {
        let sent = self.link.opportunities.as_mut().map(|trace| trace.send(&packet, start));
        let left = Work::of(packet.size, start);
        self.service = Some(Service { packet, cargo, left });
        let end = sent.unwrap_or(end);
        if let Some(medium) = &self.link.medium {
            medium.take(end);
        }
        end
    }

    /// Whether the link may send from `start` on.
    pub(super) fn ask(&self, start: Time) -> Leave {
        self.link.medium.as_ref().map_or(Leave::Granted, |medium| medium.ask(start))
    }

    /// The link has no packet to send.
    pub(super) fn rest(&self) {
        if let Some(medium) = &self.link.medium {
            medium.rest();
        }
    }

    /// Changes the rate at `now`; returns the new end of the transmission in progress, if there is
    /// one.
    pub(super) fn change_rate(&mut self, now: Time, from: Rate, to: Rate) -> Option<Time> {
        if self.link.opportunities.is_some() {
            return None;
        }
        self.possible = (now, self.until(now, from));
        let service = self.service.as_mut()?;
        service.left = service.left.after(now, from);
        let end = service.left.end(to);
        if let Some(medium) = &self.link.medium {
            medium.end(end);
        }
        Some(end)
    }

    /// How much could be sent until `now` at the current rate, in units of 1e-12 bit.
    fn until(&self, now: Time, rate: Rate) -> u128 {
        let (since, before) = self.possible;
        if self.outages.present() {
            return before;
        }
        before + u128::from(now.saturating_sub(since).ps()) * u128::from(rate.bps())
    }

    /// How many bytes could have been sent until `now`; `rate` is the current one.
    pub(super) fn possible(&self, now: Time, rate: Rate) -> u64 {
        let bytes = || self.until(now, rate) / (8 * u128::from(PS_PER_S));
        let of_trace = self.link.opportunities.as_ref().map(|trace| trace.possible(now));
        of_trace.unwrap_or_else(|| u64::try_from(bytes()).unwrap_or(u64::MAX))
    }

    /// From now on packets take another path, and do not wait for earlier ones.
    pub(super) fn change_path(&mut self) {
        self.last = Time::ZERO;
    }

    /// Ends the transmission in progress at `end`, if there is one.
    pub(super) fn end_service(&mut self, end: Time, delay: Time, ring: &mut Ring<C>) {
        let Some(Service { packet, cargo, .. }) = self.service.take() else { return };
        let Some(batching) = self.link.batching else {
            return self.set_out(packet, cargo, (end, delay), ring);
        };
        if self.release < end {
            self.release(end, delay, ring);
        }
        if self.gathered.is_empty() {
            let every = batching.every.ps().max(1);
            self.release = Time::from_ps(end.ps().div_ceil(every).saturating_mul(every));
        }
        self.gathered.push((packet, cargo));
        if self.gathered.len() >= batching.packets as usize {
            self.release = end;
            self.release(end, delay, ring);
        }
    }

    /// Sends the gathered packets on, if they are due by `now`.
    pub(super) fn release(&mut self, now: Time, delay: Time, ring: &mut Ring<C>) {
        if self.release > now {
            return;
        }
        for (packet, cargo) in std::mem::take(&mut self.gathered) {
            self.set_out(packet, cargo, (self.release, delay), ring);
        }
    }

    fn set_out(
        &mut self,
        mut packet: Packet,
        cargo: C,
        (at, delay): (Time, Time),
        ring: &mut Ring<C>,
    ) {
        let crossing = match &mut self.link.propagation {
            Some(propagation) => propagation.cross(delay),
            None => Crossing { delay, waits: true, holds: true },
        };
        let due = at.saturating_add(crossing.delay);
        packet.at = if crossing.waits { due.max(self.last) } else { due };
        if crossing.holds {
            self.last = self.last.max(packet.at);
        }
        ring.insert(&packet, cargo);
    }

    /// The next event of the link, if it is sending until `free_at`: the end of a transmission or a
    /// batch.
    pub(super) fn next_event(&self, free_at: Time) -> Time {
        let end = if self.service.is_some() { free_at } else { Time::NEVER };
        if self.gathered.is_empty() { end } else { end.min(self.release) }
    }

    /// The packet in service, and those gathered.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let gathered = self.gathered.iter().map(|(packet, _)| packet);
        gathered.chain(self.service.iter().map(|service| &service.packet))
    }
}
