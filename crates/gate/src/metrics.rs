//! The state of a gate as metrics for Prometheus.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::http;
use super::status::Status;
use super::who::Client;
use tidegate_common::fail::Failure;

/// Interfaces, and the status of the gate of each.
type Boards = Vec<(String, watch::Receiver<Status>)>;

/// Makes the metrics from the status at each scrape; the interface is a label.
#[derive(Debug)]
struct Gates(Boards);

impl Collector for Gates {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let all: Vec<(&str, Status)> =
            self.0.iter().map(|(name, seen)| (name.as_str(), seen.borrow().clone())).collect();
        for (name, help, numbers) in [
            ("tidegate_gate_packets", "Packets by what became of them", by_packets as ByFate),
            ("tidegate_gate_bytes", "Bytes by what became of them", by_bytes),
        ] {
            let kind = ConstCounter::new(0u64).metric_type();
            let mut family = to.encode_descriptor(name, help, None, kind)?;
            for (interface, status) in &all {
                for (fate, number) in numbers(status) {
                    let mut labels = labels(interface, status);
                    labels.push(("fate", fate.as_str()));
                    ConstCounter::new(*number).encode(family.encode_family(&labels)?)?;
                }
            }
        }
        for (name, help, number) in OF_CLIENTS {
            let kind = ConstGauge::new(0.0f64).metric_type();
            let mut family = to.encode_descriptor(name, help, None, kind)?;
            for (interface, status) in &all {
                for client in &status.clients {
                    let mut labels = labels(interface, status);
                    labels.push(("client", &client.address));
                    ConstGauge::new(number(client)).encode(family.encode_family(&labels)?)?;
                }
            }
        }
        for (name, help, number) in COUNTERS {
            let kind = ConstCounter::new(0u64).metric_type();
            let mut family = to.encode_descriptor(name, help, None, kind)?;
            for (interface, status) in &all {
                let labels = labels(interface, status);
                ConstCounter::new(number(status)).encode(family.encode_family(&labels)?)?;
            }
        }
        for (name, help, number) in GAUGES {
            let kind = ConstGauge::new(0.0f64).metric_type();
            let mut family = to.encode_descriptor(name, help, None, kind)?;
            for (interface, status) in &all {
                let labels = labels(interface, status);
                ConstGauge::new(number(status)).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

/// The labels of a gate: its interface, and its direction where the file says it.
fn labels<'a>(interface: &'a str, status: &'a Status) -> Vec<(&'static str, &'a str)> {
    let mut labels = vec![("interface", interface)];
    if !status.direction.is_empty() {
        labels.push(("direction", &status.direction));
    }
    labels
}

type ByFate = fn(&Status) -> &Vec<(String, u64)>;

fn by_packets(status: &Status) -> &Vec<(String, u64)> {
    &status.packets
}

fn by_bytes(status: &Status) -> &Vec<(String, u64)> {
    &status.bytes
}

/// Name, help and value of a metric.
type Metric<Number> = (&'static str, &'static str, fn(&Status) -> Number);

/// Gauges, as who is among those that are shown changes.
type OfClient = (&'static str, &'static str, fn(&Client) -> f64);

const OF_CLIENTS: [OfClient; 4] = [
    ("tidegate_gate_client_openers", "Openers of a client that is shown", |at| at.came as f64),
    (
        "tidegate_gate_client_refused",
        "Of these, refused, or in observe mode those that would have been",
        |at| at.refused as f64,
    ),
    ("tidegate_gate_client_bytes", "Bytes to it, or from it", |at| at.bytes as f64),
    ("tidegate_gate_client_waited_seconds", "Time from refusals to admissions", |at| at.waited_s),
];

const COUNTERS: [Metric<u64>; 10] = [
    ("tidegate_gate_openers", "Packets that open a session", |at| at.arrived_total),
    (
        "tidegate_gate_admitted",
        "Of these, passed, or in observe mode those that would have",
        |at| at.admitted_total,
    ),
    (
        "tidegate_gate_answered",
        "Admitted sessions of which more than SYNs was seen, if that is counted",
        |at| at.answered_total,
    ),
    ("tidegate_gate_ended", "Sessions whose end was counted", |at| at.ended_total),
    (
        "tidegate_gate_clients_served",
        "Clients with an admitted connection, once in a round",
        |at| at.clients_served,
    ),
    (
        "tidegate_gate_clients_waited",
        "Clients that were refused before one was admitted, once in a round",
        |at| at.clients_waited,
    ),
    ("tidegate_gate_sent_bytes", "Bytes that left by the interface", |at| at.sent_bytes),
    ("tidegate_gate_queue_drops", "Packets that the queue dropped", |at| at.drops_total),
    ("tidegate_gate_epochs", "Epochs of the law", |at| at.epochs),
    ("tidegate_gate_log_lost", "Lines of the log that were lost", |at| at.log_lost),
];

const GAUGES: [Metric<f64>; 11] = [
    ("tidegate_gate_allowed", "Sessions allowed per epoch, infinite: all", |at| {
        at.set.unwrap_or(f64::INFINITY)
    }),
    ("tidegate_gate_decided_from", "What the law decided from", |at| at.from.unwrap_or(0.0)),
    ("tidegate_gate_queue_packets", "Packets that wait", |at| f64::from(at.waiting)),
    ("tidegate_gate_sent_bytes_per_second", "Bytes a second that left in the last epoch", |at| {
        at.rate_bps / 8.0
    }),
    (
        "tidegate_gate_link_bytes_per_second",
        "Rate of the link, if the file sets it; else 0",
        |at| at.link_bps / 8.0,
    ),
    ("tidegate_gate_epoch_seconds", "Length of the last epoch", |at| at.epoch_s),
    ("tidegate_gate_unseen_share", "Share of bytes in which no session can be told", |at| {
        at.unseen_share.unwrap_or(0.0)
    }),
    (
        "tidegate_gate_bypassed_share",
        "Share of bytes that pass the interface and not the gate, where that is most",
        |at| at.bypassed_share,
    ),
    ("tidegate_gate_alarm", "Whether admitted sessions do not end", |at| one(at.alarm)),
    ("tidegate_gate_attached", "Whether the programs are in place", |at| one(at.attached)),
    ("tidegate_gate_enforcing", "Whether refusals are carried out", |at| one(at.mode == "enforce")),
];

fn one(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The text of the metrics.
fn text(registry: &Registry) -> String {
    let mut text = String::new();
    match encode(&mut text, registry) {
        Ok(()) => text,
        Err(_) => String::new(),
    }
}

/// The metrics of these gates.
fn registry(boards: Boards) -> Registry {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Gates(boards)));
    registry
}

/// Where a gate's metrics are to be served, whether they must be, its interface and its status.
pub type Endpoint = (Option<SocketAddr>, bool, String, watch::Receiver<Status>);

/// Serves the metrics of all gates that name an address there, as a task of the present runtime.
///
/// # Errors
/// An address that a file sets cannot be bound.
pub async fn serve_all(wanted: impl Iterator<Item = Endpoint>) -> Result<(), Failure> {
    let mut places: BTreeMap<SocketAddr, (bool, Boards)> = BTreeMap::new();
    for (address, must, interface, status) in wanted {
        if let Some(address) = address {
            let place = places.entry(address).or_default();
            place.0 |= must;
            place.1.push((interface, status));
        }
    }
    for (address, (must, boards)) in places {
        match serve(address, boards).await {
            // perhaps another gate of this machine has the usual port
            Err(failure) if !must => tracing::warn!("no metrics: {failure}"),
            served => served?,
        }
    }
    Ok(())
}

/// Serves `/metrics`.
async fn serve(address: SocketAddr, boards: Boards) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::failed(format!("metrics = \"{address}\""), error)
            .remedy("set another `metrics`, or \"\" for none")
    })?;
    let registry = std::sync::Arc::new(registry(boards));
    let page = move || {
        let registry = registry.clone();
        async move {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(CONTENT_TYPE, kind)], text(&registry))
        }
    };
    let router = Router::new().route("/metrics", get(page));
    tokio::spawn(http::answer(listener, router));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // OpenMetrics: a counter ends in _total, a family has one line a label.
    #[test]
    fn counters_and_gauges_are_written() {
        let status = Status {
            packets: vec![("admitted".to_owned(), 7)],
            set: None,
            alarm: true,
            epochs: 3,
            direction: "up".to_owned(),
            clients: vec![Client {
                address: "192.0.2.7".to_owned(),
                refused: 5,
                ..Client::default()
            }],
            ..Status::default()
        };
        let (_keep, seen) = watch::channel(status);
        let text = text(&registry(vec![("wan0".to_owned(), seen)]));
        for line in [
            "tidegate_gate_packets_total{interface=\"wan0\",direction=\"up\",fate=\"admitted\"} 7",
            "tidegate_gate_epochs_total{interface=\"wan0\",direction=\"up\"} 3",
            "tidegate_gate_alarm{interface=\"wan0\",direction=\"up\"} 1.0",
            "tidegate_gate_allowed{interface=\"wan0\",direction=\"up\"} inf",
            "tidegate_gate_client_refused{interface=\"wan0\",direction=\"up\",client=\"192.0.2.7\"} 5.0",
        ] {
            assert!(text.lines().any(|found| found == line), "`{line}` is not in\n{text}");
        }
    }

    // Dashboard and alert rules use metrics that the gate has: every name in them is one here.
    #[test]
    fn dashboard_and_alerts_name_metrics_that_there_are() {
        let packets = vec![("admitted".to_owned(), 1)];
        let status = Status { packets: packets.clone(), bytes: packets, ..Status::default() };
        let (_keep, seen) = watch::channel(status);
        let there = text(&registry(vec![("wan0".to_owned(), seen)]));
        let there: Vec<_> = there.lines().filter_map(|line| line.split_once('{')).collect();
        for file in [include_str!("../etc/grafana-gate.json"), include_str!("../etc/alerts.yml")] {
            let words = file.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let named: Vec<_> = words.filter(|word| word.starts_with("tidegate_gate_")).collect();
            assert!(named.len() > 5);
            for name in named {
                assert!(there.iter().any(|(metric, _)| *metric == name), "no metric {name}");
            }
        }
    }
}
