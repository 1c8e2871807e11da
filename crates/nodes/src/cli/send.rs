//! `tidegated send`: packets into an active network.

use std::net::SocketAddr;

use clap::Args;
use tidegate_core::active::Address;

use crate::node::control::{Injection, Remote};
use tidegate_common::fail::Failure;
use tidegate_common::output;

/// Inject passive or active packets at a node
#[derive(Args, Debug)]
pub struct Send {
    /// The `control` address of the node
    #[arg(long, value_name = "ADDRESS")]
    node: SocketAddr,
    /// The destination
    #[arg(value_name = "TO")]
    to: Address,
    /// Number of packets
    #[arg(long, default_value_t = 1)]
    count: u32,
    /// Payload of each packet
    #[arg(long, default_value = "")]
    payload: String,
    /// Number of the requested service; default: passive packets
    #[arg(long)]
    service: Option<u16>,
    /// Time to live, ms
    #[arg(long, default_value_t = 10_000)]
    life_ms: u32,
}

impl Send {
    /// Passes them to the node.
    pub fn run(self) -> Result<(), Failure> {
        let sent = Remote::new(self.node).send(&Injection {
            to: self.to,
            count: self.count,
            payload: self.payload,
            service: self.service,
            life_ms: self.life_ms,
        })?;
        output::say(&format!("{sent} injected\n"));
        Ok(())
    }
}
