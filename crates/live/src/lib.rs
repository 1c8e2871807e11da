//! tidegate on real packets: what moves bytes and time for the laws of `core`.
//!
//! | module | what it is |
//! |--------|------------|
//! | `cli`  | the commands of `tidegated`, one file each |
//! | `fail` | errors that name their place and what would be right |
//! | `gate` | control of the sessions that leave by an interface (feature `gate`) |
//! | `node` | an active node over UDP |
//! | `testbed` | a network of nodes from one file |

pub mod cli;
pub mod fail;
#[cfg(feature = "gate")]
pub mod gate;
pub mod node;
pub mod testbed;
