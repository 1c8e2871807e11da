//! Packets as bytes.

use etherparse::PacketBuilder;

pub(crate) const SYN: &str = "SYN";
pub(crate) const SYN_ACK: &str = "SYN+ACK";
pub(crate) const FIN: &str = "FIN+ACK";
pub(crate) const RST: &str = "RST";

/// TCP from 10.0.0.1 to 192.0.2.9, of the flow with that port.
pub(crate) fn tcp(port: u16, flags: &str) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [192, 0, 2, 9], 64);
    finish(with(builder.tcp(port, 443, 1000, 64_000), flags))
}

/// What comes back of it.
pub(crate) fn answer(port: u16, flags: &str) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([4; 6], [2; 6]).ipv4([192, 0, 2, 9], [10, 0, 0, 1], 64);
    finish(with(builder.tcp(443, port, 1000, 64_000), flags))
}

/// As [`tcp`] over IPv6, from 2001:db8::1 to 2001:db8::9.
pub(crate) fn tcp6(port: u16, flags: &str) -> Vec<u8> {
    let (from, to) = (v6(1), v6(9));
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv6(from, to, 64);
    finish(with(builder.tcp(port, 443, 1000, 64_000), flags))
}

pub(crate) fn v6(last: u8) -> [u8; 16] {
    let mut address = [0; 16];
    (address[0], address[1], address[2], address[3]) = (0x20, 0x01, 0x0d, 0xb8);
    address[15] = last;
    address
}

type Tcp = etherparse::PacketBuilderStep<etherparse::TcpHeader>;

pub(crate) fn with(mut tcp: Tcp, flags: &str) -> Tcp {
    for flag in flags.split('+') {
        tcp = match flag {
            "SYN" => tcp.syn(),
            "ACK" => tcp.ack(1),
            "FIN" => tcp.fin(),
            "RST" => tcp.rst(),
            "DATA" => tcp.psh(),
            // what the simulator tells of a packet and bytes do not
            "RETRANSMIT" | "OPAQUE" => tcp,
            other => panic!("`{other}` is no flag"),
        };
    }
    tcp
}

pub(crate) fn finish(tcp: Tcp) -> Vec<u8> {
    let mut bytes = Vec::new();
    tcp.write(&mut bytes, b"abcd").expect("a vector takes it");
    bytes
}

/// An Ethernet frame of that type.
pub(crate) fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[4; 6][..], &[2; 6], &kind.to_be_bytes(), payload].concat()
}

/// An IPv4 packet of that protocol, without the frame; `fragment` is the field with its flags.
pub(crate) fn ipv4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len() as u16).to_be_bytes();
    let [f0, f1] = fragment.to_be_bytes();
    let head = [0x45, 0, length[0], length[1], 0, 1, f0, f1, 64, protocol, 0, 0];
    [&head[..], &[10, 0, 0, 1], &[192, 0, 2, 9], payload].concat()
}

/// An IPv6 packet whose first next header is `next`.
pub(crate) fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    let head = [0x60, 0, 0, 0, length[0], length[1], next, 64];
    [&head[..], &v6(1), &v6(9), payload].concat()
}

/// A TCP header of 20 bytes with these flags (RFC 9293, 3.1).
pub(crate) fn tcp_header(flags: u8) -> Vec<u8> {
    let mut header = vec![0; 20];
    (header[0], header[2], header[12], header[13]) = (0x9c, 0x01, 0x50, flags);
    header
}

/// A UDP datagram (RFC 768).
pub(crate) fn udp(payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    [&[0xc0, 0, 1, 0xbb, length[0], length[1], 0, 0][..], payload].concat()
}
