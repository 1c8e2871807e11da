//! One reliable transport: handshake, segments, timers, repair, close.
//!
//! The two ends of a flow are in one record of a `table::FlowTable`, with one table per kind of
//! control; its row of results is stored separately.

mod ack_info;
pub mod control;
mod delivery;
mod detector;
#[cfg(test)]
mod drill;
mod heard;
pub(crate) mod hosts;
mod laps;
mod outstanding;
mod prr;
mod rack;
mod ranges;
pub(crate) mod receive_window;
pub(crate) mod receiver;
pub(crate) mod rto;
pub(crate) mod rtts;
mod sack;
pub(crate) mod sender;
mod sent_log;
mod socket;
mod spans;
pub(crate) mod table;
mod tlp;
pub(crate) mod udp;
mod wheel;

use rand::RngExt;
use tidegate_core::packet::SackBlock;
use tidegate_core::units::Time;
use tidegate_model::control::Ecn;
use tidegate_model::draw::{Pcg64, stream};
use tidegate_model::profile::{LostSyn, MaxRto, Recovery, Tcp};
use tidegate_model::scenario::Misbehaviour;

use crate::network::Network;
use crate::rows::Row;
use receive_window::Memory;
use receiver::aside::Aside;
use rtts::Rtts;

pub(crate) use sender::Detector;

/// The resolved settings of a class's transport.
pub(crate) struct ClassParams {
    pub(crate) tcp: Tcp,
    /// How both ends use marks; each packet asks.
    pub(crate) ecn: Ecn,
    pub(crate) detector: Detector,
    /// What segments take of a receive buffer; none: its receivers offer all from the start.
    pub(crate) memory: Option<Memory>,
    /// How its receivers misbehave.
    pub(crate) receiver: Option<Misbehaviour>,
    pub(crate) pairs: Vec<(u16, u16)>,
    /// Whether a gate admits its uploads at their SYN+ACK.
    pub(crate) by_answer: bool,
    pub(crate) patience: Option<Time>,
    /// Draws the jitter of SYN retries.
    pub(crate) jitter: Pcg64,
    /// The round trips that its senders have measured.
    pub(crate) rtts: Rtts,
    /// Bytes of data packets that reached their receivers, headers and repeated ones included.
    pub(crate) arrived_bytes: u64,
    /// What receivers no longer need for holes, for the next one that has a hole: a loss needs no
    /// allocation.
    #[expect(clippy::vec_box, reason = "the boxes themselves are used again")]
    pub(crate) spare: Vec<Box<Aside>>,
}

/// The draws of the jitter of a class's SYN retries.
pub(crate) fn syn_jitter(seed: u64, class: &str) -> Pcg64 {
    stream(seed, class, "syn-jitter")
}

impl ClassParams {
    /// A class with these settings, without hosts.
    #[cfg(test)]
    pub(crate) fn of(tcp: Tcp) -> ClassParams {
        let jitter = syn_jitter(1, "test");
        let detector = Detector::of(&tidegate_model::scenario::Transport::Tcp(tcp.clone()));
        let (pairs, rtts) = (Vec::new(), Rtts::after(Time::ZERO));
        let ecn = tcp.ecn();
        let memory = Memory::of(&tcp);
        ClassParams {
            tcp,
            ecn,
            detector,
            memory,
            receiver: None,
            pairs,
            by_answer: false,
            patience: None,
            jitter,
            rtts,
            arrived_bytes: 0,
            spare: Vec::new(),
        }
    }

    /// When a timer fires that a host sets at `now` for `wait`.
    #[inline]
    pub(crate) fn fires(&self, host: u16, now: Time, wait: Time) -> Time {
        if !self.tcp.timer_rule.of_linux() {
            return now + wait;
        }
        wheel::fires(if self.tcp.shared_ticks { 0 } else { host }, now, wait)
    }

    /// The same for a timer that comes before the retransmission timer: that of a loss by time, or of
    /// a probe. Linux adds two milliseconds (`TCP_TIMEOUT_MIN_US`).
    pub(crate) fn fires_early(&self, host: u16, now: Time, wait: Time) -> Time {
        let linux = self.tcp.timer_rule.of_linux();
        self.fires(host, now, if linux { wait + Time::from_ms(2) } else { wait })
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

    /// How long the opener waits after its `tries`-th SYN (from 1).
    pub(crate) fn syn_wait(&mut self, tries: u16) -> Time {
        let retry = u32::from(tries) - 1;
        let doublings = retry.saturating_sub(self.tcp.syn_retries.linear);
        let wait = self.backed_off(self.tcp.initial_rto, doublings);
        let jitter = self.tcp.syn_retries.jitter;
        if jitter == 0.0 {
            return wait;
        }
        wait + Time::from_secs_f64(wait.secs() * jitter * self.jitter.random::<f64>())
    }

    /// RFC 6298, 5.7: a connection whose SYN was lost starts with three seconds; in Linux
    /// (`tcp_init_metrics`, `TCP_TIMEOUT_FALLBACK`) also one whose SYN+ACK was lost.
    pub(crate) fn first_rto(&self, syn_lost: bool) -> Time {
        match self.tcp.lost_syn {
            LostSyn::Rfc | LostSyn::Linux if syn_lost => {
                self.tcp.initial_rto.max(Time::from_secs(3))
            }
            _ => self.tcp.initial_rto,
        }
    }

    /// Whether its senders note when each outstanding segment was sent.
    pub(crate) fn tracks_segments(&self) -> bool {
        self.tcp.prr || self.tcp.rack || self.tcp.tlp || self.tcp.timer_rule.of_linux()
    }

    /// Most outstanding segments: as many as SACK blocks can describe. (TCP's own limit, a window
    /// of 1 GiB by RFC 7323, 2.3, is lower from 257 bytes per segment on.)
    #[inline]
    pub(crate) fn window(&self) -> u32 {
        self.tcp.window.min(SackBlock::MAX_START)
    }

    pub(crate) fn sack(&self) -> bool {
        self.tcp.recovery == Recovery::Sack
    }
}

/// What a flow can access apart from its own state.
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
    /// Of the receiver.
    pub(crate) timeouts: &'a mut Timeouts,
    /// Number of the client that opens the connection.
    pub(crate) client: u16,
}

/// What a receiver waits for seldom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// How long it waits for the answer to its FIN; zero: there was no sample from the handshake.
    pub(crate) fin: Time,
    /// Its retransmission timeout by the handshake; until that is complete, when the SYN or SYN+ACK
    /// left; [`Time::NEVER`]: there was none.
    pub(crate) own: Time,
}

impl Timeouts {
    pub(crate) const NEW: Timeouts = Timeouts { fin: Time::ZERO, own: Time::NEVER };
}

/// The state of a flow at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    /// Congestion window in segments; NaN: it has none.
    pub(crate) cwnd: f64,
    /// Smoothed round-trip time; none: not measured.
    pub(crate) srtt: Option<Time>,
    /// Segments sent and not acknowledged; NaN: not counted.
    pub(crate) flight: f64,
    /// Payload delivered in order so far, in bytes.
    pub(crate) delivered: u64,
}

impl Snapshot {
    /// For a flow whose sender has no window.
    pub(crate) const NONE: Snapshot =
        Snapshot { cwnd: f64::NAN, srtt: None, flight: f64::NAN, delivered: 0 };
}

/// A sender at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderState {
    /// Congestion window in segments.
    pub(crate) cwnd: f64,
    /// Slow-start threshold in segments; none: not set yet, or its control has none.
    pub(crate) ssthresh: Option<f64>,
    /// Smoothed round-trip time; none: not measured.
    pub(crate) srtt: Option<Time>,
    /// Bytes sent and not acknowledged.
    pub(crate) flight: u64,
    /// Bytes acknowledged in order.
    pub(crate) acked: u64,
    /// Data packets sent again.
    pub(crate) retransmitted: u32,
}

/// Whether a flow continues after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlowFate {
    /// It continues.
    Lives,
    /// It is over; its slot is free.
    Over,
}
