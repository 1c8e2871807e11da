//! Which clients are let in, and how many connections each may open (ours; docs/tide.md).
//!
//! A page needs several connections. A gate that decides on each of them breaks every page a
//! little. Here the address of the client decides, not the connection:
//!
//! 1. a client whose hash lies in the window ([`super::eligibility`]) is *let in* with its first
//!    admitted connection, for one token, and stays in until it has opened none for `idle`. While
//!    it is in, its connections need no token: the law counts clients, not connections;
//! 2. the window moves by its own width within `dwell`. A turn takes `dwell / theta`, and `theta`
//!    is at least `dwell / turn`. So each client is eligible for `dwell` at least once in `turn`;
//! 3. a client that was refused `wait` ago, and has not been let in since, is *overdue*: its next
//!    connection gets a token of a reserve, a quarter of all tokens, wherever the window is;
//! 4. in a *round* a client may open its *share* of connections, a multiple of the mean over all
//!    clients that were served. What it opens beyond is refused. If no other client waited in the
//!    last round, it gets tokens that would be lost, one for each connection.
//!
//! **Visits.** Users who stay are in for ever, and then no connection of theirs needs a token. A law
//! that admits visits judges each connection by itself, by the hash of its flow, and counts
//! connections. But what a client opens within `follow` of the end of one of its connections begins
//! a *visit*: it is eligible wherever the window is. The visit goes on for `visit` after each end,
//! and after its beginning. So the connections of a page that need one another come together, and
//! as many new ones as the link completes. Steps 3 and 4 hold as above.
//!
//! | symbol | here     | unit        | value                                    |
//! |--------|----------|-------------|------------------------------------------|
//! | `n`    | `served` | clients     | with an admitted connection in the round |
//! | `A`    | `admitted` | connections | admitted in the round                  |
//! | `S`    | `share`  | connections | `max(least, min(share / n, 1/2) A)`      |
//!
//! The state of a client is in one cell of a table, found by a hash of its address. As in
//! [`super::young`], a cell does not store which client it belongs to. So no client can push another
//! one out, and two clients with the same cell count as one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::Refused;
use crate::units::Time;

/// What is admitted together or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// Each connection by itself.
    #[default]
    Connections,
    /// All connections of a client, who is known by its address.
    Clients,
    /// Each connection by itself, and those with it that follow the end of another of its client.
    Visits,
}

crate::settings! {
    /// How clients are admitted.
    #[derive(Copy)]
    "Clients", check:
    idle: Time = "15s" ["1s" to "1h"] "A client stays let in until it has opened no connection for so long" ("ours; a lost SYN is sent again after 8 s or less, three times of four");
    dwell: Time = "15s" ["1s" to "1h"] "How long the window stays over a client" ("ours; a SYN is sent again within it");
    wait: Time = "30s" ["1s" to "1h"] "A client that was refused so long ago, and is not in, is overdue: it gets a token of a reserve" ("ours; Linux sends a SYN again after 31 s or 35 s, and perhaps not later");
    turn: Time = "2min" ["1s" to "24h"] "Longest time in which the window passes over all clients" ("ours");
    round: Time = "10s" ["1s" to "1h"] "How long the connections of a client are counted against its share" ("ours");
    keep: Time = "2s" ["0s" to "1min"] "How long tokens keep, at least an epoch" ("ours; users come in bursts");
    follow: Time = "250ms" ["1ms" to "1min"] "With `admit = \"visits\"`: what a client opens so soon after the end of one of its connections is of one visit" ("ours; a round trip and a queue; tried from 100 ms to 4 s");
    visit: Time = "1s" ["1ms" to "1h"] "How long a visit goes on after each end" ("ours; tried from 1 s to 4 s");
    share: f64 = 4 [1 to 1e6] "Connections that a client may open in a round, as a multiple of the mean over the clients served" ("ours");
    least: u32 = 16 [1 to 65535] "Connections that a client may open in a round at least" ("ours");
    cells: u32 = 65536 [16 to 16777216] "Cells of the table, sixteen bytes each" ("ours");
}

impl Config {
    /// The idle time in ticks of a cell.
    pub fn idle_ticks(&self) -> u64 {
        tick(self.idle.ps() / 1_000)
    }

    /// In ticks of a cell: how soon after an end a visit begins, and how long it goes on.
    pub fn visit_ticks(&self) -> (u64, u64) {
        (tick(self.follow.ps() / 1_000).max(1), tick(self.visit.ps() / 1_000).max(1))
    }

    /// The longest wait in ticks of a cell.
    pub fn wait_ticks(&self) -> u64 {
        tick(self.wait.ps() / 1_000)
    }
}

/// Refuses settings of clients that are out of range, or that would have no effect.
///
/// # Errors
/// The field that is not right, and what would be.
pub fn checked(who: Who, config: &Config, eligibility: bool) -> Result<(), Refused> {
    if who != Who::Connections && !eligibility {
        let what = "clients and visits are admitted by eligibility: write `eligibility = true`, or `admit = \"connections\"`";
        return Err(("admit".into(), what.to_owned()));
    }
    config.check().map_err(|(field, what)| (format!("clients.{field}").into(), what))
}

/// A tick of a cell is 2^20 ns, about a millisecond.
fn tick(now_ns: u64) -> u64 {
    now_ns >> 20
}

/// Of a cell: it was refused in the round.
const REFUSED: u8 = 1;
/// Of a cell: it was refused, and has not been let in since.
const WAITS: u8 = 2;
/// Of a cell: its visit has begun.
const VISITS: u8 = 4;
/// A wait of so many ticks, 73 minutes, begins anew: who asks then is somebody else perhaps.
const FORGOTTEN: u64 = 1 << 22;

/// What is known of the clients with one hash. Time and round have as many bits as where they come
/// from: a client that is back when a shorter number has gone round would be taken for one that stayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
struct Cell {
    /// Until when it is let in, or since when it waits; zero: neither.
    until: u64,
    /// The round.
    round: u32,
    /// Connections admitted in it.
    taken: u16,
    /// [`REFUSED`], [`WAITS`] and [`VISITS`].
    marks: u8,
}

const _: () = assert!(size_of::<Cell>() == 16);

impl Cell {
    /// Whether the client is in.
    fn is_in(&self, now_ns: u64, idle: u64) -> bool {
        let left = self.until.wrapping_sub(tick(now_ns));
        self.marks & WAITS == 0 && self.until != 0 && left != 0 && left <= idle
    }

    /// Whether what it opens now is of a visit, which begins or goes on.
    fn visits(&self, now_ns: u64, (follow, visit): (u64, u64)) -> bool {
        self.is_in(now_ns, if self.marks & VISITS == 0 { follow } else { visit })
    }

    /// How long the client has waited, in ticks; none: it does not.
    fn waited(&self, now_ns: u64) -> Option<u64> {
        let waited = tick(now_ns).wrapping_sub(self.until);
        (self.marks & WAITS != 0 && waited < FORGOTTEN).then_some(waited)
    }
}

/// How a connection asks for a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It gets none.
    Refused,
    /// It gets one only where so many are saved that they would be lost.
    Waits,
    /// It gets one if there is one.
    Eligible,
    /// It gets one of the reserve, or as one that is eligible.
    Overdue,
    /// Its client is in: it needs none.
    LetIn,
}

/// What the controller sets for clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Its number.
    pub(super) number: u32,
    /// Connections that each may open in it; zero: any number.
    pub(super) share: u32,
    /// What a client opens beyond gets tokens that would be lost.
    pub(super) spare: bool,
}

/// What the datapath knows of clients.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    cells: Box<[Cell]>,
    idle: u64,
    wait: u64,
    /// Where visits are admitted: how soon after an end one begins, and how long it goes on.
    visits: Option<(u64, u64)>,
}

impl Clients {
    pub(super) fn new(config: &Config, visits: bool) -> Clients {
        let cells = vec![Cell::default(); config.cells.max(1) as usize].into_boxed_slice();
        let visits = visits.then(|| config.visit_ticks());
        Clients { cells, idle: config.idle_ticks(), wait: config.wait_ticks(), visits }
    }

    /// The cell of a client in the present round. The low half of the hash decides eligibility,
    /// so the index uses the high half.
    fn cell(&mut self, hash: u64, round: Round) -> &mut Cell {
        let place = ((hash >> 32) * self.cells.len() as u64) >> 32;
        let cell = &mut self.cells[place as usize];
        let round = round.number;
        if cell.round != round {
            let marks = cell.marks & (WAITS | VISITS);
            *cell = Cell { until: cell.until, taken: 0, round, marks };
        }
        cell
    }

    /// Whether visits are admitted, and flows are eligible.
    pub(super) fn visits(&self) -> bool {
        self.visits.is_some()
    }

    /// How a client asks that opens a connection; `eligible`: the hash of the client, or with visits
    /// that of the flow, lies in the window.
    pub(super) fn ask(&mut self, hash: u64, now_ns: u64, round: Round, eligible: bool) -> Standing {
        let (idle, wait, visits) = (self.idle, self.wait, self.visits);
        let cell = self.cell(hash, round);
        if round.share > 0 && u32::from(cell.taken) >= round.share {
            if round.spare { Standing::Waits } else { Standing::Refused }
        } else if let Some(visits) = visits
            && cell.visits(now_ns, visits)
        {
            if cell.marks & VISITS == 0 {
                cell.marks |= VISITS;
                cell.until = tick(now_ns).wrapping_add(visits.1).max(1);
            }
            Standing::Eligible
        } else if visits.is_none() && cell.is_in(now_ns, idle) {
            Standing::LetIn
        } else if cell.waited(now_ns).is_some_and(|waited| waited >= wait) {
            Standing::Overdue
        } else if eligible {
            Standing::Eligible
        } else {
            Standing::Waits
        }
    }

    /// The connection of a client was admitted: the client is let in. Returns whether it is its
    /// first in the round.
    pub(super) fn admitted(&mut self, hash: u64, now_ns: u64, round: Round) -> bool {
        let let_in = tick(now_ns).wrapping_add(self.idle).max(1);
        let visits = self.visits.is_some();
        let cell = self.cell(hash, round);
        cell.until = match visits {
            false => let_in,
            true if cell.marks & WAITS != 0 => 0,
            true => cell.until,
        };
        cell.marks &= !WAITS;
        cell.taken = cell.taken.saturating_add(1);
        cell.taken == 1
    }

    /// A connection of a client has ended: where visits are admitted, what it opens now follows.
    pub(super) fn ended(&mut self, hash: u64, now_ns: u64) {
        let Some(visits) = self.visits else { return };
        let place = ((hash >> 32) * self.cells.len() as u64) >> 32;
        let cell = &mut self.cells[place as usize];
        let goes_on = cell.marks & VISITS != 0 && cell.visits(now_ns, visits);
        let (follow, visit) = visits;
        let span = if goes_on { visit } else { follow };
        cell.until = tick(now_ns).wrapping_add(span).max(1);
        cell.marks &= if goes_on { !WAITS } else { !(WAITS | VISITS) };
    }

    /// The connection of a client was refused. One that is let in stays so for the time that it
    /// had; another one waits from its first refusal on. Returns whether nothing has become of the
    /// client in the round yet.
    pub(super) fn refused(&mut self, hash: u64, now_ns: u64, round: Round) -> bool {
        let (idle, visits) = (self.idle, self.visits);
        let cell = self.cell(hash, round);
        let first = cell.marks & REFUSED == 0 && cell.taken == 0;
        let is_in = match visits {
            Some(visits) => cell.visits(now_ns, visits),
            None => cell.is_in(now_ns, idle),
        };
        if !is_in && cell.waited(now_ns).is_none() {
            cell.until = tick(now_ns);
            cell.marks |= WAITS;
        }
        cell.marks |= REFUSED;
        first
    }
}
