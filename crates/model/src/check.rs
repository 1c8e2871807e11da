//! Checks a typed document and converts it into a [`Scenario`]: defaults, ranges, contradictions.
//!
//! All problems are reported together. The returned document has all defaults filled in.

mod amount;
pub(crate) mod app;
mod cdf;
mod change;
mod control;
mod free;
mod impairments;
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

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::law::session::Limiter;
use tidegate_core::law::settings::{Refused, within, within_time};
use tidegate_core::units::Time;

use crate::Report;
use crate::document::{Document, PortDoc};
use crate::law::GateLaw;
use crate::law::filter::FilterLaw;
use crate::law::stamp::StampLaw;
use crate::paths;
use crate::report::{Place, Problem};
use crate::scenario::{Class, Gate, LinkChange, Network, Port, Scenario};
use crate::tree::{Entry, Node, Table, Tree, Value};
use problems::{Check, MAX_ROWS};

/// Longest duration of a scenario.
const MAX_DURATION: Time = Time::from_secs(30 * 86_400);
/// Most traffic classes.
const MAX_CLASSES: usize = 250;
pub(crate) use problems::Files;
pub(crate) use trace::is_shipped;

/// Reads the typed document out of the tree.
pub(crate) fn document(tree: &Tree) -> Result<Document, Report> {
    typed(tree.root.clone()).map_err(|problem| Report::new(vec![problem], &tree.texts))
}

/// Reads the typed document out of its root.
pub(crate) fn typed(mut root: Node) -> Result<Document, Problem> {
    rearrange(&mut root);
    root.decode()
}

/// Moves the settings of each law one level down, under the law's name, so that their types can be
/// distinguished: `{ law = "x", a = 1 }` becomes `{ law = { x = { a = 1 } } }`.
fn rearrange(root: &mut Node) {
    if let Some(traffic) = root.table_mut().and_then(|table| entry_mut(table, "traffic"))
        && let Some(classes) = traffic.value.table_mut()
    {
        for class in &mut classes.entries {
            let transport = class.value.table_mut().and_then(|class| entry_mut(class, "transport"));
            if let Some(transport) = transport {
                control::spread(&mut transport.value);
            }
            let video = class.value.table_mut().and_then(|class| entry_mut(class, "video"));
            let video = video.and_then(|video| video.value.table_mut());
            if let Some(rule) = video.and_then(|video| entry_mut(video, "rule")) {
                nest(&mut rule.value, |_| false, &["law"]);
            }
        }
    }
    let Some(port) = root.table_mut().and_then(|table| entry_mut(table, "port")) else {
        return;
    };
    let Some(ports) = port.value.table_mut() else {
        return;
    };
    for port in &mut ports.entries {
        let Some(stages) = port.value.table_mut() else {
            continue;
        };
        if let Some(gate) = entry_mut(stages, "gate") {
            let also =
                &["law", "admit", "opener", "refuse", "charge", "quic", "onset", "tokens_keep"];
            let shared = &also[2..];
            nest(&mut gate.value, |e| shared.contains(&e.key.as_str()) || names_opener(e), also);
        }
        if let Some(queue) = entry_mut(stages, "queue") {
            nest_queue(&mut queue.value);
        }
        for stage in ["filter", "stamp"] {
            if let Some(stage) = entry_mut(stages, stage) {
                nest(&mut stage.value, |_| false, &["law"]);
            }
        }
    }
}

/// See [`rearrange`]; a queue can be nested in another one (`over`).
fn nest_queue(queue: &mut Node) {
    if let Some(over) = queue.table_mut().and_then(|table| entry_mut(table, "over")) {
        nest_queue(&mut over.value);
    }
    nest(queue, |_| false, &["law"]);
}

fn entry_mut<'a>(table: &'a mut Table, key: &str) -> Option<&'a mut Entry> {
    table.entries.iter_mut().find(|entry| entry.key == key)
}

/// Whether `admit` of a gate says which packet opens a session, and not whom the law admits.
fn names_opener(entry: &Entry) -> bool {
    let of_the_law = ["clients", "connections"];
    let said =
        matches!(&entry.value.value, Value::String(text) if of_the_law.contains(&text.as_str()));
    entry.key == "admit" && !said
}

/// See [`rearrange`]; the keys that are `shared` stay where they are.
fn nest(stage: &mut Node, shared: impl Fn(&Entry) -> bool, also: &'static [&'static str]) {
    let Some(table) = stage.table_mut() else {
        return;
    };
    let Some(mut law) = table.remove("law") else {
        // without a law its settings cannot be checked
        table.entries.clear();
        return;
    };
    let Value::String(name) = &law.value.value else {
        table.entries.push(law);
        return;
    };
    let (kept, settings) = std::mem::take(&mut table.entries).into_iter().partition(shared);
    table.entries = kept;
    let place: Place = law.value.place.clone();
    let settings = Table { entries: settings, also };
    let choice = Entry {
        key: name.clone(),
        place: place.clone(),
        value: Node { place: stage.place.clone(), value: Value::Table(settings) },
        hidden: true,
    };
    law.hidden = true;
    law.value = Node { place, value: Value::Table(Table { entries: vec![choice], also: &[] }) };
    if let Some(table) = stage.table_mut() {
        table.entries.push(law);
    }
}

/// Checks a document; returns the scenario, and the document with all defaults filled in.
pub(crate) fn scenario(
    tree: &Tree,
    mut document: Document,
    files: &Files,
) -> Result<(Scenario, Document), Report> {
    let mut check =
        Check { root: &tree.root, files, texts: tree.texts.clone(), problems: Vec::new() };
    let named = !document.name.trim().is_empty();
    check.require(named, &["name"], "a scenario needs a name", "write what it is called");
    times(&mut check, &document);
    let classes = document.traffic.0.len();
    let few = check.require(
        (1..=MAX_CLASSES).contains(&classes),
        &["traffic"],
        format!("{classes} traffic classes are out of range"),
        &format!("write 1 to {MAX_CLASSES} tables `[traffic.NAME]`"),
    );
    let layout = network::layout(&mut check, &mut document.topology);
    let Some(mut layout) = layout.filter(|_| few) else {
        return Err(Report::new(check.problems, &check.texts));
    };
    let mut traffic = Vec::new();
    for (name, class) in &mut document.traffic.0 {
        let named = !name.trim().is_empty();
        check.require(named, &["traffic", name], "a class needs a name", "write [traffic.NAME]");
        let pairs = layout.pairs(&mut check, name, class);
        traffic.extend(traffic::class(&mut check, name, class, pairs, document.duration));
    }
    let mut network = layout.network();
    route::apply(&mut check, &document.topology, &document.route, &mut network, &traffic);
    ports(&mut check, &mut document, &mut network.ports);
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
        let doc = document.port.0.iter().find(|(name, _)| *name == port.name);
        if let Some((_, doc)) = doc {
            trace::apply(check, (number, port), doc, document.duration, changes);
        }
    }
    changes.sort_by_key(|change| (change.at, change.port));
}

fn times(check: &mut Check<'_>, document: &Document) {
    let Document { duration, warmup, .. } = *document;
    check.require(
        duration > Time::ZERO && duration <= MAX_DURATION,
        &["duration"],
        format!("{duration} is out of range"),
        "write a time above 0s, up to 720h",
    );
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
    if !check.require(
        sample > Time::ZERO,
        &["sample"],
        "0s is out of range",
        "write a time above 0s",
    ) {
        return;
    }
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
    for (name, doc) in &document.port.0 {
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
    let given: BTreeSet<String> = document.port.0.iter().map(|(name, _)| name.clone()).collect();
    for port in ports.iter().filter(|port| !port.access && !given.contains(&port.name)) {
        document.port.0.push((port.name.clone(), PortDoc::default()));
    }
}

fn control(check: &mut Check<'_>, port: &mut Port, doc: &PortDoc) {
    check.in_range(&["port", &port.name], doc.out_of_range());
    port.record = doc.record;
    impairments::apply(check, port, doc);
    let mut refuse = |stage, (field, message): Refused| {
        let mut path = vec!["port", port.name.as_str(), stage];
        path.extend(field.split('.'));
        check.refuse(&path, message, "");
    };
    if let Err(problem) = doc.queue.law.check(port.link()) {
        refuse("queue", problem);
    }
    port.queue = (*doc.queue.law).clone();
    let law = doc.filter.law.clone();
    if let Err(problem) = law.check() {
        refuse("filter", problem);
    }
    port.filter = (law != FilterLaw::default()).then_some(law);
    let law = doc.stamp.law.clone();
    if let Err(problem) = law.check() {
        refuse("stamp", problem);
    }
    port.stamp = (law != StampLaw::default()).then_some(law);
    let law = doc.gate.law.clone();
    if law == GateLaw::default() {
        return;
    }
    if let Err(problem) = law.check() {
        refuse("gate", problem);
    }
    if let Some(Err((field, what))) = doc.gate.quic.map(|quic| quic.check()) {
        refuse("gate", (format!("quic.{field}").into(), what));
    }
    let onset = doc.gate.onset;
    if let Err(problem) = within_time("onset", onset, Time::ZERO, Time::from_secs(60)) {
        refuse("gate", problem);
    }
    let tokens_keep = doc.gate.tokens_keep;
    if let Err(problem) = within("tokens_keep", tokens_keep, 0.0, 60.0) {
        refuse("gate", problem);
    }
    if tokens_keep > 0.0 && law.limiter() != Limiter::TokenBucket {
        let what =
            "only a token bucket keeps tokens for so long: write `limiter = \"token-bucket\"`";
        refuse("gate", ("tokens_keep".into(), what.to_owned()));
    }
    // left open: `openers` decides
    let admit = doc.gate.admit.unwrap_or_default();
    let (refuse, charge, quic) = (doc.gate.refuse, doc.gate.charge, doc.gate.quic);
    port.gate = Some(Gate { law, admit, refuse, charge, quic, onset, tokens_keep });
}

/// Where the document leaves open which packet opens a session at a gate, takes it from the traffic
/// that crosses the gate, and fills it in.
fn openers(document: &mut Document, network: &mut Network, traffic: &[Class]) {
    let mut known = None;
    for (name, doc) in &mut document.port.0 {
        if doc.gate.law == GateLaw::default() || doc.gate.admit.is_some() {
            continue;
        }
        let Some(port) = network.ports.iter().position(|port| port.name == *name) else {
            continue;
        };
        let paths = known.get_or_insert_with(|| paths::of(network, traffic));
        let admit = paths::opener(paths, port as u32);
        doc.gate.admit = Some(admit);
        if let Some(gate) = &mut network.ports[port].gate {
            gate.admit = admit;
        }
    }
}
