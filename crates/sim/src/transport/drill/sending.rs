//! A sender whose peer is a script.

use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::units::Time;

use super::super::FlowFate;
use super::super::control::{Any, AppLimited};
use super::super::receiver::Address;
use super::super::sender::Sender;
use super::super::sender::driven::Part;
use super::bench::{Bench, blocks, flag, ms, range};
use super::host::Host;
use crate::rows::UNLIMITED;

pub(super) struct Sending {
    bench: Bench,
    sender: Sender<AppLimited>,
    opens: bool,
    /// When each segment was sent last.
    sent_at: Vec<Time>,
    /// The timestamp that the peer echoes.
    echo: Time,
    una: u32,
}

impl Sending {
    pub(super) fn new(bench: Bench, opens: bool) -> Sending {
        let mut sender = Sender::new(AppLimited::new(Any::inside(&bench.class.tcp)));
        sender.load(UNLIMITED, &bench.class);
        sender.is_offered_all(true);
        sender.wait_for_data();
        Sending { bench, sender, opens, sent_at: Vec::new(), echo: Time::ZERO, una: 0 }
    }

    /// Notes when segments left. Before the first in order the peer echoes the answer to its SYN.
    fn record(&mut self) {
        for packet in &self.bench.left {
            if packet.flags.has(Flags::SYN) {
                self.echo = packet.sent;
            }
            if packet.flags.has(Flags::DATA) {
                let place = packet.seq as usize;
                self.sent_at.resize(self.sent_at.len().max(place + 1), Time::ZERO);
                self.sent_at[place] = packet.sent;
            }
        }
    }

    /// Hands a packet of the peer to the sender.
    fn deliver(&mut self, mut packet: Packet, change: impl FnOnce(&mut Packet)) {
        change(&mut packet);
        let sender = &mut self.sender;
        self.bench.run(|address, ctx| sender.receive(&packet, address, ctx));
        self.record();
    }

    fn packet(&self, flags: Flags) -> Packet {
        self.bench.address().towards_source(flags, 40, self.bench.now)
    }

    /// `ack 4 sack 6..7 ece echo 30`; `ack +2`: two more than before. What is not said of the
    /// timestamp: that of the oldest segment that is new, else the same as before (RFC 7323, 4.3).
    fn acknowledge(&mut self, ack: &str, more: &[&str]) {
        let ack: u32 = match ack.strip_prefix('+') {
            Some(more) => self.una + more.parse::<u32>().unwrap(),
            None => ack.parse().unwrap(),
        };
        if ack > self.una {
            self.echo = self.sent_at.get(self.una as usize).copied().unwrap_or(self.echo);
            self.una = ack;
        }
        let mut packet = self.packet(Flags::ACK);
        (packet.ack, packet.sent) = (ack, self.echo);
        let mut ranges = Vec::new();
        let mut words = more.iter();
        while let Some(word) = words.next() {
            match *word {
                "sack" => {}
                "echo" => packet.sent = ms(words.next().unwrap()),
                "offers" => {
                    let segments = words.next().unwrap().parse().unwrap();
                    packet.seq = Packet::number_of_window(segments);
                    self.sender.is_offered_all(false);
                }
                "ace" => packet.flags = packet.flags.with(count(words.next().unwrap())),
                _ => match (flag(word), range(word)) {
                    (Some(flag), _) => packet.flags = packet.flags.with(flag),
                    (_, Some(block)) => ranges.push(block),
                    _ => panic!("no word of an acknowledgement: {word}"),
                },
            }
        }
        if !ranges.is_empty() {
            packet.ext = Ext::None.with_blocks(blocks(ack, &ranges));
        }
        self.deliver(packet, |_| {});
    }

    fn do_with(
        &mut self,
        act: impl FnOnce(&mut Sender<AppLimited>, &Address, &mut super::super::Ctx<'_>),
    ) {
        let sender = &mut self.sender;
        self.bench.run(|address, ctx| {
            act(sender, address, ctx);
            FlowFate::Lives
        });
        self.record();
    }

    /// Data that an application hands in; the last of it with the end of the connection.
    fn write(&mut self, segments: &str, last: bool) {
        let mss = self.bench.class.tcp.mss;
        let bytes = segments.parse::<f64>().unwrap() * f64::from(mss);
        let part = Part::of(bytes as u64, mss, last);
        self.do_with(|sender, address, ctx| sender.hand_in(part, address, ctx));
    }
}

/// The flags of a count of marks.
fn count(word: &str) -> Flags {
    let count: u8 = word.parse().unwrap();
    let flags = [(1, Flags::ECE), (2, Flags::CWR), (4, Flags::AE)];
    let set = flags.into_iter().filter(|(bit, _)| count & bit != 0);
    set.fold(Flags::NONE, |all, (_, flag)| all.with(flag))
}

impl Host for Sending {
    fn bench(&mut self) -> &mut Bench {
        &mut self.bench
    }

    fn event(&mut self, words: &[&str]) {
        match *words {
            ["open"] if self.opens => {
                self.do_with(|sender, address, ctx| sender.begin(address, ctx));
            }
            ["syn"] => self.deliver(self.packet(Flags::SYN), |_| {}),
            ["syn+ack"] => self.deliver(self.packet(Flags::SYN.with(Flags::ACK)), |_| {}),
            ["rst"] => self.deliver(self.packet(Flags::RST), |_| {}),
            ["fin", ref ack @ ..] => {
                let ack = ack.first().map_or(self.una, |ack| ack.parse().unwrap());
                let fin = self.packet(Flags::FIN.with(Flags::ACK));
                self.deliver(fin, |packet| packet.ack = ack);
            }
            ["write", segments] => self.write(segments, false),
            ["write", segments, "last"] => self.write(segments, true),
            ["close"] => self.do_with(|sender, address, ctx| sender.close_now(address, ctx)),
            ["ack", ack, ref more @ ..] => self.acknowledge(ack, more),
            ["look"] => {}
            ref other => panic!("no event of a sender: {other:?}"),
        }
    }

    fn due(&self) -> Time {
        self.sender.next_deadline().min(self.sender.wake)
    }

    fn fire(&mut self) {
        let timer = self.sender.next_deadline() <= self.bench.now;
        let sender = &mut self.sender;
        self.bench.run(|address, ctx| {
            sender.go_on(address, ctx);
            if timer { sender.expire(address, ctx) } else { FlowFate::Lives }
        });
        self.record();
    }

    fn oldest(&self) -> Option<Time> {
        self.sent_at.get(self.una as usize).copied()
    }

    fn value(&self, word: &str) -> Option<f64> {
        let state = self.sender.state(&self.bench.class);
        match word {
            "cwnd" => Some(state.cwnd),
            "ssthresh" => Some(state.ssthresh.unwrap_or(f64::INFINITY)),
            "srtt" => Some(state.srtt.map_or(f64::NAN, |srtt| srtt.secs() * 1e3)),
            "timeouts" => Some(f64::from(self.bench.row.timeouts)),
            _ => None,
        }
    }
}
