//! How many flows a scenario will have, how large they are, and how long they are there.

use tidegate_core::units::Time;

use crate::scenario::{Arrivals, Class, Course, FlowSize, Pages, Scenario};

/// The flows of one class in a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The class.
    pub class: String,
    /// Flows that start before the end of the run (their mean number, if they are random). Of
    /// users who load pages, about as many connections as they open.
    pub flows: f64,
    /// Listed or recorded flows that start later.
    pub later: u64,
    /// Mean size of these flows, changes during the run included; none: unlimited. Of users who
    /// load pages, what one loads.
    pub mean_bytes: Option<f64>,
}

/// The flows of each class.
pub fn expected(scenario: &Scenario) -> Vec<Expected> {
    let end = scenario.duration;
    scenario
        .traffic
        .iter()
        .map(|class| {
            let (users, later) = counted(&class.arrivals, end);
            let flows = users * class.pages().map_or(1.0, connections);
            let mean_bytes = match (&class.size, &class.arrivals) {
                (FlowSize::Drawn { mean, .. }, _) => {
                    let each = mean_size(class, mean, end);
                    class.pages().map_or(Some(each), |pages| of_user(pages, each))
                }
                (FlowSize::Replayed, Arrivals::Replayed(all)) => {
                    let sum: f64 = all.iter().map(|flow| flow.size as f64).sum();
                    Some(sum / all.len().max(1) as f64)
                }
                _ => None,
            };
            Expected { class: class.name.clone(), flows, later, mean_bytes }
        })
        .collect()
}

/// The mean size of the flows that start by `end`, each drawn when it starts.
fn mean_size(class: &Class, mean: &Course, end: Time) -> f64 {
    let (flows, _) = counted(&class.arrivals, end);
    if mean.points.len() == 1 || flows <= 0.0 {
        return mean.value(Time::ZERO);
    }
    summed(&class.arrivals, mean, end, |start| mean.value(start)) / flows
}

/// Connections that a user of pages opens, about.
fn connections(pages: &Pages) -> f64 {
    let objects = pages.objects.mean + f64::from(u8::from(pages.document.is_some()));
    if pages.persistent {
        let at_once = (pages.objects.mean / f64::from(pages.concurrent)).max(1.0);
        return at_once.min(pages.connections.into());
    }
    // of a user without end, those of one page
    objects * if pages.count == u32::MAX { 1.0 } else { pages.count.into() }
}

/// What a page weighs on average, with objects of this mean size.
pub(super) fn of_page(pages: &Pages, object: f64) -> f64 {
    pages.document.as_ref().map_or(0.0, |document| document.mean) + pages.objects.mean * object
}

/// What a user of pages loads on average, with objects of this mean size; none: without end.
fn of_user(pages: &Pages, object: f64) -> Option<f64> {
    (pages.count < u32::MAX).then(|| of_page(pages, object) * f64::from(pages.count))
}

/// Flows that start by `end`, and known flows that start later.
pub(super) fn counted(arrivals: &Arrivals, end: Time) -> (f64, u64) {
    let split = |starts: &mut dyn Iterator<Item = Time>| {
        let (mut before, mut later) = (0u64, 0u64);
        for start in starts {
            *(if start < end { &mut before } else { &mut later }) += 1;
        }
        (before as f64, later)
    };
    match arrivals {
        Arrivals::Poisson { rate, start, stop } | Arrivals::Every { rate, start, stop } => {
            (area(rate, *start, (*stop).min(end)), 0)
        }
        Arrivals::At(instants) => split(&mut instants.iter().copied()),
        Arrivals::Replayed(flows) => split(&mut flows.iter().map(|flow| flow.start)),
        Arrivals::Uniform { flows, within } => {
            let all = f64::from(*flows);
            let inside = if *within <= end { 1.0 } else { end.secs() / within.secs() };
            (all * inside, 0)
        }
    }
}

/// The time that those who come are there until `end`, all together, in seconds; where what each
/// does changes, every second counts as much as it does then.
pub(super) fn presence(arrivals: &Arrivals, weight: &Course, end: Time) -> f64 {
    summed(arrivals, weight, end, |start| area(weight, start, end))
}

/// The sum of a value over all flows that start by `end`, by their starts. The value is at most a
/// square between the points of `course`.
fn summed(arrivals: &Arrivals, course: &Course, end: Time, value: impl Fn(Time) -> f64) -> f64 {
    let of = |starts: &mut dyn Iterator<Item = Time>| -> f64 {
        starts.filter(|start| *start < end).map(&value).sum()
    };
    match arrivals {
        Arrivals::Poisson { rate, start, stop } | Arrivals::Every { rate, start, stop } => {
            let pieces = rate.pieces(*start, (*stop).min(end)).into_iter();
            let pieces = pieces.flat_map(|(left, right)| course.pieces(left, right));
            pieces.map(|piece| integral(piece, |at| rate.value(at) * value(at))).sum()
        }
        Arrivals::At(instants) => of(&mut instants.iter().copied()),
        Arrivals::Replayed(flows) => of(&mut flows.iter().map(|flow| flow.start)),
        Arrivals::Uniform { flows, within } if *within == Time::ZERO => {
            f64::from(*flows) * value(Time::ZERO)
        }
        Arrivals::Uniform { flows, within } => {
            let pieces = course.pieces(Time::ZERO, (*within).min(end)).into_iter();
            let all: f64 = pieces.map(|piece| integral(piece, &value)).sum();
            f64::from(*flows) * all / within.secs()
        }
    }
}

/// The integral of a course, piece by piece.
pub(super) fn area(course: &Course, from: Time, until: Time) -> f64 {
    let piece = |(left, right): (Time, Time)| {
        // a step at the right end belongs to the next piece; the midpoint gives the mean
        let middle = left + Time::from_ps((right - left).ps() / 2);
        course.value(middle) * (right - left).secs()
    };
    course.pieces(from, until).into_iter().map(piece).sum()
}

/// The integral over a piece by Gauss's rule of two points, which is exact up to cubes. Both points
/// are inside of the piece: a step at its end belongs to the next one.
fn integral((left, right): (Time, Time), value: impl Fn(Time) -> f64) -> f64 {
    let length = right - left;
    let first = Time::from_secs_f64(length.secs() * (0.5 - 1.0 / libm::sqrt(12.0)));
    (value(left + first) + value(right - first)) * length.secs() / 2.0
}
