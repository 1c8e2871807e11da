//! LGC at a node: its reaction to congestion and to requests. The law itself is in `core`.
//!
//! Messages may be lost, unlike on the virtual links of the paper. So a filter that still drops
//! packets repeats its request, at most once a second ([`AGAIN`]): as long as packets arrive, the
//! previous hop does not filter them.

use std::collections::BTreeMap;

use tidegate_core::active::message::{FilterRequest, TAG, service};
use tidegate_core::active::{Address, Header};
use tidegate_core::law::greedy::lgc::{Trigger, place};
use tidegate_core::law::greedy::{Ask, Key};
use tidegate_core::units::Time;
use tracing::info;

use super::reason::Reason;
use super::state::{Asked, Core};
use super::status::{Event, QueueAtTrigger};

/// How long a request may be without effect before it is repeated.
pub const AGAIN: Time = Time::from_secs(1);

impl Core {
    fn event(&self, phase: &str, origin: Option<Address>, neighbour: Option<Address>) -> Event {
        Event {
            time_s: self.now.secs(),
            clock_us: self.clock_us,
            phase: phase.to_owned(),
            origin,
            neighbour,
            seen: None,
            reason: String::new(),
        }
    }

    /// Whether a filter drops a packet; if so, records it.
    pub(super) fn filter_takes(&mut self, key: Key, number: u32) -> bool {
        if !self.filters.takes(key, self.now) {
            return false;
        }
        let origin = Address::from(key.origin);
        if self.filtered.len() < self.most_connections || self.filtered.contains_key(&origin) {
            self.filtered.entry(origin).or_default().add(number);
        }
        self.ask_again(key);
        true
    }

    fn ask_again(&mut self, key: Key) {
        let Some(asked) = self.asked.get(&key).copied() else { return };
        if self.now < asked.until && self.now >= asked.at + AGAIN {
            self.ask(Ask::Filter { to: key.from, origin: key.origin, until: asked.until });
        }
    }

    /// LGC examines the queue of a link (Appendix I, 2).
    pub(super) fn triggered(&mut self, link: usize, trigger: &Trigger) {
        let greedy = trigger.greedy.map(|(key, _)| key);
        let mut came = BTreeMap::new();
        for arrival in &self.links[link].record {
            *came.entry(arrival.origin).or_insert(0) += 1;
        }
        let mut event =
            self.event("trigger", greedy.map(|key| key.origin.into()), Some(self.links[link].peer));
        event.seen = Some(QueueAtTrigger {
            packets: trigger.packets,
            share: trigger.share,
            held: trigger.held.iter().map(|(node, held)| (Address::from(*node), *held)).collect(),
            avg_queue_packets: self.links[link].average(self.now).unwrap_or(0.0),
            came,
        });
        let (p, n, r) = (trigger.packets, trigger.connections(), trigger.share);
        info!(node = %self.name, greedy = ?event.origin, p, n, r, "congested");
        self.record(event);
        if let Some(key) = greedy {
            self.filter(key);
        }
    }

    /// Installs a filter, and sends a request to the previous hop if there is one (Appendix I, 2
    /// and 3).
    fn filter(&mut self, key: Key) -> bool {
        let placed = place(&self.lgc, key, self.now);
        let (origin, from) = (Address::from(key.origin), Address::from(key.from));
        if !self.filters.install(key, placed.until, self.now) {
            self.drop(Reason::FiltersFull);
            let mut event = self.event("refused", Some(origin), Some(from));
            event.reason = Reason::FiltersFull.name().to_owned();
            self.record(event);
            return false;
        }
        let lasts_s = (placed.until - self.now).secs();
        info!(node = %self.name, %origin, %from, lasts_s, "filter installed");
        self.record(self.event("filter", Some(origin), Some(from)));
        if let Some(ask) = placed.ask {
            self.ask(ask);
        }
        true
    }

    /// Sends a request of the law to the neighbour as a signed message.
    fn ask(&mut self, ask: Ask) {
        let Ask::Filter { to, origin, until } = ask;
        let key = Key { from: to, origin };
        self.asked.retain(|_, asked| self.now < asked.until);
        self.asked.insert(key, Asked { at: self.now, until });
        let (to, origin) = (Address::from(to), Address::from(origin));
        let number = self.next_number();
        let link = self.neighbours.get(&to).map(|link| &mut self.links[*link]);
        let Some(trust) = link.and_then(|link| link.trust.as_mut()) else {
            info!(node = %self.name, %to, "no key is shared with the previous hop: the filter stays here");
            return;
        };
        let lasts_ms =
            u32::try_from((until - self.now).ps() / Time::from_ms(1).ps()).unwrap_or(u32::MAX);
        let filter = FilterRequest { origin, lasts_ms, sequence: trust.number(self.clock_us) };
        let header = Header {
            active: true,
            source: self.me,
            destination: to,
            previous: self.me,
            service: service::FILTER,
            number,
            life_ms: lasts_ms.max(1),
        };
        let mut payload = filter.encode();
        let tag = trust.sign(&header, &payload);
        payload.extend_from_slice(&tag);
        self.record(self.event("ask", Some(origin), Some(to)));
        self.send(&header, &payload);
    }

    /// Handles a neighbour's request for a filter. Only a neighbour to which the origin's packets
    /// are sent may make it: it must hold the key of its link, and must not be on the route back to
    /// the origin.
    pub(super) fn asked(
        &mut self,
        header: &Header,
        filter: &FilterRequest,
        signed: &[u8],
        tag: &[u8; TAG],
    ) -> Result<(), Reason> {
        let (clock_us, asker) = (self.clock_us, header.source);
        let link = self.neighbours.get(&asker).copied().ok_or(Reason::Forged)?;
        if header.destination != self.me || header.previous != asker {
            return Err(Reason::Forged);
        }
        let trust = self.links[link].trust.as_mut().ok_or(Reason::Forged)?;
        trust.check(header, signed, tag, filter.sequence, clock_us)?;
        if filter.lasts_ms == 0 {
            return Err(Reason::Stale);
        }
        let from = if filter.origin == self.me {
            self.me
        } else {
            self.neighbour_towards(filter.origin).ok_or(Reason::NoRoute)?
        };
        if from == asker || filter.origin == asker {
            return Err(Reason::NotDownstream);
        }
        self.record(self.event("asked", Some(filter.origin), Some(asker)));
        let placed = self.filter(Key { from: from.into(), origin: filter.origin.into() });
        // a full table was already counted
        debug_assert!(placed || self.lgc.most_filters > 0);
        Ok(())
    }

    /// Counts and records a refused request.
    pub(super) fn refused(&mut self, header: &Header, filter: &FilterRequest, reason: Reason) {
        let mut event = self.event("refused", Some(filter.origin), Some(header.source));
        event.reason = reason.name().to_owned();
        info!(node = %self.name, origin = %filter.origin, by = %header.source, reason = reason.name(), "request refused");
        self.record(event);
    }
}
