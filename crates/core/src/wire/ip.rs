//! Converts the bytes of an IP packet into the record that ports see, and back.
//!
//! | field of the record | source                                                      |
//! |---------------------|-------------------------------------------------------------|
//! | `size`              | length field of the IP header                               |
//! | `flow`              | a keyed hash of addresses, protocol and ports               |
//! | `src`, `dst`        | a keyed hash of one address                                 |
//! | `seq`, `ack`        | the numbers of the TCP header, in bytes                     |
//! | `flags`             | TCP's; `DATA` with payload; `ECT` and `CE` of the IP header |
//! | `ext`               | the explicit-rate option, if there is one                   |
//!
//! `OPAQUE` marks a packet whose transport header cannot be read or may not be changed: fragments
//! (RFC 791, RFC 8200), authenticated or encrypted packets (RFC 4302, RFC 4303), tunnels, other
//! protocols, and TCP and UDP with wrong lengths. Gates let it pass; a queue sees its size and ECN
//! field. IPv6 extension headers are skipped. Only bytes that are not an IP packet are an error.
//!
//! A port makes two changes: it marks (ECT becomes CE, RFC 3168), and it lowers the rate in the
//! explicit-rate option. [`write()`] writes both into the packet and updates the checksums.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;

use etherparse::{
    IpNumber, Ipv4HeaderSlice, Ipv6Extensions, Ipv6HeaderSlice, LaxNetSlice, LaxSlicedPacket,
    TcpSlice, TransportSlice,
};
use siphasher::sip::SipHasher13;
use thiserror::Error;

use crate::packet::{Ext, Flags, Packet};
use crate::units::Rate;

use super::{Checksum, WireError, lower, mend};

/// Why bytes are not an IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum IpError {
    /// There are no bytes.
    #[error("no bytes, where an IP packet has 20 at least")]
    Empty,
    /// The version is neither 4 nor 6.
    #[error("version {0} of IP: this reads 4 and 6")]
    Version(u8),
    /// The packet is truncated.
    #[error("the IP packet has {needed} bytes and {have} are there")]
    Cut {
        /// Bytes present.
        have: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// The header contains impossible lengths.
    #[error("the IP header says lengths that cannot be")]
    Length,
    /// The packet is longer than a record can represent.
    #[error("an IP packet of {0} bytes: this takes 65535 at most")]
    Long(usize),
}

/// The headers of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Headers {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol of the payload (IANA number), after extension headers.
    pub protocol: u8,
    /// Source and destination port, where they can be read.
    pub ports: Option<(u16, u16)>,
    /// Bytes of TCP or UDP payload.
    pub data_bytes: u32,
    /// The record for ports.
    pub record: Packet,
    /// Offset of the TCP header, where it may be changed.
    tcp: Option<usize>,
}

/// Reads packets. Hashes depend on a key, so nobody without the key can choose addresses and ports
/// that collide.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    key: (u64, u64),
}

impl Reader {
    /// A reader with the key of its hashes.
    pub fn new(key: (u64, u64)) -> Reader {
        Reader { key }
    }

    /// The headers of the IP packet at the start of `bytes`. Bytes after the packet (padding of a
    /// short frame) are ignored.
    ///
    /// # Errors
    /// If there is no whole IP packet.
    pub fn read(&self, bytes: &[u8]) -> Result<Headers, IpError> {
        let total = total(bytes)?;
        let size = u16::try_from(total).map_err(|_| IpError::Long(total))?;
        let sliced = LaxSlicedPacket::from_ip(&bytes[..total]).map_err(|_| IpError::Length)?;
        let (source, destination, ecn, sealed) = match &sliced.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                let (source, destination) = (header.source_addr(), header.destination_addr());
                let sealed = ip.extensions().auth.is_some();
                (source.into(), destination.into(), header.ecn(), sealed)
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                let (source, destination) = (header.source_addr(), header.destination_addr());
                // the iterator cannot walk a truncated chain of extension headers, so parse it
                // again
                let chain = Ipv6Extensions::from_slice(header.next_header(), &bytes[40..total]);
                let sealed = !chain.is_ok_and(|(headers, then, _)| {
                    headers.auth.is_none()
                        && sliced.ip_payload().is_some_and(|payload| payload.ip_number == then)
                });
                (source.into(), destination.into(), header.ecn(), sealed)
            }
            _ => return Err(IpError::Length),
        };
        let payload = sliced.ip_payload().ok_or(IpError::Length)?;
        let record = Packet { size, flags: ecn_flags(ecn.value()), ..Packet::default() };
        let mut headers = Headers {
            source,
            destination,
            protocol: payload.ip_number.0,
            ports: None,
            data_bytes: 0,
            record,
            tcp: None,
        };
        let readable = !payload.fragmented && !sealed && sliced.stop_err.is_none();
        headers.transport(sliced.transport.filter(|_| readable), total);
        self.number(&mut headers);
        Ok(headers)
    }

    /// Sets the hashes of the flow and of its ends.
    fn number(&self, headers: &mut Headers) {
        let Headers { source, destination, protocol, ports, record, .. } = headers;
        record.flow = self.hash((&*source, &*destination, *protocol, *ports)) as u32;
        record.src = self.hash(*source) as u16;
        record.dst = self.hash(*destination) as u16;
    }

    fn hash(&self, of: impl Hash) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.key.0, self.key.1);
        of.hash(&mut hasher);
        hasher.finish()
    }
}

impl Headers {
    /// Reads the transport header, if it is readable.
    fn transport(&mut self, transport: Option<TransportSlice<'_>>, total: usize) {
        match transport {
            Some(TransportSlice::Tcp(tcp)) if self.protocol == IpNumber::TCP.0 => {
                self.take_tcp(&tcp, total);
            }
            Some(TransportSlice::Udp(udp)) if self.protocol == IpNumber::UDP.0 => {
                self.ports = Some((udp.source_port(), udp.destination_port()));
                self.take_data(udp.payload());
            }
            _ => self.record.flags = self.record.flags.with(Flags::OPAQUE),
        }
    }

    fn take_data(&mut self, data: &[u8]) {
        self.data_bytes = data.len() as u32;
        if !data.is_empty() {
            self.record.flags = self.record.flags.with(Flags::DATA);
        }
    }

    fn take_tcp(&mut self, tcp: &TcpSlice<'_>, total: usize) {
        self.ports = Some((tcp.source_port(), tcp.destination_port()));
        let said = [
            (tcp.syn(), Flags::SYN),
            (tcp.ack(), Flags::ACK),
            (tcp.fin(), Flags::FIN),
            (tcp.rst(), Flags::RST),
            (tcp.psh(), Flags::PUSH),
            (tcp.ece(), Flags::ECE),
            (tcp.cwr(), Flags::CWR),
        ];
        let set = said.iter().filter(|(set, _)| *set);
        self.record.flags = set.fold(self.record.flags, |flags, (_, flag)| flags.with(*flag));
        self.record.seq = tcp.sequence_number();
        self.record.ack = tcp.acknowledgment_number();
        self.take_data(tcp.payload());
        // the segment is the last part of the packet
        self.tcp = total.checked_sub(tcp.slice().len());
        // the ends handle options that cannot be parsed
        if let Ok(Some(option)) = super::read(tcp.slice()) {
            self.record.ext = Ext::Rate(option.into());
        }
    }
}

/// Length of the whole packet, all of which is present.
fn total(bytes: &[u8]) -> Result<usize, IpError> {
    let first = bytes.first().ok_or(IpError::Empty)?;
    let have = bytes.len();
    let short = |needed| IpError::Cut { have, needed };
    let (header, total) = match first >> 4 {
        4 if have < 20 => return Err(short(20)),
        4 => {
            let ip = Ipv4HeaderSlice::from_slice(bytes).map_err(|_| IpError::Length)?;
            (ip.slice().len(), usize::from(ip.total_len()))
        }
        6 if have < 40 => return Err(short(40)),
        6 => {
            let ip = Ipv6HeaderSlice::from_slice(bytes).map_err(|_| IpError::Length)?;
            // (a jumbogram has zero here and counts as a packet without payload: RFC 2675)
            (40, 40 + usize::from(ip.payload_length()))
        }
        version => return Err(IpError::Version(version)),
    };
    if total < header {
        return Err(IpError::Length);
    }
    if have < total { Err(short(total)) } else { Ok(total) }
}

/// Not-ECT, ECT(1), ECT(0) and CE (RFC 3168, 5). A CE mark implies an ECN-capable transport.
fn ecn_flags(ecn: u8) -> Flags {
    match ecn {
        0 => Flags::NONE,
        1 => Flags::ECT.with(Flags::L4S),
        3 => Flags::ECT.with(Flags::CE),
        _ => Flags::ECT,
    }
}

/// Writes the changes that a port made to the record. `headers` is what [`Reader::read`] returned
/// for these bytes, and `packet` the changed record.
///
/// # Errors
/// If the bytes are those of another packet.
pub fn write(
    bytes: &mut [u8],
    headers: &Headers,
    packet: &Packet,
    checksum: Checksum,
) -> Result<(), WireError> {
    let (before, size) = (&headers.record, usize::from(headers.record.size));
    let have = bytes.len();
    let bytes = bytes.get_mut(..size).ok_or(WireError::Cut { have, needed: size })?;
    // mark only packets with ECT, and leave CE as it is
    let unmarked = before.flags.has(Flags::ECT) && !before.flags.has(Flags::CE);
    if packet.flags.has(Flags::CE) && unmarked {
        mark(bytes);
    }
    let (Ext::Rate(now), Ext::Rate(was), Some(tcp)) = (packet.ext, before.ext, headers.tcp) else {
        return Ok(());
    };
    if now.request < was.request {
        let most = Rate::from_bps(u64::from(now.request) * 8);
        lower(&mut bytes[tcp..], most, checksum)?;
    }
    Ok(())
}

/// Sets CE and updates the IPv4 header checksum, which is never offloaded here.
fn mark(bytes: &mut [u8]) {
    match bytes {
        [first, tos, ..] if *first >> 4 == 4 => {
            let marked = *tos | 0b11;
            mend(bytes, 1, &[marked], 10);
        }
        [_, class, ..] => *class |= 0b11_0000,
        _ => {}
    }
}
