//! The flows of a traffic class: starts and sizes.
//!
//! Every random number comes from a stream named by (seed, class, purpose). So a class has the same
//! flows under every control and next to any other classes, and its sizes do not depend on how its
//! arrivals are drawn.
//!
//! Distributions are drawn by inversion, with `libm`. Those of `rand_distr` use the platform's
//! logarithm if any crate of the build enables `std` in `num-traits`; results would then differ
//! between machines.

mod arrivals;
mod frames;
mod pages;
mod periods;

use rand::{Rng, RngExt as _, SeedableRng as _, distr::OpenClosed01};
pub use rand_pcg::Pcg64;
use tidegate_core::units::Time;

use crate::scenario::{Class, Course, Direction, End, FlowSize, People, Shape};
use arrivals::Starts;
pub use frames::Frames;
pub use pages::{Object, Page};
pub use periods::Periods;

/// Largest flow in bytes; a larger draw is truncated.
pub const MAX_FLOW: u64 = 1_000_000_000_000;
/// Most segments of a flow: sequence numbers have 32 bits, half of which must lie ahead.
const MAX_SEGMENTS: u64 = 1 << 31;

/// The random stream of this seed, name and purpose.
///
/// Different names or purposes give unrelated streams.
pub fn stream(seed: u64, name: &str, purpose: &str) -> Pcg64 {
    let absorb = |state: u64, word: u64| Pcg64::seed_from_u64(state ^ word).next_u64();
    let state = [name, purpose].iter().fold(absorb(seed, 0), |state, text| {
        // the length first, so that ("ab", "c") and ("a", "bc") differ
        let state = absorb(state, text.len() as u64);
        text.as_bytes().chunks(8).fold(state, |state, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            absorb(state, u64::from_le_bytes(word))
        })
    });
    Pcg64::seed_from_u64(state)
}

/// A uniform number above 0, up to 1, so that its logarithm is finite.
fn uniform(random: &mut Pcg64) -> f64 {
    random.sample(OpenClosed01)
}

/// A flow that will start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowDraw {
    /// When it starts.
    pub start: Time,
    /// Bytes to send, at least one; none: unlimited.
    pub size: Option<u64>,
    /// Index of its pair of hosts in the class.
    pub pair: usize,
    /// The number of the person whose flow it is, from 0, where the class says how many there are.
    pub person: Option<u32>,
    /// Whether data goes from the second host of the pair to the first: a replayed flow whose
    /// direction is opposite to that of its class.
    pub turned: bool,
    /// Which end opens the connection.
    pub opens: End,
    /// Whether its transport headers are unreadable for routers.
    pub opaque: bool,
}

/// The flows of one class, in the order of their starts.
#[derive(Clone, Debug)]
pub struct ClassDraws {
    starts: Starts,
    sizes: Sizes,
    /// Whether flows are connections of users who load pages: their size is not drawn.
    pages: bool,
    direction: Direction,
    opens: End,
    pairs: u32,
    pair: Pcg64,
    /// The people of the class in the order of their flows, and how many flows there were.
    people: Vec<u32>,
    flows: usize,
    opaque_share: f64,
    opaque: Pcg64,
}

impl ClassDraws {
    /// The flows of `class` under this seed.
    pub fn new(seed: u64, class: &Class) -> ClassDraws {
        let named = |purpose| stream(seed, &class.name, purpose);
        let most = MAX_FLOW.min(u64::from(class.transport.payload()).saturating_mul(MAX_SEGMENTS));
        ClassDraws {
            starts: Starts::new(&class.arrivals, named("arrivals")),
            sizes: Sizes { size: class.size.clone(), most, random: named("size") },
            pages: class.pages().is_some(),
            direction: class.direction,
            opens: class.opens,
            pairs: u32::try_from(class.pairs.len()).unwrap_or(u32::MAX).max(1),
            pair: named("pair"),
            people: class.people.as_ref().map_or_else(Vec::new, |people| order(seed, people)),
            flows: 0,
            opaque_share: class.opaque_share,
            opaque: named("opaque"),
        }
    }

    /// The next flow; none after the last. A process without a `stop` is endless.
    pub fn next_flow(&mut self) -> Option<FlowDraw> {
        let start = self.starts.next_start()?;
        let (size, direction, opens) = match self.starts.recorded() {
            Some(flow) => (Some(flow.size.clamp(1, self.sizes.most)), flow.direction, flow.opens),
            None if self.pages => (None, self.direction, self.opens),
            None => (self.sizes.draw(start), self.direction, self.opens),
        };
        let pair = self.pair.random_range(0..self.pairs) as usize;
        let person = self.people.get(self.flows % self.people.len().max(1)).copied();
        self.flows += 1;
        Some(FlowDraw {
            start,
            size,
            opens,
            turned: direction != self.direction,
            pair: person.map_or(pair, |person| (person % self.pairs) as usize),
            person,
            opaque: self.opaque.random::<f64>() < self.opaque_share,
        })
    }
}

/// The people of a class in an order that is drawn evenly from all orders (Fisher and Yates).
fn order(seed: u64, people: &People) -> Vec<u32> {
    let mut random = stream(seed, &people.order, "people");
    let mut order: Vec<u32> = (0..people.of).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.random_range(0..=last as u32) as usize);
    }
    order
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
        // a whole number must survive scaling by its mean and back
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
pub(crate) fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * libm::log(uniform(random))).sqrt();
    radius * libm::cos(std::f64::consts::TAU * uniform(random))
}

/// The quantile of `probability`; `points` are (value, probability).
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
