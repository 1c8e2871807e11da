//! Opportunities to deliver, one after the other, as a trace has them.
//!
//! The semantics are those of mahimahi (Netravali and others 2015, "Mahimahi:
//! accurate record-and-replay for HTTP"): each opportunity sends up to so many bytes
//! of what waits, the rest of a packet goes with the next one, what is left of an
//! opportunity goes to the next packet that waits, and an opportunity at which
//! nothing waits is lost. What arrives at the instant of an opportunity is too late
//! for it.

use std::sync::Arc;

use crate::packet::Packet;
use crate::units::Time;

/// A trace of opportunities, and how much of it was used.
#[derive(Clone, PartialEq, Debug)]
pub struct Opportunities {
    /// Their times in one turn, never falling; the last one is its end, and above zero.
    times: Arc<[Time]>,
    /// Bytes of each.
    bytes: u32,
    /// Where in the trace the port's time begins.
    start: Time,
    /// Whether the trace begins again at its end.
    repeat: bool,
    /// Number of the next one, counted through all turns.
    next: u64,
    /// When the one before it was, and bytes that are left of it.
    last: Time,
    left: u64,
}

impl Opportunities {
    /// Of this trace; `times` is not empty, never falls and ends above zero.
    pub fn new(times: Arc<[Time]>, bytes: u32, start: Time, repeat: bool) -> Opportunities {
        let last = Time::ZERO;
        Opportunities { times, bytes: bytes.max(1), start, repeat, next: 0, last, left: 0 }
    }

    /// The end of a turn of the trace.
    fn turn(&self) -> Time {
        self.times.last().copied().unwrap_or(Time::NEVER)
    }

    /// When an opportunity is, by the port's clock; only later ones than the start are asked for.
    fn time(&self, number: u64) -> Time {
        let count = self.times.len().max(1) as u64;
        let (turns, place) = (number / count, (number % count) as usize);
        match self.times.get(place) {
            Some(at) if self.repeat || turns == 0 => {
                (self.turn() * turns).saturating_add(*at).saturating_sub(self.start)
            }
            _ => Time::NEVER,
        }
    }

    /// How many there are up to an instant of the trace, that one included.
    fn until(&self, at: Time) -> u64 {
        let count = self.times.len() as u64;
        let turns = at.ps() / self.turn().ps().max(1);
        if turns > 0 && !self.repeat {
            return count;
        }
        let begin = self.turn() * turns;
        let within = self.times.partition_point(|time| begin.saturating_add(*time) <= at);
        turns * count + within as u64
    }

    /// Leaves out all up to an instant.
    fn skip(&mut self, now: Time) {
        self.next = self.next.max(self.until(now.saturating_add(self.start)));
        self.left = 0;
    }

    /// What all up to an instant could have sent, in bytes.
    pub(super) fn possible(&self, now: Time) -> u64 {
        let passed = self.until(now.saturating_add(self.start)) - self.until(self.start);
        passed * u64::from(self.bytes)
    }

    /// When a packet has been sent whose transmission starts at `start`.
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
