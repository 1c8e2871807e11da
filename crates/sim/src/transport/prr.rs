//! Proportional rate reduction (RFC 9937): a reduction of the window is spread over recovery. Where
//! losses are found by time, so is the one after a mark, over the round trip that follows (Linux:
//! `tcp_enter_cwr`).
//!
//! | symbol        | here      | meaning                                    | unit     |
//! |---------------|-----------|--------------------------------------------|----------|
//! | DeliveredData | argument  | arrived by the present acknowledgement     | segments |
//! | SafeACK       | argument  | it advances SND.UNA and tells of no loss   |          |
//! | prr_delivered | `delivered` | arrived since recovery began             | segments |
//! | prr_out       | `out`     | sent since recovery began                  | segments |
//! | RecoverFS     | `before`  | the window before the cut (Linux's `prior_cwnd`) | segments |
//! | sndcnt        | `allowed` | may be sent after the present acknowledgement | segments |
//! | cwnd          | `window`  | pipe, and what may be sent                 | segments |
//! | ssthresh      | argument  | the control's window after the cut         | segments |
//! | inflight      | argument  | thought to be in the network (RFC 6675)    | segments |
//!
//! Departure: RecoverFS is what was in flight when recovery began. Linux (`tcp_cwnd_reduction`)
//! takes the window, which is the same where it was full.

/// State of one recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    delivered: u32,
    out: u32,
    before: u32,
    window: u32,
    /// The cut is for a mark, and no loss has followed it so far.
    marked: bool,
}

impl Prr {
    /// Recovery begins, with this window until now.
    pub(super) fn begin(before: u32) -> Prr {
        Prr { before, window: before, ..Prr::default() }
    }

    /// A mark cuts the window, which was so large until now.
    pub(super) fn begin_by_mark(before: u32) -> Prr {
        Prr { marked: true, ..Prr::begin(before) }
    }

    /// Recovery begins. One within the round trip after a mark goes on with the cut of that (Linux:
    /// `tcp_enter_recovery`).
    pub(super) fn begin_recovery(&mut self, before: u32) {
        *self = if self.marked { Prr { marked: false, ..*self } } else { Prr::begin(before) };
    }

    /// What was sent before the mark has arrived, or the timer has expired.
    pub(super) fn end_mark(&mut self) {
        self.marked = false;
    }

    /// Whether a mark's cut is being spread.
    pub(super) fn is_marked(&self) -> bool {
        self.marked
    }

    /// An acknowledgement in recovery, or the expiry that begins it, which counts as the delivery
    /// of one (Linux: `tcp_rack_reo_timeout`).
    pub(super) fn on_ack(&mut self, delivered: u32, safe: bool, inflight: u32, ssthresh: u32) {
        // what delivers nothing lets out nothing
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let allowed = if inflight > ssthresh {
            // proportional part: RecoverFS come in while ssthresh go out
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            let due = share.div_ceil(u64::from(self.before.max(1)));
            (due as u32).saturating_sub(self.out)
        } else {
            // up to ssthresh again; as slow start would only where nothing more is lost
            let most = self.delivered.saturating_sub(self.out).max(delivered);
            (ssthresh - inflight).min(most + u32::from(safe))
        };
        // the first repair goes whatever is in flight
        self.window = inflight + allowed.max(u32::from(self.out == 0));
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
    fn sent(mut prr: Prr, safe: bool, mut pipe: u32, ssthresh: u32, acks: u32) -> Vec<u32> {
        let after_each = |_| {
            pipe -= 1;
            prr.on_ack(1, safe, pipe, ssthresh);
            let before = pipe;
            while pipe < prr.window() {
                prr.on_sent();
                pipe += 1;
            }
            pipe - before
        };
        (0..acks).map(after_each).collect()
    }

    /// RFC 9937, section 6, by hand, for 10 outstanding, the first one lost and ssthresh 7: the
    /// third duplicate begins recovery, the hole goes at once, and 7 are in the network. Each of
    /// the six acknowledgements delivers one and leaves 6, so one goes for each, up to ssthresh.
    #[test]
    fn a_cut_is_spread_over_recovery() {
        let mut prr = Prr::begin(10);
        prr.on_sent();
        assert_eq!(sent(prr, false, 7, 7, 6), [1, 1, 1, 1, 1, 1]);
    }

    /// The same with a cut to half: RecoverFS 10, ssthresh 5, pipe 10 in the
    /// network when recovery begins. By hand: ceil(k / 2) have gone after k.
    #[test]
    fn every_second_acknowledgement_lets_one_out() {
        assert_eq!(sent(Prr::begin(10), false, 10, 5, 8), [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    /// Heavy losses: most of a window of 10 is lost, so the pipe is far below ssthresh = 5. A
    /// duplicate that delivers one lets out one: max(delivered - out, 1). One that advances and
    /// tells of no loss lets out one more, until the pipe is 5 (section 6, SafeACK).
    #[test]
    fn after_heavy_losses_it_slow_starts_where_nothing_more_is_lost() {
        assert_eq!(sent(Prr::begin(10), false, 1, 5, 5), [1, 1, 1, 1, 1]);
        assert_eq!(sent(Prr::begin(10), true, 1, 5, 5), [2, 2, 2, 2, 1]);
    }

    /// Section 6, and Linux (`tcp_cwnd_reduction`): an acknowledgement that delivers
    /// nothing changes nothing. By hand, as after the first above: 2 of a pipe of 5 have gone, so
    /// 2 are in the network and the window is 2, whatever number of such acknowledgements comes.
    #[test]
    fn what_delivers_nothing_lets_nothing_out() {
        let mut prr = Prr::begin(10);
        prr.on_ack(1, true, 0, 5);
        prr.on_sent();
        prr.on_sent();
        for _ in 0..3 {
            prr.on_ack(0, false, 2, 5);
            assert_eq!(prr.window(), 2);
        }
        // nor does it count: the next one that delivers one lets out max(2 - 2, 1) + 1
        prr.on_ack(1, true, 1, 5);
        assert_eq!(prr.window(), 3);
    }

    /// The same sections: whatever is in the network, one segment goes when recovery begins, also
    /// where time alone has found the loss, which counts as one delivery.
    #[test]
    fn the_first_repair_goes_at_once() {
        for (pipe, ssthresh) in [(9, 5), (5, 5), (1, 5)] {
            let mut prr = Prr::begin(10);
            prr.on_ack(1, false, pipe, ssthresh);
            assert_eq!(prr.window(), pipe + 1);
        }
    }
}
