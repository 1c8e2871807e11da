//! The number of a flow on packets and timers.

/// A flow's number on packets and timers: its table in the top bits, its slot below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowId(pub(crate) u32);

impl FlowId {
    const SLOT_BITS: u32 = 25;
    /// Flows that can be open at once in one table.
    pub(crate) const SLOTS: u32 = 1 << Self::SLOT_BITS;

    pub(crate) const fn new(table: u32, slot: u32) -> FlowId {
        FlowId((table << Self::SLOT_BITS) | slot)
    }

    pub(crate) const fn table(self) -> u32 {
        self.0 >> Self::SLOT_BITS
    }

    pub(crate) const fn slot(self) -> usize {
        (self.0 & (Self::SLOTS - 1)) as usize
    }
}

impl FlowId {
    /// The table of TCP under Reno.
    pub(crate) const RENO: u32 = 0;
    /// The table of every other control without an application.
    pub(crate) const OTHER: u32 = 1;
    /// The table of connections that an application drives.
    pub(crate) const APPS: u32 = 2;
    /// The table of hosts that are not the simulator's own.
    pub(crate) const HOSTS: u32 = 3;
    /// The table of such hosts whose connections an application drives.
    pub(crate) const APP_HOSTS: u32 = 4;
    /// No table: damaged packets, which their receivers refuse.
    pub(crate) const DAMAGED: u32 = 5;
    /// No table: messages to routers.
    pub(crate) const MESSAGES: u32 = 6;
    /// The table of UDP.
    pub(crate) const UDP: u32 = 7;
}
