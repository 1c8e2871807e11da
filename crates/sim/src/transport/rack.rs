//! Detection of losses by time (RACK: RFC 8985, section 6): a segment is lost when one
//! that was sent later has arrived and its own arrival is overdue by more than the
//! reordering window.
//!
//! | symbol              | here         | meaning                                            |
//! |---------------------|--------------|----------------------------------------------------|
//! | RACK.xmit_ts, end_seq | `newest`   | sending of the latest-sent segment that has arrived |
//! | RACK.rtt            | `rtt`        | its round trip                                     |
//! | RACK.min_RTT        | `min_rtt`    | least round trip                                   |
//! | RACK.fack           | `fack`       | behind the highest segment that has arrived        |
//! | RACK.reordering_seen | `reordered` | a segment has arrived after a later one            |
//! | -                   | `degree`     | segments by which one has been overtaken at most (Linux's `reordering`) |
//! | RACK.reo_wnd        | [`Rack::reo_wnd`] | how late a reordered segment may be           |
//! | DupThresh           | `DUP_THRESH` | 3                                                  |
//!
//! Departures: the reordering window does not adapt, as the receiver sends no
//! DSACK (RACK.reo_wnd_mult stays 1); the least round trip is that of the connection, its handshake
//! included; and a timestamp that is echoed does not tell a repetition from the first sending (step
//! 2), as in Linux (`tcp_rack_advance`): with a hole open it is that of the last segment in order
//! (RFC 7323, 4.3), so that each repetition would be discarded.

use tidegate_core::units::Time;

const DUP_THRESH: u32 = 3;

/// The state of RACK for one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// When the latest-sent segment that has arrived was sent, and its number.
    newest: (Time, u32),
    rtt: Time,
    min_rtt: Time,
    fack: u32,
    reordered: bool,
    degree: u32,
}

impl Rack {
    pub(super) const NEW: Rack = Rack {
        newest: (Time::ZERO, 0),
        rtt: Time::ZERO,
        min_rtt: Time::NEVER,
        fack: 0,
        reordered: false,
        degree: 0,
    };

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        self.newest.1 = self.newest.1.saturating_sub(lap);
        self.fack = self.fack.saturating_sub(lap);
    }

    /// The least round trip ([`Time::NEVER`]: none measured).
    pub(super) fn min_rtt(&self) -> Time {
        self.min_rtt
    }

    /// The round trip of the latest-sent segment that has arrived.
    pub(super) fn rtt(&self) -> Time {
        self.rtt
    }

    /// The connection has opened with a round trip of so long (Linux: `tcp_synack_rtt_meas`).
    pub(super) fn opened(&mut self, rtt: Time) {
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// 6.2, steps 1 to 3: a segment has arrived, that was sent (again) at `sent`.
    pub(super) fn arrived(&mut self, (seq, sent, again): (u32, Time, bool), now: Time) {
        // step 3
        if seq + 1 > self.fack {
            self.fack = seq + 1;
        } else if !again {
            self.reordered = true;
            self.degree = self.degree.max(self.fack - seq);
        }
        let rtt = now.saturating_sub(sent);
        if again {
            // step 2: of the first sending, perhaps
            if rtt < self.min_rtt {
                return;
            }
        } else {
            // step 1
            self.min_rtt = self.min_rtt.min(rtt);
        }
        self.rtt = rtt;
        self.newest = self.newest.max((sent, seq));
    }

    /// Whether a segment has been overtaken by more than three (Linux: `tcp_check_sack_reordering`,
    /// `tcp_may_raise_cwnd`).
    pub(super) fn reorders_much(&self) -> bool {
        self.degree > DUP_THRESH
    }

    /// 6.2, step 4: without a sign of reordering three arrivals are proof enough.
    pub(super) fn reo_wnd(&self, srtt: Time, recovering: bool, sacked: u32) -> Time {
        if !self.reordered && (recovering || sacked >= DUP_THRESH) {
            return Time::ZERO;
        }
        let least = if self.min_rtt == Time::NEVER { srtt } else { self.min_rtt };
        (least / 4).min(srtt)
    }

    /// Whether something has arrived that was sent later than this segment, which was sent at `sent`.
    pub(super) fn has_overtaken(&self, (sent, seq): (Time, u32)) -> bool {
        self.newest > (sent, seq)
    }

    /// 6.2, step 5: when a segment counts as lost; none: nothing sent later has arrived.
    pub(super) fn lost_at(&self, (sent, seq): (Time, u32), reo_wnd: Time) -> Option<Time> {
        self.has_overtaken((sent, seq)).then(|| sent + self.rtt + reo_wnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    /// RFC 8985, 6.2 by hand. Segments 0 to 3 leave at 0, 1, 2 and 3 ms over a round trip
    /// of 40 ms. Only 1 arrives: 0 is overdue a quarter of the round trip (10 ms) after 40 ms
    /// from its sending. With three arrivals there is no wait.
    #[test]
    fn the_reordering_window_is_a_quarter_of_a_round_trip() {
        let mut rack = Rack::NEW;
        rack.arrived((1, ms(1), false), ms(41));
        assert_eq!(rack.reo_wnd(ms(40), false, 1), ms(10));
        assert_eq!(rack.lost_at((ms(0), 0), ms(10)), Some(ms(50)));
        assert_eq!(rack.lost_at((ms(2), 2), ms(10)), None, "sent later than any that arrived");
        assert_eq!(rack.reo_wnd(ms(40), false, 3), Time::ZERO);
        assert_eq!(rack.reo_wnd(ms(40), true, 1), Time::ZERO);
    }

    /// 6.2, steps 3 and 4: an original that arrives behind its place shows that packets
    /// overtake; from then on the window stays open, whatever the number of arrivals.
    #[test]
    fn reordering_keeps_the_window_open() {
        let mut rack = Rack::NEW;
        rack.arrived((1, ms(1), false), ms(41));
        rack.arrived((0, ms(0), false), ms(42));
        assert_eq!(rack.reo_wnd(ms(40), true, 5), ms(10));
        let mut other = Rack::NEW;
        other.arrived((1, ms(1), false), ms(41));
        other.arrived((0, ms(45), true), ms(85));
        assert_eq!(other.reo_wnd(ms(40), true, 5), Time::ZERO, "a repair is no reordering");
    }

    /// 6.2, step 2, as Linux has it: an answer that comes sooner after the second sending than any
    /// round trip may be for the first one. The handshake's round trip counts.
    #[test]
    fn an_answer_to_the_first_sending_does_not_count() {
        let mut rack = Rack::NEW;
        rack.opened(ms(40));
        rack.arrived((1, ms(1), false), ms(51));
        rack.arrived((0, ms(60), true), ms(99));
        assert_eq!(rack.lost_at((ms(50), 5), Time::ZERO), None);
        rack.arrived((0, ms(60), true), ms(101));
        assert_eq!(rack.lost_at((ms(50), 5), Time::ZERO), Some(ms(91)));
    }
}
