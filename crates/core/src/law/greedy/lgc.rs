//! LGC, limiting greedy connections (Prabhavalkar and Parashar; paper key
//! `lgc`, sections 3.1, 4.2 and Appendix I).
//!
//! | symbol     | here                    | unit    | paper                                    |
//! |------------|-------------------------|---------|------------------------------------------|
//! | `avg`      | `Average`               | packets | as in RED (2.2.1)                        |
//! | `w`        | `w`                     | 1       | 0.02; 0.04 in experiment 3               |
//! | `max_th`   | `max_th`                | packets | 25; 35 in experiments 2 and 3            |
//! | `p`        | `packets`               | packets | all that wait                            |
//! | `n`        | `connections`           | 1       | origins among them                       |
//! | `f`        | `p / n`                 | packets | fair share, eq. a                        |
//! | `k`        | [`disparity`]           | 1       | ln(3n)                                   |
//! | `r`        | [`responsive_share`]    | packets | ceil(k f), eq. b and c                   |
//! | `qo`       | [`permissible_percent`] | %       | 100 ln(3n) / n, eq. d                    |
//! | `GCI`      | `Key::origin`           |         | address and port of the greedy source    |
//! | `PHI`      | `Key::from`             |         | address and port of the previous hop     |
//! | `ITime`    | `itime`                 | s       | about 5                                  |
//! | `FHTime`   | `fhtime`                | s       | about 100                                |
//! | `Tx`       | `tx`                    | s       | longer than `avg` takes to sink; not said|
//!
//! At each arrival that no filter took (Appendix I, 2):
//! 1. Take the queue into the average, as RED does ([`Lgc::observe`]).
//! 2. If `avg > max_th`, and the law is not suspended, suspend it for `Tx`
//!    ([`Lgc::trigger`]) and look at who holds the queue.
//! 3. An origin with more than `r` packets is greedy; the one with most is
//!    singled out. The next greediest has its turn at the next trigger.
//! 4. Filter it on the link that its packets come over. If that link comes from
//!    the origin itself, for `FHTime`; otherwise for `ITime`, and ask the
//!    previous hop to do the same ([`place`]).
//!
//! A node that is asked does step 4 (Appendix I, 3), so the filter moves
//! towards the source and stays at its first hop.
//!
//! `n = 1` gives `r > p`: a lone connection is never greedy, by the formula itself.
//!
//! Departures:
//! - eq. b is printed with a slash where its ceiling bracket stood; eq. c and
//!   the example (41 of 75) show what is meant.
//! - of two that hold equally much, the lower origin is taken; the paper does not say.
//! - the neighbour is that which the packet came from, where the paper looks up
//!   the route back; the two agree where routes are symmetric.
//!
//! Limits: greedy flows that are many and equal stay below `r` together and go
//! unseen (5.4: five of ten with 15 % each, where 34 % are permitted).

use std::collections::BTreeMap;

use crate::law::queue::Average;
use crate::units::{Pace, Size, Time};

use super::{Ask, Key, Node};

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

/// What a congested node saw when it looked at its queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trigger {
    /// Packets that waited (`p`).
    pub packets: u32,
    /// Packets of each origin, in the order of origins; there are `n`.
    pub held: Vec<(Node, u32)>,
    /// What a responsive connection may hold, in packets (`r`).
    pub share: u32,
    /// The greediest, with the packets that it held; none: nobody holds more than `r`.
    pub greedy: Option<(Key, u32)>,
}

impl Trigger {
    /// How many connections had packets in the queue (`n`).
    pub fn connections(&self) -> u32 {
        self.held.len() as u32
    }

    /// Of the waiting packets (Appendix I, 2: find out the share, then the greedy connection).
    fn of(queued: impl Iterator<Item = Key>) -> Trigger {
        // an origin's last packet says which link it comes over now
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

/// The detecting half: the average queue of a node, and when it looks closer.
#[derive(Clone, Debug)]
pub struct Lgc {
    average: Average,
    max_th: f64,
    tx: Time,
    mean_packet: u64,
    /// Until then nothing is triggered (`Suspend_LGC`).
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

    /// Step 1, at an arrival that finds `queue` packets waiting, or the link
    /// idle for so long. True: the node is congested, and [`Lgc::trigger`] is
    /// to be called when the arrival is in the queue.
    #[inline]
    pub fn observe(&mut self, queue: u32, idle: Option<Time>, pace: Pace, now: Time) -> bool {
        match idle {
            Some(idle) => self.average.decay(self.services(idle, pace)),
            None => self.average.sample(f64::from(queue)),
        }
        self.average.value() > self.max_th && now >= self.suspended
    }

    /// How many mean packets the link could have sent in that time (`m`).
    fn services(&self, idle: Time, pace: Pace) -> f64 {
        idle.ps() as f64 / pace.of(self.mean_packet).ps().max(1) as f64
    }

    /// Steps 2 and 3: who holds the queue, given what waits in it?
    pub fn trigger(&mut self, now: Time, queued: impl Iterator<Item = Key>) -> Trigger {
        self.suspended = now.saturating_add(self.tx);
        Trigger::of(queued)
    }

    /// The average, with the link idle for so long, in packets.
    pub fn average(&self, idle: Option<Time>, pace: Pace) -> f64 {
        idle.map_or(self.average.value(), |idle| self.average.decayed(self.services(idle, pace)))
    }
}

/// A filter to install here, and what is to be asked of the previous hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// What is filtered.
    pub key: Key,
    /// Until when.
    pub until: Time,
    /// None at the first hop, where asking the source itself would be futile,
    /// and where filters do not move.
    pub ask: Option<Ask>,
}

/// Step 4, at the congested node and at every node that is asked.
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
