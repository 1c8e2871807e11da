//! The stamp: writes into the header of a packet when its transmission starts.
//!
//! A value written at the arrival would be one queueing delay old when the packet leaves, and such
//! control loops oscillate with stale feedback.

use crate::law::rate::{Grant, RateLaw, vcp, xcp};
use crate::law::{Decision, Fault, Moment, View};
use crate::packet::Packet;
use crate::units::Time;

use super::stage::Stage;

/// Defines the enum of stamps from one line per datapath.
macro_rules! stamps {
    ($($(#[$doc:meta])* $arm:ident($datapath:ty);)+) => {
        /// The stamp of a port, by its datapath.
        pub enum Stamp {
            $($(#[$doc])* $arm(Stage<$datapath>),)+
        }

        impl Stamp {
            #[inline]
            pub(super) fn offered(&mut self, packet: &Packet, moment: &Moment) {
                match self {
                    $(Stamp::$arm(on) => on.offered(packet, moment),)+
                }
            }

            pub(super) fn dropped(&mut self, packet: &Packet) {
                match self {
                    $(Stamp::$arm(on) => on.dropped(packet),)+
                }
            }

            pub(super) fn dropped_from_queue(&mut self, packet: &Packet) {
                match self {
                    $(Stamp::$arm(on) => on.dropped_from_queue(packet),)+
                }
            }

            #[inline]
            pub(super) fn depart(&mut self, packet: &mut Packet, moment: &Moment) {
                match self {
                    $(Stamp::$arm(on) => on.depart(packet, moment),)+
                }
            }

            pub(super) fn note_queue(&mut self, waiting: u32) {
                match self {
                    $(Stamp::$arm(on) => on.note_queue(waiting),)+
                }
            }

            pub(super) fn tick_at(&self) -> Time {
                match self {
                    $(Stamp::$arm(on) => on.tick_at(),)+
                }
            }

            pub(super) fn start(&mut self, now: Time, view: View<'_>) -> Result<(), Fault> {
                match self {
                    $(Stamp::$arm(on) => on.start(now, view),)+
                }
            }

            pub(super) fn tick(&mut self, now: Time, view: View<'_>) -> Result<Option<Decision>, Fault> {
                match self {
                    $(Stamp::$arm(on) => Ok(on.tick(now, view)?.and_then(|told| told.decision)),)+
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
    /// One rate for all flows, set by this law.
    pub fn grant(law: RateLaw) -> Stamp {
        Stamp::Grant(Stage::new(Grant, law))
    }
}
