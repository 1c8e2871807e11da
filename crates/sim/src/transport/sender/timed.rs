//! Repair where losses are detected by time (RFC 8985, section 6): the record of
//! outstanding segments says what is lost and what is in the network. The sender fills
//! the window with repairs first, in recovery and outside of it.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use super::super::Ctx;
use super::super::control::{Control, Payloads};
use super::super::prr::Prr;
use super::super::receiver::Address;
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// An acknowledgement has come, and the record of outstanding segments is up to date.
    pub(super) fn timed_ack(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let segments = packet.ack - self.una;
        let mut rtt = Time::ZERO;
        if segments > 0 {
            rtt = self.time(packet, ctx);
            self.hand_back(packet, true, ctx);
            self.move_on(packet.ack);
            if self.una == self.end && self.total != u32::MAX {
                return self.close(ctx);
            }
        } else if self.una < self.nxt {
            self.hand_back(packet, false, ctx);
            if packet.seq > 0 {
                return self.take_part(packet, address, ctx);
            }
        }
        let recovering = self.recovering;
        if recovering && self.una >= self.recover {
            self.recovering = false;
            let window = self.window();
            self.control.on_recovered(window);
        }
        self.find_losses(ctx);
        if self.recovering {
            self.spread(ctx.class);
        }
        if self.outstanding.log().is_some_and(|log| log.ack_info.delivered > 0) {
            self.report(packet, segments, rtt, recovering || self.recovering, ctx);
        }
        if segments > 0 {
            self.restart_timer(ctx);
        }
        self.send_timed(address, ctx);
        self.arm_probe(ctx);
    }

    /// Looks for losses; the first of a flight begin recovery.
    pub(super) fn find_losses(&mut self, ctx: &mut Ctx<'_>) {
        let srtt = self.rto.srtt();
        let Some((arrived, log)) = self.outstanding.times() else { return };
        let repairing = self.recovering || log.losing;
        let reo_wnd = log.rack.reo_wnd(srtt, repairing, arrived.count());
        if !repairing {
            log.begin_doubts();
        }
        let losses = log.detect(ctx.net.now, reo_wnd, arrived);
        log.ack_info.losses = losses;
        self.tell_losses(ctx);
        let Some(log) = self.outstanding.log_mut() else { return };
        if losses > 0 && !repairing {
            log.prr = Prr::begin(self.nxt - self.una);
            log.tlp.forget();
            self.recover = self.max;
            self.recovering = true;
            self.after_timeout = false;
            self.on_loss(ctx);
            self.restart_timer(ctx);
        }
    }

    /// Sends what is lost, and then what is new, as far as the window has room.
    pub(super) fn send_timed(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        loop {
            let Some((arrived, log)) = self.outstanding.times() else { return };
            let (pipe, due) = (log.pipe(arrived), log.next_due());
            let window = if self.recovering {
                self.window_in_recovery(pipe, ctx.class)
            } else {
                self.control.cwnd().max(1.0) as u32
            };
            if pipe >= window {
                return;
            }
            if let Some(seq) = due {
                if !self.pace_allows(address, ctx) {
                    return;
                }
                self.transmit(seq, address, ctx);
                if seq == self.una {
                    // what the timer guards has just left (as Linux does)
                    self.restart_timer(ctx);
                }
                continue;
            }
            if self.nxt >= self.end
                && let Some(log) = self.outstanding.log_mut()
            {
                log.delivery.limit(pipe);
            }
            if self.nxt - self.una >= ctx.class.window() || !self.may_send(address, ctx) {
                return;
            }
            let seq = self.nxt;
            self.nxt += 1;
            self.transmit(seq, address, ctx);
        }
    }
}
