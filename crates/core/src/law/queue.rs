//! Queueing disciplines: which packets a port's queue accepts, and which one it sends next.
//!
//! A discipline is a [`Discipline`]. It is called once per arrival, and once at the start of each
//! transmission. [`Waiting`] holds the packets and identifies them by handles; the port adds,
//! counts and removes them. A new law is one more file, its module and its line in `disciplines!`.

mod average;
pub mod cake;
pub mod codel;
pub mod dqm;
pub mod drop_tail;
pub mod dualpi2;
pub mod fq_codel;
pub mod fq_pie;
mod longest;
pub mod own;
pub mod pie;
pub mod pushout;
pub mod red;
mod traits;
mod waiting;

use crate::law::settings::{Link, Refused};
use crate::law::{Draw, Fault, Reason, Turn, Verdict, View};
use crate::packet::Packet;
use crate::units::{Pace, Rate, Time};

pub use average::Average;
pub use cake::shaper::Shaping;
pub use traits::Traits;
pub use waiting::{Chain, Handle, Links, Notes, Sum, Waiting};

/// How much may wait at a port, the packet in transmission not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Packets (`u32::MAX` where bytes are the limit).
    pub packets: u32,
    /// Bytes (`u64::MAX` where packets are the limit).
    pub bytes: u64,
}

impl Room {
    /// Whether a packet of `size` bytes fits behind this queue.
    #[inline]
    pub fn fits(self, queue: Sum, size: u16) -> bool {
        queue.packets < self.packets && queue.bytes + u64::from(size) <= self.bytes
    }
}

/// The state of the queue at an arrival.
#[derive(Clone, Copy, Debug)]
pub struct ArrivalContext {
    /// When it arrives.
    pub now: Time,
    /// What waits, the packet in transmission not counted.
    pub queue: Sum,
    /// Whether the arrival fits behind the queue. It always does if nothing waits and the link is
    /// idle.
    pub fits: bool,
    /// How long the link has been idle; none if it is sending.
    pub idle: Option<Time>,
    /// Current pace of the link.
    pub pace: Pace,
    /// How much may wait.
    pub room: Room,
}

/// The link is free: which packet is sent next?
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Start of the transmission; it can be earlier than the call.
    pub start: Time,
    /// How long the link has been idle by then.
    pub idle: Time,
    /// Current pace of the link.
    pub pace: Pace,
}

/// What a discipline does with a free link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Send this packet.
    Send(Handle),
    /// Send this packet with a congestion mark. Without ECT it is dropped instead, with the reason
    /// `Early`.
    Mark(Handle),
    /// Drop this packet and ask again.
    Drop(Handle, Reason),
    /// Send nothing before this instant, which is later than the start. The discipline is asked
    /// again then, and at every arrival before.
    NotBefore(Time),
}

/// A queueing discipline.
///
/// It reads no clock: an arrival comes with its time, a transmission with its start. It removes
/// packets only through its return values, and by [`Waiting::evict`] in `arrive`.
pub trait Discipline: Send {
    /// A packet arrives: is it accepted? Other packets may be evicted for it. A law that does not
    /// say takes what fits, as drop-tail does.
    #[inline]
    fn arrive(
        &mut self,
        _packet: &Packet,
        _waiting: &mut Waiting,
        found: &ArrivalContext,
        _draw: &mut dyn Draw,
    ) -> Verdict {
        if found.fits { Verdict::Pass } else { Verdict::Drop(Reason::QueueFull) }
    }

    /// The arrival was accepted, under this handle.
    fn taken(&mut self, _handle: Handle, _waiting: &mut Waiting) {}

    /// Whether it decides about what comes in by the other direction of its link, too.
    fn looks_at_ingress(&self) -> bool {
        false
    }

    /// A packet comes in by the other direction of the link; it will not wait here.
    fn come_in(
        &mut self,
        _packet: &Packet,
        _found: &ArrivalContext,
        _draw: &mut dyn Draw,
    ) -> Verdict {
        Verdict::Pass
    }

    /// An arrival that another law decides about and that this queue will not get: a sample for a
    /// law that keeps an average.
    fn observe(&mut self, _found: &ArrivalContext) {}

    /// Which packet is sent next; at least one waits.
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _draw: &mut dyn Draw) -> Next {
        waiting.oldest().map_or(Next::NotBefore(slot.start), Next::Send)
    }

    /// Called once, before the first packet. Returns the first deadline of the law's own clock,
    /// later than `now`.
    ///
    /// # Errors
    /// Only a user's own law fails; the run then does not start.
    fn start(&mut self, _now: Time) -> Result<Time, Fault> {
        Ok(Time::NEVER)
    }

    /// The law's deadline has come. Returns the next one, and what was decided.
    ///
    /// # Errors
    /// Only a user's own law fails; the run then ends with this error.
    fn tick(&mut self, _now: Time, _view: &View<'_>) -> Result<Turn, Fault> {
        Ok((Time::NEVER, None))
    }

    /// The average queue that the law uses, in packets, after the link has been idle for `idle`
    /// (none: it is sending). None if the law keeps no average.
    fn average(&self, _idle: Option<Time>, _pace: Pace) -> Option<f64> {
        None
    }

    /// The weight of the newest sample in that average.
    fn weight(&self) -> Option<f64> {
        None
    }

    /// Its shaper, if it has one: what is measured of the port goes by it where it is slower than
    /// the link.
    fn shaping(&self) -> Option<Shaping> {
        None
    }
}

/// Makes the enums of disciplines and of their settings from one line for
/// each: `Arm(module) = "name"`, as in [`laws!`](crate::laws).
macro_rules! disciplines {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal $(renamed $new:literal)?;)+) => {
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
            /// A discipline's name and settings: `{ law = "red", min_th = 15, max_th = 45 }`.
            "Queue", "Queueing discipline.", "a table, as in { law = \"drop-tail\" }";
            pub enum QueueLaw {
                $($(#[$doc])* $arm($module::Config) = $name $(renamed $new)?,)+
                /// A law of the user's own, supplied by name when the simulation is built.
                Custom(own::Config) = "python",
            }
        }

        impl Traits for QueueLaw {
            fn marks(&self, l4s: bool) -> bool {
                match self {
                    $(QueueLaw::$arm(config) => config.marks(l4s),)+
                    QueueLaw::Custom(config) => config.marks(l4s),
                }
            }

            fn asked_to_mark(&self) -> bool {
                match self {
                    $(QueueLaw::$arm(config) => config.asked_to_mark(),)+
                    QueueLaw::Custom(config) => config.asked_to_mark(),
                }
            }

            fn bandwidth(&self) -> Option<Rate> {
                match self {
                    $(QueueLaw::$arm(config) => config.bandwidth(),)+
                    QueueLaw::Custom(config) => config.bandwidth(),
                }
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
                    QueueLaw::Custom(config) => config.check(link),
                }
            }

            /// The discipline at this link, with settings that have passed [`QueueLaw::check`]. For
            /// a law of the user's own ([`QueueLaw::own`]) it is the default, until the caller
            /// supplies it ([`Queue::put_own`]).
            pub fn build(&self, link: Link) -> Queue {
                match self {
                    $(QueueLaw::$arm(config) => Queue::$arm($module::$arm::new(config, link)),)+
                    QueueLaw::Custom(_) => Queue::default(),
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
    Dqm(dqm) = "dual-queue" renamed "dqm";
    /// The worst packet gives way to a better one.
    PushOut(pushout) = "pushout";
    /// The proportional integral controller enhanced.
    Pie(pie) = "pie";
    /// Coupled queues for L4S and Classic traffic.
    Dualpi2(dualpi2) = "dualpi2";
    /// Controlled delay.
    Codel(codel) = "codel";
    /// Flow queues in turn, each under controlled delay.
    FqCodel(fq_codel) = "fq-codel";
    /// Flow queues in turn, each under the proportional integral controller.
    FqPie(fq_pie) = "fq-pie";
    /// Common applications kept enhanced.
    Cake(cake) = "cake";
}

impl QueueLaw {
    /// The name in documents and results; for a user's own law, the name given to it.
    pub fn name(&self) -> &str {
        match self {
            QueueLaw::Custom(own) => &own.name,
            law => law.key(),
        }
    }

    /// The name of the user's own law in it: this one, or the one beneath `dqm`.
    pub fn own(&self) -> Option<&str> {
        match self {
            QueueLaw::Custom(own) => Some(&own.name),
            QueueLaw::Dqm(dual) => dual.over.own(),
            _ => None,
        }
    }
}

impl Queue {
    /// Puts the user's own law into its place, which [`QueueLaw::own`] names.
    pub fn put_own(&mut self, own: Box<dyn Discipline>) {
        match self {
            Queue::Dqm(dual) => dual.put_beneath(Queue::Custom(own)),
            queue => *queue = Queue::Custom(own),
        }
    }
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::DropTail(drop_tail::DropTail)
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

    fn looks_at_ingress(&self) -> bool {
        each!(self, law => law.looks_at_ingress())
    }

    fn come_in(&mut self, packet: &Packet, found: &ArrivalContext, draw: &mut dyn Draw) -> Verdict {
        each!(self, law => law.come_in(packet, found, draw))
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

    fn shaping(&self) -> Option<Shaping> {
        each!(self, law => law.shaping())
    }
}
