//! What a gate sees of the other direction of its link, as one on an interface does (ours;
//! docs/gate.md).
//!
//! 1. **Openers.** A download is opened by its SYN, or the Initial of its client, as that comes in.
//!    If it is refused there, the server never hears of it: it sends no SYN+ACK again, and nothing
//!    of a first flight crosses the link.
//! 2. **Ends.** A session has ended when the FIN of the receiver comes in: it closes once it has
//!    everything. The FIN that leaves, directly behind the data, is no end then.
//!
//! A packet that comes in is looked at as the one that will answer it, so that it has the hashes of
//! what leaves.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Admit, Counts, Knobs};
use crate::law::Verdict;
use crate::packet::{Ext, Flags, Form, Packet};
use crate::units::Time;

/// Whose FIN ends a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndsOf {
    /// The receiver's, which comes in after the last data has arrived.
    #[default]
    Peer,
    /// The sender's, which leaves before the last data has arrived. For routes whose return path is
    /// another one.
    Sender,
}

/// Where a download is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefuseAt {
    /// Its SYN, as it comes in: the server has no half-open connection.
    Ingress,
    /// The server's SYN+ACK, as it leaves. For routes whose return path is another one.
    Egress,
}

impl EndsOf {
    /// Where downloads are refused unless it is said.
    pub fn refuses_at(self) -> RefuseAt {
        match self {
            EndsOf::Peer => RefuseAt::Ingress,
            EndsOf::Sender => RefuseAt::Egress,
        }
    }
}

/// Which packets that come in a gate looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ingress {
    /// Downloads open with the packet of their client, and are refused there.
    pub openers: bool,
    /// Sessions end with the FIN of their receiver.
    pub ends: bool,
}

impl Ingress {
    /// Whether it looks at any.
    pub fn looks(self) -> bool {
        self.openers || self.ends
    }
}

/// For so long at least it is known that an end was counted.
const KEPT: Time = Time::from_secs(60);

/// The sessions whose end was counted lately: an end that is sent again counts once.
#[derive(Clone, Debug, Default)]
pub(super) struct CountedEnds {
    lately: BTreeSet<u64>,
    before: BTreeSet<u64>,
    since: Time,
}

impl CountedEnds {
    /// Whether this is the first end of the session with this hash.
    fn first(&mut self, hash: u64, now: Time) -> bool {
        if now.saturating_sub(self.since) >= KEPT {
            self.before = std::mem::take(&mut self.lately);
            self.since = now;
        }
        !self.before.contains(&hash) && self.lately.insert(hash)
    }
}

/// The packet that will answer one that comes in: it leaves, and is no SYN of its own.
fn answer(packet: &Packet) -> Packet {
    Packet { src: packet.dst, dst: packet.src, flags: packet.flags.with(Flags::ACK), ..*packet }
}

impl Admit {
    /// Whether it looks at what comes in.
    pub fn looks_at_ingress(&self) -> bool {
        self.rules.ingress.looks()
    }

    /// Counts what comes in by the other direction of the link, and admits or refuses an opener.
    pub fn came_in(
        &mut self,
        packet: &Packet,
        now: Time,
        knobs: &Knobs,
        counts: &mut Counts,
    ) -> Verdict {
        self.now = now;
        let answer = answer(packet);
        if let Some((connections, hash)) = self.connections(&answer) {
            connections.on_packet(hash, now);
        }
        if self.opens_as_it_comes_in(packet, &answer) {
            let verdict = self.judge(&answer, now, knobs, counts);
            if verdict == Verdict::Pass
                && let Some((connections, hash)) = self.connections(&answer)
            {
                // no queue can lose the opener behind the gate
                connections.queued(hash);
            }
            return verdict;
        }
        if self.rules.ingress.ends && !packet.flags.has(Flags::OPAQUE) {
            self.end(&answer, true, counts);
        }
        Verdict::Pass
    }

    fn opens_as_it_comes_in(&self, packet: &Packet, answer: &Packet) -> bool {
        if !self.rules.ingress.openers || self.rules.opener == super::Opener::Syn {
            return false;
        }
        if packet.flags.has(Flags::OPAQUE) {
            return false;
        }
        match packet.ext {
            Ext::Datagram { form, .. } => {
                let connections = self.connections.as_deref();
                let hash = answer.flow_hash(self.salt);
                form == Form::ClientInitial && connections.is_some_and(|all| all.opens(hash))
            }
            _ => packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK),
        }
    }

    /// A FIN or a reset of this session leaves, or comes in. A reset ends it; a FIN does
    /// if `counts_fin`.
    pub(super) fn end(&mut self, leaving: &Packet, counts_fin: bool, counts: &mut Counts) {
        let fin = leaving.flags.has(Flags::FIN);
        if fin && let Some(clients) = &mut self.clients {
            clients.ended(leaving.client_hash(self.salt), self.now.ps() / 1_000);
        }
        let ends = if fin { counts_fin } else { leaving.flags.has(Flags::RST) };
        // both directions are seen, so that an end may come twice
        let twice = self.rules.ingress.ends;
        if !ends || twice && !self.ends.first(leaving.flow_hash(self.salt), self.now) {
            return;
        }
        if fin {
            counts.departed += 1;
        } else {
            counts.resets += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Admission, Limiter, Opener, quic};
    use super::*;
    use crate::law::{Datapath, Reason};

    const BOTH: Ingress = Ingress { openers: true, ends: true };
    const SERVER: u16 = 1;
    const CLIENT: u16 = 2;

    fn gate(ingress: Ingress) -> Admit {
        let (limiter, quic) = (Limiter::TokenBucket, Some(quic::Config::default()));
        let opener = Opener::SynAck;
        Admit::new(Admission { limiter, opener, quic, ingress, ..Admission::default() })
    }

    /// One token each 10 s, and nothing saved.
    fn scarce() -> Knobs {
        let (token_interval_ns, token_depth_ns) = (10_000_000_000, 10_000_000_000);
        Knobs { token_interval_ns, token_depth_ns, ..Knobs::default() }
    }

    fn coming(flow: u32, flags: Flags) -> Packet {
        Packet { flow, flags, src: CLIENT, dst: SERVER, ..Packet::default() }
    }

    fn leaving(flow: u32, flags: Flags) -> Packet {
        Packet { flow, flags, src: SERVER, dst: CLIENT, ..Packet::default() }
    }

    fn leave(admit: &mut Admit, packet: &Packet, counts: &mut Counts) -> Verdict {
        let verdict = admit.admit(packet, Time::ZERO, &scarce(), counts);
        if verdict == Verdict::Pass {
            admit.enqueued(packet, counts);
        }
        verdict
    }

    /// By hand: the first SYN takes the only token, the second is dropped; the SYN+ACK of the first
    /// leaves without a token of its own.
    #[test]
    fn a_download_is_refused_as_its_syn_comes_in() {
        let (mut admit, mut counts) = (gate(BOTH), Counts::default());
        let mut come = |admit: &mut Admit, flow| {
            admit.came_in(&coming(flow, Flags::SYN), Time::ZERO, &scarce(), &mut counts)
        };
        assert_eq!(come(&mut admit, 1), Verdict::Pass);
        assert_eq!(come(&mut admit, 2), Verdict::Drop(Reason::SessionRefused));
        assert_eq!((counts.arrived, counts.admitted), (2, 1));
        let answer = leaving(1, Flags::SYN.with(Flags::ACK));
        assert_eq!(leave(&mut admit, &answer, &mut counts), Verdict::Pass);
        assert_eq!((counts.arrived, counts.admitted, counts.refused()), (2, 1, 1));
    }

    /// The FIN that leaves is no end; that of the receiver is, once, however often it comes. After
    /// more than a minute without it the table of counted ends has forgotten it.
    #[test]
    fn the_receivers_fin_ends_a_session_once() {
        let fin = Flags::FIN.with(Flags::ACK);
        let (mut admit, mut counts) = (gate(BOTH), Counts::default());
        leave(&mut admit, &leaving(1, fin), &mut counts);
        assert_eq!(counts.departed, 0);
        for (at_s, flow, ended) in [(1, 1, 1), (2, 1, 1), (3, 2, 2), (62, 1, 2), (200, 1, 3)] {
            let at = Time::from_secs(at_s);
            admit.came_in(&coming(flow, fin), at, &scarce(), &mut counts);
            assert_eq!(counts.departed, ended, "at {at_s} s");
        }
        let (mut admit, mut counts) = (gate(Ingress::default()), Counts::default());
        leave(&mut admit, &leaving(1, fin), &mut counts);
        admit.came_in(&coming(1, fin), Time::ZERO, &scarce(), &mut counts);
        assert_eq!(counts.departed, 1, "the FIN that leaves");
    }

    /// A reset ends a session whichever way it goes, and counts once.
    #[test]
    fn a_reset_counts_once() {
        let (mut admit, mut counts) = (gate(BOTH), Counts::default());
        leave(&mut admit, &leaving(1, Flags::RST), &mut counts);
        admit.came_in(&coming(1, Flags::RST), Time::ZERO, &scarce(), &mut counts);
        admit.came_in(&coming(2, Flags::RST), Time::ZERO, &scarce(), &mut counts);
        assert_eq!((counts.resets, counts.departed), (2, 0));
    }

    /// By hand: the client's Initial takes the only token; what either end sends of this connection
    /// after it needs none, and the Initial of another client is dropped. Silent for 5 s, the first
    /// connection has ended.
    #[test]
    fn a_download_over_quic_is_refused_as_its_initial_comes_in() {
        let (mut admit, mut counts) = (gate(BOTH), Counts::default());
        let datagram = |packet: Packet, form| {
            let ext = Ext::Datagram { payload: 0, form };
            Packet { ext, size: 1228, ..packet }
        };
        let initial = |flow| datagram(coming(flow, Flags::default()), Form::ClientInitial);
        let come = |admit: &mut Admit, flow, counts: &mut Counts| {
            admit.came_in(&initial(flow), Time::ZERO, &scarce(), counts)
        };
        assert_eq!(come(&mut admit, 1, &mut counts), Verdict::Pass);
        assert_eq!(come(&mut admit, 1, &mut counts), Verdict::Pass, "sent again");
        assert_eq!(come(&mut admit, 2, &mut counts), Verdict::Drop(Reason::SessionRefused));
        let answer = datagram(leaving(1, Flags::default()), Form::ServerInitial);
        assert_eq!(leave(&mut admit, &answer, &mut counts), Verdict::Pass);
        assert_eq!((counts.arrived, counts.admitted), (2, 1));
        let moment = crate::law::Moment { now: Time::from_secs(5), queue_bytes: 0 };
        admit.renewed(&moment, &scarce(), &mut counts);
        assert_eq!(counts.departed, 1);
    }
}
