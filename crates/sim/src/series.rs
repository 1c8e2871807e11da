//! Time series on request: single flows, whole classes, and the packets of each class in queues.
//!
//! No packet passes through this module: flows are read when a row is due, and
//! registered when they start.

use tidegate_core::units::Time;
use tidegate_model::columns::{Category, ClassSeriesRow, Column, FlowSeriesRow, QueueSeriesRow};
use tidegate_model::scenario::{self, Scenario};

use crate::capture::Identity;
use crate::flows::Flows;
use crate::names::names;
use crate::network::Network;
use crate::rows::Row;
use crate::transport::{ClassParams, Snapshot};

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
    flow_rows: Vec<FlowSeriesRow>,
    class_rows: Vec<ClassSeriesRow>,
    queue_rows: Vec<QueueSeriesRow>,
}

impl Series {
    /// What a scenario asks for, if it does.
    pub(crate) fn new(scenario: &Scenario) -> Option<Series> {
        let scenario::Series { flows, classes, every, .. } = &scenario.series;
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
    pub(crate) fn sample(
        &mut self,
        flows: &Flows,
        classes: &[ClassParams],
        rows: &[Row],
        net: &mut Network,
    ) {
        let now = net.now;
        let span = (now - self.last).secs();
        self.last = now;
        let rate = |bytes: u64| bytes as f64 * 8.0 / span;
        for one in &mut self.flows {
            let Some(begun) = &mut one.begun else { continue };
            let (snapshot, gained) = begun.sample(flows, classes, rows);
            let (row, class, number) = (begun.flow.row, one.class, one.number);
            let going_on = snapshot.filter(|_| !rows[row as usize].is_over());
            // an end within the interval leaves its last bytes, and no window
            if going_on.is_some() || gained > 0 {
                let snapshot = going_on.unwrap_or(Snapshot::NONE);
                self.flow_rows.push(FlowSeriesRow {
                    time_s: now.secs(),
                    flow: row.into(),
                    class: Category(class.into()),
                    number,
                    cwnd_packets: snapshot.cwnd,
                    srtt_s: snapshot.srtt.map_or(f64::NAN, Time::secs),
                    flight_packets: snapshot.flight,
                    rate_bps: rate(gained),
                });
            }
            if snapshot.is_none() {
                one.begun = None;
            }
        }
        for whole in &mut self.classes {
            let (mut bytes, mut open) = (0, 0);
            whole.open.retain_mut(|begun| {
                let (snapshot, gained) = begun.sample(flows, classes, rows);
                bytes += gained;
                open += u32::from(snapshot.is_some() && rows[begun.flow.row as usize].is_open());
                snapshot.is_some()
            });
            self.class_rows.push(ClassSeriesRow {
                time_s: now.secs(),
                class: Category(whole.class.into()),
                open_flows: open,
                rate_bps: rate(bytes),
            });
        }
        if !self.classes.is_empty() {
            self.queues(flows, net);
        }
    }

    /// The packets of each class that wait at each port.
    fn queues(&mut self, flows: &Flows, net: &mut Network) {
        for &port in &self.ports {
            let begin = self.queue_rows.len();
            self.queue_rows.extend(self.classes.iter().map(|whole| QueueSeriesRow {
                time_s: net.now.secs(),
                port: Category(port),
                class: Category(whole.class.into()),
                queue_packets: 0,
                queue_bytes: 0,
            }));
            let mine = &mut self.queue_rows[begin..];
            let queue = &mut net.ports[port as usize];
            queue.advance(net.now);
            for packet in queue.waiting() {
                let Some(class) = flows.class_of(packet) else { continue };
                let class = Category(class.into());
                if let Some(row) = mine.iter_mut().find(|row| row.class == class) {
                    row.queue_packets += 1;
                    row.queue_bytes += u64::from(packet.size);
                }
            }
        }
    }

    /// The tables.
    pub(crate) fn columns(self, scenario: &Scenario) -> Tables {
        let names = |column: &str| names(scenario, column);
        Tables {
            flows: FlowSeriesRow::columns(self.flow_rows, names),
            classes: ClassSeriesRow::columns(self.class_rows, names),
            queues: QueueSeriesRow::columns(self.queue_rows, names),
        }
    }
}

impl Begun {
    /// Its state, and the bytes delivered since the last row.
    fn sample(
        &mut self,
        flows: &Flows,
        classes: &[ClassParams],
        rows: &[Row],
    ) -> (Option<Snapshot>, u64) {
        let snapshot = flows.snapshot(&self.flow, classes, rows);
        let over = rows[self.flow.row as usize].delivered;
        let delivered = snapshot.map_or(over, |snapshot| snapshot.delivered);
        let gained = delivered - self.delivered;
        self.delivered = delivered;
        (snapshot, gained)
    }
}

/// The tables of what was followed.
pub(crate) struct Tables {
    pub(crate) flows: Vec<Column>,
    pub(crate) classes: Vec<Column>,
    pub(crate) queues: Vec<Column>,
}
