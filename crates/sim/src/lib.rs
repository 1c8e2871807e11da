//! The packet-level simulator: one scenario, one seed, one thread, in slices.
//!
//! [`Simulation::advance`] runs until a simulated instant or for so many
//! events, whichever comes first, so that progress, interruption, benchmarks
//! and laws of the user's own can loop over it. The same scenario and seed
//! give the same columns, bit for bit, on any machine.

// examples that are copied into this crate name it as everyone else does
extern crate self as tidegate_sim;

mod arrivals;
mod capture;
mod engine;
mod lanes;
mod network;
mod probe;
mod rows;
mod run;
mod series;
mod services;
pub mod transport;

pub use probe::{Column, Data, Results};
pub use run::{BuildError, Custom, Factory, Progress, Simulation};
pub use services::Hop;
