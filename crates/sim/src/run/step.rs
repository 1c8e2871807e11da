//! One step of a run: a delivery, an event of a port, or another event.

use tidegate_core::law::Fault;
use tidegate_core::packet::Flags;
use tidegate_core::units::Time;

use crate::engine::{Kind, last_at};
use crate::services::MESSAGES;
use crate::transport::table::{FlowId, World};

use super::{OTHER, RENO, Simulation, UDP, VIDEO};

impl Simulation {
    /// Handles the earliest event or delivery, if it is not after `limit`.
    #[inline]
    pub(super) fn step(&mut self, limit: Time) -> Result<bool, Fault> {
        let (first, last) = (self.net.lanes.first(), last_at(limit));
        let event = match first < self.net.events.bound() {
            true => None,
            false => self.net.events.take(first.min(last)),
        };
        let Some(event) = event else { return Ok(self.land(first, last)) };
        if event.parcel() != 0 {
            if self.net.land_parcel(event.parcel(), &mut self.arrived) {
                self.deliver();
            }
            return Ok(true);
        }
        let (at, entity) = (event.at(), event.entity());
        self.net.now = at;
        if entity.kind() != Kind::Port {
            self.ask_early();
            self.handle(entity)?;
        } else if self.net.ports[entity.number() as usize].armed == at {
            // otherwise an earlier event has replaced this one
            self.look(entity.number());
        }
        Ok(true)
    }

    /// The next packet of a lane crosses its link. Returns whether it has by `last`.
    #[inline(always)]
    fn land(&mut self, first: u128, last: u128) -> bool {
        if first > last {
            return false;
        }
        if self.large
            && let Some(packet) = self.net.ahead()
        {
            match FlowId(packet.flow).table() {
                RENO => self.reno.prefetch(packet),
                OTHER => self.other.prefetch(packet),
                _ => {}
            }
        }
        if self.net.land(&mut self.arrived) {
            self.deliver();
        }
        true
    }

    /// Handles the event of a port.
    #[inline(always)]
    fn look(&mut self, number: u32) {
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
            let (reno, other) = (&self.reno, &self.other);
            self.net.events.foretell(|entity| {
                let flow = FlowId(entity.number());
                match (entity.kind(), flow.table()) {
                    (Kind::Flow | Kind::Pace, RENO) => reno.prefetch_timer(flow),
                    (Kind::Flow | Kind::Pace, OTHER) => other.prefetch_timer(flow),
                    _ => {}
                }
            });
        }
    }

    #[inline]
    fn deliver(&mut self) {
        let packet = &self.arrived;
        self.delivered += u64::from(packet.flags.has(Flags::DATA));
        let mut world =
            World { net: &mut self.net, classes: &mut self.classes, rows: &mut self.rows };
        match FlowId(packet.flow).table() {
            RENO => self.reno.deliver(packet, &mut world),
            UDP => self.udp.deliver(packet, &mut world),
            VIDEO => {
                self.video.deliver(packet, &mut world);
                if let (Some(ended), Some(capture)) = (self.video.ended.take(), &mut self.capture) {
                    capture.note(ended);
                }
            }
            MESSAGES => world.net.serve(packet),
            _ => self.other.deliver(packet, &mut world),
        }
    }
}
