//! Flows whose ends are hosts of another kind ([`Host`]): their datagrams meet the same ports as
//! every other packet.
//!
//! A flow is opened, carries its data and ends as its hosts say. What its row knows of them is
//! what an application at each end would know. The connections of users ([`HostTable::order`])
//! carry objects in place of one transfer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_core::host::{Ends, Heard, Host, Mark, Order, Phase, Report};
use tidegate_core::packet::{Ext, Flags, Form, Packet};
use tidegate_core::units::Time;
use tidegate_core::wire::quic::Initial;
use tidegate_model::scenario::{Class, Transport, Udp};

use super::Snapshot;
use super::receiver::Address;
use super::table::{NewFlow, World};
use crate::capture::Identity;
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::rows::Row;

/// Place of the end that sends the data, and of the one that receives it.
const SOURCE: usize = 0;
const SINK: usize = 1;
/// A host that wants to be woken at once is woken this much later, so that time goes on.
const SOON: Time = Time::from_ns(1_000);

/// One end of a flow.
struct HostEnd {
    host: Box<dyn Host + Send>,
    report: Report,
    wake: Time,
    /// How long its timers wait for others of its program ([`Host::slack`]).
    slack: Time,
    /// When it is first in [`HostTable::programs`].
    queued: Time,
}

impl HostEnd {
    fn new(host: Box<dyn Host + Send>) -> HostEnd {
        let slack = host.slack();
        let (wake, queued) = (Time::NEVER, Time::NEVER);
        HostEnd { host, report: Report::default(), wake, slack, queued }
    }

    fn shares_program(&self) -> bool {
        self.slack > Time::ZERO
    }

    /// When its timer fires if nothing wakes its program before.
    fn latest(&self) -> Time {
        self.wake.saturating_add(self.slack)
    }

    /// Whether the host has a connection.
    fn lives(&self) -> bool {
        !matches!(self.report.phase, Phase::Waiting | Phase::Over)
    }
}

struct HostFlow {
    ends: [HostEnd; 2],
    /// Which of them opens the connection.
    client: usize,
    /// What the application of each end wants.
    orders: [Order; 2],
    /// When the flow's one pending timer fires.
    armed: Time,
    /// When its user gives up.
    give_up: Time,
    /// Whether nothing has come back to the client yet.
    unanswered: bool,
    /// Whether the source has sent an Initial: then no other packet opens the way to the sink.
    initial: bool,
    /// Its row of results ([`FREE`]: the slot is free).
    row: u32,
    class: u16,
    /// How to address its packets; `generation` tells it from other flows of its slot.
    address: Address,
    endless: bool,
    /// Whether it carries objects in place of one transfer.
    objects: bool,
    /// When the last data came to the sink.
    last: Time,
    /// The number of the client that opens it, from 1.
    number: u16,
}

/// The row of a free slot.
const FREE: u32 = u32::MAX;

/// All flows whose ends are hosts.
pub(crate) struct HostTable {
    number: u32,
    /// Bytes of a full datagram, by class.
    full: Vec<f64>,
    flows: Vec<HostFlow>,
    free: Vec<u32>,
    /// Timers of servers that share a program, by class: when they are due, and of which flow.
    programs: Vec<BinaryHeap<Reverse<(Time, u32)>>>,
}

impl HostTable {
    pub(crate) fn new(number: u32, classes: &[Class]) -> HostTable {
        let full = |class: &Class| match &class.transport {
            Transport::Quic(quic) => f64::from(quic.datagram()),
            _ => f64::NAN,
        };
        HostTable {
            number,
            full: classes.iter().map(full).collect(),
            flows: Vec::new(),
            free: Vec::new(),
            programs: classes.iter().map(|_| BinaryHeap::new()).collect(),
        }
    }

    /// Whether one more flow fits.
    pub(crate) fn has_room(&self) -> bool {
        (self.flows.len() as u32) < FlowId::SLOTS || !self.free.is_empty()
    }

    /// Starts a flow: its client begins.
    pub(crate) fn start(&mut self, flow: &NewFlow, ends: Ends, world: &mut World<'_>) -> Identity {
        let client = if flow.download { SINK } else { SOURCE };
        let (source, sink) =
            if flow.download { (ends.server, ends.client) } else { (ends.client, ends.server) };
        let patience = world.classes[usize::from(flow.class)].patience;
        let mut record = HostFlow {
            ends: [HostEnd::new(source), HostEnd::new(sink)],
            client,
            orders: [Order::GoOn; 2],
            armed: Time::NEVER,
            give_up: patience.map_or(Time::NEVER, |wait| world.net.now.saturating_add(wait)),
            unanswered: true,
            initial: false,
            row: flow.row,
            class: flow.class,
            address: flow.address(FlowId(0), 0),
            endless: flow.size == crate::rows::UNLIMITED,
            objects: self.number == FlowId::APP_HOSTS,
            last: Time::NEVER,
            number: flow.client,
        };
        // a client has a program of its own
        record.ends[client].slack = Time::ZERO;
        let slot = match self.free.pop() {
            Some(slot) => {
                let place = &mut self.flows[slot as usize];
                record.address.generation = place.address.generation;
                *place = record;
                slot as usize
            }
            None => {
                self.flows.push(record);
                self.flows.len() - 1
            }
        };
        let id = FlowId::new(self.number, slot as u32);
        let address = &mut self.flows[slot].address;
        address.flow = id.0;
        let generation = address.generation;
        self.run_host(id, client, world);
        self.end_or_arm(id, world);
        let NewFlow { row, class, size: bytes, .. } = *flow;
        Identity { slot: (id.0, generation), row, class, bytes, end: 0 }
    }

    /// A host has its turn.
    fn run_host(&mut self, id: FlowId, side: usize, world: &mut World<'_>) {
        let order = self.flows[id.slot()].orders[side];
        self.carry_out(id, side, order, world);
    }

    /// A host does what is due and what its application wants, and sends what it may.
    fn carry_out(&mut self, id: FlowId, side: usize, order: Order, world: &mut World<'_>) {
        let now = world.net.now;
        let flow = &mut self.flows[id.slot()];
        let end = &mut flow.ends[side];
        end.report = end.host.poll(now, order);
        loop {
            let place = world.net.datagrams.place();
            let bytes = world.net.datagrams.bytes(place);
            let sent = flow.ends[side].host.transmit(now, bytes);
            let Some(mark) = sent.filter(|_| !bytes.is_empty()) else {
                world.net.datagrams.free(place);
                break;
            };
            let initial = Initial::read(bytes).is_some();
            let length = bytes.len() as u32;
            let row = &mut world.rows[flow.row as usize];
            let packet = flow.packet(side, (place, length, initial), mark, (now, row));
            world.net.send(&packet);
        }
        let end = &mut flow.ends[side];
        end.wake = match end.host.wake() {
            soon if soon <= now => now + SOON,
            later => later,
        };
        flow.record(&mut world.rows[flow.row as usize], now);
        self.queue(id, side);
    }

    /// The timer of an end that shares a program waits there.
    fn queue(&mut self, id: FlowId, side: usize) {
        let flow = &mut self.flows[id.slot()];
        let end = &mut flow.ends[side];
        if end.shares_program() && end.wake < end.queued {
            end.queued = end.wake;
            self.programs[usize::from(flow.class)].push(Reverse((end.wake, id.0)));
        }
    }

    /// The program of a class's servers has woken up: all its timers that are due fire, but for those
    /// of the connection that has a packet, which it reads before.
    fn wake_program(&mut self, class: u16, packet_of: Option<FlowId>, world: &mut World<'_>) {
        let now = world.net.now;
        while let Some(&Reverse((at, number))) = self.programs[usize::from(class)].peek()
            && at <= now
        {
            self.programs[usize::from(class)].pop();
            let id = FlowId(number);
            let flow = &mut self.flows[id.slot()];
            let server = SOURCE + SINK - flow.client;
            let end = &mut flow.ends[server];
            // of an earlier flow
            if flow.row == FREE || flow.class != class || end.queued != at {
                continue;
            }
            end.queued = Time::NEVER;
            if packet_of.is_some_and(|flow| flow.0 == number) {
                // its turn comes, and queues it anew
                continue;
            }
            if end.wake <= now {
                self.run_host(id, server, world);
                self.end_or_arm(id, world);
            } else {
                self.queue(id, server);
            }
        }
    }

    /// Ends the flow if both of its hosts are done, or sees to it that its next timer fires.
    fn end_or_arm(&mut self, id: FlowId, world: &mut World<'_>) {
        let flow = &mut self.flows[id.slot()];
        if !flow.ends.iter().any(HostEnd::lives) {
            flow.row = FREE;
            // packets of this flow that are still in the network belong to no flow
            flow.address.generation = flow.address.generation.wrapping_add(1);
            flow.armed = Time::NEVER;
            flow.ends = [(); 2].map(|()| HostEnd::new(Box::new(Gone)));
            self.free.push(id.slot() as u32);
            return;
        }
        let due = flow.ends[SOURCE].latest().min(flow.ends[SINK].latest()).min(flow.give_up);
        if due < flow.armed {
            flow.armed = due;
            world.net.events.push(due, Entity::new(EventKind::Flow, id.0));
        }
    }

    /// The flow of this number and generation, if it is not over.
    fn holds(&self, number: u32, generation: u16) -> Option<&HostFlow> {
        let flow = self.flows.get(FlowId(number).slot())?;
        (flow.address.generation == generation && flow.row != FREE).then_some(flow)
    }

    /// A packet has reached one of the ends.
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        let Some(place) = packet.payload() else { return };
        let now = world.net.now;
        let id = FlowId(packet.flow);
        if self.holds(packet.flow, packet.generation).is_none() {
            return world.net.datagrams.free(place);
        }
        let flow = &mut self.flows[id.slot()];
        let side = if packet.flags.has(Flags::TO_SOURCE) { SOURCE } else { SINK };
        let class = &mut world.classes[usize::from(flow.class)];
        if side == SINK && packet.flags.has(Flags::DATA) {
            class.arrived_bytes += u64::from(packet.size);
        }
        let by_answer = flow.client == SOURCE && class.by_answer;
        let opens = packet.ext != Ext::Datagram { payload: place, form: Form::Other };
        if side == if by_answer { SOURCE } else { SINK } && (opens || !flow.initial) {
            world.rows[flow.row as usize].admit(packet, now);
        }
        flow.unanswered &= side != flow.client;
        if flow.ends[side].shares_program() {
            let class = flow.class;
            self.wake_program(class, Some(id), world);
        }
        let flow = &mut self.flows[id.slot()];
        let bytes = world.net.datagrams.bytes(place);
        flow.ends[side].host.receive(now, bytes, Mark::of(packet.flags));
        world.net.datagrams.free(place);
        self.run_host(id, side, world);
        self.end_or_arm(id, world);
    }

    /// A timer of the flow is due.
    pub(crate) fn expire(&mut self, id: FlowId, world: &mut World<'_>) {
        let now = world.net.now;
        let flow = &mut self.flows[id.slot()];
        // an event that a shorter deadline replaced, or that of an earlier flow
        if flow.armed != now {
            return;
        }
        flow.armed = Time::NEVER;
        if flow.give_up <= now {
            flow.give_up = Time::NEVER;
            flow.orders[flow.client] = Order::Abort;
            flow.ends[flow.client].wake = now;
            world.rows[flow.row as usize].gave_up = now;
        }
        let class = flow.class;
        for side in [SOURCE, SINK] {
            let end = &self.flows[id.slot()].ends[side];
            if end.latest() > now {
                continue;
            }
            if end.shares_program() {
                self.wake_program(class, None, world);
            } else {
                self.run_host(id, side, world);
            }
        }
        if self.flows[id.slot()].row != FREE {
            self.end_or_arm(id, world);
        }
    }

    /// Unlimited flows of a class hand in no more data.
    pub(crate) fn stop(&mut self, class: u16, world: &mut World<'_>) {
        for slot in 0..self.flows.len() {
            let flow = &mut self.flows[slot];
            if flow.class == class && flow.row != FREE && flow.endless {
                flow.orders[SOURCE] = Order::Stop;
                let id = FlowId::new(self.number, slot as u32);
                self.run_host(id, SOURCE, world);
                self.end_or_arm(id, world);
            }
        }
    }

    /// Which end of a connection is the server, or the client.
    fn side(&self, slot: u32, server: bool) -> usize {
        let client = self.flows[slot as usize].client;
        if server { SOURCE + SINK - client } else { client }
    }

    /// The application of the server or of the client wants something.
    pub(crate) fn order(&mut self, slot: u32, server: bool, order: Order, world: &mut World<'_>) {
        let id = FlowId::new(self.number, slot);
        if self.flows[id.slot()].row == FREE {
            return;
        }
        self.carry_out(id, self.side(slot, server), order, world);
        self.end_or_arm(id, world);
    }

    /// The user of a connection leaves.
    pub(crate) fn leave(&mut self, slot: u32, world: &mut World<'_>) {
        if !self.is_over(slot) {
            world.rows[self.flows[slot as usize].row as usize].gave_up = world.net.now;
            self.order(slot, false, Order::Abort, world);
        }
    }

    /// What the server or the client has heard of objects.
    pub(crate) fn heard(&mut self, slot: u32, server: bool) -> Option<Heard> {
        let side = self.side(slot, server);
        self.flows[slot as usize].ends[side].host.heard()
    }

    /// Whether the client of a connection may ask for objects, or send them.
    pub(crate) fn may_ask(&self, slot: u32) -> bool {
        let flow = &self.flows[slot as usize];
        flow.row != FREE && flow.ends[flow.client].report.phase == Phase::Open
    }

    /// Whether the client has no connection any more.
    pub(crate) fn is_over(&self, slot: u32) -> bool {
        let flow = &self.flows[slot as usize];
        let phase = flow.ends[flow.client].report.phase;
        flow.row == FREE || matches!(phase, Phase::Closing | Phase::Over)
    }

    /// The class of the flow that a packet belongs to, if that flow is not over.
    pub(crate) fn class_of(&self, packet: &Packet) -> Option<u16> {
        self.holds(packet.flow, packet.generation).map(|flow| flow.class)
    }

    /// The state of a flow, if it is not over.
    pub(crate) fn snapshot(&self, flow: &Identity) -> Option<Snapshot> {
        let full = self.full[usize::from(flow.class)];
        let flow = self.holds(flow.slot.0, flow.slot.1)?;
        let Report { window, srtt, .. } = flow.ends[SOURCE].report;
        let cwnd = window.map_or(f64::NAN, |bytes| bytes as f64 / full);
        let delivered = flow.ends[SINK].report.delivered;
        Some(Snapshot { cwnd, srtt, flight: f64::NAN, delivered })
    }
}

impl HostFlow {
    /// The packet that carries a datagram: where its bytes lie, how many they are, and whether they
    /// are an Initial.
    fn packet(
        &mut self,
        side: usize,
        (payload, length, initial): (u32, u32, bool),
        mark: Mark,
        (now, row): (Time, &mut Row),
    ) -> Packet {
        let form = match (initial, side == self.client) {
            (false, _) => Form::Other,
            (true, true) => Form::ClientInitial,
            (true, false) => Form::ServerInitial,
        };
        self.initial |= side == SOURCE && form != Form::Other;
        if form == Form::ClientInitial && self.unanswered {
            row.syn_tries = row.syn_tries.saturating_add(1);
        }
        let address = self.address;
        let size = (length + Udp::HEADER).min(u32::from(u16::MAX));
        let mut packet = if side == SINK {
            address.towards_source(mark.flags(), size, now)
        } else if form == Form::Other {
            row.sent = row.sent.saturating_add(1);
            address.towards_sink(mark.flags().with(Flags::DATA), size, now)
        } else {
            address.towards_sink(mark.flags(), size, now)
        };
        packet.client = self.number;
        packet.ext = Ext::Datagram { payload, form };
        packet
    }

    /// Writes into its row how far its ends are.
    fn record(&mut self, row: &mut Row, now: Time) {
        let [source, sink] = [SOURCE, SINK].map(|side| self.ends[side].report);
        if sink.delivered > row.delivered {
            self.last = now;
        }
        row.delivered = sink.delivered;
        row.retransmitted = source.lost;
        if sink.complete && row.data_done == Time::NEVER && !self.objects {
            row.data_done = now;
        }
        if row.closed != Time::NEVER || row.gave_up != Time::NEVER {
            return;
        }
        let client = self.ends[self.client].report;
        if client.failed {
            row.gave_up = now;
        } else if matches!(client.phase, Phase::Closing | Phase::Over) {
            row.closed = now;
            if self.objects {
                row.data_done = self.last;
            }
        } else {
            return;
        }
        self.give_up = Time::NEVER;
    }
}

/// In the place of a host whose flow is over.
struct Gone;

impl Host for Gone {
    fn receive(&mut self, _: Time, _: &[u8], _: Mark) {}

    fn transmit(&mut self, _: Time, _: &mut Vec<u8>) -> Option<Mark> {
        None
    }

    fn wake(&mut self) -> Time {
        Time::NEVER
    }

    fn poll(&mut self, _: Time, _: Order) -> Report {
        Report::default()
    }
}
