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
use tidegate_model::scenario::{self, Queue, Scenario};

use crate::engine::{Entity, Events, Kind};
use crate::run::BuildError;

/// The randomness that a port hands to its laws.
pub(crate) struct PortDraw(Pcg64);

impl Draw for PortDraw {
    fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}

/// Where packets go that have crossed a port's link.
#[derive(Clone, Copy)]
enum Exit {
    /// To a host: it takes every packet.
    Host,
    /// To a router: its routes start at this place of the table of routes.
    Router(u32),
}

const NO_PORT: u32 = u32::MAX;

/// The ports, their events and the routes between them.
pub(crate) struct Network {
    pub(crate) now: Time,
    pub(crate) events: Events,
    pub(crate) ports: Vec<Port>,
    /// What lies at the far end of each port.
    exits: Vec<Exit>,
    /// Of every router, the port for each destination.
    routes: Vec<u32>,
    /// The one port of each host.
    uplinks: Vec<u32>,
    /// Where the routes of each node start, if it is a router.
    routers: Vec<Option<u32>>,
    draws: Vec<PortDraw>,
    /// Node that each port belongs to.
    near: Vec<u16>,
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
        for (number, spec) in (0..).zip(specs) {
            let port = Port::new(number, spec.rate, spec.delay, spec.limit(spec.rate));
            ports.push(match stages(spec, laws)? {
                None => port,
                Some(stages) => port.with_stages(stages),
            });
            draws.push(PortDraw(stream(seed, &spec.name, "port")));
        }
        let routing = Routing::of(&scenario.network);
        let mut network = Network {
            now: Time::ZERO,
            events: Events::default(),
            ports,
            exits: specs.iter().map(|spec| routing.exit(spec.to)).collect(),
            routes: routing.routes,
            uplinks: routing.uplinks,
            routers: routing.routers,
            draws,
            near: specs.iter().map(|spec| spec.from).collect(),
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
            Port::new(port, spec.rate, spec.delay, spec.limit(spec.rate)).with_stages(stages);
        self.schedule_tick(port);
    }

    /// Schedules the next deadline of the port's interval law.
    pub(crate) fn schedule_tick(&mut self, port: u32) {
        let at = self.ports[port as usize].tick_at();
        if at != Time::NEVER {
            self.events.push(at, Entity::new(Kind::Tick, port));
        }
    }

    /// A host sends a packet.
    #[inline]
    pub(crate) fn send(&mut self, packet: &Packet) {
        self.enter(self.uplinks[packet.src as usize], packet);
    }

    /// The event of a port has come up: its next event, and whether the packet
    /// has reached its destination (then it is copied to `arrived`).
    #[inline]
    pub(crate) fn cross(&mut self, number: u32, arrived: &mut Packet) -> (Time, bool) {
        let now = self.now;
        let port = &mut self.ports[number as usize];
        let Some((packet, ())) = port.deliver(now) else {
            return (port.rearm(), false);
        };
        self.hops += 1;
        match self.exits[number as usize] {
            Exit::Host => {
                *arrived = *packet;
                (port.rearm(), true)
            }
            Exit::Router(routes) => {
                let onward = self.routes[routes as usize + packet.dst as usize];
                (self.hand_over(number, onward), false)
            }
        }
    }

    /// Moves the packet that `number` has just delivered on to `onward`,
    /// straight from ring to ring; the next event of `number`.
    #[inline]
    fn hand_over(&mut self, number: u32, onward: u32) -> Time {
        let both = self.ports.get_disjoint_mut([number as usize, onward as usize]);
        let Ok([port, other]) = both else { return Time::NEVER };
        if other.is_plain() {
            other.arrive_plain(port.last_delivered(), (), self.now);
            let due = other.next_event();
            if due < other.armed {
                other.armed = due;
                self.events.push(due, Entity::new(Kind::Port, onward));
            }
            return port.rearm();
        }
        let packet = *port.last_delivered();
        let next = port.rearm();
        self.enter(onward, &packet);
        next
    }

    /// A packet arrives at the queue of a port.
    #[inline]
    fn enter(&mut self, number: u32, packet: &Packet) {
        let Some(port) = self.ports.get_mut(number as usize) else { return };
        let outcome = if port.is_plain() {
            port.arrive_plain(packet, (), self.now)
        } else {
            port.arrive(packet, (), self.now, &mut self.draws[number as usize])
        };
        let due = port.next_event();
        if due < port.armed {
            port.armed = due;
            self.events.push(due, Entity::new(Kind::Port, number));
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
        let (src, dst) =
            if to_opener { (refused.dst, refused.src) } else { (refused.src, refused.dst) };
        let toggled = refused.flags.has(Flags::TO_SOURCE) != to_opener;
        let flags = if toggled { Flags::RST.with(Flags::TO_SOURCE) } else { Flags::RST };
        let reset = Packet { sent: self.now, src, dst, flags, ..*refused };
        let node = self.near[port as usize] as usize;
        let first = match self.routers[node] {
            Some(routes) => self.routes[routes as usize + dst as usize],
            None => self.uplinks[node],
        };
        self.enter(first, &reset);
    }
}

/// The stages that a port's specification asks for.
fn stages(spec: &scenario::Port, laws: &mut Laws<'_>) -> Result<Option<Stages>, BuildError> {
    if spec.gate.is_none() && spec.queue == Queue::DropTail {
        return Ok(None);
    }
    let mut stages = Stages::new();
    stages.queue = spec.queue.build(spec.link());
    if let Some(gate) = &spec.gate {
        let law = match gate.law.build() {
            Some(law) => law,
            None => laws(gate.law.name())
                .ok_or_else(|| BuildError::NoSuchLaw(gate.law.name().to_owned()))?,
        };
        let half = tidegate_core::law::session::Admit {
            limiter: gate.law.limiter(),
            opener: gate.admit,
            refusal: gate.refuse,
        };
        stages.gate = Some(GateStage::new(half, law));
    }
    Ok(Some(stages))
}

/// Shortest paths by number of links; ties go to the port named first.
struct Routing {
    routes: Vec<u32>,
    uplinks: Vec<u32>,
    /// Where the routes of each node start; none: it has one port at the most.
    routers: Vec<Option<u32>>,
}

impl Routing {
    fn of(network: &scenario::Network) -> Routing {
        let nodes = network.nodes.len();
        let mut uplinks = vec![NO_PORT; nodes];
        let mut degree = vec![0u32; nodes];
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for (number, port) in (0..).zip(&network.ports) {
            uplinks[port.from as usize] = number;
            degree[port.from as usize] += 1;
            into[port.to as usize].push(number);
        }
        let mut length = 0;
        let routers: Vec<Option<u32>> = degree
            .iter()
            .map(|&ports| {
                (ports > 1).then(|| {
                    length += nodes as u32;
                    length - nodes as u32
                })
            })
            .collect();
        let mut routing = Routing { routes: vec![NO_PORT; length as usize], uplinks, routers };
        for destination in 0..nodes {
            routing.towards(destination, network, &into);
        }
        routing
    }

    /// Breadth first, backwards from the destination.
    fn towards(&mut self, destination: usize, network: &scenario::Network, into: &[Vec<u32>]) {
        let mut distance = vec![u32::MAX; into.len()];
        distance[destination] = 0;
        let mut frontier = std::collections::VecDeque::from([destination]);
        while let Some(node) = frontier.pop_front() {
            for &port in &into[node] {
                let from = network.ports[port as usize].from as usize;
                if distance[from] == u32::MAX {
                    distance[from] = distance[node] + 1;
                    frontier.push_back(from);
                }
                if distance[from] == distance[node] + 1
                    && let Some(routes) = self.routers[from]
                {
                    let route = &mut self.routes[routes as usize + destination];
                    *route = (*route).min(port);
                }
            }
        }
    }

    fn exit(&self, node: u16) -> Exit {
        self.routers[node as usize].map_or(Exit::Host, Exit::Router)
    }
}
