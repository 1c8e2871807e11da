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
}
