//! The record of a sender's outstanding segments: which of them have arrived, as blocks say, how
//! far they are repaired, and when each was sent.
//!
//! Each way to notice losses reads and writes it in a file of its own: `sack.rs` by blocks,
//! `sent_log.rs` by time. That a segment has arrived is noted here alone.
//!
//! Most flows need none of it. The record is made with the first block, and the times are kept
//! only where losses are detected by time or where a control asks for the delivery rate.

use tidegate_core::packet::{Ext, Packet};
use tidegate_core::units::Time;

use super::prr::Prr;
use super::ranges::Ranges;
use super::sack::Repair;
use super::sent_log::{Came, SentLog};

/// The outstanding segments of one sender.
#[derive(Debug, Default)]
pub(super) struct Outstanding(Option<Box<Scoreboard>>);

/// What is known of outstanding segments.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    /// Segments that have arrived beyond a hole.
    pub(super) arrived: Ranges,
    pub(super) repair: Repair,
    /// A block has come.
    pub(super) told: bool,
    /// The last blocks: a receiver repeats most of them.
    pub(super) blocks: [(u32, u32); 4],
    /// When each segment was sent; none: nothing asks for it.
    pub(super) log: Option<Box<SentLog>>,
}

impl Outstanding {
    /// From now on it is noted when each segment is sent.
    pub(super) fn keep_times(&mut self, log: SentLog) {
        self.record_mut().log = Some(Box::new(log));
    }

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        let Some(Scoreboard { arrived, repair, told: _, blocks, log }) = self.known() else {
            return;
        };
        arrived.renumber(lap);
        *blocks = Default::default();
        repair.renumber(lap);
        log.iter_mut().for_each(|log| log.renumber(lap));
    }

    /// Nothing is outstanding any more.
    pub(super) fn close(&mut self) {
        self.0 = None;
    }

    /// What is known; none: nothing.
    pub(super) fn known(&mut self) -> Option<&mut Scoreboard> {
        self.0.as_deref_mut()
    }

    fn record_mut(&mut self) -> &mut Scoreboard {
        self.0.get_or_insert_default()
    }

    /// The times of sending, where they are kept.
    #[inline(always)]
    pub(super) fn log(&self) -> Option<&SentLog> {
        self.0.as_ref()?.log.as_deref()
    }

    #[inline(always)]
    pub(super) fn log_mut(&mut self) -> Option<&mut SentLog> {
        self.0.as_mut()?.log.as_deref_mut()
    }

    /// The same with what has arrived.
    #[inline]
    pub(super) fn times(&mut self) -> Option<(&Ranges, &mut SentLog)> {
        self.0.as_mut()?.times()
    }

    /// Whether an acknowledgement has nothing to be noted here, and nothing is kept.
    #[inline(always)]
    pub(super) fn learns_nothing(&self, packet: &Packet) -> bool {
        self.0.is_none() && packet.ext.blocks().is_none()
    }

    /// Reads an acknowledgement of everything below `packet.ack`, where `max` is behind the
    /// highest segment sent. Returns whether its blocks have new segments.
    pub(super) fn acknowledge(
        &mut self,
        packet: &Packet,
        max: u32,
        timestamps: bool,
        now: Time,
    ) -> bool {
        let came = Came { now, echo: timestamps.then_some(packet.sent) };
        self.record_mut().acknowledge(packet.ack, max, &packet.ext, came)
    }

    /// A segment is sent, for the first time or again ([`SentLog::send`]).
    pub(super) fn send(&mut self, seq: u32, now: Time) -> Option<u32> {
        let (arrived, log) = self.times()?;
        log.send(seq, now, arrived)
    }

    /// Fast recovery begins at the oldest segment `una`; `window`: the window until now; `sack`:
    /// blocks say which segments are lost.
    pub(super) fn begin_recovery(&mut self, una: u32, window: u32, sack: bool) {
        if sack {
            let record = self.record_mut();
            record.repair.set_repaired(una, &record.arrived);
        }
        if let Some(log) = self.log_mut() {
            log.prr.begin_recovery(window);
            log.tlp.forget();
            log.losing = false;
        }
        if !sack {
            self.lost_one(una);
        }
    }

    /// A mark cuts the window, which was so large until now.
    pub(super) fn begin_by_mark(&mut self, window: u32) {
        self.log_mut().into_iter().for_each(|log| log.prr = Prr::begin_by_mark(window));
    }

    /// Whether a mark's cut is being spread.
    pub(super) fn spreads_mark(&self) -> bool {
        self.log().is_some_and(|log| log.prr.is_marked())
    }

    /// The oldest segment `una`, whose loss began recovery, has been sent again.
    pub(super) fn repaired_first(&mut self, una: u32) {
        if let Some(record) = self.known() {
            record.repair.repaired_first(una, &record.arrived);
        }
    }

    /// A segment is lost that no block tells of: the oldest one, by a partial acknowledgement.
    pub(super) fn lost_one(&mut self, una: u32) {
        if let Some((arrived, log)) = self.times() {
            log.lose_between(una..una + 1, arrived);
        }
    }

    /// The retransmission timer has expired.
    pub(super) fn lose_all(&mut self, now: Time) {
        if let Some((arrived, log)) = self.times() {
            log.lose_all(now, arrived);
            log.prr.end_mark();
        }
    }

    /// Segments thought to be in the network (RFC 6675, section 4), of `una .. nxt`.
    #[inline]
    pub(super) fn pipe(&self, una: u32, nxt: u32) -> u32 {
        match &self.0 {
            None => nxt - una,
            Some(record) => record.repair.pipe(una, nxt, &record.arrived),
        }
    }

    /// The same where what counts as lost is marked so, and does not follow from blocks.
    #[inline]
    pub(super) fn marked_pipe(&self) -> u32 {
        let log = |record: &Scoreboard| Some(record.log.as_ref()?.pipe(&record.arrived));
        self.0.as_deref().and_then(log).unwrap_or(0)
    }

    /// The first segment from `seq` on that is not known to have arrived.
    #[inline]
    pub(super) fn first_missing(&self, seq: u32) -> u32 {
        self.0.as_ref().map_or(seq, |record| record.arrived.first_gap(seq))
    }

    /// Whether a block has come in this connection.
    pub(super) fn has_block(&self) -> bool {
        self.0.as_ref().is_some_and(|record| record.told)
    }

    /// When a probe is due, or a segment counts as lost.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.log().map_or(Time::NEVER, |log| log.deadline())
    }
}

impl Scoreboard {
    #[inline]
    pub(super) fn times(&mut self) -> Option<(&Ranges, &mut SentLog)> {
        self.log.as_deref_mut().map(|log| (&self.arrived, log))
    }

    /// Notes an acknowledgement of everything below `ack` and of its blocks; returns
    /// whether these have new segments.
    #[inline(never)]
    pub(super) fn acknowledge(&mut self, ack: u32, max: u32, ext: &Ext, came: Came) -> bool {
        self.told |= ext.blocks().is_some();
        let Scoreboard { arrived, repair, blocks, log, .. } = self;
        let mut log = log.as_deref_mut();
        if let Some(log) = &mut log {
            log.begin_ack();
        }
        arrived.prune(ack, |start, end| {
            repair.passed(start, end);
            if let Some(log) = &mut log {
                log.pass(start, end, came);
            }
        });
        if let Some(log) = &mut log {
            log.pass(ack, ack, came);
        }
        // blocks of an acknowledgement that was overtaken may begin below what has arrived since
        let una = log.as_ref().map_or(ack, |log| log.first().max(ack));
        let mut new = false;
        if let Some(told) = ext.blocks() {
            let before = *blocks;
            for (block, last) in told.zip(blocks) {
                if block.len == 0 {
                    // those behind it are unused too
                    break;
                }
                let start = ack.saturating_add(block.start);
                let end = start.saturating_add(u32::from(block.len)).min(max);
                let start = start.max(una);
                if start >= end || *last == (start, end) {
                    continue;
                }
                *last = (start, end);
                // a new first block moves the others on by a place
                if before.contains(&(start, end)) {
                    continue;
                }
                new |= arrived.insert_telling(start, end, |start, end| {
                    repair.arrived(start, end);
                    if let Some(log) = &mut log {
                        log.arrive_beyond(start..end, came);
                    }
                });
            }
        }
        repair.note_lost(arrived);
        if let Some(log) = log {
            log.end_ack(came.now);
            if !log.timed {
                let lost = repair.newly_lost(ack);
                // mostly what has arrived
                if arrived.first_gap(lost.start) < lost.end {
                    log.lose_between(lost, arrived);
                }
            }
        }
        new
    }
}
