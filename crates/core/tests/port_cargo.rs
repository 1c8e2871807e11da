//! A port carries what lies beside the record: real bytes, for packets that are real.

use tidegate_core::packet::Packet;
use tidegate_core::port::{Limit, Outcome, Port};
use tidegate_core::units::{Rate, Time};

/// Bytes go in with their record and come out with it, in order, through a ring
/// that wraps and grows; those of a lost packet are gone.
#[test]
fn bytes_travel_with_their_record() {
    let mut port: Port<Vec<u8>> =
        Port::new(0, Rate::from_bps(8_000_000), Time::from_ms(20), Limit::Packets(30));
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let mut lost = 0;
    for flow in 0..500u32 {
        let now = Time::from_ns(u64::from(flow) * 700_000);
        while port.next_event() <= now {
            let at = port.next_event();
            received.extend(port.deliver(at).map(|(packet, bytes)| (packet.flow, bytes)));
        }
        let bytes = flow.to_be_bytes().repeat(1 + flow as usize % 250);
        let packet = Packet { flow, size: bytes.len() as u16, ..Packet::default() };
        match port.arrive(&packet, bytes.clone(), now) {
            Outcome::Taken => sent.push((flow, bytes)),
            Outcome::Lost(_) | Outcome::Rejected(_) => lost += 1,
        }
    }
    while port.next_event() < Time::NEVER {
        let at = port.next_event();
        received.extend(port.deliver(at).map(|(packet, bytes)| (packet.flow, bytes)));
    }
    assert_eq!(received, sent);
    assert_eq!(sent.len() + lost, 500);
    // 498 B a packet on the average against 700 B of capacity: bursts alone are lost
    assert!(sent.len() > 400);
}
