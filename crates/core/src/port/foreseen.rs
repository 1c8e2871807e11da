//! What is kept of packets whose ways are known in advance: the rules are in `ahead.rs`.

use std::collections::VecDeque;

use crate::units::Time;

/// What a port that foresees keeps of the packets that wait, the oldest first.
#[derive(Default)]
pub(super) struct Foreseen {
    pub(super) sizes: VecDeque<u16>,
    /// When the transmission of the last of them ends.
    pub(super) until: Time,
}

impl Foreseen {
    #[inline(always)]
    pub(super) fn waiting(&self) -> u32 {
        self.sizes.len() as u32
    }
}

/// What was booked at a port for later than now.
#[derive(Clone, Copy, Default)]
pub struct Early {
    /// Packets, without payload and with payload.
    pub(super) arrived: [u64; 2],
    pub(super) syn_arrived: u64,
    pub(super) bytes: u64,
    pub(super) busy_ps: u64,
    /// When the link is free of what has arrived, and of all that was booked.
    pub(super) free_at: Time,
    pub(super) booked_until: Time,
}
