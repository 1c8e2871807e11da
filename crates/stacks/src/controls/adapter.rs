//! A control of another project as one of ours.

use std::collections::VecDeque;

use tidegate_core::units::Time;
use tidegate_sim::transport::control::{
    CongestionEvent, Control, Feedback, Leaving, Marks, RateSample, SentOutcome, Signal,
};

use super::theirs::{News, Packet, Standing, Theirs};

/// The delay of acknowledgements in the persistent congestion period (RFC 9000, 18.2).
const MAX_ACK_DELAY: Time = Time::from_ms(25);

/// Their control as one of ours.
pub(super) struct Adapter<T> {
    theirs: T,
    /// Bytes of a packet.
    size: u32,
    /// The packets from `first` on; none: its fate is known.
    packets: VecDeque<Option<Packet>>,
    first: u64,
    in_flight: u64,
    /// The highest number of a packet that has arrived.
    highest: u64,
    /// What it has not heard of yet. What the retransmission timer has found lost stays here, and in
    /// the window, until a later packet arrives.
    arrived: Vec<Packet>,
    lost: Vec<Packet>,
    /// What the receiver has counted; none: the class understands no marks.
    marks: Option<Marks>,
    /// Packets whose segment was sent again before their fate was known.
    replaced: Vec<Packet>,
    /// The retransmission timer has expired, and nothing has arrived since.
    silent: bool,
    limited: bool,
    /// Smoothed round trip and its variation (RFC 9002, 5.3).
    rtt: Option<(Time, Time)>,
}

impl<T: Theirs + 'static> Adapter<T> {
    /// `ecn`: the class understands marks.
    pub(super) fn boxed(size: u32, ecn: bool, theirs: T) -> Box<dyn Control> {
        Box::new(Adapter::new(size, ecn, theirs))
    }

    fn new(size: u32, ecn: bool, theirs: T) -> Adapter<T> {
        Adapter {
            theirs,
            size,
            packets: VecDeque::new(),
            first: 0,
            in_flight: 0,
            highest: 0,
            arrived: Vec::new(),
            lost: Vec::new(),
            marks: ecn.then(Marks::new),
            replaced: Vec::new(),
            silent: false,
            limited: false,
            rtt: None,
        }
    }

    fn in_flight_bytes(&self) -> u64 {
        self.in_flight * u64::from(self.size)
    }

    /// The packet of this number, whose fate becomes known.
    fn take(&mut self, number: u64) -> Option<Packet> {
        let place = number.checked_sub(self.first)?;
        let packet = self.packets.get_mut(usize::try_from(place).ok()?)?.take()?;
        self.in_flight -= 1;
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(packet)
    }

    fn measure(&mut self, rtt: Time) {
        self.rtt = Some(match self.rtt {
            None => (rtt, rtt / 2),
            Some((smoothed, variation)) => {
                let off = smoothed.max(rtt) - smoothed.min(rtt);
                ((smoothed * 7 + rtt) / 8, (variation * 3 + off) / 4)
            }
        });
    }

    /// RFC 9002, 7.6: all that left over a time of three probe timeouts is lost.
    fn is_persistent(&self) -> bool {
        let Some((smoothed, variation)) = self.rtt else { return false };
        let period = (smoothed + (variation * 4).max(Time::from_ms(1)) + MAX_ACK_DELAY) * 3;
        let mut since = self.lost.first();
        for pair in self.lost.windows(2) {
            if pair[1].number != pair[0].number + 1 {
                since = Some(&pair[1]);
            }
            if since.is_some_and(|first| pair[1].sent.saturating_sub(first.sent) >= period) {
                return true;
            }
        }
        false
    }

    /// The packets that are lost by what has arrived behind them (RFC 9002, 6.1), and whether that
    /// is persistent congestion. Those that wait stay.
    fn take_lost(&mut self) -> (Vec<Packet>, bool) {
        self.lost.sort_unstable_by_key(|packet| packet.number);
        let known = self.lost.partition_point(|packet| packet.number < self.highest);
        let waiting = self.lost.split_off(known);
        let persistent = self.is_persistent();
        (std::mem::replace(&mut self.lost, waiting), persistent)
    }

    /// A segment has come by a packet that the timer had found lost: the oldest such.
    fn revive(&mut self) -> Option<Packet> {
        let oldest = self.lost.iter().enumerate().min_by_key(|(_, packet)| packet.number)?.0;
        Some(self.lost.swap_remove(oldest))
    }
}

impl<T: Theirs + 'static> Control for Adapter<T> {
    fn cwnd(&self) -> f64 {
        if self.silent {
            return 1.0;
        }
        let waiting = self.lost.len() as f64;
        let window = (self.theirs.window() as f64 / f64::from(self.size) - waiting).max(1.0);
        if self.theirs.is_urgent() { window.max((self.in_flight + 1) as f64) } else { window }
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(marks) = &mut self.marks {
            marks.heard(feedback);
        }
        if self.rtt.is_none() && feedback.srtt > Time::ZERO {
            self.measure(feedback.srtt);
            self.theirs.on_handshake(feedback.srtt, feedback.now);
        }
    }

    fn on_leaving(&mut self, leaving: &Leaving) {
        if let Some(before) = leaving.replaces.and_then(|number| self.take(number.into())) {
            self.replaced.push(before);
        }
        let number = self.first + self.packets.len() as u64;
        let packet = Packet { number, sent: leaving.now };
        self.packets.push_back(Some(packet));
        self.in_flight += 1;
        let full = self.in_flight_bytes() + u64::from(self.size) > self.theirs.window();
        self.limited = leaving.last && !full;
        self.theirs.on_sent(&packet, self.limited);
        if full {
            self.theirs.on_full();
        }
    }

    fn on_outcomes(&mut self, outcomes: &[SentOutcome], now: Time) {
        for outcome in outcomes {
            match *outcome {
                SentOutcome::Arrived(number) => {
                    let packet = self.take(number.into());
                    self.arrived.extend(packet);
                }
                SentOutcome::Earlier(number) => {
                    let later = self.take(number.into());
                    let came = self.revive();
                    // of the two one has brought the segment, and the other counts no more
                    self.arrived.extend(came.or(later));
                    self.replaced.extend(later.filter(|_| came.is_some()));
                }
                SentOutcome::Lost(number) => {
                    let packet = self.take(number.into());
                    self.lost.extend(packet);
                }
            }
        }
        // with an acknowledgement they are told together with what it acknowledges
        if self.arrived.is_empty() {
            let (lost, persistent) = self.take_lost();
            if !lost.is_empty() {
                self.theirs.on_lost(&lost, now, persistent);
            }
        }
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let now = sample.now;
        self.arrived.sort_unstable_by_key(|packet| packet.number);
        if let Some(&newest) = self.arrived.last() {
            self.silent = false;
            self.highest = self.highest.max(newest.number);
            let rtt = Some(sample.rtt).filter(|&rtt| rtt > Time::ZERO);
            rtt.into_iter().for_each(|rtt| self.measure(rtt));
            let waiting = self.lost.len() as u64 * u64::from(self.size);
            let (in_flight, limited) = (self.in_flight_bytes() + waiting, self.limited);
            let (lost, persistent) = self.take_lost();
            let marks = self.marks.as_mut().map_or(0, |marks| marks.count(sample));
            let news = News { arrived: &self.arrived, lost: &lost, persistent, marks };
            self.theirs.on_news(&news, &Standing { now, rtt, in_flight, limited });
            self.arrived.clear();
        }
        // nothing of what left before the newest that has arrived is waited for
        let before = self.replaced.len();
        self.replaced.retain(|packet| packet.number >= self.first);
        (self.replaced.len()..before).for_each(|_| self.theirs.on_discarded());
    }

    fn on_congestion(&mut self, signal: Signal, _: &CongestionEvent) {
        match signal {
            // the receiver counts them
            Signal::Mark => {}
            // a probe of the tail has repaired a loss that no acknowledgement has shown
            Signal::Loss | Signal::LossAfterMark if self.lost.is_empty() => {
                self.lost.append(&mut self.replaced);
            }
            Signal::Loss | Signal::LossAfterMark => {}
        }
    }

    fn on_timeout(&mut self, _: &CongestionEvent, _again: bool) {
        self.silent = true;
    }

    fn on_spurious(&mut self) {
        self.theirs.on_spurious();
    }

    fn ssthresh(&self) -> Option<f64> {
        let bytes = self.theirs.ssthresh().filter(|&bytes| bytes < u64::MAX)?;
        Some(bytes as f64 / f64::from(self.size))
    }

    fn gap(&self) -> Option<Time> {
        if self.theirs.departure().is_some() {
            return Some(Time::ZERO);
        }
        let rate = self.theirs.rate().filter(|&rate| rate > 0)?;
        Some(Time::from_secs_f64(f64::from(self.size) / rate as f64))
    }

    fn departure(&self) -> Option<Time> {
        self.theirs.departure()
    }

    fn samples_rate(&self) -> bool {
        true
    }

    fn hears_packets(&self) -> bool {
        true
    }

    fn keeps_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
