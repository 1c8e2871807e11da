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
    /// Its configuration (TOML)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// End with standard input too: when whoever holds it is gone
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
