//! RED, random early detection (Floyd and Jacobson 1993), with its gentle
//! variant (Floyd 2000) and ECN (RFC 3168).
//!
//! | symbol     | here      | unit          | paper                              |
//! |------------|-----------|---------------|------------------------------------|
//! | `avg`      | `average` | packets       | average queue                      |
//! | `w_q`      | `w`       | 1             | 0.002; automatic in ns-2           |
//! | `min_th`   | `min_th`  | packets       | 5; automatic in ns-2               |
//! | `max_th`   | `max_th`  | packets       | three times `min_th`               |
//! | `max_p`    | `max_p`   | 1             | 0.02 to 0.1                        |
//! | `p_b`      | `curve()` | 1             | wanted share of drops at `avg`     |
//! | `p_a`      | `spread()`| 1             | the same, given the last drop      |
//! | `count`    | `passed`  | packets       | accepted since the last drop       |
//! | `m`        |           | packets       | idle time over mean service time   |
//!
//! At each arrival:
//! 1. Update the average with the queue; after idle time let it decay by `(1 - w)^m`.
//! 2. A packet that does not fit is dropped.
//! 3. Below `min_th`, or with at most one packet waiting, every packet is accepted, and so is the
//!    first one after that.
//! 4. `p_b` rises from 0 at `min_th` to `max_p` at `max_th`. Above, plain RED drops every packet;
//!    gentle RED continues to 1 at twice `max_th`.
//! 5. Drops are spaced: with `p_a = p_b / (1 - count p_b)` the gap between two drops is uniform on
//!    `1 .. 1/p_b`; with `wait`, as in ns-2, on `1/p_b .. 2/p_b - 1`.
//! 6. In byte mode the queue is measured in mean packets' worth of bytes, and the probability is
//!    proportional to the packet size.
//! 7. With `ecn` a packet with ECT is marked instead of dropped early.
//!
//! `"auto"` computes a parameter as ns-2 does. With `ptc` mean packets per second and `rtt =
//! max(0.1 s, 3 (delay + 1 / ptc))`: `min_th = max(5, 0.005 s x ptc / 2)`, `max_th = 3 min_th`, `w
//! = 1 - exp(-1 / (10 rtt ptc))`. It uses the link at the start; a later change of capacity does
//! not change the parameters.
//!
//! Departures:
//! - the printed listing counts the current packet among those accepted; the analysis in the same
//!   paper does not, and only the analysis gives `1 .. 1/p_b`.
//! - `m` is not rounded, and an arrival at an idle link is not a sample as well: ns-2 rounds down
//!   and adds one.
//! - with `ecn` a packet with ECT is marked at any average; ns-2 drops it at twice `max_th`.
//!
//! Limits: with `ecn`, the queue fills if no sender responds to marks.

use crate::law::settings::{Link, Refused, Setting};
use crate::law::{Draw, Reason, Verdict};
use crate::packet::Packet;
use crate::units::{Pace, Size, Time};

use super::{ArrivalContext, Average, Discipline, Traits, Waiting};

crate::settings! {
    /// Parameters of RED.
    "Red":
    min_th: Setting = { Setting::Auto } [0 to 1e9] "Average queue from which packets are dropped, in packets; default auto: half of what the link sends in 5 ms, at least 5" ("ns-2");
    max_th: Setting = { Setting::Auto } [0 to 1e9] "Average queue at which a share of max_p is dropped, in packets; default auto: three times min_th (ns-2); above min_th";
    max_p: f64 = 0.1 [above 0 to 1] "Share of packets dropped at max_th" ("ns-2");
    w: Setting = { Setting::Auto } [1e-9 to 1] "Weight of the newest arrival in the average queue; default auto: from the link's rate and delay" ("ns-2");
    gentle: bool = true "Whether the share of drops rises from max_p at max_th to 1 at twice max_th; false: everything is dropped above max_th" ("ns-2");
    ecn: bool = false "Whether a packet of an ECN-capable transport is marked instead of dropped early" ("ns-2");
    bytes: bool = false "Whether the queue is measured in bytes, and small packets are dropped less";
    wait: bool = true "Whether at least 1/p packets are accepted between two drops; false: at least none" ("ns-2");
    mean_packet: Size = "500B" ["1B" to "65000B"] "Mean packet size, for idle time, byte mode and auto" ("ns-2");
}

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        self.ecn
    }

    fn asked_to_mark(&self) -> bool {
        self.ecn
    }
}

impl Config {
    /// `min_th`, `max_th` and `w` at this link.
    pub fn at(&self, link: Link) -> (f64, f64, f64) {
        let ptc = 1.0 / (self.mean_packet / link.rate).secs();
        let min_th = self.min_th.or((0.005 * ptc / 2.0).max(5.0));
        let max_th = self.max_th.or(3.0 * min_th);
        let w = self.w.or(Average::automatic_weight(self.mean_packet, link));
        (min_th, max_th, w)
    }

    /// Whether every value is in range at this link.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self, link: Link) -> Result<(), Refused> {
        self.in_range()?;
        let (min_th, max_th, _) = self.at(link);
        if max_th > min_th {
            return Ok(());
        }
        let message = format!("max_th, which is {max_th}, must be above min_th, which is {min_th}");
        // report the parameter that the user wrote
        let field = if self.max_th == Setting::Auto { "min_th" } else { "max_th" };
        Err((field.into(), message))
    }
}

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    average: Average,
    min_th: f64,
    max_th: f64,
    max_p: f64,
    /// Bytes of a mean packet.
    mean_packet: f64,
    gentle: bool,
    ecn: bool,
    bytes: bool,
    wait: bool,
    /// Packets accepted since the last drop (in byte mode, mean packets' worth of bytes); none
    /// while every packet is accepted.
    passed: Option<f64>,
}

impl Red {
    /// With parameters that have passed [`Config::check`] at this link.
    pub fn new(config: &Config, link: Link) -> Red {
        let (min_th, max_th, w) = config.at(link);
        Red {
            average: Average::new(w),
            min_th,
            max_th,
            max_p: config.max_p,
            mean_packet: config.mean_packet.bytes() as f64,
            gentle: config.gentle,
            ecn: config.ecn,
            bytes: config.bytes,
            wait: config.wait,
            passed: None,
        }
    }

    /// The average at which a share of `max_p` is dropped, in packets.
    pub fn max_th(&self) -> f64 {
        self.max_th
    }

    /// How many mean packets the link could have sent in that time (`m`).
    #[inline]
    fn services(&self, idle: Time, pace: Pace) -> f64 {
        idle.ps() as f64 / pace.of(self.mean_packet as u64).ps().max(1) as f64
    }

    /// A packet of `size` bytes arrives.
    #[inline]
    pub fn meet(&mut self, size: u16, found: &ArrivalContext, draw: &mut dyn Draw) -> Verdict {
        self.observe(found);
        if !found.fits {
            self.passed = self.passed.map(|_| 0.0);
            return Verdict::Drop(Reason::QueueFull);
        }
        let avg = self.average.value();
        if avg < self.min_th || found.queue.packets <= 1 {
            self.passed = None;
            return Verdict::Pass;
        }
        self.early(avg, size, draw)
    }

    /// The average is above `min_th`: is this packet to be dropped?
    fn early(&mut self, avg: f64, size: u16, draw: &mut dyn Draw) -> Verdict {
        let weight = if self.bytes { f64::from(size) / self.mean_packet } else { 1.0 };
        let p_b = self.curve(avg);
        let passed = match self.passed {
            // a law that drops everything does not wait for a second packet
            None if p_b < 1.0 => {
                self.passed = Some(weight);
                return Verdict::Pass;
            }
            passed => passed.unwrap_or(0.0),
        };
        let p_a = self.spread(p_b, passed, weight);
        if p_a < 1.0 && (p_a == 0.0 || draw.uniform() >= p_a) {
            self.passed = Some(passed + weight);
            return Verdict::Pass;
        }
        self.passed = Some(0.0);
        if self.ecn { Verdict::Mark(Reason::Early) } else { Verdict::Drop(Reason::Early) }
    }

    /// The wanted share of drops at an average, `p_b` (Floyd and Jacobson 1993; gentle: Floyd 2000).
    pub fn curve(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            self.max_p * (avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle && avg < 2.0 * self.max_th {
            self.max_p + (1.0 - self.max_p) * (avg - self.max_th) / self.max_th
        } else {
            1.0
        }
    }

    /// The probability `p_a` for this packet, for evenly spaced drops.
    fn spread(&self, p_b: f64, passed: f64, weight: f64) -> f64 {
        if p_b >= 1.0 {
            return 1.0;
        }
        // how far this packet is from the last drop, and the largest gap
        let (behind, most) =
            if self.wait { ((passed + weight) * p_b, 2.0) } else { (passed * p_b, 1.0) };
        if self.wait && behind < 1.0 {
            return 0.0;
        }
        let p_a = if behind < most { p_b / (most - behind) } else { 1.0 };
        (p_a * if self.bytes { weight } else { 1.0 }).min(1.0)
    }
}

impl Discipline for Red {
    #[inline]
    fn arrive(
        &mut self,
        packet: &Packet,
        _: &mut Waiting,
        found: &ArrivalContext,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.meet(packet.size, found, draw)
    }

    /// Updates the average with the queue at an arrival.
    #[inline]
    fn observe(&mut self, found: &ArrivalContext) {
        match found.idle {
            Some(idle) => self.average.decay(self.services(idle, found.pace)),
            None if self.bytes => self.average.sample(found.queue.bytes as f64 / self.mean_packet),
            None => self.average.sample(f64::from(found.queue.packets)),
        }
    }

    fn average(&self, idle: Option<Time>, pace: Pace) -> Option<f64> {
        let unseen = idle.map(|idle| self.average.decayed(self.services(idle, pace)));
        Some(unseen.unwrap_or(self.average.value()))
    }

    fn weight(&self) -> Option<f64> {
        Some(self.average.weight())
    }
}
