//! What of each class crosses which ports: its data, and the packets that open its sessions.

use std::collections::BTreeSet;

use tidegate_core::law::session::Opener;

use crate::route::{PacketKind, Routes};
use crate::scenario::{Arrivals, Class, Direction, Network};

/// The ports that the sessions of one class cross, those of one direction together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// Place of the class in the scenario.
    pub class: usize,
    /// Ports that data crosses.
    pub data: BTreeSet<u32>,
    /// Ports that SYNs cross; none where no handshake opens a session, or none that a router can read.
    syn: BTreeSet<u32>,
    /// Ports that SYN+ACKs cross.
    syn_ack: BTreeSet<u32>,
}

impl Path {
    /// Whether a packet that opens a session in this sense crosses the port.
    pub fn opens(&self, port: u32, opener: Opener) -> bool {
        match opener {
            Opener::Syn => self.syn.contains(&port),
            Opener::SynAck => self.syn_ack.contains(&port),
            Opener::Either => self.syn.contains(&port) || self.syn_ack.contains(&port),
        }
    }
}

/// The paths of all classes: one for each class and direction of its sessions.
pub(crate) fn of(network: &Network, traffic: &[Class]) -> Vec<Path> {
    let routes = Routes::of(network);
    let mut paths = Vec::new();
    for (place, class) in traffic.iter().enumerate() {
        for direction in directions(class) {
            paths.push(path(network, &routes, class, place, direction));
        }
    }
    paths
}

/// The directions that sessions of a class have.
fn directions(class: &Class) -> Vec<Direction> {
    let Arrivals::Replayed(flows) = &class.arrivals else { return vec![class.direction] };
    [Direction::Upload, Direction::Download]
        .into_iter()
        .filter(|&direction| flows.iter().any(|flow| flow.direction == direction))
        .collect()
}

fn path(
    network: &Network,
    routes: &Routes,
    class: &Class,
    place: usize,
    direction: Direction,
) -> Path {
    let mut path = Path { class: place, ..Path::default() };
    let shaken = class.transport.tcp().is_some_and(|tcp| tcp.handshake);
    let readable = class.opaque_share < 1.0;
    let pairs: BTreeSet<(u16, u16)> = class.pairs.iter().copied().collect();
    for (first, second) in pairs {
        // a recorded flow of the other direction sends its data the other way
        let (from, to) =
            if direction == class.direction { (first, second) } else { (second, first) };
        let ports =
            |from, to, kind| routes.path(network, (from, to), Some(kind)).unwrap_or_default();
        path.data.extend(ports(from, to, PacketKind::Data));
        if !(shaken && readable) {
            continue;
        }
        let (client, server) = if direction == Direction::Upload { (from, to) } else { (to, from) };
        path.syn.extend(ports(client, server, PacketKind::Syn));
        path.syn_ack.extend(ports(server, client, PacketKind::SynAck));
    }
    path
}

/// Which packet opens a session at a port: that of the sessions whose data
/// crosses it, else whichever crosses it at all.
pub(crate) fn opener(paths: &[Path], port: u32) -> Opener {
    let among = |with_data: bool| {
        let crosses = |opener| {
            paths
                .iter()
                .any(|path| (!with_data || path.data.contains(&port)) && path.opens(port, opener))
        };
        match (crosses(Opener::Syn), crosses(Opener::SynAck)) {
            (true, true) => Some(Opener::Either),
            (true, false) => Some(Opener::Syn),
            (false, true) => Some(Opener::SynAck),
            (false, false) => None,
        }
    };
    among(true).or_else(|| among(false)).unwrap_or_default()
}
