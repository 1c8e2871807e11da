//! Settings of a class's TCP that are out of range.

use std::collections::BTreeMap;

use tidegate_model::{Report, Scenario, Setting, Source, load};

const WEB: &str = r#"
name = "web"
duration = "60s"
[topology.dumbbell]
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms" }
[traffic.web]
arrivals = { at = ["0s"] }
size = "10kB"
"#;

fn loaded(key: &str, value: &str) -> Result<Scenario, Report> {
    let value = format!("{{ tcp = {{ {key} = {value} }} }}");
    let set = [Setting { key: "traffic.web.transport", value: &value }];
    load(Source { name: "web.toml", text: WEB }, &set, &BTreeMap::new())
}

/// The ranges of `docs/scenario.md`: the ends are inside, the next value is not.
#[test]
fn a_setting_is_allowed_up_to_the_ends_of_its_range() {
    let ranges = [
        ("mss", ["\"64B\"", "\"65000B\""], ["\"63B\"", "\"65001B\""], "a size from 64B to 65000B"),
        ("header", ["\"20B\"", "\"500B\""], ["\"19B\"", "\"501B\""], "a size from 20B to 500B"),
        ("initial_rto", ["\"1ms\"", "\"1h\""], ["\"999us\"", "\"3601s\""], "a time from 1ms to 1h"),
        ("min_rto", ["\"1us\"", "\"60s\""], ["\"999ns\"", "\"3601s\""], "a time from 1us to 1h"),
        ("initial_window", ["1", "1000000"], ["0", "1000001"], "a number from 1 to 1000000"),
        ("window", ["1", "\"none\""], ["0", "0"], "a number from 1, or \"none\""),
        ("initial_ssthresh", ["1", "\"none\""], ["0", "0"], "a number from 1, or \"none\""),
        ("delayed_ack", ["\"1us\"", "true"], ["\"999ns\"", "\"3601s\""], "a time from 1us to 1h"),
        ("tick", ["\"0s\"", "\"10s\""], ["\"10001ms\"", "\"1h\""], "a time from 0s to 10s"),
        (
            "max_rto",
            ["\"1s\"", "\"24h\""],
            ["\"999ms\"", "\"86401s\""],
            "(the other timeouts) to 24h",
        ),
    ];
    for (key, inside, outside, range) in ranges {
        for value in inside {
            let floor = if key == "initial_rto" {
                format!("{value}, max_rto = \"24h\"")
            } else {
                value.to_owned()
            };
            assert!(loaded(key, &floor).is_ok(), "{key} = {value}");
        }
        for value in outside {
            let report = loaded(key, value).unwrap_err().render(false);
            let place = format!("`traffic.web.transport.tcp.{key}`");
            assert!(report.contains(&place) && report.contains(range), "{key} = {value}: {report}");
        }
    }
}

#[test]
fn the_jitter_of_retries_is_a_share() {
    for jitter in ["-0.1", "1.1"] {
        let value = format!("{{ jitter = {jitter} }}");
        let report = loaded("syn_retries", &value).unwrap_err().render(false);
        assert!(report.contains("`traffic.web.transport.tcp.syn_retries.jitter`"), "{report}");
        assert!(report.contains("write a number from 0 to 1"), "{report}");
    }
}
