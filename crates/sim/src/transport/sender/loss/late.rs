//! Late repair: once everything was sent, what is missing is sent again every two round trips
//! (RCP's own code).

use tidegate_core::units::Time;
use tidegate_model::control::{Control as Chosen, Reliability};
use tidegate_model::scenario::Transport;

use super::super::super::Ctx;
use super::super::super::control::{Control, Payloads};
use super::super::super::receiver::Address;
use super::super::Sender;
use super::detector::LossDetector;

/// Every two round trips, once all was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late;

impl Late {
    pub(super) fn of(transport: &Transport) -> Option<Late> {
        match transport {
            Transport::Controlled(_, Chosen::Rcp(rcp)) => {
                (rcp.reliability == Reliability::Own).then_some(Late)
            }
            _ => None,
        }
    }
}

impl<C: Control + Payloads> LossDetector<C> for Late {
    #[inline(never)]
    fn repair(self, sender: &mut Sender<C>, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        sender.send_window(address, ctx);
        // everything was sent, and what is missing may be none of the last segments
        if sender.deadline == Time::NEVER && sender.una < sender.end && sender.nxt >= sender.end {
            sender.deadline = self.timeout_from_now(sender, ctx);
        }
        true
    }

    /// Two round trips after the last packet, and not before all were sent once.
    fn timeout_from_now(self, sender: &Sender<C>, ctx: &Ctx<'_>) -> Time {
        let srtt = sender.rto.srtt();
        if sender.nxt < sender.end {
            Time::NEVER
        } else if srtt == Time::ZERO {
            ctx.net.now + sender.rto.timeout(ctx.class, sender.rto.syn_again > 0)
        } else {
            ctx.net.now + srtt * 2
        }
    }
}
