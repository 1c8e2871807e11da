//! A control of quinn or noq with the estimator of its stack: this file stands in both modules.

use std::sync::Arc;

use tidegate_core::units::Time;

use super::proto::RttEstimator;
use super::proto::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use super::stack::{Estimator, instant};
use crate::controls::theirs::Theirs;

/// CUBIC (RFC 8312).
pub(crate) fn cubic(mtu: u16, seed: u64) -> impl Theirs {
    Estimated::new(CubicConfig::default(), mtu, seed)
}

/// NewReno (RFC 9002, 7).
pub(crate) fn new_reno(mtu: u16, seed: u64) -> impl Theirs {
    Estimated::new(NewRenoConfig::default(), mtu, seed)
}

pub(super) struct Estimated {
    pub(super) control: Box<dyn Controller>,
    pub(super) size: u64,
    seed: u64,
    /// The estimator of the round trip, and what the control is given of it; made with the first
    /// sample.
    estimator: Option<Estimator>,
    pub(super) rtt: Option<RttEstimator>,
}

impl Estimated {
    fn new(config: impl ControllerFactory, mtu: u16, seed: u64) -> Estimated {
        let control = Arc::new(config).build(instant(Time::ZERO), mtu);
        Estimated { control, size: mtu.into(), seed, estimator: None, rtt: None }
    }

    pub(super) fn measure(&mut self, rtt: Time) {
        let seed = self.seed;
        let estimator = self.estimator.get_or_insert_with(|| Estimator::new(rtt, seed));
        self.rtt = estimator.measure(rtt).or(self.rtt);
    }
}
