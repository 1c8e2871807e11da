//! NADA, network-assisted dynamic adaptation (RFC 8698).
//!
//! | symbol                | here          | unit   | RFC 8698, table 2, and meaning                     |
//! |-----------------------|---------------|--------|----------------------------------------------------|
//! | `RMIN`, `RMAX`        | `encoder`     | bit/s  | lowest and highest rate of the encoder             |
//! | `PRIO`                | `prio`        | 1      | 1.0: weight of the flow                            |
//! | `XREF`                | `xref`        | ms     | 10: reference level of congestion                  |
//! | `KAPPA`, `ETA`        | `kappa`, `eta`| 1      | 0.5 and 2.0: scale the gradual update              |
//! | `TAU`                 | `tau`         | ms     | 500: longest round trip of the gradual update      |
//! | `DELTA`               | `delta`       | ms     | 100: the time between reports that is aimed at     |
//! | `LOGWIN`              | `logwin`      | ms     | 500: window for statistics of packets              |
//! | `QEPS`                | `qeps`        | ms     | 10: a queue shorter than this does not build up    |
//! | `DFILT`               | `dfilt`       | ms     | 120: bound of the delay of filters                 |
//! | `GAMMA_MAX`           | `gamma_max`   | 1      | 0.5: most increase of the accelerated ramp-up      |
//! | `QBOUND`              | `qbound`      | ms     | 50: longest queue that the ramp-up may cause       |
//! | `MULTILOSS`           | `multiloss`   | 1      | 7.0: mean loss intervals after which losses are forgotten |
//! | `QTH`                 | `qth`         | ms     | 50: delay from which it is warped                  |
//! | `LAMBDA`              | `lambda`      | 1      | 0.5: exponent of the warping                       |
//! | `PLRREF`, `PMRREF`    | `plrref`, `pmrref` | 1 | 0.01: reference shares of losses and of marks      |
//! | `DLOSS`, `DMARK`      | `dloss`, `dmark` | ms  | 10 and 2: penalties at these shares                |
//! | `BETA_S`, `BETA_V`    | `beta_s`, `beta_v` | 1 | 0.1: how the buffer at the sender is emptied       |
//! | `ALPHA`               | `alpha`       | 1      | 0.1: smoothing of the shares                       |
//! | `d_queue`, `d_tilde`  |               | ms     | delay of the queue, and warped                     |
//! | `x_curr`, `x_prev`    |               | ms     | level of congestion now and at the last update     |
//! | `r_ref`, `r_recv`     |               | bit/s  | reference rate, rate that arrives                  |
//!
//! With every report:
//! 1. The delay of the queue is the least of the last 15 one-way delays, less the shortest of all
//!    (5.1.1). The shares of losses and marks in `LOGWIN` are smoothed (5.1.2, 5.1.3).
//! 2. Where losses are recent, the delay is warped ([`Config::d_tilde`], equation 1). They are for
//!    `MULTILOSS` mean intervals between losses; over one more the delay returns to itself (4.2).
//! 3. Losses and marks add to it ([`Config::x_curr`], equation 2).
//! 4. Without a loss and a queue in `LOGWIN` the rate rises to more than what arrives
//!    ([`Config::ramp_up`], equations 3 and 4); otherwise it is updated gradually
//!    ([`Config::gradual`], equations 5 to 7). It stays within `RMIN` and `RMAX` (4.3).
//!
//! The buffer at the sender lowers the rate of the encoder and raises that of the packets, by at most
//! a twentieth (5.2.2).
//!
//! Departures:
//! - everything runs at the sender, from reports of single packets; the RFC has steps 1 to 3 and the
//!   choice of step 4 at the receiver, and lets them be moved (6.4).
//! - the level of congestion is at most `xmax`, 500 ms, as in the authors' module for ns-3. The RFC
//!   has no such bound. Without one a burst of losses gives a level of seconds, and its decrease makes
//!   equation 7 multiply the rate while the queue is still full. This was chosen after a first run
//!   had shown that.
//! - all delays since the beginning count for the shortest one. It is not forgotten, so that a path
//!   that becomes longer looks like a queue.

use std::collections::VecDeque;

use crate::settings;
use crate::units::Time;

use super::losses::Losses;
use super::recent::Recent;
use super::{Encoder, MediaControl, Reported};

/// 5.1.1: taps of the filter of delays.
const TAPS: usize = 15;

settings! {
    /// Parameters of NADA.
    "Nada":
    prio: f64 = 1 [0.01 to 100] "Weight of the flow" ("RFC 8698, table 2: PRIO");
    xref: Time = "10ms" ["1ms" to "1s"] "Reference level of congestion" ("XREF");
    kappa: f64 = 0.5 [0.01 to 10] "Scale of the gradual update" ("KAPPA");
    eta: f64 = 2 [0 to 100] "Weight of the change of congestion in the gradual update" ("ETA");
    tau: Time = "500ms" ["10ms" to "10s"] "Longest round trip that the gradual update is made for" ("TAU");
    delta: Time = "100ms" ["1ms" to "10s"] "Time between two reports that is aimed at" ("DELTA");
    logwin: Time = "500ms" ["10ms" to "60s"] "Window for the statistics of packets" ("LOGWIN");
    qeps: Time = "10ms" ["0s" to "1s"] "Delay of the queue below which the rate may ramp up" ("QEPS");
    dfilt: Time = "120ms" ["0s" to "10s"] "Bound of the delay by filters" ("DFILT");
    gamma_max: f64 = 0.5 [0 to 10] "Most increase with a report during the ramp-up" ("GAMMA_MAX");
    qbound: Time = "50ms" ["1ms" to "10s"] "Longest delay that the ramp-up may cause" ("QBOUND");
    multiloss: f64 = 7 [0 to 1000] "After how many mean intervals between losses they are no longer recent" ("MULTILOSS");
    qth: Time = "50ms" ["1ms" to "10s"] "Delay of the queue from which it is warped" ("QTH");
    lambda: f64 = 0.5 [0 to 100] "Exponent of the warping" ("LAMBDA");
    plrref: f64 = 0.01 [0.0001 to 1] "Reference share of losses" ("PLRREF");
    pmrref: f64 = 0.01 [0.0001 to 1] "Reference share of marks" ("PMRREF");
    dloss: Time = "10ms" ["0s" to "1s"] "What losses of the reference share add to the level of congestion" ("DLOSS");
    dmark: Time = "2ms" ["0s" to "1s"] "What marks of the reference share add to it" ("DMARK");
    beta_s: f64 = 0.1 [0 to 10] "Share of the buffer at the sender that raises the rate of packets" ("BETA_S");
    beta_v: f64 = 0.1 [0 to 10] "Share of it that lowers the rate of the encoder" ("BETA_V");
    alpha: f64 = 0.1 [0.001 to 1] "Weight of the latest shares of losses and marks" ("ALPHA");
    xmax: Time = "500ms" ["10ms" to "24h"] "Highest level of congestion" ("the authors' module for ns-3; RFC 8698 has none");
}

fn ms(time: Time) -> f64 {
    time.secs() * 1e3
}

impl Config {
    /// Equation 1: the warped delay of the queue, in ms.
    pub fn d_tilde(&self, d_queue: f64) -> f64 {
        let qth = ms(self.qth);
        if d_queue < qth {
            return d_queue;
        }
        qth * libm::exp(-self.lambda * (d_queue - qth) / qth)
    }

    /// The delay of the queue, in ms, `open` packets after a loss where the mean interval is
    /// `loss_int` (4.2: warped, then over one interval back to itself).
    fn warped(&self, d_queue: f64, intervals: Option<(f64, f64)>) -> f64 {
        let Some((open, loss_int)) = intervals else { return d_queue };
        let past = (open - self.multiloss * loss_int) / loss_int.max(1.0);
        let own = past.clamp(0.0, 1.0);
        own * d_queue + (1.0 - own) * self.d_tilde(d_queue)
    }

    /// Equation 2: the level of congestion, in ms.
    pub fn x_curr(&self, d_tilde: f64, p_mark: f64, p_loss: f64) -> f64 {
        let square = |share: f64, reference: f64| (share / reference) * (share / reference);
        let penalty = ms(self.dmark) * square(p_mark, self.pmrref)
            + ms(self.dloss) * square(p_loss, self.plrref);
        (d_tilde + penalty).min(ms(self.xmax))
    }

    /// Equations 3 and 4: the reference rate in the accelerated ramp-up.
    pub fn ramp_up(&self, r_ref: f64, r_recv: f64, rtt: Time) -> f64 {
        let bound = ms(self.qbound) / (ms(rtt) + ms(self.delta) + ms(self.dfilt));
        let gamma = self.gamma_max.min(bound);
        r_ref.max((1.0 + gamma) * r_recv)
    }

    /// Equations 5 to 7: the reference rate `delta` after the last update.
    pub fn gradual(&self, r_ref: f64, rmax: f64, (x_curr, x_prev): (f64, f64), delta: Time) -> f64 {
        let x_offset = x_curr - self.prio * ms(self.xref) * rmax / r_ref;
        let x_diff = x_curr - x_prev;
        let tau = ms(self.tau);
        r_ref
            - self.kappa * (ms(delta) / tau) * (x_offset / tau) * r_ref
            - self.kappa * self.eta * (x_diff / tau) * r_ref
    }
}

/// NADA at a sender.
#[derive(Debug)]
pub struct Nada {
    config: Config,
    encoder: Encoder,
    r_ref: f64,
    x_prev: f64,
    /// When the last report came.
    last: Option<Time>,
    /// The shortest one-way delay, and the last ones.
    shortest: Time,
    delays: VecDeque<Time>,
    /// The delay of the queue at the last packet, in ms.
    d_queue: f64,
    p_loss: f64,
    p_mark: f64,
    recent: Recent,
    losses: Losses,
}

impl Nada {
    /// For this encoder.
    pub fn new(config: Config, encoder: Encoder) -> Nada {
        Nada {
            r_ref: encoder.clip(encoder.start),
            x_prev: 0.0,
            last: None,
            shortest: Time::NEVER,
            delays: VecDeque::new(),
            d_queue: 0.0,
            p_loss: 0.0,
            p_mark: 0.0,
            recent: Recent::new(config.logwin),
            losses: Losses::default(),
            config,
            encoder,
        }
    }

    /// 5.1: a packet has arrived or is lost.
    fn observe(&mut self, packet: &Reported, rtt: Time) {
        if let Some(arrived) = packet.arrived {
            let delay = arrived.saturating_sub(packet.sent);
            self.shortest = self.shortest.min(delay);
            self.delays.push_back(delay);
            if self.delays.len() > TAPS {
                self.delays.pop_front();
            }
            let least = self.delays.iter().min().copied().unwrap_or(delay);
            self.d_queue = ms(least.saturating_sub(self.shortest));
        }
        self.recent.add(packet, if packet.arrived.is_some() { self.d_queue } else { 0.0 });
        self.losses.add(packet, rtt);
    }

    /// Equations 11 and 12: `r_diff`, by which the bytes that wait change a rate.
    fn r_diff(&self, beta: f64, waiting: u64) -> f64 {
        (0.05 * self.r_ref).min(beta * 8.0 * waiting as f64 * self.encoder.frames)
    }
}

impl MediaControl for Nada {
    fn on_report(&mut self, now: Time, packets: &[Reported], rtt: Time) {
        for packet in packets {
            self.observe(packet, rtt);
        }
        let Config { alpha, delta, .. } = self.config;
        let (lost, marked) = (self.recent.lost(), self.recent.marked());
        self.p_loss += alpha * (lost - self.p_loss);
        self.p_mark += alpha * (marked - self.p_mark);
        let d_tilde = self.config.warped(self.d_queue, self.losses.intervals());
        let x_curr = self.config.x_curr(d_tilde, self.p_mark, self.p_loss);
        let since = self.last.replace(now).map_or(delta, |last| now - last);
        let builds_up = self.recent.most_queue_ms() >= ms(self.config.qeps);
        let rate = if lost > 0.0 || builds_up {
            let congestion = (x_curr, self.x_prev);
            self.config.gradual(self.r_ref, self.encoder.most, congestion, since)
        } else {
            self.config.ramp_up(self.r_ref, self.recent.rate(), rtt)
        };
        self.r_ref = self.encoder.clip(rate);
        self.x_prev = x_curr;
    }

    /// Equation 13: `r_vin`.
    fn encode(&self, waiting: u64) -> f64 {
        (self.r_ref - self.r_diff(self.config.beta_v, waiting)).max(self.encoder.least)
    }

    /// Equation 14: `r_send`.
    fn send(&self, waiting: u64) -> f64 {
        (self.r_ref + self.r_diff(self.config.beta_s, waiting)).min(self.encoder.most)
    }
}

#[cfg(test)]
mod tests;
