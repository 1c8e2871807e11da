//! `tidegated doctor`: what this machine can do, and what is in the way.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::fail::Failure;
use crate::gate::doctor::examine;

/// Say what this machine can do, and what is in the way
#[derive(Args, Debug)]
pub struct Doctor {
    /// Look at this interface too
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// For so many seconds, count which share of its outgoing traffic a gate cannot see
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "interface", value_parser = clap::value_parser!(u64).range(0..=600))]
    watch: u64,
    /// Where /run, /proc and /sys are looked for
    #[arg(long, value_name = "PATH", default_value = "/", hide = true)]
    root: PathBuf,
}

impl Doctor {
    /// Prints one line for each thing, with the remedy where something is wrong.
    pub fn run(self) -> Result<(), Failure> {
        let watch = Duration::from_secs(self.watch);
        let findings = examine(self.interface.as_deref(), watch, &self.root);
        for finding in &findings {
            print!("{finding}");
        }
        let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
        if wrong == 0 {
            return Ok(());
        }
        let what =
            if wrong == 1 { "one thing is".to_owned() } else { format!("{wrong} things are") };
        Err(Failure::failed("doctor", format!("{what} in the way of a gate")))
    }
}
