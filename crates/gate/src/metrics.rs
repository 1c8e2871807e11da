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
fn gauges(status: &Status) -> [(&'static str, &'static str, f64); 8] {
    [
        (
            "tidegate_gate_allowed",
            "Sessions allowed per epoch, infinite: all",
            status.set.unwrap_or(f64::INFINITY),
        ),
        ("tidegate_gate_decided_from", "What the law decided from", status.from.unwrap_or(0.0)),
        ("tidegate_gate_queue_packets", "Packets that wait", f64::from(status.waiting)),
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

/// Serves `/metrics`, as a task of the present runtime.
///
/// # Errors
/// The address cannot be bound.
pub async fn serve(address: SocketAddr, status: watch::Receiver<Status>) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::failed(format!("metrics = \"{address}\""), error)
            .remedy("set another `metrics`, or \"\" for none")
    })?;
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Gate(status)));
    let registry = std::sync::Arc::new(registry);
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
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Gate(seen)));
        let text = text(&registry);
        for line in [
            "tidegate_gate_packets_total{fate=\"admitted\"} 7",
            "tidegate_gate_epochs_total 3",
            "tidegate_gate_alarm 1.0",
            "tidegate_gate_allowed inf",
        ] {
            assert!(text.lines().any(|found| found == line), "`{line}` is not in\n{text}");
        }
    }
}
