//! Guests: what the people of a place do, as classes of traffic.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::units::Time;
use tidegate_model::draw::ClassDraws;
use tidegate_model::scenario::{Arrivals, Class, Direction, End, Scenario};
use tidegate_model::{Source, show};

use crate::load::loaded;

const HOTEL: &str = r#"
name     = "a hotel"
duration = "100s"
[guests]
place  = "hotel"
people = 300
[topology.dumbbell]
access     = { rate = "100Mbit", delay = "2ms" }
bottleneck = { rate = "100Mbit", delay = "8ms", reverse = { rate = "20Mbit" } }
"#;

fn named<'a>(scenario: &'a Scenario, name: &str) -> &'a Class {
    scenario.traffic.iter().find(|class| class.name == name).unwrap()
}

fn many(class: &Class) -> u32 {
    let Arrivals::Uniform { flows, .. } = class.arrivals else { panic!("{:?}", class.arrivals) };
    flows
}

/// The persons of the first flows of a class.
fn persons(class: &Class, seed: u64, flows: usize) -> Vec<u32> {
    let mut draws = ClassDraws::new(seed, class);
    (0..flows).map(|_| draws.next_flow().unwrap().person.unwrap()).collect()
}

/// Of 300 people in a hotel 12, 8, 2 and 1 % (guests.toml) are 36, 24, 6 and 3. 2 % are 6, whose
/// devices load an update a minute each, and 3 % are 9, who send two photos a minute each: 0.1 and 0.3
/// a second.
#[test]
fn the_guests_of_a_hotel_are_so_many_of_each_kind() {
    let hotel = loaded(HOTEL, &[]).unwrap();
    let names: Vec<&str> = hotel.traffic.iter().map(|class| class.name.as_str()).collect();
    let wanted =
        ["pages", "video", "calls", "calls-up", "meetings", "meetings-up", "updates", "photos"];
    assert_eq!(names, wanted);
    for (name, people) in [("pages", 36), ("video", 24), ("calls", 6), ("meetings", 3)] {
        assert_eq!(many(named(&hotel, name)), people, "{name}");
    }
    for (name, per_s) in [("updates", 0.1), ("photos", 0.3)] {
        let Arrivals::Poisson { rate, .. } = &named(&hotel, name).arrivals else {
            panic!("{name}")
        };
        assert!((rate.value(Time::ZERO) - per_s).abs() < 1e-12, "{name}");
    }
    // data of photos and of the guests' half of a call goes up, from the side of the users
    for class in &hotel.traffic {
        let up = class.name.ends_with("-up") || class.name == "photos";
        let ends = class.pairs[0];
        let name = |node: u16| hotel.network.nodes[usize::from(node)].as_str();
        let wanted = if up { ("sink1", "source1") } else { ("source1", "sink1") };
        assert_eq!((name(ends.0), name(ends.1)), wanted, "{}", class.name);
        assert_eq!(class.direction, if up { Direction::Upload } else { Direction::Download });
    }
    assert_eq!(named(&hotel, "photos").opens, End::Sender);
    assert_eq!(named(&hotel, "pages").opens, End::Receiver);
    // everybody has a pair of hosts
    assert_eq!(named(&hotel, "pages").pairs.len(), 300);
}

/// What `show` prints is the classes, without the guests, and loads to the same scenario.
#[test]
fn what_guests_became_is_shown_and_loads_to_the_same() {
    let source = Source { name: "test.toml", text: HOTEL };
    let shown = show(source, &[], &BTreeMap::new()).unwrap();
    assert!(!shown.contains("[guests]") && shown.contains("[traffic.photos"), "{shown}");
    assert!(loaded(&shown, &[]).unwrap() == loaded(HOTEL, &[]).unwrap());
}

#[test]
fn shares_and_transport_can_be_chosen() {
    let settings = [
        ("guests.people", "50"),
        ("guests.calls", "0"),
        ("guests.meetings", "0.001"),
        ("guests.pages", "1"),
        ("guests.begin", "5s"),
        ("guests.transport", "{ tcp = { profile = \"linux\", control = \"bbr\" } }"),
        ("topology.dumbbell.pairs", "7"),
    ];
    let cafe = loaded(&HOTEL.replace("hotel\"\n", "cafe\"\n"), &settings).unwrap();
    assert!(cafe.traffic.iter().all(|class| !class.name.starts_with("calls")));
    // a share above 0 is somebody; 10 % of 50 (the share of a cafe) are 5
    assert_eq!(many(named(&cafe, "meetings-up")), 1);
    assert_eq!(many(named(&cafe, "video")), 5);
    assert_eq!(many(named(&cafe, "pages")), 50);
    let pages = named(&cafe, "pages");
    assert!(
        matches!(pages.arrivals, Arrivals::Uniform { within, .. } if within == Time::from_secs(5))
    );
    assert!(format!("{:?}", pages.transport).contains("Bbr"));
    assert_eq!(pages.pairs.len(), 7);
}

#[test]
fn what_guests_cannot_have_is_refused() {
    let own = "[traffic.video]\narrivals = { at = ['0s'] }\nsize = '1MB'\n";
    let refused = loaded(&format!("{HOTEL}{own}"), &[]).unwrap_err().render(false);
    assert!(refused.contains("guests make a class of this name"), "{refused}");
    assert!(refused.contains("write video = 0 into [guests]"), "{refused}");
    let without = loaded(&format!("{HOTEL}{own}"), &[("guests.video", "0")]).unwrap();
    assert_eq!(without.traffic[0].name, "video");
    for (key, value, wanted) in [
        ("guests.place", "castle", "castle"),
        ("guests.people", "0", "from 1"),
        ("guests.video", "1.5", "1.5"),
        ("guests.users", "left", "has no effect here"),
        ("traffic.x.people", "{ of = 0 }", "from 1"),
    ] {
        let refused = loaded(HOTEL, &[(key, value)]).expect_err(key).render(false);
        assert!(refused.contains(wanted), "{key}: {refused}");
    }
    let nobody = HOTEL.replace("[guests]\nplace  = \"hotel\"\npeople = 300\n", "");
    let refused = loaded(&nobody, &[]).unwrap_err().render(false);
    assert!(refused.contains("or `[guests]`"), "{refused}");
}

/// Among links that are spelled out the nodes of guests and servers are named: data of downloads
/// goes from the servers, that of uploads from the guests.
#[test]
fn guests_among_links_have_nodes() {
    let links = "[topology.links.line]\nfrom = 'net'\nto = 'home'\nusers = 'to'\nrate = '10Mbit'\n\
                 delay = '5ms'\n[topology.links.far]\nfrom = 'server'\nto = 'net'\nrate = '1Gbit'\n\
                 delay = '5ms'\n";
    let text = format!("{}{links}", HOTEL.split("[topology").next().unwrap());
    let refused = loaded(&text, &[]).unwrap_err().render(false);
    assert!(refused.contains("`guests.users`: which node is missing"), "{refused}");
    let named_ = [("guests.users", "home"), ("guests.servers", "server")];
    let scenario = loaded(&text, &named_).unwrap();
    let ends = |name: &str| {
        let (from, to) = named(&scenario, name).pairs[0];
        let node = |number: u16| scenario.network.nodes[usize::from(number)].clone();
        (node(from), node(to))
    };
    assert_eq!(ends("pages"), ("server".to_owned(), "home".to_owned()));
    assert_eq!(ends("photos"), ("home".to_owned(), "server".to_owned()));
    let way =
        |name: &str| scenario.network.ports.iter().find(|port| port.name == name).unwrap().way;
    assert_eq!(way("line"), Some(Direction::Download));
    assert_eq!(way("line.reverse"), Some(Direction::Upload));
    assert_eq!(way("far"), None);
}

/// The order of the people is a permutation, drawn from the seed and the class; a person has one
/// pair of hosts in all classes.
#[test]
fn a_person_is_one_in_all_classes() {
    let hotel = loaded(HOTEL, &[("topology.dumbbell.pairs", "70")]).unwrap();
    let pages = persons(named(&hotel, "pages"), 1, 36);
    assert_eq!(pages.iter().collect::<BTreeSet<_>>().len(), 36, "nobody twice: {pages:?}");
    assert!(pages.iter().all(|person| *person < 300));
    assert_eq!(pages, persons(named(&hotel, "pages"), 1, 36));
    assert_ne!(pages, persons(named(&hotel, "pages"), 2, 36));
    assert_ne!(pages[..24], persons(named(&hotel, "video"), 1, 24));
    // both halves of a call
    let calls = persons(named(&hotel, "calls"), 1, 6);
    assert_eq!(calls, persons(named(&hotel, "calls-up"), 1, 6));
    for class in &hotel.traffic {
        let mut draws = ClassDraws::new(1, class);
        for _ in 0..3 {
            let flow = draws.next_flow().unwrap();
            assert_eq!(flow.pair, flow.person.unwrap() as usize % 70, "{}", class.name);
        }
    }
}
