//! Recorded flows, read from a table.
//!
//! The table is CSV, its columns named in the first line: `start_s`,
//! `size_bytes` and, if flows of both directions are in it, `direction`. Other
//! columns are left alone; lines that begin with `#` are comments. Whoever
//! opens files makes such a table of a packet capture or of Parquet.

use std::ops::Range;
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder, Trim};
use tidegate_core::units::Time;

use super::problems::{Check, MAX_SIZE};
use super::traffic::opener;
use crate::document::ClassDoc;
use crate::scenario::{Direction, End, Replayed};
use crate::text::decode::near;
use crate::text::report::{Place, Problem, Text};

/// Most flows of a table: with [`MAX_TABLE`] it bounds the memory that loading takes.
const MAX_FLOWS: usize = 1_000_000;
/// Largest table in bytes.
const MAX_TABLE: usize = 128 << 20;
/// Latest start in seconds, after scaling: 115 days, well within the range of [`Time`].
const MAX_START: f64 = 1e7;
/// Most of a line that a message shows.
const MAX_SHOWN: usize = 1000;

/// What is wrong with a table: in which line, where in it, and what would be right.
pub(super) struct Wrong {
    pub line: usize,
    pub text: String,
    pub span: Range<usize>,
    pub what: String,
    pub help: String,
}

/// The flows of a class that replays them, and the direction that the class then has.
pub(super) fn flows(
    check: &mut Check<'_>,
    name: &str,
    doc: &mut ClassDoc,
    way: Option<Direction>,
) -> Option<(Arc<[Replayed]>, Direction)> {
    let file = doc.flows.clone()?;
    let path = |key| ["traffic", name, key];
    for (key, given) in [
        ("arrivals", doc.arrivals.is_some()),
        ("size", doc.size.is_some()),
        ("stop", doc.stop.is_some()),
    ] {
        let help = "leave it out: the file says when flows start and what they send";
        check.require(!given, &path(key), "has no effect with `flows`", help);
    }
    let scale = *doc.time_scale.get_or_insert(1.0);
    let mut flows = read(check, &path("flows"), &file, scale, (doc, way))?;
    let found = flows.len();
    flows.retain(|flow| doc.only.is_none_or(|only| flow.direction == only));
    let what = match found {
        0 => format!("there are no flows in {file}"),
        _ => format!("none of the {found} flows in {file} has that direction"),
    };
    let key = if found == 0 { "flows" } else { "only" };
    let holds =
        check.require(!flows.is_empty(), &path(key), what, "choose another file or direction");
    flows.sort_by_key(|flow| flow.start);
    flows.truncate(doc.limit.map_or(usize::MAX, |limit| limit as usize));
    let direction = doc.direction.or(way).unwrap_or_else(|| mostly(&flows));
    holds.then(|| (flows.into(), direction))
}

/// Settings that belong to `flows` do not stand without it.
pub(super) fn refuse_without_flows(check: &mut Check<'_>, name: &str, doc: &ClassDoc) {
    for (key, given) in [
        ("time_scale", doc.time_scale.is_some()),
        ("limit", doc.limit.is_some()),
        ("only", doc.only.is_some()),
    ] {
        let help = "leave it out, or replay flows: `flows = \"capture.pcap\"`";
        check.require(!given, &["traffic", name, key], "has no effect without `flows`", help);
    }
}

/// The direction of most bytes.
fn mostly(flows: &[Replayed]) -> Direction {
    let bytes = |direction| {
        let of = flows.iter().filter(|flow| flow.direction == direction);
        of.fold(0u64, |sum, flow| sum.saturating_add(flow.size))
    };
    if bytes(Direction::Download) > bytes(Direction::Upload) {
        Direction::Download
    } else {
        Direction::Upload
    }
}

fn read(
    check: &mut Check<'_>,
    path: &[&str],
    file: &str,
    scale: f64,
    (doc, way): (&ClassDoc, Option<Direction>),
) -> Option<Vec<Replayed>> {
    let Some(bytes) = check.files.get(file) else {
        check.refuse(path, format!("the file {file:?} was not handed in"), "check its name");
        return None;
    };
    if bytes.len() > MAX_TABLE {
        let what = format!("the table in {file} is larger than {} MiB", MAX_TABLE >> 20);
        check.refuse(path, what, "leave other columns out, or take a part of its lines");
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (first, columns) = match Columns::named(bytes) {
        Ok(found) => found,
        Err(wrong) => return refuse(check, file, wrong),
    };
    if columns.direction.is_none() && doc.only.is_some() {
        let what = format!("{file} has no column `direction`");
        check.refuse(&[path[0], path[1], "only"], what, "leave it out");
        return None;
    }
    let usual = (doc.direction.or(way).unwrap_or_default(), opener(doc));
    if columns.direction.is_some() && doc.opens.is_some() {
        let what = format!("{file} has a column `direction`, and users open their flows");
        check.refuse(&[path[0], path[1], "opens"], what, "leave it out");
        return None;
    }
    match columns.flows(bytes, first, |start| start * scale, usual) {
        Ok(flows) => Some(flows),
        Err(wrong) => refuse(check, file, wrong),
    }
}

/// Notes what is wrong with a table, its line shown.
pub(super) fn refuse<T>(check: &mut Check<'_>, file: &str, wrong: Wrong) -> Option<T> {
    let text = check.texts.len();
    check.texts.push(Text { name: file.to_owned(), text: wrong.text, first: wrong.line });
    let place = Some(Place { text, span: wrong.span });
    let what = format!("{file}, line {}: {}", wrong.line, wrong.what);
    check.problems.push(Problem { what, help: wrong.help, place });
    None
}

/// The line at `byte`, which has this number, or the first after it that is no comment.
pub(super) fn line_at(bytes: &[u8], mut byte: usize, mut line: usize) -> (usize, String) {
    loop {
        let rest = bytes.get(byte..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == b'\n');
        let text = &rest[..end.unwrap_or(rest.len())];
        let blank = text.first() == Some(&b'#') || text.iter().all(u8::is_ascii_whitespace);
        match end {
            Some(end) if blank => (byte, line) = (byte + end + 1, line + 1),
            _ => {
                let shown = &text[..text.len().min(MAX_SHOWN)];
                return (line, String::from_utf8_lossy(shown).trim_end().to_owned());
            }
        }
    }
}

const EXAMPLE: &str = "start_s,size_bytes,direction";

/// What to do about a first line whose columns are not separated by commas.
pub(super) fn separated(names: &[&str]) -> Option<String> {
    let &[line] = names else { return None };
    let (_, said) =
        [(';', "`;`"), ('\t', "tabs")].into_iter().find(|(it, _)| line.contains(*it))?;
    Some(format!("separate the columns by commas, not by {said}, and write points in numbers"))
}

/// What is wrong with a first line that has one of these columns twice, and what to do.
pub(super) fn twice(first: &ByteRecord, columns: &[&str]) -> Option<(String, String)> {
    let count = |name: &str| first.iter().filter(|field| *field == name.as_bytes()).count();
    let name = columns.iter().find(|name| count(name) > 1)?;
    let help = "leave one of them out, or give it another name";
    Some((format!("there are two columns `{name}`"), help.to_owned()))
}

/// What is wrong with a line of more fields than the first one names: a decimal comma, or another
/// comma within a field, moves those behind it.
pub(super) fn beyond(record: &ByteRecord, named: usize) -> Option<(String, String)> {
    record.iter().skip(named).find(|field| !field.is_empty())?;
    let what = format!("{} fields, where the first line names {named}", record.len());
    let help = "write points in numbers, and put fields with a comma in quotes";
    Some((what, help.to_owned()))
}

/// What to do about a first line that lacks a column: the name that is wrong is the one in the file.
fn renamed(lacks: &str, names: &[&str]) -> String {
    let here = format!("columns here: {}", names.join(", "));
    match names
        .iter()
        .find(|name| !EXAMPLE.split(',').any(|right| right == **name) && near(lacks, name))
    {
        Some(name) => format!("write `{lacks}` in place of `{name}`, if it is that; {here}"),
        None => format!("name the columns in the first line, as in `{EXAMPLE}`; {here}"),
    }
}

/// Places of the columns.
struct Columns {
    start: usize,
    size: usize,
    direction: Option<usize>,
    /// How many the first line names.
    count: usize,
}

impl Columns {
    /// Reads the first line; the place of the next one comes with it.
    fn named(bytes: &[u8]) -> Result<(csv::Position, Columns), Wrong> {
        let mut reader = reader(bytes);
        let mut record = ByteRecord::new();
        let read = reader.read_byte_record(&mut record);
        let names: Vec<String> =
            record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let place = |name: &str| names.iter().position(|column| column == name);
        let (Ok(true), Some(start), Some(size)) = (read, place("start_s"), place("size_bytes"))
        else {
            let lacks = if place("start_s").is_none() { "start_s" } else { "size_bytes" };
            let (line, text) = line_at(bytes, 0, 1);
            let names: Vec<&str> = names.iter().map(|name| floor(name, 40)).take(20).collect();
            let what = format!("there is no column `{lacks}`");
            let help = separated(&names).unwrap_or_else(|| renamed(lacks, &names));
            return Err(Wrong { line, span: 0..text.len(), text, what, help });
        };
        let direction = place("direction");
        if let Some((what, help)) = twice(&record, &["start_s", "size_bytes", "direction"]) {
            let (line, text) = line_at(bytes, 0, 1);
            return Err(Wrong { line, span: 0..text.len(), text, what, help });
        }
        let columns = Columns { start, size, direction, count: names.len() };
        Ok((reader.position().clone(), columns))
    }

    /// Reads the lines from `first` on.
    fn flows(
        &self,
        bytes: &[u8],
        first: csv::Position,
        scaled: impl Fn(f64) -> f64,
        usual: (Direction, End),
    ) -> Result<Vec<Replayed>, Wrong> {
        let from = usize::try_from(first.byte()).unwrap_or(usize::MAX).min(bytes.len());
        let mut reader = reader(&bytes[from..]);
        let mut record = ByteRecord::new();
        let mut flows = Vec::new();
        loop {
            let place = reader.position().clone();
            let flow = match reader.read_byte_record(&mut record) {
                Ok(false) => return Ok(flows),
                Ok(true) if flows.len() == MAX_FLOWS => Err((
                    self.start,
                    format!("more than {MAX_FLOWS} flows"),
                    "take a part of the lines".to_owned(),
                )),
                Ok(true) => self.flow(&record, &scaled, usual),
                Err(error) => Err((self.start, error.to_string(), String::new())),
            };
            match flow {
                Ok(flow) => flows.push(flow),
                Err((column, what, help)) => {
                    let at = from + usize::try_from(place.byte()).unwrap_or(0);
                    let line = first.line() + place.line() - 1;
                    let (line, text) = line_at(bytes, at, usize::try_from(line).unwrap_or(0));
                    let field = record.get(column).map(String::from_utf8_lossy);
                    let found = field.filter(|field| !field.is_empty()).and_then(|field| {
                        let start = text.find(field.as_ref())?;
                        Some(start..start + field.len())
                    });
                    let span = found.unwrap_or(0..text.len());
                    return Err(Wrong { line, text, span, what, help });
                }
            }
        }
    }

    /// One line; else the column that is wrong, what is wrong and what would be right.
    fn flow(
        &self,
        record: &ByteRecord,
        scaled: impl Fn(f64) -> f64,
        usual: (Direction, End),
    ) -> Result<Replayed, (usize, String, String)> {
        let field = |column: usize, name: &str, help: &str| {
            let text = record.get(column).map(String::from_utf8_lossy).unwrap_or_default();
            if text.is_empty() {
                return Err((column, format!("`{name}` is empty"), help.to_owned()));
            }
            Ok(text)
        };
        let refused = |column, name: &str, text: &str, help: &str| {
            let what = format!("`{name}` cannot be `{}`", floor(text, 60));
            Err((column, what, help.to_owned()))
        };
        if let Some((what, help)) = beyond(record, self.count) {
            return Err((self.count, what, help));
        }
        let help = "write seconds after the beginning, from 0 up to 10000000, as in `0.25`";
        let text = field(self.start, "start_s", help)?;
        let start = match text.parse::<f64>().map(scaled) {
            Ok(start) if (0.0..=MAX_START).contains(&start) => Time::from_secs_f64(start),
            _ => return refused(self.start, "start_s", &text, help),
        };
        let help = "write bytes, from 1 up to 1e12; leave flows without data out";
        let text = field(self.size, "size_bytes", help)?;
        let size = match text.parse::<f64>().map(libm::ceil) {
            Ok(size) if (1.0..=MAX_SIZE.bytes() as f64).contains(&size) => size as u64,
            _ => return refused(self.size, "size_bytes", &text, help),
        };
        let Some(column) = self.direction else {
            let (direction, opens) = usual;
            return Ok(Replayed { start, size, direction, opens });
        };
        let help = "write upload or download";
        let direction = match field(column, "direction", help)?.as_ref() {
            "upload" => Direction::Upload,
            "download" => Direction::Download,
            other => return refused(column, "direction", other, help),
        };
        Ok(Replayed { start, size, direction, opens: direction.users() })
    }
}

fn reader(bytes: &[u8]) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(bytes)
}

/// The beginning of a text, so many bytes at the most.
fn floor(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}
