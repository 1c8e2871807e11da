//! What is said of a scenario before it runs: warnings, and how many flows it will have.
//!
//! Expected sentences name both sides of a contradiction; numbers of flows are
//! worked out by hand.

use std::collections::BTreeMap;

use tidegate_core::law::session::Opener;
use tidegate_model::lint::{expected, warnings};
use tidegate_model::{Scenario, Setting, Source, load, variants};

const BASE: &str = r#"
name = "base"
duration = "10s"

[topology.dumbbell]
pairs = 2
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms", buffer = "1bdp" }

[traffic.a]
arrivals = { poisson = "20/s" }
size = "10kB"
transport = { tcp = { profile = "linux" } }
"#;

fn read(text: &str, files: &[(&str, &str)]) -> Scenario {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    load(Source { name: "t.toml", text }, &[], &files).unwrap()
}

fn with(more: &str) -> Vec<String> {
    warnings(&read(&format!("{BASE}\n{more}"), &[]))
}

fn opener(more: &str) -> Opener {
    let scenario = read(&format!("{BASE}\n{more}"), &[]);
    let gated = scenario.network.ports.iter().find_map(|port| port.gate.as_ref());
    gated.unwrap().opener()
}

const GATE: &str = "[port.bottleneck]\ngate = { law = 'close-probe' }\n";
const DOWN: &str =
    "[traffic.b]\ndirection = 'download'\narrivals = { poisson = '1/s' }\nsize = '9kB'\n";

#[test]
fn a_plain_scenario_gives_no_reason_to_doubt() {
    assert_eq!(with(""), Vec::<String>::new());
    assert_eq!(with(GATE), Vec::<String>::new());
}

/// RFC 8289: the interval is about the longest round trip, the target a twentieth of it. By hand:
/// 2 (1 + 298 + 1) = 600 ms, more than three times 100 ms; 2 (1 + 148 + 1) = 300 ms is not.
#[test]
fn an_interval_that_does_not_fit_the_round_trips_is_named_with_one_that_does() {
    for law in ["codel", "fq-codel", "cake"] {
        let queue = format!("[port.bottleneck]\nqueue = {{ law = '{law}' }}\n");
        let far = |delay: &str, queue: &str| {
            let text = BASE.replace("delay = \"10ms\"", &format!("delay = \"{delay}\""));
            warnings(&read(&format!("{text}\n{queue}"), &[]))
        };
        let found = far("298ms", &queue);
        let [warning] = &found[..] else { panic!("{law}: {found:?}") };
        assert!(warning.contains("class `a`, take 600ms"), "{warning}");
        assert!(warning.contains("interval = \"600ms\", target = \"30ms\""), "{warning}");
        // cake_reconfigure of sch_cake: four times 10 Mbit/s for 600 ms are 3 MB, and 1bdp is less
        let room = warning.contains("buffer = \"3MB\"");
        assert_eq!(room, law == "cake", "{warning}");
        let text = BASE.replace("\"10ms\"", "\"298ms\"").replace("1bdp", "4bdp");
        let roomy = warnings(&read(&format!("{text}\n{queue}"), &[]));
        assert!(roomy[0].ends_with("target = \"30ms\""), "{roomy:?}");
        assert_eq!(far("148ms", &queue), Vec::<String>::new());
        let fitting = queue.replace(" }", ", interval = '600ms', target = '30ms' }");
        assert_eq!(far("298ms", &fitting), Vec::<String>::new());
        assert!(far("1ms", &queue)[0].contains("it acts too late"));
    }
}

/// The data of an upload follows its SYN, that of a download the SYN+ACK.
#[test]
fn a_gate_goes_by_the_openers_of_the_data_that_crosses_it() {
    assert_eq!(opener(GATE), Opener::Syn);
    assert_eq!(opener(&format!("{GATE}{DOWN}")), Opener::Either);
    let down = BASE.replace("[traffic.a]", "[traffic.a]\ndirection = 'download'");
    let scenario = read(&format!("{down}\n{GATE}"), &[]);
    assert_eq!(scenario.network.ports[0].gate.as_ref().unwrap().opener(), Opener::SynAck);
    // where only acknowledgements come, whatever opens a session there
    let reverse = "[port.'bottleneck.reverse']\ngate = { law = 'close-probe' }\n";
    assert_eq!(opener(reverse), Opener::SynAck);
    assert_eq!(
        opener("[port.bottleneck]\ngate = { law = 'close-probe', admit = 'syn-ack' }"),
        Opener::SynAck
    );
    // the name of the key in the file of a real gate
    assert_eq!(
        opener("[port.bottleneck]\ngate = { law = 'close-probe', opener = 'syn-ack' }"),
        Opener::SynAck
    );
}

#[test]
fn recorded_flows_say_themselves_which_way_they_go() {
    let text =
        BASE.replace("arrivals = { poisson = \"20/s\" }\nsize = \"10kB\"", "flows = 'f.csv'");
    let gated = format!("{text}\n{GATE}");
    let table = "start_s,size_bytes,direction\n1,100,upload\n2,90,download\n12,1,download\n";
    let scenario = read(&gated, &[("f.csv", table)]);
    // downloads cross this port, to the users on the right. The upload goes the other way, and
    // crosses it with its SYN+ACK only; so a SYN+ACK is what opens a session here
    assert_eq!(scenario.network.ports[0].gate.as_ref().unwrap().opener(), Opener::SynAck);
    let [late] = &warnings(&scenario)[..] else { panic!("{:?}", warnings(&scenario)) };
    assert!(
        late.contains("1 of 3 flows of class `a` start after the end of the run at 10s"),
        "{late}"
    );
    assert_eq!(expected(&scenario)[0].later, 1);
    assert!((expected(&scenario)[0].flows - 2.0).abs() < 1e-9);
}

#[test]
fn a_gate_that_goes_by_the_wrong_packet_is_named() {
    let down = BASE.replace("[traffic.a]", "[traffic.a]\ndirection = 'download'");
    let gate = "[port.bottleneck]\ngate = { law = 'close-probe', admit = 'syn' }\n";
    let found = warnings(&read(&format!("{down}\n{gate}"), &[]));
    assert!(found[0].contains("`bottleneck`") && found[0].contains("SYN+ACK"), "{found:?}");
    // the remedy fits whichever key is written: `opener` alone is a key of the gate
    for law in ["tide", "close-probe"] {
        for key in ["opener", "admit"] {
            let gate =
                format!("[port.bottleneck]\ngate = {{ law = '{law}', {key} = 'syn-ack' }}\n");
            let found = with(&gate);
            let [only] = &found[..] else { panic!("{law}, {key}: {found:?}") };
            assert!(only.contains("leave that key out, or write \"syn\" there"), "{only}");
            assert_eq!(with(&gate.replace("syn-ack", "syn")), Vec::<String>::new());
        }
    }
    let none = BASE.replace("profile = \"linux\"", "profile = \"linux\", handshake = false");
    let found = warnings(&read(&format!("{none}\n{GATE}"), &[]));
    assert!(found[0].contains("without a handshake"), "{found:?}");
}

#[test]
fn senders_and_ports_that_do_not_speak_to_each_other_are_both_named() {
    let class = |transport: &str| {
        format!(
            "[traffic.b]\narrivals = {{ poisson = '1/s' }}\nsize = '9kB'\ntransport = {transport}\n"
        )
    };
    for (more, both) in [
        (class("'qfcp'"), ["class `b` sends by qfcp", "no port on its way stamps"]),
        (
            format!("{}[port.bottleneck]\nstamp = {{ law = 'xcp' }}\n", class("'qfcp'")),
            ["class `b` sends by qfcp", "port `bottleneck` stamps by xcp"],
        ),
        (
            "[port.bottleneck]\nstamp = { law = 'vcp' }\n".to_owned(),
            ["port `bottleneck` stamps by vcp", "no class that crosses it"],
        ),
        (class("'blitz'"), ["class `b` sends by blitz", "pushout"]),
        (
            class("{ tcp = { profile = 'linux', ecn = true } }"),
            ["class `b` asks for ECN", "no queue"],
        ),
    ] {
        let found = with(&more);
        let one = matches!(&found[..], [only] if both.iter().all(|side| only.contains(side)));
        assert!(one, "{more}: {found:?}");
    }
    for sound in [
        format!("{}[port.bottleneck]\nqueue = {{ law = 'pushout' }}\n", class("'blitz'")),
        format!(
            "{}[port.bottleneck]\nqueue = {{ law = 'fq-codel' }}\n",
            class("{ tcp = { profile = 'linux', ecn = true } }")
        ),
    ] {
        assert_eq!(with(&sound), Vec::<String>::new(), "{sound}");
    }
}

/// RFC 3168 and RFC 9331: a mark takes a sender whose packets are ECN-capable and a queue that marks.
/// dctcp and prague always are (docs of `ecn` of TCP), dualpi2 always marks (RFC 9332), and so does
/// fq-codel by default; a `ce_threshold` marks L4S alone.
#[test]
fn who_waits_for_marks_in_vain_is_named_and_nobody_else() {
    let said = |transport: &str, queue: &str| {
        let text = BASE.replace("{ tcp = { profile = \"linux\" } }", transport);
        warnings(&read(&format!("{text}[port.bottleneck]\nqueue = {{ law = {queue} }}\n"), &[]))
    };
    let tcp = |more: &str| format!("{{ tcp = {{ profile = 'linux', {more} }} }}");
    let media = "{ udp = { rate = '1Mbit', packet = '1000B', ecn = 'ect1', media = { control = { \
                 law = 'nada' } } } }";
    let udp = "{ udp = { rate = '1Mbit', packet = '1000B', ecn = 'ect1' } }";
    for (transport, why) in [
        (tcp("ecn = true"), "asks for ECN"),
        (tcp("control = 'dctcp'"), "sends by dctcp"),
        (tcp("control = 'prague'"), "sends by prague"),
    ] {
        let found = said(&transport, "'drop-tail'");
        let [only] = &found[..] else { panic!("{transport}: {found:?}") };
        assert!(only.contains(why) && only.contains("no queue on its way marks"), "{only}");
        for queue in ["'dualpi2'", "'fq-codel'", "'red', ecn = true", "'cake'"] {
            assert_eq!(said(&transport, queue), Vec::<String>::new(), "{transport} {queue}");
        }
        let over = "'dqm', over = { law = 'codel', ecn = true }";
        assert_eq!(said(&transport, over), Vec::<String>::new(), "{transport}");
    }
    let threshold = "'fq-codel', ecn = false, ce_threshold = '1ms'";
    assert_eq!(said(&tcp("control = 'prague'"), threshold), Vec::<String>::new());
    assert!(said(&tcp("control = 'dctcp'"), threshold)[0].contains("marks"));
    // of what users supply nothing is known
    assert_eq!(said(&tcp("ecn = true"), "'python', name = 'mine'"), Vec::<String>::new());
    let unlimited = |transport: &str| {
        let text =
            BASE.replace("\"10kB\"", "'unlimited'").replace("poisson = \"20/s\"", "at = ['0s']");
        warnings(&read(&text.replace("{ tcp = { profile = \"linux\" } }", transport), &[]))
    };
    assert!(unlimited(media)[0].contains("sends media with ECN"), "{:?}", unlimited(media));
    assert_eq!(unlimited(udp), Vec::<String>::new());
}

/// The same from the side of the queue: only where marks were asked for, as some laws mark by default.
#[test]
fn a_queue_that_marks_nobodys_packets_is_named() {
    let queue = |queue: &str| with(&format!("[port.bottleneck]\nqueue = {{ law = {queue} }}\n"));
    for law in ["red", "codel", "pie", "fq-pie"] {
        let found = queue(&format!("'{law}', ecn = true"));
        let [only] = &found[..] else { panic!("{law}: {found:?}") };
        assert!(
            only.contains("`bottleneck`") && only.contains("no class that crosses it"),
            "{only}"
        );
        assert_eq!(queue(&format!("'{law}'")), Vec::<String>::new());
    }
    for law in ["fq-codel", "cake", "dualpi2"] {
        assert_eq!(queue(&format!("'{law}'")), Vec::<String>::new());
    }
}

/// By hand: 1bdp of 10 Mbit/s and 24 ms are 30 kB, 20 packets of 1500 B, or 60 mean packets of 500 B
/// where RED counts bytes. An automatic max_th is three times min_th, whatever the buffer.
#[test]
fn thresholds_that_the_buffer_does_not_let_the_queue_reach_are_named() {
    let said = |red: &str, buffer: &str| {
        let text = BASE.replace("1bdp", buffer);
        let port = format!("[port.bottleneck]\nqueue = {{ law = {red} }}\n");
        warnings(&read(&format!("{text}{port}"), &[]))
    };
    for (red, buffer, named) in [
        ("'red', min_th = 500, max_th = 900", "1bdp", Some("min_th")),
        ("'red', min_th = 21", "1bdp", Some("min_th")),
        ("'red', min_th = 20", "1bdp", None),
        ("'red', min_th = 5, max_th = 21", "1bdp", Some("max_th")),
        ("'red', min_th = 5, max_th = 20", "1bdp", None),
        ("'red', min_th = 21, max_th = 60, bytes = true", "1bdp", None),
        ("'red', min_th = 61, max_th = 90, bytes = true", "1bdp", Some("min_th")),
        ("'red', min_th = 5, max_th = 15", "14packets", Some("max_th")),
        ("'red', min_th = 5, max_th = 15", "15packets", None),
        ("'dqm', over = { law = 'red', min_th = 90 }", "80packets", Some("min_th")),
        ("'red'", "6packets", Some("min_th")),
        ("'red'", "20packets", None),
    ] {
        let found = said(red, buffer);
        let fits = match named {
            None => found.is_empty(),
            Some(key) => matches!(&found[..], [one] if one.contains(&format!("({key})"))),
        };
        assert!(fits, "{red}, {buffer}: {found:?}");
    }
}

/// docs/scenario.md, Explicit rates: they are not mixed with other transports on one port.
#[test]
fn who_shares_a_port_with_senders_that_obey_its_rates_is_named() {
    let stamped = |law: &str, transports: &[&str]| {
        let classes = (b'b'..).zip(transports).map(|(name, transport)| {
            format!(
                "[traffic.{}]\narrivals = {{ poisson = '1/s' }}\nsize = '9kB'\n\
                 transport = {transport}\n",
                char::from(name)
            )
        });
        let stamp = format!("[port.bottleneck]\nstamp = {{ law = '{law}' }}\n");
        classes.chain([stamp]).collect::<String>()
    };
    // class `a` of the base is TCP
    for law in ["qfcp", "rcp", "xcp", "vcp"] {
        let (own, udp) = (format!("'{law}'"), "{ udp = { rate = '1Mbit' } }");
        let found = with(&stamped(law, &[&own]));
        let [only] = &found[..] else { panic!("{law}: {found:?}") };
        let says =
            format!("port `bottleneck` sets the rate of class `b` by {law}, but not of class `a`,");
        assert!(only.contains(&says), "{only}");
        let found = with(&stamped(law, &[&own, "'tcp'", &own]));
        assert!(found[0].contains("not of classes `a`, `c`, which"), "{found:?}");
        // without class `a` all obey, and what UDP leaves is divided among them
        let text = BASE.replace("{ tcp = { profile = \"linux\" } }", &own);
        let all = warnings(&read(&format!("{text}\n{}", stamped(law, &[&own, udp])), &[]));
        assert_eq!(all, Vec::<String>::new(), "{law}");
    }
    // one who obeys another law has a warning of his own, and gets no second one
    let found = with(&stamped("qfcp", &["'qfcp'", "'xcp'"]));
    assert_eq!(found.iter().filter(|said| said.contains("`c`")).count(), 1, "{found:?}");
}

#[test]
fn flows_and_changes_beyond_the_end_are_counted() {
    for (more, says) in [
        ("[traffic.b]\narrivals = { at = [] }\nsize = '1kB'\n", "class `b` has no flows"),
        ("[traffic.b]\narrivals = { poisson = '0/s' }\nsize = '1kB'\n", "class `b` has no flows"),
        (
            "[traffic.b]\narrivals = { at = ['1s', '11s', '12s'] }\nsize = '1kB'\n",
            "2 of 3 flows of class `b` start after the end",
        ),
        (
            "[traffic.b]\narrivals = { uniform = 5, within = '20s' }\nsize = '1kB'\n",
            "`within` is longer",
        ),
        (
            "[[change]]\nwhat = 'topology.dumbbell.bottleneck.rate'\nat = '15s'\nto = '5Mbit'\n",
            "at 15s comes after the end of the run at 10s",
        ),
        (
            "[[change]]\nwhat = 'traffic.a.arrivals.poisson'\nat = '15s'\nto = '5/s'\n",
            "a change of the arrivals of class `a`",
        ),
        (
            "[traffic.b]\narrivals = { at = ['1s'] }\nsize = '1kB'\n[series]\nflows = ['b:0', 'b:1']\n",
            "follows `b:1`, but of class `b` about 1 start",
        ),
        // 20 a second for 10 s are 200, and never above 440
        ("[series]\nflows = ['a:439', 'a:440']\n", "follows `a:440`"),
        ("[series]\nacks = ['a:440']\n", "follows `a:440`"),
        (
            "[traffic.b]\narrivals = { at = ['1s'] }\nsize = '1kB'\n\
             transport = { udp = { rate = '1Mbit' } }\n[series]\nacks = ['b:0']\n",
            "names `b:0`, and only those of TCP are recorded",
        ),
    ] {
        let found = with(more);
        assert!(matches!(&found[..], [only] if only.contains(says)), "{more}: {found:?}");
    }
}

/// What is written once is told once, though a ramp is made of a step each 100 ms.
#[test]
fn a_ramp_beyond_the_end_gives_one_warning() {
    let ramp = |at: &str, what: &str, to: &str| {
        format!("[[change]]\nwhat = 'bottleneck.{what}'\nat = '{at}'\nuntil = '19s'\nto = '{to}'\n")
    };
    for (at, says) in [
        ("15s", "a change of `bottleneck.rate` at 15s comes after the end of the run at 10s"),
        ("5s", "a change of `bottleneck.rate` at 5s ends after the end of the run at 10s"),
    ] {
        let found = with(&ramp(at, "rate", "5Mbit"));
        assert!(matches!(&found[..], [only] if only.contains(says)), "{at}: {found:?}");
    }
    // two of a rate, one after the other, and one of the delay
    let next = "[[change]]\nwhat = 'bottleneck.rate'\nat = '20s'\nuntil = '22s'\nto = '9Mbit'\n";
    let three = [&ramp("15s", "rate", "5Mbit"), next, &ramp("15s", "delay", "1s")].concat();
    assert_eq!(with(&three).len(), 3, "{:?}", with(&three));
}

/// 20/s over 10 s; a ramp from 20/s to 40/s between 4 s and 8 s: 80 + 120 + 80; every 3 s: 10/3.
#[test]
fn flows_are_forecast_by_the_area_under_their_rate() {
    let flows = |more: &str| expected(&read(&format!("{BASE}\n{more}"), &[]))[0].flows;
    assert!((flows("") - 200.0).abs() < 1e-6);
    let ramp =
        "[[change]]\nwhat = 'traffic.a.arrivals.poisson'\nat = '4s'\nuntil = '8s'\nto = '40/s'\n";
    assert!((flows(ramp) - 280.0).abs() < 1e-6);
    assert_eq!(expected(&read(BASE, &[]))[0].mean_bytes, Some(10_000.0));
}

#[test]
fn a_class_that_only_a_setting_names_is_taken_for_a_misspelling() {
    let setting = Setting { key: "traffic.b.size", value: "1kB" };
    let source = Source { name: "t.toml", text: BASE };
    let said = load(source, &[setting], &BTreeMap::new()).unwrap_err().to_string();
    assert!(said.contains("no traffic class `b`"), "{said}");
    assert!(said.contains("did you mean `a`"), "{said}");
}

#[test]
fn a_key_of_a_variant_is_refused_in_its_line() {
    let text = format!("{BASE}\n[variant.fast]\ntopology.dumbbell.botleneck.rate = '1Gbit'\n");
    let said = variants(Source { name: "t.toml", text: &text }, &[]).unwrap_err().to_string();
    assert!(said.contains("botleneck") && said.contains("bottleneck"), "{said}");
    assert!(said.contains("t.toml:16"), "{said}");
}

#[test]
fn a_number_of_hundreds_of_digits_is_shown_by_its_power() {
    let text = BASE.replace("[traffic.a]", "[traffic.a]\nopaque_share = 1e308");
    let said = load(Source { name: "t.toml", text: &text }, &[], &BTreeMap::new()).unwrap_err();
    assert!(said.to_string().contains("1e308 is out of range"), "{said}");
}
