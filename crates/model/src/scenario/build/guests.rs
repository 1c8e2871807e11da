//! Guests: what people do becomes classes of traffic.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::problems::Check;
use crate::document::guests::{GuestsDoc, PeopleDoc};
use crate::document::{ArrivalsDoc, ClassDoc, Document, Named, Topology};
use crate::registry::control::TransportDoc;
use crate::scenario::Direction;
use crate::text::tree;
use tidegate_core::units::Frequency;

/// Pairs of hosts where nobody says how many.
const USUAL_PAIRS: u32 = 10;

/// Shares of the people, by what they do.
type Shares = BTreeMap<String, f64>;

/// The file `guests.toml`.
#[derive(Deserialize)]
struct Habits {
    place: BTreeMap<String, Shares>,
    /// For each thing that people do the classes that it becomes.
    kind: Named<Named<ClassDoc>>,
}

/// Puts classes in the place of guests, and fills in how many pairs of hosts there are: each guest
/// has one.
pub(super) fn expand(check: &mut Check<'_>, document: &mut Document) {
    let guests = document.guests.take();
    let pairs = guests.as_ref().map(|guests| guests.people);
    match &mut document.topology {
        Topology::Dumbbell(dumbbell) => {
            dumbbell.pairs.get_or_insert(pairs.unwrap_or(USUAL_PAIRS));
        }
        Topology::Tandem(tandem) => {
            tandem.pairs.get_or_insert(pairs.unwrap_or(1));
        }
        Topology::Links(_) => {}
    }
    let Some(guests) = guests else { return };
    nodes(check, document, &guests);
    for (kind, share, classes) in doing(&guests) {
        let many = (f64::from(guests.people) * share).round().max(1.0) as u32;
        for (name, class) in classes.into_iter().filter(|_| share > 0.0) {
            let help = format!("give yours another name, or write {kind} = 0 into [guests]");
            let free = !document.traffic.contains_key(&name);
            check.require(free, &["traffic", &name], "guests make a class of this name", &help);
            document.traffic.entry(name).or_insert_with(|| with(class, &guests, many));
        }
    }
}

/// What guests do, which share of them does it, and the classes that it becomes.
fn doing(guests: &GuestsDoc) -> Vec<(String, f64, Named<ClassDoc>)> {
    let root = tree::toml_text(include_str!("../../guests.toml"), 0).ok();
    let habits: Option<Habits> = root.and_then(|root| root.decode().ok());
    let mut habits = habits.expect("guests.toml can be read");
    let shares = habits.place.remove(guests.place.name()).unwrap_or_default();
    let share = |kind: &str| {
        let written = match kind {
            "pages" => guests.pages,
            "video" => guests.video,
            "calls" => guests.calls,
            "meetings" => guests.meetings,
            "updates" => guests.updates,
            _ => guests.photos,
        };
        written.or_else(|| shares.get(kind).copied()).unwrap_or(0.0)
    };
    habits
        .kind
        .into_iter()
        .map(|(kind, classes)| (share(&kind), kind, classes))
        .map(|(share, kind, classes)| (kind, share, classes))
        .collect()
}

/// A class of so many of the guests.
fn with(mut class: ClassDoc, guests: &GuestsDoc, many: u32) -> ClassDoc {
    let each = class.arrivals.as_ref().and_then(|arrivals| arrivals.poisson);
    let nothing = ArrivalsDoc {
        poisson: None,
        every: None,
        at: None,
        uniform: None,
        within: None,
        start: None,
        stop: None,
    };
    class.arrivals = Some(match each {
        Some(rate) => {
            ArrivalsDoc { poisson: Some(Frequency::per_s(rate.get() * f64::from(many))), ..nothing }
        }
        None => ArrivalsDoc { uniform: Some(many), within: Some(guests.begin), ..nothing },
    });
    let same = class.people.take().and_then(|people| people.same);
    class.people = Some(PeopleDoc { of: guests.people, same });
    if !matches!(class.transport, TransportDoc::Udp(_)) {
        class.transport = guests.transport.clone().unwrap_or_else(usual);
    }
    let (from, to) = match class.direction {
        Some(Direction::Upload) => (&guests.users, &guests.servers),
        _ => (&guests.servers, &guests.users),
    };
    class.from.clone_from(from);
    class.to.clone_from(to);
    class
}

/// Linux of today.
fn usual() -> TransportDoc {
    let text = "tcp = { profile = \"linux\", control = \"cubic\" }";
    let read = tree::toml_text(text, 0).ok().and_then(|root| root.decode().ok());
    read.expect("this is a transport")
}

/// Guests need nodes among links that are spelled out, and there alone.
fn nodes(check: &mut Check<'_>, document: &Document, guests: &GuestsDoc) {
    let spelled = matches!(document.topology, Topology::Links(_));
    for (key, names) in [("users", &guests.users), ("servers", &guests.servers)] {
        let what = if spelled { "which node is missing" } else { "has no effect here" };
        let help = if spelled {
            "write users = \"NODE\" and servers = \"NODE\""
        } else {
            "leave it out: the topology says where the users are"
        };
        check.require(names.is_some() == spelled, &["guests", key], what, help);
    }
}
