//! What the settings of a queue law say of it before anything runs.
//!
//! Warnings and forecasts ask this. Each law says it of itself, so nobody has to know the names of
//! its keys.

use crate::units::Rate;

/// What the settings of a law say of it.
pub trait Traits {
    /// Whether it may mark packets of an ECN-capable transport: of L4S, which bear ECT(1), or else
    /// of any other, which bear ECT(0).
    fn marks(&self, l4s: bool) -> bool;

    /// Whether it marks because its settings say so, and would not by default.
    fn asked_to_mark(&self) -> bool {
        false
    }

    /// The rate of its shaper: it sends no faster, however fast the link is. None: it has none.
    fn bandwidth(&self) -> Option<Rate> {
        None
    }
}
