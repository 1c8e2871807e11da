//! Viewers of video: each has one connection, over which it asks for one segment
//! after the other.
//!
//! The connection stays open between segments, with its window and its round-trip
//! times. A request is a packet with [`REQUEST`] bytes of data that goes to the
//! sender; its number is in the packet. The first request goes out when the
//! connection is open, each further one when the segment before has come and one
//! more fits into the buffer. Segments are whole packets.
//!
//! Limits: a request is answered at once, and repeated by a timer alone. A capture
//! shows all requests at the same sequence number.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::scenario::{Scenario, Video};

use crate::capture::Identity;
use crate::engine::{Entity, Kind};
use crate::probe::{Column, Data};
use crate::transport::control::{Any, AppLimited};
use crate::transport::player::Player;
use crate::transport::rto::Rto;
use crate::transport::{ClassParams, Ctx, Standing};

use super::{Flow, FlowId, FlowTable, NewFlow, World};

/// Bytes of a request, about those of an HTTP request without cookies.
const REQUEST: u32 = 400;

/// A request that waits for its answer, and the segment that it asks for.
#[derive(Clone, Copy)]
struct Request {
    /// The first packet of the segment, and the one behind its last.
    first: u32,
    end: u32,
    sent: Time,
    again: bool,
}

/// One viewer at its connection.
struct Viewer {
    player: Player,
    flow: FlowId,
    row: u32,
    class: u16,
    request: Option<Request>,
    /// Whether the answer to the request has begun.
    answered: bool,
    /// Requests that the sender has answered.
    served: u32,
    rto: Rto,
    /// When the viewer acts by itself: asks, or asks again.
    wake: Time,
    gone: bool,
}

/// All viewers.
pub(crate) struct VideoTable {
    flows: FlowTable<AppLimited>,
    /// By the class's number; none: no video.
    films: Vec<Option<Video>>,
    viewers: Vec<Viewer>,
    /// The viewer of each slot.
    of_slot: Vec<u32>,
    /// A flow whose last data has just been handed in.
    pub(crate) ended: Option<Identity>,
}

impl VideoTable {
    pub(crate) fn new(number: u32, scenario: &Scenario) -> VideoTable {
        VideoTable {
            flows: FlowTable::new(number),
            films: scenario.traffic.iter().map(|class| class.video.clone()).collect(),
            viewers: Vec::new(),
            of_slot: Vec::new(),
            ended: None,
        }
    }

    /// Whether one more viewer fits.
    pub(crate) fn has_room(&self) -> bool {
        self.flows.has_room() && (self.viewers.len() as u32) < Entity::LIMIT
    }

    /// A viewer comes: the connection is being opened.
    pub(crate) fn start(&mut self, flow: &NewFlow, inner: Any, world: &mut World<'_>) -> Identity {
        let identity = self.flows.start(flow, AppLimited::new(inner), world);
        let id = FlowId(identity.slot.0);
        self.flows.flows[id.slot()].sender.wait_for_data();
        let number = self.viewers.len() as u32;
        if self.of_slot.len() <= id.slot() {
            self.of_slot.resize(id.slot() + 1, 0);
        }
        self.of_slot[id.slot()] = number;
        self.viewers.push(Viewer {
            player: Player::new(world.net.now),
            flow: id,
            row: flow.row,
            class: flow.class,
            request: None,
            answered: false,
            served: 0,
            rto: Rto::NEW,
            wake: Time::NEVER,
            gone: false,
        });
        identity
    }

    /// A packet has reached one of the ends.
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        let slot = FlowId(packet.flow).slot();
        if self.flows.holds(packet.flow, packet.generation).is_none() {
            return;
        }
        let number = self.of_slot[slot];
        let towards_sender = packet.flags.has(Flags::TO_SOURCE);
        let request = towards_sender && packet.flags.has(Flags::DATA);
        // one that is repeated says nothing new
        if request && packet.seq != self.viewers[number as usize].served + 1 {
            return;
        }
        self.flows.deliver(packet, world);
        if self.depart(number, world.net.now) {
            return;
        }
        if request {
            self.serve(number, world);
        } else if !towards_sender {
            self.heard(number, packet, world);
        }
    }

    /// Whether the viewer's connection is over: then it has left, or has all.
    fn depart(&mut self, number: u32, now: Time) -> bool {
        let viewer = &mut self.viewers[number as usize];
        let over = self.flows.flows[viewer.flow.slot()].row == Flow::<AppLimited>::FREE;
        let film = &self.films[usize::from(viewer.class)];
        if let Some(film) = film.as_ref().filter(|_| over && !viewer.gone) {
            viewer.gone = true;
            // of a film that has come whole the rest is still played
            if viewer.player.fetched < film.segments {
                viewer.player.leave(now, film);
            }
        }
        over
    }

    /// The sender answers the viewer's next request.
    fn serve(&mut self, number: u32, world: &mut World<'_>) {
        let viewer = &mut self.viewers[number as usize];
        let Some(film) = &self.films[usize::from(viewer.class)] else { return };
        viewer.served += 1;
        let packets = film.packets.get(viewer.player.level).copied().unwrap_or(1);
        let last = viewer.served == film.segments;
        let slot = viewer.flow.slot();
        let address = self.flows.flows[slot].address(viewer.flow);
        let (sender, _, mut ctx) = self.flows.borrow(slot, world);
        sender.hand_in(packets, last, &address, &mut ctx);
        self.flows.arm(viewer.flow, world);
        if last {
            self.ended = Some(self.flows.identity(slot, world.classes));
        }
    }

    /// Something has come to the viewer.
    fn heard(&mut self, number: u32, packet: &Packet, world: &mut World<'_>) {
        let now = world.net.now;
        let viewer = &mut self.viewers[number as usize];
        let Some(film) = &self.films[usize::from(viewer.class)] else { return };
        let flow = &self.flows.flows[viewer.flow.slot()];
        let Some(request) = viewer.request else {
            if viewer.player.asked == 0 && flow.receiver.is_open() {
                self.ask(number, world);
            }
            return;
        };
        let class = &world.classes[usize::from(viewer.class)];
        if packet.flags.has(Flags::DATA) && packet.seq >= request.first && !viewer.answered {
            viewer.answered = true;
            viewer.wake = Time::NEVER;
            if !request.again {
                // RFC 6298, 3: what was sent twice measures nothing
                viewer.rto.sample(request.sent, now, None, class);
            }
        }
        if flow.receiver.received() < request.end {
            return;
        }
        viewer.request = None;
        let bytes = u64::from(request.end - request.first) * u64::from(class.tcp.mss);
        let next = viewer.player.fetched(now, bytes, film);
        if let Some(patience) = class.patience {
            let leaves = viewer.player.leaves(patience, film);
            self.flows.flows[viewer.flow.slot()].sender.give_up = leaves;
            self.flows.arm(viewer.flow, world);
        }
        match next {
            Some(at) if at <= now => self.ask(number, world),
            Some(at) => self.wake_at(number, at, world),
            None => {}
        }
    }

    /// The viewer asks for the next segment.
    fn ask(&mut self, number: u32, world: &mut World<'_>) {
        let viewer = &mut self.viewers[number as usize];
        let Some(film) = &self.films[usize::from(viewer.class)] else { return };
        let now = world.net.now;
        viewer.player.ask(now, film);
        let first = self.flows.flows[viewer.flow.slot()].receiver.received();
        let end = first + film.packets.get(viewer.player.level).copied().unwrap_or(1);
        viewer.request = Some(Request { first, end, sent: now, again: false });
        viewer.answered = false;
        self.send(number, world);
    }

    /// Sends the request, for the first time or again.
    fn send(&mut self, number: u32, world: &mut World<'_>) {
        let viewer = &self.viewers[number as usize];
        let slot = viewer.flow.slot();
        let address = self.flows.flows[slot].address(viewer.flow);
        let (_, receiver, ctx) = self.flows.borrow(slot, world);
        let Ctx { net, class, .. } = ctx;
        let mut packet = receiver.say(REQUEST + class.tcp.header, &address, net.now);
        packet.seq = viewer.player.asked;
        net.send(&packet);
        let due = class.fires(address.sink, net.now, viewer.rto.timeout(class, false));
        self.wake_at(number, due, world);
    }

    fn wake_at(&mut self, number: u32, at: Time, world: &mut World<'_>) {
        self.viewers[number as usize].wake = at;
        world.net.events.push(at, Entity::new(Kind::Viewer, number));
    }

    /// A viewer acts by itself.
    pub(crate) fn wake(&mut self, number: u32, world: &mut World<'_>) {
        let viewer = &mut self.viewers[number as usize];
        // an event that something overtook, or of a viewer who has left
        if viewer.wake != world.net.now || viewer.gone {
            return;
        }
        viewer.wake = Time::NEVER;
        let Some(request) = &mut viewer.request else { return self.ask(number, world) };
        request.again = true;
        let rule = world.classes[usize::from(viewer.class)].tcp.timer_rule;
        viewer.rto.back_off(rule);
        self.send(number, world);
    }

    /// A timer event of a flow has come up.
    pub(crate) fn expire(&mut self, id: FlowId, world: &mut World<'_>) {
        self.flows.expire(id, world);
        if let Some(&number) = self.of_slot.get(id.slot()) {
            self.depart(number, world.net.now);
        }
    }

    /// A packet of the flow that its pace held back may go.
    pub(crate) fn go_on(&mut self, id: FlowId, world: &mut World<'_>) {
        self.flows.go_on(id, world);
    }

    /// How a flow stands, if it has not come to its end.
    pub(crate) fn standing(&self, flow: &Identity, classes: &[ClassParams]) -> Option<Standing> {
        self.flows.standing(flow, classes)
    }

    /// The class of the flow that a packet belongs to, if that flow has not come to its end.
    pub(crate) fn class_of(&self, packet: &Packet) -> Option<u16> {
        self.flows.class_of(packet)
    }

    /// The run is over: rows of the flows that are still open, and what the viewers saw.
    pub(crate) fn finish(&mut self, world: &mut World<'_>) {
        self.flows.finish(world);
        for viewer in &mut self.viewers {
            if let Some(film) = &self.films[usize::from(viewer.class)] {
                viewer.player.leave(world.net.now, film);
            }
        }
    }

    /// The `video` table; no column where no class has video.
    pub(crate) fn columns(&self, scenario: &Scenario) -> Vec<Column> {
        if self.films.iter().all(Option::is_none) {
            return Vec::new();
        }
        let viewers = &self.viewers;
        let real = |name, value: fn(&Player) -> f64| Column {
            name,
            data: Data::F64(viewers.iter().map(|viewer| value(&viewer.player)).collect()),
        };
        let count = |name, value: fn(&Player) -> u32| Column {
            name,
            data: Data::U32(viewers.iter().map(|viewer| value(&viewer.player)).collect()),
        };
        let names = scenario.traffic.iter().map(|class| class.name.clone()).collect();
        let codes = viewers.iter().map(|viewer| u32::from(viewer.class)).collect();
        let rows = viewers.iter().map(|viewer| u64::from(viewer.row)).collect();
        vec![
            Column { name: "flow", data: Data::U64(rows) },
            Column { name: "class", data: Data::Category { codes, names } },
            real("startup_s", |player| player.startup.map_or(f64::NAN, Time::secs)),
            count("stalls", |player| player.stalls),
            real("stalled_s", |player| player.stalled.secs()),
            real("played_s", |player| player.played.secs()),
            count("segments", |player| player.fetched),
            real("rate_mean_bps", Player::mean_rate),
            count("switches", |player| player.switches),
        ]
    }
}
