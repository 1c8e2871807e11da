//! All flows with one kind of control, in slots that are reused.

pub(crate) mod driven;

use std::ops::{Index, IndexMut};

use prefetch_index::prefetch_index;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

use crate::capture::Identity;
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::network::Network;
use crate::rows::Row;

use super::control::{Control, Payloads, Reno};
use super::receiver::{Address, Receiver};
use super::sender::Sender;
use super::{ClassParams, Ctx, FlowFate, SenderState, Snapshot, Timeouts};

/// The settings of a new flow.
#[derive(Clone, Copy)]
pub(crate) struct NewFlow {
    pub(crate) row: u32,
    pub(crate) class: u16,
    pub(crate) pair: (u16, u16),
    /// Whether the end that receives the data opens the connection.
    pub(crate) download: bool,
    pub(crate) size: u64,
    pub(crate) opaque: bool,
    /// The number of the client that opens it, from 1.
    pub(crate) client: u16,
}

impl NewFlow {
    /// How to address its packets, once it has a place in a table.
    pub(crate) fn address(&self, id: FlowId, generation: u16) -> Address {
        let (source, sink) = self.pair;
        Address { flow: id.0, generation, source, sink, opaque: self.opaque }
    }
}

/// The bit of `Flow::client` that says that routers cannot read the headers.
const OPAQUE: u16 = 1 << 15;
/// The highest number of a client.
pub(crate) const LAST_CLIENT: u16 = OPAQUE - 1;

/// One flow, in whole cache lines: data packets touch only the first.
#[repr(C, align(64))]
struct Flow<C> {
    receiver: Receiver,
    /// When the flow's one pending timer fires ([`Time::NEVER`]: none is pending).
    armed: Time,
    /// Its row of results ([`Flow::FREE`]: the slot is free).
    row: u32,
    generation: u16,
    class: u16,
    source: u16,
    sink: u16,
    /// SYNs sent; not in the row, which is in other memory.
    syn_tries: u16,
    /// Which client opens the connection, from 1 to `LAST_CLIENT`; the highest bit says that routers
    /// cannot read the headers. There is no room for both in this cache line.
    client: u16,
    sender: Sender<C>,
    timeouts: Timeouts,
}

const _: () = assert!(std::mem::offset_of!(Flow<Reno>, sender) == 64);

impl<C> Flow<C> {
    const FREE: u32 = u32::MAX;

    #[inline(always)]
    fn address(&self, id: FlowId) -> Address {
        Address {
            flow: id.0,
            generation: self.generation,
            source: self.source,
            sink: self.sink,
            opaque: self.client & OPAQUE != 0,
        }
    }
}

/// Flows by slot, in pieces: one array of all of them would be copied as it grows.
struct Slots<C>(Vec<Vec<Flow<C>>>);

impl<C> Slots<C> {
    /// Bits of the number of flows in a piece.
    const BITS: u32 = 9;

    fn len(&self) -> usize {
        let full = self.0.len().saturating_sub(1) << Self::BITS;
        self.0.last().map_or(0, |piece| full + piece.len())
    }

    fn push(&mut self, flow: Flow<C>) {
        match self.0.last_mut() {
            Some(piece) if piece.len() < 1 << Self::BITS => piece.push(flow),
            _ => {
                let mut piece = Vec::with_capacity(1 << Self::BITS);
                piece.push(flow);
                self.0.push(piece);
            }
        }
    }
}

impl<C> Index<usize> for Slots<C> {
    type Output = Flow<C>;

    #[inline(always)]
    fn index(&self, slot: usize) -> &Flow<C> {
        &self.0[slot >> Self::BITS][slot & ((1 << Self::BITS) - 1)]
    }
}

impl<C> IndexMut<usize> for Slots<C> {
    #[inline(always)]
    fn index_mut(&mut self, slot: usize) -> &mut Flow<C> {
        &mut self.0[slot >> Self::BITS][slot & ((1 << Self::BITS) - 1)]
    }
}

/// Flows with control `C`.
pub(crate) struct FlowTable<C> {
    number: u32,
    flows: Slots<C>,
    /// Slots whose flow is over, the last freed first.
    free: Vec<u32>,
    live: u32,
}

/// What the flows share.
pub(crate) struct World<'a> {
    pub(crate) net: &'a mut Network,
    pub(crate) classes: &'a mut [ClassParams],
    pub(crate) rows: &'a mut [Row],
}

impl<C: Control + Payloads> FlowTable<C> {
    pub(crate) fn new(number: u32) -> FlowTable<C> {
        FlowTable { number, flows: Slots(Vec::new()), free: Vec::new(), live: 0 }
    }

    /// Whether one more flow fits.
    pub(crate) fn has_room(&self) -> bool {
        self.live < FlowId::SLOTS
    }

    /// Starts a flow: its first SYN goes out.
    pub(crate) fn start(&mut self, flow: &NewFlow, control: C, world: &mut World<'_>) -> Identity {
        let mut sender = Sender::new(control);
        let class = &world.classes[flow.class as usize];
        sender.load(flow.size, class);
        if let Some(patience) = class.patience {
            sender.give_up = world.net.now.saturating_add(patience);
        }
        let mut record = Flow {
            receiver: Receiver::new(class.memory.as_ref()),
            armed: Time::NEVER,
            row: flow.row,
            generation: 0,
            class: flow.class,
            source: flow.pair.0,
            sink: flow.pair.1,
            syn_tries: 0,
            client: if flow.opaque { flow.client | OPAQUE } else { flow.client },
            sender,
            timeouts: Timeouts::NEW,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                let place = &mut self.flows[slot as usize];
                record.generation = place.generation.wrapping_add(1);
                *place = record;
                slot as usize
            }
            None => {
                self.flows.push(record);
                self.flows.len() - 1
            }
        };
        self.live += 1;
        let id = FlowId::new(self.number, slot as u32);
        let address = self.flows[slot].address(id);
        let (sender, receiver, mut ctx) = self.borrow(slot, world);
        if flow.download {
            receiver.send_syn(&address, &mut ctx);
        } else {
            sender.begin(&address, &mut ctx);
        }
        self.arm(id, world);
        self.identity(slot, world.classes)
    }

    fn identity(&self, slot: usize, classes: &[ClassParams]) -> Identity {
        let flow = &self.flows[slot];
        Identity {
            slot: (FlowId::new(self.number, slot as u32).0, flow.generation),
            row: flow.row,
            class: flow.class,
            bytes: flow.sender.bytes(&classes[usize::from(flow.class)]),
            end: flow.sender.end(),
        }
    }

    /// The open flows of a class.
    pub(crate) fn open<'a>(
        &'a self,
        class: u16,
        classes: &'a [ClassParams],
    ) -> impl Iterator<Item = Identity> + 'a {
        let slots = (0..self.flows.len()).filter(move |&slot| self.is_open(slot, class));
        slots.map(|slot| self.identity(slot, classes))
    }

    /// Whether a slot holds a flow of this class.
    fn is_open(&self, slot: usize, class: u16) -> bool {
        let flow = &self.flows[slot];
        flow.class == class && flow.row != Flow::<C>::FREE
    }

    /// The state of a flow, if it is not over.
    pub(crate) fn snapshot(&self, flow: &Identity, classes: &[ClassParams]) -> Option<Snapshot> {
        let flow = self.holds(flow.slot.0, flow.slot.1)?;
        let class = &classes[usize::from(flow.class)];
        let delivered = flow.sender.bytes_of(flow.receiver.received(), class);
        Some(Snapshot { delivered, ..flow.sender.snapshot() })
    }

    /// The sender of a flow, if it is not over.
    pub(crate) fn sender(&self, flow: &Identity, classes: &[ClassParams]) -> Option<SenderState> {
        let flow = self.holds(flow.slot.0, flow.slot.1)?;
        Some(flow.sender.state(&classes[usize::from(flow.class)]))
    }

    /// The class of the flow that a packet belongs to, if that flow is not over.
    pub(crate) fn class_of(&self, packet: &Packet) -> Option<u16> {
        self.holds(packet.flow, packet.generation).map(|flow| flow.class)
    }

    /// The flow of this number and generation, if it is not over.
    fn holds(&self, number: u32, generation: u16) -> Option<&Flow<C>> {
        let slot = FlowId(number).slot();
        let flow = (slot < self.flows.len()).then(|| &self.flows[slot])?;
        (flow.generation == generation && flow.row != Flow::<C>::FREE).then_some(flow)
    }

    #[inline(always)]
    fn borrow<'a>(
        &'a mut self,
        slot: usize,
        world: &'a mut World<'_>,
    ) -> (&'a mut Sender<C>, &'a mut Receiver, Ctx<'a>) {
        let flow = &mut self.flows[slot];
        let class = &mut world.classes[flow.class as usize];
        let row = &mut world.rows[flow.row as usize];
        let (source, sink) = (flow.source, flow.sink);
        let (syn_tries, timeouts) = (&mut flow.syn_tries, &mut flow.timeouts);
        let client = flow.client & !OPAQUE;
        let ctx = Ctx { net: world.net, class, row, source, sink, syn_tries, timeouts, client };
        (&mut flow.sender, &mut flow.receiver, ctx)
    }

    /// Whether its flows do not fit into a near cache.
    #[inline(always)]
    pub(crate) fn is_large(&self) -> bool {
        self.flows.0.len() > Self::NEAR
    }

    /// Pieces of flows that a near cache holds: 2 MB of them.
    const NEAR: usize = 16;

    /// Prefetches the flow that a packet is for, before it arrives.
    #[inline(always)]
    pub(crate) fn prefetch(&self, packet: &Packet) {
        let slot = FlowId(packet.flow).slot();
        let Some(piece) = self.flows.0.get(slot >> Slots::<C>::BITS) else { return };
        if let Some(flow) = piece.get(slot & ((1 << Slots::<C>::BITS) - 1)) {
            prefetch_index(std::slice::from_ref(flow), 0);
            if packet.flags.has(Flags::TO_SOURCE) {
                flow.sender.prefetch();
            }
        }
    }

    /// The same for a timer.
    #[inline(always)]
    pub(crate) fn prefetch_timer(&self, id: FlowId) {
        let slot = id.slot();
        if let Some(piece) = self.flows.0.get(slot >> Slots::<C>::BITS)
            && let Some(flow) = piece.get(slot & ((1 << Slots::<C>::BITS) - 1))
        {
            prefetch_index(std::slice::from_ref(flow), 0);
            flow.sender.prefetch();
        }
    }

    /// A packet has reached one of the ends.
    #[inline]
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        let id = FlowId(packet.flow);
        let flow = &mut self.flows[id.slot()];
        if flow.generation != packet.generation {
            return;
        }
        let address = flow.address(id);
        // in parts, so that they are put together in memory for a flow alone that is over
        let World { net, classes, rows } = world;
        let class = &mut classes[flow.class as usize];
        let row = &mut rows[flow.row as usize];
        let Address { source, sink, .. } = address;
        let (syn_tries, timeouts) = (&mut flow.syn_tries, &mut flow.timeouts);
        let client = flow.client & !OPAQUE;
        let mut ctx = Ctx { net, class, row, source, sink, syn_tries, timeouts, client };
        // only the deadline of the end that it is for can have changed
        let (fate, due) = if packet.flags.has(Flags::TO_SOURCE) {
            let fate = flow.sender.receive(packet, &address, &mut ctx);
            if flow.sender.is_far() {
                flow.sender.renumber(&mut flow.receiver);
            }
            (fate, flow.sender.next_deadline())
        } else {
            let fate = flow.receiver.receive(packet, &address, &mut ctx);
            (fate, flow.receiver.deadline)
        };
        match fate {
            FlowFate::Lives if due < flow.armed => {
                flow.armed = due;
                net.events.push(due, Entity::new(EventKind::Flow, id.0));
            }
            FlowFate::Lives => {}
            FlowFate::Over => self.release(id.slot(), &mut World { net, classes, rows }),
        }
    }

    /// A timer event of the flow is due.
    pub(crate) fn expire(&mut self, id: FlowId, world: &mut World<'_>) {
        let slot = id.slot();
        let now = world.net.now;
        let flow = &mut self.flows[slot];
        // an event that a shorter deadline replaced, or that of an earlier flow
        if flow.armed != now {
            return;
        }
        flow.armed = Time::NEVER;
        let address = flow.address(id);
        let (sender, receiver, mut ctx) = self.borrow(slot, world);
        let mut fate = FlowFate::Lives;
        if receiver.deadline <= now {
            fate = receiver.expire(&address, &mut ctx);
        }
        if fate == FlowFate::Lives && sender.next_deadline() <= now {
            fate = sender.expire(&address, &mut ctx);
        }
        match fate {
            FlowFate::Lives => self.arm(id, world),
            FlowFate::Over => self.release(slot, world),
        }
    }

    /// A packet of the flow that its pace held back may go.
    pub(crate) fn go_on(&mut self, id: FlowId, world: &mut World<'_>) {
        let slot = id.slot();
        let flow = &self.flows[slot];
        if flow.row == Flow::<C>::FREE {
            return;
        }
        let address = flow.address(id);
        let (sender, _, mut ctx) = self.borrow(slot, world);
        sender.go_on(&address, &mut ctx);
        self.arm(id, world);
    }

    /// Unlimited flows of a class hand in no more data.
    pub(crate) fn stop(&mut self, class: u16, world: &mut World<'_>) {
        for slot in 0..self.flows.len() {
            if !self.is_open(slot, class) {
                continue;
            }
            let id = FlowId::new(self.number, slot as u32);
            let address = self.flows[slot].address(id);
            let (sender, _, mut ctx) = self.borrow(slot, world);
            sender.stop(&address, &mut ctx);
            self.arm(id, world);
        }
    }

    /// Ensures that an event is pending at the flow's earliest deadline or before.
    #[inline]
    fn arm(&mut self, id: FlowId, world: &mut World<'_>) {
        let flow = &mut self.flows[id.slot()];
        let due = flow.sender.next_deadline().min(flow.receiver.deadline);
        if due < flow.armed {
            flow.armed = due;
            world.net.events.push(due, Entity::new(EventKind::Flow, id.0));
        }
    }

    /// Writes a flow's counts into its row.
    fn record(&mut self, slot: usize, world: &mut World<'_>) {
        let (sender, receiver, ctx) = self.borrow(slot, world);
        ctx.row.syn_tries = *ctx.syn_tries;
        ctx.row.sent = sender.sent();
        ctx.row.retransmitted = sender.retransmitted;
        ctx.row.delivered = sender.bytes_of(receiver.received(), ctx.class);
    }

    fn release(&mut self, slot: usize, world: &mut World<'_>) {
        self.record(slot, world);
        let flow = &mut self.flows[slot];
        flow.row = Flow::<C>::FREE;
        // packets of this flow that are still in the network belong to no flow
        flow.generation = flow.generation.wrapping_add(1);
        flow.armed = Time::NEVER;
        self.free.push(slot as u32);
        self.live -= 1;
    }

    /// At the end of the warm-up: notes what the open flows have delivered by then.
    pub(crate) fn warm(&self, world: &mut World<'_>) {
        for slot in 0..self.flows.len() {
            let flow = &self.flows[slot];
            if flow.row != Flow::<C>::FREE {
                let class = &world.classes[usize::from(flow.class)];
                let delivered = flow.sender.bytes_of(flow.receiver.received(), class);
                world.rows[flow.row as usize].delivered_warm = delivered;
            }
        }
    }

    /// At the end of the run: fills the rows of the flows that are still open.
    pub(crate) fn finish(&mut self, world: &mut World<'_>) {
        for slot in 0..self.flows.len() {
            if self.flows[slot].row != Flow::<C>::FREE {
                self.record(slot, world);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The aim of the engine: under 300 B for an open flow, with its pending
    /// timer (16 B), packets in flight and result row not counted.
    #[test]
    fn an_open_flow_is_small() {
        let flow = size_of::<Flow<Reno>>() + 16;
        assert!(flow < 300, "{flow} B");
    }
}
