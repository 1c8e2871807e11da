//! Late repair: once everything was sent, what is missing is sent again every two round trips
//! (RCP's own code).

use tidegate_core::units::Time;

use super::super::Ctx;
use super::super::control::{Control, Payloads};
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// Everything was sent, and what is missing may be none of the last segments.
    pub(super) fn arm_late_repair(&mut self, ctx: &Ctx<'_>) {
        if self.deadline == Time::NEVER && self.una < self.end && self.nxt >= self.end {
            self.deadline = self.late_repair(ctx);
        }
    }

    /// When a control that repairs late looks for what is missing: two round
    /// trips after the last packet, and not before all were sent once.
    pub(super) fn late_repair(&self, ctx: &Ctx<'_>) -> Time {
        let srtt = self.rto.srtt();
        if self.nxt < self.end {
            Time::NEVER
        } else if srtt == Time::ZERO {
            ctx.net.now + self.rto.timeout(ctx.class, self.rto.syn_again > 0)
        } else {
            ctx.net.now + srtt * 2
        }
    }
}
