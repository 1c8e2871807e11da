//! From a testbed file to the configuration of each of its nodes.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::path::Path;

use tidegate_core::active::Address;
use tidegate_core::law::greedy::lgc;
use tidegate_core::units::{Rate, Time};
use tidegate_core::{keys, settings};

use crate::node::config::{Config, LinkConfig, Route, parse};
use crate::node::faults::Faults;
use crate::node::menu::Menu;
use crate::node::source;
use tidegate_common::fail::Failure;

/// Largest number of nodes.
pub const MOST_NODES: usize = 64;

keys! {
    /// A testbed file.
    pub struct Testbed:
    name: String = required "Its name";
    duration: Time = required ["1s" to "1h"] "Longest duration; it ends once all sources are done and all queues are empty";
    all: Common = { Common::default() } "Defaults of all nodes";
    node: BTreeMap<String, NodePlan> = required "The nodes by name";
    link: Vec<LinkPlan> = required "Their links, in both directions";
}

settings! {
    /// Settings that all nodes can share.
    pub struct Common:
    services: Option<Vec<String>> = none "Services on the menu; default all built-in ones";
    lgc: Option<lgc::Config> = none "LGC; without it nodes do not detect greedy flows";
    faults: Option<Faults> = none "Faults that every node injects into the traffic it sends; default none";
}

settings! {
    /// A node of a testbed.
    pub struct NodePlan:
    services: Option<Vec<String>> = none "Services on its menu, instead of the default";
    lgc: Option<lgc::Config> = none "LGC, instead of the default";
    source: Option<source::Config> = none "Its traffic";
}

keys! {
    /// A link of a testbed.
    pub struct LinkPlan:
    between: [String; 2] = required "The names of the two nodes";
    rate: Rate = required ["1kbit" to "100Gbit"] "Rate in each direction";
    delay: Time = "0s" ["0s" to "1min"] "Propagation delay";
    buffer: u32 = 64 [1 to 65536] "Buffer in packets in each direction";
    record: u32 = 0 [0 to 65536] "Number of first arrivals at its queues that are recorded";
}

/// The address of each node of a testbed.
pub type Places = BTreeMap<String, Address>;

impl Testbed {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(path: &Path, text: &str) -> Result<Testbed, Failure> {
        let testbed: Testbed = parse(path, text)?;
        testbed.check().map_err(|what| Failure::usage(path.display(), what))?;
        Ok(testbed)
    }

    fn check(&self) -> Result<(), String> {
        if !(1..=MOST_NODES).contains(&self.node.len()) {
            return Err(format!("{} nodes: write 1 to {MOST_NODES}", self.node.len()));
        }
        let known = |name: &String, place: String| match self.node.contains_key(name) {
            true => Ok(()),
            false => {
                let names: Vec<_> = self.node.keys().map(String::as_str).collect();
                Err(format!("{place}: no node is called `{name}`: there are {}", names.join(", ")))
            }
        };
        for (index, link) in self.link.iter().enumerate() {
            for name in &link.between {
                known(name, format!("link {}", index + 1))?;
            }
        }
        for (name, node) in &self.node {
            if let Some(source) = &node.source {
                known(&source.to, format!("node.{name}.source.to"))?;
                let next = self.next_hops(name);
                if !next.contains_key(source.to.as_str()) {
                    return Err(format!("node.{name}.source.to: no link leads to `{}`", source.to));
                }
            }
        }
        // everything else is checked as the configuration of a node
        let places = (1..)
            .zip(self.node.keys())
            .map(|(port, name)| (name.clone(), Address { ip: Ipv4Addr::LOCALHOST.octets(), port }));
        let keys = vec![String::new(); self.link.len()];
        let (menu, places) = (Menu::built_in(), places.collect());
        for config in self.configs(&places, &keys) {
            let named = |what| format!("node `{}`: {what}", config.name);
            let mut config = config.clone();
            config.link.iter_mut().for_each(|link| link.key = None);
            config.check(&menu.names()).map_err(named)?;
        }
        Ok(())
    }

    /// The sum of all delays, an upper bound of any route's delay.
    pub fn longest_delay(&self) -> Time {
        self.link.iter().fold(Time::ZERO, |sum, link| sum.saturating_add(link.delay))
    }

    /// The next hop on the shortest route from a node to each other node.
    fn next_hops<'a>(&'a self, from: &'a str) -> BTreeMap<&'a str, &'a str> {
        let mut next = BTreeMap::new();
        let mut queue = VecDeque::from([(from, from)]);
        while let Some((here, first)) = queue.pop_front() {
            for link in &self.link {
                let [a, b] = link.between.each_ref().map(String::as_str);
                let there = if a == here {
                    b
                } else if b == here {
                    a
                } else {
                    continue;
                };
                if there != from && !next.contains_key(there) {
                    let first = if here == from { there } else { first };
                    next.insert(there, first);
                    queue.push_back((there, first));
                }
            }
        }
        next
    }

    /// The configuration of each node; `keys` has that of each link.
    pub fn configs(&self, places: &Places, keys: &[String]) -> Vec<Config> {
        let config = |(name, node): (&String, &NodePlan)| {
            let config = Config::on_loopback(name, places[name]);
            let services = node.services.clone().or_else(|| self.all.services.clone());
            Config {
                services: services.unwrap_or(config.services),
                lgc: node.lgc.clone().or_else(|| self.all.lgc.clone()),
                link: self.links(name, places, keys),
                route: self.routes(name, places),
                source: node.source.as_ref().map(|source| source::Config {
                    to: places[&source.to].to_string(),
                    ..source.clone()
                }),
                faults: self.all.faults.clone(),
                ..config
            }
        };
        self.node.iter().map(config).collect()
    }

    fn links(&self, name: &str, places: &Places, keys: &[String]) -> Vec<LinkConfig> {
        let mut links = Vec::new();
        for (link, key) in self.link.iter().zip(keys) {
            let [a, b] = &link.between;
            let other = if a == name {
                b
            } else if b == name {
                a
            } else {
                continue;
            };
            links.push(LinkConfig {
                name: format!("{name}-{other}"),
                peer: places[other],
                rate: link.rate,
                delay: link.delay,
                buffer: link.buffer,
                detect: true,
                record: link.record,
                key: Some(key.clone()),
            });
        }
        links
    }

    fn routes(&self, name: &str, places: &Places) -> Vec<Route> {
        let next = self.next_hops(name).into_iter().filter(|(to, via)| to != via);
        next.map(|(to, via)| Route { to: places[to], via: places[via] }).collect()
    }
}
