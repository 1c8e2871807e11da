//! How long the queues of ports are after the warm-up, as distributions over time.
//!
//! The queues are looked at at regular instants, so no packet passes through this module.
//! The delay of a queue is its backlog over the capacity: what a packet would wait that came
//! then and were served last. While the capacity is 0 it has no delay, and none is taken.

use tidegate_core::port::Port;
use tidegate_core::units::Time;
use tidegate_model::columns::{Category, Column, QueueRow};
use tidegate_model::scenario::Scenario;

use crate::names::names;

/// Instants of the window at which queues are looked at.
const INSTANTS: u64 = 2000;
/// Where ports are many there are fewer instants: so many looks together, at least a hundred each.
const LOOKS: u64 = 1_000_000;

/// What was found at one port, in the order of time. Most queues are empty most of the time: empty
/// ones are only counted.
#[derive(Default)]
struct PortBacklog {
    empty: usize,
    packets: Vec<u32>,
    /// Of the empty ones, those with a delay.
    no_delay: usize,
    delays_s: Vec<f64>,
}

impl PortBacklog {
    fn add(&mut self, packets: u32, delay_s: Option<f64>) {
        if packets == 0 {
            self.empty += 1;
            self.no_delay += usize::from(delay_s.is_some());
        } else {
            self.packets.push(packets);
            self.delays_s.extend(delay_s);
        }
    }

    /// The row of its port.
    fn row(mut self, port: Category) -> QueueRow {
        self.packets.sort_unstable();
        self.delays_s.sort_unstable_by(f64::total_cmp);
        let instants = self.no_delay + self.delays_s.len();
        let packets = |share| rank(self.empty, &self.packets, share).map_or(f64::NAN, f64::from);
        let delay = |share| rank(self.no_delay, &self.delays_s, share).unwrap_or(f64::NAN);
        QueueRow {
            port,
            queue_p95_packets: packets(0.95),
            queue_p99_packets: packets(0.99),
            queue_delay_mean_s: self.delays_s.iter().fold(0.0, |sum, s| sum + s) / instants as f64,
            queue_delay_p95_s: delay(0.95),
            queue_delay_p99_s: delay(0.99),
        }
    }
}

/// The queues of all ports that are no access links.
pub(crate) struct Backlog {
    pub(crate) every: Time,
    ports: Vec<u32>,
    found: Vec<PortBacklog>,
}

impl Backlog {
    pub(crate) fn new(scenario: &Scenario) -> Backlog {
        let own = (0..).zip(&scenario.network.ports).filter(|(_, port)| !port.access);
        let ports: Vec<u32> = own.map(|(number, _)| number).collect();
        let window = scenario.duration.saturating_sub(scenario.warmup);
        let instants = (LOOKS / (ports.len() as u64).max(1)).clamp(100, INSTANTS);
        let found = ports.iter().map(|_| PortBacklog::default()).collect();
        Backlog { every: Time::from_ps((window.ps() / instants).max(1)), ports, found }
    }

    /// An instant has come.
    pub(crate) fn sample(&mut self, ports: &mut [Port], now: Time) {
        for (&number, found) in self.ports.iter().zip(&mut self.found) {
            let port = &mut ports[number as usize];
            port.advance(now);
            found.add(port.queue_packets(), port.queue_delay_s());
        }
    }

    /// The `queues` table: a row for each port.
    pub(crate) fn columns(self, scenario: &Scenario) -> Vec<Column> {
        let rows = self.ports.iter().zip(self.found);
        let rows = rows.map(|(&port, found)| found.row(Category(port)));
        QueueRow::columns(rows, |column| names(scenario, column))
    }
}

/// The value that this share of `zeros` zeros and of the sorted values does not exceed.
fn rank<T: Copy + Default>(zeros: usize, sorted: &[T], share: f64) -> Option<T> {
    let count = zeros + sorted.len();
    let place = ((share * count as f64).ceil() as usize).saturating_sub(1);
    match place.checked_sub(zeros) {
        Some(above) => sorted.get(above).copied(),
        None => Some(T::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 95 of the values 1 to 100 are at most 95, and 95 of 94 zeros and 1 to 6 are at
    /// most 1.
    #[test]
    fn a_percentile_is_a_value_that_occurs() {
        let values: Vec<u32> = (1..=100).collect();
        assert_eq!(rank(0, &values, 0.95), Some(95));
        assert_eq!(rank(0, &values[..1], 0.99), Some(1));
        assert_eq!(rank::<u32>(0, &[], 0.5), None);
        assert_eq!(rank(94, &values[..6], 0.95), Some(1));
        assert_eq!(rank(94, &values[..6], 0.94), Some(0));
    }

    /// By hand: of four looks two find nothing, one a packet of 1 s and one two packets of 3 s; the
    /// mean delay is 1 s, and the 95th percentile is the longest.
    #[test]
    fn empty_queues_count() {
        let mut found = PortBacklog::default();
        for (packets, delay_s) in [(0, 0.0), (1, 1.0), (2, 3.0), (0, 0.0)] {
            found.add(packets, Some(delay_s));
        }
        let row = found.row(Category(0));
        assert_eq!((row.queue_delay_mean_s, row.queue_delay_p95_s), (1.0, 3.0));
        assert_eq!(row.queue_p95_packets, 2.0);
    }

    /// By hand: of four looks two fall into an outage, and the delays of the others are 0 and 3 s; of
    /// the four numbers of packets the longest is 9.
    #[test]
    fn a_link_without_capacity_has_a_queue_but_no_delay() {
        let mut found = PortBacklog::default();
        for (packets, delay_s) in [(0, Some(0.0)), (0, None), (9, None), (2, Some(3.0))] {
            found.add(packets, delay_s);
        }
        let row = found.row(Category(0));
        assert_eq!((row.queue_delay_mean_s, row.queue_delay_p95_s), (1.5, 3.0));
        assert_eq!(row.queue_p95_packets, 9.0);
        let mut never = PortBacklog::default();
        never.add(9, None);
        let row = never.row(Category(0));
        assert!(row.queue_delay_mean_s.is_nan() && row.queue_delay_p95_s.is_nan());
    }
}
