//! The end of a flow that receives its data.

pub(super) mod aside;
mod early;
mod headers;
mod marks;
mod misbehaving;
mod offer;
mod told;

use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::control::Ecn;
use tidegate_model::scenario::Misbehaviour;

use super::laps::LAP;
use super::receive_window::Memory;
use super::{ClassParams, Ctx, FlowFate, Timeouts};

use aside::Aside;
use marks::echoes;

/// Where the receiving end stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has come yet.
    Listen,
    /// Its SYN is out (download).
    SynSent,
    /// Its SYN+ACK is out (upload).
    SynReceived,
    /// Data may come.
    Open,
    /// All has come, and its own FIN is out.
    LastAck,
}

/// The receiving end: with [`Address`] one cache line.
#[repr(C)]
pub(crate) struct Receiver {
    /// When a SYN, a SYN+ACK, a FIN or a delayed acknowledgement is due.
    pub(super) deadline: Time,
    /// Time to echo in the next acknowledgement (RFC 7323, 4.3).
    echo: Time,
    /// Holes and held headers, allocated at the first of them.
    aside: Option<Box<Aside>>,
    /// Next segment expected.
    next: u32,
    /// First sequence number behind the data, once known.
    data_end: u32,
    /// Behind the sender's FIN, once known.
    end: u32,
    state: State,
    /// In-order segments not acknowledged yet (delayed acknowledgements).
    pending: u8,
    /// While opening or closing: how often the SYN+ACK or the FIN was sent again. While open: how
    /// many of the next acknowledgements of data are quick (Linux: `icsk_ack.quick`).
    tally: u8,
    /// Marks that are to be told of: one of [`echoes`], or their count modulo 256 in a class
    /// that counts them.
    marks: u8,
}

/// Parts in which a receiver acknowledges a segment that splits acknowledgements.
pub(crate) const PARTS: u32 = 10;

/// How to address packets of one flow.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    pub(crate) flow: u32,
    pub(crate) generation: u16,
    pub(crate) source: u16,
    pub(crate) sink: u16,
    pub(crate) opaque: bool,
}

impl Address {
    /// A packet from the sink to the source.
    pub(crate) fn towards_source(&self, flags: Flags, header: u32, now: Time) -> Packet {
        self.packet(flags.with(Flags::TO_SOURCE), self.sink, self.source, header, now)
    }

    /// A packet from the source to the sink.
    pub(crate) fn towards_sink(&self, flags: Flags, size: u32, now: Time) -> Packet {
        self.packet(flags, self.source, self.sink, size, now)
    }

    #[inline]
    fn packet(&self, flags: Flags, src: u16, dst: u16, size: u32, now: Time) -> Packet {
        let flags = if self.opaque { flags.with(Flags::OPAQUE) } else { flags };
        Packet {
            at: now,
            sent: now,
            flow: self.flow,
            generation: self.generation,
            src,
            dst,
            size: size as u16,
            flags,
            seq: 0,
            ack: 0,
            prev_port: u32::MAX,
            ext: Ext::None,
            client: 0,
        }
    }
}

impl Receiver {
    /// It keeps what it offers aside, where segments take this of a receive buffer.
    pub(crate) fn new(memory: Option<&Memory>) -> Receiver {
        Receiver {
            next: 0,
            data_end: u32::MAX,
            end: u32::MAX,
            state: State::Listen,
            pending: 0,
            tally: 0,
            marks: echoes::NONE,
            deadline: Time::NEVER,
            echo: Time::ZERO,
            aside: memory.map(|memory| Box::new(Aside::offering(memory))),
        }
    }

    /// Segments received, up to the first hole.
    pub(crate) fn received(&self) -> u32 {
        let missing = self.aside.as_ref().map_or(0, |aside| aside.missing);
        self.next.min(self.data_end) - missing
    }

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        self.next -= lap;
        if let Some(aside) = &mut self.aside {
            aside.renumber(lap);
        }
    }

    /// Whether data may come.
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// A packet of this size with data of its own; like every packet it acknowledges what
    /// has arrived.
    pub(super) fn say(
        &self,
        size: u32,
        address: &Address,
        class: &ClassParams,
        now: Time,
    ) -> Packet {
        let marks = self.counted(class.ecn);
        let flags = Flags::ACK.with(Flags::DATA).with(Flags::PUSH).with(marks);
        let mut packet = address.towards_source(flags, size, now);
        packet.ack = self.next;
        packet.sent = self.echo;
        packet
    }

    /// Opens a download: the first SYN, or another one.
    pub(crate) fn send_syn(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        self.state = State::SynSent;
        *ctx.syn_tries += 1;
        ctx.timeouts.own = ctx.net.now;
        let wait = ctx.class.syn_wait(*ctx.syn_tries);
        self.deadline = ctx.class.fires(ctx.sink, ctx.net.now, wait);
        let mut syn = address.towards_source(Flags::SYN, ctx.class.tcp.header, ctx.net.now);
        syn.client = ctx.client;
        ctx.net.send(&syn);
    }

    /// A packet has arrived at this end.
    #[inline(always)]
    pub(crate) fn receive(
        &mut self,
        packet: &Packet,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) -> FlowFate {
        if packet.flags.has(Flags::RST) {
            return self.refused(ctx);
        }
        if packet.flags.has(Flags::SYN) {
            self.handshake(packet, address, ctx);
            return FlowFate::Lives;
        }
        match self.state {
            State::Open => {}
            State::LastAck if packet.ack > 0 => return FlowFate::Over,
            State::LastAck => {}
            State::Listen | State::SynSent | State::SynReceived => self.open(packet.sent, ctx),
        }
        if packet.flags.has(Flags::DATA) {
            ctx.class.arrived_bytes += u64::from(packet.size);
        }
        if packet.flags.has(Flags::DATA) || packet.flags.has(Flags::FIN) {
            let seq = self.number(packet.seq);
            if self.is_offering() {
                self.take::<true>(seq, packet, address, ctx);
            } else {
                self.take::<false>(seq, packet, address, ctx);
            }
            if self.next >= self.end && self.state == State::Open {
                self.state = State::LastAck;
                self.tally = 0;
                self.send_fin(address, ctx);
            }
        }
        FlowFate::Lives
    }

    /// The handshake is complete on this side; its last packet left then.
    fn open(&mut self, sent: Time, ctx: &mut Ctx<'_>) {
        self.offer_opens(sent, ctx);
        if self.state == State::SynReceived && self.tally == 0 {
            let sent = self.deadline.saturating_sub(ctx.class.tcp.initial_rto);
            ctx.timeouts.fin = ctx.class.first_timeout(ctx.net.now.saturating_sub(sent));
        }
        if matches!(self.state, State::SynSent | State::SynReceived) {
            // until now it was when the SYN or SYN+ACK left
            let measured = ctx.net.now.saturating_sub(ctx.timeouts.own);
            ctx.timeouts.own = ctx.class.first_timeout(measured);
        }
        self.state = State::Open;
        self.tally = self.quick(ctx.class.tcp.quick_acks);
        self.deadline = Time::NEVER;
    }

    /// A segment has come in order, which left so long after the last one. After more than a timeout
    /// the sender is in slow start, perhaps, and the next acknowledgements are quick again (Linux:
    /// `tcp_event_data_recv`, which goes by when they came).
    #[inline]
    fn note_gap(&mut self, gap: Time, ctx: &Ctx<'_>) {
        // most gaps are short, and the timeout is in another cache line
        if gap > ctx.class.tcp.min_rto && gap > ctx.timeouts.own {
            self.tally = self.tally.max(self.quick(ctx.class.tcp.quick_again));
        }
    }

    /// Closes this side too: the application has read everything and sends nothing.
    fn send_fin(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let measured = ctx.timeouts.fin;
        let base = if measured == Time::ZERO { ctx.class.tcp.initial_rto } else { measured };
        let wait = ctx.class.backed_off(base, u32::from(self.tally));
        self.deadline = ctx.class.fires(ctx.sink, ctx.net.now, wait);
        let flags = Flags::FIN.with(Flags::ACK).with(self.counted(ctx.class.ecn));
        let mut fin = address.towards_source(flags, ctx.class.tcp.header, ctx.net.now);
        fin.ack = self.next;
        fin.sent = self.echo;
        fin.client = ctx.client;
        ctx.net.send(&fin);
    }

    /// A reset ends a download that is being opened.
    fn refused(&mut self, ctx: &mut Ctx<'_>) -> FlowFate {
        if self.state != State::SynSent {
            return FlowFate::Lives;
        }
        ctx.row.gave_up = ctx.net.now;
        FlowFate::Over
    }

    fn handshake(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let download = packet.flags.has(Flags::ACK);
        self.echo = packet.sent;
        if !download && matches!(self.state, State::Open | State::LastAck) {
            return;
        }
        if download || !ctx.class.by_answer {
            ctx.row.admit(packet, ctx.net.now);
        }
        if download {
            if self.state != State::LastAck {
                self.open(packet.sent, ctx);
            }
            self.acknowledge_with::<true>(address, 0, &packet.ext, ctx);
        } else {
            self.state = State::SynReceived;
            self.send_syn_ack(address, &packet.ext, ctx);
        }
    }

    fn send_syn_ack(&mut self, address: &Address, asked: &Ext, ctx: &mut Ctx<'_>) {
        ctx.timeouts.own = ctx.net.now;
        let base = ctx.class.tcp.initial_rto;
        self.deadline = ctx.net.now + ctx.class.backed_off(base, u32::from(self.tally));
        let flags = Flags::SYN.with(Flags::ACK);
        let mut answer = address.towards_source(flags, ctx.class.tcp.header, ctx.net.now);
        answer.sent = self.echo;
        answer.ext = asked.echoed();
        answer.client = ctx.client;
        ctx.net.send(&answer);
    }

    /// The number of a segment: one that left before the numbers began anew has a number far ahead.
    #[inline]
    fn number(&self, seq: u32) -> u32 {
        let far = seq > self.next && seq - self.next > LAP / 2;
        if far { seq.checked_sub(LAP).unwrap_or(seq) } else { seq }
    }

    /// A data segment or a FIN, with this number. `OFFERS`: the window depends on the receive buffer;
    /// a receiver that offers all from the start is spared the question.
    fn take<const OFFERS: bool>(
        &mut self,
        seq: u32,
        packet: &Packet,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) {
        if packet.flags.has(Flags::PUSH) {
            self.data_end = seq + u32::from(packet.flags.has(Flags::DATA));
        }
        if packet.flags.has(Flags::FIN) {
            self.end = seq + 1;
        }
        let tells = ctx.class.receiver != Some(Misbehaviour::HiddenMarks);
        let linux = ctx.class.tcp.timer_rule.of_linux();
        let told_of_cut = self.note_mark(packet, ctx.class.ecn, tells, linux);
        if ctx.class.receiver == Some(Misbehaviour::OptimisticAcks) {
            return self.take_early(seq, packet, address, ctx);
        }
        let gap = packet.sent.saturating_sub(self.echo);
        self.note_time(seq, packet.sent, linux);
        let had_holes = self.has_holes();
        let (in_order, new) = self.note_arrival(seq, packet.sent, gap, ctx);
        if OFFERS && new {
            self.widen(packet, in_order, ctx);
        }
        self.pending = self.pending.saturating_add(1);
        let quick = self.state == State::Open && self.tally > 0;
        // RFC 5681, 4.2: at once out of order, when a hole is filled, for every
        // second segment; and at the end, where nothing would follow
        let at_once = !in_order
            || had_holes
            || quick
            || told_of_cut
            || self.pending >= 2
            || packet.flags.has(Flags::FIN);
        match ctx.class.tcp.delayed_ack {
            Some(delay) if !at_once => {
                self.hold(&packet.ext);
                self.deadline = ctx.net.now + delay;
            }
            delay => {
                if self.state == State::Open {
                    self.tally = self.tally.saturating_sub(1);
                }
                // who splits acknowledgements delays none
                if ctx.class.receiver == Some(Misbehaviour::SplitAcks)
                    && delay.is_none()
                    && in_order
                {
                    self.split(seq, address, ctx);
                }
                self.acknowledge_held::<OFFERS>(address, seq, &packet.ext, ctx);
            }
        }
        if OFFERS && in_order {
            self.read(ctx);
        }
    }

    /// A segment has come, which left so long after the last one. Returns whether it is the next in
    /// order, and whether it is new.
    #[inline(always)]
    fn note_arrival(&mut self, seq: u32, sent: Time, gap: Time, ctx: &mut Ctx<'_>) -> (bool, bool) {
        if seq == self.next {
            self.next += 1;
            if ctx.class.tcp.quick_again > 0 && self.state == State::Open {
                self.note_gap(gap, ctx);
            }
            if self.has_holes() {
                self.close_hole(ctx.class);
            }
            self.note_end(ctx);
            return (true, true);
        }
        if seq > self.next {
            return (false, self.take_beyond(seq, sent, ctx));
        }
        if self.state == State::Open {
            self.tally = self.tally.max(self.quick(ctx.class.tcp.quick_acks));
        }
        (false, false)
    }

    /// All data may have come.
    #[inline]
    fn note_end(&self, ctx: &mut Ctx<'_>) {
        if self.next >= self.data_end && ctx.row.data_done == Time::NEVER {
            ctx.row.data_done = ctx.net.now;
        }
    }

    /// A segment has come, and one before it has not. Returns whether it is new.
    #[cold]
    fn take_beyond(&mut self, seq: u32, sent: Time, ctx: &mut Ctx<'_>) -> bool {
        let aside = self.aside.get_or_insert_with(|| ctx.class.spare.pop().unwrap_or_default());
        if ctx.class.receiver == Some(Misbehaviour::HiddenLosses) {
            aside.missing += seq - self.next;
            self.next = seq + 1;
            self.echo = self.echo.max(sent);
            self.note_end(ctx);
            true
        } else {
            aside.arrive(seq, !ctx.class.tcp.timer_rule.of_linux())
        }
    }

    /// What is echoed is the newest time of what is not beyond the last
    /// acknowledgement (RFC 7323, 4.3 rule 2): of two segments that one
    /// acknowledgement covers the older, and of a repetition its own. Linux refuses a repetition that
    /// ends before the last acknowledgement, and does not look at its time (`tcp_sequence`).
    #[inline]
    fn note_time(&mut self, seq: u32, sent: Time, linux: bool) {
        // each segment in order since then is pending
        let acknowledged = self.next - u32::from(self.pending);
        let refused = linux && seq + 1 < acknowledged;
        if seq <= acknowledged && sent >= self.echo && !refused {
            self.echo = sent;
        }
    }

    #[inline]
    fn has_holes(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| !aside.beyond.is_empty())
    }

    #[cold]
    fn close_hole(&mut self, class: &mut ClassParams) {
        if let Some(aside) = &mut self.aside
            && let Some(end) = aside.close_hole(self.next, !class.tcp.timer_rule.of_linux())
        {
            self.next = end;
            if aside.is_empty() {
                // no further packet has to look there
                class.spare.extend(self.aside.take());
            }
        }
    }

    /// The header of a segment waits for its acknowledgement.
    fn hold(&mut self, ext: &Ext) {
        if *ext != Ext::None {
            let aside = self.aside.get_or_insert_default();
            aside.held = headers::together(aside.held, *ext);
        }
    }

    /// Acknowledges, and hands back what is held of the segments that this covers, the last of which
    /// has this header.
    // in line where a segment has come, and there alone: a call would cost a tenth of it
    #[inline(always)]
    fn acknowledge_held<const OFFERS: bool>(
        &mut self,
        address: &Address,
        newest: u32,
        last: &Ext,
        ctx: &mut Ctx<'_>,
    ) {
        let held = self.release(last);
        self.acknowledge_with::<OFFERS>(address, newest, held.as_ref().unwrap_or(last), ctx);
    }

    /// The same, elsewhere.
    #[inline(never)]
    fn acknowledge_seldom(
        &mut self,
        address: &Address,
        newest: u32,
        last: &Ext,
        ctx: &mut Ctx<'_>,
    ) {
        self.acknowledge_held::<true>(address, newest, last, ctx);
    }

    /// What is held together with this header; none: nothing is held.
    #[inline]
    fn release(&mut self, last: &Ext) -> Option<Ext> {
        let aside = self.aside.as_mut().filter(|aside| !matches!(aside.held, Ext::None))?;
        Some(headers::together(std::mem::take(&mut aside.held), *last))
    }

    /// Acknowledges, and hands back this header.
    #[inline(always)]
    fn acknowledge_with<const OFFERS: bool>(
        &mut self,
        address: &Address,
        newest: u32,
        echo: &Ext,
        ctx: &mut Ctx<'_>,
    ) {
        self.pending = 0;
        if ctx.class.ecn == Ecn::Classic && self.marks == echoes::PENDING_TOO {
            self.marks = echoes::MARKED;
        }
        if self.state == State::Open {
            self.deadline = Time::NEVER;
        }
        let flags = Flags::ACK.with(self.tell_of_marks(ctx.class.ecn));
        let mut ack = address.towards_source(flags, ctx.class.tcp.header, ctx.net.now);
        if OFFERS {
            ack.seq = self.tell_of_window(ctx);
        }
        ack.ack = self.next;
        ack.sent = self.echo;
        let echo = headers::told_of(echo, newest > self.next);
        ack.ext = match &self.aside {
            Some(aside) if ctx.class.sack() && !aside.told.is_empty() => {
                // a timestamp leaves room for three blocks (RFC 7323)
                let most = if ctx.class.tcp.timestamps { 3 } else { 4 };
                echo.echoed().with_blocks(aside.told.blocks(self.next, newest, most))
            }
            // most have none, and nothing is copied for them
            _ if matches!(echo, Ext::None) => Ext::None,
            _ => echo.echoed(),
        };
        ctx.net.send_often(ack);
    }

    /// The deadline has passed.
    pub(crate) fn expire(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> FlowFate {
        self.deadline = Time::NEVER;
        match self.state {
            State::Listen => {}
            State::SynSent => {
                if u32::from(*ctx.syn_tries) > ctx.class.tcp.syn_retries.limit {
                    ctx.row.gave_up = ctx.net.now;
                    return FlowFate::Over;
                }
                self.send_syn(address, ctx);
            }
            // the opener has to begin anew (Linux: `tcp_synack_retries`)
            State::SynReceived if u32::from(self.tally) >= ctx.class.tcp.syn_ack_retries => {
                self.state = State::Listen;
                *ctx.timeouts = Timeouts::NEW;
            }
            State::SynReceived => {
                self.tally = self.tally.saturating_add(1);
                // without the header that the SYN asked with: the first data packet asks again
                self.send_syn_ack(address, &Ext::None, ctx);
            }
            State::Open => {
                self.acknowledge_seldom(address, self.next, &Ext::None, ctx);
            }
            State::LastAck => {
                self.tally = self.tally.saturating_add(1);
                self.send_fin(address, ctx);
            }
        }
        FlowFate::Lives
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::packet::XcpHeader;

    use super::*;

    fn delta(delta: f32) -> Ext {
        Ext::Xcp(XcpHeader { delta, ..XcpHeader::default() })
    }

    /// draft-falk-xcp-spec-03, 3.2: an acknowledgement of two segments hands back both
    /// changes; the header of neither is lost when the timer sends it.
    #[test]
    fn a_delayed_acknowledgement_hands_back_the_sum() {
        let mut receiver = Receiver::new(None);
        receiver.hold(&delta(1500.0));
        assert_eq!(receiver.release(&delta(-500.0)), Some(delta(1000.0)));
        assert_eq!(receiver.release(&delta(7.0)), None, "what was handed back is gone");
        receiver.hold(&delta(2.0));
        assert_eq!(receiver.release(&Ext::None), Some(delta(2.0)));
        receiver.hold(&delta(f32::MAX));
        assert_eq!(receiver.release(&delta(5.0)), Some(delta(5.0)), "no port had seen the first");
    }

    /// RFC 7323, 4.3, by hand: 9 and all before are acknowledged, 10 waits for its
    /// acknowledgement. A repetition of 7 sent later is echoed; a segment beyond what is
    /// acknowledged is not, and neither is an older one.
    #[test]
    fn a_repetition_is_echoed_with_its_own_time() {
        let address = Address { flow: 0, generation: 0, source: 0, sink: 1, opaque: false };
        let mut receiver = Receiver { next: 11, pending: 1, ..Receiver::new(None) };
        receiver.echo = Time::from_ms(50);
        for (seq, sent, echo) in [(11, 60, 50), (7, 70, 70), (10, 65, 70), (10, 80, 80)] {
            let mut packet = address.towards_sink(Flags::DATA, 1500, Time::from_ms(sent));
            packet.seq = seq;
            receiver.note_time(packet.seq, packet.sent, false);
            assert_eq!(receiver.echo, Time::from_ms(echo), "{seq} of {sent} ms");
        }
    }
}
