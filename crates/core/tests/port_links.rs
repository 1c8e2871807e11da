//! Links whose delay changes, that treat packets one by one, or that gather them.
//!
//! Expected times are calculated by hand, or by a list that is sorted by the time of
//! delivery: it shares no code with the port.

use std::collections::VecDeque;
use std::sync::Arc;

use proptest::prelude::*;
use tidegate_core::packet::Packet;
use tidegate_core::port::{
    Batching, Crossing, Limit, LinkVariation, Opportunities, Port, Propagation,
};
use tidegate_core::units::{Rate, Time};

/// Crossings as they are listed, one for each packet.
struct Listed(VecDeque<Crossing>);

impl Propagation for Listed {
    fn cross(&mut self, _: Time) -> Crossing {
        self.0.pop_front().expect("a crossing for each packet")
    }
}

/// 1000 B take 1 ms, and 10 ms to cross the link.
fn port(link: LinkVariation) -> Port {
    let limit = Limit::Packets(1000);
    Port::new(0, Rate::from_bps(8_000_000), Time::from_ms(10), limit).varying(link)
}

fn arrive(port: &mut Port, id: u32, at: Time) {
    port.arrive(&Packet { flow: id, size: 1000, ..Packet::default() }, (), at);
}

/// Everything that is delivered, in order: which packet, and when.
fn drain(port: &mut Port) -> Vec<(u32, Time)> {
    let mut found = Vec::new();
    while port.next_event() != Time::NEVER {
        let now = port.next_event();
        if let Some((packet, ())) = port.deliver(now) {
            assert_eq!(packet.at, now, "delivered when it is due");
            found.push((packet.flow, now));
        }
    }
    assert_eq!(port.held().count(), 0);
    found
}

fn in_ms(found: &[(u32, Time)]) -> Vec<(u32, f64)> {
    found.iter().map(|&(id, at)| (id, at.secs() * 1e3)).collect()
}

/// Packets 0 and 1 are sent at 1 and 2 ms. At 1.5 ms the delay falls from 10 to 5 ms: on another
/// path packet 1 comes at 7 ms, before packet 0 at 11 ms; on the same path it waits for it.
#[test]
fn what_takes_another_path_may_come_first() {
    for (another, expected) in [(true, [(1, 7.0), (0, 11.0)]), (false, [(0, 11.0), (1, 11.0)])] {
        let mut port = port(LinkVariation::default());
        arrive(&mut port, 0, Time::ZERO);
        arrive(&mut port, 1, Time::ZERO);
        port.set_delay(Time::from_ns(1_500_000), Time::from_ms(5), another);
        assert_eq!(in_ms(&drain(&mut port)), expected);
    }
}

/// Five packets are sent at 1, 2 ... 5 ms. Three make a batch: these set out at 3 ms. The fourth
/// was sent at 4 ms, a multiple of 4 ms; the fifth waits for the next one, 8 ms.
#[test]
fn a_batch_sets_out_when_it_is_full_or_due() {
    let batching = Some(Batching { every: Time::from_ms(4), packets: 3 });
    let mut port = port(LinkVariation { batching, ..LinkVariation::default() });
    (0..5).for_each(|id| arrive(&mut port, id, Time::ZERO));
    let expected = [(0, 13.0), (1, 13.0), (2, 13.0), (3, 14.0), (4, 18.0)];
    assert_eq!(in_ms(&drain(&mut port)), expected);
}

/// A packet that is held back by 5 ms is overtaken by those up to 5 ms behind it; these keep
/// their own order.
#[test]
fn what_is_held_back_is_overtaken() {
    let delay = Time::from_ms(10);
    let plain = Crossing { delay, waits: true, holds: true };
    let held = Crossing { delay: Time::from_ms(15), holds: false, ..plain };
    let listed = Listed([plain, held, plain, plain].into());
    let mut port =
        port(LinkVariation { propagation: Some(Box::new(listed)), ..LinkVariation::default() });
    (0..4).for_each(|id| arrive(&mut port, id, Time::ZERO));
    assert_eq!(in_ms(&drain(&mut port)), [(0, 11.0), (2, 13.0), (3, 14.0), (1, 17.0)]);
}

fn crossing() -> impl Strategy<Value = Crossing> {
    (0..30_000_000_000u64, any::<bool>(), any::<bool>()).prop_map(|(ps, waits, holds)| Crossing {
        delay: Time::from_ps(ps),
        waits,
        holds,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Against a list that is sorted by the time of delivery, to the picosecond. Packets are sent
    /// one after the other; each is delivered after its own delay, and not before the latest of
    /// those before it that hold others, if it waits.
    #[test]
    fn packets_come_when_their_crossings_say(
        packets in prop::collection::vec((0..3_000_000_000u64, crossing()), 1..120),
        every in prop::option::of(1..8u64),
        most in 1..5u32,
    ) {
        let batching = every.map(|ms| Batching { every: Time::from_ms(ms), packets: most });
        let listed = Listed(packets.iter().map(|(_, crossing)| *crossing).collect());
        let mut port = port(LinkVariation { propagation: Some(Box::new(listed)), batching, ..LinkVariation::default() });
        let (mut now, mut free) = (Time::ZERO, Time::ZERO);
        let (mut found, mut ends) = (Vec::new(), Vec::new());
        for (id, (gap, _)) in (0..).zip(&packets) {
            now += Time::from_ps(*gap);
            while port.next_event() < now {
                let due = port.next_event();
                found.extend(port.deliver(due).map(|(packet, ())| (packet.flow, packet.at)));
            }
            arrive(&mut port, id, now);
            free = free.max(now) + Time::from_ms(1);
            ends.push(free);
        }
        found.extend(drain(&mut port));
        let mut expected = Vec::new();
        let mut last = Time::ZERO;
        for (id, set_out) in (0..).zip(batches(&ends, every, most)) {
            let (_, crossing) = packets[id as usize];
            let mut due = set_out + crossing.delay;
            due = if crossing.waits { due.max(last) } else { due };
            last = if crossing.holds { due.max(last) } else { last };
            expected.push((id, due));
        }
        expected.sort_by_key(|&(_, due)| due);
        prop_assert_eq!(found, expected);
        prop_assert_eq!(port.busy_ps(free), packets.len() as u64 * 1_000_000_000);
    }
}

/// When packets set out that were sent at these times: each group is cut at a multiple of
/// `every` ms, and when it has `most`.
fn batches(ends: &[Time], every: Option<u64>, most: u32) -> Vec<Time> {
    let Some(every) = every.map(Time::from_ms) else { return ends.to_vec() };
    let mut set_out = Vec::new();
    while set_out.len() < ends.len() {
        let rest = &ends[set_out.len()..];
        let due = every * rest[0].ps().div_ceil(every.ps());
        let held = rest.iter().filter(|end| **end <= due).count().min(most as usize);
        let at = if held == most as usize { rest[held - 1] } else { due };
        set_out.extend(std::iter::repeat_n(at, held));
    }
    set_out
}

/// Mahimahi's link as its source has it: at each opportunity so many bytes of what waits are
/// sent, the rest of a packet with the next one; what arrives at that instant is too late.
/// Both lists are in milliseconds; returns when each packet has been sent.
fn mahimahi(trace: &[u64], bytes: u64, arrivals: &[(u64, u16)]) -> Vec<u64> {
    let turn = trace[trace.len() - 1];
    let times = (0..).flat_map(|count| trace.iter().map(move |at| count * turn + at));
    let mut left: Vec<u64> = arrivals.iter().map(|&(_, size)| size.into()).collect();
    let mut sent = Vec::new();
    for now in times {
        let mut room = bytes;
        while sent.len() < arrivals.len() && room > 0 && arrivals[sent.len()].0 < now {
            let place = sent.len();
            let used = room.min(left[place]);
            room -= used;
            left[place] -= used;
            if left[place] == 0 {
                sent.push(now);
            }
        }
        if sent.len() == arrivals.len() {
            return sent;
        }
    }
    sent
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Packet by packet, over random traces with several opportunities at an instant and none for
    /// long, packets smaller and larger than an opportunity, and any spacing of arrivals.
    #[test]
    fn a_trace_of_opportunities_delivers_as_mahimahi_does(
        gaps in prop::collection::vec(prop_oneof![3 => 0..3u64, 1 => 3..40u64], 1..30),
        end in 1..20u64,
        arrivals in prop::collection::vec(
            (prop_oneof![3 => 0..4u64, 1 => 4..200u64], prop_oneof![Just(1504u16), 40..4000u16]),
            1..80,
        ),
    ) {
        let rising = |gaps: &mut dyn Iterator<Item = u64>| -> Vec<u64> {
            let sum = |sum: &mut u64, gap| { *sum += gap; Some(*sum) };
            gaps.scan(0, sum).collect()
        };
        let trace = rising(&mut gaps.iter().copied().chain([end]));
        let came = rising(&mut arrivals.iter().map(|&(gap, _)| gap));
        let times: Arc<[Time]> = trace.iter().copied().map(Time::from_ms).collect();
        let opportunities = Some(Opportunities::new(times, 1504, Time::ZERO, true));
        let mut port = port(LinkVariation { opportunities, ..LinkVariation::default() });
        let mut found = Vec::new();
        for (id, (&at, &(_, size))) in (0..).zip(came.iter().zip(&arrivals)) {
            let now = Time::from_ms(at);
            while port.next_event() <= now {
                let due = port.next_event();
                found.extend(port.deliver(due).map(|(packet, ())| (packet.flow, packet.at)));
            }
            port.arrive(&Packet { flow: id, size, ..Packet::default() }, (), now);
        }
        found.extend(drain(&mut port));
        let queue: Vec<(u64, u16)> =
            came.iter().zip(&arrivals).map(|(&at, &(_, size))| (at, size)).collect();
        let sent = mahimahi(&trace, 1504, &queue);
        let delay = Time::from_ms(10);
        let expected: Vec<(u32, Time)> =
            (0..).zip(sent).map(|(id, at)| (id, Time::from_ms(at) + delay)).collect();
        prop_assert_eq!(found, expected);
    }
}

/// Without another turn nothing is delivered after the last opportunity, at 3 ms.
#[test]
fn a_trace_that_is_over_delivers_nothing() {
    let times: Arc<[Time]> = [1, 3].map(Time::from_ms).into();
    let opportunities = Some(Opportunities::new(times, 1504, Time::ZERO, false));
    let mut port = port(LinkVariation { opportunities, ..LinkVariation::default() });
    (0..4).for_each(|id| arrive(&mut port, id, Time::ZERO));
    let found: Vec<_> = std::iter::from_fn(|| {
        let due = Some(port.next_event()).filter(|due| *due != Time::NEVER)?;
        Some(port.deliver(due).map(|(packet, ())| (packet.flow, packet.at.secs() * 1e3)))
    })
    .flatten()
    .collect();
    // 1000 B and half of the next packet at 1 ms; the other half and one more at 3 ms
    assert_eq!(found, [(0, 11.0), (1, 13.0), (2, 13.0)]);
    assert_eq!(port.held().count(), 1);
}
