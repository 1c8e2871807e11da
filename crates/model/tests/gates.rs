//! The gate of a port in a document: what is wrong with it.

use std::collections::BTreeMap;

use tidegate_model::{Setting, Source, load, show};

/// A gate that closes and probes.
const TEXT: &str = r#"
name = "gates"
duration = "10s"
[port.bottleneck]
gate = { law = "close-probe", limiter = "token-bucket" }
[topology.dumbbell]
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "98ms" }
[traffic.web]
arrivals = { poisson = "10/s" }
size = "10kB"
"#;

/// Tokens keep in a bucket alone, and for 60 epochs at most.
#[test]
fn tokens_keep_in_a_bucket_alone() {
    let keep = |value| Setting { key: "port.bottleneck.gate.tokens_keep", value };
    let counter = Setting { key: "port.bottleneck.gate.limiter", value: "'counter'" };
    let source = Source { name: "test.toml", text: TEXT };
    let wrong = |set: &[Setting<'_>]| {
        let found = load(source, set, &BTreeMap::new());
        found.err().map(|report| report.to_string()).unwrap_or_default()
    };
    assert_eq!(wrong(&[keep("2")]), "");
    let counted = wrong(&[keep("2"), counter]);
    assert!(counted.contains("write `limiter = \"token-bucket\"`"), "{counted}");
    let long = wrong(&[keep("61")]);
    assert!(long.contains("gate.tokens_keep") && long.contains("60"), "{long}");
}

/// `admit` says whom `tide` admits, or which packet opens a session: written back, each has a key of
/// its own, and reads as before.
#[test]
fn whom_tide_admits_is_written_beside_what_opens_a_session() {
    let gate = |text: &str| {
        let text = TEXT.replace(r#"{ law = "close-probe", limiter = "token-bucket" }"#, text);
        let source = Source { name: "test.toml", text: &text };
        let found = show(source, &[], &BTreeMap::new()).map_err(|report| report.to_string());
        let written = found.expect("it is right");
        let line = |key: &str| {
            let table = written.split("[port.bottleneck.gate]").nth(1).unwrap_or_default();
            let found = table.lines().find(|line| line.starts_with(&format!("{key} = ")));
            found.unwrap_or_default().to_owned()
        };
        (line("admit"), line("opener"))
    };
    let visits = "admit = \"visits\"".to_owned();
    let connections = "admit = \"connections\"".to_owned();
    for (text, admit, opener) in [
        (r#"{ law = "tide" }"#, &visits, "syn"),
        (r#"{ law = "tide", admit = "syn-ack" }"#, &visits, "syn-ack"),
        (r#"{ law = "tide", admit = "connections" }"#, &connections, "syn"),
        (r#"{ law = "tide", admit = "connections", opener = "either" }"#, &connections, "either"),
    ] {
        let opener = format!("opener = \"{opener}\"");
        assert_eq!(gate(text), (admit.clone(), opener), "{text}");
    }
}

/// A gate that looks at what comes in needs a link of two directions; a SYN that is judged there meets
/// no queue of the port, so none can lose it before it is charged.
#[test]
fn a_gate_that_sees_both_directions_needs_both() {
    let wrong = |text: &str, set: &[Setting<'_>]| {
        let found = load(Source { name: "test.toml", text }, set, &BTreeMap::new());
        found.err().map(|report| report.to_string()).unwrap_or_default()
    };
    let peer = Setting { key: "port.bottleneck.gate.ends_of", value: "'peer'" };
    let queued = Setting { key: "port.bottleneck.gate.charge", value: "'queued'" };
    let egress = Setting { key: "port.bottleneck.gate.refuse_at", value: "'egress'" };
    assert_eq!(wrong(TEXT, &[peer]), "");
    let charged = wrong(TEXT, &[peer, queued]);
    assert!(charged.contains("refuse_at = \"egress\""), "{charged}");
    assert_eq!(wrong(TEXT, &[peer, queued, egress]), "");
    let one_way = "name = \"one\"\nduration = \"10s\"\n\
         [topology.links]\nthere = { from = \"a\", to = \"b\", rate = \"1Mbit\", delay = \"1ms\", one_way = true }\n\
         back = { from = \"b\", to = \"a\", rate = \"1Mbit\", delay = \"1ms\", one_way = true }\n\
         [port.there]\ngate = { law = \"close-probe\", ends_of = \"peer\" }\n\
         [traffic.web]\nfrom = \"a\"\nto = \"b\"\narrivals = { poisson = \"1/s\" }\nsize = \"10kB\"\n";
    let found = wrong(one_way, &[]);
    assert!(found.contains("nothing comes in by the other one"), "{found}");
    let gate = "gate = { law = \"close-probe\", ends_of = \"peer\" }";
    let dqm = one_way.replace(gate, "queue = { law = \"dqm\", refuse_at = \"ingress\" }");
    let found = wrong(&dqm, &[]);
    assert!(found.contains("nothing comes in by the other one"), "{found}");
    assert!(
        found.contains("port.there.queue") && found.contains("leave `refuse_at` out"),
        "{found}"
    );
}

/// A key without effect is refused: `admit` and `opener` say the same thing, so one of them would be
/// ignored. What is suggested is no key twice, though `admit` belongs to the law and to all gates.
#[test]
fn what_opens_a_session_is_written_once() {
    let told = |gate: &str| {
        let text = TEXT.replace(r#"{ law = "close-probe", limiter = "token-bucket" }"#, gate);
        let source = Source { name: "test.toml", text: &text };
        let found = load(source, &[], &BTreeMap::new());
        found.err().map(|report| report.to_string()).unwrap_or_default()
    };
    for law in ["tide", "close-probe", "fixed-rate"] {
        for opener in ["syn", "syn-ack"] {
            let both = format!("{{ law = '{law}', admit = 'syn', opener = '{opener}' }}");
            let found = told(&both);
            assert!(found.contains("gate.opener") && found.contains("leave one of the two out"));
        }
    }
    assert_eq!(told("{ law = 'tide', admit = 'clients', opener = 'syn' }"), "");
    let found = told("{ law = 'tide', admits = 'syn' }");
    assert!(found.contains("did you mean `admit`"), "{found}");
    assert_eq!(found.matches(" admit,").count(), 1, "{found}");
}
