//! `tidegated bench-node`: what a node forwards on one core.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tidegate_core::active::{HEADER, MOST_PAYLOAD};

use crate::fail::Failure;
use crate::testbed::bench::{Load, measure};

/// Measure what one node process forwards, and what CPU time it takes for it
#[derive(Args, Debug)]
pub struct BenchNode {
    /// How long packets are sent, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Bytes of a datagram
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(HEADER as i64..=(HEADER + MOST_PAYLOAD) as i64))]
    size: u16,
    /// Let every packet claim another origin
    #[arg(long)]
    spoofed: bool,
    /// Send each datagram by itself, as different neighbours would; else many travel as one
    #[arg(long)]
    single: bool,
    /// Leave LGC out
    #[arg(long)]
    no_lgc: bool,
    /// Folder for the node's configuration; default: one among temporary files, removed at the end
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object, for machines
    #[arg(long)]
    json: bool,
}

impl BenchNode {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        let program =
            std::env::current_exe().map_err(|error| Failure::failed("tidegated", error))?;
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
            // it may not have come to be
            let _ = std::fs::remove_dir_all(&temporary);
        }
        let found = measured?;
        if self.json {
            let json = serde_json::to_string(&found)
                .map_err(|error| Failure::failed("the result", error))?;
            super::say(&format!("{json}\n"));
            return Ok(());
        }
        super::say(&format!(
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
