//! Startup and Drain.

use super::Bbr3;
use super::state::{Recovery, State};

/// Ranges of segments that have to be lost in a round (BBRStartupFullLossCnt).
const LOST_RANGES: u32 = 6;
/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// CheckStartupDone.
    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full_bw_reached {
            self.enter_drain();
        }
    }

    /// CheckStartupHighLoss (Exiting Startup Based on Packet Loss): at the end of a round of fast
    /// recovery.
    fn check_startup_high_loss(&mut self) {
        if !self.loss_round_start {
            return;
        }
        let ranges = std::mem::take(&mut self.lost_ranges.0);
        let high =
            self.recovery == Recovery::Fast && ranges >= LOST_RANGES && self.is_inflight_too_high();
        if high && self.state == State::Startup && !self.full_bw_reached {
            self.leave_startup();
        }
    }

    /// Losses or marks say that the pipe is full: a safe volume is what was delivered in a round.
    pub(super) fn leave_startup(&mut self) {
        self.undo.state = Some(State::Startup);
        (self.full_bw_now, self.full_bw_reached) = (true, true);
        self.inflight_longterm = self.bdp().max(self.inflight_latest);
        self.enter_drain();
    }

    fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_start_round = self.round_count;
    }

    /// CheckDrainDone.
    pub(super) fn check_drain_done(&mut self) {
        let drained = self.inflight <= self.inflight_for(self.bw, 1.0);
        let late = self.round_count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (drained || late) {
            self.start_down(self.rs.now);
        }
    }
}
