//! What a gate that observes has seen, and the configuration that follows from it.
//!
//! The law runs open-loop: it decides, and its decisions change nothing. So the share that it
//! would have refused is an upper bound: clients that are refused stop filling the link.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_core::units::Rate;

use super::status::Status;

/// What an operator asked for.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The rate of the link, if it was given.
    pub rate: Option<Rate>,
    /// How long to watch; none: until interrupted.
    pub length: Option<Duration>,
    /// Where to write the configuration.
    pub file: PathBuf,
}

/// Sums over all epochs.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// What was asked for.
    pub plan: Plan,
    epochs: u64,
    openers: u64,
    refused: u64,
    full: u64,
    lost: u64,
    peak_bps: f64,
    /// The largest rate of what came in.
    peak_in_bps: f64,
    unseen_share: f64,
    bypassed_share: f64,
    watched: Duration,
    interface: String,
    /// Whether packets can wait at the interface.
    queue: bool,
}

impl Observation {
    /// Nothing was seen so far.
    pub fn new(plan: Plan) -> Observation {
        Observation { plan, ..Observation::default() }
    }

    /// An epoch of that length has ended with this status.
    pub fn epoch(&mut self, status: &Status, length: Duration) {
        self.epochs += 1;
        self.watched += length;
        self.openers += status.arrived;
        self.refused += status.arrived.saturating_sub(status.admitted);
        self.lost += status.drops;
        self.peak_bps = self.peak_bps.max(status.rate_bps);
        self.peak_in_bps = self.peak_in_bps.max(status.received_bps);
        let at_rate =
            self.plan.rate.is_some_and(|rate| status.rate_bps >= 0.95 * rate.bps() as f64);
        self.full += u64::from(status.drops > 0 || status.min_waiting > 0 || at_rate);
        self.unseen_share = status.unseen_share;
        self.bypassed_share = self.bypassed_share.max(status.bypassed_share);
        self.interface.clone_from(&status.interface);
        self.queue = !matches!(status.queue.as_str(), "noqueue" | "");
    }

    /// Whether an epoch has ended.
    pub fn saw_something(&self) -> bool {
        self.epochs > 0
    }

    fn percent(of: u64, all: u64) -> f64 {
        100.0 * of as f64 / all.max(1) as f64
    }

    /// What was seen, as lines for people.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        // writing to a string does not fail
        let _ = writeln!(
            text,
            "{}, {:.1} min: of {} openers {:.1} % would have been refused; nobody was",
            self.interface,
            self.watched.as_secs_f64() / 60.0,
            self.openers,
            Self::percent(self.refused, self.openers),
        );
        let _ = writeln!(
            text,
            "  link      full {:.0} % of the time; at most {} in an epoch; {} packets lost",
            Self::percent(self.full, self.epochs),
            rounded(self.peak_bps),
            self.lost,
        );
        let _ = writeln!(
            text,
            "  not seen  {:.1} % of the bytes (UDP, tunnels, fragments)",
            100.0 * self.unseen_share
        );
        if self.bypassed_share > 0.0 {
            let _ = writeln!(
                text,
                "  bypassed  {:.0} % of the bytes: `tidegated status` says by what",
                100.0 * self.bypassed_share
            );
        }
        if self.comes_in() {
            let _ = writeln!(
                text,
                "  incoming  at most {} in an epoch: a gate here holds back what leaves by {}; to control downloads run it at the interface towards the users",
                rounded(self.peak_in_bps),
                self.interface,
            );
        }
        if !self.queue {
            text += "  queue     none here: if the congested link is behind this interface, give its --rate\n";
        }
        text
    }

    /// Whether the load comes in, so that its queue is at the other end of the link, or at another
    /// interface of this machine.
    fn comes_in(&self) -> bool {
        self.peak_in_bps > 2.0 * self.peak_bps
    }

    /// The law and the rate that fit what was seen: a table of keys.
    fn advice(&self) -> (String, &'static str) {
        match self.plan.rate {
            _ if self.comes_in() => (
                "law = { law = \"close-probe\", relief = true }\n".to_owned(),
                "more comes in than leaves, so the link is not full in this direction: observe the interface towards the users",
            ),
            // the queue has to be moved here
            Some(rate) if !self.queue => {
                let rate = rounded(0.95 * rate.bps() as f64);
                (
                    format!("law = {{ law = \"tide\" }}\nshape = \"{rate}\"\n"),
                    "the rate given, less 5 %, so that the queue is here",
                )
            }
            Some(rate) => (
                format!("law = {{ law = \"tide\" }}\ncapacity = \"{rate}\"\n"),
                "the rate given, for the queue of the interface",
            ),
            None if self.full > 0 && self.queue => (
                format!("law = {{ law = \"tide\" }}\ncapacity = \"{}\"\n", rounded(self.peak_bps)),
                "the largest rate that was seen while the link was full",
            ),
            None if !self.queue => (
                "law = { law = \"close-probe\", relief = true }\n".to_owned(),
                "which refuses nobody, as no packet waits here: observe again with --rate, that of the link",
            ),
            None => (
                "law = { law = \"close-probe\", relief = true }\n".to_owned(),
                "the link was never full here, so its rate is not known",
            ),
        }
    }

    /// The suggestion in one line.
    pub fn suggestion(&self) -> String {
        let (keys, reason) = self.advice();
        format!("suggested: {} ({reason})\n", keys.trim().replace('\n', ", "))
    }

    /// The configuration, to begin with in observe mode.
    pub fn config(&self) -> String {
        let (keys, reason) = self.advice();
        format!(
            "# Written by `tidegated gate observe`: {} openers were seen, the link was full {:.0} % of the time.\n\
             interface = \"{}\"\n\n\
             # \"observe\" refuses nothing. Try refusals: tidegated gate enforce --for 10min\n\
             mode = \"observe\"\n\n\
             # {reason}\n\
             {keys}\n\
             # at most this share of an epoch's openers is refused\n\
             ceiling = 0.95\n\n\
             # SSH, BGP and NETCONF are never refused either\n\
             never_refuse = {{ networks = [], ports = [] }}\n",
            self.openers,
            Self::percent(self.full, self.epochs),
            self.interface,
        )
    }
}

/// A rate with three significant digits.
fn rounded(bps: f64) -> Rate {
    if bps < 1.0 {
        return Rate::from_bps(1);
    }
    let unit = 10f64.powf(bps.log10().floor() - 2.0).max(1.0);
    Rate::from_bps(((bps / unit).round() * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Mode};

    fn observation(rate: Option<u64>, queue: &str, epochs: &[(u64, u64, u64, f64)]) -> Observation {
        let rate = rate.map(Rate::from_bps);
        let mut seen = Observation::new(Plan { rate, length: None, file: PathBuf::new() });
        for (arrived, admitted, drops, rate_bps) in epochs {
            let status = Status {
                interface: "wan0".to_owned(),
                queue: queue.to_owned(),
                arrived: *arrived,
                admitted: *admitted,
                drops: *drops,
                rate_bps: *rate_bps,
                ..Status::default()
            };
            seen.epoch(&status, Duration::from_millis(22_500));
        }
        seen
    }

    // By hand: 300 openers, 60 of them refused by the law: 20 %. Two epochs of four lost packets.
    #[test]
    fn the_shares_are_of_openers_and_of_epochs() {
        let busy = (100, 70, 5, 95_440_000.0);
        let calm = (50, 50, 0, 20e6);
        let seen = observation(None, "fq_codel", &[busy, calm, busy, calm]);
        let text = seen.summary();
        assert!(text.contains("wan0, 1.5 min: of 300 openers 20.0 % would"), "{text}");
        assert!(text.contains("full 50 % of the time; at most 95.4Mbit"), "{text}");
        assert!(text.contains("10 packets lost"), "{text}");
        assert!(seen.suggestion().contains("capacity = \"95.4Mbit\""));
    }

    // Downloads: 14 Mbit/s come in by wan0, and ACKs leave by it. Nothing of that can be held here.
    #[test]
    fn a_load_that_comes_in_is_to_be_controlled_elsewhere() {
        let rate = Some(Rate::from_bps(10_000_000));
        let mut seen = Observation::new(Plan { rate, length: None, file: PathBuf::new() });
        let status = Status {
            interface: "wan0".to_owned(),
            arrived: 20,
            admitted: 20,
            rate_bps: 600_000.0,
            received_bps: 14e6,
            ..Status::default()
        };
        seen.epoch(&status, Duration::from_secs(1));
        let text = seen.summary();
        assert!(text.contains("incoming  at most 14Mbit in an epoch"), "{text}");
        assert!(text.contains("run it at the interface towards the users"), "{text}");
        assert!(!seen.config().contains("shape"), "{}", seen.config());
        assert!(seen.suggestion().contains("observe the interface towards the users"));
        // as much leaves: the link is full in this direction too
        let both = Status { rate_bps: 9.6e6, ..status };
        seen.epoch(&both, Duration::from_secs(1));
        assert!(!seen.summary().contains("incoming"));
        assert!(seen.suggestion().contains("shape = \"9.5Mbit\""));
    }

    // Without a queue and without a rate there is one advice, and it says what it lacks.
    #[test]
    fn where_no_packet_waits_the_rate_is_asked_for() {
        let text = observation(None, "noqueue", &[(5, 5, 0, 1e6)]).suggestion();
        assert!(text.contains("refuses nobody, as no packet waits here"), "{text}");
        assert!(text.contains("--rate"), "{text}");
    }

    // Each file is valid, observes, and has the law and the rate that were suggested.
    #[test]
    fn the_file_that_is_written_is_valid() {
        let idle = [(5, 5, 0, 1e6)];
        let full = [(5, 5, 3, 9.4e6)];
        let read =
            |seen: &Observation| Config::parse(&seen.config(), "gate.toml").expect("a valid file");
        for (seen, law, capacity, shape) in [
            (observation(None, "tbf", &idle), "close-probe", None, None),
            (observation(None, "tbf", &full), "tide", Some(9_400_000), None),
            // drops behind an interface without a queue are not those of a full link
            (observation(None, "noqueue", &full), "close-probe", None, None),
            (observation(Some(10_000_000), "tbf", &idle), "tide", Some(10_000_000), None),
            (
                observation(Some(10_000_000), "noqueue", &idle),
                "tide",
                Some(9_500_000),
                Some(9_500_000),
            ),
        ] {
            let config = read(&seen);
            assert_eq!(config.file.mode, Mode::Observe);
            assert_eq!(config.law.as_ref().map(|law| law.name()), Some(law));
            assert_eq!(config.capacity.map(|rate| rate.bps()), capacity);
            assert_eq!(config.shape.map(|(rate, _)| rate.bps()), shape);
        }
    }
}
