//! Routes: where each packet goes, and that it gets there.

use std::collections::BTreeMap;

use tidegate_core::units::Time;

use super::problems::Check;
use crate::document::Topology;
use crate::document::free::RouteDoc;
use crate::route::{Routes, Walks, delay};
use crate::scenario::{Class, Network, PacketKind, Route, Transport};
use crate::text::decode::spelling;

/// Puts routes and round trips into the network; refuses what leads astray.
pub(super) fn apply(
    check: &mut Check<'_>,
    topology: &Topology,
    docs: &[RouteDoc],
    network: &mut Network,
    traffic: &[Class],
) {
    let Topology::Links(_) = topology else {
        let what = "there is but one way between two nodes of this topology";
        check.require(docs.is_empty(), &["route"], what, "leave it out, or spell the links out");
        return;
    };
    let (mut places, mut replacing) = (Vec::new(), Vec::new());
    let names = Names::of(network);
    for (place, doc) in docs.iter().enumerate() {
        let routes = resolve(check, place, doc, &names);
        places.resize(places.len() + routes.len(), place);
        replacing.extend(routes);
    }
    network.routes = replacing;
    if !check.problems.is_empty() {
        return;
    }
    let routes = Routes::of(network);
    if arrive(check, network, &routes, &places) && reach(check, network, &routes, traffic) {
        round_trips(network, &routes, traffic);
    }
}

/// The nodes, and the ports that leave them, by their names: looked up once for all entries.
struct Names<'a> {
    network: &'a Network,
    nodes: BTreeMap<&'a str, u16>,
    /// A link's name stands for the direction that leaves the node.
    ports: BTreeMap<(u16, &'a str), u32>,
}

impl<'a> Names<'a> {
    fn of(network: &'a Network) -> Names<'a> {
        let nodes = network.nodes.iter().map(String::as_str).zip(0..).collect();
        let mut ports = BTreeMap::new();
        for (number, port) in (0..).zip(&network.ports) {
            let link = port.name.strip_suffix(".reverse");
            for name in [Some(port.name.as_str()), link].into_iter().flatten() {
                ports.entry((port.from, name)).or_insert(number);
            }
        }
        Names { network, nodes, ports }
    }

    /// The names of the ports that leave a node.
    fn leaving(&self, node: u16) -> Vec<&'a str> {
        let leaving = self.network.ports.iter().filter(|port| port.from == node);
        leaving.map(|port| port.name.as_str()).collect()
    }
}

/// The routes of one entry, one for each destination.
fn resolve(check: &mut Check<'_>, place: usize, doc: &RouteDoc, names: &Names<'_>) -> Vec<Route> {
    let index = place.to_string();
    let path = |key| ["route", index.as_str(), key];
    let mut node = |key, name: &str| {
        let number = names.nodes.get(name).copied();
        if number.is_none() {
            check.unknown(&path(key), name, &names.network.nodes, "nodes");
        }
        number
    };
    let at = node("at", &doc.at);
    let to: Vec<u16> = doc.to.0.iter().filter_map(|name| node("to", name)).collect();
    let Some(at) = at else { return Vec::new() };
    let Some(&port) = names.ports.get(&(at, doc.via.as_str())) else {
        let what = format!("no port `{}` leaves `{}`", doc.via, doc.at);
        check.refuse(&path("via"), what, spelling(&doc.via, &names.leaving(at), "ports"));
        return Vec::new();
    };
    let what = "a packet that has arrived goes nowhere";
    check.require(!to.contains(&at), &path("to"), what, "write another node than `at`");
    check.require(!doc.to.0.is_empty(), &path("to"), "names no node", "write a destination");
    let kinds = doc.flags.as_ref().map(|kinds| kinds.0.clone());
    let empty = kinds.as_ref().is_some_and(Vec::is_empty);
    let help = "write what packets are meant, or leave it out: all";
    check.require(!empty, &path("flags"), "names no packets", help);
    to.into_iter().map(|to| Route { at, to, port, kinds: kinds.clone() }).collect()
}

/// Every way that a packet can want to go, whatever it is.
fn kinds() -> impl Iterator<Item = Option<PacketKind>> {
    PacketKind::ALL.into_iter().map(Some).chain([None])
}

/// Whether there is a way between the hosts of each class, there and (unless
/// nobody answers) back.
fn reach(check: &mut Check<'_>, network: &Network, routes: &Routes, traffic: &[Class]) -> bool {
    for class in traffic {
        let answered = !matches!(&class.transport, Transport::Udp(udp) if udp.media.is_none());
        let ends =
            |&(from, to): &(u16, u16)| [(from, to), if answered { (to, from) } else { (from, to) }];
        let both = class.pairs.iter().flat_map(ends);
        for (from, to) in both {
            if routes.path(network, (from, to), None).is_some() {
                continue;
            }
            let name = |node: u16| &network.nodes[usize::from(node)];
            let what = format!("there is no way from `{}` to `{}`", name(from), name(to));
            let help = "join them by links; what acknowledges needs a way back";
            check.refuse(&["traffic", &class.name], what, help);
            return false;
        }
    }
    true
}

/// Whether what replaces shortest paths leads everything to where it should
/// go: no packet may travel for ever.
fn arrive(check: &mut Check<'_>, network: &Network, routes: &Routes, places: &[usize]) -> bool {
    // packets for one destination: they leave the shortest paths at these nodes alone
    let mut leaving = BTreeMap::<u16, Vec<u16>>::new();
    for route in &network.routes {
        leaving.entry(route.to).or_default().push(route.at);
    }
    let mut walks = Walks::default();
    for (to, from) in leaving {
        if kinds().all(|kind| routes.all_arrive(network, &from, (to, kind), &mut walks)) {
            continue;
        }
        for kind in kinds() {
            for passed in routes.astray(network, to, kind) {
                // without a culprit the node is not joined to this part of the network
                if let Some(place) = culprit(network, &passed, to, kind) {
                    refuse(check, network, &passed, (to, kind), &places[place].to_string());
                    return false;
                }
            }
        }
    }
    true
}

/// The last of the routes that lead packets astray, if one does.
fn culprit(network: &Network, passed: &[u16], to: u16, kind: Option<PacketKind>) -> Option<usize> {
    let fits = |route: &Route| {
        let of_kind = match (&route.kinds, kind) {
            (None, _) => true,
            (Some(kinds), Some(kind)) => kinds.contains(&kind),
            (Some(_), None) => false,
        };
        route.to == to && of_kind && passed.contains(&route.at)
    };
    network.routes.iter().rposition(fits)
}

fn refuse(
    check: &mut Check<'_>,
    network: &Network,
    passed: &[u16],
    (to, kind): (u16, Option<PacketKind>),
    place: &str,
) {
    let name = |node: u16| network.nodes[usize::from(node)].as_str();
    let kind = kind.and_then(|kind| toml::Value::try_from(kind).ok());
    let what = match kind.as_ref().and_then(|kind| kind.as_str()) {
        Some(kind) => format!("{kind} packets"),
        None => "packets".to_owned(),
    };
    let last = passed.last().copied().unwrap_or(to);
    let before = passed.split_last().and_then(|(_, rest)| rest.iter().position(|&n| n == last));
    let what = match before {
        Some(before) => {
            let circle: Vec<&str> = passed[before..].iter().take(20).map(|&n| name(n)).collect();
            format!("{what} for `{}` would go in a circle: {}", name(to), circle.join(", "))
        }
        None => format!("{what} for `{}` would not get beyond `{}`", name(to), name(last)),
    };
    let help = "send them through a port from which they get on, or route them there too";
    check.refuse(&["route", place, "via"], what, help);
}

/// The longest propagation round trip of any path through each port.
fn round_trips(network: &mut Network, routes: &Routes, traffic: &[Class]) {
    let mut longest = vec![Time::ZERO; network.ports.len()];
    let mut pairs: Vec<(u16, u16)> =
        traffic.iter().flat_map(|class| class.pairs.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (from, to) in pairs {
        let path = |ends, kind| routes.path(network, ends, kind).unwrap_or_default();
        let there = path((from, to), Some(PacketKind::Data));
        let back = path((to, from), Some(PacketKind::Ack));
        let round_trip = delay(network, &there) + delay(network, &back);
        for kind in kinds() {
            for port in path((from, to), kind).into_iter().chain(path((to, from), kind)) {
                let longest = &mut longest[port as usize];
                *longest = (*longest).max(round_trip);
            }
        }
    }
    for (port, longest) in network.ports.iter_mut().zip(longest) {
        // through a port that no class uses there is but the link itself
        port.round_trip = if longest == Time::ZERO { port.delay * 2 } else { longest };
    }
}
