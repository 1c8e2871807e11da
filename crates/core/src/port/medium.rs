//! A medium that several links share: only one of them sends at a time.
//!
//! When the medium becomes free, one of the ports that have a packet to send may send it: the one
//! that sent longest ago (of those that never sent, the one that was created first). So two busy
//! ports send one packet each in turn, whatever the sizes, as Wi-Fi stations do on average. After
//! each packet the medium stays occupied for a gap (contention, preamble, acknowledgement of the
//! link). There are no collisions and no random draws.
//!
//! Each port has its own events. When the medium becomes free, all waiting ports try at that instant,
//! in any order. A port that is not next tries again a picosecond later: by then the other has taken
//! the medium or given up its turn.

use std::sync::{Arc, Mutex, PoisonError};

use crate::units::Time;

/// One port's access to a medium.
#[derive(Clone, Debug)]
pub struct Medium {
    air: Arc<Mutex<Air>>,
    /// The port's number among those that share the medium.
    place: usize,
    /// How long the medium stays occupied after each packet.
    gap: Time,
}

/// The state that the ports of a medium share.
#[derive(Debug, Default)]
struct Air {
    /// When the packet and the gap after it are over.
    free_at: Time,
    /// Transmissions so far.
    turns: u64,
    stations: Vec<Station>,
}

/// One of the ports.
#[derive(Clone, Copy, Debug, Default)]
struct Station {
    /// The number of its last transmission, counted over all ports.
    turn: u64,
    /// When it tries again, if it has a packet and may not send.
    waits: Option<Time>,
}

/// Whether a port may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leave {
    /// Now.
    Granted,
    /// Not before this instant.
    NotBefore(Time),
    /// Another port is next, and has not tried yet.
    AnotherFirst,
}

impl Default for Medium {
    fn default() -> Medium {
        Medium { air: Arc::default(), place: 0, gap: Time::ZERO }
    }
}

impl Medium {
    /// Adds a port to this medium, with its gap.
    pub fn join(&self, gap: Time) -> Medium {
        let place = self.with(|air| {
            air.stations.push(Station::default());
            air.stations.len() - 1
        });
        Medium { air: self.air.clone(), place, gap }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Air) -> T) -> T {
        // nothing here can panic while the lock is held
        act(&mut self.air.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The port has a packet that it could send from `start` on.
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

    /// The port's transmission ends at `end`, which differs from what it announced.
    pub(super) fn end(&self, end: Time) {
        self.with(|air| air.free_at = end.saturating_add(self.gap));
    }

    /// The port has no packet to send.
    pub(super) fn rest(&self) {
        self.with(|air| air.stations[self.place].waits = None);
    }
}
