//! Session control at a router (session-control, III-B and IV).
//!
//! All session laws share one datapath, [`Admit`]. It admits the first sessions of an epoch up to
//! an allowance (or those that find a token), and counts arrivals, admissions and ends. It uses
//! integers only, so that a kernel can run it, and keeps no state per flow. So it knows what one
//! packet tells and no more: a retry of a refused session is a new arrival, and a FIN that is sent
//! twice and accepted twice counts twice. A law can add state of a fixed size: which sessions are
//! admitted at their retries ([`eligibility`]), which clients are let in ([`clients`]), what share
//! of the traffic belongs to young flows ([`young`]), and which connections of QUIC are open
//! ([`quic`]). A gate may see the other direction of its link too ([`ingress`]).

pub mod bucket;
pub mod change;
pub mod clients;
pub mod close_probe;
pub mod eligibility;
pub mod fixed_rate;
pub mod gss_ga;
pub mod ingress;
pub mod keep;
mod knobs;
pub mod loss_rate;
pub mod occupancy;
pub mod onset;
pub mod quic;
pub mod rounds;
mod threshold;
pub mod tide;
pub mod told;
pub mod young;

use crate::packet::{Ext, Flags, Form, Packet};
use crate::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Datapath, Draw, Moment, Reason, Verdict};
use bucket::Carry;
pub use bucket::Spent;
use clients::{Clients, Standing};
use ingress::{CountedEnds, Ingress};
pub use knobs::{Counts, Knobs, Limiter};
use quic::Connections;
use young::Young;

/// A full packet, in bytes.
const PACKET: f64 = 1500.0;

/// Which packet opens a session at this port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opener {
    /// The SYN: the data crosses this port in the same direction.
    #[default]
    Syn,
    /// The SYN+ACK: a download, whose data crosses this port in the same direction.
    SynAck,
    /// Either: uploads and downloads cross this port.
    Either,
}

/// How a session is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Its opening packet is dropped; its sender retries later.
    #[default]
    Drop,
    /// Its sender gets a reset and gives up.
    Rst,
}

/// Which opening packets count against the allowance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// Those that the gate admits, even if a full queue then drops them.
    #[default]
    Passed,
    /// Those that the queue accepts; a dropped one costs nothing.
    Queued,
}

/// Which sessions the datapath sees, and how it admits and refuses them.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Admission {
    /// How admissions are spread.
    pub limiter: Limiter,
    /// Which packet opens a session here.
    pub opener: Opener,
    /// What happens to a session that is refused.
    pub refusal: Refusal,
    /// Which openers are charged.
    pub charge: Charge,
    /// Whether a salted hash decides which flows are eligible.
    pub hashed: bool,
    /// Whether young flows are watched, and the size of their table. Flows are hashed then.
    pub young: Option<young::Config>,
    /// Whether clients are admitted, and not each connection by itself.
    pub clients: Option<clients::Config>,
    /// Whether each connection is judged by itself, with those of its client that follow.
    pub visits: bool,
    /// How sessions of QUIC are seen; none: they pass like all that is unknown.
    pub quic: Option<quic::Config>,
    /// What is seen of the other direction of the link.
    pub ingress: Ingress,
}

/// The datapath of every session law.
#[derive(Clone, Debug, Default)]
pub struct Admit {
    rules: Admission,
    /// State of the limiter: how many more sessions may pass.
    pub spent: Spent,
    /// Whether the last opening packet took a token.
    paid: bool,
    salt: u32,
    young: Option<Young>,
    clients: Option<Clients>,
    connections: Option<Box<Connections>>,
    ends: CountedEnds,
    /// When the last packet came.
    now: Time,
}

impl Admit {
    /// Nothing admitted yet, and a full bucket.
    pub fn new(rules: Admission) -> Admit {
        let young = rules.young.map(Young::new);
        let clients = rules.clients.as_ref().map(|config| Clients::new(config, rules.visits));
        let connections = rules.quic.map(|config| Box::new(Connections::new(config)));
        Admit { rules, young, clients, connections, ..Admit::default() }
    }

    /// Draws the salt of its hash, if flows are hashed, from the port's random generator, so that
    /// outsiders cannot predict which flows are eligible.
    pub fn salt(&mut self, draw: &mut dyn Draw) {
        let tables = self.young.is_some() || self.clients.is_some() || self.connections.is_some();
        if self.rules.hashed || tables {
            self.salt = (draw.uniform() * f64::from(u32::MAX)) as u32;
        }
    }

    /// Whether the packet opens a session at this port.
    #[inline]
    pub(crate) fn opens(&self, packet: &Packet) -> bool {
        if let Ext::Datagram { form, .. } = packet.ext {
            return self.opens_quic(packet, form);
        }
        let answers = packet.flags.has(Flags::ACK);
        let answer_opens = !self.rules.ingress.openers;
        let meant = match self.rules.opener {
            Opener::Syn => !answers,
            Opener::SynAck => answers && answer_opens,
            Opener::Either => !answers || answer_opens,
        };
        packet.flags.has(Flags::SYN) && meant && !packet.flags.has(Flags::OPAQUE)
    }

    /// The same of a datagram.
    fn opens_quic(&self, packet: &Packet, form: Form) -> bool {
        let Some(connections) = &self.connections else { return false };
        let meant = match (self.rules.opener, form) {
            (_, Form::Other) => false,
            (Opener::Syn, form) => form == Form::ClientInitial,
            (Opener::SynAck, form) => form == Form::ServerInitial && !self.rules.ingress.openers,
            (Opener::Either, _) => true,
        };
        let readable = !packet.flags.has(Flags::OPAQUE);
        meant && readable && connections.opens(packet.flow_hash(self.salt))
    }

    /// The connections of QUIC, where the packet is a datagram and they are watched, and the hash
    /// of its own.
    #[inline]
    fn connections(&mut self, packet: &Packet) -> Option<(&mut Connections, u64)> {
        packet.payload()?;
        let salt = self.salt;
        Some((self.connections.as_deref_mut()?, packet.flow_hash(salt)))
    }

    /// Whether one more session fits; if so, takes its token.
    fn allows(&mut self, now: Time, knobs: &Knobs, asks: Standing) -> bool {
        self.spent.take(self.rules.limiter, now.ps() / 1_000, knobs, asks)
    }

    /// How an opening packet asks for a token.
    fn standing(&mut self, packet: &Packet, now: Time, knobs: &Knobs) -> Standing {
        if let Some(clients) = &mut self.clients {
            let hash = packet.client_hash(self.salt);
            let judged = if clients.visits() { packet.flow_hash(self.salt) } else { hash };
            let eligible = knobs.eligible(judged as u32);
            return clients.ask(hash, now.ps() / 1_000, knobs.of_round(), eligible);
        }
        let eligible = knobs.shut == 0 || knobs.eligible(packet.flow_hash(self.salt) as u32);
        if eligible { Standing::Eligible } else { Standing::Waits }
    }

    /// Notes what became of the connection of a client.
    fn record_client(
        &mut self,
        (admitted, asks): (bool, Standing),
        packet: &Packet,
        at: (Time, &Knobs),
        counts: &mut Counts,
    ) {
        let Some(clients) = &mut self.clients else { return };
        let hash = packet.client_hash(self.salt);
        let (now_ns, knobs) = (at.0.ps() / 1_000, at.1);
        if admitted {
            counts.let_in += u64::from(asks != Standing::LetIn);
            counts.served += u64::from(clients.admitted(hash, now_ns, knobs.of_round()));
        } else {
            counts.waited += u64::from(clients.refused(hash, now_ns, knobs.of_round()));
        }
    }

    /// Counts an opening packet, and admits or refuses it.
    fn judge(&mut self, packet: &Packet, now: Time, knobs: &Knobs, counts: &mut Counts) -> Verdict {
        counts.arrived += 1;
        let asks = self.standing(packet, now, knobs);
        counts.eligible += u64::from(asks == Standing::Eligible);
        counts.inside += u64::from(asks == Standing::LetIn);
        let admitted = knobs.pass_all != 0 || self.allows(now, knobs, asks);
        self.paid = admitted && knobs.pass_all == 0 && asks != Standing::LetIn;
        self.record_client((admitted, asks), packet, (now, knobs), counts);
        if admitted {
            if self.rules.charge == Charge::Passed {
                self.charge(counts);
            }
            if let Some(young) = &mut self.young {
                young.admit(packet.flow_hash(self.salt));
            }
            if let Some((connections, hash)) = self.connections(packet) {
                connections.admitted(hash, now);
            }
            return Verdict::Pass;
        }
        match self.rules.refusal {
            // QUIC knows no reset from a third party
            _ if packet.payload().is_some() => Verdict::Drop(Reason::SessionRefused),
            Refusal::Drop => Verdict::Drop(Reason::SessionRefused),
            Refusal::Rst => Verdict::Reject(Reason::SessionRefused),
        }
    }

    /// An opening packet that the gate let pass was dropped: it will be retransmitted. `unpaid`: it
    /// took a token, and costs nothing.
    fn lose_opener(&mut self, packet: &Packet, unpaid: bool, counts: &mut Counts) {
        counts.lost_openers += 1;
        if let Some((connections, hash)) = self.connections(packet) {
            connections.lost(hash);
        }
        let free = match self.clients {
            _ if self.rules.visits || self.clients.is_none() => {
                let Admission { charge, limiter, .. } = self.rules;
                charge == Charge::Queued || limiter == Limiter::SavingBucket
            }
            // a client stays in: its next try needs no token
            _ => unpaid,
        };
        self.spent.returned += u64::from(free);
    }

    /// Counts one more session.
    fn charge(&mut self, counts: &mut Counts) {
        counts.admitted += 1;
        self.spent.admitted += 1;
    }
}

impl Datapath for Admit {
    type Knobs = Knobs;
    type Counts = Counts;

    /// Counts an opening packet, and admits or refuses it.
    #[inline]
    fn admit(&mut self, packet: &Packet, now: Time, knobs: &Knobs, counts: &mut Counts) -> Verdict {
        self.now = now;
        if let Some((connections, hash)) = self.connections(packet) {
            connections.on_packet(hash, now);
        }
        if !self.opens(packet) {
            return Verdict::Pass;
        }
        self.judge(packet, now, knobs, counts)
    }

    /// Counts the end of a session and the bytes of young flows; charges an opening packet where
    /// only accepted ones are charged.
    ///
    /// A FIN that was dropped is counted when its retransmission is accepted. One FIN per
    /// connection crosses a port in the direction of the data.
    #[inline]
    fn enqueued(&mut self, packet: &Packet, counts: &mut Counts) {
        if let Some(young) = &mut self.young
            && let Some(age) = young.queue(packet.flow_hash(self.salt))
        {
            counts.bytes += u64::from(packet.size);
            counts.young_bytes += if age.young { u64::from(packet.size) } else { 0 };
            let says_more = !packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::RST);
            counts.answered += u64::from(age.second && says_more);
        }
        if packet.flags.has(Flags::OPAQUE) {
            return;
        }
        let opens = self.rules.charge == Charge::Queued && self.opens(packet);
        if let Some((connections, hash)) = self.connections(packet) {
            connections.queued(hash);
        }
        if opens {
            return self.charge(counts);
        }
        if packet.flags.has(Flags::FIN) || packet.flags.has(Flags::RST) {
            self.end(packet, !self.rules.ingress.ends, counts);
        }
    }

    /// An opening packet that the gate let pass is dropped at once: it is not charged where only
    /// accepted ones are.
    fn dropped(&mut self, packet: &Packet, counts: &mut Counts) {
        let opens = self.opens(packet);
        let free = opens && self.rules.charge == Charge::Queued;
        counts.uncharged += u64::from(free);
        if opens {
            self.lose_opener(packet, free && self.paid, counts);
        }
    }

    /// The same out of the queue; and an end that was counted may have been dropped.
    fn dropped_from_queue(&mut self, packet: &Packet, counts: &mut Counts) {
        let counted = packet.flags.has(Flags::FIN) && !self.rules.ingress.ends;
        let ends = counted && !packet.flags.has(Flags::OPAQUE);
        counts.lost_ends += u64::from(ends);
        if self.opens(packet) {
            self.lose_opener(packet, false, counts);
        }
    }

    /// An epoch begins; the bucket keeps its level. Connections of QUIC that are idle have ended.
    fn renewed(&mut self, moment: &Moment, knobs: &Knobs, counts: &mut Counts) {
        self.spent.admitted = 0;
        if let Some(young) = self.young.as_mut().filter(|_| knobs.young != 0) {
            young.last(knobs.young);
        }
        if let Some(connections) = &mut self.connections {
            counts.departed += connections.ended(moment.now);
        }
    }
}

#[cfg(test)]
mod tests;
