//! The pure heart of tidegate: quantities, packets, ports and control laws.
//!
//! Nothing here reads a clock, opens a file, draws a random number of its own
//! or starts a thread. Time and randomness come in as arguments, so the same
//! code runs in the simulator and on real packets.

// a law reads the same inside this crate and outside of it
extern crate self as tidegate_core;

pub mod active;
pub mod law;
pub mod packet;
pub mod port;
pub mod units;
pub mod wire;
