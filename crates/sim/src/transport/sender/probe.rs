//! What is due before the retransmission timer: a segment that counts as lost by
//! now, and the probe of a tail (RFC 8985, sections 6 and 7).

use tidegate_core::units::Time;

use super::super::Ctx;
use super::super::control::{Control, Payloads};
use super::super::receiver::Address;
use super::super::tlp::Tlp;
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// Sets the time of the probe (7.2): after new data, and after an
    /// acknowledgement, unless something is being repaired or a probe is out.
    pub(super) fn arm_probe(&mut self, ctx: &Ctx<'_>) {
        let (flight, srtt) = (self.flight(), self.rto.srtt());
        let Some((arrived, log)) = self.outstanding.times() else { return };
        let busy = self.recovering || log.losing || !arrived.is_empty() || log.tlp.is_out();
        log.probe_at = if !ctx.class.tcp.tlp || busy || flight == 0 {
            Time::NEVER
        } else {
            (ctx.net.now + Tlp::wait(srtt, flight)).min(self.deadline)
        };
    }

    /// The flow's timer has fired: perhaps for one of these.
    pub(super) fn overdue(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.on_deadline(address, ctx);
        let Some(log) = self.outstanding.log_mut() else { return };
        if log.probe_at <= ctx.net.now {
            log.probe_at = Time::NEVER;
            self.probe(address, ctx);
        }
    }

    /// Sends a probe (7.3): a new segment if there is one, else the last one again.
    fn probe(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let fits = self.nxt - self.una < ctx.class.window();
        let new = fits && self.nxt == self.max && self.nxt < self.end;
        let seq = if new { self.nxt } else { self.max - 1 };
        if new {
            self.nxt += 1;
        }
        self.transmit(seq, address, ctx);
        if let Some(log) = self.outstanding.log_mut() {
            log.tlp.sent(self.max, !new);
            log.probe_at = Time::NEVER;
        }
        self.restart_timer(ctx);
    }
}
