//! The commands of the nodes and of the testbed, one file each.

mod bench_node;
mod node;
mod node_status;
mod send;
mod testbed;
mod traceroute;

use clap::Subcommand;
use tidegate_common::fail::Failure;

/// A command of the nodes or of the testbed.
#[derive(Subcommand, Debug)]
#[allow(missing_docs, reason = "the help of a command is that of its arguments")]
pub enum Command {
    Node(node::Node),
    NodeStatus(node_status::NodeStatus),
    Send(send::Send),
    Traceroute(traceroute::Traceroute),
    Testbed(testbed::Testbed),
    BenchNode(bench_node::BenchNode),
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// It failed, or an argument or a file is wrong.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Node(command) => command.run(),
            Command::NodeStatus(command) => command.run(),
            Command::Send(command) => command.run(),
            Command::Traceroute(command) => command.run(),
            Command::Testbed(command) => command.run(),
            Command::BenchNode(command) => command.run(),
        }
    }
}
