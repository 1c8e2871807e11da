//! GSS+GA: golden section search, then gradient ascent, for the admissions
//! that complete the most sessions (session-control, IV-A, Algorithm 1).
//!
//! | symbol          | here          | unit           | paper     |
//! |-----------------|---------------|----------------|-----------|
//! | `E`             | `epoch`       | s              | 2         |
//! | `stepSize`      | `step_size`   | sessions/epoch | 20        |
//! | `GSS_THRESHOLD` | `threshold`   | sessions/epoch | 100       |
//! | `GOLD`          | `gold`        | 1              | 1.618     |
//! | `C`             | `c`           | 1              | 0.3819    |
//! | `alpha_min`     | `alpha_min`   | sessions/epoch | not said  |
//! | `alpha_t`       | `alpha`       | sessions/epoch | allowed   |
//! | `d_x`           | `Point::ends` | sessions/epoch | counted   |
//!
//! One evaluation of the unknown curve is one epoch at that `alpha`:
//! bracket the maximum by growing steps, narrow the bracket by golden sections
//! until it is less than the threshold, then climb. A sudden change of traffic
//! ([`super::change`]) sends it back to the start.
//!
//! Departures from the print:
//! - Bracket: three points are evaluated before the first test, and the loop
//!   counts on. It also ends where the first step already loses (the maximum is
//!   sought below), and where more is allowed than arrives (there is nothing to find).
//! - `SHIFT` is the macro of Numerical Recipes (10.1): its last argument is
//!   worked out after the first two assignments. One of the two inner points keeps
//!   its measured value, one is measured. The larger part is tested at entry.
//! - Ascent: a slope needs two points a session apart; without them it probes.
//!   Moves and `alpha` are bounded. A point counts as what could be admitted,
//!   `min(alpha, a)`, and where everything was admitted twice `alpha` stays.
//!
//! Limits: completions in an epoch stem partly from admissions before it, so a
//! point that follows a larger one is flattered, the bracket goes too far up and
//! the ascent, at most 40 an epoch, has the way back; `skip` waits for that to
//! pass. Steps are absolute: a peak of 80 an epoch is kept within an eighth. After
//! a short move the slope is mostly noise, and beyond a deviation of `d` of about 7
//! the next move is a full one.

mod config;

use crate::law::{Controller, Decision, Fault, Turn, View};
use crate::units::Time;

use super::change::Detector;
use super::eligibility::{BYPASS, Window};
use super::{Carry, Counts, Knobs};

pub use config::Config;

/// Two points closer than this give no slope, sessions per epoch.
const EPSILON: f64 = 1.0;

/// One evaluation of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// What was allowed.
    alpha: f64,
    /// What arrived.
    arrived: f64,
    /// What it brought: completions.
    ends: f64,
    /// Which evaluation this was, to know its age.
    number: u32,
}

impl Point {
    /// Whether everything that came was admitted.
    fn admitted_all(&self) -> bool {
        self.arrived < self.alpha
    }

    /// What could be admitted: the place on the curve.
    fn place(&self) -> f64 {
        self.alpha.min(self.arrived)
    }
}

/// What is known while a point is being evaluated.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The first point of the bracket.
    First,
    /// The second.
    Second { x0: Point },
    /// The third, or a further one after a shift.
    Third { x0: Point, x1: Point },
    /// A point inside the first step, which has lost.
    Below { a: Point, c: Point },
    /// One inner point of the bracket `a..c`; the other is known.
    Golden { a: f64, c: f64, known: Point },
    /// A point of the climb; `last` is the one before.
    Ascent { last: Point, up: bool, detector: Detector },
}

impl Phase {
    fn name(&self) -> &'static str {
        match self {
            Phase::First | Phase::Second { .. } | Phase::Third { .. } | Phase::Below { .. } => {
                "bracket"
            }
            Phase::Golden { .. } => "golden",
            Phase::Ascent { .. } => "ascent",
        }
    }
}

/// Golden section search, then gradient ascent.
#[derive(Clone, Debug)]
pub struct GssGa {
    config: Config,
    phase: Phase,
    /// What is allowed at present, sessions per epoch.
    alpha: f64,
    /// Epochs to wait before the present one is evaluated.
    waiting: u32,
    /// Evaluations so far.
    evaluations: u32,
    carry: Carry,
    window: Window,
}

impl GssGa {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> GssGa {
        GssGa {
            phase: Phase::First,
            alpha: config.alpha_min,
            waiting: config.skip,
            evaluations: 0,
            carry: Carry::default(),
            window: Window::default(),
            config,
        }
    }

    /// Takes in an epoch at `alpha`, and decides the next `alpha`; the phase to report.
    fn decide(&mut self, arrived: f64, ends: f64) -> &'static str {
        if let Phase::Ascent { detector, .. } = &mut self.phase
            && self.config.restart
            && detector.observe(arrived, ends)
        {
            (self.alpha, self.phase) = (self.config.alpha_min, Phase::First);
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
            Phase::First => (here.alpha + self.config.step_size, Phase::Second { x0: here }),
            Phase::Second { x0 } => self.extend(x0, here),
            Phase::Third { x0, x1 } => self.bracket(x0, x1, here),
            Phase::Below { a, c } => self.narrow(a, here, c),
            Phase::Golden { a, c, known } => self.section(a, c, known, here),
            Phase::Ascent { last, up, detector } => self.climb(last, up, detector, here),
        };
        self.waiting = self.config.skip;
        self.phase.name()
    }
}

/// The steps of Algorithm 1: each gives the next `alpha` and what is known then.
impl GssGa {
    /// The next point of the bracket, a golden step beyond the last.
    fn extend(&self, x0: Point, x1: Point) -> (f64, Phase) {
        (x1.alpha + self.config.gold * (x1.alpha - x0.alpha), Phase::Third { x0, x1 })
    }

    /// Three points are known: is the maximum between them?
    fn bracket(&self, x0: Point, x1: Point, x2: Point) -> (f64, Phase) {
        if x1.admitted_all() && x2.admitted_all() {
            // whatever sets the two apart, it was not what was allowed
            self.ascend(x2, x1)
        } else if x1.ends < x0.ends {
            let inner = x0.alpha + self.config.c * (x1.alpha - x0.alpha);
            (inner, Phase::Below { a: x0, c: x1 })
        } else if x2.ends < x1.ends {
            self.narrow(x0, x1, x2)
        } else if x2.admitted_all() {
            self.ascend(x2, x1)
        } else {
            self.extend(x1, x2)
        }
    }

    /// The bracket `a < b < c` is found: begin to narrow it.
    fn narrow(&self, a: Point, b: Point, c: Point) -> (f64, Phase) {
        if self.narrow_enough(a.alpha, c.alpha) {
            return if a.ends > b.ends { self.ascend(a, b) } else { self.ascend(b, a) };
        }
        let (below, above) = (b.alpha - a.alpha, c.alpha - b.alpha);
        let inner = if above >= below {
            b.alpha + self.config.c * above
        } else {
            b.alpha - self.config.c * below
        };
        (inner, Phase::Golden { a: a.alpha, c: c.alpha, known: b })
    }

    /// Both inner points are known: drop the part beyond the worse one.
    fn section(&self, a: f64, c: f64, known: Point, here: Point) -> (f64, Phase) {
        let again = self.config.remeasure_after;
        if again > 0 && here.number.wrapping_sub(known.number) > again {
            return (known.alpha, Phase::Golden { a, c, known: here });
        }
        let (b, x) = if known.alpha < here.alpha { (known, here) } else { (here, known) };
        let (a, c, best, worse, inner) = if x.ends > b.ends {
            (b.alpha, c, x, b, x.alpha + self.config.c * (c - x.alpha))
        } else {
            // also where they are equal: fewer admissions for as many completions
            (a, x.alpha, b, x, b.alpha - self.config.c * (b.alpha - a))
        };
        if self.narrow_enough(a, c) {
            return self.ascend(best, worse);
        }
        (inner, Phase::Golden { a, c, known: best })
    }

    fn narrow_enough(&self, a: f64, c: f64) -> bool {
        self.config.ga && c - a < self.config.threshold
    }

    /// Begin to climb from `best`, with the slope towards it from `other`.
    fn ascend(&self, best: Point, other: Point) -> (f64, Phase) {
        let detector = Detector::new(self.config.detector);
        let up = best.alpha > other.alpha;
        (best.alpha, Phase::Ascent { last: other, up, detector })
    }

    /// One step along the slope between the last two points.
    fn climb(&self, last: Point, mut up: bool, detector: Detector, here: Point) -> (f64, Phase) {
        let config = &self.config;
        let apart = here.place() - last.place();
        let step = if here.admitted_all() && (last.admitted_all() || apart.abs() < EPSILON) {
            0.0
        } else if apart.abs() >= EPSILON {
            let step = config.step_size * (here.ends - last.ends) / apart;
            up = if step == 0.0 { up } else { step > 0.0 };
            step
        } else {
            // no slope to go by: try one side, and the other where it brought nothing
            if here.ends <= last.ends {
                up = !up;
            }
            if up { config.probe } else { -config.probe }
        };
        let most = config.step_size * config.step_limit;
        let ceiling = (2.0 * here.arrived).max(config.alpha_min + config.step_size);
        let alpha = (here.alpha + step.clamp(-most, most)).clamp(config.alpha_min, ceiling);
        (alpha, Phase::Ascent { last: here, up, detector })
    }
}

impl Controller<Knobs, Counts> for GssGa {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.allow(self.carry.whole(self.alpha), self.config.epoch);
        Ok(now.saturating_add(self.config.epoch))
    }

    fn update(
        &mut self,
        now: Time,
        _view: &View<'_>,
        counts: &Counts,
        knobs: &mut Knobs,
    ) -> Result<Turn, Fault> {
        let phase = self.decide(counts.arrived as f64, counts.departed as f64);
        let decision = Decision { phase, set: self.alpha, from: counts.departed as f64 };
        knobs.allow(self.carry.whole(self.alpha), self.config.epoch);
        if self.config.eligibility {
            self.window.follow(self.alpha, counts);
            self.window.set(BYPASS, now, knobs);
        }
        Ok((now.saturating_add(self.config.epoch), Some(decision)))
    }
}
