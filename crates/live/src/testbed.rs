//! A whole network of nodes on one machine, from one file.
//!
//! | module | what it is |
//! |--------|------------|
//! | `plan` | from the file to the configuration of each node |
//! | `running` | the nodes as processes |
//! | `report` | what came of it, as tables |
//! | `bench` | what one node forwards, and what that costs |

pub mod bench;
pub mod plan;
pub mod report;
pub mod running;
