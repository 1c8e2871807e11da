//! A set-associative table of tags: tags whose hashes collide spread over the places of a set
//! (CAKE, III-B).
//!
//! 1. The hash selects a place, and with it the set of `ways` places that holds it.
//! 2. A place of the set with this tag belongs to the tag.
//! 3. Otherwise the first unused place of the set, from the selected one on, becomes the tag's.
//! 4. If the whole set is used by other tags, the selected place is shared.

/// Where a tag belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TagPlace {
    /// The tag already had this place.
    Known(usize),
    /// The place was unused and now belongs to the tag.
    Free(usize),
    /// The place is shared with another tag.
    Shared(usize),
}

/// The table.
#[derive(Clone, Debug)]
pub struct Sets {
    tags: Box<[u32]>,
    ways: usize,
}

impl Sets {
    /// A table of `places` places, a multiple of `ways`, which is not zero.
    pub fn new(places: usize, ways: usize) -> Sets {
        Sets { tags: vec![0; places].into(), ways }
    }

    /// The place of a tag (which is also its hash), entering it if needed.
    #[inline]
    pub fn find(&mut self, tag: u32, in_use: impl Fn(usize) -> bool) -> TagPlace {
        let named = tag as usize % self.tags.len();
        let first = named - named % self.ways;
        let way = |step: usize| first + (named - first + step) % self.ways;
        let mut set = (0..self.ways).map(way);
        if let Some(place) = set.clone().find(|&place| self.tags[place] == tag) {
            // an unused place still stores its last tag
            return if in_use(place) { TagPlace::Known(place) } else { TagPlace::Free(place) };
        }
        let free = set.find(|&place| !in_use(place));
        self.tags[free.unwrap_or(named)] = tag;
        free.map_or(TagPlace::Shared(named), TagPlace::Free)
    }
}
