//! One epoch: from the kernel's counts to the decision of the law.

use tidegate_core::law::queue::Waiting;
use tidegate_core::law::session::onset::{ObservedEpoch, Onset};
use tidegate_core::law::session::{Counts, Knobs};
use tidegate_core::law::{Controller, Counted, Decision, Fault, View};
use tidegate_core::units::{Rate, Time};

use super::ends::EndCells;
use super::flood::{Flood, Limits};
use super::link::Queue;
use tidegate_common::fail::Failure;

/// The length of an epoch where no law has one.
const WITHOUT_LAW: Time = Time::from_secs(1);

/// What the queue did in an epoch.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct QueueEpoch {
    /// Packets that it sent.
    pub sent: u64,
    /// Packets that it dropped.
    pub drops: u64,
    /// Bytes that it sent.
    pub bytes: u64,
    /// Fewest waiting packets.
    pub min_waiting: u32,
    /// Packets waiting now.
    pub waiting: u32,
    /// Bytes waiting now.
    pub backlog: u64,
    /// Admitted openers that dual-queue management refused, or would have in observe mode.
    pub refused_behind: u64,
    /// Admitted sessions of which a packet came in behind the SYNs; none: that is not counted.
    pub answered: Option<u64>,
    /// Sessions of QUIC that ended, by their silence.
    pub idle_ended: u64,
}

impl QueueEpoch {
    /// The difference of two readings of a queue; its 32-bit counters wrap around. A queue that was
    /// made anew, as when its interface went and came back, has counted from zero.
    pub fn between(before: &Queue, now: &Queue, min_waiting: u32) -> QueueEpoch {
        let zero = Queue::default();
        let before = if now.continues(before) { before } else { &zero };
        QueueEpoch {
            sent: now.packets.wrapping_sub(before.packets).into(),
            drops: now.drops.wrapping_sub(before.drops).into(),
            bytes: now.bytes.wrapping_sub(before.bytes),
            min_waiting: min_waiting.min(now.waiting),
            waiting: now.waiting,
            backlog: now.backlog.into(),
            ..QueueEpoch::default()
        }
    }

    /// The view of a law; the packets themselves are in the kernel.
    fn view<'a>(&self, rate: Rate, none: &'a Waiting) -> View<'a> {
        View {
            rate,
            queue_packets: self.waiting,
            queue_bytes: self.backlog,
            min_queue_packets: self.min_waiting,
            queue_offered: self.sent + self.drops,
            queue_drops: self.drops,
            busy: rate.pace().of(self.bytes),
            idle_since: None,
            queued: none,
        }
    }
}

/// The result of an epoch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EpochResult {
    /// What the queue did in it.
    pub queue: QueueEpoch,
    /// The counts of the epoch, with the ends corrected.
    pub counts: Counts,
    /// The decision of the law; none: it only measured, or there is no law.
    pub decision: Option<Decision>,
    /// Alarm: admitted sessions do not end, so nothing is refused.
    pub alarm: bool,
    /// Whether sessions pile up, so that the law's decision is in force.
    pub obeyed: bool,
    /// Whether the law ran: an epoch that ended too late is skipped.
    pub judged: bool,
}

impl EpochResult {
    /// Openers of the epoch that passed, or would have: the law and the queue let them.
    pub fn passed(&self) -> u64 {
        self.counts.admitted.saturating_sub(self.queue.refused_behind)
    }
}

/// The law, and the state from one epoch to the next.
pub struct Epochs {
    law: Option<Box<dyn Controller<Knobs, Counts>>>,
    knobs: Knobs,
    began: Time,
    deadline: Time,
    before: Counts,
    /// Whether the counts of the last epoch could not be read.
    missed: bool,
    /// How ends are counted.
    pub ends: EndCells,
    flood: Flood,
    onset: Onset,
    tokens_keep: f64,
}

impl Epochs {
    /// Starts the law.
    ///
    /// # Errors
    /// The law does not start: only one of the user's own can fail.
    pub fn start(
        mut law: Option<Box<dyn Controller<Knobs, Counts>>>,
        ends: EndCells,
        limits: Limits,
        onset: Time,
        tokens_keep: f64,
        now: Time,
    ) -> Result<Epochs, Fault> {
        let mut knobs = Knobs::default();
        knobs.open();
        let deadline = match &mut law {
            Some(law) => law.start(now, &mut knobs)?,
            None => now.saturating_add(WITHOUT_LAW),
        };
        Ok(Epochs {
            law,
            knobs,
            began: now,
            deadline,
            before: Counts::default(),
            missed: false,
            ends,
            flood: Flood::new(limits),
            onset: Onset::new(onset),
            tokens_keep,
        })
    }

    /// When the present epoch ends.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// The knobs in force: with an alarm, or before sessions pile up, everything passes. Unused tokens
    /// last `tokens_keep` epochs, or as long as the law says, if that is more.
    pub fn in_force(&self) -> Knobs {
        let mut knobs = self.knobs;
        if self.flood.alarm() || !self.onset.obeyed() {
            knobs.open();
        }
        if self.tokens_keep > 0.0 {
            let epoch_ns = (self.deadline.saturating_sub(self.began)).ps() / 1_000;
            let keep_ns = (epoch_ns as f64 * self.tokens_keep) as u64;
            let least_ns = knobs.token_interval_ns.max(keep_ns);
            knobs.token_depth_ns = knobs.token_depth_ns.max(least_ns);
        }
        knobs
    }

    /// Applies settings that do not concern the law.
    pub fn change(&mut self, limits: Limits, onset: Time, tokens_keep: f64) {
        self.flood.limits = limits;
        self.onset.wait = onset;
        self.tokens_keep = tokens_keep;
    }

    /// A new program was loaded; it counts from zero.
    pub fn recount(&mut self, ends: EndCells) {
        (self.before, self.ends) = (Counts::default(), ends);
    }

    /// This law starts: earlier counts belong to no epoch of it.
    pub fn go_on_from(&mut self, counted: Counts) {
        self.before = counted;
    }

    /// The epoch ends, with the counts of the program and what the queue did. The next one
    /// begins now, whatever fails here: a deadline in the past would end it at once.
    ///
    /// # Errors
    /// The reading failed, or the law: only one of the user's own can.
    pub fn end(
        &mut self,
        now: Time,
        read: Result<(Counts, QueueEpoch), Failure>,
        rate: Rate,
    ) -> Result<EpochResult, Failure> {
        let length = self.deadline.saturating_sub(self.began);
        let late = now.saturating_sub(self.deadline);
        (self.began, self.deadline) = (now, now.saturating_add(length));
        let missed = std::mem::replace(&mut self.missed, true);
        let (counted, queue) = read?;
        self.missed = false;
        let refusing = self.in_force().pass_all == 0;
        let mut counts = counted.since(&self.before);
        self.before = counted;
        (counts.departed, counts.resets) = self.ends.mended(counts.departed, counts.resets);
        counts.departed += queue.idle_ended;
        // counts over one and a half epochs would mislead the law
        let judged = late < length / 2 && !missed;
        let (mut decision, none) = (None, Waiting::default());
        let view = queue.view(rate, &none);
        if judged {
            let alarm_before = self.flood.alarm();
            let ended = counts.departed + counts.resets;
            let admitted = counts.admitted.saturating_sub(queue.refused_behind);
            // who was answered is not forged, though a page may take long to end
            let real = ended.max(queue.answered.unwrap_or(0));
            if self.flood.epoch(admitted, real, refusing) != alarm_before {
                tracing::warn!(
                    alarm = self.flood.alarm(),
                    "alarm: admitted sessions compared with ended ones"
                );
            }
            let flood = self.flood.suspected();
            // a session of a forged address has nothing but SYNs, and does not pile up
            let begun = queue.answered.unwrap_or(admitted);
            let (refused, lost, rate) = (counts.refused(), view.lost(), view.rate);
            let seen = ObservedEpoch { begun, ended, refused, lost, rate };
            self.onset.epoch(&seen, length, flood);
        }
        if let Some(law) = self.law.as_mut().filter(|_| judged) {
            (self.deadline, decision) = law
                .update(now, &view, &counts, &mut self.knobs)
                .map_err(|fault| Failure::failed("law", fault))?;
        }
        let (alarm, obeyed) = (self.flood.alarm(), self.onset.obeyed());
        Ok(EpochResult { queue, counts, decision, alarm, obeyed, judged })
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::law::session::clients::Who;
    use tidegate_core::law::session::close_probe::{self, CloseProbe};

    use super::*;

    const LIMITS: Limits = Limits { factor: 4.0, epochs: 3 };
    const RATE: Rate = Rate::from_bps(10_000_000);

    fn close_probe() -> Epochs {
        let config = close_probe::Config { relief: true, ..close_probe::Config::default() };
        let law: Box<dyn Controller<_, _>> = Box::new(CloseProbe::new(config));
        Epochs::start(Some(law), EndCells::new(0, 0), LIMITS, Time::ZERO, 2.0, Time::from_secs(50))
            .expect("it starts")
    }

    fn counted(arrived: u64, admitted: u64, departed: u64) -> Counts {
        Counts { arrived, admitted, departed, ..Counts::default() }
    }

    const LOSING: QueueEpoch = QueueEpoch {
        sent: 800,
        drops: 50,
        bytes: 1_250_000,
        min_waiting: 3,
        waiting: 9,
        backlog: 9_000,
        refused_behind: 0,
        answered: None,
        idle_ended: 0,
    };

    // The counts only grow; the law reads an epoch's. First epoch: 1000 + 40 (100 - 1000) / 100
    // = 640; second: 0.6 x 640 + 40 = 424 (session-control, Algorithm 2, as in core's vectors).
    #[test]
    fn the_law_reads_differences() {
        let mut epochs = close_probe();
        assert_eq!(epochs.deadline(), Time::from_secs(51));
        epochs
            .end(Time::from_secs(51), Ok((counted(1000, 1000, 100), LOSING)), RATE)
            .expect("it decides");
        assert_eq!(epochs.in_force().allowance, 640);
        epochs
            .end(Time::from_secs(52), Ok((counted(2000, 1640, 200), LOSING)), RATE)
            .expect("it decides");
        assert_eq!(epochs.in_force().allowance, 424);
        // unused tokens keep for two epochs of a second
        assert_eq!(epochs.in_force().token_depth_ns, 2_000_000_000);
        assert_eq!(epochs.in_force().token_interval_ns, 1_000_000_000 / 424);
    }

    // A queue that lost nothing and was empty once: relief, so everything passes.
    #[test]
    fn an_idle_queue_opens_the_gate() {
        let mut epochs = close_probe();
        epochs
            .end(Time::from_secs(51), Ok((counted(1000, 1000, 100), LOSING)), RATE)
            .expect("it decides");
        let idle = QueueEpoch { drops: 0, min_waiting: 0, ..LOSING };
        epochs
            .end(Time::from_secs(52), Ok((counted(2000, 1640, 200), idle)), RATE)
            .expect("it decides");
        assert_ne!(epochs.in_force().pass_all, 0);
    }

    // Stopped for two seconds: what was counted since is no epoch's, and the law is not asked.
    #[test]
    fn an_epoch_that_is_judged_too_late_is_let_go() {
        let mut epochs = close_probe();
        epochs
            .end(Time::from_secs(51), Ok((counted(1000, 1000, 100), LOSING)), RATE)
            .expect("it decides");
        let late = epochs.end(Time::from_ms(52_500), Ok((counted(9000, 9000, 150), LOSING)), RATE);
        assert!(!late.expect("it goes on").judged);
        assert_eq!(epochs.in_force().allowance, 640, "as before");
        assert_eq!(epochs.deadline(), Time::from_ms(53_500));
    }

    // A deadline in the past would end epochs without a pause until the next reading succeeds; and
    // what the next one counts is of two epochs, so the law does not see it.
    #[test]
    fn an_epoch_whose_counts_cannot_be_read_ends_too() {
        let mut epochs = close_probe();
        let failed = epochs.end(Time::from_secs(51), Err(Failure::failed("map", "gone")), RATE);
        assert_eq!(failed.map(|outcome| outcome.judged), Err(Failure::failed("map", "gone")));
        assert_eq!(epochs.deadline(), Time::from_secs(52));
        let mut judged = |at, arrived| {
            let read = Ok((counted(arrived, 1000, 100), LOSING));
            epochs.end(Time::from_secs(at), read, RATE).map(|outcome| outcome.judged)
        };
        assert_eq!([judged(52, 2000), judged(53, 3000)], [Ok(false), Ok(true)]);
    }

    // The law would close (as above); but 100 come and 100 end, as many as in the epoch before.
    #[test]
    fn nobody_is_refused_before_sessions_pile_up() {
        let config = close_probe::Config { guard: false, ..close_probe::Config::default() };
        let law: Box<dyn Controller<_, _>> = Box::new(CloseProbe::new(config));
        let ends = EndCells::new(0, 0);
        let wait = Time::from_secs(2);
        let mut epochs = Epochs::start(Some(law), ends, LIMITS, wait, 2.0, Time::from_secs(50))
            .expect("it starts");
        let mut end = |at, arrived, admitted, departed| {
            let outcome = epochs.end(
                Time::from_secs(at),
                Ok((counted(arrived, admitted, departed), LOSING)),
                RATE,
            );
            (outcome.expect("it decides").obeyed, epochs.in_force().pass_all)
        };
        assert_eq!(end(51, 100, 100, 80), (false, 1));
        assert_eq!(end(52, 200, 200, 180), (false, 1));
        // 336 and then 622 in excess, over a border of 2 x 80
        assert_eq!(end(53, 600, 600, 260), (false, 1));
        assert_eq!(end(54, 1000, 1000, 340), (true, 0));
    }

    // 85 honest sessions a second begin and end, three quarters of what the link carries, beside 300
    // SYNs from forged addresses, of which nothing follows: 385 are admitted, fewer than five for each
    // that ends, so there is no alarm. If these counted, the law is obeyed, and it closes.
    #[test]
    fn forged_syns_do_not_pile_up() {
        let after_ten = |answered| {
            let law: Box<dyn Controller<_, _>> =
                Box::new(CloseProbe::new(close_probe::Config::default()));
            let ends = EndCells::new(0, 0);
            let wait = Time::from_secs(2);
            let mut epochs = Epochs::start(Some(law), ends, LIMITS, wait, 2.0, Time::from_secs(50))
                .expect("it starts");
            let queue = QueueEpoch { answered, ..LOSING };
            for n in 1..=10u64 {
                let total = counted(385 * n, 385 * n, 85 * n);
                let outcome = epochs.end(Time::from_secs(50 + n), Ok((total, queue)), RATE);
                assert!(!outcome.expect("it decides").alarm);
            }
            epochs.in_force().pass_all
        };
        assert_eq!([after_ten(Some(85)), after_ten(None)], [1, 0]);
    }

    // 28 begin and end in each second. Where the queue drops three packets of four, 84 more tried and
    // wait for a second, over a border of 2 x 28; where it drops one of four, nine do.
    #[test]
    fn handshakes_that_the_queue_lost_are_an_overload() {
        let obeyed = |drops| {
            let law: Box<dyn Controller<_, _>> =
                Box::new(CloseProbe::new(close_probe::Config::default()));
            let wait = Time::from_secs(2);
            let began = Time::from_secs(50);
            let mut epochs =
                Epochs::start(Some(law), EndCells::new(0, 0), LIMITS, wait, 2.0, began)
                    .expect("it starts");
            let queue = QueueEpoch { sent: 1000 - drops, drops, answered: Some(28), ..LOSING };
            let ends = (1..=2u64).map(|n| {
                let total = counted(115 * n, 115 * n, 28 * n);
                let outcome = epochs.end(Time::from_secs(50 + n), Ok((total, queue)), RATE);
                outcome.expect("it decides").obeyed
            });
            ends.last()
        };
        assert_eq!([obeyed(750), obeyed(250)], [Some(true), Some(false)]);
    }

    #[test]
    fn sessions_that_never_end_open_the_gate() {
        let mut epochs = close_probe();
        let mut alarm = false;
        for n in 1..=5u64 {
            let now = Time::from_secs(50 + n);
            let total = counted(10_000 * n, 1000 * n, 100 + n);
            alarm = epochs.end(now, Ok((total, LOSING)), RATE).expect("it decides").alarm;
        }
        assert!(alarm, "1000 admitted and one ended, three epochs on end");
        assert_ne!(epochs.in_force().pass_all, 0);
    }

    // The same where a hundred of a thousand are answered, and not where all are: users whose pages
    // take long beside long flows are no flood.
    #[test]
    fn sessions_that_are_answered_are_no_flood() {
        let alarm = |answered| {
            let mut epochs = close_probe();
            let queue = QueueEpoch { answered: Some(answered), ..LOSING };
            let ends = (1..=5u64).map(|n| {
                let total = counted(1000 * n, 1000 * n, 100 + n);
                epochs.end(Time::from_secs(50 + n), Ok((total, queue)), RATE).expect("it decides")
            });
            ends.last().is_some_and(|outcome| outcome.alarm)
        };
        assert!(alarm(100) && !alarm(1000));
    }

    // 1000 come and 900 of them are refused by the queue: of the hundred that got in, most end.
    #[test]
    fn what_the_queue_refuses_is_no_flood() {
        let queue = QueueEpoch { refused_behind: 900, ..LOSING };
        let mut epochs =
            Epochs::start(None, EndCells::new(0, 0), LIMITS, Time::ZERO, 2.0, Time::from_secs(50))
                .expect("it starts");
        for n in 1..=9u64 {
            let total = counted(1000 * n, 1000 * n, 50 * n);
            let ended = epochs.end(Time::from_secs(50 + n), Ok((total, queue)), RATE);
            assert!(!ended.expect("it goes on").alarm, "{n}");
        }
    }

    // The bucket holds what the law says or the file, whichever is more: tokens of clients keep for
    // 2 s by the law's default, though the file says one epoch of 1 s. A new file that says 3 changes
    // that at once, and one that says one changes it back.
    #[test]
    fn tokens_of_clients_keep_as_long_as_the_law_says() {
        let config = close_probe::Config {
            eligibility: true,
            admit: Who::Clients,
            ..close_probe::Config::default()
        };
        let law: Box<dyn Controller<_, _>> = Box::new(CloseProbe::new(config));
        let (ends, wait) = (EndCells::new(0, 0), Time::ZERO);
        let mut epochs = Epochs::start(Some(law), ends, LIMITS, wait, 1.0, Time::from_secs(50))
            .expect("it starts");
        epochs
            .end(Time::from_secs(51), Ok((counted(1000, 1000, 100), LOSING)), RATE)
            .expect("it decides");
        let mut depth = |keep| {
            epochs.change(LIMITS, wait, keep);
            epochs.in_force().token_depth_ns
        };
        assert_eq!([1.0, 3.0, 1.0, 0.0].map(&mut depth), [2, 3, 2, 2].map(|s| s * 1_000_000_000));
    }

    // An interface that is gone has no queue, and one that came back counts from zero. By hand: of
    // 20,000 packets nothing more is sent; then three of a queue of its own.
    #[test]
    fn counters_of_a_queue_start_again_with_its_interface() {
        let of = |handle, packets, drops, bytes| Queue {
            kind: "tbf".to_owned(),
            handle,
            packets,
            drops,
            bytes,
            ..Queue::default()
        };
        let before = of(7, 20_000, 1_019, 30_000_000);
        for (now, expected) in [
            (Queue::default(), (0, 0, 0)),
            (of(7, 3, 1, 4_500), (3, 1, 4_500)),
            // another queue, which has sent more already
            (of(8, 30_000, 1, 45_000_000), (30_000, 1, 45_000_000)),
            // the same, of smaller packets: fewer bytes, and more packets
            (of(7, 30_000, 2_000, 2_000_000), (30_000, 2_000, 2_000_000)),
            // larger ones: more bytes, and fewer packets
            (of(7, 3_000, 1, 45_000_000), (3_000, 1, 45_000_000)),
        ] {
            let queue = QueueEpoch::between(&before, &now, 0);
            assert_eq!((queue.sent, queue.drops, queue.bytes), expected, "{now:?}");
        }
    }

    // 2^32 - 5 and then 7 is twelve packets.
    #[test]
    fn counters_of_the_queue_go_around() {
        let before = Queue { packets: u32::MAX - 4, drops: 3, bytes: 100, ..Queue::default() };
        let now = Queue { packets: 7, drops: 5, bytes: 1_600, waiting: 2, ..Queue::default() };
        let queue = QueueEpoch::between(&before, &now, 4);
        assert_eq!((queue.sent, queue.drops, queue.bytes, queue.min_waiting), (12, 2, 1_500, 2));
    }
}
