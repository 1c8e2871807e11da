//! The configuration file of a gate.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use tidegate_core::law::keys::table;
use tidegate_core::law::queue::dqm;
pub use tidegate_core::law::session::ingress::{EndsOf, RefuseAt};
use tidegate_core::law::session::{Admission, Limiter, Opener, Refusal};
use tidegate_core::law::settings::Link;
use tidegate_core::units::{Rate, Size, Time};
use tidegate_core::{keys, named, settings};
use tidegate_model::Source;
use tidegate_model::law::GateLaw;

use super::flood::Limits;
use super::hook::Hook;
use super::page::place::Place;
use tidegate_common::fail::Failure;

/// Whether decisions are carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Decides and counts, but refuses nothing: the law runs open-loop.
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndCounting {
    /// Every FIN counts: for a link without losses after the gate.
    Every,
    /// One bit per end, by a hash: no state per flow.
    #[default]
    Cells,
    /// A map of the flows that ended last.
    FlowMap,
}

/// Treatment of QUIC Initials.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quic {
    /// They are counted and pass.
    #[default]
    Count,
    /// The first of a connection needs a token, as an opener of TCP does.
    Admit,
}

named! {
    /// Which way the packets go that a gate controls, seen from the users.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    Direction:
    /// To the users: what leaves by the inner interface, or by an ifb.
    Down = "down",
    /// From the users: what leaves by the outer interface.
    Up = "up",
}

impl Direction {
    fn named(name: &str) -> Direction {
        if name == Direction::Up.name() { Direction::Up } else { Direction::Down }
    }
}

/// A network whose sessions are never refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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
        match bits {
            0 => Err(every(text, address)),
            bits if bits > most => Err(wrong()),
            bits => Ok(Network { address: masked(address, bits), bits }),
        }
    }
}

/// The refusal of a network that holds every address.
fn every(text: &str, address: IpAddr) -> String {
    let version = if address.is_ipv4() { "4" } else { "6 (2000::/3 is what the Internet uses)" };
    format!(
        "`{text}` is every address, and no connection would be refused: name the networks of IPv{version}, or write mode = \"observe\""
    )
}

/// The address of a network. With bits of a host in it, one network would have two keys, which the
/// kernel takes for one.
fn masked(address: IpAddr, bits: u8) -> IpAddr {
    let mask = |width: u32| u128::MAX.checked_shl(width - u32::from(bits)).unwrap_or(0);
    match address {
        IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() & mask(32) as u32).into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & mask(128)).into(),
    }
}

impl From<Network> for String {
    fn from(Network { address, bits }: Network) -> String {
        format!("{address}/{bits}")
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Network, String> {
        text.parse()
    }
}

settings! {
    /// Traffic that is never refused; it passes without a token.
    #[derive(Eq)]
    pub struct NeverRefuse:
    networks: Vec<Network> = { Vec::new() } "Networks, of either end; default none, up to 1024 of IPv4 and as many of IPv6";
    ports: Vec<u16> = { Vec::new() } "Ports, of either end; default none";
    management: bool = true "Whether the ports of management are never refused either: SSH (22), BGP (179) and NETCONF (830)";
}

/// SSH, BGP, NETCONF over SSH (RFC 4253, RFC 4271, RFC 6242).
const MANAGEMENT: [u16; 3] = [22, 179, 830];

impl NeverRefuse {
    /// Whether sessions of that port are never refused.
    pub fn has_port(&self, port: u16) -> bool {
        self.ports.contains(&port) || (self.management && MANAGEMENT.contains(&port))
    }
}

keys! {
    /// The contents of the file.
    pub struct File:
    interface: String = required "The interface, of this network namespace, whose outgoing packets are controlled";
    mode: Mode = { Mode::Observe } "Whether decisions are carried out; default `observe`: they are only counted" + "`shape` holds in both modes.";
    law: LawTable = required "The law, as at the gate of a port of a scenario; `{ law = \"none\" }`: nothing is refused by the number of sessions";
    opener: Opens = { Opens::Either } "Which packet opens a session: that of uploads, of downloads, or either; default `either`";
    tokens_keep: f64 = 2 [0 to 60] "Lifetime of unused tokens, in epochs; `tide` has its own";
    ends: EndCounting = { EndCounting::Cells } "How the end of a session is counted once; default `cells`";
    ends_of: EndsOf = { EndsOf::Peer } "Whose FIN ends a session; default `peer`";
    refuse_at: Option<RefuseAt> = none "Where a download is refused, by a law or by `dqm`; default `ingress`, or `egress` if `ends_of` is `sender`";
    ends_size: Option<u32> = none [64 to 16777216] "Memory for ends, in cells or flows; default 131072 cells, or 65536 flows of the map";
    client_ipv4: u32 = 32 [8 to 32] "Where the law admits clients: bits of an IPv4 address that name one";
    client_ipv6: u32 = 64 [16 to 64] "The same of an IPv6 address";
    quic: Quic = { Quic::Count } "Whether Initials of QUIC are only counted, or the first of a connection needs a token; default `count`";
    quic_idle: Time = "5s" ["100ms" to "1h"] "With `quic = \"admit\"`: a connection of QUIC has ended when nothing of it has come for so long";
    who: bool = false "Whether the status and the metrics show clients by address: the hundred that were refused most, or used most";
    never_refuse: NeverRefuse = { NeverRefuse::default() } "Traffic that always passes: `networks` and `ports` of either end, default none; `management`: ports 22, 179 and 830, default true" + "What a direction lists is added to what stands above the two tables.";
    dqm: Option<DqmFile> = none "Dual-queue management at the interface: `x_m`, `x_M`, `P_M`, `w`, `measure` and `mean_packet` of the queue law `dqm`, and `buffer`, 1 to 100000 packets; default none";
    shape: Option<Rate> = none ["8kbit" to "30Gbit"] "Rate of the shaper; default none";
    shape_buffer: Option<Size> = none ["3000B" to "1GB"] "Buffer of the shaper; default 100 ms of `shape`, at least 15000B";
    capacity: Option<Rate> = none "Rate of the link, for laws that need it; default `shape`";
    ceiling: f64 = 1 [0 to 1] "Largest share of the openers of an epoch that the law refuses; 1: no bound" + "Below 1 the first opener of every epoch passes, which on a slow link may be more than it serves. It does not hold for `dqm`.";
    lease: Time = "2s" ["200ms" to "60s"] "If the controller stops for longer, everything passes";
    onset: Option<Time> = none ["0s" to "60s"] "Nobody is refused until sessions pile up: those that begin in excess of those that end, with those whose handshakes the queue lost, must need this long to end at the present pace. That must hold for two epochs where the queue loses a packet in twenty or more, or the link carries less than ten packets of each session in 0.3 s; else for ten seconds. Default 2s for `close-probe` and `tide`, else 0s: the law decides from the start";
    flood: Limits = { Limits::default() } "When the alarm of a flood is raised, see below";
    log: Option<PathBuf> = none "A line of JSON for each epoch; default none";
    metrics: Option<String> = none "Address where metrics are served; `\"\"`: nowhere; default 127.0.0.1:9477, or nowhere if that is taken";
    page: Option<String> = none "Address where a page for a browser shows the gate and takes its orders; default nowhere" + "`tidegated gate page` says how it is opened.";
    page_hosts: Vec<String> = { Vec::new() } "Names and addresses by which other machines may open the page, which is not encrypted; default none: this machine alone";
    socket: Option<PathBuf> = none "Where the status is asked for, and orders are given; default /run/tidegate/gate-INTERFACE.sock, of two directions gate-DOWN+UP.sock" + "Gates of one process may share it.";
    hook: Option<Hook> = none "Where the programs are attached; default `tcx` where the kernel has it (Linux 6.6), else `clsact`";
    priority: u32 = 7700 [1 to 65535] "At `clsact`: priority of the filter" + "At `tcx` it has no meaning: the programs come first.";
}

keys! {
    /// The buffer of the interface under dual-queue management.
    pub struct DqmBuffer:
    buffer: u32 = required [1 to 100000] "Buffer in packets: there every connection packet is dropped";
}

/// The law in the file: its name, and its settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawTable(toml::Table);

impl<'de> Deserialize<'de> for LawTable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LawTable, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::Table(law) => Ok(LawTable(law)),
            other => {
                let name = other.as_str().filter(|name| !name.is_empty()).unwrap_or("tide");
                let what = format!("this is no table: write law = {{ law = \"{name}\" }}");
                Err(serde::de::Error::custom(what))
            }
        }
    }
}

/// Dual-queue management in the file: the law's settings, and the buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DqmFile((dqm::Config, DqmBuffer));

/// Networks of one version of IP that the program holds (`NEVER_REFUSED_NETWORKS` of `bpf/common.h`).
const MOST_NETWORKS: usize = 1024;
/// The path of a socket ends with a zero in 108 bytes (unix(7)).
const LONGEST_SOCKET: usize = 107;

/// Of these keys, what a direction lists is added to what stands above the two tables: a port that
/// is protected for both stays so.
const JOINED: &[&str] = &["never_refuse"];

/// Address of the metrics, unless the file sets one.
const METRICS: &str = "127.0.0.1:9477";

impl<'de> Deserialize<'de> for DqmFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DqmFile, D::Error> {
        table(from).map(DqmFile)
    }
}

/// Dual-queue management at the interface.
#[derive(Clone, PartialEq, Debug)]
pub struct Dqm {
    /// The law's settings.
    pub law: dqm::Config,
    /// Buffer of the interface, packets: there every connection packet is dropped.
    pub buffer: u32,
}

/// A checked configuration: the file, and what follows from it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file as it is written; of a file for two directions, what holds for this one.
    pub file: File,
    /// Which direction it controls, where the file says so.
    pub direction: Option<Direction>,
    /// The law; none: nothing is refused by the number of sessions.
    pub law: Option<GateLaw>,
    /// Lifetime of unused tokens, epochs.
    pub tokens_keep: f64,
    /// Cells of a generation, or flows of the map.
    pub ends_size: u32,
    /// Where a download is refused.
    pub refuse_at: RefuseAt,
    /// Dual-queue management.
    pub dqm: Option<Dqm>,
    /// Rate of the shaper, and its buffer, bytes.
    pub shape: Option<(Rate, u32)>,
    /// Rate of the link, if known.
    pub capacity: Option<Rate>,
    /// How long the excess sessions must take to end before anything is refused.
    pub onset: Time,
    /// Address of the metrics.
    pub metrics: Option<SocketAddr>,
    /// Where a page is served.
    pub page: Option<Place>,
    /// Socket of the status.
    pub socket: PathBuf,
}

impl Config {
    /// Reads and checks a file: one gate, or one for each direction that it names.
    ///
    /// # Errors
    /// It cannot be read, or is invalid: with the line and the valid values.
    pub fn read(path: &Path) -> Result<Vec<Config>, Failure> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Failure::usage(&name, error))?;
        Config::parse(&text, &name)
    }

    /// Checks a text; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str, name: &str) -> Result<Vec<Config>, Failure> {
        let names = Direction::ALL.map(Direction::name);
        let files = tidegate_model::read_parts(Source { name, text }, &names, "interface", JOINED)
            .map_err(|(place, what)| Failure::usage(place, what))?;
        let checked = files.into_iter().map(|(part, file)| {
            Check { text, name, direction: part.map(Direction::named), file }.check()
        });
        let mut all = checked.collect::<Result<Vec<Config>, Failure>>()?;
        if let [down, up] = &mut all[..] {
            together(down, up).map_err(|what| Failure::usage(name, what))?;
        }
        Ok(all)
    }

    /// The packets and hashes that the law needs the program to look at.
    pub fn rules(&self) -> Admission {
        let rate = self.capacity.unwrap_or_default();
        let rules = |law: &GateLaw| law.admission(Opener::default(), Refusal::default(), rate);
        self.law.as_ref().map_or_else(Admission::default, rules)
    }

    /// What the law admits; empty where it knows no clients.
    pub fn admits(&self) -> &'static str {
        match &self.law {
            Some(law) if law.visits() => "visits",
            Some(law) if law.clients().is_some() => "clients",
            Some(GateLaw::CloseProbe(_) | GateLaw::GssGa(_) | GateLaw::Tide(_)) => "connections",
            _ => "",
        }
    }

    /// Whether a program at ingress has something to do.
    pub fn looks_at_ingress(&self) -> bool {
        self.file.ends_of == EndsOf::Peer || self.refuse_at == RefuseAt::Ingress
    }

    /// Which limiter the program uses.
    pub fn limiter(&self) -> Limiter {
        self.law.as_ref().map_or(Limiter::TokenBucket, GateLaw::limiter)
    }
}

/// Reads and checks some files, for gates of one process.
///
/// # Errors
/// As [`Config::read`], or two name one interface.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<(&Path, Vec<Config>)>, Failure> {
    let read = |path: &PathBuf| Config::read(path);
    let all = paths.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut seen = BTreeSet::new();
    for (path, gates) in paths.iter().zip(&all) {
        for gate in gates {
            if !seen.insert(&gate.file.interface) {
                let what = format!("interface: another gate is at {}", gate.file.interface);
                return Err(Failure::usage(path.display(), what)
                    .remedy("give each file once, and each interface one gate"));
            }
        }
    }
    Ok(paths.iter().map(PathBuf::as_path).zip(all).collect())
}

/// The two directions of one router: they answer on one socket.
fn together(down: &mut Config, up: &mut Config) -> Result<(), String> {
    let (inner, outer) = (&down.file.interface, &up.file.interface);
    if inner == outer {
        return Err(format!(
            "[down] and [up] are both at {inner}: name the interface towards the users, or an ifb, in [down]"
        ));
    }
    let both = PathBuf::from(format!("/run/tidegate/gate-{inner}+{outer}.sock"));
    for direction in [down, up] {
        if direction.file.socket.is_none() {
            direction.socket.clone_from(&both);
        }
    }
    Ok(())
}

struct Check<'a> {
    text: &'a str,
    name: &'a str,
    direction: Option<Direction>,
    file: File,
}

impl Check<'_> {
    fn wrong(&self, key: &str, what: impl std::fmt::Display) -> Failure {
        let place = place::of(self.text, self.name, self.direction, key);
        Failure::usage(place, format!("{key}: {what}"))
    }

    /// The law, with the defaults of a gate.
    fn law(&self) -> Result<Option<GateLaw>, Failure> {
        let mut table = self.file.law.0.clone();
        let name = table.get("law").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
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
                let what = "a law in Python runs in the laboratory (the simulator) only";
                return Err(self.wrong("law", what));
            }
            _ => {}
        }
        GateLaw::from_table(&table).map_err(|what| self.wrong("law", what))
    }

    /// What a key asks for that another key, or the kernel, does not let it have.
    fn fits(&self) -> Result<(), Failure> {
        let file = &self.file;
        if file.shape.is_none() && file.shape_buffer.is_some() {
            return Err(self.wrong("shape_buffer", "there is no shaper: set `shape` too"));
        }
        if let (Some(shape), Some(capacity)) = (file.shape, file.capacity)
            && capacity > shape
        {
            let what = format!("no more than the {shape} of `shape` leaves: leave `capacity` out");
            return Err(self.wrong("capacity", what));
        }
        let networks = &file.never_refuse.networks;
        let six = networks.iter().filter(|network| network.address.is_ipv6()).count();
        if six.max(networks.len() - six) > MOST_NETWORKS {
            let what = format!("more than {MOST_NETWORKS} networks of IPv4 or of IPv6");
            return Err(self.wrong("never_refuse", what));
        }
        if let Some(socket) = &file.socket
            && !(1..=LONGEST_SOCKET).contains(&socket.as_os_str().len())
        {
            let what = format!("a path of 1 to {LONGEST_SOCKET} bytes is needed");
            return Err(self.wrong("socket", what));
        }
        let lawless = file.law.0.get("law").and_then(toml::Value::as_str) == Some("none");
        if file.ceiling < 1.0 && file.dqm.is_some() && lawless {
            let what = "it bounds a session law, and there is none here: `dqm` has no such bound";
            return Err(self.wrong("ceiling", format!("{what}; leave it out")));
        }
        if file.page.is_none() && !file.page_hosts.is_empty() {
            return Err(self.wrong("page_hosts", "there is no page: set `page` too"));
        }
        if file.page.is_some() && file.page == file.metrics {
            return Err(self.wrong("page", "`metrics` has this address: write another port"));
        }
        Ok(())
    }

    fn dqm(&self, capacity: Option<Rate>) -> Result<Option<Dqm>, Failure> {
        let Some(DqmFile((law, DqmBuffer { buffer }))) = &self.file.dqm else { return Ok(None) };
        let usual = dqm::Config::default();
        for (key, said) in [
            ("over", law.over != usual.over),
            ("blocked", law.blocked != usual.blocked),
            ("hold_packets", law.hold_packets != usual.hold_packets),
            ("order", law.order != usual.order),
            ("queues", law.queues != usual.queues),
            ("refuse_at", law.refuse_at != usual.refuse_at),
        ] {
            if said {
                let what = "not available in a gate, which uses the queue of the interface";
                return Err(self.wrong("dqm", format!("{key}: {what}")));
            }
        }
        let Some(rate) = capacity else {
            let what = "the link's rate is needed: set `capacity` or `shape`";
            return Err(self.wrong("dqm", what));
        };
        law.check(Link { rate, delay: Time::ZERO })
            .map_err(|(key, what)| self.wrong("dqm", format!("{key}: {what}")))?;
        Ok(Some(Dqm { law: law.clone(), buffer: *buffer }))
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

    fn page(&self) -> Result<Option<Place>, Failure> {
        let Some(address) = &self.file.page else { return Ok(None) };
        let place = Place::new(address, &self.file.page_hosts);
        place.map(Some).map_err(|what| self.wrong("page", what))
    }

    fn check(&self) -> Result<Config, Failure> {
        let file = &self.file;
        let name = &file.interface;
        if name.is_empty() || name.len() > 15 || name.contains(['/', ' ']) {
            return Err(self.wrong("interface", format!("`{name}` is no name of an interface")));
        }
        let default = if file.ends == EndCounting::FlowMap { 65_536 } else { 131_072 };
        let ends_size = file.ends_size.unwrap_or(default);
        let law = self.law()?;
        let onset = file.onset.unwrap_or(match law {
            Some(GateLaw::CloseProbe(_) | GateLaw::Tide(_)) => Time::from_secs(2),
            _ => Time::ZERO,
        });
        let shape = self.shape()?;
        let capacity = file.capacity.or(shape.map(|(rate, _)| rate));
        if let Some(law @ (GateLaw::Occupancy(_) | GateLaw::Tide(_))) = &law
            && capacity.is_none()
        {
            let there = self.direction.map_or(String::new(), |it| format!(" in [{}]", it.name()));
            let law = law.name();
            let what = format!("{law} needs the link's rate: set `capacity` or `shape`{there}");
            return Err(self.wrong("law", what));
        }
        self.fits()?;
        let dqm = self.dqm(capacity)?;
        // a law that saves tokens says for how long
        let saves = law.as_ref().is_some_and(|law| law.limiter() == Limiter::SavingBucket);
        let at_interface = || PathBuf::from(format!("/run/tidegate/gate-{name}.sock"));
        Ok(Config {
            file: file.clone(),
            direction: self.direction,
            law,
            tokens_keep: if saves { 0.0 } else { file.tokens_keep },
            ends_size,
            refuse_at: file.refuse_at.unwrap_or(file.ends_of.refuses_at()),
            dqm,
            shape,
            capacity,
            onset,
            metrics: self.metrics()?,
            page: self.page()?,
            socket: file.socket.clone().unwrap_or_else(at_interface),
        })
    }
}

mod place;
mod reload;

pub use reload::obstacle;

#[cfg(test)]
mod any_text;
#[cfg(test)]
mod tests;
