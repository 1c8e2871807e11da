//! CAKE's queues and the order in which they are served: DRR++ with a state for queues at rest
//! (CAKE, III-B; the states are those of Linux' `sch_cake`).
//!
//! | state         | meaning                                             | list              |
//! |---------------|-----------------------------------------------------|-------------------|
//! | `Rest`        | empty, with no state left                           | none              |
//! | `Sparse`      | came from rest and has not used its quantum up      | new queues        |
//! | `SparseWait`  | was empty when it had used its quantum up           | old queues        |
//! | `Bulk`        | had more to send when it had used its quantum up    | old queues        |
//! | `Decaying`    | empty; its COBALT is not at rest yet                | decaying queues   |
//!
//! 1. A packet appends a queue that was at rest or decaying to the new queues, with a deficit of
//!    one quantum; a queue in `SparseWait` becomes `Bulk`.
//! 2. The first of the new queues is examined or, if there is none, the first of the old queues.
//! 3. A queue without deficit gets a quantum and moves to the end of the old queues.
//! 4. An empty queue decays, and leaves when its COBALT is at rest.

use std::collections::VecDeque;

use super::cobalt::{Cobalt, Params};
use super::hosts::{Hosts, Isolation, Pair};
use super::sets::{Sets, TagPlace};
use crate::law::queue::Chain;
use crate::packet::Packet;
use crate::units::Time;

/// Deficits are in 1/65536 of a byte, so that shares of a quantum need no rounding.
const FRACTION_BITS: u32 = 16;

/// The state of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Empty, with no state left.
    #[default]
    Rest,
    /// Has not used its first quantum up.
    Sparse,
    /// Was empty when it had used its quantum up; still counts as sparse.
    SparseWait,
    /// Has more to send whenever its turn comes.
    Bulk,
    /// Empty; its COBALT is not at rest.
    Decaying,
}

/// One queue.
#[derive(Clone, Debug, Default)]
pub struct FlowQueue {
    /// The waiting packets.
    pub packets: Chain,
    /// Its bytes.
    pub bytes: u64,
    /// Its AQM.
    pub cobalt: Cobalt,
    state: State,
    /// How often it has begun to decay.
    decays: u32,
    deficit: i64,
    hosts: Pair,
}

/// All queues, and the order in which they are served.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// The queues, by index.
    pub flows: Box<[FlowQueue]>,
    isolation: Isolation,
    salt: u32,
    sets: Sets,
    hosts: Hosts,
    /// Bytes that a lone flow may send per round.
    quantum: u64,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Decaying queues, each with the number of its decay: an entry of an earlier one is skipped, so
    /// that a queue that gets a packet need not be searched for here.
    decaying: VecDeque<(u32, u32)>,
    /// How many entries of these lists were looked at.
    #[cfg(test)]
    looked: u64,
}

impl Rotation {
    /// A table of `count` queues, a multiple of `ways`.
    pub fn new(isolation: Isolation, queues: usize, ways: usize, quantum: u64, salt: u32) -> Self {
        Rotation {
            flows: vec![FlowQueue::default(); queues].into(),
            isolation,
            salt,
            sets: Sets::new(queues, ways),
            hosts: Hosts::new(isolation, queues, ways),
            quantum,
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            #[cfg(test)]
            looked: 0,
        }
    }

    /// The queue of a packet, with the hosts that it now counts for.
    pub fn queue_of(&mut self, packet: &Packet) -> usize {
        let tag = match self.isolation {
            Isolation::None => 0,
            _ => (packet.flow_hash(self.salt) >> 32) as u32,
        };
        let flows = &self.flows;
        let place = self.sets.find(tag, |place| flows[place].state != State::Rest);
        let (TagPlace::Known(queue) | TagPlace::Free(queue) | TagPlace::Shared(queue)) = place;
        if let TagPlace::Known(_) = place {
            return queue;
        }
        // a queue that becomes shared counts for the hosts of the new flow
        let bulk = self.flows[queue].state == State::Bulk;
        if bulk {
            self.hosts.end(self.flows[queue].hosts);
        }
        let hosts = self.hosts.find(packet.src, packet.dst);
        self.flows[queue].hosts = hosts;
        if bulk {
            self.hosts.begin(hosts);
        }
        queue
    }

    /// The quantum of a queue.
    fn quantum(&self, queue: usize) -> i64 {
        let load = u64::from(self.hosts.load(self.flows[queue].hosts));
        ((self.quantum << FRACTION_BITS) / load).max(1).cast_signed()
    }

    /// Changes the state of a queue, and the bulk flows of its hosts.
    fn becomes(&mut self, queue: usize, state: State) {
        let hosts = self.flows[queue].hosts;
        match (self.flows[queue].state, state) {
            (State::Bulk, State::Bulk) => {}
            (State::Bulk, _) => self.hosts.end(hosts),
            (_, State::Bulk) => self.hosts.begin(hosts),
            _ => {}
        }
        self.flows[queue].state = state;
    }

    /// A packet was added to a queue.
    pub fn added(&mut self, queue: usize) {
        match self.flows[queue].state {
            State::Sparse | State::Bulk => {}
            State::SparseWait => self.becomes(queue, State::Bulk),
            State::Rest | State::Decaying => {
                self.becomes(queue, State::Sparse);
                self.flows[queue].deficit = self.quantum(queue);
                self.new.push_back(queue as u32);
            }
        }
    }

    /// The queue to serve next: it has deficit and packets.
    pub fn next_queue(&mut self, now: Time, params: &Params) -> Option<usize> {
        // one decaying queue is examined each time
        while let Some((queue, decay)) = self.decaying.pop_front() {
            #[cfg(test)]
            (self.looked += 1);
            let flow = &self.flows[queue as usize];
            if flow.state == State::Decaying && flow.decays == decay {
                self.empty(queue as usize, now, params);
                break;
            }
        }
        loop {
            #[cfg(test)]
            (self.looked += 1);
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let queue = *list.front()? as usize;
            if self.flows[queue].deficit <= 0 {
                list.pop_front();
                self.old.push_back(queue as u32);
                if self.flows[queue].state == State::Sparse {
                    let empty = self.flows[queue].packets.is_empty();
                    self.becomes(queue, if empty { State::SparseWait } else { State::Bulk });
                }
                self.flows[queue].deficit += self.quantum(queue);
            } else if self.flows[queue].packets.is_empty() {
                list.pop_front();
                self.empty(queue, now, params);
            } else {
                return Some(queue);
            }
        }
    }

    /// A queue that is on no list was found empty.
    fn empty(&mut self, queue: usize, now: Time, params: &Params) {
        self.flows[queue].cobalt.queue_empty(now, params);
        if self.flows[queue].cobalt.rests(now) {
            self.becomes(queue, State::Rest);
        } else {
            self.becomes(queue, State::Decaying);
            let flow = &mut self.flows[queue];
            flow.decays = flow.decays.wrapping_add(1);
            self.decaying.push_back((queue as u32, flow.decays));
        }
    }

    /// A queue has sent a packet of this adjusted length.
    pub fn sent(&mut self, queue: usize, length: u64) {
        self.flows[queue].deficit -= (length << FRACTION_BITS).cast_signed();
    }

    /// The state of a queue.
    pub fn state(&self, queue: usize) -> State {
        self.flows[queue].state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: each of n decaying queues gets a packet, which searches nothing. All have sent it
    /// by the next turn, which passes the n old entries, the n queues, and finds no further one.
    /// The turn after it examines one decaying queue and finds none to serve.
    #[test]
    fn a_packet_for_a_decaying_queue_costs_the_same_whatever_else_decays() {
        let now = Time::from_secs(1);
        let params = Params::new(Time::from_ms(5), Time::from_ms(100), Time::ZERO);
        for queues in [8, 64, 1024] {
            let mut rotation = Rotation::new(Isolation::None, queues, 8, 1514, 0);
            for queue in 0..queues {
                rotation.flows[queue].cobalt.queue_full(now, &params);
                rotation.empty(queue, now, &params);
                assert_eq!(rotation.state(queue), State::Decaying);
            }
            for queue in (0..queues).rev() {
                rotation.added(queue);
                assert_eq!(rotation.state(queue), State::Sparse);
            }
            assert_eq!(rotation.next_queue(now, &params), None);
            assert_eq!(rotation.looked, 2 * queues as u64 + 1);
            assert_eq!(rotation.next_queue(now, &params), None);
            assert_eq!(rotation.looked, 2 * queues as u64 + 3);
        }
    }

    /// By hand: queue 0 decays, gets a packet, and decays again behind queue 1, which is examined
    /// first and comes to rest.
    #[test]
    fn a_queue_that_decays_again_is_examined_behind_the_others() {
        let params = Params::new(Time::from_ms(5), Time::from_ms(100), Time::ZERO);
        let (now, later) = (Time::from_secs(1), Time::from_secs(1000));
        let mut rotation = Rotation::new(Isolation::None, 8, 8, 1514, 0);
        for queue in [0, 1] {
            rotation.flows[queue].cobalt.queue_full(now, &params);
            rotation.empty(queue, now, &params);
        }
        rotation.added(0);
        rotation.new.clear();
        rotation.empty(0, now, &params);
        for queue in [0, 1] {
            rotation.flows[queue].cobalt = Cobalt::default();
        }
        rotation.next_queue(later, &params);
        assert_eq!([0, 1].map(|queue| rotation.state(queue)), [State::Decaying, State::Rest]);
    }
}
