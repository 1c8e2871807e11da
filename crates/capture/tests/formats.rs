//! Kinds of captures: the same connection in each must be the same flow.

use std::borrow::Cow;
use std::time::Duration;

use crate::common::*;
use byteorder_slice::{BigEndian, ByteOrder, LittleEndian};
use etherparse::{IpNumber, Ipv6RawExtHeader, PacketBuilder, VlanId};
use pcap_file::pcapng::PcapNgBlock;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::{DataLink, Endianness, TsResolution};
use tidegate_capture::Direction::Download;
use tidegate_capture::{CapturedFlow, Reason, Skipped, read};

const START_S: f64 = 1000.25;

fn expected() -> CapturedFlow {
    flow(0.0, Download, 5000, 100, true)
}

/// The usual download with each IP packet behind `link`'s header.
fn behind(header: &[u8]) -> Vec<Frame> {
    let framed = |segment: &Tcp| {
        let data = [header, &segment.ip()].concat();
        Frame { ns: segment.ns(), wire_len: data.len(), data }
    };
    download(START_S).iter().map(framed).collect()
}

#[test]
fn byte_orders_and_resolutions_of_pcap() {
    let frames = frames(&download(START_S));
    for endianness in [Endianness::Big, Endianness::Little] {
        for resolution in [TsResolution::MicroSecond, TsResolution::NanoSecond] {
            let file = pcap(1, endianness, resolution, &frames);
            let found = read(&file).unwrap();
            assert_eq!(found.flows, [expected()], "{endianness:?} {resolution:?}");
            assert_eq!(found.span_ns, 70_000_000);
        }
    }
}

#[test]
fn link_types() {
    let ipv4 = 0x0800u16.to_be_bytes();
    let cooked = [&[0u8, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0], &ipv4[..]].concat();
    let cooked2 = [&ipv4[..], &[0, 0, 0, 0, 0, 1, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0]].concat();
    let links: [(u32, &[u8]); 10] = [
        (0, &[2, 0, 0, 0]),   // null, captured on a little-endian machine
        (0, &[0, 0, 0, 2]),   // and on a big-endian one
        (108, &[0, 0, 0, 2]), // loop
        (101, &[]),           // raw IP
        (12, &[]),            // raw IP by the number that systems use within
        (14, &[]),
        (228, &[]), // raw IPv4
        (113, &cooked),
        (276, &cooked2),
        // Ethernet, with a check sequence of 4 B announced in the upper bits of the link's number
        (0x5400_0001, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]),
    ];
    for (link, header) in links {
        let file = pcap(link, Endianness::Little, TsResolution::MicroSecond, &behind(header));
        assert_eq!(read(&file).unwrap().flows, [expected()], "link type {link}");
    }
}

#[test]
fn vlan_tags() {
    let tag = [0x81, 0, 0, 7];
    let outer = [0x88, 0xa8, 0, 9];
    let addresses = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    for tags in [&tag[..], &[outer, tag].concat()] {
        let header = [&addresses[..], tags, &[8, 0]].concat();
        assert_eq!(read(&usual(&behind(&header))).unwrap().flows, [expected()], "{tags:?}");
    }
    // as etherparse's own builder writes it
    let framed = |segment: &Tcp| {
        let (from, to) = if segment.from == Client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
        let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
            .single_vlan(VlanId::try_new(7).unwrap())
            .ipv4(from.0, to.0, 64)
            .tcp(from.1, to.1, segment.sequence, 1000);
        let data = segment.write(builder);
        Frame { ns: segment.ns(), wire_len: data.len(), data }
    };
    let frames: Vec<Frame> = download(START_S).iter().map(framed).collect();
    assert_eq!(read(&usual(&frames)).unwrap().flows, [expected()]);
}

/// The usual download over IPv6, with extension headers if asked for.
fn over_ipv6(extended: bool) -> Vec<Frame> {
    let address = |last| [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    let framed = |segment: &Tcp| {
        let ((from, sport), (to, dport)) = match segment.from {
            Client => ((1, 40000), (2, 80)),
            Server => ((2, 80), (1, 40000)),
        };
        let mut ip = segment.write(PacketBuilder::ipv6(address(from), address(to), 64).tcp(
            sport,
            dport,
            segment.sequence,
            1000,
        ));
        if extended {
            // hop-by-hop options of 16 B, then destination options of 8 B
            let hop = Ipv6RawExtHeader::new_raw(IpNumber::IPV6_DESTINATION_OPTIONS, &[1; 14]);
            let options = Ipv6RawExtHeader::new_raw(IpNumber::TCP, &[1, 4, 0, 0, 0, 0]);
            let extra = [hop.unwrap().to_bytes(), options.unwrap().to_bytes()].concat();
            let length = u16::from_be_bytes([ip[4], ip[5]]) + extra.len() as u16;
            ip[4..6].copy_from_slice(&length.to_be_bytes());
            ip[6] = 0;
            ip.splice(40..40, extra);
        }
        let data = [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd][..], &ip].concat();
        Frame { ns: segment.ns(), wire_len: data.len(), data }
    };
    download(START_S).iter().map(framed).collect()
}

#[test]
fn ipv6_with_and_without_extension_headers() {
    let ends = ("[2001:db8::1]:40000".parse().unwrap(), "[2001:db8::2]:80".parse().unwrap());
    let expected = CapturedFlow { client: ends.0, server: ends.1, ..expected() };
    for extended in [false, true] {
        let found = read(&usual(&over_ipv6(extended))).unwrap();
        assert_eq!(found.flows, std::slice::from_ref(&expected), "extended: {extended}");
    }
    // behind loopback headers, where each system has a number of its own for IPv6
    for family in [10u8, 24, 28, 30] {
        let cut = |frame: &Frame| {
            let data = [&[family, 0, 0, 0], &frame.data[14..]].concat();
            Frame { wire_len: data.len(), data, ..*frame }
        };
        let frames: Vec<Frame> = over_ipv6(false).iter().map(cut).collect();
        let file = pcap(0, Endianness::Little, TsResolution::MicroSecond, &frames);
        assert_eq!(read(&file).unwrap().flows, std::slice::from_ref(&expected), "family {family}");
    }
}

#[test]
fn packets_cut_short_count_in_full() {
    // 54 B hold the headers of Ethernet, IPv4 and TCP; with options they would not fit
    for (snap, frames) in [(54, frames(&download(START_S))), (98, over_ipv6(true))] {
        let mut frames = frames;
        for frame in &mut frames {
            frame.data.truncate(snap);
        }
        let found = read(&usual(&frames)).unwrap();
        assert_eq!((found.flows[0].size_bytes, found.flows[0].other_bytes), (5000, 100));
    }
    // one byte less is too little
    let mut frames = frames(&download(START_S));
    frames[0].data.truncate(53);
    let found = read(&usual(&frames)).unwrap();
    assert_eq!((found.flows.len(), &skipped(&found)[..]), (1, &[(Reason::CutShort, 1)][..]));
}

#[test]
fn tcp_options_cut_short_are_not_needed() {
    // 12 B of options, as timestamps take, of which 2 B were kept
    let framed = |segment: &Tcp| {
        let mut frame = segment.frame();
        frame.data[14 + 20 + 12] = 8 << 4;
        let length = u16::from_be_bytes([frame.data[16], frame.data[17]]) + 12;
        frame.data[16..18].copy_from_slice(&length.to_be_bytes());
        frame.data.truncate(56);
        Frame { wire_len: 14 + usize::from(length), ..frame }
    };
    let frames: Vec<Frame> = download(START_S).iter().map(framed).collect();
    assert_eq!(read(&usual(&frames)).unwrap().flows, [expected()]);
}

#[test]
fn a_segment_too_long_for_its_length_field_is_measured_by_the_record() {
    // one packet of 100 kB, as handed to a network card: the length field says 0
    let mut segments = download(START_S);
    segments.drain(4..);
    let mut frames = frames(&segments);
    let mut long = tcp(START_S + 0.03, Server, "A", 9001, 1101, 100).frame();
    long.data[16..18].copy_from_slice(&[0, 0]);
    long.data.truncate(96);
    long.wire_len = 14 + 40 + 100_000;
    frames.push(long);
    assert_eq!(read(&usual(&frames)).unwrap().flows, [flow(0.0, Download, 100_000, 100, false)]);
}

#[test]
fn fragments_and_other_protocols_are_skipped_by_reason() {
    let mut frames = frames(&download(START_S));
    let mut fragment = tcp(START_S + 0.05, Server, "A", 9001, 1101, 1448).frame();
    fragment.data[20] = 0x20; // more fragments
    let mut arp = fragment.clone();
    arp.data[12..14].copy_from_slice(&[8, 6]);
    let mut unknown = fragment.clone();
    unknown.data[12..14].copy_from_slice(&[0x88, 0xcc]);
    let mut short = fragment.clone();
    short.data.truncate(14 + 19);
    let mut wrong = tcp(START_S + 0.05, Server, "A", 9001, 1101, 0).frame();
    wrong.data[14 + 20 + 12] = 4 << 4; // a TCP header of 16 B
    frames.extend([fragment, arp, unknown, short, wrong]);
    let found = read(&usual(&frames)).unwrap();
    assert_eq!(found.flows, [expected()]);
    let reasons =
        [(Reason::NotIp, 2), (Reason::Fragment, 1), (Reason::CutShort, 1), (Reason::Malformed, 1)];
    assert_eq!(skipped(&found), reasons);
}

/// RFC 2516, 4: version and type, code, session, length; then the protocol of PPP (RFC 1661: 0x0021
/// is IPv4) and the packet.
#[test]
fn sessions_of_pppoe_are_read_with_and_without_vlan_tags() {
    let header = [0x11, 0, 0, 7, 0, 42, 0x00, 0x21];
    for tags in [&[][..], &[0x81, 0, 0, 5], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6]] {
        let link = [&[0; 12], tags, &[0x88, 0x64], &header].concat();
        let file = pcap(1, Endianness::Little, TsResolution::MicroSecond, &behind(&link));
        assert_eq!(read(&file).unwrap().flows, [expected()], "{tags:?}");
    }
    // Linux's own header, with the type at its end
    let cooked = [&[0; 14][..], &[0x88, 0x64], &header].concat();
    let file = pcap(113, Endianness::Little, TsResolution::MicroSecond, &behind(&cooked));
    assert_eq!(read(&file).unwrap().flows, [expected()]);
    // LCP (0xc021) opens and keeps the session, and carries no packet
    let link = [&[0; 12][..], &[0x88, 0x64, 0x11, 0, 0, 7, 0, 42, 0xc0, 0x21]].concat();
    let file = pcap(1, Endianness::Little, TsResolution::MicroSecond, &behind(&link));
    assert!(read(&file).unwrap_err().to_string().contains("packet not IP: 12"));
}

#[test]
fn what_is_left_out_is_counted_in_bytes() {
    let mut frames = frames(&download(START_S));
    let tcp_bytes: usize = frames.iter().map(|frame| frame.wire_len).sum();
    // the second is at the port of QUIC, and its first byte (0) is none of QUIC
    for (from, to, data) in [(53, 50_000, 80), (443, 50_000, 1300)] {
        let udp = etherparse::PacketBuilder::ipv4([192, 0, 2, 9], [192, 0, 2, 2], 64);
        let mut bytes = Vec::new();
        udp.udp(from, to).write(&mut bytes, &vec![0; data]).unwrap();
        frames.push(ethernet(10_000_000_000, &bytes));
    }
    let found = read(&usual(&frames)).unwrap();
    // headers: 14 B Ethernet, 20 B IP, 8 B UDP
    let udp = Skipped { reason: Reason::Udp, count: 2, bytes: 80 + 1300 + 2 * 42 };
    assert_eq!(found.skipped, [udp]);
    assert_eq!(found.bytes, tcp_bytes as u64 + udp.bytes);
}

/// A pcapng section: interfaces with link type, resolution and offset, then
/// packets with interface and units of time.
fn section<B: ByteOrder>(
    endianness: Endianness,
    interfaces: &[(u32, Option<u8>, Option<i64>)],
    packets: &[(u32, u64, &Frame)],
) -> Vec<u8> {
    let mut file = Vec::new();
    let header = SectionHeaderBlock { endianness, ..SectionHeaderBlock::default() };
    header.into_block().write_to::<B, _>(&mut file).unwrap();
    for &(link, resolution, offset) in interfaces {
        let mut options = vec![InterfaceDescriptionOption::IfName(Cow::Borrowed("eth0"))];
        options.extend(resolution.map(InterfaceDescriptionOption::IfTsResol));
        let offset = offset.map(|offset| offset as u64);
        options.extend(offset.map(InterfaceDescriptionOption::IfTsOffset));
        let linktype = DataLink::from(link);
        let block = InterfaceDescriptionBlock { linktype, snaplen: 96, options };
        block.into_block().write_to::<B, _>(&mut file).unwrap();
    }
    for &(interface_id, units, frame) in packets {
        let block = EnhancedPacketBlock {
            interface_id,
            // the crate writes these nanoseconds as units of the interface
            timestamp: Duration::from_nanos(units),
            original_len: frame.wire_len as u32,
            data: Cow::Borrowed(&frame.data),
            options: Vec::new(),
        };
        block.into_block().write_to::<B, _>(&mut file).unwrap();
    }
    file
}

#[test]
fn byte_orders_and_resolutions_of_pcapng() {
    let frames = frames(&download(START_S));
    // resolution as written, units a second, seconds to add
    let kinds: [(Option<u8>, f64, Option<i64>); 6] = [
        (None, 1e6, None),
        (Some(6), 1e6, Some(-500)),
        (Some(9), 1e9, None),
        (Some(3), 1e3, Some(1_700_000_000)),
        (Some(0x80 | 20), f64::from(1 << 20), None),
        (Some(0), 1.0, None),
    ];
    for (resolution, per_s, offset) in kinds {
        let units = |frame: &Frame| (frame.ns as f64 / 1e9 * per_s).round() as u64;
        let packets: Vec<_> = frames.iter().map(|frame| (0, units(frame), frame)).collect();
        let interfaces = [(1, resolution, offset)];
        for file in [
            section::<BigEndian>(Endianness::Big, &interfaces, &packets),
            section::<LittleEndian>(Endianness::Little, &interfaces, &packets),
        ] {
            let found = read(&file).unwrap();
            assert_eq!(found.flows, [expected()], "{resolution:?}");
            // 70 ms, to within a unit
            let error = (found.span_ns as f64 / 1e9 - 0.07).abs();
            assert!(error <= 1.0 / per_s, "{resolution:?}: {} ns", found.span_ns);
        }
    }
}

#[test]
fn interfaces_of_a_pcapng_file_may_differ() {
    // the client's packets from an Ethernet in microseconds, the server's from raw IP in nanoseconds
    let raw: Vec<Frame> = behind(&[]);
    let segments = download(START_S);
    let ethernet = frames(&segments);
    let packets: Vec<_> = segments
        .iter()
        .zip(ethernet.iter().zip(&raw))
        .map(|(segment, (ethernet, raw))| match segment.from {
            Client => (0, ethernet.ns / 1000, ethernet),
            Server => (1, raw.ns, raw),
        })
        .collect();
    let interfaces = [(1, None, None), (101, Some(9), None)];
    let file = section::<LittleEndian>(Endianness::Little, &interfaces, &packets);
    assert_eq!(read(&file).unwrap().flows, [expected()]);
    // a second section counts its interfaces anew, and has a byte order of its own
    let first = section::<LittleEndian>(Endianness::Little, &interfaces, &packets[..5]);
    let second = section::<BigEndian>(Endianness::Big, &interfaces, &packets[5..]);
    assert_eq!(read(&[first, second].concat()).unwrap().flows, [expected()]);
    // an interface that nobody described
    let file = section::<LittleEndian>(Endianness::Little, &interfaces[..1], &packets);
    let found = read(&file).unwrap();
    assert_eq!(skipped(&found), [(Reason::NoInterface, 6)]);
}

#[test]
fn links_that_are_not_understood_are_named() {
    let file = pcap(127, Endianness::Little, TsResolution::MicroSecond, &behind(&[0; 8]));
    let error = read(&file).unwrap_err().to_string();
    assert!(
        error.contains("neither TCP nor QUIC") && error.contains("link of type 127: 12"),
        "{error}"
    );
}
