//! Logs of single flows as qlog (draft-ietf-quic-qlog-main-schema, draft-ietf-quic-qlog-quic-events),
//! as their senders see them: a sequence of records, each an event.
//!
//! A flow of TCP is told in the words of QUIC: each packet that leaves has the next number, its
//! segment is a part of stream 0, and an acknowledgement has the numbers of the packets that it is the
//! first to acknowledge. A packet counts as lost when its segment is sent again. Of a stack that is
//! not the simulator's own the datagrams are opaque: they are counted, and what it reports of its
//! window, its round trip and its losses is told.

use std::collections::BTreeMap;
use std::fmt::Write;

use tidegate_core::packet::{Ext, Flags, Form, Packet};
use tidegate_core::units::Time;
use tidegate_model::scenario::{End, Scenario, Transport};

use crate::capture::Identity;
use crate::error::BuildError;
use crate::network::Network;
use crate::run_view::RunView;

/// What a record begins and ends with (RFC 7464).
const RECORD: char = '\u{1E}';
const SCHEMA: &str = "urn:ietf:params:qlog:events:quic-12";

/// The logs of a run.
pub(crate) struct Qlogs {
    /// How many flows of each class have started.
    started: Vec<u32>,
    logs: Vec<Log>,
}

/// What was told last of how a sender stands.
#[derive(Clone, Copy, PartialEq, Default)]
struct Metrics {
    cwnd: u64,
    flight: u64,
    ssthresh: u64,
    srtt: Time,
}

/// The log of one flow.
struct Log {
    class: u16,
    number: u32,
    /// None: it has not started, or is over.
    flow: Option<Identity>,
    /// Bytes of a segment and of its headers; none: it is not TCP.
    segment: Option<(u32, u32)>,
    /// Bytes of a full packet of a stack.
    full: f64,
    text: String,
    /// Packets that have left, and that have come.
    sent: u64,
    received: u64,
    /// Numbers of the packets by which outstanding segments were sent last.
    packets: BTreeMap<u32, u64>,
    lost: u32,
    metrics: Metrics,
}

impl Qlogs {
    /// Logs of these flows, by class and number in the order of starts; none: there are none.
    pub(crate) fn new(
        scenario: &Scenario,
        flows: &[(String, u32)],
        net: &mut Network,
    ) -> Result<Option<Qlogs>, BuildError> {
        let mut logs = Vec::new();
        for (name, number) in flows {
            let place = scenario.traffic.iter().position(|class| class.name == *name);
            let class = place.ok_or_else(|| BuildError::NoSuchClass(name.clone()))?;
            for &(source, _) in &scenario.traffic[class].pairs {
                net.follow(source);
            }
            logs.push(Log::new(scenario, class, *number));
        }
        let started = vec![0; scenario.traffic.len()];
        Ok((!logs.is_empty()).then_some(Qlogs { started, logs }))
    }

    /// A flow starts; none: there was no room for it.
    pub(crate) fn start(&mut self, class: u16, flow: Option<Identity>, view: &mut RunView<'_>) {
        let number = self.started[usize::from(class)];
        self.started[usize::from(class)] += 1;
        for log in &mut self.logs {
            if (log.class, log.number) == (class, number) {
                log.flow = flow;
            }
        }
        self.leave(view);
    }

    /// A packet has been delivered.
    pub(crate) fn delivered(&mut self, packet: &Packet, view: &mut RunView<'_>) {
        let slot = (packet.flow, packet.generation);
        let here = |log: &Log| log.flow.is_some_and(|flow| flow.slot == slot);
        let place = packet.flags.has(Flags::TO_SOURCE).then(|| self.logs.iter().position(here));
        let Some(place) = place.flatten() else { return };
        let now = view.net.now;
        // what left earlier comes before it, what it has let out behind it
        let behind = view.net.records.leaving.partition_point(|&(at, _)| at < now);
        let after = view.net.records.leaving.split_off(behind);
        self.leave(view);
        view.net.records.leaving = after;
        self.logs[place].come(packet, now);
        self.logs[place].record_sender(view);
        self.leave(view);
    }

    /// A timer of the flow of this number has fired.
    pub(crate) fn expired(&mut self, number: u32, view: &mut RunView<'_>) {
        let here = |log: &Log| log.flow.is_some_and(|flow| flow.slot.0 == number);
        let Some(place) = self.logs.iter().position(here) else { return };
        self.leave(view);
        self.logs[place].record_sender(view);
    }

    /// Writes what has left; packets of other flows are forgotten.
    fn leave(&mut self, view: &mut RunView<'_>) {
        for (at, packet) in view.net.records.leaving.drain(..) {
            let slot = (packet.flow, packet.generation);
            let here = |log: &&mut Log| log.flow.is_some_and(|flow| flow.slot == slot);
            let log = self.logs.iter_mut().find(here);
            if let Some(log) = log.filter(|_| !packet.flags.has(Flags::TO_SOURCE)) {
                log.go(&packet, at);
            }
        }
    }

    pub(crate) fn drain(&mut self) -> Vec<Vec<u8>> {
        self.logs.iter_mut().map(|log| std::mem::take(&mut log.text).into_bytes()).collect()
    }
}

impl Log {
    fn new(scenario: &Scenario, class: usize, number: u32) -> Log {
        let chosen = &scenario.traffic[class];
        let segment = match &chosen.transport {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => Some((tcp.mss, tcp.header)),
            Transport::Udp(_) | Transport::Quic(_) => None,
        };
        let full = match &chosen.transport {
            Transport::Quic(quic) => f64::from(quic.datagram()),
            _ => f64::NAN,
        };
        let side = if chosen.opens == End::Receiver { "server" } else { "client" };
        let title = quoted(&format!("{}, {}:{number}", scenario.name, chosen.name));
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{RECORD}{{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\
             \"serialization_format\":\"application/qlog+json-seq\",\"title\":{title},\
             \"trace\":{{\"title\":{title},\"vantage_point\":{{\"type\":\"{side}\"}},\
             \"common_fields\":{{\"time_format\":\"relative_to_epoch\",\"reference_time\":\
             {{\"clock_type\":\"monotonic\",\"epoch\":\"unknown\"}}}},\
             \"event_schemas\":[\"{SCHEMA}\"]}}}}"
        );
        Log {
            class: class as u16,
            number,
            flow: None,
            segment,
            full,
            text,
            sent: 0,
            received: 0,
            packets: BTreeMap::new(),
            lost: 0,
            metrics: Metrics::default(),
        }
    }

    fn event(&mut self, at: Time, name: &str, data: &str) {
        let time = milliseconds(at);
        let _ = writeln!(
            self.text,
            "{RECORD}{{\"time\":{time},\"name\":\"quic:{name}\",\"data\":{{{data}}}}}"
        );
    }

    /// What kind of packet it is. A stack whose window is not known yet has no connection.
    fn kind(&self, opens: bool) -> &'static str {
        match self.segment {
            _ if opens => "initial",
            None if self.metrics.cwnd == 0 => "handshake",
            _ => "1RTT",
        }
    }

    /// A packet has left.
    fn go(&mut self, packet: &Packet, at: Time) {
        let number = self.sent;
        self.sent += 1;
        let mut frames = String::new();
        let data = packet.flags.has(Flags::DATA) || packet.flags.has(Flags::FIN);
        if let Some((mss, header)) = self.segment.filter(|_| data) {
            if let Some(before) = self.packets.insert(packet.seq, number) {
                let kind = self.kind(false);
                self.event(at, "packet_lost", &head(kind, before));
            }
            let offset = u64::from(packet.seq) * u64::from(mss);
            let length = u32::from(packet.size).saturating_sub(header);
            let fin = packet.flags.has(Flags::FIN);
            let _ = write!(
                frames,
                ",\"frames\":[{{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":{offset},\
                 \"fin\":{fin},\"raw\":{{\"payload_length\":{length}}}}}]"
            );
        }
        let head = head(self.kind(opens(packet)), number);
        let data = format!("{head},\"raw\":{{\"length\":{}}}{frames}", packet.size);
        self.event(at, "packet_sent", &data);
    }

    /// A packet has come back.
    fn come(&mut self, packet: &Packet, now: Time) {
        let mut frames = String::new();
        let ranges = if opens(packet) { Vec::new() } else { self.acknowledged(packet) };
        if !ranges.is_empty() {
            let ranges: Vec<String> =
                ranges.iter().map(|(low, high)| format!("[{low},{high}]")).collect();
            let ranges = ranges.join(",");
            let _ = write!(
                frames,
                ",\"frames\":[{{\"frame_type\":\"ack\",\"acked_ranges\":[{ranges}]}}]"
            );
        }
        let head = head(self.kind(opens(packet)), self.received);
        self.received += 1;
        let data = format!("{head},\"raw\":{{\"length\":{}}}{frames}", packet.size);
        self.event(now, "packet_received", &data);
    }

    /// The numbers of the packets that an acknowledgement is the first to acknowledge, in ranges.
    fn acknowledged(&mut self, packet: &Packet) -> Vec<(u64, u64)> {
        if self.segment.is_none() || !packet.flags.has(Flags::ACK) {
            return Vec::new();
        }
        let beyond = self.packets.split_off(&packet.ack);
        let mut numbers: Vec<u64> =
            std::mem::replace(&mut self.packets, beyond).into_values().collect();
        for block in packet.ext.blocks().into_iter().flatten() {
            let start = packet.ack.saturating_add(block.start);
            for seq in start..start.saturating_add(block.len.into()) {
                numbers.extend(self.packets.remove(&seq));
            }
        }
        numbers.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some((_, high)) if *high + 1 == number => *high = number,
                _ => ranges.push((number, number)),
            }
        }
        ranges
    }

    /// How the sender stands; what has changed is told.
    fn record_sender(&mut self, view: &RunView<'_>) {
        let Some(flow) = self.flow else { return };
        let now = view.net.now;
        let mut metrics = self.metrics;
        if let Some((mss, _)) = self.segment {
            let Some(sender) = view.flows.sender(&flow, view.classes) else {
                // the slot may be another flow's soon
                self.flow = None;
                return;
            };
            let segment = f64::from(mss);
            metrics.cwnd = (sender.cwnd * segment) as u64;
            metrics.flight = sender.flight;
            metrics.ssthresh = sender.ssthresh.map_or(0, |segments| (segments * segment) as u64);
            metrics.srtt = sender.srtt.unwrap_or(Time::ZERO);
        } else if let Some(state) = view.flows.snapshot(&flow, view.classes, view.rows) {
            metrics.cwnd = (state.cwnd * self.full) as u64;
            metrics.srtt = state.srtt.unwrap_or(Time::ZERO);
            let lost = view.rows[flow.row as usize].retransmitted;
            for _ in self.lost..lost {
                self.event(now, "packet_lost", "");
            }
            self.lost = lost;
        }
        let changed = |name: &str, old: u64, new: u64| {
            if old == new { String::new() } else { format!(",\"{name}\":{new}") }
        };
        let was = std::mem::replace(&mut self.metrics, metrics);
        let mut data = changed("congestion_window", was.cwnd, metrics.cwnd);
        data += &changed("bytes_in_flight", was.flight, metrics.flight);
        data += &changed("ssthresh", was.ssthresh, metrics.ssthresh);
        if was.srtt != metrics.srtt {
            let _ = write!(data, ",\"smoothed_rtt\":{}", milliseconds(metrics.srtt));
        }
        if let Some(data) = data.strip_prefix(',') {
            self.event(now, "recovery_metrics_updated", data);
        }
    }
}

/// Whether a packet opens its connection, or answers one that does.
fn opens(packet: &Packet) -> bool {
    let form = match packet.ext {
        Ext::Datagram { form, .. } => form,
        _ => Form::Other,
    };
    packet.flags.has(Flags::SYN) || form != Form::Other
}

/// The header of a packet.
fn head(kind: &str, number: u64) -> String {
    format!("\"header\":{{\"packet_type\":\"{kind}\",\"packet_number\":{number}}}")
}

/// A time in milliseconds, to the nanosecond.
fn milliseconds(time: Time) -> String {
    let ns = time.ps() / 1_000;
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}

/// A text for JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out + "\""
}
