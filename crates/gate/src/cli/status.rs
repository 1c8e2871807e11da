//! `tidegated status`: the state of the running gates.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::clean::in_folder;
use crate::status::{AS_ROOT, ask, lines};
use tidegate_common::fail::{At, Failure};
use tidegate_common::output;

/// Default folder of the sockets.
pub(super) const SOCKETS: &str = "/run/tidegate";

/// Show the state of the running gates
#[derive(Args, Debug)]
pub struct Status {
    /// Socket of one gate or of a group; default: every gate in /run/tidegate
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Refresh every second, until interrupted
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Print one line of JSON per gate
    #[arg(long)]
    json: bool,
}

impl Status {
    /// Prints the state of each gate.
    pub fn run(self) -> Result<(), Failure> {
        loop {
            let (mut text, mut silent) = (String::new(), None);
            let sockets = match self.sockets() {
                // a gate that starts again makes its socket anew: who watches goes on
                Err(failure) if self.watch => {
                    silent = Some(failure);
                    Vec::new()
                }
                sockets => sockets?,
            };
            for socket in sockets {
                match ask(&socket) {
                    Ok(states) => text += &self.text(&states)?,
                    // the others are shown first
                    Err(failure) => silent = Some(failure),
                }
            }
            if !self.watch {
                output::say(&text);
                return silent.map_or(Ok(()), Err);
            }
            if let Some(failure) = silent {
                text += &format!("{failure}\n");
            }
            // cursor home, then clear the rest of each line and the rest of the screen
            let screen = format!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"));
            let mut out = std::io::stdout().lock();
            if out.write_all(screen.as_bytes()).and_then(|()| out.flush()).is_err() {
                // nobody reads on
                return Ok(());
            }
            drop(out);
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// The states of the gates at a socket.
    fn text(&self, states: &[crate::status::Status]) -> Result<String, Failure> {
        if !self.json {
            return Ok(states.iter().map(lines).collect());
        }
        let written = states.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        Ok(written.at("status")?.join("\n") + "\n")
    }

    fn sockets(&self) -> Result<Vec<PathBuf>, Failure> {
        if let Some(socket) = &self.socket {
            return Ok(vec![socket.clone()]);
        }
        sockets(Path::new(SOCKETS))
    }
}

/// The sockets in a folder, in the order of their names.
pub(super) fn sockets(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let none = || {
        Failure::failed(folder.display(), "no gate runs here")
            .remedy("start one: tidegated gate --config gate.toml; or name its --socket")
    };
    if let Err(error) = std::fs::read_dir(folder)
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(Failure::failed(folder.display(), "you may not look here").remedy(AS_ROOT));
    }
    let found = in_folder(folder);
    if found.is_empty() { Err(none()) } else { Ok(found) }
}
