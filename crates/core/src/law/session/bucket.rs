//! The state of a gate's limiters from packet to packet, in integers.

use super::clients::Standing;
use super::knobs::{Knobs, Limiter};

/// The state of the limiters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Spent {
    /// Sessions admitted in the current epoch (counter).
    pub admitted: u64,
    /// When the bucket will be full again (buckets), in nanoseconds.
    pub token_due_ns: u64,
    /// Tokens returned since the last check (saving bucket).
    pub returned: u64,
    /// When the reserve for clients that are overdue will be full again, in nanoseconds.
    pub reserve_due_ns: u64,
}

const _: () = assert!(size_of::<Spent>() == 32);

/// One token in this many is of the reserve.
const RESERVE: u64 = 4;

/// A bucket at one instant, in nanoseconds' worth of tokens.
struct Level {
    depth_ns: u64,
    taken_ns: u64,
}

impl Spent {
    /// Whether one more session fits; if so, takes its token. One that waits fits only where so many
    /// tokens are saved that they would be lost. That of a client that is let in needs none. One
    /// that is overdue takes its token of the reserve, even if the bucket is empty.
    pub(super) fn take(
        &mut self,
        limiter: Limiter,
        now_ns: u64,
        knobs: &Knobs,
        asks: Standing,
    ) -> bool {
        match asks {
            Standing::LetIn => return true,
            Standing::Refused => return false,
            Standing::Eligible | Standing::Overdue | Standing::Waits => {}
        }
        let eligible = asks != Standing::Waits;
        if limiter == Limiter::Counter {
            return eligible && self.admitted < knobs.allowance;
        }
        if knobs.token_interval_ns == 0 {
            return eligible;
        }
        let level = self.level(limiter, now_ns, knobs);
        self.returned = 0;
        let fits = (eligible || level.overflows(knobs)) && level.holds(knobs.token_interval_ns);
        let fits = asks == Standing::Overdue && self.reserved(now_ns, knobs, &level) || fits;
        let spent_ns = if fits { knobs.token_interval_ns } else { 0 };
        self.token_due_ns = now_ns.saturating_add(level.taken_ns.saturating_add(spent_ns));
        fits
    }

    /// Whether the reserve has a token for one that is overdue; if so, takes it.
    fn reserved(&mut self, now_ns: u64, knobs: &Knobs, level: &Level) -> bool {
        let interval_ns = knobs.token_interval_ns.saturating_mul(RESERVE);
        let depth_ns = level.depth_ns.max(interval_ns);
        let taken_ns = self.reserve_due_ns.saturating_sub(now_ns).min(depth_ns);
        let fits = interval_ns <= depth_ns - taken_ns;
        let spent_ns = if fits { interval_ns } else { 0 };
        self.reserve_due_ns = now_ns.saturating_add(taken_ns).saturating_add(spent_ns);
        fits
    }

    /// A bucket stores one number: the time at which it will be full again (the generic cell rate
    /// algorithm, ITU-T I.371 annex A).
    ///
    /// `token_due_ns - now` is the time needed to refill the tokens taken so far. It never exceeds
    /// the time to refill the whole bucket: when the interval gets shorter, an old debt is refilled
    /// at the new pace.
    fn level(&self, limiter: Limiter, now_ns: u64, knobs: &Knobs) -> Level {
        let interval_ns = knobs.token_interval_ns;
        let epoch_ns = interval_ns.saturating_mul(knobs.allowance);
        let saved_ns = if limiter == Limiter::SavingBucket { epoch_ns } else { 0 };
        let depth_ns = knobs.token_depth_ns.max(interval_ns).max(saved_ns);
        let owed_ns = self.token_due_ns.saturating_sub(now_ns).min(depth_ns);
        let taken_ns = owed_ns.saturating_sub(self.returned.saturating_mul(interval_ns));
        Level { depth_ns, taken_ns }
    }
}

impl Level {
    fn holds(&self, interval_ns: u64) -> bool {
        interval_ns <= self.depth_ns - self.taken_ns
    }

    /// Whether the bucket is full under the current knobs.
    fn overflows(&self, knobs: &Knobs) -> bool {
        let full_ns = (self.depth_ns >> 16).saturating_mul(u64::from(knobs.bypass));
        self.depth_ns - self.taken_ns >= full_ns
    }
}

/// Converts a real allowance into whole sessions and carries the remainder over: 65.5 per epoch
/// becomes 65, 66, 65, 66, ...
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carry(f64);

impl Carry {
    /// The whole sessions of this epoch; never less than `floor(alpha)`.
    pub(crate) fn whole(&mut self, alpha: f64) -> u64 {
        let due = alpha + self.0;
        let whole = libm::floor(due);
        self.0 = due - whole;
        whole as u64
    }
}
