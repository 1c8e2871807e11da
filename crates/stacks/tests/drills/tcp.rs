//! Segments of TCP in the words of scripts: numbers count bytes of data from zero (RFC 9293, 3.1).

use tidegate_core::drill::PathEnd;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// A reader of the segments of one connection, which learns the first numbers from the SYNs.
pub fn words() -> impl FnMut(PathEnd, &[u8]) -> String {
    let mut first = [0_u32; 2];
    move |side, segment| {
        let number =
            |at: usize| segment[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let (flags, header) = (segment[13], usize::from(segment[12] >> 4) * 4);
        let has = |flag| flags & flag != 0;
        if has(SYN) {
            first[side as usize] = number(4).wrapping_add(1);
        }
        let other = first[1 - side as usize];
        let ack = number(8).wrapping_sub(other);
        let start = number(4).wrapping_sub(first[side as usize]);
        let length = segment.len().saturating_sub(header);
        let mut parts = vec![match () {
            () if has(RST) => "rst".to_owned(),
            () if has(SYN) && has(ACK) => "syn+ack".to_owned(),
            () if has(SYN) => "syn".to_owned(),
            () if length > 0 => format!("{start}..{}", start.wrapping_add(length as u32)),
            () if has(FIN) => "fin".to_owned(),
            () => "ack".to_owned(),
        }];
        if has(FIN) && length > 0 {
            parts.push("fin".to_owned());
        }
        if has(ACK) && !has(SYN) {
            parts.push(ack.to_string());
        }
        let window = u16::from_be_bytes([segment[14], segment[15]]);
        if window == 0 {
            parts.push("closed".to_owned());
        }
        for (from, to) in blocks(&segment[20..header.min(segment.len())]) {
            let [from, to] = [from, to].map(|edge| edge.wrapping_sub(other));
            parts.push(format!("{from}..{to}"));
        }
        parts.join(":")
    }
}

/// The blocks of SACK among the options (RFC 2018).
fn blocks(mut options: &[u8]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    while let Some(&kind) = options.first() {
        let length = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(options.get(1).copied().unwrap_or(2)).max(2),
        };
        let (option, rest) = options.split_at(length.min(options.len()));
        if kind == 5 {
            let edge = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all << 8 | u32::from(byte));
            let pairs = option[2..].chunks_exact(8);
            found.extend(pairs.map(|pair| (edge(&pair[..4]), edge(&pair[4..]))));
        }
        options = rest;
    }
    found
}
