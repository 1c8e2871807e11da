//! Careful Resume (RFC 9959): a connection begins with half of the window of an earlier one.
//!
//! | symbol      | here       | meaning                                                 | unit     |
//! |-------------|------------|---------------------------------------------------------|----------|
//! | saved_cwnd  | `saved`    | window of the earlier connection                        | segments |
//! | saved_rtt   | `rtt`      | its least round trip                                    | s        |
//! | max_jump    | `most`     | largest window to jump to                               | segments |
//! | jump_cwnd   | `jump`     | min(max_jump, saved_cwnd / 2) (3.3)                     | segments |
//! | IW          | `initial`  | initial window                                          | segments |
//! | PipeSize    | `pipe`     | what the path is known to carry                         | segments |
//! | Beta        | `BETA`     | 0.5: share of PipeSize that is the threshold after a retreat (3.5) | 1 |
//! | ITT         | `gap`      | round trip / jump_cwnd: time between packets (4.3.2)    | s        |
//!
//! An example of the RFC (A.2.4) keeps the initial window in a retreat, which its rule (3.5) does not
//! allow; here it is as the rule has it.
//!
//! Departures: the saved values are settings of the class, so they have no lifetime, and each
//! connection of the class uses them. A class has one path. Where the profile has proportional rate
//! reduction, it spreads a retreat over the recovery, for which 4.5 finds it not appropriate.

use tidegate_core::units::Time;
use tidegate_model::profile::Tcp;

use super::super::RateSample;

const BETA: f64 = 0.5;
/// The least window of a transport (RFC 9002, 7.2).
const LEAST: f64 = 2.0;

/// The phases (3.2 to 3.5); outside of them the control is on its own.
#[derive(Clone, Copy, PartialEq, Debug)]
enum ResumePhase {
    /// The initial window is acknowledged as ever.
    Reconnaissance,
    /// What is beyond the window of the control is sent, from segment `first` on.
    Unvalidated {
        first: u64,
        since: Time,
    },
    /// What was sent so, up to `last`, is acknowledged.
    Validating {
        last: u64,
    },
    /// Some of it was lost.
    SafeRetreat {
        last: u64,
    },
    Normal,
}

/// What becomes of the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Effect {
    /// What the control says.
    Control,
    /// It does not grow.
    Hold,
    /// It becomes this.
    Window(f64),
    /// The retreat is over: it does not grow, and the slow-start threshold becomes this.
    Threshold(f64),
}

/// The state of Careful Resume.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resume {
    rtt: Time,
    jump: f64,
    initial: f64,
    phase: ResumePhase,
    acked: f64,
    least: Time,
    pipe: f64,
    /// Segments in flight at the jump whose acknowledgement is still to come.
    earlier: f64,
    gap: Time,
}

impl Resume {
    /// A new connection, if its class has saved values.
    pub(super) fn new(tcp: &Tcp) -> Option<Resume> {
        let saved = tcp.resume.window;
        (saved < u32::MAX).then(|| Resume {
            rtt: tcp.resume.rtt,
            jump: (f64::from(saved) / 2.0).min(f64::from(tcp.resume.max_jump)),
            initial: f64::from(tcp.initial_window),
            phase: ResumePhase::Reconnaissance,
            acked: 0.0,
            least: Time::NEVER,
            pipe: 0.0,
            earlier: 0.0,
            gap: Time::ZERO,
        })
    }

    /// Shortest time between two packets in the unvalidated phase.
    pub(super) fn gap(&self) -> Option<Time> {
        matches!(self.phase, ResumePhase::Unvalidated { .. }).then_some(self.gap)
    }

    /// An acknowledgement; `cwnd`: the window that the control has after it.
    pub(super) fn on_ack(&mut self, sample: &RateSample<'_>, cwnd: f64) -> Effect {
        let delivered = f64::from(sample.delivered);
        // appendix A: what was in flight at the jump is in PipeSize already
        let known = delivered.min(self.earlier);
        self.earlier -= known;
        self.pipe += delivered - known;
        match self.phase {
            ResumePhase::Reconnaissance => {
                self.acked += delivered;
                if sample.rtt > Time::ZERO {
                    self.least = self.least.min(sample.rtt);
                }
                if self.acked >= self.initial {
                    self.confirm(sample, cwnd)
                } else {
                    Effect::Control
                }
            }
            ResumePhase::Unvalidated { first, since } => {
                let late = sample.now.saturating_sub(since) > sample.srtt;
                if sample.una > first || late {
                    return self.check(f64::from(sample.flight), sample.sent);
                }
                Effect::Hold
            }
            ResumePhase::Validating { last } => {
                if sample.una >= last {
                    self.phase = ResumePhase::Normal;
                }
                Effect::Control
            }
            ResumePhase::SafeRetreat { last } if sample.una >= last => {
                self.phase = ResumePhase::Normal;
                Effect::Threshold(self.pipe * BETA)
            }
            ResumePhase::SafeRetreat { .. } => Effect::Hold,
            ResumePhase::Normal => Effect::Control,
        }
    }

    /// The initial window has arrived (3.2): jump, if the path looks like the earlier one (4.2.1).
    fn confirm(&mut self, sample: &RateSample<'_>, cwnd: f64) -> Effect {
        let other = self.least <= self.rtt / 2 || self.least > self.rtt * 10;
        if other || self.jump <= cwnd {
            self.phase = ResumePhase::Normal;
            return Effect::Control;
        }
        self.phase = ResumePhase::Unvalidated { first: sample.sent, since: sample.now };
        self.pipe = f64::from(sample.flight);
        self.earlier = self.pipe;
        let rtt = if sample.rtt > Time::ZERO { sample.rtt } else { sample.srtt };
        self.gap = Time::from_secs_f64(rtt.secs() / self.jump);
        Effect::Window(self.jump)
    }

    /// A packet leaves; with it, `flight` segments are in flight, and `sent` is the segment behind.
    pub(super) fn on_sent(&mut self, flight: u32, sent: u64) -> Effect {
        let full = f64::from(flight) >= self.jump.floor();
        match self.phase {
            ResumePhase::Unvalidated { .. } if full => self.check(f64::from(flight), sent),
            _ => Effect::Control,
        }
    }

    /// The end of the unvalidated phase (3.3): a sender that did not use the window gives it back.
    fn check(&mut self, flight: f64, sent: u64) -> Effect {
        if flight < self.initial || flight <= self.pipe {
            self.phase = ResumePhase::Normal;
            return Effect::Window(self.pipe.max(self.initial));
        }
        self.phase = ResumePhase::Validating { last: sent };
        Effect::Window(flight)
    }

    /// A loss or a mark (3.2 to 3.5); `sent`: the segment after the last one sent.
    pub(super) fn on_congestion(&mut self, sent: u64) -> Effect {
        let last = match self.phase {
            ResumePhase::Unvalidated { .. } => sent,
            ResumePhase::Validating { last } => last,
            ResumePhase::SafeRetreat { .. } => return Effect::Hold,
            ResumePhase::Reconnaissance | ResumePhase::Normal => {
                self.phase = ResumePhase::Normal;
                return Effect::Control;
            }
        };
        self.phase = ResumePhase::SafeRetreat { last };
        Effect::Window((self.pipe / 2.0).max(LEAST))
    }

    /// The retransmission timer expired (3.6).
    pub(super) fn stop(&mut self) {
        self.phase = ResumePhase::Normal;
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::{Profile, Resume as Saved};

    use super::super::verdict::ack;
    use super::*;

    fn resume(window: u32, max_jump: u32) -> Resume {
        let resume = Saved { window, rtt: Time::from_ms(100), max_jump };
        Resume::new(&Tcp { resume, ..Profile::Linux.tcp() }).unwrap()
    }

    /// The initial window of ten comes, in one ACK, with 20 in flight after it and 30 sent.
    fn confirmed(resume: &mut Resume, rtt: u64) -> Effect {
        let sample = RateSample { delivered: 10, flight: 20, ..ack(rtt, rtt, 10, 30) };
        resume.on_ack(&sample, 20.0)
    }

    /// 3.3 and 4.3.2, by hand: of 400 segments 200 are taken, or `max_jump`; over a round trip of
    /// 100 ms they leave every 0.5 ms.
    #[test]
    fn it_jumps_to_half_of_the_saved_window_and_paces() {
        for (most, jump, gap_us) in [(u32::MAX, 200.0, 500), (100, 100.0, 1000)] {
            let mut resume = resume(400, most);
            assert_eq!(confirmed(&mut resume, 100), Effect::Window(jump));
            assert_eq!(resume.gap(), Some(Time::from_ps(gap_us * 1_000_000)));
        }
    }

    /// 3.2 and 4.2.1: no jump where the round trip is at most half of the saved 100 ms, or more than
    /// ten times that; nor where the window is as large already.
    #[test]
    fn a_path_that_looks_different_is_not_jumped_on() {
        for (rtt, jumps) in [(50, false), (51, true), (1000, true), (1001, false)] {
            let effect = confirmed(&mut resume(400, u32::MAX), rtt);
            assert_eq!(effect != Effect::Control, jumps, "{rtt} ms");
        }
        assert_eq!(confirmed(&mut resume(40, u32::MAX), 100), Effect::Control);
    }

    /// 3.3: with 200 in flight everything unvalidated is sent, up to segment 210; when it is
    /// acknowledged (3.4) the control is on its own.
    #[test]
    fn what_was_sent_is_validated_by_its_last_acknowledgement() {
        let mut resume = resume(400, u32::MAX);
        confirmed(&mut resume, 100);
        assert_eq!(resume.on_sent(199, 209), Effect::Control);
        assert_eq!(resume.on_sent(200, 210), Effect::Window(200.0));
        resume.on_ack(&ack(200, 100, 209, 400), 210.0);
        assert_eq!(resume.phase, ResumePhase::Validating { last: 210 });
        resume.on_ack(&ack(200, 100, 210, 400), 211.0);
        assert_eq!(resume.phase, ResumePhase::Normal);
    }

    /// 3.3, by hand: 20 in flight at the jump and 15 acknowledged behind them make a PipeSize of 35;
    /// with no more in flight the window was not used, and is 35.
    #[test]
    fn a_window_that_is_not_used_is_given_back() {
        for (flight, window) in [(35, 35.0), (36, 36.0)] {
            let mut resume = resume(400, u32::MAX);
            confirmed(&mut resume, 100);
            let sample = RateSample { delivered: 35, flight, ..ack(200, 100, 45, 90) };
            assert_eq!(resume.on_ack(&sample, 20.0), Effect::Window(window));
            assert_eq!(resume.phase == ResumePhase::Normal, flight == 35);
        }
    }

    /// The example of the RFC with a loss: of a saved window of 300 half is taken, with 29 in
    /// flight. 121 unvalidated packets leave; the acknowledgements of 34 of them make a PipeSize of
    /// 63, so the window is 31.5 after the loss, and stays so. The other 86 arrive: the threshold is
    /// half of 149 (the RFC speaks of 120, without the 29).
    #[test]
    fn a_loss_makes_it_retreat() {
        let mut resume = resume(300, u32::MAX);
        let first = RateSample { delivered: 10, flight: 29, ..ack(100, 100, 10, 39) };
        assert_eq!(resume.on_ack(&first, 20.0), Effect::Window(150.0));
        assert_eq!(resume.on_sent(150, 160), Effect::Window(150.0));
        let more = |delivered, una| RateSample { delivered, ..ack(200, 100, una, 270) };
        resume.on_ack(&more(29, 39), 150.0);
        resume.on_ack(&more(34, 73), 150.0);
        assert_eq!(resume.on_congestion(270), Effect::Window(31.5));
        assert_eq!(resume.on_congestion(270), Effect::Hold);
        assert_eq!(resume.on_ack(&more(85, 73), 31.5), Effect::Hold);
        assert_eq!(resume.on_ack(&more(1, 160), 31.5), Effect::Threshold(74.5));
    }

    /// 3.5: at most half of what the path is known to carry, also where that is less than the initial
    /// window: 12 in flight at the jump leave 6. Nothing known leaves two.
    #[test]
    fn a_retreat_halves_the_pipe_below_the_initial_window_too() {
        let mut resume = resume(400, u32::MAX);
        let first = RateSample { delivered: 10, flight: 12, ..ack(100, 100, 10, 22) };
        resume.on_ack(&first, 11.0);
        assert_eq!(resume.on_congestion(30), Effect::Window(6.0));
        resume.phase = ResumePhase::Unvalidated { first: 22, since: Time::ZERO };
        resume.pipe = 0.0;
        assert_eq!(resume.on_congestion(30), Effect::Window(2.0));
    }

    /// 3.2: a loss in the reconnaissance phase ends it; there is no jump afterwards.
    #[test]
    fn a_loss_of_the_initial_window_ends_it() {
        let mut resume = resume(400, u32::MAX);
        assert_eq!(resume.on_congestion(10), Effect::Control);
        assert_eq!(confirmed(&mut resume, 100), Effect::Control);
    }
}
