//! One output port of one link: the way of a packet from arrival to delivery.
//!
//! A packet passes, in this order, the check of its age, the policer, the filter, the gate, the
//! queue, the stamp and the link. Every stage but the link is optional.
//!
//! Service is lazy: no event happens at the end of a transmission. Saved anything reads or changes
//! the port, it calls [`Port::advance`], which starts every transmission that was due. All of them
//! are complete before the arrival at `now` is handled. So the port equals one with an event at
//! every end of transmission, for any work-conserving discipline, with evictions and changes of the
//! rate. A test compares it with such a reference, to the picosecond.
//!
//! Packets are stored by value. Those in transmission or propagation are in a ring, with their
//! delivery time. Waiting packets have their arrival time. A plain port, which has no stage, stores
//! them in the same ring behind the others. A port with stages stores them in a slab, and its
//! discipline refers to them by handles.

mod ahead;
mod capacity;
mod contents;
mod foreseen;
mod in_use;
mod medium;
mod opportunities;
mod outages;
mod police;
mod queueing;
mod ring;
mod sent;
mod stage;
mod stages;
mod stamp;
mod varying;
mod waited;

use crate::law::queue::{Discipline, Room, Sum};
use crate::law::{Draw, Reason};
use crate::packet::{Flags, Packet};
use crate::units::{Pace, Rate, Time};

pub use foreseen::Before;
use foreseen::Foreseen;
pub use in_use::in_use;
pub use medium::Medium;
pub use opportunities::Opportunities;
pub use police::Policer;
use queueing::Staged;
use ring::Ring;
use sent::Sent;
pub use stage::{IntervalResult, Stage};
use stages::Origin;
pub use stages::{Stages, Ticked};
pub use stamp::Stamp;
pub use varying::{Batching, Crossing, LinkVariation, Propagation};
use waited::Waited;

/// The outcome of an arrival, with the cargo of its packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome<C = ()> {
    /// The port holds the packet.
    Taken,
    /// The packet is lost.
    Lost(Reason, C),
    /// The packet is lost, and its sender must be told.
    Rejected(Reason, C),
}

/// A limit of the waiting packets, without the one in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// In packets.
    Packets(u32),
    /// In bytes.
    Bytes(u64),
}

/// What a port has counted since it was made.
///
/// At every moment `arrived = dropped before the queue + enqueued` and
/// `enqueued = departed + dropped out of the queue + waiting`. A packet that the link loses has
/// departed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets whose transmission has started.
    pub departed: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Transmission time started so far, in picoseconds.
    pub busy_ps: u64,
    /// Packets that the queue accepted.
    pub enqueued: u64,
    /// Of these, packets that were lost while they waited: evicted, or dropped when their turn came.
    pub dropped_waiting: u64,
    /// Arrived packets with SYN set.
    pub syn_arrived: u64,
    /// Arrived packets with payload.
    pub data_arrived: u64,
    /// Lost packets with payload.
    pub data_dropped: u64,
    /// Lost packets with SYN set.
    pub syn_dropped: u64,
    /// Packets that were marked instead of lost.
    pub marked: u64,
    /// Packets that the link damaged after their transmission.
    pub damaged: u64,
    /// Packets that the link delivered twice.
    pub copied: u64,
    /// Lost packets by [`Reason`], in the order of [`Reason::ALL`].
    pub drops: [u64; Reason::COUNT],
}

/// Counts that change less often than [`Sent`]; [`Counters`] are computed from both.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Tally {
    /// Packets that had to wait, and how many of them have been transmitted since.
    taken: u64,
    served: u64,
    waited: Waited,
    syn_arrived: u64,
    data_dropped: u64,
    syn_dropped: u64,
    dropped_waiting: u64,
    marked: u64,
    drops: [u64; Reason::COUNT],
    damaged: u64,
    copied: u64,
}

/// An output port; with each packet it stores a `C` (in the simulator: nothing).
///
/// The fields are in the order of their use: a packet that need not wait uses the first cache line
/// alone.
#[repr(C, align(64))]
pub struct Port<C = ()> {
    /// When the link ends the transmission in progress.
    free_at: Time,
    pace: Pace,
    delay: Time,
    /// A value of the carrier's, about the packets that it carries for this port.
    pub hint: u16,
    /// Whether the port is plain and no packet waits in it, but for those that were booked.
    clear: bool,
    /// Whether the carrier keeps all packets ([`Port::look_ahead`]).
    foresees: bool,
    /// Whether it is booked ([`Port::expect_bookings`]).
    booked: bool,
    sent: Sent,
    ring: Ring<C>,
    /// The time of this port's pending event; the carrier sets it.
    pub armed: Time,
    foreseen: Foreseen,
    /// The port's number, written into packets that leave it.
    number: u32,
    staged: Option<Box<Staged<C>>>,
    /// Bytes of the packets waiting in the ring.
    backlog_bytes: u64,
    /// Bytes that may wait (`u64::MAX` where packets are the limit).
    limit_bytes: u64,
    /// Packets that may wait (`u32::MAX` where bytes are the limit).
    limit_packets: u32,
    tally: Tally,
    rate: Rate,
}

const _: () = assert!(std::mem::offset_of!(Port<()>, ring) == 64);

impl<C: Default> Port<C> {
    /// A plain drop-tail port; `number` is written into packets that leave it.
    pub fn new(number: u32, rate: Rate, delay: Time, limit: Limit) -> Port<C> {
        let mut port = Port {
            free_at: Time::ZERO,
            pace: rate.pace(),
            delay,
            hint: 0,
            clear: true,
            foresees: false,
            booked: false,
            sent: Sent::default(),
            ring: Ring::new(),
            armed: Time::NEVER,
            foreseen: Foreseen::default(),
            number,
            staged: None,
            backlog_bytes: 0,
            limit_bytes: 0,
            limit_packets: 0,
            tally: Tally::default(),
            rate,
        };
        port.set_limit(limit);
        port
    }

    /// Adds stages to the port, with the random draws of its laws.
    pub fn with_stages(mut self, stages: Stages, draw: Box<dyn Draw + Send>) -> Port<C> {
        self.stage(stages, draw);
        self
    }

    fn set_limit(&mut self, limit: Limit) {
        (self.limit_packets, self.limit_bytes) = match limit {
            Limit::Packets(packets) => (packets, u64::MAX),
            Limit::Bytes(bytes) => (u32::MAX, bytes),
        };
    }

    /// Gives the port a link that varies: its rate or delay changes, or it delays, reorders or
    /// gathers packets. No packet may have arrived before.
    ///
    /// Such a port stores every packet until its delivery.
    pub fn varying(mut self, link: LinkVariation) -> Port<C> {
        self.vary(link);
        self
    }

    /// Changes the propagation delay of packets whose transmission ends after `now`.
    ///
    /// On another path they may overtake earlier packets. On the same path, which has become longer
    /// or shorter, no packet overtakes another.
    pub fn set_delay(&mut self, now: Time, delay: Time, another_path: bool) {
        self.advance(now);
        self.release(now);
        self.delay = delay;
        if another_path {
            self.change_path();
        }
        self.ask_again(now);
    }

    /// Changes capacity and buffer at `now`; a capacity of 0 is an outage.
    ///
    /// At a varying port ([`Port::varying`]) the rest of the packet in service is sent at the new
    /// rate. At any other port the new rate begins with the next packet. If the buffer becomes
    /// smaller than its backlog, no packet is dropped: the backlog drains. The port's next event may
    /// become earlier ([`Port::next_event`]).
    pub fn set_capacity(&mut self, now: Time, rate: Rate, limit: Limit) {
        self.advance(now);
        self.rate = self.change_service_rate(now, rate);
        self.pace = self.rate.pace();
        self.set_limit(limit);
        self.ask_again(now);
    }

    /// The rate at which it sends, never 0; [`Port::capacity`] is what is measured.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The counts so far (call [`Port::advance`] first).
    pub fn counters(&self) -> Counters {
        let tally = &self.tally;
        let after = tally.dropped_waiting + tally.drops[Reason::LinkLoss as usize];
        let arrived = self.arrived();
        let enqueued = arrived + after - tally.drops.iter().sum::<u64>();
        Counters {
            arrived,
            departed: enqueued - tally.taken + tally.served,
            departed_bytes: self.sent.bytes,
            busy_ps: self.sent.busy_ps,
            enqueued,
            dropped_waiting: tally.dropped_waiting,
            syn_arrived: tally.syn_arrived,
            data_arrived: self.sent.arrived[1],
            data_dropped: tally.data_dropped,
            syn_dropped: tally.syn_dropped,
            marked: tally.marked,
            damaged: tally.damaged,
            copied: tally.copied,
            drops: tally.drops,
        }
    }

    fn arrived(&self) -> u64 {
        self.sent.arrived[0] + self.sent.arrived[1]
    }

    /// The waiting packets and bytes.
    #[inline]
    fn queue(&self) -> Sum {
        match &self.staged {
            None => Sum {
                packets: self.ring.waiting() + self.foreseen.waiting(),
                bytes: self.backlog_bytes,
            },
            Some(staged) => staged.waiting.all(),
        }
    }

    /// Packets waiting.
    #[inline]
    pub fn queue_packets(&self) -> u32 {
        self.queue().packets
    }

    /// Bytes waiting.
    pub fn queue_bytes(&self) -> u64 {
        self.queue().bytes
    }

    /// The average queue that the discipline uses, in packets, or else that of the filter; none:
    /// neither has one.
    pub fn avg_queue_packets(&self, now: Time) -> Option<f64> {
        let stages = &self.staged.as_ref()?.stages;
        let (idle, pace) = (self.idle(now), self.pace);
        let filter = || stages.filter.as_ref().and_then(|filter| filter.average(idle, pace));
        stages.queue.average(idle, pace).or_else(filter)
    }

    /// How long the link has been idle; none: it is sending. (Held packets may wait at an idle
    /// link.)
    #[inline]
    fn idle(&self, now: Time) -> Option<Time> {
        (self.free_at <= now).then(|| now - self.free_at)
    }

    /// How much may wait.
    #[inline]
    fn room(&self) -> Room {
        Room { packets: self.limit_packets, bytes: self.limit_bytes }
    }

    /// The integral of the number of waiting packets up to `now`, in packet
    /// picoseconds; differences give the mean queue of an interval.
    pub fn waiting_ps(&self, now: Time) -> u128 {
        self.tally.waited.until(now, self.queue_packets())
    }

    /// Transmission time up to `now`, in picoseconds.
    pub fn busy_ps(&self, now: Time) -> u64 {
        self.sent.busy_ps - self.free_at.saturating_sub(now).ps()
    }

    /// The time of the port's next event: a delivery, or the end of a hold.
    ///
    /// While the carrier keeps the packet in transmission ([`Port::pass`]), no packet is in flight
    /// here, but packets may wait.
    #[inline(always)]
    pub fn next_event(&self) -> Time {
        let delivery = self.ring.in_flight_head().map(|packet| packet.at);
        match &self.staged {
            None => delivery.unwrap_or_else(|| self.first_departure()),
            Some(staged) => staged.next_event(delivery, self.free_at),
        }
    }

    /// When the oldest packet waiting in the ring will be delivered.
    #[inline]
    fn first_departure(&self) -> Time {
        let Some(packet) = self.ring.first_waiting() else { return Time::NEVER };
        self.free_at.max(packet.at) + self.pace.of(u64::from(packet.size)) + self.delay
    }

    /// Starts every transmission that is due by `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if self.free_at > now {
            return;
        }
        if self.is_plain() {
            return self.serve_due(now);
        }
        self.advance_staged(now);
    }

    #[inline]
    fn serve_due(&mut self, now: Time) {
        if self.foresees {
            return self.serve_foreseen(now);
        }
        while self.ring.waiting() > 0 && self.free_at <= now {
            self.serve();
            self.clear = self.ring.waiting() == 0;
        }
    }

    /// Starts the transmission of the oldest waiting packet.
    #[inline]
    fn serve(&mut self) {
        let packet = self.ring.first_waiting();
        let Some((at, size)) = packet.map(|packet| (packet.at, u64::from(packet.size))) else {
            return;
        };
        self.free_at = self.transmit(size, self.free_at.max(at));
        let packet = self.ring.first_waiting_mut();
        packet.at = self.free_at + self.delay;
        packet.prev_port = self.number;
        self.ring.depart();
    }

    /// Counts the transmission of a packet that has waited until `start`; returns its end.
    #[inline(always)]
    fn transmit(&mut self, size: u64, start: Time) -> Time {
        let spent = self.pace.of(size);
        self.tally.waited.end(start);
        self.tally.served += 1;
        self.sent.bytes += size;
        self.sent.busy_ps += spent.ps();
        self.backlog_bytes -= size;
        start + spent
    }

    /// Takes the packet whose delivery is due at `now`, if there is one.
    ///
    /// It can be read until the next arrival at this port.
    #[inline]
    pub fn deliver(&mut self, now: Time) -> Option<(&Packet, C)> {
        if self.is_plain() {
            self.serve_due(now);
        } else {
            self.advance(now);
            self.release(now);
        }
        self.ring.pop_delivered(now)
    }

    /// The packet that [`Port::deliver`] took last, until the next arrival at this port.
    #[inline]
    pub fn last_delivered(&self) -> &Packet {
        self.ring.last_popped()
    }

    /// The packets whose transmission has started since the last call, with its time; none unless
    /// the port is watched.
    pub fn take_sent(&mut self, now: Time) -> Vec<(Time, Packet)> {
        self.advance(now);
        let log = self.staged.as_mut().and_then(|staged| staged.stages.log.as_mut());
        log.map_or_else(Vec::new, std::mem::take)
    }

    /// Counts the packet that [`Port::deliver`] took last as lost on the link: it has departed and
    /// used the capacity.
    pub fn lose_delivered(&mut self) {
        self.lose_passed(self.last_delivered().flags);
    }

    /// The same for a packet with these flags that the carrier kept ([`Port::pass`]).
    pub fn lose_passed(&mut self, flags: Flags) {
        self.lose(flags, Reason::LinkLoss);
    }

    /// Counts a packet that the link has damaged, or delivered twice.
    pub fn note_mishap(&mut self, damaged: bool, twice: bool) {
        self.tally.damaged += u64::from(damaged);
        self.tally.copied += u64::from(twice);
    }

    /// Computes the port's next event, notes it as pending and returns it.
    #[inline]
    pub fn rearm(&mut self) -> Time {
        self.armed = self.next_event();
        self.armed
    }

    /// Whether the port has no stage.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.staged.is_none()
    }

    /// A packet arrives at `now`.
    pub fn arrive(&mut self, packet: &Packet, cargo: C, now: Time) -> Outcome<C> {
        if self.is_plain() {
            return self.arrive_plain(packet, cargo, now);
        }
        self.arrive_staged(packet, cargo, now, Origin::Elsewhere)
    }

    /// The port's node sends a packet of its own, such as an answer: it skips the gate.
    pub fn arrive_own(&mut self, packet: &Packet, cargo: C, now: Time) -> Outcome<C> {
        if self.is_plain() {
            return self.arrive_plain(packet, cargo, now);
        }
        self.arrive_staged(packet, cargo, now, Origin::Here)
    }

    /// A packet arrives at a port without stages ([`Port::is_plain`]).
    // inlined, so that the compiler writes a new packet straight into the ring: a copy of it would
    // wait for the narrow stores before it (most of 10 % of a packet-hop)
    #[inline(always)]
    pub fn arrive_plain(&mut self, packet: &Packet, cargo: C, now: Time) -> Outcome<C> {
        match self.pass(packet, now) {
            Some(at) => {
                self.carry(packet, cargo, at);
                Outcome::Taken
            }
            None => self.line_up(packet, cargo, now),
        }
    }

    /// A packet arrives at `now` and its transmission starts at once; returns its delivery time.
    /// None: the port is not plain or not idle, and is unchanged.
    ///
    /// The carrier keeps the packet and delivers it, or returns it by [`Port::carry`] before the
    /// port is used again.
    #[inline(always)]
    pub fn pass(&mut self, packet: &Packet, now: Time) -> Option<Time> {
        if self.free_at > now || !(self.clear || self.clears(now)) {
            return None;
        }
        Some(self.set_off(packet, now))
    }

    /// The transmission of a packet starts as it arrives, at `now`; returns its delivery time.
    #[inline(always)]
    fn set_off(&mut self, packet: &Packet, now: Time) -> Time {
        self.count_arrival(packet);
        let size = u64::from(packet.size);
        let spent = self.pace.of(size);
        self.free_at = now + spent;
        self.sent.bytes += size;
        self.sent.busy_ps += spent.ps();
        self.free_at + self.delay
    }

    /// Whether all waiting packets are sent by `now`.
    #[inline(never)]
    fn clears(&mut self, now: Time) -> bool {
        if self.foresees {
            self.serve_foreseen(now);
        } else if self.is_plain() {
            self.serve_due(now);
        } else {
            return false;
        }
        self.free_at <= now
    }

    /// Stores a packet that has just passed, until its delivery at `at`.
    #[inline(always)]
    pub fn carry(&mut self, packet: &Packet, cargo: C, at: Time) {
        let number = self.number;
        let slot = self.ring.push(packet, cargo);
        slot.at = at;
        slot.prev_port = number;
        self.ring.depart();
    }

    /// A packet that [`Port::pass`] did not take arrives at a plain port: it waits or is lost.
    #[inline]
    pub fn line_up(&mut self, packet: &Packet, cargo: C, now: Time) -> Outcome<C> {
        self.count_arrival(packet);
        // at a booked port what arrives could not be booked, for want of room
        if self.booked
            || self.ring.waiting() >= self.limit_packets
            || self.backlog_bytes + u64::from(packet.size) > self.limit_bytes
        {
            self.lose(packet.flags, Reason::QueueFull);
            return Outcome::Lost(Reason::QueueFull, cargo);
        }
        self.take(packet, cargo, now);
        Outcome::Taken
    }

    #[inline(always)]
    fn count_arrival(&mut self, packet: &Packet) {
        self.sent.arrived[usize::from(packet.flags.has(Flags::DATA))] += 1;
        if packet.flags.has(Flags::SYN) {
            self.tally.syn_arrived += 1;
        }
    }

    /// Appends the packet to those waiting.
    #[inline(always)]
    fn take(&mut self, packet: &Packet, cargo: C, now: Time) {
        self.wait(u64::from(packet.size), now);
        self.ring.push(packet, cargo).at = now;
    }

    /// Counts a packet that has to wait.
    #[inline(always)]
    fn wait(&mut self, size: u64, now: Time) {
        self.clear = false;
        self.tally.taken += 1;
        self.backlog_bytes += size;
        self.tally.waited.begin(now);
    }

    #[cold]
    fn lose(&mut self, flags: Flags, reason: Reason) {
        self.tally.drops[reason as usize] += 1;
        self.tally.data_dropped += u64::from(flags.has(Flags::DATA));
        self.tally.syn_dropped += u64::from(flags.has(Flags::SYN));
    }
}
