//! FQ-CoDel: flow queues, each under CoDel, served in turn (RFC 8290).
//!
//! | symbol    | here            | unit    | RFC 8290                                          |
//! |-----------|-----------------|---------|---------------------------------------------------|
//! | flows     | `flows`         | 1       | 1024: number of queues (5.2.5)                    |
//! | quantum   | `quantum`       | bytes   | 1514: what a queue sends per round (5.2.4)        |
//! | credits   | `FlowQueue::credits` | bytes | what a queue may still send in this round      |
//! | limit     | the port's buffer | packets | 10240 (5.2.3)                                   |
//! | target, interval | `target`, `interval` | s | 5 ms, 100 ms (5.2.2, 5.2.1)                |
//!
//! At each arrival (4.1):
//! 1. A hash of its flow selects the queue.
//! 2. A queue that is on no list is appended to the list of new queues, with a quantum of credits.
//! 3. If the buffer is full, the queue with the most bytes drops half of its packets, at most
//!    `drop_batch`, from its head; of several the first by its hash, as in Linux (`fq_codel_drop`).
//!
//! At each transmission (4.2):
//! 1. The first of the new queues is examined or, if there is none, the first of the old queues.
//! 2. If it has no credits it gets a quantum and moves to the end of the old queues.
//! 3. Otherwise CoDel examines its packets; the one that it passes is sent and charged. The backlog
//!    that CoDel looks at is that of the queue; with `backlog = "all"` that of all queues, as in
//!    Linux (`fq_codel_dequeue`): where many flows have a packet or two, each of them waits for
//!    long, and CoDel drops.
//! 4. An empty queue is not above CoDel's target. It moves to the end of the old queues if it was
//!    new, so that it does not starve them; otherwise it leaves the list.
//!
//! The flow of a packet is its source, destination and flow number. The hash is salted with `salt`,
//! which changes the collisions; it is the same on every machine.
//!
//! Departures: a full buffer drops packets before the arrival joins its queue, and the arrival
//! counts as part of that queue. Half of the packets are dropped, as in the RFC; Linux and ns-3
//! drop half of the bytes, and Linux adds what is dropped there to the queue's `count`. A queue's
//! CoDel uses the largest packet of that queue as `maxpacket`; in Linux it is the link's MTU.
//!
//! Limits: flows that share a queue share its credits. A user with many flows gets many shares.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::Link;
use crate::law::{Draw, Reason, Verdict};
use crate::packet::{Flags, Packet};
use crate::units::{Size, Time};

use super::codel::{self, CodelControl, Head, HeadFate};
use super::longest::Longest;
use super::{ArrivalContext, Chain, Discipline, Handle, Links, Next, Slot, Sum, Traits, Waiting};

crate::settings! {
    /// Parameters of FQ-CoDel.
    "FqCodel", check_at:
    target: Time = "5ms" ["1us" to "10s"] "Standing delay that is accepted in a flow's queue" ("RFC 8290, 5.2.2");
    interval: Time = "100ms" ["1us" to "100s"] "How long the delay may stay above the target, about the longest round-trip time" ("RFC 8290, 5.2.1");
    ecn: bool = true "Whether a packet of an ECN-capable transport is marked instead of dropped" ("RFC 8290, 5.2.6");
    flows: u32 = 1024 [1 to 65536] "Queues among which flows are spread" ("RFC 8290, 5.2.5");
    quantum: Size = "1514B" ["1B" to "1MB"] "Bytes that a queue sends per round" ("RFC 8290, 5.2.4");
    drop_batch: u32 = 64 [1 to 65536] "Most packets that the longest queue drops at once when the buffer is full" ("RFC 8290, 4.1");
    ce_threshold: Option<Time> = none "Delay in a flow's queue above which packets of L4S, ECT(1), are marked; default: CoDel alone marks them" ("Linux");
    backlog: Backlog = { Backlog::Queue } quiet "Whose backlog CoDel looks at, before it drops: `queue`, the flow's, or `all`, as Linux does; default queue" ("RFC 8290; ns-3");
    salt: u32 = 0 "Salt of the hash of flows";
}

impl Traits for Config {
    fn marks(&self, l4s: bool) -> bool {
        self.ecn || l4s && self.ce_threshold.is_some()
    }
}

/// Whose backlog CoDel looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Backlog {
    /// That of the queue in which the packet is.
    #[default]
    Queue,
    /// That of all queues.
    All,
}

impl Config {
    /// The settings of CoDel in each queue.
    fn codel(&self) -> codel::Config {
        codel::Config { target: self.target, interval: self.interval, ecn: self.ecn }
    }
}

/// The list that a queue is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum List {
    /// On no list.
    #[default]
    None,
    /// Among the new queues.
    New,
    /// Among the old queues.
    Old,
}

/// One queue.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    packets: Chain,
    bytes: u64,
    credits: i64,
    place: List,
    control: CodelControl,
}

/// FQ-CoDel at one port.
#[derive(Clone, Debug)]
pub struct FqCodel {
    codel: codel::Config,
    quantum: i64,
    drop_batch: u32,
    backlog: Backlog,
    ce_threshold: Option<Time>,
    salt: u32,
    flows: Box<[FlowQueue]>,
    /// Of equals it finds the last; so queues are named from the end here.
    longest: Longest,
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
            backlog: config.backlog,
            ce_threshold: config.ce_threshold,
            salt: config.salt,
            flows: vec![FlowQueue::default(); config.flows as usize].into(),
            longest: Longest::default(),
            links: Links::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// The queue of this packet.
    #[inline]
    fn queue(&self, packet: &Packet) -> u32 {
        (packet.flow_hash(self.salt) % self.flows.len() as u64) as u32
    }

    /// The queue with the most bytes, the arrival included.
    fn longest(&mut self, arrival: &Packet) -> Option<u32> {
        let flows = &self.flows;
        let last = flows.len() - 1;
        let found = last - self.longest.find(flows.len(), |queue| flows[last - queue].bytes);
        let own = self.queue(arrival);
        let most = flows[found].bytes;
        let of_own = flows[own as usize].bytes;
        let grown = of_own + u64::from(arrival.size);
        if of_own > 0 && (grown > most || grown == most && (own as usize) < found) {
            return Some(own);
        }
        (most > 0).then_some(found as u32)
    }

    /// Takes a packet out of its queue.
    #[inline]
    fn unlist(&mut self, queue: u32, handle: Handle, size: u16) {
        let flow = &mut self.flows[queue as usize];
        flow.packets.remove(handle, &mut self.links);
        flow.bytes -= u64::from(size);
    }

    /// The longest queue drops packets from its head; returns whether there were any.
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

    /// Moves the first of the new queues, or else of the old queues, to the end of the old queues.
    fn send_back(&mut self) {
        let first = self.new.pop_front().or_else(|| self.old.pop_front());
        if let Some(queue) = first {
            self.flows[queue as usize].place = List::Old;
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
            // the link has found every queue empty
            for queue in self.new.drain(..).chain(self.old.drain(..)) {
                let flow = &mut self.flows[queue as usize];
                flow.place = List::None;
                flow.control.empty();
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
        let last = self.flows.len() - 1;
        let flow = &mut self.flows[queue as usize];
        flow.packets.push(handle, &mut self.links);
        flow.bytes += u64::from(packet.size);
        self.longest.grew(last - queue as usize, flow.bytes);
        flow.control.added(packet.size);
        if flow.place == List::None {
            flow.place = List::New;
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
                flow.control.empty();
                if flow.place == List::New {
                    self.send_back();
                } else {
                    flow.place = List::None;
                    self.old.pop_front();
                }
                continue;
            };
            let backlog = match self.backlog {
                Backlog::Queue => flow.bytes,
                Backlog::All => waiting.bytes(),
            };
            let head = Head {
                sojourn: slot.start - packet.at,
                behind: backlog - u64::from(packet.size),
                ect: packet.flags.has(Flags::ECT),
            };
            let late = self.ce_threshold.is_some_and(|most| head.sojourn > most);
            let l4s = packet.flags.has(Flags::L4S);
            let mut fate = flow.control.judge(slot.start, &head, &self.codel);
            if late && l4s && fate == HeadFate::Send {
                fate = HeadFate::Mark;
            }
            if fate != HeadFate::Drop {
                flow.credits -= i64::from(packet.size);
            }
            self.unlist(queue, handle, packet.size);
            return match fate {
                HeadFate::Send => Next::Send(handle),
                HeadFate::Mark => Next::Mark(handle),
                HeadFate::Drop => Next::Drop(handle, Reason::Early),
            };
        }
        Next::NotBefore(slot.start)
    }
}
