//! RCP: one rate for all flows, adjusted by spare capacity and queue (Dukkipati, Kobayashi,
//! Zhang-Shen and McKeown 2005; parameters of its ns-2 code).
//!
//! | symbol  | here          | unit | source                                     |
//! |---------|---------------|------|--------------------------------------------|
//! | `C`     | `view.rate`   | B/s  | capacity of the link                       |
//! | `T`     | `interval`    | s    | min(10 ms, `d0`): how often `R` is updated |
//! | `d0`    | `rtt_s`       | s    | moving average of the traffic's RTT        |
//! | `y`     | `bytes / T`   | B/s  | input traffic of the last interval         |
//! | `q`     | `queue_bytes` | B    | queue at the end of the interval           |
//! | `alpha` | `alpha`       | 1    | 0.4 (2006: 0.1)                            |
//! | `beta`  | `beta`        | 1    | 0.4 (2006: 1)                              |
//! | `R`     | `rate`        | B/s  | the rate of every flow                     |
//!
//! At the end of an interval:
//! `R = R (1 + (T / d0) (alpha (C - y) - beta q / d0) / C)`,
//! and `R` stays between 1 % of a packet per `d0` and `gamma C`.
//!
//! `d0` follows a longer sample with gain `T / d0`, and a shorter one with `(R / C) (r / d0) (T /
//! d0)`: short round trips come from flows that start, and must not make the law react too quickly.
//!
//! The formula estimates the number of flows as `C / R`, which holds while `y = C`.

use crate::law::settings::Link;
use crate::law::{Controller, Decision, Fault, Step, View};
use crate::units::Time;

use super::{Counts, Knobs, whole};

/// Size of a packet, for the lowest rate.
const PACKET_BYTES: f64 = 1000.0;

crate::settings! {
    /// Parameters of RCP.
    "Rcp", check:
    alpha: f64 = 0.4 [0 to 10] "How strongly spare capacity raises the rate" ("the authors' ns-2 code; 0.1 in their later scripts");
    beta: f64 = 0.4 [0 to 10] "How strongly the queue lowers it" ("the same; later 1");
    gamma: f64 = 1 [0.01 to 1] "Greatest rate, as a share of the capacity" ("the same");
    initial_rate: f64 = 0.05 [0.001 to 1] "Rate at the start, as a share of the capacity" ("the same");
    interval: Time = "10ms" ["1ms" to "1s"] "How often the rate is updated, or once a round trip if that is shorter" ("the same");
    initial_rtt: Time = "200ms" ["1ms" to "10s"] "Round-trip time before any packet carries one" ("the same");
}

/// RCP.
#[derive(Clone, Debug)]
pub struct Rcp {
    config: Config,
    /// Start of the present interval.
    began: Time,
    /// Moving average of the round-trip times (d0), in seconds.
    rtt_s: f64,
    /// The rate of every flow (R), in bytes per second.
    rate: f64,
    /// Capacity at the last update, in bytes per second.
    capacity: f64,
}

impl Rcp {
    /// At this link, with parameters that have passed [`Config::check`].
    pub fn new(config: &Config, link: Link) -> Rcp {
        let capacity = link.rate.bytes_per_s();
        Rcp {
            config: config.clone(),
            began: Time::ZERO,
            rtt_s: config.initial_rtt.secs(),
            rate: config.initial_rate * capacity,
            capacity,
        }
    }

    /// Updates the average with an interval's mean round-trip time.
    fn smooth(&mut self, mean_s: f64, t_s: f64) {
        let mut gain = t_s / self.rtt_s;
        if mean_s < self.rtt_s {
            gain *= self.rate / self.capacity * (mean_s / self.rtt_s);
        }
        self.rtt_s += gain.min(1.0) * (mean_s - self.rtt_s);
    }

    fn adjust(&mut self, queue_bytes: f64, counts: &Counts, t_s: f64) {
        let Config { alpha, beta, gamma, .. } = self.config;
        let (capacity, d0) = (self.capacity, self.rtt_s);
        let y = counts.bytes as f64 / t_s;
        let change = alpha * (capacity - y) - beta * queue_bytes / d0;
        let rate = self.rate * (1.0 + (t_s / d0) * change / capacity);
        let most = gamma * capacity;
        self.rate = rate.clamp((0.01 * PACKET_BYTES / d0).min(most), most);
    }

    fn next(&self, now: Time) -> Time {
        now + self.config.interval.min(Time::from_secs_f64(self.rtt_s)).max(Time::from_ms(1))
    }
}

impl Controller<Knobs, Counts> for Rcp {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        self.began = now;
        knobs.rate = whole(self.rate);
        Ok(self.next(now))
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let t_s = (now - self.began).secs();
        self.began = now;
        self.capacity = view.rate.bytes_per_s();
        if let Some(mean_s) = counts.mean_rtt_by_bytes_s() {
            self.smooth(mean_s, t_s);
        }
        self.adjust(view.queue_bytes as f64, counts, t_s);
        knobs.rate = whole(self.rate);
        let flows = self.capacity / self.rate;
        let decision = Decision { phase: "share", set: self.rate * 8.0, from: flows };
        Ok((self.next(now), Some(decision)))
    }
}
