//! The last hour of a gate: what its totals grew by, every ten seconds.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use crate::shared::Fate;
use crate::status::Status;

/// From one look to the next.
pub const EVERY: Duration = Duration::from_secs(10);
/// Looks that are kept.
const MOST: usize = 360;

/// What happened between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Seconds since 1970 when it ended.
    at_s: u64,
    /// Bytes that left by the interface.
    bytes: u64,
    /// Openers.
    came: u64,
    /// Of these, refused.
    refused: u64,
    /// Of these, admitted in observe mode where the law would have refused them.
    spared: u64,
    /// Packets that the queue lost.
    lost: u64,
}

/// The parts of the last hour, the latest last.
#[derive(Debug, Default)]
pub struct Hour {
    parts: VecDeque<Part>,
    before: Option<Part>,
}

impl Hour {
    /// Adds what has happened since the last look; `at_s`: seconds since 1970.
    pub fn add(&mut self, status: &Status, at_s: u64) {
        let now = Part {
            at_s,
            bytes: status.sent_bytes,
            came: status.arrived_total,
            refused: status.refused(),
            spared: status.of(Fate::WouldRefuse),
            lost: status.drops_total,
        };
        // an interface that was made anew counts from zero
        let grown = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        if let Some(before) = self.before.replace(now) {
            self.parts.push_back(Part {
                at_s,
                bytes: grown(now.bytes, before.bytes),
                came: grown(now.came, before.came),
                refused: grown(now.refused, before.refused),
                spared: grown(now.spared, before.spared),
                lost: grown(now.lost, before.lost),
            });
        }
        if self.parts.len() > MOST {
            self.parts.pop_front();
        }
    }

    /// The parts, the latest last.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(sent_bytes: u64, arrived_total: u64, refused: u64) -> Status {
        let packets = Fate::ALL.iter().map(|fate| {
            let number = if *fate == Fate::Refused { refused } else { 0 };
            (fate.name().to_owned(), number)
        });
        Status { sent_bytes, arrived_total, packets: packets.collect(), ..Status::default() }
    }

    // By hand: the first look only says where the totals stand. 1.25 MB in ten seconds are 1 Mbit/s.
    #[test]
    fn a_part_is_what_the_totals_grew_by() {
        let mut hour = Hour::default();
        hour.add(&status(5_000_000, 100, 40), 1_000);
        assert_eq!(hour.parts().count(), 0);
        hour.add(&status(6_250_000, 130, 52), 1_010);
        let part =
            Part { at_s: 1_010, bytes: 1_250_000, came: 30, refused: 12, spared: 0, lost: 0 };
        assert_eq!(hour.parts().copied().collect::<Vec<_>>(), [part]);
        // the interface is another one with the same name, and has sent 7 kB
        hour.add(&status(7_000, 130, 52), 1_020);
        assert_eq!(hour.parts().last().map(|part| (part.bytes, part.came)), Some((7_000, 0)));
    }

    // An hour has 360 times ten seconds.
    #[test]
    fn an_hour_is_kept_and_no_more() {
        let mut hour = Hour::default();
        for at in 0..1_000 {
            hour.add(&status(at, at, 0), 10 * at);
        }
        assert_eq!(hour.parts().count(), 360);
        assert_eq!(hour.parts().next().map(|part| part.at_s), Some(10 * 640));
    }
}
