//! How much memory a run will take.

use super::lint;
use crate::scenario::Scenario;

/// What a flow takes, as it runs and as a row of results; measured, rounded up.
const PER_FLOW: f64 = 650.0;
/// What a port takes, in the network and in the summary; measured, rounded up.
const PER_PORT: f64 = 6000.0;
/// What a small run takes in addition to its flows; measured, rounded up.
const AT_LEAST: f64 = 30e6;

/// About how many bytes a run will take at the most.
pub fn bytes(scenario: &Scenario) -> f64 {
    let flows: f64 = lint::expected(scenario).iter().map(|class| class.flows).sum();
    AT_LEAST + PER_PORT * scenario.network.ports.len() as f64 + PER_FLOW * flows
}
