//! The program `tidegated`: the commands of the gate, of the emulator and of the nodes.
//!
//! Exit codes: 0, done; 1, the command failed; 2, an argument or a file is wrong.
//! Results go to standard output, everything else to standard error.

mod reference;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tidegate_common::fail::Failure;
use tracing::level_filters::LevelFilter;

/// Congestion control in the network, on real packets.
#[derive(Parser, Debug)]
#[command(name = "tidegated", version, arg_required_else_help = true)]
struct Arguments {
    /// Level of the log on standard error: off, error, warn, info, debug
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    log: LevelFilter,
    /// Log one JSON object per event
    #[arg(long, global = true)]
    log_json: bool,
    #[command(subcommand)]
    command: Command,
}

/// The commands of each product.
#[derive(Subcommand, Debug)]
enum Command {
    #[cfg(feature = "gate")]
    #[command(flatten)]
    Gate(tidegate_gate::cli::Command),
    #[cfg(all(feature = "emulate", target_os = "linux"))]
    #[command(flatten)]
    Emulate(tidegate_emulate::cli::Command),
    #[cfg(feature = "nodes")]
    #[command(flatten)]
    Nodes(tidegate_nodes::cli::Command),
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            #[cfg(feature = "gate")]
            Command::Gate(command) => command.run(),
            #[cfg(all(feature = "emulate", target_os = "linux"))]
            Command::Emulate(command) => command.run(),
            #[cfg(feature = "nodes")]
            Command::Nodes(command) => command.run(),
        }
    }
}

impl Arguments {
    fn start_log(&self) {
        let log = tracing_subscriber::fmt().with_max_level(self.log).with_writer(std::io::stderr);
        if self.log_json { log.json().init() } else { log.init() }
    }
}

/// Runs the program on the arguments that it was started with.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    arguments.start_log();
    match arguments.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("tidegated: {failure}");
            failure.code()
        }
    }
}

/// The program's arguments and commands, for its manual pages.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// The name of each command, and its part of the page of commands.
pub fn reference() -> Vec<(String, String)> {
    reference::sections(&Arguments::command())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    // clap's own check: no two options of a command collide.
    #[test]
    fn the_arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
