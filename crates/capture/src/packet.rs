//! Finds the TCP segment or the QUIC packet in a captured packet.

use std::net::{IpAddr, SocketAddr};

use etherparse::err::packet::SliceError;
use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TcpHeader, TcpHeaderSlice};

use crate::file::CapturedPacket;
use crate::reason::Reason;

/// Most data of one segment: hosts pass segments of up to half a megabyte to their network cards,
/// and captures made on such a host contain them.
const MAX_DATA: usize = 1 << 20;
/// Longest TCP header.
const MAX_HEADER: usize = TcpHeader::MAX_LEN;

/// A TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub sequence: u32,
    /// The acknowledgement number, if there is one.
    pub ack: Option<u32>,
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    /// Bytes of data, computed from the lengths in the headers.
    pub data: u32,
}

/// A datagram of UDP with a QUIC packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Datagram {
    pub from: SocketAddr,
    pub to: SocketAddr,
    /// Bytes of its payload.
    pub payload: u64,
    /// Whether its header is a long one: it belongs to the handshake (RFC 9000, 17.2).
    pub long: bool,
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Carried {
    Tcp(Segment),
    Quic(Datagram),
}

/// The segment or the datagram in a packet.
pub(crate) fn carried(record: &CapturedPacket<'_>) -> Result<Carried, Reason> {
    let packet = network(record)?;
    if let Some((error, _)) = &packet.stop_err
        && packet.net.is_none()
    {
        return Err(unread(error));
    }
    let (source, destination, header_len, stated) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let stated = match header.total_len() {
                0 => None,
                total => {
                    let data = usize::from(total).checked_sub(header.slice().len());
                    Some(data.ok_or(Reason::Malformed)?)
                }
            };
            let extensions = ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            let (source, destination) = (header.source_addr(), header.destination_addr());
            (IpAddr::V4(source), IpAddr::V4(destination), extensions, stated)
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            // none: the packet is too long for the field, and its length is in an option
            let stated = Some(usize::from(header.payload_length())).filter(|&length| length > 0);
            let extensions = ip.extensions().slice().len();
            let (source, destination) = (header.source_addr(), header.destination_addr());
            (IpAddr::V6(source), IpAddr::V6(destination), extensions, stated)
        }
        Some(LaxNetSlice::Arp(_)) | None => return Err(Reason::NotIp),
    };
    let Some(payload) = packet.ip_payload() else { return Err(Reason::NotIp) };
    if payload.fragmented {
        return Err(Reason::Fragment);
    }
    if payload.ip_number == IpNumber::UDP {
        return datagram(source, destination, payload.payload).map(Carried::Quic);
    }
    if payload.ip_number != IpNumber::TCP {
        let unread = packet.stop_err.as_ref().map(|(error, _)| unread(error));
        return Err(unread.unwrap_or(Reason::NotTcp));
    }
    // a header without a length: use the record's, which counts data that the capture cut off
    let stated = stated.map(|length| length.saturating_sub(header_len));
    let cut = (record.wire_len as usize).saturating_sub(record.data.len());
    let length = stated.unwrap_or(payload.payload.len() + cut);
    tcp(source, destination, payload.payload, length).map(Carried::Tcp)
}

/// The port of HTTP/3 (RFC 9114, 3.1), by which QUIC is told: the rest of it is encrypted.
pub(crate) const HTTPS: u16 = 443;

/// Parses a UDP header, and the first byte behind it, if it was captured.
fn datagram(source: IpAddr, destination: IpAddr, captured: &[u8]) -> Result<Datagram, Reason> {
    const HEADER: u16 = 8;
    const LONG: u8 = 0x80;
    const FIXED: u8 = 0x40;
    let header = captured.first_chunk::<{ HEADER as usize }>().ok_or(Reason::CutShort)?;
    let [a, b, c, d, e, f, ..] = *header;
    let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let first = captured.get(usize::from(HEADER)).copied().unwrap_or(FIXED);
    if ![from, to].contains(&HTTPS) || first & FIXED == 0 {
        return Err(Reason::Udp);
    }
    let payload = u16::from_be_bytes([e, f]).checked_sub(HEADER).ok_or(Reason::Malformed)?;
    Ok(Datagram {
        from: SocketAddr::new(source, from),
        to: SocketAddr::new(destination, to),
        payload: payload.into(),
        long: first & LONG != 0,
    })
}

/// Removes the link header and parses the IP header.
fn network<'a>(record: &CapturedPacket<'a>) -> Result<LaxSlicedPacket<'a>, Reason> {
    const NULL: u32 = 0;
    const ETHERNET: u32 = 1;
    // numbers that operating systems use internally, which some tools write into files
    const RAW: [u32; 5] = [101, 12, 14, 228, 229];
    const LOOP: u32 = 108;
    const LINUX_SLL: u32 = 113;
    const LINUX_SLL2: u32 = 276;
    let data = record.data;
    match record.link {
        ETHERNET => match point_to_point(data) {
            Some(packet) => packet,
            None => LaxSlicedPacket::from_ethernet(data).map_err(|_| Reason::CutShort),
        },
        link if RAW.contains(&link) => ip(data),
        NULL | LOOP => {
            let (family, packet) = data.split_first_chunk::<4>().ok_or(Reason::CutShort)?;
            // in the byte order of the capturing machine; systems differ in their number for IPv6
            let family = u32::from_be_bytes(*family).min(u32::from_le_bytes(*family));
            if matches!(family, 2 | 10 | 24 | 28 | 30) { ip(packet) } else { Err(Reason::NotIp) }
        }
        LINUX_SLL => cooked(data, 14, 16),
        LINUX_SLL2 => cooked(data, 0, 20),
        other => Err(Reason::Link(other)),
    }
}

/// A packet of a PPPoE session (RFC 2516).
const SESSION: EtherType = EtherType(0x8864);

/// The IP packet of a PPPoE session in an Ethernet frame, with or without VLAN tags; none
/// if the frame carries no such session.
fn point_to_point(frame: &[u8]) -> Option<Result<LaxSlicedPacket<'_>, Reason>> {
    const TYPE: usize = 12;
    const VLAN_TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
    let mut rest = frame.get(TYPE..)?;
    while let Some((kind, behind)) = rest.split_first_chunk::<2>()
        && VLAN_TAGS.contains(kind)
    {
        rest = behind.get(2..)?;
    }
    Some(session(rest.strip_prefix(&SESSION.0.to_be_bytes())?))
}

/// The IP packet behind the header of a PPPoE session.
fn session(behind: &[u8]) -> Result<LaxSlicedPacket<'_>, Reason> {
    const HEADER: usize = 6;
    const IP: [[u8; 2]; 2] = [[0x00, 0x21], [0x00, 0x57]];
    let rest = behind.get(HEADER..).ok_or(Reason::CutShort)?;
    let (protocol, packet) = rest.split_first_chunk::<2>().ok_or(Reason::CutShort)?;
    if IP.contains(protocol) { ip(packet) } else { Err(Reason::NotIp) }
}

fn ip(data: &[u8]) -> Result<LaxSlicedPacket<'_>, Reason> {
    use etherparse::err::ip::LaxHeaderSliceError;
    LaxSlicedPacket::from_ip(data).map_err(|error| match error {
        LaxHeaderSliceError::Len(_) => Reason::CutShort,
        LaxHeaderSliceError::Content(_) => Reason::NotIp,
    })
}

/// Linux's own header; the type of the payload is at `protocol`.
fn cooked(data: &[u8], protocol: usize, header: usize) -> Result<LaxSlicedPacket<'_>, Reason> {
    let rest = data.get(header..).ok_or(Reason::CutShort)?;
    let protocol = EtherType(u16::from_be_bytes([data[protocol], data[protocol + 1]]));
    if protocol == SESSION {
        return session(rest);
    }
    Ok(LaxSlicedPacket::from_ether_type(protocol, rest))
}

fn unread(error: &SliceError) -> Reason {
    match error {
        SliceError::Len(_) => Reason::CutShort,
        _ => Reason::Malformed,
    }
}

/// Parses a TCP header; `length` is that of the segment on the link, with header.
fn tcp(
    source: IpAddr,
    destination: IpAddr,
    captured: &[u8],
    length: usize,
) -> Result<Segment, Reason> {
    if captured.len() < TcpHeader::MIN_LEN {
        return Err(Reason::CutShort);
    }
    // a snap length may truncate the options, which are not needed
    let mut padded = [0; MAX_HEADER];
    let kept = captured.len().min(MAX_HEADER);
    padded[..kept].copy_from_slice(&captured[..kept]);
    let header = TcpHeaderSlice::from_slice(&padded).map_err(|_| Reason::Malformed)?;
    let data = length.checked_sub(header.slice().len()).ok_or(Reason::Malformed)?;
    if data > MAX_DATA {
        return Err(Reason::Malformed);
    }
    Ok(Segment {
        from: SocketAddr::new(source, header.source_port()),
        to: SocketAddr::new(destination, header.destination_port()),
        sequence: header.sequence_number(),
        ack: header.ack().then(|| header.acknowledgment_number()),
        syn: header.syn(),
        fin: header.fin(),
        rst: header.rst(),
        data: data as u32,
    })
}
