//! The queue with the most bytes, without a look at every queue.
//!
//! A heap of upper bounds. A queue that grows beyond its bound is moved at once.
//! One that shrinks keeps its bound until it is at the top, so a departure costs
//! nothing. There is no heap before the buffer is full for the first time.

/// Queues in a binary heap, the greatest bound first and of equals the last queue.
#[derive(Clone, Debug, Default)]
pub struct Longest {
    /// Queues in the order of the heap; none: the buffer was never full.
    heap: Vec<u32>,
    /// Of each queue, where it is in the heap.
    places: Vec<u32>,
    /// Of each queue, at least its bytes.
    bounds: Vec<u64>,
}

impl Longest {
    /// A queue has grown to so many bytes.
    #[inline]
    pub fn grew(&mut self, queue: usize, bytes: u64) {
        if self.bounds.get(queue).is_some_and(|&bound| bytes > bound) {
            self.bounds[queue] = bytes;
            self.sift_up(self.places[queue] as usize);
        }
    }

    /// The queue with the most bytes and, of several, the last; `bytes` of each of `queues`.
    pub fn find(&mut self, queues: usize, bytes: impl Fn(usize) -> u64) -> usize {
        if self.heap.is_empty() {
            self.build(queues, &bytes);
        }
        loop {
            let top = self.heap[0] as usize;
            let actual = bytes(top);
            if self.bounds[top] == actual {
                return top;
            }
            self.bounds[top] = actual;
            self.sift_down(0);
        }
    }

    #[cold]
    fn build(&mut self, queues: usize, bytes: &impl Fn(usize) -> u64) {
        self.heap = (0..queues as u32).collect();
        self.places = self.heap.clone();
        self.bounds = (0..queues).map(bytes).collect();
        for place in (0..queues / 2).rev() {
            self.sift_down(place);
        }
    }

    /// Whether the queue at a place comes before the one at another.
    fn before(&self, place: usize, other: usize) -> bool {
        let key = |place: usize| (self.bounds[self.heap[place] as usize], self.heap[place]);
        key(place) > key(other)
    }

    fn swap(&mut self, place: usize, other: usize) {
        self.heap.swap(place, other);
        for place in [place, other] {
            self.places[self.heap[place] as usize] = place as u32;
        }
    }

    fn sift_up(&mut self, mut place: usize) {
        while place > 0 && self.before(place, (place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let mut first = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.before(child, first) {
                    first = child;
                }
            }
            if first == place {
                return;
            }
            self.swap(place, first);
            place = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a look at every queue, of equals the last, while queues grow and shrink.
        #[test]
        fn the_longest_queue_is_that_of_a_scan(
            queues in 1..40usize,
            steps in prop::collection::vec((0..40usize, 0..5u64, any::<bool>(), 0..3u8), 1..500),
        ) {
            let mut bytes = vec![0u64; queues];
            let mut longest = Longest::default();
            for (queue, amount, grows, asked) in steps {
                let queue = queue % queues;
                if grows {
                    bytes[queue] += amount;
                    longest.grew(queue, bytes[queue]);
                } else {
                    bytes[queue] = bytes[queue].saturating_sub(amount);
                }
                if asked == 0 {
                    let expected = (0..queues).max_by_key(|&queue| bytes[queue]);
                    prop_assert_eq!(Some(longest.find(queues, |queue| bytes[queue])), expected);
                }
            }
        }
    }
}
