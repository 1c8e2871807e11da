//! What a sender has to send: bytes cut into segments, and where they end.

use tidegate_core::units::Time;
use tidegate_model::profile::LossRule;

use crate::rows::UNLIMITED;

use super::super::control::{Control, Payloads};
use super::super::receive_window::Memory;
use super::super::receiver::Address;
use super::super::sent_log::SentLog;
use super::super::{ClassParams, Ctx, SenderState, Snapshot};
use super::{Sender, State};

impl<C: Control + Payloads> Sender<C> {
    /// Cuts `size` bytes into segments.
    pub(crate) fn load(&mut self, size: u64, class: &ClassParams) {
        self.edge = class.memory.as_ref().map_or(u32::MAX, Memory::first);
        let hears = self.control.samples_rate() || self.control.hears_packets();
        if class.tracks_segments() || hears {
            let mut log = SentLog::new(class.tcp.rack);
            log.heard.lost = self.control.hears_losses().then(Vec::new);
            log.heard.outcomes = self.control.hears_packets().then(Vec::new);
            self.snd.outstanding.keep_times(log);
        }
        let mss = u64::from(class.tcp.mss);
        if size == UNLIMITED {
            self.last_payload = class.tcp.mss as u16;
            return;
        }
        self.snd.total = size.div_ceil(mss).min(u64::from(u32::MAX) - 2) as u32;
        self.last_payload = (size - (u64::from(self.snd.total) - 1) * mss).min(mss) as u16;
        let rides = class.tcp.fin_rides && (!class.tcp.fin_waits || self.last_alone(class));
        self.snd.end = self.snd.total + u32::from(!rides || class.tcp.send_buffer > 0);
    }

    /// Whether the receiver offers all; if not, nothing until it tells of more.
    #[cfg(test)]
    pub(crate) fn is_offered_all(&mut self, all: bool) {
        if all || self.edge == u32::MAX {
            self.edge = if all { u32::MAX } else { 0 };
        }
    }

    /// The connection is open, and the application begins to write.
    pub(super) fn begin_to_write(&mut self, ctx: &Ctx<'_>) {
        if ctx.class.tcp.loss_rule == LossRule::Linux
            && let Some(log) = self.snd.outstanding.log_mut()
        {
            log.delivery.open();
        }
        self.write_on(Time::ZERO, ctx);
    }

    /// The application goes on writing into the socket, and closes it once all is there. `later`:
    /// how long it takes to begin.
    #[inline]
    pub(super) fn write_on(&mut self, later: Time, ctx: &Ctx<'_>) {
        let windows = ctx.class.tcp.send_buffer;
        if windows == 0 || self.snd.total == u32::MAX {
            return;
        }
        let (window, left) = (self.control.cwnd() as u32, self.snd.total - self.snd.una);
        if let Some(log) = self.snd.outstanding.log_mut() {
            log.socket.take(windows, window, left, ctx.net.now + later);
        }
    }

    /// The application closes the socket now, which has taken all.
    pub(super) fn close_socket(&mut self, now: Time, class: &ClassParams) {
        if class.tcp.send_buffer > 0
            && let Some(log) = self.snd.outstanding.log_mut()
        {
            log.socket.close(now);
        }
    }

    /// Whether the last segment, which leaves now, carries the FIN: it waited when the application
    /// closed the socket (Linux: `tcp_send_fin`).
    pub(super) fn takes_fin_along(&self, ctx: &Ctx<'_>) -> bool {
        let tcp = &ctx.class.tcp;
        let closed = |log: &SentLog| log.socket.is_closed(ctx.net.now);
        tcp.fin_rides && !tcp.fin_waits && self.snd.outstanding.log().is_some_and(closed)
    }

    /// Whether the last segment is one that is sent with nothing outstanding:
    /// FullTcp closes right behind it.
    fn last_alone(&self, class: &ClassParams) -> bool {
        self.snd.total == 1 || (class.tcp.nagle && u32::from(self.last_payload) < class.tcp.mss)
    }

    /// Whether the FIN is due as a packet of its own behind a last segment that
    /// was sent alone; no window holds it back.
    #[inline]
    pub(super) fn fin_follows(&self, class: &ClassParams) -> bool {
        !class.tcp.fin_rides
            && self.snd.nxt == self.snd.total
            && self.snd.una + 1 == self.snd.total
            && self.last_alone(class)
    }

    /// How the flow stands for this end; it does not know what was delivered.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let srtt = self.rto.srtt();
        Snapshot {
            cwnd: self.control.cwnd(),
            srtt: (srtt > Time::ZERO).then_some(srtt),
            flight: f64::from(self.snd.flight()),
            delivered: 0,
        }
    }

    /// The same, and what only the sender knows.
    pub(crate) fn state(&self, class: &ClassParams) -> SenderState {
        let Snapshot { cwnd, srtt, .. } = self.snapshot();
        let before = |segment: u32| self.bytes_of(segment.min(self.snd.total), class);
        let acked = before(self.snd.una);
        SenderState {
            cwnd,
            // `initial_ssthresh = "none"` is the largest number
            ssthresh: self.control.ssthresh().filter(|&most| most < f64::from(u32::MAX)),
            srtt,
            flight: before(self.snd.nxt) - acked,
            acked,
            retransmitted: self.retransmitted,
        }
    }

    /// Opens an upload: with its first SYN, or without a handshake at once.
    pub(crate) fn begin(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        if ctx.class.tcp.handshake {
            return self.send_syn(address, ctx);
        }
        (ctx.row.admitted, ctx.row.reached) = (ctx.net.now, ctx.net.now);
        self.state = State::Open;
        self.begin_to_write(ctx);
        self.send_more(address, ctx);
    }

    /// No more data is handed in: what was sent is all there is.
    pub(crate) fn stop(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        if self.snd.total == u32::MAX {
            self.snd.total = self.snd.max.max(1);
            self.snd.end = self.snd.total + 1;
            if self.state == State::Open {
                self.send_more(address, ctx);
            }
        }
    }

    /// Bytes that there are to send; `u64::MAX`: without end.
    pub(crate) fn bytes(&self, class: &ClassParams) -> u64 {
        if self.snd.total == u32::MAX { UNLIMITED } else { self.bytes_of(self.snd.total, class) }
    }

    /// Behind the last sequence number, that of the FIN included.
    pub(crate) fn end(&self) -> u32 {
        if self.snd.total == u32::MAX { u32::MAX } else { self.snd.end }
    }

    /// Bytes that `segments` in-order segments carry.
    pub(crate) fn bytes_of(&self, segments: u32, class: &ClassParams) -> u64 {
        let full = self.whole(segments) * u64::from(class.tcp.mss) - self.control.lacking(segments);
        if segments < self.snd.total || segments == 0 {
            return full;
        }
        full - u64::from(class.tcp.mss) + u64::from(self.last_payload)
    }
}
