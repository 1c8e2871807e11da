//! A port that foresees, against one that stores its packets.
//!
//! Both are plain ports. What the one says at an arrival has to be when the other delivers the
//! packet, and their counts are the same whenever they are brought up to now.

use proptest::prelude::*;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Early, Limit, Outcome, Port};
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

/// By hand: at 4 Mbit/s 1500 B take 3 ms. Two that are booked for 10 and 20 ms have not arrived at
/// 8 ms, the first one is in transmission at 11 ms, and both have left at 30 ms.
#[test]
fn a_booked_port_can_be_set_back() {
    let mut port = port(Limit::Packets(5));
    let booked = [10, 20].map(|ms| {
        let mut packet = packet(1, 1500);
        packet.at = port.book(&packet, Time::from_ms(ms)).expect("nothing is in its way");
        packet
    });
    assert_eq!(booked.map(|packet| packet.at), [Time::from_ms(16), Time::from_ms(26)]);
    for (ms, arrived, busy_ms) in [(8, 0, 0), (11, 1, 1), (30, 2, 6)] {
        let now = Time::from_ms(ms);
        let mut early = Early::default();
        booked.iter().for_each(|packet| port.note_early(&mut early, packet, now));
        port.rewind(&mut early);
        assert_eq!(port.counters().arrived, arrived, "at {ms} ms");
        assert_eq!(port.busy_ps(now), Time::from_ms(busy_ms).ps(), "at {ms} ms");
        port.undo_rewind(&early);
        assert_eq!(port.counters().arrived, 2);
    }
}

/// By hand, as above: what comes 1 ms behind another packet waits 2 ms, so it is not booked, and
/// nothing behind it until it has arrived by itself.
#[test]
fn nothing_is_booked_past_a_packet_that_was_not() {
    let mut port = port(Limit::Packets(5));
    assert!(port.book(&packet(1, 1500), Time::from_ms(10)).is_some());
    assert_eq!(port.book(&packet(4, 1500), Time::from_ms(11)), None);
    assert_eq!(port.book(&packet(7, 1500), Time::from_ms(60)), None);
    for ms in [11, 60] {
        port.take_unbooked();
        port.arrive(&packet(4, 1500), (), Time::from_ms(ms));
    }
    let at = port.book(&packet(10, 1500), Time::from_ms(70));
    assert_eq!(at, Some(Time::from_ms(76)));
}
