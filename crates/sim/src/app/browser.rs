//! A user who loads pages, one after the other, over connections that stay open.
//!
//! An object goes to the connection that is free first. Where an object waits and no connection
//! is free, the user opens one more, as far as the limit allows. A connection that is refused or
//! gives up leaves its objects to the others, and counts as one less for the rest of the page;
//! without any left the page has failed, and the user leaves. So does a user whose page takes
//! longer than the patience of the class.

use std::collections::VecDeque;

use tidegate_core::units::Time;
use tidegate_model::draw::{Object, Page};

use super::carrier::Asked;
use super::desk::{App, Desk};
use super::expected::Expected;
use crate::transport::table::NewFlow;

/// A connection of the user.
struct UserLine {
    /// None: it is about to be opened.
    slot: Option<u32>,
    /// Objects asked for over it that have not come.
    objects: Expected,
    /// Whether it takes no further object: it closes after the one asked for.
    closing: bool,
}

/// A page on its way.
struct Loading {
    /// Its row, and that of its first object.
    row: u32,
    first: u32,
    /// The document, if there is one, and the objects.
    objects: Vec<Object>,
    /// Objects that wait for a connection.
    waiting: VecDeque<u32>,
    /// Objects that have not come.
    left: u32,
    /// Whether the document has yet to come.
    document: bool,
    /// Connections that may be open at once.
    limit: usize,
    think: Time,
}

/// The user.
pub(super) struct Browser {
    /// The settings of its connections.
    flow: NewFlow,
    /// Its place in its class.
    member: u64,
    /// Pages that it has started.
    pages: u32,
    lines: Vec<UserLine>,
    loading: Option<Box<Loading>>,
    /// When it starts the next page, or loses patience with this one.
    wake: Time,
}

impl Browser {
    pub(super) fn new(flow: &NewFlow, member: u64) -> Browser {
        Browser {
            flow: *flow,
            member,
            pages: 0,
            lines: Vec::new(),
            loading: None,
            wake: Time::NEVER,
        }
    }

    /// Starts the next page.
    fn load(&mut self, desk: &mut Desk<'_, '_>) {
        let class = self.flow.class;
        let Some(Page { document, objects, think }) = desk.page(class, self.member, self.pages)
        else {
            return;
        };
        let whole: Vec<Object> = document.into_iter().chain(objects).collect();
        let left = whole.len() as u32;
        let waiting = if document.is_some() { 0..1 } else { 0..left };
        let (row, first) = desk.start_page(class, self.member, self.pages, &whole);
        desk.known(first, waiting.clone());
        self.pages += 1;
        self.loading = Some(Box::new(Loading {
            row,
            first,
            objects: whole,
            waiting: waiting.collect(),
            left,
            document: document.is_some(),
            limit: desk.pages(class).map_or(1, |pages| pages.connections as usize),
            think,
        }));
        if let Some(patience) = desk.patience(class) {
            self.wake = desk.now().saturating_add(patience);
            desk.wake_at(self.wake);
        }
        self.hand_out(desk);
    }

    /// Gives the objects that wait to connections, and opens those that are missing.
    fn hand_out(&mut self, desk: &mut Desk<'_, '_>) {
        let Some(loading) = &mut self.loading else { return };
        let Some(pages) = desk.pages(self.flow.class) else { return };
        let (most, persistent) = (pages.concurrent as usize, pages.persistent);
        self.lines.retain(|line| {
            let full = line.objects.is_empty() && line.slot.is_some_and(|slot| desk.is_full(slot));
            if let Some(slot) = line.slot.filter(|_| full) {
                desk.close(slot);
            }
            !full
        });
        let mut asked: Vec<(u32, usize)> = Vec::new();
        while !loading.waiting.is_empty() {
            let free = self.lines.iter_mut().filter(|line| {
                // the connection itself is asked last: it lies elsewhere
                let room = !line.closing && line.objects.len() < most;
                room && line.slot.is_some_and(|slot| desk.may_ask(slot))
            });
            // the one with the fewest objects, of several the oldest
            let Some(line) = free.min_by_key(|line| line.objects.len()) else { break };
            let (Some(slot), Some(object)) = (line.slot, loading.waiting.pop_front()) else {
                break;
            };
            line.objects.push(object);
            line.closing = !persistent;
            match asked.iter_mut().find(|(at, _)| *at == slot) {
                Some((_, number)) => *number += 1,
                None => asked.push((slot, 1)),
            }
        }
        for (slot, number) in asked {
            let Some(line) = self.lines.iter().find(|line| line.slot == Some(slot)) else {
                continue;
            };
            let requests: Vec<Asked> = line
                .objects
                .newest(number)
                .map(|object| {
                    let Object { bytes, server } = loading.objects[object as usize];
                    Asked { bytes, last: line.closing, server, tag: loading.first + object }
                })
                .collect();
            for request in &requests {
                desk.asked(request.tag, slot);
            }
            desk.ask(slot, &requests);
        }
        if loading.waiting.is_empty() {
            return;
        }
        let opening =
            self.lines.iter().filter(|line| line.slot.is_none_or(|slot| !desk.is_open(slot)));
        let room = opening.count() * most;
        let wanted = loading.waiting.len().saturating_sub(room).div_ceil(most);
        for _ in 0..wanted.min(loading.limit.saturating_sub(self.lines.len())) {
            self.lines.push(UserLine { slot: None, objects: Expected::default(), closing: false });
            desk.loads.count_connection(loading.row);
            desk.open(&self.flow);
        }
    }

    /// The page has come.
    fn loaded(&mut self, desk: &mut Desk<'_, '_>) {
        let Some(loading) = self.loading.take() else { return };
        let now = desk.now();
        desk.loads.loaded(loading.row, desk.now());
        self.wake = Time::NEVER;
        if desk.pages(self.flow.class).is_some_and(|pages| pages.cancels) {
            self.cancel(desk);
        }
        if desk.pages(self.flow.class).is_none_or(|pages| self.pages >= pages.count) {
            for line in self.lines.drain(..) {
                if let Some(slot) = line.slot.filter(|&slot| desk.is_open(slot)) {
                    desk.close(slot);
                }
            }
        } else if loading.think == Time::ZERO {
            self.load(desk);
        } else {
            self.wake = now + loading.think;
            desk.wake_at(self.wake);
        }
    }

    /// Gives up the connections that are not open yet.
    fn cancel(&mut self, desk: &mut Desk<'_, '_>) {
        self.lines.retain(|line| {
            let unopened = line.slot.filter(|&slot| !desk.is_open(slot));
            unopened.is_none_or(|slot| {
                desk.leave(slot);
                false
            })
        });
    }

    /// The page is given up, and the user leaves.
    fn give_up(&mut self, desk: &mut Desk<'_, '_>) {
        let Some(loading) = self.loading.take() else { return };
        desk.loads.given_up(loading.row, desk.now());
        self.wake = Time::NEVER;
        for line in self.lines.drain(..) {
            if let Some(slot) = line.slot {
                desk.leave(slot);
            }
        }
    }
}

impl App for Browser {
    fn start(&mut self, desk: &mut Desk<'_, '_>) {
        self.load(desk);
    }

    fn begun(&mut self, slot: u32, _row: u32) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.slot.is_none()) {
            line.slot = Some(slot);
        }
    }

    fn opened(&mut self, slot: u32, desk: &mut Desk<'_, '_>) {
        if self.lines.iter().any(|line| line.slot == Some(slot)) {
            self.hand_out(desk);
        } else {
            // the user is through with the last page
            desk.close(slot);
        }
    }

    fn begins(&mut self, tag: u32, desk: &mut Desk<'_, '_>) {
        desk.loads.begun(tag, desk.now());
    }

    fn arrived(&mut self, slot: u32, tag: u32, desk: &mut Desk<'_, '_>) {
        let Some(loading) = &mut self.loading else { return };
        let object = tag.wrapping_sub(loading.first);
        let Some(at) = self.lines.iter().position(|line| line.slot == Some(slot)) else { return };
        self.lines[at].objects.take(object);
        if self.lines[at].closing {
            self.lines.remove(at);
        }
        desk.loads.done(tag, desk.now());
        loading.left -= 1;
        if loading.document {
            loading.document = false;
            let rest = 1..loading.objects.len() as u32;
            desk.known(loading.first, rest.clone());
            desk.loads.document_done(loading.row, desk.now());
            loading.waiting.extend(rest);
        }
        if loading.left == 0 {
            return self.loaded(desk);
        }
        self.hand_out(desk);
    }

    fn over(&mut self, slot: u32, desk: &mut Desk<'_, '_>) {
        let Some(at) = self.lines.iter().position(|line| line.slot == Some(slot)) else { return };
        let line = self.lines.remove(at);
        let Some(loading) = &mut self.loading else { return };
        for object in line.objects.newest_first() {
            loading.waiting.push_front(object);
        }
        loading.limit = loading.limit.saturating_sub(1);
        if self.lines.is_empty() {
            return self.give_up(desk);
        }
        self.hand_out(desk);
    }

    fn wake(&mut self, desk: &mut Desk<'_, '_>) {
        if self.wake != desk.now() {
            return;
        }
        self.wake = Time::NEVER;
        if self.loading.is_some() {
            self.give_up(desk);
        } else {
            self.load(desk);
        }
    }

    fn finish(&mut self, _now: Time) {}
}
