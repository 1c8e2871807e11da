//! Round trips counted by packets: a round ends when something is acknowledged
//! that was sent after it began (draft, 4.1.1.3).

use super::super::DeliveryRate;

/// The count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    pub count: u64,
    /// Whether the present acknowledgement begins one.
    pub start: bool,
    /// Segments delivered when the present one began.
    began: u64,
}

impl Round {
    /// A sample has come.
    pub(super) fn update(&mut self, rate: &DeliveryRate) {
        self.start = rate.before >= self.began;
        if self.start {
            self.began = rate.total;
            self.count += 1;
        }
    }

    /// The round begins now.
    pub(super) fn restart(&mut self, total: u64) {
        self.began = total;
    }
}
