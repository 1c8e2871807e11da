//! Scripts as they are read: situations, the path of each, and its lines.

use crate::host::Order;
use crate::units::Time;

use super::claims::{ClaimLine, Claimed, DrillVerdict, Here, STATES};
use super::subject::PathEnd;

/// One situation of a script.
#[derive(Debug)]
pub(super) struct DrillSituation<'a> {
    pub(super) name: &'a str,
    pub(super) stacks: Vec<&'a str>,
    pub(super) verdict: DrillVerdict<'a>,
    /// Bytes of the transfer; none: without end, or objects.
    pub(super) size: Option<u64>,
    pub(super) download: bool,
    pub(super) objects: bool,
    /// One way.
    pub(super) delay: Time,
    rules: Vec<PathRule>,
    /// What the applications want, in the order of time.
    pub(super) orders: Vec<(Time, PathEnd, Order)>,
    pub(super) claims: Vec<ClaimLine<'a>>,
    /// The last time of its lines.
    pub(super) end: Time,
}

/// What becomes of datagrams of one end.
#[derive(Debug)]
struct PathRule {
    side: PathEnd,
    which: WhichOnes,
    fate: Fate,
}

#[derive(Debug)]
enum WhichOnes {
    /// From one number to before another.
    Numbers(u32, u32),
    /// From one time to before another.
    Times(Time, Time),
}

/// What becomes of a datagram on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Lost,
    /// It comes later by so much.
    Held(Time),
    /// A copy of it comes, later by so much.
    Twice(Time),
    /// It is marked (CE), if it may be.
    Marked,
    /// Its ECN field is cleared.
    Unmarked,
}

impl DrillSituation<'_> {
    /// What becomes of a datagram.
    pub(super) fn fates(&self, side: PathEnd, number: u32, at: Time) -> Vec<Fate> {
        let is = |rule: &&PathRule| {
            rule.side == side
                && match rule.which {
                    WhichOnes::Numbers(first, end) => (first..end).contains(&number),
                    WhichOnes::Times(from, to) => from <= at && at < to,
                }
        };
        self.rules.iter().filter(is).map(|rule| rule.fate).collect()
    }
}

/// The situations of a script.
pub(super) fn situations(script: &str) -> Result<Vec<DrillSituation<'_>>, String> {
    let mut parts = script.split("\n== ");
    let _about = parts.next();
    let mut parts = parts.peekable();
    // a script that plays nothing would hold whatever a stack does
    parts.peek().ok_or("the script has no situation: begin one by a line `== NAME`")?;
    parts.map(|text| situation(text).map_err(|(line, what)| of(text, line, &what))).collect()
}

/// A complaint with its place.
fn of(text: &str, line: &str, what: &str) -> String {
    format!("{}: `{line}`: {what}", text.lines().next().unwrap_or_default())
}

type ScriptFault<'a> = (&'a str, String);

fn situation(text: &str) -> Result<DrillSituation<'_>, ScriptFault<'_>> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut read = DrillSituation {
        name: lines.next().unwrap_or_default(),
        stacks: Vec::new(),
        verdict: DrillVerdict::Same,
        size: None,
        download: false,
        objects: false,
        delay: Time::ZERO,
        rules: Vec::new(),
        orders: Vec::new(),
        claims: Vec::new(),
        end: Time::ZERO,
    };
    for line in lines.filter(|line| !line.starts_with('#')) {
        read.line(line).map_err(|what| (line, what))?;
    }
    let missing = [
        (read.stacks.is_empty(), "it names no stack: add a line `stacks: NAME`"),
        (read.delay == Time::ZERO, "it has no path: add a line `path: MS`"),
        (read.claims.is_empty(), "it says nothing of what leaves: add `MS END -> WHAT LEAVES`"),
    ];
    if let Some((_, what)) = missing.iter().find(|(missing, _)| *missing) {
        return Err((read.name, (*what).to_owned()));
    }
    read.orders.sort_by_key(|(at, ..)| *at);
    Ok(read)
}

impl<'a> DrillSituation<'a> {
    fn line(&mut self, line: &'a str) -> Result<(), String> {
        let said = line.split_once(": ").filter(|(key, _)| !key.contains(' '));
        match said {
            Some(("from" | "about" | "chooses" | "why", _)) => {}
            Some(("stacks", names)) => self.stacks = list(names),
            Some(("verdict", "same")) => self.verdict = DrillVerdict::Same,
            Some(("verdict", "differs")) => self.verdict = DrillVerdict::Differs(Vec::new()),
            Some(("verdict", words)) => {
                let names = words.strip_suffix(" differ").or(words.strip_suffix(" differs"));
                let names = names.ok_or("a verdict is `same`, `differs` or `NAME differs`")?;
                self.verdict = DrillVerdict::Differs(list(names));
            }
            Some(("transfer", words)) => self.transfer(words)?,
            Some(("path", words)) => self.path(words)?,
            Some((key, _)) if !line.contains("->") => {
                return Err(format!(
                    "no line begins with `{key}:`: there are from, about, chooses, stacks, transfer, \
                     path, verdict and why"
                ));
            }
            _ if line.starts_with("here") => self.here(line)?,
            _ => self.step(line)?,
        }
        Ok(())
    }

    /// `upload 3000`, `download objects`, `upload endless`.
    fn transfer(&mut self, words: &str) -> Result<(), String> {
        let form =
            "a transfer is `upload` or `download` and a number of bytes, `objects` or `endless`";
        let (way, what) = words.split_once(' ').ok_or(form)?;
        self.download = match way {
            "upload" => false,
            "download" => true,
            _ => return Err(form.to_owned()),
        };
        self.objects = what == "objects";
        if !matches!(what, "objects" | "endless") {
            self.size = Some(what.parse().map_err(|_| form)?);
        }
        Ok(())
    }

    /// `50, client 0 lost, server 3..5 held 20, client at 100..900 lost`.
    fn path(&mut self, words: &str) -> Result<(), String> {
        let mut parts = words.split(", ");
        self.delay = ms(parts.next().unwrap_or_default())?;
        for part in parts {
            let words: Vec<&str> = part.split_whitespace().collect();
            let (side, rest) = words.split_first().ok_or("it names no datagram")?;
            let (which, rest) = match rest {
                ["at", times, rest @ ..] => {
                    let (from, to) = times.split_once("..").ok_or("a time is `at 100..900`")?;
                    (WhichOnes::Times(ms(from)?, ms(to)?), rest)
                }
                [numbers, rest @ ..] => {
                    let (first, end) = range(numbers)?;
                    (WhichOnes::Numbers(first, end), rest)
                }
                [] => return Err(format!("`{part}` does not say which datagrams")),
            };
            let fate = match rest {
                ["lost"] => Fate::Lost,
                ["held", wait] => Fate::Held(ms(wait)?),
                ["twice", wait] => Fate::Twice(ms(wait)?),
                ["marked"] => Fate::Marked,
                ["unmarked"] => Fate::Unmarked,
                _ => {
                    return Err(format!(
                        "`{part}` ends otherwise than with lost, held MS, twice MS, marked or unmarked"
                    ));
                }
            };
            self.rules.push(PathRule { side: self::side(side)?, which, fate });
        }
        Ok(())
    }

    /// `100 client send 3000`, or `100..200 server -> ack`.
    fn step(&mut self, line: &'a str) -> Result<(), String> {
        let (head, expected) = match line.split_once("->") {
            Some((head, expected)) => (head, Some(expected)),
            None => (line, None),
        };
        let words: Vec<&str> = head.split_whitespace().collect();
        let [time, end, event @ ..] = words.as_slice() else {
            return Err("a line is `MS END EVENT` or `MS END -> WHAT LEAVES`".to_owned());
        };
        let ((from, to), side) = (times(time)?, side(end)?);
        self.end = self.end.max(to);
        match (event, expected) {
            ([], Some(expected)) => {
                let asked = Claimed::read(expected, from, to)?;
                self.claims.push(ClaimLine { line, side, asked, here: Vec::new() });
            }
            (event, None) => self.orders.push((from, side, order(event)?)),
            _ => return Err("an event has a line of its own, without an arrow".to_owned()),
        }
        Ok(())
    }

    /// `here -> ...`, `here quinn -> ...` or `here quinn 5..9 -> ...`, below the line of a claim.
    fn here(&mut self, line: &'a str) -> Result<(), String> {
        let claim = self.claims.last_mut().ok_or("it stands below no line with an arrow")?;
        let (head, expected) = line.split_once("->").ok_or("it has no arrow")?;
        let mut words: Vec<&str> = head.split_whitespace().skip(1).collect();
        let stack =
            (words.first().is_some_and(|word| self.stacks.contains(word))).then(|| words.remove(0));
        let (from, to) = match words.as_slice() {
            [] => (claim.asked.from, claim.asked.to),
            [time] if time.starts_with(|first: char| first.is_ascii_digit()) => times(time)?,
            [name, ..] => return Err(format!("`{name}` is none of its stacks")),
        };
        self.end = self.end.max(to);
        claim.here.push(Here { stack, does: Claimed::read(expected, from, to)? });
        Ok(())
    }
}

impl<'a> Claimed<'a> {
    /// `0..1200 ack*2 cwnd 12000 open`: datagrams, numbers of the end, its state.
    fn read(text: &'a str, from: Time, to: Time) -> Result<Claimed<'a>, String> {
        let (values, states) = (Vec::new(), Vec::new());
        let mut expected = Claimed { from, to, left: None, values, states };
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "nothing" => expected.left = Some(Vec::new()),
                "cwnd" | "srtt" | "lost" | "delivered" => {
                    let number = words.next().ok_or(format!("no number stands behind `{word}`"))?;
                    let (least, most) = value(number)?;
                    expected.values.push((word, least, most));
                }
                _ if STATES.contains(&word) => expected.states.push(word),
                _ => {
                    let (word, count) = match word.split_once('*') {
                        Some((word, count)) => (word, number(count)?),
                        None => (word, 1),
                    };
                    let left = expected.left.get_or_insert_default();
                    left.extend((0..count).map(|_| word));
                }
            }
        }
        Ok(expected)
    }
}

/// `quinn and noq`.
fn list(names: &str) -> Vec<&str> {
    names.split(" and ").map(str::trim).collect()
}

fn side(word: &str) -> Result<PathEnd, String> {
    match word {
        "client" => Ok(PathEnd::Client),
        "server" => Ok(PathEnd::Server),
        _ => Err(format!("`{word}` is no end: it is `client` or `server`")),
    }
}

fn order(words: &[&str]) -> Result<Order, String> {
    Ok(match *words {
        ["stop"] => Order::Stop,
        ["abort"] => Order::Abort,
        ["close"] => Order::Close,
        ["ask", bytes] => Order::Ask(number(bytes)?),
        ["send", bytes] => Order::Send(number(bytes)?.into()),
        ["answer", which, bytes] => Order::Answer(number(which)?, number(bytes)?.into()),
        _ => {
            return Err(format!(
                "`{}` is no event: there are stop, abort, close, ask BYTES, send BYTES and \
                 answer NUMBER BYTES",
                words.join(" ")
            ));
        }
    })
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("`{word}` is no whole number"))
}

/// `3`, `3..5` (3 and 4) or `3..`.
fn range(word: &str) -> Result<(u32, u32), String> {
    match word.split_once("..") {
        None => number(word).map(|first| (first, first + 1)),
        Some((first, "")) => Ok((number(first)?, u32::MAX)),
        Some((first, end)) => Ok((number(first)?, number(end)?)),
    }
}

/// `7`, `7..9` or `7+` (at least), or that there is none.
fn value(word: &str) -> Result<(f64, f64), String> {
    let number = |word: &str| word.parse().map_err(|_| format!("`{word}` is no number"));
    if word == "none" {
        return Ok((f64::INFINITY, f64::INFINITY));
    }
    match (word.split_once(".."), word.strip_suffix('+')) {
        (Some((least, most)), _) => Ok((number(least)?, number(most)?)),
        (None, Some(least)) => Ok((number(least)?, f64::INFINITY)),
        (None, None) => number(word).map(|is| (is, is)),
    }
}

/// `5` or `5..9`, in milliseconds.
fn times(word: &str) -> Result<(Time, Time), String> {
    let (from, to) = word.split_once("..").unwrap_or((word, word));
    Ok((ms(from)?, ms(to)?))
}

fn ms(word: &str) -> Result<Time, String> {
    let ms: f64 = word.parse().map_err(|_| format!("`{word}` is no time in milliseconds"))?;
    if (0.0..1e9).contains(&ms) {
        return Ok(Time::from_secs_f64(ms / 1e3));
    }
    Err(format!("`{word}` is no time: milliseconds from 0 to 1e9"))
}
