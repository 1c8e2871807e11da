//! Which of the waiting sessions may come in: the same ones from try to try.
//!
//! A refused session tries again, and looks like a new one. If chance decides
//! each time, most get in after some tries, and all wait. Here a salted hash of
//! the flow decides: a flow is *eligible* if its hash lies in a window of width
//! theta, and only eligible ones ask for tokens. So few wait long, in place of
//! many that wait some time. Once in a while the window moves, so that nobody is
//! judged for ever.
//!
//! | symbol  | here    | unit  | value                                           |
//! |---------|---------|-------|-------------------------------------------------|
//! | `theta` | `theta` | 1     | width of the window as a share of all hashes    |
//! | `phase` | `phase` | 2^-32 | where it begins, in a new place each [`TERM`]   |

use crate::units::Time;

use super::{Counts, Knobs};

/// Share of a saving bucket from which on it takes those too that are not eligible.
pub const BYPASS: f64 = 0.9;

/// So long the window stays in its place.
pub const TERM: Time = Time::from_secs(3_600);

/// By so much of all hashes it moves then: the part of the golden section, by
/// which places of later terms fall between those of earlier ones.
const STEP: f64 = 0.618_033_988_749_895;

/// How many hashes there are.
const HASHES: f64 = 4_294_967_296.0;

/// The window, as the controller of a law steers it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    theta: f64,
}

impl Default for Window {
    /// Everybody is eligible.
    fn default() -> Window {
        Window { theta: 1.0 }
    }
}

impl Window {
    /// Share of the flows that are eligible.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// The gate closes to `allowed` sessions per epoch, and so many came in the last.
    pub fn close(&mut self, allowed: f64, counts: &Counts) {
        self.theta = (allowed / (counts.arrived as f64).max(1.0)).clamp(1e-4, 1.0);
    }

    /// An epoch has ended in which `counts.eligible` tries were eligible, and
    /// `allowed` may come in the next: the width follows their ratio, slowly
    /// because an old window has made sessions wait that come back into a wider one.
    pub fn follow(&mut self, allowed: f64, counts: &Counts) {
        let asked = counts.eligible.saturating_sub(counts.lost_openers) as f64;
        let step = libm::pow(allowed / asked.max(1.0), 0.3).clamp(0.5, 1.5);
        self.theta = (self.theta * step).clamp(1e-4, 1.0);
    }

    /// Sets the knobs of the epoch that begins now, `bypass` being the share of a
    /// saving bucket from which on it takes the others too.
    pub fn set(&self, bypass: f64, now: Time, knobs: &mut Knobs) {
        let moved = (now.ps() / TERM.ps()) as f64 * STEP;
        knobs.phase = ((moved - libm::floor(moved)) * HASHES) as u32;
        knobs.shut = ((1.0 - self.theta) * HASHES) as u32;
        knobs.bypass = libm::round(bypass * 65_536.0) as u32;
    }
}

impl Knobs {
    /// Whether a flow of this hash may ask for a token.
    #[inline]
    pub fn eligible(&self, hash: u32) -> bool {
        // the window is what lies below `2^32 - shut` from the phase on
        self.shut == 0 || hash.wrapping_sub(self.phase) < self.shut.wrapping_neg()
    }
}
