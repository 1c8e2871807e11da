//! The law and the rate that fit what was seen, as the file of a gate.

use std::fmt::Write as _;

use tidegate_core::units::Rate;

use super::{Observation, rounded};
use crate::config::{Config, Direction};

/// What is suggested for one direction.
#[derive(Clone, PartialEq, Debug)]
struct Advice {
    /// Where: perhaps not where it was observed.
    interface: String,
    /// Keys of the file, a line each.
    keys: String,
    /// Why, in one sentence.
    reason: String,
    /// In how many epochs the link was full there.
    full: u64,
}

/// A law that refuses nobody while no packet waits.
const RELIEF: &str = "law = { law = \"close-probe\", relief = true }\n";

/// Whether the shaper of a file takes that rate.
fn takes(rate: Rate) -> bool {
    let file = format!("interface = 'any'\nlaw = {{ law = 'none' }}\nshape = '{rate}'\n");
    Config::parse(&file, "").is_ok()
}

/// The rate of a shaper that moves the queue of a link of that rate here.
fn shaped(link: Rate) -> Rate {
    rounded(0.95 * link.bps() as f64)
}

fn tide(key: &str, rate: impl std::fmt::Display) -> String {
    format!("law = {{ law = \"tide\" }}\n{key} = \"{rate}\"\n")
}

impl Advice {
    /// Whether the file has a shaper.
    fn shapes(&self) -> bool {
        self.keys.contains("shape = ")
    }
}

impl Observation {
    fn advice(&self) -> Advice {
        let elsewhere = if self.plan.direction.is_none() { self.elsewhere() } else { None };
        let mut advice = elsewhere.unwrap_or_else(|| {
            let (keys, reason) = self.here();
            let (interface, full) = (self.interface.clone(), self.full);
            Advice { interface, keys, reason: reason.to_owned(), full }
        });
        // nothing comes back by this interface, which says nothing of another
        if self.plan.one_way && advice.interface == self.interface {
            advice.keys += "ends_of = \"sender\"\n";
        }
        advice
    }

    /// Where the link is full in the other direction: what leaves here is not to be held back.
    fn elsewhere(&self) -> Option<Advice> {
        if let Some((name, beside)) = self.congested() {
            return Some(Advice {
                interface: name.to_owned(),
                keys: tide("capacity", rounded(beside.full_bps)),
                reason: format!(
                    "the queue of {name} was full, and not that of {}; this is the largest rate that left by {name} meanwhile",
                    self.interface
                ),
                full: beside.full,
            });
        }
        if !self.load_comes_in() || self.full > 0 {
            return None;
        }
        let inner = self.inner().unwrap_or("LAN");
        let reason = format!(
            "more comes in by {outer} than leaves, so {outer} is not full in this direction: `tidegated gate observe --down {inner} --up {outer}` observes the interface towards the users too; --down-rate is the rate of the link for downloads",
            outer = self.interface,
        );
        let (interface, keys) = (self.interface.clone(), RELIEF.to_owned());
        Some(Advice { interface, keys, reason, full: self.full })
    }

    /// For what leaves here.
    fn here(&self) -> (String, &'static str) {
        match self.plan.rate {
            // the queue has to be moved here
            Some(rate) if !self.queue && takes(shaped(rate)) => {
                (tide("shape", shaped(rate)), "the rate given, less 5 %, so that the queue is here")
            }
            Some(rate) if !self.queue => {
                (tide("capacity", rate), "the rate given, which no shaper of a gate has")
            }
            Some(rate) => {
                (tide("capacity", rate), "the rate given, for the queue of the interface")
            }
            None if self.full > 0 && self.queue => (
                tide("capacity", rounded(self.full_bps)),
                "the largest rate that was seen while the link was full",
            ),
            None if !self.queue => (
                RELIEF.to_owned(),
                "which refuses nobody, as no packet waits here: observe again with the rate of the link",
            ),
            None => (RELIEF.to_owned(), "the link was never full here, so its rate is not known"),
        }
    }
}

/// The suggestions, a line for each direction.
pub fn suggestions(seen: &[Observation]) -> String {
    let line = |seen: &Observation| {
        let Advice { interface, keys, reason, .. } = seen.advice();
        format!("suggested: at {interface}: {} ({reason})\n", keys.trim().replace('\n', ", "))
    };
    seen.iter().map(line).collect()
}

/// The configuration, to begin with in observe mode: of two directions, both.
pub fn file(seen: &[Observation]) -> String {
    let mut text = "# Written by `tidegated gate observe`.\n\
         # \"observe\" refuses nothing. Try refusals: tidegated gate enforce --for 10min\n\
         mode = \"observe\"\n\n\
         # SSH, BGP and NETCONF are never refused either\n\
         never_refuse = { networks = [], ports = [] }\n"
        .to_owned();
    if seen.iter().any(|one| one.advice().shapes()) {
        text += "\n# `shape` holds in observe mode too: what comes faster waits at the interface, and is lost\n\
                 # beyond the buffer, as at a link of that rate. So that nothing changes yet, write `capacity`\n\
                 # in place of `shape`: the gate then sees no queue.\n";
    }
    for one in seen {
        let Advice { interface, keys, reason, full } = one.advice();
        let table = match one.plan.direction {
            Some(Direction::Down) => "\n# to the users: the inner interface\n[down]",
            Some(Direction::Up) => "\n# from the users: the outer interface\n[up]",
            None => "",
        };
        // writing to a string does not fail
        let _ = write!(
            text,
            "{table}\n# {} openers were seen, the link was full {:.0} % of the time\n\
             interface = \"{interface}\"\n# {reason}\n{keys}",
            one.openers,
            Observation::percent(full, one.epochs),
        );
    }
    text
}

/// What to do with the file that was written there, a line each.
pub fn next_steps(seen: &[Observation], path: &std::path::Path) -> String {
    let place = path.display();
    let advised: Vec<Advice> = seen.iter().map(Observation::advice).collect();
    let mut text = String::new();
    for (one, advice) in seen.iter().zip(&advised) {
        if advice.interface != one.interface {
            let (there, here) = (&advice.interface, &one.interface);
            text += &format!("  it is for {there}, not for {here}, which was observed\n");
        }
    }
    if advised.iter().any(Advice::shapes) {
        text += "  its `shape` holds at once, in observe mode too: what comes faster waits, and is lost beyond the buffer\n";
    }
    text += &format!("  run it: tidegated gate --config {place}\n");
    let configs = Config::parse(&file(seen), &place.to_string()).unwrap_or_default();
    if let Some(config) = configs.first() {
        let socket = config.socket.display();
        text +=
            &format!("  then try refusals: tidegated gate enforce --for 10min --socket {socket}\n");
    }
    text
}
