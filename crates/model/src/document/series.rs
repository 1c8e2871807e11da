//! Time series on request, in addition to those of ports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::units::Time;

/// Time series in addition to those of ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table, as in { flows = [\"web:0\"], classes = [\"web\"] }"
)]
pub(crate) struct SeriesDoc {
    /// Single flows, each as `CLASS:N`: the flow number N of its class, from 0, in the order of the starts; at most 1000. Their windows, round trips and rates are in the `flow_series` table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// Traffic classes, by name. Their rates are in the `class_series` table; how much of each waits at ports other than access links is in the `queue_series` table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Single flows, named as in `flows`; at most 100. The `acks` table has the state of their sender at every acknowledgement: window, threshold, round trip, bytes in flight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acks: Vec<String>,
    /// Spacing of the rows; default that of the `ports` table (`sample`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
}

impl SeriesDoc {
    pub(crate) fn is_none(&self) -> bool {
        *self == SeriesDoc::default()
    }
}
