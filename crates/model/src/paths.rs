//! Which ports the data and the opening packets of each class cross.

use std::collections::BTreeSet;

use tidegate_core::law::session::Opener;
use tidegate_core::units::Time;

use crate::law::Gate;
use crate::route::Routes;
use crate::scenario::{Arrivals, Class, Direction, End, Network, PacketKind, Scenario, Transport};

/// The ports that the sessions of one class and direction cross.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// Index of the class in the scenario.
    pub class: usize,
    /// Ports that data crosses.
    pub data: BTreeSet<u32>,
    /// Ports that SYNs cross; empty without a handshake, or if routers cannot read it.
    syn: BTreeSet<u32>,
    /// Ports that SYN+ACKs cross.
    syn_ack: BTreeSet<u32>,
    /// Whether the end that opens a session sends its data.
    client_sends: bool,
}

impl Path {
    /// Whether an opening packet of this kind crosses the port.
    pub fn opens(&self, port: u32, opener: Opener) -> bool {
        match opener {
            Opener::Syn => self.syn.contains(&port),
            Opener::SynAck => self.syn_ack.contains(&port),
            Opener::Either => self.syn.contains(&port) || self.syn_ack.contains(&port),
        }
    }
}

/// The paths of all classes: one per class and direction of its sessions.
pub(crate) fn of(network: &Network, traffic: &[Class]) -> Vec<Path> {
    let routes = Routes::of(network);
    let mut paths = Vec::new();
    for (place, class) in traffic.iter().enumerate() {
        for way in ways(class) {
            paths.push(path(network, &routes, class, place, way));
        }
    }
    paths
}

impl Scenario {
    /// Of each class: whether a gate decides about sessions of which the client sends the data at
    /// their SYN+ACK. It does where other classes' sessions open with theirs, and cannot tell the
    /// two apart. Such a session is admitted when the SYN+ACK passes, and not when the SYN arrives.
    pub fn admitted_by_answer(&self) -> Vec<bool> {
        let gates =
            (0..).zip(&self.network.ports).filter_map(|(at, port)| Some((at, port.gate.as_ref()?)));
        let asks = |gate: &Gate| gate.opener() != Opener::Syn && !gate.ingress().openers;
        let asking: Vec<(u32, &Gate)> = gates.filter(|(_, gate)| asks(gate)).collect();
        let mut found = vec![false; self.traffic.len()];
        if asking.is_empty() {
            return found;
        }
        for path in of(&self.network, &self.traffic) {
            let Some(class) = self.traffic.get(path.class) else { continue };
            let quic = matches!(class.transport, Transport::Quic(_));
            let asked = asking
                .iter()
                .any(|(at, gate)| path.syn_ack.contains(at) && (gate.keys.quic.is_some() || !quic));
            found[path.class] |= path.client_sends && asked;
        }
        found
    }
}

/// The round trip of one pair of hosts of a class, if nothing waits anywhere.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    /// Place of the class in the scenario.
    pub class: usize,
    /// Ports that data crosses.
    pub data: Vec<u32>,
    /// Propagation delay to the receiver and back.
    pub time: Time,
}

/// The round trips of all classes that get acknowledgements, one for each pair of hosts.
pub(crate) fn round_trips(network: &Network, traffic: &[Class]) -> Vec<RoundTrip> {
    let routes = Routes::of(network);
    let delay = |ports: &[u32]| {
        let delays = ports.iter().filter_map(|&port| network.ports.get(port as usize));
        delays.fold(Time::ZERO, |sum, port| sum + port.delay)
    };
    let mut found = Vec::new();
    for (class, each) in
        traffic.iter().enumerate().filter(|(_, each)| !matches!(each.transport, Transport::Udp(_)))
    {
        let pairs: BTreeSet<(u16, u16)> = each.pairs.iter().copied().collect();
        for (from, to) in pairs {
            let ports = |from, to, kind| routes.path(network, (from, to), Some(kind));
            let (Some(data), Some(back)) =
                (ports(from, to, PacketKind::Data), ports(to, from, PacketKind::Ack))
            else {
                continue;
            };
            let time = delay(&data) + delay(&back);
            found.push(RoundTrip { class, data, time });
        }
    }
    found
}

/// The directions of a class's sessions, and the ends that open them.
fn ways(class: &Class) -> Vec<(Direction, End)> {
    let Arrivals::Replayed(flows) = &class.arrivals else {
        return vec![(class.direction, class.opens)];
    };
    [Direction::Upload, Direction::Download]
        .into_iter()
        .filter_map(|direction| flows.iter().find(|flow| flow.direction == direction))
        .map(|flow| (flow.direction, flow.opens))
        .collect()
}

fn path(
    network: &Network,
    routes: &Routes,
    class: &Class,
    place: usize,
    (direction, opens): (Direction, End),
) -> Path {
    let client_sends = opens == End::Sender;
    let mut path = Path { class: place, client_sends, ..Path::default() };
    let shaken = match &class.transport {
        Transport::Quic(_) => true,
        other => other.tcp().is_some_and(|tcp| tcp.handshake),
    };
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
        let (client, server) = if client_sends { (from, to) } else { (to, from) };
        path.syn.extend(ports(client, server, PacketKind::Syn));
        path.syn_ack.extend(ports(server, client, PacketKind::SynAck));
    }
    path
}

/// Which packet opens a session at a port: that of the sessions whose data crosses it, or else any
/// that crosses it.
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
