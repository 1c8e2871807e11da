//! `tidegated testbed`: a network of nodes from one file.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use crate::testbed::plan;
use crate::testbed::report::TestbedReport;
use crate::testbed::running::Running;
use tidegate_common::fail::{At, Failure};
use tidegate_common::output;

/// Start a network of nodes on this machine, run its experiment, stop the nodes
#[derive(Args, Debug)]
pub struct Testbed {
    /// The nodes, their links and their traffic (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder for results; with --times, DIR/run-1, DIR/run-2, ...
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Number of runs, one after the other; exit code 1 if filters were set at different nodes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: u32,
    /// Print one JSON object per run
    #[arg(long)]
    json: bool,
}

impl Testbed {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        let testbed = plan::Testbed::read(&self.file, &output::read(&self.file)?)?;
        if self.times == 1 {
            return self.once(&testbed, &self.out).map(drop);
        }
        let mut ways = Vec::new();
        for number in 1..=self.times {
            ways.push(self.once(&testbed, &self.out.join(format!("run-{number}")))?);
        }
        let shown = |way: &[String]| match way {
            [] => "nowhere".to_owned(),
            nodes => nodes.join(", "),
        };
        if ways.iter().any(|way| *way != ways[0]) {
            let each: Vec<_> = ways.iter().map(|way| shown(way)).collect();
            let what = format!("filters were set at different nodes: {}", each.join("; "));
            return Err(Failure::failed(self.file.display(), what));
        }
        let way = shown(&ways[0]);
        let said = format!("filters were set at {way} in each of {} runs\n", self.times);
        if self.json {
            eprint!("{said}")
        } else {
            output::say(&said)
        }
        Ok(())
    }

    /// One run; the nodes that set filters, and against whom, in this order.
    fn once(&self, testbed: &plan::Testbed, out: &Path) -> Result<Vec<String>, Failure> {
        let program = std::env::current_exe().at("tidegated")?;
        let running = Running::start(testbed, &program, &out.join("nodes"))?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        running.begin()?;
        let done = running.await_end(Duration::from_secs_f64(testbed.duration.secs()))?;
        let statuses = running.statuses()?;
        let report = TestbedReport {
            testbed,
            places: running.places(),
            statuses: &statuses,
            begun_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            done,
        };
        report.write(out)?;
        if self.json {
            let json = serde_json::json!({
                "name": testbed.name,
                "done": done,
                "connections": report.connections(),
                "dropped": report.dropped(),
                "events": report.events(),
            });
            output::say_json(&json)?;
        } else {
            output::say(&format!("{}\n  results in {}\n", report.text(), out.display()));
        }
        // a node that is asked again, as packets still came, renews its filter
        let mut way: Vec<String> = Vec::new();
        for row in report.events().into_iter().filter(|row| row.phase == "filter") {
            let step = format!("{} ({})", row.port, row.origin);
            if !way.contains(&step) {
                way.push(step);
            }
        }
        Ok(way)
    }
}
