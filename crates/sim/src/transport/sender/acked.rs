//! What a sender does with the times of its outstanding segments: probes, the window in recovery,
//! and the delivery rate.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

use super::super::control::{Control, DeliveryRate, Payloads};
use super::super::sent_log::SentLog;
use super::super::{ClassParams, Ctx};
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// A segment is sent.
    pub(super) fn enter(&mut self, seq: u32, again: bool, ctx: &Ctx<'_>) {
        self.outstanding.send(seq, ctx.net.now);
        if self.recovering
            && let Some(log) = self.outstanding.log_mut()
        {
            log.prr.on_sent();
        }
        if !again {
            self.arm_probe(ctx);
        }
    }

    /// An acknowledgement that the record has taken note of.
    pub(super) fn on_acked(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let Some(log) = self.outstanding.log_mut() else { return };
        if log.ack_info.spurious {
            self.control.on_spurious();
        }
        log.losing &= packet.ack < self.recover;
        let data = packet.flags.has(Flags::DATA);
        let again = packet.ack == self.una && packet.seq == 0;
        let plain = again && packet.ext.blocks().is_none() && !data;
        if log.tlp.repaired(packet.ack, plain) && !self.recovering {
            // RFC 8985, 7.4.2: the probe has repaired a loss
            self.on_loss(ctx);
            let window = self.window();
            self.control.on_recovered(window);
        }
        let marks = self.outstanding.log().is_some_and(|log| log.timed);
        self.tell_losses(ctx);
        // where losses are marked, they are looked for first
        if self.recovering && !marks {
            self.spread(ctx.class);
        }
    }

    /// Tells a control that asks for it which segments are newly marked lost.
    pub(super) fn tell_losses(&mut self, ctx: &Ctx<'_>) {
        let list = self.outstanding.log_mut().and_then(|log| log.lost_now.as_mut());
        for lost in list.into_iter().flat_map(|list| list.drain(..)) {
            self.control.on_lost(&lost, ctx.net.now);
        }
    }

    /// Updates how much may be sent in recovery (PRR, RFC 6937).
    pub(super) fn spread(&mut self, class: &ClassParams) {
        let ssthresh = self.control.cwnd().max(1.0) as u32;
        let pipe = self.pipe(class);
        if let Some(log) = self.outstanding.log_mut() {
            log.prr.on_ack(log.ack_info.delivered, pipe, ssthresh);
        }
    }

    /// The window in recovery with SACK.
    pub(super) fn window_in_recovery(&self, class: &ClassParams) -> u32 {
        match self.outstanding.log() {
            Some(log) if class.tcp.prr && !self.control.keeps_window() => log.prr.window(),
            _ => self.control.cwnd().max(1.0) as u32,
        }
    }

    /// The sample of the delivery rate for a control that asks for it.
    pub(super) fn delivery_rate(&self, log: &SentLog, class: &ClassParams) -> DeliveryRate {
        let ack_info = &log.ack_info;
        let pipe = self.pipe(class);
        let sampled = ack_info.sampled.as_ref();
        DeliveryRate {
            delivered: sampled.map_or(0, |sampled| sampled.delivered),
            interval: sampled.map_or(Time::ZERO, |sampled| sampled.interval),
            limited: sampled.is_some_and(|sampled| sampled.limited),
            before: sampled.map_or(0, |sampled| sampled.before),
            total: log.delivery.total(),
            flight: (pipe + ack_info.delivered, pipe),
            losses: ack_info.losses,
            sent_with: sampled.map_or((0, 0), |sampled| (sampled.in_flight, sampled.lost)),
        }
    }
}
