//! When a flow sends, and when it is silent.

use rand_pcg::Pcg64;
use tidegate_core::units::Time;

use super::stream;
use crate::scenario::Amount;

/// The times of one flow, drawn one after the other from a stream of its own.
#[derive(Debug)]
pub struct Periods {
    on: Amount,
    off: Amount,
    random: Pcg64,
}

impl Periods {
    /// Those of flow `number` of a class, from 0, of the seconds `on` and `off`.
    pub fn new(seed: u64, class: &str, number: u64, (on, off): (Amount, Amount)) -> Periods {
        Periods { on, off, random: stream(seed, class, &format!("periods {number}")) }
    }

    /// How long it sends.
    pub fn on(&mut self) -> Time {
        self.on.time(&mut self.random)
    }

    /// How long it is silent.
    pub fn off(&mut self) -> Time {
        self.off.time(&mut self.random)
    }
}
