//! `tidegated traffic`: real TCP sessions with the arrivals and sizes of a scenario.

use std::fs::{self, File};
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
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

/// A file that a run is to leave. Until the run is over the file is as it was, and a run that fails
/// leaves nothing.
struct Table {
    /// Where it is written; with another name, what it is then renamed to.
    written: PathBuf,
    named: Option<PathBuf>,
}

impl Table {
    /// Sees that it can be written there.
    fn at(path: &Path) -> Result<Table, Failure> {
        let wrong = |error| Failure::usage(path.display(), error);
        // a link stays one, and a device or a pipe is written to
        let named = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&named).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Ok(Table { written: named, named: None });
        }
        let name = named.file_name().filter(|_| !named.is_dir());
        let name = name.ok_or_else(|| wrong(std::io::ErrorKind::IsADirectory.into()))?;
        let beside = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
        let written = named.with_file_name(beside);
        File::create(&written).and_then(|_| fs::remove_file(&written)).map_err(wrong)?;
        Ok(Table { written, named: Some(named) })
    }

    /// Writes it.
    fn write(self, by: impl FnOnce(File) -> Result<(), Failure>) -> Result<(), Failure> {
        let place = self.named.as_ref().unwrap_or(&self.written).display().to_string();
        let made = File::create(&self.written).at(&place).and_then(by);
        let Some(named) = self.named else { return made };
        let made = made.and_then(|()| fs::rename(&self.written, named).at(&place));
        if made.is_err() {
            // that it cannot be written is said already
            let _ = fs::remove_file(&self.written);
        }
        made
    }
}

impl Run {
    fn run(self, runtime: &tokio::runtime::Runtime) -> Result<(), Failure> {
        let scenario = scenario::read(&self.scenario, &self.settings)?;
        let plan = Plan::new(&scenario, self.seed, &self.classes)?;
        let table = Table::at(&self.out)?;
        // other runs at the same server have other numbers
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |at| at.as_nanos() as u64);
        let found = runtime.block_on(client::run(&plan, self.to, run))?;
        if let Some(how) = found.nobody {
            let what = format!("every session failed, the first one so: {how}");
            return Err(Failure::failed(self.to, what)
                .remedy("is `tidegated traffic serve` running there, on this port?"));
        }
        table.write(|file| record::write(BufWriter::new(file), &plan, &found.records))?;
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A folder of a test, with its files by name and text.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("tidegate-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a folder");
            Folder(path)
        }

        fn files(&self) -> Vec<(String, String)> {
            let entries = fs::read_dir(&self.0).expect("it is there").map(|entry| {
                let path = entry.expect("an entry").path();
                let text = fs::read_to_string(&path).expect("it is text");
                (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
            });
            entries.collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    // A table of an earlier run is there: a run that fails, before or while it writes, leaves it.
    #[test]
    fn a_run_that_fails_leaves_the_table_of_an_earlier_one() {
        let folder = Folder::new("table-kept");
        let path = folder.0.join("good.csv");
        fs::write(&path, "earlier").expect("a file");
        let whole = [("good.csv".to_owned(), "earlier".to_owned())];
        drop(Table::at(&path).expect("it can be written"));
        assert_eq!(folder.files(), whole);
        let table = Table::at(&path).expect("it can be written");
        let failed = table.write(|mut file| {
            file.write_all(b"half").at("it")?;
            Err(Failure::failed("it", "no room"))
        });
        assert!(failed.is_err());
        assert_eq!(folder.files(), whole);
        let table = Table::at(&path).expect("it can be written");
        table.write(|mut file| file.write_all(b"new").at("it")).expect("there is room");
        assert_eq!(folder.files(), [("good.csv".to_owned(), "new".to_owned())]);
    }

    // What cannot be written is refused before the run, not after it.
    #[test]
    fn a_table_that_cannot_be_written_is_refused_before_the_run() {
        let folder = Folder::new("table-refused");
        for path in [folder.0.clone(), folder.0.join("not-there/a.csv")] {
            assert!(Table::at(&path).is_err(), "{}", path.display());
        }
        assert_eq!(folder.files(), []);
        assert!(Table::at(Path::new("/dev/null")).is_ok_and(|table| table.named.is_none()));
    }
}
