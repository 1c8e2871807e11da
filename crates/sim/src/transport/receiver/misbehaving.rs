//! What a receiver does that misbehaves.

use tidegate_core::packet::{Flags, Packet};

use super::{Address, PARTS, Receiver};
use crate::transport::Ctx;

impl Receiver {
    /// Answers a segment or a FIN before what follows it has come.
    #[cold]
    pub(super) fn take_early(
        &mut self,
        seq: u32,
        packet: &Packet,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) {
        let now = ctx.net.now;
        let aside = self.aside.get_or_insert_default();
        let early = aside.early.get_or_insert_default();
        let lead = early.on_the_way(seq, packet, now);
        let again = packet.flags.has(Flags::RETRANSMIT);
        // a repeated segment below another one was counted as come before
        let fresh = !again || seq >= early.highest;
        early.highest = early.highest.max(seq + 1);
        // u32::MAX: not known yet
        let end = if self.end == u32::MAX { self.data_end } else { self.end };
        let told = if again { early.highest } else { (early.highest + lead).max(self.next) };
        let told = told.min(end);
        self.echo = if lead == 0 { packet.sent } else { (packet.sent + early.delay).min(now) };
        aside.missing = (aside.missing + told).saturating_sub(self.next + u32::from(fresh));
        self.next = told;
        self.note_end(ctx);
        self.acknowledge_seldom(address, seq, &packet.ext, ctx);
    }

    /// Acknowledges all parts of a segment but the last, one after the other.
    #[cold]
    pub(super) fn split(&self, segment: u32, address: &Address, ctx: &mut Ctx<'_>) {
        let flags = Flags::ACK.with(self.tell_of_marks(ctx.class.ecn));
        let mut ack = address.towards_source(flags, ctx.class.tcp.header, ctx.net.now);
        (ack.ack, ack.sent) = (segment, self.echo);
        for parts in 1..PARTS {
            ack.seq = parts;
            ctx.net.send_often(ack);
        }
    }
}
