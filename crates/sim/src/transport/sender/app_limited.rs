//! A sender that gets its data bit by bit.

use super::super::control::AppLimited;
use super::super::receiver::Address;
use super::super::{ClassParams, Ctx};
use super::Sender;

impl Sender<AppLimited> {
    /// There is nothing to send until something is handed in.
    pub(crate) fn wait_for_data(&mut self) {
        self.end = 0;
    }

    /// The application hands in full segments; `last`: there will be no more, and the
    /// connection closes behind them.
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

    /// The data ends behind so many full segments.
    fn end_at(&mut self, total: u32, class: &ClassParams) {
        self.total = total;
        self.end = total + u32::from(!class.tcp.fin_rides || class.tcp.fin_waits);
    }
}
