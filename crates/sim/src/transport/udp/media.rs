//! Media over UDP: an encoder, a buffer that sends at a pace, and reports of the receiver.
//!
//! The encoder makes a frame every so often, of a size that follows the rate of its law
//! (`tidegate_core::law::media`). Frames are cut into packets, which wait in a buffer and leave at
//! the pace that the law sets. The receiver reports when each packet came (RFC 8888): in a report
//! are all packets up to the latest one that has come, from the one after the last report on; what
//! has not come by then is lost. A report that is lost is not repeated, so that its packets stay
//! unknown.
//!
//! Both ends are in one record, as of all flows. A report is a packet with its number and the size
//! that it would have; its contents wait here.

use std::collections::VecDeque;

use tidegate_core::law::media::{MediaControl, Reported};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;
use tidegate_model::draw::{Frames, Periods};
use tidegate_model::scenario::{Media, Udp};

use super::{UdpTable, World, close};
use crate::engine::{Entity, EventKind};
use crate::flow_id::FlowId;
use crate::rows::UNLIMITED;

/// A packet that waits at the sender.
struct Waits {
    bytes: u32,
    made: Time,
}

/// A packet that was sent and is not reported.
struct Sent {
    number: u32,
    made: Time,
    sent: Time,
    bytes: u32,
    /// When it came, and whether it was marked.
    arrived: Option<(Time, bool)>,
}

/// A report under way.
struct FeedbackReport {
    number: u32,
    /// When the receiver sent it.
    made: Time,
    /// The first packet that it tells of, and the latest that had come.
    first: u32,
    latest: u32,
}

/// The sender and the receiver of one flow.
pub(super) struct Stream {
    control: Box<dyn MediaControl + Send>,
    frames: Frames,
    frame_gap: Time,
    reaction: Time,
    feedback: Time,
    /// The rate of the encoder, and when it took it.
    rate: (f64, Time),
    waits: VecDeque<Waits>,
    waiting: u64,
    sent: VecDeque<Sent>,
    under_way: u64,
    /// When the next frame and the next packet are due.
    next_frame: Time,
    next_packet: Time,
    /// When the next report is due ([`Time::NEVER`]: nothing has come since the last one).
    next_report: Time,
    last_report: Time,
    /// The first packet that was not reported, and the latest that has come.
    unreported: u32,
    latest: u32,
    reports: VecDeque<FeedbackReport>,
    report: u32,
    /// When its one pending event is due.
    armed: Time,
}

/// Takes the first of a queue if something holds of it.
fn pop_if<T>(queue: &mut VecDeque<T>, holds: impl Fn(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(holds) { queue.pop_front() } else { None }
}

/// RFC 8888, 3.1: bytes of a report without those on packets: headers of IP and UDP, of RTCP with the
/// sender, of the one stream, and the time stamp.
const REPORT: u32 = Udp::HEADER + 8 + 8 + 4;
/// 3.1: bytes on each packet; they are filled up to four.
const REPORTED: u32 = 2;
/// After so long a packet that nothing was reported of is no longer under way.
const FORGOTTEN: Time = Time::from_secs(5);
/// 3.1: most packets of a report.
const MOST_REPORTED: u32 = 16_384;

impl Stream {
    pub(super) fn new(media: &Media, frames: Frames, now: Time) -> Stream {
        let control = media.control.begin(media.encoder);
        Stream {
            rate: (control.encode(0), now),
            control,
            frames,
            frame_gap: Time::from_secs_f64(1.0 / media.encoder.frames),
            reaction: media.reaction,
            feedback: media.feedback,
            waits: VecDeque::new(),
            waiting: 0,
            sent: VecDeque::new(),
            under_way: 0,
            next_frame: now,
            next_packet: now,
            next_report: Time::NEVER,
            last_report: Time::ZERO,
            unreported: 0,
            latest: 0,
            reports: VecDeque::new(),
            report: 0,
            armed: Time::NEVER,
        }
    }

    /// When something is due next.
    fn due(&self) -> Time {
        let packet = if self.may_leave() { self.next_packet } else { Time::NEVER };
        self.next_frame.min(packet).min(self.next_report)
    }

    /// The encoder makes a frame, in packets of at most `full` bytes.
    fn encode(&mut self, full: u32, now: Time) {
        if now - self.rate.1 >= self.reaction {
            self.rate = (self.control.encode(self.waiting), now);
        }
        let mut left = self.frames.next(self.rate.0).max(u64::from(Udp::HEADER) + 1);
        let waited = self.waits.front().map_or(Time::ZERO, |first| now - first.made);
        self.control.frame(left, waited);
        while left > 0 {
            // a rest of headers alone would carry nothing
            let bytes = left.min(u64::from(full)) as u32;
            left = left.saturating_sub(u64::from(bytes));
            let bytes = bytes.max(Udp::HEADER + 1);
            self.waits.push_back(Waits { bytes, made: now });
            self.waiting += u64::from(bytes);
        }
    }

    /// When the next frame is due; none is made in a time of silence.
    fn schedule(&mut self, periods: Option<&mut (Box<Periods>, Time)>) {
        self.next_frame += self.frame_gap;
        if let Some((periods, end)) = periods
            && self.next_frame >= *end
        {
            self.next_frame = self.next_frame.max(*end + periods.off());
            *end = self.next_frame + periods.on();
        }
    }

    /// Whether a packet waits and the window lets it leave.
    fn may_leave(&self) -> bool {
        let fits = |next: &Waits| {
            let under_way = self.under_way + u64::from(next.bytes);
            self.under_way == 0 || under_way as f64 <= self.control.window()
        };
        self.waits.front().is_some_and(fits)
    }

    /// What was sent long ago and not reported is no longer under way: all that could have told of it
    /// is lost.
    fn forget(&mut self, now: Time) {
        let old = |sent: &Sent| sent.sent + FORGOTTEN < now;
        while let Some(Sent { bytes, .. }) = pop_if(&mut self.sent, old) {
            self.under_way -= u64::from(bytes);
        }
    }

    /// The next packet leaves: its bytes.
    fn leave(&mut self, number: u32, now: Time) -> Option<u32> {
        self.may_leave().then_some(())?;
        let rate = self.control.send(self.waiting);
        let Waits { bytes, made } = self.waits.pop_front()?;
        self.waiting -= u64::from(bytes);
        let takes = f64::from(bytes) * 8.0 / rate.max(1.0);
        self.next_packet = now + Time::from_secs_f64(takes);
        self.sent.push_back(Sent { number, made, sent: now, bytes, arrived: None });
        self.under_way += u64::from(bytes);
        self.control.flight(self.under_way);
        Some(bytes)
    }

    fn of(&mut self, number: u32) -> Option<&mut Sent> {
        let first = self.sent.front()?.number;
        self.sent.get_mut(number.checked_sub(first)? as usize)
    }

    /// A packet has come: when its frame was made.
    pub(super) fn arrived(&mut self, packet: &Packet, now: Time) -> Time {
        self.latest = self.latest.max(packet.seq);
        if self.next_report == Time::NEVER {
            self.next_report = now.max(self.last_report + self.feedback);
        }
        let marked = packet.flags.has(Flags::CE);
        let Some(sent) = self.of(packet.seq) else { return packet.sent };
        sent.arrived = Some((now, marked));
        sent.made
    }

    /// The receiver makes a report: its number, and its bytes.
    fn report(&mut self, now: Time) -> Option<(u32, u32)> {
        (self.last_report, self.next_report) = (now, Time::NEVER);
        let (first, latest) = (self.unreported, self.latest);
        // what has come late was reported as lost
        let packets = (latest + 1).checked_sub(first).filter(|&packets| packets > 0)?;
        self.unreported = latest + 1;
        let number = self.report;
        self.report += 1;
        self.reports.push_back(FeedbackReport { number, made: now, first, latest });
        let packets = packets.min(MOST_REPORTED);
        Some((number, REPORT + (packets * REPORTED).next_multiple_of(4)))
    }

    /// A report has come to the sender.
    pub(super) fn on_report(&mut self, number: u32, now: Time) {
        while self.reports.front().is_some_and(|report| report.number < number) {
            self.reports.pop_front();
        }
        let Some(report) = pop_if(&mut self.reports, |report| report.number == number) else {
            return; // a later one has overtaken it
        };
        let mut packets = Vec::new();
        let mut rtt = Time::ZERO;
        while let Some(Sent { number, sent, bytes, arrived, .. }) =
            pop_if(&mut self.sent, |sent| sent.number <= report.latest)
        {
            self.under_way -= u64::from(bytes);
            // what came after the report was made is lost in it
            let arrived = arrived.filter(|(at, _)| *at <= report.made);
            if let Some((at, _)) = arrived {
                rtt = (now - sent).saturating_sub(report.made - at);
            }
            if number >= report.first {
                let marked = arrived.is_some_and(|(_, marked)| marked);
                packets.push(Reported { sent, arrived: arrived.map(|(at, _)| at), bytes, marked });
            }
        }
        if !packets.is_empty() {
            self.control.on_report(now, &packets, rtt);
        }
        self.control.flight(self.under_way);
    }
}

impl UdpTable {
    /// What is due at a flow of media: frames, packets, a report.
    pub(super) fn run_due(&mut self, id: FlowId, world: &mut World<'_>) {
        let now = world.net.now;
        let flow = &mut self.flows[id.slot()];
        let class = self.classes.get_mut(usize::from(flow.class)).and_then(Option::as_mut);
        let (Some(stream), Some(class)) = (&mut flow.stream, class) else { return };
        if stream.next_report <= now
            && let Some((number, bytes)) = stream.report(now)
        {
            let mut packet = flow.address.towards_source(Flags::NONE, bytes, now);
            packet.seq = number;
            world.net.send(&packet);
        }
        if flow.left > 0 && stream.next_frame <= now {
            stream.forget(now);
            stream.encode(class.udp.packet, now);
            stream.schedule(flow.periods.as_mut());
        }
        while flow.left > 0 && stream.next_packet <= now {
            let Some(bytes) = stream.leave(flow.seq, now) else { break };
            let payload = u64::from(bytes - Udp::HEADER).min(flow.left);
            if flow.left != UNLIMITED {
                flow.left -= payload;
            }
            let flags = class.flags(flow.left == 0);
            let size = payload as u32 + Udp::HEADER;
            let mut packet = flow.address.towards_sink(flags, size, now);
            packet.seq = flow.seq;
            flow.seq = flow.seq.wrapping_add(1);
            class.heard.sent += u64::from(now >= self.warmup);
            let row = &mut world.rows[flow.row as usize];
            row.sent = row.sent.saturating_add(1);
            world.net.send(&packet);
        }
        if flow.left == 0 && !stream.is_over() {
            stream.end();
            close(&mut world.rows[flow.row as usize], now);
        }
        self.arm(id, world);
    }

    /// Ensures that an event is pending when something is due.
    pub(super) fn arm(&mut self, id: FlowId, world: &mut World<'_>) {
        let Some(stream) = &mut self.flows[id.slot()].stream else { return };
        let due = stream.due();
        if due < stream.armed || stream.armed <= world.net.now {
            stream.armed = due;
            if due < Time::NEVER {
                world.net.events.push(due, Entity::new(EventKind::Flow, id.0));
            }
        }
    }
}

impl Stream {
    /// Nothing more is sent.
    fn end(&mut self) {
        self.next_frame = Time::NEVER;
        self.waits.clear();
        self.waiting = 0;
    }

    fn is_over(&self) -> bool {
        self.next_frame == Time::NEVER
    }
}
