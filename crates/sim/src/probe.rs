//! The results of a run: rows about flows, ports and decisions.

use tidegate_core::law::{Decision, Reason, session};
use tidegate_core::port::{self, Counters, Port, Ticked};
use tidegate_core::units::Time;
use tidegate_model::columns::{Category, Column, EventRow, FlowRow, FlowWindowRow, PortRow, Table};
use tidegate_model::law::filter::FilterLaw;
use tidegate_model::scenario::{Scenario, Transport};

use crate::names::{drops, names};
use crate::rows::{Row, UNLIMITED};
use crate::services::Decided;

/// The results of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// A row per flow.
    pub flows: Vec<Column>,
    /// A row per port and sampling interval.
    pub ports: Vec<Column>,
    /// A row per decision of a law.
    pub events: Vec<Column>,
    /// A row per packet that arrived at a port with recorded arrivals.
    pub arrivals: Vec<Column>,
    /// A row per flow: what the table `flows` does not hold.
    pub flow_window: Vec<Column>,
    /// A row per class: the round trips that its senders measured.
    pub rtt: Vec<Column>,
    /// A row per class and sampling interval: how fast its data reached the receivers.
    pub class_rates: Vec<Column>,
    /// A row per port that is no access link: the length of its queue.
    pub queues: Vec<Column>,
    /// A row per interval and followed flow; no columns if none is followed.
    pub flow_series: Vec<Column>,
    /// A row per interval and followed class; no columns if none is followed.
    pub class_series: Vec<Column>,
    /// A row per interval, port and followed class; no columns if none is followed.
    pub queue_series: Vec<Column>,
    /// A row per acknowledgement of the flows in `series.acks`; no columns if there is none.
    pub acks: Vec<Column>,
    /// A row per UDP class.
    pub udp: Vec<Column>,
    /// A row per viewer of video; no columns if there are no viewers.
    pub video: Vec<Column>,
    /// A row per page; no column where there is none.
    pub pages: Vec<Column>,
    /// A row per object of a page; no column where there is none.
    pub objects: Vec<Column>,
    /// A row per port, from the warm-up to the end.
    pub port_totals: Vec<Column>,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Data packets that reached their receiver.
    pub delivered_packets: u64,
}

impl Results {
    /// The tables by their names.
    pub fn into_tables(self) -> Vec<(&'static str, Vec<Column>)> {
        vec![
            ("flows", self.flows),
            ("ports", self.ports),
            ("events", self.events),
            ("arrivals", self.arrivals),
            ("flow_window", self.flow_window),
            ("rtt", self.rtt),
            ("class_rates", self.class_rates),
            ("queues", self.queues),
            ("flow_series", self.flow_series),
            ("class_series", self.class_series),
            ("queue_series", self.queue_series),
            ("acks", self.acks),
            ("udp", self.udp),
            ("video", self.video),
            ("pages", self.pages),
            ("objects", self.objects),
            ("port_totals", self.port_totals),
        ]
    }
}

fn seconds(at: Time) -> f64 {
    if at == Time::NEVER { f64::NAN } else { at.secs() }
}

/// The `flows` table.
pub(crate) fn flow_columns(rows: &[Row], scenario: &Scenario) -> Vec<Column> {
    // a connection of many objects has no time of completion that anybody waits for
    let timed = |row: &Row| {
        let class = &scenario.traffic[usize::from(row.class)];
        class.pages().is_none() && row.is_complete(matches!(class.transport, Transport::Udp(_)))
    };
    let rows = (0..).zip(rows).map(|(flow, row)| flow_row(flow, row, timed(row)));
    FlowRow::columns(rows, |column| names(scenario, column))
}

/// The row of a flow; `timed`: it has a time of completion.
fn flow_row(flow: u64, row: &Row, timed: bool) -> FlowRow {
    let since = |from: Time| {
        if !timed || from == Time::NEVER || row.closed == Time::NEVER {
            return f64::NAN;
        }
        (row.closed - from).secs()
    };
    let fct_s = since(row.start);
    FlowRow {
        flow,
        class: Category(row.class.into()),
        size_bytes: if row.size == UNLIMITED { f64::NAN } else { row.size as f64 },
        start_s: seconds(row.start),
        admitted_s: seconds(row.admitted),
        data_done_s: seconds(row.data_done),
        closed_s: seconds(row.closed),
        gave_up_s: seconds(row.gave_up),
        fct_s,
        fct_admitted_s: since(row.admitted),
        goodput_bps: row.delivered as f64 * 8.0 / fct_s,
        syn_tries: row.syn_tries.into(),
        retransmitted_packets: row.retransmitted.into(),
        timeouts: row.timeouts,
        sent_packets: row.sent,
        delivered_bytes: row.delivered,
    }
}

/// The `flow_window` table.
pub(crate) fn flow_window_columns(rows: &[Row], scenario: &Scenario) -> Vec<Column> {
    let rows = rows.iter().map(|row| FlowWindowRow {
        reached_s: seconds(row.reached),
        window_bytes: row.delivered - row.delivered_warm,
    });
    FlowWindowRow::columns(rows, |column| names(scenario, column))
}

/// A port's counters at an instant.
#[derive(Clone, Copy, Default)]
struct Snapshot {
    counters: Counters,
    waiting_ps: u128,
    busy_ps: u64,
    shaped_ps: u64,
    possible_bytes: u64,
    at: Time,
}

impl Snapshot {
    fn of(port: &mut Port, now: Time) -> Snapshot {
        port.advance(now);
        Snapshot {
            counters: port.counters(),
            waiting_ps: port.waiting_ps(now),
            busy_ps: port.transmitting_ps(now),
            shaped_ps: port.shaped_ps(now),
            possible_bytes: port.possible_bytes(now),
            at: now,
        }
    }
}

/// Differences between two snapshots of a port.
fn port_row(number: u32, port: &Port, before: &Snapshot, after: &Snapshot) -> PortRow {
    let (old, new) = (&before.counters, &after.counters);
    // of no time at all there are no means: NaN
    let span = (after.at - before.at).ps() as f64;
    let drops = |reason: Reason| new.drops[reason as usize] - old.drops[reason as usize];
    PortRow {
        time_s: after.at.secs(),
        port: Category(number),
        capacity_bps: port.capacity().bps(),
        syn_arrived: new.syn_arrived - old.syn_arrived,
        syn_refused: drops(Reason::SessionRefused),
        syn_dropped: new.syn_dropped - old.syn_dropped,
        data_arrived: new.data_arrived - old.data_arrived,
        data_dropped: new.data_dropped - old.data_dropped,
        arrived_packets: new.arrived - old.arrived,
        departed_packets: new.departed - old.departed,
        departed_bytes: new.departed_bytes - old.departed_bytes,
        possible_bytes: after.possible_bytes - before.possible_bytes,
        drops_queue_full: drops(Reason::QueueFull),
        drops_early: drops(Reason::Early),
        drops_session_refused: drops(Reason::SessionRefused),
        drops_evicted: drops(Reason::Evicted),
        drops_custom: drops(Reason::Custom),
        drops_link_loss: drops(Reason::LinkLoss),
        drops_connection: drops(Reason::Connection),
        drops_filtered: drops(Reason::Filtered),
        drops_policed: drops(Reason::Policed),
        drops_expired: drops(Reason::Expired),
        damaged_packets: new.damaged - old.damaged,
        copied_packets: new.copied - old.copied,
        marked: new.marked - old.marked,
        queue_packets: port.queue_packets().into(),
        queue_bytes: port.queue_bytes(),
        queue_mean_packets: (after.waiting_ps - before.waiting_ps) as f64 / span,
        avg_queue_packets: port.avg_queue_packets(after.at).unwrap_or(f64::NAN),
        utilisation: in_use(before, after) as f64 / span,
    }
}

/// How long the capacity was in use between two snapshots, in picoseconds.
fn in_use(before: &Snapshot, after: &Snapshot) -> u64 {
    let given = after.shaped_ps - before.shaped_ps;
    port::in_use(after.busy_ps - before.busy_ps, given, (after.at - before.at).ps())
}

fn port_columns(rows: Table<PortRow>, scenario: &Scenario) -> Vec<Column> {
    let mut columns = rows.columns(|column| names(scenario, column));
    if scenario.network.ports.iter().all(|port| port.filter.is_none()) {
        columns.retain(|column| column.name != "drops_filtered");
    }
    if !scenario.network.ports.iter().any(|port| port.impairments.traced) {
        columns.retain(|column| column.name != "possible_bytes");
    }
    for (reason, name) in [(Reason::Policed, "drops_policed"), (Reason::Expired, "drops_expired")] {
        if !drops(scenario, reason) {
            columns.retain(|column| column.name != name);
        }
    }
    let ports = &scenario.network.ports;
    if ports.iter().all(|port| port.impairments.corrupt == 0.0) {
        columns.retain(|column| column.name != "damaged_packets");
    }
    if ports.iter().all(|port| port.impairments.duplicate == 0.0) {
        columns.retain(|column| column.name != "copied_packets");
    }
    columns
}

/// A decision of a law, for the `events` table.
struct Event {
    time: Time,
    port: u32,
    /// Which of the port's laws decided.
    by: By,
    decision: Decision,
    counts: session::Counts,
}

/// A law of a port, named by its stage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Gate,
    Stamp,
    Queue,
    Filter,
}

/// The names of the laws in the `law` column, and the index of each row.
fn event_laws(rows: &[Event], scenario: &Scenario) -> (Vec<String>, Vec<u32>) {
    // for each port the laws of its gate and its stamp; then, if any of them has decided anything,
    // the laws of all queues and of all filters
    let ports = &scenario.network.ports;
    let mut laws: Vec<String> = Vec::new();
    for port in ports {
        laws.push(port.gate.as_ref().map_or("", |gate| gate.law.name()).to_owned());
        laws.push(port.stamp.as_ref().map_or("", |law| law.name()).to_owned());
    }
    if rows.iter().any(|row| row.by == By::Queue) {
        laws.extend(ports.iter().map(|port| port.queue.name().to_owned()));
    }
    let filters = laws.len() as u32;
    if rows.iter().any(|row| row.by == By::Filter) {
        let name = |law: &FilterLaw| law.name().to_owned();
        laws.extend(ports.iter().map(|port| port.filter.as_ref().map_or_else(String::new, name)));
    }
    let law = |row: &Event| match row.by {
        By::Gate => row.port * 2,
        By::Stamp => row.port * 2 + 1,
        By::Queue => ports.len() as u32 * 2 + row.port,
        By::Filter => filters + row.port,
    };
    (laws, rows.iter().map(law).collect())
}

fn event_columns(rows: &[Event], scenario: &Scenario) -> Vec<Column> {
    let (laws, law) = event_laws(rows, scenario);
    let mut phases: Vec<&str> = Vec::new();
    let rows: Vec<EventRow> = rows
        .iter()
        .zip(law)
        .map(|(row, law)| {
            let known = phases.iter().position(|name| *name == row.decision.phase);
            let phase = known.unwrap_or_else(|| {
                phases.push(row.decision.phase);
                phases.len() - 1
            });
            EventRow {
                time_s: row.time.secs(),
                port: Category(row.port),
                law: Category(law),
                phase: Category(phase as u32),
                set: row.decision.set,
                from: row.decision.from,
                arrived: row.counts.arrived,
                admitted: row.counts.admitted,
                departed: row.counts.departed,
            }
        })
        .collect();
    EventRow::columns(rows, |column| match column {
        "law" => laws.clone(),
        "phase" => phases.iter().map(|&phase| phase.to_owned()).collect(),
        _ => names(scenario, column),
    })
}

/// Collects rows during the run.
pub(crate) struct Probe {
    /// Which ports get rows over time.
    sampled: Vec<u32>,
    last: Vec<Snapshot>,
    warm: Vec<Snapshot>,
    rows: Table<PortRow>,
    events: Vec<Event>,
}

impl Probe {
    pub(crate) fn new(scenario: &Scenario) -> Probe {
        let ports = &scenario.network.ports;
        let sampled: Vec<u32> = (0..ports.len() as u32)
            .filter(|&port| scenario.sample_access || !ports[port as usize].access)
            .collect();
        Probe {
            last: vec![Snapshot::default(); sampled.len()],
            sampled,
            warm: vec![Snapshot::default(); ports.len()],
            rows: Table::default(),
            events: Vec::new(),
        }
    }

    /// Called at the end of the warm-up.
    pub(crate) fn warm(&mut self, ports: &mut [Port], now: Time) {
        for (snapshot, port) in self.warm.iter_mut().zip(ports) {
            *snapshot = Snapshot::of(port, now);
        }
    }

    /// Called at the end of a sampling interval.
    pub(crate) fn sample(&mut self, ports: &mut [Port], now: Time) {
        for (&number, last) in self.sampled.iter().zip(&mut self.last) {
            let port = &mut ports[number as usize];
            let next = Snapshot::of(port, now);
            self.rows.push(port_row(number, port, last, &next));
            *last = next;
        }
    }

    /// Called when a law has decided.
    pub(crate) fn decision(&mut self, time: Time, port: u32, ticked: Ticked) {
        let none = session::Counts::default();
        let (by, counts, decision) = match ticked {
            Ticked::Gate { counts, decision } => (By::Gate, counts, decision),
            Ticked::Queue(decision) => (By::Queue, none, decision),
            Ticked::Stamp(decision) => (By::Stamp, none, decision),
        };
        self.events.push(Event { time, port, by, decision, counts });
    }

    /// Called when laws of filters have decided, in the order of time.
    pub(crate) fn decided(&mut self, decided: &mut Vec<Decided>) {
        let counts = session::Counts::default();
        self.events.extend(decided.drain(..).map(|Decided { time, port, decision }| Event {
            time,
            port,
            by: By::Filter,
            decision,
            counts,
        }));
    }

    /// Columns of ports over time, of decisions, and of ports over the whole window.
    pub(crate) fn finish(
        self,
        ports: &mut [Port],
        now: Time,
        scenario: &Scenario,
    ) -> (Vec<Column>, Vec<Column>, Vec<Column>) {
        let mut totals = Table::default();
        for (number, (port, warm)) in (0..).zip(ports.iter_mut().zip(&self.warm)) {
            let end = Snapshot::of(port, now);
            totals.push(port_row(number, port, warm, &end));
        }
        (
            port_columns(self.rows, scenario),
            event_columns(&self.events, scenario),
            port_columns(totals, scenario),
        )
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::port::Limit;
    use tidegate_core::units::Rate;
    use tidegate_model::columns::Data;

    use super::*;

    /// The whole numbers of a row, by column.
    fn numbers(row: PortRow) -> Vec<(&'static str, u64)> {
        let columns = PortRow::columns([row], |_| Vec::new());
        let number = |column: Column| match column.data {
            Data::U64(values) => Some((column.name, values[0])),
            Data::U32(values) => Some((column.name, values[0].into())),
            _ => None,
        };
        columns.into_iter().filter_map(number).collect()
    }

    /// Every count of a port is its difference over the interval, whether the count, the
    /// difference or both are beyond 2^32: here before and after 2^32, and over it.
    #[test]
    fn counts_are_right_beyond_32_bits() {
        let port: Port = Port::new(0, Rate::from_bps(1), Time::ZERO, Limit::Packets(1));
        let edge = 1 << 32;
        for (before, after) in [(0, edge - 1), (0, edge), (0, edge + 1), (edge - 7, 3 * edge)] {
            // a difference of its own for each counter
            let at = |base: u64, time: u64| {
                let each = |number: u64| base + time * number;
                Snapshot {
                    counters: Counters {
                        syn_arrived: each(1),
                        syn_dropped: each(2),
                        data_arrived: each(3),
                        data_dropped: each(4),
                        arrived: each(5),
                        departed: each(6),
                        departed_bytes: each(7),
                        marked: each(8),
                        drops: std::array::from_fn(|place| each(20 + place as u64)),
                        ..Counters::default()
                    },
                    at: Time::from_secs(time),
                    ..Snapshot::default()
                }
            };
            let row = numbers(port_row(0, &port, &at(before, 0), &at(after, 1)));
            let found =
                |name: &str| row.iter().find(|(column, _)| *column == name).map(|one| one.1);
            let gained = |number: u64| Some(after - before + number);
            let named = [
                ("syn_arrived", 1),
                ("syn_dropped", 2),
                ("data_arrived", 3),
                ("data_dropped", 4),
                ("arrived_packets", 5),
                ("departed_packets", 6),
                ("departed_bytes", 7),
                ("marked", 8),
            ];
            for (name, number) in named {
                assert_eq!(found(name), gained(number), "{name} from {before} to {after}");
            }
            for (place, reason) in (20..).zip(Reason::ALL) {
                let name = format!("drops_{}", reason.name());
                assert_eq!(found(&name), gained(place), "{name} from {before} to {after}");
            }
            assert_eq!(found("syn_refused"), found("drops_session_refused"));
        }
    }
}
