//! What the gate, the emulator and the nodes share.
//!
//! | module | what it is |
//! |--------|------------|
//! | `fail` | errors that name their place and the remedy |
//! | `netlink` | requests to the kernel (Linux) |
//! | `output` | results on standard output, and files that are read |

pub mod fail;
#[cfg(target_os = "linux")]
pub mod netlink;
pub mod output;
