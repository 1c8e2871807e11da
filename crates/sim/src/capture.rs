//! A capture of the packets that a port sends, as a pcapng file.
//!
//! The headers are constructed from the records: addresses from node numbers (the first node is
//! 10.0.0.1), TCP and UDP ports from the flow number, byte sequence numbers from those of segments.
//! The payload is zeros: it counts in lengths and checksums, but is not stored. The file names its
//! interface after the port, and the addresses after the nodes. Windows are those that receivers
//! offer, and the largest of an end that offers all; a SYN tells of their scale (RFC 7323, 2.2) where
//! its header has room.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use byteorder_slice::LittleEndian;
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{Block, PcapNgBlock};
use pcap_file::{DataLink, Endianness};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::profile::Tcp;
use tidegate_model::scenario::{Class, Scenario, Transport, Udp};

use crate::transport::receive_window::Memory;
use crate::transport::receiver::PARTS;

/// The snapshot length in the file. Headers take 80 B at most, but some readers refuse packets
/// whose original length is above it.
const SNAP_LENGTH: u32 = 65_535;
/// Time stamps are in units of 10^-9 s, as the crate writes them whatever this option says.
const NANOSECONDS: u8 = 9;
/// Flow number = sending port - 1024 + 64000 x (receiving port - 5001).
const FLOWS_PER_PORT: u32 = 64_000;
/// Number of ports used at the receiving end: enough for 3.84e9 flows.
const RECEIVING_PORTS: u32 = 60_000;
/// First port number at the sending end, and at the receiving end.
const FIRST_PORTS: (u16, u16) = (1024, 5001);
/// Payload: the longest of any packet.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// What the headers of a flow need that the records of its packets do not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Slot and generation of the flow.
    pub(crate) slot: (u32, u16),
    /// Its row in the `flows` table.
    pub(crate) row: u32,
    pub(crate) class: u16,
    /// Bytes to send; `u64::MAX`: unlimited.
    pub(crate) bytes: u64,
    /// The sequence number after the last, that of the FIN included.
    pub(crate) end: u32,
}

/// What a capture learns of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noted {
    /// It has started, or is known to end.
    Flow(Identity),
    /// The segment before `end` lacks so many bytes of a full one.
    Short { flow: (u32, u16), end: u32, lacking: u32 },
    /// From segment `first` on what is sent acknowledges so many bytes of requests.
    Read { flow: (u32, u16), first: u32, bytes: u64 },
}

/// A flow, what of its segments is short: behind each, and what all up to it lack together; and what
/// of requests is read where a segment is handed in.
struct Known {
    flow: Identity,
    short: Vec<(u32, u64)>,
    read: Vec<(u32, u64)>,
    /// What the packets of this port have told so far of the ends that send requests and answers.
    told: Told,
}

/// Behind the last byte that a packet has shown, of either end; both count from zero.
#[derive(Clone, Copy, Default)]
struct Told {
    client: u64,
    server: u64,
    /// Segments that the receiving end offers; none: it has not told yet.
    window: Option<u32>,
}

/// The packet sizes of a class.
enum Layout {
    /// `request`: bytes of a request.
    Tcp {
        mss: u64,
        header: u16,
        request: u64,
        offer: Offered,
    },
    Udp,
}

/// How the ends of a class tell of their windows.
#[derive(Clone, Copy)]
struct Offered {
    /// Segments at first; none: all is offered.
    first: Option<u32>,
    /// Windows are told of in units of 2^scale bytes (RFC 7323, 2.2); none: in bytes.
    scale: Option<u8>,
}

impl Offered {
    /// The largest scale.
    const MOST: u8 = 14;

    fn of(tcp: &Tcp) -> Offered {
        let memory = Memory::of(tcp);
        let scale = memory.as_ref().map_or(Offered::MOST, Memory::scale);
        // the option takes three bytes behind a header of 40
        let scale = (tcp.header >= 43).then_some(scale);
        Offered { first: memory.map(|memory| memory.first()), scale }
    }

    /// The window in the header of a packet.
    fn window(&self, packet: &Packet, told: Option<u32>, mss: u64) -> u16 {
        let offered = told.or(self.first).filter(|_| packet.flags.has(Flags::TO_SOURCE));
        let Some(segments) = offered else { return u16::MAX };
        let unscaled = packet.flags.has(Flags::SYN);
        let scale = self.scale.filter(|_| !unscaled).unwrap_or(0);
        let units = (u64::from(segments) * mss).div_ceil(1 << scale);
        units.try_into().unwrap_or(u16::MAX)
    }
}

/// A capture in progress.
pub(crate) struct Capture {
    /// The captured port.
    pub(crate) port: u32,
    layouts: Vec<Layout>,
    flows: BTreeMap<(u32, u16), Known>,
    /// What the file begins with, until it is written.
    opening: Vec<u8>,
}

impl Capture {
    pub(crate) fn new(port: u32, scenario: &Scenario) -> Capture {
        let layout = |class: &Class| match &class.transport {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => Layout::Tcp {
                mss: u64::from(tcp.mss),
                header: tcp.header as u16,
                request: u64::from(class.request()),
                offer: Offered::of(tcp),
            },
            Transport::Udp(_) | Transport::Quic(_) => Layout::Udp,
        };
        let layouts = scenario.traffic.iter().map(layout).collect();
        Capture { port, layouts, flows: BTreeMap::new(), opening: opening(port, scenario) }
    }

    /// Learns something of a flow.
    pub(crate) fn learn(&mut self, noted: Noted) {
        match noted {
            Noted::Flow(flow) => {
                let known = self.flows.entry(flow.slot);
                let (short, read, told) = (Vec::new(), Vec::new(), Told::default());
                known.or_insert(Known { flow, short, read, told }).flow = flow;
            }
            Noted::Short { flow, end, lacking } => {
                let Some(Known { short, .. }) = self.flows.get_mut(&flow) else { return };
                let before = short.last().map_or(0, |&(_, all)| all);
                short.push((end, before + u64::from(lacking)));
            }
            Noted::Read { flow, first, bytes } => {
                if let Some(Known { read, .. }) = self.flows.get_mut(&flow) {
                    read.push((first, bytes));
                }
            }
        }
    }

    /// The next bytes of the file: its opening, then the packets sent since the last call.
    pub(crate) fn write(&mut self, sent: &[(Time, Packet)]) -> Vec<u8> {
        let mut file = std::mem::take(&mut self.opening);
        file.reserve(sent.len() * 96);
        for (at, packet) in sent {
            let slot = (packet.flow, packet.generation);
            let Some(known) = self.flows.get_mut(&slot) else { continue };
            let class = usize::from(known.flow.class);
            if let Layout::Tcp { mss, header, request, .. } = self.layouts[class] {
                let payload = u64::from(packet.size.saturating_sub(header));
                known.hear(packet, payload, mss, request);
            }
            let (headers, length) = self.headers(packet, &self.flows[&slot]);
            let block = EnhancedPacketBlock {
                interface_id: 0,
                timestamp: Duration::from_nanos(at.ps() / 1000),
                original_len: length.into(),
                data: Cow::Owned(headers),
                options: Vec::new(),
            };
            write(&mut file, &block.into_block());
        }
        file
    }

    /// The headers of a packet, and its length with payload.
    fn headers(&self, packet: &Packet, known: &Known) -> (Vec<u8>, u16) {
        let flow = &known.flow;
        let ends = [address(packet.src), address(packet.dst)];
        let near = FIRST_PORTS.0 + (flow.row % FLOWS_PER_PORT) as u16;
        let far = FIRST_PORTS.1 + (flow.row / FLOWS_PER_PORT % RECEIVING_PORTS) as u16;
        let ports = if packet.flags.has(Flags::TO_SOURCE) { (far, near) } else { (near, far) };
        let (protocol, transport, payload) = match &self.layouts[usize::from(flow.class)] {
            // an encrypted payload: routers cannot read it, so it is not shown either
            _ if packet.flags.has(Flags::OPAQUE) => {
                let payload = packet.size.saturating_sub(Ipv4Header::MIN_LEN_U16);
                (IpNumber::ENCAPSULATING_SECURITY_PAYLOAD, Vec::new(), payload)
            }
            Layout::Tcp { mss, header, request, offer } => {
                let payload = packet.size.saturating_sub(*header);
                let bytes = numbers(packet, known, *mss, *request, u64::from(payload));
                let window_size = offer.window(packet, known.told.window, *mss);
                let header = tcp_header(packet, bytes, *header, ports, offer.scale);
                let header = TcpHeader { window_size, ..header };
                let zeros = &ZEROS[..usize::from(payload)];
                let sum = header.calc_checksum_ipv4_raw(ends[0], ends[1], zeros);
                let header = TcpHeader { checksum: sum.unwrap_or(0), ..header };
                (IpNumber::TCP, header.to_bytes().to_vec(), payload)
            }
            Layout::Udp => {
                let payload = packet.size.saturating_sub(Udp::HEADER as u16);
                let length = payload + UdpHeader::LEN as u16;
                let (source_port, destination_port) = ports;
                let header = UdpHeader { source_port, destination_port, length, checksum: 0 };
                let zeros = &ZEROS[..usize::from(payload)];
                let sum = header.calc_checksum_ipv4_raw(ends[0], ends[1], zeros);
                let header = UdpHeader { checksum: sum.unwrap_or(0), ..header };
                (IpNumber::UDP, header.to_bytes().to_vec(), payload)
            }
        };
        let length = Ipv4Header::MIN_LEN_U16 + transport.len() as u16 + payload;
        let mut ip = Ipv4Header {
            total_len: length,
            time_to_live: 64,
            dont_fragment: true,
            protocol,
            source: ends[0],
            destination: ends[1],
            ecn: codepoint(packet.flags),
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let mut headers = ip.to_bytes().to_vec();
        headers.extend(transport);
        (headers, length)
    }
}

/// What the file of a port begins with: who wrote it, the port, and the names of the nodes.
fn opening(port: u32, scenario: &Scenario) -> Vec<u8> {
    let network = &scenario.network;
    let mut file = Vec::new();
    let program = concat!("tidegate ", env!("CARGO_PKG_VERSION"));
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![SectionHeaderOption::UserApplication(program.into())],
        ..SectionHeaderBlock::default()
    };
    write(&mut file, &section.into_block());
    let port = &network.ports[port as usize];
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: SNAP_LENGTH,
        options: vec![
            InterfaceDescriptionOption::IfName(port.name.as_str().into()),
            InterfaceDescriptionOption::IfSpeed(port.rate.bps()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    };
    write(&mut file, &interface.into_block());
    let named = |(node, name): (u16, &String)| {
        let ip_addr = Cow::Owned(address(node).to_vec());
        Record::Ipv4(Ipv4Record { ip_addr, names: vec![Cow::Owned(name.clone())] })
    };
    let records = (0..).zip(&network.nodes).map(named).collect();
    write(&mut file, &NameResolutionBlock { records, options: Vec::new() }.into_block());
    file
}

fn write(file: &mut Vec<u8>, block: &Block<'_>) {
    block.write_to::<LittleEndian, _>(file).expect("a vector takes every byte");
}

/// The address of a node.
fn address(node: u16) -> [u8; 4] {
    let [_, a, b, c] = (u32::from(node) + 1).to_be_bytes();
    [10, a, b, c]
}

fn codepoint(flags: Flags) -> IpEcn {
    match flags {
        _ if flags.has(Flags::CE) => IpEcn::THREE,
        _ if flags.has(Flags::L4S) => IpEcn::ONE,
        _ if flags.has(Flags::ECT) => IpEcn::TWO,
        _ => IpEcn::ZERO,
    }
}

impl Known {
    /// Bytes of the sending end in front of a segment.
    fn bytes_before(&self, segment: u32, mss: u64) -> u64 {
        let behind = self.short.partition_point(|&(end, _)| end <= segment);
        let lacking = behind.checked_sub(1).map_or(0, |last| self.short[last].1);
        (u64::from(segment) * mss - lacking).min(self.flow.bytes)
    }

    /// Bytes of requests that had been read when a segment was handed in.
    fn read_before(&self, segment: u32) -> u64 {
        let handed_in = self.read.partition_point(|&(first, _)| first <= segment);
        handed_in.checked_sub(1).map_or(0, |last| self.read[last].1)
    }

    /// A packet passes the port.
    fn hear(&mut self, packet: &Packet, payload: u64, mss: u64, request: u64) {
        let flags = packet.flags;
        let (to_client, data) = (!flags.has(Flags::TO_SOURCE), flags.has(Flags::DATA));
        let told = &mut self.told;
        told.window = packet.window().or(told.window);
        match (to_client, data) {
            _ if flags.has(Flags::SYN) || flags.has(Flags::RST) => {}
            (false, true) => {
                let end = behind_requests(packet.seq, payload, request);
                told.client = told.client.max(end);
            }
            // an acknowledgement of requests
            (true, false) if packet.ack == 0 && !flags.has(Flags::FIN) => {
                told.client = told.client.max(u64::from(packet.seq) * request);
            }
            (true, true) => {
                let end = self.bytes_before(packet.seq, mss) + payload;
                let read = self.read_before(packet.seq);
                self.told.server = self.told.server.max(end);
                self.told.client = self.told.client.max(read);
            }
            (true, false) if flags.has(Flags::FIN) => {
                let read = self.read_before(packet.seq);
                self.told.client = self.told.client.max(read);
            }
            _ => {}
        }
    }
}

/// Bytes of the client in front of this packet, which has requests up to the one with this number.
/// The one to close travels alone, and is the shortest.
fn in_front_of_requests(last: u32, payload: u64, request: u64) -> u64 {
    (u64::from(last) - payload.div_ceil(request).min(u64::from(last))) * request
}

/// Bytes of the client up to and with this packet.
fn behind_requests(last: u32, payload: u64, request: u64) -> u64 {
    in_front_of_requests(last, payload, request) + payload
}

/// Sequence number and acknowledgement number of a packet; both ends count from zero. They wrap at
/// 32 bits, as on the wire.
fn numbers(packet: &Packet, known: &Known, mss: u64, request: u64, payload: u64) -> (u32, u32) {
    let flags = packet.flags;
    let before = |segment: u32| known.bytes_before(segment, mss);
    let fin = u64::from(packet.ack >= known.flow.end);
    let data = flags.has(Flags::DATA);
    let (sequence, acknowledgement) = match () {
        () if flags.has(Flags::RST) => (0, 1),
        () if flags.has(Flags::SYN) => (0, u64::from(flags.has(Flags::ACK))),
        () if flags.has(Flags::TO_SOURCE) && data => {
            let sequence = 1 + in_front_of_requests(packet.seq, payload, request);
            (sequence, 1 + before(packet.ack) + fin)
        }
        () if flags.has(Flags::TO_SOURCE) => {
            let part = mss * u64::from(packet.number()) / u64::from(PARTS);
            (1 + known.told.client, 1 + before(packet.ack) + part + fin)
        }
        // an acknowledgement of the FIN after all data, or of requests
        () if !data && !flags.has(Flags::FIN) && packet.ack > 0 => {
            (2 + before(known.flow.end), 2 + known.told.client)
        }
        () if !data && !flags.has(Flags::FIN) => {
            (1 + known.told.server, 1 + u64::from(packet.seq) * request)
        }
        () => (1 + before(packet.seq), 1 + known.told.client),
    };
    (sequence as u32, acknowledgement as u32)
}

/// The TCP header with an empty checksum, and the largest window. `scale`: that of windows.
fn tcp_header(
    packet: &Packet,
    (sequence, acknowledgement): (u32, u32),
    header: u16,
    ports: (u16, u16),
    scale: Option<u8>,
) -> TcpHeader {
    let flags = packet.flags;
    let mut tcp = TcpHeader::new(ports.0, ports.1, sequence, u16::MAX);
    tcp.acknowledgment_number = acknowledgement;
    tcp.ack = flags.has(Flags::ACK) || flags.has(Flags::RST);
    tcp.syn = flags.has(Flags::SYN);
    tcp.fin = flags.has(Flags::FIN);
    tcp.rst = flags.has(Flags::RST);
    tcp.psh = flags.has(Flags::PUSH) && flags.has(Flags::DATA);
    tcp.ece = flags.has(Flags::ECE);
    tcp.cwr = flags.has(Flags::CWR);
    // the rest of the header is filled with no-operation options
    let mut options = [1u8; 40];
    if let Some(scale) = scale.filter(|_| tcp.syn) {
        options[..3].copy_from_slice(&[3, 3, scale]);
    }
    let beyond = usize::from(header.saturating_sub(40)).min(options.len());
    if tcp.set_options_raw(&options[..beyond]).is_err() {
        tcp.options = etherparse::TcpOptions::new();
    }
    tcp
}
