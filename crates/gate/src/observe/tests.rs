//! What is seen, and what follows from it.

use super::*;
use crate::config::{Config, Mode};

fn plan(rate: Option<u64>) -> Plan {
    Plan { rate: rate.map(Rate::from_bps), ..Plan::default() }
}

fn suggestion(seen: &Observation) -> String {
    suggestions(std::slice::from_ref(seen))
}

fn observation(rate: Option<u64>, queue: &str, epochs: &[(u64, u64, u64, f64)]) -> Observation {
    let mut seen = Observation::new(plan(rate));
    for (arrived, admitted, drops, rate_bps) in epochs {
        let status = Status {
            interface: "wan0".to_owned(),
            queue: queue.to_owned(),
            arrived: *arrived,
            admitted: *admitted,
            drops: *drops,
            rate_bps: *rate_bps,
            ..Status::default()
        };
        seen.epoch(&status, Duration::from_millis(22_500), &[]);
    }
    seen
}

// By hand: 300 openers, 60 of them refused by the law: 20 %. Two epochs of four lost packets.
#[test]
fn the_shares_are_of_openers_and_of_epochs() {
    let busy = (100, 70, 5, 95_440_000.0);
    let calm = (50, 50, 0, 20e6);
    let seen = observation(None, "fq_codel", &[busy, calm, busy, calm]);
    let text = seen.summary();
    assert!(text.contains("wan0, 1.5 min: of 300 openers 20.0 % would"), "{text}");
    assert!(text.contains("leaves    at most 95.4Mbit/s; full 50 % of the time"), "{text}");
    assert!(text.contains("10 packets lost"), "{text}");
    assert!(suggestion(&seen).contains("capacity = \"95.4Mbit\""));
}

/// Downloads at the outer interface: 14 Mbit/s come in, and ACKs leave.
fn downloads(rate: Option<u64>, leaves_bps: f64) -> (Observation, Status) {
    let status = Status {
        interface: "wan0".to_owned(),
        arrived: 20,
        admitted: 20,
        rate_bps: leaves_bps,
        received_bps: 14e6,
        ..Status::default()
    };
    let mut seen = Observation::new(plan(rate));
    seen.epoch(&status, Duration::from_secs(1), &[]);
    (seen, status)
}

#[test]
fn a_load_that_comes_in_is_to_be_controlled_elsewhere() {
    let (mut seen, status) = downloads(Some(10_000_000), 600_000.0);
    let text = seen.summary();
    assert!(
        text.contains("comes in  at most 14Mbit/s; 100 % of the time at 90 % of that"),
        "{text}"
    );
    assert!(text.contains("A gate here does not hold that back"), "{text}");
    let written = file(std::slice::from_ref(&seen));
    assert!(!written.contains("shape"), "{written}");
    let text = suggestion(&seen);
    assert!(text.contains("gate observe --down LAN --up wan0"), "{text}");
    // as much leaves: the link is full in this direction too
    let both = Status { rate_bps: 9.6e6, ..status };
    seen.epoch(&both, Duration::from_secs(1), &[]);
    assert!(!seen.summary().contains("does not hold"));
    assert!(suggestion(&seen).contains("shape = \"9.5Mbit\""));
}

// The queue of these downloads is at another interface of the machine, which lets 9.6 Mbit/s through
// and loses the rest: that one is named, with its rate, and nothing is shaped where they come in.
#[test]
fn the_interface_whose_queue_is_full_is_named() {
    let full = Other { name: "lan0".to_owned(), sent_bps: 9.6e6, drops: 30, full: true };
    let idle = Other { name: "dmz0".to_owned(), sent_bps: 2e6, drops: 0, full: false };
    for rate in [None, Some(10_000_000)] {
        let (mut seen, status) = downloads(rate, 600_000.0);
        seen.epoch(&status, Duration::from_secs(1), &[full.clone(), idle.clone()]);
        let text = seen.summary();
        assert!(
            text.contains("congested lan0: full 50 % of the time; at most 9.6Mbit/s"),
            "{text}"
        );
        // what is said of lan0 is of lan0: its share, and not that nothing comes back by wan0
        seen.plan.one_way = true;
        let written = file(std::slice::from_ref(&seen));
        assert!(written.contains("the link was full 50 % of the time"), "{written}");
        assert!(!written.contains("ends_of"), "{written}");
        let config = Config::parse(&written, "gate.toml").expect("a valid file").remove(0);
        assert_eq!(config.file.interface, "lan0");
        assert_eq!((config.capacity, config.shape), (Some(Rate::from_bps(9_600_000)), None));
    }
    // no queue is full: the interface is named by which most left
    let (mut seen, status) = downloads(Some(10_000_000), 600_000.0);
    let most = Other { sent_bps: 13e6, drops: 0, full: false, ..full };
    seen.epoch(&status, Duration::from_secs(1), &[idle, most]);
    assert!(!seen.summary().contains("  congested"));
    assert!(suggestion(&seen).contains("gate observe --down lan0 --up wan0"));
}

// In one epoch nothing left: that is no rate of a bit a second.
#[test]
fn nothing_is_called_nothing() {
    let text = observation(None, "tbf", &[(0, 0, 0, 0.0)]).summary();
    assert!(text.contains("leaves    nothing; full 0 %"), "{text}");
    assert!(text.contains("comes in  nothing\n"), "{text}");
}

// By hand: of ten epochs six are at 9.5 Mbit/s and more, a tenth below the largest of 10 at most.
#[test]
fn a_full_link_keeps_its_rate() {
    let mut spread = Spread::default();
    for bps in [10e6, 9.9e6, 9.8e6, 9.7e6, 9.6e6, 9.5e6, 5e6, 4e6, 1e6, 0.0] {
        spread.take(bps);
    }
    assert!((spread.at_peak() - 0.6).abs() < 1e-9, "{}", spread.at_peak());
}

// Without a queue and without a rate there is one advice, and it says what it lacks.
#[test]
fn where_no_packet_waits_the_rate_is_asked_for() {
    let text = suggestion(&observation(None, "noqueue", &[(5, 5, 0, 1e6)]));
    assert!(text.contains("refuses nobody, as no packet waits here"), "{text}");
    assert!(text.contains("the rate of the link"), "{text}");
}

// Each file is valid, observes, and has the law and the rate that were suggested.
#[test]
fn the_file_that_is_written_is_valid() {
    let idle = [(5, 5, 0, 1e6)];
    let full = [(5, 5, 3, 9.4e6)];
    for (seen, law, capacity, shape) in [
        (observation(None, "tbf", &idle), "close-probe", None, None),
        (observation(None, "tbf", &full), "tide", Some(9_400_000), None),
        // drops behind an interface without a queue are not those of a full link
        (observation(None, "noqueue", &full), "close-probe", None, None),
        (observation(Some(10_000_000), "tbf", &idle), "tide", Some(10_000_000), None),
        (observation(Some(10_000_000), "noqueue", &idle), "tide", Some(9_500_000), Some(9_500_000)),
    ] {
        let written = file(std::slice::from_ref(&seen));
        let config = Config::parse(&written, "gate.toml").expect("a valid file").remove(0);
        assert_eq!(config.file.mode, Mode::Observe);
        assert_eq!(config.law.as_ref().map(|law| law.name()), Some(law));
        assert_eq!(config.capacity.map(|rate| rate.bps()), capacity);
        assert_eq!(config.shape.map(|(rate, _)| rate.bps()), shape);
    }
}

// Both directions go into one file, each with its rate; at an ifb the way back is not seen.
#[test]
fn both_directions_go_into_one_file() {
    let mut down = observation(Some(50_000_000), "noqueue", &[(9, 9, 0, 40e6)]);
    (down.plan.direction, down.plan.one_way) = (Some(Direction::Down), true);
    down.interface = "ifb0".to_owned();
    let mut up = observation(Some(10_000_000), "tbf", &[(9, 9, 0, 3e6)]);
    up.plan.direction = Some(Direction::Up);
    let configs = Config::parse(&file(&[down, up]), "gate.toml").expect("a valid file");
    let found: Vec<_> = configs
        .iter()
        .map(|config| {
            let shape = config.shape.map(|(rate, _)| rate.bps());
            (config.file.interface.as_str(), config.direction, shape, config.looks_at_ingress())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("ifb0", Some(Direction::Down), Some(47_500_000), false),
            ("wan0", Some(Direction::Up), None, true)
        ]
    );
}

// A burst that found an empty queue was faster than the full link, whose rate it does not tell.
#[test]
fn the_rate_of_a_full_link_is_of_the_epochs_in_which_it_was_full() {
    let (burst, full) = ((5, 5, 0, 65.1e6), (9, 9, 3, 10e6));
    let seen = observation(None, "tbf", &[burst, full, full]);
    assert!(suggestion(&seen).contains("capacity = \"10Mbit\""), "{}", suggestion(&seen));
}

// The shaper of a file takes 8 kbit/s to 30 Gbit/s: 95 % of 40 Gbit/s is beyond.
#[test]
fn a_rate_that_no_shaper_has_is_a_capacity() {
    let seen = observation(Some(40_000_000_000), "noqueue", &[(5, 5, 0, 1e9)]);
    let written = file(std::slice::from_ref(&seen));
    let config = Config::parse(&written, "gate.toml").expect("a valid file").remove(0);
    assert_eq!((config.capacity, config.shape), (Some(Rate::from_bps(40_000_000_000)), None));
}

// A shaper loses packets from the first second on, though the gate refuses nobody.
#[test]
fn a_shaper_is_said_to_hold_while_the_gate_observes() {
    let path = std::path::Path::new("gate.toml");
    let idle = [(5, 5, 0, 1e6)];
    for (rate, shapes) in [(Some(10_000_000), true), (None, false)] {
        let seen = [observation(rate, "noqueue", &idle)];
        assert_eq!(file(&seen).contains("`shape` holds in observe mode too"), shapes);
        assert_eq!(next_steps(&seen, path).contains("in observe mode too"), shapes);
    }
}

// The file is for the interface that is congested, and so is the socket of its gate.
#[test]
fn what_follows_names_the_interface_of_the_file() {
    let full = Other { name: "lan0".to_owned(), sent_bps: 9.6e6, drops: 30, full: true };
    let (mut seen, status) = downloads(None, 600_000.0);
    seen.epoch(&status, Duration::from_secs(1), &[full]);
    let text = next_steps(&[seen], std::path::Path::new("gate-wan0.toml"));
    assert!(text.contains("it is for lan0, not for wan0"), "{text}");
    assert!(text.contains("--socket /run/tidegate/gate-lan0.sock"), "{text}");
}

// With a share below one the first opener of every epoch passes: more than a slow link serves.
#[test]
fn no_bound_of_refusals_is_suggested() {
    let written = file(&[observation(Some(1_000_000), "noqueue", &[(5, 5, 3, 1e6)])]);
    let config = Config::parse(&written, "gate.toml").expect("a valid file").remove(0);
    assert!((config.file.ceiling - 1.0).abs() < 1e-12);
}
