//! How a sender updates its record of outstanding segments, and what it reads from it.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use super::super::control::{Control, DeliveryRate};
use super::super::outstanding::Outstanding;
use super::super::{ClassParams, Ctx};
use super::Sender;

impl<C: Control> Sender<C> {
    /// A segment is sent.
    pub(super) fn enter(&mut self, seq: u32, again: bool, ctx: &Ctx<'_>) {
        let Some(outstanding) = &mut self.outstanding else { return };
        outstanding.send(seq, ctx.net.now);
        if self.recovering {
            outstanding.prr.on_sent();
        }
        if !again {
            self.arm_probe(ctx);
        }
    }

    /// An acknowledgement whose blocks the scoreboard has read.
    pub(super) fn on_acked(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let Some(outstanding) = &mut self.outstanding else { return };
        let fresh = self.board.as_ref().map_or(&[][..], |board| board.fresh());
        let echo = ctx.class.tcp.timestamps.then_some(packet.sent);
        outstanding.acknowledge(packet.ack, fresh, ctx.net.now, echo);
        if let Some(board) = self.board.as_mut().filter(|_| !ctx.class.tcp.rack) {
            outstanding.ack_info.losses = board.newly_lost(packet.ack);
        }
        outstanding.losing &= packet.ack < self.recover;
        let plain = packet.ack == self.una && packet.ext.blocks().is_none();
        if outstanding.tlp.repaired(packet.ack, plain) && !self.recovering {
            // RFC 8985, 7.4.2: the probe has repaired a loss
            self.on_loss(ctx);
            let window = self.window();
            self.control.on_recovered(window);
        }
        if self.recovering && !ctx.class.tcp.rack {
            self.spread(ctx.class);
        }
    }

    /// Updates how much may be sent in recovery (PRR, RFC 6937).
    pub(super) fn spread(&mut self, class: &ClassParams) {
        let ssthresh = self.control.cwnd().max(1.0) as u32;
        let pipe = self.pipe(class);
        if let Some(outstanding) = &mut self.outstanding {
            outstanding.prr.on_ack(outstanding.ack_info.delivered, pipe, ssthresh);
        }
    }

    /// Segments thought to be in the network.
    fn pipe(&self, class: &ClassParams) -> u32 {
        match (&self.outstanding, &self.board) {
            (Some(outstanding), _) if class.tcp.rack => outstanding.pipe(),
            (_, Some(board)) if self.recovering => board.pipe(self.una, self.nxt),
            _ => self.flight().saturating_sub(self.dup_acks),
        }
    }

    /// The window in recovery with SACK, where `pipe` segments are in the network.
    pub(super) fn window_in_recovery(&self, pipe: u32, class: &ClassParams) -> u32 {
        match &self.outstanding {
            Some(outstanding) if class.tcp.prr && !self.control.keeps_window() => {
                outstanding.prr.window(pipe)
            }
            _ => self.control.cwnd().max(1.0) as u32,
        }
    }

    /// The sample of the delivery rate for a control that asks for it.
    pub(super) fn delivery_rate(
        &self,
        outstanding: &Outstanding,
        class: &ClassParams,
    ) -> DeliveryRate {
        let ack_info = &outstanding.ack_info;
        let pipe = self.pipe(class);
        let sampled = ack_info.sampled.as_ref();
        DeliveryRate {
            delivered: sampled.map_or(0, |sampled| sampled.delivered),
            interval: sampled.map_or(Time::ZERO, |sampled| sampled.interval),
            limited: sampled.is_some_and(|sampled| sampled.limited),
            before: sampled.map_or(0, |sampled| sampled.before),
            total: outstanding.delivery.total(),
            flight: (pipe + ack_info.delivered, pipe),
            losses: ack_info.losses,
        }
    }
}
