//! The scenario document, typed as it is written.
//!
//! Every field's description here is the reference of the format: the JSON
//! schema is made from it. What a declaration cannot say is checked in `check`.

pub(crate) mod amount;
pub(crate) mod bound;
pub(crate) mod free;
pub(crate) mod guests;
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
use tidegate_core::law::queue::QueueLaw;
use tidegate_core::units::{Frequency, Length, Rate, Time};

pub(crate) use named::{Anything, Named};

use crate::registry::control::TransportDoc;
use crate::registry::law::Gate;
use crate::registry::law::filter::FilterLaw;
use crate::registry::law::stamp::StampLaw;
use crate::scenario::{Direction, End, Loss, Misbehaviour, Reorder, Shared, Side};

keys! {
    /// A tidegate scenario.
    "Document" as pub(crate) Document = "a scenario":
    name: String = required "Name of the scenario";
    duration: Time = required [above "0s" to "720h"] "Simulated time";
    warmup: Time = "0s" "Flows and intervals before this instant are left out of means" + "Less than the duration.";
    sample: Time = "1s" [above "0s"] "Spacing of the rows of the `ports` table";
    sample_access: bool = false "Whether ports of access links get rows in the `ports` table too";
    series: series::SeriesDoc = { Default::default() } quiet "Time series in addition to those of ports: of single flows, and of classes; default none";
    topology: Topology = required "Nodes and links";
    route: Vec<free::RouteDoc> = { Vec::new() } quiet "Routes that replace shortest paths";
    port: Named<PortDoc> = { Named::default() } "Control at output ports, by the port's name";
    guests: Option<guests::GuestsDoc> = none "People who use the network; what they do becomes traffic classes";
    traffic: Named<ClassDoc> = { Named::default() } "Traffic classes by name; at least one, or guests";
    change: Vec<ChangeDoc> = { Vec::new() } quiet "Changes while the scenario runs";
    variant: Named<Named<Anything>> = { Named::default() } hidden "Variants to compare: for each, by name, the settings that make it up";
    sweep: Named<Anything> = { Named::default() } hidden "A grid to sweep: `seeds`, and for each key, quoted or dotted, the list of its values";
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
    "Dumbbell" as pub(crate) Dumbbell = "a table, as in { pairs = 10, access = { ... }, bottleneck = { ... } }":
    pairs: Option<u32> = none [1 to 20000] "Number of host pairs; default 10, or one for each guest" + "Each flow draws one; those of a guest have his.";
    access: Access = required "Link of each host to its router, the same in both directions";
    bottleneck: Link = required "Link between the routers, the same in both directions but for `reverse`";
    users: Side = { Side::Right } quiet "On which side of the bottleneck the users are: downloads go there, uploads come from there; default right";
}

keys! {
    /// Routers r1, r2, ... in a row, joined by link1, link2, ...
    ///
    /// Each router has `pairs` hosts that send (`r1.source1` ...) and as many that
    /// receive (`r1.sink1` ...). Ports: `link1` (r1 to r2), `access.r1.source1`
    /// (towards r1), `access.r1.sink1` (towards the sink), and each with `.reverse`.
    "Tandem" as pub(crate) Tandem = "a table, as in { links = [{ ... }, { ... }], access = { ... } }":
    links: Vec<Link> = required "Links between the routers, in order, each the same in both directions but for `reverse`; 1 to 1000";
    access: Access = required "Link of each host to its router, the same in both directions";
    pairs: Option<u32> = none [1 to 20000] "Number of sending and of receiving hosts at each router; default 1, or one for each guest";
    users: Side = { Side::Right } quiet "At which end of the row the users are: downloads go there, uploads come from there, unless `from` and `to` of a class say otherwise; default right";
}

keys! {
    /// A link between two routers.
    "Link" as pub(crate) Link = "a table, as in { rate = \"10Mbit\", delay = \"98ms\", buffer = \"217packets\" }":
    rate: Rate = required "Capacity";
    delay: Time = required ["0s" to "1h"] "Propagation delay";
    buffer: Length = "1bdp" [above 0 to "1000bdp or 1h"] "Length of the buffer in packets, bytes, time or bdp" + "In time or bdp it follows a change of capacity.";
    loss: Loss = { Loss::default() } "Share of the packets that the link loses after their transmission; default 0" + "Or for packets with payload and for those without: { data = 0.01, ack = 0 }.";
    reverse: free::Reverse = { Default::default() } quiet "What is different in the other direction, as in { rate = \"1Mbit\" } of an asymmetric line; default nothing";
}

keys! {
    /// The link of a host.
    "Access" as pub(crate) Access = "a table, as in { rate = \"100Mbit\", delay = \"1ms\" }":
    rate: Rate = required "Capacity";
    delay: free::Several<Time> = required ["0s" to "1h"] "Propagation delay" + "Or a list of delays, which the pairs take in turn: both links of the first pair have the first delay.";
    buffer: Length = "100000packets" [above 0 to "1000bdp or 1h"] "Length of the buffer" + "With the default nothing is lost here.";
    loss: Loss = { Loss::default() } "Share of the packets that the link loses after their transmission; default 0" + "Or for packets with payload and for those without: { data = 0.01, ack = 0 }.";
}

keys! {
    /// Control at one output port, and what its link does to packets.
    #[derive(Default)]
    "PortDoc" as pub(crate) PortDoc = "a table, as in { gate = { law = \"close-probe\" } }":
    filter: FilterLaw = { FilterLaw::default() } quiet "Filters against greedy flows, before the gate; default none";
    gate: Gate = { Gate::default() } "Session control; default none";
    queue: QueueLaw = { QueueLaw::default() } "Queueing discipline; default drop-tail";
    stamp: StampLaw = { StampLaw::default() } "Explicit rates, written into packets when their transmission starts; default none";
    rate: Option<impairments::PortRateDoc> = none "The capacity over time, in place of the link's rate; default: constant";
    delay: Option<impairments::PortDelayDoc> = none "The delay over time, in place of the link's delay; default: constant";
    jitter: Option<impairments::JitterDoc> = none "How the delay of the link differs from packet to packet; default: not at all";
    reorder: Option<Reorder> = none "Packets that the link holds back, so that others overtake them; default none";
    corrupt: f64 = 0 quiet [0 to 1] "Share of the packets that the link damages, each independently of the others: they go on, and their receivers refuse them";
    duplicate: f64 = 0 quiet [0 to 1] "Share of the packets that the link delivers twice, each independently of the others: the copy follows at once";
    lifetime: Option<Time> = none [above "0s" to "1h"] "Packets with payload that were sent longer ago than this when they arrive are dropped; default: none are";
    police: Option<impairments::PoliceDoc> = none "A policer before the queue: what comes faster is dropped; default none";
    batch: Option<impairments::BatchDoc> = none "The link delivers what it has sent in batches, as Wi-Fi and cable do; default: each packet by itself";
    medium: Option<Shared> = none "A medium that the link shares with that of another port, as with the other direction of Wi-Fi; default: it has its own";
    record: u32 = 0 quiet [0 to 1000000] "The first so many packets that come from elsewhere get a row each in the `arrivals` table";
}

keys! {
    /// One traffic class.
    "ClassDoc" as pub(crate) ClassDoc = "a table with arrivals, size and transport":
    arrivals: Option<ArrivalsDoc> = none "When flows start; needed unless `flows` are replayed";
    size: Option<size::SizeDoc> = none "How much each flow has to send; needed unless `flows` are replayed";
    video: Option<video::VideoDoc> = none "Viewers who watch video, in place of `size`: they fetch segments at a rate that the player chooses, into a buffer that playback drains";
    pages: Option<pages::PagesDoc> = none "Users who load pages over connections that they keep, in place of single flows; `size` is then the size of an object";
    flows: Option<String> = none "A file whose flows are replayed, in place of `arrivals` and `size`: a packet capture, or a table (CSV or Parquet) of `start_s`, `size_bytes` and, if need be, `direction`" + "Relative to the scenario's folder.";
    time_scale: Option<f64> = none [above 0 to 1e6] "For `flows`: start times are multiplied by this; default 1" + "With 0.5 flows start twice as often.";
    limit: Option<u32> = none [from 1] "For `flows`: how many are replayed, the first to start; default: all";
    only: Option<Direction> = none "For `flows`: only those of this direction; default: all";
    transport: TransportDoc = { TransportDoc::default() } "Transport; default tcp with the profile rfc";
    direction: Option<Direction> = none "Which way the data goes: to the users (download) or from them (upload); default: from left to right, or from `from` to `to`" + "Among links that are spelled out `from` and `to` say the way of the data, and `direction` at which of the two the users are. With `flows` each flow of a table with such a column has its own, and there the default is the direction with the most bytes.";
    opens: Option<End> = none "Which end opens the connection: the sender or the receiver of the data; default: the users' end where `direction` is written, else the sender";
    patience: Option<Time> = none [above "0s"] "How long a user waits before giving up; default: without limit" + "With `video`: how long a start or a stall may last. With `pages`: how long a page may take.";
    clients: Option<u32> = none [1 to 1000] "How many clients (addresses) the flows, users or viewers of the class share in turn; default: each has an address of its own" + "For gates that admit clients.";
    people: Option<guests::PeopleDoc> = none "The people whose flows these are, in turn, each with one address and one pair of hosts in all classes; default: each flow, user or viewer is somebody else";
    opaque_share: f64 = 0 [0 to 1] "Share of flows whose transport headers routers cannot read";
    receiver: Option<Misbehaviour> = none "How the receivers misbehave; default: they do as TCP says";
    stop: Option<Time> = none [above "0s"] "When flows of unlimited size have no more to send; default: never";
    from: Option<free::Names> = none "In a tandem, the router whose hosts send; default the first, of data that goes to the left the last" + "Among links that are spelled out, the node that sends, or a list of them.";
    to: Option<free::Names> = none "In a tandem, the router whose hosts receive; default the last, of data that goes to the left the first" + "Among links that are spelled out, the node that receives, or a list of them: as long as that of `from`, or one of the two has one name.";
}

keys! {
    /// When flows start: exactly one of poisson, every, at and uniform.
    "ArrivalsDoc" as pub(crate) ArrivalsDoc = "a table, as in { poisson = \"1000/s\" }":
    poisson: Option<Frequency> = none "Independently of each other, at this mean rate";
    every: Option<Time> = none [from "1ns"] "One at the start and one every so often";
    at: Option<Vec<Time>> = none "At these instants, at most a million";
    uniform: Option<u32> = none [1 to 10000000] "So many flows, each at an instant drawn evenly from 0 to `within`";
    within: Option<Time> = none "For uniform: the span of the starts";
    start: Option<Time> = none "For poisson and every: where the process begins; default 0s";
    stop: Option<Time> = none "For poisson and every: no flow starts later; default: the end of the run";
}

keys! {
    /// A change while the scenario runs: a step at `at`, a ramp from `at` to `until`, or a pulse.
    "ChangeDoc" as pub(crate) ChangeDoc = "a table, as in { what = \"bottleneck.rate\", at = \"100s\", to = \"5Mbit\" }":
    what: String = required "What changes: `traffic.NAME.arrivals`, `traffic.NAME.size.mean`, or a port's rate, delay or loss, as in `bottleneck.rate`";
    at: Time = required "When the change begins";
    until: Option<Time> = none "When a ramp ends; without it the change is a step";
    to: String = required "The new value, in the unit of what changes";
    pulse: Option<Time> = none [above "0s"] "For a pulse: the old value returns after this time";
    buffer_follows: bool = false quiet "For a rate: whether a buffer in packets or bytes changes in proportion to it, throughout the run" + "A buffer in time or bdp always does.";
}
