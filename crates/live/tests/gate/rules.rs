//! The rules of the gate that `core` does not have: lease, list, ceiling, ends, modes.

use tidegate_core::law::session::Knobs;
use tidegate_core::units::Time;
use tidegate_live::gate::config::NeverRefuse;
use tidegate_live::gate::program::{Dqm, Gate};
use tidegate_live::gate::shared::{Fate, Settings};

use super::packets::{FIN, RST, SYN, SYN_ACK, answer, tcp, tcp6};
use super::{PASS, SHOT, fate, gate, settings, show, tally};

/// One that has nothing to give.
fn closed(settings: Settings) -> Option<Gate> {
    let mut gate = gate(Settings { limiter: 0, ..settings }, 16)?;
    let mut knobs = Knobs::default();
    knobs.allow(0, Time::from_secs(1));
    gate.turn(&knobs).expect("the kernel takes them");
    Some(gate)
}

// The rule of failing open: at the end of the lease, to the nanosecond, everything passes.
#[test]
fn everything_passes_once_the_lease_has_lapsed() {
    let Some(mut gate) = closed(settings()) else { return };
    let mut at = |now_ns| {
        gate.program
            .set(|control| (control.lease_ns, control.test_now_ns) = (1_000, now_ns))
            .expect("the kernel takes it");
        fate(&gate, &tcp(1, SYN))
    };
    assert_eq!(at(999), Fate::Refused);
    assert_eq!(at(1_000), Fate::Lapsed);
    assert_eq!(at(2_000), Fate::Lapsed);
}

#[test]
fn who_only_observes_drops_nothing() {
    let Some(mut gate) = closed(settings()) else { return };
    assert_eq!(show(&gate, &tcp(1, SYN)), SHOT);
    gate.program.set(|control| control.enforce = 0).expect("the kernel takes it");
    assert_eq!(show(&gate, &tcp(1, SYN)), PASS);
    assert_eq!(fate(&gate, &tcp(1, SYN)), Fate::WouldRefuse);
    assert_eq!(tally(&gate).admitted, 0, "it counts what the law decided");
}

#[test]
fn what_is_listed_is_never_refused() {
    let Some(gate) = closed(settings()) else { return };
    let list = |networks: &[&str], ports: &[u16]| NeverRefuse {
        networks: networks.iter().map(|text| text.parse().expect("a network")).collect(),
        ports: ports.to_vec(),
    };
    let cases = [
        (list(&[], &[]), Fate::Refused, Fate::Refused),
        (list(&["10.0.0.0/8"], &[]), Fate::Exempt, Fate::Refused),
        (list(&["192.0.2.9"], &[]), Fate::Exempt, Fate::Refused),
        (list(&["192.0.2.8", "11.0.0.0/8"], &[]), Fate::Refused, Fate::Refused),
        (list(&["2001:db8::/64"], &[]), Fate::Refused, Fate::Exempt),
        (list(&["2001:db8::8/127"], &[]), Fate::Refused, Fate::Exempt),
        (list(&["2001:db8::a/127"], &[]), Fate::Refused, Fate::Refused),
        (list(&[], &[443]), Fate::Exempt, Fate::Exempt),
        (list(&[], &[77]), Fate::Exempt, Fate::Exempt),
        (list(&[], &[444, 442]), Fate::Refused, Fate::Refused),
    ];
    for (list, four, six) in cases {
        gate.program.set_never_refuse(&list).expect("the kernel takes it");
        assert_eq!(fate(&gate, &tcp(77, SYN)), four, "{list:?}");
        assert_eq!(fate(&gate, &tcp6(77, SYN)), six, "{list:?}");
    }
}

// A ceiling of a half: of the first n openers at most n / 2 are refused, at every moment.
#[test]
fn no_more_than_the_ceiling_is_refused() {
    let Some(mut gate) = closed(settings()) else { return };
    gate.program.set(|control| control.ceiling = 1 << 15).expect("the kernel takes it");
    for n in 1..=20 {
        show(&gate, &tcp(n, SYN));
        let refused = tally(&gate).of(Fate::Refused);
        assert_eq!(refused, u64::from(n / 2), "after {n}");
    }
    assert_eq!(tally(&gate).of(Fate::Ceiling), 10);
}

#[test]
fn whichever_opener_crosses_is_one() {
    for (opener, syn, syn_ack) in [
        (0, Fate::Refused, Fate::Other),
        (1, Fate::Other, Fate::Refused),
        (2, Fate::Refused, Fate::Refused),
    ] {
        let Some(gate) = closed(Settings { opener, ..settings() }) else { return };
        assert_eq!((fate(&gate, &tcp(1, SYN)), fate(&gate, &tcp(1, SYN_ACK))), (syn, syn_ack));
    }
}

/// Counted ends and breaks after these packets.
fn ended(ends: u32, packets: &[Vec<u8>]) -> Option<(u64, u64)> {
    let gate = gate(Settings { ends, ..settings() }, 16)?;
    for packet in packets {
        show(&gate, packet);
    }
    let tally = tally(&gate);
    Some((tally.departed, tally.resets))
}

// A FIN that the queue lost comes again: an end all the same. So does a reset after a FIN.
#[test]
fn an_end_counts_once() {
    let packets = [tcp(1, FIN), tcp(1, FIN), tcp(1, RST), tcp(2, RST), tcp6(1, FIN), tcp6(1, FIN)];
    let Some(every) = ended(0, &packets) else { return };
    assert_eq!(every, (4, 2), "every one counts");
    assert_eq!(ended(1, &packets), Some((2, 1)), "by cells");
    assert_eq!(ended(2, &packets), Some((2, 1)), "by a map of flows");
}

// The FIN that leaves may be far ahead of the data; the one that comes in is of who has everything.
#[test]
fn a_session_ends_with_the_fin_of_the_peer() {
    let Some(gate) = gate(Settings { ends_of_peer: 1, ..settings() }, 0) else { return };
    let incoming = |packet: &[u8]| gate.show_incoming(packet).expect("the kernel shows it");
    assert_eq!(fate(&gate, &tcp(1, FIN)), Fate::End);
    assert_eq!(tally(&gate).departed, 0, "it is on its way");
    incoming(&answer(1, FIN));
    incoming(&answer(1, FIN));
    incoming(&answer(2, "ACK"));
    assert_eq!(tally(&gate).departed, 1);
    // what breaks off after it has ended is no other session, whoever resets it
    show(&gate, &tcp(1, RST));
    incoming(&answer(3, RST));
    show(&gate, &tcp(3, RST));
    assert_eq!((tally(&gate).departed, tally(&gate).resets), (1, 1));
}

// An end is remembered over one change of generations and forgotten after the second.
#[test]
fn ends_are_forgotten_after_two_generations() {
    let Some(mut gate) = gate(settings(), 0) else { return };
    let mut counted = Vec::new();
    for _ in 0..3 {
        show(&gate, &tcp(1, FIN));
        counted.push(tally(&gate).departed);
        gate.next_generation().expect("the kernel clears it");
    }
    assert_eq!(counted, [1, 1, 2]);
}

// The loopback interface holds no packets: the table's first entry decides.
#[test]
fn the_dual_queue_loses_by_its_table() {
    let Some(_rights) = gate(settings(), 0) else { return };
    for (first, expected, connections) in [(0, PASS, 0), (u32::MAX, SHOT, 1)] {
        let settings = Settings { read_queue: 1, ewma_weight: 65_536, service_ns: 1, ..settings() };
        let mut dqm = Dqm::load(&settings, &[first, u32::MAX]).expect("the kernel takes it");
        dqm.program
            .set(|control| (control.lease_ns, control.enforce) = (u64::MAX, 1))
            .expect("the kernel takes it");
        let action = |packet: &[u8]| dqm.program.show(packet, 1).expect("shown").action;
        assert_eq!(action(&tcp(1, SYN)), expected);
        assert_eq!(action(&tcp(1, FIN)), PASS, "data is none of its business");
        let tally = dqm.program.tally().expect("the kernel tells its counts");
        assert_eq!(tally.of(Fate::Connection), connections);
    }
}

// tide: young for two packets since it was admitted, the opener included; a packet here has 44 bytes of IP.
#[test]
fn a_flow_is_young_for_its_first_packets() {
    let young = Settings { young_cells: 4096, young_packets: 2, young_sample: 1, ..settings() };
    let Some(gate) = gate(young, 0) else { return };
    let bytes = |gate: &Gate| {
        let tally = tally(gate);
        (tally.watched_bytes / 44, tally.young_bytes / 44)
    };
    show(&gate, &tcp(1, "ACK"));
    assert_eq!(bytes(&gate), (1, 0), "it was there before");
    for (flags, expected) in [("SYN", (2, 1)), ("ACK", (3, 2)), ("ACK", (4, 2)), ("SYN", (5, 3))] {
        show(&gate, &tcp(1, flags));
        assert_eq!(bytes(&gate), expected, "{flags}");
    }
    show(&gate, &tcp(2, "ACK"));
    assert_eq!(bytes(&gate), (6, 3), "another flow");
}

// Of two hashes next to each other in the window one is in and one is out: half of the flows are
// eligible where half of the hashes are, each of them always.
#[test]
fn the_same_flows_are_eligible_again() {
    let Some(mut gate) = gate(Settings { limiter: 2, hashed: 1, ..settings() }, 0) else { return };
    let mut knobs = Knobs::default();
    knobs.allow(1_000_000, Time::from_secs(1));
    (knobs.shut, knobs.bypass) = (1 << 31, 2 << 16);
    gate.turn(&knobs).expect("the kernel takes them");
    let passes = |port| show(&gate, &tcp(port, "SYN")) == PASS;
    let first: Vec<bool> = (1..=400).map(passes).collect();
    let again: Vec<bool> = (1..=400).map(passes).collect();
    assert_eq!(first, again);
    let eligible = first.iter().filter(|passes| **passes).count();
    // 200 of 400, standard deviation 10
    assert!((140..=260).contains(&eligible), "{eligible}");
}
