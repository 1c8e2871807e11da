//! Controls of senders written in Python: a class whose objects have `cwnd`, `on_ack`,
//! `on_congestion` and `on_timeout`. Each flow gets an object of its own.
//!
//! The window is an attribute of the object. It is read after each call, so that a sender that
//! looks at its window need not call Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tidegate_core::units::Time;
use tidegate_model::profile::{self, Ecn, LostSyn};
use tidegate_sim::Factory;
use tidegate_sim::transport::control::{self as sim, Control};

use super::own::{Named, has, type_name};
use super::packet::shown;

/// The methods that a control must have.
const REQUIRED: [&str; 3] = ["on_ack", "on_congestion", "on_timeout"];

/// Why a sender considers the path congested.
#[pyclass(module = "tidegate._native", frozen, eq, hash, rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Acknowledgements show a loss; recovery begins.
    Loss,
    /// The same, in a window of data that was already reduced for a mark.
    LossAfterMark,
    /// A queue on the path has marked a packet.
    Mark,
}

/// The settings of TCP of the class that a flow belongs to.
#[pyclass(module = "tidegate._native", frozen, get_all)]
#[derive(Clone, Copy)]
pub struct Tcp {
    /// Payload of a full segment, in bytes.
    mss: u32,
    /// Headers on every packet, in bytes.
    header: u32,
    /// Initial window, in segments.
    initial_window: u32,
    /// Initial slow-start threshold, in segments.
    initial_ssthresh: u32,
    /// Largest window, in segments.
    window: u32,
    /// Most segments by which one ACK opens the window in slow start; 0: every ACK counts as one.
    byte_counting: u32,
    /// Whether both ends understand marks.
    ecn: bool,
    /// How losses within a window are repaired: reno, newreno or sack.
    recovery: &'static str,
    /// What a loss does to the window: rfc, full-tcp or one-way.
    loss_rule: &'static str,
}

impl Tcp {
    fn of(tcp: &profile::Tcp) -> Tcp {
        Tcp {
            mss: tcp.mss,
            header: tcp.header,
            initial_window: tcp.initial_window,
            initial_ssthresh: tcp.initial_ssthresh,
            window: tcp.window,
            byte_counting: tcp.byte_counting,
            ecn: tcp.ecn() != Ecn::None,
            recovery: tcp.recovery.name(),
            loss_rule: tcp.loss_rule.name(),
        }
    }
}

#[pymethods]
impl Tcp {
    /// Settings for tests of a control, those of the profile rfc where nothing else is given; a run
    /// passes those of the class.
    #[new]
    #[pyo3(signature = (*, initial_window=None, initial_ssthresh=None, window=None, mss=None))]
    fn new(
        initial_window: Option<u32>,
        initial_ssthresh: Option<u32>,
        window: Option<u32>,
        mss: Option<u32>,
    ) -> Tcp {
        let usual = Tcp::of(&profile::Profile::Rfc.tcp());
        Tcp {
            initial_window: initial_window.unwrap_or(usual.initial_window),
            initial_ssthresh: initial_ssthresh.unwrap_or(usual.initial_ssthresh),
            window: window.unwrap_or(usual.window),
            mss: mss.unwrap_or(usual.mss),
            ..usual
        }
    }
}

/// An acknowledgement of new data.
#[pyclass(module = "tidegate._native", frozen, get_all)]
#[derive(Clone, Copy)]
pub struct Sample {
    /// When (s) it arrived.
    now_s: f64,
    /// Segments newly acknowledged by its number; 0 of a part of a segment.
    segments: u32,
    /// Segments newly acknowledged, by its number or by SACK blocks.
    delivered: u32,
    /// The segment after the last one acknowledged by number.
    una: u64,
    /// The segment after the last one sent.
    sent: u64,
    /// Segments still in flight.
    flight: u32,
    /// Smoothed round-trip time (s), or None.
    srtt_s: Option<f64>,
    /// The round trip (s) that this acknowledgement measures, or None.
    rtt_s: Option<f64>,
    /// Whether it arrived in recovery, or ended it.
    recovering: bool,
    /// Whether it echoes a mark that the sender has yet to answer for.
    marked: bool,
    /// By how many segments it may open the window: none in recovery or with a mark.
    opens: u32,
    /// The delivery rate in segments per second, or None; only for a control that sets `samples_rate`.
    rate: Option<f64>,
}

#[pymethods]
impl Sample {
    /// An acknowledgement for tests of a control; a run passes its own.
    #[new]
    #[pyo3(signature = (*, segments, now_s=0.0, flight=0, srtt_s=None, rtt_s=None,
        recovering=false, marked=false))]
    fn new(
        segments: u32,
        now_s: f64,
        flight: u32,
        srtt_s: Option<f64>,
        rtt_s: Option<f64>,
        recovering: bool,
        marked: bool,
    ) -> Sample {
        Sample {
            now_s,
            segments,
            delivered: segments,
            una: segments.into(),
            sent: u64::from(segments.saturating_add(flight)),
            flight,
            srtt_s,
            rtt_s,
            recovering,
            marked,
            opens: if recovering || marked { 0 } else { segments },
            rate: None,
        }
    }
}

impl Sample {
    fn of(sample: &sim::RateSample<'_>) -> Sample {
        let measured = |time: Time| (time > Time::ZERO).then(|| time.secs());
        let rate = sample.rate.and_then(|rate| {
            measured(rate.interval).map(|seconds| f64::from(rate.delivered) / seconds)
        });
        Sample {
            now_s: sample.now.secs(),
            segments: sample.segments,
            delivered: sample.delivered,
            una: sample.una,
            sent: sample.sent,
            flight: sample.flight,
            srtt_s: measured(sample.srtt),
            rtt_s: measured(sample.rtt),
            recovering: sample.recovering,
            marked: sample.marked,
            opens: sample.opens(),
            rate,
        }
    }
}

/// The state of a sender at a congestion event.
#[pyclass(module = "tidegate._native", frozen, get_all)]
#[derive(Clone, Copy)]
pub struct Congestion {
    /// The current time (s).
    now_s: f64,
    /// Segments in flight.
    flight: u32,
    /// The window until now, including its inflation by duplicate acknowledgements.
    window: f64,
    /// The segment after the last one sent.
    sent: u64,
}

#[pymethods]
impl Congestion {
    /// An event for tests of a control; a run passes its own.
    #[new]
    #[pyo3(signature = (*, flight, window, now_s=0.0, sent=0))]
    fn new(flight: u32, window: f64, now_s: f64, sent: u64) -> Congestion {
        Congestion { now_s, flight, window, sent }
    }
}

impl Congestion {
    fn of(at: &sim::CongestionEvent) -> Congestion {
        let &sim::CongestionEvent { now, flight, window, sent, .. } = at;
        Congestion { now_s: now.secs(), flight, window, sent }
    }
}

/// What a control has beyond what it must have.
#[derive(Clone, Copy, Default)]
struct Has {
    ssthresh: bool,
    gap: bool,
    on_recovered: bool,
    on_sent: bool,
    on_lost_syn: bool,
    on_idle: bool,
    samples_rate: bool,
    keeps_window: bool,
    limited_transmit: bool,
}

impl Has {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Has> {
        let yes = |name: &str| match object.getattr_opt(name)? {
            Some(value) => value.extract::<bool>().map_err(|_| {
                let what = shown(&value);
                PyTypeError::new_err(format!("`{name}` must be True or False; it is {what}"))
            }),
            None => Ok(false),
        };
        let [ssthresh, gap] = Has::numbers(object)?;
        Ok(Has {
            ssthresh,
            gap,
            on_recovered: has(object, "on_recovered"),
            on_sent: has(object, "on_sent"),
            on_lost_syn: has(object, "on_lost_syn"),
            on_idle: has(object, "on_idle"),
            samples_rate: yes("samples_rate")?,
            keeps_window: yes("keeps_window")?,
            limited_transmit: yes("limited_transmit")?,
        })
    }

    /// Whether there are a threshold and a pace now: a control may set them late.
    fn numbers(object: &Bound<'_, PyAny>) -> PyResult<[bool; 2]> {
        Ok([object.hasattr("ssthresh")?, object.hasattr("gap_s")?])
    }
}

/// The attributes of an object, whose number tells that one was added. Asking for one that is not
/// there costs as much as a short event.
struct Own(Option<Py<PyDict>>);

impl Own {
    fn of(object: &Bound<'_, PyAny>) -> Own {
        let found = object.getattr("__dict__").ok();
        Own(found.and_then(|each| each.cast_into::<PyDict>().ok()).map(Bound::unbind))
    }

    /// How many there are; None: it has slots, or other ways that do not tell.
    fn len(&self, py: Python<'_>) -> Option<usize> {
        self.0.as_ref().map(|own| own.bind(py).len())
    }
}

/// The control of one flow.
struct PythonControl {
    law: Named,
    /// None: it could not be made.
    object: Option<Py<PyAny>>,
    has: Has,
    own: Own,
    /// How many attributes there were when `has` was read.
    known: Option<usize>,
    cwnd: f64,
    ssthresh: f64,
    gap: Option<Time>,
    /// When it was called last.
    now: Time,
}

/// What makes the controls of a class's flows: the class, or a function, called with the settings
/// of TCP for each flow.
pub fn factory(made: &Bound<'_, PyAny>, law: Named, tcp: &profile::Tcp) -> PyResult<Factory> {
    if !made.is_callable() {
        let (Named { name, .. }, class) = (&law, type_name(made));
        return Err(PyTypeError::new_err(format!(
            "the control `{name}` is an object of the class {class}, and every flow needs one of \
             its own\nhand in the class, which is called with the settings of TCP: \
             laws={{\"{name}\": {class}}}"
        )));
    }
    if made.is_instance_of::<pyo3::types::PyType>() {
        law.require(made, &REQUIRED)?;
    }
    let (made, tcp) = (made.clone().unbind(), Tcp::of(tcp));
    Ok(Box::new(move || Box::new(PythonControl::new(&made, tcp, law.clone()))))
}

impl PythonControl {
    fn new(made: &Py<PyAny>, tcp: Tcp, law: Named) -> PythonControl {
        let mut control = PythonControl {
            object: None,
            has: Has::default(),
            own: Own(None),
            known: None,
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            gap: None,
            now: Time::ZERO,
            law,
        };
        let found = control.law.call(Time::ZERO, "__init__", |py| {
            let object = made.bind(py).call1((tcp,))?;
            control.law.require(&object, &REQUIRED)?;
            let own = Own::of(&object);
            Ok((Has::of(&object)?, own.len(py), own, object.unbind()))
        });
        if let Some((has, known, own, object)) = found {
            (control.has, control.known, control.own) = (has, known, own);
            control.object = Some(object);
            control.call(Time::ZERO, "__init__", |_| Ok(()));
        }
        control
    }

    /// Tells the object of an event, and reads its window.
    fn call(
        &mut self,
        now: Time,
        method: &str,
        event: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        let Some(object) = &self.object else { return };
        self.now = now;
        let (own, mut has, known) = (&self.own, self.has, self.known);
        let read = self.law.call(now, method, |py| {
            let object = object.bind(py);
            event(object)?;
            let there = own.len(py);
            if there.is_none() || there != known {
                [has.ssthresh, has.gap] = Has::numbers(object)?;
            }
            let cwnd = number(object, "cwnd", f64::MAX)?;
            let ssthresh = if has.ssthresh {
                number(object, "ssthresh", f64::INFINITY)?
            } else {
                f64::INFINITY
            };
            let gap = if has.gap { gap(object)? } else { None };
            Ok((cwnd, ssthresh, gap, there))
        });
        if let Some((cwnd, ssthresh, gap, there)) = read {
            (self.cwnd, self.ssthresh, self.gap) = (cwnd, ssthresh, gap);
            (self.has, self.known) = (has, there);
        }
    }

    /// Sets window and threshold in the object as they are here.
    fn write(&mut self, method: &str) {
        let (cwnd, ssthresh) = (self.cwnd, self.ssthresh);
        self.call(self.now, method, |object| {
            object.setattr("cwnd", cwnd)?;
            object.setattr("ssthresh", ssthresh)
        });
    }
}

/// An attribute that is a number from zero to `most`.
fn number(object: &Bound<'_, PyAny>, name: &str, most: f64) -> PyResult<f64> {
    let value = object.getattr(name)?;
    let Ok(found) = value.extract::<f64>() else {
        let what = shown(&value);
        return Err(PyTypeError::new_err(format!("`{name}` must be a number; it is {what}")));
    };
    if (0.0..=most).contains(&found) {
        return Ok(found);
    }
    let what = format!("`{name}` must be a number of segments from 0; it is {found}");
    Err(PyValueError::new_err(what))
}

/// The least time between two packets.
fn gap(object: &Bound<'_, PyAny>) -> PyResult<Option<Time>> {
    let value = object.getattr("gap_s")?;
    if value.is_none() {
        return Ok(None);
    }
    let wrong = || {
        let what = shown(&value);
        PyValueError::new_err(format!("`gap_s` must be None or a time (s) from 0; it is {what}"))
    };
    let seconds: f64 = value.extract().map_err(|_| wrong())?;
    if seconds >= 0.0 { Ok(Some(Time::from_secs_f64(seconds))) } else { Err(wrong()) }
}

impl Control for PythonControl {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn on_ack(&mut self, sample: &sim::RateSample<'_>) {
        let told = Sample::of(sample);
        self.call(sample.now, "on_ack", |object| object.call_method1("on_ack", (told,)).map(drop));
    }

    fn on_part(&mut self, sample: &sim::RateSample<'_>) {
        self.on_ack(sample);
    }

    fn on_congestion(&mut self, signal: sim::Signal, at: &sim::CongestionEvent) {
        let signal = match signal {
            sim::Signal::Loss => Signal::Loss,
            sim::Signal::LossAfterMark => Signal::LossAfterMark,
            sim::Signal::Mark => Signal::Mark,
        };
        let told = Congestion::of(at);
        self.call(at.now, "on_congestion", |object| {
            object.call_method1("on_congestion", (signal, told)).map(drop)
        });
    }

    fn on_timeout(&mut self, at: &sim::CongestionEvent, again: bool) {
        let told = Congestion::of(at);
        self.call(at.now, "on_timeout", |object| {
            object.call_method1("on_timeout", (told, again)).map(drop)
        });
    }

    fn gap(&self) -> Option<Time> {
        self.gap
    }

    fn on_sent(&mut self, now: Time, flight: u32) {
        if self.has.on_sent {
            self.call(now, "on_sent", |object| {
                object.call_method1("on_sent", (now.secs(), flight)).map(drop)
            });
        }
    }

    fn on_recovered(&mut self, window: f64) {
        if self.has.on_recovered {
            self.call(self.now, "on_recovered", |object| {
                object.call_method1("on_recovered", (window,)).map(drop)
            });
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        self.has.ssthresh.then_some(self.ssthresh)
    }

    fn window_and_threshold(&mut self) -> Option<[&mut f64; 2]> {
        self.has.ssthresh.then_some([&mut self.cwnd, &mut self.ssthresh])
    }

    fn on_spared(&mut self, segments: u32) {
        if segments > 0 && self.has.ssthresh {
            self.cwnd += f64::from(segments);
            self.write("on_timeout");
        }
    }

    fn on_undone(&mut self, [window, threshold]: [f64; 2]) {
        if self.has.ssthresh {
            self.cwnd = self.cwnd.max(window);
            self.ssthresh = self.ssthresh.max(threshold);
            self.write("on_congestion");
        }
    }

    fn on_lost_syn(&mut self, rule: LostSyn) {
        if self.has.on_lost_syn {
            self.call(self.now, "on_lost_syn", |object| {
                object.call_method1("on_lost_syn", (rule.name(),)).map(drop)
            });
        } else if let Some(own) = self.window_and_threshold() {
            sim::after_lost_syn(own, rule);
            self.write("on_lost_syn");
        }
    }

    fn on_idle(&mut self, window: f64, ssthresh: f64) {
        if self.has.on_idle {
            self.call(self.now, "on_idle", |object| {
                object.call_method1("on_idle", (window, ssthresh)).map(drop)
            });
        } else if let Some(own) = self.window_and_threshold() {
            sim::after_idle(own, window, ssthresh);
            self.write("on_idle");
        }
    }

    fn samples_rate(&self) -> bool {
        self.has.samples_rate
    }

    fn keeps_window(&self) -> bool {
        self.has.keeps_window
    }

    fn limited_transmit(&self) -> bool {
        self.has.limited_transmit
    }
}
