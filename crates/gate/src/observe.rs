//! What a gate that observes has seen, and the configuration that follows from it.
//!
//! The law runs open-loop: it decides, and its decisions change nothing. So the share that it
//! would have refused is an upper bound: clients that are refused stop filling the link.
//!
//! A gate holds back what leaves by its interface. So what comes in is measured too, and the queues
//! of the other interfaces: where the link is full in the other direction, a shaper here would only
//! make the wrong direction slower.

mod advice;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_core::units::Rate;

use super::config::Direction;
use super::elsewhere::Other;
use super::status::{Status, not_seen};

pub use advice::{file, next_steps, suggestions};

/// What an operator asked for.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The rate of the link for what leaves, if it was given.
    pub rate: Option<Rate>,
    /// Which direction this is, where both are observed or it was said.
    pub direction: Option<Direction>,
    /// The interface of the other direction, which is observed too.
    pub partner: Option<String>,
    /// Whether the interface is an ifb, by which nothing comes back.
    pub one_way: bool,
    /// How long to watch; none: until interrupted.
    pub length: Option<Duration>,
    /// Where to write the configuration.
    pub file: PathBuf,
}

/// How a rate was spread over the epochs: a link that is full keeps its rate.
#[derive(Clone, Debug, Default)]
struct Spread {
    peak_bps: f64,
    /// Epochs by their rate, in steps of 5 %.
    epochs: BTreeMap<i32, u64>,
}

impl Spread {
    fn take(&mut self, bps: f64) {
        self.peak_bps = self.peak_bps.max(bps);
        *self.epochs.entry(Spread::step(bps)).or_default() += 1;
    }

    fn step(bps: f64) -> i32 {
        (bps.max(1.0).ln() / 1.05f64.ln()).floor() as i32
    }

    /// The share of the epochs whose rate was within a tenth of the largest.
    fn at_peak(&self) -> f64 {
        let all: u64 = self.epochs.values().sum();
        let near = self.epochs.range(Spread::step(0.9 * self.peak_bps)..).map(|(_, count)| count);
        near.sum::<u64>() as f64 / all.max(1) as f64
    }
}

/// Another interface of the machine, over all epochs.
#[derive(Clone, Debug, Default)]
struct Beside {
    full: u64,
    drops: u64,
    /// The largest rate that left by it while its queue was full.
    full_bps: f64,
    sent_bps: f64,
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
    leaves: Spread,
    /// The largest rate that left while the link was full.
    full_bps: f64,
    comes_in: Spread,
    /// The other interfaces, by name.
    beside: BTreeMap<String, Beside>,
    unseen_share: Option<f64>,
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

    /// An epoch of that length has ended with this status; the other interfaces did this in it.
    pub fn epoch(&mut self, status: &Status, length: Duration, others: &[Other]) {
        self.epochs += 1;
        self.watched += length;
        self.openers += status.arrived;
        self.refused += status.arrived.saturating_sub(status.admitted);
        self.lost += status.drops;
        self.leaves.take(status.rate_bps);
        self.comes_in.take(status.received_bps);
        let at_rate =
            self.plan.rate.is_some_and(|rate| status.rate_bps >= 0.95 * rate.bps() as f64);
        if status.drops > 0 || status.min_waiting > 0 || at_rate {
            self.full += 1;
            self.full_bps = self.full_bps.max(status.rate_bps);
        }
        for other in others {
            let sum = self.beside.entry(other.name.clone()).or_default();
            sum.full += u64::from(other.full);
            sum.drops += other.drops;
            sum.sent_bps += other.sent_bps;
            if other.full {
                sum.full_bps = sum.full_bps.max(other.sent_bps);
            }
        }
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
        let direction = self.plan.direction.map_or("", |direction| match direction {
            Direction::Down => " (down: to the users)",
            Direction::Up => " (up: from the users)",
        });
        // writing to a string does not fail
        let _ = writeln!(
            text,
            "{}{direction}, {:.1} min: of {} openers {:.1} % would have been refused; nobody was",
            self.interface,
            self.watched.as_secs_f64() / 60.0,
            self.openers,
            Self::percent(self.refused, self.openers),
        );
        let _ = writeln!(
            text,
            "  leaves    {}; full {:.0} % of the time; {} packets lost",
            at_most(self.leaves.peak_bps),
            Self::percent(self.full, self.epochs),
            self.lost,
        );
        let _ = writeln!(text, "  comes in  {}{}", at_most(self.comes_in.peak_bps), self.steady());
        if let Some((name, beside)) = self.congested() {
            let _ = writeln!(
                text,
                "  congested {name}: full {:.0} % of the time; {} left there meanwhile; {} packets lost",
                Self::percent(beside.full, self.epochs),
                at_most(beside.full_bps),
                beside.drops,
            );
        }
        let _ = writeln!(
            text,
            "  not seen  {} (UDP, tunnels, fragments, other protocols)",
            not_seen(self.unseen_share)
        );
        if self.bypassed_share > 0.0 {
            let _ = writeln!(
                text,
                "  bypassed  {:.0} % of the bytes: `tidegated status` says by what",
                100.0 * self.bypassed_share
            );
        }
        let elsewhere = self.load_comes_in() || self.congested().is_some();
        if !self.queue && self.plan.rate.is_none() && !elsewhere {
            text += "  queue     none here: if the congested link is behind this interface, give its rate\n";
        }
        text
    }

    /// Says of what comes in whether it looks like a link that is full.
    fn steady(&self) -> String {
        if !self.load_comes_in() {
            return String::new();
        }
        format!(
            "; {:.0} % of the time at 90 % of that or more. A gate here does not hold that back",
            100.0 * self.comes_in.at_peak()
        )
    }

    /// Whether most of the load comes in, so that its queue is at the other end of the link, or at
    /// another interface of this machine.
    fn load_comes_in(&self) -> bool {
        self.comes_in.peak_bps > 2.0 * self.leaves.peak_bps && self.comes_in.peak_bps >= 1.0
    }

    /// The interface, not observed itself, whose queue was full more often than the one here.
    fn congested(&self) -> Option<(&str, &Beside)> {
        let others =
            self.beside.iter().filter(|(name, _)| Some(*name) != self.plan.partner.as_ref());
        let (name, most) = others.max_by_key(|(_, beside)| beside.full)?;
        let often = most.full > self.full && 20 * most.full >= self.epochs;
        often.then_some((name.as_str(), most))
    }

    /// The interface by which most left meanwhile, apart from this one.
    fn inner(&self) -> Option<&str> {
        let others = self.beside.iter().filter(|(_, beside)| beside.sent_bps > 0.0);
        let most = others.max_by(|one, other| one.1.sent_bps.total_cmp(&other.1.sent_bps))?;
        Some(most.0)
    }
}

/// The largest rate of an epoch, in words.
fn at_most(bps: f64) -> String {
    if bps < 1.0 { "nothing".to_owned() } else { format!("at most {}/s", rounded(bps)) }
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
mod tests;
