//! Byte formats of headers that real packets carry.
//!
//! [`ip`] turns a packet into the record that a port looks at and back, and
//! [`reset`] answers the opener of a session that was refused.
//!
//! An explicit rate travels in a TCP option of 12 bytes (qfcp, 2.1: request,
//! feedback and, for the control period of the ports, the sender's RTT):
//!
//! | byte  | content                                                               |
//! |-------|-----------------------------------------------------------------------|
//! | 0     | 254: an experiment (RFC 4727)                                         |
//! | 1     | 12: the length                                                        |
//! | 2-3   | 0x7467: which experiment (RFC 6994); not registered with IANA         |
//! | 4-6   | request, bytes/s: exponent of 5 bits, then mantissa of 19             |
//! | 7-9   | feedback, bytes/s, likewise                                           |
//! | 10-11 | RTT, microseconds: exponent of 4 bits, then mantissa of 12            |
//!
//! A scaled number is `mantissa << exponent`, the most significant byte first.
//! We write the least exponent that holds it, and then two codes compare like
//! the numbers that they stand for; every code can be read. Rates are rounded
//! down, so that the shares of a link never exceed it, and are exact below
//! 524,288 bytes/s; the error is under 2^-18 above. The RTT is rounded to the
//! nearest, with an error of at most 2^-12. Zero means that nothing is said,
//! and what is above zero is never rounded to it. What is too large becomes the
//! largest code: 1.1e15 bytes/s, 134 s.
//!
//! Nothing here checks that a segment is what it says. Who forwards packets
//! lets one pass unchanged on any [`WireError`]: its ends will deal with it.

pub mod ip;
pub mod reset;

use thiserror::Error;

use crate::packet::RateHeader;
use crate::units::{Rate, Time};

/// Option kind of experiments.
pub const KIND: u8 = 254;
/// Length of the explicit-rate option, in bytes.
pub const LENGTH: usize = 12;
/// Which experiment the option belongs to.
pub const EXPERIMENT: u16 = 0x7467;

/// Bytes of a TCP header without options, and so where options begin.
const FIXED: usize = 20;
/// Where a TCP header keeps its checksum.
const CHECKSUM: usize = 16;
const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;

/// Why a TCP header could not be read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum WireError {
    /// The bytes end before the header does.
    #[error("the TCP header needs {needed} bytes and has {have}")]
    Cut {
        /// How many there are.
        have: usize,
        /// How many the header needs.
        needed: usize,
    },
    /// The header says that it is shorter than any header.
    #[error("a data offset of {words} words: a TCP header has 5 to 15")]
    DataOffset {
        /// What it says, in words of four bytes.
        words: u8,
    },
    /// The options cannot be parsed.
    #[error("option {kind} at byte {at} says {length} bytes, of {room} that are left")]
    OptionLength {
        /// Byte of the header at which the option begins.
        at: usize,
        /// Its kind.
        kind: u8,
        /// The length that it says, zero if it ends before that.
        length: u8,
        /// Bytes from there to the end of the header.
        room: usize,
    },
    /// The option carries our experiment's number, and another length.
    #[error("the explicit-rate option at byte {at} has {length} bytes, not {LENGTH}")]
    RateLength {
        /// Byte of the header at which the option begins.
        at: usize,
        /// Its length.
        length: u8,
    },
    /// There is no explicit-rate option to be written to.
    #[error("the TCP header has no explicit-rate option to write to")]
    Missing,
}

/// What the checksum of a TCP header is at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// That of the segment: it changes with what is written.
    Whole,
    /// Left to the device to complete (offload): it sums what is there by then.
    Offloaded,
}

/// An explicit rate, in the units of the wire.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RateOption {
    /// Rate that the sender asks for and the path grants so far, in bytes/s;
    /// zero: nothing is asked.
    pub request: u64,
    /// What the receiver hands back of the request, in bytes/s; zero: nothing.
    pub feedback: u64,
    /// The sender's smoothed round-trip time, in microseconds; zero: not measured.
    pub rtt_us: u32,
}

impl RateOption {
    /// From quantities; a rate above zero asks for one byte a second at least.
    pub fn new(request: Option<Rate>, feedback: Option<Rate>, rtt: Option<Time>) -> RateOption {
        let bytes = |rate: Rate| (rate.bps() / 8).max(u64::from(rate.bps() > 0));
        let us = |rtt: Time| (rtt.ps() / 1_000_000).max(u64::from(rtt > Time::ZERO));
        RateOption {
            request: request.map_or(0, bytes),
            feedback: feedback.map_or(0, bytes),
            rtt_us: rtt.map_or(0, us).try_into().unwrap_or(u32::MAX),
        }
    }

    /// What the sender asks for, if anything.
    pub fn request(&self) -> Option<Rate> {
        rate(self.request)
    }

    /// What is handed back, if anything.
    pub fn feedback(&self) -> Option<Rate> {
        rate(self.feedback)
    }

    /// The sender's round-trip time, if it has measured one.
    pub fn rtt(&self) -> Option<Time> {
        (self.rtt_us > 0).then(|| Time::from_ns(u64::from(self.rtt_us) * 1_000))
    }

    /// The whole option, kind and length included.
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let [x0, x1] = EXPERIMENT.to_be_bytes();
        let [_, q0, q1, q2] = RATE.below(self.request).to_be_bytes();
        let [_, f0, f1, f2] = RATE.below(self.feedback).to_be_bytes();
        let [_, _, r0, r1] = RTT.nearest(u64::from(self.rtt_us)).to_be_bytes();
        [KIND, LENGTH as u8, x0, x1, q0, q1, q2, f0, f1, f2, r0, r1]
    }

    /// What the bytes of an option say, whose kind and length are known.
    fn of(option: &[u8; LENGTH]) -> RateOption {
        let [_, _, _, _, q0, q1, q2, f0, f1, f2, r0, r1] = *option;
        RateOption {
            request: RATE.value(u32::from_be_bytes([0, q0, q1, q2])),
            feedback: RATE.value(u32::from_be_bytes([0, f0, f1, f2])),
            // at most 4095 << 15, which 32 bits hold
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
    /// What is above 32 bits becomes the most that they hold, some 34 Gbit/s.
    fn from(option: RateOption) -> RateHeader {
        let most = |rate: u64| rate.try_into().unwrap_or(u32::MAX);
        let RateOption { request, feedback, rtt_us } = option;
        RateHeader { request: most(request), feedback: most(feedback), rtt_us }
    }
}

/// A rate of so many bytes a second, zero being none.
fn rate(bytes_per_s: u64) -> Option<Rate> {
    (bytes_per_s > 0).then(|| Rate::from_bps(bytes_per_s.saturating_mul(8)))
}

/// Numbers as an exponent and, below it, a mantissa.
#[derive(Clone, Copy)]
struct Scale {
    exponent_bits: u32,
    mantissa_bits: u32,
}

const RATE: Scale = Scale { exponent_bits: 5, mantissa_bits: 19 };
const RTT: Scale = Scale { exponent_bits: 4, mantissa_bits: 12 };

impl Scale {
    /// The number that a code stands for.
    const fn value(self, code: u32) -> u64 {
        let mantissa = code & ((1 << self.mantissa_bits) - 1);
        (mantissa as u64) << (code >> self.mantissa_bits)
    }

    /// The least exponent that holds the number.
    const fn exponent(self, value: u64) -> u32 {
        (u64::BITS - value.leading_zeros()).saturating_sub(self.mantissa_bits)
    }

    /// The largest code of a number that is not above this one.
    const fn below(self, value: u64) -> u32 {
        let exponent = self.exponent(value);
        if exponent >= 1 << self.exponent_bits {
            return (1 << (self.exponent_bits + self.mantissa_bits)) - 1;
        }
        (exponent << self.mantissa_bits) | (value >> exponent) as u32
    }

    /// The code of the nearest number, of two the larger.
    const fn nearest(self, value: u64) -> u32 {
        let half = (1 << self.exponent(value)) >> 1;
        self.below(value.saturating_add(half))
    }
}

/// Where the explicit-rate option begins in a TCP header, if it has one: the
/// first of them. `tcp` begins with the header; payload may follow.
///
/// # Errors
/// If the header is cut off or its options cannot be parsed.
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

/// What the explicit-rate option of a TCP header says, if it has one.
///
/// # Errors
/// As [`find`].
pub fn read(tcp: &[u8]) -> Result<Option<RateOption>, WireError> {
    let option = find(tcp)?.and_then(|at| tcp[at..].first_chunk::<LENGTH>());
    Ok(option.map(RateOption::of))
}

/// Writes into the explicit-rate option that a TCP header has.
///
/// # Errors
/// As [`find`], and if there is no such option; then nothing is written.
pub fn write(tcp: &mut [u8], option: &RateOption, checksum: Checksum) -> Result<(), WireError> {
    let at = find(tcp)?.ok_or(WireError::Missing)?;
    replace(tcp, at, &option.to_bytes(), checksum);
    Ok(())
}

/// What a port does: lowers the request of a packet that asks for more than
/// `most`, and says whether it did. Packets without the option ask for nothing.
///
/// # Errors
/// As [`find`]; then nothing is written.
pub fn lower(tcp: &mut [u8], most: Rate, checksum: Checksum) -> Result<bool, WireError> {
    let Some(at) = find(tcp)? else { return Ok(false) };
    let [x, y, z] = [tcp[at + 4], tcp[at + 5], tcp[at + 6]];
    // a request that is granted nothing would look like none
    let most = RATE.below((most.bps() / 8).max(1));
    if RATE.value(u32::from_be_bytes([0, x, y, z])) <= RATE.value(most) {
        return Ok(false);
    }
    replace(tcp, at + 4, &most.to_be_bytes()[1..], checksum);
    Ok(true)
}

/// Bytes of the TCP header, options included; all of them are there.
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

/// Puts bytes among the options of a TCP header, and updates its checksum.
fn replace(tcp: &mut [u8], at: usize, bytes: &[u8], checksum: Checksum) {
    match checksum {
        Checksum::Whole => mend(tcp, at, bytes, CHECKSUM),
        Checksum::Offloaded => tcp[at..at + bytes.len()].copy_from_slice(bytes),
    }
}

/// Puts bytes into a header of whole words and updates its checksum by the
/// difference (RFC 1624, eq. 3). They may begin at an odd byte: the words that
/// hold them are summed before and after.
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

/// Adds what was carried out of 16 bits to the rest.
fn fold(sum: u32) -> u16 {
    let once = (sum & 0xFFFF) + (sum >> 16);
    ((once & 0xFFFF) + (once >> 16)) as u16
}
