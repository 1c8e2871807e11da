//! The commands of the emulator and of its traffic, one file each.

mod emulate;
mod traffic;

use clap::Subcommand;
use tidegate_common::fail::Failure;

/// A command of the emulator or of its traffic.
#[derive(Subcommand, Debug)]
#[allow(missing_docs, reason = "the help of a command is that of its arguments")]
pub enum Command {
    Emulate(emulate::Emulate),
    Traffic(traffic::Traffic),
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// It failed, or an argument or a file is wrong.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Emulate(command) => command.run(),
            Command::Traffic(command) => command.run(),
        }
    }
}
