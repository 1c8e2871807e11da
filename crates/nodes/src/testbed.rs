//! A whole network of nodes on one machine, from one file.
//!
//! | module | what it is |
//! |--------|------------|
//! | `plan` | from the file to the configuration of each node |
//! | `running` | the nodes as processes |
//! | `report` | the results, as tables |
//! | `bench` | the forwarding rate of one node, and its cost |

pub mod bench;
pub mod plan;
pub mod report;
pub mod running;
