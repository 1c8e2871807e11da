//! All or nothing: what the laws that compare one measure with a threshold share.

use crate::law::Decision;
use crate::units::Time;

use super::Knobs;

/// Lets every session in while a smoothed measure is below its threshold, and else none.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllOrNothing {
    threshold: f64,
    /// Weight of the newest epoch.
    beta: f64,
    /// The smoothed measure; none before the first epoch has ended.
    measure: Option<f64>,
}

impl AllOrNothing {
    pub(super) fn new(threshold: f64, beta: f64) -> AllOrNothing {
        AllOrNothing { threshold, beta, measure: None }
    }

    /// Takes the measure of the epoch that ended, and opens or closes the gate for the next.
    pub(super) fn decide(&mut self, measured: f64, epoch: Time, knobs: &mut Knobs) -> Decision {
        let before = self.measure.unwrap_or(measured);
        let measure = (1.0 - self.beta) * before + self.beta * measured;
        self.measure = Some(measure);
        if measure < self.threshold {
            knobs.open();
            return Decision { phase: "open", set: f64::INFINITY, from: measure };
        }
        knobs.allow(0, epoch);
        Decision { phase: "closed", set: 0.0, from: measure }
    }
}
