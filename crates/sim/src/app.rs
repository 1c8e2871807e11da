//! Users whose application drives their connections: viewers of video, and users who load pages.
//!
//! A connection does not know what it carries. [`connections`] and [`streams`] take requests and
//! report what has come; an [`App`] of [`desk`] decides what is asked next, and over which
//! connection. A flow of one object needs no application: its data is there when it starts.

mod browser;
mod carrier;
mod connections;
mod desk;
mod exchange;
mod expected;
mod lines;
mod loads;
mod player;
mod streams;
mod viewer;

use std::any::Any;

use tidegate_core::host::Ends;
use tidegate_core::packet::Packet;
use tidegate_core::units::Time;
use tidegate_model::columns::Column;
use tidegate_model::scenario::{self, Class, Scenario};

use crate::capture::{Identity, Noted};
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::transport::control::Any as AnyControl;
use crate::transport::table::{NewFlow, World};
use crate::transport::{ClassParams, SenderState, Snapshot};

use browser::Browser;
use carrier::ConnectionNews;
use desk::{App, Desk};
use exchange::Arrived;
use lines::{Lines, is_of_hosts};
use loads::Loads;
use viewer::Viewer;

/// Whether a class's connections are driven by an application.
pub(crate) fn is_driven(class: &Class) -> bool {
    class.app.is_some()
}

/// The application of a user of such a class, who is the `member`-th, from 0.
fn app(class: &Class, member: u64, flow: &NewFlow, now: Time) -> Box<dyn App> {
    match class.app.as_ref().expect("the class is driven") {
        scenario::App::Video(film) => Box::new(Viewer::new(film.clone(), flow, now)),
        scenario::App::Pages(_) => Box::new(Browser::new(flow, member)),
    }
}

/// All users, and the connections that they drive.
pub(crate) struct Apps {
    lines: Lines,
    users: Vec<Box<dyn App>>,
    /// Users who have come so far, by class.
    members: Vec<u64>,
    loads: Loads,
    classes: Vec<Class>,
    seed: u64,
}

impl Apps {
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Apps {
        Apps {
            lines: Lines::new(scenario),
            users: Vec::new(),
            members: vec![0; scenario.traffic.len()],
            loads: Loads::default(),
            classes: scenario.traffic.clone(),
            seed,
        }
    }

    /// From now on, what a capture has to know is kept for [`Apps::take_noted`].
    pub(crate) fn watch(&mut self) {
        self.lines.tcp.noted = Some(Vec::new());
    }

    /// What a capture has to know since the last call.
    pub(crate) fn take_noted(&mut self) -> Vec<Noted> {
        self.lines.tcp.noted.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether one more user or connection fits.
    pub(crate) fn has_room(&self) -> bool {
        let lines = self.lines.tcp.flows.has_room() && self.lines.hosts.hosts().has_room();
        lines && (self.users.len() as u32) < Entity::LIMIT
    }

    /// A user comes, whose connections have these settings.
    pub(crate) fn arrive(&mut self, flow: &NewFlow, world: &mut World<'_>) {
        let place = usize::from(flow.class);
        let number = self.users.len() as u32;
        let member = self.members[place];
        self.members[place] += 1;
        self.users.push(app(&self.classes[place], member, flow, world.net.now));
        self.with(number, world, |app, desk| app.start(desk));
    }

    /// The next connection that a user wants to open.
    pub(crate) fn next_opening(&mut self) -> Option<(u32, NewFlow)> {
        self.lines.openings.pop_front()
    }

    /// A connection of a user is being opened.
    pub(crate) fn open(
        &mut self,
        user: u32,
        flow: &NewFlow,
        control: AnyControl,
        world: &mut World<'_>,
    ) -> Identity {
        let identity = self.lines.tcp.open(user, flow, control, world);
        let slot = FlowId(identity.slot.0).slot() as u32;
        self.users[user as usize].begun(slot, flow.row);
        identity
    }

    /// The same over hosts that are not the simulator's own.
    pub(crate) fn open_hosts(
        &mut self,
        user: u32,
        flow: &NewFlow,
        ends: Ends,
        world: &mut World<'_>,
    ) -> Identity {
        let identity = self.lines.hosts.open(user, flow, ends, world);
        self.users[user as usize].begun(identity.slot.0, flow.row);
        identity
    }

    /// Lets a user act.
    fn with(
        &mut self,
        user: u32,
        world: &mut World<'_>,
        act: impl FnOnce(&mut dyn App, &mut Desk<'_, '_>),
    ) {
        let mut desk = Desk {
            user,
            lines: &mut self.lines,
            loads: &mut self.loads,
            classes: &self.classes,
            seed: self.seed,
            world,
        };
        act(&mut *self.users[user as usize], &mut desk);
    }

    /// A packet has reached one of the ends of a connection.
    // inlined, it costs all other flows 0.3 % more instructions
    #[inline(never)]
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        let outcome = self.lines.tcp.deliver(packet, world);
        self.inform(FlowId(packet.flow).slot() as u32, outcome, world);
    }

    /// The same of a connection over hosts.
    #[inline(never)]
    pub(crate) fn deliver_to_hosts(&mut self, packet: &Packet, world: &mut World<'_>) {
        let outcome = self.lines.hosts.deliver(packet, world);
        self.inform(packet.flow, outcome, world);
    }

    /// Tells a user what has happened at a connection.
    fn inform(&mut self, slot: u32, outcome: ConnectionNews, world: &mut World<'_>) {
        if outcome == ConnectionNews::Nothing {
            return;
        }
        let lines = self.lines.of_mut(slot);
        let user = lines.user(slot);
        if outcome == ConnectionNews::Over {
            return self.with(user, world, |app, desk| app.over(slot, desk));
        }
        if lines.has_opened(slot) {
            self.with(user, world, |app, desk| app.opened(slot, desk));
        }
        while let Some(arrived) = self.lines.of_mut(slot).arrived(slot, world) {
            self.with(user, world, |app, desk| match arrived {
                Arrived::Begins(tag) => app.begins(tag, desk),
                Arrived::Whole(tag) => app.arrived(slot, tag, desk),
            });
        }
    }

    /// A timer of a connection, of its requests or of a user is due.
    #[inline(never)]
    pub(crate) fn wake(&mut self, entity: Entity, world: &mut World<'_>) {
        let number = entity.number();
        let tcp = &mut self.lines.tcp;
        match entity.kind() {
            EventKind::User => self.with(number, world, |app, desk| app.wake(desk)),
            _ if is_of_hosts(number) => {
                let outcome = self.lines.hosts.wake(entity, world);
                self.inform(number, outcome, world);
            }
            EventKind::Exchange => tcp.wake(number, world),
            EventKind::Pace => tcp.flows.go_on(FlowId(number), world),
            _ => {
                let slot = FlowId(number).slot() as u32;
                let was = tcp.flows.is_over(slot);
                tcp.flows.expire(FlowId(number), world);
                if !was && tcp.flows.is_over(slot) {
                    self.inform(slot, ConnectionNews::Over, world);
                }
            }
        }
    }

    /// The state of a connection, if it is not over.
    pub(crate) fn snapshot(&self, flow: &Identity, classes: &[ClassParams]) -> Option<Snapshot> {
        if is_of_hosts(flow.slot.0) {
            return self.lines.hosts.hosts().snapshot(flow);
        }
        self.lines.tcp.flows.snapshot(flow, classes)
    }

    /// The open connections of TCP of a class.
    pub(crate) fn connections<'a>(
        &'a self,
        class: u16,
        classes: &'a [ClassParams],
    ) -> impl Iterator<Item = Identity> + 'a {
        self.lines.tcp.flows.open(class, classes)
    }

    /// The sender of a connection, if it is not over.
    pub(crate) fn sender(&self, flow: &Identity, classes: &[ClassParams]) -> Option<SenderState> {
        self.lines.tcp.flows.sender(flow, classes)
    }

    /// The class of the connection that a packet belongs to, if it is not over.
    pub(crate) fn class_of(&self, packet: &Packet) -> Option<u16> {
        if is_of_hosts(packet.flow) {
            return self.lines.hosts.hosts().class_of(packet);
        }
        self.lines.tcp.flows.class_of(packet)
    }

    /// At the end of the warm-up: notes what the open connections have delivered by then.
    pub(crate) fn warm(&self, world: &mut World<'_>) {
        self.lines.tcp.flows.warm(world);
    }

    /// The run is over: fills the rows of connections that are still open.
    pub(crate) fn finish(&mut self, world: &mut World<'_>) {
        self.lines.tcp.flows.finish(world);
        for user in &mut self.users {
            user.finish(world.net.now);
        }
    }

    /// The tables `video`, `pages` and `objects`; without columns where no class has any.
    pub(crate) fn columns(&self, scenario: &Scenario) -> (Vec<Column>, Vec<Column>, Vec<Column>) {
        let viewers = self.users.iter().filter_map(|user| {
            let user: &dyn Any = &**user;
            user.downcast_ref()
        });
        let video = viewer::columns(viewers, scenario);
        let (pages, objects) = self.loads.columns(scenario);
        (video, pages, objects)
    }
}
