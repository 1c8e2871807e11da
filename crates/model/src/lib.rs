//! Scenarios: what a run is made of, checked once.

pub mod scenario;
