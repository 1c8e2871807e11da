//! `tidegated gate`: control the sessions that leave by an interface.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use tidegate_common::fail::Failure;
use tidegate_common::output;
use tidegate_core::units::{Rate, Time};

use super::status::SOCKETS;
use crate::config::Config;
use crate::controller;
use crate::observe::Plan;
use crate::orders::{Order, give};

/// Control the sessions that leave by an interface, until interrupted
///
/// SIGHUP reloads the file. SIGTERM and SIGINT end the gate and remove its
/// programs and its shaper. If the gate stops working, everything passes.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Gate {
    /// The configuration of the gate (TOML); repeatable: a gate at each of several interfaces
    #[arg(long, value_name = "FILE", default_value = "/etc/tidegate/gate.toml")]
    config: Vec<PathBuf>,
    /// Check the files and exit
    #[arg(long)]
    check: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    Observe(Observe),
    Enforce(Enforce),
    /// Let a running gate go on refusing when the time of `enforce` is over
    Confirm(Running),
    /// Let a running gate observe again
    Revert(Running),
}

/// Watch an interface without a file: nothing is refused; suggests a configuration and writes it
#[derive(Args, Debug)]
struct Observe {
    /// The interface that leads to the congested link
    #[arg(value_name = "INTERFACE")]
    interface: String,
    /// Rate of the link, if it is known
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,
    /// How long to watch; default: until interrupted
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    length: Option<Time>,
    /// The file to write; default: gate-INTERFACE.toml. An existing file is not replaced
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Socket of the status; default: one in /run/tidegate
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

/// Let a running gate refuse for a while; it observes again by itself unless that is confirmed
#[derive(Args, Debug)]
struct Enforce {
    /// How long
    #[arg(long = "for", value_name = "TIME", default_value = "10min", value_parser = time)]
    length: Time,
    #[command(flatten)]
    gate: Running,
}

// no doc comment: it would be the help of the commands that have it
#[derive(Args, Debug)]
struct Running {
    /// Socket of the gate; default: the only one in /run/tidegate
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

/// A time; `10m` is ten minutes here.
fn time(text: &str) -> Result<Time, String> {
    let minutes = text.strip_suffix('m').filter(|number| number.parse::<f64>().is_ok());
    let text = minutes.map_or(text.to_owned(), |number| format!("{number}min"));
    text.parse().map_err(|error| format!("{error}"))
}

fn duration(time: Time) -> Duration {
    Duration::from_nanos(time.ps() / 1_000)
}

impl Gate {
    /// Runs the gate, checks its file, or speaks to a running one.
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Some(Command::Observe(observe)) => return observe.run(),
            Some(Command::Enforce(enforce)) => {
                return enforce.gate.give(Order::Enforce(duration(enforce.length)));
            }
            Some(Command::Confirm(gate)) => return gate.give(Order::Confirm),
            Some(Command::Revert(gate)) => return gate.give(Order::Revert),
            None => {}
        }
        if !self.check {
            return controller::run(&self.config);
        }
        for file in &self.config {
            let config = Config::read(file)?;
            let (place, interface) = (file.display(), config.file.interface);
            output::say(&format!("{place}: valid, for interface {interface}\n"));
        }
        Ok(())
    }
}

impl Observe {
    fn run(self) -> Result<(), Failure> {
        let file = self.out.unwrap_or_else(|| format!("gate-{}.toml", self.interface).into());
        if file.exists() {
            return Err(Failure::usage(file.display(), "this file exists")
                .remedy("name another: --out FILE"));
        }
        let law = match self.rate {
            Some(rate) => format!("law = {{ law = 'tide' }}\ncapacity = '{rate}'\n"),
            None => "law = { law = 'close-probe', relief = true }\n".to_owned(),
        };
        let interface = self.interface.replace(['\'', '\n'], "");
        let text = format!("interface = '{interface}'\n{law}");
        let mut config = Config::parse(&text, "gate observe")?;
        if let Some(socket) = self.socket {
            config.socket = socket;
        }
        let length = self.length.map(duration);
        controller::observe(config, Plan { rate: self.rate, length, file })
    }
}

impl Running {
    fn give(&self, order: Order) -> Result<(), Failure> {
        let socket = match &self.socket {
            Some(socket) => socket.clone(),
            None => the_only(Path::new(SOCKETS))?,
        };
        output::say(&(give(&socket, order)? + "\n"));
        Ok(())
    }
}

/// The only socket in a folder.
fn the_only(folder: &Path) -> Result<PathBuf, Failure> {
    let mut found = super::status::sockets(folder)?;
    match found.pop() {
        Some(socket) if found.is_empty() => Ok(socket),
        _ => Err(Failure::usage(folder.display(), "several gates run here")
            .remedy("name one: --socket PATH")),
    }
}
