//! Filters written in Python: an object with `arrive`, asked before the gate.

use pyo3::prelude::*;
use tidegate_core::law::greedy::Filter;
use tidegate_core::law::{self, PerPacket, Reason};
use tidegate_core::packet;
use tidegate_core::units::Time;
use tidegate_model::port::PortDraw;

use super::own::{Named, method};
use super::packet::{Draw, Packet, Verdict};

/// A Python object as a filter.
pub struct PythonFilter {
    law: Named,
    draw: Py<Draw>,
    arrive: Py<PyAny>,
    enqueued: Option<Py<PyAny>>,
    dropped: Option<Py<PyAny>>,
    depart: Option<Py<PyAny>>,
}

impl PythonFilter {
    /// Wraps an object; one without `arrive` is refused.
    pub fn new(object: &Bound<'_, PyAny>, law: Named, draw: PortDraw) -> PyResult<PythonFilter> {
        law.require(object, &["arrive"])?;
        Ok(PythonFilter {
            law,
            draw: Py::new(object.py(), Draw(draw))?,
            arrive: object.getattr("arrive")?.unbind(),
            enqueued: method(object, "enqueued"),
            dropped: method(object, "dropped"),
            depart: method(object, "depart"),
        })
    }
}

impl Filter for PythonFilter {}

impl PerPacket for PythonFilter {
    fn arrive(
        &mut self,
        packet: &packet::Packet,
        now: Time,
        _: &mut dyn law::Draw,
    ) -> law::Verdict {
        let answer = self.law.call(now, "arrive", |py| {
            let arguments = (Packet::arriving(packet, now), now.secs(), &self.draw);
            Verdict::of(self.arrive.call1(py, arguments)?.bind(py))
        });
        match answer {
            Some(Verdict::Pass) | None => law::Verdict::Pass,
            Some(Verdict::Mark) => law::Verdict::Mark(Reason::Filtered),
            Some(Verdict::Drop | Verdict::Full) => law::Verdict::Drop(Reason::Filtered),
            Some(Verdict::Reject) => law::Verdict::Reject(Reason::Filtered),
        }
    }

    fn enqueued(&mut self, packet: &packet::Packet, now: Time) {
        if let Some(enqueued) = &self.enqueued {
            self.law.call(now, "enqueued", |py| {
                enqueued.call1(py, (Packet::arriving(packet, now), now.secs()))
            });
        }
    }

    fn dropped(&mut self, packet: &packet::Packet, reason: Reason, now: Time) {
        if let Some(dropped) = &self.dropped {
            self.law.call(now, "dropped", |py| {
                dropped.call1(py, (Packet::arriving(packet, now), reason.name(), now.secs()))
            });
        }
    }

    fn depart(&mut self, packet: &mut packet::Packet, now: Time) {
        if let Some(depart) = &self.depart {
            let told = Packet { packet: Box::new(*packet), handle: None };
            self.law.call(now, "depart", |py| depart.call1(py, (told, now.secs())));
        }
    }
}
