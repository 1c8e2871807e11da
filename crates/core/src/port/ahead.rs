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
//!   advance, at the time at which it will arrive, whether it has to wait then or not
//!   ([`Port::book`]). Only one that will be lost arrives.
//!
//! What has been booked is in the port's counts already. Saved anybody looks at them, the carrier
//! sets the port back to now ([`Port::set_back`]).

use super::foreseen::{Before, Saved, Wait};
use super::{Port, Tally};
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

    /// The port gets all its packets from one that foresees, from now on: the carrier asks
    /// [`Port::book`] for each of them before it arrives. One that arrives nevertheless is lost.
    pub fn expect_bookings(&mut self) {
        debug_assert!(self.is_plain() && self.held().count() == 0);
        self.booked = true;
    }

    /// A packet will arrive at `at`, after all that were booked before: when it will be delivered.
    /// None: it will be lost for want of room. Then it has to arrive ([`Port::line_up`]).
    #[inline(always)]
    pub fn book(&mut self, packet: &Packet, at: Time, now: Time) -> Option<Time> {
        if self.free_at > at {
            return self.book_wait(packet, at, now);
        }
        Some(self.set_off(packet, at))
    }

    /// The same for a packet that will have to wait.
    // out of line: few packets wait at the link of a host. The search is short: as that link is not
    // the slower one, what waits there is never more than the largest packet
    #[inline(never)]
    fn book_wait(&mut self, packet: &Packet, at: Time, now: Time) -> Option<Time> {
        let (size, starts) = (u64::from(packet.size), self.free_at);
        let waits = &mut self.foreseen.waits;
        while waits.front().is_some_and(|wait| wait.starts <= now) {
            waits.pop_front();
        }
        let ahead = waits.iter().rev().take_while(|wait| wait.starts > at);
        let (packets, bytes) = ahead
            .fold((0, 0), |(packets, bytes), wait| (packets + 1, bytes + u64::from(wait.size)));
        if packets >= self.limit_packets || bytes + size > self.limit_bytes {
            return None;
        }
        waits.push_back(Wait { arrives: at, starts, size: packet.size });
        self.count_arrival(packet);
        self.tally.taken += 1;
        self.tally.waited.begin(at);
        self.backlog_bytes += size;
        self.free_at = self.transmit(size, starts);
        Some(self.free_at + self.delay)
    }

    /// When the transmission of a packet that was booked starts here, by the time of its delivery;
    /// and how long it takes.
    #[inline(always)]
    fn transmission(&self, packet: &Packet) -> (Time, Time) {
        let spent = self.pace.of(u64::from(packet.size));
        (packet.at - self.delay - spent, spent)
    }

    /// Whether a packet that was booked arrives here after `now`.
    pub fn is_early(&self, packet: &Packet, now: Time) -> bool {
        self.foreseen.arrival(self.transmission(packet).0) > now
    }

    /// Takes back what a packet that was booked has not done by `now`. The carrier calls it for every
    /// one that is on its way; `before` keeps what the port was before the first.
    #[inline(always)]
    pub fn set_back(&mut self, before: &mut Before, packet: &Packet, now: Time) {
        let (starts, spent) = self.transmission(packet);
        if before.0.is_none() {
            let Tally { taken, served, waited, syn_arrived, .. } = self.tally;
            let (sent, free_at) = (self.sent, self.free_at);
            before.0 = Some(Saved { sent, free_at, taken, served, waited, syn_arrived });
            self.free_at = Time::ZERO;
        }
        if starts <= now {
            self.free_at = self.free_at.max(starts + spent);
            return;
        }
        self.sent.bytes -= u64::from(packet.size);
        self.sent.busy_ps -= spent.ps();
        let arrives = self.foreseen.arrival(starts);
        let waits = arrives < starts;
        if waits {
            self.tally.served -= 1;
            self.tally.waited.begin(starts);
        }
        if arrives > now {
            self.sent.arrived[usize::from(packet.flags.has(Flags::DATA))] -= 1;
            self.tally.syn_arrived -= u64::from(packet.flags.has(Flags::SYN));
            if waits {
                self.tally.taken -= 1;
                self.tally.waited.end(arrives);
            }
        } else {
            self.backlog_bytes += u64::from(packet.size);
            self.foreseen.sizes.push_back(packet.size);
        }
    }

    /// Undoes [`Port::set_back`].
    pub fn undo_set_back(&mut self, before: &mut Before) {
        let Some(saved) = before.0.take() else { return };
        let Saved { sent, free_at, taken, served, waited, syn_arrived } = saved;
        (self.sent, self.free_at) = (sent, free_at);
        self.tally = Tally { taken, served, waited, syn_arrived, ..self.tally };
        self.backlog_bytes = 0;
        self.foreseen.sizes.clear();
    }
}
