//! Rates and times, read as scenarios write them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tidegate_core::units::{Rate, Time, UnitError};

/// A rate in bit/s; `ValueError(WHAT, HELP)` says what is wrong with the text, and what to write.
#[pyfunction]
pub fn rate_bps(text: &str) -> PyResult<f64> {
    text.trim().parse().map(|rate: Rate| rate.bps() as f64).map_err(|error| refused(&error))
}

/// A time in seconds; `ValueError(WHAT, HELP)` as for a rate.
#[pyfunction]
pub fn time_s(text: &str) -> PyResult<f64> {
    text.trim().parse().map(|time: Time| time.secs()).map_err(|error| refused(&error))
}

fn refused(error: &UnitError) -> PyErr {
    PyValueError::new_err((error.what.clone(), error.help.clone()))
}
