//! The maximum delivery rate of the last rounds (draft, 4.1.1).

/// Rounds in the filter (Linux's `bbr_bw_rtts`).
pub(super) const ROUNDS: u64 = 10;

/// The maximum of each of the last rounds, in segments per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bandwidth {
    greatest: [f64; ROUNDS as usize],
    round: u64,
    best: f64,
}

impl Bandwidth {
    /// The estimate.
    pub(super) fn get(&self) -> f64 {
        self.best
    }

    /// Adds the sample of a round.
    pub(super) fn update(&mut self, round: u64, sample: f64) {
        if round == self.round {
            let place = &mut self.greatest[(round % ROUNDS) as usize];
            *place = place.max(sample);
            self.best = self.best.max(sample);
            return;
        }
        // rounds without a sample do not count
        for passed in self.round + 1..=round.min(self.round + ROUNDS) {
            self.greatest[(passed % ROUNDS) as usize] = 0.0;
        }
        if round > self.round + ROUNDS {
            self.greatest = [0.0; ROUNDS as usize];
        }
        self.round = round;
        let place = &mut self.greatest[(round % ROUNDS) as usize];
        *place = place.max(sample);
        self.best = self.greatest.iter().fold(0.0, |best, &one| one.max(best));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample counts in its round and the nine after it.
    #[test]
    fn a_sample_is_forgotten_after_ten_rounds() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.update(3, 100.0);
        bandwidth.update(3, 70.0);
        for round in 4..=12 {
            bandwidth.update(round, 50.0);
            assert_eq!(bandwidth.get(), 100.0, "{round}");
        }
        bandwidth.update(13, 60.0);
        assert_eq!(bandwidth.get(), 60.0);
        bandwidth.update(40, 10.0);
        assert_eq!(bandwidth.get(), 10.0);
    }
}
