//! From bytes to records and back: built packets, and any bytes.
//!
//! The expected bytes come from etherparse's builder and its own sums.

use std::net::IpAddr;

use etherparse::{
    IpAuthHeader, IpFragOffset, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, Ipv6Extensions,
    Ipv6FlowLabel, Ipv6Header, Ipv6RawExtHeader, PacketBuilder, SlicedPacket, TcpHeader,
    TransportSlice,
};
use proptest::prelude::*;

use tidegate_core::packet::{Ext, Flags, Packet, RateHeader};
use tidegate_core::wire::ip::{Headers, IpError, Reader, write};
use tidegate_core::wire::reset::{Unanswered, reset};
use tidegate_core::wire::{Checksum, LENGTH, RateOption, WireError};

const READER: (u64, u64) = (7, 11);

fn read(bytes: &[u8]) -> Result<Headers, IpError> {
    Reader::new(READER).read(bytes)
}

/// What a test says of a packet.
#[derive(Clone, Debug)]
struct Said {
    v6: bool,
    ports: (u16, u16),
    seq: u32,
    ack: u32,
    bits: u8,
    ecn: u8,
    request: Option<u32>,
    extended: bool,
    data: Vec<u8>,
}

const SYN: u8 = 2;
const ACK: u8 = 16;

impl Default for Said {
    fn default() -> Said {
        Said {
            v6: false,
            ports: (40_000, 80),
            seq: 1_000,
            ack: 0,
            bits: SYN,
            ecn: 0,
            request: None,
            extended: false,
            data: Vec::new(),
        }
    }
}

impl Said {
    fn tcp(&self) -> TcpHeader {
        let mut tcp = TcpHeader::new(self.ports.0, self.ports.1, self.seq, 500);
        tcp.acknowledgment_number = self.ack;
        let bit = |place: u8| self.bits >> place & 1 == 1;
        (tcp.fin, tcp.syn, tcp.rst, tcp.psh) = (bit(0), bit(1), bit(2), bit(3));
        (tcp.ack, tcp.urg, tcp.ece, tcp.cwr) = (bit(4), bit(5), bit(6), bit(7));
        if let Some(request) = self.request {
            let option = RateOption { request: request.into(), feedback: 9, rtt_us: 1_000 };
            // two bytes of nothing, so that the option begins at an even byte and ends on a word
            let mut options = option.to_bytes().to_vec();
            options.resize(LENGTH, 1);
            tcp.set_options_raw(&options).expect("it fits");
        }
        tcp
    }

    fn ip(&self) -> IpHeaders {
        if self.v6 {
            let mut extensions = Ipv6Extensions::default();
            if self.extended {
                let raw = Ipv6RawExtHeader::new_raw(IpNumber::TCP, &[0; 6]).expect("six bytes");
                extensions.hop_by_hop_options = Some(raw.clone());
                extensions.destination_options = Some(raw);
            }
            let mut header = Ipv6Header {
                traffic_class: 0xB8 | self.ecn,
                flow_label: Ipv6FlowLabel::try_new(0xABCDE).expect("20 bits"),
                hop_limit: 9,
                source: [0x20; 16],
                destination: [0x30; 16],
                ..Ipv6Header::default()
            };
            header.next_header = extensions.set_next_headers(IpNumber::TCP);
            return IpHeaders::Ipv6(header, extensions);
        }
        let mut header = Ipv4Header::new(0, 9, IpNumber::TCP, [10, 0, 0, 1], [10, 0, 0, 2])
            .expect("a short payload");
        if self.extended {
            header.options = [7, 4, 4, 0].into();
        }
        (header.dscp, header.ecn) =
            (46.try_into().expect("6 bits"), self.ecn.try_into().expect("2 bits"));
        IpHeaders::Ipv4(header, Ipv4Extensions::default())
    }

    fn bytes(&self) -> Vec<u8> {
        let builder = PacketBuilder::ip(self.ip()).tcp_header(self.tcp());
        let mut bytes = Vec::new();
        builder.write(&mut bytes, &self.data).expect("memory takes it");
        bytes
    }

    fn flags(&self) -> Flags {
        let names = [
            Flags::FIN,
            Flags::SYN,
            Flags::RST,
            Flags::PUSH,
            Flags::ACK,
            Flags::NONE, // URG: no port cares
            Flags::ECE,
            Flags::CWR,
        ];
        let mut flags =
            [Flags::NONE, Flags::ECT.with(Flags::L4S), Flags::ECT, Flags::ECT.with(Flags::CE)]
                [usize::from(self.ecn)];
        for (place, name) in names.into_iter().enumerate() {
            if self.bits >> place & 1 == 1 {
                flags = flags.with(name);
            }
        }
        if self.data.is_empty() { flags } else { flags.with(Flags::DATA) }
    }
}

fn said() -> impl Strategy<Value = Said> {
    let numbers = (any::<(u16, u16)>(), any::<u32>(), any::<u32>(), any::<u8>(), 0..4u8);
    let request = proptest::option::of(1..u32::MAX);
    let data = proptest::collection::vec(any::<u8>(), 0..60);
    (any::<bool>(), numbers, request, any::<bool>(), data).prop_map(
        |(v6, (ports, seq, ack, bits, ecn), request, extended, data)| Said {
            v6,
            ports,
            seq,
            ack,
            bits,
            ecn,
            request,
            extended,
            data,
        },
    )
}

/// Whether every checksum is right, by etherparse.
fn sums_are_right(bytes: &[u8]) -> bool {
    let sliced = SlicedPacket::from_ip(bytes).expect("a whole packet");
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("not TCP") };
    match sliced.net.expect("IP") {
        etherparse::NetSlice::Ipv4(ip) => {
            let header = ip.header();
            let right = header.to_header().calc_header_checksum() == header.header_checksum();
            let tcp_sum = tcp.calc_checksum_ipv4(header.source(), header.destination());
            right && tcp_sum.expect("short") == tcp.checksum()
        }
        etherparse::NetSlice::Ipv6(ip) => {
            let header = ip.header();
            let tcp_sum = tcp.calc_checksum_ipv6(header.source(), header.destination());
            tcp_sum.expect("short") == tcp.checksum()
        }
        _ => panic!("not IP"),
    }
}

proptest! {
    /// The record says what the headers were built from, whatever follows the packet.
    #[test]
    fn the_record_is_what_was_built(said in said(), padding in 0..20usize) {
        let mut bytes = said.bytes();
        let size = bytes.len();
        bytes.resize(size + padding, 0);
        let headers = read(&bytes).expect("it was built whole");
        let record = headers.record;
        prop_assert_eq!(record.flags, said.flags());
        prop_assert_eq!((record.seq, record.ack), (said.seq, said.ack));
        prop_assert_eq!(usize::from(record.size), size);
        prop_assert_eq!(headers.ports, Some(said.ports));
        prop_assert_eq!(headers.data_bytes as usize, said.data.len());
        match (record.ext, said.request) {
            (Ext::Rate(header), Some(request)) => {
                // the option holds 19 bits of it, rounded down
                prop_assert!(header.request <= request && header.request >= request - request / 4096);
                prop_assert_eq!((header.feedback, header.rtt_us), (9, 1_000));
            }
            (ext, request) => prop_assert_eq!((ext, request), (Ext::None, None)),
        }
    }

    /// What a port changed comes back into the bytes, and nothing else: CE for
    /// what bears it, a lower request, and sums that are right.
    #[test]
    fn what_a_port_changed_is_written(said in said(), mark in any::<bool>(), lowered in proptest::option::of(1..u32::MAX)) {
        let before = said.bytes();
        let headers = read(&before).expect("it was built whole");
        let mut packet = headers.record;
        if mark && packet.flags.has(Flags::ECT) {
            packet.flags = packet.flags.with(Flags::CE);
        }
        if let (Ext::Rate(header), Some(most)) = (&mut packet.ext, lowered) {
            header.request = header.request.min(most);
        }
        let mut bytes = before.clone();
        write(&mut bytes, &headers, &packet, Checksum::Whole).expect("the same bytes");
        prop_assert!(sums_are_right(&bytes));
        let mut expected = said.clone();
        if mark && said.ecn != 0 {
            expected.ecn = 3;
        }
        if let (Some(request), Some(most)) = (said.request, lowered) {
            expected.request = Some(request.min(most));
        }
        prop_assert_eq!(bytes, expected.bytes());
    }

    /// Any bytes: no panic; what is read fits into them, and an unchanged record changes nothing.
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), version in 0..4u8) {
        if let Some(first) = bytes.first_mut() {
            *first = [0x45, 0x60, 0x46, *first][usize::from(version)];
        }
        if version < 3 && bytes.len() >= 60 {
            // a length that is there, so that more than the first check is met
            let length = bytes.len() as u16 - if version == 1 { 40 } else { 0 };
            let at = if version == 1 { 4 } else { 2 };
            bytes[at..at + 2].copy_from_slice(&length.to_be_bytes());
        }
        let Ok(headers) = read(&bytes) else { return Ok(()) };
        prop_assert!(usize::from(headers.record.size) <= bytes.len());
        let mut copy = bytes.clone();
        write(&mut copy, &headers, &headers.record, Checksum::Whole).expect("the same bytes");
        prop_assert_eq!(&copy, &bytes);
        let packet = Packet { flags: headers.record.flags.with(Flags::CE), ..headers.record };
        write(&mut copy, &headers, &packet, Checksum::Whole).expect("the same bytes");
        prop_assert_eq!(read(&copy).map(|headers| headers.record.flags.has(Flags::CE)), Ok(headers.record.flags.has(Flags::ECT)));
        let _ = reset(&headers);
    }

    /// A packet that is cut anywhere is refused, and the refusal says its length.
    #[test]
    fn a_cut_packet_is_refused(said in said(), keep in 0.0..1.0f64) {
        let bytes = said.bytes();
        let have = (bytes.len() as f64 * keep) as usize;
        let shortest = if said.v6 { 40 } else { 20 };
        let found = read(&bytes[..have]);
        if have == 0 {
            prop_assert_eq!(found, Err(IpError::Empty));
            return Ok(());
        }
        if !said.v6 && said.extended && (20..24).contains(&have) {
            // a header with options that is itself cut
            prop_assert!(found.is_err());
            return Ok(());
        }
        let needed = if have < shortest { shortest } else { bytes.len() };
        prop_assert_eq!(found, Err(IpError::Cut { have, needed }));
    }
}

/// RFC 9293, 3.10.7.1: a SYN with 3 bytes of data at SEQ 1000 is answered by
/// SEQ 0, ACK 1004; from whom it was for, to whom it came from.
#[test]
fn a_refused_syn_is_answered_as_by_a_host_where_nobody_listens() {
    for v6 in [false, true] {
        let said = Said { v6, data: b"abc".to_vec(), ..Said::default() };
        let refused = read(&said.bytes()).expect("whole");
        let answer = reset(&refused).expect("it opens a session");
        assert!(sums_are_right(&answer));
        let read = read(&answer).expect("whole");
        assert_eq!((read.source, read.destination), (refused.destination, refused.source));
        assert_eq!(read.ports, Some((80, 40_000)));
        assert_eq!(read.record.flags, Flags::RST.with(Flags::ACK));
        assert_eq!((read.record.seq, read.record.ack), (0, 1_004));
    }
}

/// The opener of a download gets a reset that its SYN-SENT state believes: it
/// acknowledges the SYN (RFC 9293, 3.10.7.3), in the name of the server.
#[test]
fn a_refused_syn_ack_is_answered_to_the_opener() {
    let said = Said { seq: 77_000, ack: 501, bits: SYN | ACK, ..Said::default() };
    let refused = read(&said.bytes()).expect("whole");
    let answer = read(&reset(&refused).expect("it opens a session")).expect("whole");
    assert_eq!((answer.source, answer.destination), (refused.source, refused.destination));
    assert_eq!(answer.ports, Some(said.ports));
    assert_eq!(answer.record.flags, Flags::RST.with(Flags::ACK));
    assert_eq!((answer.record.seq, answer.record.ack), (77_000, 501));
}

/// Nothing but an opening packet of one host to one host is answered (a reset never: RFC 9293, 3.5.2).
#[test]
fn resets_are_not_sent_to_everybody() {
    for bits in [ACK, SYN | 4, 1 | ACK, 0] {
        let said = Said { bits, ..Said::default() };
        assert_eq!(reset(&read(&said.bytes()).expect("whole")), Err(Unanswered::NotOpening));
    }
    for address in ["255.255.255.255", "224.0.0.1", "0.0.0.0"] {
        let refused = read(&Said::default().bytes()).expect("whole");
        let address: IpAddr = address.parse().expect("an address");
        for one_end in [true, false] {
            let mut to_all = refused;
            *if one_end { &mut to_all.source } else { &mut to_all.destination } = address;
            assert_eq!(reset(&to_all), Err(Unanswered::NotOneHost));
        }
    }
}

/// A fragment has no transport header that can be trusted, be it the first or
/// another; nor has what is authenticated one that may be changed.
#[test]
fn fragments_and_sealed_packets_are_opaque() {
    let opaque = |ip: IpHeaders, request: u32| {
        let said = Said { request: Some(request), ..Said::default() };
        let mut bytes = Vec::new();
        PacketBuilder::ip(ip).tcp_header(said.tcp()).write(&mut bytes, &[1; 8]).expect("memory");
        let headers = read(&bytes).expect("an IP packet");
        assert_eq!(headers.record.flags, Flags::OPAQUE.with(Flags::ECT));
        assert_eq!((headers.ports, headers.record.ext), (None, Ext::None));
        assert_eq!(headers.record.size as usize, bytes.len());
        // an attempt at the option changes nothing, a mark is set
        let ext = Ext::Rate(RateHeader { request: 1, ..RateHeader::default() });
        let flags = headers.record.flags.with(Flags::CE);
        let mut written = bytes.clone();
        let packet = Packet { ext, flags, ..headers.record };
        write(&mut written, &headers, &packet, Checksum::Whole).expect("the same bytes");
        assert_eq!(read(&written).expect("whole").record.flags, flags.with(Flags::ECT));
    };
    let v4 = |offset: u16, more: bool| {
        let IpHeaders::Ipv4(mut header, _) = (Said { ecn: 2, ..Said::default() }).ip() else {
            panic!("IPv4 was asked for")
        };
        header.fragment_offset = IpFragOffset::try_new(offset).expect("13 bits");
        header.more_fragments = more;
        header
    };
    opaque(IpHeaders::Ipv4(v4(0, true), Ipv4Extensions::default()), 5);
    opaque(IpHeaders::Ipv4(v4(100, false), Ipv4Extensions::default()), 5);
    let auth = IpAuthHeader::new(IpNumber::TCP, 1, 2, &[9; 12]).expect("whole words");
    let mut header = v4(0, false);
    header.protocol = IpNumber::AUTHENTICATION_HEADER;
    opaque(IpHeaders::Ipv4(header, Ipv4Extensions { auth: Some(auth.clone()) }), 5);
    let IpHeaders::Ipv6(mut header, mut extensions) =
        (Said { v6: true, ecn: 2, ..Said::default() }).ip()
    else {
        panic!("IPv6 was asked for")
    };
    extensions.auth = Some(auth);
    header.next_header = extensions.set_next_headers(IpNumber::TCP);
    opaque(IpHeaders::Ipv6(header, extensions), 5);
}

/// A chain of extension headers that ends before it says is opaque, whatever its last one is.
#[test]
fn a_cut_chain_of_extension_headers_is_opaque() {
    // hop-by-hop, routing, fragment, authentication and destination options
    for kind in [0, 43, 44, 51, 60] {
        for rest in 0..16u8 {
            let mut bytes = vec![0; 40 + usize::from(rest)];
            (bytes[0], bytes[5], bytes[6]) = (0x60, rest, kind);
            for (at, byte) in bytes[40..].iter_mut().enumerate() {
                // of its own kind again, and longer than what is there
                *byte = if at % 8 == 0 { kind } else { 9 };
            }
            let headers = read(&bytes).expect("an IP packet");
            assert_eq!(headers.record.flags, Flags::OPAQUE, "{kind}, {rest}");
        }
    }
}

/// What is neither TCP nor UDP passes as opaque; UDP with payload is data.
#[test]
fn other_protocols() {
    let mut bytes = Vec::new();
    let ip = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9);
    ip.icmpv4_echo_request(1, 2).write(&mut bytes, &[0; 20]).expect("memory");
    let icmp = read(&bytes).expect("whole");
    assert_eq!((icmp.record.flags, icmp.ports, icmp.protocol), (Flags::OPAQUE, None, 1));
    for (data, flags) in [(0, Flags::NONE), (9, Flags::DATA)] {
        let mut bytes = Vec::new();
        let ip = PacketBuilder::ipv6([1; 16], [2; 16], 9);
        ip.udp(53, 5353).write(&mut bytes, &vec![0; data]).expect("memory");
        let udp = read(&bytes).expect("whole");
        assert_eq!((udp.record.flags, udp.ports, udp.protocol), (flags, Some((53, 5353)), 17));
        assert_eq!(udp.record.size as usize, 48 + data);
    }
}

/// A flow is its five numbers and the key: one more bit in any of them is another flow.
#[test]
fn flows_are_distinguished() {
    let flow = |key, said: &Said| Reader::new(key).read(&said.bytes()).expect("whole").record;
    let one = Said::default();
    let same = Said { seq: 5, ack: 6, bits: ACK, data: vec![1; 9], ..Said::default() };
    let there = flow(READER, &one);
    assert_eq!(flow(READER, &same).flow, there.flow);
    for other in [
        flow(READER, &Said { ports: (40_001, 80), ..Said::default() }),
        flow(READER, &Said { ports: (80, 40_000), ..Said::default() }),
        flow(READER, &Said { v6: true, ..Said::default() }),
        flow((7, 12), &one),
    ] {
        assert_ne!(other.flow, there.flow);
    }
    assert_ne!(there.src, there.dst);
}

/// A packet that came with a mark is not written to: even a checksum of 0xFFFF,
/// which means what zero means, stays as it is.
#[test]
fn a_mark_that_was_there_changes_nothing() {
    let mut bytes = Said { ecn: 3, ..Said::default() }.bytes();
    bytes[10..12].copy_from_slice(&[0xFF, 0xFF]);
    let (headers, mut copy) = (read(&bytes).expect("whole"), bytes.clone());
    write(&mut copy, &headers, &headers.record, Checksum::Whole).expect("the same bytes");
    assert_eq!(copy, bytes);
}

/// Bytes that are not those that were read are refused, not overrun.
#[test]
fn other_bytes_are_refused() {
    let bytes = Said::default().bytes();
    let headers = read(&bytes).expect("whole");
    let mut short = bytes[..30].to_vec();
    let refused = write(&mut short, &headers, &headers.record, Checksum::Whole);
    assert_eq!(refused, Err(WireError::Cut { have: 30, needed: 40 }));
    assert_eq!(read(&[0x50; 60]), Err(IpError::Version(5)));
    let mut lying = bytes.clone();
    lying[2..4].copy_from_slice(&19u16.to_be_bytes());
    assert_eq!(read(&lying), Err(IpError::Length));
}
