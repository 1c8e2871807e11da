//! The way of a packet through the optional stages of a port, and its service there.

use crate::law::aqm::Found;
use crate::law::aqm::dual_queue::{Release, Room};
use crate::law::pushout::Service;
use crate::law::{Draw, Moment, Reason, Verdict};
use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::ring::entomb;
use super::stages::{Backlog, Next, Queue, Stages};
use super::{Outcome, Port};

impl<C: Default> Port<C> {
    /// The port with control: the same steps, with a hook at each.
    pub(super) fn arrive_staged(
        &mut self,
        packet: &Packet,
        cargo: C,
        now: Time,
        draw: &mut dyn Draw,
    ) -> Outcome {
        let Some(mut stages) = self.stages.take() else { return Outcome::Taken };
        let outcome = self.pass_stages(&mut stages, packet, cargo, now, draw);
        self.stages = Some(stages);
        if outcome == Outcome::Taken {
            self.advance(now);
        }
        outcome
    }

    fn pass_stages(
        &mut self,
        stages: &mut Stages,
        packet: &Packet,
        cargo: C,
        now: Time,
        draw: &mut dyn Draw,
    ) -> Outcome {
        let mut admitted = false;
        let mut marked = false;
        let mut verdict = stages.arrive(packet, now, draw, &mut admitted).on(packet);
        let offered = matches!(verdict, Verdict::Pass | Verdict::Mark(_));
        if offered {
            marked = verdict != Verdict::Pass;
            stages.offered(packet, &Moment { now, queue_bytes: self.backlog_bytes });
            verdict = self.queue_verdict(stages, packet, now, draw).on(packet);
        }
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(_) => marked = true,
            Verdict::Drop(reason) => {
                if offered {
                    stages.lost(packet, reason, now);
                } else {
                    stages.dropped(packet, reason, now);
                }
                return self.lose(packet.flags, reason);
            }
            Verdict::Reject(reason) => {
                stages.dropped(packet, reason, now);
                self.lose(packet.flags, reason);
                return Outcome::Rejected(reason);
            }
        }
        let before = self.ring.waiting();
        let taken = match stages.freed {
            Some(index) => self.take_freed(index, packet, cargo, now),
            None => self.take(packet, cargo, now),
        };
        if admitted {
            taken.flags = taken.flags.with(Flags::ADMITTED);
            taken.sent = now;
        }
        if marked {
            taken.flags = taken.flags.with(Flags::CE);
            self.tally.marked += 1;
        }
        stages.enqueued(packet, before, now);
        Outcome::Taken
    }

    /// Whether the queue takes the packet.
    fn queue_verdict(
        &mut self,
        stages: &mut Stages,
        packet: &Packet,
        now: Time,
        draw: &mut dyn Draw,
    ) -> Verdict {
        let packets = self.ring.waiting() - stages.tombstones;
        // whatever could be sent is being sent by now; the rest is held back
        let idle = (self.free_at <= now).then(|| now - self.free_at);
        let fits = idle.is_some()
            || (packets < self.limit_packets
                && self.backlog_bytes + u64::from(packet.size) <= self.limit_bytes);
        let found = Found { packets, bytes: self.backlog_bytes, fits, idle, pace: self.pace };
        match &mut stages.queue {
            Queue::DropTail if fits => Verdict::Pass,
            Queue::DropTail => Verdict::Drop(Reason::QueueFull),
            Queue::Red(red) => red.arrive(packet.size, &found, draw),
            Queue::DualQueue(dual) => {
                let room = Room { packets: self.limit_packets, bytes: self.limit_bytes };
                dual.arrive(packet, &found, room, draw)
            }
            Queue::PushOut(_) if fits => Verdict::Pass,
            Queue::PushOut(_) => self.push_out(stages, packet, packets, now),
            Queue::Custom(_) if packets == 0 && idle.is_some() => Verdict::Pass,
            Queue::Custom(_) => self.custom_verdict(stages, packet, now, draw),
        }
    }

    /// Makes room for a packet at the cost of worse ones, if there are enough of them.
    fn push_out(
        &mut self,
        stages: &mut Stages,
        packet: &Packet,
        packets: u32,
        now: Time,
    ) -> Verdict {
        let Queue::PushOut(law) = &mut stages.queue else { return Verdict::Pass };
        let level = law.level(packet);
        let size = u64::from(packet.size);
        // a buffer that has shrunk drains: nothing goes but for what comes
        let missing = (self.backlog_bytes + size).saturating_sub(self.limit_bytes).min(size);
        // without a limit in bytes any one packet that is worse will do
        if missing > 0 && !law.can_free(level, missing) {
            return Verdict::Drop(Reason::QueueFull);
        }
        let mut packets_missing = u64::from(packets >= self.limit_packets);
        let mut freed = 0;
        while freed < missing || packets_missing > 0 {
            let Queue::PushOut(law) = &mut stages.queue else { break };
            let Some(index) = law.evict(level) else {
                return Verdict::Drop(Reason::QueueFull);
            };
            let anywhere = law.service() == Service::Priority;
            let Some(victim) = self.ring.waiting_mut(index) else { break };
            packets_missing = 0;
            let (size, flags) = (u64::from(victim.size), victim.flags);
            // the copy is for those who want to know what was lost
            let gone = stages.hears_of_losses().then_some(*victim);
            entomb(victim);
            freed += size;
            self.count_evicted(stages, size, flags, now);
            if let Some(gone) = gone {
                stages.lost(&gone, Reason::Evicted, now);
            }
            if anywhere && freed >= missing {
                // who does not serve in the order of places puts what comes
                // there, where nothing has to be passed over later
                stages.freed = Some(index);
                stages.tombstones -= 1;
            }
        }
        Verdict::Pass
    }

    /// Puts the packet in the place of one that was evicted.
    fn take_freed(&mut self, index: u32, packet: &Packet, cargo: C, now: Time) -> &mut Packet {
        self.backlog_bytes += u64::from(packet.size);
        self.tally.waited_ps = self.tally.waited_ps.wrapping_sub(now.ps());
        let taken = self.ring.replace(index, packet, cargo);
        taken.at = now;
        taken
    }

    /// Counts a waiting packet that was evicted.
    #[inline]
    fn count_evicted(&mut self, stages: &mut Stages, size: u64, flags: Flags, now: Time) {
        stages.tombstones += 1;
        self.backlog_bytes -= size;
        self.tally.waited_ps = self.tally.waited_ps.wrapping_add(now.ps());
        self.lose(flags, Reason::Evicted);
    }

    /// What a discipline of the user's own says; it may evict others.
    fn custom_verdict(
        &mut self,
        stages: &mut Stages,
        packet: &Packet,
        now: Time,
        draw: &mut dyn Draw,
    ) -> Verdict {
        let queued = self.ring.waiting() - stages.tombstones;
        let Queue::Custom(discipline) = &mut stages.queue else { return Verdict::Pass };
        let mut backlog = Backlog {
            ring: &mut self.ring,
            packets: queued,
            bytes: self.backlog_bytes,
            limit_packets: self.limit_packets,
            limit_bytes: self.limit_bytes,
            evicted: Vec::new(),
        };
        let verdict = discipline.admit(packet, &mut backlog, now, draw);
        let evicted = std::mem::take(&mut backlog.evicted);
        for victim in &evicted {
            self.count_evicted(stages, u64::from(victim.size), victim.flags, now);
            stages.lost(victim, Reason::Evicted, now);
        }
        verdict
    }

    // out of line, so that who finds nothing to do pays nothing for it
    #[inline(never)]
    pub(super) fn advance_staged(&mut self, now: Time) {
        let Some(mut stages) = self.stages.take() else { return };
        let kept_waiting = std::mem::replace(&mut stages.wake, Time::NEVER) != Time::NEVER;
        while self.free_at <= now && self.bury(&mut stages) {
            let mut from = if kept_waiting { now } else { Time::ZERO };
            match self.next(&mut stages, now) {
                Next::Oldest => {}
                Next::At(index) => self.ring.bring_forward(index),
                Next::Swap(index) => self.ring.swap_forward(index),
                Next::OldestFrom(at) => from = at,
                Next::NotBefore(later) => {
                    stages.wake = later;
                    break;
                }
            }
            // the link was kept waiting until then
            self.free_at = self.free_at.max(from);
            let packet = self.ring.first_waiting_mut();
            let start = self.free_at.max(packet.at);
            let queue_bytes = self.backlog_bytes - u64::from(packet.size);
            stages.depart(packet, &Moment { now: start, queue_bytes });
            self.serve();
            stages.note_queue(self.ring.waiting() - stages.tombstones);
        }
        self.stages = Some(stages);
    }

    /// Which of the waiting packets (at least one) is sent next.
    #[inline]
    fn next(&mut self, stages: &mut Stages, now: Time) -> Next {
        match &mut stages.queue {
            Queue::DropTail | Queue::Red(_) => Next::Oldest,
            Queue::DualQueue(dual) => {
                match dual.next(self.ring.waiting(), self.free_at, now, self.pace) {
                    Release::At(0) => Next::Oldest,
                    Release::At(index) => Next::At(index),
                    Release::OldestFrom(at) => Next::OldestFrom(at),
                    Release::NotBefore(at) => Next::NotBefore(at),
                }
            }
            Queue::PushOut(law) => match law.serve() {
                0 => Next::Oldest,
                index => Next::Swap(index),
            },
            Queue::Custom(discipline) => discipline.next(self.ring.waiting_slices(), now),
        }
    }

    /// Skips evicted packets at the front; whether a packet waits behind them.
    #[inline]
    fn bury(&mut self, stages: &mut Stages) -> bool {
        while self.ring.waiting() > 0 {
            if !self.ring.first_waiting_mut().flags.has(Flags::EVICTED) {
                return true;
            }
            self.ring.bury_first_waiting();
            stages.buried();
        }
        false
    }
}
