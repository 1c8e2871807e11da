//! The connections of users over TCP, and what they ask over them.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::scenario::{Class, Scenario};

use super::carrier::{Asked, Carrier, ConnectionNews};
use super::exchange::{Answer, Arrived, Exchange, Request};
use crate::capture::{Identity, Noted};
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::transport::control::{Any, AppLimited};
use crate::transport::sender::driven::Part;
use crate::transport::table::{FlowTable, NewFlow, World};

/// Bytes of the request to close, about those of a GOAWAY of HTTP/2 (RFC 9113, 6.8) in a record
/// of TLS.
const GOODBYE: u32 = 46;
/// Segments after which a connection takes no further requests: their numbers have 32 bits.
const MOST_SEGMENTS: u32 = 1 << 30;

/// All connections over TCP.
pub(crate) struct Connections {
    pub(super) flows: FlowTable<AppLimited>,
    /// By slot.
    exchanges: Vec<Exchange>,
    /// Bytes of a request, by class.
    requests: Vec<u32>,
    /// What a capture has to know; none: there is no capture.
    pub(super) noted: Option<Vec<Noted>>,
}

impl Connections {
    pub(super) fn new(scenario: &Scenario) -> Connections {
        let requests = scenario.traffic.iter().map(Class::request);
        Connections {
            flows: FlowTable::new(FlowId::APPS),
            exchanges: Vec::new(),
            requests: requests.collect(),
            noted: None,
        }
    }

    /// A connection of a user is being opened.
    pub(super) fn open(
        &mut self,
        user: u32,
        flow: &NewFlow,
        control: Any,
        world: &mut World<'_>,
    ) -> Identity {
        let identity = self.flows.open_for(flow, control, world);
        let slot = FlowId(identity.slot.0).slot();
        let class = &world.classes[usize::from(self.flows.class(slot as u32))];
        let exchange = Exchange::new(user, flow.row, !flow.download, class);
        match self.exchanges.get_mut(slot) {
            Some(place) => *place = exchange,
            None => self.exchanges.push(exchange),
        }
        identity
    }

    /// The client sends requests, or in an upload what they name.
    fn send_new(&mut self, slot: u32, requests: &[Request], world: &mut World<'_>) {
        let exchange = &mut self.exchanges[slot as usize];
        let from = exchange.asked + 1;
        for &request in requests {
            exchange.ask(request);
        }
        if exchange.upload {
            exchange.get(exchange.asked, world.net.now);
            exchange.heard = exchange.asked;
            return self.answer(slot, world);
        }
        self.send(slot, from, world);
        let class = &world.classes[usize::from(self.flows.class(slot))];
        let exchange = &mut self.exchanges[slot as usize];
        if exchange.resend == Time::NEVER {
            let wait = exchange.timeout(world.net.now, class);
            exchange.resend = self.flows.fires(slot, wait, world);
            self.arm(slot, world);
        }
    }

    /// Bytes of a request, and how many of them a packet takes.
    fn packing(&self, slot: u32, world: &World<'_>) -> (u32, u32) {
        let class = usize::from(self.flows.class(slot));
        let bytes = self.requests[class];
        (bytes, (world.classes[class].tcp.mss / bytes).max(1))
    }

    /// Sends the requests from `from` on, for the first time or again.
    fn send(&mut self, slot: u32, from: u32, world: &mut World<'_>) {
        let (bytes, most) = self.packing(slot, world);
        let mut from = from;
        let exchange = &self.exchanges[slot as usize];
        while from <= exchange.asked {
            let last = exchange.packed(from, most);
            let goodbye = exchange.closing == Some(from);
            let payload = if goodbye { bytes.min(GOODBYE) } else { (last + 1 - from) * bytes };
            self.flows.say(slot, payload, last, world);
            from = last + 1;
        }
    }

    /// A packet has reached one of the ends.
    pub(super) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) -> ConnectionNews {
        if self.flows.class_of(packet).is_none() {
            return ConnectionNews::Nothing;
        }
        let slot = FlowId(packet.flow).slot() as u32;
        // to the end that sends data
        let to_server = packet.flags.has(Flags::TO_SOURCE);
        let request = to_server && packet.flags.has(Flags::DATA);
        if request && !self.is_next(slot, packet, world) {
            return ConnectionNews::Nothing;
        }
        self.flows.deliver(packet, world);
        if self.flows.is_over(slot) {
            return ConnectionNews::Over;
        }
        if request {
            self.get(slot, packet.seq, world);
        } else if self.exchanges[slot as usize].upload {
            return if to_server { ConnectionNews::ToClient } else { ConnectionNews::Nothing };
        } else if !to_server {
            self.hear(slot, packet, world);
            return ConnectionNews::ToClient;
        }
        ConnectionNews::Nothing
    }

    /// Whether a packet of requests says something new. One that does not is acknowledged once
    /// more, where no answer will do that soon.
    fn is_next(&mut self, slot: u32, packet: &Packet, world: &mut World<'_>) -> bool {
        let (bytes, _) = self.packing(slot, world);
        let class = &world.classes[usize::from(self.flows.class(slot))];
        let payload = u32::from(packet.size).saturating_sub(class.tcp.header);
        let exchange = &mut self.exchanges[slot as usize];
        let next = exchange.is_next(packet.seq, (payload / bytes).max(1));
        if !next {
            exchange.came_twice();
        }
        if !next && exchange.is_making() {
            self.acknowledge(slot, world);
        }
        next
    }

    /// The server tells how many requests have come, in a packet without data.
    fn acknowledge(&mut self, slot: u32, world: &mut World<'_>) {
        let exchange = &mut self.exchanges[slot as usize];
        exchange.told();
        self.flows.acknowledge(slot, exchange.served, world);
    }

    /// The server gets requests.
    fn get(&mut self, slot: u32, last: u32, world: &mut World<'_>) {
        let now = world.net.now;
        let waits = self.exchanges[slot as usize].get(last, now);
        self.answer(slot, world);
        if waits && self.exchanges[slot as usize].tells_at_once(now) {
            self.acknowledge(slot, world);
        }
        self.arm(slot, world);
    }

    /// The server hands in what it has ready.
    fn answer(&mut self, slot: u32, world: &mut World<'_>) {
        loop {
            let first = self.flows.handed_in(slot);
            let ready = self.exchanges[slot as usize].ready(world.net.now, first);
            let Some(ready) = ready else { return };
            self.note_read(slot, first, world);
            match ready {
                Answer::Data(part) => {
                    self.flows.hand_in(slot, part, world);
                    if part.lacking > 0 && !part.last {
                        let end = first + part.segments;
                        let flow = self.flows.known_as(slot, world).slot;
                        self.record(Noted::Short { flow, end, lacking: part.lacking });
                    }
                    if part.last {
                        self.note_end(slot, world);
                    }
                }
                Answer::Close => {
                    self.flows.close_now(slot, world);
                    self.note_end(slot, world);
                }
            }
        }
    }

    /// What is handed in from segment `first` on acknowledges the requests that were read so far.
    fn note_read(&mut self, slot: u32, first: u32, world: &World<'_>) {
        if self.noted.is_none() || self.exchanges[slot as usize].upload {
            return;
        }
        let (bytes, _) = self.packing(slot, world);
        let exchange = &self.exchanges[slot as usize];
        let goodbyes =
            u32::from(exchange.closing.is_some_and(|closing| closing <= exchange.served));
        let whole = u64::from(exchange.served - goodbyes) * u64::from(bytes);
        let bytes = whole + u64::from(goodbyes * bytes.min(GOODBYE));
        let flow = self.flows.known_as(slot, world).slot;
        self.record(Noted::Read { flow, first, bytes });
    }

    fn note_end(&mut self, slot: u32, world: &World<'_>) {
        self.record(Noted::Flow(self.flows.known_as(slot, world)));
    }

    fn record(&mut self, noted: Noted) {
        if let Some(list) = &mut self.noted {
            list.push(noted);
        }
    }

    /// What the client learns of its requests from a packet.
    fn hear(&mut self, slot: u32, packet: &Packet, world: &mut World<'_>) {
        let exchange = &mut self.exchanges[slot as usize];
        if exchange.heard == exchange.asked {
            return;
        }
        let number = match () {
            // the server closes
            () if exchange.closing.is_some() && !self.flows.may_ask(slot, false) => exchange.asked,
            () if packet.flags.has(Flags::DATA) => exchange.begun_by(packet.seq),
            () if packet.flags.has(Flags::SYN) || packet.flags.has(Flags::FIN) => 0,
            () => packet.seq,
        };
        let class = &world.classes[usize::from(self.flows.class(slot))];
        if exchange.hear(number, world.net.now, class)
            && let Some(wait) = exchange.rest(class)
        {
            exchange.resend = self.flows.fires(slot, wait, world);
            self.arm(slot, world);
        }
    }

    /// A timer of requests and answers is due.
    pub(super) fn wake(&mut self, slot: u32, world: &mut World<'_>) {
        let now = world.net.now;
        let exchange = &mut self.exchanges[slot as usize];
        // an event that another one replaced, or that of an earlier connection
        if exchange.wake != now || self.flows.is_over(slot) {
            return;
        }
        exchange.wake = Time::NEVER;
        if exchange.resend <= now {
            let class = &world.classes[usize::from(self.flows.class(slot))];
            exchange.back_off(class);
            let from = exchange.heard + 1;
            self.send(slot, from, world);
            let exchange = &mut self.exchanges[slot as usize];
            let class = &world.classes[usize::from(self.flows.class(slot))];
            let wait = exchange.timeout(now, class);
            exchange.resend = self.flows.fires(slot, wait, world);
        }
        self.answer(slot, world);
        if self.exchanges[slot as usize].pays(now) {
            self.acknowledge(slot, world);
        }
        self.arm(slot, world);
    }

    /// Ensures that an event is pending at the earliest deadline or before.
    fn arm(&mut self, slot: u32, world: &mut World<'_>) {
        let exchange = &mut self.exchanges[slot as usize];
        let due = exchange.deadline();
        if due < exchange.wake {
            exchange.wake = due;
            world.net.events.push(due, Entity::new(EventKind::Exchange, slot));
        }
    }
}

impl Carrier for Connections {
    fn user(&self, slot: u32) -> u32 {
        self.exchanges[slot as usize].user
    }

    fn row(&self, slot: u32) -> u32 {
        self.exchanges[slot as usize].row
    }

    fn has_opened(&mut self, slot: u32) -> bool {
        let exchange = &mut self.exchanges[slot as usize];
        let new = !exchange.opened && self.flows.may_ask(slot, exchange.upload);
        exchange.opened |= new;
        new
    }

    fn may_ask(&self, slot: u32) -> bool {
        let upload = self.exchanges[slot as usize].upload;
        self.is_open(slot) && self.flows.may_ask(slot, upload) && !self.is_full(slot)
    }

    fn is_open(&self, slot: u32) -> bool {
        self.exchanges[slot as usize].opened
    }

    fn is_full(&self, slot: u32) -> bool {
        self.flows.handed_in(slot) >= MOST_SEGMENTS
    }

    fn ask(&mut self, slot: u32, wanted: &[Asked], world: &mut World<'_>) {
        let mss = world.classes[usize::from(self.flows.class(slot))].tcp.mss;
        let request = |&Asked { bytes, last, server, tag }: &Asked| {
            let answer = Answer::Data(Part::of(bytes, mss, last));
            Request { answer, server, tag }
        };
        let requests: Vec<Request> = wanted.iter().map(request).collect();
        self.send_new(slot, &requests, world);
    }

    fn close(&mut self, slot: u32, world: &mut World<'_>) {
        let goodbye = Request { answer: Answer::Close, server: Time::ZERO, tag: 0 };
        self.send_new(slot, &[goodbye], world);
    }

    fn leave(&mut self, slot: u32, world: &mut World<'_>) {
        self.flows.leave(slot, world);
    }

    fn arrived(&mut self, slot: u32, _: &mut World<'_>) -> Option<Arrived> {
        if self.flows.is_over(slot) {
            return None;
        }
        let exchange = &mut self.exchanges[slot as usize];
        exchange.arrived(self.flows.arrived(slot, exchange.upload))
    }
}
