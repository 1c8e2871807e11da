//! TCP profiles: the settings of an era, each of which can be set alone.
//!
//! The values of the profiles are in `profiles.toml`; the list of settings is in `tcp!` below.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tidegate_core::settings;
use tidegate_core::units::{Size, Time};

use crate::document::bound::{Bound, DelayedAck};
use crate::text::report::Place;
use crate::text::tree::{self, Node, Table, Value};

/// Makes an enum of what documents call by name, from one line for each.
macro_rules! named {
    ($(#[$about:meta])* $Name:ident: $($(#[$doc:meta])* $arm:ident = $name:literal,)+) => {
        tidegate_core::named! {
            $(#[$about])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
            $Name: $($(#[$doc])* #[serde(rename = $name)] $arm = $name,)+
        }
    };
}
pub(crate) use named;

named! {
    /// The profiles by name.
    #[derive(Default)]
    Profile:
    /// ns-2 from May 2001 to March 2002: a clock of 100 ms, and only a fresh round trip ends a
    /// back-off, also that of a SYN.
    Ns2Of2001 = "ns2-2001",
    /// ns-2 from March 2002 to October 2004: the RTO is at least 1 s, and 6 s at first.
    Ns2Of2003 = "ns2-2003",
    /// ns-2 from October 2004 to January 2006: the RTO is at least 0.2 s, and 6 s at first.
    Ns2Of2005 = "ns2-2005",
    /// ns-2 from January 2006 on: the RTO is 3 s at first, and 60 s at most.
    Ns2Of2006 = "ns2-2006",
    /// What the RFCs of the IETF say.
    #[default]
    Rfc = "rfc",
    /// What Linux 6.14 to 6.18 does: CUBIC, PRR, RACK and TLP. Where it does not, docs/linux-hosts.md
    /// says, situation by situation.
    Linux = "linux",
}

impl Profile {
    /// The settings of the profile.
    pub fn tcp(self) -> Tcp {
        self.settings().used()
    }

    /// The same as a document writes them, all of them spelled out.
    pub(crate) fn settings(self) -> TcpDoc {
        let profiles = tree::toml_text(include_str!("profiles.toml"), 0);
        let mut laid = Table::default();
        let mut name = self.name().to_owned();
        // each table lies over the one that it is like
        while let Some(table) =
            profiles.as_ref().ok().and_then(|root| root.table()?.get(&name)?.value.table())
        {
            let settings = table.entries.iter().filter(|entry| entry.key != "like");
            for entry in settings {
                if laid.get(&entry.key).is_none() {
                    laid.entries.push(entry.clone());
                }
            }
            name = match table.get("like").map(|like| &like.value.value) {
                Some(Value::String(like)) => like.clone(),
                _ => break,
            };
        }
        let laid = Node { place: Place::START, value: Value::Table(laid) };
        let settings: TcpDoc = laid.decode().expect("profiles.toml can be read");
        TcpDoc { profile: self, ..settings }
    }
}

/// Initial window in segments: at most 10 and at most 14600 bytes, but at least 2 (RFC 6928, 2).
pub fn rfc6928(mss: u32) -> u32 {
    (14_600 / mss.max(1)).clamp(2, 10)
}

/// A setting as it is used, from and to the type `W` that documents are read into.
trait Used<W> {
    fn used(written: W) -> Self;
    fn written(self) -> W;
}

impl<T> Used<T> for T {
    fn used(written: T) -> T {
        written
    }
    fn written(self) -> T {
        self
    }
}

impl Used<Size> for u32 {
    fn used(size: Size) -> u32 {
        u32::try_from(size.bytes()).unwrap_or(u32::MAX)
    }
    fn written(self) -> Size {
        Size::from_bytes(self.into())
    }
}

impl Used<Bound> for u32 {
    fn used(bound: Bound) -> u32 {
        bound.0
    }
    fn written(self) -> Bound {
        Bound(self)
    }
}

impl Used<DelayedAck> for Option<Time> {
    fn used(delayed: DelayedAck) -> Option<Time> {
        match delayed {
            DelayedAck::Usual(false) => None,
            DelayedAck::Usual(true) => Some(USUAL_DELAY),
            DelayedAck::UpTo(time) => Some(time),
        }
    }
    fn written(self) -> DelayedAck {
        self.map_or(DelayedAck::Usual(false), DelayedAck::UpTo)
    }
}

impl Used<ResumeDoc> for Resume {
    fn used(doc: ResumeDoc) -> Resume {
        doc.used()
    }
    fn written(self) -> ResumeDoc {
        self.spelled_out()
    }
}

impl Used<SynRetriesDoc> for SynRetries {
    fn used(doc: SynRetriesDoc) -> SynRetries {
        doc.used()
    }
    fn written(self) -> SynRetriesDoc {
        self.spelled_out()
    }
}

/// How long an ACK waits where neither a document nor its profile says how long: RFC 5681, 4.2
/// allows 500 ms; 200 ms is BSD's.
pub(crate) const USUAL_DELAY: Time = Time::from_ms(200);

/// Makes two records from one line for each setting: the settings of a connection, all of them set,
/// and the keys of those that a document may give. A line is `key: type = type in documents [range]
/// "What it is";`, where the range may be left out.
macro_rules! tcp {
    (
        $(#[$about:meta])* pub struct $Used:ident { $(pub $own:ident: $Own:ty,)* }
        $(#[$meta:meta])* $schema:literal as $Doc:ident = $expecting:literal:
        { $($more:tt)* }
        $($key:ident: $Type:ty = $Written:ident $([$($range:tt)+])? $what:literal;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $Used {
            $(/// Where the settings started from.
            pub $own: $Own,)*
            $(#[doc = concat!($what, ".")] pub $key: $Type,)+
        }

        settings! {
            $(#[$meta])* $schema as pub(crate) $Doc = $expecting:
            $($more)*
            $($key: Option<$Written> = none $([$($range)+])? $what;)+
        }

        impl $Used {
            /// All of them as a document writes them.
            #[allow(clippy::needless_update, reason = "of a record whose document says no more")]
            pub(crate) fn spelled_out(&self) -> $Doc {
                $Doc {
                    $($own: self.$own,)*
                    $($key: Some(Used::written(self.$key.clone())),)+
                    ..$Doc::default()
                }
            }
        }

        impl $Doc {
            /// What is left open, from a profile.
            pub(crate) fn complete(&mut self, profile: $Doc) {
                $(self.$key = self.$key.take().or(profile.$key);)+
            }

            /// The settings, all of which are set.
            pub(crate) fn used(self) -> $Used {
                $Used {
                    $($own: self.$own,)*
                    $($key: Used::used(self.$key.expect("profiles.toml sets everything")),)+
                }
            }
        }
    };
}

tcp! {
    /// Effective settings of one class's TCP.
    pub struct Tcp {
        pub profile: Profile,
    }

    /// TCP: a profile, and settings that replace the profile's.
    "TcpDoc" as TcpDoc = "a table, as in { profile = \"linux\", mss = \"1000B\" }":
    {
        profile: Profile = { Profile::default() } "The era that the settings start from; default rfc";
        sack: Option<bool> = none "Short for recovery = \"sack\"; with false, a profile with sack uses newreno";
    }
    mss: u32 = Size ["64B" to "65000B"] "Payload of a full segment";
    header: u32 = Size ["20B" to "500B"] "Headers on every packet";
    initial_rto: Time = Time ["1ms" to "1h"] "Retransmission timeout before the first sample";
    min_rto: Time = Time ["1us" to "1h"] "Least retransmission timeout";
    max_rto: MaxRto = MaxRto "Greatest retransmission timeout: a time up to 24h, or the greatest back-off factor, as in \"64x\"";
    initial_window: u32 = u32 [1 to 1000000] "Initial window in segments";
    initial_ssthresh: u32 = Bound [from 1] "Initial slow-start threshold in segments";
    window: u32 = Bound [from 1] "Largest window in segments";
    receive_buffer: u32 = Size ["0B" to "1GB"] "Receive buffer at first, as the second number of net.ipv4.tcp_rmem in Linux; the window that a receiver offers grows with it. 0B: the largest window is offered from the start";
    receive_buffer_limit: u32 = Size ["0B" to "1GB"] "Largest receive buffer, as the third number of net.ipv4.tcp_rmem in Linux";
    recovery: Recovery = Recovery "How losses within a window are repaired";
    delayed_ack: Option<Time> = DelayedAck ["1us" to "1h"] "Whether every second segment is acknowledged: false, true, or how long an ACK may wait";
    quick_acks: u8 = u8 [0 to 255] "How many acknowledgements are not delayed, at the start and after a segment that had already arrived";
    quick_again: u8 = u8 [0 to 255] "How many are not delayed after a gap of more than a timeout, in which the sender may have started anew (Linux: 16); 0: none";
    unpaced: u8 = u8 [0 to 255] "How many data segments bbr and bbr3 send at the start without pacing";
    nagle: bool = bool "Whether a short last segment waits until all earlier data is acknowledged (Nagle, RFC 896)";
    fin_waits: bool = bool "Whether the FIN waits until all data is acknowledged, as in ns-2's FullTcp; a last segment that is short or the only one carries it at once";
    fin_rides: bool = bool "Whether the last data segment carries the FIN where the FIN need not wait; false: the FIN is a packet of its own after it, as in ns-2 before March 2002";
    send_buffer: u8 = u8 [0 to 255] "Largest windows so far that the socket takes of what is not acknowledged (Linux: 2); who sends closes it when it has taken all. With fin_rides the FIN then goes with the last segment if that has not left, else alone; 0: the socket takes all before anything leaves. With sack only";
    lost_syn: LostSyn = LostSyn "What a lost SYN does to the start of the connection";
    timer_rule: TimerRule = TimerRule "How long a retransmission timeout stays backed off";
    shared_ticks: bool = bool "Whether the timers of the class fire at the same ticks on all hosts, as on those of a lab on one machine; with the timer rule linux";
    loss_rule: LossRule = LossRule "What a loss does to the window; with linux also whether bbr detects policers, and when a sender counts as application-limited";
    limited_transmit: bool = bool "Whether each of the first two duplicate ACKs sends a new segment (limited transmit, RFC 3042); left out, it is true with the loss rule one-way and false with full-tcp";
    tick: Time = Time ["0s" to "10s"] "Clock granularity of round-trip measurements (0s: none)";
    timestamps: bool = bool "Whether every segment is timed (RFC 7323) or one per round trip";
    undo: bool = bool "Whether a cut of the window is undone where a timestamp shows that nothing was lost (RFC 3522, RFC 4015); with timestamps, rack and a control other than bbr3";
    handshake: bool = bool "Whether a handshake opens the connection; false: it is open from the start and sends data at once";
    ecn: bool = bool "Whether both ends understand marks (RFC 3168), as queues with `ecn` set them; dctcp and prague always do";
    control: TcpControl = TcpControl "Which control decides about the window: reno, cubic, bbr, bbr3, dctcp, prague or ledbat";
    byte_counting: u32 = Bound "Most segments by which one ACK opens the window in slow start, from 1, or \"none\" (RFC 3465, L); 0: every ACK counts as one segment";
    hystart: HyStart = HyStart "How cubic ends its first slow start before a loss";
    start: Start = Start "How reno and cubic start: slow-start, as the control has it, hystart++ or search";
    paced_start: bool = bool "Whether packets of reno and cubic leave evenly in slow start, at two windows a round trip";
    resume: Resume = ResumeDoc "What reno and cubic know of an earlier connection (Careful Resume, RFC 9959)";
    prr: bool = bool "Whether the window is reduced gradually over recovery (PRR, RFC 6937); with sack only";
    rack: bool = bool "Whether losses are detected by time (RACK, RFC 8985, section 6); with sack only";
    tlp: bool = bool "Whether a tail loss probe is sent before the timeout (TLP, RFC 8985, section 7); with sack only";
    syn_retries: SynRetries = SynRetriesDoc "Retries of a SYN";
    syn_ack_retries: u32 = Bound [from 0] "How often a SYN+ACK is sent again";
}

impl Tcp {
    /// Whether something stands before the control's own slow start.
    pub fn starts_otherwise(&self) -> bool {
        self.start != Start::SlowStart
            || self.hystart == HyStart::PlusPlus
            || self.paced_start
            || self.resume.window < u32::MAX
    }

    /// How both ends use marks.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        match self.control {
            TcpControl::Dctcp => Ecn::Counted,
            TcpControl::Prague => Ecn::L4s,
            _ if self.ecn => Ecn::Classic,
            _ => Ecn::None,
        }
    }
}

tcp! {
    /// When a SYN without an answer is sent again.
    pub struct SynRetries {}

    /// Retries of a SYN.
    "SynRetriesDoc" as SynRetriesDoc = "a table, as in { linear = 4, limit = 6, jitter = 0.0 }":
    {}
    linear: u32 = u32 "How many retries wait the initial RTO before the wait starts to double";
    limit: u32 = Bound "Retries after which the flow gives up, or \"none\"";
    jitter: f64 = f64 [0 to 1] "Each wait is stretched by a uniform draw of up to this share of itself";
}

tcp! {
    /// What a sender knows of an earlier connection on its path.
    pub struct Resume {}

    /// An earlier connection on the path.
    "ResumeDoc" as ResumeDoc = "a table, as in { window = 400, rtt = \"100ms\" }":
    {}
    window: u32 = Bound [from 2] "Its window in segments (saved_cwnd), or \"none\": there was none; a new one jumps to half of it";
    rtt: Time = Time ["0s" to "1h"] "Its least round trip (saved_rtt); a path with a round trip of half of it, or ten times as long, is another one";
    max_jump: u32 = Bound [from 1] "Largest window to jump to, in segments, or \"none\"";
}

/// Hands the controls inside TCP to a macro: `Arm(module of the simulator) = "name in documents"`.
/// New ones are appended.
#[macro_export]
macro_rules! tcp_controls {
    ($to:ident) => {
        $to! {
            /// Reno: one more segment per round trip, half at a loss (RFC 5681).
            Reno(reno) = "reno",
            /// CUBIC: back to the window of the last loss along a cubic function of time (RFC 9438).
            Cubic(cubic) = "cubic",
            /// BBR: as fast as packets are delivered, with little queueing (version 1, as in Linux).
            Bbr(bbr) = "bbr",
            /// DCTCP: the window falls by the share of marked packets (RFC 8257); always with ECN.
            Dctcp(dctcp) = "dctcp",
            /// Prague: the same for L4S, with ECT(1), pacing and RTT independence.
            Prague(prague) = "prague",
            /// BBR, version 3: the same with bounds by losses (draft-ietf-ccwg-bbr).
            Bbr3(bbr3) = "bbr3",
            /// LEDBAT++: what others leave, with a queue of 60 ms at most (draft-irtf-iccrg-ledbat-plus-plus).
            Ledbat(ledbat) = "ledbat",
        }
    };
}

macro_rules! tcp_control {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal,)+) => {
        named! {
            /// The congestion control of TCP; the names are those of the kernel too.
            TcpControl:
            $($(#[$doc])* $arm = $name,)+
        }
    };
}

tcp_controls! { tcp_control }

/// How the two ends of a connection use marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not at all.
    None,
    /// A mark is echoed until the sender has cut its window (RFC 3168).
    Classic,
    /// The receiver counts marks (AccECN, RFC 9768); packets are ECT(0).
    Counted,
    /// The same for L4S: packets are ECT(1) (RFC 9331).
    L4s,
}

/// How slow start ends before a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HyStart {
    /// Not at all.
    None,
    /// When acknowledgements arrive as one train for half a round trip, or the round trip grows
    /// (Ha and Rhee 2011). As in Linux since 6.14 rounds begin below the least window too, slow start
    /// after a timeout is watched as well, and until the next loss the window grows by a twentieth a
    /// round trip at least.
    Linux,
    /// By longer round trips, with a slower phase before the end (RFC 9406).
    PlusPlus,
}

named! {
    /// How a sender starts.
    Start:
    /// By slow start, as the control has it.
    SlowStart = "slow-start",
    /// By slow start until round trips get longer, with a slower phase before the end (RFC 9406).
    PlusPlus = "hystart++",
    /// By slow start until less is delivered than was sent a round trip before
    /// (draft-chung-ccwg-search).
    Search = "search",
}

/// Bound of a backed-off retransmission timeout.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MaxRto {
    /// An absolute bound.
    Absolute(Time),
    /// The back-off factor is bounded.
    Factor(u32),
}

named! {
    /// How losses within a window are repaired.
    Recovery:
    /// Fast recovery ends with the first new acknowledgement (RFC 2581).
    Reno = "reno",
    /// It lasts until everything sent before is acknowledged (RFC 6582).
    NewReno = "newreno",
    /// Guided by selective acknowledgements (RFC 6675).
    Sack = "sack",
}

named! {
    /// What a lost SYN does to the start of the connection.
    LostSyn:
    /// Nothing.
    Nothing = "nothing",
    /// The slow-start threshold falls to two segments (ns-2's FullTcp).
    CutSsthresh = "cut-ssthresh",
    /// The initial window is one segment and the RTO three seconds (RFC 5681, 3.1; RFC 6298, 5.7).
    Rfc = "rfc",
    /// The initial window is one segment where the SYN or its answer was sent again more than once,
    /// since a first timeout may have been too early (Linux).
    Linux = "linux",
}

/// How long a retransmission timeout stays backed off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerRule {
    /// Until a fresh round-trip sample (Karn; RFC 1122, 4.2.3.1; RFC 6298, section 5).
    Rfc,
    /// Until anything new is acknowledged, the SYN included. An acknowledgement restarts the timer
    /// before its own sample counts; after four expiries in a row the next sample resets the
    /// estimate (ns-2's FullTcp).
    FullTcp,
    /// As `full-tcp`, but only a fresh round-trip sample ends a back-off, that of
    /// a lost SYN included, and the least timeout bounds what is backed off
    /// already, instead of what is to be (FullTcp before March 2002).
    #[serde(rename = "full-tcp-2001")]
    FullTcp2001,
    /// As `rfc`, but the least timeout is the least margin above the smoothed round trip; the
    /// margin comes down once a round trip only, by a quarter of the way, and a shorter round trip
    /// counts less than a longer one (Linux: `tcp_rtt_estimator`). The timers of one host fire
    /// together, the longer their wait the more of them, the last that was set first (its timer wheel).
    Linux,
}

impl TimerRule {
    /// Whether timers fire together, and the least timeout is a margin.
    pub const fn of_linux(self) -> bool {
        matches!(self, TimerRule::Linux)
    }

    /// Whether the sender is one of the eras of FullTcp.
    pub const fn of_full_tcp(self) -> bool {
        matches!(self, TimerRule::FullTcp | TimerRule::FullTcp2001)
    }
}

named! {
    /// What a loss does to the window.
    LossRule:
    /// The threshold falls to half of what is in flight, and stays there when
    /// the same segment is lost again (RFC 5681, 3.1).
    Rfc = "rfc",
    /// The threshold falls to half of the window, rounded down, at every
    /// timeout; the third duplicate brings out the repair alone, and the
    /// acknowledgement that ends fast recovery opens the window (ns-2's FullTcp).
    FullTcp = "full-tcp",
    /// As `full-tcp`, but a mark halves the window without rounding it, and not to two segments at
    /// least (`precisionReduce_`, which ns-2 has by default since 23 January 2006). Here it stays at
    /// one, where ns-2's falls below, and then waits for the timer.
    FullTcp2006 = "full-tcp-2006",
    /// As `rfc`, but the threshold follows from the window, whatever is in flight, and a timeout in
    /// a recovery does not lower it again (Linux: `tcp_enter_loss`).
    Linux = "linux",
    /// As `full-tcp` without rounding the window, but only one cut in a window of
    /// data: what is lost twice in a window waits for the timer; the third
    /// duplicate brings out the repair and what the window then allows; a repair
    /// ends the timing of the round trip (ns-2's one-way agents).
    OneWay = "one-way",
}

impl LossRule {
    /// Whether it is the rule of one of ns-2's agents.
    pub const fn of_ns2(self) -> bool {
        self.of_full_tcp() || matches!(self, LossRule::OneWay)
    }

    /// Whether it is the rule of one of the eras of FullTcp.
    pub const fn of_full_tcp(self) -> bool {
        matches!(self, LossRule::FullTcp | LossRule::FullTcp2006)
    }
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
