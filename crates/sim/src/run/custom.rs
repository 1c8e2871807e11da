//! What a caller supplies for a run, in addition to the scenario.

use tidegate_core::host::Stack;
use tidegate_core::port::Stages;
use tidegate_model::port::{Laws, QueueLaws, RateLaws, Screens};
use tidegate_model::profile::Tcp;
use tidegate_model::scenario::Quic;

use crate::transport::control::Control;

/// Parts of a run that the caller supplies in addition to the scenario.
#[derive(Default)]
pub struct Custom<'a> {
    /// The controller of a session law, by the name that the scenario gives it.
    pub laws: Option<&'a mut Laws<'a>>,
    /// The controller of a rate law, by the name that the scenario gives it.
    pub rate_laws: Option<&'a mut RateLaws<'a>>,
    /// A queue law for one port, by the name that the scenario gives it.
    pub queues: Option<&'a mut QueueLaws<'a>>,
    /// A filter for one port, by the name that the scenario gives it.
    pub filters: Option<&'a mut Screens<'a>>,
    /// Makes the control of each new flow, by the name in the transport
    /// (`{ python = { name = "mine" } }`) and with the class's settings of TCP.
    pub flow_controls: Option<&'a mut Factories<'a>>,
    /// Makes the control of each new flow out of the crate of another project, by the name in the
    /// transport (`{ crate = { name = "quinn:cubic" } }`), with the class's settings of TCP and
    /// the seed of what its flows draw.
    pub crate_controls: Option<&'a mut CrateControls<'a>>,
    /// Makes the two ends of each new connection of a class, with its settings of QUIC.
    pub stacks: Option<&'a mut Stacks<'a>>,
    /// Stages of ports, by the port's name, in place of those of the scenario.
    pub stages: Vec<(String, Stages)>,
    /// A control for the flows of a class, by the class's name.
    pub controls: Vec<(String, Factory)>,
    /// The port whose packets [`crate::Simulation::drain_capture`] returns.
    pub capture: Option<String>,
    /// Every packet lands at every node of its way. Else landings before links of hosts are left
    /// out where nothing can come between: the results are the same, and cost less. Only then
    /// [`crate::Simulation::trace`] asks the nodes of a network without filters.
    pub each_landing: bool,
    /// Flows whose logs [`crate::Simulation::drain_qlogs`] returns: their class, and how many of it start
    /// before each.
    pub qlogs: Vec<(String, u32)>,
}

/// Makes the control of one new flow.
pub type Factory = Box<dyn FnMut() -> Box<dyn Control> + Send>;
/// Supplies the factory of a class's controls, by name.
pub type Factories<'a> = dyn FnMut(&str, &Tcp) -> Option<Factory> + 'a;

/// Supplies the factory of a class's controls out of another project's crate, by name.
pub type CrateControls<'a> = dyn FnMut(&str, &Tcp, u64) -> Option<Factory> + 'a;

/// Supplies the stack that a class names, with its settings.
pub type Stacks<'a> = dyn FnMut(&Quic) -> Option<Stack> + 'a;
