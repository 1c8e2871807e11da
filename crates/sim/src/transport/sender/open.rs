//! Opening and refusing a connection, at the end that sends the data.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::profile::LostSyn;

use super::super::control::{Control, Payloads};
use super::super::receiver::Address;
use super::super::rto::Progress;
use super::super::{Ctx, FlowFate};
use super::{Sender, State};

impl<C: Control + Payloads> Sender<C> {
    /// Opens an upload: the first SYN, or another one.
    pub(crate) fn send_syn(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.state = State::SynSent;
        *ctx.syn_tries += 1;
        self.rto.timing = *ctx.syn_tries == 1;
        self.rto.timed_at = ctx.net.now;
        let wait = ctx.class.syn_wait(*ctx.syn_tries);
        self.deadline = ctx.class.fires(ctx.source, ctx.net.now, wait);
        let mut syn = address.towards_sink(Flags::SYN, ctx.class.tcp.header, ctx.net.now);
        syn.ext = self.control.header(ctx.net.now);
        syn.client = ctx.client;
        ctx.net.send(&syn);
    }

    pub(super) fn refused(&mut self, ctx: &mut Ctx<'_>) -> FlowFate {
        if self.state != State::SynSent {
            return FlowFate::Lives;
        }
        ctx.row.gave_up = ctx.net.now;
        FlowFate::Over
    }

    pub(super) fn handshake(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        match (packet.flags.has(Flags::ACK), self.state) {
            (true, State::SynSent) => {
                let again = ctx.syn_tries.saturating_sub(1);
                self.rto.syn_again = again.try_into().unwrap_or(u8::MAX);
                if ctx.class.by_answer {
                    ctx.row.admit(packet, ctx.net.now);
                }
                // a packet of its own, before any data (RFC 9293, figure 6)
                Self::acknowledge(address, 0, ctx);
                self.open(packet, address, ctx);
            }
            // the acknowledgement of the SYN+ACK was lost (RFC 9293, 3.10.7.4)
            (true, State::Open) => Self::acknowledge(address, 0, ctx),
            (false, State::Listen | State::SynReceived) => {
                self.rto.timing = self.state == State::Listen;
                if self.state == State::SynReceived {
                    self.rto.syn_again = self.rto.syn_again.saturating_add(1);
                }
                self.state = State::SynReceived;
                self.send_syn_ack(address, ctx);
            }
            _ => {}
        }
    }

    pub(super) fn acknowledge(address: &Address, number: u32, ctx: &mut Ctx<'_>) {
        let mut ack = address.towards_sink(Flags::ACK, ctx.class.tcp.header, ctx.net.now);
        ack.ack = number;
        ctx.net.send(&ack);
    }

    pub(super) fn send_syn_ack(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.rto.timed_at = ctx.net.now;
        let wait = self.rto.timeout(ctx.class, false);
        self.deadline = ctx.class.fires(ctx.source, ctx.net.now, wait);
        let flags = Flags::SYN.with(Flags::ACK);
        let mut answer = address.towards_sink(flags, ctx.class.tcp.header, ctx.net.now);
        answer.ext = self.control.header(ctx.net.now);
        answer.client = ctx.client;
        ctx.net.send(&answer);
    }

    /// The handshake is complete on this side.
    pub(super) fn open(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        self.state = State::Open;
        self.deadline = Time::NEVER;
        // what the SYN or its answer waited is forgotten (RFC 6298, 5.7; ns-2 from 2002 on)
        self.rto.reset_backoff(ctx.class.tcp.timer_rule);
        if let Some(sent) = self.opened_by(packet, ctx) {
            let mut log = self.snd.outstanding.log_mut();
            if let Some(log) = &mut log {
                log.rack.opened(ctx.net.now.saturating_sub(sent));
            }
            let rounds = log.map(|log| &mut log.round);
            let progress = rounds.map(|round| Progress { round, acked: 0, sent: 0 });
            self.rto.sample(sent, ctx.net.now, progress, ctx.class);
        }
        self.rto.timing = false;
        if self.rto.syn_again > 0 {
            self.snd.after_timeout = true;
            let rule = ctx.class.tcp.lost_syn;
            if rule != LostSyn::Linux || self.rto.syn_again > 1 {
                self.control.on_lost_syn(rule);
            }
        }
        self.hand_back(packet, true, ctx);
        self.begin_to_write(ctx);
        self.send_more(address, ctx);
    }

    /// When the SYN or SYN+ACK was sent that this packet answers; none: it is not known, as there
    /// were several (Karn). A timestamp tells which (RFC 7323, 4.1; Linux: `tcp_synack_rtt_meas`).
    fn opened_by(&self, packet: &Packet, ctx: &Ctx<'_>) -> Option<Time> {
        if self.rto.timing {
            return Some(self.rto.timed_at);
        }
        // a gate writes there when it has admitted the packet
        let told = ctx.class.tcp.timestamps && !packet.flags.has(Flags::ADMITTED);
        let echo = Some(packet.sent).filter(|&echo| told && echo > Time::ZERO)?;
        Some(if echo >= self.rto.timed_at { self.rto.timed_at } else { echo })
    }
}
