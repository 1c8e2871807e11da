//! Rate laws: golden vectors, edge cases, and the stamp at a port.

mod edges;
mod golden;
mod own;
mod port;
mod rig;
