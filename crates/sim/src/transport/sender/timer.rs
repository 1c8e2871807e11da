//! When the retransmission timer of a sender is started anew.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;
use tidegate_model::profile::TimerRule;

use super::super::Ctx;
use super::super::control::{Control, Payloads};
use super::super::rto::Progress;
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// The round trip that an acknowledgement of something new measures, if it does.
    #[inline]
    pub(super) fn time(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        let sent = if ctx.class.tcp.timestamps {
            packet.sent
        } else if self.rto.timing && packet.ack > self.rto.timed {
            self.rto.timing = false;
            self.rto.timed_at
        } else {
            return Time::ZERO;
        };
        let (acked, sent_up_to) = (packet.ack, self.max);
        let progress = self.outstanding.log_mut().map(|log| Progress {
            round: &mut log.round,
            acked,
            sent: sent_up_to,
        });
        self.rto.sample(sent, ctx.net.now, progress, ctx.class);
        let rtt = ctx.net.now.saturating_sub(sent);
        ctx.class.rtts.add(ctx.net.now, rtt);
        rtt
    }

    /// An acknowledgement of everything up to `ack` restarts the timer of FullTcp,
    /// before anything else is learnt from it: as backed off as it was; then the back-off
    /// ends, in FullTcp before March 2002 not until a round trip is measured.
    #[inline]
    pub(super) fn restart_early(&mut self, ack: u32, ctx: &Ctx<'_>) {
        if ctx.class.tcp.timer_rule.of_full_tcp() {
            let outstanding = ack < self.max;
            self.deadline = if outstanding { self.timeout_from_now(ctx) } else { Time::NEVER };
            self.rto.reset_backoff(ctx.class.tcp.timer_rule);
        }
    }

    /// An acknowledgement of something new restarts the timer (RFC 6298, 5.3).
    #[inline]
    pub(super) fn restart_by_ack(&mut self, ctx: &Ctx<'_>) {
        let rule = ctx.class.tcp.timer_rule;
        if rule == TimerRule::Rfc || rule.of_linux() {
            self.restart_timer(ctx);
        }
    }

    #[inline]
    pub(super) fn restart_timer(&mut self, ctx: &Ctx<'_>) {
        let outstanding = self.una < self.nxt;
        self.deadline = if outstanding { self.timeout_from_now(ctx) } else { Time::NEVER };
    }
}
