//! FQ-CoDel: flow queues, each under CoDel, served in turn (RFC 8290).
//!
//! | symbol    | here            | unit    | RFC 8290                                          |
//! |-----------|-----------------|---------|---------------------------------------------------|
//! | flows     | `flows`         | 1       | 1024: queues among which flows are spread (5.2.5) |
//! | quantum   | `quantum`       | bytes   | 1514: what a queue sends in its turn (5.2.4)      |
//! | credits   | `Flow::credits` | bytes   | what a queue may still send in this turn          |
//! | limit     | the port's buffer | packets | 10240 (5.2.3)                                   |
//! | target, interval | `target`, `interval` | s | 5 ms, 100 ms (5.2.2, 5.2.1)                |
//!
//! At each arrival (4.1):
//! 1. The packet goes to the queue that a hash of its flow says.
//! 2. A queue that has no place in the turns gets one at the end of the list of
//!    new queues, with a quantum of credits.
//! 3. If the buffer is full, the queue with the most bytes loses half of its
//!    packets, at most `drop_batch`, from its head.
//!
//! At each packet's turn (4.2):
//! 1. The first of the new queues is looked at or, without any, that of the old.
//! 2. Without credits it gets a quantum and goes behind the old queues.
//! 3. Else CoDel looks at the queue's packets, and the one that it lets through
//!    is sent and paid for.
//! 4. A queue that is found empty goes behind the old queues if it was new, so
//!    that it does not starve them, and otherwise loses its place.
//!
//! The flow of a packet is its source, destination and flow; the hash is salted
//! with `salt`, by which the collisions change, and is the same on any machine.
//!
//! Departures: what a full buffer costs is taken before the arrival joins its
//! queue, which counts with it; half of its packets, as the RFC says, where Linux
//! and ns-3 take half of its bytes. The `maxpacket` of a queue's CoDel is the
//! largest packet that came to it, and its backlog that queue's own.
//!
//! Limits: flows that share a queue share its turn. Whoever opens many flows
//! gets many turns.

use std::collections::VecDeque;

use crate::law::settings::Link;
use crate::law::{Draw, Reason, Verdict};
use crate::packet::{Flags, Packet};
use crate::units::{Size, Time};

use super::codel::{self, Control, Fate, Head};
use super::{ArrivalContext, Chain, Discipline, Handle, Links, Next, Slot, Sum, Waiting};

crate::settings! {
    /// Parameters of FQ-CoDel.
    "FqCodel", check_at:
    target: Time = "5ms" ["1us" to "10s"] "Standing delay that is accepted in a flow's queue" ("RFC 8290, 5.2.2");
    interval: Time = "100ms" ["1us" to "100s"] "How long the delay may stay above the target, about the longest round-trip time" ("RFC 8290, 5.2.1");
    ecn: bool = true "Whether a packet of an ECN-capable transport is marked instead of dropped" ("RFC 8290, 5.2.6");
    flows: u32 = 1024 [1 to 65536] "Queues among which flows are spread" ("RFC 8290, 5.2.5");
    quantum: Size = "1514B" ["1B" to "1MB"] "Bytes that a queue sends per round" ("RFC 8290, 5.2.4");
    drop_batch: u32 = 64 [1 to 65536] "How many packets the longest queue loses at most when the buffer is full" ("RFC 8290, 4.1");
    salt: u32 = 0 "Salt of the hash of flows";
}

impl Config {
    /// What CoDel goes by in each queue.
    fn codel(&self) -> codel::Config {
        codel::Config { target: self.target, interval: self.interval, ecn: self.ecn }
    }
}

/// The place of a queue in the turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Place {
    /// It has none.
    #[default]
    None,
    /// Among the new queues.
    New,
    /// Among the old queues.
    Old,
}

/// One queue.
#[derive(Clone, Debug, Default)]
struct Flow {
    packets: Chain,
    bytes: u64,
    credits: i64,
    place: Place,
    control: Control,
}

/// FQ-CoDel at one port.
#[derive(Clone, Debug)]
pub struct FqCodel {
    codel: codel::Config,
    quantum: i64,
    drop_batch: u32,
    salt: u32,
    flows: Box<[Flow]>,
    links: Links,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl FqCodel {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> FqCodel {
        FqCodel {
            codel: config.codel(),
            quantum: config.quantum.bytes() as i64,
            drop_batch: config.drop_batch,
            salt: config.salt,
            flows: vec![Flow::default(); config.flows as usize].into(),
            links: Links::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// The queue that the packet goes to.
    #[inline]
    fn queue(&self, packet: &Packet) -> u32 {
        (packet.flow_hash(self.salt) % self.flows.len() as u64) as u32
    }

    /// The queue with the most bytes, the arrival among them.
    fn longest(&self, arrival: &Packet) -> Option<u32> {
        let own = self.queue(arrival);
        let bytes = |queue: u32| {
            let more = if queue == own { u64::from(arrival.size) } else { 0 };
            self.flows[queue as usize].bytes + more
        };
        let waiting = |queue: &u32| !self.flows[*queue as usize].packets.is_empty();
        let queues = self.new.iter().chain(&self.old).copied().filter(waiting);
        // of equals the first in the turns
        queues.rev().max_by_key(|queue| bytes(*queue))
    }

    /// Takes a packet off its queue.
    #[inline]
    fn unlist(&mut self, queue: u32, handle: Handle, size: u16) {
        let flow = &mut self.flows[queue as usize];
        flow.packets.remove(handle, &mut self.links);
        flow.bytes -= u64::from(size);
    }

    /// The longest queue loses packets from its head; whether there were any.
    fn shorten(&mut self, arrival: &Packet, waiting: &mut Waiting) -> bool {
        let Some(queue) = self.longest(arrival) else { return false };
        let half = self.flows[queue as usize].packets.packets().div_ceil(2);
        for _ in 0..half.min(self.drop_batch) {
            let oldest = self.flows[queue as usize].packets.oldest();
            let Some((handle, size)) = oldest.and_then(|at| Some((at, waiting.get(at)?.size)))
            else {
                break;
            };
            self.unlist(queue, handle, size);
            waiting.evict(handle);
        }
        true
    }

    /// The first of the new queues, or else of the old, goes behind the old ones.
    fn send_back(&mut self) {
        let first = self.new.pop_front().or_else(|| self.old.pop_front());
        if let Some(queue) = first {
            self.flows[queue as usize].place = Place::Old;
            self.old.push_back(queue);
        }
    }
}

impl Discipline for FqCodel {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        if found.idle.is_some() && waiting.packets() == 0 {
            // the link has asked in vain, and found every queue empty
            for queue in self.new.drain(..).chain(self.old.drain(..)) {
                self.flows[queue as usize].place = Place::None;
            }
        }
        let mut fits = found.fits;
        while !fits {
            if !self.shorten(packet, waiting) {
                return Verdict::Drop(Reason::QueueFull);
            }
            let queue = Sum { packets: waiting.packets(), bytes: waiting.bytes() };
            fits = found.room.fits(queue, packet.size);
        }
        Verdict::Pass
    }

    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        let Some(packet) = waiting.get(handle) else { return };
        let queue = self.queue(packet);
        let flow = &mut self.flows[queue as usize];
        flow.packets.push(handle, &mut self.links);
        flow.bytes += u64::from(packet.size);
        flow.control.came(packet.size);
        if flow.place == Place::None {
            flow.place = Place::New;
            flow.credits = self.quantum;
            self.new.push_back(queue);
        }
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        while let Some(&queue) = self.new.front().or(self.old.front()) {
            let flow = &mut self.flows[queue as usize];
            if flow.credits <= 0 {
                flow.credits += self.quantum;
                self.send_back();
                continue;
            }
            let oldest = flow.packets.oldest();
            let Some((handle, packet)) = oldest.and_then(|at| Some((at, waiting.get(at)?))) else {
                if flow.place == Place::New {
                    self.send_back();
                } else {
                    flow.place = Place::None;
                    self.old.pop_front();
                }
                continue;
            };
            let head = Head {
                sojourn: slot.start - packet.at,
                behind: flow.bytes - u64::from(packet.size),
                ect: packet.flags.has(Flags::ECT),
            };
            let fate = flow.control.judge(slot.start, &head, &self.codel);
            if fate != Fate::Drop {
                flow.credits -= i64::from(packet.size);
            }
            self.unlist(queue, handle, packet.size);
            return match fate {
                Fate::Send => Next::Send(handle),
                Fate::Mark => Next::Mark(handle),
                Fate::Drop => Next::Drop(handle, Reason::Early),
            };
        }
        Next::NotBefore(slot.start)
    }
}
