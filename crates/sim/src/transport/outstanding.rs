//! What a sender knows of its outstanding segments: which of them have arrived, as blocks say, and
//! when each was sent.
//!
//! Most flows need neither. The scoreboard is made with the first block, and the times are kept
//! only where losses are detected by time or where a control asks for the delivery rate.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use super::prr::Prr;
use super::sack::Scoreboard;
use super::sent_log::SentLog;

/// The outstanding segments of one sender.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    /// Segments that have arrived beyond a hole; none: no block has come yet.
    pub(super) arrived: Option<Box<Scoreboard>>,
    /// When each segment was sent; none: nothing asks for it.
    pub(super) sent: Option<Box<SentLog>>,
}

impl Outstanding {
    /// Reads an acknowledgement of everything below `packet.ack`, where `max` is behind the
    /// highest segment sent. Returns whether its blocks have new segments.
    #[inline(always)]
    pub(super) fn acknowledge(
        &mut self,
        packet: &Packet,
        max: u32,
        timestamps: bool,
        now: Time,
    ) -> bool {
        // most flows have lost nothing and keep no times
        let nothing = self.arrived.is_none() && self.sent.is_none();
        if nothing && packet.ext.blocks().is_none() {
            return false;
        }
        self.take_note(packet, max, timestamps, now)
    }

    #[inline(never)]
    fn take_note(&mut self, packet: &Packet, max: u32, timestamps: bool, now: Time) -> bool {
        let ack = packet.ack;
        let told = match &mut self.arrived {
            Some(board) => board.update(ack, max, &packet.ext),
            None if packet.ext.blocks().is_some() => {
                self.arrived.get_or_insert_default().update(ack, max, &packet.ext)
            }
            None => false,
        };
        if let Some(log) = &mut self.sent {
            let fresh = self.arrived.as_ref().map_or(&[][..], |board| board.fresh());
            log.acknowledge(ack, fresh, now, timestamps.then_some(packet.sent));
            if let Some(board) = self.arrived.as_mut().filter(|_| !log.timed) {
                log.lose_between(board.newly_lost(ack));
            }
        }
        told
    }

    /// Fast recovery begins at the oldest segment `una`, with `flight` segments outstanding;
    /// `sack`: blocks say which segments are lost.
    pub(super) fn begin_recovery(&mut self, una: u32, flight: u32, sack: bool) {
        if sack {
            self.arrived.get_or_insert_default().begin(una);
        }
        if let Some(log) = &mut self.sent {
            log.prr = Prr::begin(flight);
            log.tlp.forget();
            if !sack {
                log.lose_between(una..una + 1);
            }
        }
    }

    /// The oldest segment `una`, whose loss began recovery, has been sent again.
    pub(super) fn repaired_first(&mut self, una: u32) {
        if let Some(board) = &mut self.arrived {
            board.repaired_first(una);
        }
    }

    /// A segment is lost that no block tells of: the oldest one, by a partial acknowledgement.
    pub(super) fn lost_one(&mut self, una: u32) {
        if let Some(log) = &mut self.sent {
            log.lose_between(una..una + 1);
        }
    }

    /// The retransmission timer has expired.
    pub(super) fn lose_all(&mut self) {
        if let Some(log) = &mut self.sent {
            log.lose_all();
        }
    }

    /// The first segment from `seq` on that is not known to have arrived.
    #[inline]
    pub(super) fn first_missing(&self, seq: u32) -> u32 {
        self.arrived.as_ref().map_or(seq, |board| board.first_missing(seq))
    }

    /// When a probe is due, or a segment counts as lost.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.sent.as_ref().map_or(Time::NEVER, |log| log.deadline())
    }
}
