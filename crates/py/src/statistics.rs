//! The quantile that confidence intervals need, from the crate `statrs`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Up to here `statrs` is within 1e-12 of the quantile. Above, its iteration ends too early (6e-5
/// off at a million degrees), while the expansion about the normal quantile gets more accurate.
const ITERATED: f64 = 1e3;

/// The quantile of Student's t distribution at probability `p`, with so many degrees of freedom.
#[pyfunction]
pub fn student_t_quantile(p: f64, df: f64) -> PyResult<f64> {
    if !(p > 0.0 && p < 1.0) {
        return Err(PyValueError::new_err(format!("p is {p}: write a share above 0 and below 1")));
    }
    if !(df >= 1.0 && df.is_finite()) {
        return Err(PyValueError::new_err(format!("df is {df}: write 1 degree or more")));
    }
    if df <= ITERATED {
        let student = StudentsT::new(0.0, 1.0, df).map_err(|e| refused(&e))?;
        return Ok(student.inverse_cdf(p));
    }
    let normal = Normal::new(0.0, 1.0).map_err(|e| refused(&e))?;
    Ok(about_normal(normal.inverse_cdf(p), df))
}

fn refused(error: &dyn std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Abramowitz and Stegun 26.7.5, to the third order in 1/n; `z` is the normal quantile.
fn about_normal(z: f64, n: f64) -> f64 {
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    let first = (z3 + z) / 4.0;
    let second = (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0;
    let third = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0;
    z + first / n + second / n.powi(2) + third / n.powi(3)
}
