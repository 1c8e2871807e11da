//! Drop-tail: first come, first served; what does not fit is lost.

use crate::law::{Draw, Reason, Verdict};
use crate::packet::Packet;

use super::{Discipline, Found, Waiting};

/// Drop-tail.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropTail;

impl Discipline for DropTail {
    #[inline]
    fn arrive(&mut self, _: &Packet, _: &mut Waiting, found: &Found, _: &mut dyn Draw) -> Verdict {
        if found.fits { Verdict::Pass } else { Verdict::Drop(Reason::QueueFull) }
    }
}
