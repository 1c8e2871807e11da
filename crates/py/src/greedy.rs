//! LGC's formulas, for the worked examples of its paper.

use pyo3::prelude::*;
use tidegate_core::law::greedy::lgc::{self, Lgc};
use tidegate_core::law::greedy::{Key, Node};
use tidegate_core::units::Time;

/// Packets that a responsive connection may hold in a queue, and the index of the greediest
/// connection, if there is one; `held` is the number of packets of each connection.
#[pyfunction]
pub fn lgc_look(held: Vec<u32>) -> (u32, Option<usize>) {
    let key = |origin: u64| Key { from: Node(u64::MAX), origin: Node(origin) };
    let queued = (0..).zip(&held).flat_map(|(origin, count)| (0..*count).map(move |_| key(origin)));
    let seen = Lgc::new(&lgc::Config::default()).trigger(Time::ZERO, queued);
    (seen.share, seen.greedy.map(|(key, _)| key.origin.0 as usize))
}

/// The share of a queue that one of `connections` may hold, in percent.
#[pyfunction]
pub fn lgc_permissible_percent(connections: u32) -> f64 {
    lgc::permissible_percent(connections)
}
