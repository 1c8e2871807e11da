//! The commands of the gate, one file each.

mod clean;
mod doctor;
mod gate;
mod status;

use clap::Subcommand;
use tidegate_common::fail::Failure;

/// A command of the gate.
#[derive(Subcommand, Debug)]
#[allow(missing_docs, reason = "the help of a command is that of its arguments")]
pub enum Command {
    Gate(Box<gate::GateArgs>),
    Status(status::Status),
    Doctor(doctor::Doctor),
    Clean(clean::Clean),
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// It failed, or an argument or a file is wrong.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Gate(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Doctor(command) => command.run(),
            Command::Clean(command) => command.run(),
        }
    }
}
