//! One run: a scenario and a seed give the columns of results.

mod custom;
mod glance;
mod host_source;
mod step;

use rand::RngExt;
use tidegate_core::law::Fault;
use tidegate_core::packet::Packet;
use tidegate_core::port::Port;
use tidegate_core::units::{Pace, Time};
use tidegate_model::control::{self, Ecn, TcpControl};
use tidegate_model::draw::{ClassDraws, FlowDraw, stream};
use tidegate_model::port::OwnLaws;
use tidegate_model::profile::{Profile, Tcp};
use tidegate_model::scenario::{Class, End, FlowSize, Scenario, Transport};

use crate::app::is_driven;
use crate::backlog::Backlog;
use crate::capture::{Capture, Noted};
use crate::class_rates::ClassRates;
use crate::engine::{Entity, EventKind};
use crate::error::BuildError;
use crate::flows::{Flows, Sends, patience};
use crate::followed::Followed;
use crate::network::Network;
use crate::newcomers::Newcomers;
use crate::probe::{Probe, Results, flow_columns, flow_window_columns};
use crate::rows::{Row, UNLIMITED};
use crate::series::Series;
use crate::services::Hop;
use crate::transport::control::{Any, Reno};
use crate::transport::receive_window::Memory;
use crate::transport::rtts::{self, Rtts};
use crate::transport::table::{NewFlow, World};
use crate::transport::{ClassParams, Detector, syn_jitter};

use host_source::HostSource;

pub use custom::{CrateControls, Custom, Factories, Factory, Stacks};
pub use glance::{ClassGlance, Glance, PortGlance, Viewer, WindowGlance};

/// The progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The requested time or number of events was reached; the run continues.
    Paused,
    /// The scenario's duration is over.
    Done,
}

/// What sends the data of a class.
enum Source {
    /// Reno, in a table of its own.
    Reno,
    /// Another control inside TCP.
    Inside,
    Controlled(control::TransportControl),
    Custom(Factory),
    /// Users whose application drives connections under such a control.
    App(Box<Source>),
    Udp,
    /// Hosts of another kind.
    Hosts(HostSource),
}

impl Source {
    /// Finds it for a class; removes from `custom` what it uses.
    fn of(class: &Class, seed: u64, custom: &mut Custom<'_>) -> Result<Source, BuildError> {
        if let Transport::Quic(quic) = &class.transport {
            let made = custom.stacks.as_mut().and_then(|of| of(quic));
            let made = made.ok_or_else(|| BuildError::NoSuchStack(quic.stack.clone()))?;
            let source = HostSource::new(made, stream(seed, &class.name, "hosts"), quic);
            return source.fit(class, quic).map(Source::Hosts);
        }
        let controls = &mut custom.controls;
        if matches!(class.transport, Transport::Udp(_)) {
            return Ok(Source::Udp); // what is supplied for it stays, and is refused
        }
        let place = controls.iter().position(|(name, _)| *name == class.name);
        let factory = match (&class.transport, place) {
            (_, Some(place)) => Some(controls.swap_remove(place).1),
            (Transport::Controlled(tcp, control::TransportControl::Python(own)), None) => {
                let no_such = || BuildError::NoSuchLaw(own.name.clone());
                let made = custom.flow_controls.as_mut().and_then(|of| of(&own.name, tcp));
                Some(made.ok_or_else(no_such)?)
            }
            (Transport::Controlled(tcp, control::TransportControl::Crate(theirs)), None) => {
                let no_such = || BuildError::NoSuchControl(theirs.name.clone());
                let drawn = stream(seed, &class.name, "control").random();
                let made = custom.crate_controls.as_mut();
                Some(made.and_then(|of| of(&theirs.name, tcp, drawn)).ok_or_else(no_such)?)
            }
            _ => None,
        };
        let driven = is_driven(class);
        let source = match (&class.transport, factory) {
            (Transport::Udp(_) | Transport::Quic(_), _) => return Ok(Source::Udp),
            (_, Some(factory)) => Source::Custom(factory),
            (Transport::Controlled(_, control), None) => Source::Controlled(control.clone()),
            (Transport::Tcp(tcp), None)
                if tcp.control == TcpControl::Reno && !driven && !tcp.starts_otherwise() =>
            {
                Source::Reno
            }
            (Transport::Tcp(_), None) => Source::Inside,
        };
        Ok(if driven { Source::App(Box::new(source)) } else { source })
    }

    /// The control of a new flow, if it has one of several; `access`: the pace of its host's link.
    fn control(&mut self, tcp: &Tcp, access: Option<Pace>) -> Any {
        match self {
            Source::Controlled(control) => Any::of(control, tcp, access),
            Source::Custom(factory) => Any::Custom(factory()),
            _ => Any::inside(tcp),
        }
    }
}

/// The state of a traffic class.
struct Arrivals {
    draws: ClassDraws,
    pending: Option<FlowDraw>,
    source: Source,
}

/// One run of one scenario.
pub struct Simulation {
    scenario: Scenario,
    net: Network,
    flows: Flows,
    /// Whether the flows of one kind are too many for a near cache.
    large: bool,
    classes: Vec<ClassParams>,
    arrivals: Vec<Arrivals>,
    newcomers: Newcomers,
    rows: Vec<Row>,
    probe: Probe,
    backlog: Backlog,
    class_rates: ClassRates,
    series: Option<Box<Series>>,
    followed: Option<Box<Followed>>,
    /// Whether anything follows a delivery: flows are followed, or links deliver packets twice.
    looks_back: bool,
    capture: Option<Capture>,
    /// The packet that has just reached its destination.
    arrived: Packet,
    delivered: u64,
    /// Whether the warm-up is over, so that what comes is measured.
    warm: bool,
    done: bool,
}

impl Simulation {
    /// Builds the run of a scenario.
    ///
    /// # Errors
    /// [`BuildError`] where the scenario asks for a part that `custom` lacks.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        mut custom: Custom<'_>,
    ) -> Result<Simulation, BuildError> {
        let mut own = OwnLaws {
            sessions: custom.laws.take(),
            rates: custom.rate_laws.take(),
            queues: custom.queues.take(),
            filters: custom.filters.take(),
        };
        let has_own_stages = !custom.stages.is_empty();
        let stages = std::mem::take(&mut custom.stages).into_iter();
        let stages = stages.map(|(name, stages)| Ok((port_of(scenario, name)? as u32, stages)));
        let stages = stages.collect::<Result<_, BuildError>>()?;
        let mut net = Network::new(scenario, seed, &mut own, stages)?;
        let mut capture = None;
        if let Some(name) = custom.capture.take() {
            let port = port_of(scenario, name)?;
            net.ports[port].watch();
            capture = Some(Capture::new(port as u32, scenario));
        }
        // nobody knows what stages of the caller's own send
        if !custom.each_landing && !has_own_stages {
            net.look_ahead(scenario);
        }
        let mut arrivals = Vec::new();
        for class in &scenario.traffic {
            let source = Source::of(class, seed, &mut custom)?;
            arrivals.push(Arrivals { draws: ClassDraws::new(seed, class), pending: None, source });
        }
        if let Some((name, _)) = custom.controls.pop() {
            return Err(BuildError::NoSuchClass(name));
        }
        let followed = Followed::new(scenario, &custom.qlogs, &mut net)?;
        let mut run = Simulation {
            looks_back: followed.is_some() || Network::makes_copies(scenario),
            classes: scenario
                .traffic
                .iter()
                .zip(scenario.admitted_by_answer())
                .map(|(class, by_answer)| params(class, by_answer, seed, scenario.warmup))
                .collect(),
            probe: Probe::new(scenario),
            backlog: Backlog::new(scenario),
            class_rates: ClassRates::default(),
            series: Series::new(scenario).map(Box::new),
            followed,
            capture,
            scenario: scenario.clone(),
            net,
            flows: Flows::new(scenario, seed),
            large: false,
            arrivals,
            newcomers: Newcomers::new(&scenario.traffic),
            rows: Vec::new(),
            arrived: Packet::default(),
            delivered: 0,
            warm: scenario.warmup == Time::ZERO,
            done: false,
        };
        if run.capture.is_some() {
            run.flows.apps.watch();
        }
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
                self.net.events.push(stop, Entity::new(EventKind::Stop, class));
            }
        }
        for (number, change) in self.scenario.changes.iter().enumerate() {
            self.net.events.push(change.at, Entity::new(EventKind::Change, number as u32));
        }
        // without a warm-up the whole run counts, from its first packet on
        if self.scenario.warmup > Time::ZERO {
            self.net.events.push(self.scenario.warmup, Entity::new(EventKind::Warm, 0));
        }
        self.net.events.push(self.scenario.warmup, Entity::new(EventKind::Backlog, 0));
        let first = self.scenario.sample.min(self.scenario.duration);
        self.net.events.push(first, Entity::new(EventKind::Sample, 0));
        self.schedule_series();
    }

    fn schedule_arrival(&mut self, class: u32) {
        let arrivals = &mut self.arrivals[class as usize];
        arrivals.pending = arrivals.draws.next_flow();
        if let Some(flow) = &arrivals.pending
            && flow.start < self.scenario.duration
        {
            self.net.events.push(flow.start, Entity::new(EventKind::Arrival, class));
        }
    }

    /// Schedules the next rows of the time series.
    fn schedule_series(&mut self) {
        let Some(series) = &self.series else { return };
        let (now, end) = (self.net.now, self.scenario.duration);
        if now < end {
            self.net.events.push((now + series.every).min(end), Entity::new(EventKind::Series, 0));
        }
    }

    /// The current simulated time.
    pub fn now(&self) -> Time {
        self.net.now
    }

    /// The ports, in the order of the scenario's network.
    pub fn ports(&mut self) -> &[Port] {
        self.net.set_back()
    }

    /// Sends a question to every node on the path from `from` to `to` (indices in the scenario's
    /// network): how long is its queue on this path?
    ///
    /// Questions and answers are packets: they take time and may be lost.
    pub fn trace(&mut self, from: u16, to: u16) {
        let nodes = self.scenario.network.nodes.len();
        // an answer would come between packets that have passed their host's link in advance
        if self.net.looks_ahead() {
            return;
        }
        if usize::from(from.max(to)) < nodes {
            self.net.trace(from, to);
        }
    }

    /// The answers so far, in the order of arrival.
    pub fn traced(&self) -> &[Hop] {
        &self.net.traced
    }

    /// The number of stored datagrams, and of packets in the network that have one. The two are
    /// always equal.
    pub fn payloads(&mut self) -> (usize, usize) {
        self.net.payloads()
    }

    /// Packets that have crossed a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.net.hops()
    }

    /// The next bytes of the capture (pcapng) of the port [`Custom::capture`]: the packets that it
    /// has sent since the last call. Call it after every slice, because until then they are stored.
    pub fn drain_capture(&mut self) -> Vec<u8> {
        let Some(capture) = &mut self.capture else { return Vec::new() };
        for noted in self.flows.apps.take_noted() {
            capture.learn(noted);
        }
        let sent = self.net.ports[capture.port as usize].take_sent(self.net.now);
        capture.write(&sent)
    }

    /// The next bytes of the logs (qlog) of [`Custom::qlogs`], one for each flow. Call it after every
    /// slice.
    pub fn drain_qlogs(&mut self) -> Vec<Vec<u8>> {
        self.followed.as_mut().map(|followed| followed.drain_qlogs()).unwrap_or_default()
    }

    /// Runs until `until`, or for `budget` events, or to the end.
    ///
    /// # Errors
    /// The fault of a law of the user's own; it ends the run.
    pub fn advance(&mut self, until: Time, budget: u64) -> Result<Progress, Fault> {
        let end = self.scenario.duration;
        let limit = until.min(end);
        if self.done {
            return Ok(Progress::Done);
        }
        self.net.undo_set_back();
        let mut left = budget;
        while left > 0 {
            left -= 1;
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
            EventKind::Port => {}
            EventKind::Flow | EventKind::Pace | EventKind::Exchange | EventKind::User => {
                self.wake(entity)
            }
            EventKind::Arrival => self.arrive(number),
            EventKind::Stop => {
                let mut world =
                    World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
                self.flows.stop(number as u16, &mut world);
                if let Some(capture) = &mut self.capture {
                    let open = self.flows.open(number as u16, &self.classes);
                    open.for_each(|flow| capture.learn(Noted::Flow(flow)));
                }
            }
            EventKind::Tick => {
                self.probe.decided(&mut self.net.decided);
                if let Some(ticked) = self.net.ports[number as usize].tick(now)? {
                    self.probe.decision(now, number, ticked);
                }
                self.net.schedule_tick(number);
                self.net.arm(number);
            }
            EventKind::Change => self.change(number as usize),
            EventKind::Warm => self.warm(),
            EventKind::Backlog => {
                self.backlog.sample(&mut self.net.ports, now);
                let next = now + self.backlog.every;
                if next <= self.scenario.duration {
                    self.net.events.push(next, Entity::new(EventKind::Backlog, 0));
                }
            }
            EventKind::Sample => {
                // without those of access links, the sampled ports are as they are
                if self.scenario.sample_access {
                    self.net.set_back();
                }
                self.probe.sample(&mut self.net.ports, now);
                self.net.undo_set_back();
                self.class_rates.sample(&self.classes, now);
                let next = (now + self.scenario.sample).min(self.scenario.duration);
                if next > now {
                    self.net.events.push(next, Entity::new(EventKind::Sample, 0));
                }
            }
            EventKind::Series => {
                if let Some(series) = &mut self.series {
                    series.sample(&self.flows, &self.classes, &self.rows, &mut self.net);
                }
                self.schedule_series();
            }
        }
        Ok(())
    }

    /// The warm-up is over: what ports do and flows deliver counts from now on.
    fn warm(&mut self) {
        self.warm = true;
        let now = self.net.now;
        self.probe.warm(self.net.set_back(), now);
        self.net.undo_set_back();
        for row in &mut self.rows {
            row.delivered_warm = row.delivered;
        }
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        self.flows.warm(&mut world);
    }

    /// A timer of a flow or a user is due.
    fn wake(&mut self, entity: Entity) {
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        self.flows.wake(entity, &mut world);
        self.follow(|followed, seen| followed.expired(entity.number(), seen));
        self.open_connections();
    }

    /// Starts the pending flow or user of a class.
    fn arrive(&mut self, class: u32) {
        let place = class as usize;
        if let Some(draw) = self.arrivals[place].pending.take() {
            let (from, to) = self.classes[place].pairs[draw.pair];
            let flow = NewFlow {
                row: 0,
                class: class as u16,
                pair: if draw.turned { (to, from) } else { (from, to) },
                download: draw.opens == End::Receiver,
                size: draw.size.unwrap_or(UNLIMITED),
                opaque: draw.opaque,
                client: self.newcomers.next(place, draw.person),
            };
            if is_driven(&self.scenario.traffic[place]) {
                let mut world =
                    World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
                self.flows.apps.arrive(&flow, &mut world);
                self.open_connections();
            } else {
                self.start(flow, None);
            }
        }
        self.schedule_arrival(class);
    }

    /// Opens the connections that users request.
    #[inline(never)]
    fn open_connections(&mut self) {
        while let Some((user, flow)) = self.flows.apps.next_opening() {
            self.start(flow, Some(user));
        }
    }

    /// Starts a flow, or a connection of a user.
    fn start(&mut self, mut flow: NewFlow, user: Option<u32>) {
        flow.row = self.rows.len() as u32;
        self.rows.push(Row::new(flow.class, flow.size, self.net.now));
        let sends = self.sends(&flow, user);
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        let started = self.flows.start(&flow, sends, &mut world);
        if let (Some(capture), Some(started)) = (&mut self.capture, started) {
            capture.learn(Noted::Flow(started));
        }
        self.large = self.flows.is_large();
        if let Some(series) = &mut self.series {
            series.start(flow.class, started);
        }
        self.follow(|followed, seen| followed.start(flow.class, started, seen));
    }

    /// The transport of a new flow.
    fn sends(&mut self, flow: &NewFlow, user: Option<u32>) -> Sends {
        let class = usize::from(flow.class);
        let tcp = &self.classes[class].tcp;
        let access = self.net.access(flow.pair.0);
        match &mut self.arrivals[class].source {
            Source::Reno => Sends::Reno(Reno::new(tcp)),
            Source::App(under) => Sends::App(user.unwrap_or_default(), under.control(tcp, access)),
            Source::Udp => Sends::Udp,
            Source::Hosts(source) => source.sends(flow, user, self.net.now),
            source => Sends::Other(source.control(tcp, access)),
        }
    }

    /// A change of a link takes effect.
    fn change(&mut self, number: usize) {
        let change = self.scenario.changes[number];
        let place = change.port as usize;
        let spec = &self.scenario.network.ports[place];
        spec.change(&mut self.net.ports[place], change.to, self.net.now);
        self.net.arm(change.port);
    }

    /// The results.
    ///
    /// Of a run that is ended within its warm-up nothing is counted that is counted after it.
    pub fn finish(mut self) -> Results {
        if !self.warm {
            self.warm();
        }
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        self.flows.finish(&mut world);
        let (video, pages, objects) = self.flows.apps.columns(&self.scenario);
        let udp = self.flows.udp.columns(self.net.under_way(), &self.scenario);
        // with a million flows, their state and the columns would not fit into memory together
        drop(self.flows);
        let (now, packet_hops) = (self.net.now, self.net.hops());
        self.probe.decided(&mut self.net.decided);
        let (ports, events, port_totals) =
            self.probe.finish(self.net.set_back(), now, &self.scenario);
        let rtt = rtts::columns(self.classes.iter().map(|class| &class.rtts), &self.scenario);
        let series = self.series.map(|series| series.columns(&self.scenario));
        let (flow_series, class_series, queue_series) = series
            .map_or_else(Default::default, |found| (found.flows, found.classes, found.queues));
        let acks = self.followed.map(|some| some.acks(&self.scenario)).unwrap_or_default();
        Results {
            acks,
            flow_series,
            class_series,
            queue_series,
            udp,
            video,
            pages,
            objects,
            flows: flow_columns(&self.rows, &self.scenario),
            flow_window: flow_window_columns(&self.rows, &self.scenario),
            rtt,
            class_rates: self.class_rates.columns(&self.scenario),
            queues: self.backlog.columns(&self.scenario),
            ports,
            events,
            arrivals: self.net.records.columns(&self.scenario),
            port_totals,
            packet_hops,
            delivered_packets: self.delivered,
        }
    }
}

/// The index of a port in the scenario's network.
fn port_of(scenario: &Scenario, name: String) -> Result<usize, BuildError> {
    let place = scenario.network.ports.iter().position(|port| port.name == name);
    place.ok_or(BuildError::NoSuchPort(name))
}

fn params(class: &Class, by_answer: bool, seed: u64, warmup: Time) -> ClassParams {
    // a class without TCP needs none of this
    let tcp = class.transport.tcp().cloned().unwrap_or_else(|| Profile::default().tcp());
    // controls made for QUIC hear of every mark, as there (RFC 9000, 13.4.2)
    let of_crate =
        matches!(class.transport, Transport::Controlled(_, control::TransportControl::Crate(_)));
    ClassParams {
        ecn: if of_crate && tcp.ecn { Ecn::Counted } else { tcp.ecn() },
        // one that misbehaves offers whatever there is to send
        memory: Memory::of(&tcp).filter(|_| class.receiver.is_none()),
        tcp,
        detector: Detector::of(&class.transport),
        receiver: class.receiver,
        pairs: class.pairs.clone(),
        by_answer,
        patience: patience(class),
        jitter: syn_jitter(seed, &class.name),
        rtts: Rtts::after(warmup),
        arrived_bytes: 0,
        spare: Vec::new(),
    }
}
