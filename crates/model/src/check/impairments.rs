//! What a link does to packets besides carrying them: ranges and contradictions.

use tidegate_core::port::Batching;
use tidegate_core::units::Time;

use super::problems::Check;
use crate::document::PortDoc;
use crate::document::impairments::{BatchDoc, JitterDoc, PoliceDoc};
use crate::scenario::{Jitter, Policing, Port, Shared, Spread};

/// Longest time of jitter.
const MAX_TIME: Time = Time::from_secs(3600);

/// Puts the impairments of a port's link where the document wants them.
pub(super) fn apply(check: &mut Check<'_>, port: &mut Port, doc: &PortDoc) {
    let name = port.name.clone();
    let path = |key| ["port", name.as_str(), key];
    let with_trace = doc.delay.is_some();
    if let Some(doc) = &doc.jitter {
        // a trace of delays says what is possible
        let delay = if with_trace { Time::NEVER } else { port.delay };
        port.impairments.jitter = jitter(check, &path("jitter"), doc, delay);
    }
    if let Some(doc) = &doc.reorder {
        port.impairments.reorder =
            check.in_range(&path("reorder"), doc.out_of_range()).then_some(*doc);
    }
    if let Some(doc) = &doc.police {
        port.impairments.police = policing(check, &path("police"), doc);
    }
    if let Some(doc) = &doc.batch {
        port.impairments.batching = batching(check, &path("batch"), doc);
    }
    if let Some(doc) = &doc.medium {
        port.impairments.medium = medium(check, &path("medium"), doc);
    }
}

/// A medium that one port has alone is no shared one.
pub(super) fn shared(check: &mut Check<'_>, ports: &[Port]) {
    let named = |port: &Port| Some(port.impairments.medium.as_ref()?.name.clone());
    for port in ports {
        let Some(name) = named(port) else { continue };
        let sharing = ports.iter().filter(|other| named(other).as_ref() == Some(&name)).count();
        let what = format!("no other port shares the medium `{name}`");
        let help =
            "name it at the other port too: [port.\"bottleneck.reverse\"] is the other direction";
        check.require(sharing > 1, &["port", &port.name, "medium", "name"], what, help);
    }
}

fn under<'a>(path: &[&'a str], key: &'a str) -> Vec<&'a str> {
    path.iter().copied().chain([key]).collect()
}

fn in_time(check: &mut Check<'_>, path: &[&str], key: &str, time: Time) -> bool {
    check.require(
        time > Time::ZERO && time <= MAX_TIME,
        &under(path, key),
        format!("{time} is out of range"),
        "write a time above 0s, up to 1h",
    )
}

fn jitter(check: &mut Check<'_>, path: &[&str], doc: &JitterDoc, delay: Time) -> Option<Jitter> {
    let (key, time, spread) = match (doc.uniform, doc.normal) {
        (Some(most), None) => ("uniform", most, Spread::Uniform(most)),
        (None, Some(deviation)) => ("normal", deviation, Spread::Normal(deviation)),
        (one, _) => {
            let what = if one.is_some() { "two distributions" } else { "no distribution" };
            let help = "write one of `uniform` and `normal`, as in { uniform = \"5ms\" }";
            check.refuse(path, what, help);
            return None;
        }
    };
    let sound = in_time(check, path, key, time)
        && check.require(
            matches!(spread, Spread::Normal(_)) || time <= delay,
            &under(path, key),
            format!("a delay cannot be {time} less than the link's, which is {delay}"),
            "write at most the delay of the link, or make that longer",
        );
    sound.then_some(Jitter { spread, order: doc.order })
}

fn batching(check: &mut Check<'_>, path: &[&str], doc: &BatchDoc) -> Option<Batching> {
    let packets = doc.packets.unwrap_or(u32::MAX);
    check.in_range(path, doc.out_of_range()).then_some(Batching { every: doc.every, packets })
}

fn medium(check: &mut Check<'_>, path: &[&str], doc: &Shared) -> Option<Shared> {
    let sound = check.require(
        !doc.name.trim().is_empty(),
        &under(path, "name"),
        "a medium needs a name",
        "write any word, the same at each port that shares it",
    );
    let sound = check.in_range(path, doc.out_of_range()) && sound;
    sound.then(|| doc.clone())
}

fn policing(check: &mut Check<'_>, path: &[&str], doc: &PoliceDoc) -> Option<Policing> {
    let sound = check.in_range(path, doc.out_of_range());
    sound.then_some(Policing { rate: doc.rate, burst: doc.burst.bytes() })
}
