//! Nodes and ports of a topology: a row of routers with hosts, or links given one by one.

use tidegate_core::units::Time;

use super::free::{self, Free};
use super::problems::Check;
use crate::document::free::{Names, Reverse};
use crate::document::{Access, ClassDoc, Dumbbell, Link, Tandem, Topology};
use crate::scenario::{Direction, Network, Port, Side};

/// Most links of a tandem.
const MAX_LINKS: usize = 1_000;
/// Most nodes: their numbers have 16 bits.
const MAX_NODES: usize = 65_000;

/// A topology.
pub(super) enum Layout<'a> {
    /// Routers in a row, and between which of them each class sends.
    Chain(Chain<'a>, Vec<Route>),
    /// Links given one by one.
    Free(Free),
}

/// The topology of a document, if it is valid.
pub(super) fn layout<'a>(check: &mut Check<'_>, topology: &'a mut Topology) -> Option<Layout<'a>> {
    let before = check.problems.len();
    let layout = match topology {
        Topology::Dumbbell(dumbbell) => Layout::Chain(Chain::dumbbell(check, dumbbell), Vec::new()),
        Topology::Tandem(tandem) => Layout::Chain(Chain::tandem(check, tandem), Vec::new()),
        Topology::Links(links) => Layout::Free(free::links(check, links)),
    };
    let nodes = match &layout {
        Layout::Chain(chain, _) => chain.nodes(),
        Layout::Free(_) => 0,
    };
    if check.problems.len() == before && nodes > MAX_NODES {
        let help = format!("at most {MAX_NODES} nodes fit: write fewer pairs");
        check.refuse(&["topology"], format!("{nodes} nodes are too many"), help);
    }
    (check.problems.len() == before).then_some(layout)
}

impl Layout<'_> {
    /// The host pairs of a class, and which way its data goes there, if that is known; fills in
    /// defaults in `class`.
    pub fn pairs(
        &mut self,
        check: &mut Check<'_>,
        name: &str,
        class: &mut ClassDoc,
    ) -> (Vec<(u16, u16)>, Option<Direction>) {
        match self {
            Layout::Chain(chain, routes) => {
                let (route, back) = chain.route(check, name, class);
                routes.push(route);
                (chain.pairs(route, back), Some(class.direction.unwrap_or(chain.to_the_right())))
            }
            Layout::Free(free) => (free.pairs(check, name, class), None),
        }
    }

    /// Nodes and ports.
    pub fn network(self) -> Network {
        match self {
            Layout::Chain(chain, routes) => chain.network(&routes),
            Layout::Free(free) => free.network,
        }
    }
}

/// Routers in a row, and their hosts.
pub(super) struct Chain<'a> {
    routers: Vec<String>,
    /// Name and properties of the link from each router to the next.
    links: Vec<(String, &'a Link)>,
    /// Propagation round trip from the first router to each.
    round_trips: Vec<Time>,
    access: &'a Access,
    pairs: u32,
    /// Routers that have sending hosts, and the prefix of those hosts' names.
    sources: Vec<(usize, String)>,
    /// Routers that have receiving hosts.
    sinks: Vec<(usize, String)>,
    /// Whether a class may choose its routers.
    choice: bool,
    /// On which side the users are.
    users: Side,
}

/// Between which routers a class sends: that of its sources, and that of its sinks.
type Route = (usize, usize);

/// Propagation round trip from the first router to each. (A sum that overflows comes from delays
/// that are refused anyway.)
fn round_trips(links: &[Link]) -> Vec<Time> {
    let mut both = Time::ZERO;
    let after = links.iter().map(|link| {
        let back = link.reverse.delay.unwrap_or(link.delay);
        both = both.saturating_add(link.delay).saturating_add(back);
        both
    });
    std::iter::once(Time::ZERO).chain(after).collect()
}

fn hosts(check: &mut Check<'_>, kind: &str, access: &Access) {
    let within = ["topology", kind, "access", "delay"];
    let none = access.delay.0.is_empty();
    check.require(!none, &within, "an empty list", "write at least one delay");
}

fn link(check: &mut Check<'_>, path: &[&str], link: &Link) {
    let what = "between these routers there is but one path";
    let cost = [path, &["reverse", "cost"]].concat();
    check.require(link.reverse.cost.is_none(), &cost, what, "leave it out");
}

impl<'a> Chain<'a> {
    fn dumbbell(check: &mut Check<'_>, dumbbell: &'a Dumbbell) -> Chain<'a> {
        hosts(check, "dumbbell", &dumbbell.access);
        link(check, &["topology", "dumbbell", "bottleneck"], &dumbbell.bottleneck);
        Chain {
            routers: vec!["left".to_owned(), "right".to_owned()],
            links: vec![("bottleneck".to_owned(), &dumbbell.bottleneck)],
            round_trips: round_trips(std::slice::from_ref(&dumbbell.bottleneck)),
            access: &dumbbell.access,
            pairs: dumbbell.pairs.unwrap_or(1),
            sources: vec![(0, String::new())],
            sinks: vec![(1, String::new())],
            choice: false,
            users: dumbbell.users,
        }
    }

    fn tandem(check: &mut Check<'_>, tandem: &'a Tandem) -> Chain<'a> {
        hosts(check, "tandem", &tandem.access);
        let count = tandem.links.len();
        check.require(
            (1..=MAX_LINKS).contains(&count),
            &["topology", "tandem", "links"],
            format!("{count} links are out of range"),
            "write 1 to 1000 links",
        );
        for (at, one) in tandem.links.iter().enumerate().take(MAX_LINKS) {
            link(check, &["topology", "tandem", "links", &at.to_string()], one);
        }
        let routers: Vec<String> = (1..=count + 1).map(|i| format!("r{i}")).collect();
        let prefixes = || routers.iter().map(|name| format!("{name}.")).enumerate().collect();
        Chain {
            sources: prefixes(),
            sinks: prefixes(),
            links: (1..).map(|i| format!("link{i}")).zip(&tandem.links).collect(),
            round_trips: round_trips(&tandem.links),
            access: &tandem.access,
            pairs: tandem.pairs.unwrap_or(1),
            choice: true,
            users: tandem.users,
            routers,
        }
    }

    /// What data is that goes from left to right.
    fn to_the_right(&self) -> Direction {
        match self.users {
            Side::Left => Direction::Upload,
            Side::Right => Direction::Download,
        }
    }

    fn nodes(&self) -> usize {
        let hosts = (self.sources.len() + self.sinks.len()) * self.pairs as usize;
        self.routers.len() + hosts
    }

    /// The routers of a class, and whether its data goes from sinks to sources; fills in the
    /// defaults in `class`.
    fn route(&self, check: &mut Check<'_>, name: &str, class: &mut ClassDoc) -> (Route, bool) {
        let last = self.routers.len() - 1;
        let back = class.direction.is_some_and(|way| way != self.to_the_right());
        if !self.choice {
            for (key, given) in [("from", class.from.is_some()), ("to", class.to.is_some())] {
                let what = "a dumbbell has but one way";
                check.require(!given, &["traffic", name, key], what, "leave it out");
            }
            return ((0, last), back);
        }
        let mut find = |key, given: &mut Option<Names>, default: usize| {
            let names = given.get_or_insert_with(|| Names::one(self.routers[default].clone()));
            let [wanted] = names.0.as_slice() else {
                let what = "a class of a tandem has one router at each end";
                check.refuse(&["traffic", name, key], what, "write one name");
                return default;
            };
            self.routers.iter().position(|router| router == wanted).unwrap_or_else(|| {
                check.unknown(&["traffic", name, key], wanted, &self.routers, "routers");
                default
            })
        };
        let (first, end) = if back { (last, 0) } else { (0, last) };
        let (from, to) = (find("from", &mut class.from, first), find("to", &mut class.to, end));
        let what = "data cannot be sent to the router that it comes from";
        check.require(from != to, &["traffic", name], what, "write two different routers");
        (if back { (to, from) } else { (from, to) }, back)
    }

    /// Number of the first host at `router`, where `before` groups of hosts come first.
    ///
    /// Nodes are numbered: the routers, all sources, all sinks.
    fn first_host(&self, hosts: &[(usize, String)], before: usize, router: usize) -> usize {
        let place = hosts.iter().position(|&(at, _)| at == router).unwrap_or(0);
        self.routers.len() + (before + place) * self.pairs as usize
    }

    /// The host pairs of a route; `back`: from sinks to sources.
    fn pairs(&self, (from, to): Route, back: bool) -> Vec<(u16, u16)> {
        let source = self.first_host(&self.sources, 0, from);
        let sink = self.first_host(&self.sinks, self.sources.len(), to);
        let pairs = (0..self.pairs as usize).map(|i| ((source + i) as u16, (sink + i) as u16));
        pairs.map(|(source, sink)| if back { (sink, source) } else { (source, sink) }).collect()
    }

    /// Longest propagation round trip between the hosts of a route.
    fn round_trip(&self, (from, to): Route) -> Time {
        let between = self.round_trips[from.max(to)] - self.round_trips[from.min(to)];
        let farthest = self.access.delay.0.iter().max().copied().unwrap_or(Time::ZERO);
        farthest * 4 + between
    }

    /// Longest round trip of the routes that are `through` something: of the classes' routes or, if
    /// there are none, of all possible ones.
    fn longest(&self, routes: &[Route], through: impl Fn(Route) -> bool) -> Time {
        let last = self.routers.len() - 1;
        let longest = |routes: &[Route]| {
            let through = routes.iter().filter(|&&route| through(route));
            through.map(|&route| self.round_trip(route)).max()
        };
        let ends = || (0..=last).flat_map(|i| [(0, i), (i, 0), (last, i), (i, last)]);
        longest(routes)
            .or_else(|| longest(&ends().filter(|(from, to)| from != to).collect::<Vec<_>>()))
            .unwrap_or(Time::ZERO)
    }

    /// Nodes and ports; `routes` are those of the classes.
    fn network(&self, routes: &[Route]) -> Network {
        let mut network = Network { nodes: self.routers.clone(), ..Network::default() };
        for (at, (name, link)) in self.links.iter().enumerate() {
            let round_trip =
                self.longest(routes, |(from, to)| (from.min(to)..from.max(to)).contains(&at));
            let ends = (at as u16, at as u16 + 1);
            let plain = Port::plain(name.clone(), ends, (link.rate, link.delay, link.buffer));
            let right = self.to_the_right();
            let there = Port { loss: link.loss, round_trip, way: Some(right), ..plain };
            let back = reverse(&there, &link.reverse);
            network.ports.extend([there, back]);
        }
        for (router, prefix) in &self.sources {
            let round_trip = self.longest(routes, |(from, _)| from == *router);
            for i in 1..=self.pairs {
                let host = network.host(format!("{prefix}source{i}"));
                let port =
                    self.access_port(&network, (i, host), (host, *router as u16), round_trip);
                network.both_ways(port);
            }
        }
        for (router, prefix) in &self.sinks {
            let round_trip = self.longest(routes, |(_, to)| to == *router);
            for i in 1..=self.pairs {
                let host = network.host(format!("{prefix}sink{i}"));
                let port =
                    self.access_port(&network, (i, host), (*router as u16, host), round_trip);
                network.both_ways(port);
            }
        }
        network
    }

    fn access_port(
        &self,
        network: &Network,
        (pair, host): (u32, u16),
        ends: (u16, u16),
        round_trip: Time,
    ) -> Port {
        let delays = &self.access.delay.0;
        let delay = delays.get((pair as usize - 1) % delays.len().max(1));
        let delay = delay.copied().unwrap_or(Time::ZERO);
        let name = format!("access.{}", network.nodes[usize::from(host)]);
        let Access { rate, buffer, loss, .. } = *self.access;
        let plain = Port::plain(name, ends, (rate, delay, buffer));
        Port { loss, round_trip, access: true, ..plain }
    }
}

impl Network {
    /// Adds a host; returns its number.
    pub(super) fn host(&mut self, name: String) -> u16 {
        self.nodes.push(name);
        (self.nodes.len() - 1) as u16
    }

    /// Adds a port, and the one of the same link in the other direction.
    fn both_ways(&mut self, port: Port) {
        let back = reverse(&port, &Reverse::default());
        self.ports.extend([port, back]);
    }
}

/// The port of the same link in the other direction, with what is different there.
fn reverse(port: &Port, doc: &Reverse) -> Port {
    Port {
        name: format!("{}.reverse", port.name),
        from: port.to,
        to: port.from,
        rate: doc.rate.unwrap_or(port.rate),
        delay: doc.delay.unwrap_or(port.delay),
        buffer: doc.buffer.unwrap_or(port.buffer),
        loss: doc.loss.unwrap_or(port.loss),
        way: port.way.map(Direction::other),
        ..port.clone()
    }
}
