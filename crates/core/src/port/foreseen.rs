//! What is kept of packets whose ways are known in advance: the rules are in `ahead.rs`.

use crate::units::Time;

/// What a port that foresees keeps of the packets that wait, the oldest first.
///
/// Positions only count up, and a mask wraps them, as in the ring of packets. (The deque of the
/// library takes a third more instructions for a packet that waits.)
#[derive(Default)]
pub(super) struct Foreseen {
    sizes: Box<[u16]>,
    head: u32,
    tail: u32,
    /// When the transmission of the last of them ends.
    pub(super) until: Time,
}

impl Foreseen {
    const INITIAL: usize = 8;

    #[inline(always)]
    pub(super) fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, size: u16) {
        if self.waiting() as usize == self.sizes.len() {
            self.grow();
        }
        let place = self.tail as usize & (self.sizes.len() - 1);
        self.sizes[place] = size;
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<u16> {
        if self.waiting() == 0 {
            return None;
        }
        let place = self.head as usize & (self.sizes.len() - 1);
        self.head = self.head.wrapping_add(1);
        Some(self.sizes[place])
    }

    #[cold]
    fn grow(&mut self) {
        let held = self.sizes.len();
        let mut sizes = Vec::with_capacity((2 * held).max(Self::INITIAL));
        while let Some(size) = self.pop() {
            sizes.push(size);
        }
        sizes.resize((2 * held).max(Self::INITIAL), 0);
        (self.head, self.tail) = (0, held as u32);
        self.sizes = sizes.into();
    }
}

/// What was booked at a port for later than now.
#[derive(Clone, Copy, Default)]
pub struct Early {
    /// Packets, without payload and with payload.
    pub(super) arrived: [u64; 2],
    pub(super) syn_arrived: u64,
    pub(super) bytes: u64,
    pub(super) busy_ps: u64,
    /// When the link is free of what has arrived, and of all that was booked.
    pub(super) free_at: Time,
    pub(super) booked_until: Time,
}
