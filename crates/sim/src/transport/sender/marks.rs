//! What a control learns of congestion. A sender responds to marks (RFC 3168, 6.1.2) as to a
//! loss, but nothing has to be sent again.
//!
//! ECN is a setting of the class for both ends, so the handshake does not
//! negotiate it. Where the receiver counts marks the control reads the count itself.

use tidegate_core::packet::{Flags, Packet};
use tidegate_model::control::Ecn;

use super::super::control::{CongestionEvent, Control, Payloads, Signal};
use super::super::{ClassParams, Ctx};
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// The window in force: that of the control plus what duplicates add.
    #[inline]
    pub(super) fn window(&self) -> f64 {
        self.control.cwnd() + self.inflation
    }

    /// What a control learns of a sign of congestion.
    pub(super) fn congestion_event(&self, ctx: &Ctx<'_>) -> CongestionEvent {
        // RFC 5681, 3.2 step 2: segments that limited transmit has sent do not count
        let flight = self.flight() - u32::from(self.extra);
        CongestionEvent { now: ctx.net.now, flight, window: self.window(), sent: self.max }
    }

    /// An acknowledgement that may echo a mark.
    ///
    /// The window is cut once for all marks and losses of one round trip: an
    /// acknowledgement of segments sent before the last cut does not cut it again.
    #[inline]
    pub(super) fn on_ecn_echo(&mut self, packet: &Packet, ctx: &Ctx<'_>) {
        if !packet.flags.has(Flags::ECE) || self.recovering || ctx.class.ecn != Ecn::Classic {
            return;
        }
        if packet.ack > self.mark_cut.max(self.recover) {
            self.mark_cut = self.max;
            self.tell_mark = true;
            self.control.on_congestion(Signal::Mark, &self.congestion_event(ctx));
        }
    }

    /// Losses are detected; in a window that a mark has cut they do not cut it again.
    pub(super) fn on_loss(&mut self, ctx: &Ctx<'_>) {
        let cut = self.una < self.mark_cut;
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
}
