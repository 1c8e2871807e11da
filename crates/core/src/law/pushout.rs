//! Push-out: a full queue gives up its worst packet for a better one
//! (blitz, 2.1; space priority as in Tassiulas, Hung and Panwar 1993).
//!
//! | symbol | here    | unit | paper                                           |
//! |--------|---------|------|-------------------------------------------------|
//! | level  | `Level` | 1    | place in the burst; 0 is the best               |
//!
//! At each arrival:
//! 1. While there is room the packet joins, whatever its level.
//! 2. Else the worst packet goes: the one of the highest level and, among
//!    equals, the one that came last; provided that its level is above that of
//!    the arrival. Otherwise the arrival is lost.
//! 3. Packets without payload (acknowledgements, SYN, a FIN alone) are never
//!    pushed out and count as better than all data; data that states no
//!    priority has the last level.
//! 4. Service is in the order of arrival. With `service = "priority"` the best
//!    level goes first and, among equals, the packet that came first.
//!
//! A packet that goes leaves its place in the port's ring empty; nothing moves.
//! With priority service, where the order of places means nothing, the arrival
//! takes that place; else the port passes over it later.
//! Every level has a list of its packets, by their places in the ring, and a
//! bit that says whether it has any: the worst is found without a search, and
//! an arrival costs the same whatever waits.
//!
//! Limits: the field has `levels` values; whoever counts further stays at the
//! last one, and there it is a drop-tail queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::{Link, Refused, within};
use crate::packet::{Ext, Flags, Packet};

/// In which order packets are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// In the order of arrival: priority is about room alone.
    #[default]
    Fifo,
    /// The best level first.
    Priority,
}

/// Parameters of a push-out queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
#[schemars(rename = "PushOut")]
pub struct Config {
    /// How many priorities are told apart, the last one standing for all that follow; default 4096, 2 to 65535.
    pub levels: u32,
    /// Whether packets are sent in the order of arrival or the best first; default fifo (blitz, 2.1).
    pub service: Service,
}

impl Default for Config {
    fn default() -> Config {
        Config { levels: 4096, service: Service::Fifo }
    }
}

impl Config {
    /// Whether every value is in range; any link will do.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self, _: Link) -> Result<(), Refused> {
        within("levels", f64::from(self.levels), 2.0, 65_535.0)
    }
}

/// How good a packet is: 0 is never pushed out, data has 1 and up.
pub type Level = u16;

/// What is known of the packet at a place of the ring.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The packet of its level that came before it, and the one after; the
    /// ends of a list say nothing here, so that taking one off touches no other.
    older: u32,
    newer: u32,
    level: Level,
    size: u16,
}

/// The packets of one level.
///
/// Who serves in the order of arrival takes the oldest packet off by the count
/// alone: `oldest` and the links to what is newer are kept for priority service.
#[derive(Clone, Copy, Debug)]
struct List {
    oldest: u32,
    newest: u32,
    packets: u32,
}

/// Which levels have packets: a bit each, and a bit for each word of these.
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

/// The order of the packets that wait at one port.
///
/// Places of the ring are counted as the port counts them, from its oldest
/// packet (evicted ones included), and kept modulo the capacity of `nodes`.
#[derive(Clone, Debug)]
pub struct PushOut {
    service: Service,
    last_level: u32,
    nodes: Box<[Node]>,
    lists: Box<[List]>,
    levels: Levels,
    /// Number of the oldest place in the ring, modulo 2^32.
    front: u32,
    /// Number behind the newest place.
    back: u32,
}

impl PushOut {
    const INITIAL: usize = 64;

    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> PushOut {
        let levels = config.levels as usize + 1;
        PushOut {
            service: config.service,
            last_level: config.levels,
            nodes: vec![Node::default(); Self::INITIAL].into(),
            lists: vec![List { oldest: 0, newest: 0, packets: 0 }; levels].into(),
            levels: Levels::new(levels),
            front: 0,
            back: 0,
        }
    }

    /// How good the packet is here.
    #[inline]
    pub fn level(&self, packet: &Packet) -> Level {
        let level = match packet.ext {
            _ if !packet.flags.has(Flags::DATA) => 0,
            Ext::Priority { level, .. } => level.saturating_add(1).min(self.last_level),
            _ => self.last_level,
        };
        level as Level
    }

    /// In which order packets are sent.
    pub fn service(&self) -> Service {
        self.service
    }

    #[inline]
    fn place(&self, number: u32) -> u32 {
        number & (self.nodes.len() as u32 - 1)
    }

    /// How far behind the oldest place another one is.
    #[inline]
    fn index(&self, place: u32) -> u32 {
        self.place(place.wrapping_sub(self.front))
    }

    /// Whether packets worse than `level` make up so many bytes (at least one of them).
    pub fn can_free(&self, level: Level, bytes: u64) -> bool {
        let mut freed = 0;
        let mut worse = self.levels.last();
        while let Some(worst) = worse.filter(|worst| *worst > usize::from(level)) {
            let List { newest: mut place, packets, .. } = self.lists[worst];
            for _ in 0..packets {
                let node = self.nodes[place as usize];
                freed += u64::from(node.size);
                if freed >= bytes {
                    return true;
                }
                place = node.older;
            }
            worse = self.levels.before(worst);
        }
        false
    }

    /// Gives up the worst packet, if it is worse than `level`: its place
    /// behind the oldest one.
    #[inline]
    pub fn evict(&mut self, level: Level) -> Option<u32> {
        let worst = self.levels.last().filter(|worst| *worst > usize::from(level))?;
        let list = &mut self.lists[worst];
        let place = list.newest;
        list.newest = self.nodes[place as usize].older;
        self.discount(worst);
        Some(self.index(place))
    }

    /// The queue has taken a packet, behind the others.
    #[inline]
    pub fn enqueued(&mut self, packet: &Packet) {
        if self.back.wrapping_sub(self.front) as usize == self.nodes.len() {
            self.grow();
        }
        let place = self.place(self.back);
        self.back = self.back.wrapping_add(1);
        self.link(place, packet);
    }

    /// The queue has put a packet in the place of one that was evicted.
    #[inline]
    pub fn enqueued_at(&mut self, packet: &Packet, index: u32) {
        self.link(self.place(self.front.wrapping_add(index)), packet);
    }

    /// Puts the packet at a place behind the others of its level.
    #[inline]
    fn link(&mut self, place: u32, packet: &Packet) {
        let level = self.level(packet);
        let list = &mut self.lists[usize::from(level)];
        let older = list.newest;
        list.newest = place;
        list.packets += 1;
        if list.packets == 1 {
            list.oldest = place;
            self.levels.set(usize::from(level));
        } else if self.service == Service::Priority {
            self.nodes[older as usize].newer = place;
        }
        let node = &mut self.nodes[place as usize];
        node.older = older;
        node.level = level;
        node.size = packet.size;
    }

    /// A level has one packet less.
    #[inline]
    fn discount(&mut self, level: usize) {
        let list = &mut self.lists[level];
        list.packets -= 1;
        if list.packets == 0 {
            self.levels.clear(level);
        }
    }

    /// The oldest place is given up by a packet that was evicted before.
    #[inline]
    pub fn buried(&mut self) {
        self.front = self.front.wrapping_add(1);
    }

    /// How far behind the oldest packet, which is not evicted, the one is that
    /// is sent next; there must be one. The two are to change places.
    #[inline]
    pub fn serve(&mut self) -> u32 {
        if self.service == Service::Fifo {
            return 0;
        }
        let Some(level) = self.levels.first() else { return 0 };
        let list = &mut self.lists[level];
        let best = list.oldest;
        list.oldest = self.nodes[best as usize].newer;
        self.discount(level);
        let front = self.place(self.front);
        if best != front {
            self.relocate(front, best);
        }
        self.index(best)
    }

    /// The packet in the oldest place is sent: the one that [`PushOut::serve`] chose.
    #[inline]
    pub fn departs(&mut self) {
        if self.service == Service::Fifo {
            let place = self.place(self.front);
            self.discount(usize::from(self.nodes[place as usize].level));
        }
        self.front = self.front.wrapping_add(1);
    }

    /// A packet changes its place in the ring, not its place in its list.
    #[inline]
    fn relocate(&mut self, from: u32, to: u32) {
        let Node { older, newer, level, size } = self.nodes[from as usize];
        let list = &mut self.lists[usize::from(level)];
        if list.oldest == from {
            list.oldest = to;
        } else {
            self.nodes[older as usize].newer = to;
        }
        if list.newest == from {
            list.newest = to;
        } else {
            self.nodes[newer as usize].older = to;
        }
        let node = &mut self.nodes[to as usize];
        node.older = older;
        node.newer = newer;
        node.level = level;
        node.size = size;
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.nodes.len() as u32;
        let mut nodes = vec![Node::default(); 2 * old as usize];
        let moved = |place: u32, front: u32| {
            let index = place.wrapping_sub(front) & (old - 1);
            front.wrapping_add(index) & (2 * old - 1)
        };
        for index in 0..old {
            let place = self.place(self.front.wrapping_add(index));
            let node = self.nodes[place as usize];
            let (older, newer) = (moved(node.older, self.front), moved(node.newer, self.front));
            nodes[moved(place, self.front) as usize] = Node { older, newer, ..node };
        }
        for list in &mut self.lists {
            list.oldest = moved(list.oldest, self.front);
            list.newest = moved(list.newest, self.front);
        }
        self.nodes = nodes.into();
    }
}
