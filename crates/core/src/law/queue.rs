//! Queueing disciplines: what a port's queue takes, and what it sends next.
//!
//! A discipline is a [`Discipline`]: it is asked once per arrival, and once
//! for every packet that may be sent, at the start of its service. The packets
//! themselves lie in [`Waiting`], behind handles; the port puts them in, counts
//! them and takes them out. A new law is one more file, its
//! module and its line in `disciplines!`.

mod average;
pub mod cake;
pub mod codel;
pub mod drop_tail;
pub mod dual_queue;
pub mod fq_codel;
pub mod pie;
pub mod pushout;
pub mod red;
mod waiting;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

use crate::law::registry::choice;
use crate::law::settings::{Link, Refused};
use crate::law::{Draw, Fault, Reason, Turn, Verdict, View};
use crate::packet::Packet;
use crate::units::{Pace, Time};

pub use average::Average;
pub use waiting::{Chain, Handle, Links, Notes, Sum, Waiting};

/// What may wait at a port, the packet in transmission not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Packets (`u32::MAX` where bytes are the limit).
    pub packets: u32,
    /// Bytes (`u64::MAX` where packets are the limit).
    pub bytes: u64,
}

impl Room {
    /// Whether a packet of `size` bytes fits behind so many others.
    #[inline]
    pub fn fits(self, queue: Sum, size: u16) -> bool {
        queue.packets < self.packets && queue.bytes + u64::from(size) <= self.bytes
    }
}

/// What an arrival finds at its queue.
#[derive(Clone, Copy, Debug)]
pub struct ArrivalContext {
    /// When it arrives.
    pub now: Time,
    /// What waits, the packet in transmission not counted.
    pub queue: Sum,
    /// Whether the arrival fits behind that: it always does where nothing
    /// waits and the link is idle.
    pub fits: bool,
    /// How long the link has been idle; none: it is sending.
    pub idle: Option<Time>,
    /// Present pace of the link.
    pub pace: Pace,
    /// What may wait.
    pub room: Room,
}

/// The link, free to send one of the packets that wait.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// When service starts; it may be before the call.
    pub start: Time,
    /// How long the link has been idle by then.
    pub idle: Time,
    /// Present pace of the link.
    pub pace: Pace,
}

/// What a discipline does when the link is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// It sends this packet.
    Send(Handle),
    /// It sends this packet, marked as having met congestion; one that cannot
    /// carry a mark (no ECT) is lost instead, as having been dropped early.
    Mark(Handle),
    /// It loses this packet, and is asked again.
    Drop(Handle, Reason),
    /// It sends nothing before this instant, later than the start. It is asked
    /// then, and at every arrival before.
    NotBefore(Time),
}

/// A queueing discipline.
///
/// It never sees a clock: an arrival has its time, and what is sent has the
/// start of its service. It removes packets only by what it answers, and by
/// [`Waiting::evict`] in `arrive`.
pub trait Discipline: Send {
    /// A packet arrives: may it join the queue? Others may be evicted for it.
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        draw: &mut dyn Draw,
    ) -> Verdict;

    /// The packet that has just arrived was taken, under this handle.
    fn taken(&mut self, _handle: Handle, _waiting: &mut Waiting) {}

    /// An arrival that somebody above decides about, and that will not be
    /// taken here: a sample for a law that keeps an average.
    fn observe(&mut self, _found: &ArrivalContext) {}

    /// What is sent next; at least one packet waits.
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _draw: &mut dyn Draw) -> Next {
        waiting.oldest().map_or(Next::NotBefore(slot.start), Next::Send)
    }

    /// Called once, before the first packet: the first deadline of the law's
    /// own clock, later than `now`.
    ///
    /// # Errors
    /// Built-in laws never fail; a law that does never begins.
    fn start(&mut self, _now: Time) -> Result<Time, Fault> {
        Ok(Time::NEVER)
    }

    /// The law's clock has come to its deadline: the next one, and what was decided.
    ///
    /// # Errors
    /// Built-in laws never fail; a failing law ends the run with its error.
    fn tick(&mut self, _now: Time, _view: &View<'_>) -> Result<Turn, Fault> {
        Ok((Time::NEVER, None))
    }

    /// The average queue that it goes by, in packets, now that the link has
    /// been idle for so long (none: it is sending); none: it keeps none.
    fn average(&self, _idle: Option<Time>, _pace: Pace) -> Option<f64> {
        None
    }

    /// The weight of the newest sample in that average.
    fn weight(&self) -> Option<f64> {
        None
    }
}

/// Makes the enums of disciplines and of their settings from one line for
/// each: `Arm(module) = "name in documents"`.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal;)+) => {
        /// The discipline of a port.
        pub enum Queue {
            $($(#[$doc])* $arm($module::$arm),)+
            /// A discipline of the user's own.
            Custom(Box<dyn Discipline>),
        }

        /// Calls a method of whichever it is.
        macro_rules! each {
            ($queue:expr, $law:ident => $call:expr) => {
                match $queue {
                    $(Queue::$arm($law) => $call,)+
                    Queue::Custom($law) => $call,
                }
            };
        }

        crate::laws! {
            /// A discipline's name and settings.
            #[serde(expecting = "a table, as in { law = \"drop-tail\" }")]
            pub enum QueueLaw {
                $($(#[$doc])* $arm($module::Config) = $name,)+
            }
        }

        impl QueueLaw {
            /// Whether every value is in range at this link.
            ///
            /// # Errors
            /// The field that is not, and what would be right.
            pub fn check(&self, link: Link) -> Result<(), Refused> {
                match self {
                    $(QueueLaw::$arm(config) => config.check(link),)+
                }
            }

            /// The discipline at this link, with settings that have passed [`QueueLaw::check`].
            pub fn build(&self, link: Link) -> Queue {
                match self {
                    $(QueueLaw::$arm(config) => Queue::$arm($module::$arm::new(config, link)),)+
                }
            }
        }
    };
}

disciplines! {
    /// First come, first served; what does not fit is lost.
    DropTail(drop_tail) = "drop-tail";
    /// Random early detection.
    Red(red) = "red";
    /// Connection packets lost sooner than data.
    DualQueue(dual_queue) = "dual-queue";
    /// The worst packet gives way to a better one.
    PushOut(pushout) = "pushout";
    /// The proportional integral controller enhanced.
    Pie(pie) = "pie";
    /// Controlled delay.
    Codel(codel) = "codel";
    /// Flow queues in turn, each under controlled delay.
    FqCodel(fq_codel) = "fq-codel";
    /// Common applications kept enhanced.
    Cake(cake) = "cake";
}

impl Default for QueueLaw {
    fn default() -> QueueLaw {
        QueueLaw::DropTail(drop_tail::Config {})
    }
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::DropTail(drop_tail::DropTail)
    }
}

/// A discipline in a document: `{ law = "red", min_th = 15, max_th = 45 }`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, as in { law = \"drop-tail\" }")]
pub struct Chosen {
    /// The discipline and its settings.
    pub law: Box<QueueLaw>,
}

impl From<QueueLaw> for Chosen {
    fn from(law: QueueLaw) -> Chosen {
        Chosen { law: Box::new(law) }
    }
}

impl Serialize for Chosen {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.law.serialize(to)
    }
}

impl JsonSchema for Chosen {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        choice(QueueLaw::schemas(generator), &[], "Queueing discipline.")
    }
}

impl Discipline for Queue {
    #[inline]
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        draw: &mut dyn Draw,
    ) -> Verdict {
        each!(self, law => law.arrive(packet, waiting, found, draw))
    }

    #[inline]
    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        each!(self, law => law.taken(handle, waiting));
    }

    fn observe(&mut self, found: &ArrivalContext) {
        each!(self, law => law.observe(found));
    }

    #[inline]
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, draw: &mut dyn Draw) -> Next {
        each!(self, law => law.next(waiting, slot, draw))
    }

    fn start(&mut self, now: Time) -> Result<Time, Fault> {
        each!(self, law => law.start(now))
    }

    fn tick(&mut self, now: Time, view: &View<'_>) -> Result<Turn, Fault> {
        each!(self, law => law.tick(now, view))
    }

    fn average(&self, idle: Option<Time>, pace: Pace) -> Option<f64> {
        each!(self, law => law.average(idle, pace))
    }

    fn weight(&self) -> Option<f64> {
        each!(self, law => law.weight())
    }
}
