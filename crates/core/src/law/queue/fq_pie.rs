//! FQ-PIE: flow queues, each under PIE, served in turn (RFC 8033 in the queues of RFC 8290, as
//! Linux's `sch_fq_pie` combines them, read for behaviour).
//!
//! | symbol    | here              | unit  | value                                            |
//! |-----------|-------------------|-------|--------------------------------------------------|
//! | flows     | `flows`           | 1     | 1024: number of queues                           |
//! | quantum   | `quantum`         | bytes | 1514: what a queue sends per round               |
//! | credits   | `FlowQueue::credits` | bytes | what a queue may still send in this round     |
//! | limit     | the port's buffer | packets |                                                |
//! | others    | [`super::pie`]    |       | those of each queue's PIE                        |
//!
//! 1. A hash of its flow selects the queue of an arrival. The PIE of that queue judges it by the
//!    backlog and the delay of that queue alone.
//! 2. A full buffer drops the arrival, whatever its queue.
//! 3. Queues are served in turn as those of FQ-CoDel are: new ones first, a quantum each.
//! 4. Every `t_update` the drop probability of each queue is updated.
//!
//! Drops are spaced out (RFC 8033, 5.4), as Linux does. As in FQ-CoDel flows that share a queue
//! share its credits.

use std::collections::VecDeque;

use crate::law::settings::Link;
use crate::law::{Decision, Draw, Fault, Turn, Verdict, View};
use crate::packet::Packet;
use crate::units::{Size, Time};

use super::pie::{self, Pie};
use super::{ArrivalContext, Chain, Discipline, Handle, Links, Next, Slot, Sum, Traits, Waiting};

crate::settings! {
    /// Parameters of FQ-PIE.
    "FqPie", check_at:
    qdelay_ref: Time = "15ms" ["10us" to "10s"] "Target delay of each flow's queue" ("RFC 8033, 4.2");
    t_update: Time = "15ms" ["10us" to "10s"] "Time between two updates of the drop probabilities" ("RFC 8033, 4.2");
    alpha: f64 = 0.125 [0 to 1000] "Weight of the deviation from qdelay_ref, per second" ("RFC 8033, 4.2");
    beta: f64 = 1.25 [0 to 1000] "Weight of the delay's change since the last update, per second" ("RFC 8033, 4.2");
    max_burst: Time = "150ms" ["0s" to "100s"] "How long nothing is dropped at the start of a burst of a flow" ("RFC 8033, 4.4");
    ecn: bool = false "Whether a packet of an ECN-capable transport is marked instead of dropped" ("RFC 8033, 5.1");
    mark_ecnth: f64 = 0.1 [0 to 1] "With ecn: drop probability above which packets are dropped instead of marked" ("RFC 8033, 5.1");
    flows: u32 = 1024 [1 to 65536] "Queues among which flows are spread" ("Linux");
    quantum: Size = "1514B" ["1B" to "1MB"] "Bytes that a queue sends per round" ("Linux: a packet");
    salt: u32 = 0 "Salt of the hash of flows";
}

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        self.ecn
    }

    fn asked_to_mark(&self) -> bool {
        self.ecn
    }
}

impl Config {
    /// The settings of PIE in each queue.
    fn pie(&self) -> pie::Config {
        pie::Config {
            qdelay_ref: self.qdelay_ref,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            ecn: self.ecn,
            mark_ecnth: self.mark_ecnth,
            derandomize: true,
            ..pie::Config::default()
        }
    }
}

/// One queue.
#[derive(Clone, Debug)]
struct FlowQueue {
    packets: Chain,
    bytes: u64,
    credits: i64,
    /// Whether it is on a list.
    listed: bool,
    pie: Pie,
}

/// FQ-PIE at one port.
#[derive(Clone, Debug)]
pub struct FqPie {
    quantum: i64,
    t_update: Time,
    salt: u32,
    flows: Box<[FlowQueue]>,
    links: Links,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl FqPie {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, link: Link) -> FqPie {
        let flow = FlowQueue {
            packets: Chain::default(),
            bytes: 0,
            credits: 0,
            listed: false,
            pie: Pie::new(&config.pie(), link),
        };
        FqPie {
            quantum: config.quantum.bytes() as i64,
            t_update: config.t_update,
            salt: config.salt,
            flows: vec![flow; config.flows as usize].into(),
            links: Links::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// The queue of this packet.
    fn queue(&self, packet: &Packet) -> usize {
        (packet.flow_hash(self.salt) % self.flows.len() as u64) as usize
    }

    /// The turn of the first queue is over: it goes to the end of the old ones, or off the lists if
    /// it is an old one that is `done`.
    fn rotate(&mut self, done: bool) {
        let new = self.new.pop_front();
        let Some(queue) = new.or_else(|| self.old.pop_front()) else { return };
        if new.is_some() || !done {
            self.old.push_back(queue);
        } else {
            self.flows[queue as usize].listed = false;
        }
    }
}

impl Discipline for FqPie {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        draw: &mut dyn Draw,
    ) -> Verdict {
        if found.idle.is_some() && waiting.packets() == 0 {
            // the link has found every queue empty
            for queue in self.new.drain(..).chain(self.old.drain(..)) {
                self.flows[queue as usize].listed = false;
            }
        }
        let queue = self.queue(packet);
        let flow = &mut self.flows[queue];
        let own = Sum { packets: flow.packets.packets(), bytes: flow.bytes };
        flow.pie.arrive(packet, waiting, &ArrivalContext { queue: own, ..*found }, draw)
    }

    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        let Some(packet) = waiting.get(handle) else { return };
        let queue = self.queue(packet);
        let flow = &mut self.flows[queue];
        flow.packets.push(handle, &mut self.links);
        flow.bytes += u64::from(packet.size);
        if !flow.listed {
            flow.listed = true;
            flow.credits = self.quantum;
            self.new.push_back(queue as u32);
        }
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        while let Some(&queue) = self.new.front().or(self.old.front()) {
            let flow = &mut self.flows[queue as usize];
            if flow.credits <= 0 {
                flow.credits += self.quantum;
                self.rotate(false);
                continue;
            }
            let oldest = flow.packets.oldest();
            let Some((handle, packet)) = oldest.and_then(|at| Some((at, waiting.get(at)?))) else {
                self.rotate(true);
                continue;
            };
            flow.packets.remove(handle, &mut self.links);
            flow.bytes -= u64::from(packet.size);
            flow.credits -= i64::from(packet.size);
            flow.pie.sent(packet, flow.bytes, slot.start);
            return Next::Send(handle);
        }
        Next::NotBefore(slot.start)
    }

    fn start(&mut self, now: Time) -> Result<Time, Fault> {
        Ok(now + self.t_update)
    }

    fn tick(&mut self, now: Time, _: &View<'_>) -> Result<Turn, Fault> {
        let mut most: Option<Decision> = None;
        for flow in self.flows.iter_mut().filter(|flow| !flow.pie.is_at_rest()) {
            let decision = flow.pie.update();
            if most.is_none_or(|most| decision.set > most.set) {
                most = Some(decision);
            }
        }
        // the row is that of the queue with the highest probability
        Ok((now + self.t_update, most.filter(|most| most.set > 0.0)))
    }
}
