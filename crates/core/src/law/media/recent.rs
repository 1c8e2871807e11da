//! The packets of the last moments: the rate that arrives, and shares of them.

use std::collections::VecDeque;

use crate::units::Time;

use super::Reported;

/// One packet.
#[derive(Clone, Copy, Debug)]
struct One {
    /// When it arrived; of a lost one, when the last one before it did.
    at: Time,
    bytes: u32,
    lost: bool,
    marked: bool,
    /// The law's delay of the queue at it, in ms; 0 for a lost one.
    queue_ms: f64,
}

/// The packets of a window of time that ends with the last arrival.
#[derive(Debug)]
pub(super) struct Recent {
    window: Time,
    packets: VecDeque<One>,
    last: Time,
}

impl Recent {
    pub(super) fn new(window: Time) -> Recent {
        Recent { window, packets: VecDeque::new(), last: Time::ZERO }
    }

    /// A packet has arrived or is lost.
    pub(super) fn add(&mut self, packet: &Reported, queue_ms: f64) {
        self.last = self.last.max(packet.arrived.unwrap_or_default());
        self.packets.push_back(One {
            at: self.last,
            bytes: packet.bytes,
            lost: packet.arrived.is_none(),
            marked: packet.marked,
            queue_ms,
        });
        let begin = self.last.saturating_sub(self.window);
        while self.packets.front().is_some_and(|one| one.at < begin) {
            self.packets.pop_front();
        }
    }

    /// The rate that arrives, in bit/s.
    pub(super) fn rate(&self) -> f64 {
        let arrived = self.packets.iter().filter(|one| !one.lost);
        arrived.map(|one| f64::from(one.bytes)).sum::<f64>() * 8.0 / self.window.secs()
    }

    /// Whether the window is full: a packet is as old as it is long.
    pub(super) fn is_full(&self, since: Time) -> bool {
        self.last.saturating_sub(since) >= self.window
    }

    fn share(&self, counts: impl Fn(&One) -> bool) -> f64 {
        let all = self.packets.len();
        if all == 0 {
            return 0.0;
        }
        self.packets.iter().filter(|one| counts(one)).count() as f64 / all as f64
    }

    /// The share of the packets that is lost.
    pub(super) fn lost(&self) -> f64 {
        self.share(|one| one.lost)
    }

    /// The share of the packets that is marked.
    pub(super) fn marked(&self) -> f64 {
        self.share(|one| one.marked)
    }

    /// The longest delay of the queue, in ms.
    pub(super) fn most_queue_ms(&self) -> f64 {
        self.packets.iter().map(|one| one.queue_ms).fold(0.0, f64::max)
    }
}
