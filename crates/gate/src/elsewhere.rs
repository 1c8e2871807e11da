//! The other interfaces of the machine: what left by each in an epoch, and whether its queue was full.
//!
//! A gate sees the queue of its own interface. Downloads that come in at the outer interface of a
//! router wait at the inner one, and whoever observes the outer one has to be told.

use std::collections::BTreeMap;
use std::io;

use tokio::time::Instant;

use super::link::{Interface, Netlink, Queue};

/// What an interface did in an epoch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Other {
    /// Its name.
    pub name: String,
    /// Bits per second that left by it.
    pub sent_bps: f64,
    /// Packets that its queue dropped.
    pub drops: u64,
    /// Whether its queue was full: it lost packets, or packets waited at both ends of the epoch.
    pub full: bool,
}

impl Other {
    /// The difference of two readings, that long apart.
    fn between(before: &(Interface, Queue), now: &(Interface, Queue), seconds: f64) -> Other {
        let zero = Queue::default();
        let queue = if now.1.continues(&before.1) { &before.1 } else { &zero };
        // some drivers count anew when the interface is set up again
        let (then, there) = (before.0.sent.bytes, now.0.sent.bytes);
        let bytes = there.checked_sub(then).unwrap_or(there);
        let drops = u64::from(now.1.drops.wrapping_sub(queue.drops));
        Other {
            name: now.0.name.clone(),
            sent_bps: 8.0 * bytes as f64 / seconds.max(1e-3),
            drops,
            full: drops > 0 || (queue.waiting > 0 && now.1.waiting > 0),
        }
    }
}

/// Interfaces with their queues, by their number.
type Readings = BTreeMap<i32, (Interface, Queue)>;

/// The interfaces when they were read last.
#[derive(Debug, Default)]
pub struct Elsewhere {
    before: Option<(Instant, Readings)>,
}

impl Elsewhere {
    /// What each interface but `own` and those of this machine alone did since the last call.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn epoch(&mut self, netlink: &mut Netlink, own: i32) -> io::Result<Vec<Other>> {
        let queues: BTreeMap<i32, Queue> = netlink.queues()?.into_iter().collect();
        let others = netlink.interfaces()?.into_iter().filter(|other| other.index != own);
        let now: Readings = others
            .filter(|other| other.name != "lo")
            .filter_map(|other| {
                Some((other.index, (other.clone(), queues.get(&other.index)?.clone())))
            })
            .collect();
        let at = Instant::now();
        let Some((then, before)) = self.before.replace((at, now.clone())) else {
            return Ok(Vec::new());
        };
        let seconds = at.saturating_duration_since(then).as_secs_f64();
        let both = now.iter().filter_map(|(index, now)| Some((before.get(index)?, now)));
        Ok(both.map(|(before, now)| Other::between(before, now, seconds)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Traffic;

    fn reading(bytes: u64, drops: u32, waiting: u32) -> (Interface, Queue) {
        let interface = Interface {
            index: 3,
            name: "lan0".to_owned(),
            ethernet: true,
            ifb: false,
            mtu: 1500,
            sent: Traffic { packets: 0, bytes },
            received: Traffic::default(),
        };
        let queue = Queue { kind: "tbf".to_owned(), bytes, drops, waiting, ..Queue::default() };
        (interface, queue)
    }

    // By hand: 600 kB in half a second are 9.6 Mbit/s. A queue is full if it lost something, or if
    // packets waited at both ends; one packet that is met on its way is no full queue.
    #[test]
    fn a_queue_that_loses_or_never_empties_is_full() {
        for (drops, waiting, full) in
            [((5, 12), (0, 0), true), ((5, 5), (3, 7), true), ((5, 5), (0, 7), false)]
        {
            let before = reading(1_000_000, drops.0, waiting.0);
            let now = reading(1_600_000, drops.1, waiting.1);
            let other = Other::between(&before, &now, 0.5);
            assert_eq!((other.full, other.drops), (full, u64::from(drops.1 - drops.0)));
            assert!((other.sent_bps - 9.6e6).abs() < 1.0);
        }
    }

    // The interface was made anew with the same number: it counts from zero.
    #[test]
    fn an_interface_that_counts_anew_has_sent_what_it_counts() {
        let other = Other::between(&reading(9_000_000, 70, 0), &reading(125_000, 2, 0), 1.0);
        assert_eq!((other.drops, other.sent_bps.round()), (2, 1e6));
    }
}
