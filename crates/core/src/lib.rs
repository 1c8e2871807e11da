//! The pure core of tidegate: quantities, packets, ports and control laws.
//!
//! Nothing here reads a clock, opens a file, draws a random number of its own
//! or starts a thread. Time and randomness come in as arguments, so the same
//! code runs in the simulator and on real packets.

// lets `tidegate_core::...` paths in macros resolve inside this crate as they do outside
extern crate self as tidegate_core;

pub mod active;
pub mod host;
pub mod law;
pub mod packet;
pub mod port;
pub mod units;
pub mod wire;
