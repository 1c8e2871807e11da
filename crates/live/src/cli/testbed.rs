//! `tidegated testbed`: a network of nodes from one file.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use crate::fail::Failure;
use crate::testbed::plan;
use crate::testbed::report::Report;
use crate::testbed::running::Running;

/// Bring up a network of nodes on this machine, run its experiment, take it down
#[derive(Args, Debug)]
pub struct Testbed {
    /// The nodes, their links and what they send (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder for results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON object, for machines
    #[arg(long)]
    json: bool,
}

impl Testbed {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        let testbed = plan::Testbed::read(&self.file, &super::read(&self.file)?)?;
        let program =
            std::env::current_exe().map_err(|error| Failure::failed("tidegated", error))?;
        let running = Running::start(&testbed, &program, &self.out.join("nodes"))?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        running.begin()?;
        let done = running.await_end(Duration::from_secs_f64(testbed.duration.secs()))?;
        let statuses = running.statuses()?;
        let report = Report {
            testbed: &testbed,
            places: running.places(),
            statuses: &statuses,
            begun_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            done,
        };
        report.write(&self.out)?;
        if self.json {
            let json = serde_json::json!({
                "name": testbed.name,
                "done": done,
                "connections": report.connections(),
                "dropped": report.dropped(),
                "events": report.events(),
            });
            super::say(&format!("{json}\n"));
        } else {
            super::say(&format!("{}\n  results in {}\n", report.text(), self.out.display()));
        }
        Ok(())
    }
}
