//! Checks a typed document and converts it into a [`Scenario`]: defaults, ranges, contradictions.
//!
//! All problems are reported together. The returned document has all defaults filled in.

mod amount;
pub(crate) mod app;
mod cdf;
mod change;
mod free;
mod guests;
mod impairments;
mod media;
mod network;
mod pages;
mod problems;
mod replay;
mod route;
mod series;
mod tcp;
mod trace;
mod traffic;
mod video;

use std::collections::BTreeMap;

use crate::Report;
use crate::document::{Document, PortDoc};
use crate::paths;
use crate::registry::law::filter::FilterLaw;
use crate::registry::law::stamp::StampLaw;
use crate::registry::law::{Gate, GateLaw};
use crate::scenario::{Class, LinkChange, Network, Port, Scenario};
use crate::text::report::Problem;
use crate::text::tree::{Node, Tree};
use problems::{Check, MAX_PROBLEMS, MAX_ROWS};

/// Most traffic classes.
const MAX_CLASSES: usize = 250;
pub(crate) use problems::Files;
pub(crate) use trace::is_shipped;

/// Reads the typed document out of the tree, without what is out of range, and says what that is.
pub(crate) fn document(tree: &Tree) -> Result<(Document, Vec<Problem>), Report> {
    let (document, problems) = tree.root.clone().decode_all(MAX_PROBLEMS);
    match document {
        Some(document) => Ok((document, problems)),
        None => Err(Report::new(problems, &tree.texts)),
    }
}

/// Whether a root has the form of a document.
pub(crate) fn fits(root: Node) -> Result<(), Problem> {
    root.decode::<Document>().map(drop)
}

/// Checks a document; returns the scenario, and the document with all defaults filled in.
pub(crate) fn scenario(
    tree: &Tree,
    (mut document, problems): (Document, Vec<Problem>),
    files: &Files,
) -> Result<(Scenario, Document), Report> {
    let mut check = Check { root: &tree.root, files, texts: tree.texts.clone(), problems };
    let named = !document.name.trim().is_empty();
    check.require(named, &["name"], "a scenario needs a name", "write what it is called");
    times(&mut check, &document);
    guests::expand(&mut check, &mut document);
    let classes = document.traffic.len();
    let few = check.require(
        (1..=MAX_CLASSES).contains(&classes),
        &["traffic"],
        format!("{classes} traffic classes are out of range"),
        &format!("write 1 to {MAX_CLASSES} tables `[traffic.NAME]`, or `[guests]`"),
    );
    let layout = network::layout(&mut check, &mut document.topology);
    let Some(mut layout) = layout.filter(|_| few) else {
        return Err(Report::new(check.problems, &check.texts));
    };
    let mut traffic = Vec::new();
    for (name, class) in &mut document.traffic {
        let named = !name.trim().is_empty();
        check.require(named, &["traffic", name], "a class needs a name", "write [traffic.NAME]");
        app::prepare(class);
        let (pairs, way) = layout.pairs(&mut check, name, class);
        let ends = traffic::HostPairs { pairs, way };
        traffic.extend(traffic::class(&mut check, name, class, ends, document.duration));
    }
    let mut network = layout.network();
    route::apply(&mut check, &document.topology, &document.route, &mut network, &traffic);
    ports(&mut check, &mut document, &mut network.ports);
    ingress(&mut check, &network);
    if check.problems.is_empty() {
        openers(&mut document, &mut network, &traffic);
    }
    rows(&mut check, &document, &network.ports);
    let series = series::series(&mut check, &mut document, &network.ports);
    // changes look their class up by its place: only if all classes stand
    let mut link_changes = Vec::new();
    if check.problems.is_empty() {
        link_changes =
            change::apply(&mut check, &document.change, &mut traffic, &mut network.ports);
        traces(&mut check, &document, &mut network.ports, &mut link_changes);
    }
    let scenario = Scenario {
        name: document.name.clone(),
        duration: document.duration,
        warmup: document.warmup,
        sample: document.sample,
        sample_access: document.sample_access,
        series,
        network,
        traffic,
        changes: link_changes,
    };
    check.finish((scenario, document))
}

/// Lets capacities and delays follow their traces.
fn traces(
    check: &mut Check<'_>,
    document: &Document,
    ports: &mut [Port],
    changes: &mut Vec<LinkChange>,
) {
    for (number, port) in (0..).zip(ports) {
        if let Some(doc) = document.port.get(&port.name) {
            trace::apply(check, (number, port), doc, document.duration, changes);
        }
    }
    changes.sort_by_key(|change| (change.at, change.port));
}

fn times(check: &mut Check<'_>, document: &Document) {
    let Document { duration, warmup, .. } = *document;
    check.require(
        warmup < duration,
        &["warmup"],
        format!("a warm-up of {warmup} leaves nothing of the duration of {duration}"),
        "write a warm-up shorter than the duration",
    );
}

/// Bounds the memory of the `ports` table.
fn rows(check: &mut Check<'_>, document: &Document, ports: &[Port]) {
    let sample = document.sample;
    let sampled = ports.iter().filter(|port| !port.access || document.sample_access).count() as u64;
    let intervals = document.duration.ps() / sample.ps() + 1;
    check.require(
        intervals.saturating_mul(sampled) <= MAX_ROWS,
        &["sample"],
        format!("{intervals} intervals of {sample} at {sampled} ports make too many rows"),
        &format!("at most {MAX_ROWS} rows fit: write a longer `sample`, or fewer ports"),
    );
}

/// Puts the laws of the document at their ports, and defaults at the others.
fn ports(check: &mut Check<'_>, document: &mut Document, ports: &mut [Port]) {
    let places: BTreeMap<String, usize> =
        ports.iter().enumerate().map(|(at, port)| (port.name.clone(), at)).collect();
    for (name, doc) in &document.port {
        let Some(port) = places.get(name).and_then(|&at| ports.get_mut(at)) else {
            if check.full() {
                return;
            }
            let mut known: Vec<&str> =
                ports.iter().filter(|port| !port.access).map(|port| port.name.as_str()).collect();
            known.extend(ports.iter().filter(|port| port.access).map(|port| port.name.as_str()));
            check.unknown(&["port", name], name, &known, "ports");
            continue;
        };
        control(check, port, doc);
    }
    impairments::shared(check, ports);
    for port in ports.iter().filter(|port| !port.access) {
        document.port.entry(port.name.clone()).or_default();
    }
}

fn control(check: &mut Check<'_>, port: &mut Port, doc: &PortDoc) {
    port.record = doc.record;
    impairments::apply(check, port, doc);
    let gate = (doc.gate.law != GateLaw::default()).then_some(&doc.gate);
    for (stage, wrong) in [
        ("queue", doc.queue.check(port.link())),
        ("filter", doc.filter.check()),
        ("stamp", doc.stamp.check()),
        ("gate", gate.map_or(Ok(()), Gate::check)),
    ] {
        if let Err((field, message)) = wrong {
            let path = ["port", port.name.as_str(), stage].into_iter().chain(field.split('.'));
            check.refuse(&path.collect::<Vec<_>>(), message, "");
        }
    }
    port.queue = doc.queue.clone();
    port.filter = (doc.filter != FilterLaw::default()).then(|| doc.filter.clone());
    port.stamp = (doc.stamp != StampLaw::default()).then(|| doc.stamp.clone());
    port.gate = gate.cloned();
}

/// Checks that something can come in where a gate or a queue looks at it.
fn ingress(check: &mut Check<'_>, network: &Network) {
    for (number, port) in (0..).zip(&network.ports) {
        if port.looks_at_ingress() && network.reverse(number).is_none() {
            let what = "this link has one direction, and nothing comes in by the other one";
            let (key, help) = match port.queue_looks_at_ingress() {
                true => ("queue", "leave `refuse_at` out"),
                false => ("gate", "write ends_of = \"sender\", and leave `refuse_at` out"),
            };
            check.refuse(&["port", &port.name, key], what, help);
        }
    }
}

/// Where the document leaves open which packet opens a session at a gate, takes it from the traffic
/// that crosses the gate, and fills it in.
fn openers(document: &mut Document, network: &mut Network, traffic: &[Class]) {
    let mut known = None;
    let gated = (0..).zip(&network.ports).filter(|(_, port)| port.gate.is_some());
    let gated: Vec<(usize, String)> = gated.map(|(at, port)| (at, port.name.clone())).collect();
    for (number, name) in gated {
        let Some(doc) = document.port.get_mut(&name) else { continue };
        let opener = doc.gate.written_opener().unwrap_or_else(|| {
            let paths = known.get_or_insert_with(|| paths::of(network, traffic));
            paths::opener(paths, number as u32)
        });
        doc.gate.open_by(opener);
        network.ports[number].gate = Some(doc.gate.clone());
    }
}
