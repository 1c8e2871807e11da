//! The blocks of selective acknowledgements (RFC 2018): first the one with the newest segment, then
//! those told of last.
//!
//! So a block is repeated in the next acknowledgements, and the loss of one does no harm (section 4;
//! Linux: `tcp_sack_new_ofo_skb`).

use tidegate_core::packet::SackBlock;

use super::super::ranges::Ranges;

/// Longest block: what its 16 bits hold.
const MAX_LEN: u32 = u16::MAX as u32;

/// The blocks `start .. end` that were told of last, the last one first; behind them empty ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told([(u32, u32); 4]);

impl Told {
    /// The newest segment lies in `start .. end`: all that has come around it, or the segment alone.
    /// With what it touches of the blocks it is the first one.
    #[inline]
    pub(super) fn arrive(&mut self, start: u32, end: u32) {
        // an empty block ends at 0, and touches nothing that came beyond a hole
        let touches = |block: &(u32, u32)| start <= block.1 && block.0 <= end;
        let with = |all: (u32, u32), block: &(u32, u32)| (all.0.min(block.0), all.1.max(block.1));
        let whole = self.0.iter().filter(|block| touches(block)).fold((start, end), with);
        if touches(&self.0[0]) && !self.0[1..].iter().any(touches) {
            self.0[0] = whole;
            return;
        }
        let others = self.0.into_iter().filter(|block| !touches(block));
        self.fill(std::iter::once(whole).chain(others));
    }

    /// All below `bound` is acknowledged.
    pub(super) fn prune(&mut self, bound: u32) {
        self.fill(self.0.into_iter().filter(|block| block.0 >= bound));
    }

    /// Ranges that have been forgotten are told of again, the highest first, as far as there is room.
    #[inline]
    pub(super) fn add(&mut self, ranges: &Ranges) {
        let before = self.0;
        let told = before.iter().filter(|block| block.1 > 0).count();
        // mostly none has been
        if told < ranges.parts().min(before.len()) {
            let more = ranges.highest_first().filter(|range| !before.contains(range));
            self.fill(before.into_iter().take(told).chain(more));
        }
    }

    /// Whether there is nothing to tell of.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0[0].1 == 0
    }

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        for (start, end) in &mut self.0 {
            (*start, *end) = (start.saturating_sub(lap), end.saturating_sub(lap));
        }
    }

    fn fill(&mut self, blocks: impl Iterator<Item = (u32, u32)>) {
        self.0 = [(0, 0); 4];
        for (place, block) in self.0.iter_mut().zip(blocks) {
            *place = block;
        }
    }

    /// Up to `most` blocks relative to `ack`. Of a range longer than a block it is the part that
    /// contains `newest`, or is nearest to it.
    #[inline]
    pub(super) fn blocks(&self, ack: u32, newest: u32, most: usize) -> [SackBlock; 4] {
        let mut blocks = [SackBlock::default(); 4];
        for (block, &(mut start, mut end)) in blocks.iter_mut().zip(&self.0).take(most) {
            if end == 0 {
                break;
            }
            if end - start > MAX_LEN {
                let upto = (newest + 1).clamp(start + 1, end);
                start = start.max(upto.saturating_sub(MAX_LEN));
                end = end.min(start + MAX_LEN);
            }
            *block = SackBlock { start: start - ack, len: (end - start) as u16 };
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(told: &Told, ack: u32, newest: u32) -> [(u32, u16); 4] {
        told.blocks(ack, newest, 4).map(|block| (block.start, block.len))
    }

    /// Linux (`tcp_sack_extend`, `tcp_sack_maybe_coalesce`), by hand: 13 joins 12 and 14. Four more
    /// ranges push them out. Then 15 is told of alone.
    #[test]
    fn a_segment_alone_joins_the_blocks_beside_it() {
        let mut blocks = Told::default();
        [12, 14, 20, 13].into_iter().for_each(|seq| blocks.arrive(seq, seq + 1));
        assert_eq!(told(&blocks, 10, 13), [(2, 3), (10, 1), (0, 0), (0, 0)]);
        [22, 24, 26, 28, 15].into_iter().for_each(|seq| blocks.arrive(seq, seq + 1));
        assert_eq!(told(&blocks, 10, 15), [(5, 1), (18, 1), (16, 1), (14, 1)]);
    }

    /// RFC 2018, section 4, by hand: 10 is missing, 12, 16 and 20 to 22 have come, then 14, and 13
    /// joins 12 to 14. The range of which a segment comes is the first one, also of a segment that
    /// had come before. The others follow in the order in which they were told of last.
    #[test]
    fn the_range_of_the_newest_segment_comes_first_and_then_those_told_of_last() {
        let mut blocks = Told::default();
        for (start, end) in [(12, 13), (16, 17), (20, 21), (20, 23), (14, 15)] {
            blocks.arrive(start, end);
        }
        assert_eq!(told(&blocks, 10, 14), [(4, 1), (10, 3), (6, 1), (2, 1)]);
        blocks.arrive(12, 15);
        assert_eq!(told(&blocks, 10, 13), [(2, 3), (10, 3), (6, 1), (0, 0)]);
        blocks.arrive(16, 17);
        assert_eq!(told(&blocks, 10, 16), [(6, 1), (2, 3), (10, 3), (0, 0)]);
        // 10 and 11 have come too, so all up to 14 is acknowledged
        blocks.prune(15);
        assert_eq!(told(&blocks, 15, 11), [(1, 1), (5, 3), (0, 0), (0, 0)]);
    }

    /// Section 4, by hand: what comes in order above it does not push a repair out. It is the first of
    /// four blocks, so of three new ranges the third one does.
    #[test]
    fn a_repair_is_told_of_again() {
        let mut blocks = Told::default();
        for start in [20, 30, 40, 50, 60] {
            blocks.arrive(start, start + 5);
        }
        blocks.arrive(20, 36);
        for end in 66..80 {
            blocks.arrive(60, end);
            assert!(told(&blocks, 10, end - 1).contains(&(10, 16)), "{blocks:?}");
        }
        for (count, start) in [90, 92, 94].into_iter().enumerate() {
            blocks.arrive(start, start + 1);
            assert_eq!(told(&blocks, 10, start).contains(&(10, 16)), count < 2, "{blocks:?}");
        }
    }

    /// 100 Gbit/s and 200 ms: 1,666,667 segments of 1500 bytes. A range of 1,000,000 is told of
    /// by the 65,535 segments up to the newest, and by all of them as it grows.
    #[test]
    fn blocks_reach_across_the_longest_path() {
        let (low, long, high) = ((70_010, 70_011), (600_010, 1_600_010), (1_666_676, 1_666_677));
        let told = |range, newest| {
            let mut blocks = Told::default();
            for (start, end) in [low, long, high, range] {
                blocks.arrive(start, end);
            }
            told(&blocks, 10, newest)
        };
        let (one, two) = ((1_666_666, 1), (70_000, 1));
        let part = |start| (start, 65_535);
        assert_eq!(told(high, 1_666_676), [one, part(1_534_465), two, (0, 0)]);
        assert_eq!(told(long, 1_600_009), [part(1_534_465), one, two, (0, 0)]);
        assert_eq!(told(long, 1_000_009), [part(934_465), one, two, (0, 0)]);
        assert_eq!(told(long, 600_010), [part(600_000), one, two, (0, 0)]);
        assert_eq!(told(low, 70_010), [two, one, part(600_000), (0, 0)]);
    }
}
