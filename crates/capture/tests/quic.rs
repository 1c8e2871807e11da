//! Connections of QUIC. Every expected number is worked out by hand: of a packet with a short header
//! all but 30 B is data, and one of 60 B or less only acknowledges.

use crate::common::*;
use std::net::{Ipv4Addr, SocketAddr};
use tidegate_capture::{CapturedFlow, Direction, Flows, Transport, read};

const GUEST: ([u8; 4], u16) = ([192, 0, 2, 9], 50_000);
const SITE: ([u8; 4], u16) = ([192, 0, 2, 2], 443);
/// First bytes of packets: of an Initial (RFC 9000, 17.2.2), and with a short header (17.3.1).
const INITIAL: u8 = 0xc0;
const SHORT: u8 = 0x40;

/// A packet at a time in seconds: who sends it, its first byte, and the length of its payload.
type Packet = (f64, bool, u8, usize);

fn packets(packets: &[Packet]) -> Vec<Frame> {
    let frame = |&(at_s, by_guest, first, length): &Packet| {
        let (from, to) = if by_guest { (GUEST, SITE) } else { (SITE, GUEST) };
        let mut payload = vec![0; length];
        payload[0] = first;
        let mut bytes = Vec::new();
        let udp = etherparse::PacketBuilder::ipv4(from.0, to.0, 64).udp(from.1, to.1);
        udp.write(&mut bytes, &payload).unwrap();
        ethernet((at_s * 1e9) as u64, &bytes)
    };
    packets.iter().map(frame).collect()
}

fn found(all: &[Packet]) -> Flows {
    read(&usual(&packets(all))).unwrap()
}

fn end((ip, port): ([u8; 4], u16)) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::from(ip).into(), port)
}

fn flow(start_s: f64, direction: Direction, size: u64, other: u64, closed: bool) -> CapturedFlow {
    CapturedFlow {
        start_ns: (start_s * 1e9) as u64,
        size_bytes: size,
        other_bytes: other,
        direction,
        client: end(GUEST),
        server: end(SITE),
        closed,
        transport: Transport::Quic,
    }
}

const PAGE: [Packet; 7] = [
    (1.0, true, INITIAL, 1200),
    (1.1, false, INITIAL, 1200),
    (1.2, true, SHORT, 400),
    (1.3, false, SHORT, 1250),
    (1.31, false, SHORT, 1250),
    (1.4, true, SHORT, 45),
    (1.5, false, SHORT, 530),
];

#[test]
fn a_connection_is_what_its_packets_of_data_hold() {
    // 2 x 1220 + 500 B from the server, 370 B from the guest; 45 B acknowledge
    assert_eq!(found(&PAGE).flows, [flow(0.0, Direction::Download, 2940, 370, false)]);
    assert_eq!(skipped(&found(&PAGE)), []);
    // the same the other way round is an upload
    let turned = PAGE.map(|(at_s, by_guest, first, length)| (at_s, !by_guest, first, length));
    assert_eq!(found(&turned).flows, [flow(0.0, Direction::Upload, 2940, 370, false)]);
}

#[test]
fn half_a_minute_of_silence_ends_a_connection() {
    let mut all = PAGE.to_vec();
    // 29 s after its last packet it goes on, 31 s after that another begins
    all.push((30.5, false, SHORT, 130));
    all.push((61.5, false, SHORT, 230));
    let first = flow(0.0, Direction::Download, 3040, 370, true);
    let second = flow(60.5, Direction::Download, 200, 0, false);
    assert_eq!(found(&all).flows, [first, second]);
}

#[test]
fn a_handshake_alone_carries_no_data() {
    let found = found(&PAGE[..2]);
    assert_eq!(found.flows, []);
    assert_eq!(found.skipped.len(), 1);
    assert_eq!(found.skipped[0].reason.to_string(), "connection without data");
}

#[test]
fn both_transports_stand_in_one_list() {
    let mut both = frames(&download(7.0));
    both.extend(packets(&PAGE));
    let transports: Vec<_> =
        read(&usual(&both)).unwrap().flows.iter().map(|flow| flow.transport).collect();
    // QUIC from 1.0 s, TCP from 7.0 s
    assert_eq!(transports, [Transport::Quic, Transport::Tcp]);
}

#[test]
fn a_snap_length_changes_nothing() {
    // what is left: Ethernet, IP, UDP, and the first byte behind them
    let cut = packets(&PAGE).into_iter().map(|mut frame| {
        frame.data.truncate(14 + 20 + 8 + 1);
        frame
    });
    let file = usual(&cut.collect::<Vec<_>>());
    assert_eq!(read(&file).unwrap().flows, [flow(0.0, Direction::Download, 2940, 370, false)]);
}
