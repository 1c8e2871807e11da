//! The command line: one file a command.
//!
//! Exit codes: 0, done; 1, what was asked for did not work out; 2, what was
//! asked for is wrong. Results go to standard output, everything else to
//! standard error.

mod about;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::fail::Failure;

/// Congestion control in the network, on real packets.
#[derive(Parser, Debug)]
#[command(name = "tidegated", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    About(about::About),
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Command::About(command) => command.run(),
        }
    }
}

/// Runs the program on the arguments that it was started with.
pub fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("tidegated: {failure}");
            failure.code()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    // clap's own check: no two options of a command collide.
    #[test]
    fn the_arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
