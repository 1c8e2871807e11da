//! What a loss detector answers.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use super::super::super::control::{Control, Payloads};
use super::super::super::receiver::Address;
use super::super::super::{ClassParams, Ctx};
use super::super::Sender;

/// An acknowledgement that the record of outstanding segments has taken note of.
pub(super) struct Ack<'a> {
    pub(super) packet: &'a Packet,
    /// Its blocks have new segments.
    pub(super) told: bool,
    pub(super) address: &'a Address,
}

/// What a sender asks about losses. The answers here are those of a sender that repairs after a
/// timeout alone: it goes back to the oldest segment.
pub(super) trait LossDetector<C: Control + Payloads>: Copy {
    /// Answers an acknowledgement by rules of its own, which know no duplicates; false: it has none.
    fn on_ack(self, _: &mut Sender<C>, _: &Ack<'_>, _: &mut Ctx<'_>) -> bool {
        false
    }

    /// One more duplicate acknowledgement.
    fn on_duplicate(self, sender: &mut Sender<C>, ack: &Ack<'_>, ctx: &mut Ctx<'_>) {
        sender.inflate(ctx.class);
        sender.send_more(ack.address, ctx);
    }

    /// An acknowledgement of so many new segments in recovery.
    fn on_recovery_ack(self, _: &mut Sender<C>, _: u32, _: &Address, _: &mut Ctx<'_>) {}

    /// Sends what is lost and what is new by rules of its own, as far as the window allows; false:
    /// it has none, and the window is for new data.
    fn repair(self, _: &mut Sender<C>, _: &Address, _: &mut Ctx<'_>) -> bool {
        false
    }

    /// Segments thought to be in the network.
    fn pipe(self, sender: &Sender<C>, _: &ClassParams) -> u32 {
        sender.flight().saturating_sub(sender.dup_acks)
    }

    /// When the retransmission timer fires that starts now.
    fn timeout_from_now(self, sender: &Sender<C>, ctx: &Ctx<'_>) -> Time {
        sender.usual_timeout(ctx)
    }

    /// The flow's timer has fired before the retransmission timer: perhaps for a loss.
    fn on_deadline(self, _: &mut Sender<C>, _: &Address, _: &mut Ctx<'_>) {}

    /// The retransmission timer has expired: everything outstanding counts as lost. Returns what of
    /// the `flight` segments not acknowledged was in the network, not what has arrived (RFC 5681,
    /// eq. 4): the pipe of RFC 6675, 4.
    fn on_timeout(self, sender: &mut Sender<C>, flight: u32) -> u32 {
        let pipe = sender.outstanding.pipe(sender.una, sender.nxt);
        sender.outstanding.lose_all();
        sender.after_timeout = true;
        sender.nxt = sender.una;
        flight.min(pipe)
    }
}
