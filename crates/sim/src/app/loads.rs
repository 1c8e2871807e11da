//! Records of pages and of their objects: rows of results, filled in as things happen.

use tidegate_core::units::Time;
use tidegate_model::columns::{Category, Column, ObjectRow, PageRow};
use tidegate_model::draw::Object;
use tidegate_model::scenario::Scenario;

use crate::names::names;

/// The pages and objects of a run; what has not happened is NaN.
#[derive(Default)]
pub(super) struct Loads {
    pages: Vec<PageRow>,
    objects: Vec<ObjectRow>,
}

impl Loads {
    /// A page starts: its row, and that of the first of its objects.
    pub(super) fn start(
        &mut self,
        (class, user, number): (u16, u64, u32),
        objects: &[Object],
        start: Time,
    ) -> (u32, u32) {
        let (page, first) = (self.pages.len(), self.objects.len());
        self.pages.push(PageRow {
            page: page as u64,
            class: Category(class.into()),
            user,
            number,
            objects: objects.len() as u32,
            size_bytes: objects.iter().map(|object| object.bytes).sum(),
            connections: 0,
            start_s: start.secs(),
            document_s: f64::NAN,
            loaded_s: f64::NAN,
            gave_up_s: f64::NAN,
            load_time_s: f64::NAN,
        });
        self.objects.extend(objects.iter().map(|object| ObjectRow {
            page: page as u64,
            flow: f64::NAN,
            size_bytes: object.bytes,
            known_s: f64::NAN,
            asked_s: f64::NAN,
            first_byte_s: f64::NAN,
            done_s: f64::NAN,
            time_s: f64::NAN,
        }));
        (page as u32, first as u32)
    }

    /// One more connection is opened for a page.
    pub(super) fn count_connection(&mut self, page: u32) {
        self.pages[page as usize].connections += 1;
    }

    /// The document of a page has come.
    pub(super) fn document_done(&mut self, page: u32, now: Time) {
        self.pages[page as usize].document_s = now.secs();
    }

    /// A page has come.
    pub(super) fn loaded(&mut self, page: u32, now: Time) {
        let row = &mut self.pages[page as usize];
        row.loaded_s = now.secs();
        row.load_time_s = row.loaded_s - row.start_s;
    }

    /// A page is given up.
    pub(super) fn given_up(&mut self, page: u32, now: Time) {
        self.pages[page as usize].gave_up_s = now.secs();
    }

    /// The user learns of an object.
    pub(super) fn known(&mut self, object: u32, now: Time) {
        self.objects[object as usize].known_s = now.secs();
    }

    /// An object is asked for, over the connection of this row.
    pub(super) fn asked(&mut self, object: u32, flow: u32, now: Time) {
        let row = &mut self.objects[object as usize];
        (row.flow, row.asked_s, row.first_byte_s) = (flow.into(), now.secs(), f64::NAN);
    }

    /// The first bytes of an object have come.
    pub(super) fn begun(&mut self, object: u32, now: Time) {
        self.objects[object as usize].first_byte_s = now.secs();
    }

    /// An object has come.
    pub(super) fn done(&mut self, object: u32, now: Time) {
        let row = &mut self.objects[object as usize];
        row.done_s = now.secs();
        row.time_s = row.done_s - row.known_s;
    }

    /// The tables `pages` and `objects`; without columns where no class has pages.
    pub(super) fn columns(&self, scenario: &Scenario) -> (Vec<Column>, Vec<Column>) {
        if scenario.traffic.iter().all(|class| class.pages().is_none()) {
            return (Vec::new(), Vec::new());
        }
        let words = |column: &str| names(scenario, column);
        let (pages, objects) = (self.pages.iter().copied(), self.objects.iter().copied());
        (PageRow::columns(pages, words), ObjectRow::columns(objects, words))
    }
}
