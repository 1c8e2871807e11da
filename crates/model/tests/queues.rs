//! The queue of a port in a document: what it means, and what is wrong with it.

use std::collections::BTreeMap;

use tidegate_core::law::queue::{cake, dqm, pie, pushout, red};
use tidegate_core::law::settings;
use tidegate_core::units::{Rate, Time};
use tidegate_model::scenario::QueueLaw;
use tidegate_model::{Source, schema, show};

use crate::load::loaded;

/// A document whose bottleneck has this queue.
fn text(queue: &str) -> String {
    format!(
        r#"
name = "queues"
duration = "10s"
[port.bottleneck]
queue = {{ {queue} }}
[topology.dumbbell]
access = {{ rate = "100Mbit", delay = "1ms" }}
bottleneck = {{ rate = "10Mbit", delay = "98ms" }}
[traffic.web]
arrivals = {{ poisson = "10/s" }}
size = "10kB"
"#
    )
}

#[test]
fn a_queue_has_the_settings_of_its_law_and_the_rest_by_default() {
    let text = text("law = \"red\", min_th = 15, max_th = 45.5, w = \"auto\"");
    let scenario = loaded(&text, &[("port.bottleneck.queue.ecn", "true")]).unwrap();
    let wanted = red::Config {
        min_th: settings::Setting::Is(15.0),
        max_th: settings::Setting::Is(45.5),
        ecn: true,
        ..red::Config::default()
    };
    let queues: Vec<&QueueLaw> = scenario.network.ports.iter().map(|port| &port.queue).collect();
    assert_eq!(queues[..2], [&QueueLaw::Red(wanted), &QueueLaw::default()]);
}

/// A law that was renamed is accepted under either name. The effective scenario keeps the old
/// one: saved runs are found by it.
#[test]
fn dqm_may_be_called_by_its_old_name() {
    let shown = |queue: &str| {
        let text = text(queue);
        show(Source { name: "test.toml", text: &text }, &[], &BTreeMap::new()).expect(queue)
    };
    let new = shown("law = \"dqm\", x_m = 9");
    assert_eq!(new, shown("law = \"dual-queue\", x_m = 9"));
    assert!(new.contains("law = \"dual-queue\"") && !new.contains("dqm"), "{new}");
}

/// What a dual queue lies over is nested, and has settings of its own.
#[test]
fn a_dual_queue_lies_over_another_queue() {
    let text =
        text("law = \"dqm\", x_m = 45, x_M = 90, P_M = 0.4, over = { law = \"red\", max_p = 0.3 }");
    let set = [("port.bottleneck.queue.over.min_th", "15"), ("port.bottleneck.queue.queues", "1")];
    let scenario = loaded(&text, &set).unwrap();
    let beneath =
        red::Config { min_th: settings::Setting::Is(15.0), max_p: 0.3, ..red::Config::default() };
    let wanted = dqm::Config {
        x_M: 90.0,
        P_M: 0.4,
        queues: 1,
        over: QueueLaw::Red(beneath).into(),
        ..dqm::Config::default()
    };
    assert_eq!(scenario.network.ports[0].queue, QueueLaw::Dqm(wanted));
    let plain = loaded(&text.replace("law = \"red\", max_p = 0.3", "law = \"drop-tail\""), &[]);
    let plain = plain.unwrap().network.ports[0].queue.clone();
    let QueueLaw::Dqm(config) = plain else { panic!("{plain:?}") };
    assert_eq!(config.over, Box::default());
}

#[test]
fn a_push_out_queue_has_levels_and_an_order_of_service() {
    let scenario = loaded(&text("law = \"pushout\", service = \"priority\""), &[]).unwrap();
    let wanted =
        pushout::Config { service: pushout::Service::Priority, ..pushout::Config::default() };
    assert_eq!(scenario.network.ports[0].queue, QueueLaw::PushOut(wanted));
}

/// Settings of PIE and CAKE as a document has them, and as it shows them: a
/// bandwidth that is not set is not shown.
#[test]
fn pie_and_cake_have_settings_of_their_own() {
    let pie_text =
        text("law = \"pie\", qdelay_ref = \"20ms\", latency = \"departure-rate\", ecn = true");
    let pie = pie::Config {
        qdelay_ref: Time::from_ms(20),
        latency: pie::Latency::DepartureRate,
        ecn: true,
        ..pie::Config::default()
    };
    let cake_text = text(
        "law = \"cake\", bandwidth = \"8Mbit\", overhead = 28, framing = \"atm\", isolation = \"dual-srchost\"",
    );
    let cake = cake::Config {
        bandwidth: Some(Rate::from_bps(8_000_000)),
        overhead: 28,
        framing: cake::shaper::Framing::Atm,
        isolation: cake::Isolation::DualSrchost,
        ..cake::Config::default()
    };
    let plain = (text("law = \"cake\""), QueueLaw::Cake(cake::Config::default()));
    for (text, wanted) in [(pie_text, QueueLaw::Pie(pie)), (cake_text, QueueLaw::Cake(cake)), plain]
    {
        let scenario = loaded(&text, &[]).unwrap();
        assert_eq!(scenario.network.ports[0].queue, wanted);
        let source = Source { name: "test.toml", text: &text };
        let shown = show(source, &[], &BTreeMap::new()).unwrap();
        assert_eq!(shown.contains("bandwidth"), text.contains("bandwidth"), "{shown}");
        assert_eq!(loaded(&shown, &[]).unwrap(), scenario);
    }
}

#[test]
fn the_shown_queue_spells_defaults_out_and_is_the_same() {
    let text = text("law = \"red\", max_th = 45.5");
    let source = Source { name: "test.toml", text: &text };
    let shown = show(source, &[], &BTreeMap::new()).unwrap();
    for part in ["max_p = 0.1", "min_th = \"auto\"", "mean_packet = \"500B\"", "wait = true"] {
        assert!(shown.contains(part), "no {part} in\n{shown}");
    }
    assert_eq!(loaded(&shown, &[]).unwrap(), loaded(&text, &[]).unwrap());
}

#[test]
fn a_queue_over_another_one_is_shown_as_it_is_written() {
    let text = self::text("law = \"dqm\", over = { law = \"red\", max_th = 45.5 }");
    let source = Source { name: "test.toml", text: &text };
    let shown = show(source, &[], &BTreeMap::new()).unwrap();
    for part in ["x_M = 45.0", "P_M = 1.0", "queues = 2", "blocked = \"drop\"", "max_th = 45.5"] {
        assert!(shown.contains(part), "no {part} in\n{shown}");
    }
    assert_eq!(loaded(&shown, &[]).unwrap(), loaded(&text, &[]).unwrap());
}

/// Each case: the queue, and what the message must hold. At 10 Mbit/s the
/// automatic min_th is 2500 packets/s x 0.005 s / 2 = 6.25.
#[test]
fn errors_show_the_setting_and_what_would_be_right() {
    let cases: &[(&str, &[&str])] = &[
        (
            "law = \"re\"",
            &[
                "`re`",
                "drop-tail, red, dqm, dual-queue, pushout, pie, dualpi2, codel, fq-codel, fq-pie, cake",
            ],
        ),
        (
            "law = \"dqm\", over = { law = \"red\", max_q = 1 }",
            &["unknown key `max_q`", "port.bottleneck.queue.over", "did you mean `max_p`"],
        ),
        (
            "law = \"dqm\", over = { law = \"red\", max_p = 2 }",
            &["port.bottleneck.queue.over.max_p", "test.toml:5:", "to 1"],
        ),
        (
            "law = \"dqm\", over = { law = \"pushout\", levels = 1 }",
            &["queue.over.levels", "2 to 65535"],
        ),
        (
            "law = \"dqm\", over = { law = \"dqm\" }",
            &["queue.over.law", "test.toml:5:", "cannot be nested in dqm"],
        ),
        ("law = \"codel\", target = \"0s\"", &["queue.target", "1us to 10s"]),
        ("law = \"fq-codel\", quanta = 9", &["did you mean `quantum`"]),
        ("law = \"dqm\", over = { max_p = 1 }", &["queue.over", "`law`"]),
        (
            "law = \"dqm\", blocked = \"hold\", refuse_at = \"ingress\"",
            &["queue.blocked", "what comes in is not held back"],
        ),
        ("law = \"dqm\", x_M = 44", &["queue.x_M", "below x_m, which is 45"]),
        ("law = \"dqm\", measure = \"now\"", &["`now`", "average, instantaneous"]),
        ("law = \"pushout\", levels = 1", &["queue.levels", "2 to 65535"]),
        ("law = \"drop-tail\", max_p = 1", &["unknown key `max_p`"]),
        ("law = \"red\", mint_th = 9", &["did you mean `min_th`"]),
        ("law = \"pie\", t_update = \"0s\"", &["queue.t_update", "10us to 10s"]),
        ("law = \"cake\", queues = 1020", &["queue.queues", "no multiple of ways, which is 8"]),
        ("law = \"cake\", isolation = \"host\"", &["queue.isolation", "triple-isolate"]),
        ("law = \"cake\", bandwidth = \"1bit\"", &["queue.bandwidth", "1kbit to 1Tbit"]),
        ("law = \"red\", max_p = 2", &["port.bottleneck.queue.max_p", "to 1"]),
        ("law = \"red\", w = \"aut\"", &["queue.w", "\"aut\"", "a number, or \"auto\""]),
        (
            "law = \"red\", min_th = 9, max_th = 9",
            &["queue.max_th", "test.toml:5:", "must be above min_th, which is 9"],
        ),
        ("law = \"red\", max_th = 6", &["queue.max_th", "above min_th, which is 6.25"]),
    ];
    for (queue, wanted) in cases {
        let report = loaded(&text(queue), &[]).expect_err(queue).render(false);
        for part in *wanted {
            assert!(report.contains(part), "{queue}: no {part:?} in\n{report}");
        }
    }
}

#[test]
fn the_schema_knows_every_discipline() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let laws = schema["$defs"]["Queue"]["oneOf"].as_array().unwrap();
    let names: Vec<&str> = laws.iter().map(|law| law["title"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "drop-tail",
            "red",
            "dqm",
            "pushout",
            "pie",
            "dualpi2",
            "codel",
            "fq-codel",
            "fq-pie",
            "cake",
            "python"
        ]
    );
    assert_eq!(laws[0]["properties"]["law"]["const"], "drop-tail");
    assert_eq!(laws[2]["properties"]["law"]["enum"], serde_json::json!(["dqm", "dual-queue"]));
}
