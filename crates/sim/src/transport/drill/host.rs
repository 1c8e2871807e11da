//! What a script can do with a host.

use tidegate_core::units::Time;

use super::bench::Bench;

/// A host whose peer is a script.
pub(super) trait Host {
    fn bench(&mut self) -> &mut Bench;

    /// Something comes to it.
    fn event(&mut self, words: &[&str]);

    /// When its next timer fires.
    fn due(&self) -> Time;

    /// The timers that are due now fire.
    fn fire(&mut self);

    /// When the oldest segment left that is not acknowledged; none: there is none.
    fn oldest(&self) -> Option<Time>;

    /// What a word stands for; none: not a word of this kind of host.
    fn value(&self, word: &str) -> Option<f64>;
}
