//! One step of a run: a delivery, an event of a port, or another event.

use tidegate_core::law::Fault;
use tidegate_core::packet::Flags;
use tidegate_core::units::Time;

use crate::engine::{EventKind, last_at, ps_of};
use crate::flight::{Head, Parcel};
use crate::flow_id::FlowId;
use crate::followed::Followed;
use crate::run_view::RunView;
use crate::transport::table::World;

use super::Simulation;

impl Simulation {
    /// Handles the earliest event or delivery, if it is not after `limit`.
    // inlined: a call would cost a twelfth of the instructions of a packet-hop
    #[inline(always)]
    pub(super) fn step(&mut self, limit: Time) -> Result<bool, Fault> {
        let first = self.net.flight.first();
        let event = match first < self.net.events.bound() {
            true => None,
            false => self.net.events.take(first.min(last_at(limit))),
        };
        let Some(event) = event else { return Ok(self.land(first, limit)) };
        if event.parcel() != 0 {
            if self.large {
                let flows = &self.flows;
                self.net.parcels_ahead(|packet| flows.prefetch(packet));
            }
            if self.net.land(Parcel(event.parcel()), &mut self.arrived) {
                self.deliver();
            }
            return Ok(true);
        }
        let (at, entity) = (event.at(), event.entity());
        self.net.now = at;
        if entity.kind() != EventKind::Port {
            self.ask_early();
            self.handle(entity)?;
        } else if self.net.ports[entity.number() as usize].armed == at {
            // else an earlier event has replaced this one
            self.port_event(entity.number());
        }
        Ok(true)
    }

    /// Delivers the next packet of a lane, if that is due by `limit`; returns whether it is.
    #[inline(always)]
    fn land(&mut self, first: u128, limit: Time) -> bool {
        if ps_of(first) > limit.ps() {
            return false;
        }
        if self.large
            && let Some(packet) = self.net.ahead()
        {
            self.flows.prefetch(packet);
        }
        if self.net.land(Head, &mut self.arrived) {
            self.deliver();
        }
        true
    }

    /// Handles the event of a port.
    #[inline(always)]
    fn port_event(&mut self, number: u32) {
        let arrived = self.net.cross(number, &mut self.arrived);
        self.net.look_at(number, self.net.ports[number as usize].armed);
        if arrived {
            self.deliver();
        }
    }

    /// Prefetches the flows whose timers are due soon.
    #[inline(always)]
    fn ask_early(&mut self) {
        if self.large {
            let flows = &self.flows;
            self.net.events.foretell(|entity| flows.prefetch_timer(entity));
        }
    }

    /// The packet that has just arrived reaches one of the ends of its flow.
    // out of line: the network's registers would not last for both
    #[inline(never)]
    fn deliver(&mut self) {
        let packet = &self.arrived;
        self.delivered += u64::from(packet.flags.has(Flags::DATA));
        if FlowId(packet.flow).table() == FlowId::RENO {
            let mut world =
                World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
            self.flows.reno.deliver(packet, &mut world);
        } else {
            self.deliver_elsewhere();
        }
        if self.looks_back {
            self.look_back();
        }
    }

    /// What follows a delivery: records of flows that are followed, and the packet's copy.
    #[cold]
    #[inline(never)]
    fn look_back(&mut self) {
        if self.followed.is_some() {
            self.note_delivery();
        }
        if let Some(copy) = self.net.take_copy() {
            self.arrived = copy;
            self.deliver();
        }
    }

    /// The same where the flow is not of the most frequent kind.
    // out of line: plain TCP pays for no other table
    #[inline(never)]
    fn deliver_elsewhere(&mut self) {
        let packet = &self.arrived;
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        self.flows.deliver_elsewhere(packet, &mut world);
        if matches!(FlowId(packet.flow).table(), FlowId::APPS | FlowId::APP_HOSTS) {
            self.open_connections();
        }
    }

    /// Records what a delivery means to flows that are followed.
    #[cold]
    #[inline(never)]
    fn note_delivery(&mut self) {
        let arrived = self.arrived;
        self.follow(|followed, seen| followed.delivered(&arrived, seen));
    }

    /// Lets the records of flows that are followed look at the run, if there are any.
    #[inline]
    pub(super) fn follow(&mut self, look: impl FnOnce(&mut Followed, &mut RunView<'_>)) {
        if let Some(followed) = &mut self.followed {
            let (flows, classes, rows) = (&self.flows, &self.classes[..], &self.rows[..]);
            look(followed, &mut RunView { flows, classes, rows, net: &mut self.net });
        }
    }
}
