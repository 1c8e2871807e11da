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
    /// How many nodes and ports were looked at to find the paths, and to see where packets go.
    #[cfg(test)]
    looked: std::cell::Cell<usize>,
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
            #[cfg(test)]
            looked: std::cell::Cell::new(0),
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
        // a leaf lies on no path but its own: only the others are asked for each destination
        let routers: Vec<usize> = (0..nodes).filter(|&node| !shape.is_leaf(node)).collect();
        let between: Vec<u32> = (0..)
            .zip(&network.ports)
            .filter(|(_, port)| [port.from, port.to].iter().all(|&end| !shape.is_leaf(end.into())))
            .map(|(number, _)| number)
            .collect();
        for &destination in &routers {
            routes.towards(destination, network, &shape, &between);
        }
        for leaf in (0..nodes).filter(|&node| shape.is_leaf(node)) {
            routes.towards_leaf(leaf, network, &shape, &routers);
        }
        routes.replace(&network.routes);
        routes
    }

    /// Notes that so many nodes or ports were looked at.
    #[cfg(test)]
    fn look(&self, count: usize) {
        self.looked.set(self.looked.get() + count);
    }

    #[cfg(not(test))]
    fn look(&self, _: usize) {}

    /// The ports of all nodes towards a destination that is not a leaf, among those `between` two
    /// that are none.
    fn towards(&mut self, destination: usize, network: &Network, shape: &Shape, between: &[u32]) {
        self.look(between.len());
        let distance = shape.distances(destination, network);
        for &number in between {
            let port = &network.ports[number as usize];
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
    fn towards_leaf(&mut self, leaf: usize, network: &Network, shape: &Shape, routers: &[usize]) {
        self.look(routers.len());
        let best = shape.into[leaf].iter().min_by_key(|&&port| network.ports[port as usize].cost);
        let Some(&last) = best else { return };
        let neighbour = usize::from(network.ports[last as usize].from);
        for &node in routers {
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

    /// Whether packets of this kind reach `destination` from each of these nodes.
    pub fn all_arrive(
        &self,
        network: &Network,
        from: &[u16],
        (destination, kind): (u16, Option<PacketKind>),
        walks: &mut Walks,
    ) -> bool {
        walks.passed.resize(network.nodes.len(), 0);
        let before = walks.last;
        from.iter().all(|&first| {
            walks.last += 1;
            let mut node = first;
            while node != destination {
                self.look(1);
                let last = std::mem::replace(&mut walks.passed[usize::from(node)], walks.last);
                if last > before {
                    // an earlier walk has arrived from here, or this one goes in a circle
                    return last < walks.last;
                }
                let Some(port) = self.next(node, destination, kind) else { return false };
                node = network.ports[port as usize].to;
            }
            true
        })
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
        enum Walked {
            Never,
            Now,
            Arrives,
            Strays,
        }
        let mut seen = vec![Walked::Never; network.nodes.len()];
        seen[usize::from(destination)] = Walked::Arrives;
        let mut ways = Vec::new();
        for first in 0..network.nodes.len() as u16 {
            let (mut node, mut passed) = (Some(first), Vec::new());
            let mut end = Walked::Strays;
            while let Some(here) = node {
                self.look(1);
                passed.push(here);
                if seen[usize::from(here)] != Walked::Never {
                    end = seen[usize::from(here)];
                    break;
                }
                seen[usize::from(here)] = Walked::Now;
                let port = self.next(here, destination, kind);
                node = port.map(|port| network.ports[port as usize].to);
            }
            let fate = if end == Walked::Arrives { Walked::Arrives } else { Walked::Strays };
            for &node in &passed {
                seen[usize::from(node)] = fate;
            }
            // a single node that was already listed is not a path
            if fate == Walked::Strays && (passed.len() > 1 || node.is_none()) {
                ways.push(passed);
            }
        }
        ways
    }
}

/// In which walk each node was passed last, for [`Routes::all_arrive`].
#[derive(Debug, Default)]
pub struct Walks {
    passed: Vec<u64>,
    last: u64,
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

#[cfg(test)]
mod tests {
    use tidegate_core::units::Rate;

    use super::*;
    use crate::scenario::Port;
    use tidegate_core::units::Length;

    /// Two routers with two links between them, and so many hosts at each.
    fn dumbbell(hosts: u16) -> Network {
        let mut network = Network { nodes: Vec::new(), ports: Vec::new(), routes: Vec::new() };
        let mut join = |from: u16, to: u16| {
            let link = (Rate::from_bps(1_000_000), Time::from_ms(1), Length::Packets(10));
            for ends in [(from, to), (to, from)] {
                network.ports.push(Port::plain(String::new(), ends, link));
            }
        };
        join(0, 1);
        join(0, 1);
        (0..hosts).for_each(|host| join(2 + host, 0));
        (0..hosts).for_each(|host| join(2 + hosts + host, 1));
        network.nodes = vec![String::new(); 2 + 2 * usize::from(hosts)];
        network
    }

    /// By hand: with n hosts at each of two routers, each router asks the four ports between them,
    /// and each of the 2 n hosts asks the two routers.
    #[test]
    fn the_work_for_paths_grows_with_the_hosts() {
        for hosts in [10, 100, 1000] {
            let routes = Routes::of(&dumbbell(hosts));
            assert_eq!(routes.looked.get(), 2 * 4 + 2 * 2 * usize::from(hosts));
        }
    }

    /// By hand: each of n destinations behind the other router has a route of its own, over the
    /// second link. A packet passes two routers, and is there.
    #[test]
    fn the_work_for_routes_grows_with_the_routes() {
        for hosts in [10, 100, 1000] {
            let mut network = dumbbell(hosts);
            let far = 2 + hosts..2 + 2 * hosts;
            network.routes =
                far.clone().map(|to| Route { at: 0, to, port: 2, kinds: None }).collect();
            let routes = Routes::of(&network);
            routes.looked.set(0);
            let mut walks = Walks::default();
            for to in far {
                assert!(routes.all_arrive(&network, &[0], (to, None), &mut walks));
            }
            assert_eq!(routes.looked.get(), 2 * usize::from(hosts));
        }
    }

    /// By hand: the second router sends packets for host 2 back over the third port, and they go
    /// round; those for host 3 get through. A question does not see where earlier ones have gone.
    #[test]
    fn a_walk_sees_a_circle_and_nothing_else() {
        let mut network = dumbbell(1);
        network.routes = vec![
            Route { at: 0, to: 2, port: 0, kinds: None },
            Route { at: 1, to: 2, port: 1, kinds: None },
        ];
        let (routes, mut walks) = (Routes::of(&network), Walks::default());
        let mut arrive =
            |from: &[u16], to| routes.all_arrive(&network, from, (to, None), &mut walks);
        assert!(arrive(&[0, 1], 3) && arrive(&[1, 0, 2], 3));
        assert!(!arrive(&[0], 2) && !arrive(&[3], 2) && arrive(&[2], 2));
        assert!(arrive(&[0, 1], 3));
    }
}
