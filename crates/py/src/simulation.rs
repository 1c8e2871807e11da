//! One run, advanced in slices without the GIL.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tidegate_core::law::Controller;
use tidegate_core::law::rate::RateLaw;
use tidegate_core::law::session::{Counts, Knobs};
use tidegate_core::units::Time;
use tidegate_sim as sim;

use crate::columns;
use crate::law::{Admission, Granting, PythonLaw};
use crate::scenario::{Scenario, ScenarioError};

import_exception!(tidegate.errors, LawFault);

/// Events between two looks at the clock: about a millisecond.
const EVENTS_PER_LOOK: u64 = 20_000;

/// One run of a scenario.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Simulation {
    /// Empty once the results are handed out.
    running: Mutex<Option<sim::Simulation>>,
    duration: Time,
    over: AtomicBool,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scenario, seed, laws = None, capture = None))]
    fn new(
        scenario: &Bound<'_, Scenario>,
        seed: u64,
        laws: Option<&Bound<'_, PyDict>>,
        capture: Option<String>,
    ) -> PyResult<Simulation> {
        let checked = &scenario.get().checked;
        let object = |name: &str| Some(laws?.get_item(name).ok()??.unbind());
        let mut gates = |name: &str| -> Option<Box<dyn Controller<Knobs, Counts>>> {
            Some(Box::new(PythonLaw::<Admission>::new(object(name)?)))
        };
        let mut rates = |name: &str| -> Option<RateLaw> {
            Some(Box::new(PythonLaw::<Granting>::new(object(name)?)))
        };
        let parts = sim::Custom {
            laws: Some(&mut gates),
            rate_laws: Some(&mut rates),
            capture,
            ..sim::Custom::default()
        };
        let simulation =
            sim::Simulation::new(checked, seed, parts).map_err(|error| match error {
                sim::BuildError::Law(fault) => raised(fault),
                sim::BuildError::NoSuchLaw(name) => ScenarioError::new_err(format!(
                    "the scenario names `{name}`, a law of your own, and no such law was handed in\n\
                     give it: --law FILE.py:{name} on the command line, laws={{\"{name}\": ...}} \
                     in Python"
                )),
                other => ScenarioError::new_err(other.to_string()),
            })?;
        Ok(Simulation {
            running: Mutex::new(Some(simulation)),
            duration: checked.duration,
            over: AtomicBool::new(false),
        })
    }

    /// Runs for about `budget_ms` milliseconds of real time; True: the run is over.
    #[pyo3(signature = (budget_ms = 10.0))]
    fn advance(&self, py: Python<'_>, budget_ms: f64) -> PyResult<bool> {
        let budget = Duration::try_from_secs_f64(budget_ms / 1e3).unwrap_or(Duration::ZERO);
        let mut running = self.lock()?;
        let simulation = running.as_mut().ok_or_else(handed_out)?;
        let over = py.detach(|| slice(simulation, self.duration, budget)).map_err(raised)?;
        self.over.store(over, Ordering::Relaxed);
        Ok(over)
    }

    /// The next bytes of the capture of the port that `capture` names: a pcap
    /// of what it has sent since the last call. Call it after every `advance`.
    fn drain_capture<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut running = self.lock()?;
        let simulation = running.as_mut().ok_or_else(handed_out)?;
        let bytes = py.detach(|| simulation.drain_capture());
        Ok(PyBytes::new(py, &bytes))
    }

    /// How far the run has come, in simulated seconds.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        let running = self.lock()?;
        Ok(running.as_ref().ok_or_else(handed_out)?.now().secs())
    }

    /// The tables and totals of a run that is over; they are handed out once.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if !self.over.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err("the run is not over; advance it until it is"));
        }
        let simulation = self.lock()?.take().ok_or_else(handed_out)?;
        let results = py.detach(|| simulation.finish());
        let all = PyDict::new(py);
        all.set_item("flows", columns::table(py, results.flows)?)?;
        all.set_item("ports", columns::table(py, results.ports)?)?;
        all.set_item("events", columns::table(py, results.events)?)?;
        all.set_item("arrivals", columns::table(py, results.arrivals)?)?;
        all.set_item("flow_series", columns::table(py, results.flow_series)?)?;
        all.set_item("class_series", columns::table(py, results.class_series)?)?;
        all.set_item("queue_series", columns::table(py, results.queue_series)?)?;
        all.set_item("udp", columns::table(py, results.udp)?)?;
        all.set_item("video", columns::table(py, results.video)?)?;
        all.set_item("port_totals", columns::table(py, results.port_totals)?)?;
        all.set_item("packet_hops", results.packet_hops)?;
        all.set_item("delivered_packets", results.delivered_packets)?;
        Ok(all)
    }
}

impl Simulation {
    /// Never waits: the holder of the lock may need the GIL for a law in Python.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<sim::Simulation>>> {
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

/// Advances until the run is over or the time is up.
fn slice(
    simulation: &mut sim::Simulation,
    until: Time,
    budget: Duration,
) -> Result<bool, tidegate_core::law::Fault> {
    let start = Instant::now();
    loop {
        if let sim::Progress::Done = simulation.advance(until, EVENTS_PER_LOOK)? {
            return Ok(true);
        }
        if start.elapsed() >= budget {
            return Ok(false);
        }
    }
}

/// A law's own exception as it was raised, anything else as a [`LawFault`].
fn raised(fault: tidegate_core::law::Fault) -> PyErr {
    match fault.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(other) => LawFault::new_err(describe(other.as_ref())),
    }
}

/// The message of an error with those of its causes.
fn describe(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
