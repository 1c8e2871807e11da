//! What the two ends of a drill have sent, and what they said of themselves.

use crate::host::Report;
use crate::units::Time;

use super::subject::PathEnd;

/// How far a time may be from the one that is written: stacks count in nanoseconds or microseconds.
pub(super) const TOLERANCE: Time = Time::from_ns(1_500);

/// A datagram that an end has sent.
#[derive(Debug)]
pub(super) struct SentDatagram {
    pub(super) at: Time,
    pub(super) side: PathEnd,
    /// How many its end has sent before.
    pub(super) number: u32,
    pub(super) word: String,
    pub(super) size: usize,
    /// How it was marked when it left.
    pub(super) mark: &'static str,
    /// What became of it on the path.
    pub(super) fates: String,
}

/// All that has happened.
#[derive(Default)]
pub(super) struct Timeline {
    pub(super) sent: Vec<SentDatagram>,
    pub(super) reports: Vec<(Time, PathEnd, Report)>,
}

impl Timeline {
    /// What an end has sent from one time to another, in order.
    pub(super) fn sent(
        &self,
        side: PathEnd,
        from: Time,
        to: Time,
    ) -> impl Iterator<Item = &SentDatagram> {
        let (from, to) = (from.saturating_sub(TOLERANCE), to.saturating_add(TOLERANCE));
        let within =
            move |sent: &&SentDatagram| sent.side == side && from <= sent.at && sent.at <= to;
        self.sent.iter().filter(within)
    }

    /// What an end has said of itself last by then.
    pub(super) fn report(&self, side: PathEnd, by: Time) -> Report {
        let by = by.saturating_add(TOLERANCE);
        let mut said = self.reports.iter().rev();
        let last = said.find(|(at, of, _)| *of == side && *at <= by);
        last.map_or_else(Report::default, |(.., report)| *report)
    }

    /// The same in words.
    pub(super) fn within(&self, side: PathEnd, from: Time, to: Time) -> String {
        let words = self.sent(side, from, to).map(|sent| format!("{} {}", ms(sent.at), sent.word));
        let words: Vec<String> = words.collect();
        let sent = if words.is_empty() { "nothing".into() } else { words.join(", ") };
        let report = self.report(side, to);
        let cwnd = report.window.map_or("none".into(), |window| window.to_string());
        let srtt = report.srtt.map_or("none".into(), ms);
        let (lost, delivered, phase) = (report.lost, report.delivered, report.phase);
        let failed = if report.failed { " failed" } else { "" };
        format!(
            "{sent}; cwnd {cwnd} srtt {srtt} lost {lost} delivered {delivered} {phase:?}{failed}"
        )
    }

    /// All that was sent, a line each.
    pub(super) fn told(&self) -> String {
        let line = |sent: &SentDatagram| {
            let side = if sent.side == PathEnd::Client { "client" } else { "server" };
            let (at, number, word, size) = (ms(sent.at), sent.number, &sent.word, sent.size);
            format!("    {at} {side} {number} {word}:@{size}{}", sent.fates)
        };
        self.sent.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// In milliseconds, to the microsecond.
fn ms(time: Time) -> String {
    let text = format!("{:.3}", time.secs() * 1e3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
