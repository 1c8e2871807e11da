//! `tidegated node`: an active node.

use std::path::PathBuf;

use clap::Args;

use crate::fail::Failure;
use crate::node::config::Config;
use crate::node::run::run;
use crate::node::service::Menu;

/// Run an active node until SIGTERM or Ctrl-C
#[derive(Args, Debug)]
pub struct Node {
    /// The configuration of the node (TOML)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// End when standard input is closed, too: then the node ends with the process that started it
    #[arg(long)]
    leash: bool,
}

impl Node {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        let menu = Menu::built_in();
        let config = Config::read(&self.config, &super::read(&self.config)?, &menu)?;
        run(&config, &menu, self.leash)
    }
}
