//! Tail loss probes (RFC 8985, section 7): without acknowledgements a
//! sender sends one segment, long before the timeout, to get an acknowledgement.
//!
//! | symbol            | here            | value      | meaning                             |
//! |-------------------|-----------------|------------|-------------------------------------|
//! | PTO               | [`Tlp::wait`]   | 2 SRTT     | how long the sender waits           |
//! | TLP.max_ack_delay | `MAX_ACK_DELAY` | 200 ms     | added where one segment is in flight |
//! | TLP.end_seq       | `end`           |            | behind the last segment at the probe |
//! | TLP.is_retrans    | `again`         |            | the probe was sent before            |

use tidegate_core::units::Time;

/// Longest delay of an acknowledgement, as Linux assumes it (its least RTO).
const MAX_ACK_DELAY: Time = Time::from_ms(200);
/// Without a round trip measured (7.2).
const UNKNOWN: Time = Time::from_secs(1);

/// The outstanding probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tlp {
    /// None: no probe is outstanding.
    end: Option<u32>,
    again: bool,
}

impl Tlp {
    /// 7.2: from the last sending or acknowledgement to the probe.
    pub(super) fn wait(srtt: Time, flight: u32) -> Time {
        match (srtt, flight) {
            (Time::ZERO, _) => UNKNOWN,
            (srtt, 1) => srtt * 2 + MAX_ACK_DELAY,
            (srtt, _) => srtt * 2,
        }
    }

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        self.end = self.end.map(|end| end.saturating_sub(lap));
    }

    /// Whether a probe is outstanding.
    pub(super) fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// 7.3: a probe is sent; `end` is behind the last segment at that time.
    pub(super) fn sent(&mut self, end: u32, again: bool) {
        *self = Tlp { end: Some(end), again };
    }

    /// Ends the episode: recovery or a timeout takes over.
    pub(super) fn forget(&mut self) {
        self.end = None;
    }

    /// 7.4.2: whether an acknowledgement says that the probe has repaired a loss.
    /// `plain`: it is a duplicate without a block.
    pub(super) fn repaired(&mut self, ack: u32, plain: bool) -> bool {
        let Some(end) = self.end else { return false };
        if ack < end {
            return false;
        }
        if !self.again || plain || ack > end {
            self.end = None;
        }
        self.again && !plain && ack > end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985, 7.2 by hand.
    #[test]
    fn the_probe_waits_two_round_trips() {
        let ms = Time::from_ms;
        assert_eq!(Tlp::wait(ms(100), 4), ms(200));
        assert_eq!(Tlp::wait(ms(100), 1), ms(400));
        assert_eq!(Tlp::wait(Time::ZERO, 1), ms(1000));
    }

    /// 7.4.2, its cases: the probe was new data; both copies arrived, as a plain
    /// duplicate shows; one did, as an acknowledgement beyond shows.
    #[test]
    fn only_a_repaired_loss_counts() {
        let mut tlp = Tlp::default();
        tlp.sent(10, false);
        assert!(!tlp.repaired(10, false) && !tlp.is_out());
        tlp.sent(10, true);
        assert!(!tlp.repaired(9, false) && tlp.is_out());
        assert!(!tlp.repaired(10, false) && tlp.is_out(), "either copy may have come");
        assert!(!tlp.repaired(10, true) && !tlp.is_out());
        tlp.sent(10, true);
        assert!(!tlp.repaired(10, false) && tlp.repaired(11, false) && !tlp.is_out());
    }
}
