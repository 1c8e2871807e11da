//! Result columns as numpy arrays.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use tidegate_sim::{Column, Data};

/// A writable numpy array of these numbers.
///
/// Copied through a bytearray: the crate `numpy` would add a matrix library as a dependency.
pub fn array<'py, const N: usize, T>(
    py: Python<'py>,
    dtype: &str,
    values: &[T],
    bytes: fn(&T) -> [u8; N],
) -> PyResult<Bound<'py, PyAny>> {
    let buffer = PyByteArray::new_with(py, values.len() * N, |buffer| {
        for (place, value) in buffer.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&bytes(value));
        }
        Ok(())
    })?;
    py.import("numpy")?.call_method1("frombuffer", (buffer, dtype))
}

/// Numbers of type f64.
pub fn floats<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    array(py, "<f8", values, |value| value.to_le_bytes())
}

/// Numbers of type u64.
pub fn counts<'py>(py: Python<'py>, values: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    array(py, "<u8", values, |value| value.to_le_bytes())
}

/// A table: column names with arrays, or with (codes, names) for columns of names.
pub fn table(py: Python<'_>, columns: Vec<Column>) -> PyResult<Bound<'_, PyDict>> {
    let codes_of = |codes: &[u32]| array(py, "<u4", codes, |value| value.to_le_bytes());
    let table = PyDict::new(py);
    for column in columns {
        let values = match column.data {
            Data::F64(values) => floats(py, &values)?,
            Data::U64(values) => counts(py, &values)?,
            Data::U32(values) => codes_of(&values)?,
            Data::Category { codes, names } => {
                (codes_of(&codes)?, names).into_pyobject(py)?.into_any()
            }
        };
        table.set_item(column.name, values)?;
    }
    Ok(table)
}
