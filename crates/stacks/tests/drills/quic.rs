//! Datagrams of QUIC without secrets, in the words of scripts (RFC 9000, 17 and 19).

/// Bytes of a connection ID of the stacks, and of a packet's tag.
const ID: usize = 8;
const TAG: usize = 16;

/// Of a packet with a short header without data, from what matters most on.
const KINDS: &[&str] = &[
    "close",
    "crypto",
    "done",
    "ping",
    "new-id",
    "retire-id",
    "limit",
    "token",
    "ack-now",
    "unknown",
];

/// What is left to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        head
    }

    fn number(&mut self, count: usize) -> u64 {
        self.take(count).iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// RFC 9000, 16.
    fn varint(&mut self) -> u64 {
        let count = 1 << (self.0.first().copied().unwrap_or_default() >> 6);
        self.number(count) & ((1 << (8 * count - 2)) - 1)
    }

    fn skip(&mut self, numbers: u32) {
        (0..numbers).for_each(|_| _ = self.varint());
    }
}

/// The packets of a datagram, joined by `+`.
pub fn words(datagram: &[u8]) -> String {
    let mut bytes = Bytes(datagram);
    let mut packets = Vec::new();
    while !bytes.0.is_empty() {
        packets.push(packet(&mut bytes));
    }
    packets.join("+")
}

fn packet(bytes: &mut Bytes<'_>) -> String {
    let first = bytes.number(1);
    let numbered = (first & 3) as usize + 1;
    if first & 0x80 == 0 {
        bytes.take(ID);
        let number = bytes.number(numbered);
        let payload = bytes.0.len().saturating_sub(TAG);
        let found = FoundFrames::read(bytes.take(payload));
        bytes.take(TAG);
        return found.short(number);
    }
    bytes.take(4);
    for _ in 0..2 {
        let length = bytes.number(1) as usize;
        bytes.take(length);
    }
    let kind = match first >> 4 & 3 {
        0 => {
            let token = bytes.varint() as usize;
            bytes.take(token);
            "initial"
        }
        2 => "handshake",
        _ => "other",
    };
    let length = bytes.varint() as usize;
    let mut packet = Bytes(bytes.take(length));
    let number = packet.number(numbered);
    let payload = packet.0.len().saturating_sub(TAG);
    let found = FoundFrames::read(packet.take(payload));
    [vec![kind.to_owned()], found.parts(number)].concat().join(":")
}

/// The frames of a packet.
#[derive(Default)]
struct FoundFrames {
    /// Ranges of data, and of what is acknowledged.
    data: Vec<String>,
    acked: Vec<String>,
    /// What else there is.
    parts: Vec<&'static str>,
    marked: u64,
}

impl FoundFrames {
    fn read(payload: &[u8]) -> FoundFrames {
        let mut bytes = Bytes(payload);
        let mut found = FoundFrames::default();
        while !bytes.0.is_empty() {
            found.frame(&mut bytes);
        }
        found
    }

    fn frame(&mut self, bytes: &mut Bytes<'_>) {
        let kind = bytes.varint();
        let part = match kind {
            0x00 => return,
            0x01 => "ping",
            0x02 | 0x03 => {
                self.ack(bytes, kind == 3);
                return;
            }
            0x06 => {
                bytes.skip(1);
                let length = bytes.varint() as usize;
                bytes.take(length);
                "crypto"
            }
            0x08..=0x0f => return self.stream(bytes, kind),
            0x10 | 0x12..=0x14 | 0x16 | 0x17 => {
                bytes.skip(1);
                "limit"
            }
            0x11 | 0x15 => {
                bytes.skip(2);
                "limit"
            }
            0x18 => {
                bytes.skip(2);
                let length = bytes.number(1) as usize;
                bytes.take(length + 16);
                "new-id"
            }
            0x07 => {
                let length = bytes.varint() as usize;
                bytes.take(length);
                "token"
            }
            0x19 => {
                bytes.skip(1);
                "retire-id"
            }
            0x1c | 0x1d => {
                bytes.skip(if kind == 0x1c { 2 } else { 1 });
                let length = bytes.varint() as usize;
                bytes.take(length);
                "close"
            }
            0x1e => "done",
            // draft-ietf-quic-ack-frequency
            0x1f => "ack-now",
            _ => {
                bytes.take(usize::MAX);
                "unknown"
            }
        };
        self.parts.push(part);
    }

    fn stream(&mut self, bytes: &mut Bytes<'_>, kind: u64) {
        bytes.skip(1);
        let offset = if kind & 4 == 0 { 0 } else { bytes.varint() };
        let length = if kind & 2 == 0 { bytes.0.len() } else { bytes.varint() as usize };
        let end = offset + bytes.take(length).len() as u64;
        self.data.push(format!("{offset}..{end}"));
        if kind & 1 != 0 {
            self.parts.push("fin");
        }
    }

    fn ack(&mut self, bytes: &mut Bytes<'_>, counts: bool) {
        let mut largest = bytes.varint();
        bytes.skip(1);
        let more = bytes.varint();
        let mut least = largest - bytes.varint();
        self.acked.push(format!("{least}..{}", largest + 1));
        for _ in 0..more {
            largest = least - bytes.varint() - 2;
            least = largest - bytes.varint();
            self.acked.push(format!("{least}..{}", largest + 1));
        }
        if counts {
            bytes.skip(2);
            self.marked = bytes.varint();
        }
    }

    /// What is in it, number and ranges included.
    fn parts(self, number: u64) -> Vec<String> {
        let mut words = vec![format!("#{number}")];
        words.extend(self.parts.iter().map(|&part| part.to_owned()));
        words.extend(self.data);
        if !self.acked.is_empty() {
            words.push("ack".to_owned());
            words.extend(self.acked);
        }
        if self.marked > 0 {
            words.push(format!("ce{}", self.marked));
        }
        words
    }

    /// A packet with a short header: its kind is what matters most of it.
    fn short(self, number: u64) -> String {
        let kind = self.data.first().cloned().or_else(|| {
            let told = KINDS.iter().find(|&kind| self.parts.contains(kind));
            told.map(|&kind| kind.to_owned())
        });
        let kind = kind.unwrap_or_else(|| "ack".to_owned());
        let mut parts = self.parts(number);
        if let Some(at) = parts.iter().position(|part| *part == kind) {
            parts.remove(at);
        }
        parts.insert(0, kind);
        parts.join(":")
    }
}
