//! The program `tidegated`, its nodes, and its gate.
//!
//! One binary, as each one is linked by itself.

mod experiments;
mod faults;
#[cfg(feature = "gate")]
mod gate;
mod help;
mod processes;
mod world;
