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
