//! Losses by time (RACK; RFC 8985, section 6): the record of outstanding segments marks what is
//! overdue (`rack.rs` says when) and counts what is in the network. The sender fills the window
//! with repairs first, in recovery and outside of it.

use tidegate_core::units::Time;
use tidegate_model::scenario::Transport;

use super::super::super::control::{Control, Payloads};
use super::super::super::prr::Prr;
use super::super::super::receiver::Address;
use super::super::super::{ClassParams, Ctx};
use super::super::Sender;
use super::detector::{Ack, LossDetector};

/// By the times at which segments were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed;

impl Timed {
    pub(super) fn of(transport: &Transport) -> Option<Timed> {
        match transport {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => tcp.rack.then_some(Timed),
            _ => None,
        }
    }
}

impl<C: Control + Payloads> LossDetector<C> for Timed {
    #[inline(never)]
    fn on_ack(self, sender: &mut Sender<C>, ack: &Ack<'_>, ctx: &mut Ctx<'_>) -> bool {
        let Ack { packet, address, .. } = *ack;
        let segments = packet.ack - sender.una;
        let mut rtt = Time::ZERO;
        if segments > 0 {
            rtt = sender.time(packet, ctx);
            sender.hand_back(packet, true, ctx);
            sender.move_on(packet.ack);
            if sender.una == sender.end && sender.total != u32::MAX {
                sender.close(ctx);
                return true;
            }
        } else if sender.una < sender.nxt {
            sender.hand_back(packet, false, ctx);
            if packet.seq > 0 {
                sender.take_part(packet, address, ctx);
                return true;
            }
        }
        let recovering = sender.recovering;
        if recovering && sender.una >= sender.recover {
            sender.recovering = false;
            let window = sender.window();
            sender.control.on_recovered(window);
        }
        sender.find_losses(ctx);
        if sender.recovering {
            sender.spread(ctx.class);
        }
        if sender.outstanding.log().is_some_and(|log| log.ack_info.delivered > 0) {
            sender.report(packet, segments, rtt, recovering || sender.recovering, ctx);
        }
        if segments > 0 {
            sender.restart_timer(ctx);
        }
        self.repair(sender, address, ctx);
        sender.arm_probe(ctx);
        true
    }

    /// Repairs first, in recovery and outside of it.
    fn repair(self, sender: &mut Sender<C>, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        loop {
            let Some((arrived, log)) = sender.outstanding.times() else { return true };
            let (pipe, due) = (log.pipe(arrived), log.next_due());
            let window = if sender.recovering {
                sender.window_in_recovery(ctx.class)
            } else {
                sender.control.cwnd().max(1.0) as u32
            };
            if pipe >= window {
                return true;
            }
            if let Some(seq) = due {
                if !sender.pace_allows(address, ctx) {
                    return true;
                }
                sender.transmit(seq, address, ctx);
                if seq == sender.una {
                    // what the timer guards has just left (as Linux does)
                    sender.restart_timer(ctx);
                }
                continue;
            }
            if sender.nxt >= sender.end
                && let Some(log) = sender.outstanding.log_mut()
            {
                log.delivery.limit(pipe);
            }
            if sender.nxt - sender.una >= ctx.class.window() || !sender.may_send(address, ctx) {
                return true;
            }
            let seq = sender.nxt;
            sender.nxt += 1;
            sender.transmit(seq, address, ctx);
        }
    }

    #[inline]
    fn pipe(self, sender: &Sender<C>, _class: &ClassParams) -> u32 {
        sender.outstanding.marked_pipe()
    }

    fn on_deadline(self, sender: &mut Sender<C>, address: &Address, ctx: &mut Ctx<'_>) {
        let Some(log) = sender.outstanding.log_mut() else { return };
        if log.lost_at <= ctx.net.now {
            log.ack_info.delivered = 0;
            sender.find_losses(ctx);
            if sender.recovering {
                sender.spread(ctx.class);
            }
            self.repair(sender, address, ctx);
        }
    }

    /// The pipe of what is outstanding let out no more than the window allows.
    fn on_timeout(self, sender: &mut Sender<C>, flight: u32) -> u32 {
        sender.outstanding.lose_all();
        if sender.outstanding.told() { flight.min(sender.window().ceil() as u32) } else { flight }
    }
}

impl<C: Control + Payloads> Sender<C> {
    /// Looks for losses; the first of a flight begin recovery.
    fn find_losses(&mut self, ctx: &mut Ctx<'_>) {
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
}
