//! QFCP's shares: how many, how soon, and at what price in queue and losses.

use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

use super::{link, noted, peak, rates_after, throughput, watched};
use crate::common::*;

/// `n` flows without end from `at` on, to `stop`.
fn crowd(name: &str, n: usize, at: &str, stop: &str) -> String {
    let starts = vec![format!("\"{at}\""); n].join(", ");
    format!(
        "[traffic.{name}]\narrivals = {{ at = [{starts}] }}\nsize = \"unlimited\"\n\
         stop = \"{stop}\"\ntransport.qfcp = {{ mss = \"960B\", initial_window = 2 }}\n"
    )
}

fn drops(results: &Results, from: f64, to: f64) -> f64 {
    let (times, lost) =
        (column(&results.ports, "time_s"), column(&results.ports, "drops_queue_full"));
    times.iter().zip(lost).filter(|(at, _)| **at > from && **at <= to).map(|(_, n)| n).sum()
}

/// n long flows: the rate is C / n within 2 %, the link is full, and the queue
/// that stands is under 5 % of the buffer (of 50 packets: 2.5).
#[test]
fn long_flows_get_equal_shares_without_a_standing_queue() {
    for n in [1, 2, 5, 10] {
        let text = format!("{}{}", link("law = \"qfcp\"", 10), crowd("long", n, "0s", "30s"));
        let results = run(&load(&text, &[]), 1);
        let rates = rates_after(&results, 10.0);
        close(mean(&rates), 10e6 / n as f64, 0.02);
        assert!(rates.iter().all(|rate| (rate * n as f64 / 10e6 - 1.0).abs() < 0.05), "{n}");
        close(throughput(&results, 10.0, 20.0), 10e6, 0.02);
        let (times, queue) =
            (column(&results.ports, "time_s"), column(&results.ports, "queue_mean_packets"));
        let ports = column(&results.ports, "port");
        let late: Vec<f64> = (0..times.len())
            .filter(|&row| ports[row] == 0.0 && times[row] > 10.0)
            .map(|row| queue[row])
            .collect();
        assert!(mean(&late) < 2.5, "{n}: {} packets stand", mean(&late));
    }
}

/// The packets of each flow that leave the bottleneck in a window, as shares of the largest.
fn shares(n: usize, from: f64, to: f64, text: &str) -> Vec<f64> {
    let scenario = load(text, &[]);
    let (stages, sent) = watched(&scenario, "bottleneck", |_, _| false);
    run_with(&scenario, 1, Custom { stages, ..Custom::default() });
    let mut counts = vec![0.0; n];
    for (at, packet) in noted(&sent) {
        if (from..to).contains(&at) {
            counts[(packet.flow & 0xffff) as usize] += 1.0;
        }
    }
    counts
}

/// A third flow joins two: within 8 control periods and 2 round trips (0.4 s) of
/// that all have the same, in any half second from then on (Jain's index above 0.99).
#[test]
fn a_newcomer_has_its_share_within_eight_control_periods() {
    let text = format!(
        "{}{}{}",
        link("law = \"qfcp\"", 10),
        crowd("old", 2, "0s", "30s"),
        crowd("new", 1, "5s", "30s")
    );
    for from in [5.4, 6.0, 8.0] {
        let counts = shares(3, from, from + 0.5, &text);
        let (sum, squares) =
            counts.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let jain = sum * sum / (3.0 * squares);
        assert!(jain > 0.99, "{from}: {counts:?}");
    }
}

/// Of four flows two leave: nothing is lost, and the others take the room.
#[test]
fn nothing_is_lost_when_flows_leave() {
    let text = format!(
        "{}{}{}",
        link("law = \"qfcp\"", 10),
        crowd("stay", 2, "0s", "30s"),
        crowd("leave", 2, "0s", "10s")
    );
    let results = run(&load(&text, &[]), 1);
    assert_eq!(drops(&results, 9.0, 20.0), 0.0);
    close(mean(&rates_after(&results, 15.0)), 5e6, 0.02);
    close(throughput(&results, 10.5, 20.0), 10e6, 0.02);
}

/// A hundred flows at once on a link that one has had, half a packet a round trip
/// for each: what they send before they are told overflows the queue many times
/// over, and while they wait for their timers the estimate of their number falls
/// and the rate swings. It costs thousands of packets and some seconds; then the
/// link is full and shared. (The figures are measured, not promised.)
#[test]
fn a_crowd_costs_seconds_and_thousands_of_packets() {
    let text = format!(
        "{}{}{}",
        link("law = \"qfcp\"", 10),
        crowd("old", 1, "0s", "30s"),
        crowd("crowd", 100, "5s", "30s")
    );
    let results = run(&load(&text, &[]), 1);
    assert!(peak(&results, "queue_bytes", 5.0, 6.0) > 49_000.0, "the buffer of 50 kB is full");
    let early = drops(&results, 5.0, 10.0);
    assert!((1_000.0..20_000.0).contains(&early), "{early}");
    assert!(drops(&results, 12.0, 20.0) < 0.1 * early);
    assert!(throughput(&results, 12.0, 20.0) > 8.5e6);
    close(mean(&rates_after(&results, 15.0)), 10e6 / 101.0, 0.5);
}

/// The capacity halves and returns: so does the rate.
#[test]
fn the_rate_follows_the_capacity() {
    let changes =
        "[[change]]\nwhat = \"bottleneck.rate\"\nat = \"5s\"\nto = \"5Mbit\"\npulse = \"5s\"\n";
    let text = format!("{}{}{changes}", link("law = \"qfcp\"", 10), crowd("long", 2, "0s", "30s"));
    let results = run(&load(&text, &[]), 1);
    let (times, set) = (column(&results.events, "time_s"), column(&results.events, "set"));
    let between = |from: f64, to: f64| {
        let inside = times.iter().zip(&set).filter(|(at, _)| (from..to).contains(*at));
        mean(&inside.map(|(_, set)| *set).collect::<Vec<f64>>())
    };
    close(between(3.0, 5.0), 5e6, 0.03);
    close(between(7.0, 10.0), 2.5e6, 0.03);
    close(between(12.0, 20.0), 5e6, 0.03);
}

/// The control period is the mean of the round trips, here 40.0 ms and little queue.
#[test]
fn the_control_period_is_the_round_trip() {
    let text = format!("{}{}", link("law = \"qfcp\"", 10), crowd("long", 2, "0s", "30s"));
    let results = run(&load(&text, &[]), 1);
    let times = column(&results.events, "time_s");
    let last: Vec<f64> = times.windows(2).rev().take(20).map(|pair| pair[1] - pair[0]).collect();
    close(mean(&last), 0.0410, 0.03);
}

/// Three links in a row, of 10, 5 and 10 Mbit/s: a flow over all and one over the
/// second share that (2.5 Mbit/s each), and those over the others take the rest (7.5).
#[test]
fn the_smallest_rate_of_the_way_counts() {
    let mut text = "name = \"row\"\nduration = \"20s\"\n[topology.tandem]\npairs = 4\n\
        access = { rate = \"1Gbit\", delay = \"1ms\" }\nlinks = [\n"
        .to_owned();
    for rate in [10, 5, 10] {
        text +=
            &format!("{{ rate = \"{rate}Mbit\", delay = \"5ms\", buffer = \"100packets\" }},\n");
    }
    text += "]\n[port]\n";
    for link in 1..=3 {
        text += &format!("link{link}.stamp = {{ law = \"qfcp\" }}\n");
    }
    for (name, from, to) in [("all", 1, 4), ("a", 1, 2), ("b", 2, 3), ("c", 3, 4)] {
        text += &format!(
            "[traffic.{name}]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\n\
             from = \"r{from}\"\nto = \"r{to}\"\ntransport.qfcp = {{ mss = \"960B\" }}\n"
        );
    }
    let results = run(&load(&text, &[]), 1);
    let rates: Vec<f64> = column(&results.flows, "delivered_bytes")
        .iter()
        .map(|bytes| bytes * 8.0 / 20.0 / 0.96)
        .collect();
    for (rate, expected) in rates.iter().zip([2.5e6, 7.5e6, 2.5e6, 7.5e6]) {
        close(*rate, expected, 0.06);
    }
    assert_eq!(Time::from_secs(20).secs(), 20.0);
}
