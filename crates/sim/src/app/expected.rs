//! The objects that a user has asked for over one connection and that have not come.

use std::collections::VecDeque;

/// Objects in the order in which they were asked for. Over TCP they come in this order; over other
/// transports nearly so.
#[derive(Default)]
pub(super) struct Expected {
    objects: VecDeque<u32>,
    /// How many objects were passed or moved to take one out.
    #[cfg(test)]
    steps: usize,
}

impl Expected {
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// One more is asked for.
    pub(super) fn push(&mut self, object: u32) {
        self.objects.push_back(object);
    }

    /// The last ones that were asked for.
    pub(super) fn newest(&self, number: usize) -> impl Iterator<Item = u32> {
        self.objects.range(self.objects.len() - number..).copied()
    }

    /// One has come.
    pub(super) fn take(&mut self, object: u32) {
        let place = self.objects.iter().position(|&one| one == object);
        #[cfg(test)]
        (self.steps += place.map_or(self.objects.len(), |place| 2 * place + 1));
        if let Some(place) = place {
            self.objects.remove(place);
        }
    }

    /// All of them, the last first.
    pub(super) fn newest_first(self) -> impl Iterator<Item = u32> {
        self.objects.into_iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of objects that come in their order each is the first, and nothing moves. Of those
    /// that come in pairs turned round, every other one has one before it.
    #[test]
    fn an_object_that_comes_costs_the_same_whatever_else_is_asked_for() {
        for most in [100, 1_000, 10_000] {
            for (turned, steps) in [(0, 1), (1, 2)] {
                let mut expected = Expected::default();
                (0..most).for_each(|object| expected.push(object));
                (0..most).for_each(|object| expected.take(object ^ turned));
                assert!(expected.is_empty());
                assert_eq!(expected.steps, (steps * most) as usize);
            }
        }
    }

    #[test]
    fn what_was_asked_for_last_is_told_of() {
        let mut expected = Expected::default();
        (0..5).for_each(|object| expected.push(object));
        assert_eq!(expected.newest(2).collect::<Vec<u32>>(), [3, 4]);
        expected.take(3);
        expected.take(7);
        assert_eq!(expected.len(), 4);
        assert_eq!(expected.newest_first().collect::<Vec<u32>>(), [4, 2, 1, 0]);
    }
}
