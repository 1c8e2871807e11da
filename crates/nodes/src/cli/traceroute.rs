//! `tidegated traceroute`: the route through an active network.

use std::net::SocketAddr;

use clap::Args;

use crate::node::control::{Followed, Following, Remote};
use tidegate_common::fail::Failure;
use tidegate_common::output;

/// Trace a route: each node with its time and its queue length
#[derive(Args, Debug)]
pub struct Traceroute {
    /// The `control` address of the node to start from
    #[arg(long, value_name = "ADDRESS")]
    node: SocketAddr,
    #[command(flatten)]
    route: Following,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

impl Traceroute {
    /// Asks, and prints.
    pub fn run(self) -> Result<(), Failure> {
        let followed = Remote::new(self.node).trace(&self.route)?;
        if self.json {
            return output::say_json(&followed);
        }
        print(&followed);
        let Following { to, wait_ms, .. } = self.route;
        if followed.iter().any(|answer| answer.by == to) {
            return Ok(());
        }
        Err(Failure::failed(to, format!("no answer within {wait_ms} ms")).remedy(
            "the route ends after the last node above, or the next node does not serve active-traceroute",
        ))
    }
}

/// The longest answer has the whole route.
fn print(followed: &[Followed]) {
    let Some(answer) = followed.last() else { return };
    let start = answer.hops.first().map_or(0, |hop| hop.at_us);
    for (index, hop) in answer.hops.iter().enumerate() {
        let after = (hop.at_us as f64 - start as f64) / 1e3;
        let (node, queue) = (hop.node.to_string(), hop.queue_packets);
        output::say(&format!("{index:3}  {node:21}  {after:9.3} ms  {queue} packets wait\n"));
    }
}
