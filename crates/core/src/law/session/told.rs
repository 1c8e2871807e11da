//! The capacity that a law is told, whatever the link has.
//!
//! The file of a real gate has a capacity, and a gate that does not shape knows no other. Where the
//! link then carries less, the law sees it in use for a part of the time only.

use crate::law::{Controller, Fault, Step, View};
use crate::units::{Rate, Time};

use super::{Counts, Knobs};

/// A law that is told this capacity.
pub struct Told {
    law: Box<dyn Controller<Knobs, Counts>>,
    capacity: Rate,
}

impl Told {
    /// Around a law that has not started.
    pub fn new(law: Box<dyn Controller<Knobs, Counts>>, capacity: Rate) -> Told {
        Told { law, capacity }
    }
}

impl Controller<Knobs, Counts> for Told {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        self.law.start(now, knobs)
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        // the same bytes at the capacity that it is told
        let share = view.rate.bps() as f64 / self.capacity.bps() as f64;
        let busy = Time::from_ps((view.busy.ps() as f64 * share) as u64);
        self.law.update(now, &View { rate: self.capacity, busy, ..*view }, counts, knobs)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::law::queue::Waiting;

    struct Sees(Arc<Mutex<Option<(Rate, Time)>>>);

    impl Controller<Knobs, Counts> for Sees {
        fn start(&mut self, now: Time, _: &mut Knobs) -> Result<Time, Fault> {
            Ok(now + Time::from_secs(1))
        }

        fn update(&mut self, now: Time, view: &View<'_>, _: &Counts, _: &mut Knobs) -> Step {
            *self.0.lock().expect("one thread") = Some((view.rate, view.busy));
            Ok((now + Time::from_secs(1), None))
        }
    }

    // By hand: a link of 2.5 Mbit/s that sends all the time carries in a second what one of 5 Mbit/s,
    // which the file has, carries in half of it.
    #[test]
    fn a_link_with_half_of_the_capacity_is_busy_for_half_of_the_time() {
        let seen = Arc::new(Mutex::new(None));
        let mbit = |rate: f64| Rate::from_bps((rate * 1e6) as u64);
        let mut law = Told::new(Box::new(Sees(seen.clone())), mbit(5.0));
        let view = View {
            rate: mbit(2.5),
            queue_packets: 0,
            queue_bytes: 0,
            min_queue_packets: 0,
            queue_offered: 0,
            queue_drops: 0,
            busy: Time::from_secs(1),
            idle_since: None,
            queued: &Waiting::default(),
        };
        let mut knobs = Knobs::default();
        law.update(Time::from_secs(1), &view, &Counts::default(), &mut knobs).expect("it decides");
        assert_eq!(*seen.lock().expect("one thread"), Some((mbit(5.0), Time::from_ms(500))));
    }
}
