//! The command line: one file for each command.
//!
//! Exit codes: 0, done; 1, the command failed; 2, an argument or a file is wrong.
//! Results go to standard output, everything else to standard error.

mod bench_node;
#[cfg(feature = "gate")]
mod doctor;
#[cfg(target_os = "linux")]
mod emulate;
#[cfg(feature = "gate")]
mod gate;
mod node;
mod node_status;
mod reference;
mod send;
#[cfg(feature = "gate")]
mod status;
mod testbed;
mod traceroute;
#[cfg(target_os = "linux")]
mod traffic;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing::level_filters::LevelFilter;

use crate::fail::{At, Failure};

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

#[derive(Subcommand, Debug)]
enum Command {
    Node(node::Node),
    NodeStatus(node_status::NodeStatus),
    Send(send::Send),
    Testbed(testbed::Testbed),
    Traceroute(traceroute::Traceroute),
    #[cfg(target_os = "linux")]
    Traffic(traffic::Traffic),
    #[cfg(target_os = "linux")]
    Emulate(emulate::Emulate),
    BenchNode(bench_node::BenchNode),
    #[cfg(feature = "gate")]
    Gate(gate::Gate),
    #[cfg(feature = "gate")]
    Status(status::Status),
    #[cfg(feature = "gate")]
    Doctor(doctor::Doctor),
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Command::Node(command) => command.run(),
            Command::NodeStatus(command) => command.run(),
            Command::Send(command) => command.run(),
            Command::Testbed(command) => command.run(),
            Command::Traceroute(command) => command.run(),
            #[cfg(target_os = "linux")]
            Command::Traffic(command) => command.run(),
            #[cfg(target_os = "linux")]
            Command::Emulate(command) => command.run(),
            Command::BenchNode(command) => command.run(),
            #[cfg(feature = "gate")]
            Command::Gate(command) => command.run(),
            #[cfg(feature = "gate")]
            Command::Status(command) => command.run(),
            #[cfg(feature = "gate")]
            Command::Doctor(command) => command.run(),
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

/// Of each command its name and what the page of commands says of it.
pub fn reference() -> Vec<(String, String)> {
    reference::sections(&Arguments::command())
}

/// Writes a result to standard output; whoever stopped reading does not want the rest.
fn say(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Writes a result to standard output as one line of JSON.
fn say_json(result: &impl serde::Serialize) -> Result<(), Failure> {
    say(&(serde_json::to_string(result).at("the result")? + "\n"));
    Ok(())
}

/// The text of a file.
fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::usage(path.display(), error))
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
