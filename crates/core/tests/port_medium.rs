//! Ports that share a medium.
//!
//! Expected times are calculated by hand, or by a loop over the instants at which the medium
//! becomes free: it knows all arrivals in advance, and shares no code with the ports.

use proptest::prelude::*;
use tidegate_core::packet::Packet;
use tidegate_core::port::{Limit, LinkVariation, Medium, Port};
use tidegate_core::units::{Rate, Time};

/// 1 B takes 1 us.
const RATE: Rate = Rate::from_bps(8_000_000);
const DELAY: Time = Time::from_ms(5);

/// Ports of one medium, each with its gap.
fn ports(gaps: &[Time]) -> Vec<Port> {
    let air = Medium::default();
    let link = |gap| LinkVariation { medium: Some(air.join(gap)), ..LinkVariation::default() };
    let port = |gap: &Time| Port::new(0, RATE, DELAY, Limit::Packets(1000)).varying(link(*gap));
    gaps.iter().map(port).collect()
}

/// A packet at a port: when it comes, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    port: usize,
    size: u16,
}

/// When the packets have been sent, by port: events in the order of their times and then of the
/// ports, arrivals before them.
fn carry(ports: &mut [Port], arrivals: &[Arrival]) -> Vec<Vec<Time>> {
    let mut sent = vec![Vec::new(); ports.len()];
    let mut coming = arrivals.iter().peekable();
    loop {
        let event = ports.iter().enumerate().map(|(place, port)| (port.next_event(), place)).min();
        let (due, place) = event.expect("there are ports");
        if let Some(arrival) = coming.next_if(|arrival| arrival.at <= due) {
            let packet = Packet { size: arrival.size, ..Packet::default() };
            ports[arrival.port].arrive(&packet, (), arrival.at);
        } else if due == Time::NEVER {
            return sent;
        } else if let Some((packet, ())) = ports[place].deliver(due) {
            sent[place].push(packet.at - DELAY);
        }
    }
}

/// The same by a loop: of the ports where something waits when the medium is free, the one that
/// sent longest ago, and of those that have not sent, the first one.
fn reference(gaps: &[Time], arrivals: &[Arrival]) -> Vec<Vec<Time>> {
    let of = |port| arrivals.iter().filter(move |one| one.port == port).copied();
    let mut queues: Vec<std::collections::VecDeque<Arrival>> =
        (0..gaps.len()).map(|port| of(port).collect()).collect();
    let (mut sent, mut turn) = (vec![Vec::new(); gaps.len()], vec![0; gaps.len()]);
    let (mut free, mut turns) = (Time::ZERO, 0);
    while let Some(first) = queues.iter().filter_map(|queue| Some(queue.front()?.at)).min() {
        let start = free.max(first);
        let waits = |queue: &&Arrival| queue.at <= start;
        let heads = queues.iter().filter_map(|queue| queue.front().filter(waits).copied());
        let next = heads.min_by_key(|head| (turn[head.port], head.port)).expect("one waits");
        queues[next.port].pop_front();
        let end = start + RATE.pace().of(next.size.into());
        (turns, free) = (turns + 1, end + gaps[next.port]);
        turn[next.port] = turns;
        sent[next.port].push(end);
    }
    sent
}

fn ms(sent: &[Time]) -> Vec<f64> {
    sent.iter().map(|at| at.secs() * 1e3).collect()
}

/// By hand: both have three packets at once, of 1 and of 2 ms. They take turns: 1, 3, 4, 6, 7, 9 ms.
#[test]
fn two_directions_take_turns() {
    let mut both = ports(&[Time::ZERO; 2]);
    let packets = (0..6).map(|number| Arrival {
        at: Time::ZERO,
        port: number % 2,
        size: if number % 2 == 0 { 1000 } else { 2000 },
    });
    let sent = carry(&mut both, &packets.collect::<Vec<_>>());
    assert_eq!(ms(&sent[0]), [1.0, 4.0, 7.0]);
    assert_eq!(ms(&sent[1]), [3.0, 6.0, 9.0]);
    // each counts its own transmissions, and no time of the other's
    let busy = both.iter().map(|port| port.busy_ps(Time::from_secs(1)) as f64 * 1e-9);
    assert_eq!(busy.collect::<Vec<_>>(), [3.0, 6.0]);
}

/// By hand: with a gap of 0.5 ms behind the packets of 1 ms, the next one starts at 1.5, 3 ms ...
#[test]
fn a_gap_follows_each_packet() {
    let mut both = ports(&[Time::from_ns(500_000), Time::ZERO]);
    let packets = [(0, 0), (0, 0), (2, 1)].map(|(at, port)| Arrival {
        at: Time::from_ms(at),
        port,
        size: 1000,
    });
    let sent = carry(&mut both, &packets);
    assert_eq!((ms(&sent[0]), ms(&sent[1])), (vec![1.0, 2.5], vec![4.0]));
}

/// The rate doubles in the middle of a packet, at 0.5 ms: it ends at 0.75 ms. The other port learns
/// of that when it looks again, at 1 ms.
#[test]
fn a_change_of_the_rate_moves_the_end() {
    let mut both = ports(&[Time::ZERO; 2]);
    for port in &mut both {
        port.arrive(&Packet { size: 1000, ..Packet::default() }, (), Time::ZERO);
    }
    let twice = Rate::from_bps(16_000_000);
    both[0].set_capacity(Time::from_ns(500_000), twice, Limit::Packets(1000));
    let sent = carry(&mut both, &[]);
    assert_eq!((ms(&sent[0]), ms(&sent[1])), (vec![0.75], vec![2.0]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Against the loop, to the picosecond, from idle to overloaded. Arrivals are some picoseconds
    /// off, so that none comes at the very instant at which the medium becomes free.
    #[test]
    fn ports_share_a_medium_as_a_plain_loop_does(
        gaps in prop::collection::vec((0..3u64).prop_map(|gap| Time::from_ps(gap * 300_000_000)), 1..4),
        packets in prop::collection::vec(
            (prop_oneof![0..400_000u64, 0..4_000_000u64], 0..3usize, 40..1500u16),
            1..80,
        ),
    ) {
        let mut at = Time::ZERO;
        let arrivals: Vec<Arrival> = packets
            .into_iter()
            .map(|(ns, port, size)| {
                at += Time::from_ps(1000 * ns + 1 + 2 * u64::from(size));
                Arrival { at, port: port % gaps.len(), size }
            })
            .collect();
        prop_assert_eq!(carry(&mut ports(&gaps), &arrivals), reference(&gaps, &arrivals));
    }
}
