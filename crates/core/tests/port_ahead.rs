//! A port that foresees, and one that is booked, against one that stores its packets.
//!
//! All are plain ports. What the one says in advance has to be when the other delivers the packet,
//! and their counts are the same whenever they are brought up to now.

use proptest::prelude::*;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Before, Limit, Outcome, Port};
use tidegate_core::units::{Rate, Time};

const DELAY: Time = Time::from_ms(3);

fn port(limit: Limit) -> Port {
    Port::new(0, Rate::from_bps(4_000_000), DELAY, limit)
}

fn packet(flow: u32, size: u16) -> Packet {
    let flags = if flow.is_multiple_of(3) { Flags::SYN } else { Flags::DATA };
    Packet { flow, size, flags, ..Packet::default() }
}

/// What a port says of itself, brought up to now.
fn state(port: &mut Port, now: Time) -> impl PartialEq + std::fmt::Debug + use<> {
    port.advance(now);
    let queue = (port.queue_packets(), port.queue_bytes());
    (port.counters(), queue, port.waiting_ps(now), port.busy_ps(now))
}

proptest! {
    /// Gaps of no time and sizes of one byte are among them; the limits are few packets or bytes.
    #[test]
    fn what_is_foreseen_comes_true(
        limit in prop_oneof![
            (1..20u32).prop_map(Limit::Packets),
            (60..9_000u64).prop_map(Limit::Bytes),
        ],
        arrivals in prop::collection::vec((0..9_000u64, 1..3_000u16, any::<bool>()), 1..200),
    ) {
        let (mut stores, mut foresees) = (port(limit), port(limit));
        foresees.look_ahead();
        let (mut now, mut said, mut came) = (Time::ZERO, Vec::new(), Vec::new());
        for (flow, (gap_us, size, looks)) in (0..).zip(arrivals) {
            now += Time::from_ns(1000 * gap_us);
            let packet = packet(flow, size);
            let at = foresees.pass(&packet, now).or_else(|| foresees.foresee(&packet, now));
            said.extend(at.map(|at| (at, flow)));
            let lost = matches!(stores.arrive(&packet, (), now), Outcome::Lost(..));
            prop_assert_eq!(lost, at.is_none());
            if looks {
                prop_assert_eq!(state(&mut stores, now), state(&mut foresees, now));
            }
        }
        while stores.next_event() < Time::NEVER {
            let due = stores.next_event();
            came.extend(stores.deliver(due).map(|(packet, ())| (packet.at, packet.flow)));
        }
        prop_assert_eq!(said, came);
        prop_assert_eq!(foresees.next_event(), Time::NEVER);
        prop_assert_eq!(foresees.held().count(), 0);
    }
}

proptest! {
    /// Packets leave a link that is not faster, so they arrive at least one transmission apart on
    /// it. Each is booked up to 40 ms before it arrives, in the order of the arrivals, as a port
    /// that foresees does; what cannot be booked arrives. Large and small ones, so that many wait,
    /// and room for few.
    #[test]
    fn what_is_booked_comes_true(
        limit in prop_oneof![
            (1..4u32).prop_map(Limit::Packets),
            (60..4_000u64).prop_map(Limit::Bytes),
        ],
        slower in prop::sample::select(vec![4_000_000u64, 3_000_000]),
        arrivals in prop::collection::vec(
            (prop_oneof![Just(0), 0..4_000u64], 1..3_000u16, 0..40u64, any::<bool>()),
            1..200,
        ),
    ) {
        let (mut stores, mut booked) = (port(limit), port(limit));
        booked.expect_bookings();
        let pace = Rate::from_bps(slower).pace();
        // by the time at which it happens: an arrival before a look, as in a run
        let (mut now, mut asked, mut steps) = (Time::ZERO, Time::ZERO, Vec::new());
        for (flow, (gap_us, size, ahead_ms, looks)) in (0..).zip(arrivals) {
            now += pace.of(u64::from(size)) + Time::from_ns(1000 * gap_us);
            asked = asked.max(now.saturating_sub(Time::from_ms(ahead_ms)));
            steps.push((asked, 1, now, packet(flow, size)));
            steps.push((now, 2, now, packet(flow, size)));
            if looks {
                steps.push((now.saturating_sub(Time::from_ns(700 * gap_us)), 3, now, packet(0, 0)));
            }
        }
        steps.sort_by_key(|&(at, what, ..)| (at, what));
        let (mut said, mut came) = (Vec::new(), Vec::new());
        let (mut under_way, mut unbooked) = (Vec::<Packet>::new(), Vec::new());
        for (at, what, arrives, packet) in steps {
            match what {
                3 => {
                    under_way.retain(|packet| packet.at >= at);
                    let mut before = Before::default();
                    under_way.iter().for_each(|each| booked.set_back(&mut before, each, at));
                    prop_assert_eq!(state(&mut stores, at), state(&mut booked, at));
                    booked.undo_set_back(&mut before);
                }
                1 => match booked.book(&packet, arrives, at) {
                    Some(lands) => {
                        said.push((lands, packet.flow));
                        under_way.push(Packet { at: lands, ..packet });
                    }
                    None => unbooked.push(packet.flow),
                },
                _ => {
                    let lost = matches!(stores.arrive(&packet, (), at), Outcome::Lost(..));
                    prop_assert_eq!(lost, unbooked.contains(&packet.flow));
                    if lost {
                        prop_assert_eq!(booked.pass(&packet, at), None);
                        let lost = booked.line_up(&packet, (), at);
                        prop_assert!(matches!(lost, Outcome::Lost(..)));
                    }
                }
            }
        }
        while stores.next_event() < Time::NEVER {
            let due = stores.next_event();
            came.extend(stores.deliver(due).map(|(packet, ())| (packet.at, packet.flow)));
        }
        prop_assert_eq!(said, came);
        prop_assert_eq!(state(&mut stores, Time::NEVER), state(&mut booked, Time::NEVER));
    }
}

/// By hand: at 4 Mbit/s 1500 B take 3 ms. Two that are booked for 10 and 20 ms have not arrived at
/// 8 ms, the first one is in transmission at 11 ms, and both have left at 30 ms.
#[test]
fn a_booked_port_can_be_set_back() {
    let mut port = port(Limit::Packets(5));
    let booked = [10, 20].map(|ms| {
        let mut packet = packet(1, 1500);
        packet.at = port.book(&packet, Time::from_ms(ms), Time::ZERO).expect("there is room");
        packet
    });
    assert_eq!(booked.map(|packet| packet.at), [Time::from_ms(16), Time::from_ms(26)]);
    for (ms, arrived, busy_ms) in [(8, 0, 0), (11, 1, 1), (30, 2, 6)] {
        let now = Time::from_ms(ms);
        let mut before = Before::default();
        booked.iter().for_each(|packet| port.set_back(&mut before, packet, now));
        assert_eq!(port.counters().arrived, arrived, "at {ms} ms");
        assert_eq!(port.busy_ps(now), Time::from_ms(busy_ms).ps(), "at {ms} ms");
        port.undo_set_back(&mut before);
        assert_eq!(port.counters().arrived, 2);
    }
}

/// By hand, as above: what comes 1 ms behind another packet waits 2 ms, and what comes 2 ms behind
/// that waits 3 ms. With room for one packet, a third that comes while one waits is lost. What comes
/// when the link is idle again does not wait, although the others have not arrived yet.
#[test]
fn a_packet_that_waits_is_booked_and_one_without_room_is_not() {
    let mut port = port(Limit::Packets(1));
    let mut book = |ms| {
        let at = port.book(&packet(1, 1500), Time::from_ms(ms), Time::ZERO);
        at.map(|at| at - DELAY)
    };
    assert_eq!(book(10), Some(Time::from_ms(13)));
    assert_eq!(book(11), Some(Time::from_ms(16)));
    assert_eq!(book(12), None);
    assert_eq!(book(13), Some(Time::from_ms(19)));
    assert_eq!(book(60), Some(Time::from_ms(63)));
    assert_eq!(port.counters().enqueued, 4);
}
