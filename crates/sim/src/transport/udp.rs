//! UDP: at a constant rate packets are sent at their times, whether or not they arrive; those of an
//! encoder follow reports of the receiver (`media.rs`).
//!
//! A flow has no handshake, and gets no answer but reports. It is admitted when it starts. It is
//! closed when everything is sent and, if it has a size, its last packet that gets through has
//! arrived: then it is complete, unless data was lost. What arrives later is still counted, so a
//! flow keeps its slot to the end of the run.

mod copies;
mod heard;
mod media;

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Pace, Time};
use tidegate_model::columns::{Category, Column, UdpRow};
use tidegate_model::draw::{Frames, Periods};
use tidegate_model::scenario::{self, Codepoint, Scenario, Transport, Udp};

use super::receiver::Address;
use super::table::{NewFlow, World};
use crate::capture::Identity;
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::names::names;
use crate::network::Network;
use crate::rows::{Row, UNLIMITED};
use copies::Copies;
use heard::{Heard, Jitter};
use media::Stream;

/// One flow: how much is left to send, and when.
struct UdpFlow {
    row: u32,
    class: u16,
    address: Address,
    /// Number of the next packet.
    seq: u32,
    /// Bytes left, or [`UNLIMITED`].
    left: u64,
    /// Start of the present burst.
    begun: Time,
    /// Packets and bytes (headers included) sent since then.
    packets: u32,
    bytes: u64,
    /// When it sends, and the end of the present time of sending.
    periods: Option<(Box<Periods>, Time)>,
    jitter: Jitter,
    /// The encoder, and what is reported of its packets.
    stream: Option<Box<Stream>>,
}

/// What a class sends, at which pace, and what has arrived of it.
struct Class {
    name: String,
    udp: Udp,
    pace: Pace,
    heard: Heard,
    /// Flows that have started.
    started: u64,
}

impl Class {
    /// None: the class does not send by UDP.
    fn new(class: &scenario::Class) -> Option<Class> {
        let Transport::Udp(udp) = &class.transport else { return None };
        let (name, udp) = (class.name.clone(), udp.clone());
        Some(Class { name, pace: udp.rate.pace(), udp, heard: Heard::new(), started: 0 })
    }

    /// When its next flow sends, which starts at `now`.
    fn periods(&mut self, seed: u64, now: Time) -> Option<(Box<Periods>, Time)> {
        let number = self.started;
        let mut periods = Periods::new(seed, &self.name, number, self.udp.on_off.clone()?);
        let end = now + periods.on();
        Some((Box::new(periods), end))
    }

    /// The encoder of its next flow, if it has any.
    fn stream(&self, seed: u64, now: Time) -> Option<Box<Stream>> {
        let media = self.udp.media.as_ref()?;
        Some(Box::new(Stream::new(media, Frames::new(seed, &self.name, self.started, media), now)))
    }

    /// The flags of a packet that carries data.
    fn flags(&self, last: bool) -> Flags {
        let last = if last { Flags::PUSH } else { Flags::NONE };
        let ecn = match self.udp.ecn {
            None => Flags::NONE,
            Some(Codepoint::Ect0) => Flags::ECT,
            Some(Codepoint::Ect1) => Flags::ECT.with(Flags::L4S),
        };
        Flags::DATA.with(last).with(ecn)
    }
}

/// Everything of a flow is sent: it is closed, unless it was when its last byte arrived.
fn close(row: &mut Row, now: Time) {
    if row.data_done == Time::NEVER {
        row.closed = now;
    }
}

/// All flows under UDP.
pub(crate) struct UdpTable {
    number: u32,
    /// By the class's number; none: not by UDP.
    classes: Vec<Option<Class>>,
    flows: Vec<UdpFlow>,
    /// What was sent before this instant is not measured.
    warmup: Time,
    seed: u64,
    /// What arrived already, where links deliver packets twice.
    copies: Option<Copies>,
}

impl UdpTable {
    pub(crate) fn new(number: u32, scenario: &Scenario, seed: u64) -> UdpTable {
        let classes = scenario.traffic.iter().map(Class::new).collect();
        let copies = Network::makes_copies(scenario).then(Copies::default);
        UdpTable { number, classes, flows: Vec::new(), warmup: scenario.warmup, seed, copies }
    }

    /// Whether one more flow fits.
    pub(crate) fn has_room(&self) -> bool {
        (self.flows.len() as u32) < FlowId::SLOTS
    }

    /// Starts a flow: its first packet goes out.
    pub(crate) fn start(&mut self, flow: &NewFlow, world: &mut World<'_>) -> Identity {
        let now = world.net.now;
        let row = &mut world.rows[flow.row as usize];
        (row.admitted, row.reached) = (now, now);
        let id = FlowId::new(self.number, self.flows.len() as u32);
        let class = self.classes.get_mut(usize::from(flow.class)).and_then(Option::as_mut);
        let (periods, stream) = class.map_or((None, None), |class| {
            let drawn = (class.periods(self.seed, now), class.stream(self.seed, now));
            class.started += 1;
            drawn
        });
        self.flows.push(UdpFlow {
            row: flow.row,
            class: flow.class,
            address: flow.address(id, 0),
            seq: 0,
            left: flow.size,
            begun: now,
            packets: 0,
            bytes: 0,
            periods,
            jitter: Jitter::default(),
            stream,
        });
        self.expire(id, world);
        Identity { slot: (id.0, 0), row: flow.row, class: flow.class, bytes: flow.size, end: 0 }
    }

    /// Sends one packet, and schedules the next one or the end.
    fn send(&mut self, id: FlowId, world: &mut World<'_>) {
        let flow = &mut self.flows[id.slot()];
        let Some(class) = &mut self.classes[usize::from(flow.class)] else { return };
        class.heard.sent += u64::from(world.net.now >= self.warmup);
        let full = u64::from(class.udp.packet - Udp::HEADER);
        let payload = full.min(flow.left);
        let size = payload as u32 + Udp::HEADER;
        if flow.left != UNLIMITED {
            flow.left -= payload;
        }
        let flags = class.flags(flow.left == 0);
        let Class { udp, pace, .. } = class;
        let mut packet = flow.address.towards_sink(flags, size, world.net.now);
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
        if let Some((periods, end)) = &mut flow.periods
            && next >= *end
            && flow.left > 0
        {
            // what is left of the last packet's time belongs to the silence
            next = next.max(*end + periods.off());
            *end = next + periods.on();
            (flow.begun, flow.packets, flow.bytes) = (next, 0, 0);
        }
        world.net.send(&packet);
        world.net.events.push(next, Entity::new(EventKind::Flow, id.0));
    }

    /// The next packet of a flow is due.
    pub(crate) fn expire(&mut self, id: FlowId, world: &mut World<'_>) {
        let flow = &self.flows[id.slot()];
        if flow.stream.is_some() {
            self.run_due(id, world);
        } else if flow.left == 0 {
            close(&mut world.rows[flow.row as usize], world.net.now);
        } else {
            self.send(id, world);
        }
    }

    /// A packet has reached its receiver, or a report the sender.
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        let id = FlowId(packet.flow);
        let Some(flow) = self.flows.get_mut(id.slot()) else { return };
        if packet.flags.has(Flags::TO_SOURCE) {
            if let Some(stream) = &mut flow.stream {
                stream.on_report(packet.seq, world.net.now);
            }
            return self.run_due(id, world);
        }
        world.classes[usize::from(flow.class)].arrived_bytes += u64::from(packet.size);
        if self.copies.as_mut().is_some_and(|copies| copies.has(packet)) {
            return;
        }
        let made = flow.stream.as_mut().map(|stream| stream.arrived(packet, world.net.now));
        let transit = world.net.now - made.unwrap_or(packet.sent);
        let jitter = flow.jitter.heard(transit);
        if packet.sent >= self.warmup
            && let Some(class) = &mut self.classes[usize::from(flow.class)]
        {
            class.heard.add(transit, jitter);
        }
        let row = &mut world.rows[flow.row as usize];
        row.delivered += u64::from(u32::from(packet.size) - Udp::HEADER);
        if row.delivered == row.size {
            row.data_done = world.net.now;
            row.closed = world.net.now;
        } else if row.closed != Time::NEVER && row.size != UNLIMITED {
            row.closed = world.net.now;
        }
        if flow.stream.is_some() {
            self.arm(id, world);
        }
    }

    /// Unlimited flows of a class send no more: they close when their next packet would be due.
    pub(crate) fn stop(&mut self, class: u16) {
        let endless = |flow: &&mut UdpFlow| flow.class == class && flow.left == UNLIMITED;
        for flow in self.flows.iter_mut().filter(endless) {
            flow.left = 0;
        }
    }

    /// The class of the flow that a packet belongs to.
    pub(crate) fn class_of(&self, packet: &Packet) -> Option<u16> {
        self.flows.get(FlowId(packet.flow).slot()).map(|flow| flow.class)
    }

    /// The `udp` table; of the packets that are `left` in the network none is received or lost.
    pub(crate) fn columns<'a>(
        &self,
        left: impl Iterator<Item = &'a Packet>,
        scenario: &Scenario,
    ) -> Vec<Column> {
        let mut under_way = vec![0; self.classes.len()];
        let mut copies = self.copies.clone();
        for packet in left {
            let mine = FlowId(packet.flow).table() == self.number && packet.sent >= self.warmup;
            let mine = mine && !packet.flags.has(Flags::TO_SOURCE);
            let mine = mine && !copies.as_mut().is_some_and(|copies| copies.has(packet));
            if let Some(class) = self.class_of(packet).filter(|_| mine) {
                under_way[usize::from(class)] += 1;
            }
        }
        let rows =
            (0..).zip(self.classes.iter().zip(under_way)).filter_map(|(class, (udp, way))| {
                let heard = &udp.as_ref()?.heard;
                Some(UdpRow {
                    class: Category(class),
                    sent_packets: heard.sent,
                    received_packets: heard.delays.count(),
                    lost_packets: heard.sent - heard.delays.count() - way,
                    delay_min_s: heard.delays.least_s(),
                    delay_mean_s: heard.delays.mean_s(),
                    delay_p50_s: heard.quantile_s(0.5),
                    delay_p95_s: heard.quantile_s(0.95),
                    delay_p99_s: heard.quantile_s(0.99),
                    delay_max_s: heard.delays.most_s(),
                    jitter_s: heard.jitter_s(),
                })
            });
        UdpRow::columns(rows, |column| names(scenario, column))
    }
}
