//! `tidegated emulate`: a bottleneck for real packets.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tidegate_core::units::{Time, UnitError};

use crate::behind::{Behind, watch};
use crate::carrier::{carry, ports};
use crate::command;
use crate::device::{Device, DeviceName};
use crate::report::{Direction, lines};
use crate::scenario;
use tidegate_common::fail::{At, Failure};
use tidegate_common::output;

/// Emulate a bottleneck for real packets between two network namespaces, or around a command
///
/// Creates a TUN device at either end and carries packets from one to the
/// other as the scenario's port does: rate, delay, buffer, loss, discipline and
/// laws. At the end it reports what was requested and what was achieved.
///
/// With --left and --right, give the devices addresses once they exist. With a
/// command, as in `tidegated emulate link.toml -- sh -c 'curl http://$TIDEGATE_OUTSIDE/'`, the
/// command runs in a namespace of its own behind the link. It reaches this machine at
/// TIDEGATE_OUTSIDE, a variable that is set for the command alone, and nothing beyond. What it receives crosses --port. The link ends with
/// the command and with its exit code, and reports on standard error.
#[derive(Args, Debug)]
pub struct Emulate {
    /// The scenario
    scenario: PathBuf,
    /// Namespace and name of the first device: NAMESPACE:DEVICE, or DEVICE
    #[arg(long, value_name = "PLACE", requires = "right")]
    left: Option<DeviceName>,
    /// Namespace and name of the second device
    #[arg(long, value_name = "PLACE", requires = "left")]
    right: Option<DeviceName>,
    /// Port of the scenario from left to right; packets from right to left use the port back
    #[arg(long, value_name = "NAME", default_value = "bottleneck")]
    port: String,
    /// Replace a value of the scenario, as in `tidegate run`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Duration; default: until SIGINT, SIGTERM or SIGHUP
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Time>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    /// A command to run behind the link, in place of --left and --right
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["left", "right"])]
    command: Vec<OsString>,
}

/// A time; the error names the units.
fn time(text: &str) -> Result<Time, String> {
    let time: Time =
        text.parse().map_err(|error: UnitError| format!("{}: {}", error.what, error.help))?;
    if time == Time::ZERO { Err("nothing is carried in no time".to_owned()) } else { Ok(time) }
}

impl Emulate {
    /// Carries packets, then reports.
    pub fn run(self) -> Result<(), Failure> {
        if self.left.is_none() && self.command.is_empty() {
            return Err(no_ends());
        }
        if let Some(wrong) = self.command.first().and_then(|name| command::wrong(name)) {
            eprintln!("tidegated: {wrong}");
            std::process::exit(wrong.code)
        }
        let scenario = scenario::read(&self.scenario, &self.settings)?;
        let ports = ports(&scenario, &self.port)?;
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // `nohup` wants the command to outlive its terminal
            if signal == SIGHUP && command::ignored(signal) {
                continue;
            }
            signal_hook::flag::register(signal, stop.clone()).at("signals")?;
        }
        let behind = (!self.command.is_empty()).then(Behind::make).transpose()?;
        let places = match (&behind, self.left, self.right) {
            (Some(behind), _, _) => behind.places(),
            (None, Some(left), Some(right)) => [left, right],
            _ => return Err(no_ends()),
        };
        let devices = [Device::make(&places[0])?, Device::make(&places[1])?];
        let ended = match &behind {
            Some(behind) => {
                behind.address(&devices)?;
                Some(watch(behind.start(&self.command)?, stop.clone()))
            }
            None => None,
        };
        let ends = [&devices[0].tun, &devices[1].tun];
        let carried = carry(&scenario, ports, self.seed, ends, self.time, &stop);
        stop.store(true, Ordering::Relaxed);
        let status = ended.and_then(|ended| ended.join().ok().flatten());
        let mut report = carried?;
        for (direction, device) in report.iter_mut().zip(&devices) {
            direction.not_read = device.lost().at("/proc/net/dev")?;
        }
        let Some(status) = status else { return say(&report, self.json) };
        let json = || serde_json::to_string(&report).map(|text| text + "\n");
        eprint!("{}", if self.json { json().at("the result")? } else { lines(&report) });
        // what was made is removed before the program ends
        drop((devices, behind));
        let signal = || status.signal().map_or(1, |signal| 128 + signal);
        std::process::exit(status.code().unwrap_or_else(signal))
    }
}

/// Nothing says between which ends the link is.
fn no_ends() -> Failure {
    Failure::usage("emulate", "between which ends?").remedy(
        "name devices at both ends, --left PLACE and --right PLACE, or a command that runs behind \
         the link: tidegated emulate FILE -- COMMAND",
    )
}

fn say(report: &[Direction; 2], json: bool) -> Result<(), Failure> {
    if json {
        return output::say_json(report);
    }
    output::say(&lines(report));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // A link of no time reports a measurement of nothing.
    #[test]
    fn a_duration_is_more_than_nothing() {
        assert_eq!(time("2s"), Ok(Time::from_secs(2)));
        assert!(time("0s").is_err() && time("2").is_err());
    }

    // Both ways of naming the ends are in the message.
    #[test]
    fn without_ends_both_ways_are_named() {
        let said = no_ends().to_string();
        assert!(said.contains("--left") && said.contains("-- COMMAND"), "{said}");
    }
}
