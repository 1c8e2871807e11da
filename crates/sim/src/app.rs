//! Users whose application drives their connections: viewers of video, and users who load pages.
//!
//! A connection does not know what it carries. [`connections`] takes requests and reports what
//! has come; an [`App`] of [`desk`] decides what is asked next, and over which connection. A flow of one
//! object needs no application: its data is there when it starts.

mod browser;
mod connections;
mod desk;
mod exchange;
mod loads;
mod player;
mod viewer;

use tidegate_core::packet::Packet;
use tidegate_model::columns::Column;
use tidegate_model::scenario::{Class, Scenario};

use crate::capture::{Identity, Noted};
use crate::engine::{Entity, Kind};
use crate::flow_id::FlowId;
use crate::transport::control::Any;
use crate::transport::table::{NewFlow, World};
use crate::transport::{ClassParams, SenderState, Standing};

use browser::Browser;
use connections::{Connections, Outcome};
use desk::{App, Desk};
use exchange::Arrived;
use loads::Loads;
use viewer::Viewer;

/// A user of either kind.
enum User {
    Viewer(Box<Viewer>),
    Browser(Browser),
}

impl User {
    fn app(&mut self) -> &mut dyn App {
        match self {
            User::Viewer(viewer) => &mut **viewer,
            User::Browser(browser) => browser,
        }
    }
}

/// All users, and the connections that they drive.
pub(crate) struct Apps {
    connections: Connections,
    users: Vec<User>,
    /// Users who have come so far, by class.
    members: Vec<u64>,
    loads: Loads,
    classes: Vec<Class>,
    seed: u64,
}

impl Apps {
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Apps {
        Apps {
            connections: Connections::new(scenario),
            users: Vec::new(),
            members: vec![0; scenario.traffic.len()],
            loads: Loads::default(),
            classes: scenario.traffic.clone(),
            seed,
        }
    }

    /// From now on, what a capture has to know is kept for [`Apps::take_noted`].
    pub(crate) fn watch(&mut self) {
        self.connections.noted = Some(Vec::new());
    }

    /// What a capture has to know since the last call.
    pub(crate) fn take_noted(&mut self) -> Vec<Noted> {
        self.connections.noted.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether one more user or connection fits.
    pub(crate) fn has_room(&self) -> bool {
        self.connections.flows.has_room() && (self.users.len() as u32) < Entity::LIMIT
    }

    /// A user comes, whose connections have these settings.
    pub(crate) fn arrive(&mut self, flow: &NewFlow, world: &mut World<'_>) {
        let place = usize::from(flow.class);
        let number = self.users.len() as u32;
        let member = self.members[place];
        self.members[place] += 1;
        self.users.push(match &self.classes[place].video {
            Some(film) => User::Viewer(Box::new(Viewer::new(film.clone(), flow, world.net.now))),
            None => User::Browser(Browser::new(flow, member)),
        });
        self.with(number, world, |app, desk| app.start(desk));
    }

    /// The next connection that a user wants to open.
    pub(crate) fn next_opening(&mut self) -> Option<(u32, NewFlow)> {
        self.connections.openings.pop_front()
    }

    /// A connection of a user is being opened.
    pub(crate) fn open(
        &mut self,
        user: u32,
        flow: &NewFlow,
        control: Any,
        world: &mut World<'_>,
    ) -> Identity {
        let identity = self.connections.open(user, flow, control, world);
        let slot = FlowId(identity.slot.0).slot() as u32;
        self.users[user as usize].app().begun(slot, flow.row);
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
            connections: &mut self.connections,
            loads: &mut self.loads,
            classes: &self.classes,
            seed: self.seed,
            world,
        };
        act(self.users[user as usize].app(), &mut desk);
    }

    /// A packet has reached one of the ends of a connection.
    // inlined, it costs all other flows 0.3 % more instructions
    #[inline(never)]
    pub(crate) fn deliver(&mut self, packet: &Packet, world: &mut World<'_>) {
        if let Some(outcome) = self.connections.deliver(packet, world) {
            self.tell(FlowId(packet.flow).slot() as u32, outcome, world);
        }
    }

    /// Tells a user what has happened at a connection.
    fn tell(&mut self, slot: u32, outcome: Outcome, world: &mut World<'_>) {
        let user = self.connections.user(slot);
        match outcome {
            Outcome::Nothing => {}
            Outcome::Over => self.with(user, world, |app, desk| app.over(slot, desk)),
            Outcome::ToClient => {
                if self.connections.has_opened(slot) {
                    self.with(user, world, |app, desk| app.opened(slot, desk));
                }
                while let Some(arrived) = self.connections.arrived(slot) {
                    self.with(user, world, |app, desk| match arrived {
                        Arrived::Begins(tag) => app.begins(tag, desk),
                        Arrived::Whole(tag) => app.arrived(slot, tag, desk),
                    });
                }
            }
        }
    }

    /// A timer of a connection, of its requests or of a user is due.
    #[inline(never)]
    pub(crate) fn wake(&mut self, entity: Entity, world: &mut World<'_>) {
        let number = entity.number();
        match entity.kind() {
            Kind::User => self.with(number, world, |app, desk| app.wake(desk)),
            Kind::Exchange => self.connections.wake(number, world),
            Kind::Pace => self.connections.flows.go_on(FlowId(number), world),
            _ => {
                let slot = FlowId(number).slot() as u32;
                let was = self.connections.flows.is_over(slot);
                self.connections.flows.expire(FlowId(number), world);
                if !was && self.connections.flows.is_over(slot) {
                    self.tell(slot, Outcome::Over, world);
                }
            }
        }
    }

    /// The state of a connection, if it is not over.
    pub(crate) fn standing(&self, flow: &Identity, classes: &[ClassParams]) -> Option<Standing> {
        self.connections.flows.standing(flow, classes)
    }

    /// The sender of a connection, if it is not over.
    pub(crate) fn sender(&self, flow: &Identity, classes: &[ClassParams]) -> Option<SenderState> {
        self.connections.flows.sender(flow, classes)
    }

    /// The class of the connection that a packet belongs to, if it is not over.
    pub(crate) fn class_of(&self, packet: &Packet) -> Option<u16> {
        self.connections.flows.class_of(packet)
    }

    /// At the end of the warm-up: notes what the open connections have delivered by then.
    pub(crate) fn warm(&self, world: &mut World<'_>) {
        self.connections.flows.warm(world);
    }

    /// The run is over: fills the rows of connections that are still open.
    pub(crate) fn finish(&mut self, world: &mut World<'_>) {
        self.connections.flows.finish(world);
        for user in &mut self.users {
            user.app().finish(world.net.now);
        }
    }

    /// The tables `video`, `pages` and `objects`; without columns where no class has any.
    pub(crate) fn columns(&self, scenario: &Scenario) -> (Vec<Column>, Vec<Column>, Vec<Column>) {
        let viewers = self.users.iter().filter_map(|user| match user {
            User::Viewer(viewer) => Some(&**viewer),
            User::Browser(_) => None,
        });
        let video = viewer::columns(viewers, scenario);
        let (pages, objects) = self.loads.columns(scenario);
        (video, pages, objects)
    }
}
