//! What frames tell: the rate is lower while packets wait at the sender, and where the encoder makes
//! larger frames than it was told (draft-ietf-ccwg-rfc8298bis-screamv2-01, *Media Rate Control*).

/// What the rate is divided by in any case.
const BELOW: f64 = 1.2;
/// `RATE_ADJUST_GAIN` and `FRAME_SIZE_DEV_ALPHA`, and the highest values that the draft lets each reach.
const GAIN: f64 = 1.0 / 16.0;
const WAITS_MOST: f64 = 0.5;
const ALPHA: f64 = 1.0 / 64.0;
const LARGER_MOST: f64 = 0.2;

/// `rate_adjust_factor` and `frame_size_dev`.
#[derive(Debug, Default)]
pub(super) struct Frames {
    waits: f64,
    larger: f64,
}

impl Frames {
    /// A frame was made, this many times as large as the rate says, when the first packet had waited
    /// so many seconds; a frame is made each `period` seconds.
    pub(super) fn follow(&mut self, period: f64, size: f64, waited: f64) {
        let error = (waited - period / 4.0) / period;
        self.waits = (self.waits + error * GAIN).clamp(0.0, WAITS_MOST);
        let larger = (size - 1.0).max(0.0);
        self.larger = (self.larger + ALPHA * (larger - self.larger)).min(LARGER_MOST);
    }

    /// What the rate is divided by.
    pub(super) fn divisor(&self) -> f64 {
        BELOW + self.waits + self.larger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(frames: usize, size: f64, waited: f64) -> f64 {
        let mut followed = Frames::default();
        (0..frames).for_each(|_| followed.follow(0.02, size, waited));
        followed.divisor()
    }

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
    }

    /// By hand, with frames each 20 ms: a packet that waits 15 ms, a quarter of a frame and half a frame,
    /// adds 0.5 / 16; without a wait nothing is subtracted from zero. It grows to 0.5 at most.
    #[test]
    fn packets_that_wait_lower_the_rate() {
        close(after(1, 1.0, 0.0), 1.2);
        close(after(1, 1.0, 0.015), 1.2 + 0.5 / 16.0);
        close(after(100, 1.0, 0.1), 1.2 + 0.5);
    }

    /// By hand: a frame of twice the size adds 1 / 64, one that is too small nothing; 0.2 at most.
    #[test]
    fn large_frames_lower_the_rate() {
        close(after(1, 2.0, 0.0), 1.2 + 1.0 / 64.0);
        close(after(1, 0.5, 0.0), 1.2);
        close(after(1000, 2.0, 0.0), 1.2 + 0.2);
    }
}
