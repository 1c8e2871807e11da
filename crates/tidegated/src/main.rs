//! The program `tidegated`: tidegate on real packets.

use std::process::ExitCode;

fn main() -> ExitCode {
    tidegated::main()
}
