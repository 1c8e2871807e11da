//! Captures made by hand: packets by etherparse, files by pcap-file.
#![allow(dead_code, reason = "each test uses its own part of this")]

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use byteorder_slice::{BigEndian, LittleEndian};
use etherparse::PacketBuilder;
use pcap_file::pcap::{PcapHeader, RawPcapPacket};
use pcap_file::{DataLink, Endianness, TsResolution};
use tidegate_capture::{CapturedFlow, Direction, Flows, Reason, Transport};

pub const CLIENT: ([u8; 4], u16) = ([192, 0, 2, 1], 40000);
pub const SERVER: ([u8; 4], u16) = ([192, 0, 2, 2], 80);

/// One captured frame.
#[derive(Clone, Debug)]
pub struct Frame {
    pub ns: u64,
    pub wire_len: usize,
    pub data: Vec<u8>,
}

/// Which end sends: the client or the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Client,
    Server,
}
pub use End::{Client, Server};

/// A TCP segment before it has an IP header.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    pub at_s: f64,
    pub from: End,
    /// Letters of the flags: S, A, F, R.
    pub flags: &'static str,
    pub sequence: u32,
    pub ack: u32,
    pub data: usize,
}

pub fn tcp(at_s: f64, from: End, flags: &'static str, sequence: u32, ack: u32, data: usize) -> Tcp {
    Tcp { at_s, from, flags, sequence, ack, data }
}

impl Tcp {
    pub fn ns(&self) -> u64 {
        (self.at_s * 1e9).round() as u64
    }

    /// As an IPv4 packet between the usual two ends.
    pub fn ip(&self) -> Vec<u8> {
        self.ip_between(CLIENT, SERVER)
    }

    pub fn ip_between(&self, client: ([u8; 4], u16), server: ([u8; 4], u16)) -> Vec<u8> {
        let (from, to) = if self.from == Client { (client, server) } else { (server, client) };
        let builder = PacketBuilder::ipv4(from.0, to.0, 64);
        self.write(builder.tcp(from.1, to.1, self.sequence, 65535))
    }

    pub fn write<S>(&self, builder: etherparse::PacketBuilderStep<S>) -> Vec<u8>
    where
        etherparse::PacketBuilderStep<S>: Segments,
    {
        builder.packet(self)
    }

    /// As an Ethernet frame.
    pub fn frame(&self) -> Frame {
        ethernet(self.ns(), &self.ip())
    }
}

/// What etherparse can finish a TCP packet with.
pub trait Segments {
    fn packet(self, segment: &Tcp) -> Vec<u8>;
}

impl Segments for etherparse::PacketBuilderStep<etherparse::TcpHeader> {
    fn packet(mut self, segment: &Tcp) -> Vec<u8> {
        for flag in segment.flags.chars() {
            self = match flag {
                'S' => self.syn(),
                'A' => self.ack(segment.ack),
                'F' => self.fin(),
                'R' => self.rst(),
                other => panic!("no flag {other}"),
            };
        }
        let payload = vec![0x55; segment.data];
        let mut bytes = Vec::new();
        self.write(&mut bytes, &payload).unwrap();
        bytes
    }
}

/// An Ethernet frame around an IPv4 packet, padded to the least length there is.
pub fn ethernet(ns: u64, ip: &[u8]) -> Frame {
    let mut data = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    data.extend_from_slice(ip);
    data.resize(data.len().max(60), 0);
    Frame { ns, wire_len: data.len(), data }
}

pub fn frames(segments: &[Tcp]) -> Vec<Frame> {
    segments.iter().map(Tcp::frame).collect()
}

/// A pcap file.
pub fn pcap(
    link: u32,
    endianness: Endianness,
    resolution: TsResolution,
    frames: &[Frame],
) -> Vec<u8> {
    let header = PcapHeader {
        datalink: DataLink::from(link),
        ts_resolution: resolution,
        endianness,
        ..PcapHeader::default()
    };
    let mut file = Vec::new();
    header.write_to(&mut file).unwrap();
    for frame in frames {
        let time = Duration::from_nanos(frame.ns);
        let unit = if resolution == TsResolution::MicroSecond { 1000 } else { 1 };
        let packet = RawPcapPacket {
            ts_sec: time.as_secs() as u32,
            ts_frac: time.subsec_nanos() / unit,
            incl_len: frame.data.len() as u32,
            orig_len: frame.wire_len as u32,
            data: frame.data.as_slice().into(),
        };
        match endianness {
            Endianness::Big => packet.write_to::<_, BigEndian>(&mut file).unwrap(),
            Endianness::Little => packet.write_to::<_, LittleEndian>(&mut file).unwrap(),
        };
    }
    file
}

/// A pcap file as tcpdump writes it on most machines.
pub fn usual(frames: &[Frame]) -> Vec<u8> {
    pcap(1, Endianness::Little, TsResolution::MicroSecond, frames)
}

/// A flow between the usual two ends.
pub fn flow(
    start_s: f64,
    direction: Direction,
    size_bytes: u64,
    other_bytes: u64,
    closed: bool,
) -> CapturedFlow {
    CapturedFlow {
        start_ns: (start_s * 1e9).round() as u64,
        size_bytes,
        other_bytes,
        direction,
        client: end(CLIENT),
        server: end(SERVER),
        closed,
        transport: Transport::Tcp,
    }
}

pub fn end(end: ([u8; 4], u16)) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(end.0), end.1))
}

/// A connection in which the client asks for 5000 B with 100 B, from `at_s` on:
/// sequence numbers 1000 (client) and 9000 (server) are those of the SYNs.
pub fn download(at_s: f64) -> Vec<Tcp> {
    let at = |ms: f64| at_s + ms / 1e3;
    vec![
        tcp(at(0.0), Client, "S", 1000, 0, 0),
        tcp(at(10.0), Server, "SA", 9000, 1001, 0),
        tcp(at(20.0), Client, "A", 1001, 9001, 0),
        tcp(at(20.0), Client, "A", 1001, 9001, 100),
        tcp(at(30.0), Server, "A", 9001, 1101, 1448),
        tcp(at(31.0), Server, "A", 10449, 1101, 1448),
        tcp(at(40.0), Client, "A", 1101, 11897, 0),
        tcp(at(50.0), Server, "A", 11897, 1101, 1448),
        tcp(at(51.0), Server, "FA", 13345, 1101, 656),
        tcp(at(60.0), Client, "A", 1101, 14002, 0),
        tcp(at(60.0), Client, "FA", 1101, 14002, 0),
        tcp(at(70.0), Server, "A", 14002, 1102, 0),
    ]
}

/// What was left out, and how often.
pub fn skipped(found: &Flows) -> Vec<(Reason, u64)> {
    found.skipped.iter().map(|each| (each.reason, each.count)).collect()
}
