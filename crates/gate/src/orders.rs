//! What an operator asks of a running gate, over the socket of its status.
//!
//! A line of text is an order; a client that closes its side without one gets the status.

use std::fmt::{self, Display};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use tidegate_common::fail::Failure;

use super::status::unanswered;

/// What a running gate can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GateOrder {
    /// Refuse for this long, then observe again unless it is confirmed.
    Enforce(Duration),
    /// Go on refusing when the time of the trial is over.
    Confirm,
    /// Observe from now on.
    Revert,
}

impl Display for GateOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateOrder::Enforce(time) => write!(f, "enforce {}", time.as_millis()),
            GateOrder::Confirm => f.write_str("confirm"),
            GateOrder::Revert => f.write_str("revert"),
        }
    }
}

/// Shortest trial: what is shorter lets nobody look, and would end one that runs.
const SHORTEST_TRIAL: Duration = Duration::from_secs(1);
/// Longest trial. The clock of a kernel ends some time, and who wants more sets the mode.
const LONGEST_TRIAL: Duration = Duration::from_secs(7 * 24 * 3600);

impl FromStr for GateOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<GateOrder, String> {
        let mut words = text.split_whitespace();
        match (words.next(), words.next().map(str::parse)) {
            (Some("enforce"), Some(Ok(ms))) if Duration::from_millis(ms) > LONGEST_TRIAL => {
                Err(format!("a trial of {ms} ms is too long: a week at most"))
            }
            (Some("enforce"), Some(Ok(ms))) if Duration::from_millis(ms) < SHORTEST_TRIAL => {
                Err(format!("a trial of {ms} ms is too short: a second at least"))
            }
            (Some("enforce"), Some(Ok(ms))) => Ok(GateOrder::Enforce(Duration::from_millis(ms))),
            (Some("confirm"), None) => Ok(GateOrder::Confirm),
            (Some("revert"), None) => Ok(GateOrder::Revert),
            _ => Err(format!("`{}` is no order of a gate", text.trim())),
        }
    }
}

/// How long a gate may take to obey.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Gives an order to the gate at a socket; what it answers.
///
/// # Errors
/// No gate answers there, or it refuses.
pub fn give(path: &Path, order: GateOrder) -> Result<String, Failure> {
    say(path, &order.to_string())
}

/// What asks for the address of the page.
pub(crate) const PAGE: &str = "page";

/// The address by which the page of the gate at a socket is opened, with its token.
///
/// # Errors
/// No gate answers there, or it has no page.
pub fn page(path: &Path) -> Result<String, Failure> {
    say(path, PAGE)
}

/// Says a line to the gate at a socket; what it answers.
fn say(path: &Path, line: &str) -> Result<String, Failure> {
    let place = path.display();
    let failed = |error: std::io::Error| unanswered(path, &error);
    let mut stream = UnixStream::connect(path).map_err(failed)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN)).map_err(failed)?;
    writeln!(stream, "{line}").and_then(|()| stream.shutdown(Shutdown::Write)).map_err(failed)?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(failed)?;
    match text.trim().split_once(' ') {
        Some(("done", what)) => Ok(what.to_owned()),
        Some((_, what)) => Err(Failure::failed(place, what)),
        None => Err(Failure::failed(place, "the gate does not understand orders: restart it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Who is told to start a gate where one hangs starts a second, which cannot be placed.
    #[test]
    fn a_gate_that_hangs_is_told_apart_from_none() {
        let path = std::env::temp_dir().join(format!("tidegate-order-{}", std::process::id()));
        let listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let hung = give(&path, GateOrder::Confirm).expect_err("nobody answers").to_string();
        assert!(hung.contains("a gate is there, and does not answer"), "{hung}");
        assert!(!hung.contains("start one"), "{hung}");
        drop(listener);
        let killed = give(&path, GateOrder::Confirm).expect_err("nobody listens").to_string();
        assert!(killed.contains("tidegated clean"), "{killed}");
        std::fs::remove_file(&path).expect("the socket is there");
        let none = give(&path, GateOrder::Confirm).expect_err("there is none").to_string();
        assert!(none.contains("start one"), "{none}");
    }

    #[test]
    fn an_order_is_read_as_it_is_written() {
        for order in
            [GateOrder::Enforce(Duration::from_secs(600)), GateOrder::Confirm, GateOrder::Revert]
        {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        let week = GateOrder::Enforce(LONGEST_TRIAL);
        assert_eq!(week.to_string().parse(), Ok(week));
        let beyond = format!("enforce {}", LONGEST_TRIAL.as_millis() + 1);
        // an instant so far away that no clock has it
        let never = format!("enforce {}", u64::MAX);
        let wrong = [
            "",
            "enforce",
            "enforce 0",
            "enforce 999",
            "enforce soon",
            "enforce -1",
            "confirm 3",
            "observe",
        ];
        for wrong in wrong.into_iter().chain([&*beyond, &never]) {
            assert!(wrong.parse::<GateOrder>().is_err(), "{wrong}");
        }
    }
}
