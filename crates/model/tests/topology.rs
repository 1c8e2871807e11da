//! Links spelled out: what they mean, which way packets take, and what is refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidegate_core::units::{Rate, Time};
use tidegate_model::route::Routes;
use tidegate_model::scenario::{Limit, Network, PacketKind};
use tidegate_model::{Scenario, Setting, Source, schema, show};

use crate::load::loaded;

/// A client and two servers behind a ring of three routers:
/// client - r1, r1 - r2 - server, r1 - r3 - r2, r3 - other.
const RING: &str = r#"
name = "ring"
duration = "10s"
[topology.links.up]
from = "client"
to = "r1"
rate = "10Mbit"
delay = "1ms"
reverse = { rate = "50Mbit", delay = "3ms", buffer = "9packets" }
[topology.links.short]
from = "r1"
to = "r2"
rate = "2Mbit"
delay = "10ms"
[topology.links.long]
from = "r1"
to = "r3"
rate = "2Mbit"
delay = "20ms"
[topology.links.last]
from = "r3"
to = "r2"
rate = "2Mbit"
delay = "30ms"
[topology.links.down]
from = "r2"
to = "server"
rate = "10Mbit"
delay = "1ms"
[topology.links.aside]
from = "r3"
to = "other"
rate = "10Mbit"
delay = "1ms"
[traffic.web]
arrivals = { every = "1s" }
size = "1000B"
from = "client"
to = ["server", "other"]
"#;

fn ring(set: &[(&str, &str)]) -> Scenario {
    loaded(RING, set).unwrap()
}

fn node(network: &Network, name: &str) -> u16 {
    network.nodes.iter().position(|node| node == name).unwrap() as u16
}

/// Names of the ports between two nodes, for packets of a kind.
fn way(scenario: &Scenario, from: &str, to: &str, kind: Option<PacketKind>) -> Vec<String> {
    let network = &scenario.network;
    let ends = (node(network, from), node(network, to));
    let path = Routes::of(network).path(network, ends, kind).unwrap();
    path.iter().map(|&port| network.ports[port as usize].name.clone()).collect()
}

#[test]
fn links_join_the_nodes_they_name_in_both_directions() {
    let scenario = ring(&[]);
    assert_eq!(scenario.network.nodes, ["client", "r1", "r2", "r3", "server", "other"]);
    assert_eq!(scenario.network.ports.len(), 12);
    let port = |name: &str| scenario.network.ports.iter().find(|p| p.name == name).unwrap();
    let (up, back) = (port("up"), port("up.reverse"));
    assert_eq!((up.from, up.to, back.from, back.to), (0, 1, 1, 0));
    assert_eq!((up.rate, up.delay), (Rate::from_bps(10_000_000), Time::from_ms(1)));
    assert_eq!((back.rate, back.delay), (Rate::from_bps(50_000_000), Time::from_ms(3)));
    assert_eq!(back.limit(back.rate), Limit::Packets(9));
    assert_eq!(port("down.reverse").rate, port("down").rate);
    // one name goes with each of the others
    let names: Vec<(&str, &str)> = scenario.traffic[0]
        .pairs
        .iter()
        .map(|&(from, to)| (from, to))
        .map(|(from, to)| {
            let name = |node: u16| scenario.network.nodes[usize::from(node)].as_str();
            (name(from), name(to))
        })
        .collect();
    assert_eq!(names, [("client", "server"), ("client", "other")]);
}

#[test]
fn names_of_two_lists_pair_in_their_order() {
    let set = [
        ("traffic.web.from", "[\"client\", \"other\"]"),
        ("traffic.web.to", "[\"server\", \"r3\"]"),
    ];
    // a router may send and receive too
    assert_eq!(ring(&set).traffic[0].pairs, [(0, 4), (5, 3)]);
}

/// By hand: up, short and down cost 3, the way over r3 costs 4; with a cost of
/// 3 the short link makes 5. At equal cost the port named first counts.
#[test]
fn packets_take_the_cheapest_way() {
    let short = ["up", "short", "down"];
    let long = ["up", "long", "last", "down"];
    assert_eq!(way(&ring(&[]), "client", "server", None), short);
    let dear = ring(&[("topology.links.short.cost", "3")]);
    assert_eq!(way(&dear, "client", "server", None), long);
    // the other direction has the same cost, unless it is given its own
    let back = ["down.reverse", "last.reverse", "long.reverse", "up.reverse"];
    assert_eq!(way(&dear, "server", "client", None), back);
    let one = ring(&[("topology.links.short", SHORT_DEAR_THERE)]);
    assert_eq!(way(&one, "client", "server", None), long);
    assert_eq!(
        way(&one, "server", "client", None),
        ["down.reverse", "short.reverse", "up.reverse"]
    );
    let tie = ring(&[("topology.links.short.cost", "2")]);
    assert_eq!(way(&tie, "client", "server", None), short);
}

const SHORT_DEAR_THERE: &str = r#"{ from = "r1", to = "r2", rate = "2Mbit", delay = "10ms",
    cost = 3, reverse = { cost = 1 } }"#;

#[test]
fn routes_replace_the_shortest_path_for_the_packets_they_name() {
    let route = r#"[
        { at = "r1", to = "server", via = "long", flags = ["fin", "rst"] },
        { at = "r1", to = "server", via = "short", flags = "fin" },
        { at = "r2", to = "client", via = "last", flags = "syn-ack" },
    ]"#;
    let scenario = ring(&[("route", route)]);
    let way = |from, to, kind| way(&scenario, from, to, Some(kind));
    for kind in [PacketKind::Syn, PacketKind::Data, PacketKind::Ack] {
        assert_eq!(way("client", "server", kind), ["up", "short", "down"]);
    }
    // of two routes for a packet the first counts
    for kind in [PacketKind::Fin, PacketKind::Rst] {
        assert_eq!(way("client", "server", kind), ["up", "long", "last", "down"]);
    }
    assert_eq!(way("client", "other", PacketKind::Fin), ["up", "long", "aside"]);
    // the name of a link stands for the port that leaves the node
    let back = way("server", "client", PacketKind::SynAck);
    assert_eq!(back, ["down.reverse", "last.reverse", "long.reverse", "up.reverse"]);
    assert_eq!(way("server", "client", PacketKind::Ack).len(), 3);
    let all = ring(&[("route", r#"[{ at = "r1", to = ["server"], via = "long" }]"#)]);
    assert_eq!(self::way(&all, "client", "server", None), ["up", "long", "last", "down"]);
}

/// By hand, propagation alone: there 1 + 10 + 1, back 1 + 10 + 3 ms.
#[test]
fn round_trips_are_those_of_the_classes_that_use_a_port() {
    let round_trip = |scenario: &Scenario, name: &str| {
        let port = scenario.network.ports.iter().find(|port| port.name == name).unwrap();
        port.round_trip
    };
    let scenario = ring(&[]);
    assert_eq!(round_trip(&scenario, "short"), Time::from_ms(26));
    // to the other server 1 + 20 + 1, back 1 + 20 + 3
    assert_eq!(round_trip(&scenario, "long"), Time::from_ms(46));
    assert_eq!(round_trip(&scenario, "up"), Time::from_ms(46));
    // no class uses it: the link there and back
    assert_eq!(round_trip(&scenario, "last"), Time::from_ms(60));
    // acknowledgements that go the other way round, 1 + 30 + 20 + 3 ms
    let back = r#"[{ at = "r2", to = "client", via = "last", flags = "ack" }]"#;
    let scenario = ring(&[("route", back)]);
    assert_eq!(round_trip(&scenario, "short"), Time::from_ms(66));
    assert_eq!(round_trip(&scenario, "last.reverse"), Time::from_ms(66));
}

#[test]
fn the_shown_scenario_spells_links_out_and_is_the_same() {
    let route = r#"[{ at = "r1", to = "server", via = "long", flags = ["syn", "fin"] }]"#;
    let one_way = r#"{ from = "r3", to = "r2", rate = "1Mbit", delay = "1ms", one_way = true }"#;
    let set = [("route", route), ("topology.links.last", one_way)];
    let settings = set.map(|(key, value)| Setting { key, value });
    let source = Source { name: "t", text: RING };
    let shown = show(source, &settings, &BTreeMap::new()).unwrap();
    for part in ["one_way = true", "cost = 1", "flags = [", "to = \"server\"", "buffer = \"1bdp\""]
    {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    assert_eq!(loaded(&shown, &[]).unwrap(), ring(&set));
    let again = show(Source { name: "t", text: &shown }, &[], &BTreeMap::new()).unwrap();
    assert_eq!(again, shown);
}

/// Each case: a setting, and what the message must hold.
#[test]
fn what_is_wrong_with_links_and_routes_is_shown_where_it_stands() {
    let link = |rest: &str| {
        format!("{{ from = \"r3\", to = \"r2\", rate = \"1Mbit\", delay = \"1ms\", {rest} }}")
    };
    let route = |rest: &str| format!("[{{ at = \"r1\", to = \"server\", {rest} }}]");
    let cases = [
        ("traffic.web.from", "clint".to_owned(), vec!["--set", "`clint` does not exist", "did you mean `client`"]),
        ("traffic.web.from", "[]".to_owned(), vec!["`from` is missing", "client, r1"]),
        ("traffic.web.from", "[\"client\", \"r1\", \"r2\"]".to_owned(), vec!["2 names do not pair with 3"]),
        ("traffic.web.to", "client".to_owned(), vec!["traffic.web.to", "two different nodes"]),
        ("topology.links.last.to", "r3".to_owned(), vec!["topology.links.last.to", "two different nodes"]),
        ("topology.links.last.to", "\"\"".to_owned(), vec!["a node needs a name"]),
        ("topology.links.down.to", "srever".to_owned(), vec!["`server` does not exist", "did you mean `srever`"]),
        ("topology.links.last", link("cost = 0"), vec!["topology.links.last.cost", "from 1 to 1000000"]),
        ("topology.links.last", link("reverse = { cost = 2000000 }"), vec!["reverse.cost"]),
        ("topology.links.last", link("reverse = { buffer = \"0B\" }"), vec!["reverse.buffer"]),
        ("topology.links.last", link("loss = 1.5"), vec!["topology.links.last.loss", "from 0 to 1"]),
        ("topology.links.last", link("loss = { dat = 1 }"), vec!["did you mean `data`"]),
        ("topology.links.last", link("loss = \"1%\""), vec!["a share, as in 0.01"]),
        ("topology.links.last", link("reverse = { loss = -0.1 }"), vec!["reverse.loss"]),
        ("topology.links.last", link("loss = 1.5"), vec!["topology.links.last.loss", "from 0 to 1"]),
        ("topology.links.last", link("loss = { dat = 1 }"), vec!["did you mean `data`"]),
        ("topology.links.last", link("loss = \"1%\""), vec!["a share, as in 0.01"]),
        ("topology.links.last", link("reverse = { loss = -0.1 }"), vec!["reverse.loss"]),
        ("topology.links.last", link("reverse = { to = \"r1\" }"), vec!["unknown key `to`"]),
        ("topology.links.last", link("one_way = true, reverse = { cost = 2 }"), vec!["leave `reverse` or `one_way` out"]),
        ("topology.links.\"x.reverse\"", link(""), vec!["does not end in `.reverse`"]),
        ("topology.links", "{}".to_owned(), vec!["0 links"]),
        ("topology.links.down.one_way", "true".to_owned(), vec!["no way from `server` to `client`", "`traffic.web`"]),
        ("route", route("via = \"shrt\""), vec!["route.0.via", "no port `shrt` leaves `r1`", "did you mean `short`"]),
        ("route", route("via = \"down\""), vec!["no port `down` leaves `r1`", "up.reverse, short, long"]),
        ("route", route("via = \"long\", flags = \"fine\""), vec!["did you mean `fin`", "syn-ack"]),
        ("route", route("via = \"long\", flags = []"), vec!["names no packets"]),
        ("route", route("via = \"up\""), vec!["route.0.via", "in a circle: client, r1, client"]),
        ("route", route("via = \"up\", flags = \"syn\""), vec!["syn packets for `server`", "circle"]),
        (
            "route",
            "[{ at = \"r1\", to = \"server\", via = \"long\" }, { at = \"r3\", to = \"server\", via = \"long\" }]".to_owned(),
            vec!["route.1.via", "in a circle: r1, r3, r1"],
        ),
        ("route", "[{ at = \"r9\", to = \"server\", via = \"long\" }]".to_owned(), vec!["route.0.at", "`r9` does not exist"]),
        ("route", "[{ at = \"r1\", to = \"r1\", via = \"long\" }]".to_owned(), vec!["route.0.to", "write another node"]),
        ("route", "[{ at = \"r1\", to = [], via = \"long\" }]".to_owned(), vec!["names no node"]),
    ];
    for (key, value, wanted) in cases {
        let message = loaded(RING, &[(key, &value)]).expect_err(&value).render(false);
        for part in wanted {
            assert!(message.contains(part), "{key}={value}: no {part:?} in\n{message}");
        }
    }
}

#[test]
fn a_route_to_where_no_way_leads_on_is_refused() {
    let text = format!(
        "{RING}\n[topology.links.out]\nfrom = \"r1\"\nto = \"sink\"\nrate = \"1Mbit\"\n\
         delay = \"1ms\"\none_way = true\n[[route]]\nat = \"r1\"\nto = \"server\"\nvia = \"out\"\n"
    );
    let message = loaded(&text, &[]).unwrap_err().render(false);
    assert!(message.contains("would not get beyond `sink`"), "{message}");
    assert!(message.contains("test.toml:"), "{message}");
}

/// UDP needs a way there alone.
#[test]
fn what_nobody_answers_needs_no_way_back() {
    let udp = "{ udp = { rate = \"1Mbit\" } }";
    let one_way = [("topology.links.down.one_way", "true"), ("traffic.web.transport", udp)];
    let scenario = ring(&one_way);
    let short = scenario.network.ports.iter().find(|port| port.name == "short").unwrap();
    assert_eq!(short.round_trip, Time::from_ms(12), "there and no way back");
}

#[test]
fn other_topologies_have_no_routes_to_choose() {
    let text = "name = \"x\"\nduration = \"1s\"\n[topology.dumbbell]\n\
        access = { rate = \"1Mbit\", delay = \"1ms\" }\n\
        bottleneck = { rate = \"1Mbit\", delay = \"1ms\" }\n\
        [[route]]\nat = \"left\"\nto = \"sink1\"\nvia = \"bottleneck\"\n\
        [traffic.a]\narrivals = { every = \"1s\" }\nsize = \"1kB\"\n";
    let message = loaded(text, &[]).unwrap_err().render(false);
    assert!(message.contains("but one way"), "{message}");
}

#[test]
fn the_schema_knows_links_and_routes() {
    let schema = schema();
    for part in ["one_way", "\"syn-ack\"", "\"route\"", "\"links\""] {
        assert!(schema.contains(part), "{part}");
    }
}

/// Random networks: a tree over some nodes and more links, all of random cost;
/// and routes through any of them.
fn random() -> impl Strategy<Value = (String, usize)> {
    let link = (any::<u32>(), any::<u32>(), 1..5u32);
    let kind = prop::sample::select(vec!["", "flags = \"fin\"\n", "flags = \"ack\"\n"]);
    let route = (any::<u32>(), any::<bool>(), 0..9usize, kind);
    let routes = prop::collection::vec(route, 0..4);
    let links = prop::collection::vec(link, 8..16);
    (2..9usize, links, (0..9usize, 1..9usize), routes).prop_map(|(nodes, links, ends, routes)| {
        let mut text = String::from("name = \"x\"\nduration = \"1s\"\n");
        let mut joined = Vec::new();
        for (number, (a, b, cost)) in links.iter().enumerate() {
            let to = if number + 1 < nodes { number + 1 } else { *b as usize % nodes };
            let from = *a as usize % (number + 1).min(nodes);
            if from != to {
                text.push_str(&format!(
                    "[topology.links.l{}]\nfrom = \"n{from}\"\nto = \"n{to}\"\n\
                     rate = \"1Mbit\"\ndelay = \"1ms\"\ncost = {cost}\n",
                    joined.len()
                ));
                joined.push((from, to));
            }
        }
        let from = ends.0 % nodes;
        let to = (from + 1 + ends.1 % (nodes - 1)) % nodes;
        text.push_str(&format!(
            "[traffic.a]\narrivals = {{ every = \"1s\" }}\nsize = \"1kB\"\n\
             from = \"n{from}\"\nto = \"n{to}\"\n"
        ));
        for (via, back, to, flags) in routes {
            let via = via as usize % joined.len();
            let at = if back { joined[via].1 } else { joined[via].0 };
            let to = if to % nodes == at { (at + 1) % nodes } else { to % nodes };
            text.push_str(&format!(
                "[[route]]\nat = \"n{at}\"\nto = \"n{to}\"\nvia = \"l{via}\"\n{flags}"
            ));
        }
        (text, nodes)
    })
}

/// Cost of the cheapest ways between all nodes, by Floyd and Warshall.
fn all_costs(network: &Network) -> Vec<Vec<u64>> {
    let nodes = network.nodes.len();
    let mut cost = vec![vec![u64::from(u32::MAX); nodes]; nodes];
    for (node, row) in cost.iter_mut().enumerate() {
        row[node] = 0;
    }
    for port in &network.ports {
        let known = &mut cost[usize::from(port.from)][usize::from(port.to)];
        *known = (*known).min(u64::from(port.cost));
    }
    for by in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                cost[from][to] = cost[from][to].min(cost[from][by] + cost[by][to]);
            }
        }
    }
    cost
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// What loads leads every packet of every kind from everywhere to its
    /// destination; without routes at the cost of another algorithm. What does
    /// not load is refused with a reason.
    #[test]
    fn no_packet_of_a_network_that_loads_travels_for_ever((text, nodes) in random()) {
        let plain = text.split("[[route]]").next().unwrap_or_default();
        let scenario = loaded(plain, &[]).map_err(|report| TestCaseError::fail(report.to_string()))?;
        let routes = Routes::of(&scenario.network);
        let costs = all_costs(&scenario.network);
        for from in 0..nodes as u16 {
            for to in 0..nodes as u16 {
                let path = routes.path(&scenario.network, (from, to), None).expect("a tree joins them");
                let cost: u64 =
                    path.iter().map(|&port| u64::from(scenario.network.ports[port as usize].cost)).sum();
                prop_assert_eq!(cost, costs[usize::from(from)][usize::from(to)]);
            }
        }
        match loaded(&text, &[]) {
            Err(report) => prop_assert!(report.to_string().contains("route.")),
            Ok(scenario) => {
                let routes = Routes::of(&scenario.network);
                for to in 0..nodes as u16 {
                    for from in 0..nodes as u16 {
                        for kind in PacketKind::ALL.into_iter().map(Some).chain([None]) {
                            prop_assert!(routes.path(&scenario.network, (from, to), kind).is_some());
                        }
                    }
                }
            }
        }
    }
}
