//! PIE against RFC 8033, by hand.

use tidegate_core::law::queue::pie::{Config, DepartureRate, Latency, Pie};
use tidegate_core::law::queue::{ArrivalContext, Discipline, Next, Room, Slot, Sum, Waiting};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Draw, Reason, Verdict, View};
use tidegate_core::packet::Packet;
use tidegate_core::units::{Rate, Size, Time};

use crate::draws::{Always, Never};

const EARLY: Verdict = Verdict::Drop(Reason::Early);
const LINK: Link = Link { rate: Rate::from_bps(10_000_000), delay: Time::from_ms(20) };

fn close(measured: f64, expected: f64) {
    assert!(
        (measured - expected).abs() <= 1e-9 * expected.abs(),
        "measured {measured}, expected {expected}"
    );
}

/// PIE with packets of 1000 B that it holds, and a clock.
struct Rig {
    pie: Pie,
    waiting: Waiting,
    now: Time,
    room: Room,
}

impl Rig {
    fn new(config: &Config) -> Rig {
        config.check(LINK).expect("the parameters are in range");
        let mut pie = Pie::new(config, LINK);
        let first = pie.start(Time::from_secs(9)).expect("built-in laws never fail");
        assert_eq!(first, Time::from_secs(9) + config.t_update);
        let room = Room { packets: 1000, bytes: u64::MAX };
        Rig { pie, waiting: Waiting::new(), now: Time::from_secs(10), room }
    }

    /// An arrival finds so many bytes.
    fn arrive(&mut self, bytes: u64, draw: &mut dyn Draw) -> Verdict {
        let found = ArrivalContext {
            now: self.now,
            queue: Sum { packets: (bytes / 1000) as u32, bytes },
            fits: (bytes / 1000) < u64::from(self.room.packets),
            idle: None,
            pace: LINK.rate.pace(),
            room: self.room,
        };
        self.pie.arrive(
            &Packet { size: 1000, ..Packet::default() },
            &mut self.waiting,
            &found,
            draw,
        )
    }

    /// Sends a packet that has waited so long, from before one that goes on waiting.
    fn send(&mut self, waited: Time) {
        for at in [self.now - waited, self.now] {
            self.waiting.push(&Packet { at, size: 1000, ..Packet::default() });
        }
        self.take();
        let last = self.waiting.oldest().expect("one is left");
        self.waiting.take(last);
    }

    fn take(&mut self) {
        let slot = Slot { start: self.now, idle: Time::ZERO, pace: LINK.rate.pace() };
        let oldest = self.waiting.oldest().expect("one waits");
        assert_eq!(self.pie.next(&mut self.waiting, &slot, &mut Never), Next::Send(oldest));
        self.waiting.take(oldest);
    }

    /// The next update, over a queue of this delay: the share of drops.
    fn update(&mut self, delay: Time) -> f64 {
        if delay == Time::ZERO {
            self.waiting.push(&Packet { at: self.now, size: 1000, ..Packet::default() });
            self.take();
        } else {
            self.send(delay);
        }
        let view = View {
            rate: LINK.rate,
            queue_packets: 0,
            queue_bytes: 0,
            min_queue_packets: 0,
            queue_offered: 0,
            queue_drops: 0,
            busy: Time::ZERO,
            idle_since: None,
            queued: &self.waiting,
        };
        let (next, decision) = self.pie.tick(self.now, &view).expect("built-in laws never fail");
        assert!(next > self.now);
        self.now = next;
        decision.map_or(0.0, |decision| decision.set)
    }
}

/// Steered by the trend alone: one update over 0.1 s leaves `drop_prob` at
/// 1000 x 0.1 / 2048 = 0.048828125, one over 0.5 s at five times that.
fn steep() -> Config {
    Config { alpha: 0.0, beta: 1000.0, max_burst: Time::ZERO, ..Config::default() }
}

/// 4.2: at a steady 20 ms, 5 ms above the reference, the adjustment is
/// 0.125 x 0.005 = 6.25e-4, divided by 2048, 512, 128, 32, 8, 2 and 1 by the
/// share of drops so far; the edge of a band belongs to the next one.
#[test]
fn the_adjustment_is_tuned_to_the_share_of_drops() {
    let delay = Time::from_ms(20);
    let cases = [
        (0.0, 3.051_757_812_5e-7),
        (1e-6, 1e-6 + 1.220_703_125e-6),
        (5e-6, 6.220_703_125e-6),
        (1e-5, 1e-5 + 4.882_812_5e-6),
        (5e-5, 5.488_281_25e-5),
        (5e-4, 5.195_312_5e-4),
        (5e-3, 5.078_125e-3),
        (5e-2, 0.050_312_5),
        (0.1, 0.100_625),
        (0.5, 0.500_625),
    ];
    for (before, after) in cases {
        close(Config::default().updated(before, delay, delay), after);
    }
}

/// 4.2: the trend counts beside the deviation, and below the reference or with
/// a falling delay the share of drops falls, to zero at least. 20 to 30 ms:
/// 0.125 x 0.015 + 1.25 x 0.01 = 0.014375, halved in its band; 20 to 10 ms:
/// -0.125 x 0.005 - 1.25 x 0.01 = -0.013125.
#[test]
fn the_share_of_drops_follows_deviation_and_trend() {
    let updated = |before, current, old| {
        Config::default().updated(before, Time::from_ms(current), Time::from_ms(old))
    };
    close(updated(0.05, 30, 20), 0.057_187_5);
    close(updated(0.05, 10, 20), 0.043_437_5);
    close(updated(0.005, 10, 20), 0.003_359_375);
    assert_eq!(updated(0.001, 10, 20), 0.0, "0.001 - 0.013125 / 8 is below zero");
    let uncapped = Config { cap: false, ..Config::default() };
    assert_eq!(uncapped.updated(0.9, Time::from_secs(2), Time::ZERO), 1.0);
}

/// 5.5: from 0.1 on a step is 0.02 at most. 10 to 40 ms: 0.125 x 0.025 +
/// 1.25 x 0.03 = 0.040625; below 0.1 half of it, and no cap.
#[test]
fn a_high_share_of_drops_grows_slowly() {
    let updated =
        |config: &Config, before| config.updated(before, Time::from_ms(40), Time::from_ms(10));
    close(updated(&Config::default(), 0.1), 0.12);
    close(updated(&Config::default(), 0.09), 0.110_312_5);
    close(updated(&Config { cap: false, ..Config::default() }, 0.1), 0.140_625);
}

/// 4.2: an empty queue at this update and the last lets 2 % go, after the
/// adjustment of -0.125 x 0.015 = -0.001875: (0.5 - 0.001875) x 0.98.
#[test]
fn an_empty_queue_lets_the_share_of_drops_decay() {
    let updated = |current, old| Config::default().updated(0.5, current, old);
    close(updated(Time::ZERO, Time::ZERO), 0.488_162_5);
    // an empty queue that was not empty before falls by the trend alone: 1.25 x 0.001
    close(updated(Time::ZERO, Time::from_ms(1)), 0.5 - 0.001_875 - 0.001_25);
}

/// 4.4: 150 ms are ten updates of 15 ms. Until then nothing is dropped, and no
/// number drawn, however long the queue; from then on there is.
#[test]
fn a_burst_is_let_through() {
    let mut rig = Rig::new(&Config { beta: 1000.0, ..Config::default() });
    for _ in 0..10 {
        assert_eq!(rig.arrive(100_000, &mut Never), Verdict::Pass);
        rig.update(Time::from_ms(100));
    }
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), EARLY);
    // short queues bring the share of drops to zero, and the allowance back
    while rig.update(Time::from_ms(1)) > 0.0 {}
    assert_eq!(rig.arrive(0, &mut Never), Verdict::Pass);
    for update in 0..10 {
        assert_eq!(rig.arrive(100_000, &mut Never), Verdict::Pass, "{update}");
        assert!(rig.update(Time::from_ms(100)) > 0.0, "{update}");
    }
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), EARLY);
}

/// 4.4: what renews the allowance is a short queue without drops: a long one
/// that meets no drops yet does not. Two updates of 15 ms use 30 ms up.
#[test]
fn a_long_queue_does_not_renew_the_allowance() {
    let mut rig = Rig::new(&Config { max_burst: Time::from_ms(30), ..steep() });
    // a delay that grows from zero between the updates: the first still sees none
    assert_eq!(rig.update(Time::ZERO), 0.0);
    rig.send(Time::from_ms(100));
    assert_eq!(rig.arrive(100_000, &mut Never), Verdict::Pass);
    rig.update(Time::from_ms(100));
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), EARLY);
}

/// 4.1: below half of the reference nothing is dropped while the share is below
/// 0.2; from there on it is. With beta = 0 and alpha = 10 a short queue of 5 ms
/// takes 0.1 away an update, and 40 ms adds 0.25, once the bands are past.
#[test]
fn a_short_delay_protects_up_to_a_share_of_two_tenths() {
    let config =
        Config { alpha: 10.0, beta: 0.0, cap: false, max_burst: Time::ZERO, ..Config::default() };
    let mut rig = Rig::new(&config);
    let mut set = 0.0;
    while set < 0.75 {
        set = rig.update(Time::from_ms(40));
    }
    let (mut dropped, mut passed) = (0, 0);
    while set > 0.0 {
        set = rig.update(Time::from_ms(5));
        let verdict = rig.arrive(100_000, &mut Always(0.0));
        assert_eq!(verdict, if set < 0.2 { Verdict::Pass } else { EARLY }, "{set}");
        if set < 0.2 { passed += 1 } else { dropped += 1 }
    }
    assert!(dropped > 3 && passed > 1, "{dropped} {passed}");
    // 7.5 ms is not below half of 15 ms
    let mut rig = Rig::new(&Config { qdelay_ref: Time::from_ms(15), ..steep() });
    rig.update(Time::from_ns(7_499_999));
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), Verdict::Pass);
    let mut rig = Rig::new(&steep());
    rig.update(Time::from_ns(7_500_000));
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), EARLY);
}

/// 4.1: behind at most two mean packets nothing is dropped.
#[test]
fn two_packets_may_always_wait() {
    let mut rig = Rig::new(&steep());
    rig.update(Time::from_ms(500));
    assert_eq!(rig.arrive(2000, &mut Never), Verdict::Pass);
    assert_eq!(rig.arrive(2001, &mut Always(0.0)), EARLY);
}

/// 4.1: the chance of an arrival is `drop_prob`, 0.048828125 here.
#[test]
fn an_arrival_is_dropped_with_the_chance_of_the_share() {
    let mut rig = Rig::new(&steep());
    close(rig.update(Time::from_ms(100)), 0.048_828_125);
    assert_eq!(rig.arrive(100_000, &mut Always(0.0488)), EARLY);
    assert_eq!(rig.arrive(100_000, &mut Always(0.0489)), Verdict::Pass);
}

/// What does not fit is lost without a draw.
#[test]
fn a_full_buffer_drops() {
    let mut rig = Rig::new(&Config { ecn: true, ..Config::default() });
    assert_eq!(rig.arrive(1_000_000, &mut Never), Verdict::Drop(Reason::QueueFull));
}

/// 5.1: marks below a share of 0.1, drops from there on.
#[test]
fn ecn_marks_up_to_its_threshold() {
    let ecn = Config { ecn: true, ..steep() };
    let mut rig = Rig::new(&ecn);
    rig.update(Time::from_ms(100));
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), Verdict::Mark(Reason::Early));
    let mut rig = Rig::new(&ecn);
    close(rig.update(Time::from_ms(500)), 0.244_140_625);
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), EARLY);
    let mut rig = Rig::new(&Config { mark_ecnth: 0.25, ..ecn });
    rig.update(Time::from_ms(500));
    assert_eq!(rig.arrive(100_000, &mut Always(0.0)), Verdict::Mark(Reason::Early));
}

/// 5.4: with p = 0.048828125 the chances add up to 0.85 after 17.4 arrivals and
/// to 8.5 after 174.08: the 18th after a drop is the first that can be dropped,
/// and the 175th is for certain. A full buffer begins anew.
#[test]
fn derandomized_drops_keep_their_distance() {
    let mut rig = Rig::new(&Config { derandomize: true, ..steep() });
    rig.update(Time::from_ms(100));
    let gap = |rig: &mut Rig, mut draw: Always| {
        (1..).find(|_| rig.arrive(100_000, &mut draw) == EARLY).expect("it drops")
    };
    for _ in 0..2 {
        assert_eq!(gap(&mut rig, Always(0.0)), 18);
        assert_eq!(gap(&mut rig, Always(0.999)), 175);
    }
    for _ in 0..10 {
        assert_eq!(rig.arrive(100_000, &mut Always(0.0)), Verdict::Pass);
    }
    rig.arrive(1_000_000, &mut Never);
    assert_eq!(gap(&mut rig, Always(0.0)), 18);
}

/// 5.2: a measurement begins behind 2^14 waiting bytes and ends when as many
/// have been sent: 17 packets of 1000 B. At 1 ms each that is 17 ms; a second
/// one at 2 ms each weighs a quarter: 17 + (34 - 17)/4 = 21.25 ms for 16384 B.
#[test]
fn the_departure_rate_is_measured_in_cycles() {
    let mut rate = DepartureRate::default();
    let mut now = Time::from_secs(1);
    rate.depart(now, 1000, 16_383, 16_384);
    for _ in 0..40 {
        now += Time::from_ms(1);
        rate.depart(now, 1000, 16_383, 16_384);
    }
    assert_eq!(rate.qdelay(16_384, 16_384), Time::ZERO, "too little waits to measure");
    // the one that ends a cycle begins the next, while enough waits
    let cycle = |rate: &mut DepartureRate, now: &mut Time, ms: u64, left: u64| {
        for packet in 0..17 {
            *now += Time::from_ms(ms);
            rate.depart(*now, 1000, if packet == 16 { left } else { 0 }, 16_384);
        }
    };
    rate.depart(now, 1000, 16_384, 16_384);
    cycle(&mut rate, &mut now, 1, 20_000);
    assert_eq!(rate.qdelay(16_384, 16_384), Time::from_ms(17));
    assert_eq!(rate.qdelay(8192, 16_384), Time::from_ns(8_500_000));
    cycle(&mut rate, &mut now, 2, 0);
    assert_eq!(rate.qdelay(16_384, 16_384), Time::from_ns(21_250_000));
    cycle(&mut rate, &mut now, 9, 0);
    assert_eq!(rate.qdelay(16_384, 16_384), Time::from_ns(21_250_000), "none was under way");
}

/// 4.3: both ways to know the delay agree where the rate is steady: packets of
/// 1000 B, 1 ms each, 40 of them waiting, so the one sent has waited 40 ms.
#[test]
fn both_latencies_agree_at_a_steady_rate() {
    for latency in [Latency::Timestamps, Latency::DepartureRate] {
        let mut rig = Rig::new(&Config { latency, ..Config::default() });
        for ago in (0..40).rev() {
            let at = rig.now - Time::from_ms(ago);
            rig.waiting.push(&Packet { at, size: 1000, ..Packet::default() });
        }
        for _ in 0..40 {
            rig.now += Time::from_ms(1);
            rig.waiting.push(&Packet { at: rig.now, size: 1000, ..Packet::default() });
            rig.take();
        }
        let view = View {
            rate: LINK.rate,
            queue_packets: 40,
            queue_bytes: 40_000,
            min_queue_packets: 40,
            queue_offered: 0,
            queue_drops: 0,
            busy: Time::ZERO,
            idle_since: None,
            queued: &rig.waiting,
        };
        let (_, decision) = rig.pie.tick(rig.now, &view).expect("built-in laws never fail");
        // 16384 B are measured as 17000 B, in 17 ms
        let expected = if latency == Latency::Timestamps { 0.040 } else { 40.0 * 17.0 / 16_384.0 };
        close(decision.expect("there is something to drop").from, expected);
    }
}

/// 5.3: off until a third of the buffer is in use, with all its state at rest,
/// and off again when there is nothing left to do.
#[test]
fn it_can_be_turned_on_by_a_long_queue() {
    let mut rig = Rig::new(&Config { active_from: 1.0 / 3.0, ..steep() });
    rig.room.packets = 30;
    rig.update(Time::from_ms(100));
    assert_eq!(rig.update(Time::from_ms(200)), 0.0);
    assert_eq!(rig.arrive(9000, &mut Never), Verdict::Pass);
    assert_eq!(rig.arrive(10_000, &mut Never), Verdict::Pass, "it is turned on behind this one");
    close(rig.update(Time::from_ms(100)), 0.048_828_125);
    assert_eq!(rig.arrive(9000, &mut Always(0.0)), EARLY);
    while rig.update(Time::ZERO) > 0.0 {}
    rig.update(Time::ZERO);
    assert_eq!(rig.arrive(0, &mut Never), Verdict::Pass, "it is turned off behind this one");
    assert_eq!(rig.update(Time::from_ms(100)), 0.0);
}

/// A parameter out of range is refused by its name.
#[test]
fn parameters_out_of_range_are_refused() {
    let cases = [
        ("qdelay_ref", Config { qdelay_ref: Time::ZERO, ..Config::default() }),
        ("t_update", Config { t_update: Time::from_secs(11), ..Config::default() }),
        ("alpha", Config { alpha: -1.0, ..Config::default() }),
        ("beta", Config { beta: f64::NAN, ..Config::default() }),
        ("max_burst", Config { max_burst: Time::from_secs(101), ..Config::default() }),
        ("mean_pktsize", Config { mean_pktsize: Size::from_bytes(0), ..Config::default() }),
        ("mark_ecnth", Config { mark_ecnth: 1.1, ..Config::default() }),
        ("dq_threshold", Config { dq_threshold: Size::from_bytes(65_537), ..Config::default() }),
        ("active_from", Config { active_from: 1.5, ..Config::default() }),
    ];
    for (field, config) in cases {
        assert_eq!(config.check(LINK).map_err(|(field, _)| field), Err(field.into()), "{config:?}");
    }
    assert_eq!(Config::default().check(LINK), Ok(()));
}
