//! Dumbbells with two rates and with a delay for each pair of hosts.

use std::collections::BTreeMap;

use tidegate_core::units::{Length, Rate, Time};
use tidegate_model::scenario::{Direction, End, Port, Scenario};
use tidegate_model::{Report, Source, load};

const BASE: &str = r#"
name     = "an asymmetric line"
duration = "10s"
[topology.dumbbell]
pairs      = 5
access     = { rate = "1Gbit", delay = ["1ms", "20ms"] }
bottleneck = { rate = "50Mbit", delay = "8ms", buffer = "100packets", reverse = { rate = "5Mbit", delay = "12ms", buffer = "1bdp", loss = 0.01 } }
[traffic.one]
arrivals = { at = ["0s"] }
size     = "10kB"
"#;

fn loaded(text: &str) -> Result<Scenario, Report> {
    load(Source { name: "test.toml", text }, &[], &BTreeMap::new())
}

fn port<'a>(scenario: &'a Scenario, name: &str) -> &'a Port {
    scenario.network.ports.iter().find(|port| port.name == name).unwrap()
}

#[test]
fn the_other_direction_of_a_bottleneck_has_its_own_rate_delay_buffer_and_loss() {
    let scenario = loaded(BASE).unwrap();
    let (there, back) = (port(&scenario, "bottleneck"), port(&scenario, "bottleneck.reverse"));
    let rates = [there.rate, back.rate];
    assert_eq!(rates, ["50Mbit", "5Mbit"].map(|rate| rate.parse::<Rate>().unwrap()));
    assert_eq!([there.delay, back.delay], [8, 12].map(Time::from_ms));
    assert_eq!([there.buffer, back.buffer], [Length::Packets(100), Length::Bdp(1.0)]);
    assert!(there.loss.is_none());
    assert!(!back.loss.is_none());
}

/// The links of a pair have its delay: four crossings, and 8 + 12 ms between the routers.
#[test]
fn the_pairs_take_the_delays_of_the_list_in_turn() {
    let scenario = loaded(BASE).unwrap();
    for (pair, delay) in [(1, 1), (2, 20), (3, 1), (4, 20), (5, 1)] {
        for name in ["source", "sink"] {
            for back in ["", ".reverse"] {
                let own = port(&scenario, &format!("access.{name}{pair}{back}"));
                assert_eq!(own.delay, Time::from_ms(delay), "{}", own.name);
            }
        }
    }
    let longest = port(&scenario, "bottleneck").round_trip;
    assert_eq!(longest, Time::from_ms(4 * 20 + 8 + 12));
}

#[test]
fn one_delay_and_no_reverse_are_as_they_always_were() {
    let plain = BASE.replace("[\"1ms\", \"20ms\"]", "\"1ms\"");
    let start = plain.find(", reverse").unwrap();
    let plain = format!("{} }}{}", &plain[..start], plain[start..].split_once("} }").unwrap().1);
    let scenario = loaded(&plain).unwrap();
    let (there, back) = (port(&scenario, "bottleneck"), port(&scenario, "bottleneck.reverse"));
    assert_eq!((there.rate, there.delay, there.buffer), (back.rate, back.delay, back.buffer));
    assert_eq!(there.round_trip, Time::from_ms(4 + 16));
    let shown =
        tidegate_model::show(Source { name: "test.toml", text: &plain }, &[], &BTreeMap::new());
    assert!(
        shown.is_ok_and(|text| !text.contains("reverse = ") && text.contains("delay = \"1ms\""))
    );
}

/// What is put in place of what, and what the message must hold.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("[\"1ms\", \"20ms\"]", "[]", &["topology.dumbbell.access.delay", "at least one delay"]),
    ("[\"1ms\", \"20ms\"]", "5", &["topology.dumbbell.access.delay", "time with its unit"]),
    ("\"20ms\"]", "\"2h\"]", &["topology.dumbbell.access.delay", "from 0s to 1h"]),
    ("\"12ms\"", "\"2h\"", &["topology.dumbbell.bottleneck.reverse.delay", "from 0s to 1h"]),
    ("loss = 0.01", "loss = 1.5", &["topology.dumbbell.bottleneck.reverse.loss", "0 to 1"]),
    ("loss = 0.01", "cost = 2", &["topology.dumbbell.bottleneck.reverse.cost", "leave it out"]),
    ("pairs      = 5", "pairs = \"two\"", &["a whole number, without quotes", "1 to 20000"]),
    ("pairs      = 5", "pairs = -1", &["not negative", "1 to 20000"]),
    ("pairs      = 5", "pairs = 5000000000", &["a smaller whole number", "1 to 20000"]),
    ("\"10s\"", "\"1e400s\"", &["too large a time", "a smaller number"]),
    ("an asymmetric line", " ", &["a scenario needs a name"]),
];

#[test]
fn mistakes_are_named_where_they_are() {
    for (old, new, wanted) in MISTAKES {
        assert!(BASE.contains(old), "{old}");
        let Err(report) = loaded(&BASE.replacen(old, new, 1)) else { panic!("{new} is accepted") };
        let text = report.to_string();
        for word in *wanted {
            assert!(text.contains(word), "{new}: {word} is not in\n{text}");
        }
        assert!(!text.contains("4294967295"), "{text}");
    }
}

/// 5/s for 10 s, of 10 kB and 1500 B: 50 flows each, to two pairs of three in one direction.
#[test]
fn the_offered_load_is_the_payload_in_parts_of_the_capacity() {
    let text = r#"
name     = "loads"
duration = "10s"
[topology.links]
near = { from = "a", to = "r", rate = "10Mbit", delay = "1ms" }
far  = { from = "b", to = "r", rate = "10Mbit", delay = "1ms" }
wide = { from = "r", to = "s", rate = "1Mbit", delay = "1ms" }
last = { from = "s", to = "c", rate = "1Mbit", delay = "1ms" }
[traffic.two]
from      = ["a", "b"]
to        = "c"
arrivals  = { poisson = "5/s" }
size      = "10kB"
[traffic.one]
from      = "a"
to        = "c"
arrivals  = { every = "200ms" }
size      = "1500B"
"#;
    let scenario = loaded(text).unwrap();
    let found = tidegate_model::offered::offered(&scenario);
    let share = |name: &str| {
        let port = found.iter().find(|port| port.port == name);
        port.and_then(|port| port.share)
    };
    // 50 x 10 kB and 50 x 1.5 kB are 4.6 Mbit, of 10 Mbit that 1 Mbit/s carries in 10 s
    assert!((share("wide").unwrap() - 0.46).abs() < 1e-9);
    // of the first class half comes this way: 2 + 0.6 of 100 Mbit
    assert!((share("near").unwrap() - 0.026).abs() < 1e-9);
    assert!((share("far").unwrap() - 0.02).abs() < 1e-9);
    assert!(found.iter().all(|port| !port.port.ends_with(".reverse")));
    let endless = loaded(&text.replace("\"1500B\"", "\"unlimited\"")).unwrap();
    let found = tidegate_model::offered::offered(&endless);
    let wide = found.iter().find(|port| port.port == "wide").unwrap();
    assert_eq!((wide.share, wide.rate_bps), (None, 1e6));
    // those that end are the first class alone: 50 x 10 kB, 4 of 10 Mbit
    assert!((wide.ending - 0.4).abs() < 1e-9);
    // there and back over three links of 1 ms
    let ms = |count| tidegate_core::units::Time::from_ms(count);
    assert_eq!(tidegate_model::lint::round_trips(&endless), Some((ms(6), ms(6))));
}

/// Which hosts the first pair of the class joins, and who opens.
fn ends(text: &str) -> (String, String, End) {
    let scenario = loaded(text).unwrap_or_else(|report| panic!("{}", report.render(false)));
    let class = &scenario.traffic[0];
    let name = |node: u16| scenario.network.nodes[usize::from(node)].clone();
    (name(class.pairs[0].0), name(class.pairs[0].1), class.opens)
}

/// Data of downloads goes to the side of the users, that of uploads comes from there. Users open,
/// unless another key says so; where no direction is written, data goes from left to right, and its
/// sender opens.
#[test]
fn data_goes_up_or_down_from_the_side_of_the_users() {
    let cases = [
        ("", "", ("source1", "sink1", End::Sender)),
        ("", "direction = 'download'", ("source1", "sink1", End::Receiver)),
        ("", "direction = 'upload'", ("sink1", "source1", End::Sender)),
        ("", "opens = 'receiver'", ("source1", "sink1", End::Receiver)),
        ("", "direction = 'download'\nopens = 'sender'", ("source1", "sink1", End::Sender)),
        ("", "direction = 'upload'\nopens = 'receiver'", ("sink1", "source1", End::Receiver)),
        ("left", "", ("source1", "sink1", End::Sender)),
        ("left", "direction = 'download'", ("sink1", "source1", End::Receiver)),
        ("left", "direction = 'upload'", ("source1", "sink1", End::Sender)),
    ];
    for (users, keys, (from, to, opens)) in cases {
        let users = if users.is_empty() { String::new() } else { format!("users = '{users}'\n") };
        let text = BASE.replace("pairs ", &format!("{users}pairs "));
        let found = ends(&format!("{text}{keys}\n"));
        assert_eq!(found, (from.to_owned(), to.to_owned(), opens), "{users}{keys}");
    }
}

/// In a row of routers likewise; `from` and `to` of a class come first.
#[test]
fn data_goes_up_or_down_a_row_of_routers() {
    let row = "name = 'row'\nduration = '1s'\n[topology.tandem]\n\
               access = { rate = '1Gbit', delay = '1ms' }\n\
               links = [{ rate = '9Mbit', delay = '1ms' }, { rate = '9Mbit', delay = '1ms' }]\n\
               [traffic.one]\narrivals = { at = ['0s'] }\nsize = '1kB'\n";
    let cases = [
        ("", ("r1.source1", "r3.sink1", End::Sender)),
        ("direction = 'download'", ("r1.source1", "r3.sink1", End::Receiver)),
        ("direction = 'upload'", ("r3.sink1", "r1.source1", End::Sender)),
        ("direction = 'upload'\nfrom = 'r2'", ("r2.sink1", "r1.source1", End::Sender)),
        ("from = 'r3'\nto = 'r2'", ("r3.source1", "r2.sink1", End::Sender)),
    ];
    for (keys, (from, to, opens)) in cases {
        let found = ends(&format!("{row}{keys}\n"));
        assert_eq!(found, (from.to_owned(), to.to_owned(), opens), "{keys}");
    }
}

/// A port says whether it leads to the users.
#[test]
fn ports_lead_to_the_users_or_away_from_them() {
    let ways = |text: &str| {
        let scenario = loaded(text).unwrap();
        [port(&scenario, "bottleneck").way, port(&scenario, "bottleneck.reverse").way]
    };
    let (down, up) = (Some(Direction::Download), Some(Direction::Upload));
    assert_eq!(ways(BASE), [down, up]);
    assert_eq!(ways(&BASE.replace("pairs ", "users = 'left'\npairs ")), [up, down]);
}

/// By hand, in parts of the 1000 Mbit that 10 Mbit/s carry in 100 s:
///
/// - two flows of UDP of 1 Mbit/s, of which 972 in 1000 B are payload, for 100 s and 50 s: 145.8 Mbit;
/// - two readers for 100 s and 80 s, of a page of 1 MB every 20 s: 9 pages, 72 Mbit;
/// - four viewers, each of them there for 50 s in the mean: 100 Mbit at 0.5 Mbit/s, 400 at 2 Mbit/s;
/// - one user every 10 s with two pages of 1 MB each, over six connections: ten users, 160 Mbit.
#[test]
fn users_of_known_rates_are_in_the_offered_load() {
    let class = |name: &str, keys: &str| format!("[traffic.{name}]\n{keys}\n");
    let pages = "size = '100kB'\npages = { document = '100kB', objects = 9";
    let udp = class(
        "udp",
        "arrivals = { at = ['0s', '50s'] }\ntransport = { udp = { rate = '1Mbit', packet = '1000B' } }",
    );
    let readers = class(
        "readers",
        &format!(
            "arrivals = {{ at = ['0s', '20s'] }}\n{pages}, count = 'unlimited', think = '20s' }}"
        ),
    );
    let video = class(
        "video",
        "arrivals = { uniform = 4, within = '100s' }\nvideo = { ladder = ['0.5Mbit', '2Mbit'] }",
    );
    let visits = class("visits", &format!("arrivals = {{ every = '10s' }}\n{pages}, count = 2 }}"));
    let link =
        BASE.replace("50Mbit", "10Mbit").replace("duration = \"10s\"", "duration = \"100s\"");
    let link = link.split("[traffic").next().unwrap();
    let of = |traffic: &str| {
        let scenario = loaded(&format!("{link}{traffic}")).unwrap();
        let found = tidegate_model::offered::offered(&scenario);
        found.into_iter().find(|port| port.port == "bottleneck").unwrap()
    };
    // a third of the time
    let third = udp.replace("'1000B'", "'1000B', on_off = { on = '1s', off = '2s' }");
    for (traffic, least, most) in [
        (&udp, 0.1458, 0.1458),
        (&third, 0.1458 / 3.0, 0.1458 / 3.0),
        (&readers, 0.072, 0.072),
        (&video, 0.1, 0.4),
        (&visits, 0.16, 0.16),
    ] {
        let found = of(traffic);
        assert!((found.share.unwrap() - least).abs() < 1e-9, "{traffic}: {found:?}");
        assert!((found.most - most).abs() < 1e-9, "{traffic}: {found:?}");
    }
    let all = of(&[udp, readers.clone(), video, visits].concat());
    assert!((all.ending - 0.4778).abs() < 1e-9 && (all.most - 0.7778).abs() < 1e-9, "{all:?}");
    // readers who do not pause take what they get
    assert_eq!(of(&readers.replace(", think = '20s'", "")).share, None);
}

/// Poisson arrivals of 0.1/s, from 50 s on twice as many: in 100 s 5 users who are there for 75 s and 10
/// for 25 s in the mean, 625 s of a call of 80 kbit/s, of which 172 in 200 B are payload.
#[test]
fn users_who_come_over_time_are_there_from_then_on() {
    let link = BASE.replace("50Mbit", "1Mbit").replace("duration = \"10s\"", "duration = \"100s\"");
    let text = format!(
        "{}[traffic.calls]\narrivals = {{ poisson = '0.1/s' }}\n\
         transport = {{ udp = {{ rate = '80kbit', packet = '200B' }} }}\n\
         [[change]]\nwhat = 'traffic.calls.arrivals'\nat = '50s'\nto = '0.2/s'\n",
        link.split("[traffic").next().unwrap()
    );
    let found = tidegate_model::offered::offered(&loaded(&text).unwrap());
    let port = found.iter().find(|port| port.port == "bottleneck").unwrap();
    let wanted = 625.0 * 80e3 * 172.0 / 200.0 / 100e6;
    assert!((port.share.unwrap() - wanted).abs() < 1e-9, "{port:?}, {wanted}");
}
