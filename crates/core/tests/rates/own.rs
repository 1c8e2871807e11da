//! The rate law of docs/own-law.md on its worked examples.

#[path = "../../../../examples/own_rate_law.rs"]
mod load_factor;

use load_factor::{Config, LoadFactor};
use tidegate_core::law::rate::Counts;
use tidegate_core::units::Time;

use super::rig::{Rig, link};

/// The table of worked examples, which the same law in Python is held to as well.
#[test]
fn the_worked_examples() {
    let mut rig = Rig::new(LoadFactor::new(&Config::default(), link(10_000_000)), 10_000_000);
    assert_eq!((rig.knobs.rate * 8, rig.deadline), (1_000_000, Time::from_ms(100)));
    let mut rows = 0;
    let table = include_str!("../../../../examples/own_rate_law.csv");
    for line in table.lines().filter(|line| !line.starts_with(['#', 'b'])) {
        let cells: Vec<u64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let &[bytes, queue_bytes, rtt_ms, rate_bps, next_ms] = cells.as_slice() else {
            panic!("{line}")
        };
        let said = u64::from(rtt_ms > 0) * 3;
        let rtt_us = said * rtt_ms * 1000;
        let counts = Counts { bytes, rtt_packets: said, rtt_us, ..Counts::default() };
        let before = rig.deadline;
        let decision = rig.tick(queue_bytes, counts);
        assert_eq!(rig.knobs.rate * 8, rate_bps, "{line}");
        assert_eq!(rig.deadline - before, Time::from_ms(next_ms), "{line}");
        assert!((decision.set - rate_bps as f64).abs() < 1e-6, "{line}");
        rows += 1;
    }
    assert_eq!(rows, 14);
}

/// What may be set: a tenth to all of the capacity.
#[test]
fn a_target_out_of_range_is_refused() {
    for (target, fits) in [(0.0999, false), (0.1, true), (1.0, true), (1.001, false)] {
        assert_eq!(Config { target }.check().is_ok(), fits, "{target}");
    }
}
