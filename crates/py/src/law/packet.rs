//! A packet, and the verdict on it, as laws in Python see them.

use std::hash::{Hash, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use tidegate_core::law::queue::Handle;
use tidegate_core::packet::{self, Flags};
use tidegate_core::units::Time;
use tidegate_model::port::PortDraw;

use crate::attributes::attributes;

/// What a queue law or a filter decides on an arrival.
#[pyclass(module = "tidegate._native", frozen, eq, hash, rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It continues.
    Pass,
    /// It continues with a congestion mark; a packet without ECT is dropped instead.
    Mark,
    /// It is dropped, by the law's decision.
    Drop,
    /// It is dropped, as it does not fit into the queue.
    Full,
    /// It is dropped, and its sender gets a reset.
    Reject,
}

impl Verdict {
    /// What a law has returned.
    pub fn of(answer: &Bound<'_, PyAny>) -> PyResult<Verdict> {
        answer.cast::<Verdict>().map(|found| *found.get()).map_err(|_| {
            PyTypeError::new_err(format!(
                "`arrive` must return a tidegate.Verdict, as in Verdict.PASS; it returned {}",
                shown(answer)
            ))
        })
    }
}

/// An object as a message shows it.
pub fn shown(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| "something without a repr".to_owned(), |text| text.to_string())
}

/// A packet.
#[pyclass(module = "tidegate._native", frozen, eq, hash)]
#[derive(Clone, PartialEq)]
pub struct Packet {
    /// In a box of its own: Python's memory is not aligned to cache lines.
    pub(super) packet: Box<packet::Packet>,
    /// Its place in the queue; none: it does not wait.
    pub(super) handle: Option<Handle>,
}

impl Eq for Packet {}

impl Hash for Packet {
    fn hash<H: Hasher>(&self, into: &mut H) {
        let packet::Packet { at, flow, seq, ack, .. } = *self.packet;
        (at, flow, seq, ack).hash(into);
    }
}

impl Packet {
    /// A packet that arrives now.
    pub(super) fn arriving(packet: &packet::Packet, now: Time) -> Packet {
        Packet { packet: Box::new(packet::Packet { at: now, ..*packet }), handle: None }
    }

    /// A packet that waits under this handle.
    pub(super) fn waiting(packet: &packet::Packet, handle: Handle) -> Packet {
        Packet { packet: Box::new(*packet), handle: Some(handle) }
    }
}

attributes! {
    Packet as told {
        /// Bytes on the wire, headers included.
        size: u16 = told.packet.size;
        /// A number of the flow: the same for all of its packets in both directions.
        flow: u64 = u64::from(told.packet.generation) << 32 | u64::from(told.packet.flow);
        /// Number of its data segment in the flow.
        seq: u32 = told.packet.number();
        /// Number of the node that it comes from.
        src: u16 = told.packet.src;
        /// Number of the node that it is for.
        dst: u16 = told.packet.dst;
        /// When (s) it arrived at this port.
        at_s: f64 = told.packet.at.secs();
        /// The same in whole picoseconds.
        at_ps: u64 = told.packet.at.ps();
        /// Whether it opens a connection.
        syn: bool = told.packet.flags.has(Flags::SYN);
        /// Whether it acknowledges.
        ack: bool = told.packet.flags.has(Flags::ACK);
        /// Whether its sender has no more data.
        fin: bool = told.packet.flags.has(Flags::FIN);
        /// Whether it carries data.
        data: bool = told.packet.flags.has(Flags::DATA);
        /// Whether it can be marked (ECT).
        ect: bool = told.packet.flags.has(Flags::ECT);
        /// Whether it has been marked (CE).
        ce: bool = told.packet.flags.has(Flags::CE);
        /// Whether it is of a scalable control (ECT(1), RFC 9331).
        l4s: bool = told.packet.flags.has(Flags::L4S);
    }

    /// A packet for tests of a law; a run passes its own.
    #[new]
    #[pyo3(signature = (*, size=1500, flow=0, seq=0, src=0, dst=0, at_s=0.0, syn=false, fin=false,
        ect=false))]
    #[allow(clippy::too_many_arguments)] // its fields, all by keyword
    fn new(
        size: u16,
        flow: u32,
        seq: u32,
        src: u16,
        dst: u16,
        at_s: f64,
        syn: bool,
        fin: bool,
        ect: bool,
    ) -> Packet {
        let mut flags = if syn { Flags::SYN } else { Flags::DATA.with(Flags::ACK) };
        for (asked, flag) in [(fin, Flags::FIN), (ect, Flags::ECT)] {
            flags = if asked { flags.with(flag) } else { flags };
        }
        let at = Time::from_secs_f64(at_s);
        let packet = packet::Packet {
            at,
            sent: at,
            flow,
            seq,
            src,
            dst,
            size,
            flags,
            ..packet::Packet::default()
        };
        Packet { packet: Box::new(packet), handle: None }
    }

    fn __repr__(&self) -> String {
        let kind = if self.syn() {
            "SYN"
        } else if self.data() {
            "data"
        } else {
            "ACK"
        };
        let (size, flow, at) = (self.size(), self.flow(), self.at_s());
        format!("<Packet: {kind} {}, {size} B of flow {flow}, at {at} s>", self.packet.number())
    }
}

/// A source of random numbers of the port, from the seed of the run.
#[pyclass(module = "tidegate._native")]
pub struct Draw(pub(super) PortDraw);

#[pymethods]
impl Draw {
    /// The next uniform number from 0 up to, and without, 1.
    fn uniform(&mut self) -> f64 {
        use tidegate_core::law::Draw as _;
        self.0.uniform()
    }
}
