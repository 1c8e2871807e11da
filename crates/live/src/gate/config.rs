//! The configuration file of a gate.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use tidegate_core::law::queue::dual_queue;
use tidegate_core::law::session::{Admission, Limiter, Opener, Refusal};
use tidegate_core::law::settings::Link;
use tidegate_core::units::{Rate, Size, Time};
use tidegate_model::law::GateLaw;

use super::flood::Limits;
use crate::fail::Failure;

/// Whether decisions are carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Decides and counts, but drops nothing: the law runs open-loop.
    #[default]
    Observe,
    /// Refuses what the law does not allow.
    Enforce,
}

/// Which packet opens a session, in the order of `enum opener` in `bpf/gate.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opens {
    /// The SYN: uploads.
    Syn,
    /// The SYN+ACK: downloads.
    SynAck,
    /// Either: one of the two passes for every connection.
    #[default]
    Either,
}

/// How the end of a session is counted once, in the order of `enum ends` in `bpf/gate.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// Every FIN counts: for a link without losses after the gate.
    Every,
    /// One bit per end, by a hash: no state per flow.
    #[default]
    Cells,
    /// A map of the flows that ended last.
    FlowMap,
}

/// Whose FIN ends a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndsOf {
    /// The receiver's, which enters by this interface after the last data has arrived.
    #[default]
    Peer,
    /// The sender's, which leaves by this interface before the last data has arrived. For
    /// routes whose return path is another one.
    Sender,
}

/// Treatment of QUIC Initials.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quic {
    /// They are counted and pass.
    #[default]
    Count,
    /// They need tokens, as openers of TCP do.
    Admit,
}

/// A network whose sessions are never refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// The key of an IPv4 network: length of the prefix, address.
    pub fn key4(&self) -> Option<Vec<u8>> {
        let IpAddr::V4(address) = self.address else { return None };
        Some([&u32::from(self.bits).to_ne_bytes()[..], &address.octets()].concat())
    }

    /// The key of an IPv6 network.
    pub fn key6(&self) -> Option<Vec<u8>> {
        let IpAddr::V6(address) = self.address else { return None };
        Some([&u32::from(self.bits).to_ne_bytes()[..], &address.octets()].concat())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let wrong =
            || format!("`{text}` is no network: write 192.0.2.0/24, 2001:db8::/32 or an address");
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| wrong()))?;
        if bits > most { Err(wrong()) } else { Ok(Network { address, bits }) }
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Network, String> {
        text.parse()
    }
}

/// Traffic that is never refused; it passes without a token.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NeverRefuse {
    /// Networks, of either end; default none, up to 1024 of IPv4 and as many of IPv6.
    pub networks: Vec<Network>,
    /// Ports, of either end; default none.
    pub ports: Vec<u16>,
}

/// The contents of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    interface: String,
    #[serde(default)]
    mode: Mode,
    law: toml::Spanned<toml::Table>,
    #[serde(default)]
    opener: Opens,
    #[serde(default = "two")]
    tokens_keep: f64,
    #[serde(default)]
    ends: Ends,
    #[serde(default)]
    ends_of: EndsOf,
    ends_size: Option<u32>,
    #[serde(default)]
    quic: Quic,
    #[serde(default)]
    never_refuse: NeverRefuse,
    dqm: Option<toml::Spanned<toml::Table>>,
    shape: Option<Rate>,
    shape_buffer: Option<Size>,
    capacity: Option<Rate>,
    #[serde(default = "one")]
    ceiling: f64,
    lease: Option<Time>,
    onset: Option<Time>,
    #[serde(default)]
    flood: FloodFile,
    log: Option<PathBuf>,
    #[serde(default = "metrics")]
    metrics: String,
    socket: Option<PathBuf>,
    #[serde(default = "priority")]
    priority: u32,
}

fn one() -> f64 {
    1.0
}
fn two() -> f64 {
    2.0
}
fn priority() -> u32 {
    7700
}
fn metrics() -> String {
    "127.0.0.1:9477".to_owned()
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FloodFile {
    factor: f64,
    epochs: u32,
}

impl Default for FloodFile {
    fn default() -> FloodFile {
        FloodFile { factor: 4.0, epochs: 5 }
    }
}

/// Dual-queue management at the interface.
#[derive(Clone, PartialEq, Debug)]
pub struct Dqm {
    /// The law's settings.
    pub law: dual_queue::Config,
    /// Buffer of the interface, packets: there every connection packet is dropped.
    pub buffer: u32,
}

/// A checked configuration.
///
/// | key | unit | default | range |
/// |-----|------|---------|-------|
/// | `interface` | name | - | an interface of this network namespace |
/// | `mode` | - | `observe` | `observe`, `enforce` |
/// | `law` | table | - | a session law as in a scenario; `{ law = "none" }` |
/// | `opener` | - | `either` | `syn`, `syn-ack`, `either` |
/// | `tokens_keep` | epochs | 2 | 0 to 60: lifetime of unused tokens; ignored with `tide` |
/// | `ends` | - | `cells` | `every`, `cells`, `flow-map` |
/// | `ends_of` | - | `peer` | `peer`, `sender`: whose FIN ends a session |
/// | `ends_size` | cells or flows | 131072; 65536 flows | 64 to 2^24 |
/// | `quic` | - | `count` | `count`, `admit` |
/// | `never_refuse` | `networks`, `ports` | none | |
/// | `dqm` | table | none | `x_m`, `x_M`, `P_M`, `w`, `measure`, `mean_packet` of `dual-queue`, and `buffer` in packets |
/// | `shape` | rate | none | 8kbit to 30Gbit |
/// | `shape_buffer` | bytes | 100 ms of `shape`, at least 10 packets | 3000B to 1GB |
/// | `capacity` | rate | `shape` | rate of the link, for laws that need it |
/// | `ceiling` | 1 | 1: none | 0 to 1: largest share of openers refused in an epoch |
/// | `lease` | time | 2s | 200ms to 60s: if the controller stops for longer, everything passes |
/// | `onset` | time | 2s for `close-probe` and `tide`, else 0s | 0s to 60s: nothing is refused until the excess sessions take this long to end, see `onset` |
/// | `flood` | `factor`, `epochs` | 4, 5 | see `flood`; `epochs = 0`: off |
/// | `log` | path | none | one line of JSON per epoch |
/// | `metrics` | address | 127.0.0.1:9477 | `""`: none |
/// | `socket` | path | /run/tidegate/gate-INTERFACE.sock | |
/// | `priority` | - | 7700 | 1 to 65534, of the filter; DQM has the next one |
#[derive(Clone, Debug)]
pub struct Config {
    /// Interface whose outgoing packets are controlled.
    pub interface: String,
    /// Whether decisions are carried out.
    pub mode: Mode,
    /// The law; none: nothing is refused by the number of sessions.
    pub law: Option<GateLaw>,
    /// Which packet opens a session.
    pub opener: Opens,
    /// Lifetime of unused tokens, epochs.
    pub tokens_keep: f64,
    /// How ends are counted once.
    pub ends: Ends,
    /// Whose FIN ends a session.
    pub ends_of: EndsOf,
    /// Cells of a generation, or flows of the map.
    pub ends_size: u32,
    /// Treatment of QUIC Initials.
    pub quic: Quic,
    /// What is never refused.
    pub never_refuse: NeverRefuse,
    /// Dual-queue management.
    pub dqm: Option<Dqm>,
    /// Rate of the shaper, and its buffer, bytes.
    pub shape: Option<(Rate, u32)>,
    /// Rate of the link, if known.
    pub capacity: Option<Rate>,
    /// Largest refused share.
    pub ceiling: f64,
    /// How long decisions hold without the controller.
    pub lease: Time,
    /// How long the excess sessions must take to end before anything is refused.
    pub onset: Time,
    /// The limits of the alarm.
    pub flood: Limits,
    /// File of decisions.
    pub log: Option<PathBuf>,
    /// Address of the metrics.
    pub metrics: Option<SocketAddr>,
    /// Socket of the status.
    pub socket: PathBuf,
    /// Priority of the filter.
    pub priority: u32,
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// It cannot be read, or is invalid: with the line and the valid values.
    pub fn read(path: &Path) -> Result<Config, Failure> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Failure::usage(&name, error))?;
        Config::parse(&text, &name)
    }

    /// Checks a text; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str, name: &str) -> Result<Config, Failure> {
        let file: File = toml::from_str(text).map_err(|error| {
            Failure::usage(place(text, name, error.span().map(|span| span.start)), error.message())
        })?;
        Check { text, name, file }.check()
    }

    /// The packets and hashes that the law needs the program to look at.
    pub fn rules(&self) -> Admission {
        let rules = |law: &GateLaw| law.admission(Opener::default(), Refusal::default());
        self.law.as_ref().map_or_else(Admission::default, rules)
    }

    /// Which limiter the program uses.
    pub fn limiter(&self) -> Limiter {
        self.law.as_ref().map_or(Limiter::TokenBucket, GateLaw::limiter)
    }

    /// The first key that differs from `new` and needs a restart.
    pub fn fixed_difference(&self, new: &Config) -> Option<&'static str> {
        if self.interface != new.interface {
            return Some("interface");
        }
        if self.metrics != new.metrics {
            return Some("metrics");
        }
        if self.socket != new.socket {
            return Some("socket");
        }
        (self.priority != new.priority).then_some("priority")
    }
}

fn place(text: &str, name: &str, offset: Option<usize>) -> String {
    match offset.and_then(|offset| text.get(..offset)) {
        Some(before) => format!("{name}:{}", before.matches('\n').count() + 1),
        None => name.to_owned(),
    }
}

struct Check<'a> {
    text: &'a str,
    name: &'a str,
    file: File,
}

impl Check<'_> {
    fn wrong(&self, key: &str, what: impl std::fmt::Display) -> Failure {
        let line = self.text.lines().position(|line| {
            line.trim_start()
                .strip_prefix(key)
                .is_some_and(|rest| rest.trim_start().starts_with('='))
        });
        let place = line.map_or(self.name.to_owned(), |line| format!("{}:{}", self.name, line + 1));
        Failure::usage(place, format!("{key}: {what}"))
    }

    fn at(&self, table: &toml::Spanned<toml::Table>, what: String) -> Failure {
        Failure::usage(place(self.text, self.name, Some(table.span().start)), what)
    }

    fn within(&self, key: &str, value: f64, low: f64, high: f64) -> Result<(), Failure> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(self.wrong(key, format!("{value} is out of range: write {low} to {high}")))
    }

    /// The law, with the defaults of a gate.
    fn law(&self) -> Result<Option<GateLaw>, Failure> {
        let mut table = self.file.law.get_ref().clone();
        let name = table.get("law").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        if name == "tide" && self.file.capacity.is_none() && self.file.shape.is_none() {
            let what = "tide needs the link's rate: set `capacity` or `shape`";
            return Err(self.at(&self.file.law, what.to_owned()));
        }
        let mut unless_said = |key: &str, value: toml::Value| {
            table.entry(key).or_insert(value);
        };
        match name.as_str() {
            "fixed-rate" | "gss-ga" => unless_said("limiter", "token-bucket".into()),
            "close-probe" => {
                unless_said("limiter", "token-bucket".into());
                unless_said("relief", true.into());
            }
            "python" => {
                let what = "a law in Python runs in the laboratory (the simulator) only".to_owned();
                return Err(self.at(&self.file.law, what));
            }
            _ => {}
        }
        GateLaw::from_table(table).map_err(|what| self.at(&self.file.law, what))
    }

    fn dqm(&self, capacity: Option<Rate>) -> Result<Option<Dqm>, Failure> {
        let Some(spanned) = &self.file.dqm else { return Ok(None) };
        let wrong = |what: String| self.at(spanned, format!("dqm: {what}"));
        let mut table = spanned.get_ref().clone();
        let buffer = match table.remove("buffer").map(|value| value.as_integer()) {
            Some(Some(packets @ 1..=100_000)) => packets as u32,
            None => {
                return Err(wrong(
                    "buffer is missing: the size of the queue in packets".to_owned(),
                ));
            }
            Some(_) => return Err(wrong("buffer: write 1 to 100000, in packets".to_owned())),
        };
        let inside = ["over", "blocked", "hold_packets", "queues"];
        if let Some(key) = inside.into_iter().find(|key| table.contains_key(*key)) {
            let what =
                format!("{key}: not available in a gate, which uses the queue of the interface");
            return Err(wrong(what));
        }
        let law = dual_queue::Config::deserialize(table)
            .map_err(|error| wrong(error.message().to_owned()))?;
        let Some(rate) = capacity else {
            return Err(wrong("the link's rate is needed: set `capacity` or `shape`".to_owned()));
        };
        law.check(Link { rate, delay: Time::ZERO })
            .map_err(|(key, what)| wrong(format!("{key}: {what}")))?;
        Ok(Some(Dqm { law, buffer }))
    }

    fn shape(&self) -> Result<Option<(Rate, u32)>, Failure> {
        let Some(rate) = self.file.shape else { return Ok(None) };
        if !(8_000..=30_000_000_000).contains(&rate.bps()) {
            return Err(
                self.wrong("shape", format!("{rate} is out of range: write 8kbit to 30Gbit"))
            );
        }
        let default = (rate.bps() / 80).max(15_000);
        let buffer = self.file.shape_buffer.map_or(default, Size::bytes);
        match u32::try_from(buffer) {
            Ok(bytes @ 3_000..=1_000_000_000) => Ok(Some((rate, bytes))),
            _ => Err(self
                .wrong("shape_buffer", format!("{buffer}B is out of range: write 3000B to 1GB"))),
        }
    }

    fn metrics(&self) -> Result<Option<SocketAddr>, Failure> {
        if self.file.metrics.is_empty() {
            return Ok(None);
        }
        self.file.metrics.parse().map(Some).map_err(|_| {
            let what = format!("`{}` is no address: write 127.0.0.1:9477", self.file.metrics);
            self.wrong("metrics", what)
        })
    }

    fn check(&self) -> Result<Config, Failure> {
        let file = &self.file;
        let name = &file.interface;
        if name.is_empty() || name.len() > 15 || name.contains(['/', ' ']) {
            return Err(self.wrong("interface", format!("`{name}` is no name of an interface")));
        }
        self.within("tokens_keep", file.tokens_keep, 0.0, 60.0)?;
        self.within("ceiling", file.ceiling, 0.0, 1.0)?;
        self.within("priority", f64::from(file.priority), 1.0, 65_534.0)?;
        self.within("factor", file.flood.factor, 1.0, 1e6)?;
        let default = if file.ends == Ends::FlowMap { 65_536 } else { 131_072 };
        let ends_size = file.ends_size.unwrap_or(default);
        self.within("ends_size", f64::from(ends_size), 64.0, f64::from(1 << 24))?;
        let lease = file.lease.unwrap_or(Time::from_secs(2));
        self.within("lease", lease.secs(), 0.2, 60.0)?;
        let law = self.law()?;
        let onset = file.onset.unwrap_or(match law {
            Some(GateLaw::CloseProbe(_) | GateLaw::Tide(_)) => Time::from_secs(2),
            _ => Time::ZERO,
        });
        self.within("onset", onset.secs(), 0.0, 60.0)?;
        let shape = self.shape()?;
        let capacity = file.capacity.or(shape.map(|(rate, _)| rate));
        if matches!(law, Some(GateLaw::Occupancy(_))) && capacity.is_none() {
            let what = "occupancy needs the link's rate: set `capacity` or `shape`";
            return Err(self.at(&file.law, what.to_owned()));
        }
        let dqm = self.dqm(capacity)?;
        // a law that saves tokens says for how long
        let saves = law.as_ref().is_some_and(|law| law.limiter() == Limiter::SavingBucket);
        let at_interface = || PathBuf::from(format!("/run/tidegate/gate-{name}.sock"));
        Ok(Config {
            interface: name.clone(),
            mode: file.mode,
            law,
            opener: file.opener,
            tokens_keep: if saves { 0.0 } else { file.tokens_keep },
            ends: file.ends,
            ends_of: file.ends_of,
            ends_size,
            quic: file.quic,
            never_refuse: file.never_refuse.clone(),
            dqm,
            shape,
            capacity,
            ceiling: file.ceiling,
            lease,
            onset,
            flood: Limits { factor: file.flood.factor, epochs: file.flood.epochs },
            log: file.log.clone(),
            metrics: self.metrics()?,
            socket: file.socket.clone().unwrap_or_else(at_interface),
            priority: file.priority,
        })
    }
}

#[cfg(test)]
mod tests;
