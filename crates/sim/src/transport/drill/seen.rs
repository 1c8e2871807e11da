//! What a host was seen to do at a line of a script.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

/// A packet in the words of scripts: what it is, and what else it says.
pub(super) type Words = Vec<String>;

pub(super) struct Seen {
    pub(super) at: Time,
    pub(super) left: Vec<Words>,
    /// It was done before the event.
    pub(super) early: bool,
}

impl Seen {
    pub(super) fn within(&self, from: Time, to: Time) -> bool {
        from <= self.at && self.at <= to
    }

    /// Whether just these packets have left, in this order.
    pub(super) fn fits(&self, expected: &[Words]) -> bool {
        let mut pairs = self.left.iter().zip(expected);
        self.left.len() == expected.len() && pairs.all(|(packet, expected)| fits(packet, expected))
    }

    /// The packets in the words of scripts.
    pub(super) fn rendered(&self) -> String {
        let told = self.left.iter().map(|packet| packet.join(" ").replace(" not-ect", ""));
        let told: Vec<String> = told.collect();
        if told.is_empty() { "nothing".to_owned() } else { told.join(", ") }
    }
}

/// Whether a packet is as expected. Of an acknowledgement a script says all blocks and marks; what it
/// does not say of the time that is echoed, of a count of marks, of the window or of other packets may
/// be anything.
fn fits(packet: &Words, expected: &Words) -> bool {
    let (Some((what, says)), Some((kind, wanted))) = (packet.split_first(), expected.split_first())
    else {
        return false;
    };
    // a count of marks is in flags that also stand for themselves
    let counted = wanted.iter().any(|word| word.starts_with("ace"));
    let free = |word: &&String| {
        let flag = counted && matches!(word.as_str(), "ece" | "cwr");
        flag || ["echo", "ace", "offers"].iter().any(|free| word.starts_with(free))
            || *word == "not-ect"
    };
    let strict = kind.starts_with("ack") || !wanted.is_empty();
    let all = wanted.iter().all(|word| says.contains(word));
    let only = says.iter().filter(|word| !free(word)).all(|word| wanted.contains(word));
    what == kind && all && (only || !strict)
}

/// A packet in the words of scripts.
pub(super) fn words(packet: &Packet) -> Words {
    let flags = packet.flags;
    let has = |flag| flags.has(flag);
    let to_source = has(Flags::TO_SOURCE);
    let what = match () {
        () if has(Flags::RST) => "rst".to_owned(),
        () if has(Flags::SYN.with(Flags::ACK)) => "syn+ack".to_owned(),
        () if has(Flags::SYN) => "syn".to_owned(),
        () if has(Flags::DATA) && !to_source => packet.seq.to_string(),
        () if has(Flags::FIN) => "fin".to_owned(),
        () => format!("ack {}", packet.ack),
    };
    let mut words = vec![what];
    if has(Flags::DATA.with(Flags::FIN)) {
        words.push("fin".to_owned());
    }
    if to_source && !has(Flags::SYN) {
        let mut blocks = packet.ext.blocks().into_iter().flatten().filter(|block| block.len > 0);
        let told: Vec<String> = blocks.by_ref().map(|block| block_of(packet.ack, block)).collect();
        if !told.is_empty() {
            words.push(format!("sack {}", told.join(" ")));
        }
        words.extend(packet.window().map(|window| format!("offers {window}")));
        words.push(format!("echo {}", packet.sent.secs() * 1e3));
        let bit = |flag, bit| if has(flag) { bit } else { 0 };
        let count = bit(Flags::ECE, 1) + bit(Flags::CWR, 2) + bit(Flags::AE, 4);
        words.push(format!("ace {count}"));
    }
    let marks = [(Flags::ECE, "ece"), (Flags::CWR, "cwr"), (Flags::L4S, "ect1")];
    words.extend(marks.iter().filter(|(flag, _)| has(*flag)).map(|(_, word)| (*word).to_owned()));
    if !has(Flags::L4S) {
        words.push(if has(Flags::ECT) { "ect0" } else { "not-ect" }.to_owned());
    }
    words
}

fn block_of(ack: u32, block: tidegate_core::packet::SackBlock) -> String {
    let start = ack + block.start;
    format!("{start}..{}", start + u32::from(block.len))
}
