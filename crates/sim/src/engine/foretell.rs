//! Reports what is due soon, for whoever prefetches it.

use tidegate_core::packet::Packet;

use super::{Entity, Events};

/// How many fine slots ahead events are reported: one or two events if they are sparse, and no more
/// than fit a near cache if they are dense.
pub(super) const NOTICE: u64 = 32;
/// The same for parcels, most of which come into a slot less than a millisecond ahead.
const PARCEL_NOTICE: u64 = 3;

impl Events {
    /// Reports the subjects of most events of the next slots, each once.
    #[inline(always)]
    pub(crate) fn foretell(&mut self, tell: impl FnMut(Entity)) {
        if self.unseen < self.next + NOTICE {
            self.foretell_slots(tell);
        }
    }

    #[inline(never)]
    fn foretell_slots(&mut self, mut tell: impl FnMut(Entity)) {
        let until = self.next + NOTICE;
        self.slots(self.unseen, until).for_each(|slot| self.fine.for_each(slot, &mut tell));
        self.unseen = until;
    }

    /// Reports most parcels of the next slots, each once.
    #[inline(always)]
    pub(crate) fn foretell_parcels(&mut self, tell: impl FnMut(&Packet)) {
        if self.unseen_parcels < self.next + PARCEL_NOTICE {
            self.foretell_parcels_of_slots(tell);
        }
    }

    #[inline(never)]
    fn foretell_parcels_of_slots(&mut self, mut tell: impl FnMut(&Packet)) {
        let until = self.next + PARCEL_NOTICE;
        self.slots(self.unseen_parcels, until).for_each(|slot| {
            self.fine.parcels(slot, &self.parcels).for_each(&mut tell);
        });
        self.unseen_parcels = until;
    }

    /// The used slots from `from` to before `until`, but for those that were taken.
    #[inline(always)]
    fn slots(&self, from: u64, until: u64) -> impl Iterator<Item = u64> {
        let first = self.fine.first_used(from.max(self.next));
        std::iter::successors(first, |slot| self.fine.first_used(slot + 1))
            .take_while(move |&slot| slot < until)
    }
}
