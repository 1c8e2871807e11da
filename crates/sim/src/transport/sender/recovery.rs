//! What a loss and a mark do to the window. A sender responds to marks (RFC 3168, 6.1.2) as to a
//! loss, but nothing has to be sent again.
//!
//! ECN is a setting of the class for both ends, so the handshake does not
//! negotiate it. Where the receiver counts marks the control reads the count itself.

use tidegate_core::packet::{Flags, Packet};
use tidegate_model::control::Ecn;

use super::super::control::{CongestionEvent, Control, Counts, Payloads, Signal, dctcp};
use super::super::{ClassParams, Ctx};
use super::snd::Snd;
use super::{Detector, Sender};

impl<C: Control + Payloads> Sender<C> {
    /// The window in force: that of the control plus what duplicates add.
    #[inline]
    pub(super) fn window(&self) -> f64 {
        self.control.cwnd() + self.snd.inflation
    }

    /// What a control learns of a sign of congestion.
    pub(super) fn congestion_event(&self, ctx: &Ctx<'_>) -> CongestionEvent {
        // RFC 5681, 3.2 step 2: segments that limited transmit has sent do not count
        let flight = self.snd.flight() - u32::from(self.snd.extra);
        CongestionEvent {
            now: ctx.net.now,
            flight,
            window: self.window(),
            sent: self.whole(self.snd.max),
            counts: self.counts(),
        }
    }

    /// What the connection has counted.
    pub(super) fn counts(&self) -> Counts {
        self.snd.outstanding.log().map_or_else(Counts::default, |log| log.delivery.counts())
    }

    /// An acknowledgement that may echo a mark.
    ///
    /// The window is cut once for all marks and losses of one round trip: an
    /// acknowledgement of segments sent before the last cut does not cut it again.
    #[inline]
    pub(super) fn on_ecn_echo(&mut self, packet: &Packet, ctx: &Ctx<'_>) {
        let echo = packet.flags.has(Flags::ECE) && ctx.class.ecn == Ecn::Classic;
        if !echo || self.snd.recovering {
            return;
        }
        if packet.ack > self.mark_cut.max(self.snd.recover) {
            self.mark_cut = self.snd.max;
            self.tell_mark = true;
            if ctx.class.tcp.prr
                && ctx.class.detector == Detector::Timed
                && !self.control.keeps_window()
            {
                self.snd.outstanding.begin_by_mark(self.control.cwnd().max(1.0) as u32);
            }
            self.control.on_congestion(Signal::Mark, &self.congestion_event(ctx));
        }
    }

    /// Once more than what was sent before a mark has arrived, its cut is over (Linux:
    /// `tcp_end_cwnd_reduction` in `tcp_fastretrans_alert`).
    pub(super) fn end_mark(&mut self) {
        if self.snd.una > self.mark_cut
            && let Some(log) = self.snd.outstanding.log_mut()
        {
            log.prr.end_mark();
        }
    }

    /// Whether a cut of the window is under way.
    pub(super) fn is_cut(&self) -> bool {
        self.snd.recovering || self.snd.outstanding.spreads_mark()
    }

    /// Losses are detected; in a window that a mark has cut they do not cut it again.
    pub(super) fn on_loss(&mut self, ctx: &Ctx<'_>) {
        let cut = self.snd.una < self.mark_cut;
        let signal = if cut { Signal::LossAfterMark } else { Signal::Loss };
        self.control.on_congestion(signal, &self.congestion_event(ctx));
        self.tell_of_cut(ctx.class);
    }

    /// The next new data packet carries CWR, whatever the reason of the cut.
    pub(super) fn tell_of_cut(&mut self, class: &ClassParams) {
        self.tell_mark = class.ecn == Ecn::Classic;
    }

    /// Flags of a data packet that is sent for the first time. Other packets are not
    /// ECN-capable (RFC 3168, 6.1.1, 6.1.4, 6.1.5).
    #[inline]
    pub(super) fn mark_flags(&mut self, class: &ClassParams) -> Flags {
        match class.ecn {
            Ecn::None => Flags::NONE,
            Ecn::Classic if std::mem::take(&mut self.tell_mark) => Flags::ECT.with(Flags::CWR),
            Ecn::Classic | Ecn::Counted => Flags::ECT,
            Ecn::L4s => Flags::ECT.with(Flags::L4S),
        }
    }

    /// Recovery begins: the window is cut. `first`: the oldest segment is sent again, whatever
    /// the window (RFC 6675, section 5, step 4.3).
    pub(super) fn begin_recovery(&mut self, first: bool, ctx: &Ctx<'_>) {
        self.snd.after_timeout = false;
        self.snd.recover = self.snd.max;
        self.snd.recovering = true;
        self.snd.partial = false;
        let window = self.control.cwnd().max(1.0) as u32;
        self.note_cut(self.snd.una < self.mark_cut, false, ctx);
        self.on_loss(ctx);
        let sack = ctx.class.sack();
        // RFC 5681, 3.2 step 3
        self.snd.inflation = if sack { 0.0 } else { 3.0 };
        self.snd.begin_repair(first, window, sack);
        self.snd.extra = 0;
        if ctx.class.detector != Detector::Timed {
            self.restart_timer(ctx);
        }
    }

    /// The window is about to be cut: what it was, in case that this was not needed (Linux:
    /// `tcp_init_undo`). `cut`: it is being cut already; `repairs`: something is being sent again.
    pub(super) fn note_cut(&mut self, cut: bool, repairs: bool, ctx: &Ctx<'_>) {
        if !ctx.class.tcp.undo || cut {
            return;
        }
        let undoes = self.control.undoes();
        let before = match self.control.window_and_threshold() {
            Some([&mut window, &mut ssthresh]) => [window, ssthresh.max(0.75 * window)],
            None if undoes => [0.0; 2],
            None => return,
        };
        if let Some(log) = self.snd.outstanding.log_mut() {
            log.note_cut(before, repairs);
        }
    }

    /// An acknowledgement of something new whose timestamp tells that nothing was lost: window and
    /// threshold are what they were, and nothing counts as lost any more (Linux:
    /// `tcp_try_undo_loss`, `tcp_try_undo_partial`, `tcp_try_undo_recovery`). After an echo of a mark
    /// the window stays cut (`tcp_fastretrans_alert`, A). Where marks are counted, one bit of the
    /// counter is that of an echo, and a counter that is another tells of marks
    /// (`tcp_accecn_process`).
    ///
    /// Departure: where a repetition is under way in recovery, Linux lets out new data alone by such
    /// an acknowledgement. Here it is one like others.
    pub(super) fn undo_by_timestamp(&mut self, packet: &Packet, ctx: &Ctx<'_>) {
        // what was overtaken tells nothing of now (`old_ack` of `tcp_ack`)
        if !ctx.class.tcp.undo || packet.ack < self.snd.una {
            return;
        }
        let Snd { una, recover, recovering, .. } = self.snd;
        let Some((arrived, log)) = self.snd.outstanding.times() else { return };
        let marked = match ctx.class.ecn {
            Ecn::None => false,
            Ecn::Classic => packet.flags.has(Flags::ECE),
            Ecn::Counted | Ecn::L4s => log.counts_marks(dctcp::counter(packet.flags)),
        };
        if marked {
            log.keep_cut();
        }
        if packet.ack <= una {
            return;
        }
        let partial = recovering && packet.ack < recover;
        let repairs = recovering || log.losing;
        if !repairs || !log.is_needless(packet.sent) || (partial && log.has_again()) {
            return;
        }
        log.unmark(arrived);
        let before = log.take_cut();
        self.snd.recovering = false;
        self.snd.recover = una;
        self.snd.inflation = 0.0;
        if let Some(before) = before {
            self.control.on_undone(before);
        }
    }

    /// All that was outstanding when recovery began is acknowledged.
    pub(super) fn end_recovery(&mut self) {
        self.snd.recovering = false;
        let window = self.window();
        self.snd.inflation = 0.0;
        self.control.on_recovered(window);
    }

    /// Recovery ends with an acknowledgement, or goes on with the next one if something is lost, of
    /// which a control that keeps its window sees nothing (Linux: `prev_ca_state` of `tcp_bbr`).
    pub(super) fn go_on_or_end(&mut self, lacks: bool) {
        if lacks {
            self.snd.recovering = true;
            self.snd.recover = self.snd.max;
        } else {
            self.end_recovery();
        }
    }

    /// Starts again from the oldest unacknowledged segment.
    ///
    /// Whatever else the receiver holds is sent again too, until it says so:
    /// its acknowledgement then moves the next segment on.
    pub(super) fn go_back(&mut self, ctx: &Ctx<'_>) {
        self.control.on_congestion(Signal::Loss, &self.congestion_event(ctx));
        self.snd.inflation = 0.0;
        self.snd.recover = self.snd.max;
        self.snd.dup_acks = 0;
        self.rto.timing = false;
        self.snd.nxt = self.snd.una;
        // the timer starts with the first segment that the pace lets go
        self.deadline = tidegate_core::units::Time::NEVER;
    }

    /// Updates how much may be sent in recovery (PRR, RFC 9937); `safe`: the acknowledgement
    /// advances SND.UNA and tells of no loss.
    pub(super) fn spread(&mut self, safe: bool, class: &ClassParams) {
        if !self.is_spread(class) {
            return;
        }
        let ssthresh = self.control.cwnd().max(1.0) as u32;
        let pipe = self.pipe(class);
        if let Some(log) = self.snd.outstanding.log_mut() {
            let safe = safe && log.ack_info.losses == 0;
            log.prr.on_ack(log.ack_info.delivered, safe, pipe, ssthresh);
        }
    }

    /// Whether PRR says what may leave while the window is cut; if not, the control's window does.
    fn is_spread(&self, class: &ClassParams) -> bool {
        class.tcp.prr && !self.control.keeps_window()
    }

    /// Segments that may be in the network where losses are repaired first.
    pub(super) fn room(&self, class: &ClassParams) -> u32 {
        match self.snd.outstanding.log() {
            Some(log) if self.is_cut() && self.is_spread(class) => log.prr.window(),
            _ => self.control.cwnd().max(1.0) as u32,
        }
    }
}
