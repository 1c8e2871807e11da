//! A port whose packets are known to be on time, before they are.
//!
//! Where nothing but its own packets can change what a plain port does (its rate and delay stay, and
//! packets are served in the order in which they come), the delivery of each packet is known when
//! the packet arrives. The carrier may use that in two ways:
//!
//! - A port that *foresees* stores no packet. It says at the arrival when the packet will be
//!   delivered, also if that has to wait ([`Port::foresee`]); of those that wait it keeps the sizes,
//!   for its limit and its counts.
//! - A port that gets all its packets from one port that foresees is *booked*: a packet passes it in
//!   advance, at the time at which it will arrive ([`Port::book`]). If it could not pass at once
//!   then, it arrives like any other, and so does every packet behind it until it has.
//!
//! What has been booked is in the port's counts already. Before anybody looks at them, the carrier
//! sets the port back to now ([`Port::rewind`]).

use super::Port;
use super::foreseen::Early;
use crate::law::Reason;
use crate::packet::{Flags, Packet};
use crate::units::Time;

impl<C: Default> Port<C> {
    /// The port foresees from now on: it is plain, its rate, delay and limit will not change, and it
    /// holds no packet. Whatever arrives, the carrier asks [`Port::pass`] and then
    /// [`Port::foresee`], and keeps it.
    pub fn look_ahead(&mut self) {
        debug_assert!(self.is_plain() && self.held().count() == 0);
        self.foresees = true;
    }

    /// Whether it does.
    #[inline(always)]
    pub fn foresees(&self) -> bool {
        self.foresees
    }

    /// A packet that [`Port::pass`] did not take arrives at a port that foresees: when it will be
    /// delivered; none: it is lost.
    #[inline(always)]
    pub fn foresee(&mut self, packet: &Packet, now: Time) -> Option<Time> {
        self.count_arrival(packet);
        let size = u64::from(packet.size);
        if self.foreseen.waiting() >= self.limit_packets
            || self.backlog_bytes + size > self.limit_bytes
        {
            self.lose(packet.flags, Reason::QueueFull);
            return None;
        }
        self.wait(size, now);
        let foreseen = &mut self.foreseen;
        foreseen.sizes.push_back(packet.size);
        // the last one that waits, or else the one that is being sent, goes before it
        foreseen.until = foreseen.until.max(self.free_at) + self.pace.of(size);
        Some(foreseen.until + self.delay)
    }

    /// Starts every transmission that is due by `now`, where the carrier has the packets.
    #[inline(always)]
    pub(super) fn serve_foreseen(&mut self, now: Time) {
        while self.free_at <= now
            && let Some(size) = self.foreseen.sizes.pop_front()
        {
            // a packet waits while others are sent, so it starts when the last of them ends
            self.free_at = self.transmit(u64::from(size), self.free_at);
            self.clear = self.foreseen.waiting() == 0;
        }
    }

    /// A packet will arrive at `at`, after all that were booked before: when it will be delivered
    /// if it can pass at once then. None: it cannot, or it follows one that has not arrived yet.
    /// Then it has to arrive by itself ([`Port::take_unbooked`]).
    #[inline(always)]
    pub fn book(&mut self, packet: &Packet, at: Time) -> Option<Time> {
        if self.free_at > at || !self.clear || self.unbooked > 0 {
            self.unbooked += 1;
            return None;
        }
        Some(self.set_off(packet, at))
    }

    /// A packet has arrived by itself; it is one of those that were not booked, if there are any.
    #[inline(always)]
    pub fn take_unbooked(&mut self) {
        if self.unbooked > 0 {
            self.unbooked -= 1;
        }
    }

    /// When a packet that was booked arrives here, by the time of its delivery; and how long its
    /// transmission takes.
    #[inline(always)]
    fn booked_for(&self, packet: &Packet) -> (Time, Time) {
        let spent = self.pace.of(u64::from(packet.size));
        (packet.at - self.delay - spent, spent)
    }

    /// Whether a packet that was booked arrives here after `now`.
    pub fn is_early(&self, packet: &Packet, now: Time) -> bool {
        self.booked_for(packet).0 > now
    }

    /// Notes a packet that is on its way from this port to a host: `early` has those that will
    /// arrive here after `now`.
    #[inline(always)]
    pub fn note_early(&self, early: &mut Early, packet: &Packet, now: Time) {
        let (arrives, spent) = self.booked_for(packet);
        if arrives <= now {
            early.free_at = early.free_at.max(arrives + spent);
            return;
        }
        early.arrived[usize::from(packet.flags.has(Flags::DATA))] += 1;
        early.syn_arrived += u64::from(packet.flags.has(Flags::SYN));
        early.bytes += u64::from(packet.size);
        early.busy_ps += spent.ps();
    }

    /// Sets the port back to the instant at which all that was noted in `early` has not arrived.
    pub fn rewind(&mut self, early: &mut Early) {
        if early.arrived == [0; 2] {
            return;
        }
        for (count, later) in self.sent.arrived.iter_mut().zip(early.arrived) {
            *count -= later;
        }
        self.tally.syn_arrived -= early.syn_arrived;
        self.sent.bytes -= early.bytes;
        self.sent.busy_ps -= early.busy_ps;
        // what could not be booked may be in transmission too
        let own = self.ring.in_flight_last().map_or(Time::ZERO, |packet| packet.at - self.delay);
        early.booked_until = self.free_at;
        self.free_at = early.free_at.max(own);
    }

    /// Undoes [`Port::rewind`]. Nothing waits where anything was booked, so that the port has
    /// started no transmission since.
    pub fn undo_rewind(&mut self, early: &Early) {
        if early.arrived == [0; 2] {
            return;
        }
        for (count, later) in self.sent.arrived.iter_mut().zip(early.arrived) {
            *count += later;
        }
        self.tally.syn_arrived += early.syn_arrived;
        self.sent.bytes += early.bytes;
        self.sent.busy_ps += early.busy_ps;
        self.free_at = early.booked_until;
    }
}
