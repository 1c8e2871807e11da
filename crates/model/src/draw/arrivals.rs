//! When flows start.
//!
//! A process whose rate follows a course is drawn in the time of its
//! cumulative rate: there the flows of a Poisson process are unit exponentials
//! apart, and those of a regular one exactly 1. The integral of a piecewise
//! linear rate is inverted exactly, so no flow is drawn to be thrown away.

use std::sync::Arc;

use rand_pcg::Pcg64;
use tidegate_core::units::Time;

use super::uniform;
use crate::scenario::{Arrivals, Course, Replayed};

/// The starts of a class's flows, in order.
#[derive(Clone, Debug)]
pub(super) enum Starts {
    /// A process in the time of its cumulative rate.
    Process(Process),
    /// At listed instants; the next is the last of these.
    Listed(Vec<Time>),
    /// Evenly drawn instants, in order.
    Uniform(Uniform),
    /// As recorded, and how many have started.
    Replayed(Arc<[Replayed]>, usize),
}

impl Starts {
    pub fn new(arrivals: &Arrivals, random: Pcg64) -> Starts {
        match arrivals {
            Arrivals::Poisson { rate, start, stop } => {
                Starts::Process(Process::new(rate, *start, *stop, Some(random)))
            }
            Arrivals::Every { rate, start, stop } => {
                Starts::Process(Process::new(rate, *start, *stop, None))
            }
            Arrivals::At(instants) => Starts::Listed(instants.iter().rev().copied().collect()),
            Arrivals::Uniform { flows, within } => Starts::Uniform(Uniform {
                left: *flows,
                within: within.secs(),
                log_share: 0.0,
                random,
            }),
            Arrivals::Replayed(flows) => Starts::Replayed(Arc::clone(flows), 0),
        }
    }

    pub fn next_start(&mut self) -> Option<Time> {
        match self {
            Starts::Process(process) => process.next_start(),
            Starts::Listed(instants) => instants.pop(),
            Starts::Uniform(uniform) => uniform.next_start(),
            Starts::Replayed(flows, started) => {
                let start = flows.get(*started)?.start;
                *started += 1;
                Some(start)
            }
        }
    }

    /// The recorded flow that has just started, if flows are replayed.
    pub fn recorded(&self) -> Option<&Replayed> {
        match self {
            Starts::Replayed(flows, started) => flows.get(started.checked_sub(1)?),
            _ => None,
        }
    }
}

/// A stretch of a course in which the rate is linear.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: Time,
    /// Length in seconds; the last segment is endless.
    length: f64,
    /// Flows per second at the start.
    rate: f64,
    /// Growth of the rate, flows per second each second; of the last segment 0.
    slope: f64,
}

impl Stretch {
    /// How many flows are expected in all.
    fn flows(&self) -> f64 {
        if self.length.is_infinite() {
            return if self.rate > 0.0 { f64::INFINITY } else { 0.0 };
        }
        (self.rate + self.slope * self.length / 2.0) * self.length
    }

    /// After how many seconds `flows` are expected to have started: the root
    /// of `rate t + slope t^2/2 = flows`, in the form that loses no digits.
    fn after(&self, flows: f64) -> f64 {
        if flows <= 0.0 {
            return 0.0;
        }
        let rate_then = (self.rate * self.rate + 2.0 * self.slope * flows).max(0.0).sqrt();
        (2.0 * flows / (self.rate + rate_then)).min(self.length)
    }
}

/// A process whose rate follows a course.
#[derive(Clone, Debug)]
pub(super) struct Process {
    segments: Vec<Stretch>,
    /// The present segment.
    present: usize,
    /// Cumulative rate of the last flow since the start of the segment.
    flows: f64,
    /// The last flow's start, or the start of the process.
    last: Time,
    stop: Time,
    /// Whether there was a flow yet.
    begun: bool,
    /// Randomness of a Poisson process; a regular one has none.
    random: Option<Pcg64>,
}

impl Process {
    fn new(rate: &Course, start: Time, stop: Time, random: Option<Pcg64>) -> Process {
        let mut segments = Vec::new();
        let (mut from, mut value) = (start, rate.value(start));
        for &(at, next) in rate.points.iter().filter(|point| point.0 > start) {
            if at > from {
                let length = (at - from).secs();
                let slope = (next - value) / length;
                segments.push(Stretch { start: from, length, rate: value, slope });
            }
            (from, value) = (at, next);
        }
        segments.push(Stretch { start: from, length: f64::INFINITY, rate: value, slope: 0.0 });
        Process { segments, present: 0, flows: 0.0, last: start, stop, begun: false, random }
    }

    fn next_start(&mut self) -> Option<Time> {
        self.flows += match &mut self.random {
            Some(random) => -libm::log(uniform(random)),
            // the first flow of a regular process is at its very start
            None => f64::from(u8::from(self.begun)),
        };
        self.begun = true;
        while self.flows >= self.segments.get(self.present)?.flows() {
            self.flows -= self.segments[self.present].flows();
            self.present += 1;
        }
        let segment = &self.segments[self.present];
        let at = segment.start.saturating_add(Time::from_secs_f64(segment.after(self.flows)));
        self.last = self.last.max(at);
        if self.last > self.stop || self.last == Time::NEVER {
            // no later call may find a start: the process is over
            self.present = self.segments.len();
            return None;
        }
        Some(self.last)
    }
}

/// Evenly drawn instants, made in order, without a list to sort: the share of
/// the span that lies beyond the first of `n` is distributed as `U^(1/n)`.
#[derive(Clone, Debug)]
pub(super) struct Uniform {
    left: u32,
    /// Span in seconds.
    within: f64,
    /// Logarithm of the share of the span that is left.
    log_share: f64,
    random: Pcg64,
}

impl Uniform {
    fn next_start(&mut self) -> Option<Time> {
        if self.left == 0 {
            return None;
        }
        self.log_share += libm::log(uniform(&mut self.random)) / f64::from(self.left);
        self.left -= 1;
        Some(Time::from_secs_f64(-libm::expm1(self.log_share) * self.within))
    }
}
