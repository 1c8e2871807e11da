//! Active nodes, and a testbed of them on one machine (lgc, 4 and 5).
//!
//! | module | what it is |
//! |--------|------------|
//! | `cli`  | the commands of `tidegated`, one file each |
//! | `node` | an active node over UDP |
//! | `testbed` | a network of nodes from one file |

pub mod cli;
pub mod node;
pub mod testbed;
