//! The results of a testbed: tables with the column names of the simulator.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use tidegate_core::active::Address;

use super::plan::{Places, Testbed};
use crate::node::status::Status;
use tidegate_common::fail::{At, Failure};

/// Everything known at the end.
pub struct TestbedReport<'a> {
    /// The file.
    pub testbed: &'a Testbed,
    /// The addresses of the nodes.
    pub places: &'a Places,
    /// The status of each node at the end.
    pub statuses: &'a BTreeMap<String, Status>,
    /// When the sources began, in microseconds since 1970.
    pub begun_us: u64,
    /// Whether all sources were done.
    pub done: bool,
}

/// The packets of one source.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Connection {
    /// The sending node.
    pub origin: String,
    /// The destination.
    pub to: String,
    /// Number of packets.
    pub packets: u32,
    /// Datagrams sent, with retransmissions.
    pub sent: u64,
    /// Packets that arrived, each counted once.
    pub arrived: u64,
    /// Share of the packets that arrived.
    pub delivered_share: f64,
}

/// Consecutive packets that the filters of one node dropped.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Dropped {
    /// The node.
    pub node: String,
    /// The sending node.
    pub origin: String,
    /// Number of the first.
    pub first: u32,
    /// Number of the last.
    pub last: u32,
    /// How many there are.
    pub packets: u32,
}

/// A row of `events`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NodeEventRow {
    /// Seconds since the sources began.
    pub time_s: f64,
    /// The node.
    pub port: String,
    /// The law that decided.
    pub law: &'static str,
    /// Its kind: `trigger`, `filter`, `ask`, `asked`, `refused`.
    pub phase: String,
    /// For a trigger: packets that a responsive connection may hold.
    pub set: Option<f64>,
    /// For a trigger: waiting packets.
    pub from: Option<f64>,
    /// The origin that it is about.
    pub origin: String,
    /// The neighbour that it concerns.
    pub neighbour: String,
    /// For a trigger: waiting packets of each connection.
    pub held: String,
    /// The reason of a refusal.
    pub reason: String,
}

#[derive(Serialize)]
struct Queue<'a> {
    time_s: f64,
    port: &'a str,
    origin: String,
    number: u32,
    queue_packets: u32,
    avg_queue_packets: f64,
}

#[derive(Serialize)]
struct Count<'a> {
    node: &'a str,
    received: u64,
    sent: u64,
    delivered: u64,
    reason: &'a str,
    drops: u64,
}

impl TestbedReport<'_> {
    fn name(&self, address: Address) -> String {
        let known = self.places.iter().find(|(_, place)| **place == address);
        known.map_or_else(|| address.to_string(), |(name, _)| name.clone())
    }

    /// The packets of each source.
    pub fn connections(&self) -> Vec<Connection> {
        let mut connections = Vec::new();
        for (name, node) in &self.testbed.node {
            let Some(source) = &node.source else { continue };
            let arrived =
                self.statuses.get(&source.to).and_then(|sink| sink.arrived.get(&self.places[name]));
            let arrived = arrived.map_or(0, |delivered| delivered.numbers.count());
            let status = self.statuses.get(name).and_then(|status| status.source.as_ref());
            connections.push(Connection {
                origin: name.clone(),
                to: source.to.clone(),
                packets: source.packets,
                sent: status.map_or(0, |status| status.sent),
                arrived,
                delivered_share: arrived as f64 / f64::from(source.packets),
            });
        }
        connections
    }

    /// What filters dropped, in the order of the packets.
    pub fn dropped(&self) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        for (node, status) in self.statuses {
            for (origin, ranges) in &status.filtered {
                let origin = self.name(*origin);
                dropped.extend(ranges.runs().iter().map(|(first, last)| Dropped {
                    node: node.clone(),
                    origin: origin.clone(),
                    first: *first,
                    last: *last,
                    packets: last - first + 1,
                }));
            }
        }
        dropped.sort_by(|a, b| (&a.origin, a.first).cmp(&(&b.origin, b.first)));
        dropped
    }

    /// The decisions of LGC, in the order of time.
    pub fn events(&self) -> Vec<NodeEventRow> {
        let mut rows = Vec::new();
        for (node, status) in self.statuses {
            for event in &status.events {
                let seen = event.seen.as_ref();
                let held = seen.map_or_else(String::new, |seen| {
                    let each = seen
                        .held
                        .iter()
                        .map(|(origin, held)| format!("{}:{held}", self.name(*origin)));
                    each.collect::<Vec<_>>().join(" ")
                });
                let name =
                    |address: Option<Address>| address.map_or_else(String::new, |at| self.name(at));
                rows.push(NodeEventRow {
                    time_s: (event.clock_us as f64 - self.begun_us as f64) / 1e6,
                    port: node.clone(),
                    law: "lgc",
                    phase: event.phase.clone(),
                    set: seen.map(|seen| f64::from(seen.share)),
                    from: seen.map(|seen| f64::from(seen.packets)),
                    origin: name(event.origin),
                    neighbour: name(event.neighbour),
                    held,
                    reason: event.reason.clone(),
                });
            }
        }
        rows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        rows
    }

    /// Writes `connections`, `dropped`, `events`, `queues` and `nodes` as CSV.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        table(&folder.join("connections.csv"), self.connections())?;
        table(&folder.join("dropped.csv"), self.dropped())?;
        table(&folder.join("events.csv"), self.events())?;
        let mut queues = Vec::new();
        let mut nodes = Vec::new();
        for (node, status) in self.statuses {
            for link in &status.links {
                queues.extend(link.record.iter().map(|arrival| Queue {
                    time_s: arrival.time_s,
                    port: &link.name,
                    origin: self.name(arrival.origin),
                    number: arrival.number,
                    queue_packets: arrival.queue_packets,
                    avg_queue_packets: arrival.avg_queue_packets,
                }));
            }
            nodes.extend(status.drops.iter().map(|(reason, drops)| Count {
                node,
                received: status.received,
                sent: status.sent,
                delivered: status.delivered,
                reason,
                drops: *drops,
            }));
        }
        table(&folder.join("queues.csv"), queues)?;
        table(&folder.join("nodes.csv"), nodes)
    }

    /// A summary as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.testbed.name);
        if !self.done {
            text.push_str("  the time was over before all sources were done\n");
        }
        // writing to a string does not fail
        let _ = writeln!(text, "\n  origin   packets  arrived  delivered");
        for one in self.connections() {
            let share = 100.0 * one.delivered_share;
            let _ = writeln!(
                text,
                "  {:8} {:7}  {:7}  {share:7.2} %",
                one.origin, one.packets, one.arrived
            );
        }
        let _ = writeln!(text, "\n  filtered at  origin  packets");
        for one in self.dropped() {
            let _ = writeln!(
                text,
                "  {:11}  {:6}  {} to {} ({})",
                one.node, one.origin, one.first, one.last, one.packets
            );
        }
        let _ = writeln!(text, "\n  time         node     event");
        for row in self.events() {
            let seen = match (row.from, row.set) {
                (Some(from), Some(set)) => {
                    format!("  {from} waited ({}), {set} permitted", row.held)
                }
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "  {:9.3} s  {:7}  {} {} {}{seen}",
                row.time_s, row.port, row.phase, row.origin, row.reason
            );
        }
        text
    }
}

fn table<T: Serialize>(path: &Path, rows: impl IntoIterator<Item = T>) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_path(path).at(path.display())?;
    for row in rows {
        writer.serialize(row).at(path.display())?;
    }
    writer.flush().at(path.display())
}
