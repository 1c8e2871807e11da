//! Control laws: small pure state machines, and the seam between datapath and controller.
//!
//! A law has a *datapath*, which reads knobs and writes counts, and a
//! *controller*, which reads the counts once in a while and sets the knobs.
//! Neither logs, allocates per packet, reads a clock or draws a random number
//! that was not handed in.

pub mod greedy;
pub mod queue;
pub mod rate;
pub mod registry;
pub mod session;
pub mod settings;
pub mod video;

use crate::packet::{Flags, Packet};
use crate::units::{Rate, Time};

/// Why a packet did not get through: counter, column value and label at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Reason {
    /// The queue was full on arrival.
    QueueFull,
    /// The queue was getting long, and its law dropped early: on arrival, or
    /// when it was the packet's turn.
    Early,
    /// The gate refused the session that the packet would open.
    SessionRefused,
    /// The discipline took the packet out of the queue to make room for another.
    Evicted,
    /// A law of the user's own decided so.
    Custom,
    /// The link lost the packet after its transmission.
    LinkLoss,
    /// The queue held so much data that a connection was not to be opened.
    Connection,
    /// Its origin is greedy, and a filter stands against it.
    Filtered,
}

impl Reason {
    /// Every reason, in the order of its counter.
    pub const ALL: [Reason; 8] = [
        Reason::QueueFull,
        Reason::Early,
        Reason::SessionRefused,
        Reason::Evicted,
        Reason::Custom,
        Reason::LinkLoss,
        Reason::Connection,
        Reason::Filtered,
    ];
    /// How many reasons there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The name in columns and labels.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::QueueFull => "queue_full",
            Reason::Early => "early",
            Reason::SessionRefused => "session_refused",
            Reason::Evicted => "evicted",
            Reason::Custom => "custom",
            Reason::LinkLoss => "link_loss",
            Reason::Connection => "connection",
            Reason::Filtered => "filtered",
        }
    }
}

/// What a datapath decides on an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Let it go on.
    Pass,
    /// Let it go on, marked as having met congestion; one that cannot carry a
    /// mark is discarded instead.
    Mark(Reason),
    /// Discard it silently.
    Drop(Reason),
    /// Discard it and tell its sender so: the carrier answers with a reset.
    Reject(Reason),
}

impl Verdict {
    /// What the verdict comes to for this packet: without ECT a mark is a drop.
    #[inline]
    pub fn on(self, packet: &Packet) -> Verdict {
        match self {
            Verdict::Mark(reason) if !packet.flags.has(Flags::ECT) => Verdict::Drop(reason),
            verdict => verdict,
        }
    }
}

/// A source of randomness that is only asked by a law that needs it.
pub trait Draw {
    /// The next uniform number in `[0, 1)`.
    fn uniform(&mut self) -> f64;
}

/// The hooks of a datapath; each does nothing unless a law says otherwise.
pub trait PerPacket: Send {
    /// Before the queue: may the packet go on?
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
    /// Present capacity of the link.
    pub rate: Rate,
    /// Packets waiting, the one in transmission not counted.
    pub queue_packets: u32,
    /// Bytes waiting, the packet in transmission not counted.
    pub queue_bytes: u64,
    /// Fewest packets waiting at any moment since the last tick.
    pub min_queue_packets: u32,
    /// Packets that came to the queue since the last tick: neither refused
    /// sessions nor what was filtered.
    pub queue_offered: u64,
    /// Packets that the queue lost since the last tick: neither refused sessions
    /// nor what the link loses behind it.
    pub queue_drops: u64,
    /// Transmission time since the last tick.
    pub busy: Time,
    /// Since when the link has been idle, if it is.
    pub idle_since: Option<Time>,
    /// The waiting packets.
    pub queued: &'a queue::Waiting,
}

/// What a law decided at a tick, as a row for the `events` table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// The phase that the law is in now.
    pub phase: &'static str,
    /// The value that it set: for a session law, sessions allowed per epoch,
    /// infinite while everything passes; for a rate law, what it tells senders.
    pub set: f64,
    /// The value that it set it from: for a session law, the (smoothed)
    /// completions per epoch, or the measure that it holds against a threshold;
    /// for a rate law, what it takes the traffic to be.
    pub from: f64,
}

/// Why a controller could not go on: only a law of the user's own can fail.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Counts that only grow, so that whoever wrote them never has to be stopped
/// to read them.
pub trait Counted: Copy + Default + Send {
    /// What was counted between an earlier look and this one.
    fn since(&self, before: &Self) -> Self;
}

/// The port at the moment of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// When it is.
    pub now: Time,
    /// Bytes that wait, this packet not counted.
    pub queue_bytes: u64,
}

/// The datapath of a law; each hook does nothing unless it says otherwise.
///
/// What it must remember from packet to packet is its own (`self`). Knobs and
/// counts are plain numbers and may lie elsewhere, as in a map that a kernel
/// shares with whoever runs the controller.
pub trait Datapath: Send {
    /// What the controller sets.
    type Knobs: Copy + Default + Send;
    /// What the datapath counts.
    type Counts: Counted;

    /// Before the queue: may the packet go on?
    fn admit(&mut self, _: &Packet, _: Time, _: &Self::Knobs, _: &mut Self::Counts) -> Verdict {
        Verdict::Pass
    }
    /// The packet comes to the queue, which may lose it yet.
    fn offered(&mut self, _: &Packet, _: &Moment, _: &Self::Knobs, _: &mut Self::Counts) {}
    /// The queue has taken the packet.
    fn enqueued(&mut self, _: &Packet, _: &mut Self::Counts) {}
    /// The queue has lost the packet.
    fn dropped(&mut self, _: &Packet, _: &mut Self::Counts) {}
    /// The queue had taken the packet that it has lost: evicted it, or dropped it when it was its turn.
    fn untaken(&mut self, _: &Packet, _: &mut Self::Counts) {}
    /// Its transmission starts: the datapath may write into its header.
    fn depart(&mut self, _: &mut Packet, _: &Moment, _: &Self::Knobs, _: &mut Self::Counts) {}
    /// The controller has set the knobs: what holds for one interval begins anew.
    fn renewed(&mut self, _: &Moment, _: &Self::Knobs, _: &mut Self::Counts) {}
}

/// When a law is to be asked again, and what it decided; none: it only looked.
pub type Turn = (Time, Option<Decision>);

/// The controller of a law over knobs `K` and counts `C`.
pub trait Controller<K, C>: Send {
    /// Called once, before the first packet: sets the knobs of the first
    /// interval and returns the first deadline (later than `now`).
    ///
    /// # Errors
    /// Built-in laws never fail; a law that does never begins.
    fn start(&mut self, now: Time, knobs: &mut K) -> Result<Time, Fault>;

    /// Called at its deadline with what was counted since the last call: sets
    /// the knobs, and returns the next deadline (later than `now`).
    ///
    /// # Errors
    /// Built-in laws never fail; a failing law ends the run with its error.
    fn update(
        &mut self,
        now: Time,
        view: &View<'_>,
        counts: &C,
        knobs: &mut K,
    ) -> Result<Turn, Fault>;
}
