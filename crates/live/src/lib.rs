//! tidegate on real packets: what moves bytes and time for the laws of `core`.
//!
//! | module | what it is |
//! |--------|------------|
//! | `cli`  | the commands of `tidegated`, one file each |
//! | `fail` | errors that name their place and what would be right |

pub mod cli;
pub mod fail;
