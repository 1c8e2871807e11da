//! What a sender sends, and when its pace lets it.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::profile::LossRule;

use crate::engine::{Entity, EventKind};

use super::super::control::{Control, Leaving, Payloads};
use super::super::receiver::Address;
use super::super::{ClassParams, Ctx};
use super::{Detector, Sender};

impl<C: Control + Payloads> Sender<C> {
    /// Sends what is lost and what is new, as far as the window allows.
    #[inline]
    pub(super) fn send_more(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        match ctx.class.detector {
            Detector::Timed => self.repair(address, ctx),
            Detector::Duplicates if self.snd.recovering && ctx.class.sack() => {
                self.repair(address, ctx);
            }
            Detector::Duplicates | Detector::GoBack { .. } => self.send_window(address, ctx),
            Detector::Late => {
                self.send_window(address, ctx);
                self.arm_late(ctx);
            }
        }
    }

    /// Most segments that may be outstanding: what the receiver offers, and the class has.
    #[inline]
    fn allowed(&self, class: &ClassParams) -> u32 {
        class.window().min(self.edge.saturating_sub(self.snd.una))
    }

    /// An acknowledgement tells of what the receiver offers. Returns whether all that could be sent by
    /// what it had offered before has been sent.
    #[inline]
    pub(super) fn hear_of_window(&mut self, ack: &Packet, class: &ClassParams) -> bool {
        if self.edge == u32::MAX {
            return false;
        }
        let used = self.snd.flight() >= self.allowed(class);
        self.edge = match ack.window() {
            // what was offered stays so
            Some(window) => self.edge.max(ack.ack.saturating_add(window)),
            // one with data does not tell: it offers as much as before
            None => self.edge.saturating_add(ack.ack.saturating_sub(self.snd.una)),
        };
        used
    }

    /// Whether the window was not used before an acknowledgement of so many segments, where all that
    /// was offered had been sent. Then it does not grow; in slow start it may grow to twice what was
    /// outstanding (Linux: `tcp_is_cwnd_limited`).
    pub(super) fn is_held_back(&self, segments: u32) -> bool {
        let cwnd = self.control.cwnd();
        let slow_start = self.control.ssthresh().is_none_or(|threshold| cwnd < threshold);
        let used = f64::from(self.snd.flight() + segments);
        let unused = if slow_start { 2.0 * used <= cwnd } else { used < cwnd.floor() };
        unused && !self.control.samples_rate()
    }

    /// Sends what the window, the pace and Nagle's rule allow.
    #[inline(never)]
    fn send_window(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let window = self.window().min(f64::from(self.allowed(ctx.class))).max(1.0) as u32;
        while self.snd.flight() < window || self.fin_follows(ctx.class) {
            if self.snd.nxt < self.snd.max {
                // behind a timeout: what the receiver holds is not sent again
                let missing = self.snd.outstanding.first_missing(self.snd.nxt);
                self.snd.nxt = missing.min(self.snd.max);
            }
            if !self.may_send(address, ctx) {
                break;
            }
            self.transmit_next(address, ctx);
        }
    }

    /// Sends repairs first, then what is new (RFC 6675, section 5, step C; RFC 8985).
    #[inline(never)]
    fn repair(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        loop {
            let pipe = self.pipe(ctx.class);
            if pipe >= self.room(ctx.class) {
                return;
            }
            let Some(seq) = self.next_seg(pipe, address, ctx) else { return };
            let oldest_again = seq == self.snd.una && seq < self.snd.max;
            self.transmit(seq, address, ctx);
            if oldest_again && ctx.class.detector == Detector::Timed {
                // what the timer guards has just left
                self.set_timer_by_repair(ctx);
            }
        }
    }

    /// What goes next where losses are repaired first: NextSeg of RFC 6675, section 4.
    fn next_seg(&mut self, pipe: u32, address: &Address, ctx: &mut Ctx<'_>) -> Option<u32> {
        let timed = ctx.class.detector == Detector::Timed;
        if !timed && !self.pace_allows(address, ctx) {
            // whatever the rule that it would go by
            return None;
        }
        // (1) what is lost
        if timed && self.snd.has_due() {
            let paced = self.pace_allows(address, ctx);
            return if paced { self.snd.next_due() } else { None };
        }
        if !timed && let Some(lost) = self.snd.next_repair() {
            return Some(lost);
        }
        // Linux looks when the application writes
        if timed
            && self.snd.nxt >= self.snd.end
            && ctx.class.tcp.loss_rule != LossRule::Linux
            && let Some(log) = self.snd.outstanding.log_mut()
        {
            log.delivery.limit(pipe);
        }
        // (2) what is new
        if self.snd.flight() < self.allowed(ctx.class) && self.may_send(address, ctx) {
            self.snd.nxt += 1;
            return Some(self.snd.nxt - 1);
        }
        // (3) what may be lost, and (4) the tail: both keep acknowledgements coming
        if timed {
            return None;
        }
        let (una, nxt, recover) = (self.snd.una, self.snd.nxt, self.snd.recover);
        let known = self.snd.outstanding.known()?;
        known.next_doubtful(una).or_else(|| known.rescue(una, nxt, recover))
    }

    /// Limited transmit: one new segment for each of the first two duplicates (RFC 3042;
    /// RFC 5681, 3.2 step 1), with SACK only if it has a new block.
    pub(super) fn send_one(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let snd = &self.snd;
        let window = self.control.cwnd() + f64::from(snd.dup_acks);
        let fits = snd.flight() < self.allowed(ctx.class) && f64::from(snd.flight() + 1) <= window;
        // ns-2's agents do not ask whether it was sent before a timeout
        let new = snd.nxt == snd.max || ctx.class.tcp.loss_rule == LossRule::OneWay;
        if snd.dup_acks < 3 && fits && new && self.may_send(address, ctx) {
            self.snd.extra += 1;
            self.snd.nxt += 1;
            self.transmit(self.snd.nxt - 1, address, ctx);
        }
    }

    /// Whether there is something to send, and nothing but the window forbids it.
    #[inline]
    fn may_send(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        let snd = &self.snd;
        if snd.nxt >= snd.end {
            return false;
        }
        if snd.nxt + 1 >= snd.total && snd.nxt > snd.una {
            let short = u32::from(self.last_payload) < ctx.class.tcp.mss;
            let held = snd.nxt + 1 == snd.total && ctx.class.tcp.nagle && short;
            let fin_held = snd.nxt == snd.total && !self.fin_follows(ctx.class);
            if ctx.class.tcp.fin_waits && (held || fin_held) {
                return false;
            }
        }
        self.pace_allows(address, ctx)
    }

    #[inline(always)]
    fn transmit_next(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let seq = self.snd.nxt;
        self.snd.nxt += 1;
        self.put(seq, address, ctx);
    }

    /// Sends a segment that is not the next of the window.
    #[inline(never)]
    pub(super) fn transmit(&mut self, seq: u32, address: &Address, ctx: &mut Ctx<'_>) {
        self.put(seq, address, ctx);
    }

    /// Puts one segment on the wire.
    // in line where the window allows it, as most are sent there
    #[inline(always)]
    fn put(&mut self, seq: u32, address: &Address, ctx: &mut Ctx<'_>) {
        let now = ctx.net.now;
        let again = seq < self.snd.max;
        let mut flags = Flags::ACK;
        let mut payload = 0;
        if seq < self.snd.total {
            flags = flags.with(Flags::DATA);
            payload = ctx.class.tcp.mss
                - (self.control.lacking(seq + 1) - self.control.lacking(seq)) as u32;
            self.retransmitted += u32::from(again);
        }
        if seq + 1 >= self.snd.total {
            flags = flags.with(Flags::PUSH);
            if seq + 1 == self.snd.total {
                payload = u32::from(self.last_payload);
                if !again && self.takes_fin_along(ctx) {
                    self.snd.end = self.snd.total;
                }
            }
            if seq + 1 == self.snd.end {
                flags = flags.with(Flags::FIN);
            }
        }
        if again {
            flags = flags.with(Flags::RETRANSMIT);
            // Karn: an acknowledgement could be for either transmission
            self.rto.timing &= seq > self.rto.timed;
        } else {
            self.snd.max = seq + 1;
            if seq < self.snd.total {
                flags = flags.with(self.mark_flags(ctx.class));
            }
            if !self.rto.timing {
                self.rto.timing = true;
                self.rto.timed = seq;
                self.rto.timed_at = now;
            }
        }
        if self.deadline == Time::NEVER && ctx.class.detector != Detector::Timed {
            self.deadline = self.timeout_from_now(ctx);
        }
        let mut packet = address.towards_sink(flags, payload + ctx.class.tcp.header, now);
        packet.seq = seq;
        if flags.has(Flags::FIN) {
            packet.client = ctx.client;
        }
        packet.ext = self.control.header(now);
        self.control.on_sent(now, self.snd.flight());
        if self.snd.outstanding.log().is_some() {
            self.record(seq, again, ctx);
        }
        self.note_pace(ctx);
        ctx.net.send_often(packet);
    }

    /// Notes when a segment is sent.
    #[inline(never)]
    fn record(&mut self, seq: u32, again: bool, ctx: &Ctx<'_>) {
        let replaces = self.snd.outstanding.send(seq, ctx.net.now);
        if self.snd.outstanding.log().is_some_and(|log| log.delivery.restarts()) {
            self.control.on_restart(ctx.net.now);
        }
        if self.control.hears_packets() {
            let last = self.snd.nxt >= self.snd.end.min(self.edge);
            self.control.on_leaving(&Leaving { now: ctx.net.now, replaces, last });
        }
        if self.is_cut()
            && let Some(log) = self.snd.outstanding.log_mut()
        {
            log.prr.on_sent();
        }
        match ctx.class.detector {
            _ if again => {}
            Detector::Timed => self.set_timer_by_data(ctx),
            _ => self.arm_probe(ctx),
        }
    }

    /// Sends a probe (RFC 8985, 7.3): a new segment if there is one, else the last one again.
    pub(super) fn probe(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let fits = self.snd.flight() < self.allowed(ctx.class);
        let snd = &mut self.snd;
        let new = fits && snd.nxt == snd.max && snd.nxt < snd.end;
        let seq = if new { snd.nxt } else { snd.max - 1 };
        snd.nxt += u32::from(new);
        self.transmit(seq, address, ctx);
        if let Some(log) = self.snd.outstanding.log_mut() {
            log.tlp.sent(self.snd.max, !new);
            log.probe_at = Time::NEVER;
        }
        match ctx.class.detector {
            Detector::Timed => self.set_timer_by_repair(ctx),
            _ => self.restart_timer(ctx),
        }
    }

    /// Whether the pace is kept as Linux keeps it ([`Control::linux_paces`]).
    #[inline]
    pub(super) fn paces_as_linux(&self, ctx: &Ctx<'_>) -> bool {
        ctx.class.tcp.timer_rule.of_linux() && self.control.linux_paces()
    }

    /// Whether the pace lets a packet go now; if not, an event is pending for
    /// when it will.
    // in line, as each acknowledgement asks
    #[inline(always)]
    fn pace_allows(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        let Some(gap) = self.control.gap() else { return true };
        let due = match self.control.departure() {
            Some(departure) => departure,
            None if self.paces_as_linux(ctx) => self.pace_from,
            None => self.pace_from.saturating_add(gap),
        };
        let goes = due <= ctx.net.now;
        // an event of its own: the retransmission timer's stays where it is
        if !goes && due < self.wake && due < Time::NEVER {
            self.wake = due;
            ctx.net.events.push(due, Entity::new(EventKind::Pace, address.flow));
        }
        goes
    }

    /// A packet leaves; one that left before its time (a repair) delays the next.
    #[inline]
    fn note_pace(&mut self, ctx: &Ctx<'_>) {
        let now = ctx.net.now;
        if self.paces_as_linux(ctx) {
            let late = now.saturating_sub(self.pace_from);
            let gap = self.control.gap().map_or(Time::ZERO, |gap| gap - late.min(gap / 2));
            self.pace_from = now.max(self.pace_from).saturating_add(gap);
        } else if let Some(gap) = self.control.gap() {
            self.pace_from = now.max(self.pace_from.saturating_add(gap));
        }
    }

    /// The pace lets the next packet go.
    pub(crate) fn go_on(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        // an event of an earlier owner of the slot, or of a slower pace, says another time
        if self.wake == ctx.net.now {
            self.wake = Time::NEVER;
            self.send_more(address, ctx);
        }
    }
}
