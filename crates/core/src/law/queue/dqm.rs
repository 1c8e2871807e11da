//! Dual-queue management: packets that open connections are dropped before data is, so that the
//! connections that exist can finish (dqm, II). Not the dual queue of RFC 9332.
//!
//! | symbol  | here                | unit    | paper                                    |
//! |---------|---------------------|---------|------------------------------------------|
//! | `x`     | `Dqm::length`       | packets | queue length, average or instantaneous   |
//! | `x_m`   | `x_m`               | packets | 45: from here connections are dropped    |
//! | `x_M`   | `x_M`               | packets | 45 or 90: where the slope changes        |
//! | `P_M^c` | `P_M`               | 1       | 0.4, 0.7 or 1: share dropped at `x_M`    |
//! | `B`     | the port's buffer   | packets | 90                                       |
//! | `P_c`   | `Curve::at`         | 1       | share of connection packets dropped at `x` |
//!
//! At each arrival:
//! 1. The flags alone classify the packet: SYN and SYN+ACK are connection packets, everything else
//!    is data. There is no state per flow.
//! 2. Data is passed to the law in `over`: drop-tail (dqm, fig. 2a), RED (fig. 2b) or any other
//!    discipline. That law sees only the waiting data.
//! 3. A connection packet is dropped with probability `P_c(x)`: 0 up to `x_m`, then linear to `P_M`
//!    at `x_M`, then linear to 1 at `B`. With `x_m = x_M` the curve is a step to `P_M`.
//! 4. Accepted packets of both kinds are served in the order of arrival.
//!
//! Settled here, as the paper leaves it open:
//! - Every arrival is a sample for the average, also a connection packet that is then dropped.
//!   While the link is idle the average decays as RED's does. If only accepted packets were
//!   samples, a step could lock connections out for ever once no data is left.
//! - With `queues = 2` each kind has a buffer of `B`; with `queues = 1` they share it. As service
//!   is in the order of arrival, nothing else distinguishes two physical queues from one.
//! - The paper has two queues and does not say which of them is served. With `order =
//!   "connections"` or `"data"` that kind goes first, each kind in the order of its arrival.
//! - `x` counts data. With `counts = "all"` it counts connection packets too, as at a router with
//!   one queue.
//! - `blocked = "hold"` holds back, in place of dropping, up to `hold_packets` connection packets
//!   until `P_c(x)` is zero again. The paper mentions delaying but does not test it.
//! - With `refuse_at = "ingress"` a download is dropped as its SYN comes in by the other direction of
//!   the link, as a real gate does by default, and its SYN+ACK passes. The paper drops the SYN+ACK,
//!   which the server then sends again.
//!
//! Limits: it cannot distinguish many small flows from a few large ones, and the large ones win
//! (dqm, III-A-2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::session::ingress::RefuseAt;
use crate::law::settings::{Link, Refused, Setting};
use crate::law::{Draw, Fault, Reason, Turn, Verdict, View};
use crate::packet::{Ext, Flags, Form, Packet};
use crate::units::{Pace, Rate, Size, Time};

use super::{
    ArrivalContext, Average, Chain, Discipline, Handle, Links, Next, Queue, QueueLaw, Shaping,
    Slot, Sum, Traits, Waiting,
};

/// Which queue length the drop probability follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Its moving average, as RED keeps it.
    #[default]
    Average,
    /// The number of waiting packets at this moment.
    Instantaneous,
}

/// Which packets that length counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LengthOf {
    /// Waiting data.
    #[default]
    Data,
    /// Data and connection packets, without those held back.
    All,
}

/// What happens to a connection packet that is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocked {
    /// It is dropped; its sender retransmits it.
    #[default]
    Drop,
    /// It is held back until the data queue is shorter.
    Hold,
}

/// Which kind of packets is served first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServedFirst {
    /// The one whose oldest packet came first.
    #[default]
    Arrival,
    /// Connection packets that are not held back, whenever one waits.
    Connections,
    /// Data, whenever a packet of it waits.
    Data,
}

crate::settings! {
    /// Parameters of dual-queue management.
    #[expect(non_snake_case, reason = "the paper's symbols, which differ in case alone")]
    "Dqm":
    x_m: f64 = 45 [0 to 1e9] "Length of the data queue from which connection packets are dropped, in packets" ("dqm, III-A-1");
    x_M: f64 = { 45.0 } [above 0 to 1e9] "Length of the data queue at which a share P_M of them is dropped, in packets; default 45: a step; from x_m" ("dqm, III-A-1");
    P_M: f64 = 1 [0 to 1] "Share of connection packets dropped at x_M; above, it rises to 1 at the full buffer" ("dqm, III-A-1");
    measure: Measure = { Measure::Average } "Whether the share follows the average or the instantaneous length of the data queue; default average" ("dqm, III");
    counts: LengthOf = { LengthOf::Data } "Whether that length counts data alone or connection packets too; default data" ("dqm, II and III");
    w: Setting = { Setting::Auto } [1e-9 to 1] "Weight of the newest arrival in the average; default auto: that of RED in `over`; with drop-tail from the link's rate and delay, as in RED" ("ns-2");
    mean_packet: Size = "500B" ["1B" to "65000B"] "Mean packet size, for idle time, an automatic w and a buffer in bytes" ("ns-2");
    blocked: Blocked = { Blocked::Drop } "Whether a connection packet that is not accepted is dropped or held back; default drop" ("dqm, II");
    hold_packets: u32 = 10 [1 to 100000] "For hold: largest number of connection packets held back; further ones are dropped";
    order: ServedFirst = { ServedFirst::Arrival } "Which kind is served first: what came first, connection packets, or data; default arrival" ("ours; dqm, II leaves it open");
    queues: u8 = 2 [1 to 2] "2: connection packets and data have a buffer each, as long as the port's; 1: they share it" ("dqm, II");
    quic: bool = false "Whether Initials of QUIC, which long headers show, are connection packets too; default false: all of QUIC is data" ("ours");
    refuse_at: RefuseAt = { RefuseAt::Egress } "Where a download is refused: `ingress`, its SYN as it comes in by the other direction of the link, or `egress`, the SYN+ACK as it leaves; default egress" ("dqm, II; `ingress`: ours");
    over: Box<QueueLaw> = { Box::default() } "The discipline of the data queue, with its settings; default { law = \"drop-tail\" }" ("dqm, fig. 2");
}

impl Traits for Config {
    fn marks(&self, l4s: bool) -> bool {
        self.over.marks(l4s)
    }

    fn asked_to_mark(&self) -> bool {
        self.over.asked_to_mark()
    }

    fn bandwidth(&self) -> Option<Rate> {
        self.over.bandwidth()
    }
}

impl Config {
    /// Whether every value is in range at this link.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self, link: Link) -> Result<(), Refused> {
        self.in_range()?;
        let wrong = |field: &'static str, what: String| Err((field.into(), what));
        if self.x_M < self.x_m {
            return wrong("x_M", format!("{} is below x_m, which is {}", self.x_M, self.x_m));
        }
        if self.blocked == Blocked::Hold && self.x_m == 0.0 {
            let never = "with 0 the held packets would never be sent, as the average never falls below 0: write more";
            return wrong("x_m", never.to_owned());
        }
        if self.looks_at_ingress() && self.blocked == Blocked::Hold {
            let never = "what comes in is not held back: write \"drop\", or refuse_at = \"egress\"";
            return wrong("blocked", never.to_owned());
        }
        if matches!(*self.over, QueueLaw::Dqm(_)) {
            let what = "dqm cannot be nested in dqm: the inner one would see no connection packets";
            return wrong("over.law", what.to_owned());
        }
        self.over.check(link).map_err(|(field, what)| (format!("over.{field}").into(), what))
    }

    /// Whether downloads are refused as they come in.
    pub fn looks_at_ingress(&self) -> bool {
        self.refuse_at == RefuseAt::Ingress
    }
}

/// The share of connection packets lost at a length of the data queue (dqm, fig. 2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Curve {
    x_m: f64,
    bend: f64,
    share: f64,
}

impl Curve {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config) -> Curve {
        Curve { x_m: config.x_m, bend: config.x_M, share: config.P_M }
    }

    /// `P_c` at `x`, with a buffer of `b` packets.
    pub fn at(&self, x: f64, b: f64) -> f64 {
        let Curve { x_m, bend, share } = *self;
        if x >= b {
            1.0
        } else if x < x_m {
            0.0
        } else if x < bend {
            share * (x - x_m) / (bend - x_m)
        } else {
            // between x_M and b: the second segment
            share + (1.0 - share) * (x - bend) / (b - bend)
        }
    }
}

/// Dual-queue management at one port.
pub struct Dqm {
    curve: Curve,
    average: Average,
    measure: Measure,
    counts: LengthOf,
    blocked: Blocked,
    order: ServedFirst,
    shared: bool,
    quic: bool,
    /// Whether a download is refused as its opener comes in, and the answer passes.
    ingress: bool,
    mean_packet: f64,
    /// The discipline of the data queue; it sees only data.
    beneath: Box<Queue>,
    /// Waiting connection packets, including those held back.
    connections: Sum,
    links: Links,
    /// Connection packets that are not held back, in the order of arrival.
    passing: Chain,
    /// Connection packets held back, in the order of arrival.
    held: Chain,
    hold_packets: u32,
    /// How much of the current idle time is already in the average.
    seen_idle: Time,
    /// Whether the connection packet accepted last is to be held back.
    holding: bool,
    /// The buffer in packets, at the last arrival.
    b: f64,
}

impl Dqm {
    /// With parameters that have passed [`Config::check`] at this link.
    pub fn new(config: &Config, link: Link) -> Dqm {
        let beneath = config.over.build(link);
        let automatic = beneath.weight();
        let automatic =
            automatic.unwrap_or_else(|| Average::automatic_weight(config.mean_packet, link));
        Dqm {
            curve: Curve::new(config),
            average: Average::new(config.w.or(automatic)),
            measure: config.measure,
            counts: config.counts,
            blocked: config.blocked,
            order: config.order,
            shared: config.queues == 1,
            quic: config.quic,
            ingress: config.looks_at_ingress(),
            mean_packet: config.mean_packet.bytes() as f64,
            beneath: Box::new(beneath),
            connections: Sum::default(),
            links: Links::default(),
            passing: Chain::default(),
            held: Chain::default(),
            hold_packets: config.hold_packets,
            seen_idle: Time::ZERO,
            holding: false,
            b: f64::INFINITY,
        }
    }

    /// Replaces the discipline of the data queue, before the first packet.
    pub(super) fn put_beneath(&mut self, queue: Queue) {
        *self.beneath = queue;
    }

    /// Whether the packet sets a connection up (dqm, II): by its flags alone.
    #[inline]
    pub fn opens(packet: &Packet) -> bool {
        packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::OPAQUE)
    }

    /// The same, where Initials of QUIC may count too.
    #[inline]
    fn connects(&self, packet: &Packet) -> bool {
        let initial = || match packet.ext {
            Ext::Datagram { form, .. } => form != Form::Other && !packet.flags.has(Flags::OPAQUE),
            _ => false,
        };
        Self::opens(packet) || self.quic && initial()
    }

    /// Whether the packet answers a connection packet.
    fn answers(packet: &Packet) -> bool {
        match packet.ext {
            Ext::Datagram { form, .. } => form == Form::ServerInitial,
            _ => packet.flags.has(Flags::ACK),
        }
    }

    /// The packets that count towards the length, with `data` packets of data waiting.
    fn counted(&self, data: u32) -> f64 {
        match self.counts {
            LengthOf::Data => f64::from(data),
            LengthOf::All => f64::from(data + self.passing.packets()),
        }
    }

    /// `x`, with `data` packets of data waiting.
    fn length(&self, data: u32) -> f64 {
        match self.measure {
            Measure::Average => self.average.value(),
            Measure::Instantaneous => self.counted(data),
        }
    }

    /// The buffer in packets.
    fn buffer(&self, found: &ArrivalContext) -> f64 {
        match found.room.packets {
            u32::MAX => found.room.bytes as f64 / self.mean_packet,
            packets => f64::from(packets),
        }
    }

    /// How many mean packets the link could have sent in this time.
    fn services(&self, idle: Time, pace: Pace) -> f64 {
        idle.ps() as f64 / pace.of(self.mean_packet as u64).ps().max(1) as f64
    }

    /// Whether a connection packet passes at the length `x`.
    fn passes(&self, x: f64, draw: &mut dyn Draw) -> bool {
        let p_c = self.curve.at(x, self.b);
        p_c == 0.0 || (p_c < 1.0 && draw.uniform() >= p_c)
    }

    /// Decides about a connection packet.
    fn open(
        &mut self,
        packet: &Packet,
        found: &ArrivalContext,
        fits: bool,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.beneath.observe(found);
        let fits = if self.shared {
            fits
        } else {
            found.idle.is_some() || found.room.fits(self.connections, packet.size)
        };
        // the answer to an opener that was judged as it came in
        let judged = self.ingress && Self::answers(packet);
        let passes = judged || self.passes(self.length(found.queue.packets), draw);
        self.holding = !passes && self.blocked == Blocked::Hold;
        if self.holding && self.held.packets() >= self.hold_packets {
            self.holding = false;
        } else if (passes || self.holding) && !fits {
            self.holding = false;
            return Verdict::Drop(Reason::QueueFull);
        }
        if passes || self.holding { Verdict::Pass } else { Verdict::Drop(Reason::Connection) }
    }

    /// The first connection packet that may be sent; if `released`, also one that was held back.
    fn connection(&self, waiting: &Waiting, released: bool) -> Option<Handle> {
        let held = self.held.oldest().filter(|_| released);
        match (self.passing.oldest(), held) {
            (Some(passing), Some(held)) if waiting.came_before(held, passing) => Some(held),
            (passing, held) => passing.or(held),
        }
    }

    /// Whether this connection packet is sent before this packet of data.
    fn goes_first(&self, connection: Handle, data: Handle, waiting: &Waiting) -> bool {
        match self.order {
            ServedFirst::Arrival => waiting.came_before(connection, data),
            ServedFirst::Connections => true,
            ServedFirst::Data => false,
        }
    }

    /// Removes a connection packet from its list, to be sent.
    fn send(&mut self, connection: Handle, waiting: &Waiting) -> Next {
        let held = self.held.oldest() == Some(connection);
        let list = if held { &mut self.held } else { &mut self.passing };
        list.remove(connection, &mut self.links);
        if let Some(packet) = waiting.get(connection) {
            self.connections.subtract(packet);
        }
        Next::Send(connection)
    }

    /// Only held packets wait, and the link is idle: the first of them is sent when the average has
    /// fallen.
    fn wait(&mut self, first: Handle, waiting: &Waiting, slot: &Slot) -> Next {
        let unseen = slot.idle.saturating_sub(self.seen_idle);
        let sinks = self.time_to_sink(slot.pace);
        if sinks > unseen {
            return Next::NotBefore(slot.start + (sinks - unseen));
        }
        // the link is busy from now on: update the average
        self.average.decay(self.services(unseen, slot.pace));
        self.seen_idle = Time::ZERO;
        self.send(first, waiting)
    }

    /// How long an idle link takes until the average is below `x_m`.
    fn time_to_sink(&self, pace: Pace) -> Time {
        let packets = libm::log(self.curve.x_m / self.average.value())
            / libm::log(1.0 - self.average.weight().min(1.0 - 1e-9));
        let service_s = pace.of(self.mean_packet as u64).secs();
        // slightly more than exact: at x_m itself a step still blocks
        Time::from_secs_f64((packets * (1.0 + 1e-9) + 1e-6).max(0.0) * service_s)
    }
}

impl Discipline for Dqm {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.b = self.buffer(found);
        let idle = found.idle.map(|idle| idle.saturating_sub(self.seen_idle));
        let data = Sum { packets: waiting.packets(), bytes: waiting.bytes() };
        let queue = if self.shared { data.with(self.connections) } else { data };
        let nothing = idle.is_some() && data.packets == 0;
        let fits = nothing || found.room.fits(queue, packet.size);
        let seen = ArrivalContext { queue: data, fits, idle, ..*found };
        match idle {
            Some(idle) => self.average.decay(self.services(idle, found.pace)),
            None => self.average.sample(self.counted(data.packets)),
        }
        let verdict = if self.connects(packet) {
            self.open(packet, &seen, fits, draw)
        } else {
            self.holding = false;
            self.beneath.arrive(packet, waiting, &seen, draw)
        };
        // the arrival was not queued, so the link stays idle; its idle time is now in the average
        let queued = matches!(verdict.on(packet), Verdict::Pass | Verdict::Mark(_));
        let waits_on = found.idle.filter(|_| !queued || self.holding);
        self.seen_idle = waits_on.unwrap_or(Time::ZERO);
        verdict
    }

    fn looks_at_ingress(&self) -> bool {
        self.ingress
    }

    fn come_in(&mut self, packet: &Packet, found: &ArrivalContext, draw: &mut dyn Draw) -> Verdict {
        if !self.ingress || !self.connects(packet) || Self::answers(packet) {
            return Verdict::Pass;
        }
        let data = found.queue.packets - self.connections.packets;
        let x = match self.measure {
            Measure::Average => self.average(found.idle, found.pace).unwrap_or_default(),
            Measure::Instantaneous => self.counted(data),
        };
        self.b = self.buffer(found);
        if self.passes(x, draw) { Verdict::Pass } else { Verdict::Drop(Reason::Connection) }
    }

    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        let Some(packet) = waiting.get(handle).filter(|packet| self.connects(packet)) else {
            return self.beneath.taken(handle, waiting);
        };
        self.connections.add(packet);
        waiting.set_aside(handle);
        let held = std::mem::take(&mut self.holding);
        let list = if held { &mut self.held } else { &mut self.passing };
        list.push(handle, &mut self.links);
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, draw: &mut dyn Draw) -> Next {
        let released =
            self.held.is_empty() || self.curve.at(self.length(waiting.packets()), self.b) == 0.0;
        let connection = self.connection(waiting, released);
        match (connection, waiting.oldest()) {
            (Some(connection), None) => self.send(connection, waiting),
            (Some(connection), Some(data)) if self.goes_first(connection, data, waiting) => {
                self.send(connection, waiting)
            }
            (_, Some(_)) => self.beneath.next(waiting, slot, draw),
            (None, None) => match self.held.oldest() {
                Some(first) => self.wait(first, waiting, slot),
                None => Next::NotBefore(slot.start),
            },
        }
    }

    fn start(&mut self, now: Time) -> Result<Time, Fault> {
        self.beneath.start(now)
    }

    fn tick(&mut self, now: Time, view: &View<'_>) -> Result<Turn, Fault> {
        self.beneath.tick(now, view)
    }

    fn average(&self, idle: Option<Time>, pace: Pace) -> Option<f64> {
        let unseen = idle.map_or(Time::ZERO, |idle| idle.saturating_sub(self.seen_idle));
        Some(self.average.decayed(self.services(unseen, pace)))
    }

    fn weight(&self) -> Option<f64> {
        Some(self.average.weight())
    }

    fn shaping(&self) -> Option<Shaping> {
        self.beneath.shaping()
    }
}
