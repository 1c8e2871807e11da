//! Drives the controller of a rate law by hand.

use tidegate_core::law::queue::Waiting;
use tidegate_core::law::rate::{Counts, Knobs};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Controller, Decision, View};
use tidegate_core::units::{Rate, Time};

/// An empty queue.
static NOTHING: Waiting = Waiting::new();

/// What a law sees of a port of this rate with so much waiting.
pub fn view(rate: Rate, queue_bytes: u64) -> View<'static> {
    View {
        rate,
        queue_packets: (queue_bytes / 1000) as u32,
        queue_bytes,
        min_queue_packets: 0,
        queue_offered: 0,
        queue_drops: 0,
        busy: Time::ZERO,
        idle_since: None,
        queued: &NOTHING,
    }
}

pub fn link(bps: u64) -> Link {
    Link { rate: Rate::from_bps(bps), delay: Time::from_ms(10) }
}

/// An interval law over one rate for all.
pub struct Rig<L> {
    law: L,
    pub knobs: Knobs,
    pub deadline: Time,
    /// Capacity that the law is shown.
    pub rate: Rate,
}

impl<L: Controller<Knobs, Counts>> Rig<L> {
    pub fn new(mut law: L, bps: u64) -> Rig<L> {
        let mut knobs = Knobs::default();
        let deadline = law.start(Time::ZERO, &mut knobs).expect("a built-in law never fails");
        Rig { law, knobs, deadline, rate: Rate::from_bps(bps) }
    }

    /// The interval ends: so much waits, and this was counted.
    pub fn tick(&mut self, queue_bytes: u64, counts: Counts) -> Decision {
        let view = view(self.rate, queue_bytes);
        let turn = self.law.update(self.deadline, &view, &counts, &mut self.knobs);
        let (next, decision) = turn.expect("a built-in law never fails");
        assert!(next > self.deadline, "a law must go on");
        self.deadline = next;
        decision.expect("it did more than look")
    }

    /// The same, after traffic of `bytes` that says no round-trip time.
    pub fn bytes(&mut self, queue_bytes: u64, bytes: u64) -> Decision {
        self.tick(queue_bytes, Counts { packets: bytes / 1000, bytes, ..Counts::default() })
    }
}
