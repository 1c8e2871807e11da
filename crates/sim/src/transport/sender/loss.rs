//! How a sender notices that segments are lost, what it sends again, and when.
//!
//! A loss detector is one file beside its `mod`, with an implementation of [`LossDetector`], and
//! its name in `detectors!` below. The sender asks it here and knows none of them.
//!
//! | detector     | an acknowledgement | the window is filled by | the timer |
//! |--------------|--------------------|-------------------------|-----------|
//! | [`Duplicates`] | the third duplicate, or blocks, begin recovery | new data; in recovery with SACK by holes first | goes back |
//! | [`Timed`]    | what is overdue is lost | losses first, then new data | all is lost |
//! | [`GoBack`]   | duplicates of the present burst go back | the burst | goes back |
//! | [`Late`]     | duplicates mean nothing | new data | every two round trips |

mod back;
mod detector;
mod duplicates;
mod late;
mod timed;

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::scenario::Transport;

use super::super::control::{Control, Payloads};
use super::super::receiver::Address;
use super::super::{ClassParams, Ctx};
use super::Sender;
use back::GoBack;
use detector::{Ack, LossDetector};
use duplicates::Duplicates;
use late::Late;
use timed::Timed;

/// Defines [`Detector`] from the names of the loss detectors; the first that a transport brings
/// with it is taken, and the last one where it brings none.
macro_rules! detectors {
    ($($name:ident)+; $last:ident) => {
        /// How a sender notices losses.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Detector {
            $($name($name),)+
            $last($last),
        }

        impl Detector {
            /// The one that the transport of a class brings with it.
            pub(crate) fn of(transport: &Transport) -> Detector {
                $(if let Some(own) = $name::of(transport) {
                    return Detector::$name(own);
                })+
                Detector::$last($last)
            }
        }

        /// Asks the loss detector of a class.
        macro_rules! ask {
            ($class:expr, $own:ident => $question:expr) => {
                match $class.detector {
                    $(Detector::$name($own) => $question,)+
                    Detector::$last($own) => $question,
                }
            };
        }
    };
}

detectors! { GoBack Late Timed; Duplicates }

/// Where the questions of [`LossDetector`] are put to that of the class.
impl<C: Control + Payloads> Sender<C> {
    /// An acknowledgement that the record of outstanding segments has taken note of; `told`: its
    /// blocks have new segments.
    pub(super) fn on_ack(
        &mut self,
        packet: &Packet,
        told: bool,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) {
        if ask!(ctx.class, own => own.on_ack(self, &Ack { packet, told, address }, ctx)) {
            return;
        }
        if packet.ack > self.una {
            return self.advanced(packet, address, ctx);
        }
        // a packet with data of its own is no duplicate acknowledgement (RFC 5681, 2)
        if self.una < self.nxt && !packet.flags.has(Flags::DATA) {
            self.hand_back(packet, false, ctx);
            if packet.seq > 0 {
                return self.take_part(packet, address, ctx);
            }
            self.on_duplicate(&Ack { packet, told, address }, ctx);
        }
    }

    // inlined, the two would cost the usual acknowledgement a hundredth of its instructions
    #[inline(never)]
    fn on_duplicate(&mut self, ack: &Ack<'_>, ctx: &mut Ctx<'_>) {
        ask!(ctx.class, own => own.on_duplicate(self, ack, ctx));
    }

    #[inline(never)]
    pub(super) fn on_recovery_ack(&mut self, segments: u32, address: &Address, ctx: &mut Ctx<'_>) {
        ask!(ctx.class, own => own.on_recovery_ack(self, segments, address, ctx));
    }

    /// Sends what is lost and what is new, as far as the window allows.
    pub(super) fn send_more(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        if !ask!(ctx.class, own => own.repair(self, address, ctx)) {
            self.send_window(address, ctx);
        }
    }

    #[inline]
    pub(super) fn pipe(&self, class: &ClassParams) -> u32 {
        ask!(class, own => own.pipe(self, class))
    }

    #[inline]
    pub(super) fn timeout_from_now(&self, ctx: &Ctx<'_>) -> Time {
        ask!(ctx.class, own => own.timeout_from_now(self, ctx))
    }

    /// When the retransmission timer fires that starts now, by RFC 6298.
    #[inline]
    fn usual_timeout(&self, ctx: &Ctx<'_>) -> Time {
        let wait = self.rto.timeout(ctx.class, self.rto.syn_again > 0);
        ctx.class.fires(ctx.source, ctx.net.now, wait)
    }

    pub(super) fn on_deadline(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        ask!(ctx.class, own => own.on_deadline(self, address, ctx));
    }

    pub(super) fn on_timeout(&mut self, flight: u32, class: &ClassParams) -> u32 {
        ask!(class, own => own.on_timeout(self, flight))
    }

    /// A duplicate inflates the window: in recovery, or before it where the control
    /// uses limited transmit (RFC 3042).
    fn inflate(&mut self, class: &ClassParams) {
        let counts = if self.recovering { !class.sack() } else { self.control.limited_transmit() };
        if counts {
            self.inflation += 1.0;
        }
    }
}
