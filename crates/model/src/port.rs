//! Builds a port with all its stages from the specification.
//!
//! Every carrier of packets builds its ports here: the simulator, and the programs for real
//! packets.

mod link;
mod mishaps;

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_core::law::greedy::{Filter, Names};
use tidegate_core::law::queue::{Discipline, Traits};
use tidegate_core::law::rate::RateLaw;
use tidegate_core::law::session::keep::Kept;
use tidegate_core::law::session::onset::AtOnset;
use tidegate_core::law::session::told::Told;
use tidegate_core::law::session::{Admission, Admit, Counts, Knobs, young};
use tidegate_core::law::{Controller, Draw};
use tidegate_core::port::{Policer, Port, Stage, Stages, Stamp};
use tidegate_core::units::{Rate, Time};

use crate::draw::stream;
use crate::registry::law::GateKeys;
use crate::registry::law::filter::FilterLaw;
use crate::scenario::{self, LinkValue, QueueLaw};
pub use link::Media;
pub use mishaps::{Mishap, Mishaps};

/// Supplies the controller of a user's own session law, by its name.
pub type Laws<'a> = dyn FnMut(&str) -> Option<Box<dyn Controller<Knobs, Counts>>> + 'a;
/// Supplies the controller of a user's own rate law, by its name.
pub type RateLaws<'a> = dyn FnMut(&str) -> Option<RateLaw> + 'a;
/// Supplies a user's own queue law for one port, by its name, with random numbers of its own.
pub type QueueLaws<'a> = dyn FnMut(&str, PortDraw) -> Option<Box<dyn Discipline>> + 'a;
/// Supplies a user's own filter for one port, by its name, with random numbers of its own.
pub type Screens<'a> = dyn FnMut(&str, PortDraw) -> Option<Box<dyn Filter>> + 'a;

/// Laws of the user's own, each by its name.
#[derive(Default)]
pub struct OwnLaws<'a> {
    /// Session laws.
    pub sessions: Option<&'a mut Laws<'a>>,
    /// Rate laws.
    pub rates: Option<&'a mut RateLaws<'a>>,
    /// Queue laws.
    pub queues: Option<&'a mut QueueLaws<'a>>,
    /// Filters.
    pub filters: Option<&'a mut Screens<'a>>,
}

/// What a carrier supplies for its ports.
pub struct Supplied<'a, 'b> {
    /// Laws of the user's own.
    pub own: &'a mut OwnLaws<'b>,
    /// How the carrier identifies the origin of a packet, for the filter of the given node.
    pub names: &'a dyn Fn(u16) -> Names,
    /// What its ports share.
    pub media: &'a mut Media,
}

/// A user's own law that was not supplied; its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchLaw(pub String);

/// The random numbers of a port, for one purpose.
pub struct PortDraw(Pcg64);

impl PortDraw {
    /// The random stream of this seed, port and purpose.
    fn new(seed: u64, spec: &scenario::Port, purpose: &str) -> PortDraw {
        PortDraw(stream(seed, &spec.name, purpose))
    }
}

impl Draw for PortDraw {
    fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}

impl scenario::Port {
    /// Whether its link loses packets at random, at any time.
    pub fn loses(&self) -> bool {
        !self.loss.is_none() || self.impairments.loss.is_some()
    }

    /// Whether something may befall a packet that has crossed its link.
    pub fn mistreats(&self) -> bool {
        self.loses() || self.impairments.corrupt > 0.0 || self.impairments.duplicate > 0.0
    }

    /// Its capacity while its link has this rate: a shaper of its queue may let less through.
    pub fn carries(&self, rate: Rate) -> Rate {
        self.queue.bandwidth().map_or(rate, |shaper| rate.min(shaper))
    }

    /// Builds the port with its stages. Its laws do not run until they are started. `number`
    /// identifies the port on the packets that leave it.
    ///
    /// # Errors
    /// A user's own law that was not supplied.
    pub fn build<C: Default>(
        &self,
        number: u32,
        seed: u64,
        supplied: &mut Supplied<'_, '_>,
    ) -> Result<Port<C>, NoSuchLaw> {
        let stages = self.stages(seed, supplied)?;
        Ok(match stages {
            None => {
                let port = Port::new(number, self.rate, self.delay, self.limit(self.rate));
                self.on_its_link(port, seed, supplied.media)
            }
            Some(stages) => self.with_stages(number, seed, stages, supplied.media),
        })
    }

    /// The same with stages that the caller has built.
    pub fn with_stages<C: Default>(
        &self,
        number: u32,
        seed: u64,
        stages: Stages,
        media: &mut Media,
    ) -> Port<C> {
        let draw = PortDraw::new(seed, self, "port");
        let port = Port::new(number, self.rate, self.delay, self.limit(self.rate));
        self.on_its_link(port.with_stages(stages, Box::new(draw)), seed, media)
    }

    /// Prepares the port for what its link does during the run.
    fn on_its_link<C: Default>(&self, port: Port<C>, seed: u64, media: &mut Media) -> Port<C> {
        match link::link(&self.impairments, seed, &self.name, media) {
            Some(link) => port.varying(link),
            None => port,
        }
    }

    /// Makes a change of the link at the port, which was built from this.
    pub fn change<C: Default>(&self, port: &mut Port<C>, to: LinkValue, now: Time) {
        match to {
            LinkValue::Rate(rate) => {
                // a buffer that follows the rate goes by that at which the port sends, never 0
                let limit = self.limit(rate.max(Rate::LEAST));
                port.set_capacity(now, rate, limit);
            }
            LinkValue::Delay { delay, another_path } => port.set_delay(now, delay, another_path),
        }
    }

    /// Whether it needs no stage.
    fn is_plain(&self) -> bool {
        let checks = self.impairments.lifetime.is_some() || self.impairments.police.is_some();
        let laws = self.gate.is_some() || self.filter.is_some() || self.stamp.is_some();
        !checks && !laws && self.queue == QueueLaw::default() && self.record == 0
    }

    /// The stages of the specification; none: a plain port.
    fn stages(
        &self,
        seed: u64,
        supplied: &mut Supplied<'_, '_>,
    ) -> Result<Option<Stages>, NoSuchLaw> {
        if self.is_plain() {
            return Ok(None);
        }
        let no_such = |law: &str| NoSuchLaw(law.to_owned());
        let mut stages = Stages::new();
        stages.lifetime = self.impairments.lifetime;
        stages.police = self.impairments.police.map(|one| Policer::new(one.rate, one.burst));
        stages.filter = match &self.filter {
            Some(FilterLaw::Custom(own)) => {
                let draw = PortDraw::new(seed, self, "filter");
                let filter = supplied.own.filters.as_mut().and_then(|of| of(&own.name, draw));
                Some(filter.ok_or_else(|| no_such(&own.name))?)
            }
            Some(law) => law.build(|| (supplied.names)(self.from)),
            None => None,
        };
        stages.queue = self.queue.build(self.link());
        if let Some(name) = self.queue.own() {
            // the stream that a built-in law of this port draws from
            let draw = PortDraw::new(seed, self, "port");
            let law = supplied.own.queues.as_mut().and_then(|of| of(name, draw));
            stages.queue.put_own(law.ok_or_else(|| no_such(name))?);
        }
        if let Some(law) = &self.stamp {
            stages.stamp = Some(match law.build(self.link()) {
                Some(stamp) => stamp,
                None => {
                    let own = supplied.own.rates.as_mut().and_then(|of| of(law.name()));
                    own.map(Stamp::grant).ok_or_else(|| no_such(law.name()))?
                }
            });
        }
        if let Some(gate) = &self.gate {
            let law = match gate.law.build() {
                Some(law) => law,
                None => {
                    let own = supplied.own.sessions.as_mut().and_then(|of| of(gate.law.name()));
                    own.ok_or_else(|| no_such(gate.law.name()))?
                }
            };
            let rate = self.link().rate;
            let keys = &gate.keys;
            let rules = gate.law.admission(gate.opener(), keys.refuse, rate);
            let (charge, quic, ingress) = (keys.charge, keys.quic, gate.ingress());
            let mut rules = Admission { charge, quic, ingress, ..rules };
            let law = match keys.onset {
                Time::ZERO => law,
                wait => {
                    // the table of young flows tells which sessions were answered
                    let young = rules.young.get_or_insert(young::Config::default().at(rate));
                    Box::new(AtOnset::new(law, wait, young.sample == 1))
                }
            };
            stages.gate = Some(Stage::new(Admit::new(rules), as_at_a_real_gate(law, keys)));
        }
        Ok(Some(stages))
    }
}

/// A law that keeps tokens, and knows a capacity, as at a real gate, where the keys say so.
fn as_at_a_real_gate(
    mut law: Box<dyn Controller<Knobs, Counts>>,
    keys: &GateKeys,
) -> Box<dyn Controller<Knobs, Counts>> {
    if keys.tokens_keep > 0.0 {
        law = Box::new(Kept::new(law, keys.tokens_keep));
    }
    match keys.capacity {
        Some(capacity) => Box::new(Told::new(law, capacity)),
        None => law,
    }
}
