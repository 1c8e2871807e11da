//! Which flows of UDP are calls, and which are files.

use super::{FlowSize, Udp};

impl Udp {
    /// The highest rate of a constant stream of a size that counts as a call, in bit/s; chosen:
    /// G.711 takes 64 kbit/s and its headers up to 32 more.
    pub const SPEECH_BPS: u64 = 128_000;

    /// Whether flows of this size are calls, and no files: an encoder's, those without a size, and
    /// constant streams at the rate of speech.
    pub fn is_call(&self, size: &FlowSize) -> bool {
        let constant = self.burst.is_none() && self.rate.bps() <= Udp::SPEECH_BPS;
        self.media.is_some() || matches!(size, FlowSize::Unlimited { .. }) || constant
    }
}
