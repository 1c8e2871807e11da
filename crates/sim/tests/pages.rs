//! Users who load pages: page load times by hand, and what must add up.
//!
//! Times are worked out by hand: a packet takes 100 ms and its transmission at 100 Mbit/s twice
//! and at 10 Mbit/s once. One of headers alone (52 B) takes 0.050 ms for that, a request of 400 B
//! 0.434 ms, a full packet of 1500 B 1.440 ms, of which 1.2 ms at the bottleneck.

use crate::common::*;
use proptest::prelude::*;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Data, Progress, Results, Simulation};

/// From a window of ten; each segment is acknowledged, and each acknowledgement adds a segment.
const PLAIN: &str =
    "{ tcp = { profile = \"rfc\", mss = \"1448B\", header = \"52B\", delayed_ack = false } }";
/// Ten segments: what a connection may send at once.
const TEN: &str = "14480B";

fn web(pages: &str, size: &str, more: &str) -> String {
    format!(
        "{LINK}\n[traffic.web]\narrivals = {{ at = [\"0s\"] }}\nsize = \"{size}\"\n\
         pages = {pages}\ntransport = {PLAIN}\n{more}\n"
    )
}

fn page(results: &Results, name: &str) -> f64 {
    column(&results.pages, name)[0]
}

fn load_time(pages: &str, size: &str) -> f64 {
    page(&run(&load(&web(pages, size, ""), &[]), 1), "load_time_s")
}

fn near(measured: f64, expected: f64) {
    assert!((measured - expected).abs() < 1e-4, "{measured} s, by hand {expected} s");
}

/// SYN and SYN+ACK take 100.050 ms each, the request 100.434 ms, and the first packet of the
/// answer 101.440 ms; nine more come 1.2 ms apart: 412.774 ms.
#[test]
fn an_object_takes_a_handshake_a_request_and_its_packets() {
    near(load_time("{}", TEN), 0.412_774);
    // half a segment more is one packet more: the eleventh waits for the first acknowledgement,
    // which is there 100.050 ms after the first packet, and takes its own 101.440 ms less the
    // 776 B that it lacks: 0.6208 ms at the bottleneck and 0.0621 ms twice. Sum: 602.659 ms
    near(
        load_time("{}", "15152B"),
        0.3 + 0.000_100 + 0.000_434 + 0.101_440 + 0.100_050 + 0.100_695,
    );
}

/// Six objects of ten segments, one after the other over one connection: the handshake, and six
/// times a request and an answer of 212.674 ms. The window of twenty and more that the first
/// leaves behind is not used.
#[test]
fn one_connection_takes_a_round_trip_for_each_object() {
    let pages = "{ objects = 6, connections = 1, concurrent = 1 }";
    near(load_time(pages, TEN), 0.200_100 + 6.0 * 0.212_674);
}

/// The same with all six requests at once, three to a packet of 1252 B (1.0016 ms at the
/// bottleneck, 1.2019 ms in all). Sixty segments in slow start: ten at once; each acknowledgement
/// lets out two, so twenty follow a round trip later, and then thirty, each at the pace of the
/// bottleneck. The first packet of the third round comes 2 (100.050 + 101.440) ms after that of
/// the first, and 29 more 1.2 ms apart.
#[test]
fn one_connection_with_all_requests_at_once_is_in_slow_start() {
    let first = 0.200_100 + 0.101_202 + 0.101_440;
    near(
        load_time("{ objects = 6, connections = 1 }", TEN),
        first + 2.0 * 0.201_490 + 29.0 * 0.001_2,
    );
}

/// In an upload the user sends at once when the SYN+ACK has come, and knows of a whole object by the
/// acknowledgement of its last packet, 100.050 ms after that has come: 412.390 ms. Over the same
/// connection the next one takes as long again, but for the handshake.
#[test]
fn an_uploaded_object_takes_a_handshake_its_packets_and_an_acknowledgement() {
    let each = 0.101_440 + 9.0 * 0.001_2 + 0.100_050;
    for objects in [1, 6] {
        let pages = format!("{{ objects = {objects}, connections = 1, concurrent = 1 }}");
        let text = web(&pages, TEN, "direction = \"upload\"");
        let results = run(&load(&text, &[]), 1);
        near(page(&results, "load_time_s"), 0.200_100 + f64::from(objects) * each);
        assert_eq!(column(&results.objects, "done_s").len(), objects as usize);
    }
}

/// Blitz has no window: two objects of twenty segments, one after the other, each come in one
/// burst as fast as the bottleneck sends.
#[test]
fn an_object_over_blitz_comes_in_one_burst() {
    let pages = "{ objects = 2, connections = 1, concurrent = 1 }";
    let text = web(pages, "28960B", "").replace("{ tcp = { profile", "{ blitz = { profile");
    let each = 0.100_434 + 0.101_440 + 19.0 * 0.001_2;
    near(page(&run(&load(&text, &[]), 1), "load_time_s"), 0.200_100 + 2.0 * each);
}

/// Whatever grants the rate, a page is loaded when all of its objects have come, and each of them
/// is delivered once.
#[test]
fn pages_load_over_every_transport_that_opens_connections() {
    for name in ["qfcp", "rcp", "xcp", "vcp", "quick-start", "blitz"] {
        let pages = "{ document = \"50kB\", objects = 12, count = 3, think = \"2s\" }";
        let stamp = match name {
            "blitz" => "queue = { law = \"pushout\" }".to_owned(),
            "quick-start" => "stamp = { law = \"qfcp\" }".to_owned(),
            name => format!("stamp = {{ law = \"{name}\" }}"),
        };
        let text = web(pages, "20kB", &format!("[port.bottleneck]\n{stamp}"));
        let text = text.replace(PLAIN, &format!("\"{name}\""));
        let results = run(&load(&text, &[]), 1);
        let loads = column(&results.pages, "load_time_s");
        assert_eq!(loads.len(), 3, "{name}");
        assert!(loads.iter().all(|&load| load > 0.5 && load < 10.0), "{name}: {loads:?}");
        let delivered: f64 = column(&results.flows, "delivered_bytes").iter().sum();
        assert_eq!(delivered, 3.0 * (50_000.0 + 12.0 * 20_000.0), "{name}");
    }
}

/// The same over six connections: six windows of ten at once. From the first packet on the
/// bottleneck sends all sixty without a pause, as each request follows 0.36 ms behind the one
/// before.
#[test]
fn six_connections_have_six_windows() {
    let pages = "{ objects = 6, connections = 6 }";
    near(load_time(pages, TEN), 0.200_100 + 0.100_434 + 0.101_440 + 59.0 * 0.001_2);
    let results = run(&load(&web(pages, TEN, ""), &[]), 1);
    assert_eq!(page(&results, "connections"), 6.0);
}

/// The document of one segment comes first, over one connection: 200.100 + 100.434 + 101.440 ms.
/// Then one object is asked for over that connection, and a second one is opened for the other.
/// Its SYN follows the request, so its SYN+ACK waits behind the ten packets of the answer: when
/// it comes, the first connection is free and has asked for the other object. Each object takes
/// 212.674 ms.
#[test]
fn objects_wait_for_the_document() {
    let pages = "{ objects = 2, document = \"1448B\" }";
    let results = run(&load(&web(pages, TEN, ""), &[]), 1);
    near(page(&results, "document_s"), 0.401_974);
    near(page(&results, "load_time_s"), 0.401_974 + 2.0 * 0.212_674);
    assert_eq!((page(&results, "connections"), page(&results, "objects")), (2.0, 3.0));
    let known = column(&results.objects, "known_s");
    assert_eq!((known[0], known[1]), (0.0, page(&results, "document_s")));
    near(column(&results.objects, "time_s")[1], 0.212_674);
    assert_eq!(column(&results.objects, "flow"), [0.0; 3]);
}

/// A server that takes 3 s, longer than the timeout of a request (1 s), adds 3 s: the request
/// is acknowledged, and not sent again.
#[test]
fn a_slow_server_adds_its_time_and_no_request() {
    let results = run(&load(&web("{ server = \"3s\" }", TEN, ""), &[]), 1);
    near(page(&results, "load_time_s"), 3.412_774);
    // SYN, acknowledgement of the SYN+ACK, request, ten acknowledgements, the request to close,
    // the acknowledgement of the FIN and the client's own FIN
    assert_eq!(total(&results, "bottleneck.reverse", "arrived_packets"), 16.0);
}

/// Linux (`tcp_event_data_sent`, `tcp_delack_timer_handler`): a server acknowledges the first of four
/// requests at once. Where answers take 10 ms the others are not acknowledged apart; where they take
/// 50 ms each is, at once, as none was ready in time. By other rules each one that has to wait is.
/// What else reaches the client without data is the same whatever the server takes.
#[test]
fn an_answer_takes_the_acknowledgement_of_its_request_along() {
    let packets = |profile: &str, server: &str| {
        let pages =
            format!("{{ objects = 4, connections = 1, concurrent = 1, server = \"{server}\" }}");
        let own = "profile = \"rfc\", mss = \"1448B\", header = \"52B\", delayed_ack = false";
        let text = web(&pages, TEN, "").replace(own, profile);
        total(&run(&load(&text, &[]), 1), "bottleneck", "arrived_packets")
    };
    for (profile, server, apart) in [
        ("profile = \"linux\"", "10ms", 1.0),
        ("profile = \"linux\"", "50ms", 4.0),
        ("profile = \"rfc\"", "10ms", 4.0),
    ] {
        // an answer that is there at once takes it along
        let more = packets(profile, server) - packets(profile, "0s");
        assert_eq!(more, apart, "{profile}, {server}");
    }
}

/// Without persistent connections each object pays for its own handshake; two connections at
/// once carry four objects in twice the time of one pair.
#[test]
fn connections_of_one_object_each() {
    let pages = "{ objects = 4, connections = 2, persistent = false }";
    let results = run(&load(&web(pages, TEN, ""), &[]), 1);
    assert_eq!(page(&results, "connections"), 4.0);
    assert_eq!(column(&results.flows, "delivered_bytes"), [14480.0; 4]);
    let first = column(&results.objects, "done_s")[0];
    near(column(&results.objects, "time_s")[2], first + 0.412_774);
}

/// A second page, 2 s after the first, needs no handshake. After an idle time of more than the
/// timeout the window is the initial one again (RFC 5681, 4.1), which holds ten segments.
#[test]
fn the_next_page_comes_over_the_open_connection() {
    let pages = "{ count = 2, think = \"2s\" }";
    let results = run(&load(&web(pages, TEN, ""), &[]), 1);
    let times = column(&results.pages, "load_time_s");
    near(times[0], 0.412_774);
    near(times[1], 0.212_674);
    near(column(&results.pages, "start_s")[1], 2.412_774);
    assert_eq!(column(&results.flows, "start_s").len(), 1);
    // the user closes the connection behind the last page
    assert!(flow(&results, "closed_s") > 2.6 && flow(&results, "closed_s") < 3.2);
    assert!(flow(&results, "fct_s").is_nan());
}

/// A user whose patience is shorter than the page gives it up, and leaves all connections.
#[test]
fn patience_is_that_of_a_page() {
    let pages = "{ objects = 12, connections = 3, count = 2 }";
    let text = web(pages, TEN, "patience = \"1s\"");
    let results = run(&load(&text, &[]), 1);
    assert_eq!(column(&results.pages, "gave_up_s"), [1.0]);
    assert_eq!(column(&results.flows, "gave_up_s"), [1.0; 3]);
    // four rounds of 212.674 ms behind the handshake, the bottleneck's share apart
    let results = run(&load(&web(pages, TEN, "patience = \"2s\""), &[]), 1);
    assert!(column(&results.pages, "gave_up_s").iter().all(|at| at.is_nan()));
    assert_eq!(column(&results.pages, "loaded_s").len(), 2);
}

/// Every connection of a page has an opening packet that a gate sees. A SYN that a gate drops
/// is sent again by the rules of TCP, after the timeout of 1 s (RFC 6298, 2.1); a gate that
/// answers with a reset ends the connection, and the others carry its object.
#[test]
fn a_gate_sees_each_connection() {
    let gate = |refuse: &str| {
        let gate = format!("{{ law = \"fixed-rate\", rate = \"4/s\", refuse = \"{refuse}\" }}");
        let set = [("port.bottleneck.gate", &*gate), ("duration", "60s")];
        run(&load(&web("{ objects = 6 }", TEN, ""), &set), 1)
    };
    let dropped = gate("drop");
    let tries = column(&dropped.flows, "syn_tries");
    assert_eq!(tries.len(), 6);
    assert!(tries.iter().any(|&tries| tries > 1.0), "{tries:?}");
    assert!(page(&dropped, "load_time_s").is_finite());
    assert!(total(&dropped, "bottleneck", "syn_refused") >= 1.0);
    let reset = gate("rst");
    let refused: Vec<f64> = column(&reset.flows, "gave_up_s");
    let refused = refused.iter().filter(|at| at.is_finite()).count();
    assert!((1..6).contains(&refused), "{refused}");
    assert_eq!(column(&reset.flows, "start_s").len(), 6, "a refused connection is not repeated");
    assert!(page(&reset, "load_time_s") < 2.0);
}

/// If every connection is refused, the page has failed, and the user leaves.
#[test]
fn a_page_without_any_connection_has_failed() {
    let gate = "{ law = \"fixed-rate\", rate = \"0.0001/s\", refuse = \"rst\" }";
    let text = web("{ objects = 6, count = 3 }", TEN, "");
    let results = run(
        &load(
            &text,
            &[
                ("port.bottleneck.gate", gate),
                ("traffic.web.arrivals", "{ at = [\"1s\", \"2s\"] }"),
            ],
        ),
        1,
    );
    let given_up = column(&results.pages, "gave_up_s");
    assert!(given_up.last().is_some_and(|at| at.is_finite()), "{given_up:?}");
}

fn categories(data: &Data) -> usize {
    match data {
        Data::Category { names, .. } => names.len(),
        _ => 0,
    }
}

/// Same scenario, same seed, same bits, however the run is cut into slices; and the pages are
/// the same under another transport.
#[test]
fn slices_and_transports_change_no_page() {
    let text = web(
        "{ objects = { exponential = { mean = 5 } }, count = 3, think = { exponential = { mean = \"1s\" } } }",
        TEN,
        "",
    );
    let set = [
        ("traffic.web.arrivals", "{ poisson = \"1/s\" }"),
        ("traffic.web.size", "{ lognormal = { mean = \"8kB\", sigma = 1.5 } }"),
        ("duration", "20s"),
    ];
    let scenario = load(&text, &set);
    let whole = run(&scenario, 3);
    let mut sliced = Simulation::new(&scenario, 3, Custom::default()).unwrap();
    while sliced.advance(Time::NEVER, 7).unwrap() == Progress::Paused {}
    let sliced = sliced.finish();
    assert_eq!(all_bits(&whole), all_bits(&sliced));
    assert_eq!(categories(&whole.pages[1].data), 1);
    let other =
        [&set[..], &[("traffic.web.transport", "{ tcp = { profile = \"linux\" } }")]].concat();
    let other = run(&load(&text, &other), 3);
    let first = |results: &Results| {
        let numbers = column(&results.pages, "number");
        let sizes = column(&results.pages, "size_bytes");
        let users = column(&results.pages, "user");
        let mut first: Vec<(u64, u64)> = (0..sizes.len())
            .filter(|&row| numbers[row] == 0.0)
            .map(|row| (users[row] as u64, sizes[row] as u64))
            .collect();
        first.sort_unstable();
        first
    };
    assert_eq!(first(&whole), first(&other));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever the pages, profile and control: a page is loaded when its last object is; each
    /// object has its instants in order; each connection carries the bytes of its objects, and
    /// closes. Losses change none of it.
    #[test]
    fn objects_and_bytes_add_up(
        (objects, connections, concurrent) in (1u32..12, 1u32..7, 1u32..5),
        (persistent, document, count) in (any::<bool>(), any::<bool>(), 1u32..4),
        (server, profile) in (0u32..200, prop::sample::select(vec!["rfc", "linux", "ns2-2006"])),
        (control, loss) in (prop::sample::select(vec!["reno", "cubic", "bbr", "bbr3"]), prop::sample::select(vec!["0", "0.03"])),
        seed in 0u64..1000,
    ) {
        let concurrent = if persistent { concurrent } else { 1 };
        let document = if document { "document = \"3kB\", " } else { "" };
        let pages = format!(
            "{{ objects = {{ exponential = {{ mean = {objects} }} }}, {document}\
             connections = {connections}, concurrent = {concurrent}, persistent = {persistent}, \
             server = {{ exponential = {{ mean = \"{server}ms\" }} }}, count = {count}, \
             think = \"100ms\", request = \"300B\" }}"
        );
        let transport =
            format!("{{ tcp = {{ profile = \"{profile}\", control = \"{control}\" }} }}");
        let set = [
            ("traffic.web.transport", &*transport),
            ("traffic.web.size", "{ lognormal = { mean = \"6kB\", sigma = 1.0 } }"),
            ("traffic.web.arrivals", "{ uniform = 4, within = \"2s\" }"),
            ("topology.dumbbell.bottleneck.loss", loss),
            ("topology.dumbbell.bottleneck.delay", "10ms"),
            ("topology.dumbbell.bottleneck.buffer", "100000packets"),
            ("duration", "2000s"),
            ("sample", "100s"),
        ];
        let results = run(&load(&web(&pages, TEN, ""), &set), seed);
        let of_pages = |name| column(&results.pages, name);
        let of_objects = |name| column(&results.objects, name);
        let of_flows = |name| column(&results.flows, name);
        prop_assert_eq!(of_pages("page").len(), 4 * count as usize);
        let flows = of_flows("flow").len();
        let (mut bytes, mut loaded) = (vec![0.0; flows], vec![0.0f64; of_pages("page").len()]);
        let mut sizes = vec![0.0; loaded.len()];
        for object in 0..of_objects("page").len() {
            let at = ["known_s", "asked_s", "first_byte_s", "done_s"].map(|name| of_objects(name)[object]);
            prop_assert!(at.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", at);
            let page = of_objects("page")[object] as usize;
            loaded[page] = loaded[page].max(at[3]);
            sizes[page] += of_objects("size_bytes")[object];
            bytes[of_objects("flow")[object] as usize] += of_objects("size_bytes")[object];
        }
        prop_assert_eq!(&loaded, &of_pages("loaded_s"));
        prop_assert_eq!(&sizes, &of_pages("size_bytes"));
        prop_assert_eq!(&bytes, &of_flows("delivered_bytes"));
        prop_assert!(of_flows("closed_s").iter().all(|at| at.is_finite()));
        let opened: f64 = of_pages("connections").iter().sum();
        prop_assert_eq!(opened as usize, flows);
        if persistent {
            prop_assert!(of_pages("connections").iter().all(|&each| each <= f64::from(connections)));
        }
    }
}

/// Two objects over two connections, of which the gate admits one a second: the second SYN goes out
/// again a second after the first, when the page has long come over the first connection, after
/// 0.200100 + 2 x 0.212674 s. With `cancels` the user gives the second one up then; else it is
/// opened, and closed.
#[test]
fn a_connection_that_no_page_needs_any_more_may_be_given_up() {
    let gate = "[port.bottleneck]\ngate = { law = \"fixed-rate\", rate = \"1/s\" }";
    let second = |cancels: &str| {
        let pages = format!("{{ objects = 2, connections = 2, concurrent = 1{cancels} }}");
        let results = run(&load(&web(&pages, TEN, gate), &[]), 1);
        near(page(&results, "load_time_s"), 0.200_100 + 2.0 * 0.212_674);
        let of = |name| column(&results.flows, name)[1];
        (of("admitted_s"), of("gave_up_s"))
    };
    let (admitted, gave_up) = second("");
    assert!(admitted > 1.0 && gave_up.is_nan(), "{admitted}, {gave_up}");
    let (admitted, gave_up) = second(", cancels = true");
    assert!(admitted.is_nan(), "{admitted}");
    near(gave_up, 0.200_100 + 2.0 * 0.212_674);
}
