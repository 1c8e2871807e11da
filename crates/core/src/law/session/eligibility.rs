//! Which refused sessions are admitted when they retry: the same ones each time.
//!
//! To a gate a retry looks like a new session. If chance decides each time, most sessions get in
//! after some retries, and all of them wait. Here a salted hash of the flow decides: a flow is
//! *eligible* if its hash lies in a window of width theta, and only eligible flows ask for tokens.
//! So a few sessions wait long, instead of many waiting for some time. The window moves from time
//! to time, so that no flow is refused for ever. A window over the addresses of clients
//! ([`super::clients`]) moves all the time: a client keeps its hash.
//!
//! | symbol  | here    | unit  | value                                           |
//! |---------|---------|-------|-------------------------------------------------|
//! | `theta` | `theta` | 1     | width of the window as a share of all hashes    |
//! | `phase` | `phase` | 2^-32 | its start, which moves every [`TERM`], or in each epoch |

use crate::units::Time;

use super::clients::{self, Who};
use super::rounds::Rounds;
use super::{Counts, Knobs};

/// Fill level of a saving bucket above which flows that are not eligible are admitted too.
pub const BYPASS: f64 = 0.9;

/// How long the window stays in one place.
pub const TERM: Time = Time::from_secs(3_600);

/// How far it then moves, as a share of all hashes: the golden section, so that later windows fall
/// between earlier ones.
const STEP: f64 = 0.618_033_988_749_895;

/// Least width of a window over connections.
const NARROWEST: f64 = 1e-4;

/// How many hashes there are.
const HASHES: f64 = 4_294_967_296.0;

/// How fast a window over clients moves.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Sweep {
    /// Of its own width in one epoch.
    step: f64,
    /// Its least width.
    least: f64,
}

/// The window, as set by the controller of a law.
#[derive(Clone, Debug)]
pub struct Window {
    theta: f64,
    /// Over connections: none.
    sweep: Option<Sweep>,
    rounds: Option<Rounds>,
    /// How far a window over clients has moved, in turns.
    moved: f64,
}

impl Default for Window {
    /// All flows are eligible.
    fn default() -> Window {
        Window { theta: 1.0, sweep: None, rounds: None, moved: 0.0 }
    }
}

impl Window {
    /// Over connections, or over clients, of a law with epochs of this length.
    pub fn over(who: Who, config: &clients::Config, epoch: Time) -> Window {
        match who {
            Who::Connections => return Window::default(),
            // flows are eligible, and the shares are of clients
            Who::Visits => {
                let rounds = Some(Rounds::new(config, epoch));
                return Window { rounds, ..Window::default() };
            }
            Who::Clients => {}
        }
        let dwell = config.dwell.secs();
        let least = (dwell / config.turn.secs()).clamp(NARROWEST, 1.0);
        let sweep = Some(Sweep { step: epoch.secs() / dwell, least });
        Window { sweep, rounds: Some(Rounds::new(config, epoch)), ..Window::default() }
    }

    /// Share of the flows that are eligible.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    fn clamped(&self, theta: f64) -> f64 {
        theta.clamp(self.sweep.map_or(NARROWEST, |sweep| sweep.least), 1.0)
    }

    /// The gate closes to `allowed` sessions per epoch, after `arrived` in the last epoch.
    pub fn close(&mut self, allowed: f64, counts: &Counts) {
        let arrived = counts.arrived.saturating_sub(counts.inside);
        self.theta = self.clamped(allowed / (arrived as f64).max(1.0));
    }

    /// An epoch has ended in which `counts.eligible` arrivals were eligible; the next one admits
    /// `allowed`. The width follows the ratio of the two, slowly: sessions that an older, narrower
    /// window refused retry under a wider one.
    pub fn follow(&mut self, allowed: f64, counts: &Counts) {
        let asked = counts.eligible.saturating_sub(counts.lost_openers) as f64;
        let step = libm::pow(allowed / asked.max(1.0), 0.3).clamp(0.5, 1.5);
        self.theta = self.clamped(self.theta * step);
    }

    /// Sets the knobs of the epoch that starts now. `bypass` is the fill level of a saving bucket
    /// above which flows that are not eligible are admitted too.
    pub fn set(&mut self, bypass: f64, now: Time, knobs: &mut Knobs) {
        let moved = match self.sweep {
            None => (now.ps() / TERM.ps()) as f64 * STEP,
            Some(sweep) => {
                self.moved += self.theta * sweep.step;
                self.moved -= libm::floor(self.moved);
                self.moved
            }
        };
        knobs.phase = ((moved - libm::floor(moved)) * HASHES) as u32;
        knobs.shut = ((1.0 - self.theta) * HASHES) as u32;
        knobs.bypass = libm::round(bypass * 65_536.0) as u32;
    }

    /// An epoch with these counts has ended; before the law decides.
    pub fn count(&mut self, counts: &Counts) {
        if let Some(rounds) = &mut self.rounds {
            rounds.count(counts);
        }
    }

    /// The unit of the law, as a part of a connection: clients let in for each admitted
    /// connection, or 1 where each is judged by itself.
    pub fn unit(&self) -> f64 {
        let rounds = self.rounds.as_ref().filter(|_| self.over_clients());
        rounds.map_or(1.0, Rounds::per_connection)
    }

    /// Whether clients are let in.
    pub fn over_clients(&self) -> bool {
        self.sweep.is_some()
    }

    /// Sets what concerns clients, also where everything is admitted.
    pub fn renew(&self, knobs: &mut Knobs) {
        if let Some(rounds) = &self.rounds {
            rounds.set(knobs, self.over_clients());
        }
    }
}

impl Knobs {
    /// Whether a flow with this hash may take a token.
    #[inline]
    pub fn eligible(&self, hash: u32) -> bool {
        // the window is the hashes below `2^32 - shut`, counted from the phase on
        self.shut == 0 || hash.wrapping_sub(self.phase) < self.shut.wrapping_neg()
    }
}
