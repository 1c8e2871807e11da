//! Requested and achieved values.

use hdrhistogram::Histogram;
use serde::Serialize;
use tidegate_core::law::Reason;
use tidegate_core::port::Counters;
use tidegate_core::units::{Rate, Time};

/// A second in which the link was sending for less than this does not count for the rate.
const BUSY: f64 = 0.99;

/// One direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Direction {
    /// Port of the scenario.
    pub port: String,
    /// Rate of the scenario, bit/s of IP packets; if it changes, the last one.
    pub asked_bps: u64,
    /// Mean rate written in the seconds in which the link was always sending (at the last rate);
    /// null if there was none.
    pub reached_bps: Option<f64>,
    /// Number of these seconds.
    pub busy_seconds: u64,
    /// Delay of the scenario after the port, ms: of the link, and of the other links on the path.
    pub asked_delay_ms: f64,
    /// Whether the scenario varies that delay (a trace, jitter, reordering, batches): it is then what
    /// the scenario has at first.
    pub delay_varies: bool,
    /// Achieved delay, ms: that delay plus the lateness of the write; median over packets. Null if
    /// no packet was written.
    pub delay_p50_ms: Option<f64>,
    /// The same, 95th percentile.
    pub delay_p95_ms: Option<f64>,
    /// The same, 99th percentile.
    pub delay_p99_ms: Option<f64>,
    /// The same, maximum.
    pub delay_max_ms: Option<f64>,
    /// Duration, s.
    pub seconds: f64,
    /// Packets that waited at the port, mean over time.
    pub queue_mean_packets: f64,
    /// Packets that the device dropped before they were read: this program was too slow.
    pub not_read: u64,
    /// Packets read from the device.
    pub read: u64,
    /// Packets written to the other device.
    pub written: u64,
    /// Packets that are not IP; they are not carried.
    pub not_ip: u64,
    /// Packets that the other device refused.
    pub not_taken: u64,
    /// Packets dropped at the port, by reason.
    pub drops: Vec<(String, u64)>,
    /// Packets that were written with a wrong bit, as the scenario wants it.
    pub damaged: u64,
    /// Packets that were written twice, as the scenario wants it.
    pub copied: u64,
    /// Packets marked instead of lost.
    pub marked: u64,
    /// SYNs that arrived.
    pub syn_arrived: u64,
    /// Resets sent in answer to refused opening packets.
    pub resets: u64,
}

/// Collects the achieved values of one direction.
pub struct Watch {
    late_us: Histogram<u64>,
    bytes: u64,
    busy_before: u64,
    /// Bits sent in the busy seconds, and the number of these.
    busy: (f64, u64),
    second_began: Time,
}

impl Watch {
    /// Starts at `now`.
    ///
    /// # Errors
    /// Never with these bounds.
    pub fn new(now: Time) -> Result<Watch, hdrhistogram::CreationError> {
        let late_us = Histogram::new_with_bounds(1, 60_000_000, 3)?;
        Ok(Watch { late_us, bytes: 0, busy_before: 0, busy: (0.0, 0), second_began: now })
    }

    /// A packet scheduled for `due` was written at `now`.
    pub fn wrote(&mut self, bytes: usize, due: Time, now: Time) {
        self.bytes += bytes as u64;
        self.late_us.saturating_record(now.saturating_sub(due).ps() / 1_000_000);
    }

    /// Ends a second if it is over; `busy_ps` is the port's total.
    pub fn end_second(&mut self, busy_ps: u64, now: Time) {
        let length = now.saturating_sub(self.second_began).secs();
        if length < 1.0 {
            return;
        }
        let busy_s = (busy_ps - self.busy_before) as f64 * 1e-12;
        if busy_s >= BUSY * length {
            self.busy = (self.busy.0 + self.bytes as f64 * 8.0 / length, self.busy.1 + 1);
        }
        (self.bytes, self.busy_before, self.second_began) = (0, busy_ps, now);
    }

    /// The rate has changed.
    pub fn changed(&mut self) {
        self.busy = (0.0, 0);
    }

    /// Writes the values into a direction's report.
    pub fn write_into(
        &self,
        direction: &mut Direction,
        (rate, delay): (Rate, Time),
        counters: &Counters,
    ) {
        let (bits, seconds) = self.busy;
        direction.asked_bps = rate.bps();
        direction.reached_bps = (seconds > 0).then(|| bits / seconds as f64);
        direction.busy_seconds = seconds;
        direction.asked_delay_ms = delay.secs() * 1e3;
        let written = !self.late_us.is_empty();
        let delay = |late_us: u64| written.then(|| delay.secs() * 1e3 + late_us as f64 * 1e-3);
        let reached = |quantile: f64| delay(self.late_us.value_at_quantile(quantile));
        direction.delay_p50_ms = reached(0.5);
        direction.delay_p95_ms = reached(0.95);
        direction.delay_p99_ms = reached(0.99);
        direction.delay_max_ms = delay(self.late_us.max());
        direction.written = self.late_us.len();
        direction.drops = Reason::ALL
            .iter()
            .zip(counters.drops)
            .filter(|(_, number)| *number > 0)
            .map(|(reason, number)| (reason.name().to_owned(), number))
            .collect();
        (direction.marked, direction.syn_arrived) = (counters.marked, counters.syn_arrived);
        (direction.damaged, direction.copied) = (counters.damaged, counters.copied);
    }
}

/// The report as text.
pub fn lines(directions: &[Direction]) -> String {
    directions.iter().map(of_direction).collect()
}

fn of_direction(one: &Direction) -> String {
    let reached = one.reached_bps.map_or("never busy for a second".to_owned(), |bps| {
        format!("{:.3} reached in {} busy s", bps * 1e-6, one.busy_seconds)
    });
    let mut text = format!("{}\n", one.port);
    text += &format!("  rate     {:.3} Mbit/s requested, {reached}\n", one.asked_bps as f64 * 1e-6);
    let varies = if one.delay_varies { " at first, which varies" } else { "" };
    let reached = reached_delay(one).unwrap_or_else(|| "no packet was written".to_owned());
    text += &format!("  delay    {:.3} ms requested{varies}; {reached}\n", one.asked_delay_ms);
    text += &format!(
        "  queue    {:.1} packets, mean of {:.1} s\n",
        one.queue_mean_packets, one.seconds
    );
    text += &format!(
        "  packets  {} read, {} written, {} marked, {} resets\n",
        one.read, one.written, one.marked, one.resets
    );
    for (reason, number) in &one.drops {
        text += &format!("  lost     {number} ({reason})\n");
    }
    for (number, what) in [
        (one.damaged, "damaged (corrupt)"),
        (one.copied, "written twice (duplicate)"),
        (one.not_read, "dropped by the device before they were read"),
        (one.not_taken, "refused by the other device"),
        (one.not_ip, "not IP"),
    ] {
        if number > 0 {
            text += &format!("  other    {number} {what}\n");
        }
    }
    text
}

/// The achieved delay as text; none: no packet was written.
fn reached_delay(one: &Direction) -> Option<String> {
    let with = if one.delay_varies { "that with the lateness of writing: " } else { "" };
    let parts = [
        (one.delay_p50_ms, "(p50)"),
        (one.delay_p95_ms, "(p95)"),
        (one.delay_p99_ms, "(p99)"),
        (one.delay_max_ms, "at most"),
    ];
    let parts = parts.map(|(ms, what)| Some(format!("{:.3} {what}", ms?)));
    Some(format!("{with}{}", parts.into_iter().collect::<Option<Vec<_>>>()?.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The lateness is measured, and not what a trace or jitter added: the line must not read as if.
    #[test]
    fn a_delay_that_varies_is_not_called_reached() {
        let late = Some(40.5);
        let constant = Direction {
            asked_delay_ms: 40.0,
            delay_p50_ms: late,
            delay_p95_ms: late,
            delay_p99_ms: late,
            delay_max_ms: late,
            ..Direction::default()
        };
        assert!(of_direction(&constant).contains("40.000 ms requested; 40.500 (p50)"));
        let varies = of_direction(&Direction { delay_varies: true, ..constant });
        let said =
            "40.000 ms requested at first, which varies; that with the lateness of writing: 40.5";
        assert!(varies.contains(said), "{varies}");
    }

    // A second at 8 Mbit/s always sending, then one half busy: only the first counts.
    #[test]
    fn only_busy_seconds_tell_the_rate() {
        let mut watch = Watch::new(Time::ZERO).expect("the bounds are right");
        let due = Time::from_ms(10);
        watch.wrote(1_000_000, due, Time::from_ms(12));
        watch.end_second(1_000_000_000_000, Time::from_secs(1));
        watch.wrote(500_000, due, Time::from_ms(10));
        watch.end_second(1_500_000_000_000, Time::from_secs(2));
        let mut found = Direction::default();
        let asked = (Rate::from_bps(8_000_000), Time::from_ms(40));
        watch.write_into(&mut found, asked, &Counters::default());
        assert_eq!((found.reached_bps, found.busy_seconds, found.written), (Some(8e6), 1, 2));
        // one of two packets 2 ms late on 40, to three digits; the other on time
        let is = |ms: Option<f64>, by_hand: f64| ms.is_some_and(|ms| (ms - by_hand).abs() < 0.01);
        assert!(is(found.delay_max_ms, 42.0), "{:?}", found.delay_max_ms);
        assert!(is(found.delay_p50_ms, 40.0), "{:?}", found.delay_p50_ms);
    }

    // Where nothing was written nothing was measured: the delay that was asked for is not reached.
    #[test]
    fn without_a_packet_there_is_no_delay() {
        let watch = Watch::new(Time::ZERO).expect("the bounds are right");
        let mut found = Direction::default();
        let asked = (Rate::from_bps(8_000_000), Time::from_ms(40));
        watch.write_into(&mut found, asked, &Counters::default());
        let measured = [found.delay_p50_ms, found.delay_p95_ms, found.delay_p99_ms];
        assert_eq!((measured, found.delay_max_ms), ([None; 3], None));
        let said = of_direction(&found);
        assert!(said.contains("40.000 ms requested; no packet was written"), "{said}");
        let json = serde_json::to_value(&found).expect("it can be written");
        assert!(json["delay_p95_ms"].is_null());
    }
}
