//! `tidegated gate`: control the sessions that leave by an interface.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use tidegate_common::fail::{At, Failure};
use tidegate_common::output;
use tidegate_core::units::{Rate, Time, UnitError};

use super::status::SOCKETS;
use crate::clean::is_left;
use crate::config::{self, Config, Direction};
use crate::controller;
use crate::link::Netlink;
use crate::observe::Plan;
use crate::orders::{self, GateOrder, give};
use crate::page::place::Place;
use crate::status::by;

/// Control the sessions of a router, in one direction or both, until interrupted
///
/// SIGHUP reloads the file. SIGTERM and SIGINT end the gate and remove its
/// programs and its shaper. If the gate stops working, everything passes.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct GateArgs {
    /// The configuration of the gate (TOML), for one direction or for both; repeatable
    #[arg(long, value_name = "FILE", default_value = "/etc/tidegate/gate.toml")]
    config: Vec<PathBuf>,
    /// Check the files and exit
    #[arg(long)]
    check: bool,
    /// Show the gates on a page for a browser, which takes their orders too; as `page` in a file. 127.0.0.1:9478 is for this machine alone
    #[arg(long, value_name = "ADDRESS")]
    page: Option<String>,
    /// A name or address of this machine by which others may open the page, which is not encrypted; repeatable
    #[arg(long, value_name = "NAME", requires = "page")]
    page_host: Vec<String>,
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
    /// Print the address of a running gate's page, with the token that opens it
    Page(Running),
}

/// Watch without a file: nothing is refused; suggests a configuration and writes it
#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("where").args(["interface", "down", "up"]).required(true).multiple(true)))]
struct Observe {
    /// One interface; it holds back what leaves by it
    #[arg(value_name = "INTERFACE", conflicts_with_all = ["down", "up"])]
    interface: Option<String>,
    /// Rate of the link for what leaves by INTERFACE, if it is known
    #[arg(long, value_name = "RATE", requires = "interface", value_parser = rate)]
    rate: Option<Rate>,
    /// The inner interface, towards the users, or an ifb: their downloads leave by it
    #[arg(long, value_name = "INTERFACE")]
    down: Option<String>,
    /// Rate of the link for downloads, if it is known
    #[arg(long, value_name = "RATE", requires = "down", value_parser = rate)]
    down_rate: Option<Rate>,
    /// The outer interface, towards the provider: uploads leave by it
    #[arg(long, value_name = "INTERFACE")]
    up: Option<String>,
    /// Rate of the link for uploads, if it is known
    #[arg(long, value_name = "RATE", requires = "up", value_parser = rate)]
    up_rate: Option<Rate>,
    /// How long to watch; default: until interrupted
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    length: Option<Time>,
    /// The file to write; default: gate-INTERFACE.toml, or gate.toml with --down or --up. An existing file is not replaced
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

/// Slowest link for which a file is suggested: 95 % of it is a rate that a shaper takes.
const SLOWEST: Rate = Rate::from_bps(10_000);

/// Shortest time to observe: an epoch of the laws with the longest one.
const SHORTEST: Time = Time::from_secs(1);

/// A time; `10m` is ten minutes here.
fn time(text: &str) -> Result<Time, String> {
    let minutes = text.strip_suffix('m').filter(|number| number.parse::<f64>().is_ok());
    let text = minutes.map_or(text.to_owned(), |number| format!("{number}min"));
    text.parse().map_err(told)
}

/// A rate.
fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(told)
}

/// What is wrong with a quantity, and its units.
fn told(error: UnitError) -> String {
    format!("{}: {}", error.what, error.help)
}

fn duration(time: Time) -> Duration {
    Duration::from_nanos(time.ps() / 1_000)
}

impl GateArgs {
    /// Runs the gate, checks its file, or speaks to a running one.
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Some(Command::Observe(observe)) => return observe.run(),
            Some(Command::Enforce(enforce)) => {
                return enforce.gate.give(GateOrder::Enforce(duration(enforce.length)));
            }
            Some(Command::Confirm(gate)) => return gate.give(GateOrder::Confirm),
            Some(Command::Revert(gate)) => return gate.give(GateOrder::Revert),
            Some(Command::Page(gate)) => return gate.page(),
            None => {}
        }
        if !self.check {
            let place = |address: &String| Place::new(address, &self.page_host);
            let page = self.page.as_ref().map(place).transpose();
            let page = page.map_err(|what| Failure::usage("--page", what))?;
            return controller::run(&self.config, page);
        }
        for (file, configs) in config::read_all(&self.config)? {
            let all = configs.iter().map(|config| {
                let direction =
                    config.direction.map_or(String::new(), |it| format!("{} ", it.name()));
                let law = config.law.as_ref().map_or("none", |law| law.name());
                let law = by(law, config.admits());
                format!("{direction}{} ({law})", config.file.interface)
            });
            let (place, all) = (file.display(), all.collect::<Vec<_>>().join(", "));
            output::say(&format!("{place}: valid, for interface {all}\n"));
        }
        Ok(())
    }
}

impl Observe {
    fn run(self) -> Result<(), Failure> {
        let file = self.out.clone().unwrap_or_else(|| match &self.interface {
            Some(interface) => format!("gate-{interface}.toml").into(),
            None => "gate.toml".into(),
        });
        if file.exists() {
            return Err(Failure::usage(file.display(), "this file exists")
                .remedy("name another: --out FILE"));
        }
        if self.length.is_some_and(|length| length < SHORTEST) {
            let what = format!("--for: too short to see anything: {SHORTEST} at least");
            return Err(Failure::usage("gate observe", what));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Failure::usage(folder.display(), "there is no such folder"));
        }
        controller::observe(self.directions(&file)?)
    }

    /// The interfaces to watch, each with its direction and the rate of its link.
    fn wanted(&self) -> Vec<(&str, Option<Direction>, Option<Rate>)> {
        let down = (self.down.as_deref(), Some(Direction::Down), self.down_rate);
        let up = (self.up.as_deref(), Some(Direction::Up), self.up_rate);
        let one = (self.interface.as_deref(), None, self.rate);
        let all = [down, up, one].into_iter();
        all.filter_map(|(name, direction, rate)| Some((name?, direction, rate))).collect()
    }

    fn directions(&self, file: &Path) -> Result<Vec<(Config, Plan)>, Failure> {
        let mut netlink = Netlink::open().at("netlink")?;
        let wanted = self.wanted();
        let (mut text, mut plans) = (String::new(), Vec::new());
        for (name, direction, rate) in &wanted {
            let Some(there) = netlink.interface(name).at(name)? else {
                return Err(Failure::usage(name, "no such interface")
                    .remedy("`ip link` lists those of this network namespace"));
            };
            if let Some(rate) = rate.filter(|rate| *rate < SLOWEST) {
                let what = format!("a link of {rate} is too slow for a gate: {SLOWEST} at least");
                return Err(
                    Failure::usage(name, what).remedy("the rate of a link has a unit: 10Mbit")
                );
            }
            let one_way = there.ifb;
            if let Some(direction) = direction {
                text += &format!("[{}]\n", direction.name());
            }
            text += &format!("interface = '{}'\n", name.replace(['\'', '\n'], ""));
            text += &match rate {
                Some(rate) => format!("law = {{ law = 'tide' }}\ncapacity = '{rate}'\n"),
                None => "law = { law = 'close-probe', relief = true }\n".to_owned(),
            };
            if one_way {
                text += "ends_of = 'sender'\n";
            }
            let partner = wanted.iter().map(|other| other.0).find(|other| other != name);
            plans.push(Plan {
                rate: *rate,
                direction: *direction,
                partner: partner.map(str::to_owned),
                one_way,
                length: self.length.map(duration),
                file: file.to_owned(),
            });
        }
        let mut configs = Config::parse(&text, "gate observe")?;
        if let Some(socket) = &self.socket {
            configs.iter_mut().for_each(|config| config.socket.clone_from(socket));
        }
        Ok(configs.into_iter().zip(plans).collect())
    }
}

impl Running {
    fn give(&self, order: GateOrder) -> Result<(), Failure> {
        output::say(&(give(&self.socket()?, order)? + "\n"));
        Ok(())
    }

    fn page(&self) -> Result<(), Failure> {
        output::say(&(orders::page(&self.socket()?)? + "\n"));
        Ok(())
    }

    fn socket(&self) -> Result<PathBuf, Failure> {
        match &self.socket {
            Some(socket) => Ok(socket.clone()),
            None => the_only(Path::new(SOCKETS)),
        }
    }
}

/// The only socket in a folder.
fn the_only(folder: &Path) -> Result<PathBuf, Failure> {
    let all = super::status::sockets(folder)?;
    // one that a killed gate has left is none to choose from, unless there is nothing else
    let mut found: Vec<_> = all.iter().filter(|path| !is_left(path)).cloned().collect();
    if found.is_empty() {
        found = all;
    }
    match found.pop() {
        Some(socket) if found.is_empty() => Ok(socket),
        _ => Err(Failure::usage(folder.display(), "several gates run here")
            .remedy("name one: --socket PATH")),
    }
}
