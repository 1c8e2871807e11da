//! Requests and answers over hosts that are not the simulator's own, each on a stream of its own,
//! or objects that users send.
//!
//! The hosts carry both, and send again what was lost. Kept here is what a request asks for, and
//! when the server answers it.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::host::{Ends, Heard, Order};
use tidegate_core::packet::Packet;
use tidegate_core::units::Time;
use tidegate_model::scenario::Scenario;

use super::carrier::{Asked, Carrier, ConnectionNews};
use super::exchange::Arrived;
use crate::capture::Identity;
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::transport::hosts::HostTable;
use crate::transport::table::{NewFlow, World};

/// Requests after which a connection takes no further ones.
const MOST_REQUESTS: u32 = 1 << 30;

/// What is asked over one connection.
struct StreamLine {
    user: u32,
    row: u32,
    class: u16,
    /// Whether the client sends the objects.
    upload: bool,
    /// Whether the client knows that the connection is open.
    opened: bool,
    /// Whether its user knows that it is over.
    over: bool,
    /// The number of the next request.
    next: u32,
    /// What was asked for and has not come, by number.
    wanted: BTreeMap<u32, Asked>,
    /// When the server answers which request.
    making: BTreeSet<(Time, u32)>,
}

/// All connections of users over hosts.
pub(super) struct Streams {
    hosts: HostTable,
    /// By place in the table.
    lines: Vec<StreamLine>,
    /// Bytes of a request, by class.
    requests: Vec<u32>,
}

/// The place of a connection in the table.
fn place(slot: u32) -> usize {
    FlowId(slot).slot()
}

impl Streams {
    pub(super) fn new(scenario: &Scenario) -> Streams {
        let requests = scenario.traffic.iter().map(|class| class.pages());
        Streams {
            hosts: HostTable::new(FlowId::APP_HOSTS, &scenario.traffic),
            lines: Vec::new(),
            requests: requests.map(|pages| pages.map_or(0, |pages| pages.request)).collect(),
        }
    }

    pub(super) fn hosts(&self) -> &HostTable {
        &self.hosts
    }

    /// A connection of a user is being opened.
    pub(super) fn open(
        &mut self,
        user: u32,
        flow: &NewFlow,
        ends: Ends,
        world: &mut World<'_>,
    ) -> Identity {
        let identity = self.hosts.start(flow, ends, world);
        let line = StreamLine {
            user,
            row: flow.row,
            class: flow.class,
            upload: !flow.download,
            opened: false,
            over: false,
            next: 0,
            wanted: BTreeMap::new(),
            making: BTreeSet::new(),
        };
        match self.lines.get_mut(place(identity.slot.0)) {
            Some(place) => *place = line,
            None => self.lines.push(line),
        }
        identity
    }

    /// A packet has reached one of the ends.
    pub(super) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) -> ConnectionNews {
        let known = self.hosts.class_of(packet).is_some();
        self.hosts.deliver(packet, world);
        if known { self.serve(packet.flow, world) } else { ConnectionNews::Nothing }
    }

    /// A timer of a connection, or of the server's answers on it, is due.
    pub(super) fn wake(&mut self, entity: Entity, world: &mut World<'_>) -> ConnectionNews {
        let slot = entity.number();
        if entity.kind() == EventKind::Exchange {
            self.answer(slot, world);
        } else {
            self.hosts.expire(FlowId(slot), world);
        }
        self.serve(slot, world)
    }

    /// The server hears of requests; says what there is for the user.
    fn serve(&mut self, slot: u32, world: &mut World<'_>) -> ConnectionNews {
        let now = world.net.now;
        let at = FlowId(slot).slot() as u32;
        let line = &mut self.lines[place(slot)];
        if line.over {
            return ConnectionNews::Nothing;
        }
        let mut due = false;
        while let Some(heard) = self.hosts.heard(at, true) {
            let Heard::Asked(number) = heard else { continue };
            let Some(wanted) = line.wanted.get(&number) else { continue };
            let when = now + wanted.server;
            line.making.insert((when, number));
            due |= when == now;
            if when > now {
                world.net.events.push(when, Entity::new(EventKind::Exchange, slot));
            }
        }
        if due {
            self.answer(slot, world);
        }
        let line = &mut self.lines[place(slot)];
        line.over = self.hosts.is_over(at);
        if line.over { ConnectionNews::Over } else { ConnectionNews::ToClient }
    }

    /// The server hands in the answers that are due.
    fn answer(&mut self, slot: u32, world: &mut World<'_>) {
        let at = FlowId(slot).slot() as u32;
        while let Some(&(when, number)) = self.lines[place(slot)].making.first() {
            if when > world.net.now {
                return;
            }
            let line = &mut self.lines[place(slot)];
            line.making.pop_first();
            if let Some(bytes) = line.wanted.get(&number).map(|wanted| wanted.bytes.max(1)) {
                self.hosts.order(at, true, Order::Answer(number, bytes), world);
            }
        }
    }

    /// An order of the client's.
    fn order(&mut self, slot: u32, order: Order, world: &mut World<'_>) {
        self.hosts.order(FlowId(slot).slot() as u32, false, order, world);
    }
}

impl Carrier for Streams {
    fn user(&self, slot: u32) -> u32 {
        self.lines[place(slot)].user
    }

    fn row(&self, slot: u32) -> u32 {
        self.lines[place(slot)].row
    }

    fn has_opened(&mut self, slot: u32) -> bool {
        let line = &mut self.lines[place(slot)];
        let new = !line.opened && self.hosts.may_ask(FlowId(slot).slot() as u32);
        line.opened |= new;
        new
    }

    fn is_open(&self, slot: u32) -> bool {
        self.lines[place(slot)].opened
    }

    fn may_ask(&self, slot: u32) -> bool {
        let open = self.hosts.may_ask(FlowId(slot).slot() as u32);
        open && self.is_open(slot) && !self.is_full(slot)
    }

    fn is_full(&self, slot: u32) -> bool {
        self.lines[place(slot)].next >= MOST_REQUESTS
    }

    fn ask(&mut self, slot: u32, wanted: &[Asked], world: &mut World<'_>) {
        for &one in wanted {
            let line = &mut self.lines[place(slot)];
            line.wanted.insert(line.next, one);
            line.next += 1;
            let order = if line.upload {
                Order::Send(one.bytes.max(1))
            } else {
                Order::Ask(self.requests[usize::from(line.class)])
            };
            self.order(slot, order, world);
        }
    }

    fn close(&mut self, slot: u32, world: &mut World<'_>) {
        self.lines[place(slot)].over = true;
        self.order(slot, Order::Close, world);
    }

    fn leave(&mut self, slot: u32, world: &mut World<'_>) {
        self.lines[place(slot)].over = true;
        self.hosts.leave(FlowId(slot).slot() as u32, world);
    }

    fn arrived(&mut self, slot: u32, world: &mut World<'_>) -> Option<Arrived> {
        loop {
            let line = &mut self.lines[place(slot)];
            if line.over {
                return None;
            }
            match self.hosts.heard(FlowId(slot).slot() as u32, false)? {
                Heard::Begins(number) => {
                    if let Some(wanted) = line.wanted.get(&number) {
                        return Some(Arrived::Begins(wanted.tag));
                    }
                }
                Heard::Whole(number) => {
                    if let Some(wanted) = line.wanted.remove(&number) {
                        if wanted.last {
                            self.close(slot, world);
                        }
                        return Some(Arrived::Whole(wanted.tag));
                    }
                }
                Heard::Asked(_) => {}
            }
        }
    }
}
