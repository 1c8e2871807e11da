//! Packets that a carrier keeps, because their port is idle, against ports that
//! have an event at every end of transmission.
//!
//! The carrier here is a simple one: it keeps what passes in one list, ordered
//! by time and then by port, and looks at each port when the port asks for it.
//! What it delivers, and in which order, has to be what textbook ports (one
//! event when a packet arrives, one when the link falls free) deliver: ties,
//! packets that wait behind one that was kept, changes of capacity, packets put
//! back into their port and stages that come in the middle of it all included.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Time};

use crate::draws::Always;

const PORTS: usize = 3;
/// The ports' delays; the first and the last one's are alike.
const DELAYS: [Time; PORTS] =
    [Time::from_ns(700_000), Time::from_ns(80_000), Time::from_ns(700_000)];
/// Rates that divide 8e12 ps evenly, so that the reference needs no fixed point.
const RATES: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// A delivery: when, at which port, which packet.
type Delivery = (Time, usize, u32);

/// What is done at an instant.
#[derive(Clone, Debug)]
enum Step {
    /// A packet arrives; `back`: it is put back into the port if it passes.
    Arrive {
        port: usize,
        size: u16,
        back: bool,
    },
    Capacity {
        port: usize,
        rate: usize,
        limit: u32,
    },
    /// The port is given stages, which change nothing.
    Stage {
        port: usize,
    },
}

/// The textbook port.
struct Textbook {
    rate: u64,
    limit: usize,
    delay: Time,
    queue: VecDeque<(u32, u16)>,
    busy_until: Option<Time>,
    delivered: Vec<(Time, u32)>,
    lost: Vec<u32>,
}

impl Textbook {
    fn start(&mut self, now: Time) {
        if let Some((id, size)) = self.queue.pop_front() {
            let end = now + Time::from_ps(u64::from(size) * 8_000_000_000_000 / self.rate);
            self.busy_until = Some(end);
            self.delivered.push((end + self.delay, id));
        }
    }

    fn run_to(&mut self, now: Time) {
        while let Some(end) = self.busy_until.filter(|end| *end <= now) {
            self.busy_until = None;
            self.start(end);
        }
    }

    fn arrive(&mut self, now: Time, id: u32, size: u16) {
        self.run_to(now);
        if self.busy_until.is_none() {
            self.queue.push_back((id, size));
            self.start(now);
        } else if self.queue.len() < self.limit {
            self.queue.push_back((id, size));
        } else {
            self.lost.push(id);
        }
    }
}

/// The ports under test, and what passes them.
struct Carrier {
    ports: Vec<Port>,
    kept: BTreeMap<(Time, usize), Packet>,
    delivered: Vec<Delivery>,
    lost: Vec<u32>,
    passed: u32,
}

impl Carrier {
    /// Delivers all that is due by `until`, in the order of time and port.
    fn run_to(&mut self, until: Time) {
        loop {
            let due = |at: usize| (self.ports[at].next_event(), at);
            let event = (0..PORTS).map(due).min().expect("there are ports");
            let kept = self.kept.first_key_value().map(|(key, _)| *key);
            let next = kept.map_or(event, |kept| kept.min(event));
            if next.0 > until {
                return;
            }
            let (now, at) = next;
            if let Some(packet) = self.kept.remove(&next) {
                self.delivered.push((now, at, packet.flow));
            } else if let Some((packet, ())) = self.ports[at].deliver(now) {
                self.delivered.push((packet.at, at, packet.flow));
            }
        }
    }

    fn arrive(&mut self, now: Time, id: u32, (at, size, back): (usize, u16, bool)) {
        let packet = Packet { flow: id, size, flags: Flags::DATA, ..Packet::default() };
        let port = &mut self.ports[at];
        if let Some(due) = port.pass(&packet, now) {
            self.passed += 1;
            if back {
                port.carry(&packet, (), due);
            } else {
                let before = self.kept.insert((due, at), packet);
                assert!(before.is_none(), "two deliveries of one port at one instant");
            }
            return;
        }
        let outcome = match port.is_plain() {
            true => port.line_up(&packet, (), now),
            false => port.arrive(&packet, (), now),
        };
        if outcome != Outcome::Taken {
            self.lost.push(id);
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    // at 10 Mbit/s a hundred bytes take 80 us
    let size = prop_oneof![1 => 40..1500u16, 4 => (1..5u16).prop_map(|hundreds| hundreds * 100)];
    let step = prop_oneof![
        30 => (0..PORTS, size, prop::bool::weighted(0.2))
            .prop_map(|(port, size, back)| Step::Arrive { port, size, back }),
        3 => (0..PORTS, 0..RATES.len(), 0..5u32)
            .prop_map(|(port, rate, limit)| Step::Capacity { port, rate, limit }),
        1 => (0..PORTS).prop_map(|port| Step::Stage { port }),
    ];
    let gap = prop_oneof![1 => 0..2_000_000_000u64, 4 => (0..5u64).prop_map(|k| k * 80_000_000)];
    prop::collection::vec((gap, step), 1..200)
}

/// What one run of all ports delivers and loses, and how many packets passed.
struct Run {
    carrier: Carrier,
    textbook: Vec<Textbook>,
}

impl Run {
    fn new() -> Run {
        let port = |at: usize| {
            Port::new(at as u32, Rate::from_bps(RATES[1]), DELAYS[at], Limit::Packets(4))
        };
        let textbook = |at: usize| Textbook {
            rate: RATES[1],
            limit: 4,
            delay: DELAYS[at],
            queue: VecDeque::new(),
            busy_until: None,
            delivered: Vec::new(),
            lost: Vec::new(),
        };
        Run {
            carrier: Carrier {
                ports: (0..PORTS).map(port).collect(),
                kept: BTreeMap::new(),
                delivered: Vec::new(),
                lost: Vec::new(),
                passed: 0,
            },
            textbook: (0..PORTS).map(textbook).collect(),
        }
    }

    fn step(&mut self, now: Time, id: u32, step: &Step) {
        match *step {
            Step::Arrive { port, size, back } => {
                self.textbook[port].arrive(now, id, size);
                self.carrier.arrive(now, id, (port, size, back));
            }
            Step::Capacity { port, rate, limit } => {
                let reference = &mut self.textbook[port];
                reference.run_to(now);
                (reference.rate, reference.limit) = (RATES[rate], limit as usize);
                let rate = Rate::from_bps(RATES[rate]);
                self.carrier.ports[port].set_capacity(now, rate, Limit::Packets(limit));
            }
            Step::Stage { port } => {
                let place = &mut self.carrier.ports[port];
                if place.is_plain() {
                    let spare = Port::new(0, Rate::from_bps(1), Time::ZERO, Limit::Packets(0));
                    let plain = std::mem::replace(place, spare);
                    let stages = Stages::new();
                    *place = plain.with_stages(stages, Box::new(Always(0.0)));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_is_delivered_as_by_two_event_ports(steps in steps()) {
        let mut run = Run::new();
        let mut now = Time::ZERO;
        for (id, (gap, step)) in (0..).zip(&steps) {
            now += Time::from_ps(*gap);
            // deliveries come before what else happens at an instant
            run.carrier.run_to(now);
            run.step(now, id, step);
            for port in &run.carrier.ports {
                let count = port.counters();
                let waiting = u64::from(port.queue_packets());
                prop_assert_eq!(count.enqueued, count.departed + count.dropped_waiting + waiting);
            }
        }
        let end = Time::from_secs(1000);
        run.carrier.run_to(end);
        let mut expected = Vec::new();
        let mut lost = Vec::new();
        for (at, textbook) in run.textbook.iter_mut().enumerate() {
            textbook.run_to(end);
            expected.extend(textbook.delivered.iter().map(|&(time, id)| (time, at, id)));
            lost.append(&mut textbook.lost);
            let port = &mut run.carrier.ports[at];
            port.advance(end);
            prop_assert_eq!(port.counters().departed, textbook.delivered.len() as u64);
        }
        expected.sort_unstable();
        lost.sort_unstable();
        prop_assert_eq!(&run.carrier.delivered, &expected);
        prop_assert_eq!(&run.carrier.lost, &lost);
    }
}

fn packet(flow: u32) -> Packet {
    Packet { flow, size: 1000, ..Packet::default() }
}

/// By hand: 1000 B at 8 Mbit/s take 1 ms and the link 5 ms. The first packet passes and is
/// delivered at 6 ms; the second comes at 0.5 ms, waits until 1 ms and is delivered at 7 ms,
/// which the port has to ask for by itself, as nothing is in flight there.
#[test]
fn a_packet_behind_one_that_was_kept_has_an_event() {
    let rate = Rate::from_bps(8_000_000);
    let mut port: Port = Port::new(0, rate, Time::from_ms(5), Limit::Packets(9));
    assert_eq!(port.pass(&packet(0), Time::ZERO), Some(Time::from_ms(6)));
    assert_eq!(port.next_event(), Time::NEVER);
    let half = Time::from_ns(500_000);
    assert_eq!(port.pass(&packet(1), half), None);
    port.line_up(&packet(1), (), half);
    assert_eq!(port.next_event(), Time::from_ms(7));
    // the second is sent with 80 Mbit/s, in 0.1 ms: 6.1 ms
    port.set_capacity(half, Rate::from_bps(80_000_000), Limit::Packets(9));
    assert_eq!(port.next_event(), Time::from_ns(6_100_000));
    let due = port.next_event();
    assert_eq!(port.deliver(due).map(|(packet, ())| packet.flow), Some(1));
}

/// Neither a port with stages nor one that is watched lets packets pass.
#[test]
fn only_a_plain_port_lets_packets_pass() {
    let port = || Port::<()>::new(0, Rate::from_bps(8_000_000), Time::ZERO, Limit::Packets(9));
    assert!(port().pass(&packet(0), Time::ZERO).is_some());
    let mut staged = port().with_stages(Stages::new(), Box::new(Always(0.0)));
    assert_eq!(staged.pass(&packet(0), Time::ZERO), None);
    let mut watched = port();
    watched.watch();
    assert_eq!(watched.pass(&packet(0), Time::ZERO), None);
}
