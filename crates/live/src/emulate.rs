//! A bottleneck for real packets: two TUN devices, and a port of a scenario
//! between them in either direction.
//!
//! The ports are those of the simulator, with everything that works at them;
//! they are told the time at which a packet was read, and say when it is to be
//! written. Packets move by that schedule: how late one is written is reported,
//! and never moves those behind it. One thread sleeps until the next packet or
//! deadline by the monotonic clock; nothing waits busily.
//!
//! | module    | what it is |
//! |-----------|------------|
//! | `carrier` | the loop between the devices |
//! | `way`     | one direction: a port, and what is on its way behind it |
//! | `device`  | a TUN device in a network namespace |
//! | `report`  | what was asked for and what was reached |
//!
//! Limits: one link of the scenario and its way back. Of the other links on a
//! path only the propagation delay is there, behind the port, and not their
//! rates, buffers or losses. Filters against greedy origins are refused: they
//! want a neighbour to ask. A packet is at most 1500 bytes.

pub mod carrier;
pub mod device;
pub mod report;
mod way;
