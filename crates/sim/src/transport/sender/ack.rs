//! What an acknowledgement does.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::control::Ecn;
use tidegate_model::profile::{LossRule, Recovery};

use super::super::control::{Control, DeliveryRate, Feedback, Payloads, RateSample};
use super::super::laps::LAP;
use super::super::receiver::Address;
use super::super::rto::Progress;
use super::super::sent_log::SentLog;
use super::super::socket::WAKES;
use super::super::{ClassParams, Ctx};
use super::loss::{Ack, Event, LossVerdict, Sends};
use super::{Detector, Sender, State};

/// What is known of an acknowledgement before its steps are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AckKind {
    /// As `Bare`, of new data, and without a duplicate before it, while nothing is being repaired.
    Plain,
    /// It has no blocks, and nothing is kept of outstanding segments.
    Bare,
    /// It has blocks, or something is kept.
    Kept,
}

impl<C: Control + Payloads> Sender<C> {
    /// An acknowledgement has arrived.
    #[inline]
    pub(super) fn acknowledged(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let new = packet.ack > self.snd.una && packet.ack <= self.snd.max;
        let undisturbed = !self.snd.recovering && self.snd.dup_acks == 0;
        if new && undisturbed && self.snd.outstanding.learns_nothing(packet) {
            self.take_steps(AckKind::Plain, packet, address, ctx);
        } else {
            self.acknowledged_otherwise(packet, address, ctx);
        }
    }

    /// The same where it may be of any kind.
    #[inline(never)]
    fn acknowledged_otherwise(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        if packet.ack > self.snd.max || packet.ack < self.snd.una {
            self.acknowledged_before(packet, address, ctx);
        } else if self.snd.outstanding.learns_nothing(packet) {
            self.take_steps(AckKind::Bare, packet, address, ctx);
        } else {
            self.acknowledged_kept(packet, address, ctx);
        }
    }

    /// The same where blocks are kept.
    #[inline(never)]
    fn acknowledged_kept(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        self.take_steps(AckKind::Kept, packet, address, ctx);
    }

    /// The steps at an acknowledgement. They stand here, and here alone, whatever notices losses.
    ///
    /// The compiler makes them for each kind, as most acknowledgements are plain ones: it leaves out
    /// whatever asks for something that is not there.
    #[inline(always)]
    fn take_steps(&mut self, kind: AckKind, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let (plain, kept) = (kind == AckKind::Plain, kind == AckKind::Kept);
        // 1. what it says of the window, of marks, and of which segments have arrived
        let edge = self.edge;
        let offer_used = self.hear_of_window(packet, ctx.class);
        self.on_ecn_echo(packet, ctx);
        let told = kept && self.read_blocks(packet, ctx);
        // 2. the round trip, and how far everything has arrived
        let segments = packet.ack - self.snd.una;
        let new = plain || segments > 0;
        let duplicates = if plain { 0 } else { self.snd.dup_acks };
        let timed = kept && ctx.class.detector == Detector::Timed;
        let recovering = !plain && self.snd.recovering;
        let (rtt, restarts);
        if new {
            self.restart_early(packet.ack, ctx);
            (rtt, restarts) = (self.time(kept, packet, ctx), true);
            self.hand_back(packet, true, ctx);
            self.snd.advance(packet.ack);
            if self.snd.is_done() {
                return self.close(ctx);
            }
            self.write_on(WAKES, ctx);
            if !recovering {
                self.snd.inflation = 0.0;
            }
        } else if !self.is_duplicate(packet, address, ctx) {
            if self.edge > edge && self.snd.una == self.snd.nxt {
                // what has waited for the window
                self.send_more(address, ctx);
            }
            return;
        } else {
            (rtt, restarts) = self.time_block(ctx);
        }
        let early = kept && self.snd.outstanding.deadline() < Time::NEVER;
        // 3. recovery ends; what is lost begins another one
        let usual = new && !recovering && !timed;
        let verdict = if usual {
            LossVerdict::WINDOW
        } else {
            self.conclude(kept, &Ack { packet, told, segments }, ctx)
        };
        // 4. the control
        // an acknowledgement that ends a recovery grows the window in Linux (`tcp_cong_control`)
        let recovering = !plain && ((recovering && !timed) || self.is_cut());
        let sample = self.sample(packet, segments, rtt, recovering, ctx);
        let unused = offer_used && self.is_held_back(segments);
        let delivered = segments_delivered(segments, duplicates, ctx.class);
        self.report(kept, RateSample { unused, delivered, ..sample }, ctx);
        // 5. the timer
        if timed {
            self.set_timer(restarts, early, ctx);
        } else if new && (usual || verdict.restarts) {
            self.restart_by_ack(ctx);
        }
        // 6. what may be sent now
        self.answer(verdict.again, verdict.sends, address, ctx);
        if kept && new && !timed {
            self.arm_probe(ctx);
        }
    }

    /// An acknowledgement of nothing that is outstanding by its number: perhaps by that which the
    /// segment had before the numbers began anew.
    #[cold]
    fn acknowledged_before(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let begun = self.laps > 0 && packet.ack > self.snd.max;
        if let Some(ack) = packet.ack.checked_sub(LAP).filter(|_| begun) {
            self.acknowledged_otherwise(&Packet { ack, ..*packet }, address, ctx);
        } else if packet.ack < self.snd.una {
            self.overtaken(packet, address, ctx);
        }
    }

    /// A later acknowledgement has come before this one. Where losses are found by time its blocks
    /// count all the same, and what they show to be lost goes as far as the window has room (Linux:
    /// `old_ack` in `tcp_ack`).
    fn overtaken(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let timed = self.snd.outstanding.log().is_some_and(|log| log.timed);
        if packet.ext.blocks().is_none() || !timed {
            return;
        }
        let early = self.snd.outstanding.deadline() < Time::NEVER;
        self.read_blocks(packet, ctx);
        if self.find_by_time(false, ctx) == Event::Loss {
            self.begin_recovery(false, ctx);
        }
        self.set_timer(false, early, ctx);
        self.send_more(address, ctx);
    }

    /// Notes which segments have arrived. Returns whether the acknowledgement's blocks have new ones.
    #[inline(always)]
    fn read_blocks(&mut self, packet: &Packet, ctx: &Ctx<'_>) -> bool {
        let (timestamps, now, max) = (ctx.class.tcp.timestamps, ctx.net.now, self.snd.max);
        let told = self.snd.outstanding.acknowledge(packet, max, timestamps, now);
        if self.snd.outstanding.log().is_some() {
            self.undo_by_timestamp(packet, ctx);
            self.on_record(packet, ctx);
        }
        told
    }

    /// An acknowledgement of nothing new: whether it may be a duplicate of what is outstanding.
    #[inline]
    fn is_duplicate(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        // a packet with data of its own is no duplicate acknowledgement (RFC 5681, 2)
        let counts = !packet.flags.has(Flags::DATA) || ctx.class.detector == Detector::Timed;
        if self.snd.una >= self.snd.nxt || !counts {
            return false;
        }
        self.hand_back(packet, false, ctx);
        if packet.number() > 0 {
            self.take_part(packet, address, ctx);
            return false;
        }
        true
    }

    /// Ends recovery, where this acknowledgement does, and asks what is lost.
    #[inline(always)]
    fn conclude(&mut self, kept: bool, ack: &Ack<'_>, ctx: &mut Ctx<'_>) -> LossVerdict {
        let was = self.snd.recovering;
        let all = self.snd.una >= self.snd.recover;
        let ends = was && ack.segments > 0 && (all || ctx.class.tcp.recovery == Recovery::Reno);
        // a control that keeps its window sees the state after the acknowledgement alone
        let unaware = ends && self.control.keeps_window();
        if unaware {
            self.snd.recovering = false;
        } else if ends {
            self.end_recovery();
        }
        if kept {
            self.end_mark();
        }
        let verdict = self.judge(ack, ctx);
        // what was sent in the recovery that ends, and is marked lost, begins the next one at once
        // (Linux: `tcp_time_to_recover`)
        let lacks = ends && self.snd.outstanding.log().is_some_and(|log| log.has_lost());
        if unaware {
            self.go_on_or_end(lacks);
        }
        let again = if lacks { Event::Loss } else { verdict.event };
        match if unaware { Event::Nothing } else { again } {
            Event::Nothing => {}
            Event::Loss => self.begin_recovery(verdict.again, ctx),
            Event::GoBack => self.go_back(ctx),
        }
        if kept && self.is_cut() && self.snd.outstanding.log().is_some() {
            self.spread(ack.segments > 0, ctx.class);
        }
        verdict
    }

    /// Passes the header of a packet from the receiver to the control.
    #[inline]
    pub(super) fn hand_back(&mut self, packet: &Packet, new: bool, ctx: &Ctx<'_>) {
        let (now, srtt) = (ctx.net.now, self.rto.srtt());
        let flags = packet.flags;
        self.control.on_feedback(&Feedback { ext: &packet.ext, now, srtt, new, flags });
    }

    /// The round trip that an acknowledgement of something new measures, if it does.
    #[inline]
    fn time(&mut self, kept: bool, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        let log = self.snd.outstanding.log().filter(|log| kept && log.timed);
        let sent = if let Some(log) = log {
            let now = ctx.net.now;
            let echoed = ctx.class.tcp.timestamps.then(|| now.saturating_sub(packet.sent));
            let Some(rtt) = log.ack_info.round_trip(echoed) else { return Time::ZERO };
            now.saturating_sub(rtt)
        } else if ctx.class.tcp.timestamps {
            packet.sent
        } else if self.rto.timing && packet.ack > self.rto.timed {
            self.rto.timing = false;
            self.rto.timed_at
        } else {
            return Time::ZERO;
        };
        self.sample_round_trip(sent, packet.ack, ctx)
    }

    /// The round trip that a new block measures where losses are found by time, and whether the
    /// timer starts anew: where what has arrived was sent before the oldest segment was sent last
    /// (Linux: `tcp_clean_rtx_queue`).
    fn time_block(&mut self, ctx: &mut Ctx<'_>) -> (Time, bool) {
        let now = ctx.net.now;
        let log = self.snd.outstanding.log().filter(|log| log.timed);
        let Some(log) = log.filter(|log| log.ack_info.block_rtt > Time::ZERO) else {
            return (Time::ZERO, false);
        };
        let rtt = log.ack_info.block_rtt;
        let restarts = rtt > now.saturating_sub(log.oldest_sent());
        self.sample_round_trip(now.saturating_sub(rtt), self.snd.una, ctx);
        (rtt, restarts)
    }

    /// Counts the round trip of a segment sent at `sent`, with an acknowledgement up to `acked`.
    fn sample_round_trip(&mut self, sent: Time, acked: u32, ctx: &mut Ctx<'_>) -> Time {
        let max = self.snd.max;
        let log = self.snd.outstanding.log_mut();
        let progress = log.map(|log| Progress { round: &mut log.round, acked, sent: max });
        self.rto.sample(sent, ctx.net.now, progress, ctx.class);
        let rtt = ctx.net.now.saturating_sub(sent);
        ctx.class.rtts.add(ctx.net.now, rtt);
        rtt
    }

    /// What the record of the times of sending has learnt.
    fn on_record(&mut self, packet: &Packet, ctx: &Ctx<'_>) {
        let Some(log) = self.snd.outstanding.log_mut() else { return };
        if log.ack_info.spurious {
            self.control.on_spurious();
        }
        log.losing &= packet.ack < self.snd.recover;
        let data = packet.flags.has(Flags::DATA);
        let again = packet.ack == self.snd.una && packet.number() == 0;
        let plain = again && packet.ext.blocks().is_none() && !data;
        if log.tlp.repaired(packet.ack, plain) && !self.snd.recovering {
            // RFC 8985, 7.4.2: the probe has repaired a loss
            self.on_loss(ctx);
            let window = self.window();
            self.control.on_recovered(window);
        }
        self.tell_losses(ctx);
    }

    /// Tells a control that asks for it which segments are newly marked lost, and what has become
    /// of packets.
    pub(super) fn tell_losses(&mut self, ctx: &Ctx<'_>) {
        let Some(log) = self.snd.outstanding.log_mut() else { return };
        if let Some(list) = log.heard.outcomes.as_mut().filter(|list| !list.is_empty()) {
            self.control.on_outcomes(list, ctx.net.now);
            list.clear();
        }
        if let Some(list) = log.heard.lost.as_mut().filter(|list| !list.is_empty()) {
            for lost in list.drain(..) {
                self.control.on_lost(&lost, ctx.net.now);
            }
        }
    }

    /// All has arrived.
    fn close(&mut self, ctx: &mut Ctx<'_>) {
        ctx.row.closed = ctx.net.now;
        self.state = State::Closed;
        self.deadline = Time::NEVER;
        self.snd.outstanding.close();
        self.give_up = Time::NEVER;
    }

    /// An acknowledgement of a part of the oldest segment: the control hears of it, and nothing is
    /// delivered, lost or repaired by it.
    #[cold]
    fn take_part(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        let sample = self.sample(packet, 0, Time::ZERO, self.snd.recovering, ctx);
        self.control.on_part(&sample);
        self.send_more(address, ctx);
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
            una: self.whole(self.snd.una),
            sent: self.whole(self.snd.max),
            flight: self.snd.flight(),
            srtt: self.rto.srtt(),
            rtt,
            recovering,
            marked: packet.flags.has(Flags::ECE) && ctx.class.ecn == Ecn::Classic,
            unused: false,
            any_order: false,
            ext: &packet.ext,
            rate: None,
        }
    }

    /// Reports an acknowledgement to the control: one of new segments, or of new blocks to a control
    /// that counts deliveries.
    #[inline(always)]
    fn report(&mut self, kept: bool, mut sample: RateSample<'_>, ctx: &Ctx<'_>) {
        if let Some(log) = self.snd.outstanding.log().filter(|_| kept) {
            let ack_info = &log.ack_info;
            let counts =
                if log.timed { ack_info.delivered > 0 } else { self.control.samples_rate() };
            if sample.segments == 0 && !counts {
                return;
            }
            if ctx.class.sack() {
                sample.delivered = ack_info.delivered;
            }
            sample.any_order = ctx.class.tcp.timer_rule.of_linux() && log.rack.reorders_much();
            if ack_info.rtt > Time::ZERO {
                sample.rtt = ack_info.rtt;
            }
            if self.control.samples_rate() {
                sample.rate = Some(self.delivery_rate(log, ctx.class));
            }
        } else if sample.segments == 0 {
            return;
        }
        self.control.on_ack(&sample);
        if kept && self.control.holds_back() {
            let pipe = self.pipe(ctx.class);
            if let Some(log) = self.snd.outstanding.log_mut() {
                log.delivery.limit(pipe);
            }
        }
    }

    /// The sample of the delivery rate for a control that asks for it.
    fn delivery_rate(&self, log: &SentLog, class: &ClassParams) -> DeliveryRate {
        let ack_info = &log.ack_info;
        let pipe = self.pipe(class);
        let sampled = ack_info.sampled.as_ref();
        DeliveryRate {
            delivered: sampled.map_or(0, |sampled| sampled.delivered),
            interval: sampled.map_or(Time::ZERO, |sampled| sampled.interval),
            limited: sampled.is_some_and(|sampled| sampled.limited),
            before: sampled.map_or(0, |sampled| sampled.before),
            total: log.delivery.total(),
            flight: (pipe + ack_info.delivered + ack_info.losses, pipe),
            losses: ack_info.losses,
            lost: log.delivery.counts().lost,
            sent_with: sampled.map_or((0, 0), |sampled| (sampled.in_flight, sampled.lost)),
        }
    }

    /// Sends what an acknowledgement lets out: the oldest segment `again`, whatever the window, and
    /// then what `sends` says.
    #[inline(always)]
    fn answer(&mut self, again: bool, sends: Sends, address: &Address, ctx: &mut Ctx<'_>) {
        if again {
            self.transmit(self.snd.una, address, ctx);
        }
        match sends {
            Sends::Window => self.send_more(address, ctx),
            Sends::One => self.send_one(address, ctx),
            Sends::Nothing => {}
        }
    }
}

/// Segments that an acknowledgement number is the first to tell of. Without SACK each duplicate has
/// told of one, and the number has at least one more (Linux: `tcp_remove_reno_sacks`).
#[inline(always)]
fn segments_delivered(segments: u32, duplicates: u32, class: &ClassParams) -> u32 {
    if duplicates > 0 && segments > 0 && class.tcp.loss_rule == LossRule::Linux {
        segments.saturating_sub(duplicates).max(1)
    } else {
        segments
    }
}
