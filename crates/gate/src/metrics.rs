//! The state of a gate as metrics for Prometheus.

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

use super::status::Status;
use tidegate_common::fail::Failure;

/// Makes the metrics from the status at each scrape.
#[derive(Debug)]
struct Gate(watch::Receiver<Status>);

impl Collector for Gate {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let status = self.0.borrow().clone();
        for (name, help, numbers) in [
            ("tidegate_gate_packets", "Packets by what became of them", &status.packets),
            ("tidegate_gate_bytes", "Bytes by what became of them", &status.bytes),
        ] {
            let counter = ConstCounter::new(0u64);
            let mut family = to.encode_descriptor(name, help, None, counter.metric_type())?;
            for (fate, number) in numbers {
                let labels = [("fate", fate.as_str())];
                ConstCounter::new(*number).encode(family.encode_family(&labels)?)?;
            }
        }
        let counters = [
            ("tidegate_gate_openers", "Packets that open a session", status.arrived_total),
            ("tidegate_gate_admitted", "Of these, admitted", status.admitted_total),
            (
                "tidegate_gate_answered",
                "Admitted sessions of which a packet came in behind the SYNs, if that is counted",
                status.answered_total,
            ),
            ("tidegate_gate_ended", "Sessions whose end was counted", status.ended_total),
            (
                "tidegate_gate_clients_served",
                "Clients with an admitted connection, once in a round",
                status.clients_served,
            ),
            (
                "tidegate_gate_clients_waited",
                "Clients that were refused before one was admitted, once in a round",
                status.clients_waited,
            ),
            ("tidegate_gate_queue_drops", "Packets that the queue dropped", status.drops_total),
            ("tidegate_gate_epochs", "Epochs of the law", status.epochs),
            ("tidegate_gate_log_lost", "Lines of the log that were lost", status.log_lost),
        ];
        for (name, help, number) in counters {
            let counter = ConstCounter::new(number);
            let encoder = to.encode_descriptor(name, help, None, counter.metric_type())?;
            counter.encode(encoder)?;
        }
        for (name, help, number) in gauges(&status) {
            let gauge = ConstGauge::new(number);
            gauge.encode(to.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        Ok(())
    }
}

/// Name, help and value of each gauge.
fn gauges(status: &Status) -> [(&'static str, &'static str, f64); 9] {
    [
        (
            "tidegate_gate_allowed",
            "Sessions allowed per epoch, infinite: all",
            status.set.unwrap_or(f64::INFINITY),
        ),
        ("tidegate_gate_decided_from", "What the law decided from", status.from.unwrap_or(0.0)),
        ("tidegate_gate_queue_packets", "Packets that wait", f64::from(status.waiting)),
        (
            "tidegate_gate_sent_bytes_per_second",
            "Bytes a second that left in the last epoch",
            status.rate_bps / 8.0,
        ),
        (
            "tidegate_gate_unseen_share",
            "Share of bytes in which no session can be told",
            status.unseen_share,
        ),
        (
            "tidegate_gate_bypassed_share",
            "Share of bytes that pass the interface and not the gate, where that is most",
            status.bypassed_share,
        ),
        (
            "tidegate_gate_alarm",
            "Whether admitted sessions do not end",
            f64::from(u8::from(status.alarm)),
        ),
        (
            "tidegate_gate_attached",
            "Whether the programs are in place",
            f64::from(u8::from(status.attached)),
        ),
        (
            "tidegate_gate_enforcing",
            "Whether refusals are carried out",
            f64::from(u8::from(status.mode == "enforce")),
        ),
    ]
}

/// The text of the metrics.
fn text(registry: &Registry) -> String {
    let mut text = String::new();
    match encode(&mut text, registry) {
        Ok(()) => text,
        Err(_) => String::new(),
    }
}

/// The metrics of the gate at an interface, which each of them has as a label.
fn registry(interface: &str, status: watch::Receiver<Status>) -> Registry {
    let label = ("interface".into(), interface.to_owned().into());
    let mut registry = Registry::with_labels([label].into_iter());
    registry.register_collector(Box::new(Gate(status)));
    registry
}

/// Serves `/metrics`, as a task of the present runtime.
///
/// # Errors
/// The address cannot be bound.
pub async fn serve(
    address: SocketAddr,
    interface: &str,
    status: watch::Receiver<Status>,
) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::failed(format!("metrics = \"{address}\""), error)
            .remedy("set another `metrics`, or \"\" for none")
    })?;
    let registry = std::sync::Arc::new(registry(interface, status));
    let page = move || {
        let registry = registry.clone();
        async move {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(CONTENT_TYPE, kind)], text(&registry))
        }
    };
    let router = Router::new().route("/metrics", get(page));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::warn!("the metrics server failed: {error}");
        }
    });
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
            ..Status::default()
        };
        let (_keep, seen) = watch::channel(status);
        let text = text(&registry("wan0", seen));
        for line in [
            "tidegate_gate_packets_total{interface=\"wan0\",fate=\"admitted\"} 7",
            "tidegate_gate_epochs_total{interface=\"wan0\"} 3",
            "tidegate_gate_alarm{interface=\"wan0\"} 1.0",
            "tidegate_gate_allowed{interface=\"wan0\"} inf",
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
        let there = text(&registry("wan0", seen));
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
