//! A medium that several links share: only one of them sends at a time.
//!
//! Ports that wait for it take turns: of those that have something to send when it
//! becomes free, the one that sent longest ago goes first (of those that never did, the one
//! that was made first). So two ports that always have
//! something to send send a packet each in turn, whatever the sizes, as stations of Wi-Fi
//! do in the mean. After each packet the medium stays taken for a gap (contention,
//! preamble, acknowledgement of the link). There are no collisions, and nothing is drawn.
//!
//! Each port looks at its own times. A port whose turn it is looks at the instant at which
//! the medium becomes free, as the others do, in any order: one whose turn it is not looks
//! again a picosecond later, when the other has taken the medium or has let it go.

use std::sync::{Arc, Mutex, PoisonError};

use crate::units::Time;

/// The place of one port at a medium.
#[derive(Clone, Debug)]
pub struct Medium {
    air: Arc<Mutex<Air>>,
    /// The port's number among those that share the medium.
    place: usize,
    /// How long the medium stays taken after each packet.
    gap: Time,
}

/// What the ports of a medium share.
#[derive(Debug, Default)]
struct Air {
    /// When it has been sent and the gap is over.
    free_at: Time,
    /// Transmissions so far.
    turns: u64,
    stations: Vec<Station>,
}

/// One of the ports.
#[derive(Clone, Copy, Debug, Default)]
struct Station {
    /// Its last transmission, counted over all of them.
    turn: u64,
    /// When it looks again, while it has something to send and may not.
    waits: Option<Time>,
}

/// Whether a port may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leave {
    /// At once.
    Granted,
    /// Not before this instant.
    NotBefore(Time),
    /// Another port has the turn, and has not been looked at yet.
    AnotherFirst,
}

impl Default for Medium {
    fn default() -> Medium {
        Medium { air: Arc::default(), place: 0, gap: Time::ZERO }
    }
}

impl Medium {
    /// A further port at this medium, with its gap.
    pub fn join(&self, gap: Time) -> Medium {
        let place = self.with(|air| {
            air.stations.push(Station::default());
            air.stations.len() - 1
        });
        Medium { air: self.air.clone(), place, gap }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Air) -> T) -> T {
        // nothing in here panics half-way
        act(&mut self.air.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The port has something that it could send from `start` on.
    pub(super) fn ask(&self, start: Time) -> Leave {
        self.with(|air| {
            let own = (air.stations[self.place].turn, self.place);
            let first = |(place, other): (usize, &Station)| {
                (other.turn, place) < own && other.waits.is_some_and(|looks| looks <= start)
            };
            let leave = if air.free_at > start {
                Leave::NotBefore(air.free_at)
            } else if air.stations.iter().enumerate().any(first) {
                Leave::AnotherFirst
            } else {
                Leave::Granted
            };
            air.stations[self.place].waits = match leave {
                Leave::Granted => None,
                Leave::NotBefore(at) => Some(at),
                Leave::AnotherFirst => Some(start),
            };
            leave
        })
    }

    /// The port sends a packet until `end`.
    pub(super) fn take(&self, end: Time) {
        self.with(|air| {
            air.turns += 1;
            air.free_at = end.saturating_add(self.gap);
            air.stations[self.place] = Station { turn: air.turns, waits: None };
        });
    }

    /// The packet that the port sends ends at `end`, not when it was to.
    pub(super) fn end(&self, end: Time) {
        self.with(|air| air.free_at = end.saturating_add(self.gap));
    }

    /// The port has nothing to send.
    pub(super) fn rest(&self) {
        self.with(|air| air.stations[self.place].waits = None);
    }
}
