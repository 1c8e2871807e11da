//! Packet captures: bytes in pieces go in, columns come out.

use std::sync::Mutex;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tidegate_capture as capture;

use crate::columns;

create_exception!(
    tidegate._native,
    CaptureError,
    PyValueError,
    "A file that is no packet capture, or one in which there is no TCP."
);

/// Reads the connections of a packet capture that arrives in pieces.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Capture {
    /// None after the results have been returned.
    reader: Mutex<Option<capture::Reader>>,
}

#[pymethods]
impl Capture {
    #[new]
    fn new() -> Capture {
        Capture { reader: Mutex::new(Some(capture::Reader::new())) }
    }

    /// Add the next bytes of the file; returns False if no more are wanted.
    fn feed(&self, py: Python<'_>, piece: &[u8]) -> PyResult<bool> {
        let mut reader = self.lock()?;
        let reader = reader.as_mut().ok_or_else(handed_out)?;
        py.detach(|| reader.feed(piece)).map_err(refused)
    }

    /// End the file and return its flows; callable once.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reader = self.lock()?.take().ok_or_else(handed_out)?;
        let found = py.detach(|| reader.finish()).map_err(refused)?;
        let flows = found.flows;
        let named = |flow: &capture::CapturedFlow| match flow.direction {
            capture::Direction::Upload => "upload",
            capture::Direction::Download => "download",
        };
        let starts: Vec<f64> = flows.iter().map(|flow| flow.start_ns as f64 / 1e9).collect();
        let sizes: Vec<u64> = flows.iter().map(|flow| flow.size_bytes).collect();
        let others: Vec<u64> = flows.iter().map(|flow| flow.other_bytes).collect();
        let columns = PyDict::new(py);
        columns.set_item("start_s", columns::floats(py, &starts)?)?;
        columns.set_item("size_bytes", columns::counts(py, &sizes)?)?;
        columns.set_item("other_bytes", columns::counts(py, &others)?)?;
        columns.set_item("direction", flows.iter().map(named).collect::<Vec<_>>())?;
        let ends = |end: fn(&capture::CapturedFlow) -> std::net::SocketAddr| {
            flows.iter().map(|flow| end(flow).to_string()).collect::<Vec<_>>()
        };
        columns.set_item("client", ends(|flow| flow.client))?;
        columns.set_item("server", ends(|flow| flow.server))?;
        let transport = |flow: &capture::CapturedFlow| match flow.transport {
            capture::Transport::Tcp => "tcp",
            capture::Transport::Quic => "quic",
        };
        columns.set_item("transport", flows.iter().map(transport).collect::<Vec<_>>())?;
        columns.set_item("closed", flows.iter().map(|flow| flow.closed).collect::<Vec<_>>())?;
        let (skipped, skipped_bytes) = (PyDict::new(py), PyDict::new(py));
        for capture::Skipped { reason, count, bytes } in found.skipped {
            skipped.set_item(reason.to_string(), count)?;
            skipped_bytes.set_item(reason.to_string(), bytes)?;
        }
        let all = PyDict::new(py);
        all.set_item("flows", columns)?;
        all.set_item("skipped", skipped)?;
        all.set_item("skipped_bytes", skipped_bytes)?;
        all.set_item("packets", found.packets)?;
        all.set_item("wire_bytes", found.bytes)?;
        all.set_item("span_s", found.span_ns as f64 / 1e9)?;
        all.set_item("broken", found.broken)?;
        Ok(all)
    }
}

impl Capture {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Option<capture::Reader>>> {
        let busy = |_| PyRuntimeError::new_err("this capture is being read by another thread");
        self.reader.try_lock().map_err(busy)
    }
}

fn handed_out() -> PyErr {
    PyRuntimeError::new_err("what this capture holds has been handed out")
}

fn refused(error: capture::Error) -> PyErr {
    CaptureError::new_err(error.to_string())
}
