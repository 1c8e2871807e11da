//! Capture files: splits bytes that arrive in pieces into packet records.
//!
//! `pcap-file` handles framing and byte order. Of the blocks of a pcapng file only the fixed fields
//! are parsed, here: an option that the crate refuses must not lose the packet of its block.

use byteorder_slice::{BigEndian, LittleEndian};
use pcap_file::PcapError;
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::RawBlock;
use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, PACKET_BLOCK, SECTION_HEADER_BLOCK,
    SIMPLE_PACKET_BLOCK,
};

use crate::flow::Error;
use crate::reason::Reason;

/// Longest record that is accepted, as in libpcap.
const MAX_RECORD: usize = 16 << 20;
/// Most interfaces of a section.
const MAX_INTERFACES: usize = 1 << 16;
/// Length of the bytes that identify the format.
const MAGIC: usize = 4;

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapturedPacket<'a> {
    /// Nanoseconds since 1970, or since the origin of the capture's clock.
    pub ns: u64,
    /// Link type.
    pub link: u32,
    /// Length on the link, in bytes.
    pub wire_len: u32,
    /// The bytes that were captured.
    pub data: &'a [u8],
}

/// The content of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    /// A packet.
    Packet(CapturedPacket<'a>),
    /// A packet that is not usable.
    Skipped(Reason),
    /// Something else.
    Nothing,
}

/// The next bytes of a file.
pub(crate) enum Step<'a> {
    /// More bytes are needed.
    More,
    /// A record, and its length in bytes.
    Took(usize, Item<'a>),
    /// Not a record: the rest of the file cannot be read.
    Broken(&'static str),
}

/// Whether a file begins as a packet capture does: pcap in both orders of bytes and with both units
/// of time, or pcapng.
pub fn is_capture(bytes: &[u8]) -> bool {
    bytes.len() >= MAGIC && Format::could_begin(bytes)
}

/// The format of a file, and the content of its headers.
#[derive(Debug, Default)]
pub(crate) enum Format {
    /// Too few bytes so far.
    #[default]
    Unknown,
    /// pcap.
    Pcap(PcapParser),
    /// pcapng.
    PcapNg(Section),
}

impl Format {
    pub fn is_known(&self) -> bool {
        !matches!(self, Format::Unknown)
    }

    /// Whether a capture can start like this.
    pub fn could_begin(bytes: &[u8]) -> bool {
        const MAGICS: [[u8; MAGIC]; 5] = [
            [0xa1, 0xb2, 0xc3, 0xd4],
            [0xd4, 0xc3, 0xb2, 0xa1],
            [0xa1, 0xb2, 0x3c, 0x4d],
            [0x4d, 0x3c, 0xb2, 0xa1],
            SECTION_HEADER_BLOCK.to_be_bytes(),
        ];
        let length = bytes.len().min(MAGIC);
        MAGICS.iter().any(|magic| magic[..length] == bytes[..length])
    }

    /// Reads the next record.
    pub fn step<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, Error> {
        match self {
            Format::Unknown => self.begin(bytes),
            Format::Pcap(parser) => Ok(packet(parser, bytes)),
            Format::PcapNg(section) => Ok(section.block(bytes)),
        }
    }

    fn begin<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, Error> {
        if !Format::could_begin(bytes) {
            return Err(Error::NotACapture(bytes[..bytes.len().min(MAGIC)].to_vec()));
        }
        if bytes.len() < MAGIC {
            return Ok(Step::More);
        }
        if bytes[..MAGIC] == SECTION_HEADER_BLOCK.to_be_bytes() {
            let mut section = Section::default();
            let step = section.block(bytes);
            if matches!(step, Step::Took(..)) {
                *self = Format::PcapNg(section);
            } else if matches!(step, Step::Broken(_)) {
                return Err(Error::NotACapture(bytes[..bytes.len().min(3 * MAGIC)].to_vec()));
            }
            return Ok(step);
        }
        match PcapParser::new(bytes) {
            Ok((rest, parser)) => {
                *self = Format::Pcap(parser);
                Ok(Step::Took(bytes.len() - rest.len(), Item::Nothing))
            }
            Err(PcapError::IncompleteBuffer) => Ok(Step::More),
            Err(_) => Err(Error::NotACapture(bytes[..MAGIC].to_vec())),
        }
    }
}

/// The next packet of a pcap file.
fn packet<'a>(parser: &PcapParser, bytes: &'a [u8]) -> Step<'a> {
    let header = parser.header();
    let big = header.endianness.is_big();
    if let Some(length) = (Fields { bytes, big }).u32(8)
        && length as usize > MAX_RECORD
    {
        return Step::Broken("a packet that is longer than any can be");
    }
    // raw, as the crate's own checks refuse packets cut by the snap length
    let (rest, raw) = match parser.next_raw_packet(bytes) {
        Ok(next) => next,
        Err(PcapError::IncompleteBuffer) => return Step::More,
        Err(_) => return Step::Broken("a packet that cannot be read"),
    };
    let fraction = match header.ts_resolution {
        pcap_file::TsResolution::MicroSecond => u64::from(raw.ts_frac) * 1000,
        pcap_file::TsResolution::NanoSecond => u64::from(raw.ts_frac),
    };
    let taken = bytes.len() - rest.len();
    let record = CapturedPacket {
        ns: u64::from(raw.ts_sec) * 1_000_000_000 + fraction,
        // the upper bits say whether a frame check sequence follows the packets
        link: u32::from(header.datalink) & 0xffff,
        wire_len: raw.orig_len,
        data: &bytes[16..taken],
    };
    Step::Took(taken, Item::Packet(record))
}

/// A section of a pcapng file.
#[derive(Debug, Default)]
pub(crate) struct Section {
    big: bool,
    interfaces: Vec<Option<Interface>>,
}

/// The description of an interface in a section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    /// Resolution of timestamps as written in the file: a power of ten or, with the highest bit
    /// set, of two.
    resolution: u8,
    /// Seconds to add to timestamps.
    offset_s: i64,
}

impl Interface {
    fn read(body: &Fields<'_>) -> Option<Interface> {
        let link = u32::from(body.u16(0)?);
        let mut interface = Interface { link, resolution: 6, offset_s: 0 };
        let mut at = 8;
        while let (Some(code), Some(length)) = (body.u16(at), body.u16(at + 2)) {
            match (code, length) {
                (0, _) => break,
                (9, 1) => interface.resolution = *body.bytes.get(at + 4)?,
                (14, 8) => interface.offset_s = body.u64(at + 4)? as i64,
                _ => {}
            }
            at += 4 + usize::from(length).next_multiple_of(4);
        }
        Some(interface)
    }

    fn ns(&self, units: u64) -> u64 {
        let exponent = u32::from(self.resolution & 0x7f);
        let scaled = u128::from(units) * 1_000_000_000;
        let since = match self.resolution & 0x80 {
            0 => 10u128.checked_pow(exponent).map_or(0, |scale| scaled / scale),
            _ => scaled >> exponent,
        };
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        let ns = i128::try_from(since).unwrap_or(i128::MAX).saturating_add(offset);
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}

impl Section {
    /// The next block.
    fn block<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        const BROKEN: Step<'static> = Step::Broken("a block that contradicts itself");
        if bytes.len() < 12 {
            return Step::More;
        }
        let mut big = self.big;
        // a section states its own byte order
        if bytes[..4] == SECTION_HEADER_BLOCK.to_be_bytes() {
            match bytes[8..12] {
                [0x1a, 0x2b, 0x3c, 0x4d] => big = true,
                [0x4d, 0x3c, 0x2b, 0x1a] => big = false,
                _ => return BROKEN,
            }
        }
        let length = (Fields { bytes, big }).u32(4).unwrap_or(0) as usize;
        if length > MAX_RECORD {
            return Step::Broken("a block that is longer than any can be");
        }
        let raw = if big {
            RawBlock::from_slice::<BigEndian>(bytes)
        } else {
            RawBlock::from_slice::<LittleEndian>(bytes)
        };
        let (type_, body) = match raw {
            Ok((_, block)) => (block.type_, &bytes[8..length - 4]),
            Err(PcapError::IncompleteBuffer) => return Step::More,
            Err(_) => return BROKEN,
        };
        let fields = Fields { bytes: body, big };
        let item = match type_ {
            SECTION_HEADER_BLOCK => {
                *self = Section { big, interfaces: Vec::new() };
                Item::Nothing
            }
            INTERFACE_DESCRIPTION_BLOCK => {
                if self.interfaces.len() == MAX_INTERFACES {
                    return Step::Broken("more interfaces than there can be");
                }
                self.interfaces.push(Interface::read(&fields));
                Item::Nothing
            }
            ENHANCED_PACKET_BLOCK => self.packet(&fields, fields.u32(0)),
            PACKET_BLOCK => self.packet(&fields, fields.u16(0).map(u32::from)),
            SIMPLE_PACKET_BLOCK => Item::Skipped(Reason::NoTime),
            _ => Item::Nothing,
        };
        Step::Took(length, item)
    }

    /// A packet; both kinds of block have this layout, except for the interface.
    fn packet<'a>(&self, body: &Fields<'a>, interface: Option<u32>) -> Item<'a> {
        let at = |at| body.u32(at).map(|value| value as usize);
        let (Some(number), Some(length), Some(wire_len)) = (interface, at(12), body.u32(16)) else {
            return Item::Skipped(Reason::Malformed);
        };
        let Some(data) = body.bytes.get(20..).and_then(|data| data.get(..length)) else {
            return Item::Skipped(Reason::Malformed);
        };
        let Some(Some(interface)) = self.interfaces.get(number as usize) else {
            return Item::Skipped(Reason::NoInterface);
        };
        let (high, low) = (body.u32(4).unwrap_or(0), body.u32(8).unwrap_or(0));
        let ns = interface.ns(u64::from(high) << 32 | u64::from(low));
        Item::Packet(CapturedPacket { ns, link: interface.link, wire_len, data })
    }
}

/// Numbers at offsets of a block.
struct Fields<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl Fields<'_> {
    fn u16(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn u64(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at + 8)?.try_into().ok()?;
        Some(if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }
}
