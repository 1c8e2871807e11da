//! `tidegated traffic`: real TCP sessions with the arrivals and sizes of a scenario.

use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;

use crate::scenario;
use crate::traffic::plan::Plan;
use crate::traffic::{client, record, server};
use tidegate_common::fail::{At, Failure};
use tidegate_common::output;

/// Descriptors of a process (`fs.nr_open`, as Linux has it unless it is told otherwise).
const MOST_OPEN: u64 = 1 << 20;

/// Real TCP sessions with the arrivals and sizes of a scenario
#[derive(Args, Debug)]
pub struct Traffic {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Serve(Serve),
    Run(Run),
}

/// Serve uploads and downloads of `traffic run`, until interrupted
///
/// Every host that reaches the server can make it send: listen on an address of the lab only.
#[derive(Args, Debug)]
struct Serve {
    /// Address to listen on: ADDRESS:PORT
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
}

/// Open the sessions that the simulator draws for a scenario, and write a table of flows
///
/// The table has the columns of the simulator's `flows`.
#[derive(Args, Debug)]
struct Run {
    /// The scenario
    scenario: PathBuf,
    /// The server: ADDRESS:PORT
    #[arg(long, value_name = "ADDRESS")]
    to: SocketAddr,
    /// The table of flows (CSV)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Only the flows of this class; repeatable
    #[arg(long = "class", value_name = "NAME")]
    classes: Vec<String>,
    /// Replace a value of the scenario, as in `tidegate run`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// What a run has done, and whether this machine kept up with it.
#[derive(Serialize)]
struct Summary {
    sessions: usize,
    completed: usize,
    /// How late the latest session started, ms.
    latest_start_ms: f64,
    /// How late this process was woken, 95 of 100 times at most, ms.
    late_p95_ms: f64,
}

impl Traffic {
    /// Serves, or opens sessions.
    pub fn run(self) -> Result<(), Failure> {
        room_for_sessions().at("limit of open files")?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().at("tokio")?;
        match self.command {
            Command::Serve(serve) => runtime.block_on(server::serve(serve.listen)),
            Command::Run(run) => run.run(&runtime),
        }
    }
}

/// Each session needs a descriptor: raises the limit as far as this user may.
fn room_for_sessions() -> rustix::io::Result<()> {
    let set = |most| setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
    set(Some(MOST_OPEN)).or_else(|_| set(getrlimit(Resource::Nofile).maximum))
}

impl Run {
    fn run(self, runtime: &tokio::runtime::Runtime) -> Result<(), Failure> {
        let scenario = scenario::read(&self.scenario, &self.settings)?;
        let plan = Plan::new(&scenario, self.seed, &self.classes)?;
        let table =
            File::create(&self.out).map_err(|error| Failure::usage(self.out.display(), error))?;
        // other runs at the same server have other numbers
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |at| at.as_nanos() as u64);
        let found = runtime.block_on(client::run(&plan, self.to, run))?;
        record::write(BufWriter::new(table), &plan, &found.records)?;
        if let Some(how) = found.nobody {
            let what = format!("every session failed, the first one so: {how}");
            return Err(Failure::failed(self.to, what)
                .remedy("is `tidegated traffic serve` running there, on this port?"));
        }
        let told = Summary {
            sessions: found.records.len(),
            completed: found.records.iter().filter(|(_, record)| record.ended.is_some()).count(),
            latest_start_ms: found.latest_start * 1e3,
            late_p95_ms: found.late_p95 * 1e3,
        };
        if self.json {
            return output::say_json(&told);
        }
        output::say(&format!(
            "{} sessions, {} completed; the latest started {:.1} ms late; {}\n",
            told.sessions,
            told.completed,
            told.latest_start_ms,
            self.out.display(),
        ));
        Ok(())
    }
}
