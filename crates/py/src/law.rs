//! Laws written in Python: an object with `start` and `update` is the controller of a built-in
//! datapath. The laws that see packets are in the modules below.

mod control;
mod filter;
mod own;
mod packet;
mod queue;

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use pyo3::PyClass;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tidegate_core::law::{self, Controller, Fault, Step};
use tidegate_core::law::{rate, session};
use tidegate_core::units::Time;

pub use control::{Congestion, Sample, Signal, Tcp, factory};
pub use filter::PythonFilter;
pub use own::{Failure, Named, for_one_port, with_note};
pub use packet::{Draw, Packet, Verdict};
pub use queue::{Found, Next, PythonQueue, Slot, Waiting};

/// Most names of phases that laws may use in one process.
const MOST_PHASES: usize = 1000;
/// The shortest time (s) between two updates. A law that returned a smaller step made a run that
/// does not end.
const LEAST_EPOCH_S: f64 = 1e-6;

/// What a law has decided: a row of the table `events`.
#[pyclass(module = "tidegate._native", frozen, get_all)]
#[derive(Clone)]
pub struct Decision {
    /// The law's phase from now on.
    phase: String,
    /// The new value.
    set: f64,
    /// The value that it follows from: the column `from`.
    because: f64,
}

#[pymethods]
impl Decision {
    /// A row of the table `events`.
    #[new]
    #[pyo3(signature = (phase, set, because))]
    fn new(phase: String, set: f64, because: f64) -> Decision {
        Decision { phase, set, because }
    }
}

impl Decision {
    fn given(&self) -> PyResult<law::Decision> {
        let phase = lasting(&self.phase)?;
        for (name, value) in [("set", self.set), ("because", self.because)] {
            if value.is_nan() {
                let what = format!("`{name}` of a tidegate.Decision is not a number (nan)");
                return Err(PyValueError::new_err(what));
            }
        }
        Ok(law::Decision { phase, set: self.set, from: self.because })
    }
}

/// The name of a phase, kept for as long as the process runs, as those of built-in laws are.
fn lasting(phase: &str) -> PyResult<&'static str> {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = known.get(phase) {
        return Ok(there);
    }
    if known.len() >= MOST_PHASES {
        return Err(PyValueError::new_err(format!(
            "laws have named more than {MOST_PHASES} phases: a phase is a short name, and numbers \
             go into `set` and `because`"
        )));
    }
    let kept: &'static str = Box::leak(phase.to_owned().into_boxed_str());
    known.insert(kept);
    Ok(kept)
}

/// What a gate's law sets.
#[pyclass(module = "tidegate._native", get_all, set_all)]
pub struct Knobs {
    /// Sessions admitted in the current epoch (limiter "counter").
    allowance: u64,
    /// Nanoseconds between two tokens (limiter "token-bucket"); zero: no limit.
    token_interval_ns: u64,
    /// Capacity of the bucket, as nanoseconds' worth of tokens.
    token_depth_ns: u64,
    /// Admit everything, and count it.
    pass_all: bool,
}

#[pymethods]
impl Knobs {
    /// Knobs for tests of a law; a run passes its own.
    #[new]
    #[pyo3(signature = (*, allowance=0, token_interval_ns=0, token_depth_ns=0, pass_all=false))]
    fn new(allowance: u64, token_interval_ns: u64, token_depth_ns: u64, pass_all: bool) -> Knobs {
        Knobs { allowance, token_interval_ns, token_depth_ns, pass_all }
    }

    /// Admit `sessions` in an epoch of that length: the first ones, or one every `epoch_s /
    /// sessions`, as the limiter says.
    fn allow(&mut self, sessions: u64, epoch_s: f64) -> PyResult<()> {
        if epoch_s.is_nan() || epoch_s <= 0.0 {
            return Err(PyValueError::new_err(format!(
                "an epoch is longer than 0 s; epoch_s is {epoch_s}"
            )));
        }
        let mut knobs = session::Knobs::default();
        knobs.allow(sessions, Time::from_secs_f64(epoch_s));
        *self = Knobs::of(&knobs);
        Ok(())
    }

    /// Admit everything.
    fn open(&mut self) {
        self.pass_all = true;
    }
}

impl Knobs {
    fn of(knobs: &session::Knobs) -> Knobs {
        Knobs {
            allowance: knobs.allowance,
            token_interval_ns: knobs.token_interval_ns,
            token_depth_ns: knobs.token_depth_ns,
            pass_all: knobs.pass_all != 0,
        }
    }

    fn store(&self, knobs: &mut session::Knobs) {
        knobs.allowance = self.allowance;
        knobs.token_interval_ns = self.token_interval_ns;
        knobs.token_depth_ns = self.token_depth_ns;
        knobs.pass_all = u32::from(self.pass_all);
    }
}

/// Counts of a gate since the last update.
#[pyclass(module = "tidegate._native", frozen, get_all)]
pub struct Counts {
    /// Opening packets that arrived, retries included.
    arrived: u64,
    /// Opening packets that were admitted.
    admitted: u64,
    /// Sessions that ended: FINs that the queue accepted.
    departed: u64,
    /// Sessions that were aborted: resets that the queue accepted.
    resets: u64,
}

#[pymethods]
impl Counts {
    /// Counts for tests of a law; a run passes its own.
    #[new]
    #[pyo3(signature = (*, arrived=0, admitted=0, departed=0, resets=0))]
    fn new(arrived: u64, admitted: u64, departed: u64, resets: u64) -> Counts {
        Counts { arrived, admitted, departed, resets }
    }
}

/// The state of the port, as a law sees it.
#[pyclass(module = "tidegate._native", frozen, get_all)]
pub struct View {
    /// Current capacity of the link in bits per second.
    rate_bps: u64,
    /// Packets waiting, the one in transmission not counted.
    queue_packets: u32,
    /// Bytes waiting, the packet in transmission not counted.
    queue_bytes: u64,
    /// Fewest packets waiting at any moment since the last update.
    min_queue_packets: u32,
    /// Packets offered to the queue since the last update, without refused sessions.
    queue_offered: u64,
    /// Packets dropped by the queue since the last update, without refused sessions and losses on
    /// the link.
    queue_drops: u64,
    /// Time (s) spent transmitting since the last update.
    busy_s: f64,
    /// Since when (s) the link has been idle, or None.
    idle_since_s: Option<f64>,
}

#[pymethods]
impl View {
    /// A view for tests of a law; a run passes its own.
    #[new]
    #[pyo3(signature = (*, rate_bps, queue_packets=0, queue_bytes=0, min_queue_packets=0,
        queue_offered=0, queue_drops=0, busy_s=0.0, idle_since_s=None))]
    #[allow(clippy::too_many_arguments)] // its fields, all by keyword
    fn new(
        rate_bps: u64,
        queue_packets: u32,
        queue_bytes: u64,
        min_queue_packets: u32,
        queue_offered: u64,
        queue_drops: u64,
        busy_s: f64,
        idle_since_s: Option<f64>,
    ) -> View {
        View {
            rate_bps,
            queue_packets,
            queue_bytes,
            min_queue_packets,
            queue_offered,
            queue_drops,
            busy_s,
            idle_since_s,
        }
    }
}

impl View {
    fn of(view: &law::View<'_>) -> View {
        View {
            rate_bps: view.rate.bps(),
            queue_packets: view.queue_packets,
            queue_bytes: view.queue_bytes,
            min_queue_packets: view.min_queue_packets,
            queue_offered: view.queue_offered,
            queue_drops: view.queue_drops,
            busy_s: view.busy.secs(),
            idle_since_s: view.idle_since.map(Time::secs),
        }
    }
}

/// What a stamp's law sets.
#[pyclass(module = "tidegate._native", get_all, set_all)]
pub struct RateKnobs {
    /// The highest rate of any flow, in bits per second.
    rate_bps: f64,
}

/// Counts of a stamp since the last update.
#[pyclass(module = "tidegate._native", frozen, get_all)]
pub struct RateCounts {
    /// Packets offered to the queue.
    packets: u64,
    /// Their bytes, including packets that the queue dropped.
    bytes: u64,
    /// Bytes that the queue dropped.
    dropped_bytes: u64,
    /// Mean round-trip time (s) in the packets' headers, or None.
    mean_rtt_s: Option<f64>,
    /// The same, weighted by bytes.
    mean_rtt_by_bytes_s: Option<f64>,
}

/// Converts between a datapath and a Python law.
pub trait Boundary {
    /// The knobs of the datapath.
    type Knobs: Send;
    /// The counts of the datapath.
    type Counts: Send;
    /// The knobs that Python gets and changes.
    type Handed: PyClass<Frozen = pyo3::pyclass::boolean_struct::False>
        + Into<PyClassInitializer<Self::Handed>>;
    /// The counts that Python gets.
    type Told: PyClass + Into<PyClassInitializer<Self::Told>>;

    /// Converts knobs for Python.
    fn hand(knobs: &Self::Knobs) -> Self::Handed;
    /// Converts them back.
    fn store(handed: &Self::Handed, knobs: &mut Self::Knobs) -> PyResult<()>;
    /// Converts counts for Python; also returns the value `from` of the `events` table.
    fn to_python(counts: &Self::Counts) -> (Self::Told, f64);
    /// The value `set` of the `events` table.
    fn set(knobs: &Self::Knobs) -> f64;
}

/// The datapath of a gate.
pub struct Admission;

impl Boundary for Admission {
    type Knobs = session::Knobs;
    type Counts = session::Counts;
    type Handed = Knobs;
    type Told = Counts;

    fn hand(knobs: &session::Knobs) -> Knobs {
        Knobs::of(knobs)
    }
    fn store(handed: &Knobs, knobs: &mut session::Knobs) -> PyResult<()> {
        handed.store(knobs);
        Ok(())
    }
    fn to_python(counts: &session::Counts) -> (Counts, f64) {
        let &session::Counts { arrived, admitted, departed, resets, .. } = counts;
        (Counts { arrived, admitted, departed, resets }, departed as f64)
    }
    fn set(knobs: &session::Knobs) -> f64 {
        if knobs.pass_all == 0 { knobs.allowance as f64 } else { f64::INFINITY }
    }
}

/// The datapath of a stamp that grants one rate.
pub struct Granting;

impl Boundary for Granting {
    type Knobs = rate::Knobs;
    type Counts = rate::Counts;
    type Handed = RateKnobs;
    type Told = RateCounts;

    fn hand(knobs: &rate::Knobs) -> RateKnobs {
        RateKnobs { rate_bps: knobs.rate as f64 * 8.0 }
    }
    fn store(handed: &RateKnobs, knobs: &mut rate::Knobs) -> PyResult<()> {
        if handed.rate_bps.is_nan() {
            return Err(PyValueError::new_err("the knob `rate_bps` is not a number (nan)"));
        }
        knobs.rate = (handed.rate_bps / 8.0).max(1.0) as u64;
        Ok(())
    }
    fn to_python(counts: &rate::Counts) -> (RateCounts, f64) {
        let told = RateCounts {
            packets: counts.packets,
            bytes: counts.bytes,
            dropped_bytes: counts.dropped_bytes,
            mean_rtt_s: counts.mean_rtt_s(),
            mean_rtt_by_bytes_s: counts.mean_rtt_by_bytes_s(),
        };
        (told, counts.bytes as f64)
    }
    fn set(knobs: &rate::Knobs) -> f64 {
        knobs.rate as f64 * 8.0
    }
}

/// A Python object as a controller.
pub struct PythonLaw<B: Boundary> {
    object: Py<PyAny>,
    law: Named,
    datapath: PhantomData<fn() -> B>,
}

impl<B: Boundary> PythonLaw<B> {
    /// Wraps an object; a missing method shows at the first call.
    pub fn new(object: Py<PyAny>, law: Named) -> PythonLaw<B> {
        PythonLaw { object, law, datapath: PhantomData }
    }

    fn call_start(&self, now: Time, knobs: &mut B::Knobs) -> PyResult<Time> {
        Python::attach(|py| {
            let handed = Bound::new(py, B::hand(knobs))?;
            let arguments = (now.secs(), &handed);
            let object = self.object.bind(py);
            own::needs(object, &["start", "update"])?;
            let answer = object.call_method1("start", arguments)?;
            B::store(&handed.borrow(), knobs)?;
            deadline(now, &answer)
        })
        .map_err(|error| self.noted(error, "start", now))
    }

    fn call_update(
        &self,
        now: Time,
        view: &law::View<'_>,
        counts: B::Told,
        knobs: &mut B::Knobs,
    ) -> PyResult<(Time, Option<Option<law::Decision>>)> {
        Python::attach(|py| {
            let handed = Bound::new(py, B::hand(knobs))?;
            let counts = Bound::new(py, counts)?;
            let arguments = (now.secs(), View::of(view), counts, &handed);
            let answer = self.object.bind(py).call_method1("update", arguments)?;
            B::store(&handed.borrow(), knobs)?;
            answer_of(now, &answer)
        })
        .map_err(|error| self.noted(error, "update", now))
    }

    fn noted(&self, error: PyErr, method: &str, now: Time) -> PyErr {
        Python::attach(|py| own::noted(py, error, &self.law, method, now))
    }
}

/// The next deadline, and the decision: none, where the law returned a time alone.
fn answer_of(
    now: Time,
    answer: &Bound<'_, PyAny>,
) -> PyResult<(Time, Option<Option<law::Decision>>)> {
    let Ok(pair) = answer.cast::<PyTuple>() else { return Ok((deadline(now, answer)?, None)) };
    let wrong = || {
        PyTypeError::new_err(format!(
            "a law must return the time (s) of its next update, alone or with a tidegate.Decision \
             or None; it returned {}",
            packet::shown(answer)
        ))
    };
    let (next, decision): (Bound<'_, PyAny>, Option<PyRef<'_, Decision>>) =
        pair.extract().map_err(|_| wrong())?;
    Ok((deadline(now, &next)?, Some(decision.map(|decision| decision.given()).transpose()?)))
}

/// The next deadline that the law's method returned.
fn deadline(now: Time, answer: &Bound<'_, PyAny>) -> PyResult<Time> {
    let Ok(seconds) = answer.extract::<f64>() else {
        return Err(PyTypeError::new_err(format!(
            "a law must return the time (s) of its next update, a number; it returned {answer}"
        )));
    };
    // seconds that were added up may be later by less than a picosecond
    let least = now.secs() + LEAST_EPOCH_S - 1e-12;
    if seconds.is_finite() && seconds >= least {
        return Ok(Time::from_secs_f64(seconds));
    }
    Err(PyValueError::new_err(format!(
        "a law must return the time (s) of its next update, a microsecond later than now ({} s) at \
         least, and no infinite one; it returned {answer}",
        now.secs()
    )))
}

impl<B: Boundary> Controller<B::Knobs, B::Counts> for PythonLaw<B> {
    fn start(&mut self, now: Time, knobs: &mut B::Knobs) -> Result<Time, Fault> {
        Ok(self.call_start(now, knobs)?)
    }

    fn update(
        &mut self,
        now: Time,
        view: &law::View<'_>,
        counts: &B::Counts,
        knobs: &mut B::Knobs,
    ) -> Step {
        let (told, from) = B::to_python(counts);
        let (next, given) = self.call_update(now, view, told, knobs)?;
        let usual = || Some(law::Decision { phase: "python", set: B::set(knobs), from });
        Ok((next, given.unwrap_or_else(usual)))
    }
}
