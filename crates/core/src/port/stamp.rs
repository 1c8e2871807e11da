//! The stamp: what a port writes into the header when it starts to send.
//!
//! Not on arrival: by the time that the packet leaves, what was true then is
//! one queue old, and stale feedback is what makes such loops swing.

use crate::law::rate::{Grant, Half, Moment, RateLaw, vcp, xcp};
use crate::law::{Decision, Fault, Interval, View};
use crate::packet::Packet;
use crate::units::Time;

use super::stages::Since;

/// A per-packet half at work, and the interval half that steers it.
pub struct Stamper<H: Half> {
    /// Per-packet half.
    pub half: H,
    /// What the interval half set last.
    pub knobs: H::Knobs,
    /// What the per-packet half has counted since.
    pub counts: H::Counts,
    /// Interval half.
    pub law: Box<dyn Interval<H::Knobs, H::Counts>>,
    deadline: Time,
    since: Since,
}

impl<H: Half> Stamper<H> {
    /// Starts the law at time zero.
    pub fn new(half: H, mut law: Box<dyn Interval<H::Knobs, H::Counts>>) -> Stamper<H> {
        let mut knobs = H::Knobs::default();
        let deadline = law.start(Time::ZERO, &mut knobs);
        let counts = H::Counts::default();
        Stamper { half, knobs, counts, law, deadline, since: Since::default() }
    }

    fn tick(&mut self, now: Time, view: View<'_>) -> Result<Option<Decision>, Fault> {
        if self.deadline > now {
            return Ok(None);
        }
        let view = self.since.view(view);
        self.deadline = self.law.update(now, &view, &mut self.counts, &mut self.knobs)?;
        let decision = self.law.decision();
        Ok((!decision.phase.is_empty()).then_some(decision))
    }
}

/// Makes the enum of stamps from one line for each per-packet half.
macro_rules! stamps {
    ($($(#[$doc:meta])* $arm:ident($half:ty);)+) => {
        /// The stamp of a port, by its per-packet half.
        pub enum Stamp {
            $($(#[$doc])* $arm(Stamper<$half>),)+
        }

        impl Stamp {
            #[inline]
            pub(super) fn arrive(&mut self, packet: &Packet, moment: &Moment) {
                match self {
                    $(Stamp::$arm(on) => on.half.arrive(packet, moment, &on.knobs, &mut on.counts),)+
                }
            }

            pub(super) fn dropped(&mut self, packet: &Packet) {
                match self {
                    $(Stamp::$arm(on) => on.half.dropped(packet, &mut on.counts),)+
                }
            }

            #[inline]
            pub(super) fn depart(&mut self, packet: &mut Packet, moment: &Moment) {
                match self {
                    $(Stamp::$arm(on) => on.half.depart(packet, moment, &on.knobs, &mut on.counts),)+
                }
            }

            pub(super) fn note_queue(&mut self, waiting: u32) {
                match self {
                    $(Stamp::$arm(on) => on.since.note_queue(waiting),)+
                }
            }

            pub(super) fn tick_at(&self) -> Time {
                match self {
                    $(Stamp::$arm(on) => on.deadline,)+
                }
            }

            pub(super) fn tick(&mut self, now: Time, view: View<'_>) -> Result<Option<Decision>, Fault> {
                match self {
                    $(Stamp::$arm(on) => on.tick(now, view),)+
                }
            }
        }
    };
}

stamps! {
    /// No flow gets more than the port's one rate.
    Grant(Grant);
    /// A change of rate in every packet.
    Share(xcp::Share);
    /// Two bits of load.
    Load(vcp::Load);
}

impl Stamp {
    /// One rate for all, set by this law.
    pub fn grant(law: RateLaw) -> Stamp {
        Stamp::Grant(Stamper::new(Grant, law))
    }
}
