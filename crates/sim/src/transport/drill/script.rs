//! Scripts as they are read: situations, and the lines of each.

use tidegate_core::units::Time;

use super::bench::{ms, range};
use super::seen::Words;

/// Which end a host is, and whether it opens the connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Sender { opens: bool },
    Receiver { opens: bool },
}

/// What a situation says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScriptVerdict {
    /// A simulated host does what Linux does.
    Same,
    /// It does not, on purpose; what it does instead stands in lines that begin with `here`.
    Differs,
    /// It does not yet; `not yet` stands below the first line at which it does something else.
    Today,
}

/// One situation of a script.
#[derive(Debug)]
pub(super) struct Situation<'a> {
    pub(super) name: &'a str,
    pub(super) role: Role,
    /// The profiles that it is played with.
    pub(super) profiles: Vec<&'a str>,
    /// Settings of TCP in which the host differs from them.
    pub(super) settings: &'a str,
    pub(super) verdict: ScriptVerdict,
    pub(super) steps: Vec<Step<'a>>,
}

/// One line: what comes, and what leaves.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) line: &'a str,
    pub(super) from: Time,
    pub(super) to: Time,
    /// The event comes again and again, so far apart.
    pub(super) every: Option<Time>,
    pub(super) event: Vec<&'a str>,
    pub(super) expected: Expected<'a>,
    /// What a simulated host does instead.
    pub(super) here: Option<Expected<'a>>,
    /// A simulated host does something else yet.
    pub(super) not_yet: bool,
}

/// What leaves, and what the host's numbers are then.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    /// When anything leaves.
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) left: Vec<Words>,
    /// Whether it matters what leaves; none: not where events come again and again.
    pub(super) matters: Option<bool>,
    /// The least and the most that each may be.
    pub(super) values: Vec<(&'a str, (f64, f64))>,
}

impl<'a> Expected<'a> {
    /// `0..10 cwnd 10`, `ack 3 sack 5..6 ece`: packets, and the host's numbers.
    fn read(text: &'a str, from: Time, to: Time) -> Expected<'a> {
        let (left, values) = (Vec::new(), Vec::new());
        let mut expected = Expected { from, to, left, matters: None, values };
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let mut number = || words.next().unwrap_or_else(|| panic!("no number: {text}"));
            match word {
                "nothing" => expected.matters = Some(true),
                "any" => expected.matters = Some(false),
                "ack" => expected.left.push(vec![format!("ack {}", number())]),
                "echo" | "ace" | "offers" => expected.add(format!("{word} {}", number())),
                "sack" => {
                    let mut told = word.to_owned();
                    while let Some(block) = words.next_if(|word| range(word).is_some()) {
                        told = format!("{told} {block}");
                    }
                    expected.add(told);
                }
                "ece" => expected.add(word.to_owned()),
                "syn" | "syn+ack" | "fin" | "rst" | "over" => {
                    expected.left.push(vec![word.to_owned()]);
                }
                _ if word.starts_with(|first: char| first.is_ascii_digit()) => {
                    expected.segments(word);
                }
                _ => expected.values.push((word, value(number()))),
            }
        }
        if !expected.left.is_empty() {
            expected.matters = Some(true);
        }
        expected
    }

    /// One more thing that the last packet says.
    fn add(&mut self, word: String) {
        self.left.last_mut().expect("no packet says it").push(word);
    }

    /// `0..3` or `0..3:ect0:cwr`.
    fn segments(&mut self, word: &str) {
        let mut parts = word.split(':');
        let (first, end) = parts.next().and_then(range).unwrap_or_else(|| panic!("{word}"));
        let flags: Vec<String> = parts.map(str::to_owned).collect();
        self.left.extend((first..end).map(|seq| {
            let mut words = vec![seq.to_string()];
            words.extend(flags.iter().cloned());
            words
        }));
    }
}

/// `7`, `7..9` or `7+` (at least), or that there is none.
fn value(word: &str) -> (f64, f64) {
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("no number: {word}"));
    if word == "none" {
        return (f64::INFINITY, f64::INFINITY);
    }
    match (word.split_once(".."), word.strip_suffix('+')) {
        (Some((least, most)), _) => (number(least), number(most)),
        (None, Some(least)) => (number(least), f64::INFINITY),
        (None, None) => (number(word), number(word)),
    }
}

/// `5`, `5..9` or `5..9/2`, in milliseconds.
fn times(word: &str) -> (Time, Time, Option<Time>) {
    let (span, every) = word.split_once('/').map_or((word, None), |(a, b)| (a, Some(ms(b))));
    let (from, to) = span.split_once("..").unwrap_or((span, span));
    (ms(from), ms(to), every)
}

impl<'a> Step<'a> {
    fn read(line: &'a str) -> Step<'a> {
        let (event, expected) = line.split_once("->").unwrap_or((line, ""));
        let mut words = event.split_whitespace();
        let (from, to, every) = times(words.next().unwrap());
        let event: Vec<&str> = words.collect();
        assert!(!event.is_empty(), "no event: {line}");
        let expected = Expected::read(expected, from, to);
        Step { line, from, to, every, event, expected, here: None, not_yet: false }
    }

    /// Whether it stands for many events, at which anything may leave where nothing is said.
    pub(super) fn is_many(&self) -> bool {
        self.every.is_some() || self.event[0] == "peer"
    }

    /// `here 5..9 -> 0..1`, below the line of this step.
    fn differs(&mut self, line: &'a str) {
        let (at, expected) = line.split_once("->").unwrap_or_else(|| panic!("no arrow: {line}"));
        let at = at.trim_start_matches("here").trim();
        let (from, to, _) = if at.is_empty() { (self.from, self.to, None) } else { times(at) };
        self.here = Some(Expected::read(expected, from, to));
    }
}

/// The situations of a script.
pub(super) fn situations(script: &str) -> Vec<Situation<'_>> {
    let mut parts = script.split("\n== ");
    let _about = parts.next();
    parts.map(situation).collect()
}

fn situation(text: &str) -> Situation<'_> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let name = lines.next().unwrap();
    let mut host = "";
    let mut verdict = None;
    let mut steps: Vec<Step<'_>> = Vec::new();
    for line in lines.filter(|line| !line.starts_with('#')) {
        if let Some(words) = line.strip_prefix("host: ") {
            host = words;
        } else if let Some(word) = line.strip_prefix("verdict: ") {
            verdict = Some(match word {
                "same" => ScriptVerdict::Same,
                "differs" => ScriptVerdict::Differs,
                "differs today" => ScriptVerdict::Today,
                _ => panic!("{name}: no such verdict: {word}"),
            });
        } else if line == "not yet" {
            steps.last_mut().unwrap_or_else(|| panic!("{name}: {line}")).not_yet = true;
        } else if line.starts_with("here") {
            steps.last_mut().unwrap_or_else(|| panic!("{name}: {line}")).differs(line);
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            steps.push(Step::read(line));
        }
    }
    let (role, settings) = host.split_once(", ").unwrap_or_else(|| panic!("{name}: no host"));
    let role = match role {
        "sender" => Role::Sender { opens: false },
        "opening sender" => Role::Sender { opens: true },
        "receiver" => Role::Receiver { opens: false },
        "opening receiver" => Role::Receiver { opens: true },
        _ => panic!("{name}: no such host: {role}"),
    };
    let verdict = verdict.unwrap_or_else(|| panic!("{name}: no verdict"));
    let (profiles, settings) = settings.split_once(',').unwrap_or((settings, ""));
    let profiles = profiles.split(" and ").map(str::trim).collect();
    Situation { name, role, profiles, settings, verdict, steps }
}
