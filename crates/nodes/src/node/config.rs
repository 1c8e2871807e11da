//! The configuration of a node, from TOML.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use serde::de::DeserializeOwned;
use tidegate_core::active::Address;
use tidegate_core::keys;
use tidegate_core::law::greedy::lgc;
use tidegate_core::units::{Rate, Time};
use tidegate_model::Source;

use super::faults::Faults;
use super::source::{self, Bursts, Traffic};
use tidegate_common::fail::Failure;

keys! {
    /// A node.
    pub struct Config:
    name: String = required "Name in logs";
    address: Address = required "Its UDP address, which also identifies it";
    control: Option<SocketAddr> = none "Address of its HTTP interface (metrics, status, packets to inject); loopback only; default none";
    services: Vec<String> = { services() } "Services on its menu; default both that are built in: active-filter, active-traceroute";
    lgc: Option<lgc::Config> = none "LGC; without it the node does not detect greedy flows, but filters on request";
    longest_life: Time = "1h" ["1ms" to "24h"] "Longest time to live of a packet; longer ones are shortened";
    most_connections: u32 = 1024 [1 to 65536] "Origins whose arrivals are counted separately";
    wait: bool = false "Whether the source waits for the request to begin, as in a testbed";
    faults: Option<Faults> = none "Injected faults; default none";
    link: Vec<LinkConfig> = { Vec::new() } quiet "Links to neighbours";
    route: Vec<Route> = { Vec::new() } quiet "Routes to nodes that are not neighbours";
    source: Option<source::Config> = none "Its own traffic";
}

keys! {
    /// A virtual link.
    pub struct LinkConfig:
    name: String = required "Name in metrics";
    peer: Address = required "The neighbour";
    rate: Rate = required ["1kbit" to "100Gbit"] "Rate";
    delay: Time = "0s" ["0s" to "1min"] "Propagation delay";
    buffer: u32 = 64 [1 to 65536] "Buffer in packets";
    detect: bool = true "Whether LGC watches its queue";
    record: u32 = 0 [0 to 65536] "Number of first arrivals at its queue that the status lists";
    key: Option<String> = none "Key shared with the neighbour, 64 hexadecimal digits; without it neither accepts filter requests of the other";
}

keys! {
    /// A route to a node.
    pub struct Route:
    to: Address = required "The node";
    via: Address = required "The next hop, a neighbour";
}

fn services() -> Vec<String> {
    vec!["active-filter".into(), "active-traceroute".into()]
}

impl LinkConfig {
    /// The bytes of the key.
    pub fn key_bytes(&self) -> Option<Vec<u8>> {
        let key = self.key.as_ref()?;
        let digits = (key.len() == 64 && key.is_ascii()).then_some(key)?;
        (0..32).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok()).collect()
    }
}

/// Reads a TOML document; an error names the line.
///
/// # Errors
/// What is wrong with it.
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Failure> {
    let name = path.display().to_string();
    tidegate_model::read(Source { name: &name, text })
        .map_err(|(place, what)| Failure::usage(place, what))
}

impl Config {
    /// A node of this machine that waits for its start, without links; its control is on a free
    /// port of loopback.
    pub fn on_loopback(name: &str, address: Address) -> Config {
        Config {
            name: name.to_owned(),
            address,
            control: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            services: services(),
            lgc: None,
            longest_life: Time::from_secs(3_600),
            most_connections: 1_024,
            wait: true,
            faults: None,
            link: Vec::new(),
            route: Vec::new(),
            source: None,
        }
    }

    /// Reads and checks a configuration; `offered` has the names of the services that exist.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(path: &Path, text: &str, offered: &[&str]) -> Result<Config, Failure> {
        let config: Config = parse(path, text)?;
        config.check(offered).map_err(|what| Failure::usage(path.display(), what))?;
        Ok(config)
    }

    /// Whether every value is in range and fits the others.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn check(&self, offered: &[&str]) -> Result<(), String> {
        if let Some(control) = self.control
            && !control.ip().is_loopback()
        {
            return Err(format!(
                "control = {control} would answer to other machines: write 127.0.0.1:PORT"
            ));
        }
        if Ipv4Addr::from(self.address.ip).is_unspecified() || self.address.port == 0 {
            let address = self.address;
            return Err(format!(
                "address = {address} names no node: write its own address and port"
            ));
        }
        if let Some(name) = self.services.iter().find(|name| !offered.contains(&name.as_str())) {
            let known = offered.join(", ");
            return Err(format!("no service is called `{name}`: there are {known}"));
        }
        self.check_links()?;
        self.source.as_ref().map_or(Ok(()), |source| self.check_source(source))
    }

    fn check_links(&self) -> Result<(), String> {
        let mut peers = BTreeSet::new();
        for link in &self.link {
            let named = |message| format!("link `{}`: {message}", link.name);
            if link.peer == self.address || !peers.insert(link.peer) {
                return Err(named(format!(
                    "peer = {} is the node itself, or has a link already",
                    link.peer
                )));
            }
            if link.key.is_some() && link.key_bytes().is_none() {
                return Err(named("key has to be 64 hexadecimal digits".into()));
            }
        }
        match self.route.iter().find(|route| !peers.contains(&route.via)) {
            None => Ok(()),
            Some(route) => Err(format!(
                "route to {}: via = {} is no neighbour; add a [[link]] to it, or name one of {}",
                route.to,
                route.via,
                peers.iter().map(Address::to_string).collect::<Vec<_>>().join(", ")
            )),
        }
    }

    fn check_source(&self, source: &source::Config) -> Result<(), String> {
        let to = &source.to;
        source.destination().ok_or_else(|| format!("source.to = {to} is no address"))?;
        match source.traffic {
            Traffic::Bursts(Bursts { count, .. }) if count > source.packets => Err(format!(
                "source.traffic.bursts.count = {count} is out of range: write 1 to {}, the number \
                 of packets",
                source.packets
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::menu::Menu;

    const NODE: &str = r#"
name = "I3"
address = "127.0.0.1:4703"
lgc = { max_th = 35, w = 0.02 }

[[link]]
name = "S"
peer = "127.0.0.1:4704"
rate = "200kbit"
buffer = 60

[[route]]
to = "127.0.0.1:4709"
via = "127.0.0.1:4704"
"#;

    fn read(text: &str) -> Result<Config, String> {
        Config::read(Path::new("node.toml"), text, &Menu::built_in().names())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_configuration_is_read_with_its_defaults() {
        let config = read(NODE).expect("it is right");
        assert_eq!(config.link[0].buffer, 60);
        assert_eq!(config.link[0].delay, Time::ZERO);
        assert_eq!(config.lgc.map(|lgc| (lgc.max_th, lgc.itime)), Some((35.0, Time::from_secs(5))));
        assert_eq!(config.services, ["active-filter", "active-traceroute"]);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_place() {
        let cases = [
            ("name =", "nom =", "node.toml:2: unknown key `nom`: did you mean `name`?"),
            ("200kbit", "200kbps?", "node.toml:9:"),
            (
                "buffer = 60",
                "buffer = 0",
                "node.toml:10: `link.0.buffer`: 0 is out of range: write a number from 1 to 65536",
            ),
            ("buffer = 60", "key = 'abc'", "link `S`: key has to be 64 hexadecimal digits"),
            ("via = \"127.0.0.1:4704\"", "via = \"127.0.0.1:1\"", "name one of 127.0.0.1:4704"),
            ("w = 0.02", "w = 2", "node.toml:4: `lgc.w`: 2 is out of range"),
            ("peer = \"127.0.0.1:4704\"", "peer = \"127.0.0.1:4703\"", "is the node itself"),
            ("name = \"I3\"", "name = \"I3\"\ncontrol = \"0.0.0.0:80\"", "write 127.0.0.1:PORT"),
            ("name = \"I3\"", "name = \"I3\"\nservices = [\"shell\"]", "active-filter"),
        ];
        for (right, wrong, message) in cases {
            let refused = read(&NODE.replacen(right, wrong, 1)).expect_err(wrong);
            assert!(refused.contains(message), "{wrong}: {refused}");
        }
    }
}
