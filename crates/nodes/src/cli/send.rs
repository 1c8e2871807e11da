//! `tidegated send`: packets into an active network.

use std::net::SocketAddr;

use clap::Args;

use crate::node::control::{Injection, Remote};
use tidegate_common::fail::Failure;
use tidegate_common::output;

/// Inject passive or active packets at a node
#[derive(Args, Debug)]
pub struct Send {
    /// The `control` address of the node
    #[arg(long, value_name = "ADDRESS")]
    node: SocketAddr,
    #[command(flatten)]
    packets: Injection,
}

impl Send {
    /// Passes them to the node.
    pub fn run(self) -> Result<(), Failure> {
        let sent = Remote::new(self.node).send(&self.packets)?;
        output::say(&format!("{sent} injected\n"));
        Ok(())
    }
}
