//! What the columns of categories stand for.

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

/// Whether a port of the scenario has a policer.
pub(crate) fn polices(scenario: &Scenario) -> bool {
    scenario.network.ports.iter().any(|port| port.impairments.police.is_some())
}
