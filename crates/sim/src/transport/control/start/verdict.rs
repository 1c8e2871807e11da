//! What a start says of an acknowledgement.

/// The response of slow start to an acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum StartVerdict {
    /// The window grows by this many segments.
    Grow(f64),
    /// The window becomes this, while slow start goes on.
    Window(f64),
    /// Slow start ends, with the window as it was.
    Leave,
    /// Slow start ends with this window.
    LeaveAt(f64),
}

/// An acknowledgement of one segment, with times in ms, for tests.
#[cfg(test)]
pub(super) fn ack(now: u64, rtt: u64, una: u64, sent: u64) -> super::super::RateSample<'static> {
    use tidegate_core::units::Time;

    super::super::RateSample::of_one(Time::from_ms(now), Time::from_ms(rtt), una, sent)
}
