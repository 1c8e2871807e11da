//! How fast the data of each class reaches its receivers, over the sampling intervals of ports.

use tidegate_core::units::Time;
use tidegate_model::columns::{Category, ClassRateRow, Column};
use tidegate_model::scenario::Scenario;

use crate::names::names;
use crate::transport::ClassParams;

/// The rows so far, and what had arrived at the last one.
#[derive(Default)]
pub(crate) struct ClassRates {
    last: Vec<u64>,
    at: Time,
    rows: Vec<ClassRateRow>,
}

impl ClassRates {
    /// A sampling interval is over.
    pub(crate) fn sample(&mut self, classes: &[ClassParams], now: Time) {
        self.last.resize(classes.len(), 0);
        let span = (now - self.at).secs();
        for (number, (class, last)) in (0..).zip(classes.iter().zip(&mut self.last)) {
            let bytes = class.arrived_bytes - *last;
            *last = class.arrived_bytes;
            let arrived_bps = bytes as f64 * 8.0 / span;
            self.rows.push(ClassRateRow {
                time_s: now.secs(),
                class: Category(number),
                arrived_bps,
            });
        }
        self.at = now;
    }

    /// The `class_rates` table.
    pub(crate) fn columns(self, scenario: &Scenario) -> Vec<Column> {
        ClassRateRow::columns(self.rows, |column| names(scenario, column))
    }
}
