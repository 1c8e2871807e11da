//! Push-out: a full queue drops its worst packet to accept a better one (blitz, 2.1; space priority
//! as in Tassiulas, Hung and Panwar 1993).
//!
//! | symbol | here    | unit | paper                                           |
//! |--------|---------|------|-------------------------------------------------|
//! | level  | `Level` | 1    | position in the burst; 0 is the best            |
//!
//! At each arrival:
//! 1. While there is room the packet is accepted, whatever its level.
//! 2. Otherwise the worst packet is dropped: the one of the highest level and, among equals, the
//!    one that arrived last; provided that its level is above that of the arrival. If not, the
//!    arrival is dropped.
//! 3. Packets without payload (acknowledgements, SYN, a FIN alone) are never pushed out and rank
//!    above all data; data without a priority has the last level.
//! 4. Service is in the order of arrival. With `service = "priority"` the best level is served
//!    first and, among equals, the packet that arrived first.
//!
//! Every level has a list of its packets, and a bit that says whether the list is not empty. So
//! finding the worst packet takes constant time, however many wait.
//!
//! Limits: there are `levels` values; a sender that counts further stays at the last one, where the
//! queue is drop-tail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::Link;
use crate::law::{Draw, Reason, Verdict};
use crate::packet::{Ext, Flags, Packet};

use super::{ArrivalContext, Chain, Discipline, Handle, Links, Next, Slot, Traits, Waiting};

/// In which order packets are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// In the order of arrival: priority decides only which packet is dropped.
    #[default]
    Fifo,
    /// The best level first.
    Priority,
}

crate::settings! {
    /// Parameters of a push-out queue.
    "PushOut", check_at:
    levels: u32 = 4096 [2 to 65535] "Number of priority levels; the last one includes all lower priorities";
    service: Service = { Service::Fifo } "Whether packets are sent in the order of arrival or the best first; default fifo" ("blitz, 2.1");
}

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        false
    }
}

/// Rank of a packet: 0 is never pushed out, data has 1 and above.
pub type Level = u16;

/// Which levels have packets: one bit per level, and one bit per word of these.
#[derive(Clone, Debug)]
struct Levels {
    words: Box<[u64]>,
    summary: Box<[u64]>,
}

impl Levels {
    fn new(levels: usize) -> Levels {
        let words = levels.div_ceil(64);
        Levels { words: vec![0; words].into(), summary: vec![0; words.div_ceil(64)].into() }
    }

    #[inline]
    fn set(&mut self, level: usize) {
        self.words[level / 64] |= 1 << (level % 64);
        self.summary[level / 4096] |= 1 << (level / 64 % 64);
    }

    #[inline]
    fn clear(&mut self, level: usize) {
        let word = &mut self.words[level / 64];
        *word &= !(1 << (level % 64));
        if *word == 0 {
            self.summary[level / 4096] &= !(1 << (level / 64 % 64));
        }
    }

    /// The highest level that has packets.
    #[inline]
    fn last(&self) -> Option<usize> {
        let place = self.summary.iter().rposition(|word| *word != 0)?;
        let word = place * 64 + 63 - self.summary[place].leading_zeros() as usize;
        Some(word * 64 + 63 - self.words[word].leading_zeros() as usize)
    }

    /// The lowest level that has packets.
    #[inline]
    fn first(&self) -> Option<usize> {
        let place = self.summary.iter().position(|word| *word != 0)?;
        let word = place * 64 + self.summary[place].trailing_zeros() as usize;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// The highest level below this one that has packets.
    fn before(&self, level: usize) -> Option<usize> {
        (0..level).rev().find(|level| self.words[level / 64] >> (level % 64) & 1 == 1)
    }
}

/// Push-out at one port.
#[derive(Clone, Debug)]
pub struct PushOut {
    service: Service,
    last_level: u32,
    /// The packets of each level, in the order of arrival.
    lists: Box<[Chain]>,
    links: Links,
    /// Which lists are not empty.
    levels: Levels,
}

impl PushOut {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> PushOut {
        let levels = config.levels as usize + 1;
        PushOut {
            service: config.service,
            last_level: config.levels,
            lists: vec![Chain::default(); levels].into(),
            links: Links::default(),
            levels: Levels::new(levels),
        }
    }

    /// The rank of a packet at this queue.
    #[inline]
    pub fn level(&self, packet: &Packet) -> Level {
        let level = match packet.ext {
            _ if !packet.flags.has(Flags::DATA) => 0,
            Ext::Priority { level, .. } => level.saturating_add(1).min(self.last_level),
            _ => self.last_level,
        };
        level as Level
    }

    /// Whether packets worse than `level` add up to this many bytes (at least one packet).
    fn can_free(&self, waiting: &Waiting, level: Level, bytes: u64) -> bool {
        let mut freed = 0;
        let mut worse = self.levels.last();
        while let Some(worst) = worse.filter(|worst| *worst > usize::from(level)) {
            let mut place = self.lists[worst].newest();
            while let Some(handle) = place {
                freed += waiting.get(handle).map_or(0, |packet| u64::from(packet.size));
                if freed >= bytes {
                    return true;
                }
                place = self.links.older(handle);
            }
            worse = self.levels.before(worst);
        }
        false
    }

    /// The worst packet, if it is worse than `level`.
    #[inline]
    fn worst(&self, level: Level) -> Option<Handle> {
        let worst = self.levels.last().filter(|worst| *worst > usize::from(level))?;
        self.lists[worst].newest()
    }

    /// Takes a packet off the list of its level.
    #[inline]
    fn unlist(&mut self, handle: Handle, packet: &Packet) {
        let level = usize::from(self.level(packet));
        self.lists[level].remove(handle, &mut self.links);
        if self.lists[level].is_empty() {
            self.levels.clear(level);
        }
    }
}

impl Discipline for PushOut {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        if found.fits {
            return Verdict::Pass;
        }
        let level = self.level(packet);
        let size = u64::from(packet.size);
        // a buffer that became smaller drains: packets are dropped only for an arrival
        let missing = (found.queue.bytes + size).saturating_sub(found.room.bytes).min(size);
        // without a limit in bytes, any worse packet makes enough room
        if missing > 0 && !self.can_free(waiting, level, missing) {
            return Verdict::Drop(Reason::QueueFull);
        }
        let mut one_more = found.queue.packets >= found.room.packets;
        let mut freed = 0;
        while freed < missing || one_more {
            let worst = self.worst(level);
            let Some((worst, gone)) = worst.and_then(|worst| Some((worst, *waiting.get(worst)?)))
            else {
                return Verdict::Drop(Reason::QueueFull);
            };
            self.unlist(worst, &gone);
            waiting.evict(worst);
            freed += u64::from(gone.size);
            one_more = false;
        }
        Verdict::Pass
    }

    #[inline]
    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        let Some(packet) = waiting.get(handle) else { return };
        let level = usize::from(self.level(packet));
        if self.lists[level].is_empty() {
            self.levels.set(level);
        }
        self.lists[level].push(handle, &mut self.links);
    }

    #[inline]
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let next = match self.service {
            Service::Fifo => waiting.oldest(),
            Service::Priority => self.levels.first().and_then(|level| self.lists[level].oldest()),
        };
        let Some((handle, packet)) = next.and_then(|next| Some((next, *waiting.get(next)?))) else {
            return Next::NotBefore(slot.start);
        };
        self.unlist(handle, &packet);
        Next::Send(handle)
    }
}
