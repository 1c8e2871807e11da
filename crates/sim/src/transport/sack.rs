//! A sender's scoreboard of selective acknowledgements (RFC 6675).

use std::ops::Range;

use tidegate_core::packet::Ext;

use super::ranges::Ranges;

/// Duplicate threshold: three segments above a hole mean that it is lost.
const DUP_THRESH: u32 = 3;

/// The sender's scoreboard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    sacked: Ranges,
    /// Behind the last segment sent again in the present recovery (HighRxt).
    repaired: u32,
    /// Segments below `repaired` in `sacked`, kept up to date so that they need not be
    /// counted for each packet.
    under: u32,
    /// The tail is sent again only when more than this is acknowledged (RescueRxt).
    rescued: u32,
    /// [`Scoreboard::newly_lost`] has counted the losses below this.
    told_below: u32,
    /// Segments that the last acknowledgement was the first to block-acknowledge.
    fresh: Vec<(u32, u32)>,
}

impl Scoreboard {
    /// Reads an acknowledgement; returns whether its blocks have new segments.
    pub(crate) fn update(&mut self, una: u32, nxt: u32, ext: &Ext) -> bool {
        let Scoreboard { sacked, repaired, under, fresh, .. } = self;
        let below = |start: u32, end: u32| end.min(*repaired).saturating_sub(start);
        sacked.prune(una, |start, end| *under -= below(start, end));
        fresh.clear();
        let Some(blocks) = ext.blocks() else { return false };
        let mut new = false;
        for block in blocks.filter(|block| block.len > 0) {
            let start = una.saturating_add(block.start);
            let end = start.saturating_add(u32::from(block.len)).min(nxt);
            if start < end {
                new |= sacked.insert_telling(start, end, |start, end| {
                    *under += below(start, end);
                    fresh.push((start, end));
                });
            }
        }
        new
    }

    /// Segments that the last acknowledgement was the first to acknowledge by blocks.
    pub(crate) fn fresh(&self) -> &[(u32, u32)] {
        &self.fresh
    }

    /// Whether the oldest outstanding segment counts as lost.
    pub(crate) fn lost(&self, una: u32) -> bool {
        una < self.lost_below()
    }

    /// Segments that count as lost and did not at the last call, and those among them that have
    /// arrived.
    pub(crate) fn newly_lost(&mut self, una: u32) -> Range<u32> {
        let from = self.told_below.max(una);
        self.told_below = self.lost_below().max(from);
        from..self.told_below
    }

    /// Every segment below this that has not arrived counts as lost.
    fn lost_below(&self) -> u32 {
        self.sacked.below(DUP_THRESH)
    }

    /// Everything below `repaired` has been sent again or has arrived.
    fn set_repaired(&mut self, repaired: u32) {
        let before = std::mem::replace(&mut self.repaired, repaired);
        self.under += self.sacked.covered(before, repaired);
        self.under -= self.sacked.covered(repaired, before);
    }

    /// Recovery begins: nothing is repaired yet.
    pub(crate) fn begin(&mut self, una: u32) {
        self.set_repaired(una);
    }

    /// Segments thought to be in the network (RFC 6675, section 4): those not
    /// lost, and once more those sent again, which may be the same.
    pub(crate) fn pipe(&self, una: u32, nxt: u32) -> u32 {
        let lost = self.lost_below().max(una);
        let under_way = nxt.saturating_sub(lost) - self.sacked.covered(lost, nxt);
        // all that is known to have arrived is beyond `una`
        under_way + self.repaired.saturating_sub(una) - self.under
    }

    /// Whether a lost segment was not sent again yet.
    pub(crate) fn repairs(&self, una: u32) -> bool {
        self.sacked.first_gap(self.repaired.max(una)) < self.lost_below()
    }

    /// The next lost segment that was not sent again yet (NextSeg, rule 1).
    pub(crate) fn next_repair(&mut self, una: u32) -> Option<u32> {
        let candidate = self.sacked.first_gap(self.repaired.max(una));
        let lost = candidate < self.lost_below();
        if lost {
            self.set_repaired(candidate + 1);
        }
        lost.then_some(candidate)
    }

    /// The next segment not sent again yet of those that have not arrived while
    /// a later one has, lost or not (NextSeg, rule 3).
    pub(crate) fn next_doubtful(&mut self, una: u32) -> Option<u32> {
        let candidate = self.sacked.first_gap(self.repaired.max(una));
        let passed = self.sacked.last().is_some_and(|range| candidate < range.1);
        if passed {
            self.set_repaired(candidate + 1);
        }
        passed.then_some(candidate)
    }

    /// The last segment below `nxt` that has not arrived, once in a recovery that
    /// ends at `recover` (NextSeg, rule 4).
    pub(crate) fn rescue(&mut self, una: u32, nxt: u32, recover: u32) -> Option<u32> {
        let due = una > self.rescued && una < nxt;
        if due {
            self.rescued = recover;
        }
        due.then(|| match self.sacked.last() {
            Some(range) if range.1 >= nxt => range.0.saturating_sub(1),
            _ => nxt - 1,
        })
    }

    /// The first segment repaired in a recovery is sent whatever the pipe
    /// (RFC 6675, section 5, step 4.3).
    pub(crate) fn repaired_first(&mut self, una: u32) {
        self.set_repaired(una + 1);
        self.rescued = una + 1;
    }

    /// The first segment from `seq` on that the receiver does not hold.
    pub(crate) fn first_missing(&self, seq: u32) -> u32 {
        self.sacked.first_gap(seq)
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::packet::SackBlock;

    use super::*;

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
        let mut other = board.clone();
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
            let range = board.newly_lost(una);
            range.end - range.start - board.sacked.covered(range.start, range.end)
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

    /// Of 2 .. 12, with 4 .. 6 and 8 .. 9 known, the rest is fresh; of the same again nothing is.
    #[test]
    fn only_what_was_not_known_is_fresh() {
        let mut board = Scoreboard::default();
        let told = |start, len| {
            let none = SackBlock::default();
            Ext::None.with_blocks([SackBlock { start, len }, none, none, none])
        };
        board.update(0, 20, &told(4, 2));
        board.update(0, 20, &told(8, 1));
        board.update(0, 20, &told(2, 10));
        assert_eq!(board.fresh(), [(2, 4), (6, 8), (9, 12)]);
        board.update(0, 20, &told(2, 10));
        assert!(board.fresh().is_empty());
    }
}
