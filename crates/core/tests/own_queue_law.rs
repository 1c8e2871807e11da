//! The queue law of docs/own-law.md, worked by hand, and as a discipline that stays
//! outside of the crate.

#[path = "../../../examples/own_queue_law.rs"]
mod drop_front;

use drop_front::{Config, DropFront};
use tidegate_core::law::Reason;
use tidegate_core::law::queue::Queue;
use tidegate_core::law::settings::Link;
use tidegate_core::packet::Packet;
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Time};

use crate::draws::Never;

/// 1000 B take a millisecond.
const LINK: Link = Link { rate: Rate::from_bps(8_000_000), delay: Time::ZERO };

/// What leaves a port with this law, of packets of 1000 B that come at once.
fn left(patience_ms: u64, limit: Limit, packets: u32) -> (Vec<u32>, Port<u32>) {
    let config = Config { patience: Time::from_ms(patience_ms) };
    config.check(LINK).expect("it is in range");
    let mut stages = Stages::new();
    stages.queue = Queue::Custom(Box::new(DropFront::new(&config, LINK)));
    let mut port = Port::new(0, LINK.rate, LINK.delay, limit).with_stages(stages, Box::new(Never));
    for flow in 0..packets {
        let packet = Packet { flow, size: 1000, ..Packet::default() };
        assert_eq!(port.arrive(&packet, flow, Time::ZERO), Outcome::Taken);
    }
    let mut order = Vec::new();
    while port.next_event() < Time::NEVER {
        order.extend(port.deliver(port.next_event()).map(|(packet, _)| packet.flow));
    }
    (order, port)
}

/// Packet 0 is in transmission, and three may wait: of 1 to 7 the last three are left.
#[test]
fn a_full_queue_gives_up_its_oldest() {
    for limit in [Limit::Packets(3), Limit::Bytes(3_999)] {
        let (order, port) = left(500, limit, 8);
        assert_eq!(order, [0, 5, 6, 7]);
        assert_eq!(port.counters().drops[Reason::Evicted as usize], 4);
    }
}

/// With 4 ms of patience the packets that would start at 0 to 4 ms go, and the other five of ten
/// are dropped when it is their turn.
#[test]
fn what_has_waited_too_long_is_not_sent() {
    let (order, port) = left(4, Limit::Packets(100), 10);
    assert_eq!(order, [0, 1, 2, 3, 4]);
    let count = port.counters();
    assert_eq!((count.drops[Reason::Early as usize], count.dropped_waiting), (5, 5));
}

/// Out of range: no patience at all.
#[test]
fn the_patience_is_checked() {
    let refused = Config { patience: Time::ZERO }.check(LINK);
    assert_eq!(refused.expect_err("out of range").0, "patience");
}
