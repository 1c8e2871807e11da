//! Drills: what one host sends, and when, as a script says what comes to it.
//!
//! The scripts are in `tests/drills`, where README.md has their form. What they expect is what Linux
//! does: by its own tests of TCP, by its source, or by an RFC that it follows. A situation in which a
//! simulated host does something else says so, and fails when it no longer does.

mod bench;
mod host;
mod receiving;
mod script;
mod seen;
mod sending;

use tidegate_core::units::Time;

use host::Host;
use receiving::Receiving;
use script::{Expected, Role, ScriptVerdict, Situation, Step};
use seen::Seen;
use sending::Sending;

/// A situation while it is played.
struct Drill {
    host: Box<dyn Host>,
}

impl Drill {
    fn of(situation: &Situation<'_>, profile: &str) -> Drill {
        let bench = bench::Bench::new(profile, situation.settings);
        let host: Box<dyn Host> = match situation.role {
            Role::Sender { opens } => Box::new(Sending::new(bench, opens)),
            Role::Receiver { opens } => Box::new(Receiving::new(bench, opens)),
        };
        Drill { host }
    }

    /// Lets timers fire up to `to`, or up to the first that sends something.
    fn run(&mut self, to: Time) {
        while self.host.bench().left.is_empty() {
            let due = self.host.due();
            if due > to {
                self.host.bench().now = to;
                return;
            }
            let now = self.host.bench().now;
            self.host.bench().now = due.max(now);
            self.host.fire();
        }
    }

    /// Plays one line of a script.
    fn play(&mut self, step: &Step<'_>) -> Seen {
        let timer = step.event == ["timer"];
        let mut early = false;
        if let ["peer", rtt] = *step.event {
            self.answer(step.from, step.to, bench::ms(rtt));
        } else if let Some(every) = step.every {
            let mut at = step.from;
            while at <= step.to {
                self.run_through(at);
                self.host.event(&step.event);
                at += every;
            }
        } else {
            let until = step.here.as_ref().map_or(step.to, |here| here.to.max(step.to));
            self.run(if timer { until } else { step.to });
            early = !timer && !self.host.bench().left.is_empty();
            if !timer && !early {
                self.host.event(&step.event);
            }
        }
        let bench = self.host.bench();
        let mut left: Vec<_> = bench.take().iter().map(seen::words).collect();
        if std::mem::take(&mut bench.over) {
            left.push(vec!["over".to_owned()]);
        }
        Seen { at: bench.now, left, early }
    }

    /// Has the peer acknowledge each segment of its own, a round trip after it was sent.
    fn answer(&mut self, from: Time, to: Time, rtt: Time) {
        while let Some(sent) = self.host.oldest() {
            let at = (sent + rtt).max(from);
            if at > to {
                break;
            }
            self.run_through(at);
            if self.host.oldest() == Some(sent) {
                self.host.event(&["ack", "+1"]);
            }
        }
        self.run_through(to);
    }

    /// Lets timers fire up to `to`, whatever they send.
    fn run_through(&mut self, to: Time) {
        let mut before = Vec::new();
        loop {
            self.run(to);
            let bench = self.host.bench();
            if bench.left.is_empty() {
                bench.left = before;
                return;
            }
            before.append(&mut bench.left);
        }
    }

    /// Whether all that a line expects is so.
    fn fits(&self, step: &Step<'_>, expected: &Expected<'_>, seen: &Seen) -> bool {
        let many = step.is_many();
        let in_time = many || seen.left.is_empty() || seen.within(expected.from, expected.to);
        let values = expected.values.iter().all(|&(word, (least, most))| {
            let is = self.host.value(word).unwrap_or_else(|| panic!("no such word: {word}"));
            least <= is.floor() && is.floor() <= most
        });
        let any = !expected.matters.unwrap_or(!many);
        !seen.early && in_time && values && (any || seen.fits(&expected.left))
    }

    /// What is seen, in the words of scripts.
    fn rendered(&self, seen: &Seen) -> String {
        let words = ["cwnd", "ssthresh", "srtt", "received"];
        let values = words
            .iter()
            .filter_map(|word| self.host.value(word).map(|is| format!(" {word} {}", is.floor())));
        let early = if seen.early { " before it" } else { "" };
        let ms = seen.at.secs() * 1e3;
        format!("at {ms} ms{early}: {}{}", seen.rendered(), values.collect::<String>())
    }
}

/// How a host does in a situation.
enum Played {
    /// As Linux.
    Same,
    /// Otherwise, as the situation says.
    Otherwise,
    /// Not as the situation says; what it does.
    Wrong(String),
}

/// Plays a situation with a profile.
fn play(situation: &Situation<'_>, profile: &str) -> Played {
    let mut drill = Drill::of(situation, profile);
    let mut outcome = Played::Same;
    for step in &situation.steps {
        let seen = drill.play(step);
        let same = drill.fits(step, &step.expected, &seen);
        let told = || format!("{}: {}", step.line, drill.rendered(&seen));
        match &step.here {
            None if same => {}
            None if situation.verdict != ScriptVerdict::Today => return Played::Wrong(told()),
            None if step.not_yet => return Played::Otherwise,
            None => return Played::Wrong(format!("differs at another line: {}", told())),
            Some(_) if same => return Played::Wrong(format!("does the same now: {}", told())),
            Some(here) if drill.fits(step, here, &seen) => outcome = Played::Otherwise,
            Some(_) => return Played::Wrong(format!("differs in another way: {}", told())),
        }
    }
    outcome
}

/// What is wrong with a situation.
fn complaints(situation: &Situation<'_>) -> Vec<String> {
    let name = situation.name;
    let mut same = 0;
    let mut wrong = Vec::new();
    for profile in &situation.profiles {
        match play(situation, profile) {
            Played::Same => same += 1,
            Played::Otherwise => {}
            Played::Wrong(what) => wrong.push(format!("{name} ({profile})\n    {what}")),
        }
    }
    let all = same == situation.profiles.len();
    if all && situation.verdict != ScriptVerdict::Same {
        wrong.push(format!("{name}\n    is the same now"));
    }
    wrong
}

/// The scripts.
const SCRIPTS: &[&str] = &[
    include_str!("../../tests/drills/slow-start.txt"),
    include_str!("../../tests/drills/cubic.txt"),
    include_str!("../../tests/drills/recovery.txt"),
    include_str!("../../tests/drills/timers.txt"),
    include_str!("../../tests/drills/handshake.txt"),
    include_str!("../../tests/drills/receiving.txt"),
    include_str!("../../tests/drills/marks.txt"),
    include_str!("../../tests/drills/closing.txt"),
    include_str!("../../tests/drills/bbr.txt"),
];

/// Linux's own tests of its TCP and its source: each situation is as it says of itself.
#[test]
fn hosts_do_what_linux_does_or_say_why_not() {
    let mut wrong = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    for script in SCRIPTS {
        for situation in script::situations(script) {
            assert!(names.insert(situation.name), "two situations are called {}", situation.name);
            wrong.extend(complaints(&situation));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
