//! Warnings about a scenario before it runs.
//!
//! A scenario with warnings can be run. But a setting has no effect, or not the one that its author
//! expects, and the results do not show this.

use std::collections::BTreeSet;

use tidegate_core::law::queue::QueueLaw;
use tidegate_core::law::session::Opener;
use tidegate_core::units::{Size, Time};

use super::expected::counted;
pub use super::expected::{Expected, expected};
use super::{ecn, thresholds};
use crate::paths::{self, Path, RoundTrip};
use crate::registry::control::TransportControl;
use crate::registry::law::stamp::StampLaw;
use crate::scenario::{
    Arrivals, Class, Course, FlowSize, Limit, LinkValue, Port, Scenario, Transport,
};

/// Bytes of a full packet.
pub(super) const FULL_PACKET: u64 = 1500;

/// The warnings, one sentence each, in the order of the document.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    let paths = paths::of(&scenario.network, &scenario.traffic);
    let mut found = Vec::new();
    for (place, class) in scenario.traffic.iter().enumerate() {
        let ports = crossed(scenario, &paths, place);
        found.extend(unheard(class, &ports));
        found.extend(ecn::unmarked(class, &ports));
        found.extend(unranked(class, &ports));
        found.extend(unplayable(class, &ports));
        found.extend(late(class, scenario.duration));
    }
    let delayed = scenario.network.ports.iter().any(|port| interval(&port.queue).is_some());
    let round_trips = match delayed {
        true => paths::round_trips(&scenario.network, &scenario.traffic),
        false => Vec::new(),
    };
    for (number, port) in (0..).zip(&scenario.network.ports) {
        found.extend(unsuited(scenario, &round_trips, (number, port)));
        found.extend(thresholds::out_of_reach(port));
        found.extend(ecn::unmarkable(port, &crossing(scenario, &paths, number)));
        found.extend(unread(scenario, &paths, (number, port)));
        found.extend(mixed(scenario, &paths, (number, port)));
        found.extend(unseen(scenario, &paths, (number, port)));
        found.extend(shifted(port));
    }
    found.extend(late_changes(scenario));
    found.extend(unfollowed(scenario));
    found
}

/// The shortest and the longest round trip of the pairs of hosts that get acknowledgements, if
/// nothing waits anywhere; none: no class gets any.
pub fn round_trips(scenario: &Scenario) -> Option<(Time, Time)> {
    let trips = paths::round_trips(&scenario.network, &scenario.traffic);
    let times = || trips.iter().map(|trip| trip.time);
    times().min().zip(times().max())
}

/// The ports that data of a class crosses.
fn crossed<'a>(scenario: &'a Scenario, paths: &[Path], class: usize) -> Vec<&'a Port> {
    let mut numbers: Vec<u32> = paths
        .iter()
        .filter(|path| path.class == class)
        .flat_map(|path| path.data.iter().copied())
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.iter().filter_map(|&port| scenario.network.ports.get(port as usize)).collect()
}

/// The classes whose data crosses a port.
fn crossing<'a>(scenario: &'a Scenario, paths: &[Path], number: u32) -> Vec<&'a Class> {
    let here = paths.iter().filter(|path| path.data.contains(&number));
    here.filter_map(|path| scenario.traffic.get(path.class)).collect()
}

/// Whether a control uses what a stamp writes.
fn speaks(stamp: &StampLaw, control: &TransportControl) -> bool {
    match control {
        TransportControl::Qfcp(_) => stamp.grants() && !matches!(stamp, StampLaw::Rcp(_)),
        TransportControl::Rcp(_) => stamp.grants() && !matches!(stamp, StampLaw::Qfcp(_)),
        TransportControl::Xcp(_) => matches!(stamp, StampLaw::Xcp(_)),
        TransportControl::Vcp(_) => matches!(stamp, StampLaw::Vcp(_)),
        // uses whatever rate is granted
        TransportControl::QuickStart(_) => stamp.grants(),
        TransportControl::Blitz(_) | TransportControl::Python(_) | TransportControl::Crate(_) => {
            false
        }
    }
}

/// Whether a control asks nothing of a stamp.
fn needs_no_stamp(control: &TransportControl) -> bool {
    matches!(
        control,
        TransportControl::Blitz(_) | TransportControl::Python(_) | TransportControl::Crate(_)
    )
}

/// Warns about a sender whose headers no port on its path writes.
fn unheard(class: &Class, ports: &[&Port]) -> Option<String> {
    let Transport::Controlled(_, control) = &class.transport else { return None };
    if needs_no_stamp(control) {
        return None;
    }
    let stamped: Vec<(&str, &StampLaw)> =
        ports.iter().filter_map(|port| Some((port.name.as_str(), port.stamp.as_ref()?))).collect();
    if stamped.iter().any(|(_, stamp)| speaks(stamp, control)) {
        return None;
    }
    let (name, sender) = (&class.name, control.name());
    let wanted = if sender == "quick-start" { "qfcp" } else { sender };
    Some(match stamped.first() {
        Some((port, stamp)) => format!(
            "class `{name}` sends by {sender}, and port `{port}` stamps by {}: write transport = \
             \"{}\" or stamp = {{ law = \"{wanted}\" }}",
            stamp.name(),
            stamp.sender()
        ),
        None => format!(
            "class `{name}` sends by {sender}, but no port on its way stamps: nothing tells it a \
             rate; write stamp = {{ law = \"{wanted}\" }} at its bottleneck"
        ),
    })
}

/// How long a queue lets its delay stay above the target, about the longest round trip, if its
/// law goes by the delay.
fn interval(queue: &QueueLaw) -> Option<Time> {
    match queue {
        QueueLaw::Codel(law) => Some(law.interval),
        QueueLaw::FqCodel(law) => Some(law.interval),
        QueueLaw::Cake(law) => Some(law.interval),
        QueueLaw::Dqm(law) => interval(&law.over),
        _ => None,
    }
}

/// A queue's law goes by an interval that does not fit the round trips of those who cross it.
///
/// RFC 8289, 4.3: an interval of 100 ms gives excellent results from 10 to 300 ms; it should be
/// the longest round trip, and the target 5 to 10 % of it.
fn unsuited(
    scenario: &Scenario,
    round_trips: &[RoundTrip],
    (number, port): (u32, &Port),
) -> Option<String> {
    let interval = interval(&port.queue)?;
    let crossing = round_trips.iter().filter(|trip| trip.data.contains(&number));
    let longest = crossing.max_by_key(|trip| trip.time)?;
    let time = longest.time;
    let (slow, quick) = (time > interval * 3, time * 10 < interval);
    if time == Time::ZERO || !(slow || quick) {
        return None;
    }
    let class = scenario.traffic.get(longest.class)?;
    let effect = if slow { "it drops too early, and the link idles" } else { "it acts too late" };
    let room = if slow { room_for(port, time) } else { None };
    let room = room.map_or_else(String::new, |room| {
        format!(
            ", and buffer = \"{room}\", four times what it carries in that time: with less room the \
             buffer may overflow, and cake then drops for long after (BLUE)"
        )
    });
    Some(format!(
        "{} at `{}` expects round trips of about {interval}, and the longest, of class `{}`, take \
         {time}: {effect}; write interval = \"{time}\", target = \"{}\"{room}",
        port.queue.key(),
        port.name,
        class.name,
        time / 20
    ))
}

/// The buffer that CAKE needs for an interval, where the port has less.
///
/// With a longer interval it drops later, so more may wait. A buffer of a bandwidth-delay product
/// then overflows in slow start, and COBALT's BLUE drops at random long after: for one flow the
/// longer interval is worse than the short one. Linux takes four such products, and 4 MiB at least
/// (`cake_reconfigure` of `sch_cake`). CoDel and FQ-CoDel have no BLUE.
fn room_for(port: &Port, interval: Time) -> Option<Size> {
    let cake = match &port.queue {
        QueueLaw::Dqm(law) => matches!(*law.over, QueueLaw::Cake(_)),
        law => matches!(law, QueueLaw::Cake(_)),
    };
    let wanted = port.carries(port.rate) * (interval * 4);
    let has = match port.limit(port.rate) {
        Limit::Packets(packets) => u64::from(packets) * FULL_PACKET,
        Limit::Bytes(bytes) => bytes,
    };
    // a buffer in bdp is rounded
    (cake && has < wanted.bytes() / 100 * 99).then_some(wanted)
}

/// Warns about a class that sends priorities, with no queue on its path that uses them.
fn unranked(class: &Class, ports: &[&Port]) -> Option<String> {
    let blitz = matches!(class.transport, Transport::Controlled(_, TransportControl::Blitz(_)));
    let ranks = |queue: &QueueLaw| match queue {
        QueueLaw::PushOut(_) => true,
        QueueLaw::Dqm(law) => matches!(*law.over, QueueLaw::PushOut(_)),
        _ => false,
    };
    if !blitz || ports.iter().any(|port| ranks(&port.queue)) {
        return None;
    }
    Some(format!(
        "class `{}` sends by blitz, but no queue on its way knows priorities: write queue = {{ law \
         = \"pushout\" }} at its bottleneck",
        class.name
    ))
}

/// Warns about video whose lowest rate exceeds the capacity of a link on its path.
fn unplayable(class: &Class, ports: &[&Port]) -> Option<String> {
    let least = *class.video()?.ladder.first()?;
    let carried = ports.iter().map(|port| (port.carries(port.rate), &port.name));
    let (most, narrowest) = carried.min_by_key(|one| one.0).filter(|one| one.0 < least)?;
    Some(format!(
        "the lowest rate of the video of class `{}`, {least}, is more than `{narrowest}` carries, \
         {most}: every viewer will have stalls; write a lower rate into its `ladder`",
        class.name
    ))
}

/// Warns about a port that stamps packets for which no sender has a use.
fn unread(scenario: &Scenario, paths: &[Path], (number, port): (u32, &Port)) -> Option<String> {
    let stamp = port.stamp.as_ref()?;
    let reads = |class: &Class| match &class.transport {
        Transport::Controlled(_, control) => speaks(stamp, control),
        _ => false,
    };
    let mut classes = crossing(scenario, paths, number).into_iter().peekable();
    // a class that uses another law has its own warning
    let named = |class: &Class| matches!(&class.transport, Transport::Controlled(_, control) if !needs_no_stamp(control));
    if classes.peek().is_none() || classes.any(|class| reads(class) || named(class)) {
        return None;
    }
    Some(format!(
        "port `{}` stamps by {}, but no class that crosses it reads that: write transport = \"{}\" \
         for one of them",
        port.name,
        stamp.name(),
        stamp.sender()
    ))
}

/// Warns about classes that cross a port beside senders who obey its rates, and do not obey.
fn mixed(scenario: &Scenario, paths: &[Path], (number, port): (u32, &Port)) -> Option<String> {
    let stamp = port.stamp.as_ref()?;
    let (mut obey, mut free): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (place, class) in scenario.traffic.iter().enumerate() {
        if !paths.iter().any(|path| path.class == place && path.data.contains(&number)) {
            continue;
        }
        match &class.transport {
            Transport::Controlled(_, control) if speaks(stamp, control) => obey.push(&class.name),
            // keeps no queue full: the port divides what it leaves
            Transport::Udp(_) => {}
            // has its own warning
            _ if unheard(class, &crossed(scenario, paths, place)).is_some() => {}
            _ => free.push(&class.name),
        }
    }
    let told = obey.first()?;
    let (others, all) = match &free[..] {
        [] => return None,
        [one] => (format!("class `{one}`"), "both"),
        more => (format!("classes `{}`", more.join("`, `")), "all"),
    };
    Some(format!(
        "port `{}` sets the rate of class `{told}` by {}, but not of {others}, which can leave it \
         almost nothing; write transport = \"{}\" for {all}, or let them cross other links",
        port.name,
        stamp.name(),
        stamp.sender()
    ))
}

/// Warns about a gate that sessions cross without a visible opening packet.
fn unseen(scenario: &Scenario, paths: &[Path], (number, port): (u32, &Port)) -> Vec<String> {
    let Some(gate) = &port.gate else { return Vec::new() };
    let opener = gate.opener();
    let crossing: Vec<&Path> = paths.iter().filter(|path| path.data.contains(&number)).collect();
    let comes_in = gate.ingress().openers.then(|| scenario.network.reverse(number)).flatten();
    let opens = |path: &Path| {
        path.opens(number, opener) || comes_in.is_some_and(|from| path.opens(from, Opener::Syn))
    };
    let met = paths.iter().any(opens);
    let unread =
        |class: &Class| matches!(class.transport, Transport::Quic(_)) && gate.keys.quic.is_none();
    let mut found: Vec<String> = crossing
        .iter()
        .filter_map(|path| {
            let class = scenario.traffic.get(path.class)?;
            let opens = opens(path) && !unread(class);
            let shaken = match class.transport.tcp() {
                _ if opens || matches!(class.transport, Transport::Udp(_)) => return None,
                Some(tcp) => tcp.handshake,
                None => true,
            };
            let why = if unread(class) {
                "which are QUIC; write quic = {} into the gate"
            } else if !shaken {
                "which begin without a handshake"
            } else if class.opaque_share >= 1.0 {
                "whose headers it cannot read (opaque_share)"
            } else if opener == Opener::Syn {
                "which open here with a SYN+ACK, and not as its `opener` says, or `admit` in its place: \
                 leave that key out, or write \"syn-ack\" there"
            } else {
                "which open here with a SYN, and not as its `opener` says, or `admit` in its place: \
                 leave that key out, or write \"syn\" there"
            };
            Some(format!(
                "the gate at `{}` never sees the sessions of class `{}`, {why}",
                port.name, class.name
            ))
        })
        .collect();
    if !met && found.is_empty() {
        found.push(format!("no packet that opens a session crosses the gate at `{}`", port.name));
    }
    found.dedup();
    found
}

/// Warns about flows that would start after the end of the run, and about classes without flows.
fn late(class: &Class, end: Time) -> Option<String> {
    let (flows, later) = counted(&class.arrivals, end);
    let name = &class.name;
    if later > 0 {
        let all = flows as u64 + later;
        return Some(format!(
            "{later} of {all} flows of class `{name}` start after the end of the run at {end}"
        ));
    }
    let outside = match &class.arrivals {
        Arrivals::Uniform { within, .. } => *within > end,
        _ => false,
    };
    if outside {
        return Some(format!(
            "some flows of class `{name}` start after the end of the run at {end}: `within` is longer"
        ));
    }
    (flows <= 0.0)
        .then(|| format!("class `{name}` has no flows before the end of the run at {end}"))
}

/// Warns about flows in `series` that do not exist.
fn unfollowed(scenario: &Scenario) -> Vec<String> {
    let mut found = Vec::new();
    let series = &scenario.series;
    for &(place, number) in series.flows.iter().chain(&series.acks) {
        let Some(class) = scenario.traffic.get(place as usize) else { continue };
        let (flows, _) = counted(&class.arrivals, scenario.duration);
        // a random number of flows is almost always less than twice its mean plus some
        let most = match &class.arrivals {
            Arrivals::Poisson { .. } => 2.0 * flows + 40.0,
            _ => flows,
        };
        if f64::from(number) >= most {
            let name = &class.name;
            found.push(format!(
                "`series` follows `{name}:{number}`, but of class `{name}` about {flows:.0} start \
                 before the end; the first is `{name}:0`"
            ));
        }
    }
    let silent = |&&(place, _): &&(u16, u32)| {
        let class = scenario.traffic.get(place as usize);
        class.is_some_and(|class| class.transport.tcp().is_none())
    };
    found.extend(series.acks.iter().filter(silent).map(|&(place, number)| {
        let name = &scenario.traffic[place as usize].name;
        format!("`series.acks` names `{name}:{number}`, and only those of TCP are recorded")
    }));
    found
}

/// A trace with the times of a clock.
fn shifted(port: &Port) -> Option<String> {
    let from = port.impairments.trace_from;
    (from > 0.0).then(|| {
        let name = &port.name;
        format!("the trace of `{name}` begins at {from} s: its times are counted from there")
    })
}

/// Warns about changes of links after the end of the run: once about a ramp, which has many steps.
fn late_links(scenario: &Scenario) -> Vec<String> {
    let end = scenario.duration;
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for change in scenario.changes.iter().filter(|change| change.at > end) {
        let key = if matches!(change.to, LinkValue::Rate(_)) { "rate" } else { "delay" };
        if !told.insert((change.port, change.begins, key)) {
            continue;
        }
        let port = scenario.network.ports.get(change.port as usize);
        let name = port.map_or("", |port| port.name.as_str());
        let begins = change.begins;
        let comes = if begins > end { "comes" } else { "ends" };
        found.push(format!(
            "a change of `{name}.{key}` at {begins} {comes} after the end of the run at {end}"
        ));
    }
    found
}

/// Warns about changes after the end of the run.
fn late_changes(scenario: &Scenario) -> Vec<String> {
    let end = scenario.duration;
    let mut found = late_links(scenario);
    for class in &scenario.traffic {
        let rate = match &class.arrivals {
            Arrivals::Poisson { rate, .. } | Arrivals::Every { rate, .. } => Some(rate),
            _ => None,
        };
        let mean = match &class.size {
            FlowSize::Drawn { mean, .. } => Some(mean),
            _ => None,
        };
        for (what, course) in [("arrivals", rate), ("size", mean)] {
            let after = |course: &Course| course.points.iter().any(|point| point.0 > end);
            if course.is_some_and(after) {
                found.push(format!(
                    "a change of the {what} of class `{}` comes, in part or whole, after the end of \
                     the run at {end}",
                    class.name
                ));
            }
        }
    }
    found.dedup();
    found
}
