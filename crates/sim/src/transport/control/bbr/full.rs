//! Whether the pipe is full: in three rounds the bandwidth has not grown by a quarter (draft,
//! 4.3.2.2).

const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

/// The growth of the bandwidth so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Full {
    bandwidth: f64,
    rounds: u32,
    reached: bool,
}

impl Full {
    /// Whether the pipe was found full.
    pub(super) fn reached(&self) -> bool {
        self.reached
    }

    /// A round begins with this bandwidth estimate.
    pub(super) fn update(&mut self, bandwidth: f64) {
        if self.reached {
            return;
        }
        if bandwidth >= self.bandwidth * GROWTH {
            self.bandwidth = bandwidth;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= ROUNDS;
    }

    /// After a timeout, growth is measured again.
    pub(super) fn forget(&mut self) {
        self.bandwidth = 0.0;
    }

    /// After a cut that was not needed, the rounds without growth are counted anew too.
    pub(super) fn begin_again(&mut self) {
        self.forget();
        self.rounds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 124 is below 125 % of 100, 125 is not; 130, 140 and 156 are below
    /// 125 % of 125, which is 156.25.
    #[test]
    fn three_flat_rounds_fill_the_pipe() {
        let mut full = Full::default();
        let found = [100.0, 124.0, 125.0, 130.0, 140.0, 156.0].map(|bandwidth| {
            full.update(bandwidth);
            full.reached()
        });
        assert_eq!(found, [false, false, false, false, false, true]);
    }
}
