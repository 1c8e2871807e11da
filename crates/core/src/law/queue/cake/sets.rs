//! A set-associative table of tags: places are found by a hash, and those that
//! would share one place have a whole set to evade to (CAKE, III-B).
//!
//! 1. The hash names a place, and with it a set of `ways` places.
//! 2. A place of the set that has this tag is the tag's.
//! 3. Otherwise the first place of the set that is not in use, from the named
//!    one on, becomes the tag's.
//! 4. In a set full of others the named place is shared.

/// Where a tag belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It had this place before.
    Known(usize),
    /// This place was free, and is its own from now on.
    Free(usize),
    /// Another tag is using this place.
    Shared(usize),
}

/// The table.
#[derive(Clone, Debug)]
pub struct Sets {
    tags: Box<[u32]>,
    ways: usize,
}

impl Sets {
    /// Of so many places, a multiple of `ways`, which is not zero.
    pub fn new(places: usize, ways: usize) -> Sets {
        Sets { tags: vec![0; places].into(), ways }
    }

    /// Where a tag belongs, which is also its hash; it is there from now on.
    #[inline]
    pub fn find(&mut self, tag: u32, in_use: impl Fn(usize) -> bool) -> Place {
        let named = tag as usize % self.tags.len();
        let first = named - named % self.ways;
        let way = |step: usize| first + (named - first + step) % self.ways;
        let mut set = (0..self.ways).map(way);
        if let Some(place) = set.clone().find(|&place| self.tags[place] == tag) {
            // a place that was given up still knows its tag
            return if in_use(place) { Place::Known(place) } else { Place::Free(place) };
        }
        let free = set.find(|&place| !in_use(place));
        self.tags[free.unwrap_or(named)] = tag;
        free.map_or(Place::Shared(named), Place::Free)
    }
}
