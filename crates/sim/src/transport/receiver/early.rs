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

use super::super::Ctx;
use super::{Address, Receiver};

/// What such a receiver has seen.
#[derive(Default)]
pub(super) struct Early {
    highest: u32,
    delay: Time,
    /// When the present round trip began, and how many segments have come since.
    since: Time,
    came: u32,
    before: u32,
}

impl Early {
    /// How many segments have to be on the way behind one that comes now.
    fn on_the_way(&mut self, packet: &Packet, now: Time) -> u32 {
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
        let lost = packet.seq.saturating_sub(self.highest);
        self.before = self.before.saturating_sub(lost * 2);
        self.before / 2
    }
}

impl Receiver {
    /// Answers a segment or a FIN before what follows it has come.
    #[cold]
    pub(super) fn take_early(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let now = ctx.net.now;
        let aside = self.aside.get_or_insert_default();
        let early = aside.early.get_or_insert_default();
        let lead = early.on_the_way(packet, now);
        let again = packet.flags.has(Flags::RETRANSMIT);
        // a repeated segment below another one was counted as come before
        let fresh = !again || packet.seq >= early.highest;
        early.highest = early.highest.max(packet.seq + 1);
        // u32::MAX: not known yet
        let end = if self.end == u32::MAX { self.data_end } else { self.end };
        let told = if again { early.highest } else { (early.highest + lead).max(self.next) };
        let told = told.min(end);
        self.echo = if lead == 0 { packet.sent } else { (packet.sent + early.delay).min(now) };
        aside.missing = (aside.missing + told).saturating_sub(self.next + u32::from(fresh));
        self.next = told;
        self.note_end(ctx);
        let ext = self.release(packet.ext);
        self.acknowledge_with(address, packet.seq, &ext, ctx);
    }
}
