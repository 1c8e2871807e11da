//! CoDel against RFC 8289: its control law and pseudo-code, worked by hand.

use tidegate_core::law::Reason;
use tidegate_core::law::queue::codel::{CodelControl, Config, Head, HeadFate};
use tidegate_core::law::queue::{Queue, QueueLaw};
use tidegate_core::law::settings::Link;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Port, Stages};
use tidegate_core::units::{Rate, Time};

use crate::draws::Never;

/// 1000 B take a millisecond.
const LINK: Link = Link { rate: Rate::from_bps(8_000_000), delay: Time::ZERO };

/// A queue of many packets whose head has waited so long.
fn head(sojourn_ms: u64) -> Head {
    Head { sojourn: Time::from_ms(sojourn_ms), behind: 100_000, ect: false }
}

/// Asks at an instant until something is sent: how many were dropped before it.
fn drops(control: &mut CodelControl, ms: u64, head: &Head) -> u32 {
    let mut dropped = 0;
    while control.judge(Time::from_ms(ms), head, &Config::default()) == HeadFate::Drop {
        dropped += 1;
    }
    dropped
}

fn control() -> CodelControl {
    let mut control = CodelControl::default();
    control.added(1500);
    control
}

/// RFC 8289, 5.6: the first drop an interval after the delay was first found above target, then
/// interval / sqrt(count) from one to the next: 100, 70.71, 57.74, 50, 44.72, 40.82 ms, summed up
/// from 100 ms and met by a packet each millisecond: 200, 270.7, 328.4, 378.4, 423.2, 464.0 ms.
#[test]
fn drops_come_closer_by_the_square_root_of_their_number() {
    let mut control = control();
    let times: Vec<u64> = (0..=464).filter(|ms| drops(&mut control, *ms, &head(10)) > 0).collect();
    assert_eq!(times, [100, 200, 271, 329, 379, 424, 464]);
}

/// RFC 8289, 5.5: the `while` of `deque`. Dropping began at 500 ms, so the next was due at 600; the
/// packet of 1000 ms meets the times 600, 670.7, 728.4, 778.4, 823.2, 864.0, 901.8, 937.1 and 970.5
/// and not 1002.1: nine are dropped at once. On entering, one is, whatever has passed.
#[test]
fn what_is_overdue_is_dropped_at_once() {
    let mut control = control();
    assert_eq!([0, 500, 1000].map(|ms| drops(&mut control, ms, &head(10))), [0, 1, 9]);
}

/// RFC 8289, 5.5: the delay below target ends dropping. Above again for an interval, dropping goes
/// on at the rate at which it ended if that is less than 16 intervals ago: ten were counted and one
/// at the beginning, so from nine, and the next follows after 100 / sqrt(9) = 33.3 ms. After 16
/// intervals (from 1002.1 ms on) it begins anew, and the next follows after 100 ms.
#[test]
fn dropping_goes_on_where_it_ended() {
    for (again, next) in [(1010, 34), (2490, 34), (2510, 100)] {
        let mut control = control();
        for ms in [0, 500, 1000] {
            drops(&mut control, ms, &head(10));
        }
        assert_eq!(drops(&mut control, 1001, &head(4)), 0);
        assert_eq!(drops(&mut control, again, &head(10)), 0);
        assert_eq!(drops(&mut control, again + 99, &head(10)), 0);
        assert_eq!(drops(&mut control, again + 100, &head(10)), 1);
        let second = (again + 101..).find(|ms| drops(&mut control, *ms, &head(10)) > 0);
        assert_eq!(second, Some(again + 100 + next), "again from {again} ms");
    }
}

/// RFC 8289, 5.6: less than target, or no more than a packet behind, starts the interval anew; at
/// target and one byte more it goes on.
#[test]
fn a_good_queue_starts_the_interval_anew() {
    let target = Head { sojourn: Time::from_ms(5), behind: 1501, ect: false };
    let short = Head { sojourn: Time::from_ms(5) - Time::from_ps(1), ..target };
    let small = Head { behind: 1500, ..target };
    for (between, expected) in [(target, 100), (short, 151), (small, 151)] {
        let mut control = control();
        let first = (0..300).find(|ms| {
            let head = if *ms == 50 { &between } else { &target };
            drops(&mut control, *ms, head) > 0
        });
        assert_eq!(first, Some(expected), "{between:?}");
    }
}

/// A packet with ECT is marked and sent where another is dropped, at the same times; and what
/// follows it at the same instant is not looked at for it.
#[test]
fn with_ecn_it_marks_at_the_same_times() {
    let config = Config { ecn: true, ..Config::default() };
    let ect = Head { ect: true, ..head(10) };
    let mut control = control();
    let marks: Vec<u64> = (0..=464)
        .filter(|ms| match control.judge(Time::from_ms(*ms), &ect, &config) {
            HeadFate::Send => false,
            HeadFate::Mark => true,
            HeadFate::Drop => panic!("it can bear a mark"),
        })
        .collect();
    assert_eq!(marks, [100, 200, 271, 329, 379, 424, 464]);
}

/// At a port: 400 packets of 1000 B come at once and one leaves each millisecond. Packet 5 is the
/// first that has waited 5 ms, so the first drop is due at 105 ms: packet 105 goes, and 106 is sent
/// in its place. Then at 205 ms (packet 206), 275.7 (at 276, packet 278) and 333.4 (at 334, packet
/// 337). What is dropped had been enqueued.
#[test]
fn a_burst_loses_packets_when_it_is_their_turn() {
    let mut stages = Stages::new();
    stages.queue = QueueLaw::Codel(Config::default()).build(LINK);
    assert!(matches!(stages.queue, Queue::Codel(_)));
    let mut port: Port<u32> = Port::new(0, LINK.rate, LINK.delay, Limit::Packets(1000))
        .with_stages(stages, Box::new(Never));
    for flow in 0..400 {
        let packet = Packet { flow, size: 1000, flags: Flags::DATA, ..Packet::default() };
        port.arrive(&packet, flow, Time::ZERO);
    }
    let mut order = Vec::new();
    while port.next_event() < Time::from_ms(345) {
        order.extend(port.deliver(port.next_event()).map(|(packet, _)| packet.flow));
    }
    let expected = (0..400).filter(|flow| ![105, 206, 278, 337].contains(flow));
    let dropped: Vec<u32> = (0..order[order.len() - 1]).filter(|f| !order.contains(f)).collect();
    assert_eq!(dropped, [105, 206, 278, 337]);
    assert_eq!(order, expected.take(order.len()).collect::<Vec<_>>());
    let count = port.counters();
    assert_eq!((count.enqueued, count.arrived), (400, 400));
    assert_eq!(count.drops[Reason::Early as usize], count.dropped_waiting);
    assert_eq!(
        count.enqueued,
        count.departed + count.dropped_waiting + u64::from(port.queue_packets())
    );
}

/// What is out of range is refused under its name.
#[test]
fn parameters_out_of_range_are_named() {
    let cases = [
        ("target", Config { target: Time::ZERO, ..Config::default() }),
        ("interval", Config { interval: Time::from_secs(101), ..Config::default() }),
    ];
    for (field, config) in cases {
        assert_eq!(config.check(LINK).expect_err(field).0, field);
    }
    assert_eq!(Config::default().check(LINK), Ok(()));
}
