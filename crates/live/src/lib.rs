//! tidegate on real packets: what moves bytes and time for the laws of `core`.
//!
//! | module | what it is |
//! |--------|------------|
//! | `cli`  | the commands of `tidegated`, one file each |
//! | `emulate` | a bottleneck for real packets (Linux) |
//! | `fail` | errors that name their place and what would be right |
//! | `gate` | control of the sessions that leave by an interface (feature `gate`) |
//! | `netlink` | requests to the kernel (Linux) |
//! | `node` | an active node over UDP |
//! | `scenario` | scenarios from files |
//! | `testbed` | a network of nodes from one file |
//! | `traffic` | real TCP sessions with the flows of a scenario (Linux) |

pub mod cli;
#[cfg(target_os = "linux")]
pub mod emulate;
pub mod fail;
#[cfg(feature = "gate")]
pub mod gate;
#[cfg(target_os = "linux")]
mod netlink;
pub mod node;
pub mod scenario;
pub mod testbed;
#[cfg(target_os = "linux")]
pub mod traffic;
