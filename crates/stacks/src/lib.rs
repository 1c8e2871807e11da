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

/// The congestion controls of a stack of QUIC that are offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// CUBIC (RFC 9438).
    Cubic,
    /// NewReno (RFC 9002, 7).
    NewReno,
}

/// What protects packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Crypto {
    /// Nothing: messages and packets have the lengths of TLS 1.3.
    #[default]
    Null,
    /// TLS 1.3 by rustls.
    Rustls,
}
