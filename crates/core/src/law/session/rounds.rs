//! Rounds and shares of clients ([`super::clients`]): the controller's half.

use crate::units::Time;

use super::clients::Config;
use super::{Counts, Knobs};

/// What was counted in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    admitted: u64,
    served: u64,
    waited: u64,
    let_in: u64,
}

impl Sums {
    /// Clients let in for each admitted connection, at most 1.
    fn per_connection(&self) -> f64 {
        (self.let_in as f64).max(1.0) / (self.admitted as f64).max(1.0).max(self.let_in as f64)
    }
}

/// The controller's half: rounds and shares.
#[derive(Clone, Debug)]
pub struct Rounds {
    config: Config,
    epoch: Time,
    /// Number of the round.
    number: u32,
    /// How long it has lasted.
    lasted: Time,
    now: Sums,
    /// The last whole round.
    before: Option<Sums>,
    share: u32,
}

impl Rounds {
    /// The first round begins, of a law with epochs of this length.
    pub fn new(config: &Config, epoch: Time) -> Rounds {
        let (now, lasted) = (Sums::default(), Time::ZERO);
        Rounds { config: *config, epoch, number: 1, lasted, now, before: None, share: 0 }
    }

    /// An epoch with these counts has ended.
    pub fn count(&mut self, counts: &Counts) {
        let add = |sum: &mut u64, counted| *sum = sum.saturating_add(counted);
        add(&mut self.now.admitted, counts.passed());
        add(&mut self.now.served, counts.served);
        add(&mut self.now.waited, counts.waited);
        add(&mut self.now.let_in, counts.let_in);
        self.lasted = self.lasted.saturating_add(self.epoch);
        if self.lasted < self.config.round {
            return;
        }
        let Sums { admitted, served, .. } = self.now;
        let part = (self.config.share / (served as f64).max(1.0)).min(0.5);
        let share = libm::floor(part * admitted as f64) as u32;
        self.share = share.max(self.config.least);
        self.number = self.number.wrapping_add(1);
        (self.lasted, self.before) = (Time::ZERO, Some(std::mem::take(&mut self.now)));
    }

    /// Clients let in for each admitted connection, lately: what a connection counts for.
    pub fn per_connection(&self) -> f64 {
        self.before.unwrap_or(self.now).per_connection()
    }

    /// Sets what concerns clients for the next epoch; `keeps`: tokens keep for those who come in bursts.
    pub fn set(&self, knobs: &mut Knobs, keeps: bool) {
        (knobs.share, knobs.round) = (self.share, self.number);
        knobs.spare = self.before.is_none_or(|before| before.waited == 0).into();
        if keeps {
            knobs.token_depth_ns = knobs.token_depth_ns.max(self.config.keep.ps() / 1_000);
        }
    }
}
