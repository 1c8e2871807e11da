//! What holds for PIE and CAKE whatever comes: nothing is lost track of, nothing
//! is stuck, and the packets of a flow that shares no queue keep their order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidegate_core::law::Reason;
use tidegate_core::law::queue::cake::{self, Isolation};
use tidegate_core::law::queue::{QueueLaw, dqm, dualpi2, fq_pie, pie};
use tidegate_core::law::settings::Link;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Size, Time};

use crate::draws::Uniform;

const LINK: Link = Link { rate: Rate::from_bps(8_000_000), delay: Time::from_ms(3) };

/// CAKE with few queues, so that flows and hosts collide and places are given up.
fn cakes() -> impl Strategy<Value = QueueLaw> {
    let isolations = prop_oneof![
        Just(Isolation::None),
        Just(Isolation::Flows),
        Just(Isolation::DualSrchost),
        Just(Isolation::DualDsthost),
        Just(Isolation::TripleIsolate),
    ];
    let bandwidths = prop_oneof![Just(None), (100_000..20_000_000u64).prop_map(Some)];
    let sets = prop_oneof![Just((8, 8)), Just((4, 1)), Just((16, 4)), Just((1024, 8))];
    (isolations, bandwidths, sets, 1..40u64, any::<u32>()).prop_map(
        |(isolation, bandwidth, (queues, ways), target, salt)| {
            QueueLaw::Cake(cake::Config {
                isolation,
                bandwidth: bandwidth.map(Rate::from_bps),
                queues,
                ways,
                target: Time::from_ms(target),
                interval: Time::from_ms(4 * target),
                salt,
                ..cake::Config::default()
            })
        },
    )
}

fn dualpi2s() -> impl Strategy<Value = QueueLaw> {
    (1..30u64, 0..4u64, 0..=10u32, any::<bool>()).prop_map(
        |(target, step, share, drop_on_overload)| {
            QueueLaw::Dualpi2(dualpi2::Config {
                target: Time::from_ms(target),
                step: Time::from_ms(step),
                c_share: f64::from(share) / 10.0,
                drop_on_overload,
                ..dualpi2::Config::default()
            })
        },
    )
}

fn pies() -> impl Strategy<Value = QueueLaw> {
    let latencies = [pie::Latency::Timestamps, pie::Latency::DepartureRate];
    (1..30u64, 0..60u64, 0..2usize, any::<[bool; 3]>(), 0.0..1.0f64).prop_map(
        move |(delay, burst, latency, [derandomize, cap, ecn], active_from)| {
            QueueLaw::Pie(pie::Config {
                qdelay_ref: Time::from_ms(delay),
                max_burst: Time::from_ms(burst),
                latency: latencies[latency],
                dq_threshold: Size::from_bytes(3000),
                derandomize,
                cap,
                ecn,
                active_from,
                beta: 20.0,
                ..pie::Config::default()
            })
        },
    )
}

fn fq_pies() -> impl Strategy<Value = QueueLaw> {
    (1..30u64, 0..60u64, prop_oneof![Just(1), Just(8), Just(1024)], any::<bool>()).prop_map(
        |(delay, burst, flows, ecn)| {
            QueueLaw::FqPie(fq_pie::Config {
                qdelay_ref: Time::from_ms(delay),
                max_burst: Time::from_ms(burst),
                flows,
                ecn,
                beta: 20.0,
                ..fq_pie::Config::default()
            })
        },
    )
}

fn laws() -> impl Strategy<Value = QueueLaw> {
    (prop_oneof![cakes(), pies(), dualpi2s(), fq_pies()], any::<bool>()).prop_map(
        |(law, beneath)| {
            if beneath {
                let over = law.into();
                QueueLaw::Dqm(dqm::Config { over, ..dqm::Config::default() })
            } else {
                law
            }
        },
    )
}

/// Whether no flow of 40 can be moved to another queue: it never shares one.
fn keeps_order(law: &QueueLaw) -> bool {
    match law {
        QueueLaw::Cake(config) => config.queues == 1024 || config.isolation == Isolation::None,
        QueueLaw::Dqm(config) => keeps_order(&config.over),
        _ => true,
    }
}

/// Time since the last arrival in 10 us, ends, size and whether it bears a mark.
type Arrival = (u16, u16, u16, bool);

/// Everything up to an instant, as a carrier does it: deliveries and the law's clock.
fn run(port: &mut Port<u32>, until: Time, delivered: &mut Vec<(u32, u32)>) {
    loop {
        let (event, tick) = (port.next_event(), port.tick_at());
        let at = event.min(tick);
        if at > until {
            return;
        }
        if tick <= event {
            port.tick(tick).expect("built-in laws never fail");
        } else {
            delivered.extend(port.deliver(event).map(|(packet, seq)| (packet.flow, seq)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_leaves_in_the_order_of_its_flow_or_is_counted(
        law in laws(),
        limit in prop_oneof![(1..60u32).prop_map(Limit::Packets), (2000..60_000u64).prop_map(Limit::Bytes)],
        arrivals in prop::collection::vec((0..120u16, 0..40u16, 40..1515u16, any::<bool>()), 1..600),
        seed in 1..u64::MAX,
    ) {
        prop_assert_eq!(law.check(LINK), Ok(()));
        let mut stages = Stages::new();
        stages.queue = law.build(LINK);
        let mut port = Port::new(0, LINK.rate, LINK.delay, limit)
            .with_stages(stages, Box::new(Uniform(seed)));
        port.start(Time::ZERO).expect("built-in laws never fail");
        let (mut now, mut delivered) = (Time::ZERO, Vec::new());
        let mut taken = 0;
        for (seq, (gap, ends, size, ect)) in (0..).zip::<Vec<Arrival>>(arrivals) {
            now += Time::from_ns(u64::from(gap) * 10_000);
            run(&mut port, now, &mut delivered);
            let flags = if ect { Flags::DATA.with(Flags::ECT) } else { Flags::DATA };
            let (src, dst) = (ends % 5, ends % 8);
            let packet = Packet { flow: ends.into(), src, dst, size, flags, ..Packet::default() };
            match port.arrive(&packet, seq, now) {
                Outcome::Taken => taken += 1,
                Outcome::Lost(reason, back) => {
                    prop_assert_eq!(back, seq);
                    prop_assert!(matches!(reason, Reason::QueueFull | Reason::Early));
                }
                Outcome::Rejected(..) => prop_assert!(false, "nothing here refuses a session"),
            }
        }
        // at 100 kbit/s, the slowest, 60000 B take less than 5 s
        run(&mut port, now + Time::from_secs(10), &mut delivered);
        let count = port.counters();
        prop_assert_eq!((port.queue_packets(), port.queue_bytes()), (0, 0));
        prop_assert_eq!(count.enqueued, taken);
        prop_assert_eq!(count.enqueued, count.departed + count.dropped_waiting);
        prop_assert_eq!(delivered.len() as u64, count.departed);
        let (mut last, orderly) = (BTreeMap::new(), keeps_order(&law));
        for (flow, seq) in delivered {
            let before = last.insert(flow, seq);
            let ordered = before.is_none_or(|before| before < seq);
            prop_assert!(ordered || !orderly, "flow {}", flow);
        }
    }
}
