//! Duplicate acknowledgements: the third begins recovery, in which holes are sent again
//! (RFC 5681, 6582; RFC 6675 with SACK; ns-2's rules).
//!
//! A duplicate says that a packet has left the network. In recovery without
//! SACK the window grows by one for each, and shrinks again by what a partial
//! acknowledgement covers (RFC 5681, 3.2 steps 3 and 4; RFC 6582, 3.2 step 3).
//! With SACK the segments in the network are counted instead (RFC 6675), from the blocks in the
//! record of outstanding segments (`sack.rs`).

use tidegate_model::profile::{LossRule, Recovery};

use super::super::super::ClassParams;
use super::super::snd::Snd;
use super::verdict::{Ack, Event, LossVerdict, Sends};

/// An acknowledgement of a part of what was outstanding when recovery began.
pub(super) fn on_partial(
    snd: &mut Snd,
    segments: u32,
    cwnd: f64,
    class: &ClassParams,
) -> LossVerdict {
    let recovery = class.tcp.recovery;
    if recovery != Recovery::Sack {
        // RFC 6582, 3.2 step 3: less what is acknowledged, and one that is sent again
        let window = (cwnd + snd.inflation - f64::from(segments) + 1.0).max(1.0);
        snd.inflation = window - cwnd;
    }
    // the same: only the first partial acknowledgement restarts the timer
    let restarts = !snd.partial || recovery == Recovery::Sack;
    snd.partial = true;
    let again = recovery == Recovery::NewReno;
    if again {
        snd.outstanding.lost_one(snd.una);
    }
    LossVerdict { again, restarts, ..LossVerdict::WINDOW }
}

/// One more duplicate acknowledgement; `eager`: the control lets out one for each of the first.
#[inline(always)]
pub(super) fn on_duplicate(
    snd: &mut Snd,
    ack: &Ack<'_>,
    eager: bool,
    class: &ClassParams,
) -> LossVerdict {
    let told = ack.told;
    snd.dup_acks += u32::from(counts(told, class));
    snd.inflate(eager, class);
    if snd.recovering {
        return LossVerdict::WINDOW;
    }
    let una = snd.una;
    let lost =
        snd.dup_acks == 3 || (told && snd.outstanding.known().is_some_and(|known| known.lost(una)));
    if !lost {
        let one = class.tcp.limited_transmit && (told || !class.sack());
        let sends = match (eager, one) {
            (true, _) => Sends::Window,
            (false, true) => Sends::One,
            (false, false) => Sends::Nothing,
        };
        return LossVerdict { sends, ..LossVerdict::WINDOW };
    }
    let full_tcp = class.tcp.loss_rule.of_full_tcp();
    let means_nothing = match class.tcp.loss_rule {
        LossRule::FullTcp | LossRule::FullTcp2006 => snd.after_timeout && una <= snd.recover,
        // RFC 6582, 4: duplicates of what was outstanding at the last loss are ignored
        LossRule::Rfc | LossRule::Linux => una < snd.recover,
        LossRule::OneWay => una <= snd.recover,
    };
    if means_nothing {
        // FullTcp repairs nothing that it sent before a timeout, but inflates its window as if
        // it did
        snd.recovering = full_tcp && !class.sack();
        return LossVerdict { sends: Sends::Nothing, ..LossVerdict::WINDOW };
    }
    let sends = if full_tcp { Sends::Nothing } else { Sends::Window };
    LossVerdict { event: Event::Loss, again: true, sends, restarts: true }
}

/// Whether a duplicate counts towards the detection of a loss. With SACK it has to carry a
/// new block (RFC 6675, section 2); in ns-2 every one counts.
///
/// By RFC 6675 an acknowledgement that advances and carries a new block counts too. Here it
/// does not: after two more duplicates three segments above the hole have arrived, and this
/// alone begins recovery (section 5, step 2).
fn counts(told: bool, class: &ClassParams) -> bool {
    told || !class.sack() || class.tcp.loss_rule.of_ns2()
}
