//! The gain cycle of PROBE_BW: 1.25 for a round trip, 0.75 to empty the queue again, then 1 for six
//! round trips (draft, 4.3.4).

use tidegate_core::units::Time;

/// Pacing gains.
pub(super) const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// The current phase of the cycle, and its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    phase: usize,
    since: Time,
}

impl Cycle {
    /// The cycle may begin in any phase but the one that empties the queue.
    pub(super) fn begin(now: Time) -> Cycle {
        // flows that start at different times must not probe together
        let mixed = (now.ps() ^ (now.ps() >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let phase = match (mixed >> 32) % 7 {
            0 => 0,
            later => later as usize + 1,
        };
        Cycle { phase, since: now }
    }

    /// The pacing gain.
    pub(super) fn gain(&self) -> f64 {
        GAINS[self.phase]
    }

    /// Whether this phase probes for more bandwidth.
    pub(super) fn is_probing(&self) -> bool {
        self.phase == 0
    }

    /// An acknowledgement, before which `flight` segments were in flight (as of the next
    /// departure). A phase ends after a round trip. `gains`: the gain in use, which may not be that
    /// of the phase, and how many segments in flight a gain is worth. Above 1 a phase lasts until
    /// those of its gain are in flight, or one is lost; below 1 it ends early with those of a gain of
    /// 1.
    pub(super) fn update(
        &mut self,
        now: Time,
        flight: f64,
        losses: u32,
        min_rtt: Option<Time>,
        (gain, inflight): (f64, impl Fn(f64) -> f64),
    ) {
        let long = now.saturating_sub(self.since) > min_rtt.unwrap_or(Time::ZERO);
        let over = if gain > 1.0 {
            long && (losses > 0 || flight >= inflight(gain))
        } else {
            long || (gain < 1.0 && flight <= inflight(1.0))
        };
        if over {
            *self = Cycle { phase: (self.phase + 1) % GAINS.len(), since: now };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand with a round trip of 10 ms, 125 in flight wanted and 100 to be left: the
    /// probe holds until 125 are out, the drain ends at 100, each other phase takes a round trip.
    #[test]
    fn eight_phases_in_order() {
        let (ms, rtt) = (Time::from_ms, Some(Time::from_ms(10)));
        let mut cycle = Cycle { phase: 0, since: Time::ZERO };
        let inflight = |gain: f64| 100.0 * gain;
        let mut gains = Vec::new();
        for (at, flight) in [
            (11, 110.0),
            (20, 125.0),
            (22, 110.0),
            (24, 100.0),
            (35, 100.0),
            (46, 100.0),
            (57, 100.0),
        ] {
            cycle.update(ms(at), flight, 0, rtt, (cycle.gain(), inflight));
            gains.push((at, cycle.gain()));
        }
        let expected =
            [(11, 1.25), (20, 0.75), (22, 0.75), (24, 1.0), (35, 1.0), (46, 1.0), (57, 1.0)];
        assert_eq!(gains, expected);
        for at in [68, 79, 90] {
            cycle.update(ms(at), 100.0, 0, rtt, (cycle.gain(), inflight));
        }
        assert_eq!(cycle.gain(), 1.25, "six phases of 1, and it probes again");
        cycle.update(ms(101), 110.0, 1, rtt, (cycle.gain(), inflight));
        assert_eq!(cycle.gain(), 0.75, "a loss ends the probe");
        // where the gain in use is 1, time alone ends a phase
        cycle.update(ms(102), 50.0, 0, rtt, (1.0, inflight));
        assert_eq!(cycle.gain(), 0.75);
        let mut probe = Cycle { phase: 0, since: Time::ZERO };
        probe.update(ms(11), 50.0, 0, rtt, (1.0, inflight));
        assert_eq!(probe.gain(), 0.75);
    }

    /// It never begins in the phase that empties the queue.
    #[test]
    fn it_begins_anywhere_but_in_the_drain() {
        let phases: Vec<usize> =
            (0..1000).map(|us| Cycle::begin(Time::from_ns(us * 1000)).phase).collect();
        assert!((0..8).all(|phase| phases.contains(&phase) == (phase != 1)), "{phases:?}");
    }
}
