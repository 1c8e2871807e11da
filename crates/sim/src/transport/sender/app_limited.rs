//! A sender whose application hands in data in parts.

use super::super::control::AppLimited;
use super::super::receiver::Address;
use super::super::{ClassParams, Ctx};
use super::Sender;

impl Sender<AppLimited> {
    /// There is nothing to send until the application hands in data.
    pub(crate) fn wait_for_data(&mut self) {
        self.end = 0;
    }

    /// The application hands in full segments; `last`: they are the last ones, and the
    /// connection closes after them.
    pub(crate) fn hand_in(
        &mut self,
        segments: u32,
        last: bool,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) {
        if self.flight() == 0 {
            let rto = self.rto.timeout(ctx.class, false);
            self.control.idle_restart(ctx.net.now, rto, &ctx.class.tcp);
        }
        self.end += segments;
        if last {
            self.end_at(self.end, ctx.class);
        }
        self.send_more(address, ctx);
    }

    /// The data ends after so many full segments.
    fn end_at(&mut self, total: u32, class: &ClassParams) {
        self.total = total;
        self.end = total + u32::from(!class.tcp.fin_rides || class.tcp.fin_waits);
    }
}
