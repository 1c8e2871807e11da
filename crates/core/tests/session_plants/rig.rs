//! Drives datapath and controller of a session law over a plant that is only arithmetic.

use std::collections::BTreeMap;

use tidegate_core::law::queue::Waiting;
use tidegate_core::law::session::{Admit, Counts, Knobs};
use tidegate_core::law::{Controller, Counted, Datapath, Decision, Moment, Verdict, View};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Rate, Time};

/// An empty queue.
static NOTHING: Waiting = Waiting::new();

/// What happened in one epoch.
#[derive(Clone, Copy, Debug)]
pub struct Epoch {
    /// What was allowed; none: everything passed.
    pub allowance: Option<u64>,
    /// What was counted.
    pub counts: Counts,
    /// What was decided at its end.
    pub decision: Decision,
}

/// A port reduced to its gate.
pub struct Rig {
    admit: Admit,
    law: Box<dyn Controller<Knobs, Counts>>,
    /// What the law has set.
    pub knobs: Knobs,
    counts: Counts,
    told: Counts,
    begin: Time,
    deadline: Time,
    /// What the law is shown as the packets offered to the queue in the epoch.
    pub queue_offered: u64,
    /// What it is shown as the queue's losses.
    pub queue_drops: u64,
    /// What it is shown as the link's transmission time.
    pub busy: Time,
    /// What it is shown as the fewest packets waiting.
    pub min_queue_packets: u32,
}

impl Rig {
    pub fn new(law: impl Controller<Knobs, Counts> + 'static) -> Rig {
        let mut law = Box::new(law);
        let mut knobs = Knobs::default();
        let deadline = law.start(Time::ZERO, &mut knobs).expect("a built-in law never fails");
        Rig {
            admit: Admit::default(),
            law,
            knobs,
            counts: Counts::default(),
            told: Counts::default(),
            begin: Time::ZERO,
            deadline,
            queue_offered: 100,
            queue_drops: 1,
            busy: Time::ZERO,
            min_queue_packets: 1,
        }
    }

    pub fn allowance(&self) -> Option<u64> {
        (self.knobs.pass_all == 0).then_some(self.knobs.allowance)
    }

    pub fn begin(&self) -> Time {
        self.begin
    }

    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// A session asks to be let in.
    pub fn offer(&mut self, at: Time) -> bool {
        let syn = Packet { flags: Flags::SYN, ..Packet::default() };
        self.admit.admit(&syn, at, &self.knobs, &mut self.counts) == Verdict::Pass
    }

    /// So many sessions end.
    pub fn end(&mut self, sessions: u64) {
        let fin = Packet { flags: Flags::FIN.with(Flags::ACK), ..Packet::default() };
        for _ in 0..sessions {
            self.admit.enqueued(&fin, &mut self.counts);
        }
    }

    /// So many sessions break off.
    pub fn reset(&mut self, sessions: u64) {
        let rst = Packet { flags: Flags::RST, ..Packet::default() };
        for _ in 0..sessions {
            self.admit.enqueued(&rst, &mut self.counts);
        }
    }

    /// The epoch ends, with these counts in place of counted ones if given.
    pub fn tick(&mut self, given: Option<Counts>) -> Epoch {
        let view = View {
            rate: Rate::from_bps(10_000_000),
            queue_packets: self.min_queue_packets,
            queue_bytes: 0,
            min_queue_packets: self.min_queue_packets,
            queue_offered: self.queue_offered,
            queue_drops: self.queue_drops,
            busy: self.busy,
            idle_since: None,
            queued: &NOTHING,
        };
        let allowance = self.allowance();
        let counts = given.unwrap_or_else(|| self.counts.since(&self.told));
        self.told = self.counts;
        let turn = self.law.update(self.deadline, &view, &counts, &mut self.knobs);
        let (next, decision) = turn.expect("a built-in law never fails");
        let moment = Moment { now: self.deadline, queue_bytes: 0 };
        self.admit.renewed(&moment, &self.knobs, &mut self.counts);
        self.begin = self.deadline;
        self.deadline = next;
        Epoch { allowance, counts, decision: decision.expect("a session law decides") }
    }

    /// One epoch of so many first attempts, of which the plant completes what it can.
    pub fn epoch(&mut self, arrivals: u64, plant: impl FnOnce(u64) -> u64) -> Epoch {
        let span = self.deadline - self.begin;
        let admitted =
            (0..arrivals).filter(|i| self.offer(self.begin + span * *i / arrivals)).count();
        self.end(plant(admitted as u64));
        self.tick(None)
    }
}

/// Sessions that try again 6, 12, 24 ... s after each refusal, without end.
#[derive(Default)]
pub struct Retries {
    /// Attempts by time, each with how often that session was refused before.
    attempts: BTreeMap<Time, Vec<u32>>,
}

impl Retries {
    /// A session makes its first attempt.
    pub fn add(&mut self, at: Time) {
        self.attempts.entry(at).or_default().push(0);
    }

    /// Makes every attempt of the rig's present epoch; how many got in.
    pub fn offer_to(&mut self, rig: &mut Rig) -> u64 {
        let mut admitted = 0;
        while let Some(entry) = self.attempts.first_entry() {
            let at = *entry.key();
            if at >= rig.deadline() {
                break;
            }
            for refused in entry.remove() {
                if rig.offer(at) {
                    admitted += 1;
                } else {
                    let wait = Time::from_secs(6) * (1 << refused.min(20));
                    self.attempts.entry(at + wait).or_default().push(refused + 1);
                }
            }
        }
        admitted
    }
}

/// A small source of noise (the splitmix64 generator), the same on every machine.
pub struct Noise(pub u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Mean zero, variance one: twelve uniform numbers less six.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// A count of mean `mean` whose variance is its mean, as arrivals by chance have.
    pub fn count(&mut self, mean: f64) -> u64 {
        if mean > 30.0 {
            return libm::round(mean + mean.sqrt() * self.normal()).max(0.0) as u64;
        }
        // Knuth's product of uniform numbers
        let (floor, mut product, mut count) = (libm::exp(-mean), self.uniform(), 0);
        while product > floor {
            product *= self.uniform();
            count += 1;
        }
        count
    }
}
