//! Session laws over synthetic plants, their golden vectors, and any counts at all.

mod any_counts;
mod baselines;
mod change;
mod charge;
mod clients;
mod close_probe;
mod golden;
#[path = "../golden/vectors.rs"]
mod golden_vectors;
mod gss_ga;
pub mod rig;
mod tide;
mod vectors;
