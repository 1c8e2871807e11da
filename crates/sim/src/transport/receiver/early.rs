//! A receiver that acknowledges segments before they come (optimistic ACKs; Savage, Cardwell,
//! Wetherall and Anderson, "TCP Congestion Control with a Misbehaving Receiver", 1999, 2.3).
//!
//! | symbol | here            | unit     | meaning                                        |
//! |--------|-----------------|----------|------------------------------------------------|
//! | d      | `Early::delay`  | s        | least delay of a segment; a round trip is 2 d  |
//! | n      | `Early::before` | segments | how many came in the last round trip           |
//! | h      | `Early::highest`| segments | behind the highest segment that has come       |
//!
//! 1. Of n segments in a round trip n / 2 are on the way here: each segment that comes is
//!    answered by an acknowledgement of everything below h + n / 2.
//! 2. The time that it hands back is that of the newest of these, d after the time of the one
//!    that has come. So the sender measures half of the round trip.
//! 3. What is lost counts as come, and the sender never hears of it. As it answers to nothing,
//!    so many fewer are on the way: n falls by twice as many until the round trip is over.
//! 4. A sender ignores an acknowledgement of what it has not sent (RFC 9293, 3.10.7.4). If it was
//!    slower than supposed it hears nothing and repeats a segment: then only what has come is
//!    acknowledged, for a round trip.
//!
//! Departure: Savage et al. send such acknowledgements by a timer; here each is the answer to a
//! segment, so that there are no more of them than segments.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

/// What such a receiver has seen.
#[derive(Default)]
pub(super) struct Early {
    pub(super) highest: u32,
    pub(super) delay: Time,
    /// When the present round trip began, and how many segments have come since.
    since: Time,
    came: u32,
    before: u32,
}

impl Early {
    /// How many segments have to be on the way behind one that comes now.
    pub(super) fn on_the_way(&mut self, seq: u32, packet: &Packet, now: Time) -> u32 {
        let delay = now.saturating_sub(packet.sent);
        if self.delay == Time::ZERO || delay < self.delay {
            self.delay = delay;
        }
        if packet.flags.has(Flags::RETRANSMIT) {
            (self.since, self.came, self.before) = (now, 0, 0);
        }
        let round = self.delay * 2;
        let passed = now.saturating_sub(self.since);
        if passed >= round {
            self.before = if passed < round * 2 { self.came } else { 0 };
            (self.since, self.came) = (now, 0);
        }
        self.came += 1;
        let lost = seq.saturating_sub(self.highest);
        self.before = self.before.saturating_sub(lost * 2);
        self.before / 2
    }
}
