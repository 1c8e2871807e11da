//! What users do, and what they may touch.

use std::any::Any;
use std::ops::Range;

use tidegate_core::units::Time;
use tidegate_model::draw::{Object, Page};
use tidegate_model::scenario::{Class, Pages};

use super::carrier::Asked;
use super::lines::Lines;
use super::loads::Loads;
use crate::engine::{Entity, EventKind};
use crate::transport::ClassParams;
use crate::transport::table::{NewFlow, World};

/// What a user does. A connection is known by its slot, an object by its tag.
pub(super) trait App: Any + Send {
    /// The user comes.
    fn start(&mut self, desk: &mut Desk<'_, '_>);
    /// The connection that was asked for first of those not there yet is being opened.
    fn begun(&mut self, slot: u32, row: u32);
    /// A connection is open.
    fn opened(&mut self, slot: u32, desk: &mut Desk<'_, '_>);
    /// The first bytes of an object have come.
    fn begins(&mut self, _tag: u32, _desk: &mut Desk<'_, '_>) {}
    /// An object has come.
    fn arrived(&mut self, slot: u32, tag: u32, desk: &mut Desk<'_, '_>);
    /// A connection is over: closed, refused, or given up.
    fn over(&mut self, slot: u32, desk: &mut Desk<'_, '_>);
    /// A timer of the user is due.
    fn wake(&mut self, desk: &mut Desk<'_, '_>);
    /// The run ends.
    fn finish(&mut self, now: Time);
}

/// What a user may touch.
pub(super) struct Desk<'a, 'w> {
    pub(super) user: u32,
    pub(super) lines: &'a mut Lines,
    pub(super) loads: &'a mut Loads,
    pub(super) classes: &'a [Class],
    pub(super) seed: u64,
    pub(super) world: &'a mut World<'w>,
}

impl Desk<'_, '_> {
    pub(super) fn now(&self) -> Time {
        self.world.net.now
    }

    /// The settings of the transport of a class.
    pub(super) fn class(&self, class: u16) -> &ClassParams {
        &self.world.classes[usize::from(class)]
    }

    pub(super) fn pages(&self, class: u16) -> Option<&Pages> {
        self.classes[usize::from(class)].pages()
    }

    /// How long a user of a class waits for a page.
    pub(super) fn patience(&self, class: u16) -> Option<Time> {
        self.classes[usize::from(class)].patience
    }

    /// What is on a page.
    pub(super) fn page(&self, class: u16, member: u64, number: u32) -> Option<Page> {
        Page::draw(self.seed, &self.classes[usize::from(class)], member, number, self.now())
    }

    /// The user wants one more connection.
    pub(super) fn open(&mut self, flow: &NewFlow) {
        self.lines.openings.push_back((self.user, *flow));
    }

    pub(super) fn is_open(&self, slot: u32) -> bool {
        self.lines.of(slot).is_open(slot)
    }

    pub(super) fn may_ask(&self, slot: u32) -> bool {
        self.lines.of(slot).may_ask(slot)
    }

    pub(super) fn is_full(&self, slot: u32) -> bool {
        self.lines.of(slot).is_full(slot)
    }

    pub(super) fn ask(&mut self, slot: u32, wanted: &[Asked]) {
        self.lines.of_mut(slot).ask(slot, wanted, self.world);
    }

    pub(super) fn close(&mut self, slot: u32) {
        self.lines.of_mut(slot).close(slot, self.world);
    }

    /// The user leaves a connection now.
    pub(super) fn leave(&mut self, slot: u32) {
        self.lines.of_mut(slot).leave(slot, self.world);
    }

    /// The user leaves a connection of TCP at an instant.
    pub(super) fn leave_at(&mut self, slot: u32, at: Time) {
        self.lines.tcp.flows.leave_at(slot, at, self.world);
    }

    /// The user acts by itself at an instant.
    pub(super) fn wake_at(&mut self, at: Time) {
        if at < Time::NEVER {
            self.world.net.events.push(at, Entity::new(EventKind::User, self.user));
        }
    }

    pub(super) fn start_page(
        &mut self,
        class: u16,
        member: u64,
        number: u32,
        objects: &[Object],
    ) -> (u32, u32) {
        self.loads.start((class, member, number), objects, self.world.net.now)
    }

    /// The user learns of some of the objects behind `first`.
    pub(super) fn known(&mut self, first: u32, objects: Range<u32>) {
        for object in objects {
            self.loads.known(first + object, self.world.net.now);
        }
    }

    pub(super) fn asked(&mut self, object: u32, slot: u32) {
        let row = self.lines.of(slot).row(slot);
        self.loads.asked(object, row, self.world.net.now);
    }
}
