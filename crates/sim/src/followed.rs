//! What is recorded of single flows whenever something happens to them.

use tidegate_core::packet::Packet;
use tidegate_model::columns::Column;
use tidegate_model::scenario::Scenario;

use crate::acks::Acks;
use crate::capture::Identity;
use crate::error::BuildError;
use crate::network::Network;
use crate::qlog::Qlogs;
use crate::run_view::RunView;

/// The records of a run.
pub(crate) struct Followed {
    acks: Option<Acks>,
    qlogs: Option<Qlogs>,
}

impl Followed {
    /// What a scenario asks for, and logs of the flows `logged`; none: nothing.
    pub(crate) fn new(
        scenario: &Scenario,
        logged: &[(String, u32)],
        net: &mut Network,
    ) -> Result<Option<Box<Followed>>, BuildError> {
        let (acks, qlogs) = (Acks::new(scenario), Qlogs::new(scenario, logged, net)?);
        let any = acks.is_some() || qlogs.is_some();
        Ok(any.then(|| Box::new(Followed { acks, qlogs })))
    }

    /// A flow starts; none: there was no room for it.
    pub(crate) fn start(&mut self, class: u16, flow: Option<Identity>, view: &mut RunView<'_>) {
        if let Some(acks) = &mut self.acks {
            acks.start(class, flow);
        }
        if let Some(qlogs) = &mut self.qlogs {
            qlogs.start(class, flow, view);
        }
    }

    /// A packet has been delivered.
    pub(crate) fn delivered(&mut self, packet: &Packet, view: &mut RunView<'_>) {
        if let Some(acks) = &mut self.acks {
            acks.delivered(packet, view);
        }
        if let Some(qlogs) = &mut self.qlogs {
            qlogs.delivered(packet, view);
        }
    }

    /// A timer of the flow of this number has fired.
    pub(crate) fn expired(&mut self, number: u32, view: &mut RunView<'_>) {
        if let Some(acks) = &mut self.acks {
            acks.expired(number, view);
        }
        if let Some(qlogs) = &mut self.qlogs {
            qlogs.expired(number, view);
        }
    }

    /// The logs as far as they go, one for each flow that was asked for; they begin anew.
    pub(crate) fn drain_qlogs(&mut self) -> Vec<Vec<u8>> {
        self.qlogs.as_mut().map(Qlogs::drain).unwrap_or_default()
    }

    /// The table of acknowledgements.
    pub(crate) fn acks(self, scenario: &Scenario) -> Vec<Column> {
        self.acks.map(|acks| acks.columns(scenario)).unwrap_or_default()
    }
}
