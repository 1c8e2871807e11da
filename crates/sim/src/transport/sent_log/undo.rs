//! Losses that were none: what tells of them, and the cut that they have caused.
//!
//! | symbol (Linux)  | here      | meaning                                                    |
//! |-----------------|-----------|------------------------------------------------------------|
//! | `retrans_stamp` | `again`   | when a lost segment was first sent again in this recovery  |
//! | `prior_cwnd`    | `before`  | the window before the cut                                  |
//! | `prior_ssthresh` | `before` | the threshold before it, 3/4 of the window at least        |
//! | `undo_marker`   | `before`  | none: there is nothing to undo                             |
//! | `received_ce`   | `marks`   | the counter of marks that came last, modulo 8 (AccECN)     |
//!
//! An acknowledgement with a timestamp from before `again` is that of a first sending (Eifel,
//! RFC 3522), so the cut was not needed: `tcp_packet_delayed` of Linux. What the response is, is in
//! `sender/recovery.rs`.

use tidegate_core::units::Time;

use super::super::control::dctcp;
use super::super::ranges::Ranges;
use super::{SentLog, SentSegment};

/// A cut that may not have been needed.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Undo {
    /// [`Time::NEVER`]: nothing was sent again yet.
    again: Time,
    /// Window and threshold, in segments; zeros of a control that has none.
    before: Option<[f64; 2]>,
    /// The counter of marks that came last (AccECN).
    marks: u8,
}

impl Undo {
    pub(super) const NEW: Undo = Undo { again: Time::NEVER, before: None, marks: dctcp::FIRST };

    /// A lost segment is sent again at `now`.
    pub(super) fn sent_again(&mut self, now: Time) {
        self.again = self.again.min(now);
    }
}

/// The segments marked lost in this recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubts {
    /// How many of them are outstanding.
    pub(super) left: u32,
    /// One of them was lost, or may have been.
    real: bool,
}

impl SentLog {
    /// A segment has arrived that may be marked lost. Returns whether all that were marked in this
    /// recovery have now arrived as they were first sent (Eifel, RFC 3522).
    pub(super) fn resolve(&mut self, segment: &SentSegment, echo: Option<Time>) -> bool {
        if !segment.lost || self.doubts.left == 0 {
            return false;
        }
        self.doubts.left -= 1;
        self.doubts.real |= segment.resent && echo.is_none_or(|echo| echo >= segment.sent);
        self.doubts.left == 0 && !self.doubts.real
    }

    /// A recovery may begin: what was marked lost before it does not count.
    pub(in super::super) fn begin_doubts(&mut self) {
        if self.lost == 0 {
            self.doubts = Doubts::default();
        }
    }

    /// The window is about to be cut, which is so large with its threshold (zeros: the control knows
    /// itself). `repairs`: something is
    /// being sent again, so that a repetition was before this (Linux: `tcp_any_retrans_done`).
    pub(in super::super) fn note_cut(&mut self, before: [f64; 2], repairs: bool) {
        let resent = self.segments.front().is_some_and(|oldest| oldest.resent);
        let again = if repairs || resent || self.again > 0 { self.undo.again } else { Time::NEVER };
        self.undo = Undo { again, before: Some(before), ..self.undo };
    }

    /// An acknowledgement has this counter of marks. Returns whether it is another than the last.
    pub(in super::super) fn counts_marks(&mut self, counter: u8) -> bool {
        std::mem::replace(&mut self.undo.marks, counter) != counter
    }

    /// The cut is for a mark too: what is undone is that something counts as lost.
    pub(in super::super) fn keep_cut(&mut self) {
        self.undo.before = self.undo.before.map(|_| [0.0; 2]);
    }

    /// Whether an acknowledgement with this timestamp shows that the cut was not needed.
    pub(in super::super) fn is_needless(&self, echo: Time) -> bool {
        self.undo.before.is_some() && echo < self.undo.again
    }

    /// Whether a repetition is under way.
    pub(in super::super) fn has_again(&self) -> bool {
        self.again > 0
    }

    /// The cut is undone: window and threshold before it.
    pub(in super::super) fn take_cut(&mut self) -> Option<[f64; 2]> {
        self.undo.before.take()
    }

    /// Nothing counts as lost any more. What was sent again stays so (Linux:
    /// `tcp_undo_cwnd_reduction`).
    pub(in super::super) fn unmark(&mut self, arrived: &Ranges) {
        self.segments.iter_mut().for_each(|segment| segment.lost = false);
        (self.lost, self.due, self.losing) = (0, 0, false);
        self.due_next.clear();
        self.begin_doubts();
        let SentLog { first, segments, order, .. } = self;
        order.clear();
        arrived.each_missing(*first, *first + segments.len() as u32, |seq| {
            order.push_back((segments[(seq - *first) as usize].sent, seq));
        });
        order.make_contiguous().sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    /// Linux, `tcp_undo_cwnd_reduction`, by hand. Five segments leave at 0, 2 arrives, and the timer
    /// expires at 300: 0, 1, 3 and 4 count as lost, and 0 goes again. Undone, nothing is to be sent
    /// again: 0, 1, 3 and 4 are in the network, and the repetition of 0.
    #[test]
    fn what_was_taken_for_lost_is_in_the_network() {
        let mut log = SentLog::new(true);
        let mut arrived = Ranges::default();
        for seq in 0..5 {
            log.send(seq, ms(0), &arrived);
        }
        arrived.insert_telling(2, 3, |_, _| {});
        log.lose_all(ms(300), &arrived);
        log.note_cut([10.0, 7.5], false);
        log.send(0, ms(300), &arrived);
        assert_eq!((log.pipe(&arrived), log.next_due()), (1, Some(1)));
        log.unmark(&arrived);
        assert_eq!((log.pipe(&arrived), log.next_due(), log.losing), (5, None, false));
    }

    /// Linux, `tcp_packet_delayed`: an answer from before the first repetition is to the original.
    /// Of a second one in the same recovery the time does not count, and a cut is undone once.
    #[test]
    fn an_answer_from_before_the_first_repetition_tells() {
        let (mut log, arrived) = (SentLog::new(true), Ranges::default());
        for seq in 0..2 {
            log.send(seq, ms(0), &arrived);
        }
        assert!(!log.is_needless(ms(0)), "there is no cut");
        log.lose_all(ms(300), &arrived);
        log.note_cut([10.0, 7.5], false);
        log.send(0, ms(300), &arrived);
        log.send(1, ms(400), &arrived);
        assert!(log.is_needless(ms(299)));
        assert!(!log.is_needless(ms(300)));
        assert!(!log.is_needless(ms(350)));
        assert_eq!((log.take_cut(), log.take_cut()), (Some([10.0, 7.5]), None));
        assert!(!log.is_needless(ms(0)));
    }
}
