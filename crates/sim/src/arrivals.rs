//! Records of single arrivals at ports: the packet, the queue that it found, its fate.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::law::Reason;
use tidegate_core::packet::Packet;
use tidegate_core::port::Outcome;
use tidegate_core::units::Time;
use tidegate_model::columns::{ArrivalRow, Category, Column};
use tidegate_model::scenario::Scenario;

use crate::names::{drops, names};

/// The records, for the ports that ask for them.
#[derive(Default)]
pub(crate) struct Records {
    /// How many more rows each port may add.
    left: BTreeMap<u32, u32>,
    rows: Vec<ArrivalRow>,
    /// Ports of hosts whose packets are kept as they leave, and those packets.
    hosts: BTreeSet<u32>,
    pub(crate) leaving: Vec<(Time, Packet)>,
}

impl Records {
    pub(crate) fn new(scenario: &Scenario) -> Records {
        let ports = (0..).zip(&scenario.network.ports).filter(|(_, port)| port.record > 0);
        let left = ports.map(|(at, port)| (at, port.record)).collect();
        Records { left, rows: Vec::new(), hosts: BTreeSet::new(), leaving: Vec::new() }
    }

    /// Keeps what a host sends into this port.
    pub(crate) fn follow(&mut self, port: u32) {
        self.hosts.insert(port);
    }

    /// Whether the next arrival at a port is to be recorded.
    #[inline]
    pub(crate) fn wants(&self, port: u32) -> bool {
        let all = self.left.is_empty() && self.hosts.is_empty();
        !all && (self.left.contains_key(&port) || self.hosts.contains(&port))
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
        if self.hosts.contains(&port) {
            self.leaving.push((time, *packet));
        }
        let Some(left) = self.left.get_mut(&port) else { return };
        let fate = match outcome {
            Outcome::Taken => 0,
            Outcome::Lost(reason, ()) | Outcome::Rejected(reason, ()) => reason as u32 + 1,
        };
        self.rows.push(ArrivalRow {
            time_s: time.secs(),
            port: Category(port),
            origin: Category(packet.src.into()),
            number: packet.number(),
            queue_packets: queue,
            avg_queue_packets: average.unwrap_or(f64::NAN),
            fate: Category(fate),
        });
        *left -= 1;
        if *left == 0 {
            self.left.remove(&port);
        }
    }

    /// The `arrivals` table.
    pub(crate) fn columns(self, scenario: &Scenario) -> Vec<Column> {
        // a row has the place of its reason: those before the last possible one are named too
        let last = Reason::ALL.iter().rposition(|&reason| drops(scenario, reason));
        let reasons = Reason::ALL.into_iter().take(last.map_or(0, |last| last + 1));
        let fates = || ["queued"].into_iter().chain(reasons.clone().map(Reason::name));
        ArrivalRow::columns(self.rows, |column| match column {
            "fate" => fates().map(str::to_owned).collect(),
            _ => names(scenario, column),
        })
    }
}
