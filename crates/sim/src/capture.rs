//! A capture of what a port sends, as a file that Wireshark opens.
//!
//! Headers are made up from the records: addresses from the numbers of nodes
//! (10.0.0.1 is the first), TCP and UDP ports from the number of the flow,
//! sequence numbers in bytes from those of segments. Payload is zeros that are
//! counted and summed, but not stored.

use std::collections::BTreeMap;
use std::time::Duration;

use byteorder_slice::LittleEndian;
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use pcap_file::pcap::{PcapHeader, PcapPacket};
use pcap_file::{DataLink, Endianness, TsResolution};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::scenario::{Scenario, Transport, Udp};

/// What the file says that it may hold of a packet. Headers take 80 B at most,
/// but there are readers that refuse a packet which was longer than this.
const SNAP_LENGTH: u32 = 65_535;
/// Flow number = sending port - 1024 + 64000 x (receiving port - 5001).
const FLOWS_PER_PORT: u32 = 64_000;
/// Port numbers at the receiving end: they last for 3.84e9 flows.
const RECEIVING_PORTS: u32 = 60_000;
/// First port number at the sending end, and at the receiving end.
const FIRST_PORTS: (u16, u16) = (1024, 5001);
/// Payload: no packet has more.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// What a flow's packets say of it, and what has to be known beside that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Number and generation of its slot.
    pub(crate) slot: (u32, u16),
    /// Its row in the `flows` table.
    pub(crate) row: u32,
    pub(crate) class: u16,
    /// Bytes that it has to send; `u64::MAX`: without end.
    pub(crate) bytes: u64,
    /// Behind the last sequence number, that of the FIN included.
    pub(crate) end: u32,
}

/// What the packets of a class are made of.
enum Layout {
    Tcp { mss: u64, header: u16 },
    Udp,
}

/// A capture in the making.
pub(crate) struct Capture {
    /// The port that is watched.
    pub(crate) port: u32,
    layouts: Vec<Layout>,
    flows: BTreeMap<(u32, u16), Identity>,
    begun: bool,
}

impl Capture {
    pub(crate) fn new(port: u32, scenario: &Scenario) -> Capture {
        let layout = |transport: &Transport| match transport {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => {
                Layout::Tcp { mss: u64::from(tcp.mss), header: tcp.header as u16 }
            }
            Transport::Udp(_) => Layout::Udp,
        };
        let layouts = scenario.traffic.iter().map(|class| layout(&class.transport)).collect();
        Capture { port, layouts, flows: BTreeMap::new(), begun: false }
    }

    /// A flow has started, or is known to end.
    pub(crate) fn note(&mut self, flow: Identity) {
        self.flows.insert(flow.slot, flow);
    }

    /// The next bytes of the file, for packets sent since the last call.
    pub(crate) fn write(&mut self, sent: &[(Time, Packet)]) -> Vec<u8> {
        let mut file = Vec::with_capacity(sent.len() * 64 + 24);
        if !self.begun {
            self.begun = true;
            let header = PcapHeader {
                snaplen: SNAP_LENGTH,
                datalink: DataLink::RAW,
                ts_resolution: TsResolution::NanoSecond,
                endianness: Endianness::Little,
                ..PcapHeader::default()
            };
            header.write_to(&mut file).expect("a vector takes every byte");
        }
        for (at, packet) in sent {
            let Some(flow) = self.flows.get(&(packet.flow, packet.generation)) else { continue };
            let (headers, length) = self.headers(packet, flow);
            let at = Duration::from_nanos(at.ps() / 1000);
            PcapPacket::new(at, u32::from(length), &headers)
                .write_to::<_, LittleEndian>(&mut file, TsResolution::NanoSecond, SNAP_LENGTH)
                .expect("headers are shorter than the packet and its snap length");
        }
        file
    }

    /// The headers of a packet, and its length with its payload.
    fn headers(&self, packet: &Packet, flow: &Identity) -> (Vec<u8>, u16) {
        let ends = [address(packet.src), address(packet.dst)];
        let near = FIRST_PORTS.0 + (flow.row % FLOWS_PER_PORT) as u16;
        let far = FIRST_PORTS.1 + (flow.row / FLOWS_PER_PORT % RECEIVING_PORTS) as u16;
        let ports = if packet.flags.has(Flags::TO_SOURCE) { (far, near) } else { (near, far) };
        let (protocol, transport, payload) = match &self.layouts[usize::from(flow.class)] {
            // what routers cannot read is not shown either: an encrypted payload
            _ if packet.flags.has(Flags::OPAQUE) => {
                let payload = packet.size.saturating_sub(Ipv4Header::MIN_LEN_U16);
                (IpNumber::ENCAPSULATING_SECURITY_PAYLOAD, Vec::new(), payload)
            }
            Layout::Tcp { mss, header } => {
                let payload = packet.size.saturating_sub(*header);
                let header = tcp_header(packet, flow, *mss, *header, ports);
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

/// The address of a node.
fn address(node: u16) -> [u8; 4] {
    let [_, a, b, c] = (u32::from(node) + 1).to_be_bytes();
    [10, a, b, c]
}

fn codepoint(flags: Flags) -> IpEcn {
    match flags {
        _ if flags.has(Flags::CE) => IpEcn::THREE,
        _ if flags.has(Flags::ECT) => IpEcn::TWO,
        _ => IpEcn::ZERO,
    }
}

/// The TCP header, its checksum left open; both ends count from zero.
fn tcp_header(
    packet: &Packet,
    flow: &Identity,
    mss: u64,
    header: u16,
    ports: (u16, u16),
) -> TcpHeader {
    let flags = packet.flags;
    let bytes_before = |segment: u32| (u64::from(segment) * mss).min(flow.bytes);
    // numbers of bytes wrap at 32 bits, as they do on the wire
    let (sequence, acknowledgement) = match () {
        () if flags.has(Flags::RST) => (0, 1),
        () if flags.has(Flags::SYN) => (0, u32::from(flags.has(Flags::ACK))),
        () if flags.has(Flags::TO_SOURCE) => {
            let fin = u64::from(packet.ack >= flow.end);
            (1, (1 + bytes_before(packet.ack) + fin) as u32)
        }
        // an acknowledgement without data: of the SYN+ACK (0), or of the FIN behind all data
        () if !flags.has(Flags::DATA) && !flags.has(Flags::FIN) && packet.ack > 0 => {
            ((2 + bytes_before(flow.end)) as u32, 2)
        }
        () => ((1 + bytes_before(packet.seq)) as u32, 1),
    };
    let mut tcp = TcpHeader::new(ports.0, ports.1, sequence, u16::MAX);
    tcp.acknowledgment_number = acknowledgement;
    tcp.ack = flags.has(Flags::ACK) || flags.has(Flags::RST);
    tcp.syn = flags.has(Flags::SYN);
    tcp.fin = flags.has(Flags::FIN);
    tcp.rst = flags.has(Flags::RST);
    tcp.psh = flags.has(Flags::PUSH) && flags.has(Flags::DATA);
    tcp.ece = flags.has(Flags::ECE);
    tcp.cwr = flags.has(Flags::CWR);
    // headers longer than the least are options that say nothing (no-operation)
    let options = [1u8; 40];
    let beyond = usize::from(header.saturating_sub(40)).min(options.len());
    if tcp.set_options_raw(&options[..beyond]).is_err() {
        tcp.options = etherparse::TcpOptions::new();
    }
    tcp
}
