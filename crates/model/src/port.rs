//! From the specification of a port to the port, with everything that works at it.
//!
//! Whoever carries packets through a port builds it here: the simulator, and
//! what moves real ones.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_core::law::rate::RateLaw;
use tidegate_core::law::session::{Admission, Admit, Counts, Knobs};
use tidegate_core::law::{Controller, Draw};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{FilterStage, Names, Port, Stage, Stages, Stamp};

use crate::draw::stream;
use crate::law::filter::FilterLaw;
use crate::scenario::{self, Loss, QueueLaw};

/// Supplies the controller of a session law of the user's own, by its name.
pub type Laws<'a> = dyn FnMut(&str) -> Option<Box<dyn Controller<Knobs, Counts>>> + 'a;
/// Supplies the controller of a rate law of the user's own, by its name.
pub type RateLaws<'a> = dyn FnMut(&str) -> Option<RateLaw> + 'a;

/// What a carrier supplies for the ports that it builds.
pub struct Supplied<'a, 'b> {
    /// Session laws of the user's own.
    pub laws: &'a mut Laws<'b>,
    /// Rate laws of the user's own.
    pub rate_laws: &'a mut RateLaws<'b>,
    /// How the carrier names the origins of packets, for filters of the node that is given.
    pub names: &'a dyn Fn(u16) -> Names,
}

/// A law of the user's own that nobody supplied, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchLaw(pub String);

/// Randomness of a port, for one purpose.
pub struct PortDraw(Pcg64);

impl PortDraw {
    /// The stream of this seed, port and purpose.
    fn new(seed: u64, spec: &scenario::Port, purpose: &str) -> PortDraw {
        PortDraw(stream(seed, &spec.name, purpose))
    }
}

impl Draw for PortDraw {
    fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}

/// Random loss on the link of one port.
pub struct Losses {
    shares: Loss,
    draw: PortDraw,
}

impl Losses {
    /// Those of a link under this seed; none: it loses nothing.
    pub fn of(spec: &scenario::Port, seed: u64) -> Option<Losses> {
        let draw = || PortDraw::new(seed, spec, "loss");
        (!spec.loss.is_none()).then(|| Losses { shares: spec.loss, draw: draw() })
    }

    /// Whether the link loses this packet.
    pub fn lose(&mut self, packet: &Packet) -> bool {
        let data = packet.flags.has(Flags::DATA);
        let share = if data { self.shares.data } else { self.shares.ack };
        share > 0.0 && self.draw.uniform() < share
    }
}

impl scenario::Port {
    /// The port with all that works at it; its laws sleep until it is started.
    /// `number` is what packets that leave it say.
    ///
    /// # Errors
    /// A law of the user's own that nobody supplied.
    pub fn build<C: Default>(
        &self,
        number: u32,
        seed: u64,
        supplied: &mut Supplied<'_, '_>,
    ) -> Result<Port<C>, NoSuchLaw> {
        let stages = self.stages(supplied)?;
        Ok(match stages {
            None => Port::new(number, self.rate, self.delay, self.limit(self.rate)),
            Some(stages) => self.with_stages(number, seed, stages),
        })
    }

    /// The same with stages that the caller has made.
    pub fn with_stages<C: Default>(&self, number: u32, seed: u64, stages: Stages) -> Port<C> {
        let draw = PortDraw::new(seed, self, "port");
        Port::new(number, self.rate, self.delay, self.limit(self.rate))
            .with_stages(stages, Box::new(draw))
    }

    /// The stages that the specification asks for; none: it is a plain port.
    fn stages(&self, supplied: &mut Supplied<'_, '_>) -> Result<Option<Stages>, NoSuchLaw> {
        let plain = self.queue == QueueLaw::default() && self.stamp.is_none();
        if plain && self.gate.is_none() && self.filter.is_none() && self.record == 0 {
            return Ok(None);
        }
        let no_such = |law: &str| NoSuchLaw(law.to_owned());
        let mut stages = Stages::new();
        if let Some(FilterLaw::Lgc(config)) = &self.filter {
            stages.filter = Some(FilterStage::new(config.clone(), (supplied.names)(self.from)));
        }
        stages.queue = self.queue.build(self.link());
        if let Some(law) = &self.stamp {
            stages.stamp = Some(match law.build(self.link()) {
                Some(stamp) => stamp,
                None => (supplied.rate_laws)(law.name())
                    .map(Stamp::grant)
                    .ok_or_else(|| no_such(law.name()))?,
            });
        }
        if let Some(gate) = &self.gate {
            let law = match gate.law.build() {
                Some(law) => law,
                None => (supplied.laws)(gate.law.name()).ok_or_else(|| no_such(gate.law.name()))?,
            };
            let rules = gate.law.admission(gate.admit, gate.refuse);
            let rules = Admission { charge: gate.charge, ..rules };
            stages.gate = Some(Stage::new(Admit::new(rules), law));
        }
        Ok(Some(stages))
    }
}
