//! What the controllers of session laws set, and what their datapath counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clients::Round;
use crate::law::Counted;
use crate::units::Time;

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
    pub(super) fn of_round(&self) -> Round {
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
    /// Opening packets that were charged: admitted, or accepted by the queue (`Charge`).
    pub admitted: u64,
    /// Sessions that ended: FINs that the queue accepted, or that came in.
    pub departed: u64,
    /// Sessions that were aborted: resets, likewise.
    pub resets: u64,
    /// Opening packets that were eligible; of clients, those that were not in yet.
    pub eligible: u64,
    /// Opening packets that the gate let pass and that were dropped behind it.
    pub lost_openers: u64,
    /// Of these, those that were dropped before they were charged (`Charge::Queued`): `admitted`
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
