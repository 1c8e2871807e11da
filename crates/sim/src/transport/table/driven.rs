//! What an application does at its connection, at either end.
//!
//! The client is the end that opens the connection. The server sends data to it, or in an upload
//! the client sends data to the server.

use tidegate_core::packet::Flags;
use tidegate_core::units::Time;

use crate::capture::Identity;
use crate::flow_id::FlowId;
use crate::transport::control::{Any, AppLimited};
use crate::transport::sender::driven::Part;

use super::{Flow, FlowFate, FlowTable, NewFlow, World};

impl FlowTable<AppLimited> {
    /// The client opens a connection, over which nothing is sent yet.
    pub(crate) fn open_for(
        &mut self,
        flow: &NewFlow,
        inner: Any,
        world: &mut World<'_>,
    ) -> Identity {
        let identity = self.start(flow, AppLimited::new(inner), world);
        self.flows[FlowId(identity.slot.0).slot()].sender.wait_for_data();
        identity
    }

    /// Whether the connection of a slot is over.
    pub(crate) fn is_over(&self, slot: u32) -> bool {
        self.flows[slot as usize].row == Flow::<AppLimited>::FREE
    }

    /// The class of the connection of a slot.
    pub(crate) fn class(&self, slot: u32) -> u16 {
        self.flows[slot as usize].class
    }

    /// Whether the client may send requests, or in an upload its data.
    pub(crate) fn may_ask(&self, slot: u32, upload: bool) -> bool {
        let Flow { sender, receiver, .. } = &self.flows[slot as usize];
        if upload { sender.is_open() } else { receiver.is_open() }
    }

    /// Segments of data that have arrived in order, as the client knows.
    pub(crate) fn arrived(&self, slot: u32, upload: bool) -> u32 {
        let Flow { sender, receiver, .. } = &self.flows[slot as usize];
        if upload { sender.acked() } else { receiver.received() }
    }

    /// Segments that the server has handed in.
    pub(crate) fn handed_in(&self, slot: u32) -> u32 {
        self.flows[slot as usize].sender.handed_in()
    }

    /// The client sends data of its own in one packet; `number` is the packet's number.
    pub(crate) fn say(&mut self, slot: u32, bytes: u32, number: u32, world: &mut World<'_>) {
        let address = self.flows[slot as usize].address(FlowId::new(self.number, slot));
        let (_, receiver, ctx) = self.borrow(slot as usize, world);
        let mut packet =
            receiver.say(bytes + ctx.class.tcp.header, &address, ctx.class, ctx.net.now);
        packet.seq = number;
        ctx.net.send(&packet);
    }

    /// When a timer of the client fires that is set now for `wait`.
    pub(crate) fn fires(&self, slot: u32, wait: Time, world: &World<'_>) -> Time {
        let flow = &self.flows[slot as usize];
        world.classes[usize::from(flow.class)].fires(flow.sink, world.net.now, wait)
    }

    /// The server tells the client how many requests have arrived, in a packet without data.
    pub(crate) fn acknowledge(&mut self, slot: u32, number: u32, world: &mut World<'_>) {
        let flow = &self.flows[slot as usize];
        let address = flow.address(FlowId::new(self.number, slot));
        let header = world.classes[usize::from(flow.class)].tcp.header;
        let mut packet = address.towards_sink(Flags::ACK, header, world.net.now);
        packet.seq = number;
        world.net.send(&packet);
    }

    /// The sending end hands in data.
    pub(crate) fn hand_in(&mut self, slot: u32, part: Part, world: &mut World<'_>) {
        let id = FlowId::new(self.number, slot);
        let address = self.flows[slot as usize].address(id);
        let (sender, _, mut ctx) = self.borrow(slot as usize, world);
        sender.hand_in(part, &address, &mut ctx);
        self.arm(id, world);
    }

    /// The sending end closes the connection after what it has handed in.
    pub(crate) fn close_now(&mut self, slot: u32, world: &mut World<'_>) {
        let id = FlowId::new(self.number, slot);
        let address = self.flows[slot as usize].address(id);
        let (sender, _, mut ctx) = self.borrow(slot as usize, world);
        sender.close_now(&address, &mut ctx);
        self.arm(id, world);
    }

    /// The user leaves at an instant.
    pub(crate) fn leave_at(&mut self, slot: u32, at: Time, world: &mut World<'_>) {
        self.flows[slot as usize].sender.give_up = at;
        self.arm(FlowId::new(self.number, slot), world);
    }

    /// The user leaves now.
    pub(crate) fn leave(&mut self, slot: u32, world: &mut World<'_>) {
        let now = world.net.now;
        let address = self.flows[slot as usize].address(FlowId::new(self.number, slot));
        let (sender, _, mut ctx) = self.borrow(slot as usize, world);
        sender.give_up = now;
        if sender.expire(&address, &mut ctx) == FlowFate::Over {
            self.release(slot as usize, world);
        }
    }

    /// The connection of a slot, as a capture knows it.
    pub(crate) fn known_as(&self, slot: u32, world: &World<'_>) -> Identity {
        self.identity(slot as usize, world.classes)
    }
}
