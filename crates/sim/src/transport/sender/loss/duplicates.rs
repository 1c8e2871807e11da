//! Duplicate acknowledgements: the third begins recovery, in which holes are sent again
//! (RFC 5681, 6582; RFC 6675 with SACK; ns-2's rules).
//!
//! A duplicate says that a packet has left the network. In recovery without
//! SACK the window grows by one for each, and shrinks again by what a partial
//! acknowledgement covers (RFC 5681, 3.2 steps 3 and 4; RFC 6582, 3.2 step 3).
//! With SACK the segments in the network are counted instead (RFC 6675), from the blocks in the
//! record of outstanding segments (`sack.rs`).

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;
use tidegate_model::profile::{LossRule, Recovery};

use super::super::super::control::{Control, Payloads};
use super::super::super::receiver::Address;
use super::super::super::{ClassParams, Ctx};
use super::super::Sender;
use super::detector::{Ack, LossDetector};

/// By duplicate acknowledgements and blocks: of every transport that brings no other detector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicates;

impl<C: Control + Payloads> LossDetector<C> for Duplicates {
    fn on_duplicate(self, sender: &mut Sender<C>, ack: &Ack<'_>, ctx: &mut Ctx<'_>) {
        let Ack { packet, told, address } = *ack;
        sender.dup_acks += u32::from(counts(told, ctx.class));
        sender.inflate(ctx.class);
        if sender.recovering {
            sender.report_rate(packet, ctx);
            sender.send_more(address, ctx);
        } else {
            sender.duplicate(packet, told, address, ctx);
        }
    }

    /// A full or a partial acknowledgement.
    fn on_recovery_ack(
        self,
        sender: &mut Sender<C>,
        segments: u32,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) {
        let recovery = ctx.class.tcp.recovery;
        if recovery == Recovery::Reno || sender.una >= sender.recover {
            sender.recovering = false;
            let window = sender.window();
            sender.inflation = 0.0;
            sender.control.on_recovered(window);
            sender.restart_by_ack(ctx);
            return;
        }
        sender.deflate(segments, ctx.class);
        // RFC 6582, 3.2 step 3: only the first partial acknowledgement restarts the timer
        if !sender.partial || recovery == Recovery::Sack {
            sender.partial = true;
            sender.restart_by_ack(ctx);
        }
        if recovery == Recovery::NewReno {
            sender.outstanding.lost_one(sender.una);
            sender.transmit(sender.una, address, ctx);
        }
    }

    #[inline]
    fn repair(self, sender: &mut Sender<C>, address: &Address, ctx: &mut Ctx<'_>) -> bool {
        let by_blocks = sender.recovering && ctx.class.sack();
        if by_blocks {
            sender.send_sack(address, ctx);
        }
        by_blocks
    }

    #[inline]
    fn pipe(self, sender: &Sender<C>, class: &ClassParams) -> u32 {
        if sender.recovering && class.sack() {
            return sender.outstanding.pipe(sender.una, sender.nxt);
        }
        sender.flight().saturating_sub(sender.dup_acks)
    }
}

/// Whether a duplicate counts towards the detection of a loss. With SACK it has to carry a
/// new block (RFC 6675, section 2); in ns-2 every one counts.
///
/// By RFC 6675 an acknowledgement that advances and carries a new block counts too. Here it
/// does not: after two more duplicates three segments above the hole have arrived, and this
/// alone begins recovery (section 5, step 2).
fn counts(told: bool, class: &ClassParams) -> bool {
    told || !class.sack() || class.tcp.loss_rule != LossRule::Rfc
}

impl<C: Control + Payloads> Sender<C> {
    /// RFC 6582, 3.2 step 3: deflates the window by the segments acknowledged, less the one
    /// sent again.
    fn deflate(&mut self, segments: u32, class: &ClassParams) {
        if !class.sack() {
            let window = (self.window() - f64::from(segments) + 1.0).max(1.0);
            self.inflation = window - self.control.cwnd();
        }
    }

    /// A duplicate outside of recovery. A control that samples the delivery rate hears of it after
    /// the begin of recovery and before anything is sent.
    fn duplicate(&mut self, packet: &Packet, told: bool, address: &Address, ctx: &mut Ctx<'_>) {
        let lost = self.dup_acks == 3
            || (told && self.outstanding.known().is_some_and(|known| known.lost(self.una)));
        if !lost {
            self.report_rate(packet, ctx);
            if self.control.limited_transmit() {
                self.send_more(address, ctx);
            } else if ctx.class.tcp.limited_transmit && (told || !ctx.class.sack()) {
                self.send_one(address, ctx);
            }
            return;
        }
        let means_nothing = match ctx.class.tcp.loss_rule {
            LossRule::FullTcp => self.after_timeout && self.una <= self.recover,
            // RFC 6582, 4: duplicates of what was outstanding at the last loss are ignored
            LossRule::Rfc => self.una < self.recover,
            LossRule::OneWay => self.una <= self.recover,
        };
        if means_nothing {
            // FullTcp repairs nothing that it sent before a timeout, but inflates its window as if
            // it did
            self.recovering = ctx.class.tcp.loss_rule == LossRule::FullTcp && !ctx.class.sack();
            return self.report_rate(packet, ctx);
        }
        self.begin_recovery(packet, address, ctx);
        // an acknowledgement that a repair has delayed is no sample of the round trip (ns-2)
        self.rto.timing &= ctx.class.tcp.loss_rule != LossRule::OneWay;
        if ctx.class.tcp.loss_rule != LossRule::FullTcp {
            self.send_more(address, ctx);
        }
    }

    /// Reports the delivery rate at a duplicate to a control that asks for it.
    fn report_rate(&mut self, packet: &Packet, ctx: &Ctx<'_>) {
        if self.control.samples_rate() {
            self.report(packet, 0, Time::ZERO, self.recovering, ctx);
        }
    }

    /// Fast recovery begins: the window is cut, and the first hole is sent again.
    fn begin_recovery(&mut self, packet: &Packet, address: &Address, ctx: &mut Ctx<'_>) {
        self.after_timeout = false;
        self.recover = self.max;
        self.recovering = true;
        self.partial = false;
        self.on_loss(ctx);
        let sack = ctx.class.sack();
        // RFC 5681, 3.2 step 3
        self.inflation = if sack { 0.0 } else { 3.0 };
        self.outstanding.begin_recovery(self.una, self.flight(), sack);
        self.extra = 0;
        self.report_rate(packet, ctx);
        self.transmit(self.una, address, ctx);
        self.outstanding.repaired_first(self.una);
        self.restart_timer(ctx);
        if self.outstanding.log().is_some() {
            self.spread(ctx.class);
        }
    }

    /// Limited transmit: one new segment for each of the first two duplicates (RFC 3042;
    /// RFC 5681, 3.2 step 1), with SACK only if it has a new block.
    fn send_one(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let window = self.control.cwnd() + f64::from(self.dup_acks);
        let fits = self.nxt - self.una < ctx.class.window()
            && f64::from(self.nxt - self.una + 1) <= window;
        // ns-2's agents do not ask whether it was sent before a timeout
        let new = self.nxt == self.max || ctx.class.tcp.loss_rule == LossRule::OneWay;
        if self.dup_acks < 3 && fits && new && self.may_send(address, ctx) {
            let seq = self.nxt;
            self.nxt += 1;
            self.extra += 1;
            self.transmit(seq, address, ctx);
        }
    }

    /// Recovery with SACK (RFC 6675, section 5, step C), as far as the pipe has room.
    fn send_sack(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        loop {
            let pipe = self.outstanding.pipe(self.una, self.nxt);
            if pipe >= self.window_in_recovery(ctx.class) {
                return;
            }
            let Some(seq) = self.next_seg(address, ctx) else { return };
            self.transmit(seq, address, ctx);
        }
    }

    /// What goes next in recovery with SACK: NextSeg of RFC 6675, section 4.
    fn next_seg(&mut self, address: &Address, ctx: &mut Ctx<'_>) -> Option<u32> {
        // (1) what is lost
        if self.outstanding.known()?.repairs(self.una) {
            let paced = self.pace_allows(address, ctx);
            return self.outstanding.known().filter(|_| paced)?.next_repair(self.una);
        }
        // (2) what is new
        if self.nxt - self.una < ctx.class.window() && self.may_send(address, ctx) {
            self.nxt += 1;
            return Some(self.nxt - 1);
        }
        // (3) what may be lost, and (4) the tail: both keep acknowledgements coming
        if !self.pace_allows(address, ctx) {
            return None;
        }
        let (una, nxt, recover) = (self.una, self.nxt, self.recover);
        let known = self.outstanding.known()?;
        known.next_doubtful(una).or_else(|| known.rescue(una, nxt, recover))
    }
}
