//! Time series on request: single flows, whole classes, and the packets of each class in queues.
//!
//! No packet passes through this module: flows are read when a row is due, and
//! registered when they start.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;
use tidegate_model::scenario::{self, Scenario};

use crate::capture::Identity;
use crate::network::Network;
use crate::probe::{Column, Data};
use crate::rows::Row;
use crate::run::{RENO, UDP, VIDEO};
use crate::services::MESSAGES;
use crate::transport::control::{Any, Reno};
use crate::transport::table::video::VideoTable;
use crate::transport::table::{FlowId, FlowTable};
use crate::transport::udp::UdpTable;
use crate::transport::{ClassParams, Standing};

/// Every flow there is, by its number.
pub(crate) struct Flows<'a> {
    pub(crate) reno: &'a FlowTable<Reno>,
    pub(crate) other: &'a FlowTable<Any>,
    pub(crate) udp: &'a UdpTable,
    pub(crate) video: &'a VideoTable,
    pub(crate) classes: &'a [ClassParams],
    pub(crate) rows: &'a [Row],
}

impl Flows<'_> {
    /// The state of a flow, if it is not over.
    fn standing(&self, flow: &Identity) -> Option<Standing> {
        match FlowId(flow.slot.0).table() {
            RENO => self.reno.standing(flow, self.classes),
            UDP => {
                let delivered = self.rows[flow.row as usize].delivered;
                Some(Standing { delivered, ..Standing::NONE })
            }
            VIDEO => self.video.standing(flow, self.classes),
            _ => self.other.standing(flow, self.classes),
        }
    }

    /// The class of the open flow that a packet belongs to.
    fn class_of(&self, packet: &Packet) -> Option<u16> {
        match FlowId(packet.flow).table() {
            RENO => self.reno.class_of(packet),
            UDP => self.udp.class_of(packet),
            MESSAGES => None,
            VIDEO => self.video.class_of(packet),
            _ => self.other.class_of(packet),
        }
    }
}

/// A flow that has started.
#[derive(Clone, Copy)]
struct Begun {
    flow: Identity,
    /// Bytes delivered at the last row.
    delivered: u64,
}

/// A flow that is followed.
struct Followed {
    class: u16,
    number: u32,
    begun: Option<Begun>,
}

/// A class that is followed.
struct Whole {
    class: u16,
    open: Vec<Begun>,
}

struct FlowRow {
    time: Time,
    row: u32,
    class: u16,
    number: u32,
    standing: Standing,
    rate: f64,
}

struct ClassRow {
    time: Time,
    class: u16,
    open: u32,
    rate: f64,
}

struct QueueRow {
    time: Time,
    port: u32,
    class: u16,
    packets: u32,
    bytes: u64,
}

/// What is followed, and the rows so far.
pub(crate) struct Series {
    pub(crate) every: Time,
    last: Time,
    /// How many flows of each class have started.
    started: Vec<u32>,
    flows: Vec<Followed>,
    classes: Vec<Whole>,
    /// Ports that are not access links.
    ports: Vec<u32>,
    flow_rows: Vec<FlowRow>,
    class_rows: Vec<ClassRow>,
    queue_rows: Vec<QueueRow>,
}

impl Series {
    /// What a scenario asks for, if it does.
    pub(crate) fn new(scenario: &Scenario) -> Option<Series> {
        let scenario::Series { flows, classes, every } = &scenario.series;
        if scenario.series.is_none() {
            return None;
        }
        let follow = |&(class, number): &(u16, u32)| Followed { class, number, begun: None };
        let own = (0..).zip(&scenario.network.ports).filter(|(_, port)| !port.access);
        Some(Series {
            every: *every,
            last: Time::ZERO,
            started: vec![0; scenario.traffic.len()],
            flows: flows.iter().map(follow).collect(),
            classes: classes.iter().map(|&class| Whole { class, open: Vec::new() }).collect(),
            ports: own.map(|(number, _)| number).collect(),
            flow_rows: Vec::new(),
            class_rows: Vec::new(),
            queue_rows: Vec::new(),
        })
    }

    /// A flow starts; none: there was no room for it.
    pub(crate) fn start(&mut self, class: u16, flow: Option<Identity>) {
        let number = self.started[usize::from(class)];
        self.started[usize::from(class)] += 1;
        let Some(flow) = flow else { return };
        let begun = Begun { flow, delivered: 0 };
        let wanted = |one: &&mut Followed| (one.class, one.number) == (class, number);
        if let Some(one) = self.flows.iter_mut().find(wanted) {
            one.begun = Some(begun);
        }
        if let Some(whole) = self.classes.iter_mut().find(|whole| whole.class == class) {
            whole.open.push(begun);
        }
    }

    /// An interval is over.
    pub(crate) fn sample(&mut self, flows: &Flows<'_>, net: &mut Network) {
        let now = net.now;
        let span = (now - self.last).secs();
        self.last = now;
        let rate = |bytes: u64| bytes as f64 * 8.0 / span;
        for one in &mut self.flows {
            let Some(begun) = &mut one.begun else { continue };
            let (standing, gained) = begun.look(flows);
            let (row, class, number) = (begun.flow.row, one.class, one.number);
            let going_on = standing.filter(|_| !flows.rows[row as usize].is_over());
            // an end within the interval leaves its last bytes, and no window
            if going_on.is_some() || gained > 0 {
                let (standing, rate) = (going_on.unwrap_or(Standing::NONE), rate(gained));
                self.flow_rows.push(FlowRow { time: now, row, class, number, standing, rate });
            }
            if standing.is_none() {
                one.begun = None;
            }
        }
        for whole in &mut self.classes {
            let (mut bytes, mut open) = (0, 0);
            whole.open.retain_mut(|begun| {
                let (standing, gained) = begun.look(flows);
                bytes += gained;
                open +=
                    u32::from(standing.is_some() && flows.rows[begun.flow.row as usize].is_open());
                standing.is_some()
            });
            let class = whole.class;
            self.class_rows.push(ClassRow { time: now, class, open, rate: rate(bytes) });
        }
        if !self.classes.is_empty() {
            self.queues(flows, net);
        }
    }

    /// The packets of each class that wait at each port.
    fn queues(&mut self, flows: &Flows<'_>, net: &mut Network) {
        for &port in &self.ports {
            let begin = self.queue_rows.len();
            self.queue_rows.extend(self.classes.iter().map(|whole| QueueRow {
                time: net.now,
                port,
                class: whole.class,
                packets: 0,
                bytes: 0,
            }));
            let mine = &mut self.queue_rows[begin..];
            let queue = &mut net.ports[port as usize];
            queue.advance(net.now);
            for packet in queue.waiting() {
                let Some(class) = flows.class_of(packet) else { continue };
                if let Some(row) = mine.iter_mut().find(|row| row.class == class) {
                    row.packets += 1;
                    row.bytes += u64::from(packet.size);
                }
            }
        }
    }

    /// The tables.
    pub(crate) fn columns(&self, scenario: &Scenario) -> Tables {
        Tables {
            flows: flow_series(&self.flow_rows, scenario),
            classes: class_series(&self.class_rows, scenario),
            queues: queue_series(&self.queue_rows, scenario),
        }
    }
}

impl Begun {
    /// Its state, and the bytes delivered since the last row.
    fn look(&mut self, flows: &Flows<'_>) -> (Option<Standing>, u64) {
        let standing = flows.standing(&self.flow);
        let over = flows.rows[self.flow.row as usize].delivered;
        let delivered = standing.map_or(over, |standing| standing.delivered);
        let gained = delivered - self.delivered;
        self.delivered = delivered;
        (standing, gained)
    }
}

/// The tables of what was followed.
pub(crate) struct Tables {
    pub(crate) flows: Vec<Column>,
    pub(crate) classes: Vec<Column>,
    pub(crate) queues: Vec<Column>,
}

fn real<T>(name: &'static str, rows: &[T], value: fn(&T) -> f64) -> Column {
    Column { name, data: Data::F64(rows.iter().map(value).collect()) }
}

fn count<T>(name: &'static str, rows: &[T], value: fn(&T) -> u32) -> Column {
    Column { name, data: Data::U32(rows.iter().map(value).collect()) }
}

fn class<T>(rows: &[T], scenario: &Scenario, value: fn(&T) -> u16) -> Column {
    let names = scenario.traffic.iter().map(|class| class.name.clone()).collect();
    let codes = rows.iter().map(|row| u32::from(value(row))).collect();
    Column { name: "class", data: Data::Category { codes, names } }
}

fn flow_series(rows: &[FlowRow], scenario: &Scenario) -> Vec<Column> {
    let flows = rows.iter().map(|row| u64::from(row.row)).collect();
    vec![
        real("time_s", rows, |row| row.time.secs()),
        Column { name: "flow", data: Data::U64(flows) },
        class(rows, scenario, |row| row.class),
        count("number", rows, |row| row.number),
        real("cwnd_packets", rows, |row| row.standing.cwnd),
        real("srtt_s", rows, |row| row.standing.srtt.map_or(f64::NAN, Time::secs)),
        real("flight_packets", rows, |row| row.standing.flight),
        real("rate_bps", rows, |row| row.rate),
    ]
}

fn class_series(rows: &[ClassRow], scenario: &Scenario) -> Vec<Column> {
    vec![
        real("time_s", rows, |row| row.time.secs()),
        class(rows, scenario, |row| row.class),
        count("open_flows", rows, |row| row.open),
        real("rate_bps", rows, |row| row.rate),
    ]
}

fn queue_series(rows: &[QueueRow], scenario: &Scenario) -> Vec<Column> {
    let names = scenario.network.ports.iter().map(|port| port.name.clone()).collect();
    let codes = rows.iter().map(|row| row.port).collect();
    vec![
        real("time_s", rows, |row| row.time.secs()),
        Column { name: "port", data: Data::Category { codes, names } },
        class(rows, scenario, |row| row.class),
        count("queue_packets", rows, |row| row.packets),
        Column { name: "queue_bytes", data: Data::U64(rows.iter().map(|row| row.bytes).collect()) },
    ]
}
