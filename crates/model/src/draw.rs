//! The flows of a traffic class: when they start, and how much they send.
//!
//! Every draw comes from a stream named by (seed, class, purpose). So a class
//! has the same flows whatever control is tried on them and whatever other
//! classes there are, and its sizes do not depend on how its arrivals are drawn.
//!
//! Distributions are drawn by inverting them with `libm`: the ready-made ones
//! of `rand_distr` take the platform's logarithms as soon as any other crate
//! of the build asks `num-traits` for `std`, and would then differ by machine.

mod arrivals;

use rand::{Rng, RngExt as _, SeedableRng as _, distr::OpenClosed01};
pub use rand_pcg::Pcg64;
use tidegate_core::units::Time;

use crate::scenario::{Class, Course, Direction, FlowSize, Shape};
use arrivals::Starts;

/// Largest flow in bytes; a draw beyond it is cut.
pub const MAX_FLOW: u64 = 1_000_000_000_000;
/// Most segments of a flow: their numbers have 32 bits, and half of them must be ahead.
const MAX_SEGMENTS: u64 = 1 << 31;

/// The stream of random numbers of this seed, name and purpose.
///
/// Different names or purposes give unrelated streams.
pub fn stream(seed: u64, name: &str, purpose: &str) -> Pcg64 {
    let absorb = |state: u64, word: u64| Pcg64::seed_from_u64(state ^ word).next_u64();
    let state = [name, purpose].iter().fold(absorb(seed, 0), |state, text| {
        // the length first: ("ab", "c") is not ("a", "bc")
        let state = absorb(state, text.len() as u64);
        text.as_bytes().chunks(8).fold(state, |state, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            absorb(state, u64::from_le_bytes(word))
        })
    });
    Pcg64::seed_from_u64(state)
}

/// A uniform number above 0 and up to 1, whose logarithm is finite.
fn uniform(random: &mut Pcg64) -> f64 {
    random.sample(OpenClosed01)
}

/// One flow to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowDraw {
    /// When it starts.
    pub start: Time,
    /// How much it sends, in bytes, at least one; none: without end.
    pub size: Option<u64>,
    /// Which of the class's pairs of hosts it runs between.
    pub pair: usize,
    /// Whether data goes from the second host of the pair to the first: a
    /// replayed flow of the direction that its class does not have.
    pub turned: bool,
    /// Which end opens the connection.
    pub direction: Direction,
    /// Whether routers cannot read its transport headers.
    pub opaque: bool,
}

/// The flows of one class, in the order of their starts.
#[derive(Clone, Debug)]
pub struct ClassDraws {
    starts: Starts,
    sizes: Sizes,
    direction: Direction,
    pairs: u32,
    pair: Pcg64,
    opaque_share: f64,
    opaque: Pcg64,
}

impl ClassDraws {
    /// The flows that `class` has under this seed.
    pub fn new(seed: u64, class: &Class) -> ClassDraws {
        let named = |purpose| stream(seed, &class.name, purpose);
        let most = MAX_FLOW.min(u64::from(class.transport.payload()).saturating_mul(MAX_SEGMENTS));
        ClassDraws {
            starts: Starts::new(&class.arrivals, named("arrivals")),
            sizes: Sizes { size: class.size.clone(), most, random: named("size") },
            direction: class.direction,
            pairs: u32::try_from(class.pairs.len()).unwrap_or(u32::MAX).max(1),
            pair: named("pair"),
            opaque_share: class.opaque_share,
            opaque: named("opaque"),
        }
    }

    /// The next flow; none when there are no more. A process without a `stop`
    /// never ends by itself.
    pub fn next_flow(&mut self) -> Option<FlowDraw> {
        let start = self.starts.next_start()?;
        let (size, direction) = match self.starts.recorded() {
            Some(flow) => (Some(flow.size.clamp(1, self.sizes.most)), flow.direction),
            None => (self.sizes.draw(start), self.direction),
        };
        Some(FlowDraw {
            start,
            size,
            direction,
            turned: direction != self.direction,
            pair: self.pair.random_range(0..self.pairs) as usize,
            opaque: self.opaque.random::<f64>() < self.opaque_share,
        })
    }
}

/// The sizes of a class's flows.
#[derive(Clone, Debug)]
struct Sizes {
    size: FlowSize,
    /// Largest size in bytes.
    most: u64,
    random: Pcg64,
}

impl Sizes {
    /// The size of a flow that starts at `start`, in whole bytes, rounded up.
    fn draw(&mut self, start: Time) -> Option<u64> {
        let FlowSize::Drawn { shape, mean } = &self.size else { return None };
        let exact = shape.draw(&mut self.random) * mean.value(start);
        // a whole number must stay what it is after scaling by its mean and back
        let bytes = libm::ceil(exact * (1.0 - 1e-12));
        Some((bytes as u64).clamp(1, self.most))
    }
}

impl Shape {
    /// A draw of mean one.
    fn draw(&self, random: &mut Pcg64) -> f64 {
        match self {
            Shape::Constant => 1.0,
            // P(X > x) = (scale/x)^shape, with scale = mean (shape - 1)/shape
            Shape::Pareto(shape) => {
                (shape - 1.0) / shape * libm::pow(uniform(random), -1.0 / shape)
            }
            Shape::Exponential => -libm::log(uniform(random)),
            // E exp(sigma Z - sigma^2/2) = 1
            Shape::Lognormal(sigma) => libm::exp(sigma * (normal(random) - sigma / 2.0)),
            Shape::Empirical(points) => quantile(points, uniform(random)),
        }
    }
}

/// A standard normal draw (Box and Muller).
fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * libm::log(uniform(random))).sqrt();
    radius * libm::cos(std::f64::consts::TAU * uniform(random))
}

/// The value below which the share `probability` lies; `points` are (value, probability).
fn quantile(points: &[(f64, f64)], probability: f64) -> f64 {
    let above = points.partition_point(|point| point.1 < probability);
    let (value, upper) = match (points.get(above), points.last()) {
        (Some(point), _) | (None, Some(point)) => *point,
        (None, None) => return 1.0,
    };
    match above.checked_sub(1).and_then(|below| points.get(below)) {
        Some(&(from, lower)) if lower < upper => {
            from + (value - from) * ((probability - lower) / (upper - lower)).min(1.0)
        }
        _ => value,
    }
}

impl Course {
    /// The value at an instant; at a step, the value after it.
    pub fn value(&self, at: Time) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= at);
        match (after.checked_sub(1).map(|i| self.points[i]), self.points.get(after)) {
            (Some((from, low)), Some(&(until, high))) => {
                low + (high - low) * ((at - from).secs() / (until - from).secs())
            }
            (Some((_, value)), None) | (None, Some(&(_, value))) => value,
            (None, None) => 0.0,
        }
    }
}
