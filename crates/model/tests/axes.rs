//! `[sweep]`: the axes of a grid, as the document writes them.

use std::collections::BTreeMap;

use tidegate_model::{Axes, Report, Setting, Source, axes, load, show};

const BASE: &str = r#"
name     = "grid"
duration = "30s"

[topology.dumbbell]
pairs      = 2
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "20ms", buffer = "100packets" }

[port.bottleneck]
gate = { law = "fixed-rate", rate = "100/s" }

[traffic.web]
arrivals = { poisson = "100/s" }
size     = { pareto = { mean = "10kB", shape = 1.5 } }
"#;

fn found(sweep: &str, set: &[Setting<'_>]) -> Result<Axes, Report> {
    let text = format!("{BASE}\n{sweep}\n");
    axes(Source { name: "grid.toml", text: &text }, set)
}

fn axis(key: &str, values: &[&str]) -> (String, Vec<String>) {
    (key.to_owned(), values.iter().map(|&value| value.to_owned()).collect())
}

#[test]
fn keys_are_quoted_dotted_or_under_headers_and_values_stay_as_written() {
    let sweep = r#"
[sweep]
seeds = 7
"port.bottleneck.gate.rate" = ["50/s", '100/s']
traffic.web.size.mean = ["10kB"]
"port.\"bottleneck.reverse\".gate" = [{ law = "none" }, { law = "gss-ga" }]
[sweep.topology.dumbbell]
pairs = [1, 2, 0x10]
"#;
    let wanted = vec![
        axis("port.bottleneck.gate.rate", &["\"50/s\"", "'100/s'"]),
        axis("traffic.web.size.mean", &["\"10kB\""]),
        axis("port.\"bottleneck.reverse\".gate", &["{ law = \"none\" }", "{ law = \"gss-ga\" }"]),
        axis("topology.dumbbell.pairs", &["1", "2", "0x10"]),
    ];
    let sweep = found(sweep, &[]).unwrap();
    assert_eq!(sweep, Axes { axes: wanted, seeds: Some(7) });
    for (key, values) in &sweep.axes {
        for value in values {
            let set = [Setting { key, value }];
            load(Source { name: "t", text: BASE }, &set, &BTreeMap::new()).unwrap();
        }
    }
}

#[test]
fn a_document_without_axes_has_none() {
    assert_eq!(found("", &[]).unwrap(), Axes { axes: vec![], seeds: None });
    assert_eq!(found("[sweep]\nseeds = 1", &[]).unwrap(), Axes { axes: vec![], seeds: Some(1) });
}

#[test]
fn axes_are_held_against_the_document_together() {
    // gss-ga knows no `rate`: an axis may need what another one sets
    let sweep = "[sweep]\n\"port.bottleneck.gate.law\" = [\"gss-ga\"]\n\
                 \"port.bottleneck.gate.alpha_min\" = [1, 2]";
    let message = found(sweep, &[]).unwrap_err().render(false);
    assert!(message.contains("unknown key `rate`"), "{message}");
    let set = [Setting { key: "port.bottleneck.gate", value: "{ law = \"close-probe\" }" }];
    assert_eq!(found(&sweep.replace("gss-ga", "close-probe"), &set).unwrap().axes.len(), 2);
}

#[test]
fn an_axis_can_be_set_from_outside() {
    let set = [
        Setting { key: "sweep.seeds", value: "3" },
        Setting { key: "sweep.duration", value: "[\"5s\"]" },
    ];
    let sweep = found("[sweep]\nseeds = 9", &set).unwrap();
    assert_eq!(sweep, Axes { axes: vec![axis("duration", &["\"5s\""])], seeds: Some(3) });
}

#[test]
fn runs_and_what_is_shown_do_without_the_axes() {
    let text = format!("{BASE}\n[sweep]\nduration = [\"5s\"]\n");
    let source = Source { name: "t", text: &text };
    let plain = Source { name: "t", text: BASE };
    let none = BTreeMap::new();
    assert_eq!(load(source, &[], &none).unwrap(), load(plain, &[], &none).unwrap());
    assert_eq!(show(source, &[], &none).unwrap(), show(plain, &[], &none).unwrap());
}

/// Each case: a line below `[sweep]`, which is line 18, and what the message must hold.
#[test]
fn errors_show_the_line_of_the_axis_and_what_would_be_right() {
    let cases: &[(&str, &[&str])] = &[
        (
            "\"port.bottleneck.gate.ratte\" = [\"5/s\"]",
            &["grid.toml:18:1", "unknown key `ratte`", "did you mean `rate`"],
        ),
        ("port.bottleneck.gate.ratte = [\"5/s\"]", &["grid.toml:18", "did you mean `rate`"]),
        ("\"trafic.web.size.mean\" = [\"5kB\"]", &["grid.toml:18:1", "did you mean `traffic`"]),
        ("durations = [\"5s\"]", &["grid.toml:18:1", "did you mean `duration`"]),
        (
            "\"duration\" = [\"5s\", \"5furlongs\"]",
            &["grid.toml:18:21", "`duration`", "5furlongs", "unit of time"],
        ),
        ("duration = [\"5s\", 5]", &["grid.toml:18:19", "with its unit"]),
        ("duration = []", &["grid.toml:18:12", "axis `duration`: the list is empty"]),
        ("duration = \"5s\"", &["grid.toml:18:12", "not a list of values", "[\"50/s\""]),
        ("a.b = 5", &["grid.toml:18:7", "axis `a.b`: not a list"]),
        ("\"a b\" = [1]", &["grid.toml:18:1", "`a b`: not a key"]),
        ("\"name.x\" = [1]", &["grid.toml:18:1", "`name` is a single value"]),
        ("sedes = 3", &["grid.toml:18:9", "axis `sedes`", "did you mean `seeds`"]),
        ("seeds = 0", &["grid.toml:18:9", "`sweep.seeds`", "from 1 to"]),
        ("seeds = [1, 2]", &["grid.toml:18:9", "whole number"]),
    ];
    for (line, wanted) in cases {
        let message = found(&format!("[sweep]\n{line}"), &[]).unwrap_err().render(false);
        for part in *wanted {
            assert!(message.contains(part), "{line}: no {part:?} in\n{message}");
        }
    }
    let message = found("[[sweep]]", &[]).unwrap_err().render(false);
    assert!(message.contains("`sweep`"), "{message}");
}
