//! When each outstanding segment was sent, and what follows from it: losses by time, and the
//! delivery rate.

mod undo;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use tidegate_core::units::Time;

use super::ack_info::AckInfo;
use super::delivery::{Delivery, Stamp};
use super::heard::Heard;
use super::prr::Prr;
use super::rack::Rack;
use super::ranges::Ranges;
use super::rto::Round;
use super::socket::Socket;
use super::tlp::Tlp;
use undo::{Doubts, Undo};

/// One outstanding segment.
#[derive(Clone, Copy, Debug)]
struct SentSegment {
    /// When it was sent last.
    sent: Time,
    stamp: Stamp,
    /// By which packet.
    packet: u32,
    /// It counts as lost.
    lost: bool,
    /// It was sent again, and the repetition is in the network.
    again: bool,
    /// It was sent more than once.
    resent: bool,
}

impl SentSegment {
    /// It is in the network, if it has not arrived.
    fn is_under_way(&self) -> bool {
        self.again || !self.lost
    }
}

/// How an acknowledgement came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    pub now: Time,
    /// The timestamp that it echoes, if any.
    pub echo: Option<Time>,
}

/// The outstanding segments of one sender, in order. Which of them have arrived is not noted here:
/// `arrived` says it, where a question needs it.
#[derive(Debug)]
pub(super) struct SentLog {
    /// Number of the first outstanding segment.
    first: u32,
    segments: VecDeque<SentSegment>,
    /// Whether losses are detected by time (RACK).
    pub(super) timed: bool,
    /// With RACK: when each segment was sent last, and its number, the earliest first. Entries
    /// of segments that have arrived, are lost or were sent again since are skipped.
    order: VecDeque<(Time, u32)>,
    lost: u32,
    again: u32,
    /// Lost segments that were not sent again yet: how many, and their numbers, the lowest first.
    /// Numbers of segments that have arrived or were sent again since are skipped.
    due: u32,
    due_next: BinaryHeap<Reverse<u32>>,
    /// How many of them were looked at.
    #[cfg(test)]
    looked: u64,
    pub(super) delivery: Delivery,
    pub(super) rack: Rack,
    pub(super) tlp: Tlp,
    pub(super) prr: Prr,
    pub(super) socket: Socket,
    /// What Linux's timeout depends on apart from the round trip.
    pub(super) round: Round,
    /// What the last acknowledgement said.
    pub(super) ack_info: AckInfo,
    /// What is lost after a timeout is being sent again.
    pub(super) losing: bool,
    pub(super) heard: Heard,
    doubts: Doubts,
    undo: Undo,
    /// When the probe is due, and when the next segment counts as lost.
    pub(super) probe_at: Time,
    pub(super) lost_at: Time,
}

impl SentLog {
    pub(super) fn new(timed: bool) -> SentLog {
        SentLog {
            first: 0,
            segments: VecDeque::new(),
            timed,
            order: VecDeque::new(),
            lost: 0,
            again: 0,
            due: 0,
            due_next: BinaryHeap::new(),
            #[cfg(test)]
            looked: 0,
            delivery: Delivery::NEW,
            rack: Rack::NEW,
            tlp: Tlp::default(),
            prr: Prr::default(),
            socket: Socket::NEW,
            round: Round::default(),
            ack_info: AckInfo::default(),
            losing: false,
            heard: Heard::default(),
            doubts: Doubts::default(),
            undo: Undo::NEW,
            probe_at: Time::NEVER,
            lost_at: Time::NEVER,
        }
    }

    /// Segments thought to be in the network (RFC 6675, section 4).
    pub(super) fn pipe(&self, arrived: &Ranges) -> u32 {
        (self.segments.len() as u32 + self.again) - arrived.count() - self.lost
    }

    /// A segment is sent, for the first time or again. Returns the packet that it was sent by before,
    /// if that was still under way.
    pub(super) fn send(&mut self, seq: u32, now: Time, arrived: &Ranges) -> Option<u32> {
        let stamp = self.delivery.send(now, self.pipe(arrived), self.segments.is_empty());
        let packet = self.heard.number();
        let place = (seq - self.first) as usize;
        let mut replaced = None;
        match self.segments.get_mut(place) {
            Some(segment) => {
                replaced = segment.is_under_way().then_some(segment.packet);
                self.due -= u32::from(segment.lost && !segment.again);
                self.again += u32::from(!segment.again);
                (segment.sent, segment.stamp, segment.packet) = (now, stamp, packet);
                (segment.again, segment.resent) = (true, true);
                if segment.lost {
                    self.undo.sent_again(now);
                }
            }
            None => self.segments.push_back(SentSegment {
                sent: now,
                stamp,
                packet,
                lost: false,
                again: false,
                resent: false,
            }),
        }
        if !self.timed {
            return replaced;
        }
        // at one instant a repair may follow what is behind it
        let later = self.order.iter().rev().take_while(|other| **other > (now, seq)).count();
        self.order.insert(self.order.len() - later, (now, seq));
        replaced
    }

    /// An acknowledgement is being read.
    pub(super) fn begin_ack(&mut self) {
        self.ack_info = AckInfo::default();
    }

    /// It acknowledges everything below `end`, of which `start .. end` had arrived before.
    pub(super) fn pass(&mut self, start: u32, end: u32, came: Came) {
        while self.first < start
            && let Some(segment) = self.segments.pop_front()
        {
            self.uncount(&segment);
            self.ack_info.spurious |= self.resolve(&segment, came.echo);
            self.ack_info.covers_resent |= segment.resent;
            if !segment.resent && self.ack_info.first_rtt == Time::ZERO {
                self.ack_info.first_rtt = came.now.saturating_sub(segment.sent);
            }
            self.arrive(self.first, &segment, came);
            self.first += 1;
        }
        let before = (end.saturating_sub(self.first)).min(self.segments.len() as u32);
        let passed = self.segments.drain(..before as usize);
        self.ack_info.covers_resent |= passed.filter(|segment| segment.resent).count() > 0;
        self.first += before;
    }

    /// One of its blocks is the first to acknowledge these segments.
    pub(super) fn arrive_beyond(&mut self, fresh: Range<u32>, came: Came) {
        for seq in fresh {
            let place = (seq - self.first) as usize;
            let Some(segment) = self.segments.get_mut(place) else { break };
            let was = *segment;
            (segment.lost, segment.again) = (false, false);
            self.uncount(&was);
            // the time that is echoed is that of another segment
            self.ack_info.spurious |= self.resolve(&was, None);
            if !was.resent && self.ack_info.block_rtt == Time::ZERO {
                self.ack_info.block_rtt = came.now.saturating_sub(was.sent);
            }
            self.arrive(seq, &was, Came { echo: None, ..came });
        }
    }

    /// All that it acknowledges is known.
    pub(super) fn end_ack(&mut self, now: Time) {
        while self.order.front().is_some_and(|&(_, seq)| seq < self.first) {
            self.order.pop_front();
        }
        let pick = self.ack_info.pick;
        self.ack_info.sampled = self.delivery.sample(pick, now, self.rack.min_rtt());
    }

    /// A segment that has arrived counts neither as lost nor as sent again.
    fn uncount(&mut self, segment: &SentSegment) {
        self.lost -= u32::from(segment.lost);
        self.again -= u32::from(segment.again);
        self.due -= u32::from(segment.lost && !segment.again);
    }

    fn arrive(&mut self, seq: u32, segment: &SentSegment, came: Came) {
        let now = came.now;
        self.ack_info.delivered += 1;
        if !segment.resent {
            self.ack_info.rtt = now.saturating_sub(segment.sent);
        }
        let earlier = segment.resent && came.echo.is_some_and(|echo| echo < segment.sent);
        self.heard.arrive(segment.packet, earlier);
        self.delivery.arrived(&mut self.ack_info.pick, seq, segment.sent, &segment.stamp);
        self.rack.arrived((seq, segment.sent, segment.resent), now);
    }

    /// Marks segments that are lost by now (RFC 8985, 6.2 step 5); sets when the next one will be
    /// lost.
    pub(super) fn detect(&mut self, now: Time, reo_wnd: Time, arrived: &Ranges) {
        self.lost_at = Time::NEVER;
        (self.ack_info.losses, self.ack_info.lost_again) = (0, 0);
        // without holes everything outstanding was sent later than what has arrived, unless that was
        // a repetition
        let whole = arrived.is_empty() && self.again == 0 && self.lost == 0;
        let oldest = self.segments.front().map(|segment| (segment.sent, self.first));
        if whole && oldest.is_none_or(|oldest| !self.rack.has_overtaken(oldest)) {
            return;
        }
        while let Some(&(sent, seq)) = self.order.front() {
            let place = seq.checked_sub(self.first);
            let segment = place.and_then(|place| self.segments.get_mut(place as usize));
            let under_way = |segment: &&mut SentSegment| {
                segment.sent == sent && segment.is_under_way() && !arrived.contains(seq)
            };
            if let Some(segment) = segment.filter(under_way) {
                // what was sent later is lost later
                let Some(at) = self.rack.lost_at((sent, seq), reo_wnd) else { break };
                if at > now {
                    self.lost_at = at;
                    break;
                }
                self.ack_info.losses += 1;
                self.ack_info.lost_again += u32::from(segment.again);
                self.again -= u32::from(segment.again);
                self.lost += u32::from(!segment.lost);
                self.doubts.left += u32::from(!segment.lost);
                self.heard.lose(self.delivery.lose(seq, &segment.stamp), segment.packet);
                (segment.lost, segment.again) = (true, false);
                self.due_next.push(Reverse(seq));
                self.due += 1;
            }
            self.order.pop_front();
        }
    }

    /// The timer has expired: the oldest segment counts as lost, and every other one that has not
    /// arrived and was sent longer than a round trip ago (6.3; Linux: `tcp_timeout_mark_lost`).
    ///
    /// Without RACK the sender itself goes back to the oldest one.
    pub(super) fn lose_all(&mut self, now: Time, arrived: &Ranges) {
        self.losing = true;
        self.lost_at = Time::NEVER;
        self.probe_at = Time::NEVER;
        self.tlp.forget();
        let end = self.first + self.segments.len() as u32;
        if !self.timed {
            return self.lose_between(self.first..end, arrived);
        }
        self.begin_doubts();
        let (oldest, spared) = (arrived.first_gap(self.first), self.rack.rtt());
        let SentLog { first, segments, lost, again, due, delivery, heard, doubts, .. } = self;
        let due_next = &mut self.due_next;
        arrived.each_missing(*first, end, |seq| {
            let segment = &mut segments[(seq - *first) as usize];
            if seq != oldest && segment.sent + spared > now {
                return;
            }
            if segment.is_under_way() {
                heard.lose(delivery.lose(seq, &segment.stamp), segment.packet);
            }
            doubts.left += u32::from(!segment.lost);
            *again -= u32::from(segment.again);
            *lost += u32::from(!segment.lost);
            if segment.is_under_way() {
                due_next.push(Reverse(seq));
                *due += 1;
            }
            (segment.lost, segment.again) = (true, false);
        });
        // what is lost is looked for no more
        let (first, segments) = (self.first, &self.segments);
        self.order.retain(|&(sent, seq)| {
            let segment = seq.checked_sub(first).and_then(|place| segments.get(place as usize));
            segment.is_some_and(|segment| segment.sent == sent && segment.is_under_way())
        });
    }

    /// Blocks or duplicates tell that what has not arrived of these segments is lost.
    pub(super) fn lose_between(&mut self, range: Range<u32>, arrived: &Ranges) {
        self.ack_info.losses = 0;
        let SentLog { first, segments, ack_info, delivery, heard, .. } = self;
        let end = range.end.min(*first + segments.len() as u32);
        arrived.each_missing(range.start.max(*first), end, |seq| {
            ack_info.losses += 1;
            let segment = &segments[(seq - *first) as usize];
            heard.lose(delivery.lose(seq, &segment.stamp), segment.packet);
        });
    }

    /// Number of the first outstanding segment.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// When the oldest outstanding segment was sent last.
    pub(super) fn oldest_sent(&self) -> Time {
        self.segments.front().map_or(Time::NEVER, |segment| segment.sent)
    }

    /// Whether a segment is marked lost by time, sent again or not, that has not arrived.
    pub(super) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Whether a lost segment was not sent again yet.
    pub(super) fn has_due(&self) -> bool {
        self.due > 0
    }

    /// The first of them.
    pub(super) fn next_due(&mut self) -> Option<u32> {
        while let Some(&Reverse(seq)) = self.due_next.peek() {
            #[cfg(test)]
            (self.looked += 1);
            let place = seq.checked_sub(self.first);
            let segment = place.and_then(|place| self.segments.get(place as usize));
            if segment.is_some_and(|segment| segment.lost && !segment.again) {
                return Some(seq);
            }
            self.due_next.pop();
        }
        None
    }

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        self.first -= lap;
        self.order.iter_mut().for_each(|(_, seq)| *seq = seq.saturating_sub(lap));
        let due = std::mem::take(&mut self.due_next).into_iter();
        self.due_next = due.map(|Reverse(seq)| Reverse(seq.saturating_sub(lap))).collect();
        self.rack.renumber(lap);
        self.tlp.renumber(lap);
        self.round.renumber(lap);
    }

    /// When anything here is due.
    pub(super) fn deadline(&self) -> Time {
        self.probe_at.min(self.lost_at)
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::packet::{Ext, SackBlock};

    use super::super::outstanding::Scoreboard;
    use super::*;
    use crate::draws::draws;

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    /// A record in which losses are found by time.
    struct Timed(Scoreboard);

    impl Timed {
        fn new() -> Timed {
            Timed(Scoreboard { log: Some(Box::new(SentLog::new(true))), ..Scoreboard::default() })
        }

        fn parts(&mut self) -> (&Ranges, &mut SentLog) {
            self.0.times().unwrap()
        }

        fn send(&mut self, seq: u32, now: Time) {
            let (arrived, log) = self.parts();
            log.send(seq, now, arrived);
        }

        /// An acknowledgement of everything below `ack` and of one block.
        fn acknowledge(&mut self, ack: u32, (start, end): (u32, u32), now: Time) -> AckInfo {
            let first = SackBlock { start: start.max(ack) - ack, len: (end - start) as u16 };
            let none = SackBlock::default();
            let ext = Ext::None.with_blocks([first, none, none, none]);
            self.0.acknowledge(ack, end.max(ack), &ext, Came { now, echo: None });
            self.parts().1.ack_info
        }

        fn detect(&mut self, now: Time, reo_wnd: Time) -> u32 {
            let (arrived, log) = self.parts();
            log.detect(now, reo_wnd, arrived);
            log.ack_info.losses
        }

        fn next_due(&mut self) -> Option<u32> {
            self.parts().1.next_due()
        }

        fn pipe(&mut self) -> u32 {
            let (arrived, log) = self.parts();
            log.pipe(arrived)
        }
    }

    /// RFC 6675, section 4 and RFC 8985, 6.2, by hand: ten segments leave a millisecond
    /// apart over a round trip of 40 ms; 0 and 4 are lost. What arrives: 1, 2, 3, then 5.
    #[test]
    fn the_pipe_by_hand() {
        let mut sent = Timed::new();
        (0..10).for_each(|k| sent.send(k, ms(u64::from(k))));
        assert_eq!(sent.pipe(), 10);
        let ack_info = sent.acknowledge(0, (1, 4), ms(43));
        assert_eq!((ack_info.delivered, ack_info.rtt, sent.pipe()), (3, ms(40), 7));
        // sent at 0 and overdue at 40: lost at once without a window, at 50 with one
        assert_eq!((sent.detect(ms(43), ms(10)), sent.parts().1.lost_at), (0, ms(50)));
        assert_eq!(sent.detect(ms(43), Time::ZERO), 1);
        assert_eq!((sent.pipe(), sent.next_due()), (6, Some(0)));
        sent.send(0, ms(43));
        assert_eq!((sent.pipe(), sent.next_due()), (7, None));
        sent.acknowledge(0, (5, 6), ms(45));
        assert_eq!(sent.detect(ms(45), Time::ZERO), 1);
        assert_eq!((sent.pipe(), sent.next_due()), (5, Some(4)));
        sent.send(4, ms(45));
        // all of it arrives
        assert_eq!(sent.acknowledge(10, (10, 10), ms(90)).delivered, 6);
        let (arrived, log) = sent.parts();
        assert_eq!((log.pipe(arrived), arrived.count(), log.due), (0, 0, 0));
    }

    /// RFC 8985, 6.2 step 5, by a walk over all segments: each that is under way, was sent before
    /// the latest that has arrived and is overdue. Segments arrive in any order, are sent again,
    /// several at one instant, and time out; a timeout turns out not to have been needed.
    #[test]
    fn what_is_overdue_is_found_as_by_a_walk() {
        let mut draw = draws();
        let (mut sent, mut next, mut found) = (Timed::new(), 0, 0);
        for step in 0..20_000 {
            let now = ms(step / 3);
            let first = sent.parts().1.first;
            match draw(8) {
                0..=3 => {
                    let seq = sent.next_due().unwrap_or(next);
                    next += u32::from(seq == next);
                    sent.send(seq, now);
                }
                4 if next > first => sent.send(next - 1, now),
                _ if next > first => {
                    let seq = first + draw(u64::from(next - first)) as u32;
                    let ack = if draw(4) == 0 { first + 1 } else { first };
                    sent.acknowledge(ack, (seq, seq + 1), now);
                }
                _ => {}
            }
            let (arrived, log) = sent.parts();
            if draw(500) == 0 {
                log.lose_all(now, arrived);
            } else if draw(500) == 0 {
                log.unmark(arrived);
            }
            let window = ms(draw(5));
            let due = |(place, segment): (usize, &SentSegment)| {
                let number = log.first + place as u32;
                let under_way = !arrived.contains(number) && (segment.again || !segment.lost);
                log.rack.lost_at((segment.sent, number), window).filter(|_| under_way)
            };
            let times: Vec<Time> = log.segments.iter().enumerate().filter_map(due).collect();
            let lost = times.iter().filter(|&&at| at <= now).count() as u32;
            let later = times.iter().filter(|&&at| at > now).min().copied();
            log.detect(now, window, arrived);
            assert_eq!(log.ack_info.losses, lost, "{step}");
            assert_eq!(log.lost_at, later.unwrap_or(Time::NEVER), "{step}");
            found += lost;
        }
        assert!(found > 1000, "{found}");
    }

    /// The rule: to find the next lost segment costs no more where more are outstanding. All of n are
    /// lost and sent again but the one before the last. Each second repetition is lost once more,
    /// found and sent, while that one is still due: by hand n / 2 times two looks, and a third at
    /// what was sent since. A walk over what is outstanding would take n looks for each.
    #[test]
    fn the_next_lost_segment_is_found_at_a_cost_of_its_own() {
        for n in [200, 2000] {
            let mut sent = Timed::new();
            (0..n).for_each(|k| sent.send(k, ms(0)));
            sent.acknowledge(0, (n - 1, n), ms(40));
            assert_eq!(sent.detect(ms(40), Time::ZERO), n - 1);
            (0..n - 2).for_each(|k| sent.send(k, ms(u64::from(100 + k))));
            sent.parts().1.looked = 0;
            for k in (0..n - 3).step_by(2) {
                sent.acknowledge(0, (k + 1, k + 2), ms(u64::from(141 + k)));
                assert_eq!(sent.detect(ms(u64::from(141 + k)), Time::ZERO), 1);
                assert_eq!(sent.next_due(), Some(k));
                sent.send(k, ms(u64::from(10_000 + k)));
                assert_eq!(sent.next_due(), Some(n - 2));
            }
            let looked = sent.parts().1.looked;
            assert!(looked <= u64::from(n / 2 * 3 + n), "{n}: {looked}");
        }
    }

    /// RFC 8985, 6.3: after a timeout all that has not arrived is sent again, in order.
    #[test]
    fn a_timeout_loses_all_but_what_has_arrived() {
        let mut sent = Timed::new();
        (0..5).for_each(|k| sent.send(k, ms(0)));
        sent.acknowledge(0, (2, 3), ms(40));
        let (arrived, log) = sent.parts();
        log.lose_all(ms(300), arrived);
        assert_eq!(sent.pipe(), 0);
        let mut again = Vec::new();
        while let Some(seq) = sent.next_due() {
            sent.send(seq, ms(300));
            again.push(seq);
        }
        assert_eq!((again, sent.pipe()), (vec![0, 1, 3, 4], 4));
    }

    /// RFC 8985, 6.3, and Linux (`tcp_timeout_mark_lost`), by hand: with a round trip of 40 ms, of
    /// what was sent at 0, 0, 270 and 271 ms a timeout at 300 loses the first two, and the oldest
    /// alone where all were sent within a round trip.
    #[test]
    fn a_timeout_spares_what_was_sent_within_a_round_trip() {
        let mut sent = Timed::new();
        sent.send(0, ms(0));
        sent.send(1, ms(0));
        sent.send(2, ms(0));
        sent.acknowledge(1, (1, 1), ms(40));
        sent.send(3, ms(270));
        sent.send(4, ms(271));
        let (arrived, log) = sent.parts();
        log.lose_all(ms(300), arrived);
        assert_eq!((sent.pipe(), sent.next_due()), (2, Some(1)));
        sent.send(1, ms(300));
        sent.send(2, ms(300));
        assert_eq!((sent.pipe(), sent.next_due()), (4, None));
        let (arrived, log) = sent.parts();
        log.lose_all(ms(305), arrived);
        assert_eq!((sent.pipe(), sent.next_due()), (3, Some(1)));
    }
}
