//! `tidegated status`: what the running gates say.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::fail::Failure;
use crate::gate::status::{ask, lines};

/// Where gates answer unless told otherwise.
const SOCKETS: &str = "/run/tidegate";

/// Say what the running gates do
#[derive(Args, Debug)]
pub struct Status {
    /// Socket of one gate; without it, all of /run/tidegate
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Print it again every second, in place, until interrupted
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// One line of JSON for each gate
    #[arg(long)]
    json: bool,
}

impl Status {
    /// Prints the state of each gate.
    pub fn run(self) -> Result<(), Failure> {
        loop {
            let mut text = String::new();
            for socket in self.sockets()? {
                let status = ask(&socket)?;
                text += &if self.json {
                    let line = serde_json::to_string(&status);
                    line.map_err(|error| Failure::failed("status", error))? + "\n"
                } else {
                    lines(&status)
                };
            }
            if !self.watch {
                print!("{text}");
                return Ok(());
            }
            // cursor home, the text with the rest of each line cleared, then what is below
            print!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"));
            std::io::stdout().flush().map_err(|error| Failure::failed("standard output", error))?;
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    fn sockets(&self) -> Result<Vec<PathBuf>, Failure> {
        if let Some(socket) = &self.socket {
            return Ok(vec![socket.clone()]);
        }
        let none = || {
            Failure::failed(SOCKETS, "no gate runs here")
                .remedy("start one: tidegated gate --config gate.toml; or name its --socket")
        };
        let entries = std::fs::read_dir(Path::new(SOCKETS)).map_err(|_| none())?;
        let mut found: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "sock"))
            .collect();
        found.sort();
        if found.is_empty() { Err(none()) } else { Ok(found) }
    }
}
