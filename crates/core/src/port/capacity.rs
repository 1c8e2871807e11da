//! The capacity of a port: what it sends at, and what is measured of it.
//!
//! A queue law may have a shaper, which lets packets go slower than the link could send them. Where
//! it is the slower of the two, the port has its capacity: a queue is there because of it, and it is
//! in use while packets take up what it gives. None of this is asked for a packet, only where
//! something is measured.

use crate::law::queue::{Discipline, Shaping};
use crate::units::{Rate, Time};

use super::Port;
use super::outages::Outages;

impl<C: Default> Port<C> {
    /// Current capacity, as it is measured: that of the link or of the queue's shaper, whichever is
    /// less; 0 during an outage, when [`Port::rate`] is the least rate.
    pub fn capacity(&self) -> Rate {
        let stopped = self.outages().is_some_and(|outages| outages.present());
        let link = if stopped { Rate::default() } else { self.rate };
        self.shaping().map_or(link, |shaping| link.min(shaping.rate))
    }

    /// How long what waits will take at the present capacity, in seconds; none: in an outage.
    ///
    /// The link takes the packets as they are, and a shaper as long as it counts them to be.
    pub fn queue_delay_s(&self) -> Option<f64> {
        let capacity = self.capacity().bps();
        if capacity == 0 {
            return None;
        }
        let on_link = self.queue_bytes() as f64 * 8.0 / self.rate.bps() as f64;
        let (Some(shaping), Some(staged)) = (self.shaping(), &self.staged) else {
            return Some(on_link);
        };
        let times = staged.waiting.all_packets().map(|packet| shaping.time_of(packet.size).secs());
        Some(on_link.max(times.sum()))
    }

    /// The time up to `now` that the queue's shaper has given to packets, in picoseconds; 0 where
    /// there is none.
    pub fn shaped_ps(&self, now: Time) -> u64 {
        self.shaping().map_or(0, |shaping| shaping.taken(now).ps())
    }

    fn shaping(&self) -> Option<Shaping> {
        self.staged.as_ref()?.stages.queue.shaping()
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
