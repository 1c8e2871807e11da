//! Video: what a player needs, and which keys have no effect with it.

use tidegate_core::units::{Rate, Time};

use super::problems::Check;
use crate::document::ClassDoc;
use crate::document::size::{Distribution, SizeDoc};
use crate::document::video::VideoDoc;
use crate::scenario::{Direction, End, Transport, Video};

/// Most rates of a ladder.
const MOST_RATES: usize = 50;
/// Longest buffer.
const LONGEST_BUFFER: Time = Time::from_secs(3_600);
/// Most packets of a connection: their numbers have 32 bits.
const MOST_PACKETS: u64 = 1 << 30;

/// Sets the defaults of a class of video; called before the rest of the class is checked.
pub(super) fn prepare(doc: &mut ClassDoc) {
    if doc.video.is_some() && doc.flows.is_none() {
        doc.size.get_or_insert(SizeDoc(Distribution::Unlimited));
        doc.direction.get_or_insert(Direction::Download);
    }
}

/// The checked video of a class, if it has any; `duration`: of the run.
pub(super) fn video(
    check: &mut Check<'_>,
    name: &str,
    doc: &mut ClassDoc,
    transport: &Transport,
    duration: Time,
) -> Option<Video> {
    beside(check, name, doc, transport);
    let doc = doc.video.as_mut()?;
    let holds = ladder(check, name, doc) & times(check, name, doc);
    if !holds {
        return None;
    }
    let path = ["traffic", name, "video"];
    let (ladder, segment, buffer) = (doc.ladder.clone(), doc.segment, doc.buffer);
    doc.rule.fill_in_defaults(&ladder, buffer, segment);
    if let Err((field, message)) = doc.rule.check(&ladder, buffer, segment) {
        check.refuse(&[&path[..], &["rule", &field]].concat(), message, "");
    }
    let start = *doc.start.get_or_insert(segment);
    let segments = doc.length.map(|length| length.ps().div_ceil(segment.ps()));
    let payload = u64::from(transport.payload()).max(1);
    let most = ladder.last().map_or(0, |&rate| packets(rate, segment, payload));
    let wanted = (duration.saturating_add(buffer)).ps().div_ceil(segment.ps());
    let wanted = segments.map_or(wanted, |segments| segments.min(wanted));
    check.require(
        wanted.saturating_mul(most) < MOST_PACKETS,
        &["traffic", name, "video", "ladder"],
        "at the highest rate a viewer would fetch more than 2^30 packets",
        "write lower rates, a shorter film or run, or a larger mss",
    );
    let packets = ladder.iter().map(|&rate| packets(rate, segment, payload) as u32).collect();
    Some(Video {
        segments: segments.map_or(u32::MAX, |all| u32::try_from(all).unwrap_or(u32::MAX)),
        packets,
        ladder,
        segment,
        buffer,
        start,
        rule: doc.rule.clone(),
    })
}

/// Packets of a segment: whole ones, at least one.
fn packets(rate: Rate, segment: Time, payload: u64) -> u64 {
    (rate * segment).bytes().div_ceil(payload).max(1)
}

/// Keys and transports that have no effect with video.
fn beside(check: &mut Check<'_>, name: &str, doc: &ClassDoc, transport: &Transport) {
    if doc.video.is_none() {
        return;
    }
    let path = |key| ["traffic", name, key];
    let size = !matches!(&doc.size, Some(SizeDoc(Distribution::Unlimited)) | None);
    let upload = doc.direction == Some(Direction::Upload);
    let served = doc.opens == Some(End::Sender);
    for (key, wrong, help) in [
        ("size", size, "leave it out: the film's `length` says how much there is"),
        ("flows", doc.flows.is_some(), "leave one of the two out"),
        ("stop", doc.stop.is_some(), "write `length`: how long the film is"),
        ("direction", upload, "leave it out: viewers open connections, and data comes to them"),
        ("opens", served && !upload, "leave it out: viewers open connections"),
    ] {
        check.require(!wrong, &path(key), "has no effect with `video`", help);
    }
    check.require(
        transport.opens_connections(),
        &path("transport"),
        "video is fetched over connections, which the viewer opens",
        "write tcp or a transport with a control of its own, as in \"qfcp\", with its handshake",
    );
}

fn ladder(check: &mut Check<'_>, name: &str, doc: &VideoDoc) -> bool {
    let path = ["traffic", name, "video", "ladder"];
    let ladder = &doc.ladder;
    let count = check.require(
        (1..=MOST_RATES).contains(&ladder.len()),
        &path,
        format!("{} rates are out of range", ladder.len()),
        "write 1 to 50 rates, as in [\"1Mbit\", \"2.5Mbit\", \"5Mbit\"]",
    );
    let falls = ladder.windows(2).find(|pair| pair[0] >= pair[1]);
    let rises = check.require(
        falls.is_none(),
        &path,
        falls.map_or_else(String::new, |pair| format!("{} is followed by {}", pair[0], pair[1])),
        "write the rates in rising order, each once",
    );
    count && rises
}

fn times(check: &mut Check<'_>, name: &str, doc: &VideoDoc) -> bool {
    let path = |key| ["traffic", name, "video", key];
    let VideoDoc { segment, buffer, .. } = *doc;
    let room = check.require(
        buffer >= segment * 2 && buffer <= LONGEST_BUFFER,
        &path("buffer"),
        format!("a buffer of {buffer} is out of range, with segments of {segment}"),
        &format!("write a time from {} (two segments) to 1h", segment * 2),
    );
    let start = doc.start.unwrap_or(segment);
    let starts = !room
        || check.require(
            start <= buffer.saturating_sub(segment),
            &path("start"),
            format!("{start} is out of range"),
            &format!(
                "write a time up to {} (the buffer less a segment)",
                buffer.saturating_sub(segment)
            ),
        );
    room && starts
}
