//! The configuration file of a gate.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use tidegate_core::law::queue::dqm;
use tidegate_core::law::session::{Admission, Limiter, Opener, Refusal};
use tidegate_core::law::settings::{Bounds, Link, Refused, Value};
use tidegate_core::units::{Rate, Size, Time};
use tidegate_model::law::GateLaw;

use super::flood::Limits;
use super::hook::Hook;
use tidegate_common::fail::Failure;

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

impl Mode {
    /// As a file and the status name it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Observe => "observe",
            Mode::Enforce => "enforce",
        }
    }
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

/// Where a download is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefuseAt {
    /// Its SYN, as it comes in by this interface: the server has no half-open connection.
    Ingress,
    /// The server's SYN+ACK, as it leaves by this interface. For routes whose return path is
    /// another one.
    Egress,
}

/// Treatment of QUIC Initials.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quic {
    /// They are counted and pass.
    #[default]
    Count,
    /// The first of a connection needs a token, as an opener of TCP does.
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
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NeverRefuse {
    /// Networks, of either end; default none, up to 1024 of IPv4 and as many of IPv6.
    pub networks: Vec<Network>,
    /// Ports, of either end; default none.
    pub ports: Vec<u16>,
    /// Whether the ports of management are never refused either: SSH (22), BGP (179) and
    /// NETCONF (830); default true.
    pub management: bool,
}

/// SSH, BGP, NETCONF over SSH (RFC 4253, RFC 4271, RFC 6242).
const MANAGEMENT: [u16; 3] = [22, 179, 830];

impl Default for NeverRefuse {
    fn default() -> NeverRefuse {
        NeverRefuse { networks: Vec::new(), ports: Vec::new(), management: true }
    }
}

impl NeverRefuse {
    /// Whether sessions of that port are never refused.
    pub fn has_port(&self, port: u16) -> bool {
        self.ports.contains(&port) || (self.management && MANAGEMENT.contains(&port))
    }
}

/// Makes the contents of a table of the file from one line for each key:
/// `key: type = default [low to high]; "value", "meaning";`, where default and range may be left
/// out. docs/gate-keys.md is made from these lines.
macro_rules! keys {
    (
        $(#[$about:meta])* $Table:ident:
        $($key:ident: $Type:ty $(= $default:literal)? $([$low:literal to $high:literal])?;
            $value:literal, $meaning:literal;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct $Table {
            $(#[doc = $meaning] $key: $Type,)+
        }

        impl Default for $Table {
            fn default() -> $Table {
                $Table { $($key: keys!(@default $Type $(, $default)?),)+ }
            }
        }

        impl $Table {
            /// Whether every value is in the range of its key.
            fn in_range(&self) -> Result<(), Refused> {
                $($({
                    let bounds =
                        Bounds { above: false, low: concat!($low), high: concat!($high) };
                    Value::within(&self.$key, stringify!($key), bounds)?;
                })?)+
                Ok(())
            }
        }
    };
    (@default $Type:ty) => { <$Type>::default() };
    (@default $Type:ty, $default:literal) => {
        <$Type as Value>::of(concat!($default)).expect("a default is written as its type is")
    };
}

keys! {
    /// The contents of the file.
    File:
    interface: String; "name", "The interface, of this network namespace, whose outgoing packets are controlled. **Required.**";
    mode: Mode; "`observe` or `enforce`", "Whether decisions are carried out; default `observe`: they are only counted.";
    law: Option<toml::Spanned<toml::Table>>; "table", "The law, as at the gate of a port of a scenario; `{ law = \"none\" }`: nothing is refused by the number of sessions. **Required.**";
    opener: Opens; "`syn`, `syn-ack` or `either`", "Which packet opens a session: that of uploads, of downloads, or either; default `either`.";
    tokens_keep: f64 = 2 [0 to 60]; "epochs", "Lifetime of unused tokens; `tide` has its own.";
    ends: Ends; "`every`, `cells` or `flow-map`", "How the end of a session is counted once; default `cells`.";
    ends_of: EndsOf; "`peer` or `sender`", "Whose FIN ends a session; default `peer`.";
    refuse_at: Option<RefuseAt>; "`ingress` or `egress`", "Where a download is refused, by a law or by `dqm`; default `ingress`, or `egress` if `ends_of` is `sender`.";
    ends_size: Option<u32> [64 to 16777216]; "cells or flows", "Memory for ends; default 131072 cells, or 65536 flows of the map.";
    client_ipv4: u32 = 32 [8 to 32]; "bits", "Where the law admits clients: bits of an IPv4 address that name one.";
    client_ipv6: u32 = 64 [16 to 64]; "bits", "The same of an IPv6 address.";
    quic: Quic; "`count` or `admit`", "Whether Initials of QUIC are only counted, or the first of a connection needs a token; default `count`.";
    quic_idle: Time = "5s" ["100ms" to "1h"]; "time", "With `quic = \"admit\"`: a connection of QUIC has ended when nothing of it has come for so long.";
    never_refuse: NeverRefuse; "`networks`, `ports`, `management`", "Traffic that always passes: networks and ports of either end, default none; `management`: ports 22, 179 and 830, default true.";
    dqm: Option<toml::Spanned<toml::Table>>; "table", "Dual-queue management at the interface: `x_m`, `x_M`, `P_M`, `w`, `measure` and `mean_packet` of the queue law `dqm`, and `buffer`, 1 to 100000 packets; default none.";
    shape: Option<Rate> ["8kbit" to "30Gbit"]; "rate", "Rate of the shaper; default none.";
    shape_buffer: Option<Size> ["3000B" to "1GB"]; "size", "Buffer of the shaper; default 100 ms of `shape`, at least 15000B.";
    capacity: Option<Rate>; "rate", "Rate of the link, for laws that need it; default `shape`.";
    ceiling: f64 = 1 [0 to 1]; "share", "Largest share of the openers of an epoch that is refused; 1: no bound.";
    lease: Time = "2s" ["200ms" to "60s"]; "time", "If the controller stops for longer, everything passes.";
    onset: Option<Time> ["0s" to "60s"]; "time", "Nothing is refused until the excess sessions take so long to end; default 2s for `close-probe` and `tide`, else 0s.";
    flood: FloodFile; "`factor`, `epochs`", "When the alarm of a flood is raised, see below.";
    log: Option<PathBuf>; "path", "A line of JSON for each epoch; default none.";
    metrics: Option<String>; "address", "Where metrics are served; `\"\"`: nowhere; default 127.0.0.1:9477, or nowhere if that is taken.";
    socket: Option<PathBuf>; "path", "Where the status is asked for, and orders are given; default /run/tidegate/gate-INTERFACE.sock. Gates of one process may share it.";
    hook: Option<Hook>; "`tcx` or `clsact`", "Where the programs are attached; default `tcx` where the kernel has it (Linux 6.6), else `clsact`.";
    priority: u32 = 7700 [1 to 65535]; "number", "At `clsact`: priority of the filter. At `tcx` it has no meaning: the programs come first.";
}

keys! {
    /// The limits of the alarm.
    FloodFile:
    factor: f64 = 4 [1 to 1000000]; "factor", "Epochs count in which admitted sessions exceed ended ones by this factor.";
    epochs: u32 = 5; "epochs", "After so many of them in a row the alarm is raised, and nothing is refused; 0: never.";
}

/// Address of the metrics, unless the file sets one.
const METRICS: &str = "127.0.0.1:9477";

/// Dual-queue management at the interface.
#[derive(Clone, PartialEq, Debug)]
pub struct Dqm {
    /// The law's settings.
    pub law: dqm::Config,
    /// Buffer of the interface, packets: there every connection packet is dropped.
    pub buffer: u32,
}

/// A checked configuration.
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
    /// Where a download is refused.
    pub refuse_at: RefuseAt,
    /// Bits of an IPv4 address and of an IPv6 address that name a client.
    pub client_prefixes: (u32, u32),
    /// Treatment of QUIC Initials.
    pub quic: Quic,
    /// A connection of QUIC has ended when nothing of it has come for so long.
    pub quic_idle: Time,
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
    /// Whether the file sets it: then it must be free.
    pub metrics_set: bool,
    /// Socket of the status.
    pub socket: PathBuf,
    /// Where the programs are attached; none: at the better hook that the kernel has.
    pub hook: Option<Hook>,
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
        let rate = self.capacity.unwrap_or_default();
        let rules = |law: &GateLaw| law.admission(Opener::default(), Refusal::default(), rate);
        self.law.as_ref().map_or_else(Admission::default, rules)
    }

    /// Whether a program at ingress has something to do.
    pub fn looks_at_ingress(&self) -> bool {
        self.ends_of == EndsOf::Peer || self.refuse_at == RefuseAt::Ingress
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
        if self.hook != new.hook {
            return Some("hook");
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

    /// The law, with the defaults of a gate.
    fn law(&self) -> Result<Option<GateLaw>, Failure> {
        let Some(spanned) = &self.file.law else {
            return Err(Failure::usage(self.name, "the key `law` is missing: write one"));
        };
        let mut table = spanned.get_ref().clone();
        let name = table.get("law").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        if name == "tide" && self.file.capacity.is_none() && self.file.shape.is_none() {
            let what = "tide needs the link's rate: set `capacity` or `shape`";
            return Err(self.at(spanned, what.to_owned()));
        }
        // without eligibility each connection is judged by itself
        let judges = table.get("eligibility") != Some(&false.into());
        let mut unless_said = |key: &str, value: toml::Value| {
            table.entry(key).or_insert(value);
        };
        match name.as_str() {
            "fixed-rate" | "gss-ga" => unless_said("limiter", "token-bucket".into()),
            "tide" if judges => unless_said("admit", "clients".into()),
            "close-probe" => {
                unless_said("limiter", "token-bucket".into());
                unless_said("relief", true.into());
            }
            "python" => {
                let what = "a law in Python runs in the laboratory (the simulator) only".to_owned();
                return Err(self.at(spanned, what));
            }
            _ => {}
        }
        GateLaw::from_table(table).map_err(|what| self.at(spanned, what))
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
        let law =
            dqm::Config::deserialize(table).map_err(|error| wrong(error.message().to_owned()))?;
        let Some(rate) = capacity else {
            return Err(wrong("the link's rate is needed: set `capacity` or `shape`".to_owned()));
        };
        law.check(Link { rate, delay: Time::ZERO })
            .map_err(|(key, what)| wrong(format!("{key}: {what}")))?;
        Ok(Some(Dqm { law, buffer }))
    }

    fn shape(&self) -> Result<Option<(Rate, u32)>, Failure> {
        let Some(rate) = self.file.shape else { return Ok(None) };
        let default = (rate.bps() / 80).max(15_000);
        let buffer = self.file.shape_buffer.map_or(default, Size::bytes);
        Ok(Some((rate, u32::try_from(buffer).unwrap_or(u32::MAX))))
    }

    fn metrics(&self) -> Result<Option<SocketAddr>, Failure> {
        let text = self.file.metrics.as_deref().unwrap_or(METRICS);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            let what = format!("`{text}` is no address: write {METRICS}");
            self.wrong("metrics", what)
        })
    }

    fn check(&self) -> Result<Config, Failure> {
        let file = &self.file;
        let name = &file.interface;
        if name.is_empty() {
            return Err(Failure::usage(self.name, "the key `interface` is missing: write one"));
        }
        if name.len() > 15 || name.contains(['/', ' ']) {
            return Err(self.wrong("interface", format!("`{name}` is no name of an interface")));
        }
        let refused = file.in_range().and_then(|()| file.flood.in_range());
        refused.map_err(|(key, what)| self.wrong(&key, what))?;
        let default = if file.ends == Ends::FlowMap { 65_536 } else { 131_072 };
        let ends_size = file.ends_size.unwrap_or(default);
        let law = self.law()?;
        let onset = file.onset.unwrap_or(match law {
            Some(GateLaw::CloseProbe(_) | GateLaw::Tide(_)) => Time::from_secs(2),
            _ => Time::ZERO,
        });
        let shape = self.shape()?;
        let capacity = file.capacity.or(shape.map(|(rate, _)| rate));
        if matches!(law, Some(GateLaw::Occupancy(_))) && capacity.is_none() {
            let what = "occupancy needs the link's rate: set `capacity` or `shape`";
            return Err(self.wrong("law", what));
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
            refuse_at: file.refuse_at.unwrap_or(match file.ends_of {
                EndsOf::Peer => RefuseAt::Ingress,
                EndsOf::Sender => RefuseAt::Egress,
            }),
            client_prefixes: (file.client_ipv4, file.client_ipv6),
            quic: file.quic,
            quic_idle: file.quic_idle,
            never_refuse: file.never_refuse.clone(),
            dqm,
            shape,
            capacity,
            ceiling: file.ceiling,
            lease: file.lease,
            onset,
            flood: Limits { factor: file.flood.factor, epochs: file.flood.epochs },
            log: file.log.clone(),
            metrics: self.metrics()?,
            metrics_set: file.metrics.is_some(),
            socket: file.socket.clone().unwrap_or_else(at_interface),
            hook: file.hook,
            priority: file.priority,
        })
    }
}

#[cfg(test)]
mod tests;
