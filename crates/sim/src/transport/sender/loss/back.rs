//! Going back: after so many duplicates everything from the hole on is sent once more (blitz, 2.1).

use super::super::snd::Snd;
use super::verdict::{Event, Verdict};

/// One more duplicate; `tells`: it tells of a loss.
pub(super) fn on_duplicate(snd: &mut Snd, tells: bool, notice: u32) -> Verdict {
    snd.dup_acks += u32::from(tells);
    let event = if snd.dup_acks >= notice { Event::GoBack } else { Event::Nothing };
    Verdict { event, ..Verdict::WINDOW }
}
