//! What the program sees in bytes: each kind of packet meets the fate it should.

use tidegate_core::law::session::Knobs;
use tidegate_core::units::Time;
use tidegate_gate::program::KernelGate;
use tidegate_gate::shared::{Fate, Settings};

use super::packets::{FIN, SYN, frame, ipv4, ipv6, tcp, tcp_header, tcp6, udp};
use super::{PASS, fate, gate, settings};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TCP_SYN: u8 = 2;

/// One that admits everything.
fn open() -> Option<KernelGate> {
    let mut gate = gate(settings(), 0)?;
    let mut knobs = Knobs::default();
    knobs.open();
    gate.set_knobs(&knobs).expect("the kernel takes them");
    Some(gate)
}

fn expect(gate: &KernelGate, cases: &[(&str, Vec<u8>, Fate)]) {
    for (what, packet, expected) in cases {
        assert_eq!(fate(gate, packet), *expected, "{what}");
    }
}

// Headers by RFC 791, 8200, 9293 and IEEE 802.1Q; what cannot be seen passes (session-control, VI-A).
#[test]
fn sessions_are_found_behind_tags_and_extension_headers() {
    let Some(gate) = open() else { return };
    let syn = tcp_header(TCP_SYN);
    let tagged = |kind: u16, inner: Vec<u8>| [&[0, 5][..], &kind.to_be_bytes(), &inner].concat();
    let hop = |next: u8, rest: &[u8]| [&[next, 0, 0, 0, 0, 0, 0, 0][..], rest].concat();
    // a destination header of two units of 8
    let long = [&[6, 1][..], &[0; 14], &syn].concat();
    let fragment =
        |offset: u16, rest: &[u8]| [&[6, 0][..], &offset.to_be_bytes(), &[0; 4], rest].concat();
    let mut options = ipv4(6, 0, &[&[1, 1, 1, 0][..], &syn].concat());
    options[0] = 0x46;
    expect(
        &gate,
        &[
            ("IPv4", tcp(1, SYN), Fate::Admitted),
            ("IPv6", tcp6(1, SYN), Fate::Admitted),
            ("IPv4 with options", frame(IPV4, &options), Fate::Admitted),
            ("a VLAN", frame(0x8100, &tagged(IPV4, ipv4(6, 0, &syn))), Fate::Admitted),
            (
                "a VLAN in a VLAN",
                frame(0x88a8, &tagged(0x8100, tagged(IPV6, ipv6(6, &syn)))),
                Fate::Admitted,
            ),
            ("hop by hop", frame(IPV6, &ipv6(0, &hop(6, &syn))), Fate::Admitted),
            (
                "hop by hop, then destination",
                frame(IPV6, &ipv6(0, &hop(60, &long))),
                Fate::Admitted,
            ),
            ("first fragment, IPv4", frame(IPV4, &ipv4(6, 0x2000, &syn)), Fate::Admitted),
            ("first fragment, IPv6", frame(IPV6, &ipv6(44, &fragment(1, &syn))), Fate::Admitted),
            ("later fragment, IPv4", frame(IPV4, &ipv4(6, 185, &syn)), Fate::Fragment),
            ("later fragment, IPv6", frame(IPV6, &ipv6(44, &fragment(8, &syn))), Fate::Fragment),
            ("a FIN", tcp(2, FIN), Fate::End),
            ("an ACK", frame(IPV4, &ipv4(6, 0, &tcp_header(0x10))), Fate::Other),
        ],
    );
}

#[test]
fn what_cannot_be_seen_passes_and_is_counted() {
    let Some(gate) = open() else { return };
    let syn = tcp_header(TCP_SYN);
    let mut short = ipv4(6, 0, &syn);
    short[0] = 0x44; // a header of 16 bytes is none
    expect(
        &gate,
        &[
            ("ESP", frame(IPV4, &ipv4(50, 0, &[0; 30])), Fate::Opaque),
            ("AH", frame(IPV4, &ipv4(51, 0, &[0; 30])), Fate::Opaque),
            ("IP in IP", frame(IPV4, &ipv4(4, 0, &ipv4(6, 0, &syn))), Fate::Opaque),
            ("GRE", frame(IPV6, &ipv6(47, &[0; 30])), Fate::Opaque),
            ("PPPoE", frame(0x8864, &[0; 40]), Fate::Opaque),
            ("ICMP", frame(IPV4, &ipv4(1, 0, &[8; 16])), Fate::OtherIp),
            ("ARP", frame(0x0806, &[0; 46]), Fate::NotIp),
            ("half a TCP header", frame(IPV4, &ipv4(6, 0, &syn[..10])), Fate::Malformed),
            ("a header too short", frame(IPV4, &short), Fate::Malformed),
            ("IPv6 that says 4", frame(IPV6, &ipv4(6, 0, &[0; 30])), Fate::Malformed),
            ("UDP", frame(IPV4, &ipv4(17, 0, &udp(&[0; 30]))), Fate::Udp),
        ],
    );
}

/// A QUIC packet with a long header: first byte, version, the rest (RFC 9000, 17.2).
fn quic(first: u8, version: u32, bytes: usize) -> Vec<u8> {
    let mut payload = vec![0; bytes];
    payload[0] = first;
    payload[1..5].copy_from_slice(&version.to_be_bytes());
    frame(IPV4, &ipv4(17, 0, &udp(&payload)))
}

// Initial is type 0 in version 1 (RFC 9000, 17.2.2) and 1 in version 2 (RFC 9369, 3.2);
// one that opens is not below 1200 bytes (RFC 9000, 14.1).
#[test]
fn quic_initials_are_told_from_other_udp() {
    let Some(gate) = open() else { return };
    expect(
        &gate,
        &[
            ("Initial of version 1", quic(0xc3, 1, 1200), Fate::QuicAdmitted),
            ("Initial of version 2", quic(0xd3, 0x6b33_43cf, 1252), Fate::QuicAdmitted),
            ("Handshake of version 1", quic(0xe3, 1, 1200), Fate::Udp),
            ("0-RTT of version 1, which is version 2's Initial", quic(0xd3, 1, 1200), Fate::Udp),
            ("a short Initial", quic(0xc3, 1, 1199), Fate::Udp),
            ("a greased bit (RFC 9287)", quic(0x83, 1, 1200), Fate::QuicAdmitted),
            ("version negotiation", quic(0xc3, 0, 1200), Fate::Udp),
            ("short header", quic(0x43, 1, 1200), Fate::Udp),
        ],
    );
}

// What follows an Initial that was admitted is of a session that the gate sees.
#[test]
fn quic_of_a_known_connection_is_seen() {
    let Some(mut gate) = gate(Settings { quic_cells: 64, ..settings() }, 0) else { return };
    let mut knobs = Knobs::default();
    knobs.allow(1, Time::from_secs(1));
    gate.set_knobs(&knobs).expect("the kernel takes them");
    assert_eq!(fate(&gate, &quic(0x43, 1, 1200)), Fate::Udp, "of no connection");
    assert_eq!(fate(&gate, &quic(0xc3, 1, 1200)), Fate::QuicAdmitted);
    assert_eq!(fate(&gate, &quic(0x43, 1, 1200)), Fate::Quic);
    assert!(!Fate::Quic.unseen());
}

// On request an Initial takes a token from the bucket that TCP takes from; else it passes.
#[test]
fn quic_shares_the_bucket_on_request() {
    for (quic_cells, second) in [(64, Fate::QuicRefused), (0, Fate::QuicAdmitted)] {
        let Some(mut gate) = gate(Settings { quic_cells, ..settings() }, 0) else { return };
        let mut knobs = Knobs::default();
        knobs.allow(1, Time::from_secs(1));
        gate.set_knobs(&knobs).expect("the kernel takes them");
        assert_eq!(fate(&gate, &tcp(1, SYN)), Fate::Admitted);
        assert_eq!(fate(&gate, &quic(0xc3, 1, 1200)), second);
    }
}

// Whatever the bytes, the program answers and the packet has one fate.
#[test]
fn any_bytes_pass_or_are_counted() {
    let Some(mut gate) = gate(Settings { quic_cells: 64, syn_in: 1, ..settings() }, 0) else {
        return;
    };
    let mut knobs = Knobs::default();
    knobs.open();
    gate.set_knobs(&knobs).expect("the kernel takes them");
    let whole = [
        tcp(1, SYN),
        frame(IPV6, &ipv6(0, &[&[6, 0, 0, 0, 0, 0, 0, 0][..], &tcp_header(TCP_SYN)].concat())),
        quic(0xc3, 1, 1200),
    ];
    for packet in whole {
        // the kernel shows nothing shorter than the headers of Ethernet and IP
        for cut in 54..packet.len().min(120) {
            fate(&gate, &packet[..cut]);
            let mut changed = packet.clone();
            changed[cut] ^= 0xff;
            fate(&gate, &changed);
            for incoming in [&packet[..cut], &changed] {
                assert_eq!(gate.show_incoming(incoming).expect("the kernel shows it"), PASS);
            }
        }
    }
}
