//! Distribution functions of sizes, read from a file of two columns.
//!
//! Each line holds a size in bytes and the probability of a size up to it, separated by a comma or
//! blanks. The probabilities end at 1, or at 100 if they are percentages. `#` starts a comment, and
//! one line of words at the top is a header. Between two lines the function is linear; the
//! probability of the first line belongs to its size alone. A first line `0 0` begins it.

use std::ops::Range;

use super::problems::{Check, MAX_SIZE};
use crate::text::report::{Place, Problem, Text};
use crate::text::tree::MAX_DOCUMENT;

/// Most points of a distribution function.
const MAX_POINTS: usize = 100_000;

/// What is wrong with a file, where, and how to correct it.
type Wrong = (Range<usize>, String, &'static str);

/// The mean of the distribution in `file` and its points, sizes divided by the mean.
pub(super) fn read(
    check: &mut Check<'_>,
    path: &[&str],
    file: &str,
) -> Option<(f64, Vec<(f64, f64)>)> {
    let Some(bytes) = check.files.get(file) else {
        check.refuse(path, format!("the file {file:?} was not handed in"), "check its name");
        return None;
    };
    let parsed = match std::str::from_utf8(bytes) {
        _ if bytes.len() > MAX_DOCUMENT => {
            Err((0..0, "the file is larger than 8 MiB".to_owned(), "thin its points out"))
        }
        Ok(text) => points(text),
        Err(_) => Err((0..0, "the file is not UTF-8 text".to_owned(), "save it as plain text")),
    };
    match parsed {
        Ok(points) => Some(scaled(points)),
        Err((span, what, help)) => {
            let text = check.texts.len();
            let shown = String::from_utf8_lossy(bytes).chars().take(MAX_DOCUMENT).collect();
            check.texts.push(Text { name: file.to_owned(), text: shown, first: 1 });
            let place = Some(Place { text, span });
            check.problems.push(Problem { what, help: help.to_owned(), place });
            None
        }
    }
}

fn points(text: &str) -> Result<Vec<(f64, f64)>, Wrong> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut header = false;
    let mut from = 0;
    let mut last = 0..0;
    for line in text.split_inclusive('\n') {
        let data = line.split('#').next().unwrap_or("").trim_start_matches('\u{feff}').trim();
        let start = from + line.find(data).unwrap_or(0);
        let span = start..start + data.len();
        from += line.len();
        if data.is_empty() {
            continue;
        }
        let fields: Vec<&str> =
            data.split([',', ' ', '\t']).filter(|field| !field.is_empty()).collect();
        let numbers: Vec<Option<f64>> =
            fields.iter().map(|field| field.trim_end_matches('%').parse().ok()).collect();
        if points.is_empty() && !header && numbers.iter().all(Option::is_none) {
            header = true;
            continue;
        }
        let [Some(size), Some(probability)] = numbers.as_slice() else {
            let what = format!("`{}` is not a size and a probability", shortened(data));
            let help = if data.contains(';') {
                "separate the two numbers by a comma, not by `;`, and write points in them"
            } else {
                "write two numbers a line, as in `4000, 0.35`"
            };
            return Err((span, what, help));
        };
        follows(points.last(), (*size, *probability))
            .map_err(|(what, help)| (span.clone(), what, help))?;
        if points.len() == MAX_POINTS {
            let what = format!("the file has more than {MAX_POINTS} points");
            return Err((span, what, "thin its points out"));
        }
        points.push((*size, *probability));
        last = span;
    }
    match points.last() {
        None => Err((
            0..0,
            "the file has no points".to_owned(),
            "write a size and a probability a line",
        )),
        Some(&(_, 1.0)) => Ok(points),
        Some(&(_, 100.0)) => {
            Ok(points.into_iter().map(|(size, percent)| (size, percent / 100.0)).collect())
        }
        Some(&(_, end)) => {
            let what = format!("the probabilities end at {end}, not at 1");
            Err((last, what, "end with the largest size and the probability 1, or 100 percent"))
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Whether a point is valid by itself and after the previous one.
fn follows(
    before: Option<&(f64, f64)>,
    (size, probability): (f64, f64),
) -> Result<(), (String, &'static str)> {
    let begins = before.is_none() && (size, probability) == (0.0, 0.0);
    let within = size > 0.0 && size <= MAX_SIZE.bytes() as f64;
    if !(begins || within) {
        return Err((
            format!("a size of {size} bytes is out of range"),
            "write sizes above 0, up to 1e12",
        ));
    }
    if !(0.0..=100.0).contains(&probability) {
        let help = "write probabilities from 0 to 1, or percentages from 0 to 100";
        return Err((format!("a probability of {probability} is out of range"), help));
    }
    let Some(&(size_before, probability_before)) = before else {
        return Ok(());
    };
    if size < size_before {
        let what = format!("the size {size} comes after the larger {size_before}");
        return Err((what, "sort the lines by size"));
    }
    if probability < probability_before {
        let what = format!("the probability falls from {probability_before} to {probability}");
        return Err((what, "write cumulative probabilities, which never fall"));
    }
    Ok(())
}

/// The mean, and the points with sizes divided by it.
fn scaled(mut points: Vec<(f64, f64)>) -> (f64, Vec<(f64, f64)>) {
    let (first, atom) = points[0];
    let between =
        points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0);
    let mean = between.fold(first * atom, |sum, part| sum + part);
    for (size, _) in &mut points {
        *size /= mean;
    }
    (mean, points)
}
