//! Links that vary: what a document makes of them, and how errors point at their place.

use tidegate_core::units::Time;
use tidegate_model::scenario::{LinkChange, LinkValue};

use crate::load::loaded;

const BASE: &str = r#"
name     = "a link that varies"
duration = "30s"
[topology.dumbbell]
pairs      = 1
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "98ms", buffer = "217packets" }
[port.bottleneck]
[traffic.one]
arrivals = { at = ["0s"] }
size     = "unlimited"
"#;

#[test]
fn changes_of_capacity_are_steps_and_carry_what_the_ramp_would() {
    let ramp = [(
        "change",
        r#"[{ what = "bottleneck.rate", at = "100s", until = "200s", to = "5Mbit" }]"#,
    )];
    let scenario = loaded(BASE, &ramp).unwrap();
    assert_eq!(scenario.changes.len(), 1001);
    let first = scenario.changes[0];
    // the first step stands for the middle of 100.0 .. 100.1 s: 10 - 5 x 0.05/100 Mbit/s
    assert_eq!((first.at, bps(first)), (Time::from_secs(100), 9_997_500));
    let last = scenario.changes[1000];
    assert_eq!((last.at, bps(last)), (Time::from_secs(200), 5_000_000));
    // the ramp carries (10 + 5)/2 Mbit/s for 100 s
    let bits: f64 = scenario
        .changes
        .windows(2)
        .map(|pair| bps(pair[0]) as f64 * (pair[1].at - pair[0].at).secs())
        .sum();
    assert!((bits - 750e6).abs() < 100.0, "{bits}");
}

/// The new rate of a change that is one of a rate.
fn bps(change: LinkChange) -> u64 {
    match change.to {
        LinkValue::Rate(rate) => rate.bps(),
        LinkValue::Delay { .. } => panic!("{change:?} is one of a delay"),
    }
}

/// A step is another path; a ramp, in steps of 100 ms at the ramp's middle, is one path.
#[test]
fn changes_of_a_delay_say_whether_the_path_is_another_one() {
    let changes = r#"[
        { what = "bottleneck.delay", at = "10s", to = "50ms" },
        { what = "bottleneck.delay", at = "20s", until = "20.2s", to = "30ms" },
        { what = "topology.dumbbell.bottleneck.reverse.delay", at = "5s", pulse = "1s", to = "0s" },
    ]"#;
    let scenario = loaded(BASE, &[("change", changes)]).unwrap();
    let port = |name| scenario.network.ports.iter().position(|p| p.name == name).unwrap();
    let (there, back) = (port("bottleneck"), port("bottleneck.reverse"));
    let found: Vec<_> = scenario
        .changes
        .iter()
        .map(|change| match change.to {
            LinkValue::Delay { delay, another_path } => {
                (change.at, change.port as usize, delay, another_path)
            }
            LinkValue::Rate(_) => panic!("{change:?} is one of a rate"),
        })
        .collect();
    let wanted = [
        (5_000, back, 0, true),
        (6_000, back, 98, true),
        (10_000, there, 50, true),
        (20_000, there, 45, false),
        (20_100, there, 35, false),
        (20_200, there, 30, false),
    ];
    let ms = Time::from_ms;
    let wanted = wanted.map(|(at, port, delay, other)| (ms(at), port, ms(delay), other));
    assert_eq!(found, wanted);
    assert!(scenario.network.ports[there].impairments.changes);
    let others = scenario.network.ports.iter().filter(|port| port.access);
    assert!(others.into_iter().all(|port| !port.impairments.changes));
}

/// What is put in place of what, and what the message must hold.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("[port.bottleneck]", "[port.bottleneck]\njitter = {}", &["port.bottleneck.jitter", "uniform"]),
    (
        "[port.bottleneck]",
        "[port.bottleneck]\njitter = { uniform = \"99ms\" }",
        &["port.bottleneck.jitter.uniform", "98ms", "at most the delay"],
    ),
    (
        "[port.bottleneck]",
        "[port.bottleneck]\njitter = { uniform = \"1ms\", order = \"fre\" }",
        &["did you mean `free`"],
    ),
    (
        "[port.bottleneck]",
        "[port.bottleneck]\nreorder = { share = 1.5, by = \"1ms\" }",
        &["port.bottleneck.reorder.share", "0 to 1"],
    ),
    (
        "[port.bottleneck]",
        "[port.bottleneck]\nbatch = { every = \"0s\" }",
        &["port.bottleneck.batch.every", "above 0s"],
    ),
    (
        "\"217packets\"",
        "\"217packets\", loss = { burst = { enter = 0.1, leave = 2 } }",
        &["bottleneck.loss.burst.leave", "0 to 1"],
    ),
    (
        "\"217packets\"",
        "\"217packets\", loss = { burst = { enter = 0.1 } }",
        &["`leave` is missing"],
    ),
    (
        "[port.bottleneck]",
        "[port.bottleneck]\npolice = { rate = \"1Mbit\", burst = \"1kB\" }",
        &["port.bottleneck.police.burst", "1500B"],
    ),
];

#[test]
fn errors_show_their_place_and_what_would_be_right() {
    for (old, new, expected) in MISTAKES {
        assert!(BASE.contains(old), "{old}");
        let message = match loaded(&BASE.replacen(old, new, 1), &[]) {
            Ok(_) => panic!("{new} was not refused"),
            Err(report) => report.render(false),
        };
        for part in *expected {
            assert!(message.contains(part), "{new}: {part:?} is not in\n{message}");
        }
    }
}
