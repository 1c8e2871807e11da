//! The timers of a sender: of the retransmission (or of its SYN), of a loss by time, and of the
//! probe of a tail.

use tidegate_core::packet::Flags;
use tidegate_core::units::Time;
use tidegate_model::profile::{LossRule, TimerRule};

use super::super::control::{Control, Payloads};
use super::super::receiver::Address;
use super::super::tlp::Tlp;
use super::super::wheel;
use super::super::{ClassParams, Ctx, FlowFate};
use super::loss::Event;
use super::{Detector, Sender, State};

impl<C: Control + Payloads> Sender<C> {
    /// When the flow's timer is due for this end.
    pub(crate) fn next_deadline(&self) -> Time {
        self.deadline.min(self.give_up).min(self.snd.outstanding.deadline())
    }

    /// The flow's timer has fired for this end.
    pub(crate) fn expire(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> FlowFate {
        let now = ctx.net.now;
        if self.give_up <= now {
            ctx.row.gave_up = now;
            if self.state == State::Open {
                let reset = address.towards_sink(Flags::RST, ctx.class.tcp.header, now);
                ctx.net.send(&reset);
            }
            return FlowFate::Over;
        }
        if self.snd.outstanding.log().is_some() {
            self.before_timeout(address, ctx);
        }
        if self.deadline > now {
            return FlowFate::Lives;
        }
        self.deadline = Time::NEVER;
        match self.state {
            State::Listen | State::Closed => {}
            State::SynSent => {
                if u32::from(*ctx.syn_tries) > ctx.class.tcp.syn_retries.limit {
                    ctx.row.gave_up = now;
                    return FlowFate::Over;
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
        FlowFate::Lives
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
            self.set_timer(false, true, ctx);
        }
        let Some(log) = self.snd.outstanding.log_mut() else { return };
        if log.probe_at <= now {
            log.probe_at = Time::NEVER;
            if log.tlp.is_out() {
                // one probe of a tail (Linux: `tcp_send_loss_probe`)
                return self.set_timer(false, true, ctx);
            }
            self.probe(address, ctx);
        }
    }

    /// The retransmission timer expired (RFC 6298, 5.4-5.6; RFC 5681, 3.1).
    fn timeout(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        if self.snd.una >= self.snd.nxt {
            return self.send_more(address, ctx);
        }
        let again = self.times_out_again(ctx.class);
        let losing = self.snd.outstanding.log().is_some_and(|log| log.losing);
        let repairs = self.snd.recovering || losing;
        let mut at = self.congestion_event(ctx);
        at.flight = self.lose_all(ctx.net.now, at.flight, ctx.class);
        at.counts = self.counts();
        self.note_cut(again, repairs, ctx);
        self.control.on_timeout(&at, again);
        if ctx.class.detector == Detector::Timed {
            self.control.on_spared(self.snd.outstanding.marked_pipe());
        }
        self.tell_of_cut(ctx.class);
        self.timed_out = self.snd.una;
        ctx.row.timeouts += 1;
        self.rto.back_off(ctx.class.tcp.timer_rule);
        self.rto.timing = false;
        self.snd.inflation = 0.0;
        self.snd.recover = self.snd.max;
        self.snd.recovering = false;
        self.snd.dup_acks = 0;
        self.snd.extra = 0;
        self.tell_losses(ctx);
        if ctx.class.detector == Detector::Timed {
            // whatever is in the network, and whatever the pace (Linux: `tcp_retransmit_timer`)
            self.transmit(self.snd.una, address, ctx);
            let wait = self.rto.timeout(ctx.class, self.rto.syn_again > 0);
            self.pend(ctx.class.fires(ctx.source, ctx.net.now, wait), Time::NEVER);
        }
        self.send_more(address, ctx);
    }

    /// Whether a timeout concerns losses that have cut the window already: of the same segment
    /// (RFC 5681, 3.1); in Linux also of any segment in a recovery, or in the round trip after a mark
    /// (`tcp_enter_loss`).
    fn times_out_again(&self, class: &ClassParams) -> bool {
        let snd = &self.snd;
        let same = self.timed_out == snd.una;
        if class.tcp.loss_rule != LossRule::Linux {
            return self.rto.backed_off() && same;
        }
        if snd.outstanding.spreads_mark() && snd.una < self.mark_cut {
            return true;
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
        let wait = self.rto.timeout(ctx.class, self.rto.syn_again > 0) + self.pacing_delay(ctx);
        ctx.class.fires(ctx.source, ctx.net.now, wait)
    }

    /// How long the pace holds the next segment back, in whole ticks: the timers wait for it (Linux:
    /// `tcp_pacing_delay`), but for that of a timeout behind a timeout.
    #[inline(always)]
    fn pacing_delay(&self, ctx: &Ctx<'_>) -> Time {
        let held = self.pace_from.saturating_sub(ctx.net.now);
        // most gaps are shorter than a tick
        if held < wheel::TICK { Time::ZERO } else { self.held_by_pace(held, ctx) }
    }

    #[cold]
    fn held_by_pace(&self, held: Time, ctx: &Ctx<'_>) -> Time {
        let waits = self.paces_as_linux(ctx) && self.control.gap().is_some();
        if waits { wheel::whole_ticks(held) } else { Time::ZERO }
    }

    /// When the retransmission timer fires that starts with the last sending of the oldest segment
    /// (Linux: `tcp_rto_delta_us`).
    fn timeout_of_oldest(&self, ctx: &Ctx<'_>) -> Time {
        let now = ctx.net.now;
        let sent = self.snd.outstanding.log().map_or(now, |log| log.oldest_sent().min(now));
        let wait = self.rto.timeout(ctx.class, self.rto.syn_again > 0);
        let left = (sent + wait).saturating_sub(now) + self.pacing_delay(ctx);
        ctx.class.fires(ctx.source, now, left)
    }

    /// Everything was sent, and what is missing may be none of the last segments.
    pub(super) fn arm_late(&mut self, ctx: &Ctx<'_>) {
        let sent = self.snd.una < self.snd.end && self.snd.nxt >= self.snd.end;
        if self.deadline == Time::NEVER && sent {
            self.deadline = self.timeout_from_now(ctx);
        }
    }

    /// Sets the time of the probe (RFC 8985, 7.2) where losses are found by duplicates: after new
    /// data, and after an acknowledgement, unless something is being repaired or a probe is out.
    pub(super) fn arm_probe(&mut self, ctx: &Ctx<'_>) {
        let probe_at = match self.snd.outstanding.log() {
            None => return,
            Some(log) if log.tlp.is_out() => Time::NEVER,
            Some(_) => self.probe_time(ctx).map_or(Time::NEVER, |at| at.min(self.deadline)),
        };
        self.snd.outstanding.log_mut().into_iter().for_each(|log| log.probe_at = probe_at);
    }

    /// When a probe of the tail would be due; none: nothing is outstanding, or it is being repaired.
    fn probe_time(&mut self, ctx: &Ctx<'_>) -> Option<Time> {
        let (flight, srtt) = (self.snd.flight(), self.rto.srtt());
        let held = self.pacing_delay(ctx);
        let recovering = self.snd.recovering;
        let (arrived, log) = self.snd.outstanding.times()?;
        let repairing = recovering || log.losing || !arrived.is_empty();
        let probes = ctx.class.tcp.tlp && !repairing && flight > 0;
        probes
            .then(|| ctx.class.fires_early(ctx.source, ctx.net.now, Tlp::wait(srtt, flight) + held))
    }

    /// Sets the timer of a sender that finds losses by time, after an acknowledgement; of a loss, a
    /// probe and a retransmission one is pending. `advances`: it restarts the timer; `early`: the one
    /// pending so far was not that of the retransmission (Linux: `tcp_set_xmit_timer`,
    /// `tcp_rearm_rto`).
    pub(super) fn set_timer(&mut self, advances: bool, early: bool, ctx: &Ctx<'_>) {
        let Some(log) = self.snd.outstanding.log() else { return };
        if log.lost_at < Time::NEVER || self.snd.flight() == 0 {
            return self.pend(Time::NEVER, Time::NEVER);
        }
        if !advances && self.deadline.min(log.probe_at) < Time::NEVER {
            return;
        }
        let probe = if advances { self.probe_time(ctx) } else { None };
        match probe {
            Some(at) => self.pend(Time::NEVER, at.min(self.timeout_from_now(ctx))),
            None if early => self.pend(self.timeout_of_oldest(ctx), Time::NEVER),
            None => self.pend(self.timeout_from_now(ctx), Time::NEVER),
        }
    }

    /// The same after new data is sent (Linux: `tcp_event_new_data_sent`,
    /// `tcp_schedule_loss_probe`).
    pub(super) fn set_timer_by_data(&mut self, ctx: &Ctx<'_>) {
        let Some(log) = self.snd.outstanding.log() else { return };
        if log.lost_at < Time::NEVER {
            return;
        }
        let (early, first) = (log.probe_at < Time::NEVER, self.snd.flight() <= 1);
        match self.probe_time(ctx) {
            Some(at) => self.pend(Time::NEVER, at.min(self.timeout_of_oldest(ctx))),
            None if early || first => self.pend(self.timeout_of_oldest(ctx), Time::NEVER),
            None => {}
        }
    }

    /// The oldest segment was sent again, or a probe (Linux: `tcp_xmit_retransmit_queue`,
    /// `tcp_send_loss_probe`).
    pub(super) fn set_timer_by_repair(&mut self, ctx: &Ctx<'_>) {
        if self.snd.outstanding.log().is_none_or(|log| log.lost_at == Time::NEVER) {
            self.pend(self.timeout_from_now(ctx), Time::NEVER);
        }
    }

    /// The one timer is that of a retransmission, of a probe, or of a loss.
    fn pend(&mut self, deadline: Time, probe_at: Time) {
        self.deadline = deadline;
        self.snd.outstanding.log_mut().into_iter().for_each(|log| log.probe_at = probe_at);
    }
}
