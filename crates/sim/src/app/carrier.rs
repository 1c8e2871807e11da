//! A connection as what drives it sees it, whatever its kind.

use tidegate_core::units::Time;

use super::exchange::Arrived;
use crate::transport::table::World;

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) bytes: u64,
    /// Whether the connection closes after it.
    pub(super) last: bool,
    /// How long the server takes before it answers.
    pub(super) server: Time,
    /// What the client knows it by.
    pub(super) tag: u32,
}

/// What a packet or a timer has done to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ConnectionNews {
    /// Something may have come to the client.
    ToClient,
    /// It is over.
    Over,
    /// Nothing that concerns its user.
    Nothing,
}

/// Connections of one kind, by slot.
pub(super) trait Carrier {
    /// Whose connection it is.
    fn user(&self, slot: u32) -> u32;
    /// Its row.
    fn row(&self, slot: u32) -> u32;
    /// Whether the client has just learnt that it is open.
    fn has_opened(&mut self, slot: u32) -> bool;
    /// Whether the client knows that it is open, or that it was.
    fn is_open(&self, slot: u32) -> bool;
    /// Whether it can take further requests.
    fn may_ask(&self, slot: u32) -> bool;
    /// Whether it has carried as much as it can.
    fn is_full(&self, slot: u32) -> bool;
    /// The client sends requests.
    fn ask(&mut self, slot: u32, wanted: &[Asked], world: &mut World<'_>);
    /// The client closes it, or asks the server to.
    fn close(&mut self, slot: u32, world: &mut World<'_>);
    /// The user leaves now.
    fn leave(&mut self, slot: u32, world: &mut World<'_>);
    /// What has come of its answers; called until there is no more.
    fn arrived(&mut self, slot: u32, world: &mut World<'_>) -> Option<Arrived>;
}
