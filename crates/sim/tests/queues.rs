//! Queue laws from end to end: what their sources promise of them.

use crate::common::*;
use tidegate_sim::Results;

/// Ten flows without end over 20 Mbit/s and 100 ms of round trip.
const LONG: &str = r#"
    name = "long"
    duration = "60s"
    warmup = "20s"
    [topology.dumbbell]
    pairs = 10
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "20Mbit", delay = "48ms", buffer = "600packets" }
    [port.bottleneck]
    queue = { law = "pie" }
    [traffic.long]
    arrivals = { uniform = 10, within = "1s" }
    size = "unlimited"
    transport = { tcp = { profile = "rfc", mss = "1460B", window = 500 } }
"#;

fn bottleneck(results: &Results, name: &str) -> f64 {
    column(&results.port_totals, name)[0]
}

/// The mean delay of the bottleneck's queue, in seconds, by Little's law on
/// packets of 1500 B at 20 Mbit/s.
fn delay_s(results: &Results) -> f64 {
    bottleneck(results, "queue_mean_packets") * 1500.0 * 8.0 / 20e6
}

/// RFC 8033, 1 and 4.2: PIE steers the mean delay to `QDELAY_REF`, whatever it is
/// and however the delay is known, and keeps the link in use; drop-tail with
/// the same buffer of 360 ms stands at ten times the default and more.
#[test]
fn pie_settles_near_its_reference() {
    let tail = run(&load(LONG, &[("port.bottleneck.queue", "{ law = \"drop-tail\" }")]), 1);
    assert!(delay_s(&tail) > 0.15, "{}", delay_s(&tail));
    for (law, reference) in [
        ("{ law = \"pie\" }", 0.015),
        ("{ law = \"pie\", qdelay_ref = \"30ms\" }", 0.030),
        ("{ law = \"pie\", latency = \"departure-rate\" }", 0.015),
        ("{ law = \"pie\", derandomize = true }", 0.015),
    ] {
        let results = run(&load(LONG, &[("port.bottleneck.queue", law)]), 1);
        let delay = delay_s(&results);
        assert!((0.6..1.4).contains(&(delay / reference)), "{law}: {delay}");
        assert!(bottleneck(&results, "utilisation") > 0.9, "{law}");
        assert!(bottleneck(&results, "drops_early") > 50.0, "{law}");
    }
}

/// RFC 8033, 5.1: where both ends understand marks, and few are needed, nothing is lost.
#[test]
fn pie_with_ecn_marks_instead_of_dropping() {
    let set = [("port.bottleneck.queue.ecn", "true"), ("traffic.long.transport.tcp.ecn", "true")];
    let results = run(&load(LONG, &set), 1);
    assert!(bottleneck(&results, "marked") > 50.0);
    assert_eq!(bottleneck(&results, "drops_early"), 0.0);
    assert!((0.6..1.4).contains(&(delay_s(&results) / 0.015)), "{}", delay_s(&results));
}

/// One flow from a to c and eight from b to d, without end, over a link of
/// 10 Mbit/s; all round trips are 44 ms.
const HOSTS: &str = r#"
    name = "hosts"
    duration = "60s"
    warmup = "20s"
    [topology.links.a]
    from = "a"
    to = "r1"
    rate = "100Mbit"
    delay = "1ms"
    [topology.links.b]
    from = "b"
    to = "r1"
    rate = "100Mbit"
    delay = "1ms"
    [topology.links.middle]
    from = "r1"
    to = "r2"
    rate = "10Mbit"
    delay = "20ms"
    buffer = "1000packets"
    [topology.links.c]
    from = "r2"
    to = "c"
    rate = "100Mbit"
    delay = "1ms"
    [topology.links.d]
    from = "r2"
    to = "d"
    rate = "100Mbit"
    delay = "1ms"
    [port.middle]
    queue = { law = "cake" }
    [traffic.one]
    from = "a"
    to = "c"
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { tcp = { profile = "rfc", mss = "1460B", window = 500 } }
    [traffic.eight]
    from = "b"
    to = "d"
    arrivals = { uniform = 8, within = "1s" }
    size = "unlimited"
    transport = { tcp = { profile = "rfc", mss = "1460B", window = 500 } }
"#;

/// CAKE, III-B: host isolation gives either host half of the link, by sources,
/// by destinations or by both; by flows the one flow has a ninth. A Reno flow
/// keeps its share in use where the data of a round trip (44 ms) may stand in
/// its queue, so here 50 ms may.
#[test]
fn cake_shares_among_hosts() {
    for (isolation, expected) in [
        ("triple-isolate", 0.5),
        ("dual-srchost", 0.5),
        ("dual-dsthost", 0.5),
        ("flows", 1.0 / 9.0),
    ] {
        let set = [
            ("port.middle.queue.isolation", isolation),
            ("port.middle.queue.target", "50ms"),
            ("port.middle.queue.interval", "500ms"),
        ];
        let results = run(&load(HOSTS, &set), 1);
        let one = total(&results, "c", "departed_bytes");
        close(one / (one + total(&results, "d", "departed_bytes")), expected, 0.02);
        assert!(total(&results, "middle", "utilisation") > 0.98);
    }
}

/// A dual queue lies over either as over any law: data is shared by hosts, and
/// its delay steered, beneath it.
#[test]
fn a_dual_queue_lies_over_cake_and_pie() {
    let over = |law: &str| format!("{{ law = \"dqm\", over = {{ {law} }} }}");
    let cake = over("law = \"cake\", target = \"50ms\", interval = \"500ms\"");
    let results = run(&load(HOSTS, &[("port.middle.queue", &cake)]), 1);
    let one = total(&results, "c", "departed_bytes");
    close(one / (one + total(&results, "d", "departed_bytes")), 0.5, 0.02);
    let results = run(&load(LONG, &[("port.bottleneck.queue", &over("law = \"pie\""))]), 1);
    assert!((0.6..1.4).contains(&(delay_s(&results) / 0.015)), "{}", delay_s(&results));
}

/// CAKE, III-A: shaped to 8 of 10 Mbit/s it sends that, whatever waits; with an overhead of 100 B on
/// packets of 1500 B 7.5 Mbit/s. Either way all that it may send is in use.
#[test]
fn cake_keeps_its_bandwidth() {
    let rate = "{ udp = { rate = \"2Mbit\", packet = \"1500B\" } }";
    for (overhead, expected) in [(0, 8e6), (100, 7.5e6)] {
        let queue = format!("{{ law = \"cake\", bandwidth = \"8Mbit\", overhead = {overhead} }}");
        let set = [
            ("port.middle.queue", queue.as_str()),
            ("traffic.one.transport", rate),
            ("traffic.eight.transport", rate),
        ];
        let results = run(&load(HOSTS, &set), 1);
        close(total(&results, "middle", "departed_bytes") * 8.0 / 40.0, expected, 1e-4);
        close(total(&results, "middle", "utilisation"), 1.0, 1e-4);
    }
}

/// A flow of UDP that sends ten packets of 1000 B at once every 203 ms, over a shaper.
const SHAPED: &str = r#"
    name = "shaped"
    duration = "60s"
    warmup = "20s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "1Gbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "20ms", buffer = "1000packets" }
    [port.bottleneck]
    queue = { law = "cake", bandwidth = "1Mbit", target = "1s", interval = "10s" }
    [traffic.voice]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    [traffic.voice.transport.udp]
    rate = "1Gbit"
    packet = "1000B"
    burst = { packets = 10, every = "203ms" }
"#;

/// A queue is there because of the slower of link and shaper, and the port is in use while that has
/// packets, each for the time that it takes there: 8 ms at 1 Mbit/s, 10 ms with 250 B of overhead,
/// and in cells of ATM that of 21 cells.
///
/// By hand, with this time P: the packets of a burst wait for 0 to 9 P, in the mean for 4.5 P; that
/// is what they take beyond 22 ms of delay, 0.8 ms on the link and 16 us on the others. 9 P wait
/// for the time P, then 8 P and so on: 45 P^2 in 203 ms. Ten of P in 203 ms are in use.
#[test]
fn a_shaper_that_is_slower_than_the_link_is_the_capacity() {
    for (wire, packet_s) in
        [("", 0.008), (", overhead = 250", 0.01), (", framing = \"atm\"", 21.0 * 53.0 * 8e-6)]
    {
        let text = SHAPED.replace("target = \"1s\"", &format!("target = \"1s\"{wire}"));
        let results = run(&load(&text, &[]), 1);
        assert_eq!(bottleneck(&results, "capacity_bps"), 1e6);
        close(bottleneck(&results, "utilisation"), 10.0 * packet_s / 0.203, 0.003);
        let waited = column(&results.udp, "delay_mean_s")[0] - 0.022_816;
        // they come 8 us apart
        close(waited, 4.5 * (packet_s - 8e-6), 1e-6);
        let told = |name: &str| column(&results.queues, name)[0];
        close(told("queue_delay_mean_s"), 45.0 * packet_s * packet_s / 0.203, 0.02);
        close(told("queue_delay_p99_s"), 9.0 * packet_s, 1e-6);
    }
}

/// The capacity is that of the slower one at every moment: where the link falls below the shaper, it
/// is the link's. Either is always in use by a flow of UDP that sends more.
#[test]
fn a_link_that_falls_below_the_shaper_is_the_capacity() {
    let set = [
        ("change", "[{ what = \"bottleneck.rate\", at = \"40s\", to = \"0.5Mbit\" }]"),
        ("traffic.voice.transport", "{ udp = { rate = \"1.2Mbit\", packet = \"1000B\" } }"),
    ];
    let results = run(&load(SHAPED, &set), 1);
    let rows = |name: &str| column(&results.ports, name).into_iter().step_by(2);
    for ((at, bps), used) in rows("time_s").zip(rows("capacity_bps")).zip(rows("utilisation")) {
        assert_eq!(bps, if at < 40.0 { 1e6 } else { 0.5e6 }, "{at}");
        assert!(at < 2.0 || (0.98..=1.0).contains(&used), "{at}: {used}");
    }
}

/// A gate sees the slower of link and shaper: one by occupancy closes where a flow of UDP fills the
/// shaper, which is a tenth of the link, and stays open at the link alone, which carries it.
#[test]
fn a_gate_sees_the_shaper_of_its_queue() {
    let last = |queue: &str| {
        let set = [
            ("port.bottleneck.queue", queue),
            ("port.bottleneck.gate", "{ law = \"occupancy\" }"),
            ("traffic.voice.transport", "{ udp = { rate = \"1.2Mbit\", packet = \"1000B\" } }"),
        ];
        let results = run(&load(SHAPED, &set), 1);
        *column(&results.events, "from").last().expect("the gate decides")
    };
    close(last("{ law = \"cake\", bandwidth = \"1Mbit\" }"), 1.0, 0.01);
    close(last("{ law = \"codel\" }"), 0.12, 0.01);
    // 21 cells of 53 B for 1000 B, so that it takes longer than the link, whose rate is the same
    close(
        last("{ law = \"cake\", bandwidth = \"10Mbit\", framing = \"atm\" }"),
        0.12 * 1.113,
        0.01,
    );
}

/// A link that falls below the shaper and rises again has a small load throughout, as the gate sees:
/// 50 kbit/s are 0.05 of 1 Mbit/s, and 0.1 of 0.5 Mbit/s.
#[test]
fn a_gate_sees_the_slower_one_while_that_changes() {
    let changes = "[{ what = \"bottleneck.rate\", at = \"20s\", to = \"0.5Mbit\" }, \
                   { what = \"bottleneck.rate\", at = \"40s\", to = \"10Mbit\" }]";
    let set = [
        ("change", changes),
        ("port.bottleneck.gate", "{ law = \"occupancy\", beta = 1 }"),
        ("traffic.voice.transport", "{ udp = { rate = \"50kbit\", packet = \"100B\" } }"),
    ];
    let results = run(&load(SHAPED, &set), 1);
    let seen = column(&results.events, "time_s").into_iter().zip(column(&results.events, "from"));
    for (at, share) in seen.filter(|&(at, _)| at > 4.0) {
        let expected = if (20.0..40.0).contains(&at) { 0.1 } else { 0.05 };
        assert!((0.04..=0.11).contains(&share), "{at}: {share}");
        // an epoch in which the rate changes has some of both
        if [20.0, 40.0].iter().all(|change: &f64| (at - change).abs() > 2.0) {
            close(share, expected, 0.1);
        }
    }
}

/// One flow without end over 10 Mbit/s and 700 ms of round trip.
const FAR: &str = r#"
    name = "far"
    duration = "200s"
    warmup = "20s"
    [topology.dumbbell]
    pairs = 1
    access = { rate = "1Gbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "348ms", buffer = "1bdp" }
    [port.bottleneck]
    queue = { law = "codel" }
    [traffic.a]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { tcp = { profile = "linux" } }
"#;

/// What the warning about the interval advises makes better use of the link, for each law that is
/// warned of. CAKE also needs a larger buffer: an overflow turns BLUE on, which drops
/// long after, and with the buffer of before the advice would make it worse.
#[test]
fn the_interval_that_is_advised_helps() {
    let used_by = |queue: &str, buffer: &str, receiver: &str| {
        let set = [
            ("port.bottleneck.queue", format!("{{ law = {queue} }}")),
            ("topology.dumbbell.bottleneck.buffer", buffer.to_owned()),
            ("traffic.a.transport.tcp.receive_buffer", receiver.to_owned()),
        ];
        let set = set.each_ref().map(|(key, value)| (*key, value.as_str()));
        let scenario = load(FAR, &set);
        (tidegate_model::lint::warnings(&scenario), bottleneck(&run(&scenario, 1), "utilisation"))
    };
    let used = |queue: &str, buffer: &str| used_by(queue, buffer, "128KiB");
    for law in ["\"codel\"", "\"fq-codel\"", "\"cake\""] {
        let (told, before) = used(law, "1bdp");
        let (_, advice) = told[0].split_once("; write ").expect("it is warned of");
        assert!(advice.starts_with("interval = \"700ms\", target = \"35ms\""), "{advice}");
        let fitting = format!("{law}, interval = \"700ms\", target = \"35ms\"");
        let cake = advice.contains("buffer = \"3.5MB\"");
        assert_eq!(cake, law == "\"cake\"", "{advice}");
        let (told, after) = used(&fitting, if cake { "3.5MB" } else { "1bdp" });
        assert!(told.is_empty() && after > before + 0.05, "{law}: {before} and {after}");
        if cake {
            // to a receiver that offers all from the start, slow start sends more than fits
            let (before, after) = (used_by(law, "1bdp", "0B").1, used_by(&fitting, "1bdp", "0B").1);
            assert!(after < before, "{before} and {after}");
        }
    }
}
