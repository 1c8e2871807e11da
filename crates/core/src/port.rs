//! One output port of one link: the way of a packet from arrival to delivery.
//!
//! A packet meets, in this order, the policer, the filter, the gate, the queue, the stamp and the link;
//! every stage but the link is optional. Service is *pulled lazily*: whoever
//! looks at the port first calls [`Port::advance`], which starts every
//! transmission that was due by then. The state at the end of a transmission
//! is complete before the arrival at `now` is looked at, so this equals a port
//! with an event at every end of transmission, for any work-conserving
//! discipline, evicting ones and changing rates included; a test holds it to
//! such a reference, to the picosecond.
//!
//! Packets lie by value. Those in transmission or propagation lie in a ring and
//! carry their delivery time; those that wait carry their arrival time. At a
//! plain port, which has no stage, they lie in the same ring behind the others;
//! at a port with stages in a slab, where a discipline knows them by handles.

mod contents;
mod filter;
mod medium;
mod opportunities;
mod police;
mod queueing;
mod ring;
mod stage;
mod stages;
mod stamp;
mod varying;

use crate::law::queue::{Discipline, Room, Sum};
use crate::law::{Draw, Reason};
use crate::packet::{Flags, Packet};
use crate::units::{Pace, Rate, Time};

pub use filter::{Act, FilterStage, Names};
pub use medium::Medium;
pub use opportunities::Opportunities;
pub use police::Policer;
use queueing::Staged;
use ring::Ring;
pub use stage::{Report, Stage};
use stages::Origin;
pub use stages::{Stages, Ticked};
pub use stamp::Stamp;
pub use varying::{Batching, Crossing, Link, Propagation};

/// The outcome of an arrival, with the cargo of its packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome<C = ()> {
    /// The port holds the packet.
    Taken,
    /// The packet is lost.
    Lost(Reason, C),
    /// The packet is lost and its sender is to be told.
    Rejected(Reason, C),
}

/// A limit of the waiting packets, the one in transmission not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most so many packets.
    Packets(u32),
    /// At most so many bytes.
    Bytes(u64),
}

/// What a port has counted since it was made.
///
/// At every moment `arrived = dropped before the queue + enqueued` and
/// `enqueued = departed + dropped out of the queue + waiting`. What the link
/// loses has departed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that came.
    pub arrived: u64,
    /// Packets whose transmission has started.
    pub departed: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Transmission time started so far, in picoseconds.
    pub busy_ps: u64,
    /// Packets that the queue took.
    pub enqueued: u64,
    /// Of these, packets that were lost while they waited: evicted, or dropped
    /// when it was their turn.
    pub dropped_waiting: u64,
    /// Of those that came, packets with SYN set.
    pub syn_arrived: u64,
    /// Of those that came, packets with payload.
    pub data_arrived: u64,
    /// Lost packets with payload.
    pub data_dropped: u64,
    /// Lost packets with SYN set.
    pub syn_dropped: u64,
    /// Packets that were marked instead of lost.
    pub marked: u64,
    /// Lost packets by [`Reason`], in the order of [`Reason::ALL`].
    pub drops: [u64; Reason::COUNT],
}

/// What every hop counts.
#[derive(Default)]
#[repr(C)]
struct Sent {
    bytes: u64,
    busy_ps: u64,
    /// Packets that came, without payload and with it.
    arrived: [u64; 2],
}

/// What else is counted as it happens; [`Counters`] follow from both.
#[derive(Default)]
#[repr(C)]
struct Tally {
    /// Packets that had to wait, and those of them whose transmission has started.
    taken: u64,
    served: u64,
    /// Sum of waiting times, in picoseconds modulo 2^64: only
    /// [`Port::waiting_ps`] and differences of it mean something.
    waited_ps: u64,
    syn_arrived: u64,
    data_dropped: u64,
    syn_dropped: u64,
    dropped_waiting: u64,
    marked: u64,
    drops: [u64; Reason::COUNT],
}

/// An output port that carries a `C` with each packet (nothing in the simulator).
///
/// The order of the fields is that of their use: a packet that need not wait
/// touches the first cache line alone.
#[repr(C, align(64))]
pub struct Port<C = ()> {
    /// When the link has sent what was started.
    free_at: Time,
    pace: Pace,
    delay: Time,
    /// What the port calls itself on packets that leave it.
    number: u32,
    /// A word of the carrier's own, about what it carries for this port.
    pub hint: u16,
    /// Whether the port is plain and nothing waits.
    clear: bool,
    sent: Sent,
    ring: Ring<C>,
    /// When the carrier will look at this port next; the carrier's to use.
    pub armed: Time,
    staged: Option<Box<Staged<C>>>,
    /// Bytes that wait in the ring.
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
    /// A plain drop-tail port; `number` is what packets that leave it say.
    pub fn new(number: u32, rate: Rate, delay: Time, limit: Limit) -> Port<C> {
        let mut port = Port {
            free_at: Time::ZERO,
            pace: rate.pace(),
            delay,
            number,
            hint: 0,
            clear: true,
            sent: Sent::default(),
            ring: Ring::new(),
            armed: Time::NEVER,
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

    /// Adds control to the port, with the randomness of its laws.
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

    /// Gives the port a link that varies: whose rate or delay changes, or that treats packets
    /// in its own way; nothing has arrived yet.
    ///
    /// Such a port keeps every packet until it is delivered.
    pub fn varying(mut self, link: Link) -> Port<C> {
        self.vary(link);
        self
    }

    /// Changes the propagation delay of packets whose transmission ends after `now`.
    ///
    /// On another path they may overtake those that are under way. On the same path, which
    /// has become longer or shorter, nothing overtakes.
    pub fn set_delay(&mut self, now: Time, delay: Time, another_path: bool) {
        self.advance(now);
        self.release(now);
        self.delay = delay;
        if another_path {
            self.change_path();
        }
        self.ask_again(now);
    }

    /// Changes capacity and buffer at `now`.
    ///
    /// At a port that is prepared for it ([`Port::varying`]) the rest of the packet in
    /// service goes at the new rate; at any other, the new rate begins with the next packet.
    /// A buffer that shrinks below its backlog drains; nothing is thrown out.
    /// The port may have to be looked at sooner than before ([`Port::next_event`]).
    pub fn set_capacity(&mut self, now: Time, rate: Rate, limit: Limit) {
        self.advance(now);
        self.change_service_rate(now, rate);
        self.rate = rate;
        self.pace = rate.pace();
        self.set_limit(limit);
        self.ask_again(now);
    }

    /// Present capacity.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// What was counted so far (call [`Port::advance`] first).
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
            drops: tally.drops,
        }
    }

    fn arrived(&self) -> u64 {
        self.sent.arrived[0] + self.sent.arrived[1]
    }

    /// What waits.
    #[inline]
    fn queue(&self) -> Sum {
        match &self.staged {
            None => Sum { packets: self.ring.waiting(), bytes: self.backlog_bytes },
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

    /// The average queue that the discipline goes by, in packets, or else that
    /// of the filter; none: neither keeps one.
    pub fn avg_queue_packets(&self, now: Time) -> Option<f64> {
        let stages = &self.staged.as_ref()?.stages;
        let (idle, pace) = (self.idle(now), self.pace);
        let filter = || stages.filter.as_ref().map(|filter| filter.average(idle, pace));
        stages.queue.average(idle, pace).or_else(filter)
    }

    /// How long the link has been idle; none: it is sending. (What is held back
    /// may wait at an idle link.)
    #[inline]
    fn idle(&self, now: Time) -> Option<Time> {
        (self.free_at <= now).then(|| now - self.free_at)
    }

    /// What may wait.
    #[inline]
    fn room(&self) -> Room {
        Room { packets: self.limit_packets, bytes: self.limit_bytes }
    }

    /// The integral of the number of waiting packets up to `now`, in packet
    /// picoseconds, modulo 2^64; differences give the mean queue of an interval.
    pub fn waiting_ps(&self, now: Time) -> u64 {
        let queued = u64::from(self.queue_packets());
        self.tally.waited_ps.wrapping_add(queued.wrapping_mul(now.ps()))
    }

    /// Transmission time up to `now`, in picoseconds.
    pub fn busy_ps(&self, now: Time) -> u64 {
        self.sent.busy_ps - self.free_at.saturating_sub(now).ps()
    }

    /// When the port next has something to do: a delivery, or a held packet to let go.
    ///
    /// Behind a packet that the carrier keeps ([`Port::pass`]) nothing is in
    /// flight here, and still something may wait.
    #[inline]
    pub fn next_event(&self) -> Time {
        let delivery = self.ring.in_flight_head().map(|packet| packet.at);
        match &self.staged {
            None => delivery.unwrap_or_else(|| self.first_departure()),
            Some(staged) => {
                let end = staged.link_event(self.free_at);
                let next = delivery.unwrap_or_else(|| staged.next_start(self.free_at));
                next.min(end).min(staged.wake())
            }
        }
    }

    /// When the oldest packet that waits in the ring will have been sent, and
    /// has crossed the link.
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
        while self.ring.waiting() > 0 && self.free_at <= now {
            self.serve();
            self.clear = self.ring.waiting() == 0;
        }
    }

    /// Starts the transmission of the oldest waiting packet.
    #[inline]
    fn serve(&mut self) {
        let packet = self.ring.first_waiting_mut();
        let start = self.free_at.max(packet.at);
        let spent = self.pace.of(u64::from(packet.size));
        self.tally.waited_ps = self.tally.waited_ps.wrapping_add(start.ps());
        self.tally.served += 1;
        self.sent.bytes += u64::from(packet.size);
        self.sent.busy_ps += spent.ps();
        self.backlog_bytes -= u64::from(packet.size);
        self.free_at = start + spent;
        packet.at = self.free_at + self.delay;
        packet.prev_port = self.number;
        self.ring.depart();
    }

    /// Takes the packet that is delivered at `now`, if one is.
    ///
    /// It stays readable in its place until the next arrival at this port.
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

    /// From now on keeps what is sent, to be taken by [`Port::take_sent`].
    pub fn watch(&mut self) {
        if self.is_plain() {
            self.stage(Stages::new(), Box::new(queueing::Undrawn));
        }
        if let Some(staged) = &mut self.staged {
            staged.stages.log.get_or_insert_default();
        }
    }

    /// The packets whose transmission has started since the last call, with
    /// the time of that; only a port that is watched knows them.
    pub fn take_sent(&mut self, now: Time) -> Vec<(Time, Packet)> {
        self.advance(now);
        let log = self.staged.as_mut().and_then(|staged| staged.stages.log.as_mut());
        log.map_or_else(Vec::new, std::mem::take)
    }

    /// Counts the packet that [`Port::deliver`] took last as lost on the link:
    /// it has departed and used the capacity, and goes nowhere.
    pub fn lose_delivered(&mut self) {
        self.lose_passed(self.last_delivered().flags);
    }

    /// The same of a packet with these flags that the carrier kept ([`Port::pass`]).
    pub fn lose_passed(&mut self, flags: Flags) {
        self.lose(flags, Reason::LinkLoss);
    }

    /// Arms the port for its next event, and returns it.
    #[inline]
    pub fn rearm(&mut self) -> Time {
        self.armed = self.next_event();
        self.armed
    }

    /// Whether neither a gate nor a discipline nor a stamp is at work here.
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

    /// The port's own node sends a packet that it has made itself, as an answer
    /// to another: it passes no gate.
    pub fn arrive_own(&mut self, packet: &Packet, cargo: C, now: Time) -> Outcome<C> {
        if self.is_plain() {
            return self.arrive_plain(packet, cargo, now);
        }
        self.arrive_staged(packet, cargo, now, Origin::Here)
    }

    /// A packet arrives at a port without stages ([`Port::is_plain`]).
    // a packet that was just made is written straight into its place in the
    // ring if the compiler sees both: put together elsewhere and copied, the
    // copy waits for the narrow stores before it (most of 10 % of a packet-hop)
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

    /// A packet arrives at `now`, and its transmission starts at once: when it
    /// is delivered. None: the port is not plain or not idle, and nothing has
    /// happened.
    ///
    /// The carrier keeps the packet and delivers it, or puts it back with
    /// [`Port::carry`] before anything else happens here.
    #[inline(always)]
    pub fn pass(&mut self, packet: &Packet, now: Time) -> Option<Time> {
        if self.free_at > now || !(self.clear || self.clears(now)) {
            return None;
        }
        self.count_arrival(packet);
        let size = u64::from(packet.size);
        let spent = self.pace.of(size);
        self.free_at = now + spent;
        self.sent.bytes += size;
        self.sent.busy_ps += spent.ps();
        Some(self.free_at + self.delay)
    }

    /// Whether all that waits has been sent by `now`.
    #[inline(never)]
    fn clears(&mut self, now: Time) -> bool {
        if !self.is_plain() {
            return false;
        }
        self.serve_due(now);
        self.free_at <= now
    }

    /// Keeps a packet that has just passed, until it is delivered at `at`.
    #[inline(always)]
    pub fn carry(&mut self, packet: &Packet, cargo: C, at: Time) {
        let number = self.number;
        let slot = self.ring.push(packet, cargo);
        slot.at = at;
        slot.prev_port = number;
        self.ring.depart();
    }

    /// A packet arrives at a plain port that [`Port::pass`] does not let through: it waits, or is lost.
    #[inline]
    pub fn line_up(&mut self, packet: &Packet, cargo: C, now: Time) -> Outcome<C> {
        self.count_arrival(packet);
        if self.ring.waiting() >= self.limit_packets
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

    /// Puts the packet behind the others.
    #[inline(always)]
    fn take(&mut self, packet: &Packet, cargo: C, now: Time) {
        self.clear = false;
        self.tally.taken += 1;
        self.backlog_bytes += u64::from(packet.size);
        self.tally.waited_ps = self.tally.waited_ps.wrapping_sub(now.ps());
        self.ring.push(packet, cargo).at = now;
    }

    #[cold]
    fn lose(&mut self, flags: Flags, reason: Reason) {
        self.tally.drops[reason as usize] += 1;
        self.tally.data_dropped += u64::from(flags.has(Flags::DATA));
        self.tally.syn_dropped += u64::from(flags.has(Flags::SYN));
    }
}
