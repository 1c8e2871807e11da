//! What a line of a script says of an end, and whether it holds.

use crate::host::{Phase, Report};
use crate::units::Time;

use super::subject::PathEnd;
use super::timeline::{SentDatagram, Timeline};

/// What a situation says of its stacks.
#[derive(Debug)]
pub(super) enum DrillVerdict<'a> {
    /// They do what is asked for.
    Same,
    /// These do not; none named: none of them does.
    Differs(Vec<&'a str>),
}

/// A line about what leaves an end.
#[derive(Debug)]
pub(super) struct ClaimLine<'a> {
    pub(super) line: &'a str,
    pub(super) side: PathEnd,
    /// What the document asks for.
    pub(super) asked: Claimed<'a>,
    /// What is done instead.
    pub(super) here: Vec<Here<'a>>,
}

/// What is done instead, by one stack or by all.
#[derive(Debug)]
pub(super) struct Here<'a> {
    pub(super) stack: Option<&'a str>,
    pub(super) does: Claimed<'a>,
}

/// What leaves within a time, and the numbers of the end then.
#[derive(Debug)]
pub(super) struct Claimed<'a> {
    pub(super) from: Time,
    pub(super) to: Time,
    /// None: nothing is said of datagrams.
    pub(super) left: Option<Vec<&'a str>>,
    pub(super) values: Vec<(&'a str, f64, f64)>,
    pub(super) states: Vec<&'a str>,
}

impl Claimed<'_> {
    pub(super) fn holds(&self, side: PathEnd, timeline: &Timeline) -> Result<bool, String> {
        let report = timeline.report(side, self.to);
        for &(word, least, most) in &self.values {
            let is = value(word, &report)
                .ok_or_else(|| format!("there is no word `{word}`: README.md has the list"))?;
            if !(least <= is.floor() && is.floor() <= most) {
                return Ok(false);
            }
        }
        if !self.states.iter().all(|word| is_so(word, &report)) {
            return Ok(false);
        }
        let Some(left) = &self.left else { return Ok(true) };
        let mut sent = timeline.sent(side, self.from, self.to);
        for word in left {
            if *word == "..." {
                return Ok(true);
            }
            if !sent.next().is_some_and(|sent| fits(sent, word)) {
                return Ok(false);
            }
        }
        Ok(sent.next().is_none())
    }
}

/// The words for the state of an end.
pub(super) const STATES: &[&str] = &["opening", "open", "closing", "over", "complete", "failed"];

fn is_so(word: &str, report: &Report) -> bool {
    match word {
        "opening" => report.phase == Phase::Opening,
        "open" => report.phase == Phase::Open,
        "closing" => report.phase == Phase::Closing,
        "over" => report.phase == Phase::Over,
        "complete" => report.complete,
        _ => report.failed,
    }
}

/// A number of the end, by its word.
fn value(word: &str, report: &Report) -> Option<f64> {
    Some(match word {
        "cwnd" => report.window.map_or(f64::INFINITY, |window| window as f64),
        "srtt" => report.srtt.map_or(f64::INFINITY, |srtt| srtt.secs() * 1e3),
        "lost" => f64::from(report.lost),
        "delivered" => report.delivered as f64,
        _ => return None,
    })
}

/// Whether a datagram is what a word says; what the word leaves out may be anything.
fn fits(sent: &SentDatagram, word: &str) -> bool {
    if word == "any" {
        return true;
    }
    let (is, wanted) = (sent.word.split('+'), word.split('+'));
    is.clone().count() == wanted.clone().count()
        && is.zip(wanted).all(|(is, wanted)| packet_fits(is, wanted, sent))
}

fn packet_fits(is: &str, wanted: &str, sent: &SentDatagram) -> bool {
    let mut parts = wanted.split(':');
    let kind = parts.next().unwrap_or_default();
    let own: Vec<&str> = is.split(':').collect();
    let data = kind == "data" && is.starts_with(|first: char| first.is_ascii_digit());
    let whole = [format!("@{}", sent.size), sent.mark.to_owned()];
    (data || own[0] == kind)
        && parts.all(|part| own[1..].contains(&part) || whole.iter().any(|word| word == part))
}
