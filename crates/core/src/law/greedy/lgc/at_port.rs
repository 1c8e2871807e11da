//! The filter: drops packets of greedy origins, and asks for filters upstream. It is before the
//! gate and watches the queue after it.

use crate::law::Decision;
use crate::law::greedy::lgc::{self, Lgc, place};
use crate::law::greedy::{Ask, Filters, Key};
use crate::law::queue::ArrivalContext;
use crate::packet::Packet;
use crate::units::{Pace, Time};

/// Returns a packet's neighbour and origin, in the carrier's names for nodes; none: no filter
/// applies to it, as to messages between nodes.
pub type Names = Box<dyn Fn(&Packet) -> Option<Key> + Send>;

/// A decision of a filter's law, and its request to another node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Act {
    /// The decision: `set` is the origin, `from` the number of its packets in the queue.
    pub decision: Decision,
    /// The request that the carrier delivers.
    pub ask: Option<Ask>,
}

/// LGC at a port: its filters, and the detector of greedy origins.
pub struct FilterStage {
    config: lgc::Config,
    law: Lgc,
    filters: Filters,
    names: Names,
    /// Decisions that the carrier has not taken yet.
    acts: Vec<Act>,
}

impl FilterStage {
    /// A stage with parameters that have passed [`lgc::Config::check`].
    pub fn new(config: lgc::Config, names: Names) -> FilterStage {
        FilterStage {
            law: Lgc::new(&config),
            filters: Filters::new(config.most_filters as usize),
            config,
            names,
            acts: Vec::new(),
        }
    }

    /// Before the gate: whether a filter drops the packet.
    #[inline]
    pub(super) fn takes(&self, packet: &Packet, now: Time) -> bool {
        (self.names)(packet).is_some_and(|key| self.filters.takes(key, now))
    }

    /// The packet is offered to the queue. Returns whether [`FilterStage::look`] must be called
    /// once the queue has accepted or dropped it.
    #[inline]
    pub(super) fn offered(&mut self, packet: &Packet, found: &ArrivalContext) -> bool {
        (self.names)(packet).is_some()
            && self.law.observe(found.queue.packets, found.idle, found.pace, found.now)
    }

    /// The node is congested: finds who holds its queue.
    #[cold]
    pub(super) fn look<'a>(&mut self, now: Time, queued: impl Iterator<Item = &'a Packet>) {
        let trigger = self.law.trigger(now, queued.filter_map(|packet| (self.names)(packet)));
        match trigger.greedy {
            Some((key, held)) => self.filter(key, held, now),
            None => {
                let decision =
                    Decision { phase: "none", set: f64::NAN, from: f64::from(trigger.packets) };
                self.acts.push(Act { decision, ask: None });
            }
        }
    }

    /// Installs a filter, found by this node or requested by its neighbour.
    pub(super) fn filter(&mut self, key: Key, held: u32, now: Time) {
        let placement = place(&self.config, key, now);
        let installed = self.filters.install(key, placement.until, now);
        let phase = match (installed, placement.ask) {
            (false, _) => "full",
            (true, Some(_)) => "filter",
            (true, None) => "first-hop",
        };
        let decision = Decision { phase, set: key.origin.0 as f64, from: f64::from(held) };
        self.acts.push(Act { decision, ask: placement.ask.filter(|_| installed) });
    }

    /// Whether [`FilterStage::take_acts`] has something to return.
    pub(super) fn has_acted(&self) -> bool {
        !self.acts.is_empty()
    }

    /// The decisions since the last call.
    pub(super) fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    /// The average queue that the law uses, in packets.
    pub(super) fn average(&self, idle: Option<Time>, pace: Pace) -> f64 {
        self.law.average(idle, pace)
    }
}
