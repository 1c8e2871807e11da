//! `tidegated doctor`: whether a gate can work on this machine.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::doctor::examine;
use tidegate_common::fail::Failure;
use tidegate_common::output;

/// Check whether a gate can work on this machine
#[derive(Args, Debug)]
pub struct Doctor {
    /// Also check this interface
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Watch the traffic of both directions for this long, and report the share of each that a gate cannot see
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "interface", value_parser = clap::value_parser!(u64).range(0..=600))]
    watch: u64,
    /// Folder that holds /run, /proc and /sys
    #[arg(long, value_name = "PATH", default_value = "/", hide = true)]
    root: PathBuf,
}

impl Doctor {
    /// Prints one line per check, with the remedy if it fails.
    pub fn run(self) -> Result<(), Failure> {
        let watch = Duration::from_secs(self.watch);
        let findings = examine(self.interface.as_deref(), watch, &self.root);
        for finding in &findings {
            output::say(&finding.to_string());
        }
        let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
        if wrong == 0 {
            return Ok(());
        }
        let what = if wrong == 1 { "one check".to_owned() } else { format!("{wrong} checks") };
        Err(Failure::failed("doctor", format!("{what} failed: no gate can work here")))
    }
}
