//! A queue law of the user's own, named in a document.
//!
//! The carrier supplies it by its name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::{Link, Refused, named};

/// A law written in Python.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PythonQueue")]
pub struct Config {
    /// Name under which the law is passed to the run.
    pub name: String,
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
