//! Queue laws written in Python: an object with `arrive`, `next`, or both.
//!
//! The queue is lent to Python for the time of a call: it is moved into an object that Python
//! holds, and back. So nothing is copied, and nothing outlives the call.

use pyo3::exceptions::{PyLookupError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use tidegate_core::law::queue::{self as core, Discipline, Handle};
use tidegate_core::law::{self, Fault, Reason, Turn};
use tidegate_core::packet;
use tidegate_core::units::{Pace, Rate, Time};
use tidegate_model::port::PortDraw;

use crate::attributes::attributes;

use super::own::{Named, method, noted};
use super::packet::{Draw, Packet, Verdict, shown};
use super::{View, answer_of, deadline};

/// The waiting packets, in the order of arrival. They can be looked at during a call alone.
#[pyclass(module = "tidegate._native")]
pub struct Waiting {
    here: core::Waiting,
    lent: bool,
    /// Whether packets may be evicted.
    arriving: bool,
}

impl Waiting {
    fn here(&self) -> PyResult<&core::Waiting> {
        let what = "the queue can be looked at during a call of the law, not after it";
        if self.lent { Ok(&self.here) } else { Err(PyRuntimeError::new_err(what)) }
    }

    fn packet(&self, handle: Option<Handle>) -> PyResult<Packet> {
        let here = self.here()?;
        let packet = handle.and_then(|at| here.get(at).map(|packet| Packet::waiting(packet, at)));
        packet.ok_or_else(|| PyLookupError::new_err("no packet waits"))
    }
}

/// The handle of a packet, if it still waits.
fn handle_of(packet: &Packet, here: &core::Waiting) -> Option<Handle> {
    packet.handle.filter(|&at| here.get(at) == Some(&*packet.packet))
}

#[pymethods]
impl Waiting {
    /// A queue for tests of a law; a run passes its own.
    #[new]
    #[pyo3(signature = (packets = Vec::new()))]
    fn new(packets: Vec<PyRef<'_, Packet>>) -> Waiting {
        let mut here = core::Waiting::new();
        packets.iter().for_each(|packet| {
            here.push(&packet.packet);
        });
        Waiting { here, lent: true, arriving: true }
    }

    /// How many packets wait.
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.here()?.packets() as usize)
    }
    /// Their bytes.
    #[getter]
    fn bytes(&self) -> PyResult<u64> {
        Ok(self.here()?.bytes())
    }
    /// The packet that has waited longest; LookupError if none waits.
    #[getter]
    fn oldest(&self) -> PyResult<Packet> {
        self.packet(self.here()?.oldest())
    }
    /// The packet that arrived last; LookupError if none waits.
    #[getter]
    fn newest(&self) -> PyResult<Packet> {
        self.packet(self.here()?.newest())
    }
    /// All of them, in the order of arrival.
    fn packets(&self) -> PyResult<Vec<Packet>> {
        Ok(self.here()?.iter().map(|(at, packet)| Packet::waiting(packet, at)).collect())
    }
    /// Whether a packet waits.
    fn __contains__(&self, packet: &Packet) -> PyResult<bool> {
        Ok(handle_of(packet, self.here()?).is_some())
    }
    /// Evict a packet; only `arrive` may.
    fn evict(&mut self, packet: &Packet) -> PyResult<()> {
        let handle = handle_of(packet, self.here()?);
        let Some(handle) = handle else {
            return Err(PyValueError::new_err("the packet to be evicted does not wait"));
        };
        if !self.arriving {
            let what = "only `arrive` may evict packets; `next` drops one by Next.drop(packet)";
            return Err(PyValueError::new_err(what));
        }
        self.here.evict(handle);
        Ok(())
    }
}

/// What a queue law does with a free link.
#[pyclass(module = "tidegate._native", frozen)]
#[derive(Clone)]
pub struct Next {
    what: What,
}

#[derive(Clone)]
enum What {
    Send(Packet),
    Mark(Packet),
    Drop(Packet),
    /// In seconds, as the law computed it.
    NotBefore(f64),
}

#[pymethods]
impl Next {
    /// Send this packet.
    #[staticmethod]
    fn send(packet: &Packet) -> Next {
        Next { what: What::Send(packet.clone()) }
    }
    /// Send this packet with a congestion mark; one without ECT is dropped instead.
    #[staticmethod]
    fn mark(packet: &Packet) -> Next {
        Next { what: What::Mark(packet.clone()) }
    }
    /// Drop this packet, and ask again.
    #[staticmethod]
    fn drop(packet: &Packet) -> Next {
        Next { what: What::Drop(packet.clone()) }
    }
    /// Send nothing before this time (s), which is later than the start.
    #[staticmethod]
    fn not_before(at_s: f64) -> PyResult<Next> {
        if at_s.is_nan() {
            return Err(PyValueError::new_err("the time at which a packet may go is not a number"));
        }
        Ok(Next { what: What::NotBefore(at_s) })
    }

    fn __repr__(&self) -> String {
        match self.what {
            What::Send(_) => "<Next: send a packet>".to_owned(),
            What::Mark(_) => "<Next: mark a packet>".to_owned(),
            What::Drop(_) => "<Next: drop a packet>".to_owned(),
            What::NotBefore(at_s) => format!("<Next: not before {at_s} s>"),
        }
    }
}

impl Next {
    /// What the simulator does, if it can.
    fn checked(&self, waiting: &core::Waiting, start: Time) -> PyResult<core::Next> {
        let there = |packet: &Packet| {
            let what = "the packet that `next` has named does not wait (any more)";
            handle_of(packet, waiting).ok_or_else(|| PyValueError::new_err(what))
        };
        Ok(match &self.what {
            What::Send(packet) => core::Next::Send(there(packet)?),
            What::Mark(packet) => core::Next::Mark(there(packet)?),
            What::Drop(packet) => core::Next::Drop(there(packet)?, Reason::Early),
            // seconds that were added up may be later by less than a picosecond
            &What::NotBefore(at_s) if at_s > start.secs() => {
                let next = start.saturating_add(Time::from_ps(1));
                core::Next::NotBefore(Time::from_secs_f64(at_s).max(next))
            }
            &What::NotBefore(at_s) => {
                return Err(PyValueError::new_err(format!(
                    "Next.not_before({at_s}) is not later than the start, {} s",
                    start.secs()
                )));
            }
        })
    }
}

/// The state of the queue at an arrival.
#[pyclass(module = "tidegate._native", frozen)]
#[derive(Clone, Copy)]
pub struct Found(core::ArrivalContext);

attributes! {
    Found as told {
        /// When (s) the packet arrives.
        now_s: f64 = told.0.now.secs();
        /// The same in whole picoseconds.
        now_ps: u64 = told.0.now.ps();
        /// Packets waiting, the one in transmission not counted.
        queue_packets: u32 = told.0.queue.packets;
        /// Their bytes.
        queue_bytes: u64 = told.0.queue.bytes;
        /// Whether the arrival fits behind the queue.
        fits: bool = told.0.fits;
        /// How long (s) the link has been idle, or None while it sends.
        idle_s: Option<f64> = told.0.idle.map(Time::secs);
        /// Packets that may wait, or None where bytes are the limit.
        room_packets: Option<u32> = Some(told.0.room.packets).filter(|&most| most != u32::MAX);
        /// Bytes that may wait, or None where packets are the limit.
        room_bytes: Option<u64> = Some(told.0.room.bytes).filter(|&most| most != u64::MAX);
    }

    /// A state for tests of a law; a run passes its own.
    #[new]
    #[pyo3(signature = (*, now_s=0.0, rate_bps=10_000_000, queue_packets=0, queue_bytes=0,
        room_packets=100, fits=None, idle_s=None))]
    fn new(
        now_s: f64,
        rate_bps: u64,
        queue_packets: u32,
        queue_bytes: u64,
        room_packets: u32,
        fits: Option<bool>,
        idle_s: Option<f64>,
    ) -> Found {
        Found(core::ArrivalContext {
            now: Time::from_secs_f64(now_s),
            queue: core::Sum { packets: queue_packets, bytes: queue_bytes },
            fits: fits.unwrap_or(queue_packets < room_packets),
            idle: idle_s.map(Time::from_secs_f64),
            pace: Rate::from_bps(rate_bps.max(1)).pace(),
            room: core::Room { packets: room_packets, bytes: u64::MAX },
        })
    }

    /// The time (s) in which the link sends so many bytes.
    fn takes_s(&self, size: u64) -> f64 {
        self.0.pace.of(size).secs()
    }
}

/// The link is free.
#[pyclass(module = "tidegate._native", frozen)]
#[derive(Clone, Copy)]
pub struct Slot(core::Slot);

attributes! {
    Slot as told {
        /// When (s) the transmission starts.
        start_s: f64 = told.0.start.secs();
        /// The same in whole picoseconds.
        start_ps: u64 = told.0.start.ps();
        /// How long (s) the link has been idle by then.
        idle_s: f64 = told.0.idle.secs();
    }

    /// A free link for tests of a law; a run passes its own.
    #[new]
    #[pyo3(signature = (*, start_s=0.0, idle_s=0.0, rate_bps=10_000_000))]
    fn new(start_s: f64, idle_s: f64, rate_bps: u64) -> Slot {
        Slot(core::Slot {
            start: Time::from_secs_f64(start_s),
            idle: Time::from_secs_f64(idle_s),
            pace: Rate::from_bps(rate_bps.max(1)).pace(),
        })
    }

    /// The time (s) in which the link sends so many bytes.
    fn takes_s(&self, size: u64) -> f64 {
        self.0.pace.of(size).secs()
    }
}

/// A Python object as a queueing discipline.
pub struct PythonQueue {
    law: Named,
    waiting: Py<Waiting>,
    draw: Py<Draw>,
    arrive: Option<Py<PyAny>>,
    taken: Option<Py<PyAny>>,
    next: Option<Py<PyAny>>,
    /// `start` and `tick`, for a law with a clock.
    clock: Option<(Py<PyAny>, Py<PyAny>)>,
    average: Option<Py<PyAny>>,
    observe: Option<Py<PyAny>>,
}

impl PythonQueue {
    /// Wraps an object; one with neither `arrive` nor `next` is refused.
    pub fn new(object: &Bound<'_, PyAny>, law: Named, draw: PortDraw) -> PyResult<PythonQueue> {
        let (arrive, next) = (method(object, "arrive"), method(object, "next"));
        if arrive.is_none() && next.is_none() {
            law.require(object, &["arrive"])?;
        }
        let py = object.py();
        let (start, tick) = (method(object, "start"), method(object, "tick"));
        if start.is_some() != tick.is_some() {
            let Named { name, .. } = &law;
            let what = format!("the queue law `{name}` has one of `start` and `tick`: write both");
            return Err(PyTypeError::new_err(what));
        }
        let waiting = Waiting { here: core::Waiting::new(), lent: false, arriving: false };
        Ok(PythonQueue {
            waiting: Py::new(py, waiting)?,
            draw: Py::new(py, Draw(draw))?,
            arrive,
            taken: method(object, "taken"),
            next,
            clock: start.zip(tick),
            average: method(object, "average"),
            observe: method(object, "observe"),
            law,
        })
    }

    /// Lends the queue to Python for a call.
    fn lend<R>(
        &self,
        py: Python<'_>,
        queue: &mut core::Waiting,
        arriving: bool,
        call: impl FnOnce() -> PyResult<R>,
    ) -> PyResult<R> {
        {
            let mut lent = self.waiting.try_borrow_mut(py)?;
            *lent = Waiting { here: std::mem::take(queue), lent: true, arriving };
        }
        let answer = call();
        let mut lent = self.waiting.try_borrow_mut(py)?;
        lent.lent = false;
        *queue = std::mem::take(&mut lent.here);
        answer
    }
}

impl Discipline for PythonQueue {
    fn arrive(
        &mut self,
        packet: &packet::Packet,
        waiting: &mut core::Waiting,
        found: &core::ArrivalContext,
        _: &mut dyn law::Draw,
    ) -> law::Verdict {
        let told = Packet::arriving(packet, found.now);
        let ask = |arrive: &Py<PyAny>| {
            self.law.call(found.now, "arrive", |py| {
                let answer = self.lend(py, waiting, true, || {
                    let arguments = (told, &self.waiting, Found(*found), &self.draw);
                    Verdict::of(arrive.call1(py, arguments)?.bind(py))
                })?;
                let joins = matches!(answer, Verdict::Pass | Verdict::Mark);
                if joins && !found.fits && !found.room.fits(waiting.all(), packet.size) {
                    return Err(PyValueError::new_err(
                        "`arrive` lets a packet in that does not fit (found.fits is False)\n\
                     return Verdict.FULL, or evict packets for it first",
                    ));
                }
                Ok(answer)
            })
        };
        match self.arrive.as_ref().and_then(ask) {
            Some(Verdict::Pass) => law::Verdict::Pass,
            Some(Verdict::Mark) => law::Verdict::Mark(Reason::Early),
            Some(Verdict::Drop) => law::Verdict::Drop(Reason::Early),
            Some(Verdict::Reject) => law::Verdict::Reject(Reason::Custom),
            None if found.fits => law::Verdict::Pass,
            Some(Verdict::Full) | None => law::Verdict::Drop(Reason::QueueFull),
        }
    }

    fn taken(&mut self, handle: Handle, waiting: &mut core::Waiting) {
        let (Some(taken), Some(packet)) = (&self.taken, waiting.get(handle).copied()) else {
            return;
        };
        self.law.call(packet.at, "taken", |py| {
            let told = Packet::waiting(&packet, handle);
            self.lend(py, waiting, false, || taken.call1(py, (told, &self.waiting)))
        });
    }

    fn observe(&mut self, found: &core::ArrivalContext) {
        if let Some(observe) = &self.observe {
            self.law.call(found.now, "observe", |py| observe.call1(py, (Found(*found),)));
        }
    }

    fn next(
        &mut self,
        waiting: &mut core::Waiting,
        slot: &core::Slot,
        _: &mut dyn law::Draw,
    ) -> core::Next {
        let start = slot.start;
        let answer = self.next.as_ref().and_then(|next| {
            self.law.call(start, "next", |py| {
                let answer = self.lend(py, waiting, false, || {
                    let answer = next.call1(py, (&self.waiting, Slot(*slot), &self.draw))?;
                    let answer = answer.bind(py);
                    answer.cast::<Next>().map(|next| next.get().clone()).map_err(|_| {
                        PyTypeError::new_err(format!(
                            "`next` must return a tidegate.Next, as in Next.send(waiting.oldest); \
                             it returned {}",
                            shown(answer)
                        ))
                    })
                })?;
                answer.checked(waiting, start)
            })
        });
        let oldest = || waiting.oldest().map_or(core::Next::NotBefore(start), core::Next::Send);
        answer.unwrap_or_else(oldest)
    }

    fn start(&mut self, now: Time) -> Result<Time, Fault> {
        let Some((start, _)) = &self.clock else { return Ok(Time::NEVER) };
        let first = Python::attach(|py| {
            let answer = start.call1(py, (now.secs(),));
            let first = answer.and_then(|answer| deadline(now, answer.bind(py)));
            first.map_err(|error| noted(py, error, &self.law, "start", now))
        });
        Ok(first?)
    }

    fn tick(&mut self, now: Time, view: &law::View<'_>) -> Result<Turn, Fault> {
        let Some((_, tick)) = &self.clock else { return Ok((Time::NEVER, None)) };
        let turn = Python::attach(|py| {
            let answer = tick.call1(py, (now.secs(), View::of(view)));
            let turn = answer.and_then(|answer| answer_of(now, answer.bind(py)));
            turn.map_err(|error| noted(py, error, &self.law, "tick", now))
        });
        let (next, decision) = turn?;
        Ok((next, decision.flatten()))
    }

    fn average(&self, idle: Option<Time>, _: Pace) -> Option<f64> {
        let average = self.average.as_ref()?;
        let found: Option<Option<f64>> = self.law.call(Time::ZERO, "average", |py| {
            average.call1(py, (idle.map(Time::secs),))?.extract(py)
        });
        found.flatten()
    }
}
