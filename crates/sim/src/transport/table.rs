//! All flows under one kind of control, in slots that are used again.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

use crate::capture::Identity;
use crate::engine::{Entity, Kind};
use crate::network::Network;
use crate::rows::Row;

use super::control::Control;
use super::receiver::Receiver;
use super::sender::Sender;
use super::{ClassParams, Ctx, Fate};

/// A flow's number on packets and timers: its table in the top bits, its slot below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowId(pub(crate) u32);

impl FlowId {
    const SLOT_BITS: u32 = 25;
    /// Flows that can be open at once in one table.
    pub(crate) const SLOTS: u32 = 1 << Self::SLOT_BITS;

    pub(crate) const fn new(table: u32, slot: u32) -> FlowId {
        FlowId((table << Self::SLOT_BITS) | slot)
    }

    pub(crate) const fn table(self) -> u32 {
        self.0 >> Self::SLOT_BITS
    }

    pub(crate) const fn slot(self) -> usize {
        (self.0 & (Self::SLOTS - 1)) as usize
    }
}

/// What a new flow is.
#[derive(Clone, Copy)]
pub(crate) struct NewFlow {
    pub(crate) row: u32,
    pub(crate) class: u16,
    pub(crate) pair: (u16, u16),
    /// Whether the end that receives the data opens the connection.
    pub(crate) download: bool,
    pub(crate) size: u64,
    pub(crate) opaque: bool,
}

/// Flows with control `C`: hot senders, hot receivers and row numbers in separate arrays.
pub(crate) struct FlowTable<C> {
    number: u32,
    senders: Vec<Sender<C>>,
    receivers: Vec<Receiver>,
    rows: Vec<u32>,
    /// Slots whose flow is over, the last freed first.
    free: Vec<u32>,
    live: u32,
}

/// What the flows share: everything but themselves.
pub(crate) struct World<'a> {
    pub(crate) net: &'a mut Network,
    pub(crate) classes: &'a mut [ClassParams],
    pub(crate) rows: &'a mut [Row],
}

impl<C: Control> FlowTable<C> {
    pub(crate) fn new(number: u32) -> FlowTable<C> {
        FlowTable {
            number,
            senders: Vec::new(),
            receivers: Vec::new(),
            rows: Vec::new(),
            free: Vec::new(),
            live: 0,
        }
    }

    /// Whether one more flow fits.
    pub(crate) fn has_room(&self) -> bool {
        self.live < FlowId::SLOTS
    }

    /// Starts a flow: its first SYN goes out.
    pub(crate) fn start(&mut self, flow: &NewFlow, control: C, world: &mut World<'_>) -> Identity {
        let mut sender = Sender::new(control, 0, flow.class, flow.pair, flow.opaque);
        let class = &world.classes[flow.class as usize];
        sender.load(flow.size, class);
        if let Some(patience) = class.patience {
            sender.give_up = world.net.now.saturating_add(patience);
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                let slot = slot as usize;
                sender.generation = self.senders[slot].generation.wrapping_add(1);
                self.senders[slot] = sender;
                self.receivers[slot] = Receiver::new();
                self.rows[slot] = flow.row;
                slot
            }
            None => {
                self.senders.push(sender);
                self.receivers.push(Receiver::new());
                self.rows.push(flow.row);
                self.senders.len() - 1
            }
        };
        self.live += 1;
        let id = FlowId::new(self.number, slot as u32);
        let (sender, receiver, mut ctx) = self.borrow(slot, world);
        let address = sender.address(id.0);
        if flow.download {
            receiver.send_syn(&address, &mut ctx);
        } else {
            sender.begin(&address, &mut ctx);
        }
        self.arm(id, world);
        self.identity(slot, world.classes)
    }

    fn identity(&self, slot: usize, classes: &[ClassParams]) -> Identity {
        let sender = &self.senders[slot];
        Identity {
            slot: (FlowId::new(self.number, slot as u32).0, sender.generation),
            row: self.rows[slot],
            class: sender.class,
            bytes: sender.bytes(&classes[usize::from(sender.class)]),
            end: sender.end(),
        }
    }

    /// The open flows of a class.
    pub(crate) fn open<'a>(
        &'a self,
        class: u16,
        classes: &'a [ClassParams],
    ) -> impl Iterator<Item = Identity> + 'a {
        let slots = (0..self.senders.len()).filter(move |&slot| {
            self.senders[slot].class == class && self.rows[slot] != Self::FREE
        });
        slots.map(|slot| self.identity(slot, classes))
    }

    #[inline]
    fn borrow<'a>(
        &'a mut self,
        slot: usize,
        world: &'a mut World<'_>,
    ) -> (&'a mut Sender<C>, &'a mut Receiver, Ctx<'a>) {
        let sender = &mut self.senders[slot];
        let class = &mut world.classes[sender.class as usize];
        let row = &mut world.rows[self.rows[slot] as usize];
        (sender, &mut self.receivers[slot], Ctx { net: world.net, class, row })
    }

    /// A packet has reached one of the ends.
    #[inline]
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        let id = FlowId(packet.flow);
        let slot = id.slot();
        if self.senders[slot].generation != packet.generation {
            return;
        }
        let (sender, receiver, mut ctx) = self.borrow(slot, world);
        let address = sender.address(id.0);
        let fate = if packet.flags.has(Flags::TO_SOURCE) {
            sender.receive(packet, &address, &mut ctx)
        } else {
            receiver.receive(packet, &address, &mut ctx)
        };
        self.settle(id, fate, world);
    }

    /// A timer event of the flow has come up.
    pub(crate) fn expire(&mut self, id: FlowId, world: &mut World<'_>) {
        let slot = id.slot();
        let now = world.net.now;
        // an event that a shorter deadline replaced, or that of an earlier flow
        if self.senders[slot].armed != now {
            return;
        }
        self.senders[slot].armed = Time::NEVER;
        let (sender, receiver, mut ctx) = self.borrow(slot, world);
        let address = sender.address(id.0);
        let mut fate = Fate::Lives;
        if receiver.deadline <= now {
            fate = receiver.expire(&address, &mut ctx);
        }
        if fate == Fate::Lives && sender.next_deadline() <= now {
            fate = sender.expire(&address, &mut ctx);
        }
        self.settle(id, fate, world);
    }

    /// A packet of the flow that its pace held back may go.
    pub(crate) fn go_on(&mut self, id: FlowId, world: &mut World<'_>) {
        let slot = id.slot();
        if self.rows[slot] == Self::FREE {
            return;
        }
        let (sender, _, mut ctx) = self.borrow(slot, world);
        let address = sender.address(id.0);
        sender.go_on(&address, &mut ctx);
        self.arm(id, world);
    }

    /// Unlimited flows of a class hand in no more data.
    pub(crate) fn stop(&mut self, class: u16, world: &mut World<'_>) {
        for slot in 0..self.senders.len() {
            if self.senders[slot].class != class || self.rows[slot] == Self::FREE {
                continue;
            }
            let id = FlowId::new(self.number, slot as u32);
            let (sender, _, mut ctx) = self.borrow(slot, world);
            let address = sender.address(id.0);
            sender.stop(&address, &mut ctx);
            self.arm(id, world);
        }
    }

    const FREE: u32 = u32::MAX;

    #[inline]
    fn settle(&mut self, id: FlowId, fate: Fate, world: &mut World<'_>) {
        match fate {
            Fate::Lives => self.arm(id, world),
            Fate::Over => self.release(id.slot(), world),
        }
    }

    /// Sees to it that an event is pending at the flow's earliest deadline or before.
    #[inline]
    fn arm(&mut self, id: FlowId, world: &mut World<'_>) {
        let sender = &mut self.senders[id.slot()];
        let due = sender.next_deadline().min(self.receivers[id.slot()].deadline);
        if due < sender.armed {
            sender.armed = due;
            world.net.events.push(due, Entity::new(Kind::Flow, id.0));
        }
    }

    /// Writes a flow's counts into its row.
    fn note(&mut self, slot: usize, world: &mut World<'_>) {
        let (sender, receiver, ctx) = self.borrow(slot, world);
        ctx.row.sent = sender.sent;
        ctx.row.retransmitted = sender.retransmitted;
        ctx.row.timeouts = sender.timeouts;
        ctx.row.delivered = sender.bytes_of(receiver.received(), ctx.class);
    }

    fn release(&mut self, slot: usize, world: &mut World<'_>) {
        self.note(slot, world);
        self.rows[slot] = Self::FREE;
        // packets of this flow that are still under way belong to no one
        self.senders[slot].generation = self.senders[slot].generation.wrapping_add(1);
        self.senders[slot].armed = Time::NEVER;
        self.free.push(slot as u32);
        self.live -= 1;
    }

    /// The run is over: rows of the flows that are still open.
    pub(crate) fn finish(&mut self, world: &mut World<'_>) {
        for slot in 0..self.senders.len() {
            if self.rows[slot] != Self::FREE {
                self.note(slot, world);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::control::Reno;

    /// The aim of the engine: under 300 B for an open flow, with its pending
    /// timer (16 B), packets in flight and result row not counted.
    #[test]
    fn an_open_flow_is_small() {
        let row_number = size_of::<u32>();
        let flow = size_of::<Sender<Reno>>() + size_of::<Receiver>() + row_number + 16;
        assert!(flow < 300, "{flow} B");
    }
}
