//! The filter: takes packets of greedy origins out, and asks for help upstream.
//!
//! It stands before the gate, and looks at the queue behind it.

use crate::law::Decision;
use crate::law::greedy::lgc::{self, Lgc, place};
use crate::law::greedy::{Ask, Filters, Key};
use crate::law::queue::ArrivalContext;
use crate::packet::Packet;
use crate::units::{Pace, Time};

/// Tells, of a packet, the neighbour that it came from and its origin, as the
/// carrier names nodes; none: no filter applies to it, as to messages between nodes.
pub type Names = Box<dyn Fn(&Packet) -> Option<Key> + Send>;

/// What the law of a filter has decided, and wants done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Act {
    /// What it decided: `set` is the origin, `from` the packets that it held.
    pub decision: Decision,
    /// What is to be carried to another node.
    pub ask: Option<Ask>,
}

/// LGC at a port: its filters, and the detection of greedy origins.
pub struct FilterStage {
    config: lgc::Config,
    law: Lgc,
    filters: Filters,
    names: Names,
    /// Acts that the carrier has not taken yet.
    acts: Vec<Act>,
}

impl FilterStage {
    /// With parameters that have passed [`lgc::Config::check`].
    pub fn new(config: lgc::Config, names: Names) -> FilterStage {
        FilterStage {
            law: Lgc::new(&config),
            filters: Filters::new(config.most_filters as usize),
            config,
            names,
            acts: Vec::new(),
        }
    }

    /// Before the gate: whether a filter takes the packet.
    #[inline]
    pub(super) fn takes(&self, packet: &Packet, now: Time) -> bool {
        (self.names)(packet).is_some_and(|key| self.filters.takes(key, now))
    }

    /// The packet comes to the queue: whether [`FilterStage::look`] is to
    /// follow when the queue has taken or lost it.
    #[inline]
    pub(super) fn offered(&mut self, packet: &Packet, found: &ArrivalContext) -> bool {
        (self.names)(packet).is_some()
            && self.law.observe(found.queue.packets, found.idle, found.pace, found.now)
    }

    /// The node is congested: who holds its queue?
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

    /// Filters a key, as this node has found or as its neighbour has asked.
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

    /// Whether anything was decided since the last call of `take_acts`.
    pub(super) fn has_acted(&self) -> bool {
        !self.acts.is_empty()
    }

    /// What was decided since the last call.
    pub(super) fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    /// The average queue that the law goes by, in packets.
    pub(super) fn average(&self, idle: Option<Time>, pace: Pace) -> f64 {
        self.law.average(idle, pace)
    }
}
