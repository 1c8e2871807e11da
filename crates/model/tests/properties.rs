//! No input makes loading panic, and what is shown is what was loaded.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidegate_model::draw::ClassDraws;
use tidegate_model::{Scenario, Setting, Source, axes, files, load, show, variants};

const BASE: &str = r#"
name = "x"
duration = "300s"
[topology.dumbbell]
pairs = 3
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "98ms", buffer = "2bdp" }
[port.bottleneck]
gate = { law = "close-probe", alpha_min = 10 }
queue = { law = "red", min_th = 15, max_th = 45.5, w = "auto", ecn = true }
[traffic.web]
arrivals = { poisson = "1000/s" }
size = { pareto = { mean = "10kB", shape = 1.5 } }
transport = { tcp = { profile = "ns2-2005", delayed_ack = true, max_rto = "64x" } }
[traffic.bulk]
arrivals = { at = ["0s", "1s"] }
size = { empirical = { file = "f" } }
[[change]]
what = "traffic.web.size.mean"
at = "100s"
until = "200s"
to = "30kB"
[variant.none]
port.bottleneck.gate = { law = "none" }
[sweep]
seeds = 3
"port.bottleneck.gate.alpha_min" = [5, 10]
traffic.web.size.mean = ["10kB"]
"#;

/// Words that mean something somewhere, for mutations that get far.
const WORDS: &[&str] = &[
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    "=",
    ",",
    ".",
    "\n",
    "#",
    "0",
    "-1",
    "1e308",
    "1e-320",
    "nan",
    "inf",
    "true",
    "99999999999999999999",
    "\"0s\"",
    "\"1ps\"",
    "\"100000h\"",
    "\"2bdp\"",
    "\"0.5bit\"",
    "\"1e9/s\"",
    "\"none\"",
    "\"unlimited\"",
    "law",
    "gate",
    "port",
    "every",
    "at",
    "until",
    "pulse",
    "to",
    "what",
    "uniform",
    "within",
    "from",
    "stop",
    "mean",
    "shape",
    "é",
    "\u{0}",
    "1979-05-27",
    "\"\"",
    "variant",
    "sweep",
    "seeds",
    "change",
    "tandem",
    "links",
    "syn_retries",
];

fn contents() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([("f".to_owned(), b"100 0.5\n1000 1\n".to_vec())])
}

/// Loads in every way there is, rendering what is refused.
fn try_all(text: &str, settings: &[Setting<'_>], contents: &BTreeMap<String, Vec<u8>>) {
    let source = Source { name: "x.toml", text };
    let report = match load(source, settings, contents) {
        Ok(scenario) => {
            let shown = show(source, settings, contents).expect("what loads can be shown");
            same(&scenario, &shown, contents);
            for class in &scenario.traffic {
                let mut draws = ClassDraws::new(1, class);
                let starts: Vec<_> = (0..20).map_while(|_| draws.next_flow()).collect();
                assert!(starts.is_sorted_by_key(|flow| flow.start));
            }
            None
        }
        Err(report) => Some(report),
    };
    let others = [
        files(source, settings).err(),
        variants(source, settings).err(),
        axes(source, settings).err(),
    ];
    let reports = [report].into_iter().chain(others);
    for report in reports.flatten() {
        assert!(report.render(false).starts_with("error"));
        assert!(report.render(true).contains("error"));
    }
}

/// Whether a shown scenario loads to the same one.
fn same(scenario: &Scenario, shown: &str, contents: &BTreeMap<String, Vec<u8>>) {
    match load(Source { name: "shown", text: shown }, &[], contents) {
        Ok(again) => assert_eq!(&again, scenario, "{shown}"),
        Err(report) => panic!("{report}\n{shown}"),
    }
}

/// The base document with some stretches replaced by words.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (0..BASE.len(), 0..12usize, prop::sample::select(WORDS));
    prop::collection::vec(edit, 1..5).prop_map(|edits| {
        let mut text = BASE.to_owned();
        for (at, length, word) in edits {
            let boundary = |at: usize| (at..=text.len()).find(|&at| text.is_char_boundary(at));
            let from = boundary(at.min(text.len())).unwrap_or(text.len());
            let to = boundary((from + length).min(text.len())).unwrap_or(text.len());
            text.replace_range(from..to, word);
        }
        text
    })
}

fn time() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec!["ns", "us", "ms", "s", "min"]);
    (prop_oneof![(1u32..1000).prop_map(f64::from), 0.001f64..5000.0], unit)
        .prop_map(|(number, unit)| format!("\"{number}{unit}\""))
}

/// A time of 1 ns or more, as between arrivals.
fn spacing() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec!["ns", "us", "ms", "s", "min"]);
    (1.0f64..5000.0, unit).prop_map(|(number, unit)| format!("\"{number}{unit}\""))
}

fn size() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec!["B", "kB", "KiB", "MB"]);
    (1.0f64..5000.0, unit).prop_map(|(number, unit)| format!("\"{number}{unit}\""))
}

fn sizes() -> impl Strategy<Value = String> {
    prop_oneof![
        size(),
        Just("\"unlimited\"".to_owned()),
        size().prop_map(|mean| format!("{{ exponential = {{ mean = {mean} }} }}")),
        (size(), 1.01f64..9.0).prop_map(|(mean, shape)| format!(
            "{{ pareto = {{ mean = {mean}, shape = {shape} }} }}"
        )),
        (size(), 0.01f64..9.0)
            .prop_map(|(mean, s)| format!("{{ lognormal = {{ mean = {mean}, sigma = {s} }} }}")),
        Just("{ empirical = { file = \"f\" } }".to_owned()),
        size().prop_map(|mean| format!("{{ empirical = {{ file = \"f\", mean = {mean} }} }}")),
    ]
}

fn arrivals() -> impl Strategy<Value = String> {
    prop_oneof![
        (0.0f64..1e6).prop_map(|rate| format!("{{ poisson = \"{rate}/s\" }}")),
        (spacing(), time())
            .prop_map(|(every, start)| format!("{{ every = {every}, start = {start} }}")),
        prop::collection::vec(time(), 0..5)
            .prop_map(|at| format!("{{ at = [{}] }}", at.join(", "))),
        (1u32..1000, time())
            .prop_map(|(n, within)| format!("{{ uniform = {n}, within = {within} }}")),
    ]
}

fn gates() -> impl Strategy<Value = String> {
    let law = prop_oneof![
        Just("law = \"none\"".to_owned()),
        (0.5f64..1e4).prop_map(|rate| format!("law = \"fixed-rate\", rate = \"{rate}/s\"")),
        (1.0f64..1e3).prop_map(|step| format!("law = \"gss-ga\", step_size = {step}")),
        (1.0f64..1e3).prop_map(|least| format!("law = \"close-probe\", alpha_min = {least}")),
        Just("law = \"python\", name = \"a \\\"law\\\"\"".to_owned()),
    ];
    let admit = prop::sample::select(vec!["syn", "syn-ack"]);
    let refuse = prop::sample::select(vec!["drop", "rst"]);
    (law, admit, refuse).prop_map(|(law, admit, refuse)| {
        format!("{{ {law}, admit = \"{admit}\", refuse = \"{refuse}\" }}")
    })
}

fn transports() -> impl Strategy<Value = String> {
    let profile =
        prop::sample::select(vec!["ns2-2001", "ns2-2003", "ns2-2005", "ns2-2006", "rfc", "linux"]);
    let more = prop::sample::select(vec![
        "",
        ", sack = true",
        ", delayed_ack = \"33ms\"",
        ", window = 7, mss = \"1000B\"",
        ", syn_retries = { jitter = 0.1, limit = 3 }",
        ", max_rto = \"9x\", initial_ssthresh = 16",
        ", lost_syn = \"rfc\", recovery = \"newreno\", nagle = false",
    ]);
    (profile, more)
        .prop_map(|(profile, more)| format!("{{ tcp = {{ profile = \"{profile}\"{more} }} }}"))
}

/// Sound documents of all kinds.
fn sound() -> impl Strategy<Value = String> {
    let links = prop_oneof![
        Just(("dumbbell", "bottleneck", "bottleneck = { rate = \"7.7Mbit\", delay = \"3.3ms\" }")),
        Just((
            "tandem",
            "link2.reverse",
            "links = [{ rate = \"1Mbit\", delay = \"1us\", buffer = \"9ms\" }, { rate = \"999bit\", delay = \"0s\" }]"
        )),
    ];
    let class =
        (sizes(), arrivals(), transports(), prop::sample::select(vec!["upload", "download"]));
    (links, gates(), prop::collection::vec(class, 1..4), 0.1f64..1e6).prop_map(
        |((kind, port, links), gate, classes, duration)| {
            let mut text = format!(
                "name = \"random\"\nduration = \"{duration}s\"\nsample = \"{duration}s\"\n\
                 change = [{{ what = \"{port}.rate\", at = \"1.5s\", pulse = \"0.3s\", to = \"1kbit\" }}]\n\
                 [topology.{kind}]\npairs = 2\naccess = {{ rate = \"1Gbit\", delay = \"10us\" }}\n\
                 {links}\n[port.\"{port}\"]\ngate = {gate}\n"
            );
            for (number, (size, arrivals, transport, direction)) in classes.iter().enumerate() {
                text.push_str(&format!(
                    "[traffic.\"class {number}\"]\nsize = {size}\narrivals = {arrivals}\n\
                     transport = {transport}\ndirection = \"{direction}\"\n"
                ));
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::inputs(30_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        try_all(&text, &[], &contents());
        try_all(BASE, &[], &BTreeMap::from([("f".to_owned(), bytes)]));
    }

    #[test]
    fn a_damaged_document_is_refused_or_shown_as_loaded(text in mutated()) {
        try_all(&text, &[], &contents());
    }

    #[test]
    fn any_setting_is_refused_or_shown_as_loaded(
        key in prop_oneof![
            "\\PC{0,12}",
            prop::sample::select(vec![
                "traffic.web.size.mean", "change", "change.0.to", "port.bottleneck.gate", "duration",
                "traffic.web.arrivals", "topology.dumbbell.bottleneck.buffer", "traffic", "sample",
                "traffic.web.transport.tcp.max_rto", "topology", "traffic.bulk.size.empirical",
            ]).prop_map(str::to_owned),
        ],
        value in prop_oneof![
            "\\PC{0,20}",
            prop::collection::vec(prop::sample::select(WORDS), 0..6).prop_map(|words| words.concat()),
            time(), size(), sizes(), arrivals(), gates(),
        ],
    ) {
        try_all(BASE, &[Setting { key: &key, value: &value }], &contents());
    }

    #[test]
    fn a_sound_document_loads_and_is_shown_as_loaded(text in sound()) {
        match load(Source { name: "x", text: &text }, &[], &contents()) {
            Ok(_) => try_all(&text, &[], &contents()),
            Err(report) => prop_assert!(false, "{}", report),
        }
    }
}
