//! The target of the delay of the queue, which flows beside it raise (draft-ietf-ccwg-rfc8298bis-
//! screamv2-01, *Competing Flows Compensation*).

use std::collections::VecDeque;

use crate::units::Time;

use super::Config;

/// Delays that the variance and the mean are over, and from which share of lossy round trips on
/// losses count.
const OF_VARIANCE: usize = 200;
const OF_MEAN: usize = 50;
const LOSSY: f64 = 0.002;
/// Weight of the last round trip in the share of lossy ones.
const LAST: f64 = 0.02;

/// `qdelay_target`, in seconds.
#[derive(Debug)]
pub(super) struct Target {
    low: f64,
    high: f64,
    now: f64,
    /// Delays over `low`, the latest last.
    history: VecDeque<f64>,
    loss_event_rate: f64,
    lost: bool,
    round: Time,
}

impl Target {
    pub(super) fn new(config: &Config) -> Target {
        let (low, high) = (config.qdelay_target_lo.secs(), config.qdelay_target_hi.secs());
        Target {
            low,
            high,
            now: low,
            history: VecDeque::new(),
            loss_event_rate: 0.0,
            lost: false,
            round: Time::ZERO,
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.now
    }

    /// The next delay has been measured.
    pub(super) fn follow(&mut self, now: Time, qdelay: f64, lost: bool, s_rtt: f64) {
        self.lost |= lost;
        if (now - self.round).secs() >= s_rtt {
            self.loss_event_rate += LAST * (f64::from(u8::from(self.lost)) - self.loss_event_rate);
            (self.lost, self.round) = (false, now);
        }
        self.history.push_back(qdelay / self.low);
        if self.history.len() > OF_VARIANCE {
            self.history.pop_front();
        }
        let last = |many: usize| self.history.iter().rev().take(many);
        let mean = |many: usize| last(many).sum::<f64>() / last(many).count().max(1) as f64;
        let centre = mean(OF_VARIANCE);
        let squares: f64 = last(OF_VARIANCE).map(|delay| (delay - centre) * (delay - centre)).sum();
        let variance = squares / self.history.len().max(1) as f64;
        let wanted = (mean(OF_MEAN) + variance.sqrt()) * self.low;
        self.now = if self.loss_event_rate > LOSSY {
            1.5 * wanted
        } else if variance < 0.2 {
            wanted
        } else if wanted < self.low {
            (self.now * 0.5).max(wanted)
        } else {
            self.now * 0.9
        };
        self.now = self.now.min(self.high).max(self.low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(delays_ms: &[f64], lost: bool) -> f64 {
        let mut target = Target::new(&Config::default());
        for (number, delay) in (1..).zip(delays_ms) {
            target.follow(Time::from_ms(100 * number), delay * 1e-3, lost, 0.1);
        }
        target.get() * 1e3
    }

    /// By hand: a steady delay has no variance, so that the target is the delay, from 60 to 400 ms.
    #[test]
    fn a_steady_queue_raises_the_target() {
        assert!((after(&[20.0; 50], false) - 60.0).abs() < 1e-6);
        assert!((after(&[150.0; 50], false) - 150.0).abs() < 1e-6);
        assert!((after(&[900.0; 50], false) - 400.0).abs() < 1e-6);
    }

    /// By hand: with a loss in each round trip the rate of such is above 0.002 at once, and the
    /// target is 1.5 delays.
    #[test]
    fn losses_raise_it_further() {
        assert!((after(&[150.0; 50], true) - 225.0).abs() < 1e-6);
    }

    /// By hand: delays of 0 and 150 ms in turn are 0 and 2.5 of 60 ms: the variance of 1.56 is above
    /// 0.2, the mean and its deviation are 2.5 above the low target, so it falls to that by tenths.
    #[test]
    fn a_queue_that_changes_lowers_it() {
        let mut delays = vec![150.0; 20];
        delays.extend([0.0, 150.0].repeat(20));
        assert!(after(&delays, false) < 150.0 && after(&delays, false) >= 60.0);
        assert!((after(&[0.0, 150.0].repeat(40), false) - 60.0).abs() < 1e-6);
    }
}
