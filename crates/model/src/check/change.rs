//! Changes while a scenario runs.
//!
//! Arrival rates and mean sizes become courses, exact and piecewise linear;
//! a ramp of a capacity becomes steps of 100 ms, each at the ramp's value in
//! the middle of the step, so that as much data is carried as by the ramp.

use std::collections::BTreeMap;

use tidegate_core::units::{Frequency, Rate, Size, Time};

use super::Check;
use super::traffic::{MAX_SIZE, per_s};
use crate::document::ChangeDoc;
use crate::scenario::{Arrivals, CapacityChange, Class, Course, FlowSize, Port};
use crate::tree::decode::spelling;

/// Spacing of the steps of a capacity ramp.
const STEP: Time = Time::from_ms(100);
/// Most changes.
const MAX_CHANGES: usize = 10_000;
/// Most steps of all capacity ramps together.
const MAX_STEPS: u64 = 1_000_000;

/// What changes, by its place in its list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Arrivals(usize),
    Mean(usize),
    Rate(usize),
}

/// One change, its value read: flows per second, bytes, or bits per second.
struct Change {
    /// Place in the document.
    place: usize,
    at: Time,
    until: Time,
    to: f64,
    /// Whether the old value returns at `until`, rather than a ramp ending there.
    pulse: bool,
    /// Whether a buffer in packets or bytes changes with it.
    buffer_follows: bool,
}

/// Applies changes of arrivals and sizes to the classes, and returns those of capacity.
pub(super) fn apply(
    check: &mut Check<'_>,
    changes: &[ChangeDoc],
    traffic: &mut [Class],
    ports: &mut [Port],
) -> Vec<CapacityChange> {
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
    let mut capacity = Vec::new();
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
            Target::Rate(port) => {
                let mut course = Course::constant(ports[port].rate.bps() as f64);
                changes.iter().for_each(|change| extend(&mut course, change));
                steps(check, &course, port as u32, &changes, &mut capacity);
            }
        }
    }
    capacity.sort_by_key(|change| (change.at, change.port));
    capacity
}

/// The port whose buffer follows its rate, if one of its changes says so.
fn followed((target, changes): (&Target, &Vec<Change>)) -> Option<usize> {
    match target {
        Target::Rate(port) if changes.iter().any(|change| change.buffer_follows) => Some(*port),
        _ => None,
    }
}

/// What a path like `traffic.web.size.mean` or `bottleneck.rate` means.
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
    let name = what.strip_suffix(".rate").map(|name| {
        let short = ["topology.dumbbell.", "topology.tandem.", "topology.links."];
        short.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
    });
    name.and_then(|name| ports.get(name)).map(|&port| Target::Rate(port))
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
    let rates = ports.iter().filter(|port| !port.access);
    known.extend(rates.map(|port| format!("{}.rate", port.name)));
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
        Target::Mean(_) => doc.to.parse::<Size>().map(|size| size.bytes() as f64),
        Target::Arrivals(class) => match &traffic[class].arrivals {
            // a spacing is as good as a rate where the document gave one
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
    let range = match target {
        Target::Mean(_) => 1.0..=MAX_SIZE.bytes() as f64,
        Target::Arrivals(_) => 0.0..=1e9,
        Target::Rate(_) => 1.0..=1e13,
    };
    let holds = sound(check, path, doc, target, range.contains(&to));
    let until = doc.until.unwrap_or(doc.at + doc.pulse.unwrap_or(Time::ZERO));
    let (pulse, buffer_follows) = (doc.pulse.is_some(), doc.buffer_follows);
    holds.then_some(Change { place, at: doc.at, until, to, pulse, buffer_follows })
}

/// Whether a change makes sense, its value apart.
fn sound<'a>(
    check: &mut Check<'_>,
    path: impl Fn(&'a str) -> [&'a str; 3],
    doc: &ChangeDoc,
    target: Target,
    in_range: bool,
) -> bool {
    let mut holds = check.require(in_range, &path("to"), "out of range", "write a value in range");
    holds &= check.require(
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
        doc.pulse != Some(Time::ZERO),
        &path("pulse"),
        "a pulse of 0s is none",
        "write a time above 0s",
    );
    holds &= check.require(
        !doc.buffer_follows || matches!(target, Target::Rate(_)),
        &path("buffer_follows"),
        "only a change of a link's rate has a buffer to follow it",
        "leave `buffer_follows` out",
    );
    holds
}

/// Whether each change is over when the next one (sorted by time) begins.
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

/// Adds a change to the end of a course.
fn extend(course: &mut Course, change: &Change) {
    let points = &mut course.points;
    let now = points.last().map_or(change.to, |&(_, value)| value);
    let mut push = |at: Time, value: f64| {
        // of several points at one instant the first and the last matter
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

/// Cuts the course of a capacity into steps.
fn steps(
    check: &mut Check<'_>,
    course: &Course,
    port: u32,
    changes: &[Change],
    capacity: &mut Vec<CapacityChange>,
) {
    for pair in course.points.windows(2) {
        let [(from, low), (until, high)] = *pair else {
            continue;
        };
        if low == high {
            continue;
        }
        let taken = capacity.len() as u64;
        let mut change = |at, bps: f64| {
            capacity.push(CapacityChange { at, port, rate: Rate::from_bps((bps + 0.5) as u64) });
        };
        if from < until {
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
