//! What a link does to packets besides carrying them: ranges and contradictions.

use tidegate_core::law::settings::number;
use tidegate_core::port::Batching;
use tidegate_core::units::Time;

use super::problems::Check;
use crate::document::PortDoc;
use crate::document::impairments::{BatchDoc, JitterDoc, PoliceDoc, ReorderDoc};
use crate::scenario::{Jitter, Policing, Port, Reorder, Spread};

/// Longest time of any impairment.
const MAX_TIME: Time = Time::from_secs(3600);
/// Most packets of a batch.
const MAX_BATCH: u32 = 1_000_000;

/// Puts the impairments of a port's link where the document wants them.
pub(super) fn apply(check: &mut Check<'_>, port: &mut Port, doc: &PortDoc) {
    let name = port.name.clone();
    let path = |key| ["port", name.as_str(), key];
    if let Some(doc) = &doc.jitter {
        port.impairments.jitter = jitter(check, &path("jitter"), doc, port.delay);
    }
    if let Some(doc) = &doc.reorder {
        port.impairments.reorder = reorder(check, &path("reorder"), doc);
    }
    if let Some(doc) = &doc.police {
        port.impairments.police = policing(check, &path("police"), doc);
    }
    if let Some(doc) = &doc.batch {
        port.impairments.batching = batching(check, &path("batch"), doc);
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

fn reorder(check: &mut Check<'_>, path: &[&str], doc: &ReorderDoc) -> Option<Reorder> {
    let sound = check.require(
        (0.0..=1.0).contains(&doc.share),
        &under(path, "share"),
        format!("{} is out of range", number(doc.share)),
        "write a share from 0 to 1",
    );
    let sound = in_time(check, path, "by", doc.by) && sound;
    sound.then_some(Reorder { share: doc.share, by: doc.by })
}

fn batching(check: &mut Check<'_>, path: &[&str], doc: &BatchDoc) -> Option<Batching> {
    let packets = doc.packets.unwrap_or(u32::MAX);
    let sound = check.require(
        doc.packets.is_none_or(|packets| (1..=MAX_BATCH).contains(&packets)),
        &under(path, "packets"),
        format!("{packets} is out of range"),
        "write 1 to 1000000 packets",
    );
    let sound = in_time(check, path, "every", doc.every) && sound;
    sound.then_some(Batching { every: doc.every, packets })
}

fn policing(check: &mut Check<'_>, path: &[&str], doc: &PoliceDoc) -> Option<Policing> {
    let mut sound = check.require(
        (1_000..=1_000_000_000_000).contains(&doc.rate.bps()),
        &under(path, "rate"),
        format!("{} is out of range", doc.rate),
        "write a rate from 1kbit to 1Tbit",
    );
    let burst = doc.burst.bytes();
    sound &= check.require(
        (1_500..=1_000_000_000_000).contains(&burst),
        &under(path, "burst"),
        format!("{burst} bytes are out of range"),
        "write at least a full packet, 1500B, up to 1000GB",
    );
    sound.then_some(Policing { rate: doc.rate, burst })
}
