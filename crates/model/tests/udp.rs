//! Classes that send by UDP: their settings, and keys without effect.

use std::collections::BTreeMap;

use tidegate_core::units::{Rate, Time};
use tidegate_model::scenario::{FlowSize, Transport, Udp};
use tidegate_model::{Report, Scenario, Setting, Source, load, show};

const BACKGROUND: &str = r#"
name = "background"
duration = "10s"
[topology.dumbbell]
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms" }
[traffic.background]
arrivals = { at = ["0s"] }
stop = "5s"
[traffic.background.transport.udp]
rate = "2Mbit"
"#;

fn loaded(set: &[(&str, &str)]) -> Result<Scenario, Report> {
    let set: Vec<Setting<'_>> = set.iter().map(|&(key, value)| Setting { key, value }).collect();
    load(Source { name: "test.toml", text: BACKGROUND }, &set, &BTreeMap::new())
}

#[test]
fn a_background_is_endless_packets_of_a_kilobyte_unless_it_says_otherwise() {
    let class = &loaded(&[]).unwrap().traffic[0];
    let rate = Rate::from_bps(2_000_000);
    let udp = Udp { rate, packet: 1000, burst: None, on_off: None, ecn: None, media: None };
    assert_eq!(class.transport, Transport::Udp(udp));
    assert_eq!(class.transport.payload(), 972);
    assert_eq!(class.size, FlowSize::Unlimited { stop: Time::from_secs(5) });
    let set = [
        ("traffic.background.transport.udp.packet", "400B"),
        ("traffic.background.transport.udp.burst", "{ packets = 5, every = \"1s\" }"),
    ];
    let class = loaded(&set).unwrap().traffic.remove(0);
    let Transport::Udp(udp) = class.transport else { panic!() };
    assert_eq!((udp.packet, udp.burst), (400, Some((5, Time::from_secs(1)))));
}

#[test]
fn it_is_shown_as_it_was_loaded() {
    let burst = [("traffic.background.transport.udp.burst", "{ packets = 5, every = \"1s\" }")];
    let on_off = [(
        "traffic.background.transport.udp.on_off",
        "{ on = { exponential = { mean = \"1s\" } }, off = \"2s\" }",
    )];
    for set in [&[][..], &burst, &on_off] {
        let settings: Vec<Setting<'_>> =
            set.iter().map(|&(key, value)| Setting { key, value }).collect();
        let source = Source { name: "t", text: BACKGROUND };
        let shown = show(source, &settings, &BTreeMap::new()).unwrap();
        assert!(
            shown.contains("size = \"unlimited\"") && shown.contains("packet = \"1kB\""),
            "{shown}"
        );
        let again = load(Source { name: "t", text: &shown }, &[], &BTreeMap::new()).unwrap();
        assert_eq!(again, loaded(set).unwrap());
    }
}

#[test]
fn what_means_nothing_without_a_connection_is_refused() {
    let udp = "traffic.background.transport.udp";
    let cases = [
        ("traffic.background.patience".to_owned(), "1s", "has no effect without a connection"),
        ("traffic.background.opens".to_owned(), "receiver", "has no effect without a connection"),
        (format!("{udp}.packet"), "28B", "from 29B to 65000B"),
        (format!("{udp}.packet"), "1MB", "from 29B to 65000B"),
        (format!("{udp}.rate"), "0Mbit", "rate"),
        (format!("{udp}.burst"), "{ packets = 0, every = \"1s\" }", "from 1"),
        // 1000 B at 2 Mbit/s take 4 ms
        (format!("{udp}.burst"), "{ packets = 250, every = \"999ms\" }", "250 packets take 1s"),
        (format!("{udp}.mss"), "1kB", "unknown key `mss`"),
        (format!("{udp}.on_off"), "{ on = \"1s\" }", "`off` is missing"),
        (format!("{udp}.on_off"), "{ on = \"1s\", off = \"0s\" }", "on_off.off"),
        ("traffic.background.transport".to_owned(), "udp", "`rate` is missing"),
    ];
    for (key, value, wanted) in cases {
        let message = loaded(&[(&key, value)]).expect_err(value).render(false);
        assert!(message.contains(wanted), "{key}={value}: no {wanted:?} in\n{message}");
    }
}

#[test]
fn bursts_and_times_of_silence_do_not_go_together() {
    let udp = "traffic.background.transport.udp";
    let (burst, on_off) = (format!("{udp}.burst"), format!("{udp}.on_off"));
    let set =
        [(&*burst, "{ packets = 5, every = \"1s\" }"), (&*on_off, "{ on = \"1s\", off = \"1s\" }")];
    let message = loaded(&set).expect_err("both").render(false);
    assert!(message.contains("has no effect with `on_off`"), "{message}");
}

const MEDIA: &str = "traffic.background.transport.udp.media";

/// The defaults of the encoder: it begins at its lowest rate, and NADA controls it.
#[test]
fn an_encoder_has_defaults() {
    let class = loaded(&[(MEDIA, "{ least = \"200kbit\" }")]).unwrap().traffic.remove(0);
    let Transport::Udp(Udp { media: Some(media), .. }) = class.transport else { panic!() };
    let encoder = media.encoder;
    assert_eq!((encoder.least, encoder.start, encoder.most), (200e3, 200e3, 2e6));
    assert_eq!((encoder.frames, media.spread, media.key_frames), (30.0, 0.15, None));
    assert_eq!((media.control.key(), media.feedback), ("nada", Time::from_ms(100)));
}

#[test]
fn media_is_shown_as_it_was_loaded() {
    let text = "{ control = { law = \"gcc\", gain = 1 }, key_frames = { every = 10, size = 4 } }";
    let set = [Setting { key: MEDIA, value: text }];
    let source = Source { name: "t", text: BACKGROUND };
    let shown = show(source, &set, &BTreeMap::new()).unwrap();
    assert!(shown.contains("start = \"150kbit\""), "{shown}");
    let again = load(Source { name: "t", text: &shown }, &[], &BTreeMap::new()).unwrap();
    assert_eq!(again, loaded(&[(MEDIA, text)]).unwrap());
}

#[test]
fn an_encoder_out_of_its_bounds_is_refused() {
    let burst = "traffic.background.transport.udp.burst";
    let wrong = [
        ("{ least = \"3Mbit\" }", "above"),
        ("{ start = \"3Mbit\" }", "out of range"),
        ("{ start = \"100kbit\" }", "out of range"),
        ("{ key_frames = { every = 10, size = 10 } }", "nothing for the frames"),
        ("{ control = { law = \"tfrc\" } }", "nada"),
    ];
    for (media, said) in wrong {
        let report = loaded(&[(MEDIA, media)]).unwrap_err().to_string();
        assert!(report.contains(said), "{media}: {report}");
    }
    let set = [(MEDIA, "{}"), (burst, "{ packets = 5, every = \"1s\" }")];
    let report = loaded(&set).unwrap_err().to_string();
    assert!(report.contains("which sends frames"), "{report}");
}

/// Reports need a way back, which UDP does not.
#[test]
fn media_needs_a_way_back() {
    let text = r#"
name = "one-way"
duration = "10s"
[topology.links]
there = { from = "a", to = "b", rate = "10Mbit", delay = "10ms", one_way = true }
[traffic.background]
arrivals = { at = ["0s"] }
from = "a"
to = "b"
transport = { udp = { rate = "2Mbit" } }
"#;
    let of = |set: &[Setting<'_>]| load(Source { name: "t", text }, set, &BTreeMap::new());
    if let Err(report) = of(&[]) {
        panic!("{report}");
    }
    let report = of(&[Setting { key: MEDIA, value: "{}" }]).unwrap_err().to_string();
    assert!(report.contains("no way from"), "{report}");
}

/// docs/metrics.md, "Packets of UDP": calls have no size, are media, or send constantly at 128
/// kbit/s at most; other flows of UDP are files.
#[test]
fn flows_of_a_size_are_files_unless_they_are_speech_or_media() {
    let udp = |key: &'static str| format!("traffic.background.transport.udp.{key}");
    let (rate, burst, media) = (udp("rate"), udp("burst"), udp("media"));
    let five = "{ packets = 5, every = \"1s\" }";
    let is_call = |more: &[(&str, &str)], sized: bool| {
        let mut set = more.to_vec();
        if sized {
            // the document stops flows without end, and those of a size take no `stop`
            let class = "{ arrivals = { at = [\"0s\"] }, size = \"100kB\", \
                         transport = { udp = { rate = \"2Mbit\" } } }";
            set.insert(0, ("traffic.background", class));
        }
        let class = loaded(&set).unwrap().traffic.remove(0);
        let Transport::Udp(udp) = class.transport else { panic!() };
        udp.is_call(&class.size)
    };
    assert!(is_call(&[], false));
    assert!(!is_call(&[], true));
    assert!(is_call(&[(&rate, "128kbit")], true));
    assert!(!is_call(&[(&rate, "129kbit")], true));
    assert!(!is_call(&[(&rate, "80kbit"), (&burst, five)], true));
    assert!(is_call(&[(&media, "{}")], true));
}
