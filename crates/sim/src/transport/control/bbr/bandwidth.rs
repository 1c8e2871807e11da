//! The maximum delivery rate of the last rounds (draft, 4.1.1).

/// Rounds in the filter. Linux drops what is more than `bbr_bw_rtts` rounds old, so that a sample
/// counts in its round and in ten more (`minmax_subwin_update`).
pub(super) const ROUNDS: u64 = 10;
const MOST: u64 = ROUNDS + 1;

/// The maximum of each of the last rounds, in segments per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bandwidth {
    /// Rounds in the filter.
    rounds: u64,
    greatest: [f64; MOST as usize],
    round: u64,
    /// That of this round among the greatest.
    place: usize,
    best: f64,
}

impl Bandwidth {
    /// Nothing was measured; a sample counts in so many rounds, its own included.
    pub(super) fn new(rounds: u64) -> Bandwidth {
        Bandwidth { rounds, greatest: [0.0; MOST as usize], round: 0, place: 0, best: 0.0 }
    }

    /// The estimate.
    pub(super) fn get(&self) -> f64 {
        self.best
    }

    /// Adds the sample of a round.
    pub(super) fn update(&mut self, round: u64, sample: f64) {
        if round == self.round {
            let place = &mut self.greatest[self.place];
            *place = place.max(sample);
            self.best = self.best.max(sample);
            return;
        }
        // rounds without a sample do not count
        for passed in self.round + 1..=round.min(self.round + self.rounds) {
            self.greatest[(passed % self.rounds) as usize] = 0.0;
        }
        if round > self.round + self.rounds {
            self.greatest = [0.0; MOST as usize];
        }
        (self.round, self.place) = (round, (round % self.rounds) as usize);
        let place = &mut self.greatest[self.place];
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
        let mut bandwidth = Bandwidth::new(ROUNDS);
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
        let mut linux = Bandwidth::new(ROUNDS + 1);
        linux.update(3, 100.0);
        linux.update(13, 60.0);
        assert_eq!(linux.get(), 100.0);
        linux.update(14, 60.0);
        assert_eq!(linux.get(), 60.0);
    }
}
