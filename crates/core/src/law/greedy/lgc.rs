//! LGC, limiting greedy connections (Prabhavalkar and Parashar; paper key
//! `lgc`, sections 3.1, 4.2 and Appendix I).
//!
//! | symbol     | here                    | unit    | paper                                    |
//! |------------|-------------------------|---------|------------------------------------------|
//! | `avg`      | `Average`               | packets | as in RED (2.2.1)                        |
//! | `w`        | `w`                     | 1       | 0.02; 0.04 in experiment 3               |
//! | `max_th`   | `max_th`                | packets | 25; 35 in experiments 2 and 3            |
//! | `p`        | `packets`               | packets | packets waiting                          |
//! | `n`        | `connections`           | 1       | origins of these packets                 |
//! | `f`        | `p / n`                 | packets | fair share, eq. a                        |
//! | `k`        | [`disparity`]           | 1       | ln(3n)                                   |
//! | `r`        | [`responsive_share`]    | packets | ceil(k f), eq. b and c                   |
//! | `qo`       | [`permissible_percent`] | %       | 100 ln(3n) / n, eq. d                    |
//! | `GCI`      | `Key::origin`           |         | address and port of the greedy source    |
//! | `PHI`      | `Key::from`             |         | address and port of the previous hop     |
//! | `ITime`    | `itime`                 | s       | about 5                                  |
//! | `FHTime`   | `fhtime`                | s       | about 100                                |
//! | `Tx`       | `tx`                    | s       | longer than `avg` takes to fall; no value given |
//!
//! At each arrival that no filter drops (Appendix I, 2):
//! 1. Update the average queue as RED does ([`Lgc::observe`]).
//! 2. If `avg > max_th` and the law is not suspended, suspend it for `Tx` ([`Lgc::trigger`]) and
//!    count the waiting packets by origin.
//! 3. An origin with more than `r` packets is greedy. The one with the most packets is chosen;
//!    another greedy origin is chosen at a later trigger.
//! 4. Filter the chosen origin on the link that its packets arrive on: for `FHTime` if that link
//!    comes from the origin itself; otherwise for `ITime`, and ask the previous hop to do the same
//!    ([`place`]).
//!
//! A node that is asked performs step 4 (Appendix I, 3). So the filter moves towards the source and
//! stays at the first hop.
//!
//! With `n = 1`, `r > p`: by the formula a lone connection is never greedy.
//!
//! Departures:
//! - eq. b is printed with a slash in place of its ceiling bracket; eq. c and the example (41 of
//!   75) show what is meant.
//! - of two origins with equally many packets the lower one is chosen; the paper gives no rule.
//! - the neighbour is the one that the packet arrived from, where the paper looks up the reverse
//!   route; the two agree where routes are symmetric.
//!
//! Limits: greedy flows that are many and equal all stay below `r` and are not detected (5.4: five
//! of ten with 15 % each, where 34 % are permitted).

mod at_port;

use std::collections::BTreeMap;

use crate::law::queue::Average;
use crate::units::{Pace, Size, Time};

use super::{Ask, Key, Node};

pub use at_port::AtPort;

crate::settings! {
    /// Parameters of LGC.
    "Lgc", check:
    max_th: f64 = 25 [above 0 to 1e9] "Average queue above which the node looks for a greedy flow, in packets" ("lgc, 5.1");
    w: f64 = 0.02 [1e-9 to 1] "Weight of the newest arrival in the average queue" ("lgc, 5.1");
    itime: Time = "5s" ["1ms" to "24h"] "How long a node on the way filters, while the filter moves on (ITime)" ("lgc, 4.2");
    fhtime: Time = "100s" ["1ms" to "24h"] "How long the first hop of the source filters (FHTime)" ("lgc, 4.2");
    tx: Time = "3s" ["0s" to "24h"] "Least time between two triggers (Tx)" ("lgc, 4.2 has no number");
    mobile: bool = true "Whether the filter moves towards the source; false: it stays at the congested node, for fhtime" ("lgc, 4.2; 5.4 for the other");
    mean_packet: Size = "500B" ["1B" to "65000B"] "Mean packet size, by which idle time is counted";
    most_filters: u32 = 64 [1 to 65536] "Filters that a node has at most";
}

/// By how much a connection may exceed its fair share of the queue: `k = ln(3n)` (3.1.1).
pub fn disparity(connections: u32) -> f64 {
    libm::log(3.0 * f64::from(connections))
}

/// What a responsive connection may hold of a queue of `packets`: `r = ceil(k p / n)` (eq. c).
pub fn responsive_share(packets: u32, connections: u32) -> u32 {
    let fair = f64::from(packets) / f64::from(connections.max(1));
    libm::ceil(disparity(connections.max(1)) * fair) as u32
}

/// The same in percent of the queue, before rounding: `qo = 100 ln(3n) / n` (eq. d).
pub fn permissible_percent(connections: u32) -> f64 {
    100.0 * disparity(connections) / f64::from(connections)
}

/// The queue of a congested node, by origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trigger {
    /// Packets waiting (`p`).
    pub packets: u32,
    /// Packets of each origin, in the order of origins; there are `n`.
    pub held: Vec<(Node, u32)>,
    /// What a responsive connection may hold, in packets (`r`).
    pub share: u32,
    /// The origin with the most packets, and how many; none: nobody holds more than `r`.
    pub greedy: Option<(Key, u32)>,
}

impl Trigger {
    /// Number of connections with packets in the queue (`n`).
    pub fn connections(&self) -> u32 {
        self.held.len() as u32
    }

    /// Counts the waiting packets (Appendix I, 2: shares first, then the greedy connection).
    fn of(queued: impl Iterator<Item = Key>) -> Trigger {
        // the origin's last packet tells which link it uses now
        let mut held: BTreeMap<Node, (u32, Node)> = BTreeMap::new();
        let mut packets = 0;
        for key in queued {
            packets += 1;
            let (count, from) = held.entry(key.origin).or_default();
            (*count, *from) = (*count + 1, key.from);
        }
        let share = responsive_share(packets, held.len() as u32);
        let mut greedy: Option<(Key, u32)> = None;
        for (origin, (count, from)) in &held {
            if *count > share && greedy.is_none_or(|(_, most)| *count > most) {
                greedy = Some((Key { from: *from, origin: *origin }, *count));
            }
        }
        let held = held.into_iter().map(|(origin, (count, _))| (origin, count)).collect();
        Trigger { packets, held, share, greedy }
    }
}

/// The detector: the average queue of a node, and when to look for a greedy origin.
#[derive(Clone, Debug)]
pub struct Lgc {
    average: Average,
    max_th: f64,
    tx: Time,
    mean_packet: u64,
    /// No trigger before this instant (`Suspend_LGC`).
    suspended: Time,
}

impl Lgc {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config) -> Lgc {
        Lgc {
            average: Average::new(config.w),
            max_th: config.max_th,
            tx: config.tx,
            mean_packet: config.mean_packet.bytes(),
            suspended: Time::ZERO,
        }
    }

    /// Step 1, at an arrival that finds `queue` packets waiting, or the link idle for `idle`.
    /// Returns true if the node is congested: call [`Lgc::trigger`] once the arrival is in the
    /// queue.
    #[inline]
    pub fn observe(&mut self, queue: u32, idle: Option<Time>, pace: Pace, now: Time) -> bool {
        match idle {
            Some(idle) => self.average.decay(self.services(idle, pace)),
            None => self.average.sample(f64::from(queue)),
        }
        self.average.value() > self.max_th && now >= self.suspended
    }

    /// The number of mean packets that the link could have sent in that time (`m`).
    fn services(&self, idle: Time, pace: Pace) -> f64 {
        idle.ps() as f64 / pace.of(self.mean_packet).ps().max(1) as f64
    }

    /// Steps 2 and 3: who holds the queue, given the packets that wait.
    pub fn trigger(&mut self, now: Time, queued: impl Iterator<Item = Key>) -> Trigger {
        self.suspended = now.saturating_add(self.tx);
        Trigger::of(queued)
    }

    /// The average in packets, after the link has been idle for `idle`.
    pub fn average(&self, idle: Option<Time>, pace: Pace) -> f64 {
        idle.map_or(self.average.value(), |idle| self.average.decayed(self.services(idle, pace)))
    }
}

/// A filter to install here, and a request for the previous hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// What is filtered.
    pub key: Key,
    /// Its expiry.
    pub until: Time,
    /// None at the first hop: asking the source itself would be futile. None either where filters
    /// do not move.
    pub ask: Option<Ask>,
}

/// Step 4, at the congested node and at every node that receives a request.
pub fn place(config: &Config, key: Key, now: Time) -> Placement {
    if key.first_hop() || !config.mobile {
        return Placement { key, until: now.saturating_add(config.fhtime), ask: None };
    }
    let until = now.saturating_add(config.itime);
    let ask = Ask::Filter { to: key.from, origin: key.origin, until };
    Placement { key, until, ask: Some(ask) }
}

#[cfg(test)]
mod tests;
