//! All flows: which table a flow is in, and what happens to it there.
//!
//! The number of a flow names its table ([`FlowId`]). This is the one place that turns it into a
//! call.

use tidegate_core::host::Ends;
use tidegate_core::packet::Packet;
use tidegate_core::units::Time;
use tidegate_model::scenario::{Class, Scenario};

use crate::app::Apps;
use crate::capture::Identity;
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::rows::Row;
use crate::transport::control::{Any, Reno};
use crate::transport::hosts::HostTable;
use crate::transport::table::{FlowTable, NewFlow, World};
use crate::transport::udp::UdpTable;
use crate::transport::{ClassParams, SenderState, Snapshot};

/// What a new flow sends by.
pub(crate) enum Sends {
    /// TCP under Reno, in a table of its own.
    Reno(Reno),
    /// TCP under another control.
    Other(Any),
    /// The same, for a connection of this user's.
    App(u32, Any),
    Udp,
    /// Hosts that are not the simulator's own.
    Hosts(Ends),
    /// The same, for a connection of this user's.
    AppHosts(u32, Ends),
}

/// The tables.
pub(crate) struct Flows {
    pub(crate) reno: FlowTable<Reno>,
    other: FlowTable<Any>,
    pub(crate) apps: Apps,
    pub(crate) udp: UdpTable,
    hosts: HostTable,
}

impl Flows {
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Flows {
        Flows {
            reno: FlowTable::new(FlowId::RENO),
            other: FlowTable::new(FlowId::OTHER),
            apps: Apps::new(scenario, seed),
            udp: UdpTable::new(FlowId::UDP, scenario, seed),
            hosts: HostTable::new(FlowId::HOSTS, &scenario.traffic),
        }
    }

    /// Starts a flow, unless its table is full.
    pub(crate) fn start(
        &mut self,
        flow: &NewFlow,
        sends: Sends,
        world: &mut World<'_>,
    ) -> Option<Identity> {
        Some(match sends {
            Sends::Reno(control) if self.reno.has_room() => self.reno.start(flow, control, world),
            Sends::Other(control) if self.other.has_room() => {
                self.other.start(flow, control, world)
            }
            Sends::App(user, control) if self.apps.has_room() => {
                self.apps.open(user, flow, control, world)
            }
            Sends::Udp if self.udp.has_room() => self.udp.start(flow, world),
            Sends::Hosts(ends) if self.hosts.has_room() => self.hosts.start(flow, ends, world),
            Sends::AppHosts(user, ends) if self.apps.has_room() => {
                self.apps.open_hosts(user, flow, ends, world)
            }
            _ => return None,
        })
    }

    /// A packet has reached one of the ends of its flow, which is not in the table of Reno.
    #[inline(always)]
    pub(crate) fn deliver_elsewhere(&mut self, packet: &Packet, world: &mut World<'_>) {
        match FlowId(packet.flow).table() {
            FlowId::UDP => self.udp.deliver(packet, world),
            FlowId::APPS => self.apps.deliver(packet, world),
            FlowId::HOSTS => self.hosts.deliver(packet, world),
            FlowId::APP_HOSTS => self.apps.deliver_to_hosts(packet, world),
            FlowId::MESSAGES => world.net.serve(packet),
            FlowId::DAMAGED => world.net.datagrams.end(packet),
            _ => self.other.deliver(packet, world),
        }
    }

    /// A timer of a flow, or of a user, is due.
    pub(crate) fn wake(&mut self, entity: Entity, world: &mut World<'_>) {
        let id = FlowId(entity.number());
        match (id.table(), entity.kind()) {
            (_, EventKind::Exchange | EventKind::User) | (FlowId::APPS | FlowId::APP_HOSTS, _) => {
                self.apps.wake(entity, world);
            }
            (FlowId::RENO, EventKind::Pace) => self.reno.go_on(id, world),
            (FlowId::RENO, _) => self.reno.expire(id, world),
            (FlowId::UDP, _) => self.udp.expire(id, world),
            (FlowId::HOSTS, _) => self.hosts.expire(id, world),
            (_, EventKind::Pace) => self.other.go_on(id, world),
            (_, _) => self.other.expire(id, world),
        }
    }

    /// Unlimited flows of a class hand in no more data.
    pub(crate) fn stop(&mut self, class: u16, world: &mut World<'_>) {
        self.reno.stop(class, world);
        self.other.stop(class, world);
        self.udp.stop(class);
        self.hosts.stop(class, world);
    }

    /// The open flows of TCP of a class, those of applications left out.
    pub(crate) fn open<'a>(
        &'a self,
        class: u16,
        classes: &'a [ClassParams],
    ) -> impl Iterator<Item = Identity> + 'a {
        self.reno.open(class, classes).chain(self.other.open(class, classes))
    }

    /// The state of a flow, if it is not over.
    pub(crate) fn snapshot(
        &self,
        flow: &Identity,
        classes: &[ClassParams],
        rows: &[Row],
    ) -> Option<Snapshot> {
        match FlowId(flow.slot.0).table() {
            FlowId::RENO => self.reno.snapshot(flow, classes),
            FlowId::UDP => {
                let delivered = rows[flow.row as usize].delivered;
                Some(Snapshot { delivered, ..Snapshot::NONE })
            }
            FlowId::APPS | FlowId::APP_HOSTS => self.apps.snapshot(flow, classes),
            FlowId::HOSTS => self.hosts.snapshot(flow),
            _ => self.other.snapshot(flow, classes),
        }
    }

    /// The sender of a flow, if it is not over; none of UDP, which hears nothing back, and of hosts
    /// that are not the simulator's own.
    pub(crate) fn sender(&self, flow: &Identity, classes: &[ClassParams]) -> Option<SenderState> {
        match FlowId(flow.slot.0).table() {
            FlowId::RENO => self.reno.sender(flow, classes),
            FlowId::UDP | FlowId::HOSTS | FlowId::APP_HOSTS => None,
            FlowId::APPS => self.apps.sender(flow, classes),
            _ => self.other.sender(flow, classes),
        }
    }

    /// The class of the open flow that a packet belongs to.
    pub(crate) fn class_of(&self, packet: &Packet) -> Option<u16> {
        match FlowId(packet.flow).table() {
            FlowId::RENO => self.reno.class_of(packet),
            FlowId::UDP => self.udp.class_of(packet),
            FlowId::MESSAGES | FlowId::DAMAGED => None,
            FlowId::APPS | FlowId::APP_HOSTS => self.apps.class_of(packet),
            FlowId::HOSTS => self.hosts.class_of(packet),
            _ => self.other.class_of(packet),
        }
    }

    /// Whether the flows of a table do not fit into a near cache.
    pub(crate) fn is_large(&self) -> bool {
        self.reno.is_large() | self.other.is_large()
    }

    /// Prefetches the flow that a packet is for.
    #[inline(always)]
    pub(crate) fn prefetch(&self, packet: &Packet) {
        match FlowId(packet.flow).table() {
            FlowId::RENO => self.reno.prefetch(packet),
            FlowId::OTHER => self.other.prefetch(packet),
            _ => {}
        }
    }

    /// Prefetches the flow whose timer is due soon.
    #[inline(always)]
    pub(crate) fn prefetch_timer(&self, entity: Entity) {
        let flow = FlowId(entity.number());
        match (entity.kind(), flow.table()) {
            (EventKind::Flow | EventKind::Pace, FlowId::RENO) => self.reno.prefetch_timer(flow),
            (EventKind::Flow | EventKind::Pace, FlowId::OTHER) => self.other.prefetch_timer(flow),
            _ => {}
        }
    }

    /// At the end of the warm-up: notes what the open flows have delivered by then.
    pub(crate) fn warm(&self, world: &mut World<'_>) {
        self.reno.warm(world);
        self.other.warm(world);
        self.apps.warm(world);
    }

    /// The run is over: fills the rows of the flows that are still open.
    pub(crate) fn finish(&mut self, world: &mut World<'_>) {
        self.reno.finish(world);
        self.other.finish(world);
        self.apps.finish(world);
    }
}

/// How long the user of a flow waits for it; those who load pages wait for a page.
pub(crate) fn patience(class: &Class) -> Option<Time> {
    class.patience.filter(|_| class.pages().is_none())
}
