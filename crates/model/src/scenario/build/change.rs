//! Changes during a scenario.
//!
//! Arrival rates and mean sizes become courses, exact and piecewise linear;
//! a ramp of a rate or delay becomes steps of 100 ms, each at the ramp's value in
//! the middle of the step, so that as much data is carried as by the ramp.
//!
//! A step of a delay is another path: what is sent later may come earlier. A ramp
//! is one path that becomes longer or shorter, and on one path nothing overtakes.

use std::collections::BTreeMap;

use tidegate_core::units::{Frequency, Rate, Size, Time, UnitError};

use super::problems::{Check, MAX_SIZE};
use super::traffic::per_s;
use crate::document::ChangeDoc;
use crate::scenario::{Arrivals, Class, Course, FlowSize, LinkChange, LinkValue, Port};
use crate::text::decode::spelling;

/// Spacing of the steps of a ramp.
const STEP: Time = Time::from_ms(100);
/// Most changes.
const MAX_CHANGES: usize = 10_000;
/// Most steps of all ramps of links together.
const MAX_STEPS: u64 = 1_000_000;

/// What changes, by index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Arrivals(usize),
    Mean(usize),
    Rate(usize),
    Delay(usize),
    Loss(usize),
}

/// One change, its value read: flows per second, bytes, bits per second, seconds, or a share.
struct Change {
    /// Index in the document.
    place: usize,
    at: Time,
    until: Time,
    to: f64,
    /// Whether the old value returns at `until`; otherwise a ramp ends there.
    pulse: bool,
    /// Whether a buffer in packets or bytes changes with it.
    buffer_follows: bool,
}

/// Applies changes of arrivals and sizes to the classes, and returns those of links.
pub(super) fn apply(
    check: &mut Check<'_>,
    changes: &[ChangeDoc],
    traffic: &mut [Class],
    ports: &mut [Port],
) -> Vec<LinkChange> {
    let mut by_target: BTreeMap<Target, Vec<Change>> = BTreeMap::new();
    if changes.len() > MAX_CHANGES {
        let what = format!("{} changes are too many", changes.len());
        check.refuse(&["change"], what, format!("write up to {MAX_CHANGES}"));
        return Vec::new();
    }
    let names: BTreeMap<&str, usize> =
        ports.iter().enumerate().map(|(at, port)| (port.name.as_str(), at)).collect();
    for (place, doc) in changes.iter().enumerate() {
        let Some(target) = target(&doc.what, traffic, &names) else {
            if check.full() {
                return Vec::new();
            }
            let known = changeable(traffic, ports);
            let path = ["change", &place.to_string(), "what"];
            let what = format!("`{}` is nothing that can change", doc.what);
            check.refuse(&path, what, spelling(&doc.what, &known, "things to change"));
            continue;
        };
        if let Some(change) = read(check, place, doc, target, traffic) {
            by_target.entry(target).or_default().push(change);
        }
    }
    let followed: Vec<usize> = by_target.iter().filter_map(followed).collect();
    followed.into_iter().for_each(|port| ports[port].buffer_follows = true);
    let mut links = Vec::new();
    for (target, mut changes) in by_target {
        changes.sort_by_key(|change| change.at);
        if !disjoint(check, &changes) {
            continue;
        }
        match target {
            Target::Arrivals(class) => {
                if let Arrivals::Poisson { rate, .. } | Arrivals::Every { rate, .. } =
                    &mut traffic[class].arrivals
                {
                    changes.iter().for_each(|change| extend(rate, change));
                }
            }
            Target::Mean(class) => {
                if let FlowSize::Drawn { mean, .. } = &mut traffic[class].size {
                    changes.iter().for_each(|change| extend(mean, change));
                }
            }
            Target::Rate(port) => rates(check, (port, &mut ports[port]), &changes, &mut links),
            Target::Delay(port) => delays(check, (port, &mut ports[port]), &changes, &mut links),
            Target::Loss(port) => {
                let mut share = Course::constant(0.0);
                changes.iter().for_each(|change| extend(&mut share, change));
                ports[port].impairments.loss = Some(share);
            }
        }
    }
    links.sort_by_key(|change| (change.at, change.port));
    links
}

/// The port whose buffer follows its rate, if one of its changes sets that.
fn followed((target, changes): (&Target, &Vec<Change>)) -> Option<usize> {
    match target {
        Target::Rate(port) if changes.iter().any(|change| change.buffer_follows) => Some(*port),
        _ => None,
    }
}

/// The target of a path like `traffic.web.size.mean` or `bottleneck.rate`.
fn target(what: &str, traffic: &[Class], ports: &BTreeMap<&str, usize>) -> Option<Target> {
    for (at, class) in traffic.iter().enumerate() {
        let Some(rest) = what
            .strip_prefix("traffic.")
            .and_then(|rest| rest.strip_prefix(class.name.as_str()))
            .and_then(|rest| rest.strip_prefix('.'))
        else {
            continue;
        };
        match (rest, &class.arrivals, &class.size) {
            ("arrivals", Arrivals::Poisson { .. } | Arrivals::Every { .. }, _)
            | ("arrivals.poisson", Arrivals::Poisson { .. }, _)
            | ("arrivals.every", Arrivals::Every { .. }, _) => return Some(Target::Arrivals(at)),
            ("size.mean", _, FlowSize::Drawn { .. }) => return Some(Target::Mean(at)),
            _ => {}
        }
    }
    let (name, key) = what.rsplit_once('.')?;
    let short = ["topology.dumbbell.", "topology.tandem.", "topology.links."];
    let name = short.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let port = *ports.get(name)?;
    match key {
        "rate" => Some(Target::Rate(port)),
        "delay" => Some(Target::Delay(port)),
        "loss" => Some(Target::Loss(port)),
        _ => None,
    }
}

/// What can change, as paths.
fn changeable(traffic: &[Class], ports: &[Port]) -> Vec<String> {
    let mut known = Vec::new();
    for class in traffic {
        if matches!(class.arrivals, Arrivals::Poisson { .. } | Arrivals::Every { .. }) {
            known.push(format!("traffic.{}.arrivals", class.name));
        }
        if matches!(class.size, FlowSize::Drawn { .. }) {
            known.push(format!("traffic.{}.size.mean", class.name));
        }
    }
    for key in ["rate", "delay", "loss"] {
        let links = ports.iter().filter(|port| !port.access);
        known.extend(links.map(|port| format!("{}.{key}", port.name)));
    }
    known
}

fn read(
    check: &mut Check<'_>,
    place: usize,
    doc: &ChangeDoc,
    target: Target,
    traffic: &[Class],
) -> Option<Change> {
    let index = place.to_string();
    let path = |key| ["change", index.as_str(), key];
    let value = match target {
        Target::Rate(_) => doc.to.parse::<Rate>().map(|rate| rate.bps() as f64),
        Target::Delay(_) => doc.to.parse::<Time>().map(Time::secs),
        Target::Loss(_) => doc.to.parse::<f64>().map_err(|_| UnitError {
            what: format!("`{}` is no share", doc.to),
            help: "write a number from 0 to 1, as in \"0.05\"".to_owned(),
        }),
        Target::Mean(_) => doc.to.parse::<Size>().map(|size| size.bytes() as f64),
        Target::Arrivals(class) => match &traffic[class].arrivals {
            // where the document gives a spacing, a spacing is accepted for a rate
            Arrivals::Every { .. } => match doc.to.parse::<Time>() {
                Ok(spacing) => Ok(per_s(spacing)),
                Err(_) => doc.to.parse::<Frequency>().map(Frequency::get),
            },
            _ => doc.to.parse::<Frequency>().map(Frequency::get),
        },
    };
    let to = match value {
        Ok(to) => to,
        Err(error) => {
            check.refuse(&path("to"), error.what, error.help);
            return None;
        }
    };
    let (range, help) = match target {
        Target::Mean(_) => {
            (1.0..=MAX_SIZE.bytes() as f64, format!("write a size from 1B to {MAX_SIZE}"))
        }
        Target::Arrivals(_) => (0.0..=1e9, "write a rate from 0/s to 1000000000/s".to_owned()),
        Target::Rate(_) => (1.0..=1e13, "write a rate from 1bit to 10Tbit".to_owned()),
        Target::Delay(_) => (0.0..=3600.0, "write a time from 0s to 1h".to_owned()),
        Target::Loss(_) => (0.0..=1.0, "write a share from 0 to 1, as in \"0.05\"".to_owned()),
    };
    let within = range.contains(&to);
    let what = format!("{} is out of range", doc.to);
    let holds = check.require(within, &path("to"), what, &help) & sound(check, path, doc, target);
    let until = doc.until.unwrap_or(doc.at + doc.pulse.unwrap_or(Time::ZERO));
    let (pulse, buffer_follows) = (doc.pulse.is_some(), doc.buffer_follows);
    holds.then_some(Change { place, at: doc.at, until, to, pulse, buffer_follows })
}

/// Whether a change is valid, apart from its value.
fn sound<'a>(
    check: &mut Check<'_>,
    path: impl Fn(&'a str) -> [&'a str; 3],
    doc: &ChangeDoc,
    target: Target,
) -> bool {
    let mut holds = check.require(
        doc.until.is_none() || doc.pulse.is_none(),
        &path("pulse"),
        "a ramp cannot be a pulse as well",
        "leave `until` or `pulse` out",
    );
    holds &= check.require(
        doc.until.is_none_or(|until| until > doc.at),
        &path("until"),
        "a ramp cannot end before it begins",
        "write an `until` after `at`",
    );
    holds &= check.require(
        !doc.buffer_follows || matches!(target, Target::Rate(_)),
        &path("buffer_follows"),
        "only a change of a link's rate has a buffer to follow it",
        "leave `buffer_follows` out",
    );
    holds
}

/// Whether each change ends before the next one (sorted by time) begins.
fn disjoint(check: &mut Check<'_>, changes: &[Change]) -> bool {
    changes.windows(2).all(|pair| {
        let [first, second] = pair else { return true };
        let both_steps = first.at == second.at && first.until == second.until;
        let holds = second.at >= first.until && !both_steps;
        check.require(
            holds,
            &["change", &second.place.to_string(), "at"],
            format!(
                "another change of the same begins at {} and ends at {}",
                first.at, first.until
            ),
            "write changes of one thing one after the other",
        )
    })
}

/// Appends a change to a course.
fn extend(course: &mut Course, change: &Change) {
    let points = &mut course.points;
    let now = points.last().map_or(change.to, |&(_, value)| value);
    let mut push = |at: Time, value: f64| {
        // of several points at one instant only the first and the last matter
        if let [.., before, last] = points.as_slice()
            && before.0 == at
            && last.0 == at
        {
            points.pop();
        }
        if points.last() != Some(&(at, value)) {
            points.push((at, value));
        }
    };
    push(change.at, now);
    if change.pulse {
        push(change.at, change.to);
        push(change.until, change.to);
        push(change.until, now);
    } else {
        push(change.until, change.to);
    }
}

/// Adds the changes of a port's rate.
fn rates(
    check: &mut Check<'_>,
    (number, port): (usize, &mut Port),
    changes: &[Change],
    links: &mut Vec<LinkChange>,
) {
    let to = |bps: f64, _| LinkValue::Rate(Rate::from_bps((bps + 0.5) as u64));
    of_link(check, (port.rate.bps() as f64, &to), number, changes, links);
    port.impairments.changes = true;
}

/// Adds the changes of a port's delay.
fn delays(
    check: &mut Check<'_>,
    (number, port): (usize, &mut Port),
    changes: &[Change],
    links: &mut Vec<LinkChange>,
) {
    let to = |secs, ramp: bool| LinkValue::Delay {
        delay: Time::from_secs_f64(secs),
        another_path: !ramp,
    };
    of_link(check, (port.delay.secs(), &to), number, changes, links);
    port.impairments.changes = true;
}

/// Cuts the course of a link's rate or delay into steps. `first` is its value at the start, and
/// `to` makes the value of a step, and is told whether it is part of a ramp.
fn of_link(
    check: &mut Check<'_>,
    (first, to): (f64, &dyn Fn(f64, bool) -> LinkValue),
    port: usize,
    changes: &[Change],
    links: &mut Vec<LinkChange>,
) {
    let mut course = Course::constant(first);
    changes.iter().for_each(|change| extend(&mut course, change));
    for pair in course.points.windows(2) {
        let [(from, low), (until, high)] = *pair else {
            continue;
        };
        if low == high {
            continue;
        }
        let (taken, ramp) = (links.len() as u64, from < until);
        let mut change = |at, value| {
            let to = to(value, ramp);
            links.push(LinkChange { at, begins: from, port: port as u32, to });
        };
        if ramp {
            let span = until - from;
            let count = span.ps().div_ceil(STEP.ps());
            if taken + count > MAX_STEPS {
                let place = changes.iter().find(|change| change.at == from).map_or(0, |c| c.place);
                let what = format!("a ramp of {span} makes {count} more steps of {STEP}");
                let path = ["change", &place.to_string(), "until"];
                check.refuse(
                    &path,
                    what,
                    format!("at most {MAX_STEPS} steps fit: write a shorter ramp"),
                );
                return;
            }
            for step in 0..count {
                let start = from + STEP * step;
                let end = (start + STEP).min(until);
                let middle = ((start - from) + (end - from)).secs() / 2.0 / span.secs();
                change(start, low + (high - low) * middle);
            }
        }
        change(until, high);
    }
}
