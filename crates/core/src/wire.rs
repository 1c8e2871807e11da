//! Byte formats of the headers of real packets.
//!
//! [`ip`] converts a packet into the record that ports see, and back; [`reset`] builds the answer
//! to the opening packet of a refused session.
//!
//! An explicit rate travels in a TCP option of 12 bytes (qfcp, 2.1: request,
//! feedback and, for the control period of the ports, the sender's RTT):
//!
//! | byte  | content                                                               |
//! |-------|-----------------------------------------------------------------------|
//! | 0     | 254: experimental option (RFC 4727)                                   |
//! | 1     | 12: the length                                                        |
//! | 2-3   | 0x7467: experiment number (RFC 6994); not registered with IANA        |
//! | 4-6   | request, bytes/s: exponent of 5 bits, then mantissa of 19             |
//! | 7-9   | feedback, bytes/s, likewise                                           |
//! | 10-11 | RTT, microseconds: exponent of 4 bits, then mantissa of 12            |
//!
//! A scaled number is `mantissa << exponent`, the most significant byte first. The encoder uses the
//! smallest exponent that fits, so two codes compare like their numbers; the decoder reads every
//! code. Rates are rounded down, so that the shares of a link never exceed it. They are exact below
//! 524,288 bytes/s and have an error under 2^-18 above. The RTT is rounded to the nearest, with an
//! error of at most 2^-12. Zero means that there is no value; a value above zero is never rounded
//! to zero. A value that is too large becomes the largest code: 1.1e15 bytes/s, 134 s.
//!
//! Nothing here validates a segment. On any [`WireError`] a forwarder passes the segment on
//! unchanged; its ends will handle it.

pub mod ip;
pub mod quic;
pub mod reset;

use thiserror::Error;

use crate::packet::RateHeader;
use crate::units::{Rate, Time};

/// Option kind for experiments.
pub const KIND: u8 = 254;
/// Length of the explicit-rate option, in bytes.
pub const LENGTH: usize = 12;
/// Experiment number of the option.
pub const EXPERIMENT: u16 = 0x7467;

/// Length of a TCP header without options; options start there.
const FIXED: usize = 20;
/// Offset of the checksum in a TCP header.
const CHECKSUM: usize = 16;
const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;

/// Why a TCP header cannot be read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum WireError {
    /// The header is truncated.
    #[error("the TCP header needs {needed} bytes and has {have}")]
    Cut {
        /// Bytes present.
        have: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// The header length is less than 5 words.
    #[error("a data offset of {words} words: a TCP header has 5 to 15")]
    DataOffset {
        /// The header length, in words of four bytes.
        words: u8,
    },
    /// The options cannot be parsed.
    #[error("option {kind} at byte {at} says {length} bytes, of {room} that are left")]
    OptionLength {
        /// Offset of the option in the header.
        at: usize,
        /// Its kind.
        kind: u8,
        /// Its length field; zero if that is missing.
        length: u8,
        /// Bytes from the option to the end of the header.
        room: usize,
    },
    /// The option has our experiment number but another length.
    #[error("the explicit-rate option at byte {at} has {length} bytes, not {LENGTH}")]
    RateLength {
        /// Offset of the option in the header.
        at: usize,
        /// Its length.
        length: u8,
    },
    /// The header has no explicit-rate option to write to.
    #[error("the TCP header has no explicit-rate option to write to")]
    Missing,
}

/// What the checksum field of a TCP header holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// The checksum: it is updated with the header.
    Whole,
    /// Left to the device (checksum offload), which computes it later.
    Offloaded,
}

/// An explicit rate, in the units of the wire format.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RateOption {
    /// Requested rate, as reduced by the ports so far, in bytes/s; zero: no request.
    pub request: u64,
    /// The granted rate, returned by the receiver, in bytes/s; zero: none.
    pub feedback: u64,
    /// The sender's smoothed round-trip time, in microseconds; zero: not measured.
    pub rtt_us: u32,
}

impl RateOption {
    /// Converts quantities; a rate above zero becomes at least one byte/s.
    pub fn new(request: Option<Rate>, feedback: Option<Rate>, rtt: Option<Time>) -> RateOption {
        let bytes = |rate: Rate| (rate.bps() / 8).max(u64::from(rate.bps() > 0));
        let us = |rtt: Time| (rtt.ps() / 1_000_000).max(u64::from(rtt > Time::ZERO));
        RateOption {
            request: request.map_or(0, bytes),
            feedback: feedback.map_or(0, bytes),
            rtt_us: rtt.map_or(0, us).try_into().unwrap_or(u32::MAX),
        }
    }

    /// The requested rate, if there is a request.
    pub fn request(&self) -> Option<Rate> {
        rate(self.request)
    }

    /// The returned rate, if there is one.
    pub fn feedback(&self) -> Option<Rate> {
        rate(self.feedback)
    }

    /// The sender's round-trip time, if it has measured one.
    pub fn rtt(&self) -> Option<Time> {
        (self.rtt_us > 0).then(|| Time::from_ns(u64::from(self.rtt_us) * 1_000))
    }

    /// The whole option, including kind and length.
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let [x0, x1] = EXPERIMENT.to_be_bytes();
        let [_, q0, q1, q2] = RATE.below(self.request).to_be_bytes();
        let [_, f0, f1, f2] = RATE.below(self.feedback).to_be_bytes();
        let [_, _, r0, r1] = RTT.nearest(u64::from(self.rtt_us)).to_be_bytes();
        [KIND, LENGTH as u8, x0, x1, q0, q1, q2, f0, f1, f2, r0, r1]
    }

    /// Decodes an option whose kind and length were checked.
    fn of(option: &[u8; LENGTH]) -> RateOption {
        let [_, _, _, _, q0, q1, q2, f0, f1, f2, r0, r1] = *option;
        RateOption {
            request: RATE.value(u32::from_be_bytes([0, q0, q1, q2])),
            feedback: RATE.value(u32::from_be_bytes([0, f0, f1, f2])),
            // at most 4095 << 15, which fits 32 bits
            rtt_us: RTT.value(u32::from_be_bytes([0, 0, r0, r1])) as u32,
        }
    }
}

impl From<RateHeader> for RateOption {
    fn from(header: RateHeader) -> RateOption {
        let RateHeader { request, feedback, rtt_us } = header;
        RateOption { request: request.into(), feedback: feedback.into(), rtt_us }
    }
}

impl From<RateOption> for RateHeader {
    /// A rate above 32 bits becomes the largest value, about 34 Gbit/s.
    fn from(option: RateOption) -> RateHeader {
        let most = |rate: u64| rate.try_into().unwrap_or(u32::MAX);
        let RateOption { request, feedback, rtt_us } = option;
        RateHeader { request: most(request), feedback: most(feedback), rtt_us }
    }
}

/// The rate, or none for zero.
fn rate(bytes_per_s: u64) -> Option<Rate> {
    (bytes_per_s > 0).then(|| Rate::from_bps(bytes_per_s.saturating_mul(8)))
}

/// A number format: an exponent followed by a mantissa.
#[derive(Clone, Copy)]
struct Scale {
    exponent_bits: u32,
    mantissa_bits: u32,
}

const RATE: Scale = Scale { exponent_bits: 5, mantissa_bits: 19 };
const RTT: Scale = Scale { exponent_bits: 4, mantissa_bits: 12 };

impl Scale {
    /// The number of a code.
    const fn value(self, code: u32) -> u64 {
        let mantissa = code & ((1 << self.mantissa_bits) - 1);
        (mantissa as u64) << (code >> self.mantissa_bits)
    }

    /// The smallest exponent with which the number fits.
    const fn exponent(self, value: u64) -> u32 {
        (u64::BITS - value.leading_zeros()).saturating_sub(self.mantissa_bits)
    }

    /// The code of the largest representable number that is not above this one.
    const fn below(self, value: u64) -> u32 {
        let exponent = self.exponent(value);
        if exponent >= 1 << self.exponent_bits {
            return (1 << (self.exponent_bits + self.mantissa_bits)) - 1;
        }
        (exponent << self.mantissa_bits) | (value >> exponent) as u32
    }

    /// The code of the nearest representable number; ties go up.
    const fn nearest(self, value: u64) -> u32 {
        let half = (1 << self.exponent(value)) >> 1;
        self.below(value.saturating_add(half))
    }
}

/// Offset of the first explicit-rate option in a TCP header, if there is one. `tcp` starts with the
/// header; payload may follow.
///
/// # Errors
/// If the header is truncated or its options cannot be parsed.
pub fn find(tcp: &[u8]) -> Result<Option<usize>, WireError> {
    let end = header_length(tcp)?;
    let mut at = FIXED;
    while at < end {
        let (kind, room) = (tcp[at], end - at);
        match kind {
            END_OF_LIST => break,
            NO_OPERATION => at += 1,
            _ => {
                let length = if room > 1 { tcp[at + 1] } else { 0 };
                if length < 2 || usize::from(length) > room {
                    return Err(WireError::OptionLength { at, kind, length, room });
                }
                if kind == KIND && length >= 4 && tcp[at + 2..at + 4] == EXPERIMENT.to_be_bytes() {
                    return match usize::from(length) {
                        LENGTH => Ok(Some(at)),
                        _ => Err(WireError::RateLength { at, length }),
                    };
                }
                at += usize::from(length);
            }
        }
    }
    Ok(None)
}

/// The content of the explicit-rate option of a TCP header, if there is one.
///
/// # Errors
/// As [`find`].
pub fn read(tcp: &[u8]) -> Result<Option<RateOption>, WireError> {
    let option = find(tcp)?.and_then(|at| tcp[at..].first_chunk::<LENGTH>());
    Ok(option.map(RateOption::of))
}

/// Overwrites the explicit-rate option of a TCP header.
///
/// # Errors
/// As [`find`], and if there is no such option; then nothing is written.
pub fn write(tcp: &mut [u8], option: &RateOption, checksum: Checksum) -> Result<(), WireError> {
    let at = find(tcp)?.ok_or(WireError::Missing)?;
    replace(tcp, at, &option.to_bytes(), checksum);
    Ok(())
}

/// Lowers a packet's request to `most`, as a port does; returns whether the request was higher. A
/// packet without the option has no request.
///
/// # Errors
/// As [`find`]; then nothing is written.
pub fn lower(tcp: &mut [u8], most: Rate, checksum: Checksum) -> Result<bool, WireError> {
    let Some(at) = find(tcp)? else { return Ok(false) };
    let [x, y, z] = [tcp[at + 4], tcp[at + 5], tcp[at + 6]];
    // a request lowered to zero would look like no request
    let most = RATE.below((most.bps() / 8).max(1));
    if RATE.value(u32::from_be_bytes([0, x, y, z])) <= RATE.value(most) {
        return Ok(false);
    }
    replace(tcp, at + 4, &most.to_be_bytes()[1..], checksum);
    Ok(true)
}

/// Length of the TCP header, options included; all of it is present.
fn header_length(tcp: &[u8]) -> Result<usize, WireError> {
    let have = tcp.len();
    if have < FIXED {
        return Err(WireError::Cut { have, needed: FIXED });
    }
    let words = tcp[12] >> 4;
    let needed = usize::from(words) * 4;
    if needed < FIXED {
        return Err(WireError::DataOffset { words });
    }
    if have < needed {
        return Err(WireError::Cut { have, needed });
    }
    Ok(needed)
}

/// Overwrites bytes in the options of a TCP header, and updates the checksum.
fn replace(tcp: &mut [u8], at: usize, bytes: &[u8], checksum: Checksum) {
    match checksum {
        Checksum::Whole => mend(tcp, at, bytes, CHECKSUM),
        Checksum::Offloaded => tcp[at..at + bytes.len()].copy_from_slice(bytes),
    }
}

/// Overwrites bytes in a header of whole words, and updates the checksum by the difference (RFC
/// 1624, eq. 3). The bytes may start at an odd offset: the words that contain them are summed
/// before and after.
fn mend(header: &mut [u8], at: usize, bytes: &[u8], checksum: usize) {
    let end = at + bytes.len();
    let words = at & !1..(end + 1) & !1;
    let before = sum(&header[words.clone()]);
    header[at..end].copy_from_slice(bytes);
    let held = u16::from_be_bytes([header[checksum], header[checksum + 1]]);
    let mended = !fold(u32::from(!held) + u32::from(!before) + u32::from(sum(&header[words])));
    header[checksum..checksum + 2].copy_from_slice(&mended.to_be_bytes());
}

/// The ones' complement sum of whole words (RFC 1071).
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    fold(words.sum())
}

/// Adds the carry beyond 16 bits to the sum.
fn fold(sum: u32) -> u16 {
    let once = (sum & 0xFFFF) + (sum >> 16);
    ((once & 0xFFFF) + (once >> 16)) as u16
}
