//! Which loss detector the senders of a class have. What each does is in `sender/loss.rs`.

use tidegate_model::control::{Reliability, TransportControl};
use tidegate_model::scenario::Transport;

/// How the senders of a class notice losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detector {
    /// By duplicate acknowledgements and blocks: of every transport that brings no other one.
    Duplicates,
    /// By the times at which segments were sent (RACK).
    Timed,
    /// After so many duplicates that tell of a loss everything is sent again.
    GoBack {
        /// How many.
        notice: u32,
    },
    /// Once everything was sent, what is missing is sent again every two round trips (RCP's own
    /// code).
    Late,
}

impl Detector {
    /// The one that the transport of a class brings with it.
    pub(crate) fn of(transport: &Transport) -> Detector {
        match transport {
            Transport::Controlled(_, TransportControl::Blitz(blitz)) => {
                Detector::GoBack { notice: blitz.notice }
            }
            Transport::Controlled(_, TransportControl::Rcp(rcp))
                if rcp.reliability == Reliability::Own =>
            {
                Detector::Late
            }
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) if tcp.rack => Detector::Timed,
            _ => Detector::Duplicates,
        }
    }
}
