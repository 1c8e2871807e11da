//! The program `tidegated`: tidegate on real packets.

use std::process::ExitCode;

fn main() -> ExitCode {
    tidegate_live::cli::main()
}
