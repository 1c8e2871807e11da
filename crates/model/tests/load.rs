//! Documents: what loads, what it means, and how errors point at their place.

use std::collections::BTreeMap;

use tidegate_core::law::session::{Limiter, Opener, Refusal};
use tidegate_core::units::{Rate, Size, Time};
use tidegate_model::law::{GateLaw, Python};
use tidegate_model::profile::{LostSyn, MaxRto, Profile, Recovery};
use tidegate_model::scenario::{Arrivals, Course, Direction, FlowSize, Limit, Shape, Transport};
use tidegate_model::{Report, Scenario, Setting, Source, files, load, schema, show, variants};

/// The example of the documentation.
pub(crate) const BASE: &str = r#"
name     = "overloaded access link"
duration = "300s"
warmup   = "50s"

[topology.dumbbell]
pairs      = 10
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "98ms", buffer = "217packets" }

[port.bottleneck]
gate  = { law = "close-probe", alpha_min = 10 }
queue = { law = "drop-tail" }

[traffic.web]
arrivals  = { poisson = "1000/s" }
size      = { pareto = { mean = "10kB", shape = 1.5 } }
transport = { tcp = { profile = "ns2-2005" } }

[[change]]
what  = "traffic.web.size.mean"
at    = "100s"
until = "200s"
to    = "30kB"
"#;

pub(crate) const TANDEM: &str = r#"
name = "three routers"
duration = "700s"
[topology.tandem]
links = [{ rate = "100kbit", delay = "20ms", buffer = "2bdp" }, { rate = "100kbit", delay = "5ms" }]
access = { rate = "10Mbit", delay = "2ms" }
pairs = 2
[traffic.one]
arrivals = { poisson = "0.651/s" }
size = { exponential = { mean = "11520B" } }
to = "r2"
[traffic.two]
arrivals = { every = "10ms" }
size = "unlimited"
from = "r2"
[traffic.three]
arrivals = { at = ["2s", "0s"] }
size = { lognormal = { mean = "10kB", sigma = 1 } }
direction = "download"
"#;

fn settings<'a>(pairs: &[(&'a str, &'a str)]) -> Vec<Setting<'a>> {
    pairs.iter().map(|&(key, value)| Setting { key, value }).collect()
}

pub(crate) fn loaded(text: &str, set: &[(&str, &str)]) -> Result<Scenario, Report> {
    load(Source { name: "test.toml", text }, &settings(set), &BTreeMap::new())
}

/// The message of a document that must be refused.
pub(crate) fn refusal(text: &str, set: &[(&str, &str)]) -> String {
    match loaded(text, set) {
        Ok(scenario) => panic!("was not refused: {scenario:#?}"),
        Err(report) => report.render(false),
    }
}

#[test]
fn the_example_of_the_documentation_means_what_it_says() {
    let scenario = loaded(BASE, &[]).unwrap();
    assert_eq!(scenario.duration, Time::from_secs(300));
    assert_eq!(scenario.warmup, Time::from_secs(50));
    assert_eq!(scenario.sample, Time::from_secs(1));
    assert_eq!(scenario.network.nodes.len(), 22);
    // a bottleneck and 20 access links, each both ways
    assert_eq!(scenario.network.ports.len(), 42);
    let port = &scenario.network.ports[0];
    assert_eq!(port.name, "bottleneck");
    assert_eq!(port.rate, Rate::from_bps(10_000_000));
    assert_eq!(port.limit(port.rate), Limit::Packets(217));
    // 2 (1 + 98 + 1) ms
    assert_eq!(port.round_trip, Time::from_ms(200));
    let gate = port.gate.as_ref().unwrap();
    assert_eq!((gate.law.name(), gate.law.limiter()), ("close-probe", Limiter::Counter));
    assert_eq!((gate.opener(), gate.keys.refuse), (Opener::Syn, Refusal::Drop));
    assert!(gate.law.build().is_some());
    let class = &scenario.traffic[0];
    assert_eq!(class.pairs.len(), 10);
    let FlowSize::Drawn { shape, mean } = &class.size else { panic!("{:?}", class.size) };
    assert_eq!(*shape, Shape::Pareto(1.5));
    let ramp = vec![(0, 1e4), (100, 1e4), (200, 3e4)];
    let ramp: Vec<_> = ramp.into_iter().map(|(s, mean)| (Time::from_secs(s), mean)).collect();
    assert_eq!(mean.points, ramp);
    assert_eq!(class.transport, Transport::Tcp(Profile::Ns2Of2005.tcp()));
}

#[test]
fn ports_join_the_nodes_that_their_names_say() {
    let scenario = loaded(BASE, &[]).unwrap();
    let ends = |name: &str| {
        let port = scenario.network.ports.iter().find(|port| port.name == name).unwrap();
        let node = |number: u16| scenario.network.nodes[usize::from(number)].as_str();
        (node(port.from), node(port.to), port.access)
    };
    assert_eq!(ends("bottleneck"), ("left", "right", false));
    assert_eq!(ends("bottleneck.reverse"), ("right", "left", false));
    assert_eq!(ends("access.source3"), ("source3", "left", true));
    assert_eq!(ends("access.source3.reverse"), ("left", "source3", true));
    assert_eq!(ends("access.sink10"), ("right", "sink10", true));
    assert_eq!(ends("access.sink10.reverse"), ("sink10", "right", true));
    for &(from, to) in &scenario.traffic[0].pairs {
        let (from, to) = (usize::from(from), usize::from(to));
        let (from, to) = (&scenario.network.nodes[from], &scenario.network.nodes[to]);
        assert_eq!(from.strip_prefix("source"), to.strip_prefix("sink"));
    }
}

#[test]
fn a_tandem_has_hosts_at_every_router_and_round_trips_by_class() {
    let scenario = loaded(TANDEM, &[]).unwrap();
    assert_eq!(&scenario.network.nodes[..3], ["r1", "r2", "r3"]);
    let port = |name: &str| scenario.network.ports.iter().find(|p| p.name == name).unwrap();
    // link1 is crossed by `three` too: 2 (2 + 20 + 5 + 2) ms; 2 bdp of 0.1 Mbit/s = 1450 B
    assert_eq!(port("link1").round_trip, Time::from_ms(58));
    assert_eq!(port("link1").limit(Rate::from_bps(1_000_000)), Limit::Bytes(14_500));
    // towards r2 only `one` goes: 2 (2 + 20 + 2) ms
    assert_eq!(port("access.r2.sink1").round_trip, Time::from_ms(48));
    let names = |class: usize| {
        let name = |node: u16| scenario.network.nodes[usize::from(node)].clone();
        let pairs = &scenario.traffic[class].pairs;
        pairs.iter().map(|&(from, to)| (name(from), name(to))).collect::<Vec<_>>()
    };
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(names(0), [pair("r1.source1", "r2.sink1"), pair("r1.source2", "r2.sink2")]);
    assert_eq!(names(1)[0], pair("r2.source1", "r3.sink1"));
    assert_eq!(names(2)[1], pair("r1.source2", "r3.sink2"));
    assert_eq!(scenario.traffic[2].direction, Direction::Download);
    let at = Arrivals::At(vec![Time::ZERO, Time::from_secs(2)]);
    assert_eq!(scenario.traffic[2].arrivals, at);
    let classes: Vec<&str> = scenario.traffic.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(classes, ["one", "two", "three"], "in the order of the document");
}

#[test]
fn a_buffer_in_bdp_without_any_class_takes_the_longest_path() {
    let text = TANDEM.replace("to = \"r2\"", "from = \"r2\"\nto = \"r1\"");
    let text = text.split("[traffic.three]").next().unwrap().to_owned();
    let only = text.split("[traffic.two]").next().unwrap();
    let scenario = loaded(only, &[]).unwrap();
    // nobody crosses link2: 2 (2 + 20 + 5 + 2) ms; link1 is crossed backwards: 2 (2 + 20 + 2) ms
    assert_eq!(scenario.network.ports[2].round_trip, Time::from_ms(58));
    assert_eq!(scenario.network.ports[0].round_trip, Time::from_ms(48));
}

/// Expected values: the table of profiles in the design.
#[test]
fn profiles_are_those_of_their_era() {
    let tcp = |profile: &str| {
        let set = [("traffic.web.transport.tcp.profile", profile)];
        loaded(BASE, &set).unwrap().traffic[0].transport.tcp().unwrap().clone()
    };
    let rto = |profile: &str| {
        let tcp = tcp(profile);
        (tcp.initial_rto.secs(), tcp.min_rto.secs(), tcp.max_rto)
    };
    let absolute = |secs| MaxRto::Absolute(Time::from_secs(secs));
    assert_eq!(rto("ns2-2001"), (6.0, 1.0, MaxRto::Factor(64)));
    assert_eq!(rto("ns2-2003"), (6.0, 1.0, MaxRto::Factor(64)));
    assert_eq!(rto("ns2-2005"), (6.0, 0.2, MaxRto::Factor(64)));
    assert_eq!(rto("ns2-2006"), (3.0, 0.2, absolute(60)));
    assert_eq!(rto("rfc"), (1.0, 1.0, absolute(60)));
    assert_eq!(rto("linux"), (1.0, 0.2, absolute(120)));
    for profile in Profile::ALL {
        let tcp = tcp(profile.name());
        let old = profile.name().starts_with("ns2");
        assert_eq!(tcp.profile, profile);
        let sizes = (tcp.mss, tcp.initial_window, tcp.window);
        let wanted = match profile {
            Profile::Rfc => (1460, 10, u32::MAX),
            Profile::Linux => (1448, 10, u32::MAX),
            _ => (536, 2, 20),
        };
        assert_eq!(sizes, wanted, "{profile:?}");
        assert_eq!(tcp.nagle, profile != Profile::Rfc);
        assert_eq!(tcp.fin_waits, old);
        assert_eq!(tcp.delayed_ack.is_none(), old);
        let before = profile == Profile::Ns2Of2001; // its change log, 8 March 2002
        let tick = if before { 100 } else { 10 };
        assert_eq!(tcp.tick, if old { Time::from_ms(tick) } else { Time::ZERO });
        assert_eq!(tcp.fin_rides, !before);
        assert_eq!(tcp.timestamps, profile == Profile::Linux);
    }
    let repair = |profile: &str| (tcp(profile).recovery, tcp(profile).lost_syn);
    assert_eq!(repair("ns2-2006"), (Recovery::Reno, LostSyn::CutSsthresh));
    assert_eq!(repair("rfc"), (Recovery::NewReno, LostSyn::Rfc));
    assert_eq!(repair("linux"), (Recovery::Sack, LostSyn::Linux));
    let syn = tcp("linux").syn_retries;
    assert_eq!((syn.linear, syn.limit, syn.jitter), (4, 10, 0.0));
}

#[test]
fn every_field_of_a_profile_can_be_set_alone() {
    let set = |setting: &str| {
        let set = [("traffic.web.transport", setting)];
        loaded(BASE, &set).unwrap().traffic[0].transport.tcp().unwrap().clone()
    };
    let design = set(
        r#"{ tcp = { profile = "ns2-2006", mss = "1000B", initial_rto = "3s", min_rto = "0.2s",
        initial_window = 2, window = 20, sack = false, delayed_ack = false, nagle = true,
        ecn = false } }"#,
    );
    assert_eq!(design, tidegate_model::profile::Tcp { mss: 1000, ..Profile::Ns2Of2006.tcp() });
    // RFC 6928: 14600 B, but from 2 to 10 segments
    assert_eq!(set(r#"{ tcp = { mss = "4000B" } }"#).initial_window, 3);
    assert_eq!(set(r#"{ tcp = { mss = "9000B" } }"#).initial_window, 2);
    assert_eq!(set(r#"{ tcp = { sack = true } }"#).recovery, Recovery::Sack);
    assert_eq!(set(r#"{ tcp = { profile = "linux", sack = false } }"#).recovery, Recovery::NewReno);
    let delay = |text: &str| set(&format!("{{ tcp = {{ {text} }} }}")).delayed_ack;
    assert_eq!(delay("delayed_ack = true"), Some(Time::from_ms(200)));
    assert_eq!(delay("profile = \"linux\", delayed_ack = true"), Some(Time::from_ms(40)));
    assert_eq!(delay("delayed_ack = \"25ms\""), Some(Time::from_ms(25)));
    assert_eq!(delay("delayed_ack = false"), None);
    assert_eq!(set(r#"{ tcp = { max_rto = "8x" } }"#).max_rto, MaxRto::Factor(8));
    assert_eq!(set(r#"{ tcp = { window = "none" } }"#).window, u32::MAX);
    assert!(set(r#"{ tcp = { ecn = true } }"#).ecn);
    assert_eq!(set("tcp").profile, Profile::Rfc);
}

#[test]
fn settings_replace_values_and_need_no_quotes_for_text() {
    let set = [
        ("traffic.web.size.mean", "20kB"),
        ("duration", "\"60s\""),
        ("topology.dumbbell.pairs", "3"),
        (
            "port.\"bottleneck.reverse\".gate",
            "{ law = \"python\", name = \"mine\", limiter = \"token-bucket\" }",
        ),
        ("port.bottleneck.gate", "{ law = \"none\" }"),
        ("change.0.to", "40kB"),
    ];
    let scenario = loaded(BASE, &set).unwrap();
    assert_eq!(scenario.duration, Time::from_secs(60));
    assert_eq!(scenario.traffic[0].pairs.len(), 3);
    let FlowSize::Drawn { mean, .. } = &scenario.traffic[0].size else { panic!() };
    assert_eq!(mean.points.iter().map(|p| p.1).collect::<Vec<_>>(), [2e4, 2e4, 4e4]);
    assert_eq!(scenario.network.ports[0].gate, None);
    let gate = scenario.network.ports[1].gate.clone().unwrap();
    let mine = GateLaw::Custom(Python { name: "mine".to_owned(), limiter: Limiter::TokenBucket });
    assert_eq!(gate.law, mine);
    assert!(gate.law.build().is_none(), "the caller supplies it");
}

#[test]
fn variants_are_settings_and_a_table_in_braces_is_one_of_them() {
    let text = format!(
        "{BASE}
[variant.none]
port.bottleneck.gate = {{ law = \"none\" }}
[variant.\"close probe\"]
port.\"bottleneck.reverse\".gate.law = 'close-probe' # a comment
change = []
[variant.same]
[variant]
braces = {{ \"traffic.web.size.pareto.mean\" = \"30kB\", duration = '99s' }}
[[variant.slow.change]]
what = \"bottleneck.rate\"
at = '1s'
to = '1Mbit'
[[variant.slow.change]]
what = \"bottleneck.rate\"
at = '2s'
to = '2Mbit'
"
    );
    let found = variants(Source { name: "t", text: &text }, &[]).unwrap();
    let setting = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let wanted = [
        ("none".to_owned(), vec![setting("port.bottleneck.gate", "{ law = \"none\" }")]),
        (
            "close probe".to_owned(),
            vec![
                setting("port.\"bottleneck.reverse\".gate.law", "'close-probe'"),
                setting("change", "[]"),
            ],
        ),
        ("same".to_owned(), vec![]),
        (
            "braces".to_owned(),
            vec![setting("traffic.web.size.pareto.mean", "\"30kB\""), setting("duration", "'99s'")],
        ),
        (
            "slow".to_owned(),
            vec![setting(
                "change",
                "[{ what = \"bottleneck.rate\", at = '1s', to = '1Mbit' }, \
                 { what = \"bottleneck.rate\", at = '2s', to = '2Mbit' }]",
            )],
        ),
    ];
    assert_eq!(found, wanted);
    for (_, variant) in &found {
        let set: Vec<_> = variant.iter().map(|(key, to)| (key.as_str(), to.as_str())).collect();
        loaded(&text, &set).unwrap();
    }
}

#[test]
fn a_variant_sets_each_key_once_and_holds_no_variants() {
    for (variant, wanted) in [
        ("[variant.a]\nduration = \"70s\"\n\"duration\" = \"80s\"", "duplicate key"),
        (
            "[variant.a]\n\"traffic.web.patience\" = \"3s\"\ntraffic.web.patience = \"4s\"",
            "`traffic.web.patience` is set twice in the variant a",
        ),
        ("[variant.a.variant.b]\nduration = \"70s\"", "a variant holds no variant"),
        ("[variant.a.sweep]\nseeds = 3", "a variant holds no sweep"),
    ] {
        let text = format!("{BASE}\n{variant}\n");
        let said = variants(Source { name: "t.toml", text: &text }, &[]).unwrap_err().to_string();
        assert!(said.contains(wanted) && said.contains("t.toml:"), "{said}");
    }
}

/// What is put in place of what, and what the message must hold.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("warmup  ", "warmpu  ", &["test.toml:4:1", "`warmpu`", "did you mean `warmup`", "duration"]),
    ("alpha_min", "alpha_mn", &["test.toml:12:32", "^^^^^^^^", "`alpha_min`", "admit", "beta"]),
    ("alpha_min = 10", "alpha_min = -1", &["port.bottleneck.gate.alpha_min", "from 1"]),
    ("alpha_min = 10", "onset = '61s'", &["port.bottleneck.gate.onset", "from 0s to 60s"]),
    ("close-probe", "close-prob", &["`close-prob`", "did you mean `close-probe`", "gss-ga"]),
    ("ns2-2005", "ns2-205", &["did you mean `ns2-2005`", "linux"]),
    ("pareto", "pareot", &["did you mean `pareto`", "empirical"]),
    ("drop-tail", "droptail", &["did you mean `drop-tail`"]),
    ("\"98ms\"", "\"98Mbit\"", &["bottleneck.delay", "unit of time", "20ms"]),
    ("\"10Mbit\"", "\"-10Mbit\"", &["bottleneck.rate", "cannot be `-10Mbit`"]),
    ("\"10Mbit\"", "10", &["the number `10`", "with its unit"]),
    // the note is the comment at the field, which the schema carries
    ("pairs      = 10", "pairs = \"ten\"", &["whole number", "note: `topology.dumbbell.pairs`: "]),
    ("\"10Mbit\"", "\"10mbps\"", &["10Mbit", "10MB/s"]),
    ("\"10Mbit\"", "\"1,5Mbit\"", &["has a comma", "as in `1.5Mbit`"]),
    ("duration = \"300s\"", "", &["`duration` is missing"]),
    ("rate = \"100Mbit\", ", "", &["topology.dumbbell.access", "`rate` is missing"]),
    ("\"300s\"", "\"721h\"", &["`duration`", "720h"]),
    ("\"50s\"", "\"300s\"", &["warm-up", "test.toml:4:12"]),
    ("shape = 1.5", "shape = 1", &["size.pareto.shape", "above 1"]),
    ("shape = 1.5", "sigma = 1", &["unknown key `sigma`", "mean, shape"]),
    ("pairs      = 10", "pairs = 20001", &["1 to 20000"]),
    ("pairs      = 10", "pairs = -1", &["`-1`", "whole number"]),
    ("217packets", "0packets", &["buffer", "above 0"]),
    ("{ poisson = \"1000/s\" }", "{}", &["there is no process", "uniform"]),
    ("{ poisson = ", "{ every = \"1s\", poisson = ", &["`poisson` and `every` cannot both"]),
    ("{ poisson = \"1000/s\" }", "{ uniform = 5 }", &["`within` is missing"]),
    (
        "{ poisson = ",
        "{ within = \"1s\", poisson = ",
        &["`traffic.web.arrivals.within`", "poisson"],
    ),
    (
        "traffic.web.size.mean",
        "traffic.wbe.size.mean",
        &["bottleneck.rate", "did you mean `traffic.web.size.mean`"],
    ),
    ("until = \"200s\"", "until = \"99s\"", &["`change.0.until`"]),
    ("until = \"200s\"", "until = \"200s\"\npulse = \"3s\"", &["`change.0.pulse`"]),
    // a mean size has no buffer
    ("until = \"200s\"", "until = \"200s\"\nbuffer_follows = true", &["`change.0.buffer_follows`"]),
    ("[port.bottleneck]", "[port.botleneck]", &["did you mean `bottleneck`", "access.sink1"]),
    ("name     =", "name     ", &["test.toml:2", "quote"]),
    ("[traffic.web]", "[traffic.web]\npatience = \"0s\"", &["patience", "above 0s"]),
    ("[traffic.web]", "[traffic.web]\nopaque_share = 1.5", &["from 0 to 1"]),
    ("[traffic.web]", "[traffic.web]\nreceiver = \"lies\"", &["split-acks", "hidden-marks"]),
    (
        "[traffic.web]",
        "[traffic.voice]\nreceiver = \"split-acks\"\narrivals = { at = [\"0s\"] }\n\
         transport = { udp = { rate = \"1Mbit\" } }\n[traffic.web]",
        &["traffic.voice.receiver", "receivers of TCP alone"],
    ),
    (
        "transport = { tcp = {",
        "receiver = \"split-acks\"\ntransport = { tcp = { delayed_ack = true,",
        &["traffic.web.receiver", "delays none", "leave `delayed_ack` out"],
    ),
    (
        "[traffic.web]",
        "[traffic.web]\npages = { count = 2 }\nreceiver = \"optimistic-acks\"",
        &["traffic.web.receiver", "never be complete", "hidden-marks"],
    ),
    ("[traffic.web]", "[traffic.web]\nstop = \"5s\"", &["only flows of unlimited size stop"]),
    ("[traffic.web]", "[traffic.web]\nfrom = \"r1\"", &["traffic.web.from"]),
    ("profile =", "max_rto = \"1s\", profile =", &["max_rto", "6s"]),
    ("profile =", "sack = true, recovery = \"reno\", profile =", &["`recovery`"]),
    ("pairs      = 10", "pairs      = ", &["there is no value"]),
    ("pairs      = 10", "pairs      = some", &["string values must be quoted", "quote text"]),
];

#[test]
fn errors_show_the_line_and_what_would_be_right() {
    for (from, to, wanted) in MISTAKES {
        assert!(BASE.contains(from), "{from}");
        let message = refusal(&BASE.replacen(from, to, 1), &[]);
        for part in *wanted {
            assert!(message.contains(part), "{from} -> {to}: no {part:?} in\n{message}");
        }
    }
}

#[test]
fn an_error_in_a_setting_shows_the_setting() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("traffic.web.patience", "0s", &["--set:1:22", "traffic.web.patience=0s", "^^"]),
        ("trafic.web.patience", "1s", &["--set:1:1", "did you mean `traffic`"]),
        ("port.bottleneck.reverse.gate.law", "none", &["unknown key `reverse`"]),
        ("port.bottleneck.gate.law", "none", &["`alpha_min`", "set `port.bottleneck.gate={ law"]),
        ("change.3.to", "1kB", &["no number `3`"]),
        ("name.first", "x", &["`name` is a single value"]),
        ("a b", "1", &["not a key"]),
        ("name", "", &["--set"]),
        ("name", "1\nwarmup=\"1s\"", &["one key at a time"]),
        ("port.bottleneck.gate.epoch", "1s\nx", &["`port.bottleneck.gate.epoch`"]),
    ];
    for (key, value, wanted) in cases {
        let message = refusal(BASE, &[(key, value)]);
        for part in *wanted {
            assert!(message.contains(part), "{key}={value}: no {part:?} in\n{message}");
        }
    }
}

#[test]
fn several_problems_are_told_at_once() {
    let message =
        refusal(BASE, &[("warmup", "400s"), ("traffic.web.patience", "0s"), ("sample", "0s")]);
    for part in ["`warmup`", "`traffic.web.patience`", "`sample`"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn what_would_take_too_much_memory_or_time_is_refused() {
    let too_many_rows = refusal(BASE, &[("duration", "720h"), ("sample", "1ms")]);
    assert!(too_many_rows.contains("too many rows"), "{too_many_rows}");
    let ramp = r#"[{ what = "bottleneck.rate", at = "0s", until = "28h", to = "5Mbit" }]"#;
    assert!(refusal(BASE, &[("change", ramp)]).contains("at most 1000000 steps"));
    let listed = format!("{{ at = [{}] }}", "\"0s\",".repeat(1_000_001));
    assert!(refusal(BASE, &[("traffic.web.arrivals", &listed)]).contains("up to 1000000"));
    let text = format!("{BASE}#{}", "x".repeat(16 << 20));
    assert!(refusal(&text, &[]).contains("larger than 8 MiB"));
    let links = format!("[{}]", "{ rate = \"1Mbit\", delay = \"1ms\" },".repeat(999));
    let tandem = [("topology.tandem.links", links.as_str()), ("topology.tandem.pairs", "100")];
    assert!(refusal(TANDEM, &tandem).contains("nodes are too many"));
}

/// Naming the nearest of many names takes time: after 20 problems no more are sought.
#[test]
fn a_wrong_document_is_told_of_its_first_problems_only() {
    let ports: String = (0..10_000).map(|i| format!("[port.none{i}]\n")).collect();
    let text = format!("{}{ports}", BASE.replace("= 10\n", "= 2000\n"));
    assert_eq!(loaded(&text, &[]).unwrap_err().messages().count(), 20);
}

/// 64 levels are refused by a rule of ours, and what is deeper by the parser:
/// neither may exhaust the stack.
#[test]
fn deep_nesting_is_refused() {
    let dotted = "a.".repeat(70);
    let braces = format!("{{{dotted}a=").repeat(70);
    let deep = [
        format!("{}a=1", "a.".repeat(100_000)),
        format!("a={}", "[".repeat(100_000)),
        format!("a={}1{}", "{a=".repeat(79), "}".repeat(79)),
        format!("[{dotted}a]\n{dotted}a={braces}1{}", "}".repeat(70)),
    ];
    for text in deep {
        assert!(loaded(&text, &[]).is_err());
    }
}

#[test]
fn files_are_named_as_written_and_their_distribution_is_scaled() {
    let set =
        [("traffic.web.size", r#"{ empirical = { file = "dir/web.csv" } }"#), ("change", "[]")];
    let source = Source { name: "t", text: BASE };
    assert_eq!(files(source, &settings(&set)).unwrap(), ["dir/web.csv"]);
    assert!(files(source, &[]).unwrap().is_empty());
    let with = |text: &str| {
        let files = BTreeMap::from([("dir/web.csv".to_owned(), text.as_bytes().to_vec())]);
        load(source, &settings(&set), &files)
    };
    let scenario =
        with("size_bytes, probability # of flows\n\n100,0.5\n300\t 0.75\r\n300 1.0\n").unwrap();
    let FlowSize::Drawn { shape, mean } = &scenario.traffic[0].size else { panic!() };
    // half the flows have 100 B, a quarter 100 to 300 B (200 B on average), a quarter 300 B
    assert_eq!(mean.value(Time::ZERO), 175.0);
    let points = vec![(100.0 / 175.0, 0.5), (300.0 / 175.0, 0.75), (300.0 / 175.0, 1.0)];
    assert_eq!(*shape, Shape::Empirical(points));
    // percent, from nothing on: half of the flows have 500 B on average, the others 1500 B
    for text in ["0 0\n1000 50\n2000 100\n", "0 0\n1000 50%\n2000 100%\n"] {
        let scenario = with(text).unwrap();
        let FlowSize::Drawn { shape, mean } = &scenario.traffic[0].size else { panic!() };
        assert_eq!(mean.value(Time::ZERO), 1000.0);
        assert_eq!(*shape, Shape::Empirical(vec![(0.0, 0.0), (1.0, 0.5), (2.0, 1.0)]));
    }
    let wrong: &[(&str, &[&str])] = &[
        ("", &["no points"]),
        ("size,p\n", &["no points"]),
        ("100,0.5\n50,1\n", &["dir/web.csv:2:1", "sort"]),
        ("100,0.5\n200,0.4\n300,1", &["dir/web.csv:2:1", "falls", "never fall"]),
        ("100,0.5\n200,0.9\n", &["dir/web.csv:2:1", "end at 0.9"]),
        ("100,50\n200,99\n", &["dir/web.csv:2:1", "end at 99, not at 1", "or 100 percent"]),
        ("100,50\n200,101\n", &["dir/web.csv:2:1", "percentages from 0 to 100"]),
        ("100;0,5\n200;1\n", &["dir/web.csv:1:1", "by a comma, not by `;`"]),
        ("0,0.5\n200,1\n", &["size of 0"]),
        ("-1,0.5\n200,1\n", &["size of -1"]),
        ("nan,0.5\n200,1\n", &["size of NaN"]),
        ("inf,1\n", &["size of inf"]),
        ("100,nan\n", &["probability of NaN"]),
        ("100,0.5,3\n", &["two numbers a line"]),
        ("a,b\nc,d\n", &["dir/web.csv:2:1", "`c,d`"]),
    ];
    for (text, parts) in wrong {
        let message = with(text).unwrap_err().to_string();
        for part in *parts {
            assert!(message.contains(part), "{text:?}: no {part:?} in\n{message}");
        }
    }
    let missing = load(source, &settings(&set), &BTreeMap::new()).unwrap_err().to_string();
    assert!(missing.contains("dir/web.csv"), "{missing}");
    let binary = BTreeMap::from([("dir/web.csv".to_owned(), vec![0xff, 0x31, 0x20, 0x31])]);
    assert!(load(source, &settings(&set), &binary).is_err());
}

#[test]
fn sizes_are_given_in_any_of_their_forms() {
    let size = |text: &str| {
        let set = [("traffic.web.size", text), ("change", "[]")];
        loaded(BASE, &set).unwrap().traffic[0].size.clone()
    };
    let constant = |mean| FlowSize::Drawn { shape: Shape::Constant, mean: Course::constant(mean) };
    assert_eq!(size("4000B"), constant(4000.0));
    assert_eq!(size("{ constant = \"4kB\" }"), constant(Size::from_bytes(4000).bytes() as f64));
    assert_eq!(size("unlimited"), FlowSize::Unlimited { stop: Time::NEVER });
    let stopped =
        [("traffic.web.size", "unlimited"), ("traffic.web.stop", "50s"), ("change", "[]")];
    let scenario = loaded(BASE, &stopped).unwrap();
    assert_eq!(scenario.traffic[0].size, FlowSize::Unlimited { stop: Time::from_secs(50) });
}

#[test]
fn the_shown_scenario_spells_defaults_out_and_is_the_same() {
    for text in [BASE, TANDEM] {
        let source = Source { name: "t", text };
        let shown = show(source, &settings(&[("sample", "2s")]), &BTreeMap::new()).unwrap();
        for part in [
            "initial_rto",
            "sample = \"2s\"",
            "sample_access = false",
            "law = \"none\"",
            "opaque_share",
        ] {
            assert!(shown.contains(part), "no {part:?} in\n{shown}");
        }
        assert_eq!(loaded(&shown, &[]).unwrap(), loaded(text, &[("sample", "2s")]).unwrap());
        let again = show(Source { name: "t", text: &shown }, &[], &BTreeMap::new()).unwrap();
        assert_eq!(again, shown, "showing what is shown changes nothing");
    }
}

#[test]
fn the_schema_knows_every_key_and_law() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let keys = schema["properties"].as_object().unwrap();
    for key in ["name", "duration", "topology", "port", "traffic", "change", "variant", "sweep"] {
        assert!(keys.contains_key(key), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
    let laws = schema["$defs"]["Gate"]["oneOf"].as_array().unwrap();
    let names: Vec<&str> =
        laws.iter().map(|law| law["properties"]["law"]["const"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["none", "fixed-rate", "gss-ga", "close-probe", "tide", "occupancy", "loss-rate", "python"]
    );
    for law in laws {
        assert!(law["properties"]["admit"].is_object());
        assert!(law["required"].as_array().unwrap().contains(&"law".into()));
    }
}
