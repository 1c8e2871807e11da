//! Traffic classes: arrivals, sizes, users.

use tidegate_core::law::settings::named;
use tidegate_core::units::{Size, Time};

use super::problems::Check;
use super::{amount, app, media, replay, tcp};
use crate::document::bound::{Bound, DelayedAck};
use crate::document::size::{Distribution, SizeDoc};
use crate::document::transport::QuicDoc;
use crate::document::{ArrivalsDoc, ClassDoc};
use crate::profile::Recovery;
use crate::registry::control::{TransportControl, TransportDoc};
use crate::scenario::{
    Arrivals, Class, Course, Direction, End, FlowSize, Misbehaviour, People, Quic, Transport, Udp,
};

/// Most listed arrivals.
const MAX_LISTED: usize = 1_000_000;

/// Between which hosts a class sends.
pub(super) struct HostPairs {
    /// Pairs of hosts, from the first to the second.
    pub pairs: Vec<(u16, u16)>,
    /// Which way data goes there, where the topology says so.
    pub way: Option<Direction>,
}

/// A checked class, unless something is wrong with its arrivals or its size.
pub(super) fn class(
    check: &mut Check<'_>,
    name: &str,
    doc: &mut ClassDoc,
    ends: HostPairs,
    duration: Time,
) -> Option<Class> {
    check.require(!name.is_empty(), &["traffic", ""], "a class needs a name", "name it");
    receiver(check, name, doc);
    let transport = match &mut doc.transport {
        TransportDoc::Tcp(tcp) => Transport::Tcp(tcp::effective(check, name, "tcp", tcp)),
        TransportDoc::Udp(_) => Transport::Udp(udp(check, name, doc)?),
        TransportDoc::Quic(doc) => Transport::Quic(quic(check, name, doc)),
        other => controlled(check, name, other)?,
    };
    let app = app::app(check, name, doc, &transport, duration);
    let (arrivals, size, direction) = if doc.flows.is_some() {
        let (flows, direction) = replay::flows(check, name, doc, ends.way)?;
        (Some(Arrivals::Replayed(flows)), Some(FlowSize::Replayed), direction)
    } else {
        replay::refuse_without_flows(check, name, doc);
        let direction = doc.direction.or(ends.way).unwrap_or_default();
        (arrivals(check, name, &mut doc.arrivals), size(check, name, doc), direction)
    };
    let opens = opener(doc);
    check.require(
        transport.tcp().is_none_or(|tcp| tcp.handshake)
            || (opens == End::Sender && doc.flows.is_none()),
        &["traffic", name, "transport"],
        "without a handshake only the end that sends the data can begin",
        "leave `handshake` true, or write opens = \"sender\" and `arrivals`",
    );
    Some(Class {
        name: name.to_owned(),
        arrivals: arrivals?,
        size: size?,
        app,
        transport,
        direction,
        opens,
        patience: doc.patience,
        clients: doc.clients,
        people: people(check, name, doc),
        opaque_share: doc.opaque_share,
        receiver: doc.receiver,
        pairs: ends.pairs,
    })
}

/// Which end opens the connections of a class.
pub(super) fn opener(doc: &ClassDoc) -> End {
    doc.opens.unwrap_or(doc.direction.map_or(End::Sender, Direction::users))
}

/// The people of a class.
fn people(check: &mut Check<'_>, name: &str, doc: &ClassDoc) -> Option<People> {
    let people = doc.people.as_ref()?;
    let what = "has no effect with `people`, who have an address each";
    check.require(doc.clients.is_none(), &["traffic", name, "clients"], what, "leave it out");
    let order = people.same.clone().unwrap_or_else(|| name.to_owned());
    Some(People { of: people.of, order })
}

/// How its receivers misbehave: not where it has no effect, or nothing would ever be complete.
fn receiver(check: &mut Check<'_>, name: &str, doc: &mut ClassDoc) {
    let Some(receiver) = doc.receiver else { return };
    let path = ["traffic", name, "receiver"];
    let tcp = match &mut doc.transport {
        TransportDoc::Tcp(tcp) => Some(tcp),
        other => other.control().map(|(_, tcp)| tcp),
    };
    match tcp {
        Some(tcp) => {
            if receiver != Misbehaviour::HiddenMarks {
                let delayed = tcp.delayed_ack.get_or_insert(DelayedAck::Usual(false));
                let what = "a receiver that wants more acknowledgements than is right delays none";
                check.require(
                    *delayed == DelayedAck::Usual(false),
                    &path,
                    what,
                    "leave `delayed_ack` out",
                );
            }
            // a window that no loss cuts ends at the buffer of the hosts: 700 kB of full segments
            if receiver.hides_losses() {
                tcp.window.get_or_insert(Bound(500));
            }
        }
        None => check.refuse(&path, "has an effect on receivers of TCP alone", "leave it out"),
    }
    check.require(
        !receiver.hides_losses() || !app::is_given(doc),
        &path,
        "what is lost is never sent again, so a video or a page would never be complete",
        "write \"split-acks\" or \"hidden-marks\", or flows with a `size`",
    );
}

/// A control other than TCP's own.
fn controlled(check: &mut Check<'_>, name: &str, doc: &mut TransportDoc) -> Option<Transport> {
    let (control, tcp) = doc.control()?;
    let given = match &control {
        TransportControl::Python(own) => Some(&own.name),
        TransportControl::Crate(theirs) => Some(&theirs.name),
        _ => None,
    };
    if let Some(given) = given
        && let Err((key, message)) = named(given)
    {
        check.refuse(&["traffic", name, "transport", control.name(), &key], message, "");
    }
    let habits = control.habits();
    if habits.explicit {
        // every acknowledgement carries what ports decided, and ports need exact round trips
        tcp.delayed_ack.get_or_insert(DelayedAck::Usual(false));
        tcp.timestamps.get_or_insert(true);
    }
    if habits.lossless && tcp.sack.is_none() {
        // repair must not slow down a rate that losses do not change
        tcp.recovery.get_or_insert(Recovery::Sack);
    }
    if !habits.as_tcp {
        tcp::plain_repair(tcp);
    }
    let tcp = tcp::effective(check, name, control.name(), tcp);
    Some(Transport::Controlled(tcp, control))
}

/// UDP: keys without effect are refused, defaults are spelled out.
fn udp(check: &mut Check<'_>, name: &str, doc: &mut ClassDoc) -> Option<Udp> {
    let path = |key| ["traffic", name, key];
    let what = "has no effect without a connection";
    check.require(doc.patience.is_none(), &path("patience"), what, "leave it out");
    check.require(doc.opens.is_none(), &path("opens"), what, "leave it out");
    if doc.flows.is_none() {
        doc.size.get_or_insert(SizeDoc(Distribution::Unlimited));
    }
    let TransportDoc::Udp(udp) = &mut doc.transport else { return None };
    let media = media::media(check, name, udp);
    let path = |key| ["traffic", name, "transport", "udp", key];
    let mut burst = None;
    if let Some(doc) = &udp.burst {
        let bytes = udp.packet.bytes().saturating_mul(u64::from(doc.packets));
        let takes = Size::from_bytes(bytes) / udp.rate;
        let what = format!("{} packets take {takes}, longer than {}", doc.packets, doc.every);
        check.require(takes <= doc.every, &path("burst"), what, "write a longer `every`");
        burst = Some((doc.packets, doc.every));
    }
    let on_off = udp.on_off.as_ref().map(|doc| {
        let what = "has no effect with `on_off`";
        check.require(burst.is_none(), &path("burst"), what, "leave one of the two out");
        let path = |key| ["traffic", name, "transport", "udp", "on_off", key];
        let mut time = |key, doc| {
            let help = "write a mean time from 1us to 24h";
            amount::amount(check, &path(key), doc, 1e-6..=86_400.0, help)
        };
        (time("on", &doc.on), time("off", &doc.off))
    });
    let packet = udp.packet.bytes() as u32;
    Some(Udp { rate: udp.rate, packet, burst, on_off, ecn: udp.ecn, media })
}

/// QUIC: RFC 9000, 14 asks for datagrams of 1200 bytes at least.
fn quic(check: &mut Check<'_>, name: &str, doc: &QuicDoc) -> Quic {
    let path = |key| ["traffic", name, "transport", "quic", key];
    let what = "a stack needs a name";
    check.require(!doc.stack.is_empty(), &path("stack"), what, "write \"quinn\"");
    let packet = doc.packet.bytes() as u16;
    Quic { stack: doc.stack.clone(), control: doc.control, crypto: doc.crypto, packet }
}

fn missing(check: &mut Check<'_>, name: &str, key: &str) {
    if let Some(help) = check.invented(name) {
        let what = format!("the document has no traffic class `{name}`");
        return check.refuse(&["traffic", name], what, help);
    }
    let what = format!("the key `{key}` is missing");
    let help = format!("add `{key} = ...`, or replay flows: `flows = \"capture.pcap\"`");
    check.refuse(&["traffic", name], what, help);
}

/// The flows per second of one flow every `spacing`.
pub(super) fn per_s(spacing: Time) -> f64 {
    1e12 / spacing.ps() as f64
}

fn arrivals(check: &mut Check<'_>, name: &str, doc: &mut Option<ArrivalsDoc>) -> Option<Arrivals> {
    let Some(doc) = doc else {
        missing(check, name, "arrivals");
        return None;
    };
    let path = |key| ["traffic", name, "arrivals", key];
    let kind = kind(check, name, doc)?;
    let (start, stop) = (doc.start.unwrap_or(Time::ZERO), doc.stop.unwrap_or(Time::NEVER));
    if matches!(kind, "poisson" | "every") {
        let what = format!("arrivals that stop at {stop} cannot start at {start}");
        check.require(start < stop, &path("stop"), what, "write a stop after the start");
        doc.start = Some(start);
    }
    if let Some(rate) = doc.poisson {
        return Some(Arrivals::Poisson { rate: Course::constant(rate.get()), start, stop });
    }
    if let Some(spacing) = doc.every {
        return Some(Arrivals::Every { rate: Course::constant(per_s(spacing)), start, stop });
    }
    if let Some(at) = &mut doc.at {
        let what = format!("{} arrivals are too many", at.len());
        check.require(at.len() <= MAX_LISTED, &path("at"), what, "list up to 1000000");
        at.sort_unstable();
        return Some(Arrivals::At(at.clone()));
    }
    let flows = doc.uniform?;
    let Some(within) = doc.within else {
        let help = "add `within = \"1s\"`: the span of the starts";
        check.refuse(&path("within")[..3], "the key `within` is missing", help);
        return None;
    };
    Some(Arrivals::Uniform { flows, within })
}

/// The one process that is given; refuses keys that have no effect with it.
fn kind(check: &mut Check<'_>, name: &str, doc: &ArrivalsDoc) -> Option<&'static str> {
    let path = |key| ["traffic", name, "arrivals", key];
    let kinds = [
        ("poisson", doc.poisson.is_some()),
        ("every", doc.every.is_some()),
        ("at", doc.at.is_some()),
        ("uniform", doc.uniform.is_some()),
    ];
    let mut given = kinds.iter().filter(|(_, given)| *given).map(|(kind, _)| *kind);
    let Some(kind) = given.next() else {
        let help = "write one of poisson, every, at and uniform, as in { poisson = \"1000/s\" }";
        check.refuse(&path("")[..3], "there is no process", help);
        return None;
    };
    if let Some(second) = given.next() {
        let what = format!("`{kind}` and `{second}` cannot both be given");
        check.refuse(&path(second), what, "leave one of them out");
        return None;
    }
    let process = matches!(kind, "poisson" | "every");
    for (key, wrong) in [
        ("start", doc.start.is_some() && !process),
        ("stop", doc.stop.is_some() && !process),
        ("within", doc.within.is_some() && kind != "uniform"),
    ] {
        let what = format!("has no effect with `{kind}`");
        check.require(!wrong, &path(key), what, "leave it out");
    }
    Some(kind)
}

fn size(check: &mut Check<'_>, name: &str, doc: &ClassDoc) -> Option<FlowSize> {
    let Some(size) = &doc.size else {
        missing(check, name, "size");
        return None;
    };
    if size.0 == Distribution::Unlimited {
        return Some(FlowSize::Unlimited { stop: doc.stop.unwrap_or(Time::NEVER) });
    }
    let (shape, mean) = amount::size(check, &["traffic", name, "size"], size)?;
    check.require(
        doc.stop.is_none(),
        &["traffic", name, "stop"],
        "only flows of unlimited size stop",
        "leave it out, or stop the arrivals: arrivals = { ..., stop = \"50s\" }",
    );
    Some(FlowSize::Drawn { shape, mean: Course::constant(mean) })
}
