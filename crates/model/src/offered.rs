//! The load that is offered to each link: what the classes will send, in parts of its capacity.

use std::collections::BTreeMap;

use crate::lint::expected;
use crate::route::{PacketKind, Routes};
use crate::scenario::Scenario;

/// What is offered to one port whose link is no access link.
#[derive(Clone, PartialEq, Debug)]
pub struct Offered {
    /// The port.
    pub port: String,
    /// Capacity at the start, in bit/s.
    pub rate_bps: f64,
    /// Payload of the flows that start in the run (their mean, if they are random), each once, in
    /// parts of what the capacity at the start carries in that time. None: a class that crosses
    /// sends without end.
    pub share: Option<f64>,
}

/// The load of each port that data crosses and that belongs to no access link.
///
/// The flows of a class fall evenly on its pairs of hosts, and recorded flows all go in the
/// direction of their class. Headers, retransmissions and acknowledgements are not counted.
pub fn offered(scenario: &Scenario) -> Vec<Offered> {
    let routes = Routes::of(&scenario.network);
    let mut loads: BTreeMap<u32, Option<f64>> = BTreeMap::new();
    for (class, expected) in scenario.traffic.iter().zip(expected(scenario)) {
        let bits = expected.mean_bytes.map(|bytes| expected.flows * bytes * 8.0);
        let each = bits.map(|bits| bits / class.pairs.len().max(1) as f64);
        for &ends in &class.pairs {
            let path = routes.path(&scenario.network, ends, Some(PacketKind::Data));
            for port in path.unwrap_or_default() {
                let load = loads.entry(port).or_insert(Some(0.0));
                *load = load.zip(each).map(|(sum, each)| sum + each);
            }
        }
    }
    let of = |(number, bits): (u32, Option<f64>)| {
        let port = scenario.network.ports.get(number as usize).filter(|port| !port.access)?;
        let rate_bps = port.rate.bps() as f64;
        let share = bits.map(|bits| bits / (rate_bps * scenario.duration.secs()));
        Some(Offered { port: port.name.clone(), rate_bps, share })
    };
    loads.into_iter().filter_map(of).collect()
}
