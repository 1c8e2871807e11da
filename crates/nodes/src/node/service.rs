//! A service for active packets (lgc, 2.1 and 4.1). `menu` has the services of a node.

use tidegate_core::active::Header;

use super::reason::Reason;
use super::state::Core;

/// An active packet, as a service sees it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its header; `previous` is the neighbour that it came from, or the node itself.
    pub header: Header,
    /// Its payload.
    pub payload: &'a [u8],
}

/// What happens to a packet after its service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It continues to its destination with this payload.
    Forward(Vec<u8>),
    /// It ends here, successfully.
    Done,
    /// It is dropped.
    Drop(Reason),
}

/// A service on active packets.
pub trait Service: Send {
    /// Its name in configurations.
    fn name(&self) -> &'static str;

    /// The types of service (TOS) that it handles.
    fn numbers(&self) -> &'static [u16];

    /// Handles a packet at a node; `node` gives the time and the queues, and sends packets.
    fn serve(&mut self, request: &Request<'_>, node: &mut Core) -> Answer;
}
