//! UDP at a constant rate: packets at their times, whatever becomes of them.
//!
//! A flow has no handshake and no answer. It is admitted when it starts and
//! closed when everything is sent; what arrives later is still counted, so a
//! flow keeps its slot to the end of the run.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Pace, Time};
use tidegate_model::scenario::Udp;

use super::receiver::Address;
use super::table::{FlowId, NewFlow, World};
use crate::capture::Identity;
use crate::engine::{Entity, Kind};
use crate::rows::UNLIMITED;

/// One flow: what is left to send, and when.
struct Flow {
    row: u32,
    class: u16,
    pair: (u16, u16),
    opaque: bool,
    /// Number of the next packet.
    seq: u32,
    /// Bytes left, or [`UNLIMITED`].
    left: u64,
    /// Start of the present burst.
    begun: Time,
    /// Packets and bytes (headers included) sent since then.
    packets: u32,
    bytes: u64,
}

/// All flows under UDP.
pub(crate) struct UdpTable {
    number: u32,
    /// What each class sends, and at which pace; none: not by UDP.
    classes: Vec<Option<(Udp, Pace)>>,
    flows: Vec<Flow>,
}

impl UdpTable {
    pub(crate) fn new(number: u32, classes: impl Iterator<Item = Option<Udp>>) -> UdpTable {
        let paced = |udp: Udp| (udp, udp.rate.pace());
        let classes = classes.map(|udp| udp.map(paced)).collect();
        UdpTable { number, classes, flows: Vec::new() }
    }

    /// Whether one more flow fits.
    pub(crate) fn has_room(&self) -> bool {
        (self.flows.len() as u32) < FlowId::SLOTS
    }

    /// Starts a flow: its first packet goes out.
    pub(crate) fn start(&mut self, flow: &NewFlow, world: &mut World<'_>) -> Identity {
        let now = world.net.now;
        world.rows[flow.row as usize].admitted = now;
        let slot = self.flows.len() as u32;
        self.flows.push(Flow {
            row: flow.row,
            class: flow.class,
            pair: flow.pair,
            opaque: flow.opaque,
            seq: 0,
            left: flow.size,
            begun: now,
            packets: 0,
            bytes: 0,
        });
        let id = FlowId::new(self.number, slot);
        self.send(id, world);
        Identity { slot: (id.0, 0), row: flow.row, class: flow.class, bytes: flow.size, end: 0 }
    }

    /// Sends one packet, and schedules the next one or the end.
    fn send(&mut self, id: FlowId, world: &mut World<'_>) {
        let flow = &mut self.flows[id.slot()];
        let Some((udp, pace)) = self.classes[usize::from(flow.class)] else { return };
        let full = u64::from(udp.packet - Udp::HEADER);
        let payload = full.min(flow.left);
        let size = payload as u32 + Udp::HEADER;
        if flow.left != UNLIMITED {
            flow.left -= payload;
        }
        let flags = if flow.left == 0 { Flags::DATA.with(Flags::PUSH) } else { Flags::DATA };
        let address = Address {
            flow: id.0,
            generation: 0,
            source: flow.pair.0,
            sink: flow.pair.1,
            opaque: flow.opaque,
        };
        let mut packet = address.towards_sink(flags, size, world.net.now);
        packet.seq = flow.seq;
        flow.seq = flow.seq.wrapping_add(1);
        flow.packets += 1;
        flow.bytes += u64::from(size);
        let row = &mut world.rows[flow.row as usize];
        row.sent = row.sent.saturating_add(1);
        // from the start of the burst, so that rounding does not add up
        let mut next = flow.begun + pace.of(flow.bytes);
        match udp.burst {
            Some((packets, every)) if flow.packets == packets && flow.left > 0 => {
                next = flow.begun + every;
                (flow.begun, flow.packets, flow.bytes) = (next, 0, 0);
            }
            // counters of an endless stream must not overflow
            None if flow.packets == u32::MAX => {
                (flow.begun, flow.packets, flow.bytes) = (next, 0, 0);
            }
            _ => {}
        }
        world.net.send(&packet);
        world.net.events.push(next, Entity::new(Kind::Flow, id.0));
    }

    /// The next packet of a flow is due.
    pub(crate) fn expire(&mut self, id: FlowId, world: &mut World<'_>) {
        let flow = &self.flows[id.slot()];
        if flow.left == 0 {
            world.rows[flow.row as usize].closed = world.net.now;
        } else {
            self.send(id, world);
        }
    }

    /// A packet has reached its receiver.
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        let Some(flow) = self.flows.get(FlowId(packet.flow).slot()) else { return };
        let row = &mut world.rows[flow.row as usize];
        row.delivered += u64::from(u32::from(packet.size) - Udp::HEADER);
        if row.delivered == row.size {
            row.data_done = world.net.now;
        }
    }

    /// Unlimited flows of a class send no more: they close when their next packet would be due.
    pub(crate) fn stop(&mut self, class: u16) {
        let endless = |flow: &&mut Flow| flow.class == class && flow.left == UNLIMITED;
        for flow in self.flows.iter_mut().filter(endless) {
            flow.left = 0;
        }
    }
}
