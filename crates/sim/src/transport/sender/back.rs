//! Going back: everything from the lost segment on is sent once more (blitz, 2.1).

use tidegate_core::units::Time;

use super::super::Ctx;
use super::super::control::{Control, Payloads, Signal};
use super::super::receiver::Address;
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// Starts again from the oldest unacknowledged segment.
    ///
    /// Whatever else the receiver holds is sent again too, until it says so:
    /// its acknowledgement then moves the next segment on.
    pub(super) fn go_back(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.control.on_congestion(Signal::Loss, &self.congestion_event(ctx));
        self.inflation = 0.0;
        self.recover = self.max;
        self.dup_acks = 0;
        self.rto.timing = false;
        self.nxt = self.una;
        // the timer starts with the first segment that the pace lets go
        self.deadline = Time::NEVER;
        self.send_more(address, ctx);
    }
}
