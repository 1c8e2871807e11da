//! TCP profiles: the settings of an era, each of which can be set alone.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tidegate_core::units::Time;

use crate::control::TcpControl;

/// The profiles by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum Profile {
    /// ns-2 from May 2001 to March 2002: a clock of 100 ms, and only a fresh round trip ends a
    /// back-off, also that of a SYN.
    #[serde(rename = "ns2-2001")]
    Ns2Of2001,
    /// ns-2 from March 2002 to October 2004: the RTO is at least 1 s, and 6 s at first.
    #[serde(rename = "ns2-2003")]
    Ns2Of2003,
    /// ns-2 from October 2004 to January 2006: the RTO is at least 0.2 s, and 6 s at first.
    #[serde(rename = "ns2-2005")]
    Ns2Of2005,
    /// ns-2 from January 2006 on: the RTO is 3 s at first, and 60 s at most.
    #[serde(rename = "ns2-2006")]
    Ns2Of2006,
    /// What the RFCs of the IETF say.
    #[default]
    #[serde(rename = "rfc")]
    Rfc,
    /// What Linux does: CUBIC, PRR, RACK and TLP; what differs is said in docs/scenario.md.
    #[serde(rename = "linux")]
    Linux,
    /// The same, and what was seen of the start of flows and of timeouts beside Linux 6.18: quick
    /// acknowledgements, HyStart, BBR without a pace at first, a margin that falls slowly.
    #[serde(rename = "linux-6.18")]
    Linux618,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 7] = [
        Profile::Ns2Of2001,
        Profile::Ns2Of2003,
        Profile::Ns2Of2005,
        Profile::Ns2Of2006,
        Profile::Rfc,
        Profile::Linux,
        Profile::Linux618,
    ];

    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Ns2Of2001 => "ns2-2001",
            Profile::Ns2Of2003 => "ns2-2003",
            Profile::Ns2Of2005 => "ns2-2005",
            Profile::Ns2Of2006 => "ns2-2006",
            Profile::Rfc => "rfc",
            Profile::Linux => "linux",
            Profile::Linux618 => "linux-6.18",
        }
    }

    /// The settings of the profile.
    pub fn tcp(self) -> Tcp {
        match self {
            Profile::Ns2Of2001 => ns2_2001(self),
            Profile::Ns2Of2003 => Tcp { min_rto: Time::from_secs(1), ..ns2(self) },
            Profile::Ns2Of2005 => ns2(self),
            Profile::Ns2Of2006 => Tcp {
                initial_rto: Time::from_secs(3),
                max_rto: MaxRto::Absolute(Time::from_secs(60)),
                ..ns2(self)
            },
            Profile::Rfc => rfc(self),
            Profile::Linux => linux(self),
            Profile::Linux618 => linux_618(self),
        }
    }
}

/// FullTcp of ns-2 as it was at the end of 2005.
fn ns2(profile: Profile) -> Tcp {
    Tcp {
        profile: profile.name(),
        mss: 536,
        header: 40,
        initial_rto: Time::from_secs(6),
        min_rto: Time::from_ms(200),
        max_rto: MaxRto::Factor(64),
        initial_window: 2,
        initial_ssthresh: u32::MAX,
        window: 20,
        recovery: Recovery::Reno,
        delayed_ack: None,
        quick_acks: 0,
        unpaced: 0,
        nagle: true,
        fin_waits: true,
        fin_rides: true,
        lost_syn: LostSyn::CutSsthresh,
        timer_rule: TimerRule::FullTcp,
        loss_rule: LossRule::FullTcp,
        limited_transmit: false,
        tick: Time::from_ms(10),
        timestamps: false,
        handshake: true,
        ecn: false,
        control: TcpControl::Reno,
        byte_counting: 0,
        hystart: HyStart::None,
        prr: false,
        rack: false,
        tlp: false,
        syn_retries: SynRetries { linear: 0, limit: u32::MAX, jitter: 0.0 },
    }
}

/// FullTcp of ns-2 as it was in 2001, before the changes of 8 March 2002.
///
/// From its change log (8 March 2002: the clock, `rfc2988_`, the back-off of
/// two-way TCP; 27 May 2001: a least RTO of 1 s, an initial window of two) and the
/// published source of ns-2.1b8a (`tcp.cc`: the timeout and its back-off;
/// `tcp-full.cc`: acknowledgements, closing). Departures: the clocks of all
/// senders tick together, where each had a phase of its own; a last short
/// segment that is sent again comes without the FIN, which follows it.
fn ns2_2001(profile: Profile) -> Tcp {
    Tcp {
        min_rto: Time::from_secs(1),
        tick: Time::from_ms(100),
        timer_rule: TimerRule::FullTcp2001,
        fin_rides: false,
        ..ns2(profile)
    }
}

/// RFC 5681, 6298, 6582, 6928 and 9293.
///
/// RFC 5681, 3.1 has slow start open the window by at most one segment for an
/// ACK, and recommends that congestion avoidance counts what is acknowledged:
/// hence `byte_counting = 1`, and not the 2 of RFC 3465, which is an experiment.
fn rfc(profile: Profile) -> Tcp {
    Tcp {
        profile: profile.name(),
        mss: 1460,
        header: 40,
        initial_rto: Time::from_secs(1),
        min_rto: Time::from_secs(1),
        max_rto: MaxRto::Absolute(Time::from_secs(60)),
        initial_window: rfc6928(1460),
        initial_ssthresh: u32::MAX,
        window: u32::MAX,
        recovery: Recovery::NewReno,
        delayed_ack: Some(usual_delay(profile)),
        quick_acks: 0,
        unpaced: 0,
        nagle: false,
        fin_waits: false,
        fin_rides: true,
        lost_syn: LostSyn::Rfc,
        timer_rule: TimerRule::Rfc,
        loss_rule: LossRule::Rfc,
        limited_transmit: true,
        tick: Time::ZERO,
        timestamps: false,
        handshake: true,
        ecn: false,
        control: TcpControl::Reno,
        byte_counting: 1,
        hystart: HyStart::None,
        prr: false,
        rack: false,
        tlp: false,
        syn_retries: SynRetries { linear: 0, limit: u32::MAX, jitter: 0.0 },
    }
}

/// Linux, with timestamps: hence 12 bytes more header and less payload.
///
/// CUBIC with its HyStart, byte counting without a limit, PRR, RACK and TLP.
/// Departures: windows are in whole segments, so there is neither a receive
/// window that grows nor splitting of segments; no DSACK, F-RTO or other undo of
/// a cut (`tcp_retrans_collapse`, `tcp_undo_cwnd_reduction`); the reordering
/// window of RACK does not adapt; a receiver delays every second ACK from the
/// start (Linux's first ones are quick) and always by 40 ms; PRR does not serve
/// the cut after a mark; no idle restart, as flows are never idle; the FIN is always a packet of its own,
/// as it is where data left before the socket was closed, and never rides on data
/// that still waits then.
fn linux(profile: Profile) -> Tcp {
    Tcp {
        profile: profile.name(),
        mss: 1448,
        header: 52,
        initial_rto: Time::from_secs(1),
        min_rto: Time::from_ms(200),
        max_rto: MaxRto::Absolute(Time::from_secs(120)),
        initial_window: 10,
        initial_ssthresh: u32::MAX,
        window: u32::MAX,
        recovery: Recovery::Sack,
        delayed_ack: Some(usual_delay(profile)),
        quick_acks: 0,
        unpaced: 0,
        nagle: true,
        fin_waits: false,
        fin_rides: false,
        lost_syn: LostSyn::Linux,
        timer_rule: TimerRule::Linux,
        loss_rule: LossRule::Rfc,
        limited_transmit: true,
        tick: Time::ZERO,
        timestamps: true,
        handshake: true,
        ecn: false,
        control: TcpControl::Cubic,
        byte_counting: u32::MAX,
        hystart: HyStart::Classic,
        prr: true,
        rack: true,
        tlp: true,
        syn_retries: SynRetries { linear: 4, limit: 6, jitter: 0.0 },
    }
}

/// Linux 6.18 beside real hosts (docs/emulate.md).
///
/// Departures: those of [`linux`], but the first acknowledgements are quick; neither a pause nor a
/// window that grows later makes them quick again.
fn linux_618(profile: Profile) -> Tcp {
    Tcp {
        // TCP_MAX_QUICKACKS is 16; six more were seen while the window grows from 64 kB to what the
        // default of tcp_rmem allows, by two segments for each that comes
        quick_acks: 22,
        unpaced: 10,
        timer_rule: TimerRule::LinuxRounds,
        hystart: HyStart::Linux,
        ..linux(profile)
    }
}

/// Initial window in segments: at most 10 and at most 14600 bytes, but at least 2 (RFC 6928, 2).
pub fn rfc6928(mss: u32) -> u32 {
    (14_600 / mss.max(1)).clamp(2, 10)
}

/// How long an ACK waits where a document only says that it does.
pub const fn usual_delay(profile: Profile) -> Time {
    match profile {
        // TCP_DELACK_MIN
        Profile::Linux | Profile::Linux618 => Time::from_ms(40),
        // RFC 5681, 4.2 allows 500 ms; 200 ms is BSD's
        _ => Time::from_ms(200),
    }
}

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
    /// Acknowledgements at the start, and after a segment that had arrived already, that are not
    /// delayed.
    pub quick_acks: u8,
    /// Data segments at the start that BBR's pace does not hold back.
    pub unpaced: u8,
    /// Whether a last short segment waits until all else is acknowledged (RFC 896).
    pub nagle: bool,
    /// Whether the FIN waits for the acknowledgement of all data, unless it
    /// rides on a last segment that is short or the only one, or follows it (as
    /// ns-2's FullTcp does).
    pub fin_waits: bool,
    /// Whether the FIN rides on the last segment where it need not wait, or is a
    /// packet of its own behind it.
    pub fin_rides: bool,
    /// What a lost SYN does to the start of the connection.
    pub lost_syn: LostSyn,
    /// How long a retransmission timeout stays backed off.
    pub timer_rule: TimerRule,
    /// What a loss does to the window.
    pub loss_rule: LossRule,
    /// Whether the first two duplicates let out a new segment each (RFC 3042).
    pub limited_transmit: bool,
    /// Clock granularity of round-trip measurements (zero: none).
    pub tick: Time,
    /// Whether every segment is timed (timestamps, RFC 7323) or one per round trip.
    pub timestamps: bool,
    /// Whether a connection is opened by a handshake, or is open from the start.
    pub handshake: bool,
    /// Whether both ends understand marks (RFC 3168): data may be marked instead of lost.
    pub ecn: bool,
    /// Which control decides about the window.
    pub control: TcpControl,
    /// Segments by which one ACK opens the window in slow start at most
    /// (`u32::MAX`: all that it acknowledges); zero: it counts as one
    /// everywhere, whatever it acknowledges.
    pub byte_counting: u32,
    /// How CUBIC leaves its first slow start before losses.
    pub hystart: HyStart,
    /// Whether a cut is spread over recovery (RFC 6937).
    pub prr: bool,
    /// Whether losses are noticed by time (RFC 8985, section 6).
    pub rack: bool,
    /// Whether the tail of a flight is probed before the timeout (RFC 8985, section 7).
    pub tlp: bool,
    /// Retries of a SYN.
    pub syn_retries: SynRetries,
}

/// How slow start is left before there are losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HyStart {
    /// Not at all.
    None,
    /// When acknowledgements come as one train for half a round trip, or round trips
    /// get longer (Ha and Rhee 2011), as Linux does.
    Classic,
    /// As `classic`; rounds begin below its least window too, slow start after a timeout is
    /// watched as well, and until the next loss the window grows by a twentieth a round trip at
    /// least (Linux 6.18).
    Linux,
    /// By longer round trips, with a slower phase before the end (RFC 9406).
    PlusPlus,
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast recovery ends with the first new acknowledgement (RFC 2581).
    Reno,
    /// It lasts until everything sent before is acknowledged (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
    /// Guided by selective acknowledgements (RFC 6675).
    Sack,
}

/// What a lost SYN does to the start of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LostSyn {
    /// Nothing.
    Nothing,
    /// The slow-start threshold falls to two segments (ns-2's FullTcp).
    CutSsthresh,
    /// The initial window is one segment and the RTO three seconds (RFC 5681, 3.1; RFC 6298, 5.7).
    Rfc,
    /// The initial window is one segment where the SYN or its answer was sent again more than once,
    /// since a first timeout may have been too early (Linux).
    Linux,
}

/// How long a retransmission timeout stays backed off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerRule {
    /// Until a fresh round-trip sample (Karn; RFC 1122, 4.2.3.1; RFC 6298, section 5).
    Rfc,
    /// Until anything new is acknowledged, the SYN included; an acknowledgement
    /// restarts the timer before its own sample counts, and after four expiries
    /// in a row the next sample starts the estimate anew (ns-2's FullTcp).
    FullTcp,
    /// As `full-tcp`, but only a fresh round-trip sample ends a back-off, that of
    /// a lost SYN included, and the least timeout bounds what is backed off
    /// already, instead of what is to be (FullTcp before March 2002).
    #[serde(rename = "full-tcp-2001")]
    FullTcp2001,
    /// As `rfc`, but the least timeout is the least margin above the smoothed
    /// round trip, and the timers of one host fire together, the longer their
    /// wait the more of them (Linux: `tcp_rtt_estimator`, and its timer wheel).
    Linux,
    /// As `linux`, but the margin above the smoothed round trip comes down once a round trip only,
    /// by a quarter of the way, and a shorter round trip counts less than a longer one (Linux:
    /// `tcp_rtt_estimator` as a whole).
    LinuxRounds,
}

impl TimerRule {
    /// Whether timers fire together, and the least timeout is a margin.
    pub const fn of_linux(self) -> bool {
        matches!(self, TimerRule::Linux | TimerRule::LinuxRounds)
    }

    /// Whether the sender is one of the eras of FullTcp.
    pub const fn of_full_tcp(self) -> bool {
        matches!(self, TimerRule::FullTcp | TimerRule::FullTcp2001)
    }
}

/// What a loss does to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossRule {
    /// The threshold falls to half of what is in flight, and stays there when
    /// the same segment is lost again (RFC 5681, 3.1).
    Rfc,
    /// The threshold falls to half of the window, rounded down, at every
    /// timeout; the third duplicate brings out the repair alone, and the
    /// acknowledgement that ends fast recovery opens the window (ns-2's FullTcp).
    FullTcp,
    /// The same cut without rounding the window, but only one in a window of
    /// data: what is lost twice in a window waits for the timer; the third
    /// duplicate brings out the repair and what the window then allows; a repair
    /// ends the timing of the round trip (ns-2's one-way agents).
    OneWay,
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

impl Serialize for MaxRto {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            MaxRto::Absolute(time) => time.serialize(to),
            MaxRto::Factor(factor) => to.collect_str(&format_args!("{factor}x")),
        }
    }
}

impl<'de> Deserialize<'de> for MaxRto {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MaxRto, D::Error> {
        struct Bounds;
        impl de::Visitor<'_> for Bounds {
            type Value = MaxRto;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a time or a factor, as in \"60s\" or \"64x\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<MaxRto, E> {
                if let Some(factor) = text.strip_suffix('x') {
                    let factor =
                        factor.parse().ok().filter(|factor| (1..=1 << 16).contains(factor));
                    return factor.map(MaxRto::Factor).ok_or_else(|| {
                        E::custom("not a back-off factor\nwrite a whole number from 1x to 65536x")
                    });
                }
                text.parse().map(MaxRto::Absolute).map_err(
                    |error: tidegate_core::units::UnitError| {
                        E::custom(format!(
                            "{}\n{}; or a factor, as in `64x`",
                            error.what, error.help
                        ))
                    },
                )
            }
        }
        from.deserialize_str(Bounds)
    }
}

impl JsonSchema for MaxRto {
    fn schema_name() -> Cow<'static, str> {
        "MaxRto".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time, or the greatest back-off factor, as in \"64x\".",
            "anyOf": [
                generator.subschema_for::<Time>(),
                { "type": "string", "pattern": "^[0-9]+x$" },
            ],
        })
    }
}
