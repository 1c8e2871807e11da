//! A port carries what lies beside the record: real bytes, for packets that are real.

use std::collections::BTreeMap;

use tidegate_core::law::queue::{ArrivalContext, Discipline, Next, Queue, Slot, Waiting};
use tidegate_core::law::session::fixed_rate::{Config, FixedRate};
use tidegate_core::law::session::{Admission, Admit, Refusal};
use tidegate_core::law::{Draw, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port, Stage, Stages};
use tidegate_core::units::{Rate, Time};

use crate::draws::Never;

/// Bytes go in with their record and come out with it, in order, through a ring
/// that wraps and grows; those of a packet that is not taken come back at once.
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
            Outcome::Lost(reason, back) => {
                assert_eq!((reason, &back), (Reason::QueueFull, &bytes));
                lost += 1;
            }
            Outcome::Rejected(..) => panic!("nothing here refuses a session"),
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

/// Gives up the oldest for what comes where it is full; drops every third whose turn it is.
#[derive(Default)]
struct Careless(u32);

impl Discipline for Careless {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        let fits = found.fits || waiting.oldest().is_some_and(|oldest| waiting.evict(oldest));
        // some that would fit are lost all the same
        if fits && !packet.seq.is_multiple_of(5) {
            Verdict::Pass
        } else {
            Verdict::Drop(Reason::Early)
        }
    }

    fn next(&mut self, waiting: &mut Waiting, _: &Slot, _: &mut dyn Draw) -> Next {
        self.0 += 1;
        let oldest = waiting.oldest().expect("something waits");
        if self.0.is_multiple_of(3) {
            Next::Drop(oldest, Reason::Custom)
        } else {
            Next::Send(oldest)
        }
    }
}

/// What a port with stages loses comes back with its reason, once each: refused
/// by the gate, lost before the queue, evicted from it, or dropped at the end of
/// it; and nothing is both delivered and lost. The reasons are counted alike.
#[test]
fn bytes_of_lost_packets_come_back() {
    let mut stages = Stages::new();
    let rules = Admission { refusal: Refusal::Rst, ..Admission::default() };
    let law = Box::new(FixedRate::new(Config::default()));
    stages.gate = Some(Stage::new(Admit::new(rules), law));
    stages.queue = Queue::Custom(Box::<Careless>::default());
    let mut port: Port<Vec<u8>> =
        Port::new(0, Rate::from_bps(8_000_000), Time::from_ms(20), Limit::Packets(9))
            .with_stages(stages, Box::new(Never));
    port.start(Time::ZERO).expect("it starts");
    let mut seen: BTreeMap<u32, &'static str> = BTreeMap::new();
    let mut see = |id: u32, bytes: &[u8], how| {
        assert_eq!(bytes, id.to_be_bytes(), "the bytes of another packet");
        assert_eq!(seen.insert(id, how), None, "{id} is seen twice");
    };
    let end = 2_000;
    for id in 0..=end {
        let now = Time::from_ns(u64::from(id) * 300_000);
        while port.next_event() <= now || id == end && port.next_event() < Time::NEVER {
            let at = port.next_event();
            if let Some((packet, bytes)) = port.deliver(at) {
                see(packet.seq, &bytes, "delivered");
            }
        }
        let flags = if id % 4 == 0 { Flags::SYN } else { Flags::DATA };
        let packet = Packet { seq: id, size: 1000, flags, ..Packet::default() };
        if id < end {
            match port.arrive(&packet, id.to_be_bytes().to_vec(), now) {
                Outcome::Taken => {}
                Outcome::Lost(reason, bytes) | Outcome::Rejected(reason, bytes) => {
                    see(id, &bytes, reason.name());
                }
            }
        }
        for (packet, reason, bytes) in port.take_lost() {
            see(packet.seq, &bytes, reason.name());
        }
    }
    assert_eq!(seen.len(), end as usize, "each has one end");
    let how = |name| seen.values().filter(|how| **how == name).count() as u64;
    let counted = port.counters();
    for reason in [Reason::SessionRefused, Reason::Early, Reason::Evicted, Reason::Custom] {
        assert_eq!(how(reason.name()), counted.drops[reason as usize], "{reason:?}");
        assert!(how(reason.name()) > 20, "{reason:?}: {}", how(reason.name()));
    }
    assert_eq!(how("delivered"), counted.departed);
}
