//! The load that is offered to each link: what the classes will send, in parts of its capacity.

use std::collections::BTreeMap;

use tidegate_core::law::queue::Traits;
use tidegate_core::units::{Rate, Time};

use super::expected::{Expected, counted, expected, of_page, presence};
use crate::route::Routes;
use crate::scenario::{
    Arrivals, Class, Course, FlowSize, LinkValue, PacketKind, Port, Scenario, Transport, Udp,
};

/// What is offered to one port whose link is no access link.
#[derive(Clone, PartialEq, Debug)]
pub struct Offered {
    /// The port.
    pub port: String,
    /// Mean capacity over the run, in bit/s: of the link, or of the shaper of its queue where that is
    /// less.
    pub rate_bps: f64,
    /// Payload of the flows that start in the run (their mean, if they are random), each once, in
    /// parts of what the capacity carries in that time; of UDP, viewers and readers what they send
    /// and ask for in the run. None: a class that crosses takes what it gets.
    pub share: Option<f64>,
    /// The same of the classes that do not take what they get.
    pub ending: f64,
    /// The same with video and media at their highest rates; `ending` has them at their lowest.
    pub most: f64,
}

/// What a class sends: bits in the direction of the class, and in the other.
#[derive(Clone, Copy, Default)]
struct Bits {
    least: [f64; 2],
    most: [f64; 2],
}

/// The load of each port that data crosses and that belongs to no access link.
///
/// The flows of a class fall evenly on its pairs of hosts. Headers, retransmissions and
/// acknowledgements are not counted.
pub fn offered(scenario: &Scenario) -> Vec<Offered> {
    let routes = Routes::of(&scenario.network);
    // of each port the bits, least and most, and whether others take what they get
    let mut loads: BTreeMap<u32, (f64, f64, bool)> = BTreeMap::new();
    for (class, expected) in scenario.traffic.iter().zip(expected(scenario)) {
        let bits = bits(class, &expected, scenario.duration);
        let pairs = class.pairs.len().max(1) as f64;
        for &(from, to) in &class.pairs {
            for (way, ends) in [(from, to), (to, from)].into_iter().enumerate() {
                if way == 1 && bits.is_none_or(|bits| bits.most[1] <= 0.0) {
                    continue;
                }
                let path = routes.path(&scenario.network, ends, Some(PacketKind::Data));
                for port in path.unwrap_or_default() {
                    let (least, most, endless) = loads.entry(port).or_default();
                    *least += bits.map_or(0.0, |bits| bits.least[way] / pairs);
                    *most += bits.map_or(0.0, |bits| bits.most[way] / pairs);
                    *endless |= bits.is_none();
                }
            }
        }
    }
    let changed = changed(scenario);
    let of = |(number, (least, most, endless)): (u32, (f64, f64, bool))| {
        let port = scenario.network.ports.get(number as usize).filter(|port| !port.access)?;
        let carried = changed.get(&number).copied();
        let carried = carried.unwrap_or_else(|| self::carried(port, scenario.duration)).max(1.0);
        let rate_bps = carried / scenario.duration.secs();
        let (ending, most) = (least / carried, most / carried);
        let share = (!endless).then_some(ending);
        Some(Offered { port: port.name.clone(), rate_bps, share, ending, most })
    };
    loads.into_iter().filter_map(of).collect()
}

/// What the ports whose capacity changes carry in a run, in bits.
fn changed(scenario: &Scenario) -> BTreeMap<u32, f64> {
    let end = scenario.duration;
    // of each port: what it has carried so far, until when, and what it carries from then on
    let mut ports: BTreeMap<u32, (f64, Time, Rate)> = BTreeMap::new();
    for change in &scenario.changes {
        let LinkValue::Rate(rate) = change.to else { continue };
        let port = &scenario.network.ports[change.port as usize];
        let (bits, since, now) =
            ports.entry(change.port).or_insert((0.0, Time::ZERO, port.carries(port.rate)));
        let at = change.at.min(end);
        *bits += now.bps() as f64 * (at - *since).secs();
        (*since, *now) = (at, port.carries(rate));
    }
    let all = |(port, (bits, since, now)): (u32, (f64, Time, Rate))| {
        (port, bits + now.bps() as f64 * (end - since).secs())
    };
    ports.into_iter().map(all).collect()
}

/// What a port carries in a run of this length, in bits, if its capacity does not change.
fn carried(port: &Port, duration: Time) -> f64 {
    let seconds = duration.secs();
    match (&port.impairments.opportunities, port.queue.bandwidth()) {
        (None, _) => port.carries(port.rate).bps() as f64 * seconds,
        (Some(trace), None) => trace.possible(duration) as f64 * 8.0,
        (Some(trace), Some(shaper)) => {
            (trace.possible(duration) as f64 * 8.0).min(shaper.bps() as f64 * seconds)
        }
    }
}

/// What a class sends in a run; none: what it gets.
fn bits(class: &Class, expected: &Expected, duration: Time) -> Option<Bits> {
    let same = |bits: f64| Bits { least: [bits, 0.0], most: [bits, 0.0] };
    if let Arrivals::Replayed(flows) = &class.arrivals {
        let mut all = Bits::default();
        for flow in flows.iter().filter(|flow| flow.start < duration) {
            all.least[usize::from(flow.direction != class.direction)] += flow.size as f64 * 8.0;
        }
        return Some(Bits { most: all.least, ..all });
    }
    let there = |end: Time| presence(&class.arrivals, &Course::constant(1.0), end);
    if let Some(video) = class.video() {
        let film = video.segment.secs() * f64::from(video.segments) * expected.flows;
        let watched = there(duration).min(film);
        let of = |rate: Option<&tidegate_core::units::Rate>| {
            [rate.map_or(0.0, |rate| rate.bps() as f64) * watched, 0.0]
        };
        return Some(Bits { least: of(video.ladder.first()), most: of(video.ladder.last()) });
    }
    if let (Transport::Udp(udp), FlowSize::Unlimited { stop }) = (&class.transport, &class.size) {
        let all = same(payload_bps(udp) * there((*stop).min(duration)));
        // an encoder sends between its lowest and its highest rate
        let least =
            udp.media.as_ref().map_or(1.0, |media| media.encoder.least / media.encoder.most);
        return Some(Bits { least: all.least.map(|bits| bits * least), ..all });
    }
    match (expected.mean_bytes, class.pages(), &class.size) {
        (Some(bytes), Some(pages), FlowSize::Drawn { .. }) if pages.count < u32::MAX => {
            Some(same(counted(&class.arrivals, duration).0 * bytes * 8.0))
        }
        (None, Some(pages), FlowSize::Drawn { mean, .. }) if pages.think.mean > 0.0 => {
            let page = |&(at, object): &(Time, f64)| (at, of_page(pages, object));
            let weight = Course { points: mean.points.iter().map(page).collect() };
            let bytes = presence(&class.arrivals, &weight, duration) / pages.think.mean;
            Some(same(bytes * 8.0))
        }
        (Some(bytes), None, _) => Some(same(expected.flows * bytes * 8.0)),
        _ => None,
    }
}

/// The rate of the payload of a flow of UDP.
fn payload_bps(udp: &Udp) -> f64 {
    let payload = f64::from(udp.packet - Udp::HEADER);
    let sending = match &udp.on_off {
        Some((on, off)) => on.mean / (on.mean + off.mean),
        None => 1.0,
    };
    match udp.burst {
        Some((packets, every)) => f64::from(packets) * payload * 8.0 / every.secs(),
        None => sending * udp.rate.bps() as f64 * payload / f64::from(udp.packet),
    }
}
