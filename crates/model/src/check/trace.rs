//! The capacity of a link, read from a trace.
//!
//! Two formats, told apart by the first line. Either each line is the time of an
//! opportunity to deliver 1504 bytes, in whole milliseconds (mahimahi's), or the first
//! line names the columns `time_s` and `rate_bit_s`, and each other one is a rate from
//! an instant on. Lines that begin with `#` are comments. The last time is the end of
//! the trace, where it begins again.

use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder, Trim};
use tidegate_core::law::settings::number;
use tidegate_core::port::Opportunities;
use tidegate_core::units::{Rate, Time};

use super::problems::Check;
use super::replay::{Wrong, line_at, refuse};
use crate::document::impairments::PortRateDoc;
use crate::scenario::{LinkChange, LinkValue, Port};

/// Largest file in bytes.
const MAX_FILE: usize = 128 << 20;
/// Most lines of a trace: they are held in memory.
const MAX_LINES: usize = 10_000_000;
/// Longest trace in seconds.
const MAX_SECONDS: f64 = 1e7;
/// Bytes of an opportunity: a packet of 1500 bytes and four of mahimahi's own.
const OPPORTUNITY: u32 = 1504;

/// What a file holds.
enum Trace {
    /// When there are opportunities to deliver, never falling.
    Opportunities(Vec<Time>),
    /// Rates in bit/s, from rising instants on; the last instant is the end.
    Rates(Vec<(Time, f64)>),
}

/// Lets the capacity of a port follow its trace, and adds the changes that this takes.
pub(super) fn apply(
    check: &mut Check<'_>,
    (number, port): (u32, &mut Port),
    doc: &PortRateDoc,
    duration: Time,
    changes: &mut Vec<LinkChange>,
) {
    let name = port.name.clone();
    let path = |key| ["port", name.as_str(), "rate", key];
    let rate =
        |change: &LinkChange| change.port == number && matches!(change.to, LinkValue::Rate(_));
    let what = "a change of this rate is written as well";
    let mut sound =
        check.require(!changes.iter().any(rate), &path("trace"), what, "leave one of the two out");
    sound &= check.require(
        doc.scale > 0.0 && doc.scale <= 1e6,
        &path("scale"),
        format!("{} is out of range", self::number(doc.scale)),
        "write a factor above 0, up to 1000000",
    );
    let Some(trace) = read(check, &path("trace"), &doc.trace).filter(|_| sound) else { return };
    let mean = match trace {
        Trace::Opportunities(times) => opportunities(check, &path("scale"), times, doc, port),
        Trace::Rates(rates) => {
            let first = changes.len();
            steps(&rates, doc, duration, |at, rate| {
                changes.push(LinkChange { at, port: number, to: LinkValue::Rate(rate) });
                changes.len() - first < MAX_LINES
            });
            let full = changes.len() - first == MAX_LINES;
            let help = "take a shorter run, or a coarser trace";
            let what = format!("the trace makes more than {MAX_LINES} changes of the rate");
            check.require(!full, &path("trace"), what, help);
            Some(mean(&rates) * doc.scale)
        }
    };
    if let Some(bps) = mean {
        port.rate = Rate::from_bps((bps.round() as u64).max(1));
        port.impairments.changes = true;
    }
}

/// Gives the link its opportunities; their mean in bit/s.
fn opportunities(
    check: &mut Check<'_>,
    path: &[&str],
    times: Vec<Time>,
    doc: &PortRateDoc,
    port: &mut Port,
) -> Option<f64> {
    let help = "leave it out, or write the trace as rates: `time_s,rate_bit_s`";
    let what = "a trace of opportunities cannot be scaled";
    if !check.require(doc.scale == 1.0, path, what, help) {
        return None;
    }
    let turn = times.last().copied().unwrap_or(Time::ZERO);
    let bits = 8.0 * f64::from(OPPORTUNITY) * times.len() as f64;
    let times: Arc<[Time]> = times.into();
    let trace = Opportunities::new(times, OPPORTUNITY, doc.start, doc.repeat);
    port.impairments.opportunities = Some(trace);
    Some(bits / turn.secs())
}

/// The mean of rates over one turn.
fn mean(rates: &[(Time, f64)]) -> f64 {
    let end = rates.last().map_or(0.0, |&(at, _)| at.secs());
    // what comes before the first instant is as from then on
    let before = rates.first().map_or(0.0, |&(at, rate)| at.secs() * rate);
    let area = rates.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0).secs());
    (before + area.sum::<f64>()) / end
}

/// Makes the changes of a run from a trace, as long as `push` takes them.
fn steps(
    rates: &[(Time, f64)],
    doc: &PortRateDoc,
    duration: Time,
    mut push: impl FnMut(Time, Rate) -> bool,
) {
    let [turns @ .., (turn, last)] = rates else { return };
    let rate = |bps: f64| Rate::from_bps(((bps * doc.scale).round() as u64).max(1));
    let mut begin = Time::ZERO;
    let mut present = turns.first().map_or(*last, |&(_, bps)| bps);
    let mut begun = false;
    loop {
        for (place, &(at, bps)) in turns.iter().enumerate() {
            // the first rate of a turn holds from its beginning
            let at = begin + if place == 0 { Time::ZERO } else { at };
            if at <= doc.start {
                present = bps;
                continue;
            }
            if !std::mem::replace(&mut begun, true) && !push(Time::ZERO, rate(present)) {
                return;
            }
            let at = at - doc.start;
            if at >= duration || !push(at, rate(bps)) {
                return;
            }
        }
        begin += *turn;
        if !doc.repeat {
            break;
        }
    }
    if !begun && !push(Time::ZERO, rate(present)) {
        return;
    }
    // without another turn the last line holds
    let end = turn.saturating_sub(doc.start);
    if end < duration {
        push(end, rate(*last));
    }
}

fn read(check: &mut Check<'_>, path: &[&str], file: &str) -> Option<Trace> {
    let Some(bytes) = check.files.get(file) else {
        check.refuse(path, format!("the file {file:?} was not handed in"), "check its name");
        return None;
    };
    if bytes.len() > MAX_FILE {
        let what = format!("the trace in {file} is larger than {} MiB", MAX_FILE >> 20);
        check.refuse(path, what, "take a part of its lines");
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match parse(bytes) {
        Ok(trace) => Some(trace),
        Err(wrong) => refuse(check, file, wrong),
    }
}

/// One line, and what it may not be.
struct Line<'a> {
    bytes: &'a [u8],
    place: csv::Position,
}

impl Line<'_> {
    fn wrong(&self, what: impl Into<String>, help: &str) -> Wrong {
        let at = usize::try_from(self.place.byte()).unwrap_or(usize::MAX);
        let line = usize::try_from(self.place.line()).unwrap_or(0);
        let (line, text) = line_at(self.bytes, at, line);
        Wrong { line, span: 0..text.len(), text, what: what.into(), help: help.to_owned() }
    }
}

fn parse(bytes: &[u8]) -> Result<Trace, Wrong> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut columns = None;
    let (mut times, mut rates) = (Vec::new(), Vec::new());
    let mut first = true;
    loop {
        let line = Line { bytes, place: reader.position().clone() };
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return whole(&line, times, rates),
            Err(error) => return Err(line.wrong(error.to_string(), "")),
        }
        if times.len().max(rates.len()) == MAX_LINES {
            let what = format!("more than {MAX_LINES} lines");
            return Err(line.wrong(what, "take a part of them"));
        }
        let named = record.len() > 1 || record.iter().any(|field| milliseconds(field).is_none());
        if std::mem::replace(&mut first, false) && named {
            columns = Some(columns_of(&line, &record)?);
            continue;
        }
        match columns {
            Some(columns) => rates.push(rate(&line, &record, columns, rates.last())?),
            None => times.push(opportunity(&line, &record, times.last())?),
        }
    }
}

/// The trace, if there is enough of it.
fn whole(line: &Line<'_>, times: Vec<Time>, rates: Vec<(Time, f64)>) -> Result<Trace, Wrong> {
    let help = "write a time in ms on each line, or `time_s,rate_bit_s` and at least two lines";
    if rates.len() >= 2 {
        return Ok(Trace::Rates(rates));
    }
    match times.last() {
        Some(&last) if last > Time::ZERO => Ok(Trace::Opportunities(times)),
        Some(_) => Err(line.wrong("the trace ends when it begins", "write a last time above 0")),
        None => Err(line.wrong("the trace says nothing", help)),
    }
}

fn milliseconds(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok().filter(|&ms| ms as f64 <= MAX_SECONDS * 1e3)
}

fn opportunity(line: &Line<'_>, record: &ByteRecord, last: Option<&Time>) -> Result<Time, Wrong> {
    let field = if record.len() == 1 { record.get(0) } else { None };
    let Some(ms) = field.and_then(milliseconds) else {
        let help = "write one time on each line, in whole milliseconds up to 10000000000";
        return Err(line.wrong("this is no time of an opportunity", help));
    };
    let at = Time::from_ms(ms);
    match last {
        Some(last) if at < *last => {
            let what = format!("{ms} ms comes after {} ms", last.ps() / 1_000_000_000);
            Err(line.wrong(what, "sort the lines by time"))
        }
        _ => Ok(at),
    }
}

/// Places of the columns of time and rate.
fn columns_of(line: &Line<'_>, record: &ByteRecord) -> Result<(usize, usize), Wrong> {
    let place = |name: &str| record.iter().position(|column| column == name.as_bytes());
    match (place("time_s"), place("rate_bit_s")) {
        (Some(time), Some(rate)) => Ok((time, rate)),
        (time, _) => {
            let lacks = if time.is_none() { "time_s" } else { "rate_bit_s" };
            let help = "name the columns in the first line, `time_s,rate_bit_s`, or write one time in whole milliseconds on each line";
            Err(line.wrong(format!("there is no column `{lacks}`"), help))
        }
    }
}

fn rate(
    line: &Line<'_>,
    record: &ByteRecord,
    (time, rate): (usize, usize),
    last: Option<&(Time, f64)>,
) -> Result<(Time, f64), Wrong> {
    let value = |column, most: f64| {
        let text = std::str::from_utf8(record.get(column)?).ok()?;
        text.parse::<f64>().ok().filter(|value| (0.0..=most).contains(value))
    };
    let help = "write seconds from 0 up to 10000000";
    let seconds =
        value(time, MAX_SECONDS).ok_or_else(|| line.wrong("`time_s` is no time", help))?;
    let help = "write bit/s, from 0 up to 1e13";
    let bps = value(rate, 1e13).ok_or_else(|| line.wrong("`rate_bit_s` is no rate", help))?;
    let at = Time::from_secs_f64(seconds);
    match last {
        Some((before, _)) if at <= *before => {
            let what = format!("{} s does not come after {} s", number(seconds), before.secs());
            Err(line.wrong(what, "sort the lines by time, one for each instant"))
        }
        _ => Ok((at, bps)),
    }
}
