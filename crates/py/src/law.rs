//! Laws written in Python: an object with `start` and `update` as the controller over a named datapath.

use std::marker::PhantomData;

use pyo3::PyClass;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use tidegate_core::law::{self, Controller, Decision, Fault, Turn};
use tidegate_core::law::{rate, session};
use tidegate_core::units::Time;

/// What a law sets and the datapath obeys.
#[pyclass(module = "tidegate._native", get_all, set_all)]
pub struct Knobs {
    /// Sessions that may pass in the present epoch (limiter "counter").
    allowance: u64,
    /// Nanoseconds between two tokens (limiter "token-bucket"); zero: no limit.
    token_interval_ns: u64,
    /// How many nanoseconds' worth of tokens the bucket holds.
    token_depth_ns: u64,
    /// Everything passes, and is counted.
    pass_all: bool,
}

#[pymethods]
impl Knobs {
    /// Knobs to try a law with; a run hands out its own.
    #[new]
    #[pyo3(signature = (*, allowance=0, token_interval_ns=0, token_depth_ns=0, pass_all=false))]
    fn new(allowance: u64, token_interval_ns: u64, token_depth_ns: u64, pass_all: bool) -> Knobs {
        Knobs { allowance, token_interval_ns, token_depth_ns, pass_all }
    }

    /// Lets so many sessions pass in an epoch of that length, whichever the
    /// limiter: the first so many, or one each `epoch_s / sessions`.
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

    /// Lets everything pass.
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

/// What the datapath has counted since the last update.
#[pyclass(module = "tidegate._native", frozen, get_all)]
pub struct Counts {
    /// Opening packets that arrived, retries included.
    arrived: u64,
    /// Of these, how many were let through.
    admitted: u64,
    /// Sessions that ended: FINs that the queue took.
    departed: u64,
    /// Sessions that broke off: resets that the queue took.
    resets: u64,
}

#[pymethods]
impl Counts {
    /// Counts to try a law with; a run hands out its own.
    #[new]
    #[pyo3(signature = (*, arrived=0, admitted=0, departed=0, resets=0))]
    fn new(arrived: u64, admitted: u64, departed: u64, resets: u64) -> Counts {
        Counts { arrived, admitted, departed, resets }
    }
}

/// What a law may see of its port.
#[pyclass(module = "tidegate._native", frozen, get_all)]
pub struct View {
    /// Present capacity of the link in bits per second.
    rate_bps: u64,
    /// Packets waiting, the one in transmission not counted.
    queue_packets: u32,
    /// Bytes waiting, the packet in transmission not counted.
    queue_bytes: u64,
    /// Fewest packets waiting at any moment since the last update.
    min_queue_packets: u32,
    /// Packets that came since the last update, refused sessions not counted.
    queue_offered: u64,
    /// Packets that the queue lost since the last update: neither refused sessions nor what the link loses.
    queue_drops: u64,
    /// Transmission time (s) since the last update.
    busy_s: f64,
    /// Since when (s) the link has been idle, or None.
    idle_since_s: Option<f64>,
}

#[pymethods]
impl View {
    /// A view to try a law with; a run hands out its own.
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

/// The rate that a stamp grants.
#[pyclass(module = "tidegate._native", get_all, set_all)]
pub struct RateKnobs {
    /// The most that any flow may have, in bits per second.
    rate_bps: f64,
}

/// What a stamp has counted since the last update.
#[pyclass(module = "tidegate._native", frozen, get_all)]
pub struct RateCounts {
    /// Packets that came to the queue.
    packets: u64,
    /// Their bytes, those that the queue lost included.
    bytes: u64,
    /// Bytes of the packets that the queue lost.
    dropped_bytes: u64,
    /// Mean round-trip time (s) that packets said, or None.
    mean_rtt_s: Option<f64>,
    /// The same with the bytes as weights, or None.
    mean_rtt_by_bytes_s: Option<f64>,
}

/// How a datapath and a Python law hand things to each other.
pub trait Boundary {
    /// What the law sets, as the datapath keeps it.
    type Knobs: Send;
    /// What the datapath counts.
    type Counts: Send;
    /// What Python is handed and may change.
    type Handed: PyClass<Frozen = pyo3::pyclass::boolean_struct::False>
        + Into<PyClassInitializer<Self::Handed>>;
    /// What Python is told.
    type Told: PyClass + Into<PyClassInitializer<Self::Told>>;

    /// Hands the knobs over.
    fn hand(knobs: &Self::Knobs) -> Self::Handed;
    /// Takes them back.
    fn store(handed: &Self::Handed, knobs: &mut Self::Knobs);
    /// Tells what was counted; also what the row of the `events` table says of it.
    fn tell(counts: &Self::Counts) -> (Self::Told, f64);
    /// What the row of the `events` table says was set.
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
    fn store(handed: &Knobs, knobs: &mut session::Knobs) {
        handed.store(knobs);
    }
    fn tell(counts: &session::Counts) -> (Counts, f64) {
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
    fn store(handed: &RateKnobs, knobs: &mut rate::Knobs) {
        knobs.rate = (handed.rate_bps / 8.0).max(1.0) as u64;
    }
    fn tell(counts: &rate::Counts) -> (RateCounts, f64) {
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

/// A Python object in the socket of a controller.
pub struct PythonLaw<B: Boundary> {
    object: Py<PyAny>,
    datapath: PhantomData<fn() -> B>,
}

impl<B: Boundary> PythonLaw<B> {
    /// The object becomes a law; whether it has the methods shows on the first call.
    pub fn new(object: Py<PyAny>) -> PythonLaw<B> {
        PythonLaw { object, datapath: PhantomData }
    }

    fn call_start(&self, now: Time, knobs: &mut B::Knobs) -> PyResult<Time> {
        Python::attach(|py| {
            let handed = Bound::new(py, B::hand(knobs))?;
            let arguments = (now.secs(), &handed);
            let answer = self.object.bind(py).call_method1("start", arguments)?;
            B::store(&handed.borrow(), knobs);
            deadline(now, &answer)
        })
    }

    fn call_update(
        &self,
        now: Time,
        view: &law::View<'_>,
        counts: B::Told,
        knobs: &mut B::Knobs,
    ) -> PyResult<Time> {
        Python::attach(|py| {
            let handed = Bound::new(py, B::hand(knobs))?;
            let counts = Bound::new(py, counts)?;
            let arguments = (now.secs(), View::of(view), counts, &handed);
            let answer = self.object.bind(py).call_method1("update", arguments)?;
            B::store(&handed.borrow(), knobs);
            deadline(now, &answer)
        })
    }
}

/// The next deadline as the law's method returned it.
fn deadline(now: Time, answer: &Bound<'_, PyAny>) -> PyResult<Time> {
    let Ok(seconds) = answer.extract::<f64>() else {
        return Err(PyTypeError::new_err(format!(
            "a law must return the time (s) of its next update, a number; it returned {answer}"
        )));
    };
    let next = Time::from_secs_f64(seconds);
    if next > now {
        return Ok(next);
    }
    Err(PyValueError::new_err(format!(
        "a law must return the time (s) of its next update, later than now ({} s); it returned {seconds}",
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
    ) -> Result<Turn, Fault> {
        let (told, from) = B::tell(counts);
        let next = self.call_update(now, view, told, knobs)?;
        Ok((next, Some(Decision { phase: "python", set: B::set(knobs), from })))
    }
}
