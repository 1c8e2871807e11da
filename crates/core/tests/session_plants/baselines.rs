//! The threshold baselines open and close as their measure says, by hand.

use tidegate_core::law::Controller;
use tidegate_core::law::session::loss_rate::{self, LossRate};
use tidegate_core::law::session::occupancy::{self, Occupancy};
use tidegate_core::law::session::{Counts, Knobs};
use tidegate_core::units::Time;

use super::rig::{Epoch, Rig};

/// Epochs of 50 arrivals, with what the law is shown in each.
fn rows<T: Copy>(
    law: impl Controller<Knobs, Counts> + 'static,
    shown: &[T],
    show: impl Fn(&mut Rig, T),
) -> Vec<Epoch> {
    let mut rig = Rig::new(law);
    let epoch = |shown: &T| {
        show(&mut rig, *shown);
        rig.epoch(50, |admitted| admitted)
    };
    shown.iter().map(epoch).collect()
}

fn admitted(rows: &[Epoch]) -> Vec<u64> {
    rows.iter().map(|row| row.counts.admitted).collect()
}

fn measures(rows: &[Epoch]) -> Vec<f64> {
    rows.iter().map(|row| row.decision.from).collect()
}

/// Everything passes while the link was busy for less than 0.9 of the epoch, and
/// at 0.9 and above nothing; the first epoch is open.
#[test]
fn occupancy_lets_all_in_or_none() {
    let law = Occupancy::new(occupancy::Config::default());
    let rows =
        rows(law, &[500, 899, 900, 1000, 100, 0], |rig, busy_ms| rig.busy = Time::from_ms(busy_ms));
    assert_eq!(measures(&rows), [0.5, 0.899, 0.9, 1.0, 0.1, 0.0]);
    assert_eq!(admitted(&rows), [50, 50, 50, 0, 0, 50]);
    let set: Vec<f64> = rows.iter().map(|row| row.decision.set).collect();
    let all = f64::INFINITY;
    assert_eq!(set, [all, all, 0.0, 0.0, all, all]);
    assert_eq!([rows[1].decision.phase, rows[2].decision.phase], ["open", "closed"]);
}

/// Smoothing at weight 1/2, in epochs of 2 s, by hand: 1; (1 + 0)/2 = 0.5; 0.25; (0.25 + 0.75)/2 = 0.5.
#[test]
fn occupancy_is_smoothed() {
    let config = occupancy::Config { epoch: Time::from_secs(2), threshold: 0.4, beta: 0.5 };
    let rows = rows(Occupancy::new(config), &[2000, 0, 0, 1500], |rig, busy_ms| {
        rig.busy = Time::from_ms(busy_ms);
    });
    assert_eq!(measures(&rows), [1.0, 0.5, 0.25, 0.5]);
    assert_eq!(admitted(&rows), [50, 0, 0, 50]);
}

/// The measure is losses over packets offered: 0/0 counts as none, 2/200 is the
/// threshold of 0.01 and closes.
#[test]
fn loss_rate_lets_all_in_or_none() {
    let law = LossRate::new(loss_rate::Config::default());
    let shown = [(0, 0), (1, 200), (2, 200), (50, 100), (0, 10), (0, 0)];
    let rows = rows(law, &shown, |rig, (lost, offered)| {
        (rig.queue_drops, rig.queue_offered) = (lost, offered);
    });
    assert_eq!(measures(&rows), [0.0, 0.005, 0.01, 0.5, 0.0, 0.0]);
    assert_eq!(admitted(&rows), [50, 50, 50, 0, 0, 50]);
    let config = loss_rate::Config { beta: 0.5, threshold: 0.2, ..Default::default() };
    let rows = self::rows(LossRate::new(config), &[40, 0, 0], |rig, lost| rig.queue_drops = lost);
    assert_eq!(measures(&rows), [0.4, 0.2, 0.1], "of 100 offered, smoothed by halves");
    assert_eq!(admitted(&rows), [50, 0, 0]);
}
