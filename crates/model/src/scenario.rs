//! A checked scenario: every name resolved, every value in range.
//!
//! Its network can be built without another check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use tidegate_core::law::session::{Charge, Opener, Refusal};
use tidegate_core::law::settings::Link;
use tidegate_core::law::video::Rule;
pub use tidegate_core::port::Limit;
use tidegate_core::units::{Length, Rate, Time};

use crate::control::Control;
use crate::law::GateLaw;
use crate::law::filter::FilterLaw;
use crate::law::stamp::StampLaw;
use crate::profile::Tcp;
use crate::route::Route;
pub use tidegate_core::law::queue::QueueLaw;

/// Everything that one run needs but its seed.
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
    /// Whether ports of access links get rows too, or only the others.
    pub sample_access: bool,
    /// What else is measured over time, besides the ports.
    pub series: Series,
    /// Nodes and ports.
    pub network: Network,
    /// Traffic classes, in the order of the document.
    pub traffic: Vec<Class>,
    /// Changes of capacity, sorted by time; ramps are cut into steps of 100 ms.
    /// (Changes of arrival rate and mean size are part of the classes.)
    pub capacity: Vec<CapacityChange>,
}

/// Time series of single flows and of classes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Series {
    /// Flows that are followed: the class, and the flow's number in it, from 0.
    pub flows: Vec<(u16, u32)>,
    /// Classes that are followed.
    pub classes: Vec<u16>,
    /// Spacing of the rows.
    pub every: Time,
}

impl Series {
    /// Whether nothing is followed.
    pub fn is_none(&self) -> bool {
        self.flows.is_empty() && self.classes.is_empty()
    }
}

/// Nodes, and the output ports that join them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Network {
    /// Names of the nodes; a node is known by its place in this list.
    pub nodes: Vec<String>,
    /// Output ports, in a fixed order: a port is known by its place in this list.
    pub ports: Vec<Port>,
    /// What replaces shortest paths; of several that fit a packet the first.
    pub routes: Vec<Route>,
}

/// One output port, with the link behind it.
#[derive(Clone, PartialEq, Debug)]
pub struct Port {
    /// As the document names it: `bottleneck`, `bottleneck.reverse`, `access.source1` ...
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
    /// What the port adds to the length of a path, at least 1.
    pub cost: u32,
    /// Longest propagation round trip of any path through this port, for buffers in `bdp`.
    pub round_trip: Time,
    /// Whether this is a host's access link.
    pub access: bool,
    /// Filters against greedy flows, if any.
    pub filter: Option<FilterLaw>,
    /// Session control, if any.
    pub gate: Option<Gate>,
    /// Queueing discipline.
    pub queue: QueueLaw,
    /// Explicit rates, if any.
    pub stamp: Option<StampLaw>,
    /// How many arrivals are kept one by one.
    pub record: u32,
}

impl Port {
    /// The link as it is at the start.
    pub fn link(&self) -> Link {
        Link { rate: self.rate, delay: self.delay }
    }

    /// The buffer limit at capacity `rate`: buffers in bdp or time follow it, at least one packet of 1500 B.
    ///
    /// One in packets or bytes does where `buffer_follows`, rounded to the
    /// nearest, at least one packet of whatever size.
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
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Loss {
    /// Of packets with payload.
    pub data: f64,
    /// Of packets without payload.
    pub ack: f64,
}

impl Loss {
    /// Whether the link loses nothing.
    pub fn is_none(&self) -> bool {
        *self == Loss::default()
    }
}

/// Session control at a port.
#[derive(Clone, PartialEq, Debug)]
pub struct Gate {
    /// The law and its parameters.
    pub law: GateLaw,
    /// Which packet opens a session at this port.
    pub admit: Opener,
    /// How a session is refused.
    pub refuse: Refusal,
    /// Which openers are charged to the allowance.
    pub charge: Charge,
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
    /// What its flows are, where they are viewers of video; their size is then without end.
    pub video: Option<Video>,
    /// How its flows send.
    pub transport: Transport,
    /// Which end opens the connection. A replayed flow has a direction of its
    /// own: where it is the other one, data goes from the second host of the pair to the first.
    pub direction: Direction,
    /// How long a user waits before giving up.
    pub patience: Option<Time>,
    /// Share of flows whose transport headers routers cannot read, 0 to 1.
    pub opaque_share: f64,
    /// Where data is sent from and to; each flow draws one pair.
    pub pairs: Vec<(u16, u16)>,
}

/// What viewers of video fetch, and how they play it.
#[derive(Clone, PartialEq, Debug)]
pub struct Video {
    /// The rates that there are, rising; never empty.
    pub ladder: Vec<Rate>,
    /// Packets of a segment at each of them.
    pub packets: Vec<u32>,
    /// Playing time of a segment.
    pub segment: Time,
    /// The most playing time that a player keeps, at least two segments.
    pub buffer: Time,
    /// Playing time in the buffer at which playback begins.
    pub start: Time,
    /// Segments of the film (`u32::MAX`: more than anyone will see).
    pub segments: u32,
    /// How a player chooses rates.
    pub rule: Rule,
}

/// How the flows of a class send.
#[derive(Clone, PartialEq, Debug)]
pub enum Transport {
    /// Reliably, and as fast as the network allows.
    Tcp(Tcp),
    /// Reliably, and as fast as another control says.
    Controlled(Tcp, Control),
    /// At a constant rate, without acknowledgements.
    Udp(Udp),
}

impl Transport {
    /// Bytes of payload in a full packet.
    pub fn payload(&self) -> u32 {
        match self {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => tcp.mss,
            Transport::Udp(udp) => udp.packet - Udp::HEADER,
        }
    }

    /// The settings of TCP, where the transport is reliable.
    pub fn tcp(&self) -> Option<&Tcp> {
        match self {
            Transport::Tcp(tcp) | Transport::Controlled(tcp, _) => Some(tcp),
            Transport::Udp(_) => None,
        }
    }
}

/// A constant rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Udp {
    /// Rate of a flow, headers included.
    pub rate: Rate,
    /// Bytes of a full packet, headers included; more than [`Udp::HEADER`].
    pub packet: u32,
    /// Packets in a burst, and from the start of one to that of the next; none: no breaks.
    pub burst: Option<(u32, Time)>,
}

impl Udp {
    /// Bytes of headers on each packet: IPv4 and UDP.
    pub const HEADER: u32 = 28;
}

/// Which end opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The end that sends the data.
    #[default]
    Upload,
    /// The end that receives the data.
    Download,
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
    /// One every so often.
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
    /// So many flows, each at an instant drawn evenly from `[0, within]`.
    Uniform {
        /// Number of flows.
        flows: u32,
        /// Span of the starts.
        within: Time,
    },
    /// As recorded, sorted by start.
    Replayed(Arc<[Replayed]>),
}

/// A flow as it was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// When it starts.
    pub start: Time,
    /// How much it sends, in bytes, at least one.
    pub size: u64,
    /// Which end opens the connection.
    pub direction: Direction,
}

/// A number that changes over time: linear between its points, which are
/// sorted by time; two points at one instant are a step. Constant before the
/// first point and after the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Course {
    /// Instants and values; never empty.
    pub points: Vec<(Time, f64)>,
}

/// How much a flow has to send.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowSize {
    /// A draw of mean one from `shape`, times the mean at the flow's start.
    Drawn {
        /// Distribution, scaled to a mean of one.
        shape: Shape,
        /// Mean in bytes over time.
        mean: Course,
    },
    /// Without end, until `stop` (if any), when no new data is handed in.
    Unlimited {
        /// When the flow stops handing in data.
        stop: Time,
    },
    /// As recorded, with the arrivals.
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

/// A port's capacity from an instant on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapacityChange {
    /// When it takes effect: for packets whose transmission starts from then on.
    pub at: Time,
    /// Place of the port in [`Network::ports`].
    pub port: u32,
    /// The new capacity.
    pub rate: Rate,
}

impl Course {
    /// Always the same.
    pub fn constant(value: f64) -> Course {
        Course { points: vec![(Time::ZERO, value)] }
    }
}
