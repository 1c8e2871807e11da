//! Drop-tail: first come, first served; what does not fit is lost.

use crate::law::registry::Nothing;
use crate::law::settings::Link;
use crate::law::{Draw, Reason, Verdict};
use crate::packet::Packet;

use super::{ArrivalContext, Discipline, Waiting};

/// Drop-tail has no settings: the buffer is the port's.
pub type Config = Nothing;

/// Drop-tail.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropTail;

impl DropTail {
    /// Any link will do.
    pub fn new(_: &Config, _: Link) -> DropTail {
        DropTail
    }
}

impl Discipline for DropTail {
    #[inline]
    fn arrive(
        &mut self,
        _: &Packet,
        _: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        if found.fits { Verdict::Pass } else { Verdict::Drop(Reason::QueueFull) }
    }
}
