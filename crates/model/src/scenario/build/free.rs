//! Links given one by one: their ends define the nodes.

use std::collections::BTreeMap;

use super::problems::Check;
use crate::document::free::{FreeLink, Names, Reverse};
use crate::document::{ClassDoc, Named};
use crate::scenario::{Direction, Network, NodeEnd, Port};
use crate::text::decode::spelling;

/// Most links: the routes of every node to every other are held in memory.
const MAX_LINKS: usize = 2_000;

/// The network of these links; round trips are not known yet.
pub(super) struct Free {
    pub network: Network,
    /// Indices of the nodes.
    numbers: BTreeMap<String, u16>,
}

/// Checks the links and connects them; fills in the values of the reverse direction.
pub(super) fn links(check: &mut Check<'_>, links: &mut Named<FreeLink>) -> Free {
    let mut free = Free { network: Network::default(), numbers: BTreeMap::new() };
    let count = links.len();
    let help = format!("write 1 to {MAX_LINKS} links, as in [topology.links.NAME]");
    let what = format!("{count} links are out of range");
    if !check.require((1..=MAX_LINKS).contains(&count), &["topology", "links"], what, &help) {
        return free;
    }
    for (name, link) in links {
        free.link(check, name, link);
    }
    free
}

impl Free {
    fn node(&mut self, name: &str) -> u16 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.network.host(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn link(&mut self, check: &mut Check<'_>, name: &str, link: &mut FreeLink) {
        let path = ["topology", "links", name];
        let within = |key| ["topology", "links", name, key];
        let named = !name.is_empty() && !name.ends_with(".reverse");
        let help = "write a name that does not end in `.reverse`";
        check.require(named, &path, "is no name for a link", help);
        for (key, node) in [("from", &link.from), ("to", &link.to)] {
            check.require(!node.is_empty(), &within(key), "a node needs a name", "name it");
        }
        let what = "a link joins two different nodes";
        check.require(link.from != link.to, &within("to"), what, "write another node");
        let pointless = link.one_way && link.reverse != Reverse::default();
        let what = "a link of one direction has no other";
        check.require(!pointless, &within("reverse"), what, "leave `reverse` or `one_way` out");
        let port = self.port(name, link);
        let back = (!link.one_way).then(|| reverse(&port, &mut link.reverse));
        self.network.ports.push(port);
        self.network.ports.extend(back);
    }

    fn port(&mut self, name: &str, link: &FreeLink) -> Port {
        let ends = (self.node(&link.from), self.node(&link.to));
        let plain = Port::plain(name.to_owned(), ends, (link.rate, link.delay, link.buffer));
        let way = link.users.map(|users| match users {
            NodeEnd::From => Direction::Upload,
            NodeEnd::To => Direction::Download,
        });
        Port { loss: link.loss, cost: link.cost, way, ..plain }
    }

    /// The host pairs of a class: names in order, or one name with each of a list.
    pub fn pairs(
        &self,
        check: &mut Check<'_>,
        name: &str,
        class: &mut ClassDoc,
    ) -> Vec<(u16, u16)> {
        let path = |key| ["traffic", name, key];
        let mut numbers = |key: &'static str, names: &Option<Names>| {
            let Some(names) = names.as_ref().filter(|names| !names.0.is_empty()) else {
                let known = spelling("", &self.network.nodes, "nodes");
                check.refuse(&["traffic", name], format!("the key `{key}` is missing"), known);
                return Vec::new();
            };
            let mut numbers = Vec::new();
            for wanted in &names.0 {
                match self.numbers.get(wanted) {
                    Some(&number) => numbers.push(number),
                    None => check.unknown(&path(key), wanted, &self.network.nodes, "nodes"),
                }
            }
            numbers
        };
        let (from, to) = (numbers("from", &class.from), numbers("to", &class.to));
        let pairs: Vec<(u16, u16)> = match (from.as_slice(), to.as_slice()) {
            ([], _) | (_, []) => return Vec::new(),
            ([from], to) => to.iter().map(|&to| (*from, to)).collect(),
            (from, [to]) => from.iter().map(|&from| (from, *to)).collect(),
            (from, to) => {
                let what = format!("{} names do not pair with {} of `from`", to.len(), from.len());
                let help = "write as many names as `from` has, or one";
                check.require(from.len() == to.len(), &path("to"), what, help);
                from.iter().copied().zip(to.iter().copied()).collect()
            }
        };
        let what = "data cannot be sent to the node that it comes from";
        let apart = pairs.iter().all(|(from, to)| from != to);
        check.require(apart, &path("to"), what, "write two different nodes");
        pairs
    }
}

/// The port of the reverse direction; fills it in in `doc`.
fn reverse(port: &Port, doc: &mut Reverse) -> Port {
    Port {
        name: format!("{}.reverse", port.name),
        from: port.to,
        to: port.from,
        rate: *doc.rate.get_or_insert(port.rate),
        delay: *doc.delay.get_or_insert(port.delay),
        buffer: *doc.buffer.get_or_insert(port.buffer),
        cost: *doc.cost.get_or_insert(port.cost),
        loss: *doc.loss.get_or_insert(port.loss),
        way: port.way.map(Direction::other),
        ..port.clone()
    }
}
