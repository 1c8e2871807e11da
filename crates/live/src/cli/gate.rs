//! `tidegated gate`: control the sessions that leave by an interface.

use std::path::PathBuf;

use clap::Args;

use crate::fail::Failure;
use crate::gate::config::Config;
use crate::gate::controller;

/// Control the sessions that leave by an interface, until interrupted
///
/// SIGHUP reloads the file. SIGTERM and SIGINT end the gate and remove its
/// programs and its shaper. If the gate stops working, everything passes.
#[derive(Args, Debug)]
pub struct Gate {
    /// The configuration of the gate (TOML)
    #[arg(long, value_name = "FILE", default_value = "/etc/tidegate/gate.toml")]
    config: PathBuf,
    /// Check the file and exit
    #[arg(long)]
    check: bool,
}

impl Gate {
    /// Runs the gate, or checks its file.
    pub fn run(self) -> Result<(), Failure> {
        if self.check {
            let config = Config::read(&self.config)?;
            println!("{}: valid, for interface {}", self.config.display(), config.interface);
            return Ok(());
        }
        controller::run(&self.config)
    }
}
