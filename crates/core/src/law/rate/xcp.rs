//! XCP: separate controllers for efficiency and fairness, and a change of rate in every packet
//! (Katabi, Handley and Rohrs 2002, 3.2 to 3.5; with rates in place of windows, as in
//! draft-falk-xcp-spec-03, section 4).
//!
//! | symbol  | here             | unit | source                                  |
//! |---------|------------------|------|-----------------------------------------|
//! | `C`     | `view.rate`      | B/s  | capacity of the link                    |
//! | `d`     | `interval_s`     | s    | mean RTT, weighted by X                 |
//! | `X`     | `spacing_s`      | s    | time between two packets of a sender    |
//! | `y`     | `input / d`      | B/s  | input traffic of the last interval      |
//! | `Q`     | `standing_bytes` | B    | smallest queue of the last probe        |
//! | `alpha` | `alpha`          | 1    | 0.4                                     |
//! | `beta`  | `beta`           | 1    | 0.226 = alpha^2 sqrt 2                  |
//! | `gamma` | `gamma`          | 1    | 0.1                                     |
//! | `F`     | `feedback`       | B/s  | change of rate that all flows together should make |
//! | `Cp`    | `positive`       | B/s2 | increase per second of X                |
//! | `Cn`    | `negative`       | 1/s  | decrease per byte                       |
//!
//! At the end of an interval (efficiency, then fairness):
//! 1. `F = alpha (C - y) - beta Q / d` (eq. 1);
//! 2. at least `gamma y` is moved from all flows to all flows (eq. 2);
//! 3. an increase is spread evenly over flows, `Cp = added / sum X`; a decrease in proportion to
//!    their rates, `Cn = taken / bytes` (eqs. 6 and 9).
//!
//! A departing packet gets `Cp X - Cn size`, unless another port has already given it less. What it
//! gets is subtracted from what is left to give out (appendix A).
//!
//! The standing queue is the minimum over a probe of `(d - q / C) / 2`, at least 2 ms (ns-2).

use crate::law::settings::Link;
use crate::law::{Controller, Counted, Datapath, Decision, Fault, Moment, Step, View};
use crate::packet::{Ext, Packet};
use crate::units::Time;

/// Shortest and longest control interval (draft, 4.1).
const LEAST_S: f64 = 0.001;
const MOST_S: f64 = 1.0;
/// Shortest probe of the standing queue (ns-2).
const LEAST_PROBE: Time = Time::from_ms(2);

crate::settings! {
    /// Parameters of XCP.
    "Xcp", check:
    alpha: f64 = 0.4 [0.001 to 0.55] "How strongly spare capacity is given out" ("2002, 3.5; stable below pi / 4 sqrt 2");
    beta: f64 = 0.226 [0 to 1] "How strongly the standing queue is drained" ("2002, 3.5");
    gamma: f64 = 0.1 [0 to 1] "Share of the traffic that is shuffled between flows" ("2002, 3.5.2");
    initial_interval: Time = "50ms" ["1ms" to "1s"] "Control interval before any packet carries a round-trip time" ("ns-2");
}

/// Feedback left to give out: in total, and per unit of what a packet carries.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Pool {
    /// Increase left, in bytes per second.
    pub left_positive: f64,
    /// Increase per second of X (Cp).
    pub positive: f64,
    /// Decrease left, in bytes per second.
    pub left_negative: f64,
    /// Decrease per byte (Cn).
    pub negative: f64,
}

/// What the controller sets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Knobs {
    /// Control interval (d), in seconds.
    pub interval_s: f64,
    /// Capacity (C), in bytes per second.
    pub capacity: f64,
    /// Feedback to give out in the new interval.
    pub pool: Pool,
}

const _: () = assert!(size_of::<Knobs>() == 48);

/// The smallest queue, probe by probe.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Probe {
    /// Smallest queue of the last complete probe (Q), in bytes.
    pub standing_bytes: u64,
    /// Smallest queue of the current probe, in bytes.
    pub least_bytes: u64,
    /// When the current probe ends.
    pub ends: Time,
}

impl Probe {
    /// Samples the queue; ends the probe if it is due.
    fn sample(&mut self, moment: &Moment, knobs: &Knobs) {
        let &Moment { now, queue_bytes } = moment;
        self.least_bytes = self.least_bytes.min(queue_bytes);
        if now >= self.ends {
            self.standing_bytes = self.least_bytes;
            self.least_bytes = queue_bytes;
            let rest_s = knobs.interval_s - queue_bytes as f64 / knobs.capacity;
            self.ends = now + Time::from_secs_f64(rest_s / 2.0).max(LEAST_PROBE);
        }
    }
}

/// What the datapath counts.
///
/// Bytes accumulate. The sums are those of the current interval: as differences of growing
/// floating-point numbers they would lose precision.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Counts {
    /// Bytes that arrived.
    pub input_bytes: u64,
    /// Sum of X over packets that carry it, in seconds.
    pub sum_spacing: f64,
    /// Sum of X times round-trip time, in seconds squared.
    pub sum_rtt_spacing: f64,
    /// The queue samples so far.
    pub probe: Probe,
}

const _: () = assert!(size_of::<Counts>() == 48);

impl Counted for Counts {
    fn since(&self, before: &Counts) -> Counts {
        Counts { input_bytes: self.input_bytes.wrapping_sub(before.input_bytes), ..*self }
    }
}

/// The datapath of XCP: gives out the feedback that is left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Feedback set by the controller, less what packets have taken of it.
    pub left: Pool,
}

impl Datapath for Share {
    type Knobs = Knobs;
    type Counts = Counts;

    fn offered(&mut self, packet: &Packet, moment: &Moment, knobs: &Knobs, counts: &mut Counts) {
        counts.probe.sample(moment, knobs);
        counts.input_bytes += u64::from(packet.size);
        if let Ext::Xcp(header) = &packet.ext
            && header.rtt_us > 0
        {
            let spacing = f64::from(header.spacing_s);
            let rtt_s = (f64::from(header.rtt_us) / 1e6).min(MOST_S);
            counts.sum_spacing += spacing;
            counts.sum_rtt_spacing += rtt_s * spacing;
        }
    }

    fn depart(&mut self, packet: &mut Packet, moment: &Moment, knobs: &Knobs, counts: &mut Counts) {
        counts.probe.sample(moment, knobs);
        let size = f64::from(packet.size);
        let Ext::Xcp(header) = &mut packet.ext else { return };
        if header.rtt_us == 0 {
            header.delta = 0.0;
            return;
        }
        let left = &mut self.left;
        let wanted = f64::from(header.delta);
        let gain = left.left_positive.min(left.positive * f64::from(header.spacing_s));
        let cost = left.left_negative.min(left.negative * size);
        let feedback = gain - cost;
        let (added, taken) = if wanted >= feedback {
            header.delta = feedback as f32;
            (gain, cost)
        } else {
            // another port on the path gives less than this one would (2002, appendix A)
            charge(wanted, feedback)
        };
        left.left_positive = (left.left_positive - added).max(0.0);
        left.left_negative = (left.left_negative - taken).max(0.0);
        if left.left_positive == 0.0 {
            left.positive = 0.0;
        }
        if left.left_negative == 0.0 {
            left.negative = 0.0;
        }
    }

    fn renewed(&mut self, moment: &Moment, knobs: &Knobs, counts: &mut Counts) {
        counts.probe.sample(moment, knobs);
        (counts.sum_spacing, counts.sum_rtt_spacing) = (0.0, 0.0);
        self.left = knobs.pool;
    }
}

/// The part of the increase and of the decrease that a packet uses up if it gets only `wanted`.
fn charge(wanted: f64, feedback: f64) -> (f64, f64) {
    if wanted > 0.0 { (wanted, feedback - wanted) } else { (0.0, feedback.max(0.0) - wanted) }
}

/// The controller of XCP.
#[derive(Clone, Debug)]
pub struct Xcp {
    config: Config,
    /// Control interval (d), in seconds.
    interval_s: f64,
    /// Capacity at the start, in bytes per second.
    capacity: f64,
    began: Time,
    feedback: f64,
}

impl Xcp {
    /// At this link, with parameters that have passed [`Config::check`].
    pub fn new(config: &Config, link: Link) -> Xcp {
        Xcp {
            config: config.clone(),
            interval_s: config.initial_interval.secs(),
            capacity: link.rate.bytes_per_s(),
            began: Time::ZERO,
            feedback: 0.0,
        }
    }

    /// Efficiency and fairness (eqs. 1, 2, 6 and 9).
    fn control(&mut self, counts: &Counts, standing_bytes: u64, t_s: f64) -> Pool {
        let Config { alpha, beta, gamma, .. } = self.config;
        let y = counts.input_bytes as f64 / t_s;
        let standing = standing_bytes as f64;
        self.feedback = alpha * (self.capacity - y) - beta * standing / self.interval_s;
        let shuffled = (gamma * y - self.feedback.abs()).max(0.0);
        let left_positive = shuffled + self.feedback.max(0.0);
        let left_negative = shuffled + (-self.feedback).max(0.0);
        Pool {
            left_positive,
            positive: ratio(left_positive, counts.sum_spacing),
            left_negative,
            negative: ratio(left_negative, counts.input_bytes as f64),
        }
    }
}

/// A share of a sum; zero if there is nothing to divide it by.
fn ratio(amount: f64, sum: f64) -> f64 {
    if sum > 0.0 { amount / sum } else { 0.0 }
}

impl Controller<Knobs, Counts> for Xcp {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        self.began = now;
        let Xcp { interval_s, capacity, .. } = *self;
        *knobs = Knobs { interval_s, capacity, pool: Pool::default() };
        Ok(now + self.config.initial_interval)
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let t_s = (now - self.began).secs();
        self.began = now;
        self.capacity = view.rate.bytes_per_s();
        self.interval_s = if counts.sum_spacing > 0.0 {
            (counts.sum_rtt_spacing / counts.sum_spacing).clamp(LEAST_S, MOST_S)
        } else {
            self.config.initial_interval.secs()
        };
        knobs.interval_s = self.interval_s;
        knobs.capacity = self.capacity;
        // this sample of the queue counts as well
        let mut probe = counts.probe;
        probe.sample(&Moment { now, queue_bytes: view.queue_bytes }, knobs);
        knobs.pool = self.control(counts, probe.standing_bytes, t_s);
        let decision =
            Decision { phase: "shuffle", set: self.feedback * 8.0, from: self.interval_s };
        Ok((now + Time::from_secs_f64(self.interval_s), Some(decision)))
    }
}
