//! Stamps and the transports that obey them in a document: what they mean, and
//! what is wrong with them.

use std::collections::BTreeMap;

use tidegate_core::law::rate::qfcp;
use tidegate_core::units::{Rate, Time};
use tidegate_model::control::{self, TransportControl};
use tidegate_model::law::stamp::StampLaw;
use tidegate_model::profile::Recovery;
use tidegate_model::scenario::Transport;
use tidegate_model::{Source, schema, show};

use crate::load::loaded;

fn text(stamp: &str, transport: &str) -> String {
    format!(
        r#"
name = "rates"
duration = "10s"
[port.bottleneck]
stamp = {{ {stamp} }}
[topology.dumbbell]
access = {{ rate = "100Mbit", delay = "1ms" }}
bottleneck = {{ rate = "10Mbit", delay = "98ms" }}
[traffic.web]
arrivals = {{ poisson = "10/s" }}
size = "10kB"
transport = {transport}
"#
    )
}

#[test]
fn a_stamp_has_the_settings_of_its_law() {
    let text = text("law = \"qfcp\", beta = 1, gain = 0.5", "\"qfcp\"");
    let scenario = loaded(&text, &[("port.bottleneck.stamp.average", "false")]).unwrap();
    let wanted = qfcp::Config { beta: 1.0, gain: 0.5, average: false, ..Default::default() };
    let ports = &scenario.network.ports;
    assert_eq!(ports[0].stamp, Some(StampLaw::Qfcp(wanted)));
    assert_eq!(ports[1].stamp, None);
}

/// A law set apart from the settings of another: the message has the setting that works.
#[test]
fn a_law_is_set_with_its_settings() {
    let text = text("law = \"qfcp\", gain = 0.5", "\"qfcp\"");
    let told = |set: &[(&str, &str)]| loaded(&text, set).unwrap_err().to_string();
    let message = told(&[("port.bottleneck.stamp.law", "rcp")]);
    assert!(message.contains("unknown key `gain` in `port.bottleneck.stamp`"), "{message}");
    assert!(message.contains("set `port.bottleneck.stamp={ law = \"rcp\" }`"), "{message}");
    let whole = ("port.bottleneck.stamp", "{ law = \"rcp\" }");
    let ports = loaded(&text, &[whole]).unwrap().network.ports;
    assert_eq!(ports[0].stamp.as_ref().map(StampLaw::name), Some("rcp"));
    // here the key is wrong, not the law
    for set in [
        &[whole, ("port.bottleneck.stamp.gain", "1")][..],
        &[("port.bottleneck.stamp", "{ law = \"rcp\", gain = 1 }")],
        &[("port.bottleneck.stamp.law", "qfcp"), ("port.bottleneck.stamp.gian", "1")],
    ] {
        assert!(!told(set).contains("go together"), "{}", told(set));
    }
}

#[test]
fn a_transport_may_be_a_mere_name() {
    let by_name = loaded(&text("law = \"none\"", "\"tcp\""), &[]).unwrap();
    let by_table = loaded(&text("law = \"none\"", "{ tcp = {} }"), &[]).unwrap();
    assert_eq!(by_name, by_table);
    for name in ["qfcp", "rcp", "xcp", "vcp", "quick-start"] {
        let scenario = loaded(&text("law = \"none\"", &format!("\"{name}\"")), &[]).unwrap();
        let Transport::Controlled(_, control) = &scenario.traffic[0].transport else {
            panic!("{name} is no control");
        };
        assert_eq!(control.name(), name);
    }
}

/// The control's own settings and those of TCP stand in one table.
#[test]
fn a_control_takes_the_settings_of_tcp_beside_its_own() {
    let transport = "{ qfcp = { pacing = false, request = \"2Mbit\", profile = \"ns2-2006\", mss = \"960B\" } }";
    let scenario = loaded(&text("law = \"qfcp\"", transport), &[]).unwrap();
    let Transport::Controlled(tcp, TransportControl::Qfcp(options)) =
        &scenario.traffic[0].transport
    else {
        panic!("not QFCP");
    };
    let wanted = control::Qfcp { pacing: false, request: Some(Rate::from_bps(2_000_000)) };
    assert_eq!(*options, wanted);
    assert_eq!((tcp.mss, tcp.initial_rto), (960, Time::from_secs(3)));
    // what a port says comes with every acknowledgement, and losses do not hold it up
    assert_eq!((tcp.delayed_ack, tcp.timestamps, tcp.recovery), (None, true, Recovery::Sack));
    let set = [("traffic.web.transport.qfcp.recovery", "\"newreno\"")];
    let scenario = loaded(&text("law = \"qfcp\"", transport), &set).unwrap();
    assert_eq!(scenario.traffic[0].transport.tcp().unwrap().recovery, Recovery::NewReno);
}

#[test]
fn the_shown_scenario_is_the_same() {
    let cases = [
        ("law = \"qfcp\"", "\"qfcp\"", ["virtual_queue = true", "pacing = true"]),
        (
            "law = \"rcp\", alpha = 0.1",
            "{ rcp = { reliability = \"own\" } }",
            ["alpha = 0.1", "reliability = \"own\""],
        ),
        ("law = \"xcp\"", "\"xcp\"", ["gamma = 0.1", "pacing = false"]),
        ("law = \"vcp\"", "{ vcp = { xi = 0.1 } }", ["kappa = 0.5", "xi = 0.1"]),
    ];
    for (stamp, transport, parts) in cases {
        let text = text(stamp, transport);
        let source = Source { name: "test.toml", text: &text };
        let shown = show(source, &[], &BTreeMap::new()).unwrap();
        for part in parts {
            assert!(shown.contains(part), "no {part} in\n{shown}");
        }
        assert_eq!(loaded(&shown, &[]).unwrap(), loaded(&text, &[]).unwrap());
    }
}

/// `datapath` was called `half`. Either is accepted; the effective scenario keeps the old name, by
/// which saved runs are found.
#[test]
fn the_datapath_of_a_law_may_have_its_old_name() {
    let shown = |key: &str| {
        let stamp = format!("law = \"python\", name = \"a\", {key} = \"grant\"");
        let text = text(&stamp, "\"qfcp\"");
        show(Source { name: "test.toml", text: &text }, &[], &BTreeMap::new()).expect(key)
    };
    assert_eq!(shown("datapath"), shown("half"));
    assert!(shown("datapath").contains("half = \"grant\""));
}

/// Each case: the stamp, the transport, and what the message must hold.
#[test]
fn errors_show_the_setting_and_what_would_be_right() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("law = \"qfc\"", "\"tcp\"", &["`qfc`", "did you mean `qfcp`", "xcp, rcp, vcp"]),
        ("law = \"qfcp\", beta = -1", "\"tcp\"", &["port.bottleneck.stamp.beta", "from 0 to 10"]),
        ("law = \"xcp\", beat = 1", "\"tcp\"", &["unknown key `beat`", "did you mean `beta`"]),
        ("law = \"python\"", "\"tcp\"", &["`name`"]),
        (
            "law = \"python\", name = \"a\", datapath = \"granted\"",
            "\"tcp\"",
            &["`granted`", "grant"],
        ),
        ("law = \"vcp\", probe = \"1us\"", "\"vcp\"", &["stamp.probe", "1ms"]),
        ("law = \"none\"", "\"qcp\"", &["`qcp`", "qfcp"]),
        ("law = \"none\"", "{ qfcp = { pasing = true } }", &["unknown key `pasing`", "pacing"]),
        ("law = \"none\"", "{ qfcp = { mss = \"1B\" } }", &["transport.qfcp.mss", "64B to 65000B"]),
        ("law = \"none\"", "{ vcp = { beta = 2 } }", &["transport.vcp.beta", "from 0.1 to 1"]),
        ("law = \"none\"", "{ qfcp = { pacing = 1 } }", &["transport.qfcp.pacing"]),
        ("law = \"none\"", "3", &["traffic.web.transport"]),
    ];
    for (stamp, transport, wanted) in cases {
        let report = loaded(&text(stamp, transport), &[]).expect_err(transport).render(false);
        for part in *wanted {
            assert!(report.contains(part), "{stamp} {transport}: no {part:?} in\n{report}");
        }
    }
}

#[test]
fn the_schema_knows_every_law_and_every_control() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let laws = schema["$defs"]["Stamp"]["oneOf"].as_array().unwrap();
    let names: Vec<&str> =
        laws.iter().map(|law| law["properties"]["law"]["const"].as_str().unwrap()).collect();
    assert_eq!(names, ["none", "qfcp", "xcp", "rcp", "vcp", "python"]);
    let text = schema["$defs"].to_string();
    for own in ["QfcpSender", "RcpSender", "XcpSender", "VcpSender", "QuickStartSender"] {
        let sender = &schema["$defs"][own]["properties"];
        assert!(sender["mss"].is_object(), "{own} takes TCP's settings too: {text:.100}");
    }
}

/// What a port has to say comes with every acknowledgement: with the four explicit transports
/// none is delayed. Quick-Start is TCP after its start, and Blitz hears of losses at once
/// anyway: they delay as their profile does.
#[test]
fn only_explicit_transports_switch_delayed_acknowledgements_off() {
    for (name, delayed) in [
        ("tcp", true),
        ("quick-start", true),
        ("blitz", true),
        ("qfcp", false),
        ("rcp", false),
        ("xcp", false),
        ("vcp", false),
    ] {
        let transport = format!("{{ {name} = {{ profile = \"linux\" }} }}");
        let scenario = loaded(&text("law = \"none\"", &transport), &[]).expect("it can be read");
        let tcp = scenario.traffic[0].transport.tcp().expect("it has a connection");
        assert_eq!(tcp.delayed_ack.is_some(), delayed, "{name}");
    }
}

/// Linux acknowledges the start of a flow at once and does not pace it: the profile of what was
/// measured has that, the others have it on request.
#[test]
fn the_start_of_a_flow_is_as_measured_in_one_profile() {
    let early = |transport: &str| {
        let scenario = loaded(&text("law = \"none\"", transport), &[]).expect("it can be read");
        let tcp = scenario.traffic[0].transport.tcp().expect("it has a connection").clone();
        (tcp.quick_acks, tcp.unpaced)
    };
    assert_eq!(early("{ tcp = { profile = \"linux\" } }"), (16, 10));
    assert_eq!(early("{ tcp = { profile = \"rfc\" } }"), (0, 0));
    let asked = "{ tcp = { control = \"bbr\", quick_acks = 3, unpaced = 4 } }";
    assert_eq!(early(asked), (3, 4));
}

/// A control is chosen inside TCP; a key without effect for a transport is refused there.
#[test]
fn a_control_is_chosen_inside_tcp() {
    let control = |transport: &str| {
        let scenario =
            loaded(&text("law = \"none\"", transport), &[]).map_err(|r| r.render(false))?;
        let tcp = scenario.traffic[0].transport.tcp().expect("it has a connection");
        Ok((tcp.control, tcp.hystart, tcp.rack))
    };
    use tidegate_model::control::TcpControl::{Bbr, Cubic, Reno};
    use tidegate_model::profile::HyStart;
    let cases = [
        ("{ tcp = { profile = \"linux\" } }", (Cubic, HyStart::Linux, true)),
        ("{ tcp = { profile = \"linux\", control = \"reno\" } }", (Reno, HyStart::None, true)),
        ("{ tcp = { control = \"bbr\" } }", (Bbr, HyStart::None, false)),
        (
            "{ tcp = { control = \"cubic\", hystart = \"plus-plus\" } }",
            (Cubic, HyStart::PlusPlus, false),
        ),
        ("{ tcp = { sack = true, rack = true } }", (Reno, HyStart::None, true)),
        ("{ qfcp = { profile = \"linux\" } }", (Reno, HyStart::None, false)),
    ];
    for (transport, expected) in cases {
        assert_eq!(control(transport), Ok(expected), "{transport}");
    }
    for (transport, wanted) in [
        ("{ tcp = { control = \"cubik\" } }", "cubic"),
        ("{ qfcp = { control = \"cubic\" } }", "has no effect with `qfcp`"),
        ("{ tcp = { control = \"reno\", unpaced = 10 } }", "goes with bbr and bbr3"),
        ("{ tcp = { profile = \"rfc\", shared_ticks = true } }", "goes with the timer rule linux"),
        ("{ tcp = { profile = \"rfc\", undo = true } }", "goes with timestamps, rack"),
        (
            "{ tcp = { profile = \"linux\", timestamps = false, undo = true } }",
            "goes with timestamps, rack",
        ),
        ("{ tcp = { profile = \"linux\", control = \"bbr3\", undo = true } }", "other than bbr3"),
        ("{ tcp = { control = \"reno\", hystart = \"linux\" } }", "only cubic has it"),
        ("{ tcp = { control = \"bbr\", start = \"search\" } }", "goes with reno and cubic"),
        ("{ qfcp = { paced_start = true } }", "goes with reno and cubic"),
        (
            "{ tcp = { control = \"cubic\", start = \"search\", hystart = \"linux\" } }",
            "contradicts `start`",
        ),
        ("{ tcp = { resume = { window = 400 } } }", "add `rtt`"),
        ("{ tcp = { resume = { rtt = \"100ms\" } } }", "add `window`"),
        ("{ tcp = { resume = { window = 1, rtt = \"1s\" } } }", "from 2"),
        ("{ tcp = { rack = true } }", "selective acknowledgements"),
        ("{ blitz = { sack = true, prr = true } }", "selective acknowledgements"),
    ] {
        let told: Result<_, String> = control(transport);
        assert!(told.as_ref().is_err_and(|told| told.contains(wanted)), "{transport}: {told:?}");
    }
}
