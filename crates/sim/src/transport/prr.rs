//! Proportional rate reduction (RFC 6937): a cut of the window is spread over recovery.
//!
//! | symbol        | here      | meaning                                    | unit     |
//! |---------------|-----------|--------------------------------------------|----------|
//! | prr_delivered | `delivered` | arrived since recovery began             | segments |
//! | prr_out       | `out`     | sent since recovery began                  | segments |
//! | RecoverFS     | `flight`  | outstanding when it began                  | segments |
//! | sndcnt        | `allowed` | may be sent after the present acknowledgement | segments |
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
    allowed: u32,
}

impl Prr {
    /// Recovery begins (section 3, at its beginning).
    pub(super) fn begin(flight: u32) -> Prr {
        Prr { flight, ..Prr::default() }
    }

    /// An acknowledgement in recovery (section 3, on every ACK).
    pub(super) fn on_ack(&mut self, delivered: u32, pipe: u32, ssthresh: u32) {
        self.delivered += delivered;
        self.allowed = if pipe > ssthresh {
            // proportional part: RecoverFS come in while ssthresh go out
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            let due = share.div_ceil(u64::from(self.flight.max(1)));
            (due as u32).saturating_sub(self.out)
        } else {
            // PRR-SSRB: up to ssthresh again, as slow start would
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + 1;
            (ssthresh - pipe).min(limit)
        };
    }

    /// A segment leaves.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
        self.allowed = self.allowed.saturating_sub(1);
    }

    /// The window that lets out what may be sent.
    pub(super) fn window(&self, pipe: u32) -> u32 {
        pipe + self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937, section 3, by hand, for 10 outstanding, the first one lost and
    /// ssthresh 7: the third duplicate begins recovery. Each of the nine
    /// acknowledgements delivers one. The hole goes at once; while the pipe is above 7,
    /// sndcnt = ceil(delivered * 7 / 10) - out.
    #[test]
    fn a_cut_is_spread_over_recovery() {
        let mut prr = Prr::begin(10);
        // 1..=3 have arrived, the hole is lost
        let mut pipe = 6_u32;
        prr.on_sent();
        pipe += 1;
        let mut sent = Vec::new();
        for _ in 0..6 {
            pipe -= 1;
            prr.on_ack(1, pipe, 7);
            let before = pipe;
            while pipe < prr.window(pipe) {
                prr.on_sent();
                pipe += 1;
            }
            sent.push(pipe - before);
        }
        // pipe is 6 after each, so one goes for each, up to ssthresh
        assert_eq!(sent, [1, 1, 1, 1, 1, 1]);
    }

    /// The same with a cut to half: RecoverFS 10, ssthresh 5, pipe 10 in the
    /// network when recovery begins. By hand: ceil(k / 2) have gone after k.
    #[test]
    fn every_second_acknowledgement_lets_one_out() {
        let mut prr = Prr::begin(10);
        let mut pipe = 10_u32;
        let mut sent = Vec::new();
        for _ in 0..8 {
            pipe -= 1;
            prr.on_ack(1, pipe, 5);
            let before = pipe;
            while pipe < prr.window(pipe) {
                prr.on_sent();
                pipe += 1;
            }
            sent.push(pipe - before);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    /// Figure 4 of the RFC in small: most of a window of 10 is lost, so the pipe is far
    /// below ssthresh = 5. Each ACK that delivers one may send two, until the pipe is 5.
    #[test]
    fn after_heavy_losses_it_slow_starts() {
        let mut prr = Prr::begin(10);
        let mut pipe = 1_u32;
        let mut sent = Vec::new();
        for _ in 0..5 {
            pipe -= 1;
            prr.on_ack(1, pipe, 5);
            let before = pipe;
            while pipe < prr.window(pipe) {
                prr.on_sent();
                pipe += 1;
            }
            sent.push(pipe - before);
        }
        // limit = max(delivered - out, 1) + 1: 2, then 2, ...; at last ssthresh - pipe
        assert_eq!(sent, [2, 2, 2, 2, 1]);
    }
}
