//! The timers of a sender: of the retransmission (or of its SYN), of a loss by time, and of the
//! probe of a tail.

use tidegate_core::packet::Flags;
use tidegate_core::units::Time;
use tidegate_model::profile::{LossRule, TimerRule};

use super::super::control::{Control, Payloads};
use super::super::receiver::Address;
use super::super::tlp::Tlp;
use super::super::{ClassParams, Ctx, Fate};
use super::loss::Event;
use super::{Detector, Sender, State};

impl<C: Control + Payloads> Sender<C> {
    /// When the flow's timer is due for this end.
    pub(crate) fn next_deadline(&self) -> Time {
        self.deadline.min(self.give_up).min(self.snd.outstanding.deadline())
    }

    /// The flow's timer has fired for this end.
    pub(crate) fn expire(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> Fate {
        let now = ctx.net.now;
        if self.give_up <= now {
            ctx.row.gave_up = now;
            if self.state == State::Open {
                let reset = address.towards_sink(Flags::RST, ctx.class.tcp.header, now);
                ctx.net.send(&reset);
            }
            return Fate::Over;
        }
        if self.snd.outstanding.log().is_some() {
            self.before_timeout(address, ctx);
        }
        if self.deadline > now {
            return Fate::Lives;
        }
        self.deadline = Time::NEVER;
        match self.state {
            State::Listen | State::Closed => {}
            State::SynSent => {
                if u32::from(*ctx.syn_tries) > ctx.class.tcp.syn_retries.limit {
                    ctx.row.gave_up = now;
                    return Fate::Over;
                }
                self.rto.back_off(ctx.class.tcp.timer_rule);
                self.send_syn(address, ctx);
            }
            // the opener has to begin anew (Linux: `tcp_synack_retries`)
            State::SynReceived
                if u32::from(self.rto.syn_again) >= ctx.class.tcp.syn_ack_retries =>
            {
                self.state = State::Listen;
            }
            State::SynReceived => {
                self.rto.back_off(ctx.class.tcp.timer_rule);
                self.rto.syn_again = self.rto.syn_again.saturating_add(1);
                self.rto.timing = false;
                self.send_syn_ack(address, ctx);
            }
            State::Open => self.timeout(address, ctx),
        }
        Fate::Lives
    }

    /// What is due before the retransmission timer: a segment counts as lost by now, or the tail
    /// is probed (RFC 8985, sections 6 and 7).
    fn before_timeout(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let now = ctx.net.now;
        let Some(log) = self.snd.outstanding.log_mut() else { return };
        if log.lost_at <= now {
            // the expiry that begins recovery counts as a delivery; within one it leaves the window
            log.ack_info.delivered = 1;
            if self.find_by_time(true, ctx) == Event::Loss {
                self.begin_recovery(false, ctx);
                self.spread(false, ctx.class);
            }
            self.send_more(address, ctx);
        }
        let Some(log) = self.snd.outstanding.log_mut() else { return };
        if log.probe_at <= now {
            log.probe_at = Time::NEVER;
            self.probe(address, ctx);
        }
    }

    /// The retransmission timer expired (RFC 6298, 5.4-5.6; RFC 5681, 3.1).
    fn timeout(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        if self.snd.una >= self.snd.nxt {
            return self.send_more(address, ctx);
        }
        let again = self.times_out_again(ctx.class);
        let mut at = self.congestion_event(ctx);
        at.flight = self.lose_all(ctx.net.now, at.flight, ctx.class);
        self.control.on_timeout(&at, again);
        if ctx.class.detector == Detector::Timed
            && let Some([cwnd, _]) = self.control.window_and_threshold()
        {
            // what was sent last is still in the network (Linux: `tcp_enter_loss`)
            *cwnd += f64::from(self.snd.outstanding.marked_pipe());
        }
        self.tell_of_cut(ctx.class);
        self.timed_out = self.snd.una;
        self.timeouts += 1;
        self.rto.back_off(ctx.class.tcp.timer_rule);
        self.rto.timing = false;
        self.snd.inflation = 0.0;
        self.snd.recover = self.snd.max;
        self.snd.recovering = false;
        self.snd.dup_acks = 0;
        self.snd.extra = 0;
        self.tell_losses(ctx);
        self.send_more(address, ctx);
    }

    /// Whether a timeout concerns losses that have cut the window already: of the same segment
    /// (RFC 5681, 3.1); in Linux also of any segment in a recovery (`tcp_enter_loss`).
    fn times_out_again(&self, class: &ClassParams) -> bool {
        let snd = &self.snd;
        let same = self.timed_out == snd.una;
        if class.tcp.loss_rule != LossRule::Linux {
            return self.rto.backed_off() && same;
        }
        let losing = snd.outstanding.log().is_some_and(|log| log.losing);
        snd.una < snd.recover && (snd.recovering || (losing && same))
    }

    /// An acknowledgement of everything up to `ack` restarts the timer of FullTcp,
    /// before anything else is learnt from it: as backed off as it was; then the back-off
    /// ends, in FullTcp before March 2002 not until a round trip is measured.
    #[inline]
    pub(super) fn restart_early(&mut self, ack: u32, ctx: &Ctx<'_>) {
        if ctx.class.tcp.timer_rule.of_full_tcp() {
            let outstanding = ack < self.snd.max;
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
        let outstanding = self.snd.una < self.snd.nxt;
        self.deadline = if outstanding { self.timeout_from_now(ctx) } else { Time::NEVER };
    }

    /// When the retransmission timer fires that starts now: by RFC 6298, and of a sender that
    /// repairs late two round trips after the last packet, not before all were sent once.
    #[inline]
    pub(super) fn timeout_from_now(&self, ctx: &Ctx<'_>) -> Time {
        if ctx.class.detector == Detector::Late {
            let srtt = self.rto.srtt();
            if self.snd.nxt < self.snd.end {
                return Time::NEVER;
            } else if srtt > Time::ZERO {
                return ctx.net.now + srtt * 2;
            }
            return ctx.net.now + self.rto.timeout(ctx.class, self.rto.syn_again > 0);
        }
        let wait = self.rto.timeout(ctx.class, self.rto.syn_again > 0);
        ctx.class.fires(ctx.source, ctx.net.now, wait)
    }

    /// Everything was sent, and what is missing may be none of the last segments.
    pub(super) fn arm_late(&mut self, ctx: &Ctx<'_>) {
        let sent = self.snd.una < self.snd.end && self.snd.nxt >= self.snd.end;
        if self.deadline == Time::NEVER && sent {
            self.deadline = self.timeout_from_now(ctx);
        }
    }

    /// Sets the time of the probe (RFC 8985, 7.2): after new data, and after an
    /// acknowledgement, unless something is being repaired or a probe is out.
    pub(super) fn arm_probe(&mut self, ctx: &Ctx<'_>) {
        let (flight, srtt) = (self.snd.flight(), self.rto.srtt());
        let recovering = self.snd.recovering;
        let Some((arrived, log)) = self.snd.outstanding.times() else { return };
        let busy = recovering || log.losing || !arrived.is_empty() || log.tlp.is_out();
        log.probe_at = if !ctx.class.tcp.tlp || busy || flight == 0 {
            Time::NEVER
        } else {
            let at = ctx.class.fires_early(ctx.source, ctx.net.now, Tlp::wait(srtt, flight));
            at.min(self.deadline)
        };
    }
}
