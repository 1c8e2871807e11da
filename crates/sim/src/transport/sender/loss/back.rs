//! Going back: after so many duplicates everything from the hole on is sent once more (blitz, 2.1).

use tidegate_core::units::Time;
use tidegate_model::control::Control as Chosen;
use tidegate_model::scenario::Transport;

use super::super::super::Ctx;
use super::super::super::control::{Control, Payloads, Signal};
use super::super::Sender;
use super::detector::{Ack, LossDetector};

/// After `notice` duplicates that tell of a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoBack {
    notice: u32,
}

impl GoBack {
    pub(super) fn of(transport: &Transport) -> Option<GoBack> {
        match transport {
            Transport::Controlled(_, Chosen::Blitz(blitz)) => Some(GoBack { notice: blitz.notice }),
            _ => None,
        }
    }
}

impl<C: Control + Payloads> LossDetector<C> for GoBack {
    fn on_duplicate(self, sender: &mut Sender<C>, ack: &Ack<'_>, ctx: &mut Ctx<'_>) {
        sender.dup_acks += u32::from(sender.control.tells_of_loss(&ack.packet.ext));
        sender.inflate(ctx.class);
        if sender.dup_acks >= self.notice {
            sender.go_back(ctx);
        }
        sender.send_more(ack.address, ctx);
    }
}

impl<C: Control + Payloads> Sender<C> {
    /// Starts again from the oldest unacknowledged segment.
    ///
    /// Whatever else the receiver holds is sent again too, until it says so:
    /// its acknowledgement then moves the next segment on.
    fn go_back(&mut self, ctx: &Ctx<'_>) {
        self.control.on_congestion(Signal::Loss, &self.congestion_event(ctx));
        self.inflation = 0.0;
        self.recover = self.max;
        self.dup_acks = 0;
        self.rto.timing = false;
        self.nxt = self.una;
        // the timer starts with the first segment that the pace lets go
        self.deadline = Time::NEVER;
    }
}
