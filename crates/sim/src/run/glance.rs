//! What can be seen of a run between two slices: for pictures that move while it runs.
//!
//! A glance changes nothing: a port that is brought up to now does what it would have done later.

use tidegate_core::units::Time;
use tidegate_model::scenario::{Class, Transport};

use super::Simulation;

/// A run at one instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Glance {
    /// The simulated time.
    pub now: Time,
    /// The classes, in the order of the scenario.
    pub classes: Vec<ClassGlance>,
    /// The ports that belong to no access link, in the order of the scenario.
    pub ports: Vec<PortGlance>,
    /// The windows of the flows that have been open for longest.
    pub windows: Vec<WindowGlance>,
}

/// The flows of a class so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassGlance {
    /// Flows whose first packet was sent.
    pub started: u64,
    /// Flows that are admitted and not over.
    pub open: u64,
    /// Flows that are complete.
    pub completed: u64,
    /// Flows that gave up.
    pub gave_up: u64,
}

/// A port: what waits now, and its counts so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortGlance {
    /// Its place among the ports of the network.
    pub port: u32,
    /// Packets that wait.
    pub queue_packets: u32,
    /// Their bytes.
    pub queue_bytes: u64,
    /// Bytes whose transmission has started.
    pub departed_bytes: u64,
    /// Packets that were lost, for whatever reason.
    pub lost: u64,
    /// Packets that were marked.
    pub marked: u64,
}

/// The window of an open flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowGlance {
    /// The number of the flow in the table `flows`.
    pub flow: u32,
    /// The place of its class.
    pub class: u16,
    /// Congestion window in segments.
    pub cwnd_packets: f64,
    /// Smoothed round trip; none: not measured yet.
    pub srtt: Option<Time>,
}

/// What a viewer of a run has counted so far, so that a glance looks at no flow that is over.
#[derive(Clone, Debug, Default)]
pub struct Viewer {
    classes: Vec<ClassGlance>,
    /// Rows of flows that are not over, and of those of UDP that are not complete.
    going_on: Vec<u32>,
    /// Rows that have been seen.
    seen: usize,
}

impl Simulation {
    /// What can be seen now, with the windows of `most` flows at the most. Flows without a window
    /// (UDP, hosts of another kind) have none here. `viewer`: that of this run, from its start on.
    pub fn glance(&mut self, viewer: &mut Viewer, most: usize) -> Glance {
        Glance {
            now: self.net.now,
            classes: self.class_glances(viewer),
            ports: self.port_glances(),
            windows: self.windows(most),
        }
    }

    fn class_glances(&self, viewer: &mut Viewer) -> Vec<ClassGlance> {
        let Viewer { classes, going_on, seen } = viewer;
        classes.resize(self.classes.len(), ClassGlance::default());
        for (number, row) in (0u32..).zip(&self.rows).skip(*seen) {
            classes[usize::from(row.class)].started += 1;
            going_on.push(number);
        }
        *seen = self.rows.len();
        for class in classes.iter_mut() {
            class.open = 0;
        }
        let of_class = |class: &Class| matches!(class.transport, Transport::Udp(_));
        let udp: Vec<bool> = self.scenario.traffic.iter().map(of_class).collect();
        going_on.retain(|&number| {
            let row = &self.rows[number as usize];
            let class = &mut classes[usize::from(row.class)];
            class.open += u64::from(row.is_open());
            let udp = udp[usize::from(row.class)];
            class.completed += u64::from(row.is_complete(udp));
            class.gave_up += u64::from(row.gave_up != Time::NEVER);
            // of UDP that is not complete yet the last byte may still come
            !row.is_over() || (row.closed != Time::NEVER && !row.is_complete(udp))
        });
        classes.clone()
    }

    fn port_glances(&mut self) -> Vec<PortGlance> {
        let now = self.net.now;
        let specs = (0u32..).zip(&self.scenario.network.ports);
        let ports = specs.zip(&mut self.net.ports).filter(|((_, spec), _)| !spec.access);
        let glance = |((number, _), port): ((u32, _), &mut tidegate_core::port::Port<_>)| {
            port.advance(now);
            let counts = port.counters();
            PortGlance {
                port: number,
                queue_packets: port.queue_packets(),
                queue_bytes: port.queue_bytes(),
                departed_bytes: counts.departed_bytes,
                lost: counts.drops.iter().sum(),
                marked: counts.marked,
            }
        };
        ports.map(glance).collect()
    }

    fn windows(&self, most: usize) -> Vec<WindowGlance> {
        let mut first: Vec<WindowGlance> = Vec::new();
        for class in 0..self.classes.len() as u16 {
            let connections = self.flows.apps.connections(class, &self.classes);
            for flow in self.flows.open(class, &self.classes).chain(connections) {
                if first.len() == most && first.last().is_none_or(|last| last.flow < flow.row) {
                    continue;
                }
                let snapshot = self.flows.snapshot(&flow, &self.classes, &self.rows);
                let Some(snapshot) = snapshot.filter(|each| !each.cwnd.is_nan()) else { continue };
                let window = WindowGlance {
                    flow: flow.row,
                    class: flow.class,
                    cwnd_packets: snapshot.cwnd,
                    srtt: snapshot.srtt,
                };
                first.insert(first.partition_point(|each| each.flow < flow.row), window);
                first.truncate(most);
            }
        }
        first
    }
}
