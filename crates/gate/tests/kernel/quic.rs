//! Connections of QUIC: the first Initial opens, silence ends (docs/quic.md).

use tidegate_core::law::session::Knobs;
use tidegate_core::units::Time;
use tidegate_gate::program::KernelGate;
use tidegate_gate::shared::{Fate, Settings, Tally};

use super::packets::{frame, ipv4};
use super::{PASS, SHOT, fate, gate, settings, show, tally};

const SECOND: u64 = 1_000_000_000;
/// Which packet opens a session (`enum opener` in `bpf/gate.h`).
const SYN: u32 = 0;
const SYN_ACK: u32 = 1;
const EITHER: u32 = 2;

/// A datagram of 1200 B from 10.0.0.1 and a port to port 443, or back.
fn datagram(port: u16, first: u8, back: bool) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    let ports = if back { [1, 0xbb, high, low] } else { [high, low, 1, 0xbb] };
    let mut bytes = vec![0; 1208];
    bytes[..4].copy_from_slice(&ports);
    bytes[4..6].copy_from_slice(&1208_u16.to_be_bytes());
    (bytes[8], bytes[12]) = (first, 1);
    let mut packet = ipv4(17, 0, &bytes);
    if back {
        let (from, to) = packet[12..20].split_at_mut(4);
        from.swap_with_slice(to);
    }
    frame(0x0800, &packet)
}

/// An Initial of version 1 (RFC 9000, 17.2.2), and a packet with a short header (17.3).
const INITIAL: u8 = 0xc3;
const SHORT: u8 = 0x43;

/// One token each 10 s; connections end after 5 s without a packet.
fn scarce(more: Settings) -> Option<KernelGate> {
    let cells = more.quic_cells.max(4096);
    let quic = Settings { quic_cells: cells, quic_idle_ms: 5000, ..more };
    let mut gate = gate(quic, 0)?;
    let mut knobs = Knobs::default();
    knobs.allow(1, Time::from_secs(10));
    gate.set_knobs(&knobs).expect("the kernel takes them");
    Some(gate)
}

fn at(gate: &mut KernelGate, seconds: u64) {
    gate.program
        .set(|control| {
            (control.test_now_ns, control.lease_ns) = (seconds * SECOND, (seconds + 30) * SECOND);
        })
        .expect("the kernel takes the time");
}

fn swept(gate: &KernelGate) -> Tally {
    gate.sweep().expect("the kernel sweeps");
    tally(gate)
}

/// By hand: the first client takes the only token, its further Initials need none, and the second
/// is refused until there is a token again. After 5 s of silence the first has ended, and its next
/// Initial asks again.
#[test]
fn the_first_initial_of_a_connection_opens_its_session() {
    let Some(mut gate) = scarce(settings()) else { return };
    at(&mut gate, 1);
    let (first, second) = (datagram(1, INITIAL, false), datagram(2, INITIAL, false));
    assert_eq!(fate(&gate, &first), Fate::QuicAdmitted);
    assert_eq!(fate(&gate, &first), Fate::QuicAdmitted, "sent again");
    assert_eq!(fate(&gate, &second), Fate::QuicRefused);
    assert_eq!(show(&gate, &second), SHOT);
    at(&mut gate, 3);
    assert_eq!(fate(&gate, &datagram(1, SHORT, false)), Fate::Quic);
    assert_eq!(fate(&gate, &datagram(9, SHORT, false)), Fate::Udp, "one that nobody knows");
    at(&mut gate, 7);
    let counts = swept(&gate);
    assert_eq!((counts.arrived, counts.admitted, counts.idle_ended), (3, 1, 0), "4 s of silence");
    at(&mut gate, 8);
    assert_eq!(swept(&gate).idle_ended, 1);
    assert_eq!(swept(&gate).idle_ended, 1, "an end counts once");
    assert_eq!(fate(&gate, &first), Fate::QuicRefused, "a connection of its own again");
    at(&mut gate, 11);
    assert_eq!(fate(&gate, &second), Fate::QuicAdmitted, "the next token");
}

/// The Initial of an upload leaves, that of a download comes in; the answer to either opens
/// nothing. Where downloads are refused at egress, the server's Initial opens.
#[test]
fn the_side_of_the_data_says_whose_initial_counts() {
    for (syn_in, opener, upload, download) in [
        (1, SYN, 1, 0),
        (1, SYN_ACK, 0, 1),
        (1, EITHER, 1, 1),
        (0, SYN_ACK, 1, 1),
        (0, EITHER, 1, 1),
    ] {
        let case = Settings { syn_in, opener, ..settings() };
        let said = format!("syn_in {syn_in}, opener {opener}");
        let Some(gate) = scarce(case) else { return };
        assert_eq!(fate(&gate, &datagram(1, INITIAL, false)), Fate::QuicAdmitted);
        gate.show_incoming(&datagram(1, INITIAL, true)).expect("the kernel shows it");
        assert_eq!(tally(&gate).arrived, upload, "upload, {said}");
        let Some(gate) = scarce(case) else { return };
        gate.show_incoming(&datagram(1, INITIAL, false)).expect("the kernel shows it");
        show(&gate, &datagram(1, INITIAL, true));
        assert_eq!(tally(&gate).arrived, download, "download, {said}");
    }
}

/// A refused download is dropped as it comes in. Of one that was admitted the first packet behind
/// the Initials shows that its client is there; one of another connection shows nothing.
#[test]
fn downloads_are_refused_as_they_come_in_and_answered_behind_their_initials() {
    let case = Settings { syn_in: 1, answer_words: 64, ..settings() };
    let Some(gate) = scarce(case) else { return };
    let incoming = |port, first| {
        gate.show_incoming(&datagram(port, first, false)).expect("the kernel shows it")
    };
    assert_eq!((incoming(1, INITIAL), incoming(2, INITIAL)), (PASS, SHOT));
    let counts = tally(&gate);
    assert_eq!((counts.of(Fate::QuicAdmitted), counts.of(Fate::QuicRefused)), (1, 1));
    assert_eq!((incoming(1, INITIAL), incoming(2, SHORT)), (PASS, PASS));
    assert_eq!(tally(&gate).answered, 0);
    assert_eq!((incoming(1, SHORT), incoming(1, SHORT)), (PASS, PASS));
    assert_eq!(tally(&gate).answered, 1);
}

/// A table of few cells forgets connections for others: these count as ended, so that none stays
/// open for ever. What only observes is not refused, and its end does not count.
#[test]
fn what_is_forgotten_has_ended_and_what_is_only_observed_does_not_end() {
    let Some(mut gate) = gate(Settings { quic_cells: 16, quic_idle_ms: 5000, ..settings() }, 0)
    else {
        return;
    };
    let mut knobs = Knobs::default();
    knobs.open();
    gate.set_knobs(&knobs).expect("the kernel takes them");
    for port in 0..100 {
        assert_eq!(fate(&gate, &datagram(1000 + port, INITIAL, false)), Fate::QuicAdmitted);
    }
    assert!(tally(&gate).idle_ended >= 100 - 16, "{}", tally(&gate).idle_ended);
    at(&mut gate, 6);
    assert_eq!(swept(&gate).idle_ended, 100);
    let Some(mut gate) = scarce(settings()) else { return };
    gate.program.set(|control| control.enforce = 0).expect("the kernel takes it");
    assert_eq!(fate(&gate, &datagram(1, INITIAL, false)), Fate::QuicAdmitted);
    assert_eq!(fate(&gate, &datagram(2, INITIAL, false)), Fate::WouldRefuse);
    assert_eq!(fate(&gate, &datagram(2, INITIAL, false)), Fate::QuicAdmitted, "let through");
    at(&mut gate, 6);
    assert_eq!(swept(&gate).idle_ended, 1);
}
