//! How many sessions ended, from what the cells have seen.
//!
//! The hook is before the queue: a FIN that the queue loses comes again, and
//! counted twice it makes the link look better than it is. So the program sets
//! one of `m` cells for an end, by a hash of the flow, and counts only an end
//! whose cell was empty. No flow is kept; another flow's end that falls into a
//! set cell is missed, with the share of cells that are set. As every counted
//! end sets exactly one cell, that share is known, and what is missed is added
//! (linear counting, after Whang et al. 1990).
//!
//! | symbol | here            | unit  | value                                   |
//! |--------|-----------------|-------|-----------------------------------------|
//! | `m`    | `cells`         | cells | 131072 a generation                     |
//! | -      | `fill`          | 1     | 0.25: a generation is full              |
//! | -      | `keep`          | s     | 10: the shortest life of a generation   |
//!
//! There are two generations: the newer takes ends, both are looked into. When
//! the newer is full, or old and not empty, the older is cleared and becomes the
//! newer. So an end is remembered for at least as long as one generation lives.
//!
//! Limits: beyond `fill m / keep` ends a second a FIN that comes again late may
//! count twice; a second session of the same addresses and ports within two
//! generations counts once.

/// Share of cells at which a generation is full.
const FILL: f64 = 0.25;
/// Life of a generation that does not fill, ns.
const KEEP_NS: u64 = 10_000_000_000;

/// The two generations, as far as the controller knows them.
#[derive(Clone, Debug)]
pub struct Ends {
    cells: f64,
    /// Ends counted in the newer generation, and in the older.
    newer: u64,
    older: u64,
    since_ns: u64,
    /// What is due and not yet a whole end.
    rest: f64,
}

impl Ends {
    /// So many cells, empty at `now`; zero: the counts need no mending.
    pub fn new(cells: u64, now_ns: u64) -> Ends {
        Ends { cells: cells as f64, newer: 0, older: 0, since_ns: now_ns, rest: 0.0 }
    }

    /// Takes so many counted ends (`fins`) and breaks (`resets`) in; how many there were.
    pub fn mended(&mut self, fins: u64, resets: u64) -> (u64, u64) {
        if self.cells == 0.0 {
            return (fins, resets);
        }
        // the cells were set one after the other: half of the new ones lay there on average
        let new = (fins + resets) as f64;
        let set = (self.older as f64 + self.newer as f64 + new / 2.0).min(0.9 * self.cells);
        let due = fins as f64 / (1.0 - set / self.cells) + self.rest;
        let whole = due.floor();
        self.rest = due - whole;
        self.newer += fins + resets;
        (whole as u64, resets)
    }

    /// Whether the older generation is to be cleared now, to become the newer.
    pub fn turn(&mut self, now_ns: u64) -> bool {
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
        let mut ends = Ends::new(1000, 0);
        ends.newer = 500;
        assert_eq!(ends.mended(100, 0), (222, 0));
    }

    // The rest of a division is not lost: 1 / (1 - (0.5 + k) / 1000) for k = 0..99 sums to 105.3.
    #[test]
    fn fractions_add_up() {
        let mut ends = Ends::new(1000, 0);
        let sum: u64 = (0..100).map(|_| ends.mended(1, 0).0).sum();
        assert_eq!(sum, 105);
    }

    #[test]
    fn a_generation_turns_when_it_is_full_or_old() {
        let mut ends = Ends::new(1000, 0);
        assert!(!ends.turn(KEEP_NS), "empty ones have nothing to forget");
        ends.mended(249, 0);
        assert!(!ends.turn(KEEP_NS - 1));
        ends.mended(1, 0);
        assert!(ends.turn(1), "a quarter of 1000 is 250");
        assert!(!ends.turn(2));
        assert!(ends.turn(1 + KEEP_NS));
    }

    // Counting every FIN needs no cells and no mending.
    #[test]
    fn without_cells_nothing_is_mended() {
        let mut ends = Ends::new(0, 0);
        assert_eq!(ends.mended(1000, 7), (1000, 7));
        assert!(!ends.turn(u64::MAX));
    }
}
