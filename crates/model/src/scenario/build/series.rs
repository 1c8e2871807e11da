//! What is followed over time: names resolved, rows bounded.

use super::problems::{Check, MAX_ROWS};
use crate::document::Document;
use crate::document::series::SeriesDoc;
use crate::scenario::{Port, Series};

/// Most flows that are followed one by one.
const MOST_FLOWS: usize = 1000;
/// Most flows whose acknowledgements are recorded.
const MOST_ACKS: usize = 100;

/// Resolves what is to be followed, and spells out how often.
pub(super) fn series(check: &mut Check<'_>, document: &mut Document, ports: &[Port]) -> Series {
    if document.series.is_none() {
        return Series::default();
    }
    let mut series = named(check, document);
    if series.is_none() {
        return series;
    }
    series.every = *document.series.every.get_or_insert(document.sample);
    let own = ports.iter().filter(|port| !port.access).count();
    let each = (series.flows.len() + series.classes.len() * (1 + own)) as u64;
    let intervals = document.duration.ps() / series.every.ps() + 1;
    check.require(
        intervals.saturating_mul(each) <= MAX_ROWS,
        &["series"],
        format!("{intervals} intervals of {} make too many rows", series.every),
        &format!("at most {MAX_ROWS} rows fit: write a longer `every`, or fewer names"),
    );
    series
}

/// Looks the names up.
fn named(check: &mut Check<'_>, document: &Document) -> Series {
    let mut series = Series::default();
    let names: Vec<&str> = document.traffic.keys().map(String::as_str).collect();
    let place = |name: &str| names.iter().position(|&known| known == name).map(|at| at as u16);
    let SeriesDoc { flows, acks, .. } = &document.series;
    series.flows = single(check, "flows", flows, MOST_FLOWS, &names);
    series.acks = single(check, "acks", acks, MOST_ACKS, &names);
    for name in &document.series.classes {
        match place(name) {
            Some(class) => series.classes.push(class),
            None => check.unknown(&["series", "classes"], name, &names, "classes"),
        }
    }
    let count = |series: &Series| series.flows.len() + series.acks.len() + series.classes.len();
    let all = count(&series);
    for flows in [&mut series.flows, &mut series.acks] {
        flows.sort_unstable();
        flows.dedup();
    }
    series.classes.sort_unstable();
    series.classes.dedup();
    check.require(
        count(&series) == all,
        &["series"],
        "a flow or a class is named twice",
        "name each once",
    );
    series
}

/// The flows that a key names, each by its class and its number in it.
fn single(
    check: &mut Check<'_>,
    key: &str,
    flows: &[String],
    most: usize,
    names: &[&str],
) -> Vec<(u16, u32)> {
    let path = ["series", key];
    check.require(
        flows.len() <= most,
        &path,
        format!("{} flows are too many", flows.len()),
        &format!("follow at most {most} flows, or whole classes"),
    );
    let mut found = Vec::new();
    for text in flows.iter().take(most) {
        let parts = text.rsplit_once(':').map(|(name, number)| (name, number.parse()));
        let Some((name, Ok(number))) = parts else {
            let what = format!("`{text}` names no flow");
            check.refuse(&path, what, "write CLASS:N, as in `web:0` for the first of class web");
            continue;
        };
        match names.iter().position(|&known| known == name) {
            Some(class) => found.push((class as u16, number)),
            None => check.unknown(&path, name, names, "classes"),
        }
    }
    found
}
