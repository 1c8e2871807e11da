//! The time of an event in its key, and the slots of the fine wheel.

/// Bits of the picoseconds in one slot of the fine wheel: 34 us. At 8 us and at
/// 1 us, with an event or none to a slot, a packet-hop takes a tenth longer.
pub(super) const FINE_BITS: u32 = 25;
/// Bits of the number of slots of the fine wheel: 0.14 s in all.
pub(super) const FINE_SLOTS: u32 = 12;

/// Later than every event.
pub(super) const NO_EVENT: u128 = u128::MAX;

/// The time of an event, in picoseconds.
pub(crate) const fn ps_of(key: u128) -> u64 {
    (key >> 64) as u64
}
