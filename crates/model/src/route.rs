//! Paths through a network: shortest paths, and the routes that replace them.
//!
//! Every node with more than one neighbour has a table with the next port for each destination. A
//! node with one neighbour is a *leaf*: it sends everything through its one port and lies on no
//! other path.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use tidegate_core::units::Time;

use crate::scenario::{Network, PacketKind, Route};

/// No port leads to the destination.
pub const NO_PORT: u32 = u32::MAX;

/// The paths of all packets through a network.
#[derive(Clone, Debug)]
pub struct Routes {
    /// For every node that is not a leaf, the port to each destination; [`NO_PORT`] to itself.
    pub table: Vec<u32>,
    /// Start of each node's ports in `table`; none for a leaf.
    pub starts: Vec<Option<u32>>,
    /// The one port of each leaf; [`NO_PORT`] for other nodes.
    pub uplinks: Vec<u32>,
    /// Where the kind of packet matters: the port for each kind, by node and destination;
    /// [`NO_PORT`]: as for other packets.
    pub sorted: BTreeMap<(u16, u16), [u32; PacketKind::ALL.len()]>,
}

impl Routes {
    /// Shortest paths by the sum of costs (ties go to the port named first), and the routes that
    /// replace them. If several routes match a packet, the first applies.
    pub fn of(network: &Network) -> Routes {
        let shape = Shape::of(network);
        let nodes = network.nodes.len();
        let mut routes = Routes {
            table: Vec::new(),
            starts: Vec::with_capacity(nodes),
            uplinks: vec![NO_PORT; nodes],
            sorted: BTreeMap::new(),
        };
        for node in 0..nodes {
            if shape.is_leaf(node) {
                routes.uplinks[node] = shape.out[node].first().copied().unwrap_or(NO_PORT);
                routes.starts.push(None);
            } else {
                routes.starts.push(Some(routes.table.len() as u32));
                routes.table.resize(routes.table.len() + nodes, NO_PORT);
            }
        }
        for destination in (0..nodes).filter(|&node| !shape.is_leaf(node)) {
            routes.towards(destination, network, &shape);
        }
        for leaf in (0..nodes).filter(|&node| shape.is_leaf(node)) {
            routes.towards_leaf(leaf, network, &shape);
        }
        routes.replace(&network.routes);
        routes
    }

    /// The ports of all nodes towards a destination that is not a leaf.
    fn towards(&mut self, destination: usize, network: &Network, shape: &Shape) {
        let distance = shape.distances(destination, network);
        for (number, port) in (0..).zip(&network.ports) {
            let (from, to) = (usize::from(port.from), usize::from(port.to));
            if let (Some(start), Some(near), Some(far)) =
                (self.starts[from], distance[from], distance[to])
                && near == far + u64::from(port.cost)
            {
                let route = &mut self.table[start as usize + destination];
                *route = (*route).min(number);
            }
        }
    }

    /// The path to a leaf is the path to its neighbour plus one port.
    fn towards_leaf(&mut self, leaf: usize, network: &Network, shape: &Shape) {
        let best = shape.into[leaf].iter().min_by_key(|&&port| network.ports[port as usize].cost);
        let Some(&last) = best else { return };
        let neighbour = usize::from(network.ports[last as usize].from);
        for node in 0..shape.out.len() {
            let Some(start) = self.starts[node] else { continue };
            let start = start as usize;
            self.table[start + leaf] =
                if node == neighbour { last } else { self.table[start + neighbour] };
        }
    }

    fn replace(&mut self, replacing: &[Route]) {
        let mut settled = std::collections::BTreeSet::new();
        for route in replacing {
            let place = (route.at, route.to);
            let Some(start) = self.starts[usize::from(route.at)] else { continue };
            if settled.contains(&place) {
                continue;
            }
            match &route.kinds {
                None => {
                    settled.insert(place);
                    self.table[start as usize + usize::from(route.to)] = route.port;
                }
                Some(kinds) => {
                    let ports = self.sorted.entry(place).or_insert([NO_PORT; _]);
                    for &kind in kinds {
                        if ports[kind as usize] == NO_PORT {
                            ports[kind as usize] = route.port;
                        }
                    }
                }
            }
        }
    }

    /// The port through which `node` sends a packet of that kind to `destination`.
    pub fn next(&self, node: u16, destination: u16, kind: Option<PacketKind>) -> Option<u32> {
        let sorted = kind.and_then(|kind| {
            self.sorted.get(&(node, destination)).map(|ports| ports[kind as usize])
        });
        let port = match (sorted, self.starts[usize::from(node)]) {
            _ if node == destination => NO_PORT,
            (Some(port), _) if port != NO_PORT => port,
            (_, Some(start)) => self.table[start as usize + usize::from(destination)],
            (_, None) => self.uplinks[usize::from(node)],
        };
        (port != NO_PORT).then_some(port)
    }

    /// The ports on the path of a packet of this kind; none if it does not arrive.
    pub fn path(
        &self,
        network: &Network,
        (from, to): (u16, u16),
        kind: Option<PacketKind>,
    ) -> Option<Vec<u32>> {
        let (mut ports, mut node) = (Vec::new(), from);
        while node != to {
            let port = self.next(node, to, kind)?;
            node = network.ports[port as usize].to;
            ports.push(port);
            if ports.len() >= network.nodes.len() {
                return None;
            }
        }
        Some(ports)
    }

    /// The paths on which packets of this kind never reach `destination`, as lists of nodes. The
    /// last node of a path was already on it, has no next port, or is on a path listed before.
    pub fn astray(
        &self,
        network: &Network,
        destination: u16,
        kind: Option<PacketKind>,
    ) -> Vec<Vec<u16>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            Never,
            Now,
            Arrives,
            Strays,
        }
        let mut seen = vec![Seen::Never; network.nodes.len()];
        seen[usize::from(destination)] = Seen::Arrives;
        let mut ways = Vec::new();
        for first in 0..network.nodes.len() as u16 {
            let (mut node, mut passed) = (Some(first), Vec::new());
            let mut end = Seen::Strays;
            while let Some(here) = node {
                passed.push(here);
                if seen[usize::from(here)] != Seen::Never {
                    end = seen[usize::from(here)];
                    break;
                }
                seen[usize::from(here)] = Seen::Now;
                let port = self.next(here, destination, kind);
                node = port.map(|port| network.ports[port as usize].to);
            }
            let fate = if end == Seen::Arrives { Seen::Arrives } else { Seen::Strays };
            for &node in &passed {
                seen[usize::from(node)] = fate;
            }
            // a single node that was already listed is not a path
            if fate == Seen::Strays && (passed.len() > 1 || node.is_none()) {
                ways.push(passed);
            }
        }
        ways
    }
}

/// Total propagation delay of ports.
pub fn delay(network: &Network, ports: &[u32]) -> Time {
    ports.iter().fold(Time::ZERO, |sum, &port| sum + network.ports[port as usize].delay)
}

/// The ports that leave and reach each node.
struct Shape {
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    leaf: Vec<bool>,
}

impl Shape {
    fn of(network: &Network) -> Shape {
        let nodes = network.nodes.len();
        let mut shape =
            Shape { out: vec![Vec::new(); nodes], into: vec![Vec::new(); nodes], leaf: Vec::new() };
        for (number, port) in (0..).zip(&network.ports) {
            shape.out[usize::from(port.from)].push(number);
            shape.into[usize::from(port.to)].push(number);
        }
        shape.leaf = (0..nodes)
            .map(|node| {
                let far = shape.out[node].iter().map(|&port| network.ports[port as usize].to);
                let near = shape.into[node].iter().map(|&port| network.ports[port as usize].from);
                let mut neighbours = far.chain(near);
                let first = neighbours.next();
                shape.out[node].len() <= 1 && neighbours.all(|other| Some(other) == first)
            })
            .collect();
        shape
    }

    fn is_leaf(&self, node: usize) -> bool {
        self.leaf[node]
    }

    /// Cost of the cheapest path from every node to `destination` (Dijkstra, backwards); none:
    /// there is no path. A leaf lies on no path but its own.
    fn distances(&self, destination: usize, network: &Network) -> Vec<Option<u64>> {
        let mut distance = vec![None; self.out.len()];
        let mut nearest = BinaryHeap::from([Reverse((0u64, destination))]);
        while let Some(Reverse((cost, node))) = nearest.pop() {
            if distance[node].is_some_and(|known| known <= cost) {
                continue;
            }
            distance[node] = Some(cost);
            for &port in &self.into[node] {
                let port = &network.ports[port as usize];
                let from = usize::from(port.from);
                if !self.is_leaf(from) && distance[from].is_none() {
                    nearest.push(Reverse((cost + u64::from(port.cost), from)));
                }
            }
        }
        distance
    }
}
