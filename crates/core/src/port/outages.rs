//! A link that carries nothing for a while.
//!
//! The packet in service needs an end, also where the capacity is 0. So the port sends at the least
//! rate there is, at which a packet takes minutes. What is measured leaves that out: the capacity is
//! 0, and the link does not transmit.

/// The outages of a varying link, by the transmission time of its port, in picoseconds.
#[derive(Default)]
pub(super) struct Outages {
    /// That at the beginning of the present outage; none: the link has a capacity.
    since: Option<u64>,
    /// That within the outages that are over.
    over_ps: u64,
}

impl Outages {
    /// Whether there is one now.
    pub(super) fn present(&self) -> bool {
        self.since.is_some()
    }

    /// The transmission time within all outages, of `busy_ps` in all.
    pub(super) fn within(&self, busy_ps: u64) -> u64 {
        self.over_ps + self.since.map_or(0, |begun| busy_ps.saturating_sub(begun))
    }

    /// The capacity changes: an outage begins or ends, or neither.
    pub(super) fn change(&mut self, stopped: bool, busy_ps: u64) {
        self.over_ps = self.within(busy_ps);
        self.since = stopped.then_some(busy_ps);
    }
}
