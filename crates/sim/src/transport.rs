//! One reliable transport: handshake, segments, timers, repair, close.
//!
//! The two ends of a flow lie in one record of a [`table::FlowTable`], one table
//! per kind of control; its row of results lies elsewhere.

pub mod control;
mod delivery;
mod outstanding;
mod player;
mod prr;
mod rack;
mod ranges;
pub(crate) mod receiver;
mod rto;
pub(crate) mod sack;
pub(crate) mod sender;
pub(crate) mod table;
mod tlp;
pub(crate) mod udp;
mod wheel;

use tidegate_core::packet::SackBlock;
use tidegate_core::units::Time;
use tidegate_model::control::{Control, Reliability};
use tidegate_model::profile::{LostSyn, MaxRto, Recovery, Tcp, TimerRule};
use tidegate_model::scenario::Transport;

use crate::network::Network;
use crate::rows::Row;

/// Whose rules say what is sent again, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repair {
    /// TCP's: the holes that acknowledgements show.
    Tcp,
    /// Everything from the hole on is sent again, after so many duplicates (blitz, 2.1).
    GoBack { notice: u32 },
    /// What is missing is sent again every two round trips, once all was sent (RCP's own).
    Late,
}

impl Repair {
    /// The rules that the transport of a class brings with it.
    pub(crate) fn of(transport: &Transport) -> Repair {
        match transport {
            Transport::Controlled(_, Control::Blitz(blitz)) => {
                Repair::GoBack { notice: blitz.notice }
            }
            Transport::Controlled(_, Control::Rcp(rcp)) if rcp.reliability == Reliability::Own => {
                Repair::Late
            }
            _ => Repair::Tcp,
        }
    }
}

/// The settings of the transport of one class, resolved once.
pub(crate) struct ClassParams {
    pub(crate) tcp: Tcp,
    pub(crate) repair: Repair,
    pub(crate) pairs: Vec<(u16, u16)>,
    pub(crate) patience: Option<Time>,
    pub(crate) jitter: crate::run::JitterDraw,
}

impl ClassParams {
    /// A class with these settings and without hosts.
    #[cfg(test)]
    pub(crate) fn of(tcp: Tcp) -> ClassParams {
        let jitter = crate::run::JitterDraw::new(1, "test");
        ClassParams { tcp, repair: Repair::Tcp, pairs: Vec::new(), patience: None, jitter }
    }

    /// When a timer of a host fires that is set at `now` for `wait`.
    #[inline]
    pub(crate) fn fires(&self, host: u16, now: Time, wait: Time) -> Time {
        if self.tcp.timer_rule.of_linux() { wheel::fires(host, now, wait) } else { now + wait }
    }

    /// The timeout after one round trip R of `measured` (RFC 6298, 2.2): R + 4 (R / 2), at
    /// least `min_rto`.
    pub(crate) fn first_timeout(&self, measured: Time) -> Time {
        if self.tcp.timer_rule.of_linux() {
            measured + (measured * 2).max(self.tcp.min_rto)
        } else {
            (measured * 3).max(self.tcp.min_rto)
        }
    }

    /// A timeout of `base`, backed off `times` times.
    pub(crate) fn backed_off(&self, base: Time, times: u32) -> Time {
        let doubled = base * (1u64 << times.min(40));
        match self.tcp.max_rto {
            MaxRto::Absolute(most) => doubled.min(most.max(base)),
            MaxRto::Factor(factor) => doubled.min(base * u64::from(factor)),
        }
    }

    /// How long the opener waits after its `tries`-th SYN (1 is the first).
    pub(crate) fn syn_wait(&mut self, tries: u16) -> Time {
        let retry = u32::from(tries) - 1;
        let linear = self.tcp.syn_retries.linear;
        let doublings = if linear == 0 { retry } else { (retry + 1).saturating_sub(linear) };
        let wait = self.backed_off(self.tcp.initial_rto, doublings);
        let jitter = self.tcp.syn_retries.jitter;
        if jitter == 0.0 {
            return wait;
        }
        wait + Time::from_secs_f64(wait.secs() * jitter * self.jitter.uniform())
    }

    /// RFC 6298, 5.7: a connection whose SYN was lost starts with three seconds.
    pub(crate) fn first_rto(&self, syn_lost: bool) -> Time {
        match self.tcp.lost_syn {
            LostSyn::Rfc if syn_lost => self.tcp.initial_rto.max(Time::from_secs(3)),
            _ => self.tcp.initial_rto,
        }
    }

    /// Whether its senders keep a record of every outstanding segment.
    pub(crate) fn tracks_segments(&self) -> bool {
        let rounds = self.tcp.timer_rule == TimerRule::LinuxRounds;
        self.tcp.prr || self.tcp.rack || self.tcp.tlp || rounds
    }

    /// Most segments outstanding: as many as SACK blocks can tell of. (TCP's own limit, a window
    /// of 1 GiB by RFC 7323, 2.3, is narrower from 257 bytes a segment on.)
    #[inline]
    pub(crate) fn window(&self) -> u32 {
        self.tcp.window.min(SackBlock::MAX_START)
    }

    pub(crate) fn sack(&self) -> bool {
        self.tcp.recovery == Recovery::Sack
    }
}

/// What a flow may touch apart from itself.
pub(crate) struct Ctx<'a> {
    pub(crate) net: &'a mut Network,
    pub(crate) class: &'a mut ClassParams,
    pub(crate) row: &'a mut Row,
    /// The host that sends the data.
    pub(crate) source: u16,
    /// The host that receives it.
    pub(crate) sink: u16,
    /// SYNs sent.
    pub(crate) syn_tries: &'a mut u16,
    /// How long the receiver waits for the answer to its FIN; zero: the
    /// handshake gave no sample.
    pub(crate) fin_wait: &'a mut Time,
}

/// The state of a flow at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Congestion window in segments; NaN: it has none.
    pub(crate) cwnd: f64,
    /// Smoothed round-trip time; none: not measured.
    pub(crate) srtt: Option<Time>,
    /// Segments sent and not acknowledged; NaN: not counted.
    pub(crate) flight: f64,
    /// Payload delivered in order so far, in bytes.
    pub(crate) delivered: u64,
}

impl Standing {
    /// Of a flow without a sender that keeps a window.
    pub(crate) const NONE: Standing =
        Standing { cwnd: f64::NAN, srtt: None, flight: f64::NAN, delivered: 0 };
}

/// Whether a flow goes on after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It goes on.
    Lives,
    /// It is over; its slot is free.
    Over,
}
