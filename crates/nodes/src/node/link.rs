//! A virtual link to a neighbour: a port of `core` that carries datagrams, and an LGC detector that
//! watches its queue.

use std::collections::VecDeque;

use tidegate_core::law::greedy::Key;
use tidegate_core::law::greedy::lgc::{Lgc, Trigger};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port};
use tidegate_core::units::{Pace, Time};

use tidegate_core::active::Address;

use super::config::LinkConfig;
use super::status::Arrival;
use super::trust::Trust;

/// A datagram inside a node.
#[derive(Debug, Default)]
pub struct Cargo {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When it arrived.
    pub came: Time,
    /// Its remaining lifetime at that time, in ms.
    pub life_ms: u32,
}

/// A recorded arrival, or a label of a waiting packet.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Its origin.
    pub key: Key,
    /// Its number.
    pub number: u32,
}

/// A link of a node, in the direction to the neighbour.
pub struct NodeLink {
    /// The neighbour.
    pub peer: Address,
    /// Its name.
    pub name: String,
    /// The key shared with the neighbour, if there is one.
    pub trust: Option<Trust>,
    /// The recorded first arrivals.
    pub record: Vec<Arrival>,
    most_recorded: usize,
    port: Port<Cargo>,
    pace: Pace,
    /// When everything accepted so far will have been sent.
    free_at: Time,
    /// Labels of the waiting packets, oldest first (and of some that have left).
    labels: VecDeque<Key>,
    lgc: Option<Lgc>,
}

impl NodeLink {
    /// An empty link.
    pub fn new(
        number: u32,
        config: &LinkConfig,
        lgc: Option<Lgc>,
        trust: Option<Trust>,
    ) -> NodeLink {
        let limit = Limit::Packets(config.buffer);
        NodeLink {
            peer: config.peer,
            name: config.name.clone(),
            trust,
            record: Vec::new(),
            most_recorded: config.record as usize,
            port: Port::new(number, config.rate, config.delay, limit),
            pace: config.rate.pace(),
            free_at: Time::ZERO,
            labels: VecDeque::new(),
            lgc,
        }
    }

    /// Waiting packets.
    pub fn queue_packets(&mut self, now: Time) -> u32 {
        self.port.advance(now);
        let waiting = self.port.queue_packets();
        // first in, first out: remove the labels of packets that have left
        self.labels.drain(..self.labels.len().saturating_sub(waiting as usize));
        waiting
    }

    /// The average queue, if LGC watches it.
    pub fn average(&self, now: Time) -> Option<f64> {
        let idle = (self.free_at <= now).then(|| now - self.free_at);
        self.lgc.as_ref().map(|lgc| lgc.average(idle, self.pace))
    }

    /// Queues a datagram. Returns it if the queue is full; returns LGC's finding, if LGC was
    /// triggered.
    pub fn send(
        &mut self,
        cargo: Cargo,
        label: Label,
        now: Time,
    ) -> (Option<Cargo>, Option<Trigger>) {
        let queue = self.queue_packets(now);
        let idle = (self.free_at <= now).then(|| now - self.free_at);
        let (pace, lgc) = (self.pace, self.lgc.as_mut());
        let congested = lgc.is_some_and(|lgc| lgc.observe(queue, idle, pace, now));
        self.record(label, queue, now);
        let size = cargo.bytes.len() as u16;
        let packet = Packet { at: now, size, flags: Flags::DATA, ..Packet::default() };
        let lost = match self.port.arrive_plain(&packet, cargo, now) {
            Outcome::Taken => {
                self.free_at = self.free_at.max(now) + self.pace.of(u64::from(size));
                self.labels.push_back(label.key);
                None
            }
            Outcome::Lost(_, cargo) | Outcome::Rejected(_, cargo) => Some(cargo),
        };
        if !congested {
            return (lost, None);
        }
        self.queue_packets(now);
        let trigger = self.lgc.as_mut().map(|lgc| lgc.trigger(now, self.labels.iter().copied()));
        (lost, trigger)
    }

    fn record(&mut self, label: Label, queue: u32, now: Time) {
        if self.record.len() < self.most_recorded {
            self.record.push(Arrival {
                time_s: now.secs(),
                origin: Address::from(label.key.origin),
                number: label.number,
                queue_packets: queue,
                avg_queue_packets: self.average(now).unwrap_or(0.0),
            });
        }
    }

    /// The datagram that has reached the far end, if there is one.
    pub fn deliver(&mut self, now: Time) -> Option<(Time, Cargo)> {
        self.port.deliver(now).map(|(packet, cargo)| (packet.at, cargo))
    }

    /// When [`NodeLink::deliver`] will return the next one.
    pub fn due(&self) -> Time {
        self.port.next_event()
    }
}
