//! A checked scenario: every name is resolved and every value in range, so that its network can be
//! built without further checks.

mod app;
pub(crate) mod build;
mod calls;
mod course;
mod ends;
mod impairments;
mod route;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use tidegate_core::keys;
use tidegate_core::law::settings::Link;
pub use tidegate_core::port::Limit;
use tidegate_core::units::{Length, Rate, Time};

pub use crate::document::bound::Codepoint;
pub use crate::document::transport::{QuicControl, QuicCrypto};
use crate::profile::Tcp;
use crate::registry::control::TransportControl;
use crate::registry::law::Gate;
use crate::registry::law::filter::FilterLaw;
use crate::registry::law::stamp::StampLaw;
pub use app::{App, Pages, Video};
pub use course::Course;
pub use ends::{Direction, End, NodeEnd, Side};
pub use impairments::{Impairments, Jitter, PacketOrder, Policing, Reorder, Shared, Spread};
pub use route::{PacketKind, Route};
use tidegate_core::law::media::Encoder;
use tidegate_core::law::media::laws::MediaLaw;
pub use tidegate_core::law::queue::QueueLaw;

/// A scenario: all that a run needs except its seed.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Simulated time.
    pub duration: Time,
    /// Flows and intervals before this instant are left out of means.
    pub warmup: Time,
    /// Spacing of the rows of the `ports` table.
    pub sample: Time,
    /// Whether ports of access links get rows too.
    pub sample_access: bool,
    /// Time series in addition to those of ports.
    pub series: Series,
    /// Nodes and ports.
    pub network: Network,
    /// Traffic classes, in the order of the document.
    pub traffic: Vec<Class>,
    /// Changes of links, sorted by time; ramps are cut into steps of 100 ms.
    /// (Changes of arrival rate and mean size are part of the classes.)
    pub changes: Vec<LinkChange>,
}

/// Time series of single flows and of classes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Series {
    /// Flows that are followed: the class, and the flow's number in it, from 0.
    pub flows: Vec<(u16, u32)>,
    /// Flows whose acknowledgements are recorded, likewise.
    pub acks: Vec<(u16, u32)>,
    /// Classes that are followed.
    pub classes: Vec<u16>,
    /// Spacing of the rows.
    pub every: Time,
}

impl Series {
    /// Whether nothing is followed at intervals.
    pub fn is_none(&self) -> bool {
        self.flows.is_empty() && self.classes.is_empty()
    }
}

/// Nodes, and the output ports between them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Network {
    /// Names of the nodes; the index identifies a node.
    pub nodes: Vec<String>,
    /// Output ports in a fixed order; the index identifies a port.
    pub ports: Vec<Port>,
    /// Routes that replace shortest paths; of several that match a packet the first applies.
    pub routes: Vec<Route>,
}

/// An output port and its link.
#[derive(Clone, PartialEq, Debug)]
pub struct Port {
    /// Name in the document: `bottleneck`, `bottleneck.reverse`, `access.source1` ...
    pub name: String,
    /// Node that the port belongs to.
    pub from: u16,
    /// Node at the far end.
    pub to: u16,
    /// Capacity at the start.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
    /// Buffer as written.
    pub buffer: Length,
    /// Whether a buffer in packets or bytes follows a change of capacity in proportion.
    pub buffer_follows: bool,
    /// What the link loses at random.
    pub loss: Loss,
    /// What else the link does to packets.
    pub impairments: Impairments,
    /// What the port adds to the length of a path, at least 1.
    pub cost: u32,
    /// Longest propagation round trip of any path through this port, for buffers in `bdp`.
    pub round_trip: Time,
    /// Whether this is a host's access link.
    pub access: bool,
    /// Whether it leads to the users (download) or away from them; none: the document does not say.
    pub way: Option<Direction>,
    /// Filters against greedy flows, if any.
    pub filter: Option<FilterLaw>,
    /// Session control, if any.
    pub gate: Option<Gate>,
    /// Queueing discipline.
    pub queue: QueueLaw,
    /// Explicit rates, if any.
    pub stamp: Option<StampLaw>,
    /// How many arrivals are recorded.
    pub record: u32,
}

impl Network {
    /// The port of the other direction of a port's link; none: the link has one direction.
    pub fn reverse(&self, port: u32) -> Option<u32> {
        let name = &self.ports.get(port as usize)?.name;
        let other = match name.strip_suffix(".reverse") {
            Some(there) => there.to_owned(),
            None => format!("{name}.reverse"),
        };
        (0..).zip(&self.ports).find(|(_, port)| port.name == other).map(|(number, _)| number)
    }
}

impl Port {
    /// A port without laws and losses, the only one of its path.
    pub(crate) fn plain(
        name: String,
        (from, to): (u16, u16),
        (rate, delay, buffer): (Rate, Time, Length),
    ) -> Port {
        Port {
            name,
            from,
            to,
            rate,
            delay,
            buffer,
            buffer_follows: false,
            loss: Loss::default(),
            impairments: Impairments::default(),
            cost: 1,
            round_trip: delay,
            access: false,
            way: None,
            filter: None,
            gate: None,
            queue: QueueLaw::default(),
            stamp: None,
            record: 0,
        }
    }

    /// Whether its queue looks at what comes in by the other direction of its link.
    pub(crate) fn queue_looks_at_ingress(&self) -> bool {
        matches!(&self.queue, QueueLaw::Dqm(dual) if dual.looks_at_ingress())
    }

    /// Whether its gate or its queue looks at what comes in by the other direction of its link.
    pub fn looks_at_ingress(&self) -> bool {
        let gate = self.gate.as_ref().is_some_and(|gate| gate.ingress().looks());
        gate || self.queue_looks_at_ingress()
    }

    /// The link as it is at the start.
    pub fn link(&self) -> Link {
        Link { rate: self.rate, delay: self.delay }
    }

    /// The buffer limit at capacity `rate`. A buffer in bdp or time follows the rate and is at
    /// least one packet of 1500 B. A buffer in packets or bytes follows it where `buffer_follows`;
    /// it is rounded, and is at least one packet of any size.
    pub fn limit(&self, rate: Rate) -> Limit {
        let bytes = |time: Time| Limit::Bytes((rate * time).bytes().max(1500));
        let scaled = |length: u64| {
            if !self.buffer_follows {
                return length;
            }
            let (now, first) = (u128::from(rate.bps()), u128::from(self.rate.bps()).max(1));
            u64::try_from((u128::from(length) * now + first / 2) / first).unwrap_or(u64::MAX)
        };
        match self.buffer {
            Length::Packets(packets) => {
                Limit::Packets(u32::try_from(scaled(packets.into()).max(1)).unwrap_or(u32::MAX))
            }
            Length::Bytes(bytes) => Limit::Bytes(scaled(bytes).max(1500.min(bytes))),
            Length::Bdp(factor) => bytes(Time::from_secs_f64(self.round_trip.secs() * factor)),
            Length::Time(time) => bytes(time),
        }
    }
}

/// Shares of the packets that a link loses, each independently of the others, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Loss {
    /// Of packets with payload.
    pub data: f64,
    /// Of packets without payload.
    pub ack: f64,
    /// What it loses besides, in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
}

keys! {
    /// Losses in bursts (Gilbert-Elliott): a packet outside of a burst begins one with probability `enter`, and each later one ends it with probability `leave`.
    ///
    /// In the long run the share enter / (enter + leave) of the packets is in bursts, and the mean burst has 1 / leave packets.
    #[derive(Copy)]
    "LossBurstDoc" as pub Burst = "a table, as in { enter = 0.001, leave = 0.2 }":
    enter: f64 = required [0 to 1] "Probability that a packet outside of a burst begins one";
    leave: f64 = required [0 to 1] "Probability that a burst is over before its next packet";
    inside: f64 = 1 [0 to 1] "Share of the packets of a burst that are lost";
    outside: f64 = 0 [0 to 1] "Share of the other packets that are lost";
}

impl Loss {
    /// Whether the link loses nothing.
    pub fn is_none(&self) -> bool {
        *self == Loss::default()
    }
}

/// One traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// Name in the document.
    pub name: String,
    /// When flows start.
    pub arrivals: Arrivals,
    /// How much each has to send.
    pub size: FlowSize,
    /// What drives its connections; none: each flow is one object, or without end.
    pub app: Option<App>,
    /// The transport of its flows.
    pub transport: Transport,
    /// Which way data goes from the first host of a pair to the second. A replayed flow has its own
    /// direction: if that is not the direction of the class, its data goes from the second host to
    /// the first.
    pub direction: Direction,
    /// Which end opens the connection.
    pub opens: End,
    /// How long a user waits before giving up.
    pub patience: Option<Time>,
    /// How many addresses its users share in turn; none: each has one of its own.
    pub clients: Option<u32>,
    /// The people whose flows these are.
    pub people: Option<People>,
    /// Share of flows whose transport headers routers cannot read, 0 to 1.
    pub opaque_share: f64,
    /// How its receivers misbehave.
    pub receiver: Option<Misbehaviour>,
    /// Source and destination hosts; each flow draws a pair.
    pub pairs: Vec<(u16, u16)>,
}

impl Class {
    /// The video, if its users are viewers.
    pub fn video(&self) -> Option<&Video> {
        match &self.app {
            Some(App::Video(video)) => Some(video),
            _ => None,
        }
    }

    /// The pages, if its users load pages.
    pub fn pages(&self) -> Option<&Pages> {
        match &self.app {
            Some(App::Pages(pages)) => Some(pages),
            _ => None,
        }
    }

    /// Bytes of a request over TCP: of an object of a page, or else of a part of a video, about those
    /// of an HTTP request without cookies.
    pub fn request(&self) -> u32 {
        self.pages().map_or(400, |pages| pages.request)
    }
}

/// The people of a class: its flows belong to them in turn, in an order that is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct People {
    /// How many there are; person number 7 is the same in all classes.
    pub of: u32,
    /// The class after which the order is drawn.
    pub order: String,
}

/// A number that may be drawn: a draw of mean one from `shape`, times `mean`.
#[derive(Clone, PartialEq, Debug)]
pub struct Amount {
    /// Distribution, scaled to a mean of one.
    pub shape: Shape,
    /// Mean.
    pub mean: f64,
}

/// The transport of a class.
#[derive(Clone, PartialEq, Debug)]
pub enum Transport {
    /// TCP.
    Tcp(Tcp),
    /// A reliable transport with another control.
    Controlled(Tcp, TransportControl),
    /// At a constant rate or that of an encoder, without acknowledgements.
    Udp(Udp),
    /// A stack of QUIC that is not the simulator's own.
    Quic(Quic),
}

impl Transport {
    /// Bytes of payload in a full packet.
    pub fn payload(&self) -> u32 {
        match self {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => tcp.mss,
            Transport::Udp(udp) => udp.packet - Udp::HEADER,
            Transport::Quic(quic) => quic.datagram().into(),
        }
    }

    /// The settings of TCP, where the transport is reliable.
    pub fn tcp(&self) -> Option<&Tcp> {
        match self {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => Some(tcp),
            Transport::Udp(_) | Transport::Quic(_) => None,
        }
    }

    /// Whether it opens connections that an application can drive.
    pub fn opens_connections(&self) -> bool {
        self.tcp().is_some_and(|tcp| tcp.handshake)
    }
}

/// A constant rate, or an encoder.
#[derive(Clone, PartialEq, Debug)]
pub struct Udp {
    /// Rate of a flow, headers included; of an encoder the highest.
    pub rate: Rate,
    /// Bytes of a full packet, headers included; more than [`Udp::HEADER`].
    pub packet: u32,
    /// Packets per burst, and the time between the starts of bursts; none: continuous.
    pub burst: Option<(u32, Time)>,
    /// Seconds of sending, and of silence then; none: never silent.
    pub on_off: Option<(Amount, Amount)>,
    /// ECN codepoint of its packets; none: not ECN-capable.
    pub ecn: Option<Codepoint>,
    /// The encoder whose frames it sends; none: it sends at its rate.
    pub media: Option<Media>,
}

/// An encoder whose rate follows reports of the receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct Media {
    /// How its rate is controlled.
    pub control: MediaLaw,
    /// Its rates, in bit/s, and its frames in a second.
    pub encoder: Encoder,
    /// Scale of the Laplace distribution of the sizes of frames, in mean sizes.
    pub spread: f64,
    /// How long it keeps a rate.
    pub reaction: Time,
    /// The first of so many frames has so many mean sizes.
    pub key_frames: Option<(u32, f64)>,
    /// Time between two reports.
    pub feedback: Time,
}

impl Udp {
    /// Bytes of headers on each packet: IPv4 and UDP.
    pub const HEADER: u32 = 28;
}

/// A stack of QUIC, and how it is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quic {
    /// Name of the stack.
    pub stack: String,
    /// Its congestion control.
    pub control: QuicControl,
    /// What protects its packets.
    pub crypto: QuicCrypto,
    /// Bytes of a full packet, headers of IP and UDP included.
    pub packet: u16,
}

impl Quic {
    /// Bytes of a full datagram, without the headers of IP and UDP.
    pub fn datagram(&self) -> u16 {
        self.packet - Udp::HEADER as u16
    }
}

/// What a receiver does in its own favour against the rules of TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Misbehaviour {
    /// Each segment is acknowledged in ten parts, one after the other (ACK division; Savage et al.
    /// 1999, 2.1).
    SplitAcks,
    /// Each segment that comes is acknowledged with all before it, whether that has come or not, so
    /// that the sender sees no loss.
    HiddenLosses,
    /// Segments are acknowledged before they come, as many as have to be on the way, so that the
    /// round trip looks half as long and the sender sees no loss (optimistic ACKs; Savage et al.
    /// 1999, 2.3).
    OptimisticAcks,
    /// Marks are not told to the sender (RFC 3168, 20.2).
    HiddenMarks,
}

impl Misbehaviour {
    /// Whether the sender is told that what was lost has come, so that it is never sent again.
    pub fn hides_losses(self) -> bool {
        matches!(self, Misbehaviour::HiddenLosses | Misbehaviour::OptimisticAcks)
    }
}

/// When the flows of a class start.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrivals {
    /// A Poisson process whose rate follows a course.
    Poisson {
        /// Flows per second over time.
        rate: Course,
        /// First instant of the process.
        start: Time,
        /// Last instant of the process ([`Time::NEVER`]: the end of the run).
        stop: Time,
    },
    /// At regular intervals.
    Every {
        /// Flows per second over time (the reciprocal of the spacing).
        rate: Course,
        /// Start of the first flow.
        start: Time,
        /// Last instant of the process.
        stop: Time,
    },
    /// At listed instants, sorted.
    At(Vec<Time>),
    /// This many flows, each at a uniformly drawn instant in `[0, within]`.
    Uniform {
        /// Number of flows.
        flows: u32,
        /// Span of the starts.
        within: Time,
    },
    /// As recorded, sorted by start.
    Replayed(Arc<[Replayed]>),
}

/// A recorded flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// When it starts.
    pub start: Time,
    /// Its size in bytes, at least one.
    pub size: u64,
    /// Which way its data goes.
    pub direction: Direction,
    /// Which end opens the connection.
    pub opens: End,
}

/// The size of a flow.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowSize {
    /// A draw of mean one from `shape`, times the mean at the flow's start.
    Drawn {
        /// Distribution, scaled to a mean of one.
        shape: Shape,
        /// Mean in bytes over time.
        mean: Course,
    },
    /// Unlimited, until `stop` (if given): then no new data is sent.
    Unlimited {
        /// When the flow has no more data to send.
        stop: Time,
    },
    /// As recorded with the arrivals.
    Replayed,
}

/// A distribution of sizes, scaled to a mean of one.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Always one.
    Constant,
    /// Pareto with this shape parameter, greater than one.
    Pareto(f64),
    /// Exponential.
    Exponential,
    /// Lognormal with this sigma.
    Lognormal(f64),
    /// Piecewise linear distribution function: (value over mean, probability), both rising to probability 1.
    Empirical(Vec<(f64, f64)>),
}

/// A change of a port's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkChange {
    /// When it takes effect.
    pub at: Time,
    /// When the change begins of which this is a step: a ramp has many.
    pub begins: Time,
    /// Index of the port in [`Network::ports`].
    pub port: u32,
    /// What changes.
    pub to: LinkValue,
}

/// A new value of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkValue {
    /// Capacity, 0 in an outage; the rest of the packet in service goes at the new one.
    Rate(Rate),
    /// Propagation delay of what is sent from then on.
    Delay {
        /// The new delay.
        delay: Time,
        /// Whether this is another path, so that packets may overtake those under way.
        another_path: bool,
    },
}
