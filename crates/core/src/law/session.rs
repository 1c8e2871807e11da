//! Session control at a router (session-control, III-B and IV).
//!
//! All session laws share one per-packet half, [`Admit`]: it lets the first
//! so many sessions of an epoch pass (or those that find a token) and counts
//! arrivals, admissions and ends. It works in integers only, so that a kernel
//! can do the same, and keeps no state per flow: what it cannot tell from one
//! packet alone it does not know. A retry of a refused session is a new
//! arrival, and an end that is sent twice and taken twice counts twice.

pub mod change;
pub mod close_probe;
pub mod fixed_rate;
pub mod gss_ga;
pub mod loss_rate;
pub mod occupancy;
mod threshold;

use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::{Counted, Half, Moment, Reason, Verdict};
use threshold::AllOrNothing;

/// How admissions are spread over an epoch.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// The first so many of each epoch, then none: what the paper did.
    #[default]
    Counter,
    /// Evenly, with a bucket of tokens.
    TokenBucket,
}

/// Which packet opens a session at this port.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Opener {
    /// The SYN: the data crosses this port the same way.
    #[default]
    Syn,
    /// The SYN+ACK: a download, whose data follows it.
    SynAck,
}

/// How a session is refused.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Its opening packet is dropped and its sender tries again later.
    #[default]
    Drop,
    /// A reset tells its sender to give up.
    Rst,
}

/// What the interval half sets and the per-packet half obeys.
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
}

const _: () = assert!(size_of::<Knobs>() == 32);

impl Knobs {
    /// Lets `allowance` sessions pass in an epoch of that length: the first
    /// so many, or one each `epoch / allowance`.
    pub fn allow(&mut self, allowance: u64, epoch: Time) {
        let interval_ns =
            (epoch.ps() / 1_000).checked_div(allowance).map_or(u64::MAX, |ns| ns.max(1));
        *self = Knobs {
            allowance,
            token_interval_ns: interval_ns,
            token_depth_ns: interval_ns,
            pass_all: 0,
        };
    }

    /// Lets everything pass.
    pub fn open(&mut self) {
        self.pass_all = 1;
    }
}

/// What the per-packet half has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counts {
    /// Opening packets that arrived, retries included.
    pub arrived: u64,
    /// Of these, how many were let through.
    pub admitted: u64,
    /// Sessions that ended: FINs that the queue took.
    pub departed: u64,
    /// Sessions that broke off: resets that the queue took.
    pub resets: u64,
}

const _: () = assert!(size_of::<Counts>() == 32);

impl Counted for Counts {
    fn since(&self, before: &Counts) -> Counts {
        Counts {
            arrived: self.arrived.wrapping_sub(before.arrived),
            admitted: self.admitted.wrapping_sub(before.admitted),
            departed: self.departed.wrapping_sub(before.departed),
            resets: self.resets.wrapping_sub(before.resets),
        }
    }
}

/// What sessions the per-packet half looks at, and how it admits and refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Admission {
    /// How admissions are spread.
    pub limiter: Limiter,
    /// Which packet opens a session here.
    pub opener: Opener,
    /// What happens to a session that is refused.
    pub refusal: Refusal,
}

/// What the limiters remember from packet to packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Spent {
    /// Sessions let through in the present epoch (counter).
    pub admitted: u64,
    /// When the bucket will be full again (token bucket), in nanoseconds.
    pub token_due_ns: u64,
}

const _: () = assert!(size_of::<Spent>() == 16);

/// The per-packet half of every session law.
#[derive(Clone, Copy, Debug, Default)]
pub struct Admit {
    rules: Admission,
    /// What is left of it says how many more may pass.
    pub spent: Spent,
}

impl Admit {
    /// With nothing admitted yet, and a full bucket.
    pub fn new(rules: Admission) -> Admit {
        Admit { rules, spent: Spent::default() }
    }

    /// Whether the packet opens a session at this port.
    #[inline]
    fn opens(&self, packet: &Packet) -> bool {
        packet.flags.has(Flags::SYN)
            && packet.flags.has(Flags::ACK) == (self.rules.opener == Opener::SynAck)
            && !packet.flags.has(Flags::OPAQUE)
    }

    /// Whether one more session fits; takes its token.
    fn allows(&mut self, now: Time, knobs: &Knobs) -> bool {
        match self.rules.limiter {
            Limiter::Counter => self.spent.admitted < knobs.allowance,
            Limiter::TokenBucket => self.spent.take_token(now.ps() / 1_000, knobs),
        }
    }
}

impl Half for Admit {
    type Knobs = Knobs;
    type Counts = Counts;

    /// Counts an opening packet, and admits or refuses it.
    #[inline]
    fn admit(&mut self, packet: &Packet, now: Time, knobs: &Knobs, counts: &mut Counts) -> Verdict {
        if !self.opens(packet) {
            return Verdict::Pass;
        }
        counts.arrived += 1;
        if knobs.pass_all != 0 || self.allows(now, knobs) {
            counts.admitted += 1;
            self.spent.admitted += 1;
            return Verdict::Pass;
        }
        match self.rules.refusal {
            Refusal::Drop => Verdict::Drop(Reason::SessionRefused),
            Refusal::Rst => Verdict::Reject(Reason::SessionRefused),
        }
    }

    /// Counts the end of a session.
    ///
    /// A FIN that was lost is counted when its retransmission is taken; one
    /// FIN a connection crosses a port in the direction of its data.
    #[inline]
    fn enqueued(&mut self, packet: &Packet, counts: &mut Counts) {
        if packet.flags.has(Flags::OPAQUE) {
            return;
        }
        if packet.flags.has(Flags::FIN) {
            counts.departed += 1;
        } else if packet.flags.has(Flags::RST) {
            counts.resets += 1;
        }
    }

    /// An epoch begins, with the bucket as it is.
    fn renewed(&mut self, _: &Moment, _: &Knobs, _: &mut Counts) {
        self.spent.admitted = 0;
    }
}

impl Spent {
    /// Takes a token if there is one, from a bucket that stores one number: the
    /// time at which it will be full again (the generic cell rate algorithm,
    /// ITU-T I.371 annex A).
    ///
    /// `token_due_ns - now` is what has been taken and not yet refilled, as a time.
    /// It is never more than the whole bucket: when the knobs change to a shorter
    /// interval, an old debt is not paid at the old pace.
    fn take_token(&mut self, now_ns: u64, knobs: &Knobs) -> bool {
        let interval_ns = knobs.token_interval_ns;
        if interval_ns == 0 {
            return true;
        }
        let depth_ns = knobs.token_depth_ns.max(interval_ns);
        let taken_ns = self.token_due_ns.saturating_sub(now_ns).min(depth_ns);
        let fits = interval_ns <= depth_ns - taken_ns;
        let then_ns = if fits { taken_ns + interval_ns } else { taken_ns };
        self.token_due_ns = now_ns.saturating_add(then_ns);
        fits
    }
}

/// Turns a real allowance into whole sessions, carrying the rest over: 65.5 an
/// epoch becomes 65, 66, 65, 66, ...
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carry(f64);

impl Carry {
    /// The whole sessions of this epoch; never less than `floor(alpha)`.
    pub(crate) fn whole(&mut self, alpha: f64) -> u64 {
        let due = alpha + self.0;
        let whole = libm::floor(due);
        self.0 = due - whole;
        whole as u64
    }
}

#[cfg(test)]
mod tests;
