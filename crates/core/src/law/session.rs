//! Session control at a router (session-control, III-B and IV).
//!
//! All session laws share one datapath, [`Admit`]: it lets the first
//! so many sessions of an epoch pass (or those that find a token) and counts
//! arrivals, admissions and ends. It works in integers only, so that a kernel
//! can do the same, and keeps no state per flow: what it cannot tell from one
//! packet alone it does not know. A retry of a refused session is a new
//! arrival, and an end that is sent twice and taken twice counts twice. A law
//! may ask for more, of a fixed size: that the same sessions come in from try to
//! try ([`eligibility`]), and what share of the traffic is of young flows ([`young`]).

pub mod bucket;
pub mod change;
pub mod close_probe;
pub mod eligibility;
pub mod fixed_rate;
pub mod gss_ga;
pub mod loss_rate;
pub mod occupancy;
mod threshold;
pub mod tide;
pub mod young;

use crate::packet::{Flags, Packet};
use crate::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Counted, Datapath, Draw, Moment, Reason, Verdict};
use bucket::Carry;
pub use bucket::Spent;
use young::Young;

/// How admissions are spread over an epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// The first so many of each epoch, then none: what the paper did.
    #[default]
    Counter,
    /// Evenly, with a bucket of tokens.
    TokenBucket,
    /// Evenly, with a bucket that saves the tokens of an epoch, and into which
    /// the token of an opener that the queue loses comes back.
    SavingBucket,
}

/// Which packet opens a session at this port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opener {
    /// The SYN: the data crosses this port the same way.
    #[default]
    Syn,
    /// The SYN+ACK: a download, whose data follows it.
    SynAck,
    /// Whichever of the two comes: uploads and downloads cross this port.
    Either,
}

/// How a session is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Its opening packet is dropped and its sender tries again later.
    #[default]
    Drop,
    /// A reset tells its sender to give up.
    Rst,
}

/// Which openers are charged to the allowance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// Those that the gate admits, even if a full queue then drops them.
    #[default]
    Passed,
    /// Those that the queue accepts; a drop costs nothing.
    Queued,
}

/// What the controller sets and the datapath obeys.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Knobs {
    /// Sessions that may pass in the present epoch (counter).
    pub allowance: u64,
    /// Nanoseconds between two tokens (token bucket); zero: no limit.
    pub token_interval_ns: u64,
    /// How many nanoseconds' worth of tokens the bucket holds; it always holds one token.
    pub token_depth_ns: u64,
    /// Nonzero: everything passes, and is counted.
    pub pass_all: u32,
    /// How many of the 2^32 hashes are not eligible.
    pub shut: u32,
    /// From which hash on they are eligible.
    pub phase: u32,
    /// Share of a bucket, of 2^16, that must be saved for those that are not eligible.
    pub bypass: u32,
}

const _: () = assert!(size_of::<Knobs>() == 40);

impl Knobs {
    /// Lets `allowance` sessions pass in an epoch of that length: the first
    /// so many, or one each `epoch / allowance`. All of them are eligible.
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

    /// Lets everything pass.
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
    /// Of these, how many were charged: let through, or taken by the queue ([`Charge`]).
    pub admitted: u64,
    /// Sessions that ended: FINs that the queue took.
    pub departed: u64,
    /// Sessions that broke off: resets that the queue took.
    pub resets: u64,
    /// Of those that arrived, how many were eligible.
    pub eligible: u64,
    /// Of those that were let through, how many the queue lost.
    pub lost_openers: u64,
    /// Of the ends that the queue took, how many it lost after all: they come again.
    pub lost_ends: u64,
    /// Bytes that the queue took (where young flows are watched).
    pub bytes: u64,
    /// Of these, bytes of young flows.
    pub young_bytes: u64,
}

const _: () = assert!(size_of::<Counts>() == 72);

impl Counted for Counts {
    fn since(&self, before: &Counts) -> Counts {
        Counts {
            arrived: self.arrived.wrapping_sub(before.arrived),
            admitted: self.admitted.wrapping_sub(before.admitted),
            departed: self.departed.wrapping_sub(before.departed),
            resets: self.resets.wrapping_sub(before.resets),
            eligible: self.eligible.wrapping_sub(before.eligible),
            lost_openers: self.lost_openers.wrapping_sub(before.lost_openers),
            lost_ends: self.lost_ends.wrapping_sub(before.lost_ends),
            bytes: self.bytes.wrapping_sub(before.bytes),
            young_bytes: self.young_bytes.wrapping_sub(before.young_bytes),
        }
    }
}

/// What sessions the datapath looks at, and how it admits and refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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
    /// Whether young flows are watched, and in how large a table; they are hashed then.
    pub young: Option<young::Config>,
}

/// The datapath of every session law.
#[derive(Clone, Debug, Default)]
pub struct Admit {
    rules: Admission,
    /// What is left of it says how many more may pass.
    pub spent: Spent,
    salt: u32,
    young: Option<Young>,
}

impl Admit {
    /// With nothing admitted yet, and a full bucket.
    pub fn new(rules: Admission) -> Admit {
        let young = rules.young.map(Young::new);
        Admit { rules, spent: Spent::default(), salt: 0, young }
    }

    /// Takes its salt, if flows are hashed, from the randomness of its port:
    /// outsiders must not foresee who is eligible.
    pub fn salt(&mut self, draw: &mut dyn Draw) {
        if self.rules.hashed || self.young.is_some() {
            self.salt = (draw.uniform() * f64::from(u32::MAX)) as u32;
        }
    }

    /// Whether the packet opens a session at this port.
    #[inline]
    pub(crate) fn opens(&self, packet: &Packet) -> bool {
        let answers = packet.flags.has(Flags::ACK);
        let meant = match self.rules.opener {
            Opener::Syn => !answers,
            Opener::SynAck => answers,
            Opener::Either => true,
        };
        packet.flags.has(Flags::SYN) && meant && !packet.flags.has(Flags::OPAQUE)
    }

    /// Whether one more session fits; takes its token.
    fn allows(&mut self, now: Time, knobs: &Knobs, eligible: bool) -> bool {
        self.spent.take(self.rules.limiter, now.ps() / 1_000, knobs, eligible)
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
        if !self.opens(packet) {
            return Verdict::Pass;
        }
        counts.arrived += 1;
        let eligible = knobs.shut == 0 || knobs.eligible(packet.session_hash(self.salt) as u32);
        counts.eligible += u64::from(eligible);
        if knobs.pass_all != 0 || self.allows(now, knobs, eligible) {
            if self.rules.charge == Charge::Passed {
                self.charge(counts);
            }
            if let Some(young) = &mut self.young {
                young.admit(packet.session_hash(self.salt));
            }
            return Verdict::Pass;
        }
        match self.rules.refusal {
            Refusal::Drop => Verdict::Drop(Reason::SessionRefused),
            Refusal::Rst => Verdict::Reject(Reason::SessionRefused),
        }
    }

    /// Counts the end of a session, and what is of young flows; charges an opener
    /// that cost nothing so far.
    ///
    /// A FIN that was lost is counted when its retransmission is taken; one
    /// FIN a connection crosses a port in the direction of its data.
    #[inline]
    fn enqueued(&mut self, packet: &Packet, counts: &mut Counts) {
        if let Some(young) = &mut self.young
            && let Some(young) = young.queue(packet.session_hash(self.salt))
        {
            counts.bytes += u64::from(packet.size);
            counts.young_bytes += if young { u64::from(packet.size) } else { 0 };
        }
        if packet.flags.has(Flags::OPAQUE) {
            return;
        }
        if self.rules.charge == Charge::Queued && self.opens(packet) {
            return self.charge(counts);
        }
        if packet.flags.has(Flags::FIN) {
            counts.departed += 1;
        } else if packet.flags.has(Flags::RST) {
            counts.resets += 1;
        }
    }

    /// An opener that was admitted is lost: it comes again, and its token is free.
    fn dropped(&mut self, packet: &Packet, counts: &mut Counts) {
        if !self.opens(packet) {
            return;
        }
        counts.lost_openers += 1;
        let free = self.rules.charge == Charge::Queued;
        if free || self.rules.limiter == Limiter::SavingBucket {
            self.spent.returned += 1;
        }
    }

    /// An end that was counted has not come through.
    fn untaken(&mut self, packet: &Packet, counts: &mut Counts) {
        let ends = packet.flags.has(Flags::FIN) && !packet.flags.has(Flags::OPAQUE);
        counts.lost_ends += u64::from(ends);
    }

    /// An epoch begins, with the bucket as it is.
    fn renewed(&mut self, _: &Moment, _: &Knobs, _: &mut Counts) {
        self.spent.admitted = 0;
    }
}

#[cfg(test)]
mod tests;
