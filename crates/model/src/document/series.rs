//! Time series on request, in addition to those of ports.

use tidegate_core::keys;
use tidegate_core::units::Time;

keys! {
    /// Time series in addition to those of ports.
    #[derive(Default)]
    "SeriesDoc" as pub(crate) SeriesDoc = "a table, as in { flows = [\"web:0\"], classes = [\"web\"] }":
    flows: Vec<String> = { Vec::new() } quiet "Single flows, each as `CLASS:N`: the flow number N of its class, from 0, in the order of the starts; at most 1000" + "Their windows, round trips and rates are in the `flow_series` table.";
    classes: Vec<String> = { Vec::new() } quiet "Traffic classes, by name" + "Their rates are in the `class_series` table; how much of each waits at ports other than access links is in the `queue_series` table.";
    acks: Vec<String> = { Vec::new() } quiet "Single flows, named as in `flows`; at most 100" + "The `acks` table has the state of their sender at every acknowledgement: window, threshold, round trip, bytes in flight.";
    every: Option<Time> = none [above "0s"] "Spacing of the rows; default that of the `ports` table (`sample`)";
}

impl SeriesDoc {
    pub(crate) fn is_none(&self) -> bool {
        *self == SeriesDoc::default()
    }
}
