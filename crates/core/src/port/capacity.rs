//! The capacity of a port: what it sends at, and what is measured of it.

use crate::units::{Rate, Time};

use super::Port;
use super::outages::Outages;

impl<C: Default> Port<C> {
    /// Current capacity, as it is measured: 0 during an outage, when [`Port::rate`] is the least
    /// rate.
    pub fn capacity(&self) -> Rate {
        let stopped = self.outages().is_some_and(|outages| outages.present());
        if stopped { Rate::default() } else { self.rate }
    }

    /// Transmission time up to `now` without that of outages, in picoseconds.
    pub fn transmitting_ps(&self, now: Time) -> u64 {
        let busy_ps = self.busy_ps(now);
        busy_ps - self.outages().map_or(0, |outages| outages.within(busy_ps))
    }

    fn outages(&self) -> Option<&Outages> {
        let link = self.staged.as_ref()?.link.as_ref()?;
        Some(&link.outages)
    }

    /// The link sends at another rate; returns that rate. If the link varies, the rest of the packet
    /// in service is sent at it.
    pub(super) fn change_service_rate(&mut self, now: Time, capacity: Rate) -> Rate {
        let (rate, busy_ps) = (capacity.max(Rate::LEAST), self.busy_ps(now));
        let Some(link) = self.staged.as_mut().and_then(|staged| staged.link.as_mut()) else {
            return rate;
        };
        let end = link.change_rate(now, self.rate, rate);
        link.outages.change(capacity < Rate::LEAST, busy_ps);
        if let Some(end) = end {
            self.sent.busy_ps = self.sent.busy_ps + end.ps() - self.free_at.ps();
            self.free_at = end;
        }
        rate
    }
}
