//! Filters that move: LGC at the ports of a line of routers.
//!
//! greedy - i1 - i2 - i3 - sink, with four others at i3 (lgc, 5.3, in small): what
//! goes to the sink waits at i3.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::greedy::lgc::{AtPort, Config};
use tidegate_core::law::greedy::{Key, Node};
use tidegate_core::law::{PerPacket, Reason};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_model::Scenario;
use tidegate_sim::{Column, Custom, Data, Results};

/// The ports on the way of the greedy packets, from where they are congested.
const WAY: [&str; 3] = ["last", "second", "first"];
const LGC: &str = "{ law = \"lgc\", max_th = 25, w = 0.05 }";

/// 1 Mbit/s of packets of 500 B from 1 s on, into 400 kbit/s; the four others send by
/// TCP, with windows of three: of 60 packets they hold 12, and 33 are permitted to each.
fn line(settings: &[(&str, &str)]) -> Scenario {
    let mut text = "name = \"line\"\nduration = \"30s\"\nsample = \"100ms\"\n".to_owned();
    let mut link = |name: &str, from: &str, to: &str, rate: &str| {
        text += &format!(
            "[topology.links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\n\
             delay = \"5ms\"\nbuffer = \"60packets\"\n"
        );
    };
    link("last", "i3", "sink", "400kbit");
    link("second", "i2", "i3", "10Mbit");
    link("first", "i1", "i2", "10Mbit");
    link("entry", "greedy", "i1", "10Mbit");
    for n in 2..6 {
        link(&format!("entry{n}"), &format!("moderate{n}"), "i3", "10Mbit");
    }
    text += "[traffic.greedy]\nfrom = \"greedy\"\nto = \"sink\"\narrivals = { at = [\"1s\"] }\n\
        size = \"unlimited\"\ntransport = { udp = { rate = \"1Mbit\", packet = \"500B\" } }\n";
    for n in 2..6 {
        text += &format!(
            "[traffic.moderate{n}]\nfrom = \"moderate{n}\"\nto = \"sink\"\n\
             arrivals = {{ at = [\"0s\"] }}\nsize = \"300kB\"\n\
             transport = {{ tcp = {{ profile = \"rfc\", mss = \"460B\", window = 3 }} }}\n"
        );
    }
    load(&text, settings)
}

fn filtered(more: &[(&str, &str)]) -> Scenario {
    let keys = WAY.map(|port| format!("port.{port}.filter"));
    let mut settings: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), LGC)).collect();
    settings.extend(more);
    line(&settings)
}

fn names(columns: &[Column], name: &str) -> Vec<String> {
    let column = columns.iter().find(|column| column.name == name).expect("the column is there");
    let Data::Category { codes, names } = &column.data else { panic!("{name} has names") };
    codes.iter().map(|&code| names[code as usize].clone()).collect()
}

fn drops(results: &Results, port: &str) -> f64 {
    let at = names(&results.port_totals, "port").iter().position(|name| name == port);
    column(&results.port_totals, "drops_filtered")[at.expect("the port is there")]
}

/// Goodput of the greedy flow, and the last end of the others (s).
fn outcome(results: &Results) -> (f64, f64) {
    let classes = names(&results.flows, "class");
    let of = |name| column(&results.flows, name).into_iter().zip(&classes);
    let greedy =
        of("delivered_bytes").find(|(_, class)| *class == "greedy").map_or(0.0, |row| row.0);
    let ends = of("closed_s").filter(|(_, class)| *class != "greedy").map(|(at, _)| at);
    (greedy, ends.fold(0.0, |last: f64, at| if at.is_nan() { f64::INFINITY } else { last.max(at) }))
}

/// The rows of decisions: when, where, and in which phase.
fn decisions(results: &Results) -> Vec<(f64, String, String)> {
    let (ports, phases) = (names(&results.events, "port"), names(&results.events, "phase"));
    let times = column(&results.events, "time_s");
    times.into_iter().zip(ports).zip(phases).map(|((at, port), phase)| (at, port, phase)).collect()
}

/// lgc, 5.3: the filter stands at i3, then at i2, then for good at i1, the first
/// hop of the greedy source; nobody else is filtered, and the others have the link.
#[test]
fn a_filter_moves_to_the_first_hop() {
    let scenario = filtered(&[]);
    let results = run(&scenario, 1);
    let found = decisions(&results);
    let way: Vec<(&str, &str)> =
        found.iter().map(|(_, port, phase)| (port.as_str(), phase.as_str())).collect();
    assert_eq!(way, [("last", "filter"), ("second", "filter"), ("first", "first-hop")]);
    // a message of 76 B over 10 Mbit/s and 5 ms: 5.06 ms a hop
    for (one, next) in found.iter().zip(&found[1..]) {
        assert!((next.0 - one.0 - 0.0050608).abs() < 1e-9, "{found:?}");
    }
    let greedy = scenario.network.nodes.iter().position(|name| name == "greedy").expect("a node");
    assert!(column(&results.events, "set").iter().all(|&set| set == greedy as f64));
    assert_eq!(names(&results.events, "law"), ["lgc", "lgc", "lgc"]);
    let held = column(&results.events, "from");
    assert!(held[0] > 20.0 && held[1..] == [0.0, 0.0], "{held:?}");
    for port in WAY {
        assert!(drops(&results, port) > 0.0, "{port}");
    }
    assert!(drops(&results, "first") > 1000.0, "from 2 s to 30 s, 250 packets a second");
    let (delivered, last) = outcome(&results);
    assert!(delivered < 300.0 * 472.0, "{delivered}");
    let (unfiltered, unfiltered_last) = outcome(&run(&line(&[]), 1));
    assert!(unfiltered > 5.0 * delivered && last < unfiltered_last, "{last} {unfiltered_last}");
}

/// What each port filtered, by sequence number.
type Taken = Arc<Mutex<Vec<(usize, u32)>>>;

struct Recorder(usize, Taken);

impl PerPacket for Recorder {
    fn dropped(&mut self, packet: &Packet, reason: Reason, _: Time) {
        if reason == Reason::Filtered {
            assert!(packet.flags.has(Flags::DATA));
            self.1.lock().expect("no one panicked").push((self.0, packet.seq));
        }
    }
}

/// lgc, 5.3: the packets that i3, i2 and i1 drop are three ranges, each begun
/// where the one before ends: none is dropped twice and none gets through between.
#[test]
fn drop_ranges_are_disjoint_and_contiguous() {
    let scenario = line(&[]);
    let taken = Taken::default();
    let near: Vec<u16> = scenario.network.ports.iter().map(|port| port.from).collect();
    let stages = WAY.iter().enumerate().map(|(place, port)| {
        let near = near.clone();
        let config = Config { max_th: 25.0, w: 0.05, ..Config::default() };
        let names = move |packet: &Packet| {
            // messages between nodes have neither payload nor a place among flows
            let known = packet.flags != Flags::NONE;
            let from = Node(near[packet.prev_port as usize].into());
            known.then_some(Key { from, origin: Node(packet.src.into()) })
        };
        let mut stages = Stages::new();
        stages.filter = Some(Box::new(AtPort::new(&config, Box::new(names))));
        stages.custom = Some(Box::new(Recorder(place, taken.clone())));
        ((*port).to_owned(), stages)
    });
    let results = run_with(&scenario, 1, Custom { stages: stages.collect(), ..Custom::default() });
    assert!(decisions(&results).len() >= 3);
    let taken = taken.lock().expect("no one panicked").clone();
    let ranges = [0, 1, 2].map(|place| {
        let of = |(at, seq): &(usize, u32)| (*at == place).then_some(*seq);
        let mut seqs: Vec<u32> = taken.iter().filter_map(of).collect();
        seqs.sort_unstable();
        let (first, last) = (seqs[0], seqs[seqs.len() - 1]);
        assert_eq!(seqs.len() as u32, last - first + 1, "{place} drops a range, each once");
        (first, last)
    });
    assert_eq!(ranges[0].1 + 1, ranges[1].0, "{ranges:?}");
    assert_eq!(ranges[1].1 + 1, ranges[2].0, "{ranges:?}");
    // 250 packets a second come for a hop there of 5 ms and one back
    for (first, last) in &ranges[..2] {
        assert!((1..=5).contains(&(last - first + 1)), "{ranges:?}");
    }
}

/// A lost message does no harm: the filter stays where it is for ITime (5 s) and
/// the law finds the flow again when it has ended; the next one up never hears.
#[test]
fn a_lost_message_does_no_harm() {
    // acknowledgements and messages from i3 to i2 are lost, and no flow has any there
    let results = run(&filtered(&[("topology.links.second.loss", "{ data = 0.0, ack = 1.0 }")]), 1);
    let found = decisions(&results);
    assert!(found.len() >= 4 && found.iter().all(|(_, port, _)| port == "last"), "{found:?}");
    for (one, next) in found.iter().zip(&found[1..]) {
        assert!(next.0 - one.0 > 5.0, "{found:?}");
    }
    assert_eq!((drops(&results, "second"), drops(&results, "first")), (0.0, 0.0));
    let (_, last) = outcome(&results);
    assert!(last.is_finite());
}

/// Nor does a repeated one: a law that triggers again and again, with the greedy
/// packets still in its queue, asks again and again; the same flow is filtered
/// at the same nodes, nobody else, and what gets through is the same to the byte.
#[test]
fn a_repeated_message_does_no_harm() {
    let once = run(&filtered(&[]), 1);
    let often = "{ law = \"lgc\", max_th = 25, w = 0.05, tx = \"20ms\" }";
    let keys = WAY.map(|port| format!("port.{port}.filter"));
    let settings: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), often)).collect();
    let again = run(&line(&settings), 1);
    let count = |results: &Results, port: &str, phase: &str| {
        let rows = decisions(results);
        rows.iter().filter(|(_, at, how)| at == port && how == phase).count()
    };
    assert_eq!(count(&once, "first", "first-hop"), 1);
    assert!(count(&again, "first", "first-hop") > 1, "{:?}", decisions(&again));
    let greedy = |results: &Results| column(&results.events, "set");
    let of: Vec<f64> = greedy(&again).into_iter().filter(|set| !set.is_nan()).collect();
    assert!(of.iter().all(|&set| set == greedy(&once)[0]));
    for port in WAY {
        assert_eq!(drops(&once, port), drops(&again, port), "{port}");
    }
    assert_eq!(outcome(&once), outcome(&again));
}

/// What is no origin of one node's is filtered at none: a port whose neighbour
/// does not filter keeps its own filter, and the run is none the worse.
#[test]
fn a_neighbour_without_filters_ignores_that_it_is_asked() {
    let results = run(&line(&[("port.last.filter", LGC)]), 1);
    let found = decisions(&results);
    assert!(found.len() >= 4, "{found:?}");
    assert!(found.iter().all(|(_, port, phase)| port == "last" && phase == "filter"), "{found:?}");
    assert!(drops(&results, "last") > 1000.0);
}

/// A node that is asked on the way answers with its queue and its time. By hand: a message of 76 B takes 60.8 us at 10 Mbit/s
/// and 5 ms a hop; at 1.5 s the slow link has had 0.6 Mbit/s too much for 0.5 s, which
/// is more than the 60 packets that may wait.
#[test]
fn nodes_on_the_way_answer_with_their_queues() {
    let scenario = line(&[("duration", "2s")]);
    let place = |name: &str| {
        scenario.network.nodes.iter().position(|node| node == name).expect("a node") as u16
    };
    let mut run =
        tidegate_sim::Simulation::new(&scenario, 1, Custom::default()).expect("it is made");
    run.advance(Time::from_ms(1_500), u64::MAX).expect("nothing fails");
    let (greedy, sink) = (place("greedy"), place("sink"));
    run.trace(greedy, sink);
    run.advance(Time::from_secs(2), u64::MAX).expect("nothing fails");
    let hops = run.traced().to_vec();
    let nodes: Vec<u16> = hops.iter().map(|hop| hop.node).collect();
    assert_eq!(nodes, [place("i1"), place("i2"), place("i3")]);
    let waiting: Vec<u32> = hops.iter().map(|hop| hop.queue_packets).collect();
    assert_eq!(waiting[..2], [0, 0], "links of 10 Mbit/s wait for nobody here");
    assert!(waiting[2] > 40, "0.6 Mbit/s too much for half a second: {waiting:?}");
    for (number, hop) in (1..).zip(&hops) {
        assert_eq!(hop.asker, greedy);
        // (packets of 500 B on the way may keep a message waiting for 0.4 ms)
        let there = (hop.at - Time::from_ms(1_500)).secs();
        let back = (hop.answered - hop.at).secs();
        let least = f64::from(number) * 0.0050608;
        assert!((least - 1e-9..least + 0.002).contains(&there), "{number}: {there}");
        assert!((least - 1e-9..least + 0.002).contains(&back), "{number}: {back}");
    }
}
