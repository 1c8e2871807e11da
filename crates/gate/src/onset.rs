//! The start of refusals: admitted sessions pile up.
//!
//! Laws measure completions or the utilisation of the link. A burst of a second
//! or a few long flows change these as an overload does, but need no refusals. In
//! an overload, sessions are admitted faster than they end, and an excess `P` of
//! open sessions builds up. At the present pace `D` it would end in `P / D` epochs
//! (Little's law). The law's decisions come into force when that is longer than
//! `onset` at the end of two epochs in a row: sessions that have just begun had no
//! time to end. They stay in force until an epoch in which the law refuses nothing.
//!
//! | symbol | here      | unit           | value                                     |
//! |--------|-----------|----------------|-------------------------------------------|
//! | `a`    | `begun`   | sessions/epoch | admitted, and answered: more than SYNs was seen |
//! | `d`    | `ended`   | sessions/epoch | counted, resets included                  |
//! | `P`    | `pile`    | sessions       | `P <- max(0, P (1 - g) + a - d)`          |
//! | `D`    | `pace`    | sessions/epoch | `D <- D + g (d - D)`, or `d` where it is more |
//! | `g`    | `share`   | 1              | an epoch of `MEMORY`, which is 10 s       |
//! | -      | `wait`    | s              | `onset`, 2                                |
//!
//! Where answers are not counted, `a` is the number of admitted sessions. Where they are, a session
//! from a forged address does not count, as nothing follows its SYN.
//!
//! `P` decays: a session that began long ago is a long one, or its end was not
//! seen. While its decisions are not in force, the law still runs on the counts.
//!
//! Limits: an overload below a fifth (`wait / MEMORY`) is not detected until its
//! losses make clients send openers again. Every overload is detected `wait` later.

use tidegate_core::units::Time;

/// Time constant of the pile and the pace.
const MEMORY: Time = Time::from_secs(10);
/// Smaller piles are ignored.
const FEWEST: f64 = 8.0;

/// Watches whether admitted sessions pile up.
#[derive(Clone, Debug)]
pub struct Onset {
    /// How long the pile must take to end; zero: decisions are always in force.
    pub wait: Time,
    pile: f64,
    pace: f64,
    /// Whether the pile was too large at the end of the last epoch.
    piled: bool,
    obeyed: bool,
}

impl Onset {
    /// No epoch so far.
    pub fn new(wait: Time) -> Onset {
        Onset { wait, pile: 0.0, pace: 0.0, piled: false, obeyed: false }
    }

    /// Whether the law's decisions are in force; else everything passes.
    pub fn obeyed(&self) -> bool {
        self.obeyed || self.wait == Time::ZERO
    }

    /// An epoch of that length has ended; `refused` openers were refused in it.
    /// `flood`: a flood is suspected, and refusals do not begin.
    pub fn epoch(&mut self, begun: u64, ended: u64, refused: u64, length: Time, flood: bool) {
        let (a, d) = (begun as f64, ended as f64);
        let share = (length.secs() / MEMORY.secs()).min(1.0);
        self.pile = (self.pile * (1.0 - share) + a - d).max(0.0);
        self.pace += share * (d - self.pace);
        let border = self.wait.secs() / length.secs() * self.pace.max(d);
        let piled = self.pile > border.max(FEWEST);
        self.obeyed = (piled && self.piled && !flood) || (self.obeyed && refused > 0);
        self.piled = piled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: Time = Time::from_secs(1);

    fn onset() -> Onset {
        Onset::new(Time::from_secs(2))
    }

    // By hand: 340 come and 110 end. P is 230, then 230 x 0.9 + 230 = 437; the border is 2 x 110.
    #[test]
    fn three_times_what_ends_is_an_overload_after_two_epochs() {
        let mut onset = onset();
        onset.epoch(340, 110, 0, EPOCH, false);
        assert!(!onset.obeyed(), "they have only just begun");
        onset.epoch(340, 110, 0, EPOCH, false);
        assert!(onset.obeyed());
    }

    // By hand: at 100 a second with 30 under way at any time, P is 30 and a swing at most, the
    // border 170 and more.
    #[test]
    fn sessions_that_end_as_they_come_are_none() {
        let mut onset = onset();
        onset.epoch(100, 70, 0, EPOCH, false);
        for second in 0..100 {
            // it swings by fifteen, to and fro
            let swing = if second % 2 == 0 { 15 } else { 0 };
            onset.epoch(100 + swing, 85 + swing, 0, EPOCH, false);
            onset.epoch(85, 100, 0, EPOCH, false);
            assert!(!onset.obeyed(), "{second}");
        }
    }

    // By hand: sixty long flows among 20 sessions a second are a pile of 60, then of 54, over a
    // border of 40; forgotten by a tenth a second it is below 40 two epochs later.
    #[test]
    fn long_flows_are_forgotten() {
        let mut onset = onset();
        onset.epoch(20, 20, 0, EPOCH, false);
        onset.epoch(80, 20, 0, EPOCH, false);
        onset.epoch(20, 20, 0, EPOCH, false);
        assert!(onset.obeyed(), "sixty at once are an excess at first");
        for _ in 0..4 {
            onset.epoch(20, 20, 1, EPOCH, false);
            assert!(onset.obeyed(), "the law decides while it refuses");
        }
        onset.epoch(20, 20, 0, EPOCH, false);
        assert!(!onset.obeyed(), "60 x 0.9^6 is 32");
    }

    // Half a second's epochs, by hand: 170 come and 55 end in each, so P is 115 and then 224, over
    // a border of 4 x 55 = 220, and the next one too.
    #[test]
    fn the_length_of_an_epoch_does_not_matter() {
        let mut onset = onset();
        let obeyed = [1, 2, 3].map(|_| {
            onset.epoch(170, 55, 0, Time::from_ms(500), false);
            onset.obeyed()
        });
        assert_eq!(obeyed, [false, false, true]);
    }

    #[test]
    fn refusing_does_not_begin_in_a_flood() {
        let mut onset = onset();
        for _ in 0..5 {
            onset.epoch(10_000, 20, 0, EPOCH, true);
            assert!(!onset.obeyed());
        }
        onset.epoch(340, 110, 0, EPOCH, false);
        assert!(onset.obeyed());
    }

    #[test]
    fn without_a_wait_the_law_is_always_obeyed() {
        let mut onset = Onset::new(Time::ZERO);
        assert!(onset.obeyed());
        onset.epoch(10, 10, 0, EPOCH, false);
        assert!(onset.obeyed());
    }
}
