//! What a sender has sent, and what is known of it: the send sequence variables of RFC 9293, 3.3.1,
//! and how far losses are repaired. Loss detectors read and write this alone.

use super::super::ClassParams;
use super::super::laps::{LAP, LIMIT};
use super::super::outstanding::Outstanding;

/// Numbers count segments; the FIN is one of its own behind the data.
#[repr(C)]
pub(super) struct Snd {
    /// Oldest unacknowledged segment (SND.UNA).
    pub(super) una: u32,
    /// Next segment to send (SND.NXT); behind a timeout it is below `max`.
    pub(super) nxt: u32,
    /// Behind the highest segment ever sent.
    pub(super) max: u32,
    /// Number of data segments.
    pub(super) total: u32,
    /// Behind the last number, that of the FIN included. Of data that is handed in by
    /// parts: behind what there is so far, while `total` is not known.
    pub(super) end: u32,
    pub(super) dup_acks: u32,
    pub(super) outstanding: Outstanding,
    /// What duplicates add to the window, in segments.
    pub(super) inflation: f64,
    /// `max` at the last loss (RFC 6582).
    pub(super) recover: u32,
    /// Segments that limited transmit has sent since the last new acknowledgement.
    pub(super) extra: u8,
    pub(super) recovering: bool,
    /// The retransmission timer was restarted by a partial acknowledgement.
    pub(super) partial: bool,
    /// The window was cut last by a timeout, not by duplicates.
    pub(super) after_timeout: bool,
}

impl Snd {
    pub(super) fn new() -> Snd {
        Snd {
            una: 0,
            nxt: 0,
            max: 0,
            total: u32::MAX,
            end: u32::MAX,
            dup_acks: 0,
            outstanding: Outstanding::default(),
            inflation: 0.0,
            recover: 0,
            extra: 0,
            recovering: false,
            partial: false,
            after_timeout: false,
        }
    }

    /// Whether the numbers have to begin anew.
    #[inline]
    pub(super) fn is_far(&self) -> bool {
        self.una >= LIMIT && self.total == u32::MAX && self.end == u32::MAX
    }

    /// The numbers begin anew, less by a lap.
    pub(super) fn renumber(&mut self) {
        let Snd { una, nxt, max, recover, .. } = self;
        [una, nxt, max].into_iter().for_each(|number| *number -= LAP);
        *recover = recover.saturating_sub(LAP);
        self.outstanding.renumber(LAP);
    }

    /// Segments sent and not acknowledged.
    #[inline]
    pub(super) fn flight(&self) -> u32 {
        self.nxt - self.una
    }

    /// Everything up to `ack` has arrived.
    #[inline]
    pub(super) fn advance(&mut self, ack: u32) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.dup_acks = 0;
        self.extra = 0;
    }

    /// Whether all has arrived.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.una == self.end && self.total != u32::MAX
    }

    /// A duplicate inflates the window: in recovery, or before it where the control uses limited
    /// transmit (`eager`; RFC 3042).
    pub(super) fn inflate(&mut self, eager: bool, class: &ClassParams) {
        let counts = if self.recovering { !class.sack() } else { eager };
        if counts {
            self.inflation += 1.0;
        }
    }

    /// Recovery begins at the oldest segment. `first`: it is sent again at once; `window`: the
    /// window until now; `sack`: blocks say which segments are lost.
    pub(super) fn begin_repair(&mut self, first: bool, window: u32, sack: bool) {
        self.outstanding.begin_recovery(self.una, window, sack);
        if first {
            self.outstanding.repaired_first(self.una);
        }
    }

    /// Whether a lost segment was not sent again yet, where losses are found by time.
    pub(super) fn has_due(&self) -> bool {
        self.outstanding.log().is_some_and(|log| log.has_due())
    }

    /// The next one, which is sent now.
    pub(super) fn next_due(&mut self) -> Option<u32> {
        self.outstanding.log_mut()?.next_due()
    }

    /// The same where blocks tell of losses.
    pub(super) fn next_repair(&mut self) -> Option<u32> {
        let una = self.una;
        self.outstanding.known()?.next_repair(una)
    }
}
