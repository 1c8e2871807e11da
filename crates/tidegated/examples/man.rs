//! Writes the manual pages of `tidegated` and of each of its commands to a folder.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("man: name the folder");
        return ExitCode::from(2);
    };
    match clap_mangen::generate_to(tidegated::command(), folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("man: {error}");
            ExitCode::FAILURE
        }
    }
}
