//! A receiver whose peer is a script.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

use super::super::FlowFate;
use super::super::receiver::Receiver;
use super::bench::{Bench, flag, ms, range};
use super::host::Host;

pub(super) struct Receiving {
    bench: Bench,
    receiver: Receiver,
    opens: bool,
    /// Behind the last segment that the script has sent.
    next: u32,
}

impl Receiving {
    pub(super) fn new(bench: Bench, opens: bool) -> Receiving {
        let receiver = Receiver::new(bench.class.memory.as_ref());
        Receiving { bench, receiver, opens, next: 0 }
    }

    fn packet(&self, flags: Flags) -> Packet {
        self.bench.address().towards_sink(flags, 40, self.bench.now)
    }

    fn deliver(&mut self, packet: &Packet) {
        let receiver = &mut self.receiver;
        self.bench.run(|address, ctx| receiver.receive(packet, address, ctx));
    }

    /// `data 0..3 ce` or `data +3`: each of these segments, one after the other.
    fn data(&mut self, segments: &str, more: &[&str]) {
        let mut first = self.packet(Flags::DATA.with(Flags::ACK));
        let tcp = &self.bench.class.tcp;
        first.size = (tcp.header + tcp.mss) as u16;
        let mut words = more.iter();
        while let Some(word) = words.next() {
            match *word {
                "sent" => first.sent = ms(words.next().unwrap()),
                _ => first.flags = first.flags.with(flag(word).unwrap_or_else(|| panic!("{word}"))),
            }
        }
        let (start, end) = match segments.strip_prefix('+') {
            Some(more) => (self.next, self.next + more.parse::<u32>().unwrap()),
            None => range(segments).unwrap_or_else(|| panic!("no range: {segments}")),
        };
        self.next = self.next.max(end);
        for seq in start..end {
            self.deliver(&Packet { seq, ..first });
        }
    }
}

impl Host for Receiving {
    fn bench(&mut self) -> &mut Bench {
        &mut self.bench
    }

    fn event(&mut self, words: &[&str]) {
        match *words {
            ["open"] if self.opens => {
                let receiver = &mut self.receiver;
                self.bench.run(|address, ctx| {
                    receiver.send_syn(address, ctx);
                    FlowFate::Lives
                });
            }
            ["syn"] => self.deliver(&self.packet(Flags::SYN)),
            ["syn+ack"] => self.deliver(&self.packet(Flags::SYN.with(Flags::ACK))),
            ["rst"] => self.deliver(&self.packet(Flags::RST)),
            ["ack"] => self.deliver(&self.packet(Flags::ACK)),
            ["ack", ack] => {
                let packet = self.packet(Flags::ACK);
                self.deliver(&Packet { ack: ack.parse().unwrap(), ..packet });
            }
            ["fin", seq] => {
                let packet = self.packet(Flags::FIN.with(Flags::ACK).with(Flags::PUSH));
                self.deliver(&Packet { seq: seq.parse().unwrap(), ..packet });
            }
            ["data", segments, ref more @ ..] => self.data(segments, more),
            ["look"] => {}
            ref other => panic!("no event of a receiver: {other:?}"),
        }
    }

    fn due(&self) -> Time {
        self.receiver.deadline
    }

    fn fire(&mut self) {
        let receiver = &mut self.receiver;
        self.bench.run(|address, ctx| receiver.expire(address, ctx));
    }

    fn oldest(&self) -> Option<Time> {
        None
    }

    fn value(&self, word: &str) -> Option<f64> {
        (word == "received").then(|| f64::from(self.receiver.received()))
    }
}
