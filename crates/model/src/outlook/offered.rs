//! The load that is offered to each link: what the classes will send, in parts of its capacity.

use std::collections::BTreeMap;

use crate::outlook::lint::expected;
use crate::route::Routes;
use crate::scenario::{PacketKind, Scenario};

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
    /// The same of the classes whose flows end.
    pub ending: f64,
}

/// The load of each port that data crosses and that belongs to no access link.
///
/// The flows of a class fall evenly on its pairs of hosts, and recorded flows all go in the
/// direction of their class. Headers, retransmissions and acknowledgements are not counted.
pub fn offered(scenario: &Scenario) -> Vec<Offered> {
    let routes = Routes::of(&scenario.network);
    // of each port the bits of flows that end, and whether others have no end
    let mut loads: BTreeMap<u32, (f64, bool)> = BTreeMap::new();
    for (class, expected) in scenario.traffic.iter().zip(expected(scenario)) {
        let bits = expected.mean_bytes.map(|bytes| expected.flows * bytes * 8.0);
        let each = bits.map(|bits| bits / class.pairs.len().max(1) as f64);
        for &ends in &class.pairs {
            let path = routes.path(&scenario.network, ends, Some(PacketKind::Data));
            for port in path.unwrap_or_default() {
                let (sum, endless) = loads.entry(port).or_default();
                *sum += each.unwrap_or(0.0);
                *endless |= each.is_none();
            }
        }
    }
    let of = |(number, (bits, endless)): (u32, (f64, bool))| {
        let port = scenario.network.ports.get(number as usize).filter(|port| !port.access)?;
        let rate_bps = port.rate.bps() as f64;
        let ending = bits / (rate_bps * scenario.duration.secs());
        let share = (!endless).then_some(ending);
        Some(Offered { port: port.name.clone(), rate_bps, share, ending })
    };
    loads.into_iter().filter_map(of).collect()
}
