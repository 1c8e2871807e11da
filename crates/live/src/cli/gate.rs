//! `tidegated gate`: control the sessions that leave by an interface.

use std::path::PathBuf;

use clap::Args;

use crate::fail::Failure;
use crate::gate::config::Config;
use crate::gate::controller;

/// Control the sessions that leave by an interface, until told to end
///
/// SIGHUP takes a changed file over; SIGTERM and SIGINT end it and take away
/// what it put there. While it does not answer, everything passes.
#[derive(Args, Debug)]
pub struct Gate {
    /// The file that says what to do
    #[arg(long, value_name = "FILE", default_value = "/etc/tidegate/gate.toml")]
    config: PathBuf,
    /// Only check the file
    #[arg(long)]
    check: bool,
}

impl Gate {
    /// Runs the gate, or checks its file.
    pub fn run(self) -> Result<(), Failure> {
        if self.check {
            let config = Config::read(&self.config)?;
            println!("{}: right, for {}", self.config.display(), config.interface);
            return Ok(());
        }
        controller::run(&self.config)
    }
}
