//! What a host needs to act alone: a network of its own for each act, from which its packets are
//! taken.

use std::collections::BTreeMap;

use tidegate_core::packet::{Flags, Packet, SackBlock};
use tidegate_core::units::Time;
use tidegate_model::port::OwnLaws;
use tidegate_model::scenario::{Scenario, Transport};
use tidegate_model::{Source, load};

use super::super::receiver::Address;
use super::super::{ClassParams, Ctx, FlowFate, Timeouts};
use crate::network::Network;
use crate::rows::{Row, UNLIMITED};

/// Two hosts, with room for whatever leaves at one instant.
const LINK: &str = r#"
    name = "drill"
    duration = "1s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "100Gbit", delay = "1ms" }
    bottleneck = { rate = "100Gbit", delay = "1ms", buffer = "100000packets" }
    [traffic.one]
    arrivals = { at = ["0s"] }
    size = "1kB"
    transport = { tcp = { "#;

/// Payload of a full segment, in bytes.
pub(super) const MSS: u32 = 1000;

pub(super) struct Bench {
    scenario: Scenario,
    pub(super) class: ClassParams,
    pub(super) row: Row,
    syn_tries: u16,
    timeouts: Timeouts,
    source: u16,
    sink: u16,
    pub(super) now: Time,
    /// What has left since the last look.
    pub(super) left: Vec<Packet>,
    /// The host has given up.
    pub(super) over: bool,
}

impl Bench {
    /// Hosts with this profile of TCP, and settings in which they differ from it.
    pub(super) fn new(profile: &str, own: &str) -> Bench {
        let mss = if own.contains("mss") { String::new() } else { format!("mss = \"{MSS}B\", ") };
        let own = if own.is_empty() { String::new() } else { format!(", {own}") };
        let text = format!("{LINK} {mss}profile = \"{profile}\" {own} }} }}");
        let source = Source { name: "drill.toml", text: &text };
        let scenario = load(source, &[], &Default::default());
        let scenario = scenario.unwrap_or_else(|report| panic!("{}", report.render(false)));
        let (source, sink) = ends(&scenario);
        let Transport::Tcp(tcp) = &scenario.traffic[0].transport else { panic!("{profile}") };
        Bench {
            class: ClassParams::of(tcp.clone()),
            row: Row::new(0, UNLIMITED, Time::ZERO),
            syn_tries: 0,
            timeouts: Timeouts::NEW,
            source,
            sink,
            now: Time::ZERO,
            left: Vec::new(),
            over: false,
            scenario,
        }
    }

    pub(super) fn address(&self) -> Address {
        let (source, sink) = (self.source, self.sink);
        Address { flow: 0, generation: 0, source, sink, opaque: false }
    }

    /// A host acts.
    pub(super) fn run(&mut self, act: impl FnOnce(&Address, &mut Ctx<'_>) -> FlowFate) {
        let mut net =
            Network::new(&self.scenario, 1, &mut OwnLaws::default(), BTreeMap::new()).ok().unwrap();
        net.now = self.now;
        let address = self.address();
        let mut ctx = Ctx {
            net: &mut net,
            class: &mut self.class,
            row: &mut self.row,
            source: self.source,
            sink: self.sink,
            syn_tries: &mut self.syn_tries,
            timeouts: &mut self.timeouts,
            client: 1,
        };
        self.over |= act(&address, &mut ctx) == FlowFate::Over;
        // the first packet is on its way, the others wait behind it
        let flying = net.flight.packets(&net.events);
        self.left.extend(flying.chain(net.ports.iter().flat_map(|port| port.held())));
    }

    /// What has left.
    pub(super) fn take(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.left)
    }
}

/// The two hosts: the nodes with one link.
fn ends(scenario: &Scenario) -> (u16, u16) {
    let ports = &scenario.network.ports;
    let links = |node: u16| ports.iter().filter(|port| port.from == node).count();
    let mut hosts = ports.iter().map(|port| port.from).filter(|&node| links(node) == 1);
    (hosts.next().unwrap(), hosts.next().unwrap())
}

/// SACK blocks from `a..b`, as a packet has them that acknowledges `ack`.
pub(super) fn blocks(ack: u32, ranges: &[(u32, u32)]) -> [SackBlock; 4] {
    let mut all = [SackBlock::default(); 4];
    for (place, &(start, end)) in all.iter_mut().zip(ranges) {
        *place = SackBlock { start: start - ack, len: (end - start) as u16 };
    }
    all
}

/// The flag that a word of a script stands for.
pub(super) fn flag(word: &str) -> Option<Flags> {
    match word {
        "ece" => Some(Flags::ECE),
        "cwr" => Some(Flags::CWR),
        "ce" => Some(Flags::CE),
        "again" => Some(Flags::RETRANSMIT),
        "fin" => Some(Flags::FIN.with(Flags::PUSH)),
        _ => None,
    }
}

/// `3..5`.
pub(super) fn range(word: &str) -> Option<(u32, u32)> {
    let (start, end) = word.split_once("..")?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

/// A time in milliseconds.
pub(super) fn ms(word: &str) -> Time {
    let ms: f64 = word.parse().unwrap_or_else(|_| panic!("no time: {word}"));
    Time::from_secs_f64(ms / 1e3)
}
