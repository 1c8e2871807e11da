//! What a receiver keeps aside, which few need.

use tidegate_core::packet::Ext;

use super::super::ranges::Ranges;
use super::super::receive_window::{Memory, Offer};
use super::early::Early;
use super::told::Told;

/// What a receiver keeps of holes and of delayed acknowledgements.
#[derive(Default)]
pub(crate) struct Aside {
    /// What came beyond a hole.
    pub(super) beyond: Ranges,
    /// What of it acknowledgements tell of.
    pub(super) told: Told,
    /// What is to be handed back of segments not acknowledged yet.
    pub(super) held: Ext,
    /// Segments that were acknowledged and have not come.
    pub(super) missing: u32,
    /// What a receiver goes by that acknowledges what has not come yet; boxed, as few need it.
    pub(super) early: Option<Box<Early>>,
    /// What the receiver offers; none: all from the start.
    pub(super) offer: Option<Offer>,
}

impl Aside {
    /// Of a receiver whose window depends on its buffer.
    pub(super) fn offering(memory: &Memory) -> Aside {
        Aside { offer: Some(Offer::new(memory)), ..Aside::default() }
    }

    /// A segment has come beyond a hole. `whole`: the first block is all that has come around it, and
    /// as many others are told of as there is room for, as RFC 2018 wants it (section 4). Linux joins
    /// the segment to the blocks that it remembers. Returns whether the segment is new.
    pub(super) fn arrive(&mut self, seq: u32, whole: bool) -> bool {
        let new = self.beyond.insert(seq, seq + 1);
        let range = if whole { self.beyond.holding(seq) } else { None };
        let (start, end) = range.unwrap_or((seq, seq + 1));
        self.told.arrive(start, end);
        if whole {
            self.told.add(&self.beyond);
        }
        new
    }

    /// All below `next` has come. Returns the end of what came beyond the hole that this closes, if it
    /// closes one. Linux does not tell again of what four newer blocks have pushed out.
    pub(super) fn close_hole(&mut self, next: u32, whole: bool) -> Option<u32> {
        let end = self.beyond.absorb(next)?;
        self.told.prune(end);
        if whole {
            self.told.add(&self.beyond);
        }
        Some(end)
    }

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        self.beyond.renumber(lap);
        self.told.renumber(lap);
        self.offer.iter_mut().for_each(|offer| offer.renumber(lap));
        if let Some(early) = &mut self.early {
            early.highest = early.highest.saturating_sub(lap);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let Aside { beyond, told: _, held, missing, early, offer } = self;
        beyond.is_empty()
            && *held == Ext::None
            && *missing == 0
            && early.is_none()
            && offer.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::draws;

    /// RFC 2018, sections 3 and 4, with any order of arrival: the first block holds the newest
    /// segment; all lie in what has come beyond a hole, apart from each other. Where whole ranges are
    /// told of, each block is one, and there are as many as there is room for. (Linux may have two
    /// blocks in one range.)
    #[test]
    fn blocks_tell_of_what_has_come() {
        let mut draws = draws();
        let mut draw = |below: u32| draws(below.into()) as u32;
        for round in 0..400 {
            let (whole, mut aside, mut next) = (round % 2 == 0, Aside::default(), 1000);
            for _ in 0..60 {
                let mut newest = None;
                match draw(8) {
                    0 => {
                        next += 1;
                        next = aside.close_hole(next, whole).unwrap_or(next);
                    }
                    1 if next >= 500 => {
                        aside.renumber(100);
                        next -= 100;
                    }
                    _ => {
                        let seq = next + 1 + draw(30);
                        aside.arrive(seq, whole);
                        newest = Some(seq);
                    }
                }
                let blocks = aside.told.blocks(next, newest.unwrap_or(next), 4);
                let told = blocks.map(|block| (next + block.start, u32::from(block.len)));
                let told: Vec<_> = told.into_iter().filter(|block| block.1 > 0).collect();
                let ranges: Vec<_> = aside.beyond.highest_first().collect();
                for (place, &(start, len)) in told.iter().enumerate() {
                    let range = aside.beyond.holding(start).expect("a block of what has come");
                    assert!(next < start && start + len <= range.1, "{told:?} {ranges:?}");
                    assert!(!whole || range == (start, start + len), "{told:?} {ranges:?}");
                    let apart =
                        |other: &(u32, u32)| start + len < other.0 || other.0 + other.1 < start;
                    assert!(told[..place].iter().all(apart), "{told:?}");
                }
                if let Some(seq) = newest {
                    assert!((told[0].0..told[0].0 + told[0].1).contains(&seq), "{seq}: {told:?}");
                }
                let few = ranges.len().min(4);
                assert!(!whole || told.len() == few, "{told:?} {ranges:?}");
                assert!(told.is_empty() || few > 0, "{told:?}");
                assert_eq!(aside.told.is_empty(), told.is_empty());
            }
        }
    }
}
