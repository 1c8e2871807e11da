//! The counts of a port that change at every hop.

/// With what a port needs for a packet that does not wait they are one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Sent {
    pub(super) bytes: u64,
    pub(super) busy_ps: u64,
    /// Arrived packets, without payload and with payload.
    pub(super) arrived: [u64; 2],
}
