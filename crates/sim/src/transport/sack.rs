//! Repair by selective acknowledgements (RFC 6675): which segments count as lost, and what goes
//! next.

use std::ops::Range;

use super::outstanding::Scoreboard;
use super::ranges::Ranges;

/// Duplicate threshold: three segments above a hole mean that it is lost.
const DUP_THRESH: u32 = 3;

/// How far the sender has repaired; `arrived` is what blocks have acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct Repair {
    /// Behind the last segment sent again in the present recovery (HighRxt), or behind what has
    /// arrived there.
    repaired: u32,
    /// Segments below `repaired` that have arrived, kept up to date so that they need not be
    /// counted for each packet.
    under: u32,
    /// The tail is sent again only when more than this is acknowledged (RescueRxt).
    rescued: u32,
    /// Every segment below this that has not arrived counts as lost; kept up to date as well.
    lost_below: u32,
    /// [`Repair::newly_lost`] has counted the losses below this.
    told_below: u32,
}

impl Repair {
    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        let Repair { repaired, under: _, rescued, lost_below, told_below } = self;
        for number in [repaired, rescued, lost_below, told_below] {
            *number = number.saturating_sub(lap);
        }
    }

    /// These segments have arrived, and nothing said so before.
    #[inline]
    pub(super) fn arrived(&mut self, start: u32, end: u32) {
        self.under += end.min(self.repaired).saturating_sub(start);
    }

    /// Everything up to these segments, that had arrived, is acknowledged.
    #[inline]
    pub(super) fn passed(&mut self, start: u32, end: u32) {
        self.under -= end.min(self.repaired).saturating_sub(start);
    }

    /// All that an acknowledgement says has been noted in `arrived`.
    #[inline]
    pub(super) fn note_lost(&mut self, arrived: &Ranges) {
        self.lost_below = arrived.below(DUP_THRESH);
    }

    /// Segments that count as lost and did not at the last call, and those among them that have
    /// arrived.
    pub(super) fn newly_lost(&mut self, una: u32) -> Range<u32> {
        let from = self.told_below.max(una);
        self.told_below = self.lost_below.max(from);
        from..self.told_below
    }

    /// Everything below `repaired` has been sent again or has arrived.
    pub(super) fn set_repaired(&mut self, repaired: u32, arrived: &Ranges) {
        let before = std::mem::replace(&mut self.repaired, repaired);
        self.under += arrived.covered(before, repaired);
        self.under -= arrived.covered(repaired, before);
    }

    /// The same where everything from `from` on, the oldest that may have been repaired by now, has
    /// arrived. Nothing need be counted.
    fn repaired_beyond(&mut self, from: u32, repaired: u32, arrived: &Ranges) {
        debug_assert_eq!(arrived.covered(self.repaired, repaired), repaired - from);
        self.under += repaired - from;
        self.repaired = repaired;
    }

    /// The first segment repaired in a recovery is sent whatever the pipe
    /// (RFC 6675, section 5, step 4.3).
    pub(super) fn repaired_first(&mut self, una: u32, arrived: &Ranges) {
        self.set_repaired(una + 1, arrived);
        self.rescued = una + 1;
    }

    /// Segments thought to be in the network (RFC 6675, section 4): those not
    /// lost, and once more those sent again, which may be the same.
    pub(super) fn pipe(&self, una: u32, nxt: u32, arrived: &Ranges) -> u32 {
        let lost = self.lost_below.max(una);
        let beyond = match arrived.last() {
            // not beyond `nxt`: as many as the bound leaves above it
            Some(last) if last.1 <= nxt => arrived.count().min(DUP_THRESH),
            Some(_) => arrived.covered(lost, nxt),
            None => 0,
        };
        let under_way = nxt.saturating_sub(lost) - beyond;
        // all that is known to have arrived is beyond `una`
        under_way + self.repaired.saturating_sub(una) - self.under
    }
}

impl Scoreboard {
    /// Whether the oldest outstanding segment counts as lost.
    pub(super) fn lost(&self, una: u32) -> bool {
        una < self.repair.lost_below
    }

    /// The next lost segment that was not sent again yet (NextSeg, rule 1).
    pub(super) fn next_repair(&mut self, una: u32) -> Option<u32> {
        self.repair_below(una, self.repair.lost_below)
    }

    fn repair_below(&mut self, una: u32, bound: u32) -> Option<u32> {
        let from = self.repair.repaired.max(una);
        if from >= bound {
            return None;
        }
        // the first one that has neither been sent again nor arrived
        let candidate = self.arrived.first_gap(from);
        let due = candidate < bound;
        // what has arrived there is not searched again
        self.repair.repaired_beyond(from, candidate, &self.arrived);
        self.repair.repaired += u32::from(due);
        due.then_some(candidate)
    }

    /// The next segment not sent again yet of those that have not arrived while
    /// a later one has, lost or not (NextSeg, rule 3).
    pub(super) fn next_doubtful(&mut self, una: u32) -> Option<u32> {
        let last = self.arrived.last().map_or(0, |range| range.1);
        self.repair_below(una, last)
    }

    /// The last segment below `nxt` that has not arrived, once in a recovery that
    /// ends at `recover` (NextSeg, rule 4).
    pub(super) fn rescue(&mut self, una: u32, nxt: u32, recover: u32) -> Option<u32> {
        let due = una > self.repair.rescued && una < nxt;
        if due {
            self.repair.rescued = recover;
        }
        due.then(|| match self.arrived.last() {
            Some(range) if range.1 >= nxt => range.0.saturating_sub(1),
            _ => nxt - 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::packet::{Ext, SackBlock};
    use tidegate_core::units::Time;

    use super::super::sent_log::Came;
    use super::*;
    use crate::draws::draws;

    impl Scoreboard {
        /// An acknowledgement of everything below `una`, at any time.
        fn update(&mut self, una: u32, max: u32, ext: &Ext) -> bool {
            self.acknowledge(una, max, ext, Came { now: Time::ZERO, echo: None })
        }

        fn begin(&mut self, una: u32) {
            self.repair.set_repaired(una, &self.arrived);
        }

        fn repaired_first(&mut self, una: u32) {
            self.repair.repaired_first(una, &self.arrived);
        }

        fn pipe(&self, una: u32, nxt: u32) -> u32 {
            self.repair.pipe(una, nxt, &self.arrived)
        }
    }

    /// RFC 6675 by hand: 10 segments out, 3 and 5..8 received: 0..3 have four
    /// above them (lost), 4 has three (lost), 8 and 9 are in the network.
    #[test]
    fn scoreboard_by_hand() {
        let mut board = Scoreboard::default();
        let blocks = [SackBlock { start: 3, len: 1 }, SackBlock { start: 5, len: 3 }];
        let none = SackBlock::default();
        let ext = Ext::None.with_blocks([blocks[0], blocks[1], none, none]);
        assert!(board.update(0, 10, &ext));
        assert!(!board.update(0, 10, &ext), "the same blocks tell nothing new");
        assert!(board.lost(0));
        board.begin(0);
        assert_eq!(board.pipe(0, 10), 2);
        let repairs: Vec<u32> = std::iter::from_fn(|| board.next_repair(0)).collect();
        assert_eq!(repairs, [0, 1, 2, 4]);
        // 0, 1, 2, 4 sent again, 8 and 9 still out
        assert_eq!(board.pipe(0, 10), 6);
    }

    /// RFC 6675, section 4 (SetPipe), by a walk: a segment counts if it has not arrived and fewer
    /// than three above it have. After a timeout `nxt` lies below what has arrived.
    #[test]
    fn the_pipe_is_that_of_a_walk() {
        let mut draws = draws();
        let mut draw = |below: u32| draws(below.into()) as u32;
        for _ in 0..2000 {
            let mut arrived = Ranges::default();
            (0..draw(5)).for_each(|_| {
                let start = 1 + draw(20);
                arrived.insert(start, start + 1 + draw(3));
            });
            let nxt = draw(30);
            let above = |seq| (seq + 1..30).filter(|&other| arrived.contains(other)).count();
            let counts = |seq: &u32| !arrived.contains(*seq) && above(*seq) < 3;
            let walked = (0..nxt).filter(counts).count() as u32;
            let mut repair = Repair::default();
            repair.note_lost(&arrived);
            assert_eq!(repair.pipe(0, nxt, &arrived), walked, "{arrived:?}, {nxt}");
        }
    }

    /// RFC 6675, section 4, by hand: of 10 segments out 0 and 8 are lost, 1..=7 and 9 have
    /// arrived, and nothing new is to be sent. 0 goes first. Only one has arrived above 8, so
    /// that rule (1) has nothing more; rule (3) has 8, which then counts twice, beside 0.
    /// Rule (4) may not repeat the tail before more than 0 is acknowledged.
    #[test]
    fn what_may_be_lost_goes_when_nothing_else_can() {
        let mut board = Scoreboard::default();
        let blocks = [SackBlock { start: 1, len: 7 }, SackBlock { start: 9, len: 1 }];
        let none = SackBlock::default();
        board.update(0, 10, &Ext::None.with_blocks([blocks[0], blocks[1], none, none]));
        board.begin(0);
        board.repaired_first(0);
        assert_eq!(board.pipe(0, 10), 2);
        assert_eq!(board.next_repair(0), None);
        assert_eq!(board.next_doubtful(0), Some(8));
        assert_eq!(board.pipe(0, 10), 3);
        assert_eq!(board.next_doubtful(0), None);
        assert_eq!(board.rescue(0, 10, 10), None);
    }

    /// RFC 6675, section 4, rule (4), by hand: of 10 segments out 0, 1, 8 and 9 are lost. When
    /// all below 8 is acknowledged, no block is left; HighACK = 7 is above RescueRxt = 0, so 9
    /// goes, once. With 9 there and 8 missing 8 would go.
    #[test]
    fn the_tail_is_rescued_once() {
        let mut board = Scoreboard::default();
        let told = |start, len| {
            let none = SackBlock::default();
            Ext::None.with_blocks([SackBlock { start, len }, none, none, none])
        };
        board.update(0, 10, &told(2, 6));
        board.begin(0);
        board.repaired_first(0);
        assert_eq!(board.next_repair(0), Some(1));
        board.update(8, 10, &Ext::None);
        assert_eq!((board.next_repair(8), board.next_doubtful(8)), (None, None));
        let mut other = Scoreboard {
            arrived: board.arrived.clone(),
            repair: board.repair.clone(),
            ..Scoreboard::default()
        };
        assert_eq!(board.rescue(8, 10, 10), Some(9));
        assert_eq!(board.pipe(8, 10), 2, "HighRxt stays where it was");
        assert_eq!(board.rescue(8, 10, 10), None);
        other.update(8, 10, &told(1, 1));
        assert_eq!(other.rescue(8, 10, 10), Some(8));
    }

    /// RFC 6675, section 4 (IsLost), by hand: of 10 segments out 3 and 5..8 have arrived, so that
    /// 0, 1, 2 and 4 have three above them. With 8, 9 and 11..14 of 15 only 10 has as many
    /// above it; when all below 10 is acknowledged, that was reported, and 14 is not lost.
    #[test]
    fn each_lost_segment_is_told_of_once() {
        let mut board = Scoreboard::default();
        let newly = |board: &mut Scoreboard, una| {
            let range = board.repair.newly_lost(una);
            range.end - range.start - board.arrived.covered(range.start, range.end)
        };
        let told = |first: (u32, u16), second: (u32, u16)| {
            let block = |(start, len)| SackBlock { start, len };
            let none = SackBlock::default();
            Ext::None.with_blocks([block(first), block(second), none, none])
        };
        board.update(0, 10, &told((3, 1), (5, 2)));
        assert_eq!(newly(&mut board, 0), 3, "4 has two above it");
        board.update(0, 10, &told((3, 1), (5, 3)));
        assert_eq!(newly(&mut board, 0), 1);
        assert_eq!(newly(&mut board, 0), 0);
        board.update(0, 15, &told((5, 5), (11, 3)));
        assert_eq!(newly(&mut board, 0), 1);
        board.update(10, 15, &told((1, 3), (0, 0)));
        assert_eq!(newly(&mut board, 10), 0);
    }
}
