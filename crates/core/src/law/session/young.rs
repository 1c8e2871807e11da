//! Which packets belong to flows that this gate admitted recently.
//!
//! A flow is *young* until a number of its packets have been queued since its opening packet was
//! admitted. A table of small counters, indexed by a hash of the flow, knows that: an admitted
//! opening packet sets the counter to zero, each packet adds one, and the counter stops at its
//! maximum. A flow that was never admitted here finds a counter at its maximum and is old; so is a
//! flow that collides with an old one. A table that is too small therefore reports old where it
//! should report young. Entries do not identify flows, so nobody can push another flow out of the
//! table.

crate::settings! {
    /// The table of young flows.
    #[derive(Copy, Eq)]
    "Young", check:
    cells: u32 = 65536 [16 to 16777216] "Counters, a byte each" ("4096 are too few for fifty endless flows");
    packets: u8 = 255 [1 to 255] "Number of packets for which a flow is young" ("a flow with at most that many is a session, a longer one is left to TCP");
    sample: u32 = 1 [1 to 65536] "One flow in this many is watched, for links where watching all costs too much";
}

/// The counters.
#[derive(Clone, Debug)]
pub struct Young {
    cells: Box<[u8]>,
    packets: u8,
    sample: u64,
}

impl Young {
    /// Every counter at its maximum: nothing was admitted yet.
    pub fn new(config: Config) -> Young {
        let cells = vec![u8::MAX; config.cells.max(1) as usize].into_boxed_slice();
        Young { cells, packets: config.packets, sample: u64::from(config.sample.max(1)) }
    }

    /// Index of the counter for this hash; none if the flow is not watched. The low half of the
    /// hash decides eligibility, so the index uses the high half.
    #[inline]
    fn place(&self, hash: u64) -> Option<usize> {
        let high = hash >> 32;
        let watched = self.sample == 1 || high.is_multiple_of(self.sample);
        watched.then(|| (high / self.sample % self.cells.len() as u64) as usize)
    }

    /// The opening packet of this flow is admitted.
    #[inline]
    pub fn admit(&mut self, hash: u64) {
        if let Some(place) = self.place(hash) {
            self.cells[place] = 0;
        }
    }

    /// A packet of this flow is queued. Returns whether the flow is young; none if it is not
    /// watched.
    #[inline]
    pub fn queue(&mut self, hash: u64) -> Option<bool> {
        let place = self.place(hash)?;
        let before = self.cells[place];
        self.cells[place] = before.saturating_add(1);
        Some(before < self.packets)
    }
}
