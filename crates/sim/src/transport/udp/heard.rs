//! Loss, delay and jitter (RFC 3550) at the receivers of UDP.
//!
//! | symbol | meaning                                                        | source        |
//! |--------|----------------------------------------------------------------|---------------|
//! | S, R   | when a packet was sent, and when it arrived                    | RFC 3550, 6.4.1 |
//! | D      | difference of the transit times R - S of two successive packets | 6.4.1 |
//! | J      | interarrival jitter of a flow: J + (abs(D) - J) / 16 with every packet | 6.4.1, A.8 |
//!
//! RFC 3550 keeps one J for each source and reports its current value. The value of a class is the
//! mean of J over all packets. Times are in seconds, not in ticks of a media clock.

use tidegate_core::units::Time;

use super::super::spans::Spans;

/// The jitter of one flow.
#[derive(Clone, Copy, Default)]
pub(super) struct Jitter {
    /// R - S of the previous packet.
    transit: Option<Time>,
    /// J, in seconds.
    estimate: f64,
}

impl Jitter {
    /// A packet has arrived (RFC 3550, A.8).
    pub(super) fn heard(&mut self, transit: Time) -> f64 {
        if let Some(before) = self.transit.replace(transit) {
            let difference = (transit.max(before) - transit.min(before)).secs();
            self.estimate += (difference - self.estimate) / 16.0;
        }
        self.estimate
    }
}

/// The packets of one class since the warm-up.
pub(super) struct Heard {
    pub(super) sent: u64,
    pub(super) delays: Spans<3>,
    jitters_s: f64,
}

impl Heard {
    pub(super) fn new() -> Heard {
        Heard { sent: 0, delays: Spans::NONE, jitters_s: 0.0 }
    }

    /// A packet has arrived, this long after it was sent.
    pub(super) fn add(&mut self, transit: Time, jitter_s: f64) {
        self.delays.add(transit);
        self.jitters_s += jitter_s;
    }

    /// The mean of J; without packets NaN.
    pub(super) fn jitter_s(&self) -> f64 {
        self.jitters_s / self.delays.count() as f64
    }

    /// The delay that this share of the packets did not exceed.
    pub(super) fn quantile_s(&self, share: f64) -> f64 {
        // the upper end of a bin may exceed the largest delay
        let most = self.delays.most_s();
        if most.is_nan() { most } else { self.delays.quantile_s(share).min(most) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transits of 20, 36, 20 and 52 ms differ by 16, 16 and 32 ms. By hand:
    /// J = 16/16 = 1; 1 + (16 - 1)/16 = 1.9375; 1.9375 + (32 - 1.9375)/16 = 3.81640625.
    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut jitter = Jitter::default();
        let found: Vec<f64> =
            [20, 36, 20, 52].map(|ms| jitter.heard(Time::from_ms(ms)) * 1e3).to_vec();
        for (found, wanted) in found.iter().zip([0.0, 1.0, 1.9375, 3.816_406_25]) {
            assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        }
    }

    /// Of delays of 1, 2, ... 100 ms half are at most 50 ms, 95 at most 95 ms.
    #[test]
    fn percentiles_of_delays_are_right_to_a_thousandth() {
        let mut heard = Heard::new();
        for ms in 1..=100 {
            heard.add(Time::from_ms(ms), 0.0);
        }
        for (share, wanted) in [(0.5, 0.050), (0.95, 0.095), (0.99, 0.099), (1.0, 0.100)] {
            let found = heard.quantile_s(share);
            assert!((found / wanted - 1.0).abs() <= 1e-3, "{found} {wanted}");
        }
        assert_eq!((heard.delays.least_s(), heard.delays.most_s()), (0.001, 0.1));
        assert!((heard.delays.mean_s() - 0.0505).abs() < 1e-12);
    }

    #[test]
    fn of_nothing_there_is_no_delay() {
        let heard = Heard::new();
        let all = [
            heard.delays.least_s(),
            heard.delays.most_s(),
            heard.delays.mean_s(),
            heard.quantile_s(0.5),
        ];
        assert!(all.iter().chain([&heard.jitter_s()]).all(|value| value.is_nan()));
    }
}
