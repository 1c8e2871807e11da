//! Any bytes as the trace of a link: read or refused.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use tidegate_model::{Source, load};

const DOCUMENT: &str = r#"
name = "fuzz"
duration = "1s"
[topology.dumbbell]
pairs = 1
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "1Mbit", delay = "1ms" }
[port.bottleneck]
rate = { trace = "trace", start = "2s" }
[port."bottleneck.reverse"]
delay = { trace = "trace" }
[traffic.mine]
arrivals = { at = ["0s"] }
size = "1kB"
"#;

fuzz_target!(|bytes: &[u8]| {
    let contents = BTreeMap::from([("trace".to_owned(), bytes.to_vec())]);
    match load(Source { name: "fuzz.toml", text: DOCUMENT }, &[], &contents) {
        Ok(scenario) => {
            assert!(scenario.changes.is_sorted_by_key(|change| change.at));
            assert!(scenario.changes.iter().all(|change| change.at < scenario.duration));
        }
        Err(report) => {
            report.render(false);
        }
    }
});
