//! The stamp at a port: when it is written, and what is counted.

use tidegate_core::law::rate::qfcp::{self, Qfcp};
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Ext, Flags, Packet, RateHeader};
use tidegate_core::port::{Limit, Outcome, Port, Stages, Stamp, Ticked};
use tidegate_core::units::{Rate, Time};

use super::rig::link;
use crate::draws::Never;

/// 8 Mbit/s: a packet of 1000 B takes 1 ms.
const BPS: u64 = 8_000_000;

fn port(buffer: u32) -> Port {
    let law = Qfcp::new(&qfcp::Config::default(), link(BPS));
    let mut stages = Stages::new();
    stages.stamp = Some(Stamp::grant(Box::new(law)));
    let rate = Rate::from_bps(BPS);
    let mut port = Port::new(0, rate, Time::from_ms(10), Limit::Packets(buffer))
        .with_stages(stages, Box::new(Never));
    port.start(Time::ZERO).expect("QFCP never fails");
    port.watch();
    port
}

fn data() -> Packet {
    let asked = RateHeader { request: u32::MAX, feedback: 0, rtt_us: 0 };
    Packet { size: 1000, flags: Flags::DATA, ext: Ext::Rate(asked), ..Packet::default() }
}

fn request(packet: &Packet) -> u32 {
    match packet.ext {
        Ext::Rate(header) => header.request,
        _ => panic!("the header has gone"),
    }
}

/// The queue is full when the law cuts the rate. All that wait leave with the new
/// one; had they been stamped on arrival, they would spread the old one for as
/// long as the queue lasts.
#[test]
fn a_packet_that_waited_leaves_with_the_rate_of_its_departure() {
    let mut port = port(60);
    // two packets a millisecond for 100 ms: twice the capacity; 60 wait, one is sent
    let mut on_arrival = Vec::new();
    for at_us in (500..100_000).step_by(500) {
        let now = Time::from_ns(at_us * 1000);
        if port.arrive(&data(), (), now) == Outcome::Taken {
            on_arrival.push(1_000_000);
        }
    }
    let waiting = port.queue_packets() as usize;
    assert_eq!(waiting, 60);
    let before = port.take_sent(Time::from_ms(100));
    assert!(before.iter().all(|(_, packet)| request(packet) == 1_000_000), "C at first");
    // N = 1.99, q = 60 kB and 39 or 40 kB lost: (C - 0.5 q / T) / N = 0.25 C, averaged with C
    let Ok(Some(Ticked::Stamp(decision))) = port.tick(Time::from_ms(100)) else {
        panic!("the law was due");
    };
    let rate = decision.set / 8.0;
    assert!((620_000.0..632_000.0).contains(&rate), "{rate}");
    let after = port.take_sent(Time::from_ms(170));
    let told: Vec<u32> = after.iter().map(|(_, packet)| request(packet)).collect();
    // the one that goes at 100 ms was served before the law's turn
    let new = told.iter().filter(|&&told| told == rate as u32).count();
    assert!(new >= waiting - 1 && told.len() - new <= 1, "{told:?}");
    // stamped on arrival, each of them would have said C
    let stale = &on_arrival[on_arrival.len() - waiting..];
    assert!(stale.iter().all(|&told| told > rate as u32));
}

/// Two ports in a row: the smaller rate stays, whichever comes first.
#[test]
fn the_smallest_rate_of_the_way_stays() {
    for (first, second) in [(BPS, BPS / 4), (BPS / 4, BPS)] {
        let mut packet = data();
        for bps in [first, second] {
            let law = Qfcp::new(&qfcp::Config::default(), link(bps));
            let mut stages = Stages::new();
            stages.stamp = Some(Stamp::grant(Box::new(law)));
            let rate = Rate::from_bps(bps);
            let limit = Limit::Packets(10);
            let mut port: Port =
                Port::new(0, rate, Time::ZERO, limit).with_stages(stages, Box::new(Never));
            port.start(Time::ZERO).expect("QFCP never fails");
            port.arrive(&packet, (), Time::ZERO);
            (packet, ()) = port.deliver(Time::from_ms(4)).map(|(p, ())| (*p, ())).unwrap();
        }
        assert_eq!(request(&packet), 250_000);
    }
}

/// A datapath of the user's own that refuses every other packet before the queue.
struct Other(bool);

impl PerPacket for Other {
    fn arrive(&mut self, _: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        self.0 = !self.0;
        if self.0 { Verdict::Drop(Reason::Custom) } else { Verdict::Pass }
    }
}

/// What the gate or the user's datapath refuses never comes to the queue: it is
/// neither traffic nor lost queue. 100 of 200 packets of 1000 B in 100 ms are C.
#[test]
fn only_what_comes_to_the_queue_counts() {
    let law = Qfcp::new(&qfcp::Config::default(), link(BPS));
    let mut stages = Stages::new();
    stages.stamp = Some(Stamp::grant(Box::new(law)));
    stages.custom = Some(Box::new(Other(false)));
    let rate = Rate::from_bps(BPS);
    let mut port: Port =
        Port::new(0, rate, Time::ZERO, Limit::Packets(10)).with_stages(stages, Box::new(Never));
    port.start(Time::ZERO).expect("QFCP never fails");
    for at_us in (0..100_000).step_by(500) {
        port.arrive(&data(), (), Time::from_ns(at_us * 1000));
    }
    let Ok(Some(Ticked::Stamp(decision))) = port.tick(Time::from_ms(100)) else {
        panic!("the law was due");
    };
    assert_eq!((decision.from, decision.set), (1.0, BPS as f64));
}
