//! Congestion controls out of the crates of other projects, in the simulator's own TCP.
//!
//! Who is compared so is the control alone: handshake, repair of losses, acknowledgements and timers
//! are those of the simulator's TCP for all. The controls are made for QUIC (RFC 9002), so each
//! sending of a segment is a packet with a number of its own, as long as the datagram would be.
//!
//! | what RFC 9002 has | what stands for it here |
//! |---|---|
//! | a packet is acknowledged, lost | the segment that it carried last arrives, is marked lost |
//! | a probe timeout (6.2): probes leave, nothing is lost yet | the retransmission timer: one segment leaves; what it found lost stays in the window until a later packet is acknowledged |
//! | persistent congestion (7.6) | found by its rule, from the times of the packets lost |
//! | marks | with `ecn` the receiver counts them and tells in each acknowledgement (RFC 9768) |
//! | pacing (7.7) | where the control itself says a rate or a time; else a burst, as our Reno and CUBIC |

mod adapter;
mod noq;
mod quinn;
mod s2n;
mod theirs;

use tidegate_model::profile::Tcp;
use tidegate_sim::Factory;

use adapter::Adapter;

use crate::draws::Draws;

/// The controls, by the names that scenarios have.
pub const NAMES: &[&str] =
    &["quinn:cubic", "quinn:new-reno", "noq:cubic", "noq:new-reno", "s2n:cubic", "s2n:bbr2"];

/// Bytes of the headers of IPv4 and UDP, which QUIC does not count.
const BELOW: u32 = 28;

/// What makes the controls of a class by this name; none: there is none of it.
pub fn factory(name: &str, tcp: &Tcp, seed: u64) -> Option<Factory> {
    let size = tcp.mss + tcp.header - BELOW;
    let (mtu, ecn) = (size as u16, tcp.ecn);
    let mut draws = Draws::new(seed);
    Some(match name {
        "quinn:cubic" => {
            Box::new(move || Adapter::boxed(size, ecn, quinn::cubic(mtu, draws.next())))
        }
        "quinn:new-reno" => {
            Box::new(move || Adapter::boxed(size, ecn, quinn::new_reno(mtu, draws.next())))
        }
        "noq:cubic" => Box::new(move || Adapter::boxed(size, ecn, noq::cubic(mtu, draws.next()))),
        "noq:new-reno" => {
            Box::new(move || Adapter::boxed(size, ecn, noq::new_reno(mtu, draws.next())))
        }
        "s2n:cubic" => Box::new(move || Adapter::boxed(size, ecn, s2n::cubic(mtu, draws.next()))),
        "s2n:bbr2" => Box::new(move || Adapter::boxed(size, ecn, s2n::bbr2(mtu, draws.next()))),
        _ => return None,
    })
}
