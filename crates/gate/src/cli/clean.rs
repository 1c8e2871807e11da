//! `tidegated clean`: remove what gates have left.

use std::path::PathBuf;

use clap::Args;
use tidegate_common::fail::Failure;
use tidegate_common::output;

use super::status::SOCKETS;
use crate::clean::clean;

/// Remove what gates that were killed have left at the interfaces
///
/// Removes filters, shapers, hooks and sockets of tidegate in this network namespace,
/// whatever the interface is called now, and nothing else. It leaves running gates alone.
#[derive(Args, Debug)]
pub struct Clean {
    /// Only this interface
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Also this socket, if no gate answers on it: one that a file has put elsewhere; repeatable
    #[arg(long, value_name = "PATH")]
    socket: Vec<PathBuf>,
}

impl Clean {
    /// Removes it, and says what it was.
    pub fn run(self) -> Result<(), Failure> {
        let cleaned = clean(self.interface.as_deref(), SOCKETS.as_ref(), &self.socket)?;
        for line in &cleaned.removed {
            output::say(&format!("removed {line}\n"));
        }
        if !cleaned.busy.is_empty() {
            let what = "a gate runs here, and nothing was removed";
            return Err(Failure::failed(cleaned.busy.join(", "), what)
                .remedy("end it first; it removes what it installed"));
        }
        if cleaned.removed.is_empty() {
            output::say("nothing of tidegate was left\n");
        }
        Ok(())
    }
}
