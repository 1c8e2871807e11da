//! `tidegated node`: an active node.

use std::path::PathBuf;

use clap::Args;

use crate::node::config::Config;
use crate::node::menu::Menu;
use crate::node::run::run;
use tidegate_common::fail::Failure;
use tidegate_common::output;

/// Run an active node until SIGTERM or Ctrl-C
#[derive(Args, Debug)]
pub struct Node {
    /// The configuration of the node (TOML)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Also end when standard input is closed, so that the node ends with the process that started it
    #[arg(long, alias = "leash")]
    exit_on_stdin_close: bool,
}

impl Node {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        let menu = Menu::built_in();
        let config = Config::read(&self.config, &output::read(&self.config)?, &menu.names())?;
        run(&config, &menu, self.exit_on_stdin_close)
    }
}
