//! The state of chosen senders at every acknowledgement.
//!
//! A run without such flows pays one test for each delivery (`run/step.rs`). A second copy of the
//! loop without the test took 3 % more instructions: what it calls was no longer called from one
//! place, and so no longer inlined.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::columns::{AckRow, Category, Column};
use tidegate_model::scenario::Scenario;

use crate::capture::Identity;
use crate::names::names;
use crate::run_view::RunView;

/// What a row was written for, by its place in the names of the column `cause`.
const ACK: Category = Category(0);
const TIMEOUT: Category = Category(1);

/// A flow whose acknowledgements are recorded.
struct Traced {
    class: u16,
    number: u32,
    /// None: it has not started.
    flow: Option<Identity>,
    /// Expiries of its retransmission timer so far.
    timeouts: u32,
}

/// The chosen flows, and the rows so far.
pub(crate) struct Acks {
    /// How many flows of each class have started.
    started: Vec<u32>,
    traced: Vec<Traced>,
    rows: Vec<AckRow>,
}

impl Acks {
    /// What a scenario asks for, if it does.
    pub(crate) fn new(scenario: &Scenario) -> Option<Acks> {
        let chosen = &scenario.series.acks;
        let trace =
            |&(class, number): &(u16, u32)| Traced { class, number, flow: None, timeouts: 0 };
        (!chosen.is_empty()).then(|| Acks {
            started: vec![0; scenario.traffic.len()],
            traced: chosen.iter().map(trace).collect(),
            rows: Vec::new(),
        })
    }

    /// A flow starts; none: there was no room for it.
    pub(crate) fn start(&mut self, class: u16, flow: Option<Identity>) {
        let number = self.started[usize::from(class)];
        self.started[usize::from(class)] += 1;
        let chosen = |one: &&mut Traced| (one.class, one.number) == (class, number);
        if let Some(one) = self.traced.iter_mut().find(chosen) {
            one.flow = flow;
        }
    }

    /// A packet has been delivered.
    pub(crate) fn delivered(&mut self, packet: &Packet, view: &RunView<'_>) {
        let flags = packet.flags;
        let acknowledges = flags.has(Flags::TO_SOURCE) && flags.has(Flags::ACK);
        if !acknowledges || flags.has(Flags::SYN) || flags.has(Flags::RST) {
            return;
        }
        let slot = (packet.flow, packet.generation);
        let here = |one: &Traced| one.flow.is_some_and(|flow| flow.slot == slot);
        if let Some(place) = self.traced.iter().position(here) {
            self.record(place, ACK, view);
        }
    }

    /// A timer of the flow of this number has fired.
    pub(crate) fn expired(&mut self, number: u32, view: &RunView<'_>) {
        let here = |one: &Traced| one.flow.is_some_and(|flow| flow.slot.0 == number);
        if let Some(place) = self.traced.iter().position(here) {
            self.record(place, TIMEOUT, view);
        }
    }

    /// Adds a row about a flow, unless it is over; after a timer only if that was the
    /// retransmission timer.
    fn record(&mut self, place: usize, cause: Category, view: &RunView<'_>) {
        let one = &mut self.traced[place];
        let Some(flow) = one.flow else { return };
        let Some(sender) = view.flows.sender(&flow, view.classes) else {
            // the slot may be another flow's soon
            one.flow = None;
            return;
        };
        let timeouts = view.rows[flow.row as usize].timeouts;
        if cause == TIMEOUT && timeouts == one.timeouts {
            return;
        }
        one.timeouts = timeouts;
        self.rows.push(AckRow {
            time_s: view.net.now.secs(),
            flow: flow.row.into(),
            class: Category(one.class.into()),
            number: one.number,
            cause,
            cwnd_packets: sender.cwnd,
            ssthresh_packets: sender.ssthresh.unwrap_or(f64::NAN),
            srtt_s: sender.srtt.map_or(f64::NAN, Time::secs),
            flight_bytes: sender.flight,
            acked_bytes: sender.acked,
            retransmitted_packets: sender.retransmitted.into(),
        });
    }

    /// The table.
    pub(crate) fn columns(self, scenario: &Scenario) -> Vec<Column> {
        AckRow::columns(self.rows, |column| names(scenario, column))
    }
}
