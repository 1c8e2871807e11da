//! What is measured: columns of flows, ports and decisions.

use tidegate_core::law::{Decision, Reason, session};
use tidegate_core::port::{Counters, Port, Ticked};
use tidegate_core::units::Time;
use tidegate_model::scenario::{self, Scenario};

use crate::rows::{Row, UNLIMITED};
use crate::services::Decided;

/// One column of a result table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name, with the unit.
    pub name: &'static str,
    /// Its values.
    pub data: Data,
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Real numbers; NaN where there is none.
    F64(Vec<f64>),
    /// Counts.
    U64(Vec<u64>),
    /// Small counts.
    U32(Vec<u32>),
    /// Names, each stored once.
    Category {
        /// Place of each value in `names`.
        codes: Vec<u32>,
        /// The names.
        names: Vec<String>,
    },
}

/// Everything that a run measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// A row per flow.
    pub flows: Vec<Column>,
    /// A row per port and sampling interval.
    pub ports: Vec<Column>,
    /// A row per decision of a law.
    pub events: Vec<Column>,
    /// A row per packet that came to a port whose arrivals are recorded.
    pub arrivals: Vec<Column>,
    /// A row per interval and flow that is followed; no column where none is.
    pub flow_series: Vec<Column>,
    /// A row per interval and class that is followed; no column where none is.
    pub class_series: Vec<Column>,
    /// A row per interval, port and class that is followed; no column where none is.
    pub queue_series: Vec<Column>,
    /// A row per class of UDP.
    pub udp: Vec<Column>,
    /// A row per viewer of video; no column where there is none.
    pub video: Vec<Column>,
    /// A row per port, from the warm-up to the end.
    pub port_totals: Vec<Column>,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Data packets that reached their receiver.
    pub delivered_packets: u64,
}

fn seconds(at: Time) -> f64 {
    if at == Time::NEVER { f64::NAN } else { at.secs() }
}

/// The `flows` table.
pub(crate) fn flow_columns(rows: &[Row], scenario: &Scenario) -> Vec<Column> {
    let real = |name, value: fn(&Row) -> f64| Column {
        name,
        data: Data::F64(rows.iter().map(value).collect()),
    };
    let count = |name, value: fn(&Row) -> u32| Column {
        name,
        data: Data::U32(rows.iter().map(value).collect()),
    };
    let span = |from: Time, to: Time| {
        if from == Time::NEVER || to == Time::NEVER { f64::NAN } else { (to - from).secs() }
    };
    let fct: Vec<f64> = rows.iter().map(|row| span(row.start, row.closed)).collect();
    let fct_admitted = rows.iter().map(|row| span(row.admitted, row.closed)).collect();
    let goodput =
        rows.iter().zip(&fct).map(|(row, fct)| row.delivered as f64 * 8.0 / fct).collect();
    vec![
        Column { name: "flow", data: Data::U64((0..rows.len() as u64).collect()) },
        Column {
            name: "class",
            data: Data::Category {
                codes: rows.iter().map(|row| u32::from(row.class)).collect(),
                names: scenario.traffic.iter().map(|class| class.name.clone()).collect(),
            },
        },
        real("size_bytes", |row| if row.size == UNLIMITED { f64::NAN } else { row.size as f64 }),
        real("start_s", |row| seconds(row.start)),
        real("admitted_s", |row| seconds(row.admitted)),
        real("data_done_s", |row| seconds(row.data_done)),
        real("closed_s", |row| seconds(row.closed)),
        real("gave_up_s", |row| seconds(row.gave_up)),
        Column { name: "fct_s", data: Data::F64(fct) },
        Column { name: "fct_admitted_s", data: Data::F64(fct_admitted) },
        Column { name: "goodput_bps", data: Data::F64(goodput) },
        count("syn_tries", |row| u32::from(row.syn_tries)),
        count("retransmitted_packets", |row| row.retransmitted),
        count("timeouts", |row| row.timeouts),
        count("sent_packets", |row| row.sent),
        Column {
            name: "delivered_bytes",
            data: Data::U64(rows.iter().map(|row| row.delivered).collect()),
        },
    ]
}

/// A port's counters at an instant.
#[derive(Clone, Copy, Default)]
struct Snapshot {
    counters: Counters,
    waiting_ps: u64,
    busy_ps: u64,
    at: Time,
}

impl Snapshot {
    fn of(port: &mut Port, now: Time) -> Snapshot {
        port.advance(now);
        Snapshot {
            counters: port.counters(),
            waiting_ps: port.waiting_ps(now),
            busy_ps: port.busy_ps(now),
            at: now,
        }
    }
}

/// One row of a table of ports: what happened between two snapshots.
struct PortRow {
    time: Time,
    port: u32,
    capacity_bps: u64,
    counts: [u32; COUNTS.len()],
    departed_bytes: u64,
    drops: [u32; Reason::COUNT],
    marked: u32,
    queue_packets: u32,
    queue_bytes: u64,
    queue_mean: f64,
    avg_queue: f64,
    utilisation: f64,
}

const COUNTS: [&str; 7] = [
    "syn_arrived",
    "syn_refused",
    "syn_dropped",
    "data_arrived",
    "data_dropped",
    "arrived_packets",
    "departed_packets",
];

const DROPS: [&str; Reason::COUNT] = [
    "drops_queue_full",
    "drops_early",
    "drops_session_refused",
    "drops_evicted",
    "drops_custom",
    "drops_link_loss",
    "drops_connection",
    "drops_filtered",
];

impl PortRow {
    fn between(number: u32, port: &Port, before: &Snapshot, after: &Snapshot) -> PortRow {
        let (old, new) = (&before.counters, &after.counters);
        let refused = Reason::SessionRefused as usize;
        let span = (after.at - before.at).ps().max(1) as f64;
        let mut drops = [0; Reason::COUNT];
        for (drop, (new, old)) in drops.iter_mut().zip(new.drops.iter().zip(&old.drops)) {
            *drop = (new - old) as u32;
        }
        PortRow {
            time: after.at,
            port: number,
            capacity_bps: port.rate().bps(),
            counts: [
                (new.syn_arrived - old.syn_arrived) as u32,
                (new.drops[refused] - old.drops[refused]) as u32,
                (new.syn_dropped - old.syn_dropped) as u32,
                (new.data_arrived - old.data_arrived) as u32,
                (new.data_dropped - old.data_dropped) as u32,
                (new.arrived - old.arrived) as u32,
                (new.departed - old.departed) as u32,
            ],
            departed_bytes: new.departed_bytes - old.departed_bytes,
            drops,
            marked: (new.marked - old.marked) as u32,
            queue_packets: port.queue_packets(),
            queue_bytes: port.queue_bytes(),
            queue_mean: after.waiting_ps.wrapping_sub(before.waiting_ps) as f64 / span,
            avg_queue: port.avg_queue_packets(after.at).unwrap_or(f64::NAN),
            utilisation: (after.busy_ps - before.busy_ps) as f64 / span,
        }
    }
}

fn port_columns(rows: &[PortRow], scenario: &Scenario) -> Vec<Column> {
    let real = |name, value: fn(&PortRow) -> f64| Column {
        name,
        data: Data::F64(rows.iter().map(value).collect()),
    };
    let wide = |name, value: fn(&PortRow) -> u64| Column {
        name,
        data: Data::U64(rows.iter().map(value).collect()),
    };
    let mut columns = vec![
        real("time_s", |row| row.time.secs()),
        Column {
            name: "port",
            data: Data::Category {
                codes: rows.iter().map(|row| row.port).collect(),
                names: port_names(scenario),
            },
        },
        wide("capacity_bps", |row| row.capacity_bps),
    ];
    for (place, name) in COUNTS.into_iter().enumerate() {
        let values = rows.iter().map(|row| row.counts[place]).collect();
        columns.push(Column { name, data: Data::U32(values) });
    }
    columns.push(wide("departed_bytes", |row| row.departed_bytes));
    let filters = scenario.network.ports.iter().any(|port| port.filter.is_some());
    for (place, name) in DROPS.into_iter().enumerate() {
        if place == Reason::Filtered as usize && !filters {
            continue;
        }
        let values = rows.iter().map(|row| row.drops[place]).collect();
        columns.push(Column { name, data: Data::U32(values) });
    }
    columns.push(Column {
        name: "marked",
        data: Data::U32(rows.iter().map(|row| row.marked).collect()),
    });
    columns.push(wide("queue_packets", |row| u64::from(row.queue_packets)));
    columns.push(wide("queue_bytes", |row| row.queue_bytes));
    columns.push(real("queue_mean_packets", |row| row.queue_mean));
    columns.push(real("avg_queue_packets", |row| row.avg_queue));
    columns.push(real("utilisation", |row| row.utilisation));
    columns
}

fn port_names(scenario: &Scenario) -> Vec<String> {
    scenario.network.ports.iter().map(|port| port.name.clone()).collect()
}

/// A row of the `events` table.
struct EventRow {
    time: Time,
    port: u32,
    /// Which of the port's laws decided.
    by: By,
    decision: Decision,
    counts: session::Counts,
}

/// A law of a port, by the stage that it steers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Gate,
    Stamp,
    Queue,
    Filter,
}

/// The names of the laws that may have decided, and which one did in each row.
fn event_laws(rows: &[EventRow], scenario: &Scenario) -> (Vec<String>, Vec<u32>) {
    // of each port the law of its gate, then that of its stamp; the laws of
    // queues and of filters come behind them, where one has decided anything
    let ports = &scenario.network.ports;
    let mut laws: Vec<String> = Vec::new();
    for port in ports {
        laws.push(port.gate.as_ref().map_or("", |gate| gate.law.name()).to_owned());
        laws.push(port.stamp.as_ref().map_or("", |law| law.name()).to_owned());
    }
    if rows.iter().any(|row| row.by == By::Queue) {
        laws.extend(ports.iter().map(|port| port.queue.key().to_owned()));
    }
    let filters = laws.len() as u32;
    if rows.iter().any(|row| row.by == By::Filter) {
        let name = |port: &scenario::Port| port.filter.as_ref().map_or("", |law| law.name());
        laws.extend(ports.iter().map(|port| name(port).to_owned()));
    }
    let law = |row: &EventRow| match row.by {
        By::Gate => row.port * 2,
        By::Stamp => row.port * 2 + 1,
        By::Queue => ports.len() as u32 * 2 + row.port,
        By::Filter => filters + row.port,
    };
    (laws, rows.iter().map(law).collect())
}

fn event_columns(rows: &[EventRow], scenario: &Scenario) -> Vec<Column> {
    let real = |name, value: fn(&EventRow) -> f64| Column {
        name,
        data: Data::F64(rows.iter().map(value).collect()),
    };
    let wide = |name, value: fn(&EventRow) -> u64| Column {
        name,
        data: Data::U64(rows.iter().map(value).collect()),
    };
    let (laws, law) = event_laws(rows, scenario);
    let mut phases: Vec<String> = Vec::new();
    let codes = rows
        .iter()
        .map(|row| {
            let phase = row.decision.phase;
            let known = phases.iter().position(|name| name == phase);
            known.unwrap_or_else(|| {
                phases.push(phase.to_owned());
                phases.len() - 1
            }) as u32
        })
        .collect();
    let ports: Vec<u32> = rows.iter().map(|row| row.port).collect();
    vec![
        real("time_s", |row| row.time.secs()),
        Column { name: "port", data: Data::Category { codes: ports, names: port_names(scenario) } },
        Column { name: "law", data: Data::Category { codes: law, names: laws } },
        Column { name: "phase", data: Data::Category { codes, names: phases } },
        real("set", |row| row.decision.set),
        real("from", |row| row.decision.from),
        wide("arrived", |row| row.counts.arrived),
        wide("admitted", |row| row.counts.admitted),
        wide("departed", |row| row.counts.departed),
    ]
}

/// Collects rows while the run goes on.
pub(crate) struct Probe {
    /// Which ports get rows over time.
    sampled: Vec<u32>,
    last: Vec<Snapshot>,
    warm: Vec<Snapshot>,
    rows: Vec<PortRow>,
    events: Vec<EventRow>,
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
            rows: Vec::new(),
            events: Vec::new(),
        }
    }

    /// The warm-up is over.
    pub(crate) fn warm(&mut self, ports: &mut [Port], now: Time) {
        for (snapshot, port) in self.warm.iter_mut().zip(ports) {
            *snapshot = Snapshot::of(port, now);
        }
    }

    /// A sampling interval is over.
    pub(crate) fn sample(&mut self, ports: &mut [Port], now: Time) {
        for (&number, last) in self.sampled.iter().zip(&mut self.last) {
            let port = &mut ports[number as usize];
            let next = Snapshot::of(port, now);
            self.rows.push(PortRow::between(number, port, last, &next));
            *last = next;
        }
    }

    /// A law has decided.
    pub(crate) fn decision(&mut self, time: Time, port: u32, ticked: Ticked) {
        let none = session::Counts::default();
        let (by, counts, decision) = match ticked {
            Ticked::Gate { counts, decision } => (By::Gate, counts, decision),
            Ticked::Queue(decision) => (By::Queue, none, decision),
            Ticked::Stamp(decision) => (By::Stamp, none, decision),
        };
        self.events.push(EventRow { time, port, by, decision, counts });
    }

    /// The laws of filters have decided, in the order of time.
    pub(crate) fn decided(&mut self, decided: &mut Vec<Decided>) {
        let counts = session::Counts::default();
        self.events.extend(decided.drain(..).map(|Decided { time, port, decision }| EventRow {
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
        let totals: Vec<PortRow> = ports
            .iter_mut()
            .zip(&self.warm)
            .enumerate()
            .map(|(number, (port, warm))| {
                let end = Snapshot::of(port, now);
                PortRow::between(number as u32, port, warm, &end)
            })
            .collect();
        (
            port_columns(&self.rows, scenario),
            event_columns(&self.events, scenario),
            port_columns(&totals, scenario),
        )
    }
}
