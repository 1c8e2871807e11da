//! Injected faults between a node and its socket: datagrams are lost, duplicated, or delayed so
//! that others overtake them. For testbeds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt as _;
use tidegate_core::active::Address;
use tidegate_core::settings;
use tidegate_core::units::Time;
use tidegate_model::draw::{Pcg64, stream};

/// Most datagrams that are delayed at a time; further ones are sent at once.
const MOST_LATE: usize = 4_096;

settings! {
    /// The faults of the datagrams that a node sends.
    pub struct Faults:
    lost: f64 = 0 [0 to 1] "Share of lost datagrams";
    twice: f64 = 0 [0 to 1] "Share of duplicated datagrams";
    late: f64 = 0 [0 to 1] "Share of delayed datagrams";
    by: Time = "0s" ["0s" to "1min"] "Longest delay";
    seed: u64 = 0 "Seed of the random numbers";
}

/// A delayed datagram: until when, its number, its destination.
type Held = Reverse<(Time, u64, Address, Vec<u8>)>;

/// The state of fault injection.
pub struct Faulty {
    faults: Faults,
    chance: Pcg64,
    late: BinaryHeap<Held>,
    held: u64,
}

impl Faulty {
    /// The faults of a node; each node of a testbed has its own random numbers.
    pub fn new(faults: &Faults, name: &str) -> Faulty {
        let chance = stream(faults.seed, name, "faults");
        Faulty { faults: faults.clone(), chance, late: BinaryHeap::new(), held: 0 }
    }

    fn happens(&mut self, share: f64) -> bool {
        share > 0.0 && self.chance.random::<f64>() < share
    }

    /// Passes a datagram with its faults to `send`, now or later.
    pub fn pass(
        &mut self,
        to: Address,
        bytes: &[u8],
        now: Time,
        mut send: impl FnMut(Address, &[u8]),
    ) {
        if self.happens(self.faults.lost) {
            return;
        }
        if self.happens(self.faults.twice) {
            send(to, bytes);
        }
        if self.late.len() < MOST_LATE && self.happens(self.faults.late) {
            let by = self.faults.by.secs() * self.chance.random::<f64>();
            self.held += 1;
            let until = now.saturating_add(Time::from_secs_f64(by));
            self.late.push(Reverse((until, self.held, to, bytes.to_vec())));
        } else {
            send(to, bytes);
        }
    }

    /// Sends delayed datagrams that are due, and returns when more are.
    pub fn release(&mut self, now: Time, mut send: impl FnMut(Address, &[u8])) -> Time {
        while let Some(Reverse((until, ..))) = self.late.peek() {
            if *until > now {
                return *until;
            }
            if let Some(Reverse((_, _, to, bytes))) = self.late.pop() {
                send(to, &bytes);
            }
        }
        Time::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO: Address = Address { ip: [127, 0, 0, 1], port: 9 };

    /// Numbers of the datagrams that were sent, and of those that were late.
    fn through(faults: &Faults, count: u32) -> (Vec<u32>, Vec<u32>) {
        let mut faulty = Faulty::new(faults, "node");
        let (mut at_once, mut later) = (Vec::new(), Vec::new());
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
        for i in 0..count {
            faulty.pass(TO, &i.to_be_bytes(), Time::ZERO, |_, bytes| at_once.push(number(bytes)));
        }
        assert_eq!(
            faulty.release(Time::from_secs(60), |_, bytes| later.push(number(bytes))),
            Time::NEVER
        );
        (at_once, later)
    }

    #[test]
    fn without_faults_everything_passes_once() {
        let (at_once, later) = through(&Faults::default(), 100);
        assert_eq!(at_once, (0..100).collect::<Vec<_>>());
        assert!(later.is_empty());
    }

    // Of 10,000 a tenth each is 1,000, with a standard deviation of 30: 5 of these are 150.
    #[test]
    fn shares_are_kept() {
        let near = |count: usize| count.abs_diff(1_000) < 150;
        let (lost, _) = through(&Faults { lost: 0.1, ..Faults::default() }, 10_000);
        assert!(near(10_000 - lost.len()), "{}", lost.len());
        let (twice, _) = through(&Faults { twice: 0.1, ..Faults::default() }, 10_000);
        assert!(near(twice.len() - 10_000), "{}", twice.len());
        let by = Time::from_secs(1);
        let (at_once, late) = through(&Faults { late: 0.1, by, ..Faults::default() }, 10_000);
        assert!(near(late.len()), "{}", late.len());
        assert_eq!(at_once.len() + late.len(), 10_000);
        assert!(!late.is_sorted(), "those that are held back overtake each other");
    }

    // Nothing is sent early, and the returned time is that of the next datagram.
    #[test]
    fn what_is_late_comes_in_time() {
        let faults = Faults { late: 1.0, by: Time::from_secs(10), ..Faults::default() };
        let mut faulty = Faulty::new(&faults, "node");
        for i in 0..10u8 {
            faulty.pass(TO, &[i], Time::ZERO, |_, _| panic!("all are held back"));
        }
        let mut count = 0;
        let next = faulty.release(Time::ZERO, |_, _| count += 1);
        assert!(count == 0 && next > Time::ZERO && next <= Time::from_secs(10));
        faulty.release(next, |_, _| count += 1);
        assert_eq!(count, 1);
    }

    #[test]
    fn memory_is_bounded() {
        let faults = Faults { late: 1.0, by: Time::from_secs(60), ..Faults::default() };
        let (at_once, late) = through(&faults, 10_000);
        assert_eq!((at_once.len(), late.len()), (10_000 - MOST_LATE, MOST_LATE));
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let refused = |faults: Faults| faults.in_range().expect_err("out of range");
        let (key, what) = refused(Faults { lost: 1.5, ..Faults::default() });
        assert!(key == "lost" && what.contains("write a number from 0 to 1"), "{key}: {what}");
        let (key, what) = refused(Faults { by: Time::from_secs(61), ..Faults::default() });
        assert!(key == "by" && what.contains("write a time from 0s to 1min"), "{key}: {what}");
    }
}
