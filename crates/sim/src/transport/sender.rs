//! The end of a flow that sends its data.
//!
//! Sequence numbers count segments. The FIN is a number of its own behind the
//! data, unless it rides on the last segment.

mod acked;
mod data;
pub(crate) mod driven;
mod handshake;
mod loss;
mod marks;
mod pace;
mod probe;
mod timer;

use prefetch_index::prefetch_index;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::control::Ecn;

use super::control::{Control, Feedback, Payloads, RateSample, Reno};
use super::outstanding::Outstanding;
use super::receiver::Address;
use super::rto::Rto;
use super::{Ctx, Fate};
pub(crate) use loss::Detector;

/// Where the sending end stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has arrived yet (download).
    Listen,
    /// Its SYN is out (upload).
    SynSent,
    /// Its SYN+ACK is out (download).
    SynReceived,
    /// Data may be sent.
    Open,
    /// All is acknowledged; the FIN of the other end may still come.
    Closed,
}

/// The sending end: what an acknowledgement of new data touches comes first.
#[repr(C)]
pub(crate) struct Sender<C> {
    /// When the retransmission timer (or that of the SYN) expires.
    deadline: Time,
    /// Oldest unacknowledged segment.
    una: u32,
    /// Next segment to send.
    nxt: u32,
    /// Behind the highest segment ever sent.
    max: u32,
    /// Number of data segments.
    total: u32,
    /// Behind the last number, that of the FIN included. Of data that is handed in by
    /// parts: behind what there is so far, while `total` is not known.
    end: u32,
    dup_acks: u32,
    outstanding: Outstanding,
    /// What duplicates add to the window, in segments.
    inflation: f64,
    state: State,
    /// Segments that limited transmit has sent since the last new acknowledgement.
    extra: u8,
    recovering: bool,
    /// The retransmission timer was restarted by a partial acknowledgement.
    partial: bool,
    /// The window was cut last by a timeout, not by duplicates.
    after_timeout: bool,
    /// The next new data packet carries CWR (RFC 3168).
    tell_mark: bool,
    /// Payload of the last data segment.
    last_payload: u16,
    control: C,
    rto: Rto,
    /// `max` at the last loss (RFC 6582).
    recover: u32,
    /// Behind the highest segment sent when a mark last cut the window.
    mark_cut: u32,
    /// The oldest segment at the last timeout.
    timed_out: u32,
    pub(super) retransmitted: u32,
    pub(super) timeouts: u32,
    /// When the user loses patience.
    pub(super) give_up: Time,
    /// What the gap to the next data packet counts from (paced controls).
    pace_from: Time,
    /// When a packet that the pace held back may go.
    wake: Time,
}

/// `prefetch` fetches the line of each of these.
const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(Sender<Reno>, deadline) / 64 == 0);
    assert!(offset_of!(Sender<Reno>, rto) / 64 == 1);
    assert!(offset_of!(Sender<Reno>, give_up) / 64 == 2);
};

impl<C: Control + Payloads> Sender<C> {
    pub(crate) fn new(control: C) -> Sender<C> {
        Sender {
            deadline: Time::NEVER,
            una: 0,
            nxt: 0,
            max: 0,
            total: u32::MAX,
            end: u32::MAX,
            dup_acks: 0,
            outstanding: Outstanding::default(),
            inflation: 0.0,
            state: State::Listen,
            extra: 0,
            recovering: false,
            partial: false,
            after_timeout: false,
            tell_mark: false,
            last_payload: 0,
            control,
            rto: Rto::NEW,
            recover: 0,
            mark_cut: 0,
            timed_out: 0,
            retransmitted: 0,
            timeouts: 0,
            give_up: Time::NEVER,
            pace_from: Time::ZERO,
            wake: Time::NEVER,
        }
    }

    /// Data transmissions, first ones and repeated ones.
    pub(super) fn sent(&self) -> u32 {
        self.max.min(self.total) + self.retransmitted
    }

    /// Prefetches what the next acknowledgement will touch: three cache lines.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_index(std::slice::from_ref(&self.deadline), 0);
        prefetch_index(std::slice::from_ref(&self.rto), 0);
        prefetch_index(std::slice::from_ref(&self.give_up), 0);
    }

    /// When the flow's timer is due for this end.
    pub(super) fn next_deadline(&self) -> Time {
        self.deadline.min(self.give_up).min(self.outstanding.deadline())
    }

    /// A packet has arrived at this end.
    pub(crate) fn receive(
        &mut self,
        packet: &Packet,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) -> Fate {
        if packet.flags.has(Flags::RST) {
            return self.refused(ctx);
        }
        if packet.flags.has(Flags::SYN) {
            self.handshake(packet, address, ctx);
            return Fate::Lives;
        }
        match self.state {
            State::Open | State::Closed => {
                self.acknowledged(packet, address, ctx);
                if packet.flags.has(Flags::FIN) {
                    // the sequence number of the other end is one more
                    Self::acknowledge(address, 1, ctx);
                }
                Fate::Lives
            }
            State::SynReceived => {
                self.open(packet, address, ctx);
                Fate::Lives
            }
            State::Listen | State::SynSent => Fate::Lives,
        }
    }

    /// Passes the header of a packet from the receiver to the control.
    #[inline]
    fn hand_back(&mut self, packet: &Packet, new: bool, ctx: &Ctx<'_>) {
        let (now, srtt) = (ctx.net.now, self.rto.srtt());
        let flags = packet.flags;
        self.control.on_feedback(&Feedback { ext: &packet.ext, now, srtt, new, flags });
    }

    /// An acknowledgement has arrived.
    fn acknowledged(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let ack = packet.ack;
        if ack > self.max || ack < self.una {
            return;
        }
        self.on_ecn_echo(packet, ctx);
        let (timestamps, now) = (ctx.class.tcp.timestamps, ctx.net.now);
        let told = self.outstanding.acknowledge(packet, self.max, timestamps, now);
        if self.outstanding.log().is_some() {
            self.on_acked(packet, ctx);
        }
        self.on_ack(packet, told, address, ctx);
    }

    /// An acknowledgement that covers new segments.
    pub(super) fn advanced(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let ack = packet.ack;
        let segments = ack - self.una;
        self.restart_early(ack, ctx);
        let rtt = self.time(packet, ctx);
        self.hand_back(packet, true, ctx);
        self.move_on(ack);
        if self.una == self.end && self.total != u32::MAX {
            return self.close(ctx);
        }
        let recovering = self.recovering;
        if recovering {
            self.on_recovery_ack(segments, address, ctx);
        } else {
            self.inflation = 0.0;
        }
        self.report(packet, segments, rtt, recovering, ctx);
        if !recovering {
            self.restart_by_ack(ctx);
        }
        self.send_more(address, ctx);
        self.arm_probe(ctx);
    }

    /// Everything up to `ack` has arrived.
    #[inline]
    fn move_on(&mut self, ack: u32) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.dup_acks = 0;
        self.extra = 0;
    }

    /// All has arrived.
    fn close(&mut self, ctx: &mut Ctx<'_>) {
        ctx.row.closed = ctx.net.now;
        self.state = State::Closed;
        self.deadline = Time::NEVER;
        self.outstanding.close();
        self.give_up = Time::NEVER;
    }

    /// What a control learns of an acknowledgement of so many segments.
    #[inline(always)]
    fn sample<'a>(
        &self,
        packet: &'a Packet,
        segments: u32,
        rtt: Time,
        recovering: bool,
        ctx: &Ctx<'_>,
    ) -> RateSample<'a> {
        RateSample {
            now: ctx.net.now,
            segments,
            delivered: segments,
            una: self.una,
            sent: self.max,
            flight: self.flight(),
            srtt: self.rto.srtt(),
            rtt,
            recovering,
            marked: packet.flags.has(Flags::ECE) && ctx.class.ecn == Ecn::Classic,
            ext: &packet.ext,
            rate: None,
        }
    }

    /// An acknowledgement of a part of the oldest segment: the control hears of it, and nothing is
    /// delivered, lost or repaired by it.
    #[cold]
    fn take_part(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let sample = self.sample(packet, 0, Time::ZERO, self.recovering, ctx);
        self.control.on_part(&sample);
        self.send_more(address, ctx);
    }

    /// Reports an acknowledgement to the control.
    #[inline]
    fn report(
        &mut self,
        packet: &Packet,
        segments: u32,
        rtt: Time,
        recovering: bool,
        ctx: &Ctx<'_>,
    ) {
        let mut sample = self.sample(packet, segments, rtt, recovering, ctx);
        if let Some(log) = self.outstanding.log() {
            let ack_info = &log.ack_info;
            sample.delivered = ack_info.delivered;
            if ack_info.rtt > Time::ZERO {
                sample.rtt = ack_info.rtt;
            }
            if self.control.samples_rate() {
                sample.rate = Some(self.delivery_rate(log, ctx.class));
            }
        }
        self.control.on_ack(&sample);
        if self.control.holds_back() {
            let pipe = self.pipe(ctx.class);
            if let Some(log) = self.outstanding.log_mut() {
                log.delivery.limit(pipe);
            }
        }
    }

    /// Sends what the window, the pace and Nagle's rule allow.
    #[inline(always)]
    pub(super) fn send_window(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let window = self.window().min(f64::from(ctx.class.window())).max(1.0) as u32;
        while self.nxt - self.una < window || self.fin_follows(ctx.class) {
            if self.nxt < self.max {
                // behind a timeout: what the receiver holds is not sent again
                self.nxt = self.outstanding.first_missing(self.nxt).min(self.max);
            }
            if !self.may_send(address, ctx) {
                break;
            }
            let seq = self.nxt;
            self.nxt += 1;
            self.transmit(seq, address, ctx);
        }
    }

    /// Whether there is something to send, and nothing but the window forbids it.
    #[inline]
    fn may_send(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        if self.nxt >= self.end {
            return false;
        }
        if self.nxt + 1 >= self.total && self.nxt > self.una {
            let short = u32::from(self.last_payload) < ctx.class.tcp.mss;
            let held = self.nxt + 1 == self.total && ctx.class.tcp.nagle && short;
            let fin_held = self.nxt == self.total && !self.fin_follows(ctx.class);
            if ctx.class.tcp.fin_waits && (held || fin_held) {
                return false;
            }
        }
        self.pace_allows(address, ctx)
    }

    /// Puts one segment on the wire.
    #[inline]
    fn transmit(&mut self, seq: u32, address: &Address, ctx: &mut Ctx<'_>) {
        let now = ctx.net.now;
        let again = seq < self.max;
        let mut flags = Flags::ACK;
        let mut payload = 0;
        if seq < self.total {
            flags = flags.with(Flags::DATA);
            payload = ctx.class.tcp.mss
                - (self.control.lacking(seq + 1) - self.control.lacking(seq)) as u32;
            self.retransmitted += u32::from(again);
        }
        if seq + 1 >= self.total {
            flags = flags.with(Flags::PUSH);
            if seq + 1 == self.total {
                payload = u32::from(self.last_payload);
            }
            if seq + 1 == self.end {
                flags = flags.with(Flags::FIN);
            }
        }
        if again {
            flags = flags.with(Flags::RETRANSMIT);
            // Karn: an acknowledgement could be for either transmission
            self.rto.timing &= seq > self.rto.timed;
        } else {
            self.max = seq + 1;
            if seq < self.total {
                flags = flags.with(self.mark_flags(ctx.class));
            }
            if !self.rto.timing {
                self.rto.timing = true;
                self.rto.timed = seq;
                self.rto.timed_at = now;
            }
        }
        if self.deadline == Time::NEVER {
            self.deadline = self.timeout_from_now(ctx);
        }
        let mut packet = address.towards_sink(flags, payload + ctx.class.tcp.header, now);
        packet.seq = seq;
        packet.ext = self.control.header(now);
        self.control.on_sent(now, self.flight());
        if self.outstanding.log().is_some() {
            self.enter(seq, again, ctx);
        }
        self.note_pace(now);
        ctx.net.send_often(packet);
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
        if self.outstanding.log().is_some() {
            self.overdue(address, ctx);
        }
        if self.deadline > now {
            return Fate::Lives;
        }
        self.deadline = Time::NEVER;
        match self.state {
            State::Listen => {}
            State::SynSent => {
                if u32::from(*ctx.syn_tries) > ctx.class.tcp.syn_retries.limit {
                    ctx.row.gave_up = now;
                    return Fate::Over;
                }
                self.rto.back_off(ctx.class.tcp.timer_rule);
                self.send_syn(address, ctx);
            }
            State::SynReceived => {
                self.rto.back_off(ctx.class.tcp.timer_rule);
                self.rto.syn_again = self.rto.syn_again.saturating_add(1);
                self.rto.timing = false;
                self.send_syn_ack(address, ctx);
            }
            State::Open => self.timeout(address, ctx),
            State::Closed => {}
        }
        Fate::Lives
    }

    /// The retransmission timer expired (RFC 6298, 5.4-5.6; RFC 5681, 3.1).
    fn timeout(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        if self.una >= self.nxt {
            return self.send_more(address, ctx);
        }
        let again = self.rto.backed_off() && self.timed_out == self.una;
        let mut at = self.congestion_event(ctx);
        at.flight = self.on_timeout(at.flight, ctx.class);
        self.control.on_timeout(&at, again);
        self.inflation = 0.0;
        self.tell_of_cut(ctx.class);
        self.timed_out = self.una;
        self.timeouts += 1;
        self.rto.back_off(ctx.class.tcp.timer_rule);
        self.recover = self.max;
        self.recovering = false;
        self.dup_acks = 0;
        self.extra = 0;
        self.rto.timing = false;
        self.tell_losses(ctx);
        self.send_more(address, ctx);
    }
}
