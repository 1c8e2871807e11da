//! How a sender notices that segments are lost.

use tidegate_model::control::{Control, Reliability};
use tidegate_model::scenario::Transport;

/// How a sender notices losses, and so what it sends again and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LossDetector {
    /// By duplicate acknowledgements (RFC 5681, 6582; RFC 6675 with SACK; ns-2's rules).
    Duplicates,
    /// By time (RACK, RFC 8985, section 6).
    Time,
    /// By so many duplicates; everything from the hole on is sent again (blitz, 2.1).
    GoBack { notice: u32 },
    /// Every two round trips, once all was sent (RCP's own).
    Late,
}

impl LossDetector {
    /// The one that the transport of a class brings with it.
    pub(crate) fn of(transport: &Transport) -> LossDetector {
        match transport {
            Transport::Controlled(_, Control::Blitz(blitz)) => {
                LossDetector::GoBack { notice: blitz.notice }
            }
            Transport::Controlled(_, Control::Rcp(rcp)) if rcp.reliability == Reliability::Own => {
                LossDetector::Late
            }
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) if tcp.rack => LossDetector::Time,
            _ => LossDetector::Duplicates,
        }
    }
}
