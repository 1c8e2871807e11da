//! Files that a scenario names, damaged in every way: read or refused, never a panic or a hang.
//!
//! The rules are those of the fuzz targets `cdf`, `flows` and `trace`, on inputs made from words that get
//! far; `properties.rs` does the same for the document, `crates/capture/tests/damage.rs` for
//! captures.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidegate_model::draw::{ClassDraws, FlowDraw};
use tidegate_model::{Source, load};

const HEAD: &str = r#"
name = "x"
duration = "1s"
[topology.dumbbell]
pairs = 2
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "1Mbit", delay = "1ms" }
[traffic.web]
"#;

const TABLE: &str =
    "# c\nstart_s,size_bytes,direction\n0.5,1000,download\n0.25,300,upload\n2,5000,\"download\"\n";

const CDF: &str = "# c\nsize_bytes,probability\n100,0.1\n2000, 0.5\n3000 0.75\n1e6,1\n";

const OPPORTUNITIES: &str = "# c\n1\n1\n5\n12\n";

const TRACE: &str = "# c\ntime_s,rate_bit_s,delay_s\n0,1e6,0.02\n0.5, 2e6,0.03\n2,0,0\n";

const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    ",",
    ",,",
    "\"",
    "\"\"",
    "'",
    " ",
    "\t",
    ";",
    "#",
    "0",
    "-0",
    "-1",
    "1",
    "2.5",
    "1e308",
    "1e-320",
    "1e999",
    "9007199254740993",
    "18446744073709551616",
    "nan",
    "inf",
    "-inf",
    "0x10",
    "_",
    "upload",
    "download",
    "Upload",
    "start_s",
    "size_bytes",
    "direction",
    "probability",
    "time_s",
    "rate_bit_s",
    "delay_s",
    "\u{feff}",
    "\u{0}",
    "é",
    "PAR1",
];

/// A sound file with some stretches replaced by words.
fn mutated(sound: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let edit = (0..=sound.len(), 0..10usize, prop::sample::select(WORDS));
    prop::collection::vec(edit, 1..6).prop_map(|edits| {
        let mut file = sound.as_bytes().to_vec();
        for (at, length, word) in edits {
            let from = at.min(file.len());
            let to = (from + length).min(file.len());
            file.splice(from..to, word.bytes());
        }
        file
    })
}

/// Words alone.
fn words() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(WORDS), 0..40)
        .prop_map(|words| words.concat().into_bytes())
}

/// The first flows of a class that reads `file`; none if it was refused with a message.
fn flows(class: &str, file: &[u8]) -> Option<Vec<FlowDraw>> {
    let text = format!("{HEAD}{class}");
    let contents = BTreeMap::from([("f".to_owned(), file.to_vec())]);
    match load(Source { name: "x.toml", text: &text }, &[], &contents) {
        Ok(scenario) => {
            let mut draws = ClassDraws::new(1, &scenario.traffic[0]);
            Some((0..20).map_while(|_| draws.next_flow()).collect())
        }
        Err(report) => {
            assert!(report.render(false).starts_with("error"));
            None
        }
    }
}

fn table(file: &[u8]) -> Result<(), TestCaseError> {
    if let Some(flows) = flows("flows = \"f\"\ntime_scale = 0.7", file) {
        prop_assert!(!flows.is_empty() && flows.is_sorted_by_key(|flow| flow.start));
        prop_assert!(flows.iter().all(|flow| flow.size.is_some_and(|size| size >= 1)));
    }
    Ok(())
}

fn distribution(file: &[u8]) -> Result<(), TestCaseError> {
    let class = "arrivals = { every = \"1ms\" }\nsize = { empirical = { file = \"f\" } }";
    if let Some(flows) = flows(class, file) {
        prop_assert_eq!(flows.len(), 20);
        let possible = 1..=1_000_000_000_000u64;
        prop_assert!(
            flows.iter().all(|flow| flow.size.is_some_and(|size| possible.contains(&size)))
        );
    }
    Ok(())
}

/// A link that follows `file` in its rate and in its delay: the changes are in order.
fn link(file: &[u8]) -> Result<(), TestCaseError> {
    for said in ["rate = { trace = \"f\", start = \"1s\" }", "delay = { trace = \"f\" }"] {
        let class = "arrivals = { every = \"1ms\" }\nsize = \"1kB\"";
        let text = format!("{HEAD}{class}\n[port.bottleneck]\n{said}\n");
        let contents = BTreeMap::from([("f".to_owned(), file.to_vec())]);
        match load(Source { name: "x.toml", text: &text }, &[], &contents) {
            Ok(scenario) => {
                let changes = &scenario.changes;
                let opportunities = &scenario.network.ports[0].impairments.opportunities;
                prop_assert!(changes.is_empty() == opportunities.is_some());
                prop_assert!(changes.is_sorted_by_key(|change| change.at));
                prop_assert!(changes.iter().all(|change| change.at < scenario.duration));
            }
            Err(report) => prop_assert!(report.render(false).starts_with("error")),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::inputs(60_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_table_is_read_or_refused(file in mutated(TABLE)) {
        table(&file)?;
    }

    #[test]
    fn a_damaged_distribution_is_read_or_refused(file in mutated(CDF)) {
        distribution(&file)?;
    }

    #[test]
    fn a_damaged_trace_is_read_or_refused(
        file in prop_oneof![mutated(TRACE), mutated(OPPORTUNITIES), words()],
    ) {
        link(&file)?;
    }

    #[test]
    fn any_words_are_read_or_refused(file in words()) {
        table(&file)?;
        distribution(&file)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(file in prop::collection::vec(any::<u8>(), 0..200)) {
        table(&file)?;
        distribution(&file)?;
    }
}

/// The files that are damaged are sound to begin with: three flows, and sizes of the distribution.
#[test]
fn the_undamaged_files_are_read() {
    let starts = flows("flows = \"f\"", TABLE.as_bytes()).expect("a sound table");
    assert_eq!(
        starts.iter().map(|flow| flow.size).collect::<Vec<_>>(),
        [Some(300), Some(1000), Some(5000)]
    );
    let class = "arrivals = { every = \"1ms\" }\nsize = { empirical = { file = \"f\" } }";
    let sizes = flows(class, CDF.as_bytes()).expect("a sound distribution");
    assert!(sizes.iter().all(|flow| (100..=1_000_000).contains(&flow.size.expect("a size"))));
}
