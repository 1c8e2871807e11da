//! Drop-tail: first in, first out; an arrival that does not fit is dropped.

use crate::law::registry::Nothing;
use crate::law::settings::Link;

use super::{Discipline, Traits};

/// No settings: the buffer is the port's.
pub type Config = Nothing;

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        false
    }
}

/// Drop-tail.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropTail;

impl DropTail {
    /// The same at any link.
    pub fn new(_: &Config, _: Link) -> DropTail {
        DropTail
    }
}

impl Discipline for DropTail {}
