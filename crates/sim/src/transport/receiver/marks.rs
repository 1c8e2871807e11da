//! What a receiver tells of marks.

use tidegate_core::packet::{Flags, Packet};
use tidegate_model::control::Ecn;

use super::super::control::dctcp;
use super::Receiver;

/// Whether a receiver has marks to echo (RFC 3168, 6.1.3).
pub(super) mod echoes {
    /// None that the sender has not responded to.
    pub const NONE: u8 = 0;
    /// One has come, and the sender has not said yet that it has responded.
    pub const MARKED: u8 = 1;
    /// A segment that is not acknowledged yet is marked too.
    pub const PENDING_TOO: u8 = 2;
}

/// How many acknowledgements Linux does not delay from the first mark on.
const QUICK_AT_MARK: u8 = 2;

impl Receiver {
    /// Marks are counted, or echoed until the sender says that it has cut its window; one
    /// on a segment that still waits for its acknowledgement is a new one. The first of them makes two
    /// acknowledgements of Linux quick (`__tcp_ecn_check_ce`).
    ///
    /// `tells`: it hides none; `linux`: it is a host of Linux. Returns whether Linux acknowledges the segment at once: it says that the window is cut, and may
    /// be the only one in it (`tcp_ecn_accept_cwr`).
    #[inline]
    pub(super) fn note_mark(
        &mut self,
        packet: &Packet,
        ecn: Ecn,
        tells: bool,
        linux: bool,
    ) -> bool {
        let marked = tells && packet.flags.has(Flags::CE);
        match ecn {
            Ecn::None => {}
            Ecn::Classic => {
                let cut = packet.flags.has(Flags::CWR);
                if marked {
                    if linux && self.is_open() && (cut || self.marks == echoes::NONE) {
                        self.tally = self.tally.max(QUICK_AT_MARK);
                    }
                    self.marks = echoes::PENDING_TOO;
                } else if cut && self.marks == echoes::MARKED {
                    self.marks = echoes::NONE;
                }
                return cut && linux;
            }
            Ecn::Counted | Ecn::L4s => {
                self.marks = self.marks.wrapping_add(u8::from(marked));
            }
        }
        false
    }

    /// What an acknowledgement says of marks.
    #[inline]
    pub(super) fn tell_of_marks(&self, ecn: Ecn) -> Flags {
        match ecn {
            Ecn::Classic if self.marks != echoes::NONE => Flags::ECE,
            Ecn::Classic | Ecn::None => Flags::NONE,
            Ecn::Counted | Ecn::L4s => self.counted(ecn),
        }
    }

    /// The count of marks, if this class counts them: on every packet of the receiver.
    pub(super) fn counted(&self, ecn: Ecn) -> Flags {
        match ecn {
            Ecn::Counted | Ecn::L4s => dctcp::counted(self.marks),
            Ecn::None | Ecn::Classic => Flags::NONE,
        }
    }
}
