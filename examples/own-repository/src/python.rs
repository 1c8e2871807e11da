//! The control for `tidegate certify`: a class with the methods that it calls.

use pyo3::prelude::*;

use crate::Mine;

/// The control of one flow.
#[pyclass(name = "Mine")]
struct Judged(Mine);

#[pymethods]
impl Judged {
    /// A new connection, with the settings of its TCP.
    #[new]
    fn new(tcp: &Bound<'_, PyAny>) -> PyResult<Judged> {
        Ok(Judged(Mine::new(tcp.getattr("initial_window")?.extract()?)))
    }

    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, segments: f64) {
        self.0.cwnd = segments;
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, segments: f64) {
        self.0.ssthresh = segments;
    }

    /// An acknowledgement; `opens` is 0 in recovery and with a mark.
    fn on_ack(&mut self, sample: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.acknowledged(sample.getattr("opens")?.extract()?);
        Ok(())
    }

    /// A loss or a mark; a loss in a window that was reduced for a mark counts no more.
    fn on_congestion(&mut self, signal: &Bound<'_, PyAny>, _at: &Bound<'_, PyAny>) -> PyResult<()> {
        if !signal.eq(signal.getattr("LOSS_AFTER_MARK")?)? {
            self.0.congested();
        }
        Ok(())
    }

    /// The retransmission timer expired.
    fn on_timeout(&mut self, _at: &Bound<'_, PyAny>, again: bool) {
        self.0.timed_out(again);
    }
}

/// The module that `certify.py` loads.
#[pymodule]
fn my_control(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Judged>()
}
