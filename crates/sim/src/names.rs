//! What the columns of categories stand for.

use tidegate_core::law::Reason;
use tidegate_model::scenario::Scenario;

/// The names that the indices in a column of categories refer to.
pub(crate) fn names(scenario: &Scenario, column: &str) -> Vec<String> {
    match column {
        "class" => scenario.traffic.iter().map(|class| class.name.clone()).collect(),
        "cause" => ["ack", "timeout"].map(str::to_owned).into(),
        "origin" => scenario.network.nodes.clone(),
        _ => scenario.network.ports.iter().map(|port| port.name.clone()).collect(),
    }
}

/// Whether a port of the scenario can drop a packet for this reason. Reasons that need a key of
/// their own are named only where a port has it.
pub(crate) fn drops(scenario: &Scenario, reason: Reason) -> bool {
    scenario.network.ports.iter().any(|port| match reason {
        Reason::Policed => port.impairments.police.is_some(),
        Reason::Expired => port.impairments.lifetime.is_some(),
        _ => true,
    })
}
