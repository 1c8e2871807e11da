//! Losses by time (RACK; RFC 8985, section 6): the record of outstanding segments marks what is
//! overdue (`rack.rs` says when) and counts what is in the network.

use tidegate_core::units::Time;

use super::super::snd::Snd;
use super::Event;

/// Looks for losses; the first of a flight begin recovery.
pub(in super::super) fn find_losses(snd: &mut Snd, srtt: Time, now: Time) -> Event {
    let recovering = snd.recovering;
    let Some((arrived, log)) = snd.outstanding.times() else { return Event::Nothing };
    let repairing = recovering || log.losing;
    let reo_wnd = log.rack.reo_wnd(srtt, repairing, arrived.count());
    if !repairing {
        log.begin_doubts();
    }
    log.ack_info.losses = log.detect(now, reo_wnd, arrived);
    if log.ack_info.losses > 0 && !repairing { Event::Loss } else { Event::Nothing }
}
