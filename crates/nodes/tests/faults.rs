//! Nodes in virtual time under faults, and under neighbours and strangers who mean no good.

use crate::world::{Faults, WALL, World, read};
use tidegate_core::active::message::{FilterRequest, service};
use tidegate_core::active::{Address, Header, decode, encode};
use tidegate_core::units::{Rate, Time};
use tidegate_nodes::node::source::{Bursts, Traffic};
use tidegate_nodes::node::trust::Trust;
use tidegate_nodes::testbed::plan::Testbed;

const GIVING_WAY: [&str; 4] = ["2", "3", "4", "5"];

fn filters(world: &mut World) -> usize {
    let names: Vec<_> = world.names.values().cloned().collect();
    names
        .iter()
        .filter(|name| world.engines.contains_key(&world.at(name)))
        .map(String::clone)
        .collect::<Vec<_>>()
        .iter()
        .map(|name| world.status(name).filters.len())
        .sum()
}

/// What gives way has everything delivered in the end, and no filter is left behind for ever.
fn ends_well(world: &mut World) {
    // a tenth lost of round trips of 2 s takes its time
    world.run(Time::from_secs(3_600));
    for node in GIVING_WAY {
        assert_eq!(world.arrived("S", node), 250, "{node}");
    }
    assert_eq!(filters(world), 0);
}

/// Experiment 2 with a greedy source that goes on for 20 s.
fn lasting() -> Testbed {
    let mut testbed = read("experiment-2.toml");
    let source = testbed.node.get_mut("1").and_then(|node| node.source.as_mut());
    let source = source.expect("it sends");
    source.packets = 5_000;
    source.traffic = Traffic::Bursts(Bursts { count: 100, gap: Time::from_ms(200) });
    testbed
}

// A tenth lost, a tenth twice, a tenth late by up to 200 ms: requests are sent again, repeated ones do no
// harm, and the filter reaches the first hop all the same.
#[test]
fn a_tenth_lost_doubled_and_overtaken() {
    for seed in 1..=5u64 {
        let mut world = World::new(&lasting());
        world.faults = Faults { lost: 100, twice: 100, late: 100 };
        world.chance = seed;
        world.run(Time::from_secs(40));
        assert!(
            !world.events("I1", "filter").is_empty(),
            "seed {seed}: no filter at the first hop"
        );
        assert_eq!(world.events("1", "asked"), []);
        ends_well(&mut world);
    }
}

// I2 dies while the filter is on its way, and returns without memory: soft state is enough.
#[test]
fn a_node_dies_and_returns() {
    for dies_ms in [500, 750, 1_000, 5_000] {
        let mut world = World::new(&lasting());
        let node = world.at("I2");
        world.run(Time::from_ms(dies_ms));
        world.kill(node);
        world.run(Time::from_ms(dies_ms + 3_000));
        world.start(node);
        ends_well(&mut world);
    }
}

// Clocks that step: by less than 30 s nothing changes; by an hour the requests of that node are refused
// as stale, and the filter stays at the congested node. Nothing else depends on clocks.
#[test]
fn clocks_step() {
    for (us, moves) in
        [(-20_000_000, true), (20_000_000, true), (-3_600_000_000, false), (3_600_000_000, false)]
    {
        let mut world = World::new(&lasting());
        let node = world.at("I3");
        world.run(Time::from_ms(100));
        world.clocks.insert(node, us);
        world.run(Time::from_secs(40));
        let reached = !world.events("I1", "filter").is_empty();
        // a clock set back to before the others started is as old as their past
        let moves = moves && us > 0;
        assert_eq!(reached, moves, "{us}");
        assert!(!world.events("I3", "filter").is_empty());
        let drops = world.status("I2").drops;
        assert_eq!(drops["stale"] + drops["replayed"] > 0, !moves, "{us} {drops:?}");
        ends_well(&mut world);
    }
}

/// A request from one node to a neighbour about an origin, signed with the key of their link.
fn request(
    world: &World,
    link: usize,
    from: &str,
    to: &str,
    origin: &str,
    sequence: u64,
) -> (Header, Vec<u8>) {
    let header = Header {
        active: true,
        source: world.at(from),
        destination: world.at(to),
        previous: world.at(from),
        service: service::FILTER,
        number: 1,
        life_ms: 5_000,
    };
    let mut payload =
        FilterRequest { origin: world.at(origin), lasts_ms: 5_000, sequence }.encode();
    let key: Vec<u8> = (0..32).map(|i| if i == 31 { link as u8 } else { 0 }).collect();
    let tag = Trust::new(&key, 0).sign(&header, &payload);
    payload.extend_from_slice(&tag);
    (header, payload)
}

/// Hands a datagram to a node, and says which counters of drops it moved.
fn moved(world: &mut World, to: &str, from: Address, bytes: &[u8]) -> Vec<(String, u64)> {
    let before = world.status(to).drops;
    world.put(world.at(to), from, bytes.to_vec(), world.now);
    world.run(world.now + Time::from_ms(1));
    let after = world.status(to).drops;
    after
        .into_iter()
        .filter(|(reason, count)| before[reason] != *count)
        .map(|(reason, count)| (reason.clone(), count - before[&reason]))
        .collect()
}

fn datagram(header: &Header, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(header, payload, &mut bytes).expect("it fits");
    bytes
}

/// Links of experiment 2: 1-I1 is the first, I1-I2 the second, I2-I3 the third.
const I1_I2: usize = 1;
const I2_I3: usize = 2;

// Each kind of bad request is dropped under its own name, and installs nothing.
#[test]
fn bad_requests_are_dropped_and_counted() {
    let mut world = World::new(&read("experiment-2.toml"));
    world.run(Time::from_ms(1));
    let now = WALL + 2_000;
    let (header, payload) = request(&world, I2_I3, "I3", "I2", "1", now);
    let i3 = world.at("I3");
    let one = |reason: &str| vec![(reason.to_owned(), 1)];

    let mut changed = payload.clone();
    changed[5] ^= 1; // another origin
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&header, &changed)), one("forged"));
    let (_, other) = request(&world, 7, "I3", "I2", "1", now);
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&header, &other)), one("forged"));
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&header, &payload[..20])), one("malformed"));
    let stranger = Address { ip: [127, 0, 0, 9], port: 9 };
    assert_eq!(moved(&mut world, "I2", stranger, &datagram(&header, &payload)), one("stranger"));
    let i1 = world.at("I1");
    assert_eq!(moved(&mut world, "I2", i1, &datagram(&header, &payload)), one("wrong_previous"));
    let over = Header { life_ms: 0, ..header };
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&over, &payload)), one("expired"));
    let (_, old) = request(&world, I2_I3, "I3", "I2", "1", WALL - 1);
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&header, &old)), one("replayed"));
    let (_, ahead) = request(&world, I2_I3, "I3", "I2", "1", WALL + 31_000_000);
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&header, &ahead)), one("stale"));
    let unknown = Header { service: 77, ..header };
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&unknown, &payload)), one("unknown_service"));
    // I1 lies between I2 and the origin: it sends these packets, and is not sent them
    let (up, upstream) = request(&world, I1_I2, "I1", "I2", "1", now);
    assert_eq!(moved(&mut world, "I2", i1, &datagram(&up, &upstream)), one("not_downstream"));
    assert_eq!(filters(&mut world), 0);

    // and the good one is taken, once
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&header, &payload)), []);
    assert_eq!(world.status("I2").filters.len(), 1);
    assert_eq!(moved(&mut world, "I2", i3, &datagram(&header, &payload)), one("replayed"));
}

// A request that was recorded is worth nothing later, not even to a node that has died and returned since.
#[test]
fn a_recorded_request_is_worth_nothing() {
    let mut world = World::new(&read("experiment-2.toml"));
    world.tap = Some(Vec::new());
    world.run(Time::from_secs(200));
    let (i3, i2) = (world.at("I3"), world.at("I2"));
    let tap = world.tap.take().expect("it was on");
    let requests = tap.into_iter().filter(|(from, to, bytes)| {
        let service = decode(bytes).map(|read| read.header.service);
        (*from, *to, service) == (i3, i2, Ok(service::FILTER))
    });
    let requests: Vec<_> = requests.map(|(_, _, bytes)| bytes).collect();
    assert!(!requests.is_empty());
    for restart in [false, true] {
        if restart {
            world.kill(i2);
            world.start(i2);
        }
        for bytes in &requests {
            assert_eq!(moved(&mut world, "I2", i3, bytes), [("replayed".to_owned(), 1)]);
        }
        assert_eq!(world.status("I2").filters, []);
    }
}

// A neighbour sends packets of a hundred thousand invented sources: every table has its limit, and each
// packet is delivered or counted.
#[test]
fn a_flood_of_invented_sources_is_bounded() {
    let mut world = World::new(&read("experiment-2.toml"));
    let (sink, i3) = (world.at("S"), world.at("I3"));
    world.run(Time::from_ms(1));
    let engine = world.engines.get_mut(&sink).expect("it lives");
    for number in 0..100_000u32 {
        let [a, b, c, d] = number.to_be_bytes();
        let source = Address { ip: [10 + a, b, c, d], port: 1 };
        let header = Header {
            source,
            destination: sink,
            previous: i3,
            number,
            life_ms: 1_000,
            ..Header::default()
        };
        engine.receive(i3, &datagram(&header, &[9]));
    }
    let status = world.status("S");
    assert_eq!(status.arrived.len(), 1_024);
    assert_eq!(status.drops["connections_full"], 100_000 - 1_024);
}

// lgc, Table 1: the nodes that a trace lists are the route, in order, and their times do not decrease.
#[test]
fn a_trace_is_the_route() {
    for every_hop in [false, true] {
        // before the source is found to be greedy: then its traces are filtered too
        let mut testbed = read("experiment-2.toml");
        for link in &mut testbed.link {
            (link.rate, link.delay) = (Rate::from_bps(1_600_000), Time::from_ms(50));
        }
        let mut world = World::new(&testbed);
        let way = ["1", "I1", "I2", "I3", "S"].map(|name| world.at(name));
        let header = Header {
            active: true,
            source: way[0],
            destination: way[4],
            previous: way[0],
            service: service::TRACE,
            number: 4_000_000 + u32::from(every_hop),
            life_ms: 5_000,
        };
        let trace = tidegate_core::active::message::Trace { every_hop, hops: Vec::new() };
        world.inject(way[0], &header, &trace.encode());
        let later = world.now + Time::from_ms(450);
        world.run(later);
        let engine = world.engines.get_mut(&way[0]).expect("it lives");
        let found = engine.take_traces(header.number);
        let by: Vec<_> = found.iter().map(|traced| traced.by).collect();
        let expected: Vec<_> = if every_hop { way[1..].to_vec() } else { vec![way[4]] };
        assert_eq!(by, expected);
        let hops = &found.last().expect("one").trace.hops;
        assert_eq!(hops.iter().map(|hop| hop.node).collect::<Vec<_>>(), way);
        assert!(hops.windows(2).all(|two| two[0].at_us <= two[1].at_us));
    }
}
