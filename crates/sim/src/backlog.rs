//! How long the queues of ports are after the warm-up, as distributions over time.
//!
//! The queues are looked at at regular instants, so no packet passes through this module.
//! The delay of a queue is its backlog over the capacity: what a packet would wait that came
//! then and were served last.

use tidegate_core::port::Port;
use tidegate_core::units::Time;
use tidegate_model::columns::{Category, Column, QueueRow};
use tidegate_model::scenario::Scenario;

use crate::names::names;

/// Instants of the window at which queues are looked at.
const INSTANTS: u64 = 2000;
/// Where ports are many there are fewer instants: so many looks together, at least a hundred each.
const LOOKS: u64 = 1_000_000;

/// What was found at one port, in the order of time.
#[derive(Default)]
struct Found {
    packets: Vec<u32>,
    delays_s: Vec<f64>,
}

/// The queues of all ports that are no access links.
pub(crate) struct Backlog {
    pub(crate) every: Time,
    ports: Vec<u32>,
    found: Vec<Found>,
}

impl Backlog {
    pub(crate) fn new(scenario: &Scenario) -> Backlog {
        let own = (0..).zip(&scenario.network.ports).filter(|(_, port)| !port.access);
        let ports: Vec<u32> = own.map(|(number, _)| number).collect();
        let window = scenario.duration.saturating_sub(scenario.warmup);
        let instants = (LOOKS / (ports.len() as u64).max(1)).clamp(100, INSTANTS);
        let found = ports.iter().map(|_| Found::default()).collect();
        Backlog { every: Time::from_ps((window.ps() / instants).max(1)), ports, found }
    }

    /// An instant has come.
    pub(crate) fn look(&mut self, ports: &mut [Port], now: Time) {
        for (&number, found) in self.ports.iter().zip(&mut self.found) {
            let port = &mut ports[number as usize];
            port.advance(now);
            found.packets.push(port.queue_packets());
            found.delays_s.push(port.queue_bytes() as f64 * 8.0 / port.rate().bps() as f64);
        }
    }

    /// The `queues` table: a row for each port.
    pub(crate) fn columns(mut self, scenario: &Scenario) -> Vec<Column> {
        for found in &mut self.found {
            found.packets.sort_unstable();
            found.delays_s.sort_unstable_by(f64::total_cmp);
        }
        let rows = self.ports.iter().zip(&self.found).map(|(&port, found)| QueueRow {
            port: Category(port),
            queue_p95_packets: rank(&found.packets, 0.95).map_or(f64::NAN, f64::from),
            queue_p99_packets: rank(&found.packets, 0.99).map_or(f64::NAN, f64::from),
            queue_delay_mean_s: found.delays_s.iter().sum::<f64>() / found.delays_s.len() as f64,
            queue_delay_p95_s: rank(&found.delays_s, 0.95).unwrap_or(f64::NAN),
            queue_delay_p99_s: rank(&found.delays_s, 0.99).unwrap_or(f64::NAN),
        });
        QueueRow::columns(rows, |column| names(scenario, column))
    }
}

/// The value that this share of sorted values does not exceed.
fn rank<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 95 of the values 1 to 100 are at most 95.
    #[test]
    fn a_percentile_is_a_value_that_occurs() {
        let values: Vec<u32> = (1..=100).collect();
        assert_eq!(rank(&values, 0.95), Some(95));
        assert_eq!(rank(&values[..1], 0.99), Some(1));
        assert_eq!(rank::<u32>(&[], 0.5), None);
    }
}
