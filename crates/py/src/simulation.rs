//! One run, advanced in slices without the GIL.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tidegate_core::units::Time;
use tidegate_sim as sim;

use crate::columns;
use crate::law::Failure;
use crate::scenario::Scenario;
use crate::supply::Supply;

import_exception!(tidegate.errors, LawFault);

/// Events between two readings of the clock: about a millisecond.
const EVENTS_PER_LOOK: u64 = 20_000;

/// One run of a scenario.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Simulation {
    /// Empty after the results have been returned. In a box of its own: Python's memory is not
    /// aligned to cache lines.
    running: Mutex<Option<Box<sim::Simulation>>>,
    duration: Time,
    over: AtomicBool,
    /// Whether a law in Python sees packets.
    per_packet: bool,
    /// What such a law has raised.
    failure: Failure,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scenario, seed, laws = None, capture = None, qlogs = Vec::new()))]
    fn new(
        scenario: &Bound<'_, Scenario>,
        seed: u64,
        laws: Option<&Bound<'_, PyDict>>,
        capture: Option<String>,
        qlogs: Vec<(String, u32)>,
    ) -> PyResult<Simulation> {
        let checked = &scenario.get().checked;
        let supply = Supply::new(laws);
        let simulation = supply.build(checked, seed, (capture, qlogs));
        if let Some(error) = supply.failure.take() {
            return Err(error);
        }
        Ok(Simulation {
            running: Mutex::new(Some(Box::new(simulation?))),
            duration: checked.duration,
            over: AtomicBool::new(false),
            per_packet: supply.sees_packets(),
            failure: supply.failure.clone(),
        })
    }

    /// Run for about `budget_ms` milliseconds of real time; returns True if the run is over.
    #[pyo3(signature = (budget_ms = 10.0))]
    fn advance(&self, py: Python<'_>, budget_ms: f64) -> PyResult<bool> {
        let budget = Duration::try_from_secs_f64(budget_ms / 1e3).unwrap_or(Duration::ZERO);
        let mut running = self.lock()?;
        let simulation = running.as_mut().ok_or_else(handed_out)?;
        let (until, per_packet) = (self.duration, self.per_packet);
        let mut go = || slice(simulation, until, budget, per_packet.then_some(&self.failure));
        // A law in Python that sees packets needs the interpreter at every one of them. To give it
        // up and take it back each time would cost more than the law.
        let over = if per_packet { go() } else { py.detach(go) };
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let over = over.map_err(raised)?;
        self.over.store(over, Ordering::Relaxed);
        Ok(over)
    }

    /// The next bytes of the capture of the port named by `capture`: a pcapng file of what it has sent
    /// since the last call. Call it after every `advance`.
    fn drain_capture<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut running = self.lock()?;
        let simulation = running.as_mut().ok_or_else(handed_out)?;
        let bytes = py.detach(|| simulation.drain_capture());
        Ok(PyBytes::new(py, &bytes))
    }

    /// The next bytes of the logs (qlog) of the flows named by `qlogs`, one for each; whole records.
    /// Call it after every `advance`.
    fn drain_qlogs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let mut running = self.lock()?;
        let simulation = running.as_mut().ok_or_else(handed_out)?;
        Ok(simulation.drain_qlogs().iter().map(|log| PyBytes::new(py, log)).collect())
    }

    /// The simulated time so far, in seconds.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        let running = self.lock()?;
        Ok(running.as_ref().ok_or_else(handed_out)?.now().secs())
    }

    /// The tables, totals and digest of a finished run; callable once.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if !self.over.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err("the run is not over; advance it until it is"));
        }
        let simulation = self.lock()?.take().ok_or_else(handed_out)?;
        let (results, digest) = py.detach(|| {
            let results = simulation.finish();
            let digest = results.digest();
            (results, digest)
        });
        let all = PyDict::new(py);
        all.set_item("result_hash", digest)?;
        all.set_item("packet_hops", results.packet_hops)?;
        all.set_item("delivered_packets", results.delivered_packets)?;
        for (name, columns) in results.into_tables() {
            all.set_item(name, columns::table(py, columns)?)?;
        }
        Ok(all)
    }
}

impl Simulation {
    /// Does not wait: the holder of the lock may need the GIL for a law in Python.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Box<sim::Simulation>>>> {
        match self.running.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("this run is being advanced by another thread"))
            }
            Err(TryLockError::Poisoned(_)) => {
                Err(PyRuntimeError::new_err("this run broke off earlier and cannot go on"))
            }
        }
    }
}

fn handed_out() -> PyErr {
    PyRuntimeError::new_err("the results of this run have been handed out; start a new one")
}

/// Advances until the run or the time is over.
fn slice(
    simulation: &mut sim::Simulation,
    until: Time,
    budget: Duration,
    failure: Option<&Failure>,
) -> Result<bool, tidegate_core::law::Fault> {
    let start = Instant::now();
    // Python takes a microsecond for what takes the simulator nanoseconds
    let events = if failure.is_some() { EVENTS_PER_LOOK / 50 } else { EVENTS_PER_LOOK };
    loop {
        if let sim::Progress::Done = simulation.advance(until, events)? {
            return Ok(true);
        }
        if failure.is_some_and(Failure::is_there) || start.elapsed() >= budget {
            return Ok(false);
        }
    }
}

/// The exception of a Python law as raised; anything else as a [`LawFault`].
pub(crate) fn raised(fault: tidegate_core::law::Fault) -> PyErr {
    match fault.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(other) => LawFault::new_err(describe(other.as_ref())),
    }
}

/// The message of an error, followed by those of its causes.
fn describe(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
