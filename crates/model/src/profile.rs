//! TCP profiles: the settings of an era, each of which can be set alone.

use tidegate_core::units::{Size, Time};

/// Effective settings of one class's TCP.
#[derive(Clone, PartialEq, Debug)]
pub struct Tcp {
    /// Name of the profile that the settings started from.
    pub profile: &'static str,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Bytes of headers on every packet.
    pub header: u32,
    /// Retransmission timeout before the first sample.
    pub initial_rto: Time,
    /// Least retransmission timeout.
    pub min_rto: Time,
    /// Greatest retransmission timeout.
    pub max_rto: MaxRto,
    /// Initial window, in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold, in segments (`u32::MAX`: none).
    pub initial_ssthresh: u32,
    /// Largest window, in segments (`u32::MAX`: none).
    pub window: u32,
    /// How losses within a window are repaired.
    pub recovery: Recovery,
    /// Whether every second segment is acknowledged, and how long an ACK may wait.
    pub delayed_ack: Option<Time>,
    /// Whether a last short segment waits until all else is acknowledged (RFC 896).
    pub nagle: bool,
    /// Whether the FIN waits for the acknowledgement of all data, unless it
    /// rides on a short last segment (as ns-2's FullTcp does).
    pub fin_waits: bool,
    /// What a lost SYN does to the start of the connection.
    pub lost_syn: LostSyn,
    /// Clock granularity of round-trip measurements (zero: none).
    pub tick: Time,
    /// Whether every segment is timed (timestamps, RFC 7323) or one per round trip.
    pub timestamps: bool,
    /// Retries of a SYN.
    pub syn_retries: SynRetries,
}

/// Bound of a backed-off retransmission timeout.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MaxRto {
    /// An absolute bound.
    Absolute(Time),
    /// The back-off factor is bounded.
    Factor(u32),
}

/// How losses within a window are repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// Fast recovery ends with the first new acknowledgement (RFC 2581).
    Reno,
    /// It lasts until everything sent before is acknowledged (RFC 6582).
    NewReno,
    /// Guided by selective acknowledgements (RFC 6675).
    Sack,
}

/// What a lost SYN does to the start of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostSyn {
    /// Nothing.
    Nothing,
    /// The slow-start threshold falls to two segments (ns-2's FullTcp).
    CutSsthresh,
    /// The initial window is one segment and the RTO three seconds (RFC 5681, 3.1; RFC 6298, 5.7).
    Rfc,
}

/// When a SYN without an answer is sent again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SynRetries {
    /// How many retries wait just the initial RTO before the wait starts to double.
    pub linear: u32,
    /// Retries in all; after them the flow gives up (`u32::MAX`: never).
    pub limit: u32,
    /// Each wait is stretched by a uniform draw of up to this share of itself.
    pub jitter: f64,
}
