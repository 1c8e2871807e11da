//! Users who load pages over QUIC: load times by hand, and what must add up.

use tidegate_sim::Results;

use crate::common::*;

fn load(pages: &str, size: &str, more: &[(&str, &str)]) -> Results {
    let settings = [("traffic.one.pages", pages), ("traffic.one.size", size)];
    run(LINK, &[&settings, more].concat())
}

fn page(results: &Results, name: &str) -> f64 {
    column(&results.pages, name)[0]
}

/// By hand, over 100 ms in each direction and 10 Mbit/s. The request goes with the client's
/// Finished and is at the server after 304.2 ms (`flows.rs` has the sum for 1 kB, which takes 0.6
/// ms longer); the answer begins 101.4 ms later, as a datagram of 1500 B takes 1.2 ms and twice
/// 0.12 ms. 10 kB are seven of them, which quinn's first window of 12000 B holds. It
/// paces from the tenth on.
#[test]
fn a_page_takes_a_handshake_a_request_and_its_packets() {
    let results = load("{}", "10kB", &[]);
    let first = column(&results.objects, "first_byte_s")[0];
    assert!((first - 0.4056).abs() < 0.002, "{first}");
    let done = page(&results, "load_time_s");
    assert!((done - first - 6.0 * 0.0012).abs() < 0.001, "{done} after {first}");
    // the Initial takes 101.2 ms, the flight of the server 102.4 ms
    let asked = column(&results.objects, "asked_s")[0];
    assert!((asked - 0.2036).abs() < 0.0005, "{asked}");
    assert_eq!(page(&results, "connections"), 1.0);
    assert_eq!(one(&results, "delivered_bytes"), 10_000.0);
    assert!(one(&results, "fct_s").is_nan());
    // the client closes the connection at once
    assert!((one(&results, "closed_s") - done).abs() < 1e-6);
    assert_eq!(one(&results, "data_done_s"), done);
}

/// Six objects of 1600 B are asked for at once, each on a stream: they take as long as one of
/// 9600 B, up to a header each. A server that takes 50 ms adds 50 ms. Two pages share a connection, and
/// the second needs no handshake: 200 ms and its packets.
#[test]
fn objects_share_one_connection() {
    let one_object = page(&load("{}", "9600B", &[]), "load_time_s");
    let results = load("{ objects = 6 }", "1600B", &[]);
    let six = page(&results, "load_time_s");
    assert!((six - one_object).abs() < 0.004, "{six} for six, {one_object} for one");
    assert_eq!(column(&results.flows, "start_s").len(), 1);
    let slow = page(&load("{ objects = 6, server = \"50ms\" }", "1600B", &[]), "load_time_s");
    assert!((slow - six - 0.05).abs() < 0.002, "{slow}");
    let results = load("{ objects = 6, count = 2, think = \"1s\" }", "1600B", &[]);
    let times = column(&results.pages, "load_time_s");
    assert_eq!(times[0], six);
    assert!((times[1] - 0.2 - 0.012).abs() < 0.004, "{}", times[1]);
    assert_eq!(column(&results.flows, "start_s").len(), 1);
}

/// A page whose document comes first takes a round trip more; without persistent connections
/// each object has its own handshake.
#[test]
fn documents_and_connections_of_one_object() {
    let plain = page(&load("{ objects = 2 }", "1kB", &[]), "load_time_s");
    let results = load("{ objects = 2, document = \"1kB\" }", "1kB", &[]);
    let whole = page(&results, "load_time_s");
    assert!((whole - plain - 0.2).abs() < 0.006, "{whole}, {plain} without");
    let document = page(&results, "document_s");
    assert!((column(&results.objects, "known_s")[1] - document).abs() < 1e-12);
    let results = load("{ objects = 3, connections = 1, persistent = false }", "1kB", &[]);
    assert_eq!(page(&results, "connections"), 3.0);
    let times = column(&results.objects, "done_s");
    assert!((times[2] - 3.0 * times[0]).abs() < 0.01, "{times:?}");
}

/// More requests than the hundred streams that quinn's server allows at once: the others wait for
/// a stream, and all come.
#[test]
fn more_objects_than_streams() {
    let results = load("{ objects = 350, concurrent = 350 }", "2kB", &[]);
    assert_eq!(page(&results, "objects"), 350.0);
    let done = column(&results.objects, "done_s");
    assert!(done.iter().all(|at| at.is_finite()));
    assert_eq!(one(&results, "delivered_bytes"), 700_000.0);
    // 0.2 s of handshake, six round trips of slow start from 12 kB to 384 kB, three of waiting for
    // streams, and 0.56 s for 700 kB at 10 Mbit/s: some of them at the same time
    let took = page(&results, "load_time_s");
    assert!((1.4..0.2 + 6.0 * 0.2 + 3.0 * 0.2 + 0.56 + 0.1).contains(&took), "{took}");
}

/// By hand, as above: the client knows after 203.6 ms that the connection is open, and sends 10 kB
/// in seven datagrams, of which the first takes 101.4 ms. The acknowledgement of the last may wait for
/// 25 ms (RFC 9000, 18.2) and takes 100.1 ms. Each of six objects has a stream and all of them the
/// first window; the second page needs no handshake. With a document first, all objects wait for its
/// acknowledgement.
#[test]
fn users_send_objects() {
    let up = |pages, size, more: &[(&str, &str)]| {
        load(pages, size, &[&[("traffic.one.direction", "upload")], more].concat())
    };
    let results = up("{}", "10kB", &[]);
    let least = 0.2036 + 0.1014 + 6.0 * 0.0012 + 0.1001;
    let done = page(&results, "load_time_s");
    assert!((least - 0.001..least + 0.027).contains(&done), "{done}, {least} at least");
    assert_eq!(one(&results, "delivered_bytes"), 10_000.0);
    assert!(column(&results.objects, "first_byte_s")[0].is_nan());
    assert!((one(&results, "closed_s") - done).abs() < 1e-6);
    let results = up("{ objects = 6, count = 2, think = \"1s\" }", "1200B", &[]);
    let times = column(&results.pages, "load_time_s");
    assert!((times[0] - done).abs() < 0.03, "{} for six, {done} for one", times[0]);
    assert!((times[1] - 0.2 - 0.012).abs() < 0.03, "{}", times[1]);
    assert_eq!(one(&results, "delivered_bytes"), 2.0 * 6.0 * 1200.0);
    let results = up("{ objects = 350, concurrent = 350, document = \"3kB\" }", "2kB", &[]);
    assert_eq!(one(&results, "delivered_bytes"), 703_000.0);
    let (document, known) = (page(&results, "document_s"), column(&results.objects, "known_s"));
    assert!(known[1..].iter().all(|&at| at == document) && document > 0.4);
    // through losses, a gate and users who leave
    let results = load(
        "{ objects = 12, count = 3, think = \"300ms\" }",
        "12kB",
        &[CROWD, &[("traffic.one.direction", "upload")]].concat(),
    );
    let loaded = column(&results.pages, "loaded_s").iter().filter(|at| !at.is_nan()).count();
    assert!(loaded > 50, "{loaded}");
}

/// Users at a lossy, overloaded link with a gate, of whom some lose patience. Every object that
/// came has come whole; every page is loaded, given up or under way; twice the same.
const CROWD: &[(&str, &str)] = &[
    ("duration", "25s"),
    ("traffic.one.arrivals", "{ poisson = \"12/s\" }"),
    ("traffic.one.patience", "6s"),
    ("topology.dumbbell.pairs", "4"),
    ("topology.dumbbell.bottleneck.delay", "8ms"),
    ("topology.dumbbell.bottleneck.buffer", "60packets"),
    ("topology.dumbbell.bottleneck.loss", "0.01"),
    ("port.bottleneck.gate", "{ law = \"fixed-rate\", rate = \"7/s\", quic = {} }"),
];

#[test]
fn a_crowd_adds_up() {
    let pages = "{ objects = 12, document = \"20kB\", server = { exponential = { mean = \"20ms\" } }, count = 3, think = \"300ms\" }";
    let results = load(pages, "{ exponential = { mean = \"12kB\" } }", CROWD);
    let (loaded, left) = (column(&results.pages, "loaded_s"), column(&results.pages, "gave_up_s"));
    let count = |times: &[f64]| times.iter().filter(|at| !at.is_nan()).count();
    assert!(count(&loaded) > 50 && count(&left) > 50, "{} {}", count(&loaded), count(&left));
    assert!(loaded.iter().zip(&left).all(|(a, b)| a.is_nan() || b.is_nan()));
    let done = column(&results.objects, "done_s");
    let sizes = column(&results.objects, "size_bytes");
    let flows = column(&results.objects, "flow");
    let mut come = vec![0.0; column(&results.flows, "start_s").len()];
    for ((done, size), flow) in done.iter().zip(sizes).zip(flows) {
        if !done.is_nan() {
            come[flow as usize] += size;
        }
    }
    for (come, delivered) in come.iter().zip(column(&results.flows, "delivered_bytes")) {
        assert!(delivered >= *come, "{delivered} B were read of {come}");
    }
    let again = load(pages, "{ exponential = { mean = \"12kB\" } }", CROWD);
    assert_eq!(bits(&results), bits(&again));
}
