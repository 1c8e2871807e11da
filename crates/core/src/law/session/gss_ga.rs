//! GSS+GA: golden section search, then gradient ascent, for the allowance at which most sessions
//! complete (session-control, IV-A, Algorithm 1).
//!
//! | symbol          | here          | unit           | paper     |
//! |-----------------|---------------|----------------|-----------|
//! | `E`             | `epoch`       | s              | 2         |
//! | `stepSize`      | `step_size`   | sessions/epoch | 20        |
//! | `GSS_THRESHOLD` | `threshold`   | sessions/epoch | 100       |
//! | `GOLD`          | `gold`        | 1              | 1.618     |
//! | `C`             | `c`           | 1              | 0.3819    |
//! | `alpha_min`     | `alpha_min`   | sessions/epoch | no value  |
//! | `alpha_t`       | `alpha`       | sessions/epoch | allowed   |
//! | `d_x`           | `Point::ends` | sessions/epoch | counted   |
//!
//! The unknown curve is completions over `alpha`; one epoch at an `alpha` measures one point. The
//! law brackets the maximum with growing steps, narrows the bracket by golden sections until it is
//! below the threshold, then climbs. A sudden change of traffic ([`super::change`]) restarts it.
//!
//! Departures from the printed algorithm:
//! - Bracket: three points are measured before the first test, and the loop counts on from there.
//!   It also ends where the first step lowers the completions (the maximum is then sought below),
//!   and where the allowance exceeds the arrivals (there is no maximum to find).
//! - `SHIFT` is the macro of Numerical Recipes (10.1): its last argument is evaluated after the
//!   first two assignments. One of the two inner points keeps its measured value, the other is
//!   measured. The larger part is tested first.
//! - Ascent: a slope needs two points at least one session apart; without them the law probes.
//!   Moves and `alpha` are bounded. A point lies at what could be admitted, `min(alpha, a)`; where
//!   everything was admitted twice, `alpha` stays.
//!
//! Limits: completions in an epoch stem partly from earlier admissions, so a point measured after a
//! larger `alpha` is too high. The bracket then ends up too high, and the ascent, with at most 40
//! per epoch, has to come back; `skip` waits for this effect to pass. Steps are absolute: a peak at
//! 80 per epoch is held within an eighth. After a short move the slope is mostly noise, and if `d`
//! has a deviation above about 7 the next move is a full one.

mod config;

use crate::law::{Controller, Decision, Fault, Step, View};
use crate::units::Time;

use super::change::Detector;
use super::eligibility::{BYPASS, Window};
use super::{Carry, Counts, Knobs};

pub use config::Config;

/// Two points closer than this give no slope, sessions per epoch.
const EPSILON: f64 = 1.0;

/// One measured point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// The allowance.
    alpha: f64,
    /// The arrivals.
    arrived: f64,
    /// The completions.
    ends: f64,
    /// The number of this measurement, for its age.
    number: u32,
}

impl Point {
    /// Whether every arrival was admitted.
    fn admitted_all(&self) -> bool {
        self.arrived < self.alpha
    }

    /// What could be admitted: the x-coordinate on the curve.
    fn place(&self) -> f64 {
        self.alpha.min(self.arrived)
    }
}

/// What is known while a point is being measured.
#[derive(Clone, Copy, Debug)]
enum SearchPhase {
    /// The first point of the bracket.
    First,
    /// The second.
    Second { x0: Point },
    /// The third point, or a later one after a shift.
    Third { x0: Point, x1: Point },
    /// A point inside the first step, which lowered the completions.
    Below { a: Point, c: Point },
    /// One inner point of the bracket `a..c`; the other one is known.
    Golden { a: f64, c: f64, known: Point },
    /// A point of the ascent; `last` is the previous one.
    Ascent { last: Point, up: bool, detector: Detector },
}

impl SearchPhase {
    fn name(&self) -> &'static str {
        match self {
            SearchPhase::First
            | SearchPhase::Second { .. }
            | SearchPhase::Third { .. }
            | SearchPhase::Below { .. } => "bracket",
            SearchPhase::Golden { .. } => "golden",
            SearchPhase::Ascent { .. } => "ascent",
        }
    }
}

/// Golden section search, then gradient ascent.
#[derive(Clone, Debug)]
pub struct GssGa {
    config: Config,
    phase: SearchPhase,
    /// The current allowance, sessions per epoch.
    alpha: f64,
    /// Epochs to wait before the current allowance is measured.
    waiting: u32,
    /// Measurements so far.
    evaluations: u32,
    carry: Carry,
    window: Window,
}

impl GssGa {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> GssGa {
        GssGa {
            phase: SearchPhase::First,
            alpha: config.alpha_min,
            waiting: config.skip,
            evaluations: 0,
            carry: Carry::default(),
            window: Window::over(config.admit, &config.clients, config.epoch),
            config,
        }
    }

    /// Takes in an epoch at `alpha`, and decides the next `alpha`; returns the phase to report.
    fn decide(&mut self, arrived: f64, ends: f64) -> &'static str {
        if let SearchPhase::Ascent { detector, .. } = &mut self.phase
            && self.config.restart
            && detector.observe(arrived, ends)
        {
            (self.alpha, self.phase) = (self.config.alpha_min, SearchPhase::First);
            self.waiting = self.config.skip;
            return "restart";
        }
        if self.waiting > 0 {
            self.waiting -= 1;
            return self.phase.name();
        }
        self.evaluations = self.evaluations.wrapping_add(1);
        let here = Point { alpha: self.alpha, arrived, ends, number: self.evaluations };
        (self.alpha, self.phase) = match self.phase {
            SearchPhase::First => {
                (here.alpha + self.config.step_size, SearchPhase::Second { x0: here })
            }
            SearchPhase::Second { x0 } => self.extend(x0, here),
            SearchPhase::Third { x0, x1 } => self.bracket(x0, x1, here),
            SearchPhase::Below { a, c } => self.narrow(a, here, c),
            SearchPhase::Golden { a, c, known } => self.section(a, c, known, here),
            SearchPhase::Ascent { last, up, detector } => self.climb(last, up, detector, here),
        };
        self.waiting = self.config.skip;
        self.phase.name()
    }
}

/// The steps of Algorithm 1: each returns the next `alpha` and what is known then.
impl GssGa {
    /// The next point of the bracket: one step further, by the golden ratio.
    fn extend(&self, x0: Point, x1: Point) -> (f64, SearchPhase) {
        (x1.alpha + self.config.gold * (x1.alpha - x0.alpha), SearchPhase::Third { x0, x1 })
    }

    /// Three points are known: is the maximum between them?
    fn bracket(&self, x0: Point, x1: Point, x2: Point) -> (f64, SearchPhase) {
        if x1.admitted_all() && x2.admitted_all() {
            // more was allowed than arrived, so the allowance did not cause the difference
            self.ascend(x2, x1)
        } else if x1.ends < x0.ends {
            let inner = x0.alpha + self.config.c * (x1.alpha - x0.alpha);
            (inner, SearchPhase::Below { a: x0, c: x1 })
        } else if x2.ends < x1.ends {
            self.narrow(x0, x1, x2)
        } else if x2.admitted_all() {
            self.ascend(x2, x1)
        } else {
            self.extend(x1, x2)
        }
    }

    /// The bracket `a < b < c` is found: start to narrow it.
    fn narrow(&self, a: Point, b: Point, c: Point) -> (f64, SearchPhase) {
        if self.narrow_enough(a.alpha, c.alpha) {
            return if a.ends > b.ends { self.ascend(a, b) } else { self.ascend(b, a) };
        }
        let (below, above) = (b.alpha - a.alpha, c.alpha - b.alpha);
        let inner = if above >= below {
            b.alpha + self.config.c * above
        } else {
            b.alpha - self.config.c * below
        };
        (inner, SearchPhase::Golden { a: a.alpha, c: c.alpha, known: b })
    }

    /// Both inner points are known: drop the part of the bracket beyond the worse one.
    fn section(&self, a: f64, c: f64, known: Point, here: Point) -> (f64, SearchPhase) {
        let again = self.config.remeasure_after;
        if again > 0 && here.number.wrapping_sub(known.number) > again {
            return (known.alpha, SearchPhase::Golden { a, c, known: here });
        }
        let (b, x) = if known.alpha < here.alpha { (known, here) } else { (here, known) };
        let (a, c, best, worse, inner) = if x.ends > b.ends {
            (b.alpha, c, x, b, x.alpha + self.config.c * (c - x.alpha))
        } else {
            // also if they are equal: fewer admissions for as many completions
            (a, x.alpha, b, x, b.alpha - self.config.c * (b.alpha - a))
        };
        if self.narrow_enough(a, c) {
            return self.ascend(best, worse);
        }
        (inner, SearchPhase::Golden { a, c, known: best })
    }

    fn narrow_enough(&self, a: f64, c: f64) -> bool {
        self.config.ga && c - a < self.config.threshold
    }

    /// Start to climb from `best`, along the slope towards it from `other`.
    fn ascend(&self, best: Point, other: Point) -> (f64, SearchPhase) {
        let detector = Detector::new(self.config.detector);
        let up = best.alpha > other.alpha;
        (best.alpha, SearchPhase::Ascent { last: other, up, detector })
    }

    /// One step along the slope between the last two points.
    fn climb(
        &self,
        last: Point,
        mut up: bool,
        detector: Detector,
        here: Point,
    ) -> (f64, SearchPhase) {
        let config = &self.config;
        let apart = here.place() - last.place();
        let step = if here.admitted_all() && (last.admitted_all() || apart.abs() < EPSILON) {
            0.0
        } else if apart.abs() >= EPSILON {
            let step = config.step_size * (here.ends - last.ends) / apart;
            up = if step == 0.0 { up } else { step > 0.0 };
            step
        } else {
            // no slope: try one side, and the other one if that lowered the completions
            if here.ends <= last.ends {
                up = !up;
            }
            if up { config.probe } else { -config.probe }
        };
        let most = config.step_size * config.step_limit;
        let ceiling = (2.0 * here.arrived).max(config.alpha_min + config.step_size);
        let alpha = (here.alpha + step.clamp(-most, most)).clamp(config.alpha_min, ceiling);
        (alpha, SearchPhase::Ascent { last: here, up, detector })
    }
}

impl Controller<Knobs, Counts> for GssGa {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.allow(self.carry.whole(self.alpha), self.config.epoch);
        Ok(now.saturating_add(self.config.epoch))
    }

    fn update(&mut self, now: Time, _view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        self.window.count(counts);
        let arrived = counts.arrived.saturating_sub(counts.inside) as f64;
        let ended = self.window.unit() * counts.departed as f64;
        let phase = self.decide(arrived, ended);
        let decision = Decision { phase, set: self.alpha, from: ended };
        knobs.allow(self.carry.whole(self.alpha), self.config.epoch);
        if self.config.eligibility {
            self.window.follow(self.alpha, counts);
            self.window.set(BYPASS, now, knobs);
        }
        self.window.renew(knobs);
        Ok((now.saturating_add(self.config.epoch), Some(decision)))
    }
}
