//! Clock, events and ports: what moves packets, and nothing about flows.
//!
//! It lives beside the flows, so that a borrowed flow can send.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_core::law::session::{Counts, Knobs};
use tidegate_core::law::{Draw, Interval};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{GateStage, Outcome, Port, Stages};
use tidegate_core::units::Time;
use tidegate_model::draw::stream;
use tidegate_model::scenario::{self, Scenario};

use crate::engine::{Entity, Events, Kind};
use crate::run::BuildError;

/// The randomness that a port hands to its laws.
pub(crate) struct PortDraw(Pcg64);

impl Draw for PortDraw {
    fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}

/// Where a node's packets go.
enum Route {
    /// A host: everything through its one port.
    Uplink(u32),
    /// A router: a port for every destination.
    Table(Box<[u32]>),
}

const NO_PORT: u32 = u32::MAX;

/// The ports, their events and the routes between them.
pub(crate) struct Network {
    pub(crate) now: Time,
    pub(crate) events: Events,
    pub(crate) ports: Vec<Port>,
    draws: Vec<PortDraw>,
    /// Node at the far end of each port.
    far: Vec<u16>,
    /// Node that each port belongs to.
    near: Vec<u16>,
    routes: Vec<Route>,
    /// Packets that crossed a link.
    pub(crate) hops: u64,
}

/// Supplies the interval half of a law of the user's own, by its name.
pub(crate) type Laws<'a> = dyn FnMut(&str) -> Option<Box<dyn Interval<Knobs, Counts>>> + 'a;

impl Network {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        laws: &mut Laws<'_>,
    ) -> Result<Network, BuildError> {
        let specs = &scenario.network.ports;
        let mut ports = Vec::with_capacity(specs.len());
        let mut draws = Vec::with_capacity(specs.len());
        for spec in specs {
            let port = Port::new(spec.rate, spec.delay, spec.limit(spec.rate));
            ports.push(match stages(spec, laws)? {
                None => port,
                Some(stages) => port.with_stages(stages),
            });
            draws.push(PortDraw(stream(seed, &spec.name, "port")));
        }
        let mut network = Network {
            now: Time::ZERO,
            events: Events::default(),
            ports,
            draws,
            far: specs.iter().map(|spec| spec.to).collect(),
            near: specs.iter().map(|spec| spec.from).collect(),
            routes: routes(&scenario.network),
            hops: 0,
        };
        for number in 0..network.ports.len() as u32 {
            network.schedule_tick(number);
        }
        Ok(network)
    }

    /// Puts stages at a port; the caller has not started the run yet.
    pub(crate) fn set_stages(&mut self, port: u32, spec: &scenario::Port, stages: Stages) {
        self.ports[port as usize] =
            Port::new(spec.rate, spec.delay, spec.limit(spec.rate)).with_stages(stages);
        self.schedule_tick(port);
    }

    /// Schedules the next deadline of the port's interval law.
    pub(crate) fn schedule_tick(&mut self, port: u32) {
        let at = self.ports[port as usize].tick_at();
        if at != Time::NEVER {
            self.events.push(at, Entity::new(Kind::Tick, port));
        }
    }

    /// The port that a packet for `dst` leaves `node` through.
    #[inline]
    fn port_to(&self, node: u16, dst: u16) -> u32 {
        match &self.routes[node as usize] {
            Route::Uplink(port) => *port,
            Route::Table(table) => table[dst as usize],
        }
    }

    /// A host sends a packet.
    #[inline]
    pub(crate) fn send(&mut self, packet: &Packet) {
        self.enter(self.port_to(packet.src, packet.dst), packet);
    }

    /// A packet has come over `port`: it goes on, or it is delivered.
    #[inline]
    pub(crate) fn forward(&mut self, port: u32, packet: &mut Packet) -> bool {
        self.hops += 1;
        let node = self.far[port as usize];
        if node == packet.dst {
            return true;
        }
        packet.prev_port = port;
        self.enter(self.port_to(node, packet.dst), packet);
        false
    }

    /// A packet arrives at the queue of a port.
    #[inline]
    fn enter(&mut self, number: u32, packet: &Packet) {
        let Some(port) = self.ports.get_mut(number as usize) else { return };
        let outcome = port.arrive(packet, (), self.now, &mut self.draws[number as usize]);
        let next = port.next_event();
        if next < port.armed {
            port.armed = next;
            self.events.push(next, Entity::new(Kind::Port, number));
        }
        if let Outcome::Rejected(_) = outcome {
            self.reject(number, packet);
        }
    }

    /// Tells the opener of a session that it was refused.
    ///
    /// The opener of an upload sent the SYN; that of a download is where the
    /// refused SYN+ACK was going.
    #[cold]
    fn reject(&mut self, port: u32, refused: &Packet) {
        let to_opener = !refused.flags.has(Flags::ACK);
        let (src, dst) = if to_opener {
            (refused.dst, refused.src)
        } else {
            (refused.src, refused.dst)
        };
        let toggled = refused.flags.has(Flags::TO_SOURCE) != to_opener;
        let flags = if toggled { Flags::RST.with(Flags::TO_SOURCE) } else { Flags::RST };
        let reset = Packet { sent: self.now, src, dst, flags, ..*refused };
        self.enter(self.port_to(self.near[port as usize], dst), &reset);
    }
}

/// The stages that a port's specification asks for.
fn stages(spec: &scenario::Port, laws: &mut Laws<'_>) -> Result<Option<Stages>, BuildError> {
    let Some(gate) = &spec.gate else { return Ok(None) };
    let law = match gate.law.build() {
        Some(law) => law,
        None => laws(gate.law.name())
            .ok_or_else(|| BuildError::NoSuchLaw(gate.law.name().to_owned()))?,
    };
    let mut stages = Stages::new();
    let half = tidegate_core::law::session::Admit {
        limiter: gate.law.limiter(),
        opener: gate.admit,
        refusal: gate.refuse,
    };
    stages.gate = Some(GateStage::new(half, law));
    Ok(Some(stages))
}

/// Shortest paths by number of links; ties go to the port named first.
fn routes(network: &scenario::Network) -> Vec<Route> {
    let nodes = network.nodes.len();
    let mut out: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (number, port) in network.ports.iter().enumerate() {
        out[port.from as usize].push(number as u32);
        into[port.to as usize].push(number as u32);
    }
    let mut routes: Vec<Route> = out
        .iter()
        .map(|ports| match ports.as_slice() {
            [only] => Route::Uplink(*only),
            _ => Route::Table(vec![NO_PORT; nodes].into()),
        })
        .collect();
    let mut distance = vec![u32::MAX; nodes];
    for destination in 0..nodes {
        // breadth first, backwards from the destination
        distance.fill(u32::MAX);
        distance[destination] = 0;
        let mut frontier = std::collections::VecDeque::from([destination]);
        while let Some(node) = frontier.pop_front() {
            for &port in &into[node] {
                let from = network.ports[port as usize].from as usize;
                let longer = distance[node] + 1;
                if distance[from] == u32::MAX {
                    distance[from] = longer;
                    frontier.push_back(from);
                }
                if let Route::Table(table) = &mut routes[from]
                    && distance[from] == longer
                    && table[destination] == NO_PORT
                {
                    table[destination] = port;
                }
            }
        }
    }
    routes
}
