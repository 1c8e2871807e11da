//! The capacity and the delay of a link, read from traces.

mod reading;

use std::sync::Arc;

use tidegate_core::port::Opportunities;
use tidegate_core::units::{Rate, Time};

use super::problems::Check;
use crate::document::PortDoc;
use crate::document::impairments::{PortDelayDoc, PortRateDoc};
use crate::scenario::{LinkChange, LinkValue, PacketOrder, Port, Spread};
pub(crate) use reading::is_shipped;
use reading::{Column, DELAY, MAX_LINES, RATE, Trace, Values, read};

/// Bytes of an opportunity: a packet of 1500 bytes and four of mahimahi's own.
const OPPORTUNITY: u32 = 1504;

/// Lets the capacity and the delay of a port follow their traces, and adds the changes that
/// this takes.
pub(super) fn apply(
    check: &mut Check<'_>,
    (number, port): (u32, &mut Port),
    doc: &PortDoc,
    duration: Time,
    changes: &mut Vec<LinkChange>,
) {
    let name = port.name.clone();
    if let Some(doc) = &doc.rate {
        let path = |key| ["port", name.as_str(), "rate", key];
        capacity(check, &path, (number, port), doc, duration, changes);
    }
    if let Some(doc) = &doc.delay {
        let path = |key| ["port", name.as_str(), "delay", key];
        delay(check, &path, (number, port), doc, duration, changes);
    }
}

/// Path of a key of the trace.
type Path<'a> = dyn Fn(&'a str) -> [&'a str; 4] + 'a;

fn capacity<'a>(
    check: &mut Check<'_>,
    path: &Path<'a>,
    (number, port): (u32, &mut Port),
    doc: &PortRateDoc,
    duration: Time,
    changes: &mut Vec<LinkChange>,
) {
    let rate =
        |change: &LinkChange| change.port == number && matches!(change.to, LinkValue::Rate(_));
    let sound = alone(check, path, &RATE, changes.iter().any(rate));
    let Some(trace) = read(check, &path("trace"), &doc.trace, &RATE).filter(|_| sound) else {
        return;
    };
    let mean = match trace {
        Trace::Opportunities(times) => opportunities(check, &path("scale"), times, doc, port),
        Trace::Values(Values { rows: rates, from }) => {
            port.impairments.trace_from = from;
            let turns = Turns { values: &rates, start: doc.start, repeat: doc.repeat, duration };
            let bps = |value: f64| Rate::from_bps((value * doc.scale).round() as u64);
            let to = |value| LinkValue::Rate(bps(value));
            add(check, &path("trace"), &turns, (number, &to), changes);
            Some(mean(&rates) * doc.scale)
        }
    };
    if let Some(bps) = mean {
        port.rate = Rate::from_bps((bps.round() as u64).max(1));
        (port.impairments.changes, port.impairments.traced) = (true, true);
    }
}

fn delay<'a>(
    check: &mut Check<'_>,
    path: &Path<'a>,
    (number, port): (u32, &mut Port),
    doc: &PortDelayDoc,
    duration: Time,
    changes: &mut Vec<LinkChange>,
) {
    let delay =
        |change: &LinkChange| change.port == number && matches!(change.to, LinkValue::Delay { .. });
    let sound = alone(check, path, &DELAY, changes.iter().any(delay));
    let found = read(check, &path("trace"), &doc.trace, &DELAY);
    let Some(Trace::Values(Values { rows: delays, from })) = found.filter(|_| sound) else {
        return;
    };
    port.impairments.trace_from = from;
    let least = delays.iter().map(|&(_, delay)| delay).fold(f64::INFINITY, f64::min);
    if let Some(Spread::Uniform(most)) = port.impairments.jitter.map(|jitter| jitter.spread) {
        let least = Time::from_secs_f64(least);
        let what =
            format!("a delay cannot be {most} less than the trace's least, which is {least}");
        let help = "write at most the least delay of the trace";
        check.require(most <= least, &["port", &port.name, "jitter", "uniform"], what, help);
    }
    let turns = Turns { values: &delays, start: doc.start, repeat: doc.repeat, duration };
    let another_path = doc.order == PacketOrder::Free;
    let to = |secs| LinkValue::Delay { delay: Time::from_secs_f64(secs), another_path };
    add(check, &path("trace"), &turns, (number, &to), changes);
    port.delay = Time::from_secs_f64(mean(&delays));
    port.impairments.changes = true;
}

/// Whether no change of the document says the same as the trace.
fn alone<'a>(check: &mut Check<'_>, path: &Path<'a>, column: &Column, changed: bool) -> bool {
    let what = format!("a change of this {} is written as well", column.kind);
    check.require(!changed, &path("trace"), what, "leave one of the two out")
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

/// The mean of values over one turn.
fn mean(values: &[(Time, f64)]) -> f64 {
    let end = values.last().map_or(0.0, |&(at, _)| at.secs());
    let area = values.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0).secs());
    area.sum::<f64>() / end
}

/// Adds the changes of a port that a trace makes.
fn add(
    check: &mut Check<'_>,
    path: &[&str],
    turns: &Turns<'_>,
    (port, to): (u32, &dyn Fn(f64) -> LinkValue),
    changes: &mut Vec<LinkChange>,
) {
    let first = changes.len();
    turns.steps(|at, value| {
        changes.push(LinkChange { at, begins: at, port, to: to(value) });
        changes.len() - first < MAX_LINES
    });
    let what = format!("the trace makes more than {MAX_LINES} changes of the link");
    let help = "take a shorter run, or a coarser trace";
    check.require(changes.len() - first < MAX_LINES, path, what, help);
}

/// The values of a trace, and how often a run goes through them.
struct Turns<'a> {
    values: &'a [(Time, f64)],
    /// Where in the trace the run begins.
    start: Time,
    repeat: bool,
    /// Of the run.
    duration: Time,
}

impl Turns<'_> {
    /// What holds from when on during a run, as long as `push` takes it.
    fn steps(&self, mut push: impl FnMut(Time, f64) -> bool) {
        let [turns @ .., (turn, last)] = self.values else { return };
        let past = if self.repeat { self.start.ps() / turn.ps().max(1) } else { 0 };
        let mut begin = *turn * past;
        let mut present = turns.first().map_or(*last, |&(_, value)| value);
        let mut begun = false;
        loop {
            for &(at, value) in turns {
                let at = begin + at;
                if at <= self.start {
                    present = value;
                    continue;
                }
                if !std::mem::replace(&mut begun, true) && !push(Time::ZERO, present) {
                    return;
                }
                let at = at - self.start;
                if at >= self.duration || !push(at, value) {
                    return;
                }
            }
            begin += *turn;
            if !self.repeat {
                break;
            }
        }
        if !begun && !push(Time::ZERO, present) {
            return;
        }
        // without another turn the last line holds
        let end = turn.saturating_sub(self.start);
        if end < self.duration {
            push(end, *last);
        }
    }
}
