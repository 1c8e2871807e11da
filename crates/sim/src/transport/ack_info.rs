//! What an acknowledgement says of the segments whose times of sending are kept.

use tidegate_core::units::Time;

use super::delivery::{Pick, Sampled};

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckInfo {
    /// Segments that it is the first to acknowledge.
    pub delivered: u32,
    /// Round trip of the newest of them that was sent once ([`Time::ZERO`]: none).
    pub rtt: Time,
    /// For the delivery rate.
    pub pick: Pick,
    /// The sample of the delivery rate, if there is one.
    pub sampled: Option<Sampled>,
    /// Segments newly marked lost, and those of them that had been sent again.
    pub losses: u32,
    pub lost_again: u32,
    /// Round trip of the first segment that its number is the first to acknowledge, and of the first
    /// that its blocks are ([`Time::ZERO`]: none that was sent once).
    pub first_rtt: Time,
    pub block_rtt: Time,
    /// Its number covers a segment that was sent again.
    pub covers_resent: bool,
    /// It shows that no segment marked lost in this recovery was lost.
    pub spurious: bool,
}

impl AckInfo {
    /// The round trip that it measures (Linux: `tcp_clean_rtx_queue`, `tcp_ack_update_rtt`): of the
    /// first segment that its number covers, of the first that its blocks do, or by its timestamp
    /// where it covers what was sent again.
    pub(super) fn round_trip(&self, echoed: Option<Time>) -> Option<Time> {
        let first = if self.covers_resent { Time::ZERO } else { self.first_rtt };
        [first, self.block_rtt].into_iter().find(|&rtt| rtt > Time::ZERO).or(echoed)
    }
}
