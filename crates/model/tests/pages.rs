//! Classes of users who load pages: what is read, what follows from it, what is refused.

use std::collections::BTreeMap;

use tidegate_core::units::Time;
use tidegate_model::draw::Page;
use tidegate_model::lint::expected;
use tidegate_model::scenario::{Direction, Shape};
use tidegate_model::{Report, Scenario, Setting, Source, load, show};

const WEB: &str = r#"
    name = "t"
    duration = "100s"
    [topology.dumbbell]
    access = { rate = "1Gbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "20ms" }
    [traffic.web]
    arrivals = { at = ["0s", "1s"] }
    size = "10kB"
    pages = { objects = 20 }
"#;

fn loaded(set: &[(&str, &str)]) -> Result<Scenario, Report> {
    let set: Vec<Setting<'_>> = set.iter().map(|&(key, value)| Setting { key, value }).collect();
    load(Source { name: "t.toml", text: WEB }, &set, &BTreeMap::new())
}

/// Six connections carry one request each at a time (HTTP/1.1), one connection carries a hundred
/// (RFC 9113, 6.5.2, recommends no fewer), and connections that do not persist one.
#[test]
fn what_goes_without_saying() {
    let class = loaded(&[]).unwrap().traffic.remove(0);
    let pages = class.pages().unwrap();
    assert_eq!(class.direction, Direction::Download);
    assert_eq!((pages.connections, pages.concurrent, pages.persistent), (6, 1, true));
    assert_eq!((pages.request, pages.count), (400, 1));
    assert_eq!((pages.objects.mean, pages.server.mean, pages.think.mean), (20.0, 0.0, 0.0));
    let of = |set: &[(&str, &str)]| loaded(set).unwrap().traffic[0].pages().unwrap().clone();
    assert_eq!(of(&[("traffic.web.pages.connections", "1")]).concurrent, 100);
    let single = [
        ("traffic.web.pages.connections", "1"),
        ("traffic.web.pages.persistent", "false"),
        ("traffic.web.pages.count", "unlimited"),
        ("traffic.web.pages.think", "{ lognormal = { mean = \"3s\", sigma = 1.0 } }"),
    ];
    let single = of(&single);
    assert_eq!((single.concurrent, single.count), (1, u32::MAX));
    assert_eq!((single.think.shape, single.think.mean), (Shape::Lognormal(1.0), 3.0));
}

#[test]
fn it_is_shown_as_it_was_loaded() {
    let set = [
        Setting {
            key: "traffic.web.pages.document",
            value: "{ pareto = { mean = \"50kB\", shape = 1.5 } }",
        },
        Setting { key: "traffic.web.pages.count", value: "unlimited" },
        Setting { key: "traffic.web.pages.server", value: "20ms" },
    ];
    let shown = show(Source { name: "t", text: WEB }, &set, &BTreeMap::new()).unwrap();
    let again = load(Source { name: "t", text: &shown }, &[], &BTreeMap::new()).unwrap();
    assert_eq!(again, load(Source { name: "t", text: WEB }, &set, &BTreeMap::new()).unwrap());
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let wrong = [
        ("pages.objects", "0", "`traffic.web.pages.objects`: out of range"),
        ("pages.objects", "{ pareto = { mean = 20, shape = 1.0 } }", "pages.objects.pareto.shape"),
        ("pages.objects", "20kB", "`traffic.web.pages.objects`: the text \"20kB\" does not fit"),
        ("pages.server", "20", "a time with its unit"),
        (
            "pages.think",
            "{ exponential = { mean = \"48h\" } }",
            "pages.think.exponential.mean`: out",
        ),
        ("pages.connections", "0", "`traffic.web.pages.connections`: 0 is out of range"),
        ("pages.connections", "257", "write a number from 1 to 256"),
        ("pages.concurrent", "0", "`traffic.web.pages.concurrent`: 0 is out of range"),
        ("pages.count", "0", "`traffic.web.pages.count`: 0 is out of range"),
        ("pages.count", "many", "a number of pages, as in 5, or \"unlimited\""),
        ("pages.request", "9kB", "what one packet holds"),
        ("pages.document", "unlimited", "is never loaded"),
        ("pages.objets", "3", "did you mean `objects`"),
        ("size", "unlimited", "`traffic.web.size`: has no effect with `pages`"),
        ("stop", "9s", "`traffic.web.stop`: has no effect with `pages`"),
        ("video", "{ ladder = [\"1Mbit\"] }", "`traffic.web.video`: has no effect with `pages`"),
        ("transport", "{ tcp = { handshake = false } }", "pages are fetched over connections"),
        ("transport", "{ udp = { rate = \"1Mbit\" } }", "pages are fetched over connections"),
    ];
    for (key, value, expected) in wrong {
        let report = loaded(&[(&*format!("traffic.web.{key}"), value)]).unwrap_err().render(false);
        assert!(report.contains(expected), "{key} = {value}: {report}");
    }
    for (key, value) in [("server", "20ms"), ("request", "1kB")] {
        let key = format!("traffic.web.pages.{key}");
        let report = loaded(&[("traffic.web.direction", "upload"), (&key, value)]);
        let report = report.unwrap_err().render(false);
        assert!(report.contains("has no effect where users send the objects"), "{report}");
    }
    let both = [("traffic.web.pages.persistent", "false"), ("traffic.web.pages.concurrent", "3")];
    let report = loaded(&both).unwrap_err().render(false);
    assert!(report.contains("has a connection of its own"), "{report}");
}

/// A page is drawn from the seed, the class, the user and its number alone. Its objects are as
/// many as written, and their mean size is that of the class: 400 draws of an exponential are
/// within a fifth of it (four standard errors).
#[test]
fn a_page_depends_on_its_user_and_number_alone() {
    let set = [
        ("traffic.web.size", "{ exponential = { mean = \"10kB\" } }"),
        ("traffic.web.pages.document", "50kB"),
    ];
    let class = loaded(&set).unwrap().traffic.remove(0);
    let page = |user, number, start| Page::draw(7, &class, user, number, start).unwrap();
    assert_eq!(page(3, 1, Time::ZERO), page(3, 1, Time::from_secs(60)));
    assert_ne!(page(3, 1, Time::ZERO), page(3, 2, Time::ZERO));
    assert_ne!(page(3, 1, Time::ZERO), page(4, 1, Time::ZERO));
    let one = page(0, 0, Time::ZERO);
    assert_eq!(one.objects.len(), 20);
    assert_eq!(one.document.map(|document| document.bytes), Some(50_000));
    let bytes: u64 =
        (0..20).flat_map(|user| page(user, 0, Time::ZERO).objects).map(|object| object.bytes).sum();
    let mean = bytes as f64 / 400.0;
    assert!((8_000.0..12_000.0).contains(&mean), "{mean}");
}

/// Two users with six connections each; one loads 20 objects of 10 kB. Without persistent
/// connections each object has its own.
#[test]
fn connections_and_bytes_are_expected() {
    let of = |set: &[(&str, &str)]| expected(&loaded(set).unwrap()).remove(0);
    let six = of(&[]);
    assert_eq!((six.flows, six.mean_bytes), (12.0, Some(200_000.0)));
    let single = of(&[("traffic.web.pages.persistent", "false"), ("traffic.web.pages.count", "3")]);
    assert_eq!((single.flows, single.mean_bytes), (120.0, Some(600_000.0)));
}
