//! Control laws: small, pure state machines. A law has a *datapath* and a *controller*.
//!
//! The datapath runs at every packet: it reads knobs and writes counts. The controller runs at
//! intervals: it reads the counts and sets the knobs. Neither logs, allocates per packet, reads a
//! clock or owns a random generator: time and random numbers are arguments.

pub mod greedy;
pub mod keys;
pub mod media;
pub mod queue;
pub mod rate;
pub mod registry;
pub mod session;
pub mod settings;
pub mod video;

use crate::packet::{Flags, Packet};
use crate::units::{Rate, Time};

crate::named! {
    /// Why a packet did not get through. Each reason is a counter, a column value and a label.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[repr(u8)]
    Reason:
    /// The queue was full on arrival.
    QueueFull = "queue_full",
    /// The law of the queue dropped it before the queue was full: on arrival, or when its turn to
    /// be sent came.
    Early = "early",
    /// The gate refused the session that the packet would have opened.
    SessionRefused = "session_refused",
    /// The discipline removed the packet from the queue to make room for another.
    Evicted = "evicted",
    /// A law of the user's own decided so.
    Custom = "custom",
    /// The link lost the packet after its transmission.
    LinkLoss = "link_loss",
    /// A connection packet, dropped because too much data waited.
    Connection = "connection",
    /// A filter against greedy flows drops what comes from its origin.
    Filtered = "filtered",
    /// The policer had no tokens for it.
    Policed = "policed",
    /// It was older on arrival than the lifetime of packets at this port.
    Expired = "expired",
}

/// What a datapath decides on an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The packet continues.
    Pass,
    /// The packet continues, marked with CE; a packet without ECT is dropped instead.
    Mark(Reason),
    /// The packet is dropped silently.
    Drop(Reason),
    /// The packet is dropped, and the carrier answers with a reset.
    Reject(Reason),
}

impl Verdict {
    /// The verdict for this packet: without ECT a mark becomes a drop.
    #[inline]
    pub fn on(self, packet: &Packet) -> Verdict {
        match self {
            Verdict::Mark(reason) if !packet.flags.has(Flags::ECT) => Verdict::Drop(reason),
            verdict => verdict,
        }
    }
}

/// A source of random numbers; a law that needs none never calls it.
pub trait Draw {
    /// The next uniform number in `[0, 1)`.
    fn uniform(&mut self) -> f64;
}

/// The hooks of a per-packet law; by default each does nothing.
pub trait PerPacket: Send {
    /// Before the queue: may the packet continue?
    fn arrive(&mut self, _packet: &Packet, _now: Time, _draw: &mut dyn Draw) -> Verdict {
        Verdict::Pass
    }
    /// The queue has taken the packet.
    fn enqueued(&mut self, _packet: &Packet, _now: Time) {}
    /// The packet was lost at this port, before or out of the queue.
    fn dropped(&mut self, _packet: &Packet, _reason: Reason, _now: Time) {}
    /// Its transmission starts; the law may write into its headers.
    fn depart(&mut self, _packet: &mut Packet, _now: Time) {}
}

/// What a controller may see of its port.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Present capacity: of the link, or of the queue's shaper where that is less.
    pub rate: Rate,
    /// Packets waiting, the one in transmission not counted.
    pub queue_packets: u32,
    /// Bytes waiting, the packet in transmission not counted.
    pub queue_bytes: u64,
    /// Fewest packets waiting at any moment since the last tick.
    pub min_queue_packets: u32,
    /// Packets offered to the queue since the last tick, without refused sessions and filtered
    /// packets.
    pub queue_offered: u64,
    /// Packets dropped by the queue since the last tick, without refused sessions and losses on the
    /// link.
    pub queue_drops: u64,
    /// How long that capacity was in use since the last tick ([`crate::port::in_use`]).
    pub busy: Time,
    /// Since when the link has been idle, if it is.
    pub idle_since: Option<Time>,
    /// The waiting packets.
    pub queued: &'a queue::Waiting,
}

impl View<'_> {
    /// The share of the packets that the queue dropped since the last tick, 0 to 1. A packet that
    /// was dropped out of the queue may have been offered before it.
    pub fn lost(&self) -> f64 {
        (self.queue_drops as f64 / (self.queue_offered as f64).max(1.0)).min(1.0)
    }
}

/// What a law decided at a tick: a row of the `events` table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// The law's phase from now on.
    pub phase: &'static str,
    /// The new value. Session law: sessions allowed per epoch (infinite while everything passes).
    /// Rate law: the rate that senders are told.
    pub set: f64,
    /// The value that it follows from. Session law: (smoothed) completions per epoch, or the
    /// measure that is compared with a threshold. Rate law: its estimate of the traffic.
    pub from: f64,
}

/// Why a controller failed. Only a user's own law can fail.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Counters that never decrease. The counts of an interval are the difference of two readings, so
/// nothing has to be reset or stopped while they are read.
pub trait Counted: Copy + Default + Send {
    /// What was counted since an earlier reading.
    fn since(&self, before: &Self) -> Self;
}

/// The state of a port when a packet is processed.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// When it is.
    pub now: Time,
    /// Bytes waiting, this packet not counted.
    pub queue_bytes: u64,
}

/// The datapath of a law; by default each hook does nothing.
///
/// State from packet to packet is in `self`. Knobs and counts are plain numbers and can be stored
/// elsewhere, such as in a map shared with a kernel.
pub trait Datapath: Send {
    /// What the controller sets.
    type Knobs: Copy + Default + Send;
    /// What the datapath counts.
    type Counts: Counted;

    /// Before the queue: may the packet continue?
    fn admit(&mut self, _: &Packet, _: Time, _: &Self::Knobs, _: &mut Self::Counts) -> Verdict {
        Verdict::Pass
    }
    /// The packet is offered to the queue, which may still drop it.
    fn offered(&mut self, _: &Packet, _: &Moment, _: &Self::Knobs, _: &mut Self::Counts) {}
    /// The queue has accepted the packet.
    fn enqueued(&mut self, _: &Packet, _: &mut Self::Counts) {}
    /// The packet is lost at its arrival, behind the gate.
    fn dropped(&mut self, _: &Packet, _: &mut Self::Counts) {}
    /// The queue has dropped a packet that it had accepted: it evicted the packet, or dropped it
    /// when its turn came.
    fn dropped_from_queue(&mut self, packet: &Packet, counts: &mut Self::Counts) {
        self.dropped(packet, counts);
    }
    /// The transmission of the packet starts: the datapath may write to its header.
    fn depart(&mut self, _: &mut Packet, _: &Moment, _: &Self::Knobs, _: &mut Self::Counts) {}
    /// The controller has set new knobs; counters of the interval start again.
    fn renewed(&mut self, _: &Moment, _: &Self::Knobs, _: &mut Self::Counts) {}
}

/// When the law is called next, and what it decided (none: nothing changed).
pub type Turn = (Time, Option<Decision>);

/// The result of a controller's update.
pub type Step = Result<Turn, Fault>;

/// The controller of a law over knobs `K` and counts `C`.
pub trait Controller<K, C>: Send {
    /// Called once, before the first packet. Sets the knobs of the first interval and returns the
    /// first deadline, later than `now`.
    ///
    /// # Errors
    /// Only a user's own law fails; the run then does not start.
    fn start(&mut self, now: Time, knobs: &mut K) -> Result<Time, Fault>;

    /// Called at the deadline with the counts since the last call. Sets the knobs and returns the
    /// next deadline, later than `now`.
    ///
    /// # Errors
    /// Only a user's own law fails; the run then ends with this error.
    fn update(&mut self, now: Time, view: &View<'_>, counts: &C, knobs: &mut K) -> Step;
}
