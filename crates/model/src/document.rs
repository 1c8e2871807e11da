//! The scenario document, typed as it is written.
//!
//! Every field's description here is the reference of the format: the JSON
//! schema is made from it. What a type cannot say is checked in `check`.

pub(crate) mod amount;
pub(crate) mod bound;
pub(crate) mod free;
pub(crate) mod impairments;
mod loss;
mod named;
pub(crate) mod pages;
pub(crate) mod series;
pub(crate) mod size;
pub(crate) mod transport;
pub(crate) mod video;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::keys;
use tidegate_core::law::queue::Chosen;
use tidegate_core::units::{Frequency, Length, Rate, Time};

pub(crate) use named::{Anything, Named};

use crate::control::TransportDoc;
use crate::law::GateDoc;
use crate::law::filter::FilterDoc;
use crate::law::stamp::StampDoc;
use crate::scenario::{Direction, Loss, Misbehaviour, Reorder, Shared};

/// A tidegate scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a scenario")]
pub(crate) struct Document {
    /// Name of the scenario.
    pub name: String,
    /// Simulated time, up to 30 days.
    pub duration: Time,
    /// Flows and intervals before this instant are left out of means; default 0s, less than the duration.
    #[serde(default)]
    pub warmup: Time,
    /// Spacing of the rows of the `ports` table; default 1s.
    #[serde(default = "sample")]
    pub sample: Time,
    /// Whether ports of access links get rows in the `ports` table too; default false.
    #[serde(default)]
    pub sample_access: bool,
    /// Time series in addition to those of ports: of single flows, and of classes; default none.
    #[serde(default, skip_serializing_if = "series::SeriesDoc::is_none")]
    pub series: series::SeriesDoc,
    /// Nodes and links.
    pub topology: Topology,
    /// Routes that replace shortest paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<free::RouteDoc>,
    /// Control at output ports, by the port's name.
    #[serde(default)]
    pub port: Named<PortDoc>,
    /// Traffic classes by name; at least one.
    pub traffic: Named<ClassDoc>,
    /// Changes while the scenario runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<ChangeDoc>,
    /// Variants to compare: for each, by name, the settings that make it up.
    #[serde(default, skip_serializing)]
    pub variant: Named<Named<Anything>>,
    /// A grid to sweep: `seeds`, and for each key, quoted or dotted, the list of its values.
    #[serde(default, skip_serializing)]
    pub sweep: Named<Anything>,
}

fn sample() -> Time {
    Time::from_secs(1)
}

/// Nodes and links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Topology {
    /// Pairs of hosts on either side of one bottleneck.
    Dumbbell(Dumbbell),
    /// Routers in a row, with hosts at each.
    Tandem(Tandem),
    /// Links spelled out one by one, by name.
    Links(Named<free::FreeLink>),
}

keys! {
    /// Pairs of hosts on either side of one bottleneck: source1 .. left - right .. sink1.
    ///
    /// Ports: `bottleneck` (left to right), `access.source1` (towards left),
    /// `access.sink1` (towards sink1), and each with `.reverse` for the other way.
    #[serde(
        deny_unknown_fields,
        expecting = "a table, as in { pairs = 10, access = { ... }, bottleneck = { ... } }"
    )]
    pub(crate) struct Dumbbell {
        /// Number of host pairs; default 10. Each flow draws one.
        #[serde(default = "ten")]
        pub pairs: u32 [1 to 20000],
        /// Link of each host to its router, the same in both directions.
        pub access: Access,
        /// Link between the routers, the same in both directions but for `reverse`.
        pub bottleneck: Link,
    }
}

fn ten() -> u32 {
    10
}

keys! {
    /// Routers r1, r2, ... in a row, joined by link1, link2, ...
    ///
    /// Each router has `pairs` hosts that send (`r1.source1` ...) and as many that
    /// receive (`r1.sink1` ...). Ports: `link1` (r1 to r2), `access.r1.source1`
    /// (towards r1), `access.r1.sink1` (towards the sink), and each with `.reverse`.
    #[serde(
        deny_unknown_fields,
        expecting = "a table, as in { links = [{ ... }, { ... }], access = { ... } }"
    )]
    pub(crate) struct Tandem {
        /// Links between the routers, in order, each the same in both directions but for `reverse`; 1 to 1000.
        pub links: Vec<Link>,
        /// Link of each host to its router, the same in both directions.
        pub access: Access,
        /// Number of sending and of receiving hosts at each router; default 1.
        #[serde(default = "one")]
        pub pairs: u32 [1 to 20000],
    }
}

fn one() -> u32 {
    1
}

/// A link between two routers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table, as in { rate = \"10Mbit\", delay = \"98ms\", buffer = \"217packets\" }"
)]
pub(crate) struct Link {
    /// Capacity.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
    /// Length of the buffer in packets, bytes, time or bdp; default 1bdp. In time or bdp it follows a change of capacity.
    #[serde(default = "one_bdp")]
    pub buffer: Length,
    /// Share of the packets that the link loses after their transmission; default 0. Or for packets with payload and for those without: { data = 0.01, ack = 0 }.
    #[serde(default)]
    pub loss: Loss,
    /// What is different in the other direction, as in { rate = "1Mbit" } of an asymmetric line; default nothing.
    #[serde(default, skip_serializing_if = "free::Reverse::is_empty")]
    pub reverse: free::Reverse,
}

fn one_bdp() -> Length {
    Length::Bdp(1.0)
}

/// The link of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table, as in { rate = \"100Mbit\", delay = \"1ms\" }")]
pub(crate) struct Access {
    /// Capacity.
    pub rate: Rate,
    /// Propagation delay. Or a list of delays, which the pairs take in turn: both links of the first pair have the first delay.
    pub delay: free::Several<Time>,
    /// Length of the buffer; default 100000packets: nothing is lost here.
    #[serde(default = "ample")]
    pub buffer: Length,
    /// Share of the packets that the link loses after their transmission; default 0. Or for packets with payload and for those without: { data = 0.01, ack = 0 }.
    #[serde(default)]
    pub loss: Loss,
}

fn ample() -> Length {
    Length::Packets(100_000)
}

keys! {
    /// Control at one output port, and what its link does to packets.
    #[derive(Default)]
    #[serde(deny_unknown_fields, expecting = "a table, as in { gate = { law = \"close-probe\" } }")]
    pub(crate) struct PortDoc {
        /// Filters against greedy flows, before the gate; default none.
        #[serde(default, skip_serializing_if = "FilterDoc::is_none")]
        pub filter: FilterDoc,
        /// Session control; default none.
        #[serde(default)]
        pub gate: GateDoc,
        /// Queueing discipline; default drop-tail.
        #[serde(default)]
        pub queue: Chosen,
        /// Explicit rates, written into packets when their transmission starts; default none.
        #[serde(default)]
        pub stamp: StampDoc,
        /// The capacity over time, in place of the link's rate; default: constant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rate: Option<impairments::PortRateDoc>,
        /// The delay over time, in place of the link's delay; default: constant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub delay: Option<impairments::PortDelayDoc>,
        /// How the delay of the link differs from packet to packet; default: not at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub jitter: Option<impairments::JitterDoc>,
        /// Packets that the link holds back, so that others overtake them; default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reorder: Option<Reorder>,
        /// A policer before the queue: what comes faster is dropped; default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub police: Option<impairments::PoliceDoc>,
        /// The link delivers what it has sent in batches, as Wi-Fi and cable do; default: each packet by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub batch: Option<impairments::BatchDoc>,
        /// A medium that the link shares with that of another port, as with the other direction of Wi-Fi; default: it has its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub medium: Option<Shared>,
        /// The first so many packets that come from elsewhere get a row each in the `arrivals` table; default 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub record: u32 [0 to 1000000],
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

keys! {
    /// One traffic class.
    #[serde(deny_unknown_fields, expecting = "a table with arrivals, size and transport")]
    pub(crate) struct ClassDoc {
        /// When flows start; needed unless `flows` are replayed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub arrivals: Option<ArrivalsDoc>,
        /// How much each flow has to send; needed unless `flows` are replayed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size: Option<size::SizeDoc>,
        /// Viewers who watch video, in place of `size`: they fetch segments at a rate that the player chooses, into a buffer that playback drains.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub video: Option<video::VideoDoc>,
        /// Users who load pages over connections that they keep, in place of single flows; `size` is then the size of an object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pages: Option<pages::PagesDoc>,
        /// A file whose flows are replayed, in place of `arrivals` and `size`: a packet capture, or a table (CSV or Parquet) of `start_s`, `size_bytes` and, if need be, `direction`. Relative to the scenario's folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub flows: Option<String>,
        /// For `flows`: start times are multiplied by this; default 1. With 0.5 flows start twice as often.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub time_scale: Option<f64> [above 0 to 1e6],
        /// For `flows`: how many are replayed, the first to start; default: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// For `flows`: only those of this direction; default: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub only: Option<Direction>,
        /// Transport; default tcp with the profile rfc.
        #[serde(default)]
        pub transport: TransportDoc,
        /// Which end opens the connection: the one that sends the data (upload, the default) or the one that receives it. With `flows`, data of this direction goes from `from` to `to`, and data of the other direction goes back; default there: the direction with the most bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub direction: Option<Direction>,
        /// How long a user waits before giving up; default: without limit. With `video`: how long a start or a stall may last. With `pages`: how long a page may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub patience: Option<Time>,
        /// How many clients (addresses) the flows, users or viewers of the class share in turn; default: each has an address of its own. For gates that admit clients.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub clients: Option<u32> [1 to 1000],
        /// Share of flows whose transport headers routers cannot read; default 0.
        #[serde(default)]
        pub opaque_share: f64 [0 to 1],
        /// How the receivers misbehave; default: they do as TCP says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub receiver: Option<Misbehaviour>,
        /// When flows of unlimited size have no more to send; default: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stop: Option<Time>,
        /// In a tandem, the router whose hosts send; default the first. Among links that are spelled out, the node that sends, or a list of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub from: Option<free::Names>,
        /// In a tandem, the router whose hosts receive; default the last. Among links that are spelled out, the node that receives, or a list of them: as long as that of `from`, or one of the two has one name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub to: Option<free::Names>,
    }
}

/// When flows start: exactly one of poisson, every, at and uniform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table, as in { poisson = \"1000/s\" }")]
pub(crate) struct ArrivalsDoc {
    /// Independently of each other, at this mean rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<Frequency>,
    /// One at the start and one every so often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
    /// At these instants, at most a million.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<Time>>,
    /// So many flows, each at an instant drawn evenly from 0 to `within`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<u32>,
    /// For uniform: the span of the starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Time>,
    /// For poisson and every: where the process begins; default 0s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Time>,
    /// For poisson and every: no flow starts later; default: the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
}

/// A change while the scenario runs: a step at `at`, a ramp from `at` to `until`, or a pulse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table, as in { what = \"bottleneck.rate\", at = \"100s\", to = \"5Mbit\" }"
)]
pub(crate) struct ChangeDoc {
    /// What changes: `traffic.NAME.arrivals`, `traffic.NAME.size.mean`, or a port's rate or delay, as in `bottleneck.rate`.
    pub what: String,
    /// When the change begins.
    pub at: Time,
    /// When a ramp ends; without it the change is a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The new value, in the unit of what changes.
    pub to: String,
    /// For a pulse: the old value returns after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulse: Option<Time>,
    /// For a rate: whether a buffer in packets or bytes changes in proportion to it, throughout the run; default false. A buffer in time or bdp always does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub buffer_follows: bool,
}
