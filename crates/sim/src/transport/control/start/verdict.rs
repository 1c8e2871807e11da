//! What a start says of an acknowledgement.

/// The response of slow start to an acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// The window grows by this many segments.
    Grow(f64),
    /// Slow start ends.
    Leave,
}

/// An acknowledgement of one segment, for tests.
#[cfg(test)]
pub(super) fn ack(
    now_ms: u64,
    rtt_ms: u64,
    una: u64,
    sent: u64,
) -> super::super::RateSample<'static> {
    use tidegate_core::units::Time;

    super::super::RateSample {
        now: Time::from_ms(now_ms),
        segments: 1,
        delivered: 1,
        una,
        sent,
        flight: 100,
        srtt: Time::from_ms(rtt_ms),
        rtt: Time::from_ms(rtt_ms),
        recovering: false,
        marked: false,
        unused: false,
        any_order: false,
        ext: &tidegate_core::packet::Ext::None,
        rate: None,
    }
}
