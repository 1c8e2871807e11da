//! Round trips counted by packets: a round ends when a packet is acknowledged that was sent after
//! the round began (draft, 4.1.1.3).

use super::super::DeliveryRate;

/// The round counter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    pub count: u64,
    /// Whether the current acknowledgement begins a round.
    pub start: bool,
    /// Segments delivered when the current round began.
    began: u64,
}

impl Round {
    /// Updates the counter with a sample.
    pub(super) fn update(&mut self, rate: &DeliveryRate) {
        self.start = rate.before >= self.began;
        if self.start {
            self.began = rate.total;
            self.count += 1;
        }
    }

    /// Starts a round now.
    pub(super) fn restart(&mut self, total: u64) {
        self.began = total;
    }
}
