//! A link that varies: in its rate, in its delay, or from packet to packet.
//!
//! At a constant link the delivery of a packet is known when its transmission
//! starts. Here it is known when the transmission ends: the packet in service
//! is kept apart until then, and a change of the rate moves its end. The bits
//! already sent stay sent; the rest go at the new rate.
//!
//! What is sent may be gathered into batches, and propagates as long as the
//! delay and a law of the carrier's ([`Propagation`]) say.

use crate::packet::Packet;
use crate::units::{Rate, Time};

use super::medium::{Leave, Medium};
use super::opportunities::Opportunities;
use super::ring::Ring;

/// How long a packet propagates, where that is not the same for all of them.
pub trait Propagation: Send {
    /// The next packet, which sets out over a link with this delay.
    fn cross(&mut self, delay: Time) -> Crossing;
}

/// How a packet crosses a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// How long it propagates.
    pub delay: Time,
    /// Whether it never comes before those that set out before it.
    pub waits: bool,
    /// Whether those that set out after it, and wait, never come before it.
    pub holds: bool,
}

/// When a link delivers what it has sent, where it gathers packets first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batching {
    /// At multiples of this time, above zero.
    pub every: Time,
    /// Or as soon as so many are gathered, at least one.
    pub packets: u32,
}

/// What a link does besides sending at its rate and delivering after its delay.
#[derive(Default)]
pub struct Link {
    /// Of each packet; none: the link's delay, in the order of sending.
    pub propagation: Option<Box<dyn Propagation>>,
    /// None: each packet sets out by itself.
    pub batching: Option<Batching>,
    /// When the link sends, in place of its rate; none: always.
    pub opportunities: Option<Opportunities>,
    /// What it shares with other links; none: it sends whenever it likes.
    pub medium: Option<Medium>,
}

/// A varying link at work.
pub(super) struct Varying<C> {
    service: Option<Service<C>>,
    gathered: Vec<(Packet, C)>,
    /// When these set out, if there are any.
    release: Time,
    /// When the last one that holds others is delivered.
    last: Time,
    link: Link,
    /// When the rate changed last, and what could be sent until then: bits times picoseconds
    /// per second.
    possible: (Time, u128),
}

/// The packet in service.
struct Service<C> {
    packet: Packet,
    cargo: C,
    left: Work,
}

/// What is left of a transmission at an instant.
///
/// Counted in bits times picoseconds per second, so that a rate in bit/s times
/// a time in ps needs no rounding, however often the rate changes.
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

    /// What is left at `now`, after sending at `rate` since.
    fn after(self, now: Time, rate: Rate) -> Work {
        let sent = u128::from((now - self.at).ps()) * u128::from(rate.bps());
        let sent = u64::try_from(sent).unwrap_or(u64::MAX);
        Work { at: now, amount: self.amount.saturating_sub(sent) }
    }

    /// When it is done at this rate, rounded up to a picosecond.
    fn end(self, rate: Rate) -> Time {
        self.at + Time::from_ps(self.amount.div_ceil(rate.bps().max(1)))
    }
}

impl<C: Default> Varying<C> {
    pub(super) fn new(link: Link) -> Varying<C> {
        let (service, gathered, zero) = (None, Vec::new(), Time::ZERO);
        Varying { service, gathered, release: zero, last: zero, link, possible: (zero, 0) }
    }

    /// The transmission of a packet starts; returns when it ends, which at the port's rate
    /// is at `end`.
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

    /// The link has nothing to send.
    pub(super) fn rest(&self) {
        if let Some(medium) = &self.link.medium {
            medium.rest();
        }
    }

    /// The rate changes at `now`; when the packet in service will have been sent,
    /// if there is one.
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

    /// What could be sent until `now` at the present rate, in bits times picoseconds per second.
    fn until(&self, now: Time, rate: Rate) -> u128 {
        let (since, before) = self.possible;
        before + u128::from(now.saturating_sub(since).ps()) * u128::from(rate.bps())
    }

    /// What could have been sent until `now`, in bytes; `rate` is the present one.
    pub(super) fn possible(&self, now: Time, rate: Rate) -> u64 {
        let bytes = || self.until(now, rate) / (8 * u128::from(PS_PER_S));
        let of_trace = self.link.opportunities.as_ref().map(|trace| trace.possible(now));
        of_trace.unwrap_or_else(|| u64::try_from(bytes()).unwrap_or(u64::MAX))
    }

    /// Packets propagate along another path from now on: they need not wait for those before them.
    pub(super) fn change_path(&mut self) {
        self.last = Time::ZERO;
    }

    /// The transmission ends at `end`, if there is one.
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

    /// What is gathered sets out, if it is due by `now`.
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

    /// When something ends that the link does by itself, if it is sending until `free_at`.
    pub(super) fn next_event(&self, free_at: Time) -> Time {
        let end = if self.service.is_some() { free_at } else { Time::NEVER };
        if self.gathered.is_empty() { end } else { end.min(self.release) }
    }

    /// What is in service, and what is gathered.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let gathered = self.gathered.iter().map(|(packet, _)| packet);
        gathered.chain(self.service.iter().map(|service| &service.packet))
    }
}
