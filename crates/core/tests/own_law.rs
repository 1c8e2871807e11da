//! The law of docs/own-law.md: worked examples, and a plant of arithmetic.

#[allow(dead_code, reason = "the limiter is for whoever puts the law into a simulation")]
#[path = "../../../examples/own_law.rs"]
mod aimd;

use crate::session_plants::rig::Rig;
use aimd::{Aimd, Config};
use tidegate_core::law::session::{Counts, Limiter};
use tidegate_core::units::Time;

/// The table of worked examples, which the same law in Python is held to as well.
#[test]
fn the_worked_examples() {
    let mut rig = Rig::new(Aimd::new(Config::default()));
    assert_eq!(rig.allowance(), Some(10), "it begins with alpha_min");
    let mut rows = 0;
    let table = include_str!("../../../examples/own_law.csv");
    for line in table.lines().filter(|line| !line.starts_with(['#', 'o'])) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |place: usize| cells[place].parse::<u64>().unwrap();
        (rig.queue_offered, rig.queue_drops) = (number(0), number(1));
        let counts = Counts { arrived: number(2), admitted: number(3), ..Counts::default() };
        let decision = rig.tick(Some(counts)).decision;
        let alpha: f64 = cells[5].parse().unwrap();
        assert_eq!(decision.phase, cells[4], "{line}");
        assert!((decision.set - alpha).abs() < 1e-9, "{line}: {}", decision.set);
        assert_eq!(rig.allowance(), Some(alpha as u64), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 10);
}

/// 100 sessions ask in each epoch and the link bears 60: up from 10 by 5, and
/// then between 0.8 x 61 and 60 + 5.
#[test]
fn it_settles_around_what_the_link_bears() {
    let config = Config { limiter: Limiter::Counter, ..Config::default() };
    let mut rig = Rig::new(Aimd::new(config));
    let mut cuts = 0;
    for epoch in 0..200 {
        let allowance = rig.allowance().unwrap();
        (rig.queue_offered, rig.queue_drops) = (allowance, allowance.saturating_sub(60));
        if epoch <= 10 {
            assert_eq!(allowance, 10 + 5 * epoch);
        } else {
            assert!((48..=65).contains(&allowance), "{allowance} in epoch {epoch}");
        }
        let row = rig.epoch(100, |admitted| admitted);
        assert_eq!(row.counts.admitted, allowance);
        cuts += u32::from(row.decision.phase == "decrease");
    }
    assert!(cuts > 30, "{cuts} cuts: from 49 to above 60 it takes three steps");
}

#[test]
fn what_is_out_of_range_is_refused() {
    type Spoil = fn(&mut Config);
    let spoils: [(&str, Spoil); 5] = [
        ("epoch", |config| config.epoch = Time::ZERO),
        ("increase", |config| config.increase = 0.0),
        ("decrease", |config| config.decrease = 1.0),
        ("threshold", |config| config.threshold = f64::NAN),
        ("alpha_min", |config| config.alpha_min = 0.5),
    ];
    assert_eq!(Config::default().check(), Ok(()));
    for (field, spoil) in spoils {
        let mut config = Config::default();
        spoil(&mut config);
        assert_eq!(config.check().unwrap_err().0, field);
    }
}
