//! What the file of a trace holds.
//!
//! Two formats, told apart by the first line. Either each line is the time of an
//! opportunity to deliver 1504 bytes, in whole milliseconds (mahimahi's), or the first
//! line names the columns, and each other one says what holds from `time_s` on. A table
//! may have columns for several traces, and others, and its times may be those of a clock:
//! they are counted from its first row. Lines that begin with `#` are comments. The last
//! time is the end of the trace, where it begins again.

use csv::{ByteRecord, ReaderBuilder, Trim};
use tidegate_core::law::settings::number;
use tidegate_core::units::Time;

use super::super::problems::Check;
use super::super::replay::{Wrong, beyond, line_at, refuse, separated, twice};

/// Largest file in bytes.
const MAX_FILE: usize = 128 << 20;
/// Most lines of a trace: they are held in memory.
pub(super) const MAX_LINES: usize = 10_000_000;
/// Longest trace in seconds.
const MAX_SECONDS: f64 = 1e7;
/// Latest time of a row in seconds: a clock that counts from 1970 reaches it in the year 2286.
const MAX_CLOCK: f64 = 1e10;

/// The traces that come with the program, by the name that a document gives them.
///
/// `tidegate trace` makes them: lte for 60 s, the others for 300 s, all with seed 1.
const SHIPPED: [(&str, &[u8]); 3] = [
    ("tidegate:lte", include_bytes!("../../../../traces/lte.trace")),
    ("tidegate:starlink", include_bytes!("../../../../traces/starlink.csv")),
    ("tidegate:starlink-up", include_bytes!("../../../../traces/starlink-up.csv")),
];

/// Whether a trace of this name comes with the program, or would: it is no file.
pub(crate) fn is_shipped(name: &str) -> bool {
    name.starts_with("tidegate:")
}

/// What a file holds.
pub(super) enum Trace {
    /// When there are opportunities to deliver, never falling.
    Opportunities(Vec<Time>),
    /// Values from rising instants on; the last instant is the end.
    Values(Values),
}

/// The rows of a table.
#[derive(Default)]
pub(super) struct Values {
    /// When from on what holds, counted from the first row.
    pub rows: Vec<(Time, f64)>,
    /// The time of the first row as it is written, in seconds.
    pub from: f64,
}

/// A column of a table.
pub(super) struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: &'static str,
    /// The largest of them; the least is 0.
    most: f64,
    /// What would be right.
    help: &'static str,
    /// Whether a list of opportunities says it as well.
    listed: bool,
}

/// Capacities.
pub(super) const RATE: Column = Column {
    name: "rate_bit_s",
    kind: "rate",
    most: 1e13,
    help: "write bit/s, from 0 up to 1e13",
    listed: true,
};

/// Propagation delays.
pub(super) const DELAY: Column = Column {
    name: "delay_s",
    kind: "delay",
    most: 3600.0,
    help: "write seconds from 0 up to 3600",
    listed: false,
};

impl Column {
    /// What would be right where there is no such column.
    fn wanted(&self) -> String {
        let or =
            if self.listed { ", or write one time in whole milliseconds on each line" } else { "" };
        format!("name the columns in the first line, `time_s,{}`{or}", self.name)
    }

    /// What would be right where there is nothing.
    fn example(&self) -> String {
        let either = if self.listed { "a time in ms on each line, or " } else { "" };
        format!("write {either}`time_s,{}` and at least two lines", self.name)
    }
}

/// The trace in a file; none: it was refused.
pub(super) fn read(
    check: &mut Check<'_>,
    path: &[&str],
    file: &str,
    column: &Column,
) -> Option<Trace> {
    let shipped = SHIPPED.iter().find(|(name, _)| *name == file).map(|&(_, bytes)| bytes);
    if is_shipped(file) && shipped.is_none() {
        check.unknown(path, file, &SHIPPED.map(|(name, _)| name), "traces that come with tidegate");
        return None;
    }
    let Some(bytes) = shipped.or_else(|| check.files.get(file).map(Vec::as_slice)) else {
        check.refuse(path, format!("the file {file:?} was not handed in"), "check its name");
        return None;
    };
    if bytes.len() > MAX_FILE {
        let what = format!("the trace in {file} is larger than {} MiB", MAX_FILE >> 20);
        check.refuse(path, what, "take a part of its lines");
        return None;
    }
    if bytes.starts_with(b"PAR1") {
        let help = "write it as CSV; `tidegate` and its Python API read Parquet by themselves";
        check.refuse(path, format!("the trace in {file} is Parquet, which is not read here"), help);
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match parse(bytes, column) {
        Ok(trace) => Some(trace),
        Err(wrong) => refuse(check, file, wrong),
    }
}

/// One line, and what it may not be.
struct TraceLine<'a> {
    bytes: &'a [u8],
    place: csv::Position,
}

impl TraceLine<'_> {
    fn wrong(&self, what: impl Into<String>, help: impl Into<String>) -> Wrong {
        let at = usize::try_from(self.place.byte()).unwrap_or(usize::MAX);
        let line = usize::try_from(self.place.line()).unwrap_or(0);
        let (line, text) = line_at(self.bytes, at, line);
        Wrong { line, span: 0..text.len(), text, what: what.into(), help: help.into() }
    }
}

fn parse(bytes: &[u8], column: &Column) -> Result<Trace, Wrong> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut places = None;
    let (mut times, mut values) = (Vec::new(), Values::default());
    let mut first = true;
    loop {
        let line = TraceLine { bytes, place: reader.position().clone() };
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return whole(&line, times, values, column),
            Err(error) => return Err(line.wrong(error.to_string(), "")),
        }
        if times.len().max(values.rows.len()) == MAX_LINES {
            let what = format!("more than {MAX_LINES} lines");
            return Err(line.wrong(what, "take a part of them"));
        }
        let list = record.len() == 1 && record.iter().all(|field| milliseconds(field).is_some());
        if std::mem::replace(&mut first, false) && !(list && column.listed) {
            places = Some(places_of(&line, &record, column)?);
            continue;
        }
        match places {
            Some((time, at, named)) => {
                if let Some((what, help)) = beyond(&record, named) {
                    return Err(line.wrong(what, help));
                }
                value(&line, &record, ((time, at), column), &mut values)?;
            }
            None => times.push(opportunity(&line, &record, times.last())?),
        }
    }
}

/// The trace, if there is enough of it.
fn whole(
    line: &TraceLine<'_>,
    times: Vec<Time>,
    values: Values,
    column: &Column,
) -> Result<Trace, Wrong> {
    if values.rows.len() >= 2 {
        return Ok(Trace::Values(values));
    }
    match times.last() {
        Some(&last) if last > Time::ZERO => Ok(Trace::Opportunities(times)),
        Some(_) => Err(line.wrong("the trace ends when it begins", "write a last time above 0")),
        None => Err(line.wrong("the trace says nothing", column.example())),
    }
}

fn milliseconds(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok().filter(|&ms| ms as f64 <= MAX_SECONDS * 1e3)
}

fn opportunity(
    line: &TraceLine<'_>,
    record: &ByteRecord,
    last: Option<&Time>,
) -> Result<Time, Wrong> {
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

/// Places of the columns of time and value, and how many columns there are.
fn places_of(
    line: &TraceLine<'_>,
    record: &ByteRecord,
    column: &Column,
) -> Result<(usize, usize, usize), Wrong> {
    if let Some((what, help)) = twice(record, &["time_s", column.name]) {
        return Err(line.wrong(what, help));
    }
    let place = |name: &str| record.iter().position(|field| field == name.as_bytes());
    match (place("time_s"), place(column.name)) {
        (Some(time), Some(value)) => Ok((time, value, record.len())),
        (time, _) => {
            let lacks = if time.is_none() { "time_s" } else { column.name };
            let names: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
            let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            let help = separated(&names).unwrap_or_else(|| column.wanted());
            Err(line.wrong(format!("there is no column `{lacks}`"), help))
        }
    }
}

fn value(
    line: &TraceLine<'_>,
    record: &ByteRecord,
    ((time, value), column): ((usize, usize), &Column),
    values: &mut Values,
) -> Result<(), Wrong> {
    let read = |place, most: f64| {
        let text = std::str::from_utf8(record.get(place)?).ok()?;
        text.parse::<f64>().ok().filter(|value| (0.0..=most).contains(value))
    };
    let help = "write seconds, from 0 up to 1e10";
    let seconds = read(time, MAX_CLOCK).ok_or_else(|| line.wrong("`time_s` is no time", help))?;
    let what = || format!("`{}` is no {}", column.name, column.kind);
    let value = read(value, column.most).ok_or_else(|| line.wrong(what(), column.help))?;
    if values.rows.is_empty() {
        values.from = seconds;
    }
    let after = seconds - values.from;
    if after > MAX_SECONDS {
        let what = format!("{} s is {} s after the first row", number(seconds), number(after));
        return Err(line.wrong(what, format!("write at most {MAX_SECONDS} s")));
    }
    let at = Time::from_secs_f64(after.max(0.0));
    match values.rows.last() {
        Some((before, _)) if at <= *before => {
            let before = number(values.from + before.secs());
            let what = format!("{} s does not come after {before} s", number(seconds));
            Err(line.wrong(what, "sort the lines by time, one for each instant"))
        }
        _ => {
            values.rows.push((at, value));
            Ok(())
        }
    }
}
