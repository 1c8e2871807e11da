//! Nodes in virtual time.
//!
//! One binary, as each one is linked separately.

mod experiments;
mod faults;
mod world;
