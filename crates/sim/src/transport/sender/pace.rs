//! When a sender may send next, by the pace of its control.

use tidegate_core::units::Time;

use crate::engine::{Entity, Kind};

use super::super::Ctx;
use super::super::control::Control;
use super::super::receiver::Address;
use super::Sender;

impl<C: Control> Sender<C> {
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
