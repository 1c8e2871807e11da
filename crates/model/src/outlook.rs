//! What can be said of a scenario before it runs.

mod ecn;
mod expected;
pub mod flow_state;
pub mod lint;
pub mod memory;
pub mod offered;
mod thresholds;
