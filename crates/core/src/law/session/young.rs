//! Which packets belong to flows that this gate has let in a short while ago.
//!
//! A flow is *young* until so many of its packets have been queued since its
//! opener was admitted. A table of small counters by a hash of the flow knows
//! that: an admitted opener sets its counter to zero, each packet adds one, and
//! at the top it stays. What was never admitted here finds a counter at the top
//! and is old, and so are flows that collide with old ones: a table that is too
//! small says old where it should say young. No entry holds the name of a flow,
//! so nobody can push another out of the table.

crate::settings! {
    /// The table of young flows.
    #[derive(Copy, Eq)]
    "Young", check:
    cells: u32 = 65536 [16 to 16777216] "Counters, a byte each" ("4096 are too few for fifty endless flows");
    packets: u8 = 255 [1 to 255] "Packets for which a flow is young" ("a flow that fits in so many is a session, a longer one is left to TCP");
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
    /// With every counter at the top: nothing was admitted yet.
    pub fn new(config: Config) -> Young {
        let cells = vec![u8::MAX; config.cells.max(1) as usize].into_boxed_slice();
        Young { cells, packets: config.packets, sample: u64::from(config.sample.max(1)) }
    }

    /// Where the counter of a flow of this hash lies; none: it is not watched.
    /// The low half of the hash says who is eligible, so that the high half is free.
    #[inline]
    fn place(&self, hash: u64) -> Option<usize> {
        let high = hash >> 32;
        let watched = self.sample == 1 || high.is_multiple_of(self.sample);
        watched.then(|| (high / self.sample % self.cells.len() as u64) as usize)
    }

    /// The opener of this flow is admitted.
    #[inline]
    pub fn admit(&mut self, hash: u64) {
        if let Some(place) = self.place(hash) {
            self.cells[place] = 0;
        }
    }

    /// A packet of this flow is queued; whether the flow is young, or none where
    /// it is not watched.
    #[inline]
    pub fn queue(&mut self, hash: u64) -> Option<bool> {
        let place = self.place(hash)?;
        let before = self.cells[place];
        self.cells[place] = before.saturating_add(1);
        Some(before < self.packets)
    }
}
