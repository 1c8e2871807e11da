//! Arrival and service of packets at a port with stages.

use crate::law::greedy::{Act, Key};
use crate::law::queue::{ArrivalContext, Discipline, Handle, Next, Slot, Sum, Waiting};
use crate::law::{Draw, Fault, Moment, Reason, Verdict, View};
use crate::packet::{Flags, Packet};
use crate::units::{Rate, Time};

use super::in_use::InUse;
use super::medium::Leave;
use super::stages::{Origin, Stages, Ticked};
use super::varying::{LinkVariation, Varying};
use super::{Outcome, Port};

/// A port's stages and its waiting packets.
pub(super) struct Staged<C> {
    pub(super) stages: Stages,
    /// Whether there is more than a queue ([`Stages::has_others`]).
    others: bool,
    pub(super) waiting: Waiting,
    /// The cargo of the waiting packets, by handle.
    cargo: Vec<C>,
    /// Packets that were lost while they waited, with reason and cargo.
    lost: Vec<(Packet, Reason, C)>,
    draw: Box<dyn Draw + Send>,
    in_use: InUse,
    /// The discipline is not asked for a packet before this instant, unless an event resets it.
    resume: Time,
    /// Whether the discipline or the medium holds the waiting packets.
    held: bool,
    /// Whether the filter must inspect the queue after the present arrival.
    congested: bool,
    /// The link, if it varies.
    pub(super) link: Option<Box<Varying<C>>>,
}

impl<C: Default> Staged<C> {
    /// The next event, if the packet in flight lands at `delivery` and the link is sending until
    /// `free_at`.
    #[inline]
    pub(super) fn next_event(&self, delivery: Option<Time>, free_at: Time) -> Time {
        if self.held || self.link.is_some() {
            return self.next_of_all(delivery, free_at);
        }
        delivery.unwrap_or_else(|| self.next_start(free_at))
    }

    /// The same where packets are held or the link varies.
    #[inline(never)]
    fn next_of_all(&self, delivery: Option<Time>, free_at: Time) -> Time {
        let end = self.link.as_ref().map_or(Time::NEVER, |link| link.next_event(free_at));
        let (start, wake) = match self.held {
            true => (Time::NEVER, self.resume),
            false => (self.next_start(free_at), Time::NEVER),
        };
        delivery.unwrap_or(start).min(end).min(wake)
    }

    /// When the next transmission starts if no packet is held.
    fn next_start(&self, free_at: Time) -> Time {
        if self.waiting.all().packets == 0 { Time::NEVER } else { free_at }
    }

    /// Whether a varying link may send from `start` on; if not, holds the waiting packets.
    fn ask(&mut self, start: Time) -> Leave {
        let leave = self.link.as_ref().map_or(Leave::Granted, |link| link.ask(start));
        match leave {
            Leave::Granted => return leave,
            Leave::NotBefore(later) => self.resume = later,
            Leave::AnotherFirst => self.resume = start + Time::from_ps(1),
        }
        self.held = true;
        leave
    }

    /// The port has no packet to send.
    fn rest(&self) {
        if let Some(link) = &self.link {
            link.rest();
        }
    }

    /// The packets that a varying link is sending or gathers.
    pub(super) fn on_link(&self) -> impl Iterator<Item = &Packet> {
        self.link.iter().flat_map(|link| link.packets())
    }
}

/// The random draws of a port whose stages draw none.
pub(super) struct Undrawn;

impl Draw for Undrawn {
    fn uniform(&mut self) -> f64 {
        0.0
    }
}

impl<C: Default> Port<C> {
    /// Adds stages to the port; waiting packets stay in the queue.
    pub(super) fn stage(&mut self, mut stages: Stages, mut draw: Box<dyn Draw + Send>) {
        if let Some(gate) = &mut stages.gate {
            gate.datapath.salt(&mut *draw);
        }
        let mut waiting = Waiting::new();
        let mut cargo = Vec::new();
        let moved: Vec<_> = std::iter::from_fn(|| self.ring.pop_newest()).collect();
        for (packet, carried) in moved.into_iter().rev() {
            let handle = waiting.push(&packet);
            store(&mut cargo, handle, carried);
            stages.queue.taken(handle, &mut waiting);
        }
        self.backlog_bytes = 0;
        self.clear = false;
        let (resume, held, congested) = (Time::ZERO, false, false);
        self.staged = Some(Box::new(Staged {
            others: stages.has_others(),
            stages,
            waiting,
            cargo,
            lost: Vec::new(),
            draw,
            in_use: InUse::default(),
            resume,
            held,
            congested,
            link: None,
        }));
    }

    /// From now on no packet passes the port by on the way of plain ones: its carrier sees each.
    pub fn pass_by_stages(&mut self) {
        if self.is_plain() {
            self.stage(Stages::new(), Box::new(Undrawn));
        }
    }

    /// Whether its gate or its discipline looks at what comes in by the other direction of its link.
    pub fn looks_at_ingress(&self) -> bool {
        let Some(Staged { stages, .. }) = self.staged.as_deref() else { return false };
        let gate = stages.gate.as_ref();
        stages.queue.looks_at_ingress() || gate.is_some_and(|gate| gate.datapath.looks_at_ingress())
    }

    /// A packet comes in at `now` by the other direction of the link. One that is refused counts as
    /// arrived here, and lost.
    pub fn come_in(&mut self, packet: &Packet, now: Time) -> Verdict {
        let gate = self.staged.as_mut().and_then(|staged| staged.stages.gate.as_mut());
        let mut verdict = gate.map_or(Verdict::Pass, |gate| gate.came_in(packet, now));
        if verdict == Verdict::Pass {
            verdict = self.ask_of_ingress(packet, now);
        }
        if let Verdict::Drop(reason) | Verdict::Reject(reason) = verdict {
            self.count_arrival(packet);
            self.lose(packet.flags, reason);
        }
        verdict
    }

    /// What the discipline says of a packet that comes in.
    fn ask_of_ingress(&mut self, packet: &Packet, now: Time) -> Verdict {
        let looks = |staged: &Staged<C>| staged.stages.queue.looks_at_ingress();
        if !self.staged.as_deref().is_some_and(looks) {
            return Verdict::Pass;
        }
        self.advance(now);
        let Some(mut staged) = self.staged.take() else { return Verdict::Pass };
        let found = self.found(&staged, packet, now);
        let verdict = staged.stages.queue.come_in(packet, &found, &mut *staged.draw);
        self.staged = Some(staged);
        verdict
    }

    /// From now on stores a copy of each packet sent, for [`Port::take_sent`].
    pub fn watch(&mut self) {
        self.pass_by_stages();
        if let Some(staged) = &mut self.staged {
            staged.stages.log.get_or_insert_default();
            staged.others = true;
        }
    }

    /// Gives the port a varying link.
    pub(super) fn vary(&mut self, link: LinkVariation) {
        self.pass_by_stages();
        if let Some(staged) = &mut self.staged {
            staged.link = Some(Box::new(Varying::new(link)));
        }
    }

    /// How many bytes a varying link could have sent until `now`; 0 for any other link.
    pub fn possible_bytes(&self, now: Time) -> u64 {
        let link = self.staged.as_ref().and_then(|staged| staged.link.as_ref());
        link.map_or(0, |link| link.possible(now, self.rate))
    }

    /// A varying link sends its gathered packets on, if they are due by `now`.
    #[inline]
    pub(super) fn release(&mut self, now: Time) {
        if let Some(link) = self.staged.as_mut().and_then(|staged| staged.link.as_mut()) {
            link.release(now, self.delay, &mut self.ring);
        }
    }

    /// From now on packets take another path, if the link varies.
    pub(super) fn change_path(&mut self) {
        if let Some(link) = self.staged.as_mut().and_then(|staged| staged.link.as_mut()) {
            link.change_path();
        }
    }

    /// A packet arrives at a port with stages.
    pub(super) fn arrive_staged(
        &mut self,
        packet: &Packet,
        cargo: C,
        now: Time,
        origin: Origin,
    ) -> Outcome<C> {
        self.advance(now);
        self.count_arrival(packet);
        let Some(mut staged) = self.staged.take() else { return Outcome::Taken };
        let outcome = self.pass_stages(&mut staged, packet, cargo, now, origin);
        if std::mem::take(&mut staged.congested)
            && let Some(filter) = &mut staged.stages.filter
        {
            filter.see_queue(now, &mut staged.waiting.all_packets());
        }
        self.staged = Some(staged);
        self.ask_again(now);
        outcome
    }

    fn pass_stages(
        &mut self,
        staged: &mut Staged<C>,
        packet: &Packet,
        cargo: C,
        now: Time,
        origin: Origin,
    ) -> Outcome<C> {
        let mut marked = false;
        let (stages, others) = (&mut staged.stages, staged.others);
        let (verdict, admitted) = match others {
            true => stages.arrive(packet, now, &mut *staged.draw, origin),
            false => (Verdict::Pass, false),
        };
        let mut verdict = verdict.on(packet);
        let offered = matches!(verdict, Verdict::Pass | Verdict::Mark(_));
        if offered {
            marked = verdict != Verdict::Pass;
            if others {
                let queue_bytes = staged.waiting.all().bytes;
                stages.offered(packet, &Moment { now, queue_bytes });
            }
            verdict = self.queue_verdict(staged, packet, now).on(packet);
        }
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(_) => marked = true,
            Verdict::Drop(reason) => {
                if offered {
                    staged.stages.lost(packet, reason, now);
                } else {
                    staged.stages.dropped(packet, reason, now);
                }
                self.lose(packet.flags, reason);
                return Outcome::Lost(reason, cargo);
            }
            Verdict::Reject(reason) => {
                staged.stages.dropped(packet, reason, now);
                self.lose(packet.flags, reason);
                return Outcome::Rejected(reason, cargo);
            }
        }
        let (handle, taken) = staged.waiting.push_for_edit(packet);
        taken.at = now;
        if admitted {
            taken.flags = taken.flags.with(Flags::ADMITTED);
            taken.sent = now;
        }
        if marked {
            taken.flags = taken.flags.with(Flags::CE);
            self.tally.marked += 1;
        }
        self.tally.taken += 1;
        self.tally.waited.begin(now);
        store(&mut staged.cargo, handle, cargo);
        staged.stages.queue.taken(handle, &mut staged.waiting);
        if others {
            staged.stages.enqueued(packet, now, origin);
        }
        Outcome::Taken
    }

    /// What a packet finds at `now`; the caller has advanced the port.
    #[inline]
    fn found(&self, staged: &Staged<C>, packet: &Packet, now: Time) -> ArrivalContext {
        let (queue, room) = (staged.waiting.all(), self.room());
        // packets wait at an idle link only if they are held
        let idle = self.idle(now);
        let fits = idle.is_some() && queue.packets == 0 || room.fits(queue, packet.size);
        ArrivalContext { now, queue, fits, idle, pace: self.pace, room }
    }

    /// Offers the packet to the queue, which may evict others for it; returns the verdict.
    fn queue_verdict(&mut self, staged: &mut Staged<C>, packet: &Packet, now: Time) -> Verdict {
        let found = self.found(staged, packet, now);
        let Staged { stages, waiting, draw, congested, .. } = staged;
        *congested = stages.filter.as_mut().is_some_and(|filter| filter.offered(packet, &found));
        let verdict = stages.queue.arrive(packet, waiting, &found, &mut **draw);
        while let Some((handle, gone)) = staged.waiting.take_evicted() {
            self.lose_waiting(staged, handle, &gone, Reason::Evicted, now);
        }
        verdict
    }

    /// Counts a packet that was lost while it waited, and stores its cargo.
    fn lose_waiting(
        &mut self,
        staged: &mut Staged<C>,
        handle: Handle,
        gone: &Packet,
        reason: Reason,
        now: Time,
    ) {
        let carried = take(&mut staged.cargo, handle);
        if size_of::<C>() > 0 || gone.payload().is_some() {
            staged.lost.push((*gone, reason, carried));
        }
        self.tally.waited.end(now);
        self.tally.dropped_waiting += 1;
        self.lose(gone.flags, reason);
        staged.stages.dropped_from_queue(gone, reason, now);
    }

    /// Asks the discipline again after an event that may end a hold.
    pub(super) fn ask_again(&mut self, now: Time) {
        if let Some(staged) = &mut self.staged {
            staged.resume = now;
            staged.held = false;
            self.advance(now);
        }
    }

    // out of line: the callers stay small where nothing is due
    #[inline(never)]
    pub(super) fn advance_staged(&mut self, now: Time) {
        let Some(mut staged) = self.staged.take() else { return };
        if staged.link.is_some() {
            self.advance_varying(&mut staged, now);
        } else {
            while self.due(&staged, now) {
                self.serve_due_staged(&mut staged);
            }
        }
        self.staged = Some(staged);
    }

    /// Whether the link is free by `now` and the discipline may be asked for a waiting packet.
    #[inline]
    fn due(&self, staged: &Staged<C>, now: Time) -> bool {
        self.free_at <= now && staged.resume <= now && staged.waiting.all().packets > 0
    }

    #[inline(always)]
    fn serve_due_staged(&mut self, staged: &mut Staged<C>) {
        staged.held = false;
        self.serve_staged(staged, self.free_at.max(staged.resume));
    }

    /// The same where the link varies.
    fn advance_varying(&mut self, staged: &mut Staged<C>, now: Time) {
        loop {
            if let Some(link) = &mut staged.link
                && self.free_at <= now
            {
                link.end_service(self.free_at, self.delay, &mut self.ring);
            }
            if !self.due(staged, now) {
                break;
            }
            match staged.ask(self.free_at.max(staged.resume)) {
                Leave::Granted => self.serve_due_staged(staged),
                Leave::NotBefore(_) => {}
                // that port must try before this one, however late it does
                Leave::AnotherFirst => break,
            }
        }
        if staged.waiting.all().packets == 0 {
            staged.rest();
        }
    }

    /// The link is free and packets wait: carries out the decision of the discipline.
    #[inline(always)]
    fn serve_staged(&mut self, staged: &mut Staged<C>, start: Time) {
        let slot = Slot { start, idle: start - self.free_at, pace: self.pace };
        let Staged { stages, waiting, draw, .. } = staged;
        let next = stages.queue.next(waiting, &slot, &mut **draw);
        match next {
            Next::Send(handle) => self.send(staged, handle, false, start),
            Next::Mark(handle) => {
                let bears = |packet: &Packet| packet.flags.has(Flags::ECT);
                if staged.waiting.get(handle).is_some_and(bears) {
                    self.send(staged, handle, true, start);
                } else {
                    self.drop_waiting(staged, handle, Reason::Early, start);
                }
            }
            Next::Drop(handle, reason) => self.drop_waiting(staged, handle, reason, start),
            Next::NotBefore(later) => {
                staged.held = true;
                // a time that is not later: wait for the next event
                staged.resume = if later > start { later } else { Time::NEVER };
                staged.rest();
            }
        }
    }

    /// Drops a packet whose turn it was.
    fn drop_waiting(
        &mut self,
        staged: &mut Staged<C>,
        handle: Handle,
        reason: Reason,
        start: Time,
    ) {
        let Some(gone) = staged.waiting.take(handle) else {
            return self.misnamed(staged);
        };
        self.lose_waiting(staged, handle, &gone, reason, start);
        staged.stages.note_queue(staged.waiting.all().packets);
    }

    /// Starts the transmission of a waiting packet.
    fn send(&mut self, staged: &mut Staged<C>, handle: Handle, marked: bool, start: Time) {
        if !staged.waiting.remove(handle) {
            return self.misnamed(staged);
        }
        let Staged { stages, others, waiting, cargo, link, .. } = staged;
        let Sum { packets, bytes: queue_bytes } = waiting.all();
        let packet = waiting.removed(handle);
        if marked {
            packet.flags = packet.flags.with(Flags::CE);
            self.tally.marked += 1;
        }
        if *others {
            stages.depart(packet, &Moment { now: start, queue_bytes });
        }
        let size = u64::from(packet.size);
        let mut end = start + self.pace.of(size);
        let carried = take(cargo, handle);
        if let Some(link) = link {
            packet.prev_port = self.number;
            end = link.begin(*packet, carried, (start, end));
        } else {
            let slot = self.ring.push(packet, carried);
            slot.at = end + self.delay;
            slot.prev_port = self.number;
            self.ring.depart();
        }
        self.tally.waited.end(start);
        self.tally.served += 1;
        self.sent.bytes += size;
        self.sent.busy_ps += (end - start).ps();
        self.free_at = end;
        stages.note_queue(packets);
    }

    /// A discipline has named a packet that does not wait: it is asked again at the next event.
    #[cold]
    fn misnamed(&mut self, staged: &mut Staged<C>) {
        debug_assert!(false, "a discipline has named a packet that does not wait");
        staged.held = true;
        staged.resume = Time::NEVER;
    }

    /// The packets that were evicted or dropped while they waited, since the last call, with reason
    /// and cargo.
    ///
    /// If the cargo has no size, only packets whose bytes the carrier stores ([`Packet::payload`])
    /// are listed. The carrier takes them after every use of the port.
    pub fn take_lost(&mut self) -> Vec<(Packet, Reason, C)> {
        self.staged.as_mut().map_or_else(Vec::new, |staged| std::mem::take(&mut staged.lost))
    }

    /// Whether [`Port::take_lost`] would return packets.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.staged.as_ref().is_some_and(|staged| !staged.lost.is_empty())
    }

    /// A neighbour asks this port to filter the packets of an origin. [`Port::take_acts`] returns the
    /// reaction. A port without a filter ignores the request.
    pub fn ask_to_filter(&mut self, key: Key, now: Time) {
        let filter = self.staged.as_mut().and_then(|staged| staged.stages.filter.as_mut());
        if let Some(filter) = filter {
            filter.asked(key, now);
        }
    }

    /// Whether [`Port::take_acts`] would return decisions.
    #[inline]
    pub fn has_acted(&self) -> bool {
        let filter = self.staged.as_ref().and_then(|staged| staged.stages.filter.as_ref());
        filter.is_some_and(|filter| filter.has_acted())
    }

    /// The decisions of the filter since the last call, with requests to other nodes.
    pub fn take_acts(&mut self) -> Vec<Act> {
        let filter = self.staged.as_mut().and_then(|staged| staged.stages.filter.as_mut());
        filter.map_or_else(Vec::new, |filter| filter.take_acts())
    }

    /// The next deadline of an interval law at this port.
    pub fn tick_at(&self) -> Time {
        self.staged.as_ref().map_or(Time::NEVER, |staged| staged.stages.tick_at())
    }

    /// Starts the laws of this port. Before that a gate admits nobody.
    ///
    /// # Errors
    /// The fault of a law of the user's own.
    pub fn start(&mut self, now: Time) -> Result<(), Fault> {
        self.advance(now);
        let Some(mut staged) = self.staged.take() else { return Ok(()) };
        let seen = self.seen(&mut staged, now);
        let started = staged.stages.start(now, self.view(&staged.waiting, seen, now));
        self.staged = Some(staged);
        self.ask_again(now);
        started
    }

    /// Runs the interval law that is due at `now`. The port's next event may become earlier
    /// ([`Port::next_event`]).
    ///
    /// # Errors
    /// The fault of a law of the user's own.
    pub fn tick(&mut self, now: Time) -> Result<Option<Ticked>, Fault> {
        self.advance(now);
        let Some(mut staged) = self.staged.take() else { return Ok(None) };
        let seen = self.seen(&mut staged, now);
        let ticked = staged.stages.tick(now, self.view(&staged.waiting, seen, now));
        self.staged = Some(staged);
        self.ask_again(now);
        ticked
    }

    /// The capacity that laws see, and how long it has been in use since the creation of the port.
    fn seen(&self, staged: &mut Staged<C>, now: Time) -> (Rate, Time) {
        let shaping = staged.stages.queue.shaping();
        let rate = shaping.map_or(self.rate, |shaping| self.rate.min(shaping.rate));
        let given = shaping.map_or(Time::ZERO, |shaping| shaping.taken(now));
        (rate, staged.in_use.until(now, Time::from_ps(self.busy_ps(now)), given))
    }

    /// The view of the laws, with counts since the creation of the port.
    fn view<'a>(&self, waiting: &'a Waiting, seen: (Rate, Time), now: Time) -> View<'a> {
        let (rate, busy) = seen;
        let drops = |reason| self.tally.drops[reason as usize];
        // drops before the queue, and after it
        let before = drops(Reason::SessionRefused)
            + drops(Reason::Filtered)
            + drops(Reason::Policed)
            + drops(Reason::Expired);
        let elsewhere = before + drops(Reason::LinkLoss);
        let queue = waiting.all();
        View {
            rate,
            queue_packets: queue.packets,
            queue_bytes: queue.bytes,
            min_queue_packets: queue.packets,
            queue_offered: self.arrived() - before,
            queue_drops: self.tally.drops.iter().sum::<u64>() - elsewhere,
            busy,
            idle_since: (queue.packets == 0 && self.free_at <= now).then_some(self.free_at),
            queued: waiting,
        }
    }
}

/// Stores the cargo of a packet.
#[inline]
fn store<C: Default>(cargo: &mut Vec<C>, handle: Handle, carried: C) {
    if size_of::<C>() == 0 {
        return;
    }
    if cargo.len() <= handle.index() {
        cargo.resize_with(handle.index() + 1, C::default);
    }
    cargo[handle.index()] = carried;
}

/// Takes the cargo of a packet.
#[inline]
fn take<C: Default>(cargo: &mut [C], handle: Handle) -> C {
    cargo.get_mut(handle.index()).map(std::mem::take).unwrap_or_default()
}
