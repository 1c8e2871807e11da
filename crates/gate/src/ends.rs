//! The number of ended sessions, estimated from the cells.
//!
//! The hook is before the queue: a FIN that the queue drops is sent again, and
//! must not count twice. So the program sets one of `m` cells for an end, by a
//! hash of the flow, and counts only an end whose cell was empty. It keeps no
//! state per flow. An end of another flow whose cell is already set is missed;
//! the probability is the share of set cells. Every counted end sets exactly one
//! cell, so that share is known, and the missed ends are added (linear counting,
//! after Whang et al. 1990).
//!
//! | symbol | here            | unit  | value                                   |
//! |--------|-----------------|-------|-----------------------------------------|
//! | `m`    | `cells`         | cells | 131072 a generation                     |
//! | -      | `fill`          | 1     | 0.25: a generation is full              |
//! | -      | `keep`          | s     | 10: the shortest life of a generation   |
//!
//! There are two generations: ends are written to the newer and looked up in
//! both. When the newer is full, or old and not empty, the older is cleared and
//! becomes the newer. So an end is remembered for at least one generation.
//!
//! Limits: above `fill m / keep` ends per second a FIN that is sent again late
//! may count twice; a second session of the same addresses and ports within two
//! generations counts once.

/// Share of cells at which a generation is full.
const FILL: f64 = 0.25;
/// Life of a generation that does not fill, ns.
const KEEP_NS: u64 = 10_000_000_000;

/// The controller's view of the two generations.
#[derive(Clone, Debug)]
pub struct EndCells {
    cells: f64,
    /// Ends counted in the newer generation, and in the older.
    newer: u64,
    older: u64,
    since_ns: u64,
    /// The fraction of an end that is not counted yet.
    rest: f64,
}

impl EndCells {
    /// Empty cells at `now`; zero cells: the counts need no correction.
    pub fn new(cells: u64, now_ns: u64) -> EndCells {
        EndCells { cells: cells as f64, newer: 0, older: 0, since_ns: now_ns, rest: 0.0 }
    }

    /// Corrects the counted ends (`fins`) and breaks (`resets`) of an epoch.
    pub fn mended(&mut self, fins: u64, resets: u64) -> (u64, u64) {
        if self.cells == 0.0 {
            return (fins, resets);
        }
        // the cells were set one after the other: on average half of the new ones were set
        let new = (fins + resets) as f64;
        let set = (self.older as f64 + self.newer as f64 + new / 2.0).min(0.9 * self.cells);
        let due = fins as f64 / (1.0 - set / self.cells) + self.rest;
        let whole = due.floor();
        self.rest = due - whole;
        self.newer += fins + resets;
        (whole as u64, resets)
    }

    /// Whether the older generation is to be cleared now, to become the newer.
    pub fn rotate(&mut self, now_ns: u64) -> bool {
        let full = self.newer as f64 >= FILL * self.cells;
        let old = now_ns.saturating_sub(self.since_ns) >= KEEP_NS && self.newer + self.older > 0;
        let turn = self.cells > 0.0 && (full || old);
        if turn {
            (self.older, self.newer, self.since_ns) = (self.newer, 0, now_ns);
        }
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Of 1000 cells 500 are set: every other end is missed, so 100 counted ones were about 200
    // (with the hundred's own half: 100 / (1 - 0.55) = 222.2).
    #[test]
    fn what_falls_into_set_cells_is_added() {
        let mut ends = EndCells::new(1000, 0);
        ends.newer = 500;
        assert_eq!(ends.mended(100, 0), (222, 0));
    }

    // The rest of a division is not lost: 1 / (1 - (0.5 + k) / 1000) for k = 0..99 sums to 105.3.
    #[test]
    fn fractions_add_up() {
        let mut ends = EndCells::new(1000, 0);
        let sum: u64 = (0..100).map(|_| ends.mended(1, 0).0).sum();
        assert_eq!(sum, 105);
    }

    #[test]
    fn a_generation_turns_when_it_is_full_or_old() {
        let mut ends = EndCells::new(1000, 0);
        assert!(!ends.rotate(KEEP_NS), "empty ones have nothing to forget");
        ends.mended(249, 0);
        assert!(!ends.rotate(KEEP_NS - 1));
        ends.mended(1, 0);
        assert!(ends.rotate(1), "a quarter of 1000 is 250");
        assert!(!ends.rotate(2));
        assert!(ends.rotate(1 + KEEP_NS));
    }

    // Counting every FIN needs no cells and no mending.
    #[test]
    fn without_cells_nothing_is_mended() {
        let mut ends = EndCells::new(0, 0);
        assert_eq!(ends.mended(1000, 7), (1000, 7));
        assert!(!ends.rotate(u64::MAX));
    }
}
