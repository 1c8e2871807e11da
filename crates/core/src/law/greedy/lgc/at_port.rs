//! LGC at a port: its filters, and the detector of greedy origins.

use crate::law::greedy::{Act, Filter, Filters, Key, Names};
use crate::law::queue::ArrivalContext;
use crate::law::{Decision, Draw, PerPacket, Reason, Verdict};
use crate::packet::Packet;
use crate::units::{Pace, Time};

use super::{Config, Lgc, place};

/// LGC as the filter of a port.
pub struct AtPort {
    config: Config,
    law: Lgc,
    filters: Filters,
    names: Names,
    /// Decisions that the carrier has not taken yet.
    acts: Vec<Act>,
}

impl AtPort {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, names: Names) -> AtPort {
        AtPort {
            law: Lgc::new(config),
            filters: Filters::new(config.most_filters as usize),
            config: config.clone(),
            names,
            acts: Vec::new(),
        }
    }

    /// Installs a filter, found by this node or requested by its neighbour.
    fn filter(&mut self, key: Key, held: u32, now: Time) {
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
}

impl PerPacket for AtPort {
    fn arrive(&mut self, packet: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
        match (self.names)(packet).is_some_and(|key| self.filters.takes(key, now)) {
            true => Verdict::Drop(Reason::Filtered),
            false => Verdict::Pass,
        }
    }
}

impl Filter for AtPort {
    fn offered(&mut self, packet: &Packet, found: &ArrivalContext) -> bool {
        (self.names)(packet).is_some()
            && self.law.observe(found.queue.packets, found.idle, found.pace, found.now)
    }

    #[cold]
    fn see_queue(&mut self, now: Time, queued: &mut dyn Iterator<Item = &Packet>) {
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

    fn asked(&mut self, key: Key, now: Time) {
        self.filter(key, 0, now);
    }

    fn has_acted(&self) -> bool {
        !self.acts.is_empty()
    }

    fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    fn average(&self, idle: Option<Time>, pace: Pace) -> Option<f64> {
        Some(self.law.average(idle, pace))
    }
}
