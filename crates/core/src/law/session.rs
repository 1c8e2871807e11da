//! Session control at a router (session-control, III-B and IV).
//!
//! All session laws share one datapath, [`Admit`]. It admits the first sessions of an epoch up to
//! an allowance (or those that find a token), and counts arrivals, admissions and ends. It uses
//! integers only, so that a kernel can run it, and keeps no state per flow. So it knows what one
//! packet tells and no more: a retry of a refused session is a new arrival, and a FIN that is sent
//! twice and accepted twice counts twice. A law can add state of a fixed size: which sessions are
//! admitted at their retries ([`eligibility`]), which clients are let in ([`clients`]), what share
//! of the traffic belongs to young flows ([`young`]), and which connections of QUIC are open
//! ([`quic`]).

pub mod bucket;
pub mod change;
pub mod clients;
pub mod close_probe;
pub mod eligibility;
pub mod fixed_rate;
pub mod gss_ga;
pub mod keep;
pub mod loss_rate;
pub mod occupancy;
pub mod onset;
pub mod quic;
pub mod rounds;
mod threshold;
pub mod tide;
pub mod young;

use crate::packet::{Ext, Flags, Form, Packet};
use crate::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Counted, Datapath, Draw, Moment, Reason, Verdict};
use bucket::Carry;
pub use bucket::Spent;
use clients::{Clients, Round, Standing};
use quic::Connections;
use young::Young;

/// How admissions are spread over an epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// The first ones of each epoch up to the allowance, then none: as in the paper.
    #[default]
    Counter,
    /// Evenly, by a token bucket.
    TokenBucket,
    /// Evenly, by a bucket that keeps the tokens of an epoch. It gets a token back when the queue
    /// drops the opening packet that took it.
    SavingBucket,
}

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

/// What the controller sets and the datapath obeys.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Knobs {
    /// Sessions admitted in the current epoch (counter).
    pub allowance: u64,
    /// Nanoseconds between two tokens (token bucket); zero: no limit.
    pub token_interval_ns: u64,
    /// Capacity of the bucket, as nanoseconds' worth of tokens; it always holds one token.
    pub token_depth_ns: u64,
    /// Nonzero: everything is admitted, and counted.
    pub pass_all: u32,
    /// How many of the 2^32 hashes are not eligible.
    pub shut: u32,
    /// First hash that is eligible.
    pub phase: u32,
    /// Fill level of a bucket, in 2^-16, above which flows that are not eligible are admitted too.
    pub bypass: u32,
    /// Clients: connections that each may open in a round; zero: any number.
    pub share: u32,
    /// Clients: the number of the round.
    pub round: u32,
    /// Clients: nonzero: what a client opens beyond its share gets tokens that would be lost.
    pub spare: u32,
    /// Packets for which a flow is young; zero: as many as before. A kernel's program has it in its
    /// settings.
    pub young: u32,
}

const _: () = assert!(size_of::<Knobs>() == 56);

impl Knobs {
    /// Admits `allowance` sessions in an epoch of that length: the first ones, or one every `epoch
    /// / allowance`. All are eligible.
    pub fn allow(&mut self, allowance: u64, epoch: Time) {
        let interval_ns =
            (epoch.ps() / 1_000).checked_div(allowance).map_or(u64::MAX, |ns| ns.max(1));
        *self = Knobs {
            allowance,
            token_interval_ns: interval_ns,
            token_depth_ns: interval_ns,
            ..Knobs::default()
        };
    }

    /// What concerns clients.
    fn of_round(&self) -> Round {
        Round { number: self.round, share: self.share, spare: self.spare != 0 }
    }

    /// Admits everything.
    pub fn open(&mut self) {
        self.pass_all = 1;
    }
}

/// What the datapath has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counts {
    /// Opening packets that arrived, retries included.
    pub arrived: u64,
    /// Opening packets that were charged: admitted, or accepted by the queue ([`Charge`]).
    pub admitted: u64,
    /// Sessions that ended: FINs that the queue accepted.
    pub departed: u64,
    /// Sessions that were aborted: resets that the queue accepted.
    pub resets: u64,
    /// Opening packets that were eligible; of clients, those that were not in yet.
    pub eligible: u64,
    /// Opening packets that the gate let pass and that were dropped behind it.
    pub lost_openers: u64,
    /// Of these, those that were dropped before they were charged ([`Charge::Queued`]): `admitted`
    /// is without them.
    pub uncharged: u64,
    /// Ends that the queue accepted and then dropped: their retransmissions are counted.
    pub lost_ends: u64,
    /// Bytes that the queue accepted (where young flows are watched).
    pub bytes: u64,
    /// Those bytes that belong to young flows.
    pub young_bytes: u64,
    /// Clients with an admitted connection, each counted once in a round.
    pub served: u64,
    /// Clients that were refused before any of their connections was admitted in the round.
    pub waited: u64,
    /// Clients that were let in, and connections beyond a share that took a token.
    pub let_in: u64,
    /// Opening packets of clients that were in already.
    pub inside: u64,
    /// Admitted sessions that sent more than the packet that opened them (where young flows are
    /// watched).
    pub answered: u64,
}

const _: () = assert!(size_of::<Counts>() == 120);

impl Counted for Counts {
    fn since(&self, before: &Counts) -> Counts {
        Counts {
            arrived: self.arrived.wrapping_sub(before.arrived),
            admitted: self.admitted.wrapping_sub(before.admitted),
            departed: self.departed.wrapping_sub(before.departed),
            resets: self.resets.wrapping_sub(before.resets),
            eligible: self.eligible.wrapping_sub(before.eligible),
            lost_openers: self.lost_openers.wrapping_sub(before.lost_openers),
            uncharged: self.uncharged.wrapping_sub(before.uncharged),
            lost_ends: self.lost_ends.wrapping_sub(before.lost_ends),
            bytes: self.bytes.wrapping_sub(before.bytes),
            young_bytes: self.young_bytes.wrapping_sub(before.young_bytes),
            served: self.served.wrapping_sub(before.served),
            waited: self.waited.wrapping_sub(before.waited),
            let_in: self.let_in.wrapping_sub(before.let_in),
            inside: self.inside.wrapping_sub(before.inside),
            answered: self.answered.wrapping_sub(before.answered),
        }
    }
}

impl Counts {
    /// Opening packets that the gate let pass, whichever of them are charged.
    pub fn passed(&self) -> u64 {
        self.admitted.saturating_add(self.uncharged)
    }

    /// Opening packets that the gate refused.
    pub fn refused(&self) -> u64 {
        self.arrived.saturating_sub(self.passed())
    }

    /// Opening packets that the gate let pass and that were not dropped behind it.
    pub fn kept(&self) -> u64 {
        self.passed().saturating_sub(self.lost_openers)
    }

    /// Sessions that ended: an end that the queue accepted and then dropped comes again.
    pub fn ended(&self) -> u64 {
        self.departed.saturating_sub(self.lost_ends)
    }
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
        let meant = match self.rules.opener {
            Opener::Syn => !answers,
            Opener::SynAck => answers,
            Opener::Either => true,
        };
        packet.flags.has(Flags::SYN) && meant && !packet.flags.has(Flags::OPAQUE)
    }

    /// The same of a datagram.
    fn opens_quic(&self, packet: &Packet, form: Form) -> bool {
        let Some(connections) = &self.connections else { return false };
        let meant = match (self.rules.opener, form) {
            (_, Form::Other) => false,
            (Opener::Syn, form) => form == Form::ClientInitial,
            (Opener::SynAck, form) => form == Form::ServerInitial,
            (Opener::Either, _) => true,
        };
        let readable = !packet.flags.has(Flags::OPAQUE);
        meant && readable && connections.opens(packet.session_hash(self.salt))
    }

    /// The connections of QUIC, where the packet is a datagram and they are watched, and the hash
    /// of its own.
    #[inline]
    fn connections(&mut self, packet: &Packet) -> Option<(&mut Connections, u64)> {
        packet.payload()?;
        let salt = self.salt;
        Some((self.connections.as_deref_mut()?, packet.session_hash(salt)))
    }

    /// Whether one more session fits; if so, takes its token.
    fn allows(&mut self, now: Time, knobs: &Knobs, asks: Standing) -> bool {
        self.spent.take(self.rules.limiter, now.ps() / 1_000, knobs, asks)
    }

    /// How an opening packet asks for a token.
    fn standing(&mut self, packet: &Packet, now: Time, knobs: &Knobs) -> Standing {
        if let Some(clients) = &mut self.clients {
            let hash = packet.client_hash(self.salt);
            let judged = if clients.visits() { packet.session_hash(self.salt) } else { hash };
            let eligible = knobs.eligible(judged as u32);
            return clients.ask(hash, now.ps() / 1_000, knobs.of_round(), eligible);
        }
        let eligible = knobs.shut == 0 || knobs.eligible(packet.session_hash(self.salt) as u32);
        if eligible { Standing::Eligible } else { Standing::Waits }
    }

    /// Notes what became of the connection of a client.
    fn note(
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
            connections.came(hash, now);
        }
        if !self.opens(packet) {
            return Verdict::Pass;
        }
        counts.arrived += 1;
        let asks = self.standing(packet, now, knobs);
        counts.eligible += u64::from(asks == Standing::Eligible);
        counts.inside += u64::from(asks == Standing::LetIn);
        let admitted = knobs.pass_all != 0 || self.allows(now, knobs, asks);
        self.paid = admitted && knobs.pass_all == 0 && asks != Standing::LetIn;
        self.note((admitted, asks), packet, (now, knobs), counts);
        if admitted {
            if self.rules.charge == Charge::Passed {
                self.charge(counts);
            }
            if let Some(young) = &mut self.young {
                young.admit(packet.session_hash(self.salt));
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

    /// Counts the end of a session and the bytes of young flows; charges an opening packet where
    /// only accepted ones are charged.
    ///
    /// A FIN that was dropped is counted when its retransmission is accepted. One FIN per
    /// connection crosses a port in the direction of the data.
    #[inline]
    fn enqueued(&mut self, packet: &Packet, counts: &mut Counts) {
        if let Some(young) = &mut self.young
            && let Some(age) = young.queue(packet.session_hash(self.salt))
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
        if packet.flags.has(Flags::FIN) {
            let (hash, now_ns) = (packet.client_hash(self.salt), self.now.ps() / 1_000);
            if let Some(clients) = &mut self.clients {
                clients.ended(hash, now_ns);
            }
            counts.departed += 1;
        } else if packet.flags.has(Flags::RST) {
            counts.resets += 1;
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
    fn untaken(&mut self, packet: &Packet, counts: &mut Counts) {
        let ends = packet.flags.has(Flags::FIN) && !packet.flags.has(Flags::OPAQUE);
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
