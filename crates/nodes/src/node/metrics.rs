//! A node's metrics for Prometheus.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

use super::status::Status;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByReason {
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByLink {
    link: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByPhase {
    phase: String,
}

type Level = Gauge<f64, AtomicU64>;

/// The answer to a scrape.
pub(super) fn page(status: &Status) -> String {
    let mut registry = Registry::with_prefix("tidegate_node");
    let mut total = |name: &str, help: &str, value: u64| {
        let counter = Counter::<u64>::default();
        counter.inc_by(value);
        registry.register(name, help, counter);
    };
    total("received", "Datagrams that came", status.received);
    total("sent", "Datagrams that were sent on to a neighbour", status.sent);
    total("delivered", "Datagrams that were for this node", status.delivered);
    let drops = Family::<ByReason, Counter>::default();
    for (reason, count) in &status.drops {
        drops.get_or_create(&ByReason { reason: reason.clone() }).inc_by(*count);
    }
    registry.register("drops", "Datagrams and requests that were dropped", drops);
    let (queue, average) = (Family::<ByLink, Level>::default(), Family::<ByLink, Level>::default());
    for link in &status.links {
        let label = ByLink { link: link.name.clone() };
        queue.get_or_create(&label).set(f64::from(link.queue_packets));
        if let Some(value) = link.avg_queue_packets {
            average.get_or_create(&label).set(value);
        }
    }
    registry.register("queue_packets", "Packets that wait for a link", queue);
    registry.register("avg_queue_packets", "Their average, as LGC keeps it", average);
    let filters: Level = Gauge::default();
    filters.set(status.filters.len() as f64);
    registry.register("filters", "Filters at work", filters);
    // from the stored events: LGC's recent decisions
    let events = Family::<ByPhase, Level>::default();
    for event in &status.events {
        events.get_or_create(&ByPhase { phase: event.phase.clone() }).inc();
    }
    registry.register("events_kept", "What LGC did, among the last 1024 events", events);
    let up: Level = Gauge::default();
    up.set(status.up_s);
    registry.register("up_seconds", "Time since the node started", up);
    let mut page = String::new();
    // writing to a string does not fail
    let _ = encode(&mut page, &registry);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    // The exposition format of Prometheus: a counter ends in _total, a label stands in braces.
    #[test]
    fn a_scrape_names_every_reason() {
        let drops = [("filtered".to_owned(), 7), ("forged".to_owned(), 0)].into();
        let page = page(&Status { received: 12, drops, ..Status::default() });
        assert!(page.contains("tidegate_node_received_total 12\n"), "{page}");
        assert!(page.contains("tidegate_node_drops_total{reason=\"filtered\"} 7\n"), "{page}");
        assert!(page.contains("tidegate_node_drops_total{reason=\"forged\"} 0\n"), "{page}");
        assert!(page.ends_with("# EOF\n"), "{page}");
    }
}
