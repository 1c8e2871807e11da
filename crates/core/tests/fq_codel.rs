//! FQ-CoDel against RFC 8290: shares, sparse flows and overflow, worked by hand.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::law::Reason;
use tidegate_core::law::queue::fq_codel::{Backlog, Config};
use tidegate_core::law::queue::{QueueLaw, dqm};
use tidegate_core::law::settings::Link;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Size, Time};

use crate::draws::Never;

/// 1000 B take a millisecond.
const LINK: Link = Link { rate: Rate::from_bps(8_000_000), delay: Time::ZERO };

/// Without CoDel's drops: turns alone.
fn turns(quantum: u64) -> Config {
    Config { target: Time::from_secs(10), quantum: Size::from_bytes(quantum), ..Config::default() }
}

fn port(law: QueueLaw, limit: u32) -> Port<u32> {
    law.check(LINK).expect("the parameters are in range");
    let mut stages = Stages::new();
    stages.queue = law.build(LINK);
    Port::new(0, LINK.rate, LINK.delay, Limit::Packets(limit)).with_stages(stages, Box::new(Never))
}

/// A packet of a flow; `seq` tells it from the others.
fn packet(flow: u32, seq: u32, size: u16) -> Packet {
    Packet { flow, seq, size, flags: Flags::DATA, ..Packet::default() }
}

/// Flow and number of what was delivered by then, in order.
fn delivered(port: &mut Port<u32>, until: Time) -> Vec<(u32, u32)> {
    let mut order = Vec::new();
    while port.next_event() <= until {
        order.extend(port.deliver(port.next_event()).map(|(packet, _)| (packet.flow, packet.seq)));
    }
    order
}

/// The flows of these tests do not meet in one queue.
#[test]
fn the_flows_below_have_queues_of_their_own() {
    let mut queues: Vec<u64> = (0..8).map(|flow| packet(flow, 0, 1).flow_hash(0) % 1024).collect();
    queues.sort_unstable();
    queues.dedup();
    assert_eq!(queues.len(), 8);
}

/// A flow that takes the slot of one that is over has other ports, and draws its queue anew (RFC 8290,
/// 4.1: a hash of the 5-tuple). By hand: 1000 flows use 1024 (1 - (1 - 1/1024)^1000) = 638 of 1024
/// queues, with a standard deviation of 12. With one queue for a slot, a flow that is done soon because
/// its queue is good would leave it to the next one.
#[test]
fn flows_that_use_a_slot_in_turn_have_queues_of_their_own() {
    let of = |generation| Packet { generation, ..packet(3, 0, 1) }.flow_hash(0) % 1024;
    let queues: BTreeSet<u64> = (0..1000).map(of).collect();
    assert!((590..690).contains(&queues.len()), "{}", queues.len());
}

/// Deficit round robin (RFC 8290, 4.2): every flow that waits gets a quantum a round, so that the
/// bytes of any two differ by no more than a quantum and a packet at any time, whatever the sizes.
#[test]
fn flows_share_bytes_equally() {
    for quantum in [300, 1514, 6000] {
        let mut port = port(QueueLaw::FqCodel(turns(quantum)), 10_000);
        let sizes = BTreeMap::from([(1, 1500u16), (2, 500), (3, 40)]);
        for seq in 0..2000 {
            for (flow, size) in &sizes {
                port.arrive(&packet(*flow, seq, *size), 0, Time::ZERO);
            }
        }
        let mut bytes = BTreeMap::from([(1, 0u64), (2, 0), (3, 0)]);
        // 80 kB each, as much as the flow of small packets has
        while bytes[&3] < 79_000 {
            let at = port.next_event();
            let (packet, _) = port.deliver(at).expect("something is due");
            *bytes.get_mut(&packet.flow).expect("three flows") += u64::from(packet.size);
            // the first packet finds the link idle and has not been through a queue's turn alone
            let (least, most) = (bytes.values().min(), bytes.values().max());
            let apart = most.expect("three") - least.expect("three");
            assert!(apart <= quantum + 1500, "{apart} B apart with a quantum of {quantum} B");
        }
    }
}

/// RFC 8290, 4.2, by hand. A quantum of 1000 B, two flows with a backlog of packets of 1000 B: they
/// alternate. A packet of a third flow comes when 1-1 is in transmission: it goes next, before
/// both. Its second comes when the first has just left its queue (which then stands behind the
/// old ones, for it was new): it waits for one packet of either.
#[test]
fn a_sparse_flow_goes_first_and_a_second_packet_in_its_turn() {
    let mut port = port(QueueLaw::FqCodel(turns(1000)), 100);
    for seq in 0..5 {
        for flow in [1, 2] {
            port.arrive(&packet(flow, seq, 1000), 0, Time::ZERO);
        }
    }
    let sparse = Time::from_ns(2_500_000);
    let mut order = delivered(&mut port, sparse);
    port.arrive(&packet(3, 0, 100), 0, sparse);
    let second = Time::from_ns(3_050_000);
    order.extend(delivered(&mut port, second));
    port.arrive(&packet(3, 1, 100), 0, second);
    order.extend(delivered(&mut port, Time::from_secs(1)));
    let place = |wanted| order.iter().position(|each| *each == wanted);
    // at 2.5 ms the third packet is in transmission
    assert_eq!(place((3, 0)), Some(3), "{order:?}");
    let apart = place((3, 1)).zip(place((3, 0))).map(|(second, first)| second - first);
    assert!(apart.is_some_and(|apart| apart <= 3), "{order:?}");
    for flow in [1, 2] {
        let own: Vec<u32> = order.iter().filter(|each| each.0 == flow).map(|each| each.1).collect();
        assert_eq!(own, [0, 1, 2, 3, 4], "a flow keeps its order");
    }
}

/// A flow that sends less than its share never waits for more than one packet of each other flow
/// and the one in transmission: with three backlogged flows of 1000 B packets and a quantum as
/// large, at most 4 ms, while each of them waits for its backlog.
#[test]
fn a_sparse_flow_waits_for_one_round_at_most() {
    let mut port = port(QueueLaw::FqCodel(turns(1000)), 10_000);
    for seq in 0..300 {
        for flow in [1, 2, 3] {
            port.arrive(&packet(flow, seq, 1000), 0, Time::ZERO);
        }
    }
    for seq in 0..40u32 {
        let came = Time::from_ns(10_300_000) * u64::from(seq + 1);
        delivered(&mut port, came);
        port.arrive(&packet(4, seq, 100), 0, came);
        let mut at = came;
        while port.deliver(at).is_none_or(|(packet, _)| packet.flow != 4) {
            at = port.next_event();
        }
        // new again each time: nothing of it waited for a round
        assert!(at - came <= Time::from_ns(1_100_000), "waited {}", at - came);
    }
}

/// RFC 8290, 4.1: a full buffer costs the queue with the most bytes half of its packets, from its
/// head. Ten may wait: eight of flow 1 and two of flow 2, beside the one in transmission. A packet
/// of flow 3 comes, and 1-1 to 1-4 are lost; at most `drop_batch` of them.
#[test]
fn a_full_buffer_costs_the_longest_queue_half() {
    for (drop_batch, lost) in [(64, 4), (3, 3)] {
        let config = Config { drop_batch, ..turns(1000) };
        let mut port = port(QueueLaw::FqCodel(config), 10);
        for seq in 0..9 {
            port.arrive(&packet(1, seq, 1000), 0, Time::ZERO);
        }
        for seq in 0..2 {
            port.arrive(&packet(2, seq, 1000), 0, Time::ZERO);
        }
        assert_eq!(port.arrive(&packet(3, 0, 1000), 0, Time::ZERO), Outcome::Taken);
        assert_eq!(port.counters().drops[Reason::Evicted as usize], lost);
        let order = delivered(&mut port, Time::from_secs(1));
        let first: Vec<u32> = order.iter().filter(|each| each.0 == 1).map(|each| each.1).collect();
        let expected: Vec<u32> = (0..9).filter(|seq| !(1..=lost as u32).contains(seq)).collect();
        assert_eq!(first, expected);
        assert_eq!(order.iter().filter(|each| each.0 != 1).count(), 3);
    }
}

/// Of queues with as many bytes the first by its hash loses, as in Linux (`fq_codel_drop`), in
/// whatever order they came; the arrival counts in its own. Flows 2 to 6 have two packets each, and
/// a packet of flow 7 finds the buffer full.
#[test]
fn of_equals_the_first_queue_loses() {
    let hash = |flow: u32| packet(flow, 0, 1000).flow_hash(0) % 1024;
    let first = (2..7).min_by_key(|&flow| hash(flow));
    for order in [[2, 3, 4, 5, 6], [6, 5, 4, 3, 2], [4, 6, 2, 5, 3]] {
        let mut port = port(QueueLaw::FqCodel(turns(1000)), 10);
        port.arrive(&packet(1, 0, 1000), 0, Time::ZERO); // in transmission
        for flow in order {
            for seq in 0..2 {
                port.arrive(&packet(flow, seq, 1000), 0, Time::ZERO);
            }
        }
        assert_eq!(port.arrive(&packet(7, 0, 1000), 0, Time::ZERO), Outcome::Taken);
        let left = delivered(&mut port, Time::from_secs(1));
        let count = |flow| left.iter().filter(|each| each.0 == flow).count();
        let lost: Vec<u32> = (2..7).filter(|&flow| count(flow) < 2).collect();
        assert_eq!(lost, Vec::from_iter(first), "{order:?}");
    }
}

/// Every queue has a CoDel of its own: a flow that stands loses, one that does not stand does not.
#[test]
fn only_the_flow_that_stands_loses() {
    let mut port = port(QueueLaw::FqCodel(Config::default()), 10_000);
    let mut got = 0;
    for ms in 0..2000u64 {
        let now = Time::from_ms(ms);
        got += delivered(&mut port, now).iter().filter(|each| each.0 == 2).count();
        // twice what the link carries, and a tenth of it
        port.arrive(&packet(1, ms as u32 * 2, 1000), 0, now);
        port.arrive(&packet(1, ms as u32 * 2 + 1, 1000), 0, now);
        if ms % 10 == 0 {
            port.arrive(&packet(2, ms as u32, 1000), 0, now);
        }
    }
    let count = port.counters();
    assert!(count.drops[Reason::Early as usize] > 50, "{:?}", count.drops);
    assert_eq!(count.drops[Reason::Early as usize], count.dropped_waiting);
    assert!(got >= 199, "{got} of 200, the last at most still waits");
}

/// Under a dual queue it has the data, in turns, and a connection packet goes when no data is left
/// that came before it. 1-0 finds the link idle and uses flow 1's quantum up, so 2-0 is next; then
/// they alternate, and 1-3 is the last that came before the SYN.
#[test]
fn it_lies_beneath_a_dual_queue() {
    let dual =
        dqm::Config { over: QueueLaw::FqCodel(turns(1000)).into(), ..dqm::Config::default() };
    let mut port = port(QueueLaw::Dqm(dual), 100);
    for seq in 0..4 {
        port.arrive(&packet(1, seq, 1000), 0, Time::ZERO);
    }
    for seq in 0..2 {
        port.arrive(&packet(2, seq, 1000), 0, Time::ZERO);
    }
    let syn = Packet { flags: Flags::SYN, ..packet(3, 0, 40) };
    port.arrive(&syn, 0, Time::ZERO);
    port.arrive(&packet(1, 4, 1000), 0, Time::ZERO);
    let order = delivered(&mut port, Time::from_secs(1));
    let expected = [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (1, 3), (3, 0), (1, 4)];
    assert_eq!(order, expected);
}

/// What is out of range is refused under its name, beneath a dual queue too.
#[test]
fn parameters_out_of_range_are_named() {
    let cases = [
        ("target", Config { target: Time::ZERO, ..Config::default() }),
        ("interval", Config { interval: Time::ZERO, ..Config::default() }),
        ("flows", Config { flows: 0, ..Config::default() }),
        ("quantum", Config { quantum: Size::from_bytes(0), ..Config::default() }),
        ("drop_batch", Config { drop_batch: 0, ..Config::default() }),
    ];
    for (field, config) in cases {
        assert_eq!(config.check(LINK).expect_err(field).0, field);
        let over = QueueLaw::FqCodel(config).into();
        let dual = QueueLaw::Dqm(dqm::Config { over, ..dqm::Config::default() });
        assert_eq!(dual.check(LINK).expect_err(field).0, format!("over.{field}"));
    }
    assert_eq!(Config::default().check(LINK), Ok(()));
}

/// Linux's `ce_threshold` for ECT(1), by hand: of four packets that come at once the first waits
/// for nothing, and the others for 1, 2 and 3 ms. Above 1 ms those of L4S are marked, no others.
#[test]
fn l4s_packets_are_marked_above_a_delay_of_their_own() {
    let config = Config { ce_threshold: Some(Time::from_ms(1)), ..turns(1514) };
    let marked = |flags: Flags| {
        let mut port = port(QueueLaw::FqCodel(config.clone()), 100);
        for seq in 0..4 {
            port.arrive(&Packet { flags, ..packet(1, seq, 1000) }, 0, Time::ZERO);
        }
        let mut marks = Vec::new();
        while port.next_event() < Time::NEVER {
            let delivered = port.deliver(port.next_event());
            marks.extend(delivered.map(|(packet, _)| packet.flags.has(Flags::CE)));
        }
        marks
    };
    let ect = Flags::DATA.with(Flags::ECT);
    assert_eq!(marked(ect.with(Flags::L4S)), [false, false, true, true]);
    assert_eq!(marked(ect), [false; 4]);
}

/// So many queues that the flows of the tests below have one each.
const MANY: u32 = 65_536;

/// A turn is a packet, and CoDel looks at the backlog of all queues.
fn as_in_linux() -> Config {
    let quantum = Size::from_bytes(1000);
    Config { flows: MANY, quantum, backlog: Backlog::All, ..Config::default() }
}

fn have_queues_of_their_own(flows: u32) -> bool {
    let queues: BTreeSet<u64> =
        (0..flows).map(|flow| packet(flow, 0, 1).flow_hash(0) % u64::from(MANY)).collect();
    queues.len() == flows as usize
}

/// Linux, `fq_codel_dequeue`: CoDel looks at the backlog of all queues.
///
/// By hand: 50 flows have two packets each, and one more comes whenever one of theirs has left. So
/// no more than one waits behind the head of a queue, and a round takes 50 ms. Packet 1 of flow `i`
/// leaves at `i` ms. From flow 5 on it has waited for 5 ms, the target, and an interval later, at
/// `100 + i` ms, it is the flow's turn again: one packet is dropped, and the next one is sent. At
/// 149 ms flows 5 to 49 have lost one.
#[test]
fn many_flows_with_a_packet_or_two_are_a_standing_queue() {
    assert!(have_queues_of_their_own(50));
    let mut port = port(QueueLaw::FqCodel(as_in_linux()), 1000);
    for seq in 0..2 {
        for flow in 0..50 {
            port.arrive(&packet(flow, seq, 1000), 0, Time::ZERO);
        }
    }
    let mut next = [2; 50];
    let mut lost = |ms: u64| {
        while port.next_event() <= Time::from_ms(ms) {
            let now = port.next_event();
            let Some(flow) = port.deliver(now).map(|(gone, _)| gone.flow) else { continue };
            let seq = &mut next[flow as usize];
            port.arrive(&packet(flow, *seq, 1000), 0, now);
            *seq += 1;
        }
        port.counters().drops[Reason::Early as usize]
    };
    assert_eq!([104, 105, 106, 149].map(&mut lost), [0, 1, 2, 45]);
}

/// RFC 8289, 5.6 (`dodequeue`): a queue that is found empty is not above the target, so an interval
/// in which it was does not count any more.
///
/// By hand: ten flows send three packets of a millisecond at once every 60 ms. Those who are not
/// the first wait for 5 ms and more, and after 40 ms at most each queue is found empty: at its turn,
/// or by the link, which has nothing else to send. No interval of 100 ms passes, so nothing is
/// dropped, with a flow that is always busy and without one.
#[test]
fn an_empty_queue_ends_the_interval() {
    assert!(have_queues_of_their_own(11));
    for busy in [false, true] {
        let mut port = port(QueueLaw::FqCodel(as_in_linux()), 2000);
        for seq in 0..if busy { 1000 } else { 0 } {
            port.arrive(&packet(0, seq, 1000), 0, Time::ZERO);
        }
        let mut arrived = 0;
        for round in 0..8 {
            let start = Time::from_ms(60) * u64::from(round);
            let order = delivered(&mut port, start);
            arrived += order.iter().filter(|(flow, _)| *flow > 0).count();
            for seq in 0..3 {
                for flow in 1..=10 {
                    port.arrive(&packet(flow, 3 * round + seq, 1000), 0, start);
                }
            }
        }
        let order = delivered(&mut port, Time::from_ms(479));
        arrived += order.iter().filter(|(flow, _)| *flow > 0).count();
        assert_eq!(arrived, 240, "with a busy flow: {busy}");
    }
}
