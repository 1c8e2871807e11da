//! A link that sends at the delivery opportunities of a trace.
//!
//! The semantics are those of mahimahi (Netravali and others 2015, "Mahimahi:
//! accurate record-and-replay for HTTP"). Each opportunity sends up to a fixed number of
//! waiting bytes. The rest of a packet uses the next opportunity, and the rest of an opportunity
//! serves the next waiting packet. An opportunity is lost if no packet waits. A packet that arrives
//! at the instant of an opportunity cannot use it.

use std::sync::Arc;

use crate::packet::Packet;
use crate::units::Time;

/// A trace of opportunities, and the position in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Opportunities {
    /// Their times in ascending order; the last is the length of the trace, above zero.
    times: Arc<[Time]>,
    /// Bytes of each.
    bytes: u32,
    /// The time in the trace at which the run begins.
    start: Time,
    /// Whether the trace repeats.
    repeat: bool,
    /// Number of the next opportunity, counted over all repetitions.
    next: u64,
    /// The time of the one before it, and its unused bytes.
    last: Time,
    left: u64,
}

impl Opportunities {
    /// Uses this trace; `times` is not empty, ascends and ends above zero.
    pub fn new(times: Arc<[Time]>, bytes: u32, start: Time, repeat: bool) -> Opportunities {
        let last = Time::ZERO;
        Opportunities { times, bytes: bytes.max(1), start, repeat, next: 0, last, left: 0 }
    }

    /// The length of the trace.
    fn period(&self) -> Time {
        self.times.last().copied().unwrap_or(Time::NEVER)
    }

    /// The time of an opportunity of the run; it is never before the run's start.
    fn time(&self, number: u64) -> Time {
        let count = self.times.len().max(1) as u64;
        let (turns, place) = (number / count, (number % count) as usize);
        match self.times.get(place) {
            Some(at) if self.repeat || turns == 0 => {
                (self.period() * turns).saturating_add(*at).saturating_sub(self.start)
            }
            _ => Time::NEVER,
        }
    }

    /// How many opportunities there are up to a time of the trace, inclusive.
    fn until(&self, at: Time) -> u64 {
        let count = self.times.len() as u64;
        let turns = at.ps() / self.period().ps().max(1);
        if turns > 0 && !self.repeat {
            return count;
        }
        let begin = self.period() * turns;
        let within = self.times.partition_point(|time| begin.saturating_add(*time) <= at);
        turns * count + within as u64
    }

    /// Skips all up to an instant, inclusive.
    fn skip(&mut self, now: Time) {
        self.next = self.next.max(self.until(now.saturating_add(self.start)));
        self.left = 0;
    }

    /// How many bytes all up to an instant could have sent.
    pub fn possible(&self, now: Time) -> u64 {
        let passed = self.until(now.saturating_add(self.start)) - self.until(self.start);
        passed * u64::from(self.bytes)
    }

    /// When a packet is sent completely whose transmission starts at `start`.
    pub(super) fn send(&mut self, packet: &Packet, start: Time) -> Time {
        let waited = packet.at < start;
        if !(waited && start == self.last) {
            self.skip(start);
        }
        let mut size = u64::from(packet.size);
        loop {
            let sent = size.min(self.left);
            size -= sent;
            self.left -= sent;
            if size == 0 {
                return self.last;
            }
            self.last = self.time(self.next);
            self.next += 1;
            self.left = u64::from(self.bytes);
            if self.last == Time::NEVER {
                return Time::NEVER;
            }
        }
    }
}
