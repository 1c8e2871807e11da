//! How long the capacity of a port was in use, whichever of its link and its shaper is slower.

use crate::units::Time;

/// How long the capacity of a port was in use during `span`, all in picoseconds.
///
/// The link was for as long as it transmitted. A shaper gives packets their time at its rate, and no
/// more of it than has passed; that a slower link has kept packets back allows it a burst, which
/// takes less time than it was given. Whichever was in use for longer is the slower of the two: it
/// may be so by the overhead that the shaper counts, at the same rate.
pub fn in_use(transmitting: u64, given: u64, span: u64) -> u64 {
    transmitting.max(given.min(span))
}

/// How long the capacity was in use up to the last time that a law looked.
#[derive(Clone, Copy, Default)]
pub(super) struct InUse {
    at: Time,
    transmitting: Time,
    given: Time,
    sum: Time,
}

impl InUse {
    /// The sum up to `now`, by what the link has transmitted and the shaper has given since the
    /// creation of the port. Which of the two is slower may change from one look to the next.
    pub(super) fn until(&mut self, now: Time, transmitting: Time, given: Time) -> Time {
        let of = |now: Time, before: Time| now.saturating_sub(before).ps();
        let more =
            in_use(of(transmitting, self.transmitting), of(given, self.given), of(now, self.at));
        *self = InUse { at: now, transmitting, given, sum: self.sum + Time::from_ps(more) };
        self.sum
    }
}
