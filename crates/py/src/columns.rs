//! Result columns as numpy arrays: moved, not copied.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tidegate_sim::{Column, Data};

/// A table: column name to array, or to (codes, names) where a column holds names.
pub fn table(py: Python<'_>, columns: Vec<Column>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for column in columns {
        let values = match column.data {
            Data::F64(values) => values.into_pyarray(py).into_any(),
            Data::U64(values) => values.into_pyarray(py).into_any(),
            Data::U32(values) => values.into_pyarray(py).into_any(),
            Data::Category { codes, names } => {
                (codes.into_pyarray(py), names).into_pyobject(py)?.into_any()
            }
        };
        table.set_item(column.name, values)?;
    }
    Ok(table)
}
