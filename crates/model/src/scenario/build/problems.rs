//! What is wrong with a document, as far as it was checked.

use std::collections::BTreeMap;

use tidegate_core::units::Size;

use crate::Report;
use crate::text::decode::spelling;
use crate::text::report::{Problem, Text};
use crate::text::tree::{Entry, Node, joined};

/// Largest size or mean size of a flow.
pub(super) const MAX_SIZE: Size = Size::from_bytes(1_000_000_000_000);
/// Most rows that a table over time may get: it is held in memory.
pub(super) const MAX_ROWS: u64 = 20_000_000;
/// Most problems that are reported: it bounds the time that a wrong document can take.
pub(super) const MAX_PROBLEMS: usize = 20;

/// Files that a document refers to, by the name it uses.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What is wrong so far, and what is needed to say where.
pub(super) struct Check<'a> {
    pub(super) root: &'a Node,
    pub(super) files: &'a Files,
    pub(super) texts: Vec<Text>,
    pub(super) problems: Vec<Problem>,
}

impl Check<'_> {
    /// Notes a problem with the value at `path`.
    pub(super) fn refuse(
        &mut self,
        path: &[&str],
        what: impl Into<String>,
        help: impl Into<String>,
    ) {
        if self.full() {
            return;
        }
        let path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        let what = format!("`{}`: {}", joined(&path), what.into());
        let place = Some(self.root.place(&path));
        self.problems.push(Problem { what, help: help.into(), place });
    }

    /// Notes a problem unless `holds`; returns `holds`.
    pub(super) fn require(
        &mut self,
        holds: bool,
        path: &[&str],
        what: impl Into<String>,
        help: &str,
    ) -> bool {
        if !holds {
            self.refuse(path, what, help);
        }
        holds
    }

    /// Notes a problem with a name, which should be one of `known`.
    pub(super) fn unknown<S: AsRef<str>>(
        &mut self,
        path: &[&str],
        name: &str,
        known: &[S],
        kind: &str,
    ) {
        if !self.full() {
            self.refuse(path, format!("`{name}` does not exist"), spelling(name, known, kind));
        }
    }

    /// For a class that only settings define: the class of the document that was probably meant.
    pub(super) fn invented(&self, class: &str) -> Option<String> {
        let classes = self.root.table()?.get("traffic")?.value.table()?;
        let by_settings = |entry: &&Entry| entry.place.text > 0;
        classes.entries.iter().find(|entry| entry.key == class).filter(by_settings)?;
        let written = classes.entries.iter().filter(|entry| entry.place.text == 0);
        let known: Vec<&str> = written.map(|entry| entry.key.as_str()).collect();
        Some(spelling(class, &known, "traffic classes"))
    }

    /// Whether there are enough problems.
    pub(super) fn full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Ends in a report if anything was wrong.
    pub(super) fn finish<T>(self, value: T) -> Result<T, Report> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        Err(Report::new(self.problems, &self.texts))
    }
}
