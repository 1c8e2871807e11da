//! What a link does to packets besides carrying them: ranges and contradictions.

use tidegate_core::port::Batching;
use tidegate_core::units::Time;

use super::problems::Check;
use crate::document::PortDoc;
use crate::document::impairments::JitterDoc;
use crate::scenario::{Jitter, Policing, Port, Spread};

/// Puts the impairments of a port's link where the document wants them.
pub(super) fn apply(check: &mut Check<'_>, port: &mut Port, doc: &PortDoc) {
    let name = port.name.clone();
    let path = |key| ["port", name.as_str(), key];
    // a trace of delays says what is possible
    let delay = if doc.delay.is_some() { Time::NEVER } else { port.delay };
    let jitter = doc.jitter.as_ref();
    port.impairments.jitter = jitter.and_then(|doc| jittered(check, &path("jitter"), doc, delay));
    port.impairments.reorder = doc.reorder;
    (port.impairments.corrupt, port.impairments.duplicate) = (doc.corrupt, doc.duplicate);
    port.impairments.lifetime = doc.lifetime;
    let police = doc.police.as_ref();
    port.impairments.police =
        police.map(|doc| Policing { rate: doc.rate, burst: doc.burst.bytes() });
    let batch = doc.batch.as_ref();
    port.impairments.batching =
        batch.map(|doc| Batching { every: doc.every, packets: doc.packets.unwrap_or(u32::MAX) });
    if let Some(medium) = &doc.medium {
        let (what, help) =
            ("a medium needs a name", "write any word, the same at each port that shares it");
        let path = ["port", &name, "medium", "name"];
        check.require(!medium.name.trim().is_empty(), &path, what, help);
        port.impairments.medium = Some(medium.clone());
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

fn jittered(check: &mut Check<'_>, path: &[&str], doc: &JitterDoc, delay: Time) -> Option<Jitter> {
    let spread = match (doc.uniform, doc.normal) {
        (Some(most), None) => Spread::Uniform(most),
        (None, Some(deviation)) => Spread::Normal(deviation),
        (one, _) => {
            let what = if one.is_some() { "two distributions" } else { "no distribution" };
            let help = "write one of `uniform` and `normal`, as in { uniform = \"5ms\" }";
            check.refuse(path, what, help);
            return None;
        }
    };
    if let Spread::Uniform(most) = spread {
        check.require(
            most <= delay,
            &[path, &["uniform"]].concat(),
            format!("a delay cannot be {most} less than the link's, which is {delay}"),
            "write at most the delay of the link, or make that longer",
        );
    }
    Some(Jitter { spread, order: doc.order })
}
