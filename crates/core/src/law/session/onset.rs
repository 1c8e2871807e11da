//! The start of refusals: admitted sessions pile up.
//!
//! Laws measure completions or the utilisation of the link. A burst of a second
//! or a few long flows change these as an overload does, but need no refusals. In
//! an overload, sessions are admitted faster than they end, and an excess `P` of
//! open sessions builds up. Others wait in their handshakes, `H`: the queue dropped
//! their SYN or SYN+ACK, and it is sent again a second later. At the present pace
//! `D` all these would end in `(P + H) / D` epochs (Little's law). The law's
//! decisions come into force when that is longer than `onset` at the end of some
//! epochs in a row: sessions that have just begun had no time to end. They stay in
//! force until an epoch in which the law refuses nothing.
//!
//! | symbol | here      | unit           | value                                     |
//! |--------|-----------|----------------|-------------------------------------------|
//! | `a`    | `begun`   | sessions/epoch | admitted, and answered: more than SYNs was seen |
//! | `d`    | `ended`   | sessions/epoch | counted, resets included                  |
//! | `P`    | `pile`    | sessions       | `P <- max(0, P (1 - g) + a - d)`          |
//! | `D`    | `pace`    | sessions/epoch | `D <- D + g (d - D)`, or `d` where it is more |
//! | `H`    | `waiting` | sessions       | `a p / (1 - p)` an epoch, each for `AGAIN`: of all that were tried, `1 - p` began |
//! | `p`    | `lost`    | 1              | the share of the packets that the queue dropped |
//! | `g`    | `share`   | 1              | an epoch of `MEMORY`, which is 10 s       |
//! | -      | `wait`    | s              | `onset`, 2                                |
//!
//! Where answers are not counted, `a` is the number of admitted sessions. Where they are, a session
//! from a forged address does not count, as nothing follows its SYN.
//!
//! Where handshakes are lost, `P` alone is small however many come: beside downloads, pages of eleven
//! connections lost 56 % of their packets, and without `H` no law came into force (a test,
//! `crates/sim/tests/clients.rs`). `H` follows from what has begun, not from the SYNs, of which some
//! may be forged.
//!
//! **How soon.** After two such epochs, if TCP cannot share the link. That shows in one of two ways.
//! The queue loses a packet in twenty or more in both epochs: at 5 % the mean window is 0.87/sqrt(p),
//! four packets (Mathis, Semke, Mahdavi and Ott, CCR 1997, with delayed acknowledgements), so that
//! three duplicate acknowledgements do not come, and a loss costs a timeout. Or the link does not
//! carry an initial window (RFC 6928) of each of the `P` in a round trip with its queue
//! (`ROUND_TRIP`); behind a full link, a shaper a little below its rate loses little. Else what piles
//! up may be connections that stay open, and it must do so for `MEMORY`: people who came at once were
//! refused at links whose load they could share (`people_who_come_at_once_are_not_refused`,
//! `crates/sim/tests/guests.rs`).
//!
//! `P` decays: a session that began long ago is a long one, or its end was not
//! seen. While its decisions are not in force, the law still runs on the counts.
//!
//! Limits: an overload below a fifth (`wait / MEMORY`) is not detected until its
//! losses make clients send openers again. Losses at another queue, and marks (ECN) in
//! place of losses, are not seen: the pile alone must show it, or last for `MEMORY`. Every overload is detected `wait` later.

use crate::law::{Controller, Decision, Fault, Step, View};
use crate::units::{Rate, Time};

use super::{Counts, Knobs, PACKET};

/// Time constant of the pile and the pace, and how long a pile must last where little is lost.
const MEMORY: Time = Time::from_secs(10);
/// How long a lost SYN or SYN+ACK waits at least: the first timeout (RFC 6298, 2.1).
const AGAIN: Time = Time::from_secs(1);
/// Smaller piles are ignored.
const FEWEST: f64 = 8.0;
/// Packets that a session sends at once (RFC 6928; chosen by looking at results, as `LEAST_LOST`:
/// docs/studies/users/notes.md).
const INITIAL_WINDOW: f64 = 10.0;
/// Share of the packets that is lost at least where windows are below four packets.
const LEAST_LOST: f64 = 0.05;
/// A round trip with its queue: what a flow is young for ([`super::young`]).
const ROUND_TRIP: Time = Time::from_ms(300);

/// What was seen in an epoch.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObservedEpoch {
    /// Sessions that began: `a`.
    pub begun: u64,
    /// Sessions that ended, resets included: `d`.
    pub ended: u64,
    /// Openers that were refused.
    pub refused: u64,
    /// The share of the packets that the queue dropped: `p`.
    pub lost: f64,
    /// The rate of the link.
    pub rate: Rate,
}

/// Watches whether admitted sessions pile up.
#[derive(Clone, Debug)]
pub struct Onset {
    /// How long the pile must take to end; zero: decisions are always in force.
    pub wait: Time,
    pile: f64,
    pace: f64,
    /// How long the pile has been too large.
    piled: Time,
    /// Whether it was in the last epoch, and two of these are enough.
    soon: bool,
    obeyed: bool,
}

impl Onset {
    /// No epoch so far.
    pub fn new(wait: Time) -> Onset {
        Onset { wait, pile: 0.0, pace: 0.0, piled: Time::ZERO, soon: false, obeyed: false }
    }

    /// Whether the law's decisions are in force; else everything passes.
    pub fn obeyed(&self) -> bool {
        self.obeyed || self.wait == Time::ZERO
    }

    /// An epoch of that length has ended. `flood`: a flood is suspected, and refusals do not begin.
    pub fn epoch(&mut self, seen: &ObservedEpoch, length: Time, flood: bool) {
        let (a, d) = (seen.begun as f64, seen.ended as f64);
        let share = (length.secs() / MEMORY.secs()).min(1.0);
        self.pile = (self.pile * (1.0 - share) + a - d).max(0.0);
        self.pace += share * (d - self.pace);
        let border = self.wait.secs() / length.secs() * self.pace.max(d);
        let failed = a * seen.lost / (1.0 - seen.lost).max(f64::EPSILON);
        let waiting = failed * (AGAIN.secs() / length.secs());
        let piled = self.pile + waiting > border.max(FEWEST);
        self.piled = if piled { self.piled.saturating_add(length) } else { Time::ZERO };
        let shared = seen.rate.bytes_per_s() * ROUND_TRIP.secs() / (INITIAL_WINDOW * PACKET);
        let soon = piled && (seen.lost >= LEAST_LOST || self.pile > shared);
        let begins = (soon && self.soon) || self.piled > MEMORY;
        self.obeyed = (begins && !flood) || (self.obeyed && seen.refused > 0);
        self.soon = soon;
    }
}

/// A law whose decisions come into force once sessions pile up.
pub struct AtOnset {
    law: Box<dyn Controller<Knobs, Counts>>,
    /// What the law sets.
    knobs: Knobs,
    onset: Onset,
    /// Whether the datapath counts answered sessions.
    answers: bool,
    began: Time,
}

impl AtOnset {
    /// Around a law that has not started.
    pub fn new(law: Box<dyn Controller<Knobs, Counts>>, wait: Time, answers: bool) -> AtOnset {
        let (knobs, began) = (Knobs::default(), Time::ZERO);
        AtOnset { law, knobs, onset: Onset::new(wait), answers, began }
    }

    /// What is in force of what the law set.
    fn in_force(&self) -> Knobs {
        let mut knobs = self.knobs;
        if !self.onset.obeyed() {
            knobs.open();
        }
        knobs
    }
}

impl Controller<Knobs, Counts> for AtOnset {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        self.began = now;
        let first = self.law.start(now, &mut self.knobs)?;
        *knobs = self.in_force();
        Ok(first)
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let seen = ObservedEpoch {
            begun: if self.answers { counts.answered } else { counts.kept() },
            ended: counts.ended().saturating_add(counts.resets),
            refused: counts.refused(),
            lost: view.lost(),
            rate: view.rate,
        };
        self.onset.epoch(&seen, now.saturating_sub(self.began), false);
        self.began = now;
        let (next, decision) = self.law.update(now, view, counts, &mut self.knobs)?;
        *knobs = self.in_force();
        let decision = decision.map(|decision| match self.onset.obeyed() {
            true => decision,
            false => Decision { phase: "before onset", set: f64::INFINITY, ..decision },
        });
        Ok((next, decision))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixed_rate::{self, FixedRate};
    use super::*;
    use crate::law::queue::Waiting;
    use crate::units::{Frequency, Rate};

    const EPOCH: Time = Time::from_secs(1);
    /// Of a link that has ten packets in a round trip for each of 25,000 sessions.
    const FAST: Rate = Rate::from_bps(10_000_000_000);

    fn onset() -> Onset {
        Onset::new(Time::from_secs(2))
    }

    /// A queue that drops a packet of sixteen: above `LEAST_LOST`, and next to no handshake waits.
    fn seen(begun: u64, ended: u64, refused: u64) -> ObservedEpoch {
        ObservedEpoch { begun, ended, refused, lost: 0.0625, rate: FAST }
    }

    // The same pile at a loss of 4 %, where windows are above four packets, must last for more than
    // ten seconds, and without a gap.
    #[test]
    fn a_pile_must_last_where_little_is_lost() {
        for (lost, epochs) in [(0.05, 2), (0.04, 11), (0.0, 11)] {
            let mut onset = onset();
            let piling = ObservedEpoch { lost, ..seen(340, 110, 0) };
            let began = (1..30).find(|_| {
                onset.epoch(&piling, EPOCH, false);
                onset.obeyed()
            });
            assert_eq!(began, Some(epochs), "{lost}");
        }
        let mut onset = onset();
        for epoch in 1..30 {
            // every ninth ends all
            let ended = if epoch % 9 == 0 { 5_000 } else { 110 };
            onset.epoch(&ObservedEpoch { lost: 0.0, ..seen(340, ended, 0) }, EPOCH, false);
            assert!(!onset.obeyed(), "{epoch}");
        }
    }

    // By hand: 180 Mbit/s carry 4500 packets in 0.3 s, ten of each of 450 sessions. P is 230 and then
    // 437, and 623 after the third epoch. At 90 Mbit/s it is 225 sessions.
    #[test]
    fn a_pile_of_which_each_has_less_than_an_initial_window_is_an_overload_at_once() {
        for (rate, epochs) in [(180_000_000, 4), (90_000_000, 2), (FAST.bps(), 11)] {
            let mut onset = onset();
            let piling =
                ObservedEpoch { lost: 0.0, rate: Rate::from_bps(rate), ..seen(340, 110, 0) };
            let began = (1..30).find(|_| {
                onset.epoch(&piling, EPOCH, false);
                onset.obeyed()
            });
            assert_eq!(began, Some(epochs), "{rate}");
        }
    }

    // By hand: 340 come and 110 end. P is 230, then 230 x 0.9 + 230 = 437; the border is 2 x 110.
    #[test]
    fn three_times_what_ends_is_an_overload_after_two_epochs() {
        let mut onset = onset();
        onset.epoch(&seen(340, 110, 0), EPOCH, false);
        assert!(!onset.obeyed(), "they have only just begun");
        onset.epoch(&seen(340, 110, 0), EPOCH, false);
        assert!(onset.obeyed());
    }

    // By hand: at 100 a second with 30 under way at any time, P is 30 and a swing at most, the
    // border 170 and more.
    #[test]
    fn sessions_that_end_as_they_come_are_none() {
        let mut onset = onset();
        onset.epoch(&seen(100, 70, 0), EPOCH, false);
        for second in 0..100 {
            // it swings by fifteen, to and fro
            let swing = if second % 2 == 0 { 15 } else { 0 };
            onset.epoch(&seen(100 + swing, 85 + swing, 0), EPOCH, false);
            onset.epoch(&seen(85, 100, 0), EPOCH, false);
            assert!(!onset.obeyed(), "{second}");
        }
    }

    // By hand: sixty long flows among 20 sessions a second are a pile of 60, then of 54, over a
    // border of 40; forgotten by a tenth a second it is below 40 two epochs later.
    #[test]
    fn long_flows_are_forgotten() {
        let mut onset = onset();
        onset.epoch(&seen(20, 20, 0), EPOCH, false);
        onset.epoch(&seen(80, 20, 0), EPOCH, false);
        onset.epoch(&seen(20, 20, 0), EPOCH, false);
        assert!(onset.obeyed(), "sixty at once are an excess at first");
        for _ in 0..4 {
            onset.epoch(&seen(20, 20, 1), EPOCH, false);
            assert!(onset.obeyed(), "the law decides while it refuses");
        }
        onset.epoch(&seen(20, 20, 0), EPOCH, false);
        assert!(!onset.obeyed(), "60 x 0.9^6 is 32");
    }

    // Half a second's epochs, by hand. 28 begin and end in each, so P stays 0 and the border is
    // 4 x 28 = 112. Of four packets three are lost: of 112 tries 84 failed, and 168 wait for a second.
    // Of two packets one: 28 of 56 tries, and 56 wait. Nothing begins, and all is lost: none.
    #[test]
    fn handshakes_that_are_lost_are_an_overload() {
        for (begun, lost, found) in [(28, 0.75, true), (28, 0.5, false), (0, 1.0, false)] {
            let mut onset = onset();
            for _ in 0..2 {
                let seen = ObservedEpoch { begun, ended: begun, refused: 0, lost, rate: FAST };
                onset.epoch(&seen, Time::from_ms(500), false);
            }
            assert_eq!(onset.obeyed(), found, "{begun} begin, {lost} lost");
        }
    }

    // Half a second's epochs, by hand: 170 come and 55 end in each, so P is 115 and then 224, over
    // a border of 4 x 55 = 220, and the next one too.
    #[test]
    fn the_length_of_an_epoch_does_not_matter() {
        let mut onset = onset();
        let obeyed = [1, 2, 3].map(|_| {
            onset.epoch(&seen(170, 55, 0), Time::from_ms(500), false);
            onset.obeyed()
        });
        assert_eq!(obeyed, [false, false, true]);
    }

    #[test]
    fn refusing_does_not_begin_in_a_flood() {
        let mut onset = onset();
        for _ in 0..5 {
            onset.epoch(&seen(10_000, 20, 0), EPOCH, true);
            assert!(!onset.obeyed());
        }
        onset.epoch(&seen(340, 110, 0), EPOCH, false);
        assert!(onset.obeyed());
    }

    // The law allows one session an epoch. 340 come, 110 end and 340 are answered: as above, the law
    // is in force behind the second epoch; without answers, of forged sessions, never.
    #[test]
    fn a_law_is_in_force_once_sessions_pile_up() {
        for (answered, in_force) in [(340, [false, true]), (0, [false, false])] {
            let config = fixed_rate::Config { rate: Frequency::per_s(1.0), ..Default::default() };
            let law = Box::new(FixedRate::new(config));
            let mut law = AtOnset::new(law, Time::from_secs(2), true);
            let mut knobs = Knobs::default();
            let mut now = law.start(Time::ZERO, &mut knobs).expect("it starts");
            assert_ne!(knobs.pass_all, 0);
            let found = [1, 2].map(|_| {
                let counts = Counts {
                    arrived: 340,
                    admitted: 340,
                    departed: 110,
                    answered,
                    ..Counts::default()
                };
                let (next, decision) = law
                    .update(now, &view(&Waiting::default()), &counts, &mut knobs)
                    .expect("it decides");
                now = next;
                let decision = decision.expect("it decides");
                assert_eq!(decision.set.is_finite(), knobs.pass_all == 0);
                knobs.pass_all == 0
            });
            assert_eq!(found, in_force);
        }
    }

    fn view(queued: &Waiting) -> View<'_> {
        View {
            rate: Rate::from_bps(10_000_000),
            queue_packets: 0,
            queue_bytes: 0,
            min_queue_packets: 0,
            queue_offered: 16,
            queue_drops: 1,
            busy: Time::ZERO,
            idle_since: None,
            queued,
        }
    }

    #[test]
    fn without_a_wait_the_law_is_always_obeyed() {
        let mut onset = Onset::new(Time::ZERO);
        assert!(onset.obeyed());
        onset.epoch(&seen(10, 10, 0), EPOCH, false);
        assert!(onset.obeyed());
    }
}
