//! A hole in what a receiver has ends soon, and what lies above it is bounded.
//!
//! A queue law that drops at the head can drop each repair and pass the new segment that came with
//! it. Where the sender lets out one new segment for every repair, and does not notice that a repair
//! was lost again, that goes on for ever: the link is full, and nothing more is delivered in order.
//! Tables of utilisation and drops do not show it; these two rules do.

use crate::common::*;
use tidegate_sim::Results;

/// Round trips that a hole may last: the first repairs may be lost too, and then timers wait, each
/// twice as long as the one before. Chosen after 43 had been seen, of one flow in 240: CAKE, of 800
/// kbit/s, dropped its repairs 21 times in a row.
const ROUND_TRIPS: f64 = 50.0;
/// A round trip counts as this share of the least timeout at least, where it is shorter.
const LEAST: f64 = 0.2;
/// Windows that may lie above a hole. What blocks have told of is not in the network any more, so
/// each round trip until the repair has come lets out another part of a window.
const WINDOWS: f64 = 6.0;
/// Between two looks at a flow.
const MS: f64 = 100.0;

/// Flows without an end over a slow link.
#[derive(Debug)]
struct Case {
    queue: &'static str,
    link: (&'static str, &'static str),
    tcp: &'static str,
    flows: u32,
    loss: &'static str,
}

impl Case {
    fn text(&self) -> String {
        let Case { queue, link: (rate, delay), tcp, flows, loss } = self;
        let starts: Vec<String> = (0..*flows).map(|k| format!("\"{}ms\"", 130 * k)).collect();
        let names: Vec<String> = (0..*flows).map(|k| format!("\"bulk:{k}\"")).collect();
        let (starts, names) = (starts.join(", "), names.join(", "));
        format!(
            r#"
            name = "hole"
            duration = "60s"
            [topology.dumbbell]
            pairs = 4
            access = {{ rate = "100Mbit", delay = "1ms" }}
            bottleneck = {{ rate = "{rate}", delay = "{delay}", buffer = "100packets", loss = {loss} }}
            [port.bottleneck]
            queue = {{ law = "{queue}" }}
            [traffic.bulk]
            arrivals = {{ at = [{starts}] }}
            size = "unlimited"
            transport = {{ tcp = {{ {tcp} }} }}
            [series]
            flows = [{names}]
            every = "{MS}ms"
            "#
        )
    }
}

/// The longest hole of a flow in seconds, and the longest that it may be; the most above one in
/// windows of the flow.
fn worst(results: &Results, flow: u32, least_timeout: f64) -> (f64, f64, f64) {
    let table = &results.flow_series;
    let numbers = column(table, "number");
    let of_flow = |name| {
        let values = column(table, name);
        let own = numbers.iter().zip(values).filter(|(number, _)| **number == f64::from(flow));
        own.map(|(_, value)| value).collect::<Vec<f64>>()
    };
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let (cwnd, flight) = (of_flow("cwnd_packets"), of_flow("flight_packets"));
    let (mut silent, mut longest) = (0, 0);
    for (rate, flight) in of_flow("rate_bps").iter().zip(&flight) {
        silent = if *rate == 0.0 && *flight > 0.0 { silent + 1 } else { 0 };
        longest = longest.max(silent);
    }
    assert!(most(&cwnd) > 0.0, "the flow was open");
    let round_trip = most(&of_flow("srtt_s")).max(LEAST * least_timeout);
    (f64::from(longest) * MS / 1e3, ROUND_TRIPS * round_trip, most(&flight) / most(&cwnd))
}

const LINUX: [&str; 5] = [
    r#"profile = "linux""#,
    r#"profile = "linux", control = "reno""#,
    r#"profile = "linux", control = "reno", tlp = false"#,
    r#"profile = "linux", control = "bbr""#,
    r#"profile = "linux", control = "bbr3""#,
];
const RFC: [&str; 2] = [r#"profile = "rfc""#, r#"profile = "rfc", recovery = "sack""#];
const LINKS: [(&str, &str); 3] = [("640kbit", "8ms"), ("800kbit", "8ms"), ("2Mbit", "40ms")];

/// What breaks a rule in so many seeds: holes that last (where `lasts`), and what lies above them.
fn broken(case: &Case, seeds: u64, lasts: bool) -> Vec<String> {
    let scenario = load(&case.text(), &[]);
    let least_timeout = if case.tcp.contains("rfc") { 1.0 } else { 0.2 };
    let mut broken = Vec::new();
    for seed in 1..=seeds {
        let results = run(&scenario, seed);
        for flow in 0..case.flows {
            let (hole, most, windows) = worst(&results, flow, least_timeout);
            if (lasts && hole > most) || windows > WINDOWS {
                broken.push(format!(
                    "{case:?}, seed {seed}, flow {flow}: {hole:.1} s of {most:.1}, {windows:.1} windows"
                ));
            }
        }
    }
    broken
}

/// One flow alone meets no losses but its own, and a few of the link: no hole lasts.
#[test]
fn no_hole_of_a_flow_alone_lasts() {
    let mut all = Vec::new();
    for queue in ["cake", "fq-codel", "codel", "pie"] {
        for link in LINKS {
            for tcp in LINUX.into_iter().chain(RFC) {
                for (loss, seeds) in [("0", 1), ("0.03", 2)] {
                    let case = Case { queue, link, tcp, flows: 1, loss };
                    all.extend(broken(&case, seeds, true));
                }
            }
        }
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

/// Eight flows with a queue each: no hole lasts, but where a queue that all share drops so much that
/// timers back off. The windows bound what lies above it in any case.
///
/// Not by the RFCs alone (`rfc`): a repair that is lost again is found by the timer, and until then
/// each duplicate lets out a new segment (RFC 5681, 3.2, step 4), or each block (RFC 6675).
#[test]
fn no_hole_of_flows_with_queues_of_their_own_lasts() {
    let mut all = Vec::new();
    for (queue, lasts) in [("cake", true), ("fq-codel", true), ("codel", false), ("pie", false)] {
        for link in LINKS {
            for tcp in LINUX {
                all.extend(broken(&Case { queue, link, tcp, flows: 8, loss: "0.01" }, 1, lasts));
            }
        }
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}
