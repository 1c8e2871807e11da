//! How long a bucket keeps the tokens that nobody has used.
//!
//! Hosts try again after whole seconds, so openers come in crowds. A bucket that holds one token
//! loses the others between two crowds, and admits fewer sessions than the law allows. A real gate
//! keeps them for two epochs.

use crate::law::{Controller, Fault, Step, View};
use crate::units::Time;

use super::{Counts, Knobs};

/// A law whose unused tokens keep for some of its epochs, or as long as the law says, if that is
/// more.
pub struct Kept {
    law: Box<dyn Controller<Knobs, Counts>>,
    epochs: f64,
}

impl Kept {
    /// Around a law that has not started.
    pub fn new(law: Box<dyn Controller<Knobs, Counts>>, epochs: f64) -> Kept {
        Kept { law, epochs }
    }

    /// Keeps tokens for epochs of that length.
    fn deepen(&self, epoch: Time, knobs: &mut Knobs) {
        let keep_ns = (epoch.ps() as f64 / 1_000.0 * self.epochs) as u64;
        let least_ns = knobs.token_interval_ns.max(keep_ns);
        knobs.token_depth_ns = knobs.token_depth_ns.max(least_ns);
    }
}

impl Controller<Knobs, Counts> for Kept {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        let next = self.law.start(now, knobs)?;
        self.deepen(next.saturating_sub(now), knobs);
        Ok(next)
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let (next, decision) = self.law.update(now, view, counts, knobs)?;
        self.deepen(next.saturating_sub(now), knobs);
        Ok((next, decision))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixed_rate::{self, FixedRate};
    use super::*;
    use crate::units::Frequency;

    // By hand: ten a second are 100 ms apart. Two epochs of a second keep twenty tokens, and no
    // epoch the one that a bucket always holds.
    #[test]
    fn tokens_keep_for_two_epochs() {
        for (epochs, depth_ns) in [(0.0, 100_000_000), (2.0, 2_000_000_000)] {
            let rate = Frequency::per_s(10.0);
            let config = fixed_rate::Config { rate, ..Default::default() };
            let mut law = Kept::new(Box::new(FixedRate::new(config)), epochs);
            let mut knobs = Knobs::default();
            law.start(Time::ZERO, &mut knobs).expect("a law of tidegate does not fail");
            assert_eq!(knobs.token_depth_ns, depth_ns, "{epochs} epochs");
        }
    }
}
