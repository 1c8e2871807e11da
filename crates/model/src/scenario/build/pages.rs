//! Pages: how many objects, over which connections, and which keys have no effect with them.

use tidegate_core::units::Time;

use super::amount;
use super::problems::Check;
use crate::document::ClassDoc;
use crate::document::bound::PageCount;
use crate::document::pages::{at_once, request};
use crate::document::size::{Distribution, SizeDoc};
use crate::scenario::{Amount, Direction, Pages, Transport};

/// Most objects of a page.
const MOST_OBJECTS: f64 = 10_000.0;
/// Connections of a browser to one host by HTTP/1.1.
const USUAL_CONNECTIONS: u32 = 6;
/// Longest time of a server, and longest mean time between two pages, in seconds.
const LONGEST: f64 = 86_400.0;

/// Sets the defaults of a class of pages; called before the rest of the class is checked.
pub(super) fn prepare(doc: &mut ClassDoc) {
    if doc.pages.is_some() && doc.flows.is_none() {
        doc.direction.get_or_insert(Direction::Download);
    }
}

/// The checked pages of a class, if it has any; how long the run lasts does not matter.
pub(super) fn pages(
    check: &mut Check<'_>,
    name: &str,
    doc: &mut ClassDoc,
    transport: &Transport,
    _: Time,
) -> Option<Pages> {
    without_effect(check, name, doc, transport);
    let doc = doc.pages.as_mut()?;
    let path = |key| ["traffic", name, "pages", key];
    let objects = amount::amount(
        check,
        &path("objects"),
        &doc.objects,
        1.0..=MOST_OBJECTS,
        "write a mean number from 1 to 10000",
    );
    let document = match &doc.document {
        Some(size) => Some(document(check, &path("document"), size)?),
        None => None,
    };
    let quic = matches!(transport, Transport::Quic(_));
    let connections = *doc.connections.get_or_insert(if quic { 1 } else { USUAL_CONNECTIONS });
    let usual = if connections == 1 && doc.persistent { 100 } else { 1 };
    let concurrent = *doc.concurrent.get_or_insert(usual);
    let PageCount(count) = doc.count;
    check.require(
        doc.persistent || concurrent == 1,
        &path("concurrent"),
        "without persistent connections each request has a connection of its own",
        "leave it out, or write persistent = true",
    );
    let times = |check: &mut Check<'_>, key, doc| {
        amount::amount(check, &path(key), doc, 0.0..=LONGEST, "write a mean time from 0s to 24h")
    };
    let server = times(check, "server", &doc.server);
    let think = times(check, "think", &doc.think);
    let payload = transport.payload();
    let request = doc.request.bytes();
    check.require(
        (1..=u64::from(payload)).contains(&request),
        &path("request"),
        format!("a request of {} is out of range", doc.request),
        &format!("write a size from 1B to {payload}B, what one packet holds"),
    );
    Some(Pages {
        objects,
        document,
        connections,
        concurrent,
        persistent: doc.persistent,
        cancels: doc.cancels,
        request: request.clamp(1, payload.into()) as u32,
        server,
        count,
        think,
    })
}

/// The size of a document.
fn document(check: &mut Check<'_>, path: &[&str], doc: &SizeDoc) -> Option<Amount> {
    let endless = doc.0 == Distribution::Unlimited;
    let what = "a page with a document without end is never loaded";
    check.require(!endless, path, what, "write a size or a distribution, as in \"50kB\"");
    amount::size(check, path, doc).map(|(shape, mean)| Amount { shape, mean })
}

/// Keys and transports that have no effect with pages.
fn without_effect(check: &mut Check<'_>, name: &str, doc: &ClassDoc, transport: &Transport) {
    if doc.pages.is_none() {
        return;
    }
    let path = |key| ["traffic", name, key];
    let served = doc.direction.map(Direction::users) != doc.opens && doc.opens.is_some();
    let endless = matches!(&doc.size, Some(SizeDoc(Distribution::Unlimited)));
    for (key, wrong, help) in [
        ("size", endless, "write the size of an object, or a distribution of it"),
        ("video", doc.video.is_some(), "leave one of the two out"),
        ("flows", doc.flows.is_some(), "leave one of the two out"),
        ("stop", doc.stop.is_some(), "write `count` into `pages`: how many a user loads"),
        ("opens", served, "leave it out: users open connections"),
    ] {
        check.require(!wrong, &path(key), "has no effect with `pages`", help);
    }
    let upload = doc.direction == Some(Direction::Upload);
    if let Some(pages) = doc.pages.as_ref().filter(|_| upload) {
        let path = |key| ["traffic", name, "pages", key];
        let what = "has no effect where users send the objects";
        check.require(pages.request == request(), &path("request"), what, "leave it out");
        check.require(pages.server == at_once(), &path("server"), what, "leave it out");
    }
    let quic = matches!(transport, Transport::Quic(_));
    check.require(
        transport.opens_connections() || quic,
        &path("transport"),
        "pages are fetched over connections, which the user opens",
        "write tcp, quic or a transport with a control of its own, as \"qfcp\", with its handshake",
    );
}
