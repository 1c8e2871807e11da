//! Going back: everything from the lost segment on is sent once more (blitz, 2.1).

use tidegate_core::units::Time;

use super::super::Ctx;
use super::super::control::Control;
use super::super::receiver::Address;
use super::Sender;

impl<C: Control> Sender<C> {
    /// Whether the control has losses repaired in another way than TCP; it has
    /// seen to this duplicate then.
    #[inline]
    pub(super) fn repairs_otherwise(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        match self.control.goes_back() {
            None if !self.control.repairs_late() => return false,
            Some(true) => self.go_back(address, ctx),
            None | Some(false) => self.send_more(address, ctx),
        }
        true
    }

    /// Starts again from the oldest unacknowledged segment.
    ///
    /// Whatever else the receiver holds is sent again too, until it says so:
    /// its acknowledgement then moves the next segment on.
    fn go_back(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.control.on_loss(self.flight());
        self.recover = self.max;
        self.dup_acks = 0;
        self.timing = false;
        self.nxt = self.una;
        // the timer starts with the first segment that the pace lets go
        self.deadline = Time::NEVER;
        self.send_more(address, ctx);
    }
}
