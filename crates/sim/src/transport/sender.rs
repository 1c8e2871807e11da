//! The end of a flow that sends its data.
//!
//! Sequence numbers count segments. The FIN is a number of its own behind the
//! data, unless it rides on the last segment.

mod back;
mod data;
mod marks;
mod pace;
mod timer;

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::profile::{LossRule, Recovery};

use super::control::{Acked, Control, Feedback};
use super::receiver::Address;
use super::rto::Rto;
use super::sack::Scoreboard;
use super::{Ctx, Fate};
use marks::Marks;

/// Where the sending end stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has come yet (download).
    Listen,
    /// Its SYN is out (upload).
    SynSent,
    /// Its SYN+ACK is out (download).
    SynReceived,
    /// Data may be sent.
    Open,
    /// All is acknowledged; the other end may still say that it closes too.
    Closed,
}

/// The sending end: hot record.
pub(crate) struct Sender<C> {
    /// When the flow's one pending timer fires ([`Time::NEVER`]: none is pending).
    pub(super) armed: Time,
    /// When the retransmission timer (or that of the SYN) expires.
    deadline: Time,
    /// What the gap to the next data packet counts from (paced controls).
    pace_from: Time,
    /// When a packet that the pace held back may go.
    wake: Time,
    /// When the user loses patience.
    pub(super) give_up: Time,
    /// When the timed segment was sent.
    timed_at: Time,
    rto: Rto,
    /// Oldest unacknowledged segment.
    una: u32,
    /// Next segment to send.
    nxt: u32,
    /// Behind the highest segment ever sent.
    max: u32,
    /// Number of data segments.
    total: u32,
    /// Behind the last number, that of the FIN included.
    end: u32,
    /// `max` at the last loss (RFC 6582).
    recover: u32,
    /// The oldest segment at the last timeout.
    timed_out: u32,
    /// The segment that is being timed.
    timed: u32,
    pub(super) sent: u32,
    pub(super) retransmitted: u32,
    pub(super) timeouts: u32,
    dup_acks: u32,
    marks: Marks,
    /// Payload of the last data segment.
    last_payload: u16,
    pub(super) generation: u16,
    pub(super) class: u16,
    source: u16,
    sink: u16,
    state: State,
    timing: bool,
    recovering: bool,
    /// The retransmission timer was restarted by a partial acknowledgement.
    partial: bool,
    syn_lost: bool,
    /// The window was cut last by a timeout, not by duplicates.
    after_timeout: bool,
    opaque: bool,
    board: Option<Box<Scoreboard>>,
    control: C,
}

impl<C: Control> Sender<C> {
    pub(crate) fn new(
        control: C,
        generation: u16,
        class: u16,
        (source, sink): (u16, u16),
        opaque: bool,
    ) -> Sender<C> {
        Sender {
            armed: Time::NEVER,
            deadline: Time::NEVER,
            pace_from: Time::ZERO,
            wake: Time::NEVER,
            give_up: Time::NEVER,
            timed_at: Time::ZERO,
            rto: Rto::NEW,
            una: 0,
            nxt: 0,
            max: 0,
            total: u32::MAX,
            end: u32::MAX,
            recover: 0,
            timed_out: 0,
            timed: 0,
            sent: 0,
            retransmitted: 0,
            timeouts: 0,
            dup_acks: 0,
            marks: Marks::default(),
            last_payload: 0,
            generation,
            class,
            source,
            sink,
            state: State::Listen,
            timing: false,
            recovering: false,
            partial: false,
            syn_lost: false,
            after_timeout: false,
            opaque,
            board: None,
            control,
        }
    }

    pub(crate) fn address(&self, flow: u32) -> Address {
        Address {
            flow,
            generation: self.generation,
            source: self.source,
            sink: self.sink,
            opaque: self.opaque,
        }
    }

    /// When the flow's timer is due for this end.
    pub(super) fn next_deadline(&self) -> Time {
        self.deadline.min(self.give_up)
    }

    /// Opens an upload: the first SYN, or another one.
    pub(crate) fn send_syn(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.state = State::SynSent;
        ctx.row.syn_tries += 1;
        self.timing = ctx.row.syn_tries == 1;
        self.timed_at = ctx.net.now;
        self.deadline = ctx.net.now + ctx.class.syn_wait(ctx.row.syn_tries);
        let mut syn = address.towards_sink(Flags::SYN, ctx.class.tcp.header, ctx.net.now);
        syn.ext = self.control.header(ctx.net.now);
        ctx.net.send(&syn);
    }

    /// A packet for this end has come.
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

    fn refused(&mut self, ctx: &mut Ctx<'_>) -> Fate {
        if self.state != State::SynSent {
            return Fate::Lives;
        }
        ctx.row.gave_up = ctx.net.now;
        Fate::Over
    }

    fn handshake(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        match (packet.flags.has(Flags::ACK), self.state) {
            (true, State::SynSent) => {
                self.syn_lost = ctx.row.syn_tries > 1;
                // what the SYN waited is forgotten (RFC 6298, 5.7; ns-2 too)
                self.rto.calm();
                // a packet of its own, before any data (RFC 9293, figure 6)
                Self::acknowledge(address, 0, ctx);
                self.open(packet, address, ctx);
            }
            // the acknowledgement of the SYN+ACK was lost (RFC 9293, 3.10.7.4)
            (true, State::Open) => Self::acknowledge(address, 0, ctx),
            (false, State::Listen | State::SynReceived) => {
                self.timing = self.state == State::Listen;
                self.syn_lost |= self.state == State::SynReceived;
                self.state = State::SynReceived;
                self.send_syn_ack(address, ctx);
            }
            _ => {}
        }
    }

    fn acknowledge(address: &Address, number: u32, ctx: &mut Ctx<'_>) {
        let mut ack = address.towards_sink(Flags::ACK, ctx.class.tcp.header, ctx.net.now);
        ack.ack = number;
        ctx.net.send(&ack);
    }

    fn send_syn_ack(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.timed_at = ctx.net.now;
        self.deadline = ctx.net.now + self.rto.timeout(ctx.class, false);
        let flags = Flags::SYN.with(Flags::ACK);
        let mut answer = address.towards_sink(flags, ctx.class.tcp.header, ctx.net.now);
        answer.ext = self.control.header(ctx.net.now);
        ctx.net.send(&answer);
    }

    /// The handshake is complete on this side.
    fn open(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        self.state = State::Open;
        self.deadline = Time::NEVER;
        if self.timing {
            self.rto.sample(self.timed_at, ctx.net.now, ctx.class);
            self.timing = false;
        }
        if self.syn_lost {
            self.after_timeout = true;
            self.control.on_lost_syn(ctx.class.tcp.lost_syn);
        }
        self.hand_back(packet, true, ctx);
        self.send_more(address, ctx);
    }

    /// The control hears what the receiver hands back.
    #[inline]
    fn hand_back(&mut self, packet: &Packet, new: bool, ctx: &Ctx<'_>) {
        let (now, srtt) = (ctx.net.now, self.rto.srtt());
        self.control.on_feedback(&Feedback { ext: &packet.ext, now, srtt, new });
    }

    /// An acknowledgement has come.
    fn acknowledged(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let ack = packet.ack;
        if ack > self.max || ack < self.una {
            return;
        }
        self.heed_mark(packet, ctx);
        let told = match &mut self.board {
            Some(board) => board.update(ack, self.max, &packet.ext),
            None if packet.ext.blocks().is_some() => {
                self.board.get_or_insert_default().update(ack, self.max, &packet.ext)
            }
            None => false,
        };
        if ack > self.una {
            return self.advanced(packet, address, ctx);
        }
        if self.una < self.nxt {
            self.hand_back(packet, false, ctx);
            self.dup_acks += 1;
            self.duplicate(told, address, ctx);
        }
    }

    /// It acknowledged something new.
    fn advanced(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let ack = packet.ack;
        let segments = ack - self.una;
        self.restart_early(ack, ctx);
        if ctx.class.tcp.timestamps {
            self.rto.sample(packet.sent, ctx.net.now, ctx.class);
        } else if self.timing && ack > self.timed {
            self.timing = false;
            self.rto.sample(self.timed_at, ctx.net.now, ctx.class);
        }
        self.hand_back(packet, true, ctx);
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.dup_acks = 0;
        if self.una == self.end {
            ctx.row.closed = ctx.net.now;
            self.state = State::Closed;
            self.deadline = Time::NEVER;
            self.give_up = Time::NEVER;
            return;
        }
        if self.recovering {
            self.recovery_ack(segments, address, ctx);
        } else {
            let flight = self.flight();
            let srtt = self.rto.srtt();
            self.control.on_ack(&Acked {
                now: ctx.net.now,
                segments,
                flight,
                srtt,
                marked: packet.flags.has(Flags::ECE),
                ext: &packet.ext,
            });
            self.restart_by_ack(ctx);
        }
        self.send_more(address, ctx);
    }

    /// New data acknowledged in recovery: all of it, or a part.
    fn recovery_ack(&mut self, segments: u32, address: &Address, ctx: &mut Ctx<'_>) {
        let recovery = ctx.class.tcp.recovery;
        if recovery == Recovery::Reno || self.una >= self.recover {
            self.recovering = false;
            self.control.on_recovered(self.flight());
            self.restart_by_ack(ctx);
            return;
        }
        self.control.on_partial(segments);
        // RFC 6582, 3.2 step 3: only the first partial acknowledgement restarts the timer
        if !self.partial || recovery == Recovery::Sack {
            self.partial = true;
            self.restart_by_ack(ctx);
        }
        if recovery == Recovery::NewReno {
            self.retransmit_first(address, ctx);
        }
    }

    /// One more duplicate acknowledgement.
    fn duplicate(&mut self, told: bool, address: &Address, ctx: &mut Ctx<'_>) {
        if self.recovering {
            self.control.on_duplicate();
            self.send_more(address, ctx);
            return;
        }
        if self.repairs_otherwise(address, ctx) {
            return;
        }
        let lost = self.dup_acks == 3
            || (told && self.board.as_ref().is_some_and(|board| board.lost(self.una)));
        if !lost {
            if self.control.limited_transmit() {
                self.send_more(address, ctx);
            } else if ctx.class.tcp.loss_rule == LossRule::OneWay {
                self.send_one(address, ctx);
            }
            return;
        }
        let full_tcp = ctx.class.tcp.loss_rule == LossRule::FullTcp;
        match ctx.class.tcp.loss_rule {
            // it repairs nothing that it sent before a timeout, but its window
            // swells as if it did
            LossRule::FullTcp => {
                if self.after_timeout && self.una <= self.recover {
                    self.recovering = !ctx.class.sack();
                    return;
                }
            }
            // RFC 6582, 4: duplicates of what was outstanding at the last loss mean nothing
            LossRule::Rfc if self.una < self.recover => return,
            LossRule::OneWay if self.una <= self.recover => return,
            LossRule::Rfc | LossRule::OneWay => {}
        }
        self.after_timeout = false;
        self.recover = self.max;
        self.recovering = true;
        self.partial = false;
        self.heed_loss(ctx.class);
        if ctx.class.sack() {
            self.board.get_or_insert_default().begin(self.una);
        }
        self.retransmit_first(address, ctx);
        if let Some(board) = &mut self.board {
            board.repaired_first(self.una);
        }
        self.restart_timer(ctx);
        // an answer that a repair held up says nothing of the round trip (ns-2)
        self.timing &= ctx.class.tcp.loss_rule != LossRule::OneWay;
        if !full_tcp {
            self.send_more(address, ctx);
        }
    }

    /// Sends one new segment for each of the first two duplicates (RFC 3042).
    fn send_one(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let window = self.control.cwnd() + f64::from(self.dup_acks);
        let fits = self.nxt - self.una < ctx.class.tcp.window
            && f64::from(self.nxt - self.una + 1) <= window;
        if self.dup_acks < 3 && fits && self.may_send(address, ctx) {
            let seq = self.nxt;
            self.nxt += 1;
            self.transmit(seq, address, ctx);
        }
    }

    /// Sends the oldest unacknowledged segment again.
    fn retransmit_first(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.transmit(self.una, address, ctx);
    }

    /// Sends what the window, the pace and Nagle's rule allow.
    fn send_more(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        if self.recovering && ctx.class.sack() {
            return self.send_sack(address, ctx);
        }
        let window = self.control.cwnd().min(f64::from(ctx.class.tcp.window)).max(1.0) as u32;
        while self.nxt - self.una < window {
            if self.nxt < self.max {
                // behind a timeout: what the receiver holds is not sent again
                if let Some(board) = &self.board {
                    self.nxt = board.first_missing(self.nxt).min(self.max);
                }
            }
            if !self.may_send(address, ctx) {
                break;
            }
            let seq = self.nxt;
            self.nxt += 1;
            self.transmit(seq, address, ctx);
        }
        if self.control.repairs_late() {
            self.arm_late_repair(ctx);
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
            let fin_held = self.nxt == self.total;
            if ctx.class.tcp.fin_waits && (held || fin_held) {
                return false;
            }
        }
        self.pace_allows(address, ctx)
    }

    /// Recovery with SACK: repairs first, then new data, as far as the pipe has room.
    fn send_sack(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let window = self.control.cwnd().max(1.0) as u32;
        loop {
            let Some(board) = &mut self.board else { return };
            if board.pipe(self.una, self.nxt) >= window {
                return;
            }
            if board.repairs(self.una) && !self.pace_allows(address, ctx) {
                return;
            }
            let Some(board) = &mut self.board else { return };
            if let Some(seq) = board.next_repair(self.una) {
                self.transmit(seq, address, ctx);
                continue;
            }
            if self.nxt - self.una >= ctx.class.tcp.window || !self.may_send(address, ctx) {
                return;
            }
            let seq = self.nxt;
            self.nxt += 1;
            self.transmit(seq, address, ctx);
        }
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
            payload = ctx.class.tcp.mss;
            self.sent += 1;
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
            self.timing &= seq > self.timed;
        } else {
            self.max = seq + 1;
            if seq < self.total {
                flags = flags.with(self.mark_flags(ctx.class));
            }
            if !self.timing {
                self.timing = true;
                self.timed = seq;
                self.timed_at = now;
            }
        }
        if self.deadline == Time::NEVER {
            self.deadline = self.timeout_from_now(ctx);
        }
        let mut packet = address.towards_sink(flags, payload + ctx.class.tcp.header, now);
        packet.seq = seq;
        packet.ext = self.control.header(now);
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
        if self.deadline > now {
            return Fate::Lives;
        }
        self.deadline = Time::NEVER;
        match self.state {
            State::Listen => {}
            State::SynSent => {
                if u32::from(ctx.row.syn_tries) > ctx.class.tcp.syn_retries.limit {
                    ctx.row.gave_up = now;
                    return Fate::Over;
                }
                self.send_syn(address, ctx);
            }
            State::SynReceived => {
                self.rto.back_off(ctx.class.tcp.timer_rule);
                self.syn_lost = true;
                self.timing = false;
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
        self.control.on_timeout(self.flight(), again);
        self.after_timeout = !self.control.repairs_late();
        self.tell_of_cut(ctx.class);
        self.timed_out = self.una;
        self.timeouts += 1;
        self.rto.back_off(ctx.class.tcp.timer_rule);
        self.recover = self.max;
        self.recovering = false;
        self.dup_acks = 0;
        self.timing = false;
        self.nxt = self.una;
        self.send_more(address, ctx);
    }
}
