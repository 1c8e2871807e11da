//! Intervals between losses, as TFRC measures them (RFC 5348, 5.2 to 5.4).
//!
//! | symbol    | here       | meaning                                                           |
//! |-----------|------------|-------------------------------------------------------------------|
//! | `I_0`     | `open`     | packets since the last loss event began                           |
//! | `I_1..8`  | `closed`   | packets from one loss event to the next, the latest first         |
//! | `w_0..7`  | `WEIGHTS`  | 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2                                    |
//! | `I_mean`  | `mean`     | the larger of the weighted means of `I_0..7` and of `I_1..8`      |
//!
//! Losses among packets that were sent within a round trip are one event (5.2).

use std::collections::VecDeque;

use crate::units::Time;

use super::Reported;

/// 5.4.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The loss events of a sender.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// When the first lost packet of the last event was sent; none: nothing was lost yet.
    event: Option<Time>,
    open: f64,
    closed: VecDeque<f64>,
}

impl Losses {
    /// The next packet has arrived or is lost.
    pub(super) fn add(&mut self, packet: &Reported, rtt: Time) {
        if packet.arrived.is_some() || self.event.is_some_and(|begun| packet.sent <= begun + rtt) {
            self.open += 1.0;
            return;
        }
        // before the first event there is no interval that begins with one
        if self.event.replace(packet.sent).is_some() {
            self.closed.push_front(self.open);
            self.closed.truncate(WEIGHTS.len());
        }
        self.open = 1.0;
    }

    /// `I_0`, and `I_mean`; none: nothing was lost yet.
    pub(super) fn intervals(&self) -> Option<(f64, f64)> {
        self.event?;
        let mean = |intervals: &mut dyn Iterator<Item = f64>| {
            let (sum, weight) = WEIGHTS
                .iter()
                .zip(intervals)
                .fold((0.0, 0.0), |sums, (w, i)| (sums.0 + w * i, sums.1 + w));
            if weight > 0.0 { sum / weight } else { 0.0 }
        };
        let closed = || self.closed.iter().copied();
        let with_open = mean(&mut std::iter::once(self.open).chain(closed()));
        Some((self.open, with_open.max(mean(&mut closed()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1 ms, of which those in `lost` are lost; the round trip is 10 ms.
    fn after(packets: u64, lost: &[u64]) -> Option<(f64, f64)> {
        let mut losses = Losses::default();
        for number in 0..packets {
            let sent = Time::from_ms(number);
            let arrived = (!lost.contains(&number)).then_some(sent);
            let packet = Reported { sent, arrived, bytes: 1000, marked: false };
            losses.add(&packet, Time::from_ms(10));
        }
        losses.intervals()
    }

    /// RFC 5348, 5.4 by hand: losses at 20, 50 and 150 leave the intervals 30 and 100. After 160
    /// packets `I_0` is 10: the mean of 10, 100 and 30 is 46.7, that of 100 and 30 is 65. After 400
    /// `I_0` is 250: (250 + 100 + 30) / 3 = 126.7.
    #[test]
    fn the_mean_interval_is_that_of_tfrc() {
        assert_eq!(after(20, &[]), None);
        assert_eq!(after(160, &[20, 50, 150]), Some((10.0, 65.0)));
        let (open, mean) = after(400, &[20, 50, 150]).unwrap();
        assert!((open, (mean - 380.0 / 3.0).abs() < 1e-9) == (250.0, true), "{mean}");
    }

    /// 5.2: the losses at 22 and 30 are within 10 ms of that at 20; that at 31 is not.
    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        assert_eq!(after(31, &[20, 22, 30]), Some((11.0, 11.0)));
        assert_eq!(after(32, &[20, 22, 31]), Some((1.0, 11.0)));
    }

    /// 5.4: with intervals of 10 (the latest four) and 5 (the four before) the mean of `I_1..8` is
    /// (4 * 10 + (0.8 + 0.6 + 0.4 + 0.2) * 5) / 6 = 50 / 6.
    #[test]
    fn older_intervals_weigh_less() {
        let mut losses = Losses { event: Some(Time::ZERO), open: 1.0, closed: VecDeque::new() };
        losses.closed.extend([10.0, 10.0, 10.0, 10.0, 5.0, 5.0, 5.0, 5.0]);
        let (_, mean) = losses.intervals().unwrap();
        assert!((mean - 50.0 / 6.0).abs() < 1e-9, "{mean}");
    }
}
