//! Records of single arrivals at ports: the packet, the queue that it found, its fate.

use std::collections::BTreeMap;

use tidegate_core::law::Reason;
use tidegate_core::packet::Packet;
use tidegate_core::port::Outcome;
use tidegate_core::units::Time;
use tidegate_model::scenario::Scenario;

use crate::probe::{Column, Data};

/// A packet that arrived.
struct Row {
    time: Time,
    port: u32,
    origin: u16,
    number: u32,
    queue: u32,
    average: f64,
    /// Why it was dropped or lost, if it was.
    lost: Option<Reason>,
}

/// The records, for the ports that ask for them.
#[derive(Default)]
pub(crate) struct Records {
    /// How many more rows each port may add.
    left: BTreeMap<u32, u32>,
    rows: Vec<Row>,
}

impl Records {
    pub(crate) fn new(scenario: &Scenario) -> Records {
        let ports = (0..).zip(&scenario.network.ports).filter(|(_, port)| port.record > 0);
        Records { left: ports.map(|(at, port)| (at, port.record)).collect(), rows: Vec::new() }
    }

    /// Whether the next arrival at a port is to be recorded.
    #[inline]
    pub(crate) fn wants(&self, port: u32) -> bool {
        !self.left.is_empty() && self.left.contains_key(&port)
    }

    /// Records an arrival: `queue` is what it found, `average` what the law uses after it.
    pub(crate) fn keep(
        &mut self,
        port: u32,
        packet: &Packet,
        (queue, average): (u32, Option<f64>),
        outcome: Outcome,
        time: Time,
    ) {
        let lost = match outcome {
            Outcome::Taken => None,
            Outcome::Lost(reason, ()) | Outcome::Rejected(reason, ()) => Some(reason),
        };
        self.rows.push(Row {
            time,
            port,
            origin: packet.src,
            number: packet.seq,
            queue,
            average: average.unwrap_or(f64::NAN),
            lost,
        });
        if let Some(left) = self.left.get_mut(&port) {
            *left -= 1;
            if *left == 0 {
                self.left.remove(&port);
            }
        }
    }

    /// The `arrivals` table.
    pub(crate) fn columns(&self, scenario: &Scenario) -> Vec<Column> {
        let network = &scenario.network;
        let ports = network.ports.iter().map(|port| port.name.clone()).collect();
        let mut fates = vec!["queued".to_owned()];
        fates.extend(Reason::ALL.iter().map(|reason| reason.name().to_owned()));
        let real = |name, value: fn(&Row) -> f64| Column {
            name,
            data: Data::F64(self.rows.iter().map(value).collect()),
        };
        let count = |name, value: fn(&Row) -> u32| Column {
            name,
            data: Data::U32(self.rows.iter().map(value).collect()),
        };
        let word = |name, names, code: fn(&Row) -> u32| Column {
            name,
            data: Data::Category { codes: self.rows.iter().map(code).collect(), names },
        };
        vec![
            real("time_s", |row| row.time.secs()),
            word("port", ports, |row| row.port),
            word("origin", network.nodes.clone(), |row| u32::from(row.origin)),
            count("number", |row| row.number),
            count("queue_packets", |row| row.queue),
            real("avg_queue_packets", |row| row.average),
            word("fate", fates, |row| row.lost.map_or(0, |reason| reason as u32 + 1)),
        ]
    }
}
