//! Going back: after so many duplicates everything from the hole on is sent once more (blitz, 2.1).

use super::super::snd::Snd;
use super::verdict::{Event, LossVerdict};

/// One more duplicate; `tells`: it tells of a loss.
pub(super) fn on_duplicate(snd: &mut Snd, tells: bool, notice: u32) -> LossVerdict {
    snd.dup_acks += u32::from(tells);
    let event = if snd.dup_acks >= notice { Event::GoBack } else { Event::Nothing };
    LossVerdict { event, ..LossVerdict::WINDOW }
}
