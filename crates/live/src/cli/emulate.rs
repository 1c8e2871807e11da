//! `tidegated emulate`: a bottleneck for real packets.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use tidegate_core::units::Time;

use crate::emulate::carrier::{carry, ports};
use crate::emulate::device::{Device, Place};
use crate::emulate::report::lines;
use crate::fail::{At, Failure};
use crate::scenario;

/// Emulate a bottleneck for real packets between two network namespaces
///
/// Creates a TUN device at either end and carries packets from one to the
/// other as the scenario's port does: rate, delay, buffer, loss, discipline and
/// laws. Give the devices addresses once they exist. At the end it reports
/// what was requested and what was achieved.
#[derive(Args, Debug)]
pub struct Emulate {
    /// The scenario
    scenario: PathBuf,
    /// Namespace and name of the first device: NAMESPACE:DEVICE, or DEVICE
    #[arg(long, value_name = "PLACE")]
    left: Place,
    /// Namespace and name of the second device
    #[arg(long, value_name = "PLACE")]
    right: Place,
    /// Port of the scenario from left to right; packets from right to left use the port back
    #[arg(long, value_name = "NAME", default_value = "bottleneck")]
    port: String,
    /// Replace a value of the scenario, as in `tidegate run`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Duration; default: until SIGINT or SIGTERM
    #[arg(long, value_name = "TIME")]
    time: Option<Time>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl Emulate {
    /// Carries packets, then reports.
    pub fn run(self) -> Result<(), Failure> {
        let scenario = scenario::read(&self.scenario, &self.settings)?;
        let ports = ports(&scenario, &self.port)?;
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, stop.clone()).at("signals")?;
        }
        let devices = [Device::make(&self.left)?, Device::make(&self.right)?];
        let ends = [&devices[0].tun, &devices[1].tun];
        let mut report = carry(&scenario, ports, self.seed, ends, self.time, &stop)?;
        for (direction, device) in report.iter_mut().zip(&devices) {
            direction.not_read = device.lost().at("/proc/net/dev")?;
        }
        if self.json {
            return super::say_json(&report);
        }
        super::say(&lines(&report));
        Ok(())
    }
}
