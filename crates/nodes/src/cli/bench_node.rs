//! `tidegated bench-node`: how fast a node forwards on one core.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tidegate_core::active::{HEADER, MOST_PAYLOAD};

use crate::testbed::bench::{Load, measure};
use tidegate_common::fail::{At, Failure};
use tidegate_common::output;

/// Measure how many packets one node process forwards, and its CPU time per packet
#[derive(Args, Debug)]
pub struct BenchNode {
    /// How long packets are sent, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Bytes of a datagram
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(HEADER as i64..=(HEADER + MOST_PAYLOAD) as i64))]
    size: u16,
    /// Give every packet another origin
    #[arg(long)]
    spoofed: bool,
    /// Send each datagram alone, as different neighbours would; default: with segmentation offload
    #[arg(long)]
    single: bool,
    /// Turn LGC off
    #[arg(long)]
    no_lgc: bool,
    /// Folder for the node's configuration; default: a temporary one
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl BenchNode {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        let program = std::env::current_exe().at("tidegated")?;
        let temporary = std::env::temp_dir().join(format!("tidegated-{}", std::process::id()));
        let load = Load {
            span: Duration::from_secs(self.seconds),
            size: usize::from(self.size),
            lgc: !self.no_lgc,
            spoofed: self.spoofed,
            single: self.single,
        };
        let measured = measure(&load, &program, self.out.as_ref().unwrap_or(&temporary));
        if self.out.is_none() {
            // it may not exist
            let _ = std::fs::remove_dir_all(&temporary);
        }
        let found = measured?;
        if self.json {
            return output::say_json(&found);
        }
        output::say(&format!(
            "  {:9.0} packets/s forwarded on one core: {:.0} ns of CPU time each, in the kernel included\n  \
             {:9.0} packets/s forwarded by the clock, {:.0} % of a core\n  \
             {:9} received, {} forwarded, {} arrived; most memory {:.1} MB\n",
            found.forwarded_per_core_s,
            found.cpu_ns_each,
            found.forwarded_per_s,
            100.0 * found.node_cpu_s / found.wall_s,
            found.received,
            found.forwarded,
            found.arrived,
            found.peak_mb,
        ));
        Ok(())
    }
}
