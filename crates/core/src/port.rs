//! One output port of one link: the way of a packet from arrival to delivery.
//!
//! A packet meets, in this order, the filter, the gate, the queue, the stamp and the link;
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

mod filter;
mod queueing;
mod ring;
mod stage;
mod stages;
mod stamp;

use crate::law::queue::{Discipline, Room, Sum};
use crate::law::{Draw, Reason};
use crate::packet::{Flags, Packet};
use crate::units::{Pace, Rate, Time};

pub use filter::{Act, FilterStage, Names};
use queueing::{Origin, Staged};
use ring::Ring;
pub use stage::{Stage, Told};
pub use stages::{Stages, Ticked};
pub use stamp::Stamp;

/// What became of an arrival, and of what lay beside it.
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

/// What is counted as it happens; [`Counters`] follow from it. What every hop
/// counts comes first, and is little.
#[derive(Default)]
#[repr(C)]
struct Tally {
    departed: u64,
    departed_bytes: u64,
    busy_ps: u64,
    /// Packets that came, without payload and with it.
    arrived: [u64; 2],
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

/// An output port that carries a `C` beside each packet (nothing in the simulator).
///
/// The order of the fields is that of their use: a hop touches the first two
/// cache lines and the counters.
#[repr(C, align(64))]
pub struct Port<C = ()> {
    ring: Ring<C>,
    /// When the link has sent what was started.
    free_at: Time,
    /// When the carrier will look at this port next; the carrier's to use.
    pub armed: Time,
    staged: Option<Box<Staged<C>>>,
    pace: Pace,
    delay: Time,
    /// Bytes that wait in the ring.
    backlog_bytes: u64,
    /// Bytes that may wait (`u64::MAX` where packets are the limit).
    limit_bytes: u64,
    /// Packets that may wait (`u32::MAX` where bytes are the limit).
    limit_packets: u32,
    /// What the port calls itself on packets that leave it.
    number: u32,
    tally: Tally,
    rate: Rate,
}

impl<C: Default> Port<C> {
    /// A plain drop-tail port; `number` is what packets that leave it say.
    pub fn new(number: u32, rate: Rate, delay: Time, limit: Limit) -> Port<C> {
        let mut port = Port {
            ring: Ring::new(),
            free_at: Time::ZERO,
            pace: rate.pace(),
            delay,
            limit_packets: 0,
            limit_bytes: 0,
            backlog_bytes: 0,
            tally: Tally::default(),
            staged: None,
            rate,
            number,
            armed: Time::NEVER,
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

    /// Changes capacity and buffer, for transmissions that start from `now` on.
    ///
    /// A buffer that shrinks below its backlog drains; nothing is thrown out.
    /// The port may have to be looked at sooner than before ([`Port::next_event`]).
    pub fn set_capacity(&mut self, now: Time, rate: Rate, limit: Limit) {
        self.advance(now);
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
        let arrived = tally.arrived[0] + tally.arrived[1];
        Counters {
            arrived,
            departed: tally.departed,
            departed_bytes: tally.departed_bytes,
            busy_ps: tally.busy_ps,
            enqueued: arrived + after - tally.drops.iter().sum::<u64>(),
            dropped_waiting: tally.dropped_waiting,
            syn_arrived: tally.syn_arrived,
            data_arrived: tally.arrived[1],
            data_dropped: tally.data_dropped,
            syn_dropped: tally.syn_dropped,
            marked: tally.marked,
            drops: tally.drops,
        }
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
        self.tally.busy_ps - self.free_at.saturating_sub(now).ps()
    }

    /// When the port next has something to do: a delivery, or a held packet to let go.
    #[inline]
    pub fn next_event(&self) -> Time {
        let due = |head: Option<&Packet>| head.map_or(Time::NEVER, |packet| packet.at);
        let delivery = due(self.ring.in_flight_head());
        match &self.staged {
            None => delivery,
            Some(staged) => delivery.min(staged.wake()),
        }
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
        }
    }

    /// Starts the transmission of the oldest waiting packet.
    #[inline]
    fn serve(&mut self) {
        let packet = self.ring.first_waiting_mut();
        let start = self.free_at.max(packet.at);
        let spent = self.pace.of(u64::from(packet.size));
        self.tally.waited_ps = self.tally.waited_ps.wrapping_add(start.ps());
        self.tally.departed += 1;
        self.tally.departed_bytes += u64::from(packet.size);
        self.tally.busy_ps += spent.ps();
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
        let flags = self.last_delivered().flags;
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
        self.count_arrival(packet);
        if self.free_at <= now {
            self.serve_due(now);
            if self.free_at <= now {
                self.pass_through(packet, cargo, now);
                return Outcome::Taken;
            }
        }
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
        self.tally.arrived[usize::from(packet.flags.has(Flags::DATA))] += 1;
        if packet.flags.has(Flags::SYN) {
            self.tally.syn_arrived += 1;
        }
    }

    /// The link is idle: the packet does not wait.
    #[inline(always)]
    fn pass_through(&mut self, packet: &Packet, cargo: C, now: Time) {
        let size = u64::from(packet.size);
        let spent = self.pace.of(size);
        self.free_at = now + spent;
        let at = self.free_at + self.delay;
        let number = self.number;
        let slot = self.ring.push(packet, cargo);
        slot.at = at;
        slot.prev_port = number;
        self.ring.depart();
        self.tally.departed += 1;
        self.tally.departed_bytes += size;
        self.tally.busy_ps += spent.ps();
    }

    /// Puts the packet behind the others.
    #[inline(always)]
    fn take(&mut self, packet: &Packet, cargo: C, now: Time) -> &mut Packet {
        self.backlog_bytes += u64::from(packet.size);
        self.tally.waited_ps = self.tally.waited_ps.wrapping_sub(now.ps());
        let taken = self.ring.push(packet, cargo);
        taken.at = now;
        taken
    }

    #[cold]
    fn lose(&mut self, flags: Flags, reason: Reason) {
        self.tally.drops[reason as usize] += 1;
        self.tally.data_dropped += u64::from(flags.has(Flags::DATA));
        self.tally.syn_dropped += u64::from(flags.has(Flags::SYN));
    }
}
