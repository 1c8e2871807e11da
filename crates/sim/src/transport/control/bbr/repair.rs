//! The window in recovery: for one round, one packet may leave for each that arrives (packet
//! conservation); then as usual. Afterwards the earlier window is restored (draft, 4.2.3.4).

use super::super::{DeliveryRate, RateSample};

/// The state of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum State {
    #[default]
    Open,
    /// Repairs losses that acknowledgements have shown.
    Recovery,
    /// After a timeout, until everything sent before it is acknowledged.
    Loss { until: u64 },
}

/// The saved window, and whether packets are conserved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repair {
    state: State,
    /// The state at the last acknowledgement.
    before: State,
    conserving: bool,
    saved: f64,
}

impl Repair {
    /// The window to restore.
    pub(super) fn saved(&self) -> f64 {
        self.saved
    }

    /// Saves the window, or the larger of two; `reduced`: the current window is small on purpose.
    pub(super) fn save(&mut self, cwnd: f64, reduced: bool) {
        let usual = self.before == State::Open && !reduced;
        self.saved = if usual { cwnd } else { self.saved.max(cwnd) };
    }

    /// The sender starts or ends a repair.
    pub(super) fn enter(&mut self, state: State) {
        self.state = state;
        if matches!(state, State::Loss { .. }) {
            self.before = state;
        }
    }

    /// A round is over.
    pub(super) fn round_is_over(&mut self) {
        self.conserving = false;
    }

    /// An acknowledgement arrives, which may end a repair after a timeout.
    pub(super) fn end_timeout(&mut self, una: u64) {
        if let State::Loss { until } = self.state
            && una >= until
        {
            self.state = State::Open;
        }
    }

    /// Whether recovery begins with this acknowledgement, and with it a round.
    pub(super) fn begins(&self) -> bool {
        self.state == State::Recovery && self.before != State::Recovery
    }

    /// Changes the window. Returns whether packets are conserved: then nothing else may change it.
    pub(super) fn window(
        &mut self,
        cwnd: &mut f64,
        sample: &RateSample<'_>,
        rate: &DeliveryRate,
    ) -> bool {
        if rate.losses > 0 {
            *cwnd = (*cwnd - f64::from(rate.losses)).max(1.0);
        }
        let kept = f64::from(rate.flight.1) + f64::from(sample.delivered);
        if self.begins() {
            self.conserving = true;
            *cwnd = kept;
        } else if self.state == State::Open && self.before != State::Open {
            self.conserving = false;
            *cwnd = cwnd.max(self.saved);
        }
        self.before = self.state;
        if self.conserving {
            *cwnd = cwnd.max(kept);
        }
        self.conserving
    }
}
