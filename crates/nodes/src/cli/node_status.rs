//! `tidegated node-status`: the state of a node.

use std::fmt::Write as _;
use std::net::SocketAddr;

use clap::Args;

use crate::node::control::Remote;
use crate::node::status::Status;
use tidegate_common::fail::Failure;
use tidegate_common::output;

/// Show the counters, queues, filters and events of a node
#[derive(Args, Debug)]
pub struct NodeStatus {
    /// The `control` address of the node
    #[arg(value_name = "ADDRESS")]
    node: SocketAddr,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl NodeStatus {
    /// Asks, and prints.
    pub fn run(self) -> Result<(), Failure> {
        let status = Remote::new(self.node).status()?;
        if self.json {
            return output::say_json(&status);
        }
        output::say(&page(&status));
        Ok(())
    }
}

fn page(status: &Status) -> String {
    let mut page = String::new();
    // writing to a string does not fail
    let _ = writeln!(page, "{} at {}, up {:.1} s", status.name, status.address, status.up_s);
    let _ = writeln!(
        page,
        "  received {}, sent {}, delivered {}",
        status.received, status.sent, status.delivered
    );
    for (reason, count) in status.drops.iter().filter(|(_, count)| **count > 0) {
        let _ = writeln!(page, "  dropped, {reason}: {count}");
    }
    for link in &status.links {
        let average =
            link.avg_queue_packets.map_or(String::new(), |avg| format!(", average {avg:.1}"));
        let _ = writeln!(
            page,
            "  link {} to {}: {} packets wait{average}",
            link.name, link.peer, link.queue_packets
        );
    }
    for filter in &status.filters {
        let _ = writeln!(
            page,
            "  filters {} from {} for {:.1} s more",
            filter.origin, filter.from, filter.rest_s
        );
    }
    if let Some(source) = &status.source {
        let done = if source.done { "done" } else { "at work" };
        let _ =
            writeln!(page, "  source: {} packets, {} sent, {done}", source.packets, source.sent);
    }
    for (origin, arrived) in &status.arrived {
        let _ = writeln!(page, "  arrived from {origin}: {} packets", arrived.numbers.count());
    }
    for event in status.events.iter().rev().take(10).rev() {
        let origin = event.origin.map_or("nobody".to_owned(), |origin| origin.to_string());
        let _ =
            writeln!(page, "  {:.3} s: {} {origin} {}", event.time_s, event.phase, event.reason);
    }
    page
}
