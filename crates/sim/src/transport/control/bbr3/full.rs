//! Whether the pipe is full: three rounds in which a higher rate of sending brought little more
//! (Exiting Acceleration Based on Bandwidth Plateau).

use super::Bbr3;

const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

impl Bbr3 {
    /// ResetFullBW; `baseline`: the rate that the next rounds are compared with.
    pub(super) fn reset_full_bw(&mut self, baseline: f64) {
        self.full_bw = baseline;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// CheckFullBWReached: rounds in which the application was the limit do not count.
    pub(super) fn check_full_bw_reached(&mut self) {
        if self.full_bw_now || !self.round_start || self.rs.is_app_limited {
            return;
        }
        if self.rs.delivery_rate >= self.full_bw * GROWTH {
            self.reset_full_bw(self.rs.delivery_rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }
}
