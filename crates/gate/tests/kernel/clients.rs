//! Admission by client in the kernel: the rules of `tidegate_core::law::session::clients`.

use tidegate_core::law::session::Knobs;
use tidegate_core::units::Time;
use tidegate_gate::program::KernelGate;
use tidegate_gate::shared::Settings;

use super::packets::{SYN, SYN_ACK, finish, with};
use super::{PASS, gate, settings, tally};
use etherparse::PacketBuilder;

/// A tick of a cell, ns.
const TICK: u64 = 1 << 20;
/// Fifteen seconds in ticks.
const IDLE: u32 = 14_305;
/// Thirty seconds.
const WAIT: u32 = 28_610;

fn from4(last: u8, port: u16, flags: &str) -> Vec<u8> {
    let builder =
        PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([192, 0, 2, last], [10, 0, 0, 1], 64);
    finish(with(builder.tcp(port, 443, 1000, 64_000), flags))
}

fn to4(last: u8, port: u16, flags: &str) -> Vec<u8> {
    let builder =
        PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [192, 0, 2, last], 64);
    finish(with(builder.tcp(443, port, 1000, 64_000), flags))
}

/// From 2001:db8:0:net::host.
fn from6(net: u8, host: u8) -> Vec<u8> {
    let mut from = super::packets::v6(host);
    from[7] = net;
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv6(from, super::packets::v6(9), 64);
    finish(with(builder.tcp(1, 443, 1000, 64_000), SYN))
}

/// A token every 100 ms, a second's are kept. As in core's test.
fn knobs() -> Knobs {
    let mut knobs = Knobs::default();
    knobs.allow(10, Time::from_secs(1));
    knobs.bypass = 2 << 16;
    knobs
}

fn bench() -> Option<KernelGate> {
    let clients = Settings {
        limiter: 2,
        hashed: 1,
        syn_in: 1,
        client_cells: 65_536,
        client_idle: IDLE,
        client_wait: WAIT,
        client_prefix4: 32,
        client_prefix6: 64,
        ..settings()
    };
    let mut gate = gate(clients, 0)?;
    gate.set_knobs(&knobs()).expect("the kernel takes them");
    Some(gate)
}

fn change_knobs(gate: &mut KernelGate, change: impl FnOnce(&mut Knobs)) {
    let mut knobs = knobs();
    change(&mut knobs);
    gate.set_knobs(&knobs).expect("the kernel takes them");
}

fn at(gate: &mut KernelGate, now_ns: u64) {
    let set = |control: &mut tidegate_gate::shared::GateControl| {
        (control.test_now_ns, control.lease_ns) = (now_ns, now_ns + super::LEASE);
    };
    gate.program.set(set).expect("the kernel takes it");
}

fn comes(gate: &KernelGate, packet: &[u8]) -> bool {
    gate.show_incoming(packet).expect("the kernel shows it") == PASS
}

// As in core: a client that is in stays in for 15 s after its last connection.
#[test]
fn a_client_stays_in_until_it_is_idle() {
    let Some(mut gate) = bench() else { return };
    assert!(comes(&gate, &from4(1, 1, SYN)));
    change_knobs(&mut gate, |knobs| knobs.shut = u32::MAX);
    at(&mut gate, 14_000_000_000);
    assert!(comes(&gate, &from4(1, 2, SYN)));
    assert!(!comes(&gate, &from4(2, 3, SYN)), "another client");
    at(&mut gate, 14_000_000_000 + u64::from(IDLE + 1) * TICK);
    assert!(!comes(&gate, &from4(1, 4, SYN)));
}

// The client of a SYN+ACK that leaves is its receiver: let in by one, its SYNs pass too.
#[test]
fn an_answer_is_for_the_client_that_asked() {
    let Some(mut gate) = bench() else { return };
    let egress = Settings { syn_in: 0, limiter: 2, hashed: 1, client_cells: 64, ..settings() };
    let egress = Settings { client_idle: IDLE, client_prefix4: 32, client_prefix6: 64, ..egress };
    let Some(mut leaving) = super::gate(egress, 0) else { return };
    leaving.set_knobs(&knobs()).expect("the kernel takes them");
    assert_eq!(super::show(&leaving, &to4(1, 1, SYN_ACK)), PASS);
    change_knobs(&mut leaving, |knobs| knobs.shut = u32::MAX);
    assert_eq!(super::show(&leaving, &to4(1, 2, SYN_ACK)), PASS);
    assert_ne!(super::show(&leaving, &to4(2, 3, SYN_ACK)), PASS);
    change_knobs(&mut gate, |knobs| knobs.shut = u32::MAX);
    assert!(!comes(&gate, &from4(1, 1, SYN)), "a gate of its own");
}

// A /64 is one client, whatever its hosts; another /64 is another one.
#[test]
fn a_network_of_ipv6_is_one_client() {
    let Some(mut gate) = bench() else { return };
    assert!(comes(&gate, &from6(1, 1)));
    change_knobs(&mut gate, |knobs| knobs.shut = u32::MAX);
    assert!(comes(&gate, &from6(1, 200)));
    assert!(!comes(&gate, &from6(2, 1)));
}

// Ten tokens for those who come; who is in needs none.
#[test]
fn a_token_lets_a_client_in_with_all_of_its_connections() {
    let Some(gate) = bench() else { return };
    assert_eq!((1..=12).filter(|&last| comes(&gate, &from4(last, 1, SYN))).count(), 10);
    assert_eq!((2..=13).filter(|&port| comes(&gate, &from4(1, port, SYN))).count(), 12);
    let seen = tally(&gate);
    assert_eq!((seen.served, seen.waited, seen.let_in, seen.inside), (10, 2, 10, 12));
}

// As in core: half a minute after their first refusal two clients get the two tokens of the reserve, and
// the third one 200 ms later; a wait begins anew when a client was in and is idle.
#[test]
fn who_has_waited_for_half_a_minute_is_let_in_at_the_next_try() {
    let Some(mut gate) = bench() else { return };
    let tries = |gate: &mut KernelGate, client: u8, at_ms: u64| {
        at(gate, at_ms * 1_000_000);
        comes(gate, &from4(client, 1, SYN))
    };
    change_knobs(&mut gate, |knobs| knobs.shut = u32::MAX);
    for at_ms in [0, 15_000, 29_990] {
        assert!((1..=3).all(|client| !tries(&mut gate, client, at_ms)));
    }
    change_knobs(&mut gate, |_| {});
    assert_eq!((10..30).filter(|&client| tries(&mut gate, client, 30_010)).count(), 10);
    change_knobs(&mut gate, |knobs| knobs.shut = u32::MAX);
    assert!(tries(&mut gate, 1, 30_010) && tries(&mut gate, 2, 30_010));
    assert!(!tries(&mut gate, 3, 30_010));
    for (client, at_ms) in [(50, 30_110), (51, 30_211)] {
        assert!(!tries(&mut gate, 3, at_ms - 11));
        change_knobs(&mut gate, |_| {});
        assert!(tries(&mut gate, client, at_ms));
        change_knobs(&mut gate, |knobs| knobs.shut = u32::MAX);
    }
    assert!(tries(&mut gate, 3, 30_211));
    assert!(tries(&mut gate, 1, 45_000));
    assert!(!tries(&mut gate, 1, 61_000));
    assert!(!tries(&mut gate, 1, 90_000) && tries(&mut gate, 1, 91_010));
}

// A share of three connections in a round.
#[test]
fn a_client_opens_its_share_in_a_round() {
    let Some(mut gate) = bench() else { return };
    change_knobs(&mut gate, |knobs| (knobs.share, knobs.round) = (3, 1));
    assert_eq!((1..=4).filter(|&port| comes(&gate, &from4(1, port, SYN))).count(), 3);
    assert!(comes(&gate, &from4(2, 1, SYN)), "another client has its own share");
    change_knobs(&mut gate, |knobs| (knobs.share, knobs.round) = (3, 2));
    assert_eq!((5..=8).filter(|&port| comes(&gate, &from4(1, port, SYN))).count(), 3);
}

// A view by client, by hand: of three SYNs of one address a bucket of one token admits the first, and,
// 2 s later, the third; so it waited from its refusal at 1 ms on. Bytes are of packets to it.
#[test]
fn what_became_of_each_client_is_counted() {
    let settings = Settings { who: 2, client_prefix4: 32, client_prefix6: 64, ..settings() };
    let Some(mut gate) = gate(settings, 0) else { return };
    let mut one = Knobs::default();
    one.allow(1, Time::from_secs(1));
    gate.set_knobs(&one).expect("the kernel takes them");
    let mut at = |ms: u64, packet: &[u8]| {
        let now = |control: &mut tidegate_gate::shared::GateControl| {
            control.test_now_ns = ms * 1_000_000;
        };
        gate.program.set(now).expect("the kernel takes the time");
        super::show(&gate, packet)
    };
    assert_eq!(at(0, &from4(7, 1, SYN)), PASS);
    assert_eq!(at(1, &from4(7, 2, SYN)), super::SHOT);
    assert_eq!(at(2_001, &from4(7, 2, SYN)), PASS);
    assert_eq!(at(2_002, &from4(8, 1, SYN)), super::SHOT);
    let packet = to4(7, 1, "ACK");
    assert_eq!(at(2_003, &packet), PASS);
    let all = gate.whose().expect("the kernel tells");
    let shown = tidegate_gate::who::shown(&all, (32, 64), 3_002_000_000);
    let of = |address: &str| {
        let found = shown.iter().find(|client| client.address == address);
        found.unwrap_or_else(|| panic!("{address} is not among {shown:?}")).clone()
    };
    let (seven, eight) = (of("192.0.2.7"), of("192.0.2.8"));
    assert_eq!((seven.came, seven.refused, seven.bytes), (3, 1, packet.len() as u64));
    assert!((seven.waited_s - 2.0).abs() < 1e-9 && seven.waits_s.is_none());
    assert_eq!((eight.came, eight.refused, eight.waits_s), (1, 1, Some(1.0)));
}

// Two processors read the clock one after the other: an admission may be of an instant before the refusal
// that was noted. By hand: nothing was waited for, and the wait is over.
#[test]
fn a_wait_that_ends_before_it_began_counts_nothing() {
    let settings = Settings { who: 1, client_prefix4: 32, client_prefix6: 64, ..settings() };
    let Some(mut gate) = gate(settings, 0) else { return };
    for (ms, refuses, client, wanted) in
        [(0, true, 7, PASS), (3, true, 8, super::SHOT), (2, false, 8, PASS)]
    {
        let mut knobs = Knobs::default();
        if refuses {
            knobs.allow(1, Time::from_secs(1));
        }
        gate.set_knobs(&knobs).expect("the kernel takes them");
        let now = |control: &mut tidegate_gate::shared::GateControl| {
            control.test_now_ns = ms * 1_000_000;
        };
        gate.program.set(now).expect("the kernel takes the time");
        assert_eq!(super::show(&gate, &from4(client, 1, SYN)), wanted, "at {ms} ms");
    }
    let all = gate.whose().expect("the kernel tells");
    let shown = tidegate_gate::who::shown(&all, (32, 64), 3_002_000_000);
    let eight = shown.iter().find(|client| client.refused > 0).expect("it was refused");
    assert_eq!((eight.came, eight.refused), (2, 1));
    assert_eq!((eight.waited_s, eight.waits_s), (0.0, None));
}
