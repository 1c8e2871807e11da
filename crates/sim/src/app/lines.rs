//! The connections of users, of either kind.

use std::collections::VecDeque;

use tidegate_model::scenario::Scenario;

use super::carrier::Carrier;
use super::connections::Connections;
use super::streams::Streams;
use crate::flow_id::FlowId;
use crate::transport::table::NewFlow;

/// All connections that users have. The slot of one of hosts has the number of its table with it.
pub(super) struct Lines {
    pub(super) tcp: Connections,
    pub(super) hosts: Streams,
    /// Users who want another connection, in order, with the settings of it.
    pub(super) openings: VecDeque<(u32, NewFlow)>,
}

impl Lines {
    pub(super) fn new(scenario: &Scenario) -> Lines {
        let (tcp, hosts) = (Connections::new(scenario), Streams::new(scenario));
        Lines { tcp, hosts, openings: VecDeque::new() }
    }

    /// The connections among which this one is.
    pub(super) fn of(&self, slot: u32) -> &dyn Carrier {
        if is_of_hosts(slot) { &self.hosts } else { &self.tcp }
    }

    /// The same, to act on.
    pub(super) fn of_mut(&mut self, slot: u32) -> &mut dyn Carrier {
        if is_of_hosts(slot) { &mut self.hosts } else { &mut self.tcp }
    }
}

/// Whether a slot, or the number of a timer, is that of a connection of hosts.
pub(super) fn is_of_hosts(slot: u32) -> bool {
    FlowId(slot).table() == FlowId::APP_HOSTS
}
