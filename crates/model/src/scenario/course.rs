//! A value over the time of a run.

use tidegate_core::units::Time;

/// A number that changes over time: linear between points, which are sorted by time; two points at
/// one instant are a step. Constant before the first point and after the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Course {
    /// Instants and values; never empty.
    pub points: Vec<(Time, f64)>,
}

impl Course {
    /// Always the same.
    pub fn constant(value: f64) -> Course {
        Course { points: vec![(Time::ZERO, value)] }
    }

    /// From one instant to another: the pieces in which it is a straight line, none of them empty.
    pub(crate) fn pieces(&self, from: Time, until: Time) -> Vec<(Time, Time)> {
        let inner = self.points.iter().map(|point| point.0).filter(|&at| at > from && at < until);
        let mut instants: Vec<Time> = std::iter::once(from).chain(inner).collect();
        instants.push(until);
        let pairs = instants.windows(2).map(|pair| (pair[0], pair[1]));
        pairs.filter(|(left, right)| right > left).collect()
    }
}
