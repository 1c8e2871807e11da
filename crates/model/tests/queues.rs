//! The queue of a port in a document: what it means, and what is wrong with it.

use std::collections::BTreeMap;

use tidegate_core::law::aqm::{self, red};
use tidegate_model::scenario::Queue;
use tidegate_model::{Report, Scenario, Setting, Source, load, schema, show};

/// A document whose bottleneck has this queue.
fn text(queue: &str) -> String {
    format!(
        r#"
name = "queues"
duration = "10s"
[port.bottleneck]
queue = {{ {queue} }}
[topology.dumbbell]
access = {{ rate = "100Mbit", delay = "1ms" }}
bottleneck = {{ rate = "10Mbit", delay = "98ms" }}
[traffic.web]
arrivals = {{ poisson = "10/s" }}
size = "10kB"
"#
    )
}

fn loaded(text: &str, set: &[(&str, &str)]) -> Result<Scenario, Report> {
    let settings: Vec<Setting<'_>> =
        set.iter().map(|&(key, value)| Setting { key, value }).collect();
    load(Source { name: "test.toml", text }, &settings, &BTreeMap::new())
}

#[test]
fn a_queue_has_the_settings_of_its_law_and_the_rest_by_default() {
    let text = text("law = \"red\", min_th = 15, max_th = 45.5, w = \"auto\"");
    let scenario = loaded(&text, &[("port.bottleneck.queue.ecn", "true")]).unwrap();
    let wanted = red::Config {
        min_th: aqm::Setting::Is(15.0),
        max_th: aqm::Setting::Is(45.5),
        ecn: true,
        ..red::Config::default()
    };
    let queues: Vec<&Queue> = scenario.network.ports.iter().map(|port| &port.queue).collect();
    assert_eq!(queues[..2], [&Queue::Red(wanted), &Queue::DropTail]);
}

#[test]
fn the_shown_queue_spells_defaults_out_and_is_the_same() {
    let text = text("law = \"red\", max_th = 45.5");
    let source = Source { name: "test.toml", text: &text };
    let shown = show(source, &[], &BTreeMap::new()).unwrap();
    for part in ["max_p = 0.1", "min_th = \"auto\"", "mean_packet = \"500B\"", "wait = true"] {
        assert!(shown.contains(part), "no {part} in\n{shown}");
    }
    assert_eq!(loaded(&shown, &[]).unwrap(), loaded(&text, &[]).unwrap());
}

/// Each case: the queue, and what the message must hold. At 10 Mbit/s the
/// automatic min_th is 2500 packets/s x 0.005 s / 2 = 6.25.
#[test]
fn errors_show_the_setting_and_what_would_be_right() {
    let cases: &[(&str, &[&str])] = &[
        ("law = \"re\"", &["`re`", "drop-tail, red"]),
        ("law = \"drop-tail\", max_p = 1", &["unknown key `max_p`"]),
        ("law = \"red\", mint_th = 9", &["did you mean `min_th`"]),
        ("law = \"red\", max_p = 2", &["port.bottleneck.queue.max_p", "to 1"]),
        ("law = \"red\", w = \"aut\"", &["queue.w", "\"aut\"", "a number, or \"auto\""]),
        (
            "law = \"red\", min_th = 9, max_th = 9",
            &["queue.max_th", "test.toml:5:", "must be above min_th, which is 9"],
        ),
        ("law = \"red\", max_th = 6", &["queue.max_th", "above min_th, which is 6.25"]),
    ];
    for (queue, wanted) in cases {
        let report = loaded(&text(queue), &[]).expect_err(queue).render(false);
        for part in *wanted {
            assert!(report.contains(part), "{queue}: no {part:?} in\n{report}");
        }
    }
}

#[test]
fn the_schema_knows_every_discipline() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let laws = schema["$defs"]["Queue"]["oneOf"].as_array().unwrap();
    let names: Vec<&str> =
        laws.iter().map(|law| law["properties"]["law"]["const"].as_str().unwrap()).collect();
    assert_eq!(names, ["drop-tail", "red"]);
}
