//! Losses by time (RACK; RFC 8985, section 6): the record of outstanding segments marks what is
//! overdue (`rack.rs` says when) and counts what is in the network.

use tidegate_core::units::Time;

use super::super::snd::Snd;
use super::verdict::Event;

/// Looks for losses; the first of a flight begin recovery. `by_timer`: nothing has arrived.
///
/// After a timeout what is lost is being sent again already. Recovery begins there with a
/// repetition that is lost again, or with what the timer finds (Linux: `tcp_fastretrans_alert`,
/// `tcp_rack_reo_timeout`).
pub(in super::super) fn find_losses(snd: &mut Snd, srtt: Time, now: Time, by_timer: bool) -> Event {
    let recovering = snd.recovering;
    let Some((arrived, log)) = snd.outstanding.times() else { return Event::Nothing };
    let repairing = recovering || log.losing;
    let reo_wnd = log.rack.reo_wnd(srtt, repairing, arrived.count());
    if !repairing {
        log.begin_doubts();
    }
    log.detect(now, reo_wnd, arrived);
    let found = &log.ack_info;
    let news = if log.losing && !by_timer { found.lost_again } else { found.losses };
    if news > 0 && !recovering { Event::Loss } else { Event::Nothing }
}
