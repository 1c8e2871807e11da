//! VCP: the load of a port as a two-bit code (Xia, Subramanian, Stoica and Kalyanaraman 2005, 3.1
//! and 4.1).
//!
//! | symbol    | here          | unit | source                              |
//! |-----------|---------------|------|-------------------------------------|
//! | `C`       | `view.rate`   | B/s  | capacity of the link                |
//! | `t_rho`   | `interval`    | s    | 0.2                                 |
//! | `t_q`     | `probe`       | s    | 0.01: how often the queue is sampled |
//! | `lambda`  | `bytes`       | B    | input traffic of the last interval  |
//! | `q`       | `queue`       | B    | smoothed mean of the queue samples  |
//! | `kappa_q` | `kappa`       | 1    | 0.5                                 |
//! | `gamma_l` | `target`      | 1    | 0.98                                |
//! | `rho`     | `rho`         | 1    | load factor                         |
//!
//! `rho = (lambda + kappa_q q) / (gamma_l C t_rho)` is a low load below 0.8, a high load below 1,
//! else an overload. A packet keeps the highest code on its path.
//!
//! Limits: three levels tell a sender to speed up or slow down, not to which rate, so flows take
//! many intervals to reach their shares.

use crate::law::settings::{Link, Refused, within_time};
use crate::law::{Controller, Counted, Datapath, Decision, Fault, Moment, Step, View};
use crate::packet::{Ext, Packet};
use crate::units::Time;

/// Code of a load below the lower bound.
pub const LOW: u8 = 1;
/// Code of a load from there up to the capacity.
pub const HIGH: u8 = 2;
/// Code of an overload.
pub const OVERLOAD: u8 = 3;

/// Weight of the newest mean in the smoothed queue.
const QUEUE_WEIGHT: f64 = 0.25;

crate::settings! {
    /// Parameters of VCP.
    "Vcp":
    interval: Time = "200ms" ["10ms" to "10s"] "How often the load is computed (t_rho)" ("2005, 4.1");
    probe: Time = "10ms" ["1ms" to "1s"] "How often the queue is sampled (t_q)" ("4.1");
    kappa: f64 = 0.5 [0 to 10] "How much of the standing queue counts as load (kappa_q)" ("4.1");
    target: f64 = 0.98 [0.1 to 1] "Utilisation aimed at (gamma_l)" ("4.1");
    low: f64 = 0.8 [0.01 to 0.99] "Load above which it no longer counts as low" ("3.1");
}

impl Config {
    /// Whether every value is in range.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self) -> Result<(), Refused> {
        self.in_range()?;
        within_time("probe", self.probe, Time::from_ms(1), self.interval)
    }
}

/// What the controller sets: the code of the current load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Knobs {
    /// [`LOW`], [`HIGH`] or [`OVERLOAD`].
    pub code: u32,
}

/// What the datapath counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counts {
    /// Bytes that arrived, including packets that the queue dropped.
    pub bytes: u64,
}

impl Counted for Counts {
    fn since(&self, before: &Counts) -> Counts {
        Counts { bytes: self.bytes.wrapping_sub(before.bytes) }
    }
}

/// The datapath of VCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load;

impl Datapath for Load {
    type Knobs = Knobs;
    type Counts = Counts;

    #[inline]
    fn offered(&mut self, packet: &Packet, _: &Moment, _: &Knobs, counts: &mut Counts) {
        counts.bytes += u64::from(packet.size);
    }

    #[inline]
    fn depart(&mut self, packet: &mut Packet, _: &Moment, knobs: &Knobs, _: &mut Counts) {
        if let Ext::Load { code, .. } = &mut packet.ext
            && *code > 0
        {
            *code = (*code).max(knobs.code as u8);
        }
    }
}

/// The controller of VCP.
#[derive(Clone, Debug)]
pub struct Vcp {
    config: Config,
    /// When the present interval ends.
    ends: Time,
    began: Time,
    /// Bytes that arrived in this interval.
    bytes: u64,
    /// Sum and number of the queue samples of this interval.
    seen: (f64, u32),
    /// Smoothed queue, in bytes.
    queue: f64,
    rho: f64,
}

impl Vcp {
    /// At this link, with parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> Vcp {
        let ends = Time::ZERO;
        Vcp {
            config: config.clone(),
            ends,
            began: ends,
            bytes: 0,
            seen: (0.0, 0),
            queue: 0.0,
            rho: 0.0,
        }
    }

    /// The load factor of the interval that ends.
    fn load(&mut self, bytes: u64, capacity: f64, t_s: f64) {
        let (sum, looks) = std::mem::take(&mut self.seen);
        if looks > 0 {
            self.queue += QUEUE_WEIGHT * (sum / f64::from(looks) - self.queue);
        }
        let Config { kappa, target, .. } = self.config;
        self.rho = (bytes as f64 + kappa * self.queue) / (target * capacity * t_s);
    }

    fn code(&self) -> (u8, &'static str) {
        if self.rho < self.config.low {
            (LOW, "low")
        } else if self.rho < 1.0 {
            (HIGH, "high")
        } else {
            (OVERLOAD, "overload")
        }
    }
}

impl Controller<Knobs, Counts> for Vcp {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.code = u32::from(LOW);
        self.began = now;
        self.ends = now + self.config.interval;
        Ok(now + self.config.probe)
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        self.seen.0 += view.queue_bytes as f64;
        self.seen.1 += 1;
        self.bytes += counts.bytes;
        let mut decision = None;
        if now >= self.ends {
            let bytes = std::mem::take(&mut self.bytes);
            self.load(bytes, view.rate.bytes_per_s(), (now - self.began).secs());
            let (code, phase) = self.code();
            knobs.code = u32::from(code);
            decision = Some(Decision { phase, set: f64::from(code), from: self.rho });
            self.began = now;
            self.ends = now + self.config.interval;
        }
        Ok((self.ends.min(now + self.config.probe), decision))
    }
}
