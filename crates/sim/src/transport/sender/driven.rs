//! A sender whose application hands in data in parts.

use tidegate_core::units::Time;

use super::super::control::{AppLimited, Control};
use super::super::receiver::Address;
use super::super::{ClassParams, Ctx};
use super::{Sender, State};

/// Data that an application hands in at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Segments; all but the last are full.
    pub(crate) segments: u32,
    /// What the last lacks of a full one, in bytes.
    pub(crate) lacking: u32,
    /// Whether the connection closes after it.
    pub(crate) last: bool,
}

impl Part {
    /// So many bytes in segments of `mss`, at least one.
    pub(crate) fn of(bytes: u64, mss: u32, last: bool) -> Part {
        let segments = bytes.div_ceil(mss.into()).max(1);
        let lacking = segments * u64::from(mss) - bytes.max(1);
        Part { segments: segments as u32, lacking: lacking as u32, last }
    }
}

impl Sender<AppLimited> {
    /// There is nothing to send until the application hands in data.
    pub(crate) fn wait_for_data(&mut self) {
        self.snd.end = 0;
    }

    /// Whether what is handed in may be sent.
    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Segments that are known to have arrived, up to the first hole.
    pub(crate) fn acked(&self) -> u32 {
        self.snd.una
    }

    /// Segments that were handed in so far.
    pub(crate) fn handed_in(&self) -> u32 {
        self.snd.end.min(self.snd.total)
    }

    /// The application hands in data.
    pub(crate) fn hand_in(&mut self, part: Part, address: &Address, ctx: &mut Ctx<'_>) {
        if self.snd.flight() == 0 {
            let rto = self.rto.timeout(ctx.class, false);
            self.control.idle_restart(ctx.net.now, rto, &ctx.class.tcp);
        }
        self.look_for_too_little(ctx.class);
        self.snd.end += part.segments;
        if part.last {
            self.last_payload = (ctx.class.tcp.mss - part.lacking) as u16;
            self.end_at(self.snd.end, ctx.net.now, ctx.class);
        } else {
            self.control.shorten(self.snd.end, part.lacking);
        }
        let before = self.snd.max;
        self.send_more(address, ctx);
        if self.snd.max > before && !self.is_cut() {
            let rto = self.rto.timeout(ctx.class, false);
            self.control.shrink(ctx.net.now, rto, &ctx.class.tcp);
        }
    }

    /// Marks the sender application-limited if all that was handed in is on its way and the window
    /// has room (Linux: `tcp_rate_check_app_limited`).
    fn look_for_too_little(&mut self, class: &ClassParams) {
        if !self.control.samples_rate() {
            return;
        }
        let (pipe, room) = (self.pipe(class), self.room(class));
        if self.snd.nxt >= self.snd.end
            && !self.snd.has_due()
            && pipe < room
            && let Some(log) = self.snd.outstanding.log_mut()
        {
            log.delivery.limit(pipe);
        }
    }

    /// The application closes the connection: what was handed in is all. The FIN is a packet of
    /// its own.
    pub(crate) fn close_now(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        let total = self.snd.end;
        self.last_payload = (ctx.class.tcp.mss - self.control.lengthen(total)) as u16;
        self.snd.total = total;
        self.snd.end = total + 1;
        self.close_socket(ctx.net.now, ctx.class);
        self.send_more(address, ctx);
    }

    /// The data ends after so many segments, which are all handed in now.
    fn end_at(&mut self, total: u32, now: Time, class: &ClassParams) {
        let tcp = &class.tcp;
        self.snd.total = total;
        let apart = !tcp.fin_rides || tcp.fin_waits || tcp.send_buffer > 0;
        self.snd.end = total + u32::from(apart);
        self.close_socket(now, class);
    }
}
