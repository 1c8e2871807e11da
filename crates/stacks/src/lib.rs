//! Real transport stacks as hosts of the simulator.
//!
//! Each is the code of its own project, behind [`tidegate_core::host::Host`]. Nothing here opens a
//! socket, and time is that of the simulation.

pub mod quinn;
