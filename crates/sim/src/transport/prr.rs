//! Proportional rate reduction (RFC 6937; what delivers nothing as RFC 9937 has it): a reduction of
//! the window is spread over recovery.
//!
//! | symbol        | here      | meaning                                    | unit     |
//! |---------------|-----------|--------------------------------------------|----------|
//! | prr_delivered | `delivered` | arrived since recovery began             | segments |
//! | prr_out       | `out`     | sent since recovery began                  | segments |
//! | RecoverFS     | `flight`  | outstanding when it began                  | segments |
//! | sndcnt        | `allowed` | may be sent after the present acknowledgement | segments |
//! | cwnd          | `window`  | pipe, and what may be sent                 | segments |
//! | ssthresh      | argument  | the control's window after the cut         | segments |
//! | pipe          | argument  | thought to be in the network (RFC 6675)    | segments |
//!
//! The reduction bound is the slow-start one (PRR-SSRB), which the RFC recommends.

/// State of one recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    delivered: u32,
    out: u32,
    flight: u32,
    window: u32,
}

impl Prr {
    /// Recovery begins (section 3, at its beginning).
    pub(super) fn begin(flight: u32) -> Prr {
        Prr { flight, ..Prr::default() }
    }

    /// An acknowledgement in recovery (section 3, on every ACK), or the expiry that begins it.
    pub(super) fn on_ack(&mut self, delivered: u32, pipe: u32, ssthresh: u32) {
        // what delivers nothing lets out nothing (RFC 9937, 6), but recovery begins with a segment
        if delivered == 0 && self.window > 0 {
            return;
        }
        self.delivered += delivered;
        let allowed = if pipe > ssthresh {
            // proportional part: RecoverFS come in while ssthresh go out
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            let due = share.div_ceil(u64::from(self.flight.max(1)));
            (due as u32).saturating_sub(self.out)
        } else {
            // PRR-SSRB: up to ssthresh again, as slow start would
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + 1;
            (ssthresh - pipe).min(limit)
        };
        self.window = pipe + allowed.max(u32::from(self.out == 0));
    }

    /// A segment leaves.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
    }

    /// The window that lets out what may be sent.
    pub(super) fn window(&self) -> u32 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes after each of so many acknowledgements that deliver one, from this pipe on.
    fn sent(mut prr: Prr, mut pipe: u32, ssthresh: u32, acknowledgements: u32) -> Vec<u32> {
        let after_each = |_| {
            pipe -= 1;
            prr.on_ack(1, pipe, ssthresh);
            let before = pipe;
            while pipe < prr.window() {
                prr.on_sent();
                pipe += 1;
            }
            pipe - before
        };
        (0..acknowledgements).map(after_each).collect()
    }

    /// RFC 6937, section 3, by hand, for 10 outstanding, the first one lost and ssthresh 7: the
    /// third duplicate begins recovery, the hole goes at once, and 7 are in the network. Each of
    /// the six acknowledgements delivers one and leaves 6, so one goes for each, up to ssthresh.
    #[test]
    fn a_cut_is_spread_over_recovery() {
        let mut prr = Prr::begin(10);
        prr.on_sent();
        assert_eq!(sent(prr, 7, 7, 6), [1, 1, 1, 1, 1, 1]);
    }

    /// The same with a cut to half: RecoverFS 10, ssthresh 5, pipe 10 in the
    /// network when recovery begins. By hand: ceil(k / 2) have gone after k.
    #[test]
    fn every_second_acknowledgement_lets_one_out() {
        assert_eq!(sent(Prr::begin(10), 10, 5, 8), [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    /// Heavy losses: most of a window of 10 is lost, so the pipe is far
    /// below ssthresh = 5. Each ACK that delivers one may send two, until the pipe is 5: limit =
    /// max(delivered - out, 1) + 1 is 2, then 2, ...; at last ssthresh - pipe.
    #[test]
    fn after_heavy_losses_it_slow_starts() {
        assert_eq!(sent(Prr::begin(10), 1, 5, 5), [2, 2, 2, 2, 1]);
    }

    /// RFC 9937, section 6, and Linux (`tcp_cwnd_reduction`): an acknowledgement that delivers
    /// nothing changes nothing. By hand, as after the first above: 2 of a pipe of 5 have gone, so
    /// 2 are in the network and the window is 2, whatever number of such acknowledgements comes.
    #[test]
    fn what_delivers_nothing_lets_nothing_out() {
        let mut prr = Prr::begin(10);
        prr.on_ack(1, 0, 5);
        prr.on_sent();
        prr.on_sent();
        for _ in 0..3 {
            prr.on_ack(0, 2, 5);
            assert_eq!(prr.window(), 2);
        }
        // nor does it count: the next one that delivers one lets out max(2 - 2, 1) + 1
        prr.on_ack(1, 1, 5);
        assert_eq!(prr.window(), 3);
    }

    /// The same sections: whatever is in the network, one segment goes when recovery begins, also
    /// where time alone has found the loss and nothing was delivered.
    #[test]
    fn the_first_repair_goes_at_once() {
        for (pipe, ssthresh) in [(9, 5), (5, 5), (1, 5)] {
            let mut prr = Prr::begin(10);
            prr.on_ack(0, pipe, ssthresh);
            assert_eq!(prr.window(), pipe + 1);
        }
    }
}
