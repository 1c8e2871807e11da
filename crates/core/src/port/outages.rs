//! A link that carries nothing for a while.
//!
//! The packet in service needs an end, also where the capacity is 0. So the port sends at the least
//! rate there is, at which a packet takes minutes. What is measured leaves that out: the capacity is
//! 0, and the link does not transmit.

use crate::units::{Rate, Time};

use super::Port;

/// The outages of a varying link, by the transmission time of its port, in picoseconds.
#[derive(Default)]
pub(super) struct Outages {
    /// That at the beginning of the present outage; none: the link has a capacity.
    since: Option<u64>,
    /// That within the outages that are over.
    over_ps: u64,
}

impl Outages {
    /// Whether there is one now.
    pub(super) fn present(&self) -> bool {
        self.since.is_some()
    }

    /// The transmission time within all outages, of `busy_ps` in all.
    fn within(&self, busy_ps: u64) -> u64 {
        self.over_ps + self.since.map_or(0, |begun| busy_ps.saturating_sub(begun))
    }

    /// The capacity changes: an outage begins or ends, or neither.
    fn change(&mut self, stopped: bool, busy_ps: u64) {
        self.over_ps = self.within(busy_ps);
        self.since = stopped.then_some(busy_ps);
    }
}

impl<C: Default> Port<C> {
    /// Current capacity, as it is measured: 0 during an outage, when [`Port::rate`] is the least
    /// rate.
    pub fn capacity(&self) -> Rate {
        let stopped = self.outages().is_some_and(Outages::present);
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
