//! One run: a scenario and a seed give columns.

mod step;

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_core::law::Fault;
use tidegate_core::packet::Packet;
use tidegate_core::port::{Port, Stages};
use tidegate_core::units::Time;
use tidegate_model::control::{self, TcpControl};
use tidegate_model::draw::{ClassDraws, FlowDraw, stream};
use tidegate_model::port::{Laws, RateLaws};
use tidegate_model::profile::Profile;
use tidegate_model::scenario::{Class, Direction, FlowSize, Scenario, Transport, Udp};

use crate::capture::{Capture, Identity};
use crate::engine::{Entity, Kind};
use crate::network::Network;
use crate::probe::{Probe, Results, flow_columns};
use crate::rows::{Row, UNLIMITED};
use crate::series::{Flows, Series};
use crate::services::Hop;
use crate::transport::control::{Any, Control, Reno};
use crate::transport::table::video::VideoTable;
use crate::transport::table::{FlowId, FlowTable, NewFlow, World};
use crate::transport::udp::UdpTable;
use crate::transport::{ClassParams, Repair};

/// Why a run could not be built from a scenario.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A port asks for a law of the user's own that was not supplied.
    #[error("no law named `{0}` was supplied; hand one in under that name")]
    NoSuchLaw(String),
    /// There is no port of the name given for stages or a capture.
    #[error("no port is named `{0}`")]
    NoSuchPort(String),
    /// The class whose control was supplied is not there, or has none.
    #[error("no class of traffic is named `{0}`, or it is UDP and has no control")]
    NoSuchClass(String),
    /// A law of the user's own could not be started.
    #[error(transparent)]
    Law(Fault),
}

/// The progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The instant or the number of events was reached; there is more.
    Paused,
    /// The scenario's duration is over.
    Done,
}

/// Randomness of SYN retries.
pub(crate) struct JitterDraw(Pcg64);

impl JitterDraw {
    /// The draws of a class.
    pub(crate) fn new(seed: u64, class: &str) -> JitterDraw {
        JitterDraw(stream(seed, class, "syn-jitter"))
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}

/// Parts of a run that the caller supplies in addition to the scenario.
#[derive(Default)]
pub struct Custom<'a> {
    /// The controller of a session law, by the name that the scenario gives it.
    pub laws: Option<&'a mut Laws<'a>>,
    /// The controller of a rate law, by the name that the scenario gives it.
    pub rate_laws: Option<&'a mut RateLaws<'a>>,
    /// Stages to put at ports, by the port's name, in place of what the scenario says.
    pub stages: Vec<(String, Stages)>,
    /// A control for the flows of a class, by the class's name.
    pub controls: Vec<(String, Factory)>,
    /// The port whose packets [`Simulation::drain_capture`] gives.
    pub capture: Option<String>,
}

/// Makes the control of one new flow.
pub type Factory = Box<dyn FnMut() -> Box<dyn Control> + Send>;

/// Where the flows of a class get their control from.
enum Source {
    /// Reno, in a table of its own.
    Reno,
    /// Another control inside TCP.
    Inside,
    /// Viewers of video, with TCP's own control or one that the caller supplies.
    Video(Option<Factory>),
    Udp,
    Controlled(control::Control),
    Custom(Factory),
}

impl Source {
    /// Where the flows of a class get it from; what the caller supplies is taken out.
    fn of(class: &Class, controls: &mut Vec<(String, Factory)>) -> Source {
        let control = controls.iter().position(|(name, _)| *name == class.name);
        match (&class.transport, control) {
            (Transport::Udp(_), _) => Source::Udp,
            _ if class.video.is_some() => {
                Source::Video(control.map(|place| controls.swap_remove(place).1))
            }
            (_, Some(place)) => Source::Custom(controls.swap_remove(place).1),
            (Transport::Controlled(_, control), None) => Source::Controlled(control.clone()),
            (Transport::Tcp(tcp), None) if tcp.control == TcpControl::Reno => Source::Reno,
            (Transport::Tcp(_), None) => Source::Inside,
        }
    }
}

/// A traffic class at work.
struct Arrivals {
    draws: ClassDraws,
    pending: Option<FlowDraw>,
    source: Source,
}

/// One run of one scenario.
pub struct Simulation {
    scenario: Scenario,
    net: Network,
    reno: FlowTable<Reno>,
    other: FlowTable<Any>,
    udp: UdpTable,
    video: VideoTable,
    /// Whether the flows of a kind do not fit into a near cache.
    large: bool,
    classes: Vec<ClassParams>,
    arrivals: Vec<Arrivals>,
    rows: Vec<Row>,
    probe: Probe,
    series: Option<Box<Series>>,
    capture: Option<Capture>,
    /// The packet that has just reached its destination.
    arrived: Packet,
    delivered: u64,
    done: bool,
}

pub(crate) const RENO: u32 = 0;
const OTHER: u32 = 1;
pub(crate) const VIDEO: u32 = 2;
pub(crate) const UDP: u32 = 7;

impl Simulation {
    /// Makes a scenario ready to run.
    ///
    /// # Errors
    /// [`BuildError`] where the scenario asks for a part that `custom` lacks.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        mut custom: Custom<'_>,
    ) -> Result<Simulation, BuildError> {
        let mut none = |_: &str| None;
        let laws: &mut Laws<'_> = match custom.laws.take() {
            Some(laws) => laws,
            None => &mut none,
        };
        let mut none = |_: &str| None;
        let rate_laws: &mut RateLaws<'_> = match custom.rate_laws.take() {
            Some(laws) => laws,
            None => &mut none,
        };
        let mut net = Network::new(scenario, seed, laws, rate_laws)?;
        for (name, stages) in custom.stages {
            let port = port_of(scenario, name)?;
            net.set_stages(port as u32, &scenario.network.ports[port], stages, seed)?;
        }
        let mut capture = None;
        if let Some(name) = custom.capture {
            let port = port_of(scenario, name)?;
            net.ports[port].watch();
            capture = Some(Capture::new(port as u32, scenario));
        }
        let mut arrivals = Vec::new();
        for class in &scenario.traffic {
            let source = Source::of(class, &mut custom.controls);
            arrivals.push(Arrivals { draws: ClassDraws::new(seed, class), pending: None, source });
        }
        if let Some((name, _)) = custom.controls.pop() {
            return Err(BuildError::NoSuchClass(name));
        }
        let mut run = Simulation {
            classes: scenario.traffic.iter().map(|class| params(class, seed)).collect(),
            probe: Probe::new(scenario),
            series: Series::new(scenario).map(Box::new),
            capture,
            scenario: scenario.clone(),
            net,
            reno: FlowTable::new(RENO),
            other: FlowTable::new(OTHER),
            udp: UdpTable::new(UDP, scenario.traffic.iter().map(udp), scenario.warmup),
            video: VideoTable::new(VIDEO, scenario),
            large: false,
            arrivals,
            rows: Vec::new(),
            arrived: Packet::default(),
            delivered: 0,
            done: false,
        };
        run.schedule();
        Ok(run)
    }

    /// Schedules the events that are known at the start.
    fn schedule(&mut self) {
        for class in 0..self.arrivals.len() as u32 {
            self.schedule_arrival(class);
            if let FlowSize::Unlimited { stop } = self.scenario.traffic[class as usize].size
                && stop < self.scenario.duration
            {
                self.net.events.push(stop, Entity::new(Kind::Stop, class));
            }
        }
        for (number, change) in self.scenario.capacity.iter().enumerate() {
            self.net.events.push(change.at, Entity::new(Kind::Change, number as u32));
        }
        // without a warm-up the whole run counts, what is sent at once included
        if self.scenario.warmup > Time::ZERO {
            self.net.events.push(self.scenario.warmup, Entity::new(Kind::Warm, 0));
        }
        let first = self.scenario.sample.min(self.scenario.duration);
        self.net.events.push(first, Entity::new(Kind::Sample, 0));
        self.schedule_series();
    }

    fn schedule_arrival(&mut self, class: u32) {
        let arrivals = &mut self.arrivals[class as usize];
        arrivals.pending = arrivals.draws.next_flow();
        if let Some(flow) = &arrivals.pending
            && flow.start < self.scenario.duration
        {
            self.net.events.push(flow.start, Entity::new(Kind::Arrival, class));
        }
    }

    /// Schedules the next rows of what is followed.
    fn schedule_series(&mut self) {
        let Some(series) = &self.series else { return };
        let (now, end) = (self.net.now, self.scenario.duration);
        if now < end {
            self.net.events.push((now + series.every).min(end), Entity::new(Kind::Series, 0));
        }
    }

    /// The present instant of simulated time.
    pub fn now(&self) -> Time {
        self.net.now
    }

    /// The ports, in the order of the scenario's network.
    pub fn ports(&self) -> &[Port] {
        &self.net.ports
    }

    /// Asks, from now on, every node that forwards from `from` to `to` (places in
    /// the scenario's network) how long its queue is there.
    ///
    /// The questions and answers are packets: they take time, and may be lost.
    pub fn trace(&mut self, from: u16, to: u16) {
        let nodes = self.scenario.network.nodes.len();
        if usize::from(from.max(to)) < nodes {
            self.net.trace(from, to);
        }
    }

    /// What was answered so far, in the order in which it came.
    pub fn traced(&self) -> &[Hop] {
        &self.net.traced
    }

    /// Packets that have crossed a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.net.hops
    }

    /// The next bytes of the capture (pcap) that [`Custom::capture`] asked for:
    /// of the packets that the port has sent since the last call. Without any
    /// there are no bytes. Call it after every slice: until then they are kept.
    pub fn drain_capture(&mut self) -> Vec<u8> {
        let Some(capture) = &mut self.capture else { return Vec::new() };
        let sent = self.net.ports[capture.port as usize].take_sent(self.net.now);
        capture.write(&sent)
    }

    /// Runs until `until`, or for `budget` events, or to the end.
    ///
    /// # Errors
    /// The fault of a law of the user's own; the run cannot go on after it.
    pub fn advance(&mut self, until: Time, budget: u64) -> Result<Progress, Fault> {
        let end = self.scenario.duration;
        let limit = until.min(end);
        for _ in 0..budget {
            if self.done {
                return Ok(Progress::Done);
            }
            if !self.step(limit)? {
                if limit < end {
                    self.net.now = limit;
                    return Ok(Progress::Paused);
                }
                self.net.now = end;
                self.done = true;
                return Ok(Progress::Done);
            }
        }
        Ok(Progress::Paused)
    }

    /// Every event that is not a delivery.
    #[inline(never)]
    fn handle(&mut self, entity: Entity) -> Result<(), Fault> {
        let number = entity.number();
        let now = self.net.now;
        match entity.kind() {
            Kind::Port => {}
            Kind::Flow | Kind::Pace | Kind::Viewer => self.wake(entity),
            Kind::Arrival => self.arrive(number),
            Kind::Stop => {
                let mut world =
                    World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
                self.reno.stop(number as u16, &mut world);
                self.other.stop(number as u16, &mut world);
                self.udp.stop(number as u16);
                if let Some(capture) = &mut self.capture {
                    self.reno
                        .open(number as u16, &self.classes)
                        .for_each(|flow| capture.note(flow));
                    self.other
                        .open(number as u16, &self.classes)
                        .for_each(|flow| capture.note(flow));
                }
            }
            Kind::Tick => {
                self.probe.decided(&mut self.net.decided);
                if let Some(ticked) = self.net.ports[number as usize].tick(now)? {
                    self.probe.decision(now, number, ticked);
                }
                self.net.schedule_tick(number);
                self.net.arm(number);
            }
            Kind::Change => self.change(number as usize),
            Kind::Warm => self.probe.warm(&mut self.net.ports, now),
            Kind::Sample => {
                self.probe.sample(&mut self.net.ports, now);
                let next = (now + self.scenario.sample).min(self.scenario.duration);
                if next > now {
                    self.net.events.push(next, Entity::new(Kind::Sample, 0));
                }
            }
            Kind::Series => {
                if let Some(series) = &mut self.series {
                    let flows = Flows {
                        reno: &self.reno,
                        other: &self.other,
                        udp: &self.udp,
                        video: &self.video,
                        classes: &self.classes,
                        rows: &self.rows,
                    };
                    series.sample(&flows, &mut self.net);
                }
                self.schedule_series();
            }
        }
        Ok(())
    }

    /// A timer of a flow is due.
    fn wake(&mut self, entity: Entity) {
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        if entity.kind() == Kind::Viewer {
            return self.video.wake(entity.number(), &mut world);
        }
        let id = FlowId(entity.number());
        match (id.table(), entity.kind()) {
            (RENO, Kind::Pace) => self.reno.go_on(id, &mut world),
            (RENO, _) => self.reno.expire(id, &mut world),
            (UDP, _) => self.udp.expire(id, &mut world),
            (VIDEO, Kind::Pace) => self.video.go_on(id, &mut world),
            (VIDEO, _) => self.video.expire(id, &mut world),
            (_, Kind::Pace) => self.other.go_on(id, &mut world),
            (_, _) => self.other.expire(id, &mut world),
        }
    }

    /// The pending flow of a class starts.
    fn arrive(&mut self, class: u32) {
        let place = class as usize;
        if let Some(draw) = self.arrivals[place].pending.take() {
            let size = draw.size.unwrap_or(UNLIMITED);
            let (from, to) = self.classes[place].pairs[draw.pair];
            let flow = NewFlow {
                row: self.rows.len() as u32,
                class: class as u16,
                pair: if draw.turned { (to, from) } else { (from, to) },
                download: draw.direction == Direction::Download,
                size,
                opaque: draw.opaque,
            };
            let room = match &self.arrivals[place].source {
                Source::Reno => self.reno.has_room(),
                Source::Udp => self.udp.has_room(),
                Source::Video(_) => self.video.has_room(),
                Source::Inside | Source::Controlled(_) | Source::Custom(_) => self.other.has_room(),
            };
            self.rows.push(Row::new(class as u16, size, self.net.now));
            let started = room.then(|| self.start(place, &flow));
            self.large = self.reno.is_large() | self.other.is_large();
            if let Some(series) = &mut self.series {
                series.start(flow.class, started);
            }
        }
        self.schedule_arrival(class);
    }

    fn start(&mut self, class: usize, flow: &NewFlow) -> Identity {
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        let started = match &mut self.arrivals[class].source {
            Source::Reno => {
                let control = Reno::new(&world.classes[class].tcp);
                self.reno.start(flow, control, &mut world)
            }
            Source::Inside => {
                let control = Any::inside(&world.classes[class].tcp);
                self.other.start(flow, control, &mut world)
            }
            Source::Udp => self.udp.start(flow, &mut world),
            Source::Video(own) => {
                let control = match own {
                    Some(factory) => Any::Custom(factory()),
                    None => Any::inside(&world.classes[class].tcp),
                };
                self.video.start(flow, control, &mut world)
            }
            Source::Controlled(control) => {
                let access = world.net.access(flow.pair.0);
                let control = Any::of(control, &world.classes[class].tcp, access);
                self.other.start(flow, control, &mut world)
            }
            Source::Custom(factory) => self.other.start(flow, Any::Custom(factory()), &mut world),
        };
        if let Some(capture) = &mut self.capture {
            capture.note(started);
        }
        started
    }

    /// A change of capacity takes effect.
    fn change(&mut self, number: usize) {
        let change = self.scenario.capacity[number];
        let place = change.port as usize;
        let limit = self.scenario.network.ports[place].limit(change.rate);
        let port = &mut self.net.ports[place];
        port.set_capacity(self.net.now, change.rate, limit);
        self.net.arm(change.port);
    }

    /// What was measured.
    pub fn finish(mut self) -> Results {
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        self.reno.finish(&mut world);
        self.other.finish(&mut world);
        self.video.finish(&mut world);
        let video = self.video.columns(&self.scenario);
        let udp = self.udp.columns(self.net.under_way(), &self.scenario);
        // a million flows: their state must not be in memory together with the columns
        drop((self.reno, self.other, self.udp, self.video));
        let now = self.net.now;
        self.probe.decided(&mut self.net.decided);
        let (ports, events, port_totals) =
            self.probe.finish(&mut self.net.ports, now, &self.scenario);
        let series = self.series.map(|series| series.columns(&self.scenario));
        let (flow_series, class_series, queue_series) = series
            .map_or_else(Default::default, |found| (found.flows, found.classes, found.queues));
        Results {
            flow_series,
            class_series,
            queue_series,
            udp,
            video,
            flows: flow_columns(&self.rows, &self.scenario),
            ports,
            events,
            arrivals: self.net.records.columns(&self.scenario),
            port_totals,
            packet_hops: self.net.hops,
            delivered_packets: self.delivered,
        }
    }
}

/// The place of a port in the scenario's network.
fn port_of(scenario: &Scenario, name: String) -> Result<usize, BuildError> {
    let place = scenario.network.ports.iter().position(|port| port.name == name);
    place.ok_or(BuildError::NoSuchPort(name))
}

fn udp(class: &Class) -> Option<Udp> {
    match class.transport {
        Transport::Udp(udp) => Some(udp),
        Transport::Tcp(_) | Transport::Controlled(..) => None,
    }
}

fn params(class: &Class, seed: u64) -> ClassParams {
    ClassParams {
        // a class without TCP asks for none of it
        tcp: class.transport.tcp().cloned().unwrap_or_else(|| Profile::default().tcp()),
        repair: Repair::of(&class.transport),
        pairs: class.pairs.clone(),
        patience: class.patience,
        jitter: JitterDraw::new(seed, &class.name),
    }
}
