//! Any bytes as a table of recorded flows: read or refused.
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
[traffic.mine]
flows = "flows"
time_scale = 0.7
"#;

fuzz_target!(|bytes: &[u8]| {
    let contents = BTreeMap::from([("flows".to_owned(), bytes.to_vec())]);
    match load(Source { name: "fuzz.toml", text: DOCUMENT }, &[], &contents) {
        Ok(scenario) => {
            let mut draws = ClassDraws::new(1, &scenario.traffic[0]);
            let flows: Vec<_> = std::iter::from_fn(|| draws.next_flow()).collect();
            assert!(!flows.is_empty() && flows.is_sorted_by_key(|flow| flow.start));
            assert!(flows.iter().all(|flow| flow.size.is_some_and(|size| size >= 1)));
        }
        Err(report) => {
            report.render(false);
        }
    }
});
