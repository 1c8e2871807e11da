//! All or nothing: the common part of the laws that compare one measure with a threshold.

use crate::law::Decision;
use crate::units::Time;

use super::Knobs;

/// Admits every session while a smoothed measure is below its threshold, otherwise none.
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

    /// Takes in the measure of an epoch, and opens or closes the gate for the next.
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

/// Defines a law that admits all or nothing, with its settings, from what it measures.
macro_rules! all_or_nothing {
    (
        $(#[$about:meta])* $Law:ident, $name:literal,
        $threshold:literal $open:literal, $smoothed:literal,
        |$view:ident, $epoch:ident| $measure:expr
    ) => {
        crate::settings! {
            /// Parameters of the law.
            $name, check:
            epoch: Time = "1s" ["1ms" to "1h"] "Length of an epoch" ("not in the paper");
            threshold: f64 = $threshold [above 0 to 1] $open ("not in the paper");
            beta: f64 = 1 [0.001 to 1] $smoothed ("not in the paper");
        }

        impl Config {
            /// Which limiter the datapath uses: all or nothing needs no spreading.
            pub fn limiter(&self) -> Limiter {
                Limiter::Counter
            }
        }

        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $Law {
            config: Config,
            gate: AllOrNothing,
        }

        impl $Law {
            /// With parameters that have passed [`Config::check`].
            pub fn new(config: Config) -> $Law {
                let gate = AllOrNothing::new(config.threshold, config.beta);
                $Law { config, gate }
            }
        }

        impl Controller<Knobs, Counts> for $Law {
            fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
                knobs.open();
                Ok(now.saturating_add(self.config.epoch))
            }

            fn update(
                &mut self,
                now: Time,
                $view: &View<'_>,
                _counts: &Counts,
                knobs: &mut Knobs,
            ) -> Result<Turn, Fault> {
                let $epoch = self.config.epoch;
                let decision = self.gate.decide($measure, $epoch, knobs);
                Ok((now.saturating_add($epoch), Some(decision)))
            }
        }
    };
}

pub(super) use all_or_nothing;
