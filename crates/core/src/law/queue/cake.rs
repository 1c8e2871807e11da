//! CAKE, common applications kept enhanced (Hoiland-Jorgensen, Taht and Morton
//! 2018, "Piece of CAKE"; where the paper gives no value, Linux' `sch_cake`).
//!
//! | symbol         | here         | unit  | source                                        |
//! |----------------|--------------|-------|-----------------------------------------------|
//! | bandwidth      | `bandwidth`  | bit/s | set by the user; without it unlimited (III-A) |
//! | overhead, mpu, cells | `overhead`, `mpu`, `framing` | byte | of the next link (III-A)     |
//! | queues, ways   | `queues`, `ways` | 1 | 1024 in sets of 8 (III-B)                     |
//! | isolation      | `isolation`  |       | triple-isolate (III-B)                        |
//! | quantum        | `quantum`    | byte  | 1514, with a bandwidth 1/4096 s of it, 300 at least (Linux) |
//! | target, interval | `target`, `interval` | s | 5 ms, 100 ms (Linux)                    |
//!
//! At each arrival:
//! 1. A hash of its flow selects a queue: one of its own if its set has a free one (`sets`). The
//!    same holds for its hosts (`hosts`).
//! 2. While it does not fit, the queue with the most bytes, the arrival included, drops its oldest
//!    packet.
//! 3. A queue that was empty is sparse and is served before the others (`rotation`).
//!
//! At each transmission:
//! 1. Nothing is sent before the shaper's clock (`shaper`).
//! 2. The next queue is served (`rotation`). Its quantum is divided among the flows of its host
//!    (`hosts`).
//! 3. COBALT sends, marks or drops the oldest packet of the queue (`cobalt`). It never drops the
//!    last packet of a queue.
//! 4. A packet of L4S, ECT(1), that COBALT lets pass is marked if it has waited for longer than
//!    `ce_threshold`, where there is one.
//! 5. Queue and shaper are charged the packet's adjusted length.
//!
//! Departures:
//! - `ce_threshold` is that of FQ-CoDel in Linux. CAKE in Linux has none, and COBALT treats ECT(1)
//!   as ECT(0); so it does here by default.
//! - one tin: packets have no DSCP here, so there is no DiffServ (III-C).
//! - no ACK filter (III-D), no ingress mode, no autorate, no lookup through NAT.
//! - the buffer is the port's, in packets or bytes, and not an amount of memory.
//! - a flow's share of a quantum is exact; Linux rounds it at random.
//! - the first packet over the target always starts an interval; in Linux a queue that was at rest
//!   for long may signal at once.
//!
//! Limits: without `bandwidth`, target and interval do not follow the link, as in Linux: set them
//! where the transmission of a packet takes milliseconds. A flow that sends at most a quantum
//! whenever its queue is empty stays sparse and is served first, as in Linux; FQ-CoDel's rule
//! against this is not part of CAKE. In a full set a new flow shares a queue with another one. Once
//! a queue of the set is free it moves there, and may overtake its own packets in the old one. An
//! overflow of the buffer turns BLUE on, which goes down only where a queue is found empty at its
//! turn. That of a lone flow hardly is, as nobody asks for a packet where none waits: on a long path
//! with a buffer of one bandwidth-delay product such a flow gets a fraction of the link for minutes.
//! Linux takes a buffer of four such products, and of 4 MiB at least.

use crate::law::settings::{Link, Refused};
use crate::law::{Draw, Reason, Verdict};
use crate::packet::{Flags, Packet};
use crate::units::{Rate, Size, Time};

use super::longest::Longest;
use super::{ArrivalContext, Discipline, Handle, Links, Next, Slot, Traits, Waiting};

pub mod cobalt;
mod hosts;
pub mod rotation;
pub mod sets;
pub mod shaper;

use cobalt::{HeadFate, Params};
pub use hosts::Isolation;
use rotation::Rotation;
use shaper::{Framing, Shaper, Shaping, Wire};

/// A full packet, in bytes.
const MTU: u64 = 1514;

crate::settings! {
    /// Parameters of CAKE.
    "Cake":
    bandwidth: Option<Rate> = none ["1kbit" to "1Tbit"] "Rate of the shaper; default: no shaper" ("CAKE, III-A");
    overhead: i64 = 0 ["-64" to 256] "Bytes that the link after the port adds to each packet" ("CAKE, III-A");
    mpu: Size = "0B" ["0B" to "256B"] "Least length of a packet on the link after the port" ("Linux");
    framing: Framing = { Framing::None } "Framing of the link after the port: cells or codewords; default none" ("CAKE, III-A");
    isolation: Isolation = { Isolation::TripleIsolate } "Among what the link is divided: none, flows, dual-srchost, dual-dsthost, triple-isolate; default triple-isolate" ("CAKE, III-B");
    queues: u32 = 1024 [1 to 65536] "Queues for flows, a multiple of ways" ("CAKE, III-B");
    ways: u32 = 8 [1 to 1024] "Queues that a flow can choose from by its hash, 1: a plain hash" ("CAKE, III-B");
    target: Time = "5ms" ["1us" to "10s"] "Standing delay that is accepted in a queue; with `bandwidth` at least the time of one and a half packets" ("Linux");
    interval: Time = "100ms" ["1us" to "100s"] "How long the delay may stay above the target, about the longest round-trip time" ("Linux");
    ecn: bool = true "Whether a packet of an ECN-capable transport is marked instead of dropped by COBALT" ("Linux");
    ce_threshold: Option<Time> = none "Delay in a queue above which packets of L4S, ECT(1), are marked; default: COBALT alone marks them" ("as in FQ-CoDel of Linux");
    salt: u32 = 0 "Salt of the hash of flows";
}

impl Config {
    /// Whether every value is in range, at any link.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self, _: Link) -> Result<(), Refused> {
        self.in_range()?;
        if !self.queues.is_multiple_of(self.ways) {
            let queues = self.queues;
            let message = format!("{queues} is no multiple of ways, which is {}", self.ways);
            return Err(("queues".into(), message));
        }
        Ok(())
    }

    /// Bytes that a lone flow may send per round.
    pub fn quantum(&self) -> u64 {
        self.bandwidth.map_or(MTU, |rate| (rate.bps() / 8 / 4096).clamp(300, MTU))
    }
}

impl Traits for Config {
    fn marks(&self, l4s: bool) -> bool {
        self.ecn || l4s && self.ce_threshold.is_some()
    }

    fn bandwidth(&self) -> Option<Rate> {
        self.bandwidth
    }
}

/// CAKE at one port.
#[derive(Clone, Debug)]
pub struct Cake {
    shaper: Shaper,
    wire: Wire,
    params: Params,
    ecn: bool,
    ce_threshold: Option<Time>,
    rotation: Rotation,
    longest: Box<Longest>,
    links: Links,
}

impl Cake {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> Cake {
        let shaper = Shaper::new(config.bandwidth);
        let (queues, ways) = (config.queues as usize, config.ways as usize);
        let Config { isolation, salt, .. } = *config;
        let wire =
            Wire { overhead: config.overhead, mpu: config.mpu.bytes(), framing: config.framing };
        Cake {
            params: Params::new(config.target, config.interval, shaper.time_of(MTU)),
            shaper,
            wire,
            ecn: config.ecn,
            ce_threshold: config.ce_threshold,
            rotation: Rotation::new(isolation, queues, ways, config.quantum(), salt),
            longest: Box::default(),
            links: Links::default(),
        }
    }

    /// The queue with the most bytes, the arrival included. A tie goes to the arrival's own queue,
    /// otherwise to the last one.
    fn longest(&mut self, own: usize, arrival: u16) -> usize {
        let flows = &self.rotation.flows;
        let longest = self.longest.find(flows.len(), |queue| flows[queue].bytes);
        let of_own = flows[own].bytes + u64::from(arrival);
        if flows[longest].bytes > of_own { longest } else { own }
    }

    /// Drops packets until an arrival at this queue fits; returns whether it does.
    fn make_room(
        &mut self,
        own: usize,
        size: u16,
        waiting: &mut Waiting,
        found: &ArrivalContext,
    ) -> bool {
        let mut left = found.queue;
        while !found.room.fits(left, size) {
            let queue = self.longest(own, size);
            let flow = &mut self.rotation.flows[queue];
            flow.cobalt.queue_full(found.now, &self.params);
            let oldest = flow.packets.pop(&mut self.links);
            let Some((handle, gone)) = oldest.and_then(|at| Some((at, *waiting.get(at)?))) else {
                return false;
            };
            flow.bytes -= u64::from(gone.size);
            left.subtract(&gone);
            waiting.evict(handle);
        }
        true
    }
}

impl Discipline for Cake {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        if waiting.packets() == 0 {
            self.shaper.wake(found.now);
        }
        if found.fits {
            return Verdict::Pass;
        }
        let own = self.rotation.queue_of(packet);
        if self.make_room(own, packet.size, waiting, found) {
            Verdict::Pass
        } else {
            Verdict::Drop(Reason::QueueFull)
        }
    }

    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        let Some(packet) = waiting.get(handle) else { return };
        let queue = self.rotation.queue_of(packet);
        let flow = &mut self.rotation.flows[queue];
        flow.packets.push(handle, &mut self.links);
        flow.bytes += u64::from(packet.size);
        self.longest.grew(queue, flow.bytes);
        self.rotation.added(queue);
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, draw: &mut dyn Draw) -> Next {
        if let Some(later) = self.shaper.holds_until(slot.start) {
            return Next::NotBefore(later);
        }
        let nothing = Next::NotBefore(slot.start);
        let Some(queue) = self.rotation.next_queue(slot.start, &self.params) else {
            return nothing;
        };
        let flow = &mut self.rotation.flows[queue];
        let Some(handle) = flow.packets.pop(&mut self.links) else { return nothing };
        let Some(packet) = waiting.get(handle) else { return nothing };
        let bears_mark = self.ecn && packet.flags.has(Flags::ECT);
        let waited = slot.start - packet.at;
        flow.bytes -= u64::from(packet.size);
        let late = self.ce_threshold.is_some_and(|most| waited > most);
        let l4s = packet.flags.has(Flags::L4S);
        let mut fate = flow.cobalt.judge(slot.start, waited, bears_mark, &self.params, draw);
        if late && l4s && fate == HeadFate::Send {
            fate = HeadFate::Mark;
        }
        if fate == HeadFate::Drop && !flow.packets.is_empty() {
            return Next::Drop(handle, Reason::Early);
        }
        let length = self.wire.length(packet.size);
        self.rotation.sent(queue, length);
        self.shaper.sent(length);
        if fate == HeadFate::Mark { Next::Mark(handle) } else { Next::Send(handle) }
    }

    fn shaping(&self) -> Option<Shaping> {
        self.shaper.measured(self.wire)
    }
}
