//! The load that is offered to each link: what the classes will send, in parts of its capacity.

use std::collections::BTreeMap;

use tidegate_core::units::Time;

use crate::outlook::lint::{Expected, expected};
use crate::route::Routes;
use crate::scenario::{Arrivals, Class, Course, FlowSize, PacketKind, Scenario, Transport, Udp};

/// What is offered to one port whose link is no access link.
#[derive(Clone, PartialEq, Debug)]
pub struct Offered {
    /// The port.
    pub port: String,
    /// Capacity at the start, in bit/s.
    pub rate_bps: f64,
    /// Payload of the flows that start in the run (their mean, if they are random), each once, in
    /// parts of what the capacity at the start carries in that time; of UDP, viewers and readers
    /// what they send and ask for in the run. None: a class that crosses takes what it gets.
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
    let of = |(number, (least, most, endless)): (u32, (f64, f64, bool))| {
        let port = scenario.network.ports.get(number as usize).filter(|port| !port.access)?;
        let rate_bps = port.rate.bps() as f64;
        let carried = rate_bps * scenario.duration.secs();
        let (ending, most) = (least / carried, most / carried);
        let share = (!endless).then_some(ending);
        Some(Offered { port: port.name.clone(), rate_bps, share, ending, most })
    };
    loads.into_iter().filter_map(of).collect()
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
    let there = |end: Time| presence(&class.arrivals, end);
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
            Some(same(users(class, duration) * bytes * 8.0))
        }
        (None, Some(pages), FlowSize::Drawn { mean, .. }) if pages.think.mean > 0.0 => {
            let document = pages.document.as_ref().map_or(0.0, |document| document.mean);
            let page = document + pages.objects.mean * mean.value(Time::ZERO);
            Some(same(page * 8.0 * there(duration) / pages.think.mean))
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

/// How many users come before the end of the run, in the mean.
fn users(class: &Class, end: Time) -> f64 {
    crate::outlook::lint::counted(&class.arrivals, end).0
}

/// The time that those who come are there until `end`, all together, in seconds.
fn presence(arrivals: &Arrivals, end: Time) -> f64 {
    match arrivals {
        Arrivals::Poisson { rate, start, stop } | Arrivals::Every { rate, start, stop } => {
            weighted(rate, (*start, (*stop).min(end)), end)
        }
        Arrivals::At(instants) => instants.iter().map(|at| end.saturating_sub(*at).secs()).sum(),
        Arrivals::Replayed(flows) => {
            flows.iter().map(|flow| end.saturating_sub(flow.start).secs()).sum()
        }
        Arrivals::Uniform { flows, within } => {
            let span = (*within).min(end).secs();
            let inside = if *within <= end { 1.0 } else { span / within.secs() };
            f64::from(*flows) * inside * (end.secs() - span / 2.0)
        }
    }
}

/// The integral of a rate times what is left of the time, piece by piece: Simpson's rule is exact for
/// the product of two straight lines.
fn weighted(rate: &Course, (from, until): (Time, Time), end: Time) -> f64 {
    let piece = |(left, right): (Time, Time)| {
        let length = (right - left).secs();
        let at = |part: f64| left.saturating_add(Time::from_secs_f64(length * part));
        // the rates at a quarter and three quarters are of this piece, even where it ends in a step
        let (early, late) = (rate.value(at(0.25)), rate.value(at(0.75)));
        let (first, last) = (early * 1.5 - late * 0.5, late * 1.5 - early * 0.5);
        let left_over = |part: f64| end.secs() - left.secs() - length * part;
        let middle = (early + late) / 2.0;
        (first * left_over(0.0) + 4.0 * middle * left_over(0.5) + last * left_over(1.0)) * length
            / 6.0
    };
    rate.pieces(from, until).into_iter().map(piece).sum()
}
