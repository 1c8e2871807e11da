//! The rules of the gate that `core` does not have: lease, list, ceiling, ends, modes.

use tidegate_core::law::session::Knobs;
use tidegate_core::units::Time;
use tidegate_gate::config::NeverRefuse;
use tidegate_gate::program::KernelGate;
use tidegate_gate::shared::{Fate, Settings};

use super::packets::{FIN, RST, SYN, SYN_ACK, answer, tcp, tcp6};
use super::{LEASE, PASS, SHOT, fate, gate, settings, show, tally};

/// One that has nothing to give.
fn closed(settings: Settings) -> Option<KernelGate> {
    let mut gate = gate(Settings { limiter: 0, ..settings }, 16)?;
    let mut knobs = Knobs::default();
    knobs.allow(0, Time::from_secs(1));
    gate.set_knobs(&knobs).expect("the kernel takes them");
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

// A minute is the longest lease that the file allows. One that ends later was written by another
// clock: it would outlive the controller by the difference of the clocks.
#[test]
fn a_lease_that_ends_too_late_is_no_lease() {
    let Some(mut gate) = closed(settings()) else { return };
    let mut until = |lease_ns| {
        gate.program
            .set(|control| (control.lease_ns, control.test_now_ns) = (lease_ns, 5_000_000_000))
            .expect("the kernel takes it");
        fate(&gate, &tcp(1, SYN))
    };
    assert_eq!(until(65_000_000_000), Fate::Refused, "60 s");
    assert_eq!(until(67_000_000_000), Fate::Lapsed, "62 s");
    assert_eq!(until(u64::MAX), Fate::Lapsed);
}

// A download is refused by its SYN, on its way to the server; the SYN+ACK that answers an
// admitted one passes, and an upload is decided as before.
#[test]
fn a_download_is_refused_where_its_syn_comes_in() {
    let syn_in = Settings { syn_in: 1, ..settings() };
    let Some(gate) = closed(syn_in) else { return };
    let incoming = |packet: &[u8]| gate.show_incoming(packet).expect("the kernel shows it");
    assert_eq!(incoming(&answer(1, SYN)), SHOT);
    assert_eq!((tally(&gate).arrived, tally(&gate).of(Fate::Refused)), (1, 1));
    assert_eq!(incoming(&answer(1, SYN_ACK)), PASS, "it answers an upload");
    assert_eq!(fate(&gate, &tcp(1, SYN_ACK)), Fate::Other);
    assert_eq!(fate(&gate, &tcp(1, SYN)), Fate::Refused);
    let Some(gate) = closed(Settings { opener: 0, ..syn_in }) else { return };
    assert_eq!(gate.show_incoming(&answer(1, SYN)).expect("shown"), PASS, "uploads alone");
    let Some(gate) = closed(settings()) else { return };
    assert_eq!(gate.show_incoming(&answer(1, SYN)).expect("shown"), PASS, "at egress");
}

// The window of eligible hashes is of flows: the SYN that comes in and the SYN+ACK that leaves have
// the same hash, so that who waits is the same at either place.
#[test]
fn both_directions_of_a_flow_have_one_hash() {
    let here = Settings { limiter: 2, hashed: 1, syn_in: 1, ..settings() };
    let Some(mut incoming) = gate(here, 0) else { return };
    let Some(mut leaving) = gate(Settings { syn_in: 0, ..here }, 0) else { return };
    let mut knobs = Knobs::default();
    knobs.allow(1_000_000, Time::from_secs(1));
    (knobs.shut, knobs.bypass) = (1 << 31, 2 << 16);
    for gate in [&mut incoming, &mut leaving] {
        gate.set_knobs(&knobs).expect("the kernel takes them");
    }
    let mut passed = 0;
    for port in 1..=100 {
        let came = incoming.show_incoming(&answer(port, SYN)).expect("shown");
        assert_eq!(came, show(&leaving, &tcp(port, SYN_ACK)), "{port}");
        passed += u32::from(came == PASS);
    }
    // 50 of 100, standard deviation 5
    assert!((25..=75).contains(&passed), "{passed}");
}

// The programs read the clock that a process without a time namespace reads.
#[test]
fn the_kernels_clock_is_monotonic() {
    let Some(gate) = gate(settings(), 0) else { return };
    let clock = || gate.kernel_clock().expect("the kernel runs it");
    let first = clock();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let passed = clock() - first;
    assert!((20_000_000..5_000_000_000).contains(&passed), "{passed} ns");
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
        management: false,
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

// A client that uses few ports opens one session after the other with the same addresses and ports.
#[test]
fn sessions_that_reuse_a_port_end_each() {
    let session = [tcp(1, SYN), tcp(1, FIN), tcp(1, FIN)];
    let packets: Vec<_> = session.iter().cycle().take(9).cloned().collect();
    for ends in [1, 2] {
        let Some(found) = ended(ends, &packets) else { return };
        assert_eq!(found, (3, 0), "{ends}");
    }
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

// A session begins once a packet comes in behind its SYNs: that of a client whose server answers, or
// that of a server whose client does. Three downloads and two uploads are admitted; of one of each
// only SYNs ever come (a forged address), and one is reset by an address that asked for nothing. A
// SYN that is sent again is admitted twice and answered once.
#[test]
fn a_session_is_answered_by_the_first_packet_behind_the_syns() {
    let here = Settings { syn_in: 1, answer_words: 16, ..settings() };
    let Some(mut gate) = gate(here, 0) else { return };
    let mut knobs = Knobs::default();
    knobs.open();
    gate.set_knobs(&knobs).expect("the kernel takes them");
    let incoming = |packet: &[u8]| gate.show_incoming(packet).expect("the kernel shows it");
    for port in [1, 1, 2, 3] {
        incoming(&answer(port, SYN));
    }
    for port in [4, 5] {
        show(&gate, &tcp(port, SYN));
        incoming(&answer(port, SYN_ACK));
    }
    incoming(&answer(3, RST));
    incoming(&answer(9, "ACK"));
    assert_eq!((tally(&gate).admitted, tally(&gate).answered), (6, 0));
    incoming(&answer(1, "ACK"));
    incoming(&answer(1, "ACK"));
    incoming(&answer(4, "ACK"));
    assert_eq!(tally(&gate).answered, 2);
    // the next one of the same addresses and ports
    incoming(&answer(1, SYN));
    incoming(&answer(1, FIN));
    assert_eq!(tally(&gate).answered, 3);
}

// The same by what leaves, where packets of flows are counted anyway: a server sends nothing behind
// its SYN+ACK before the client has answered, and a client nothing behind its SYN before the server
// has. SYNs that are sent again tell nothing, nor does a reset; another answer is none of a session.
#[test]
fn a_session_is_answered_once_more_than_syns_leaves() {
    let young = Settings { young_cells: 4096, young_packets: 9, young_sample: 1, ..settings() };
    let here = Settings { syn_in: 1, answers_by_age: 1, ..young };
    let Some(mut gate) = gate(here, 0) else { return };
    let mut knobs = Knobs::default();
    knobs.open();
    gate.set_knobs(&knobs).expect("the kernel takes them");
    let answered = |packets: &[Vec<u8>]| {
        packets.iter().for_each(|packet| _ = show(&gate, packet));
        tally(&gate).answered
    };
    for port in [1, 2, 3] {
        gate.show_incoming(&answer(port, SYN)).expect("the kernel shows it");
    }
    let asked = [tcp(1, SYN_ACK), tcp(1, SYN_ACK), tcp(2, SYN_ACK), tcp(3, RST), tcp(4, SYN)];
    assert_eq!(answered(&asked), 0);
    assert_eq!(answered(&[tcp(4, SYN), tcp(9, "ACK")]), 0);
    assert_eq!(answered(&[tcp(1, "ACK"), tcp(1, "ACK"), tcp(4, "ACK")]), 2);
    gate.show_incoming(&answer(1, SYN)).expect("the kernel shows it");
    assert_eq!(answered(&[tcp(1, SYN_ACK), tcp(1, FIN)]), 3, "the next one of that port");
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

// The loopback interface holds no packets: the table's first entry decides. It is asked once about a
// download: about the SYN that comes in, or about the SYN+ACK that leaves.
#[test]
fn the_dual_queue_loses_by_its_table() {
    let Some(_rights) = gate(settings(), 0) else { return };
    for (first, expected, syn_in) in
        [(0, PASS, 0), (u32::MAX, SHOT, 0), (0, PASS, 1), (u32::MAX, SHOT, 1)]
    {
        let settings =
            Settings { read_queue: 1, ewma_weight: 65_536, service_ns: 1, syn_in, ..settings() };
        let mut gate =
            KernelGate::load(&settings, 0, &[first, u32::MAX]).expect("the kernel takes it");
        gate.program
            .set(|control| (control.lease_ns, control.enforce) = (LEASE, 1))
            .expect("the kernel takes it");
        gate.set_knobs(&Knobs { pass_all: 1, ..Knobs::default() }).expect("the kernel takes it");
        let leaves = |packet: &[u8]| gate.program.show(packet, 1).expect("shown").action;
        let comes_in = |packet: &[u8]| gate.show_incoming(packet).expect("shown");
        let (here, there) = if syn_in == 1 { (expected, PASS) } else { (PASS, expected) };
        assert_eq!(leaves(&tcp(1, SYN)), expected, "an upload");
        assert_eq!(comes_in(&answer(1, SYN_ACK)), PASS, "it answers an upload");
        assert_eq!(comes_in(&answer(1, SYN)), here, "a download, syn_in {syn_in}");
        assert_eq!(leaves(&tcp(1, SYN_ACK)), there, "its answer, syn_in {syn_in}");
        assert_eq!(leaves(&tcp(1, FIN)), PASS, "data is none of its business");
        let tally = tally(&gate);
        assert_eq!(tally.of(Fate::Connection), if expected == SHOT { 2 } else { 0 });
        assert_eq!(tally.asked, 2);
    }
}

// tide: young for two packets since it was admitted, the opener included; a packet here has 44 bytes of IP.
#[test]
fn a_flow_is_young_for_its_first_packets() {
    let young = Settings { young_cells: 4096, young_packets: 2, young_sample: 1, ..settings() };
    let Some(gate) = gate(young, 0) else { return };
    let bytes = |gate: &KernelGate| {
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

// Of 16 packets one is counted behind the first two: 200 counts are 2 + 198 * 16 = 3170 packets. By
// chance the standard deviation would be sqrt(198 * 16 * 15) = 218; the fixed sequence is within it.
#[test]
fn where_a_flow_is_young_for_long_a_sample_of_its_packets_is_counted() {
    let young = Settings { young_cells: 4096, young_packets: 200, young_sample: 1, ..settings() };
    let Some(gate) = gate(Settings { young_k: 4, ..young }, 0) else { return };
    show(&gate, &tcp(1, "SYN"));
    for _ in 0..6000 {
        show(&gate, &tcp(1, "ACK"));
    }
    let tally = tally(&gate);
    assert_eq!(tally.watched_bytes, 6001 * 44);
    let packets = tally.young_bytes / 44;
    assert!((2952..3388).contains(&packets), "{packets}");
}

// Of two hashes next to each other in the window one is in and one is out: half of the flows are
// eligible where half of the hashes are, each of them always.
#[test]
fn the_same_flows_are_eligible_again() {
    let Some(mut gate) = gate(Settings { limiter: 2, hashed: 1, ..settings() }, 0) else { return };
    let mut knobs = Knobs::default();
    knobs.allow(1_000_000, Time::from_secs(1));
    (knobs.shut, knobs.bypass) = (1 << 31, 2 << 16);
    gate.set_knobs(&knobs).expect("the kernel takes them");
    let passes = |port| show(&gate, &tcp(port, "SYN")) == PASS;
    let first: Vec<bool> = (1..=400).map(passes).collect();
    let again: Vec<bool> = (1..=400).map(passes).collect();
    assert_eq!(first, again);
    let eligible = first.iter().filter(|passes| **passes).count();
    // 200 of 400, standard deviation 10
    assert!((140..=260).contains(&eligible), "{eligible}");
}
