//! Real transport stacks as hosts of the simulator, and congestion controls out of their crates.
//!
//! Each is the code of its own project: a stack behind [`tidegate_core::host::Host`], a control
//! behind [`tidegate_sim::transport::control::Control`]. Nothing here opens a socket, and time is
//! that of the simulation.

#![expect(clippy::duplicate_mod, reason = "quinn and noq share their hosts, for a crate each")]

pub mod controls;
mod draws;
pub mod noq;
pub mod quinn;
pub mod smoltcp;

use tidegate_core::host::Stack;
use tidegate_model::scenario::Quic;

/// The stack that a class asks for; none: there is none of this name.
pub fn stack(quic: &Quic) -> Option<Stack> {
    let (control, crypto, datagram) = (quic.control, quic.crypto, quic.datagram());
    match quic.stack.as_str() {
        "quinn" => Some(quinn::stack(control, crypto, datagram)),
        "noq" => Some(noq::stack(control, crypto, datagram)),
        "smoltcp" => Some(smoltcp::stack(control, datagram)),
        _ => None,
    }
}
