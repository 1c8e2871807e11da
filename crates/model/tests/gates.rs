//! The gate of a port in a document: what is wrong with it.

use std::collections::BTreeMap;

use tidegate_model::{Setting, Source, load};

/// A gate that closes and probes.
const TEXT: &str = r#"
name = "gates"
duration = "10s"
[port.bottleneck]
gate = { law = "close-probe", limiter = "token-bucket" }
[topology.dumbbell]
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "98ms" }
[traffic.web]
arrivals = { poisson = "10/s" }
size = "10kB"
"#;

/// Tokens keep in a bucket alone, and for 60 epochs at most.
#[test]
fn tokens_keep_in_a_bucket_alone() {
    let keep = |value| Setting { key: "port.bottleneck.gate.tokens_keep", value };
    let counter = Setting { key: "port.bottleneck.gate.limiter", value: "'counter'" };
    let source = Source { name: "test.toml", text: TEXT };
    let wrong = |set: &[Setting<'_>]| {
        let found = load(source, set, &BTreeMap::new());
        found.err().map(|report| report.to_string()).unwrap_or_default()
    };
    assert_eq!(wrong(&[keep("2")]), "");
    let counted = wrong(&[keep("2"), counter]);
    assert!(counted.contains("write `limiter = \"token-bucket\"`"), "{counted}");
    let long = wrong(&[keep("61")]);
    assert!(long.contains("gate.tokens_keep") && long.contains("60"), "{long}");
}
