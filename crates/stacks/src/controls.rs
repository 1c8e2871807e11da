//! Congestion controls out of the crates of other projects, in the simulator's own TCP.
//!
//! Who is compared so is the control alone: handshake, repair of losses, acknowledgements and timers
//! are those of the simulator's TCP for all. The controls are made for QUIC (RFC 9002), so each
//! sending of a segment is a packet with a number of its own, as long as the datagram would be.
//!
//! | what RFC 9002 has | what stands for it here |
//! |---|---|
//! | a packet is acknowledged, lost | the segment that it carried last arrives, is marked lost |
//! | a probe timeout (6.2): probes leave, nothing is lost yet | the retransmission timer: one segment leaves; what it found lost stays in the window until a later packet is acknowledged |
//! | persistent congestion (7.6) | found by its rule, from the times of the packets lost |
//! | marks | the echo of a mark, once a round trip |
//! | pacing (7.7) | where the control itself says a rate or a time; else a burst, as our Reno and CUBIC |

mod noq;
mod quinn;
mod s2n;

use std::collections::VecDeque;

use tidegate_core::units::Time;
use tidegate_model::profile::Tcp;
use tidegate_sim::Factory;
use tidegate_sim::transport::control::{
    CongestionEvent, Control, Feedback, Leaving, Outcome, RateSample, Signal,
};

use crate::draws::Draws;

/// The controls, by the names that scenarios have.
pub const NAMES: &[&str] =
    &["quinn:cubic", "quinn:new-reno", "noq:cubic", "noq:new-reno", "s2n:cubic", "s2n:bbr2"];

/// Bytes of the headers of IPv4 and UDP, which QUIC does not count.
const BELOW: u32 = 28;
/// The delay of acknowledgements in the persistent congestion period (RFC 9000, 18.2).
const MAX_ACK_DELAY: Time = Time::from_ms(25);

/// What makes the controls of a class by this name; none: there is none of it.
pub fn factory(name: &str, tcp: &Tcp, seed: u64) -> Option<Factory> {
    let size = tcp.mss + tcp.header - BELOW;
    let mtu = size as u16;
    let mut draws = Draws::new(seed);
    Some(match name {
        "quinn:cubic" => Box::new(move || Adapter::boxed(size, quinn::cubic(mtu, draws.next()))),
        "quinn:new-reno" => {
            Box::new(move || Adapter::boxed(size, quinn::new_reno(mtu, draws.next())))
        }
        "noq:cubic" => Box::new(move || Adapter::boxed(size, noq::cubic(mtu, draws.next()))),
        "noq:new-reno" => Box::new(move || Adapter::boxed(size, noq::new_reno(mtu, draws.next()))),
        "s2n:cubic" => Box::new(move || Adapter::boxed(size, s2n::cubic(mtu, draws.next()))),
        "s2n:bbr2" => Box::new(move || Adapter::boxed(size, s2n::bbr2(mtu, draws.next()))),
        _ => return None,
    })
}

/// A packet that is under way, or was.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    sent: Time,
}

/// How things stand at an acknowledgement.
#[derive(Clone, Copy)]
struct Standing {
    now: Time,
    /// The round trip that it measures, if it does.
    rtt: Option<Time>,
    /// Bytes under way behind it.
    in_flight: u64,
    /// Whether the sender has too little to send.
    limited: bool,
}

/// Their control, told in the words of RFC 9002.
trait Theirs: Send {
    /// The handshake has measured this round trip.
    fn on_handshake(&mut self, rtt: Time, now: Time);
    /// A packet of a full size leaves.
    fn on_sent(&mut self, packet: &Packet, limited: bool);
    /// Packets are acknowledged, the earliest first.
    fn on_acked(&mut self, packets: &[Packet], at: &Standing);
    /// Packets are lost, the earliest first.
    fn on_lost(&mut self, packets: &[Packet], now: Time, persistent: bool);
    /// A mark comes back with the acknowledgement of this packet.
    fn on_mark(&mut self, newest: &Packet, now: Time);
    /// A packet does not count any more: what it carried has come by another one.
    fn on_discarded(&mut self) {}
    /// What was lost was not.
    fn on_spurious(&mut self) {}
    /// The window is full.
    fn on_full(&mut self) {}
    /// Bytes that may be under way.
    fn window(&self) -> u64;
    /// The slow-start threshold in bytes.
    fn ssthresh(&self) -> Option<u64>;
    /// Bytes a second at which it wants to send.
    fn rate(&self) -> Option<u64> {
        None
    }
    /// When it wants the next packet to leave.
    fn departure(&self) -> Option<Time> {
        None
    }
    /// Whether one packet may leave whatever the window.
    fn is_urgent(&self) -> bool {
        false
    }
}

/// Their control as one of ours.
struct Adapter<T> {
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
    marked: bool,
    /// Packets whose segment was sent again before their fate was known.
    replaced: Vec<Packet>,
    /// The retransmission timer has expired, and nothing has arrived since.
    silent: bool,
    limited: bool,
    /// Smoothed round trip and its variation (RFC 9002, 5.3).
    rtt: Option<(Time, Time)>,
}

impl<T: Theirs + 'static> Adapter<T> {
    fn boxed(size: u32, theirs: T) -> Box<dyn Control> {
        Box::new(Adapter {
            theirs,
            size,
            packets: VecDeque::new(),
            first: 0,
            in_flight: 0,
            highest: 0,
            arrived: Vec::new(),
            lost: Vec::new(),
            marked: false,
            replaced: Vec::new(),
            silent: false,
            limited: false,
            rtt: None,
        })
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

    /// Tells of packets that are lost by what has arrived behind them (RFC 9002, 6.1).
    fn tell_lost(&mut self, now: Time) {
        self.lost.sort_unstable_by_key(|packet| packet.number);
        let known = self.lost.partition_point(|packet| packet.number < self.highest);
        let waiting = self.lost.split_off(known);
        if !self.lost.is_empty() {
            let persistent = self.is_persistent();
            self.theirs.on_lost(&self.lost, now, persistent);
        }
        self.lost = waiting;
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

    fn on_outcomes(&mut self, outcomes: &[Outcome], now: Time) {
        for outcome in outcomes {
            match *outcome {
                Outcome::Arrived(number) => {
                    let packet = self.take(number.into());
                    self.arrived.extend(packet);
                }
                Outcome::Earlier(number) => {
                    let later = self.take(number.into());
                    let came = self.revive();
                    // of the two one has brought the segment, and the other counts no more
                    self.arrived.extend(came.or(later));
                    self.replaced.extend(later.filter(|_| came.is_some()));
                }
                Outcome::Lost(number) => {
                    let packet = self.take(number.into());
                    self.lost.extend(packet);
                }
            }
        }
        // with an acknowledgement they are told after what it acknowledges
        if self.arrived.is_empty() {
            self.tell_lost(now);
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
            self.theirs.on_acked(&self.arrived, &Standing { now, rtt, in_flight, limited });
            self.tell_lost(now);
            if std::mem::take(&mut self.marked) {
                self.theirs.on_mark(&newest, now);
            }
            self.arrived.clear();
        }
        // nothing of what left before the newest that has arrived is waited for
        let before = self.replaced.len();
        self.replaced.retain(|packet| packet.number >= self.first);
        (self.replaced.len()..before).for_each(|_| self.theirs.on_discarded());
    }

    fn on_congestion(&mut self, signal: Signal, _: &CongestionEvent) {
        match signal {
            Signal::Mark => self.marked = true,
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
