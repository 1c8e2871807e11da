//! A queue law of the user's own, named in a document.
//!
//! The carrier supplies it by its name.

use crate::law::settings::{Link, Refused, named};

use super::Traits;

crate::keys! {
    /// A law written in Python.
    "PythonQueue" as pub Config:
    name: String = required "Name under which the law is passed to the run";
}

impl Config {
    /// Whether it has a name.
    ///
    /// # Errors
    /// The field, and what to write there.
    pub fn check(&self, _: Link) -> Result<(), Refused> {
        named(&self.name)
    }
}

impl Traits for Config {
    // nothing is known of it: a warning that it does not mark could be wrong
    fn marks(&self, _l4s: bool) -> bool {
        true
    }
}
