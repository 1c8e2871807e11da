//! Any bytes as a distribution of flow sizes: read or refused.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use tidegate_model::draw::ClassDraws;
use tidegate_model::{Source, load};

const DOCUMENT: &str = r#"
name = "fuzz"
duration = "1s"
[topology.dumbbell]
pairs = 1
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "1Mbit", delay = "1ms" }
[traffic.web]
arrivals = { every = "1ms" }
size = { empirical = { file = "sizes" } }
"#;

fuzz_target!(|bytes: &[u8]| {
    let contents = BTreeMap::from([("sizes".to_owned(), bytes.to_vec())]);
    match load(Source { name: "fuzz.toml", text: DOCUMENT }, &[], &contents) {
        Ok(scenario) => {
            let mut draws = ClassDraws::new(1, &scenario.traffic[0]);
            for _ in 0..20 {
                let flow = draws.next_flow().expect("the process has no end");
                assert!(flow.size.is_some_and(|size| (1..=1_000_000_000_000).contains(&size)));
            }
        }
        Err(report) => {
            report.render(false);
        }
    }
});
