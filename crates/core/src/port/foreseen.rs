//! What is kept of packets whose ways are known in advance: the rules are in `ahead.rs`.

use std::collections::VecDeque;

use super::sent::Sent;
use super::waited::Waited;
use crate::units::Time;

/// What a port keeps of the packets that wait.
#[derive(Default)]
pub(super) struct Foreseen {
    /// At a port that foresees, the oldest first; and at one that is set back to now.
    pub(super) sizes: VecDeque<u16>,
    /// When the transmission of the last of them ends, at a port that foresees.
    pub(super) until: Time,
    /// At a port that is booked, the oldest first: those whose transmission had not started when the
    /// last one was booked.
    pub(super) waits: VecDeque<Wait>,
}

/// A packet that waits at a booked port.
pub(super) struct Wait {
    pub(super) arrives: Time,
    /// When its transmission starts.
    pub(super) starts: Time,
    pub(super) size: u16,
}

impl Foreseen {
    #[inline(always)]
    pub(super) fn waiting(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// When the packet arrives whose transmission starts then, at a booked port; one that does not
    /// wait arrives as it starts.
    pub(super) fn arrival(&self, starts: Time) -> Time {
        let place = self.waits.binary_search_by_key(&starts, |wait| wait.starts);
        place.map_or(starts, |place| self.waits[place].arrives)
    }
}

/// What a booked port was before it was set back, if it is set back.
#[derive(Clone, Copy, Default)]
pub struct Before(pub(super) Option<Saved>);

/// The counts that bookings change, and when the link is free of all that was booked.
#[derive(Clone, Copy)]
pub(super) struct Saved {
    pub(super) sent: Sent,
    pub(super) free_at: Time,
    pub(super) taken: u64,
    pub(super) served: u64,
    pub(super) waited: Waited,
    pub(super) syn_arrived: u64,
}
