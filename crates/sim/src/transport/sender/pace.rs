//! When a sender may send next, by the pace of its control.

use tidegate_core::units::Time;

use crate::engine::{Entity, Kind};

use super::super::Ctx;
use super::super::control::{Control, Payloads};
use super::super::receiver::Address;
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// Whether the pace lets a packet go now; if not, an event is pending for
    /// when it will. A changed pace counts at once, from the last packet on.
    #[inline]
    pub(super) fn pace_allows(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        let Some(gap) = self.control.gap() else { return true };
        let due = self.pace_from.saturating_add(gap);
        if due <= ctx.net.now {
            return true;
        }
        // an event of its own: the retransmission timer's stays where it is
        if due < self.wake && due < Time::NEVER {
            self.wake = due;
            ctx.net.events.push(due, Entity::new(Kind::Pace, address.flow));
        }
        false
    }

    /// A packet leaves; one that left before its time (a repair) delays the next.
    #[inline]
    pub(super) fn note_pace(&mut self, now: Time) {
        if let Some(gap) = self.control.gap() {
            self.pace_from = now.max(self.pace_from.saturating_add(gap));
        }
    }

    /// The pace lets the next packet go.
    pub(crate) fn go_on(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        // an event of an earlier owner of the slot, or of a slower pace, says another time
        if self.wake == ctx.net.now {
            self.wake = Time::NEVER;
            self.send_more(address, ctx);
        }
    }
}
