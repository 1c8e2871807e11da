//! Departures of single packets against a hand calculation: transmission, propagation, waiting.

use tidegate_core::law::queue::{Discipline, Next, Queue, Slot, Waiting};
use tidegate_core::law::{Draw, Reason};
use tidegate_core::packet::Packet;
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Time};

use crate::draws::Never;
use crate::port_reference::{Delivered, drain};

/// One packet over 10 Mbit/s and 100 ms arrives after size * 8 / rate + delay.
#[test]
fn one_packet_takes_its_transmission_and_propagation_time() {
    let mut port: Port =
        Port::new(0, Rate::from_bps(10_000_000), Time::from_ms(100), Limit::Packets(1));
    let packet = Packet { size: 1500, ..Packet::default() };
    port.arrive(&packet, (), Time::ZERO);
    assert_eq!(port.next_event(), Time::from_ms(100) + Time::from_ns(1_200_000));
}

/// Holds everything until 5 ms, then lets it go.
struct Hold;

impl Discipline for Hold {
    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let release = Time::from_ms(5);
        if slot.start < release {
            return Next::NotBefore(release);
        }
        Next::Send(waiting.oldest().expect("something waits"))
    }
}

fn held(limit: u32) -> Port<u32> {
    let mut stages = Stages::new();
    stages.queue = Queue::Custom(Box::new(Hold));
    Port::new(3, Rate::from_bps(8_000_000), Time::ZERO, Limit::Packets(limit))
        .with_stages(stages, Box::new(Never))
}

/// A discipline that has to wait says so, and its packets start when it said:
/// 1000 B at 8 Mbit/s take 1 ms each, so they leave at 6 and 7 ms.
#[test]
fn a_held_packet_starts_when_it_is_let_go() {
    let mut port = held(9);
    for flow in 0..2 {
        let packet = Packet { size: 1000, flow, ..Packet::default() };
        port.arrive(&packet, flow, Time::from_ms(1));
    }
    assert_eq!(port.next_event(), Time::from_ms(5));
    let mut delivered = Vec::new();
    drain(&mut port, Time::from_secs(1), &mut delivered).expect("what is carried stays in order");
    assert_eq!(delivered, [(0, Time::from_ms(6), false), (1, Time::from_ms(7), false)]);
}

/// The same if nobody looks at the port before 9 ms: the start of service is that of the
/// discipline, not the clock of whoever looks.
#[test]
fn a_held_packet_does_not_start_when_it_is_looked_at() {
    let mut port = held(9);
    let packet = Packet { size: 1000, ..Packet::default() };
    port.arrive(&packet, 0, Time::from_ms(1));
    port.advance(Time::from_ms(9));
    assert_eq!(port.next_event(), Time::from_ms(6));
}

/// An idle link that keeps packets back has no more room than a busy one.
#[test]
fn what_is_kept_back_fills_the_buffer() {
    let mut port = held(2);
    let packet = Packet { size: 1000, ..Packet::default() };
    let outcomes = [0, 1, 2].map(|id| port.arrive(&packet, id, Time::from_ms(1)));
    assert_eq!(outcomes, [Outcome::Taken, Outcome::Taken, Outcome::Lost(Reason::QueueFull, 2)]);
}

/// With room for two behind the one in transmission, the fourth is lost and order is kept.
#[test]
fn drop_tail_keeps_order_and_loses_what_does_not_fit() {
    let mut port: Port<u32> =
        Port::new(3, Rate::from_bps(8_000_000), Time::ZERO, Limit::Packets(2));
    let outcomes: Vec<Outcome<u32>> = (0..4)
        .map(|flow| {
            let packet = Packet { size: 1000, flow, ..Packet::default() };
            port.arrive(&packet, flow, Time::ZERO)
        })
        .collect();
    assert_eq!(outcomes[3], Outcome::Lost(Reason::QueueFull, 3));
    let mut delivered = Vec::new();
    drain(&mut port, Time::from_secs(1), &mut delivered).expect("what is carried stays in order");
    let times: Vec<Delivered> =
        (0..3).map(|flow| (flow, Time::from_ms(u64::from(flow) + 1), false)).collect();
    assert_eq!(delivered, times);
    // the second waited 1 ms, the third 2 ms: 3 packet milliseconds
    assert_eq!(port.waiting_ps(Time::from_ms(3)), u128::from(Time::from_ms(3).ps()));
}
