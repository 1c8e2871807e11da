//! The configuration of a node, from TOML.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tidegate_core::active::{Address, HEADER, MOST_PAYLOAD};
use tidegate_core::law::greedy::lgc;
use tidegate_core::units::{Rate, Time};

use super::faults::Faults;
use super::source::{self, Traffic};
use tidegate_common::fail::Failure;

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name in logs.
    pub name: String,
    /// Its UDP address, which also identifies it.
    pub address: Address,
    /// Address of its HTTP interface (metrics, status, packets to inject); loopback only. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<SocketAddr>,
    /// Services on its menu; default both that are built in: active-filter, active-traceroute.
    #[serde(default = "services")]
    pub services: Vec<String>,
    /// LGC; without it the node does not detect greedy flows, but filters on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lgc: Option<lgc::Config>,
    /// Longest time to live of a packet; longer ones are shortened. Default 1h, 1ms to 1d.
    #[serde(default = "longest_life")]
    pub longest_life: Time,
    /// Origins whose arrivals are counted separately; default 1024, 1 to 65536.
    #[serde(default = "most_connections")]
    pub most_connections: u32,
    /// Whether the source waits for the request to begin, as in a testbed; default false.
    #[serde(default)]
    pub wait: bool,
    /// Injected faults; default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// Links to neighbours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<LinkConfig>,
    /// Routes to nodes that are not neighbours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<Route>,
    /// Its own traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<source::Config>,
}

/// A virtual link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Name in metrics.
    pub name: String,
    /// The neighbour.
    pub peer: Address,
    /// Rate, 1kbit to 100Gbit.
    pub rate: Rate,
    /// Propagation delay; default 0s, up to 1min.
    #[serde(default)]
    pub delay: Time,
    /// Buffer in packets; default 64, 1 to 65536.
    #[serde(default = "buffer")]
    pub buffer: u32,
    /// Whether LGC watches its queue; default true.
    #[serde(default = "yes")]
    pub detect: bool,
    /// Number of first arrivals at its queue that the status lists; default 0, up to 65536.
    #[serde(default)]
    pub record: u32,
    /// Key shared with the neighbour, 64 hexadecimal digits; without it neither accepts filter requests of the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A route to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The node.
    pub to: Address,
    /// The next hop, a neighbour.
    pub via: Address,
}

fn services() -> Vec<String> {
    vec!["active-filter".into(), "active-traceroute".into()]
}

fn longest_life() -> Time {
    Time::from_secs(3_600)
}

fn most_connections() -> u32 {
    1_024
}

fn buffer() -> u32 {
    64
}

fn yes() -> bool {
    true
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
pub fn parse<T: for<'de> Deserialize<'de>>(path: &Path, text: &str) -> Result<T, Failure> {
    toml::from_str(text).map_err(|error| {
        let line =
            error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let place =
            line.map_or(path.display().to_string(), |line| format!("{}:{line}", path.display()));
        Failure::usage(place, error.message())
    })
}

/// Refuses a value outside of its range.
fn within<T: PartialOrd + std::fmt::Display>(
    key: &str,
    value: T,
    low: T,
    high: T,
) -> Result<(), String> {
    if (&low..=&high).contains(&&value) {
        return Ok(());
    }
    Err(format!("{key} = {value} is out of range: write {low} to {high}"))
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
            longest_life: longest_life(),
            most_connections: most_connections(),
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
        within("longest_life", self.longest_life, Time::from_ms(1), Time::from_secs(86_400))?;
        within("most_connections", self.most_connections, 1, 65_536)?;
        if let Some(lgc) = &self.lgc {
            lgc.check().map_err(|(key, message)| format!("lgc.{key}: {message}"))?;
        }
        self.faults.as_ref().map_or(Ok(()), Faults::check)?;
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
            within("rate", link.rate, Rate::from_bps(1_000), Rate::from_bps(100_000_000_000))
                .map_err(named)?;
            within("delay", link.delay, Time::ZERO, Time::from_secs(60)).map_err(named)?;
            within("buffer", link.buffer, 1, 65_536).map_err(named)?;
            within("record", link.record, 0, 65_536).map_err(named)?;
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
        within("source.packets", source.packets, 1, 1_000_000)?;
        let most = (HEADER + MOST_PAYLOAD) as u64;
        within("source.size in bytes", source.size.bytes(), HEADER as u64 + 5, most)?;
        within("source.life", source.life, Time::from_ms(1), Time::from_secs(3_600))?;
        within("source.start", source.start, Time::ZERO, Time::from_secs(86_400))?;
        match source.traffic {
            Traffic::Responsive { ssthresh } => {
                within("source.traffic.ssthresh", ssthresh, 2.0, 1e6)
            }
            Traffic::Bursts { count, gap } => {
                within("source.traffic.count", count, 1, source.packets)?;
                within("source.traffic.gap", gap, Time::ZERO, Time::from_secs(86_400))
            }
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
            ("name =", "nom =", "node.toml:2: unknown field `nom`"),
            ("200kbit", "200kbps?", "node.toml:9:"),
            ("buffer = 60", "buffer = 0", "link `S`: buffer = 0 is out of range: write 1 to 65536"),
            ("buffer = 60", "key = 'abc'", "link `S`: key has to be 64 hexadecimal digits"),
            ("via = \"127.0.0.1:4704\"", "via = \"127.0.0.1:1\"", "name one of 127.0.0.1:4704"),
            ("w = 0.02", "w = 2", "lgc.w: 2 is out of range"),
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
