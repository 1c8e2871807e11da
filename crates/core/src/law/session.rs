//! Session control at a router (session-control, III-B and IV).
//!
//! All session laws share one per-packet half, [`Admit`]: it lets the first
//! so many sessions of an epoch pass (or those that find a token) and counts
//! arrivals, admissions and ends. No state per flow.

use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::{Reason, Verdict};

/// How admissions are spread over an epoch.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
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
    Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
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
    Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
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
    /// How many nanoseconds' worth of tokens the bucket holds.
    pub token_depth_ns: u64,
    /// Nonzero: everything passes, and is counted.
    pub pass_all: u32,
}

/// What the per-packet half has counted since the last tick.
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
    /// When the next token falls due (token bucket), in nanoseconds.
    pub token_due_ns: u64,
}

/// The per-packet half of every session law.
#[derive(Clone, Copy, Debug, Default)]
pub struct Admit {
    /// How admissions are spread.
    pub limiter: Limiter,
    /// Which packet opens a session here.
    pub opener: Opener,
    /// What happens to a session that is refused.
    pub refusal: Refusal,
}

impl Admit {
    /// Whether the packet opens a session at this port.
    #[inline]
    fn opens(&self, packet: &Packet) -> bool {
        packet.flags.has(Flags::SYN)
            && packet.flags.has(Flags::ACK) == (self.opener == Opener::SynAck)
            && !packet.flags.has(Flags::OPAQUE)
    }

    /// Before the queue: count an opening packet, and admit or refuse it.
    #[inline]
    pub fn arrive(&self, packet: &Packet, now: Time, knobs: &Knobs, counts: &mut Counts) -> Verdict {
        if !self.opens(packet) {
            return Verdict::Pass;
        }
        counts.arrived += 1;
        if knobs.pass_all != 0 || self.allows(now, knobs, counts) {
            counts.admitted += 1;
            return Verdict::Pass;
        }
        match self.refusal {
            Refusal::Drop => Verdict::Drop(Reason::SessionRefused),
            Refusal::Rst => Verdict::Reject(Reason::SessionRefused),
        }
    }

    /// Whether one more session fits; takes its token.
    fn allows(&self, now: Time, knobs: &Knobs, counts: &mut Counts) -> bool {
        match self.limiter {
            Limiter::Counter => counts.admitted < knobs.allowance,
            Limiter::TokenBucket => {
                let now_ns = now.ps() / 1_000;
                let due = counts.token_due_ns.max(now_ns);
                if due - now_ns > knobs.token_depth_ns {
                    return false;
                }
                counts.token_due_ns = due + knobs.token_interval_ns;
                true
            }
        }
    }

    /// The queue took the packet: count the end of a session.
    ///
    /// A FIN that was lost is counted when its retransmission is taken; one
    /// FIN a connection crosses a port in the direction of its data.
    #[inline]
    pub fn enqueued(&self, packet: &Packet, counts: &mut Counts) {
        if packet.flags.has(Flags::OPAQUE) {
            return;
        }
        if packet.flags.has(Flags::FIN) {
            counts.departed += 1;
        } else if packet.flags.has(Flags::RST) {
            counts.resets += 1;
        }
    }
}
