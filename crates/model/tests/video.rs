//! Classes of viewers: what goes without saying, and what is refused.

use std::collections::BTreeMap;

use tidegate_core::law::video::{Bba, Fixed, Rule};
use tidegate_core::units::{Rate, Time};
use tidegate_model::lint::warnings;
use tidegate_model::scenario::{Direction, FlowSize};
use tidegate_model::{Report, Scenario, Setting, Source, load, show};

const FILM: &str = r#"
name = "film"
duration = "60s"
[topology.dumbbell]
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms" }
[traffic.film]
arrivals = { at = ["0s"] }
video = { ladder = ["1Mbit", "5Mbit"] }
transport = { tcp = { profile = "linux" } }
"#;

fn loaded(set: &[(&str, &str)]) -> Result<Scenario, Report> {
    let set: Vec<Setting<'_>> = set.iter().map(|&(key, value)| Setting { key, value }).collect();
    load(Source { name: "film.toml", text: FILM }, &set, &BTreeMap::new())
}

/// Segments of 4 s and a buffer of 30 s, of which BBA takes the paper's shares: 30 x 90/240, and
/// up to 26 s, the buffer less a segment. At 1 and 5 Mbit/s a segment is 500 and 2500 kB, in packets of 1448 B.
#[test]
fn a_ladder_is_enough() {
    let class = &loaded(&[]).unwrap().traffic[0];
    assert_eq!(class.direction, Direction::Download);
    assert_eq!(class.size, FlowSize::Unlimited { stop: Time::NEVER });
    let video = class.video().unwrap();
    assert_eq!((video.segment, video.buffer), (Time::from_secs(4), Time::from_secs(30)));
    assert_eq!((video.start, video.segments), (Time::from_secs(4), u32::MAX));
    assert_eq!(video.packets, [346, 1727]);
    let (reservoir, cushion) = (Some(Time::from_ms(11_250)), Some(Time::from_ms(14_750)));
    assert_eq!(video.rule, Rule::Bba(Bba { reservoir, cushion }));
}

#[test]
fn a_film_has_whole_segments_and_a_fixed_rate_is_the_highest() {
    let set =
        [("traffic.film.video.length", "9s"), ("traffic.film.video.rule", "{ law = \"fixed\" }")];
    let scenario = loaded(&set).unwrap();
    let video = scenario.traffic[0].video().unwrap();
    assert_eq!(video.segments, 3);
    assert_eq!(video.rule, Rule::Fixed(Fixed { rate: Some(Rate::from_bps(5_000_000)) }));
}

#[test]
fn it_is_shown_as_it_was_loaded() {
    let laws =
        ["{ law = \"bba\" }", "{ law = \"throughput\", safety = 0.7 }", "{ law = \"fixed\" }"];
    for law in laws {
        let set = [Setting { key: "traffic.film.video.rule", value: law }];
        let shown = show(Source { name: "t", text: FILM }, &set, &BTreeMap::new()).unwrap();
        assert!(shown.contains("segment = \"4s\""), "{shown}");
        let again = load(Source { name: "t", text: &shown }, &[], &BTreeMap::new()).unwrap();
        assert_eq!(again, loaded(&[("traffic.film.video.rule", law)]).unwrap());
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let wrong = [
        ("video.ladder", "[]", "0 rates are out of range"),
        ("video.ladder", "[\"5Mbit\", \"1Mbit\"]", "5Mbit is followed by 1Mbit"),
        ("video.ladder", "[\"100bit\"]", "100bit is out of range"),
        ("video.ladder", "[\"10Gbit\"]", "more than 2^30 packets"),
        ("video.segment", "10ms", "`traffic.film.video.segment`: 10ms is out of range"),
        ("video.buffer", "7s", "a buffer of 7s is out of range, with segments of 4s"),
        ("video.start", "27s", "`traffic.film.video.start`: 27s is out of range"),
        ("video.length", "0s", "`traffic.film.video.length`: 0s is out of range"),
        ("video.rule", "{ law = \"bba\", cushion = \"30s\" }", "together, longer than the buffer"),
        ("video.rule", "{ law = \"fixed\", rate = \"2Mbit\" }", "not in the ladder: write one of"),
        ("video.rule", "{ law = \"bola\" }", "bola"),
        ("video.rule", "{ law = \"bba\", safety = 0.5 }", "unknown key `safety`"),
        ("size", "10kB", "`traffic.film.size`: has no effect with `video`"),
        ("stop", "9s", "`traffic.film.stop`: has no effect with `video`"),
        ("direction", "upload", "`traffic.film.direction`: has no effect with `video`"),
        ("transport", "{ tcp = { handshake = false } }", "video is fetched over connections"),
        ("transport", "{ udp = { rate = \"1Mbit\" } }", "video is fetched over connections"),
    ];
    for (key, value, expected) in wrong {
        let long = [(&*format!("traffic.film.{key}"), value), ("duration", "100000s")];
        let set = if value.contains("10Gbit") { &long[..] } else { &long[..1] };
        let report = loaded(set).unwrap_err().render(false);
        assert!(report.contains(expected), "{key} = {value}: {report}");
    }
}

/// 5 Mbit/s do not fit through 4 Mbit/s; 1 Mbit/s do.
#[test]
fn video_that_cannot_play_is_doubtful() {
    let narrow = ("topology.dumbbell.bottleneck.rate", "4Mbit");
    assert_eq!(warnings(&loaded(&[narrow]).unwrap()), Vec::<String>::new());
    let found = warnings(&loaded(&[narrow, ("traffic.film.video.ladder", "[\"5Mbit\"]")]).unwrap());
    assert!(
        found[0].contains("class `film`, 5Mbit, is more than `bottleneck` carries"),
        "{found:?}"
    );
}
