//! A bottleneck for real packets: two TUN devices, and a port of a scenario
//! between them in either direction.
//!
//! The ports are those of the simulator, with their disciplines and laws. A port
//! receives the time at which a packet was read and returns the time at which to
//! write it. A late write is reported, and does not delay later packets. One
//! thread sleeps until the next packet or deadline by the monotonic clock; there
//! is no busy waiting.
//!
//! | module    | what it is |
//! |-----------|------------|
//! | `cli`     | the commands of `tidegated`, one file each |
//! | `command` | a command that is to be run |
//! | `carrier` | the loop between the devices |
//! | `way`     | one direction: a port, and the packets that propagate after it |
//! | `device`  | a TUN device in a network namespace |
//! | `report`  | requested and achieved values |
//! | `scenario` | scenarios from files |
//! | `traffic` | real TCP sessions with the flows of a scenario |
//!
//! Limits: one link of the scenario and the link back. Other links on a path add
//! their propagation delay only, after the port, not their rates, buffers or
//! losses. Filters against greedy origins are refused, as they need a neighbour
//! node. A packet has at most 1500 bytes.

#![cfg(target_os = "linux")]

pub mod behind;
pub mod carrier;
pub mod cli;
pub mod command;
pub mod device;
pub mod report;
pub mod scenario;
pub mod traffic;
mod way;
