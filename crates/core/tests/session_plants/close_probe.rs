//! Close and probe settles on the completion rate, and neither starves nor sticks.

use tidegate_core::law::session::close_probe::{CloseProbe, Config};

use super::rig::{Epoch, Noise, Retries, Rig};

fn sets(rows: &[Epoch]) -> Vec<f64> {
    rows.iter().map(|row| libm::round(row.decision.set * 1000.0) / 1000.0).collect()
}

#[test]
fn it_closes_and_probes_as_worked_by_hand() {
    // 1000 arrive, 100 can complete. SFCR = 100 throughout, so closing is
    // alpha + 40 (100 - alpha) / 100 = 0.6 alpha + 40, and a probe 110.
    for guard in [true, false] {
        let mut rig = Rig::new(CloseProbe::new(Config { guard, ..Config::default() }));
        let rows: Vec<Epoch> =
            (0..20).map(|_| rig.epoch(1000, |admitted| admitted.min(100))).collect();
        assert_eq!(rows[0].allowance, None);
        assert_eq!(sets(&rows)[..4], [640.0, 424.0, 294.4, 216.64]);
        // 0.6^n x 900 + 100 <= 105 from n = 11 on; then the pattern of underload
        assert_eq!(rows[10].decision.phase, "close");
        assert_eq!(rows[11].decision.phase, "probe");
        assert_eq!(sets(&rows)[11..18], [110.0, 106.0, 103.6, 110.0, 106.0, 103.6, 110.0]);
        let admitted: Vec<u64> = rows[12..18].iter().map(|row| row.counts.admitted).collect();
        // 110 + 106 + 103.6 twice is 639.2, in whole sessions
        assert!((639..=640).contains(&admitted.iter().sum::<u64>()), "{admitted:?}");
    }
}

/// A link that completes up to `capacity` sessions an epoch, and sessions that retry.
struct Plant {
    rig: Rig,
    chance: Noise,
    retries: Retries,
    under_way: u64,
    capacity: u64,
    /// A session takes an epoch at least: it ends in the one after its admission.
    slow: bool,
}

impl Plant {
    fn new(config: Config, seed: u64) -> Plant {
        Plant {
            rig: Rig::new(CloseProbe::new(config)),
            chance: Noise(seed),
            retries: Retries::default(),
            under_way: 0,
            capacity: 120,
            slow: true,
        }
    }

    /// One epoch at `offered` new sessions on average; how many came and how many ended.
    fn epoch(&mut self, offered: f64) -> (u64, u64) {
        let arrivals = if offered > 0.0 { self.chance.count(offered) } else { 0 };
        let span = self.rig.deadline() - self.rig.begin();
        for i in 0..arrivals {
            self.retries.add(self.rig.begin() + span * i / arrivals);
        }
        let admitted = self.retries.offer_to(&mut self.rig);
        let ready = if self.slow { self.under_way } else { self.under_way + admitted };
        let ends = ready.min(self.capacity);
        self.under_way = self.under_way + admitted - ends;
        self.rig.end(ends);
        self.rig.tick(None);
        (arrivals, ends)
    }

    /// Completions over the last 200 of 500 such epochs, as a share of what can be done.
    fn long_run(&mut self, offered: f64) -> f64 {
        for _ in 0..300 {
            self.epoch(offered);
        }
        let (mut came, mut ended) = (0, 0);
        for _ in 0..200 {
            let (arrivals, ends) = self.epoch(offered);
            (came, ended) = (came + arrivals, ended + ends);
        }
        ended as f64 / came.min(200 * self.capacity) as f64
    }
}

const LOADS: [f64; 6] = [5.0, 10.0, 20.0, 40.0, 100.0, 1000.0];

#[test]
fn it_serves_any_load_in_the_long_run() {
    for offered in LOADS {
        for (seed, slow) in [(1, false), (2, true), (3, true)] {
            let mut plant = Plant::new(Config::default(), seed);
            plant.slow = slow;
            let share = plant.long_run(offered);
            assert!(share >= 0.95, "{offered}/s, seed {seed}: {share:.3}");
        }
    }
}

#[test]
fn it_recovers_from_a_low_load_and_from_silence() {
    for lull in [5.0, 1.0, 0.0] {
        // a crowd of 1000/s takes long to simulate: once, after silence
        for offered in LOADS.into_iter().filter(|load| *load < 1000.0 || lull == 0.0) {
            let mut plant = Plant::new(Config::default(), 7);
            for _ in 0..60 {
                plant.epoch(offered);
            }
            for _ in 0..60 {
                plant.epoch(lull);
            }
            let share = plant.long_run(offered);
            assert!(share >= 0.95, "{offered}/s after {lull}/s: {share:.3}");
        }
    }
}

#[test]
fn it_recovers_from_a_start_without_completions() {
    for offered in LOADS {
        let mut plant = Plant::new(Config::default(), 7);
        plant.capacity = 0;
        for _ in 0..5 {
            plant.epoch(offered);
            // nothing has ended yet, so nothing is known: everything passes
            assert_eq!(plant.rig.allowance(), None);
        }
        plant.capacity = 120;
        let share = plant.long_run(offered);
        assert!(share >= 0.95, "{offered}/s: {share:.3}");
    }
}

#[test]
fn it_recovers_from_a_link_that_fails_for_a_while() {
    let mut plant = Plant::new(Config::default(), 7);
    for _ in 0..60 {
        plant.epoch(100.0);
    }
    plant.capacity = 0;
    for _ in 0..60 {
        plant.epoch(100.0);
        assert!(plant.rig.allowance() >= Some(10)); // alpha_min
    }
    plant.capacity = 120;
    assert!(plant.long_run(100.0) >= 0.95);
}

#[test]
fn the_printed_rule_sticks_at_a_low_load() {
    // Why there is a guard. Sessions take a second, so a probe shows in the completions
    // one epoch late, and by then the printed rule has closed to 1.1 SFCR - 4, which is
    // below SFCR under 40/s. From 20/s it so sinks to alpha_min and stays about there (10 to
    // 12 of 20), though 120/s would complete: refused sessions pile up.
    let printed = Config { guard: false, ..Config::default() };
    for seed in 0..3 {
        let share = Plant::new(printed.clone(), seed).long_run(20.0);
        assert!(share < 0.65, "{share:.3}");
        // with a least of 1: 1 to 2 of 20
        let lower = Config { alpha_min: 1.0, ..printed.clone() };
        let share = Plant::new(lower, seed).long_run(20.0);
        assert!(share < 0.1, "{share:.3}");
        // the guard does not need the least
        let guarded = Config { alpha_min: 1.0, ..Config::default() };
        let share = Plant::new(guarded, seed).long_run(20.0);
        assert!(share >= 0.95, "{share:.3}");
    }

    // even when 1000/s ask, once a lull has sent it down
    let mut plant = Plant::new(printed, 1);
    for _ in 0..60 {
        plant.epoch(100.0);
    }
    for _ in 0..60 {
        plant.epoch(5.0);
    }
    let share = plant.long_run(1000.0);
    assert!(share < 0.15, "{share:.3}");
}

#[test]
fn the_guard_changes_nothing_on_a_loaded_link() {
    // at 100 completions and more, closing never falls below SFCR by itself
    let run = |guard: bool| {
        let mut rig = Rig::new(CloseProbe::new(Config { guard, ..Config::default() }));
        let mut chance = Noise(3);
        let rows: Vec<Epoch> = (0..200)
            .map(|_| {
                let room = chance.count(110.0);
                rig.epoch(1000, |admitted| admitted.min(room))
            })
            .collect();
        (sets(&rows).iter().sum::<f64>(), rows.iter().map(|row| row.counts.departed).sum::<u64>())
    };
    let ((with, ended_with), (without, ended_without)) = (run(true), run(false));
    assert!((with / without - 1.0).abs() < 0.02, "{with} against {without}");
    assert!((ended_with as f64 / ended_without as f64 - 1.0).abs() < 0.02);
}

#[test]
fn sessions_that_never_end_leave_room_for_new_ones() {
    for guard in [true, false] {
        let mut rig = Rig::new(CloseProbe::new(Config { guard, ..Config::default() }));
        for _ in 0..20 {
            rig.epoch(1000, |admitted| admitted.min(100));
        }
        for _ in 0..100 {
            let row = rig.epoch(1000, |_| 0);
            assert!(row.counts.admitted >= 10, "{row:?}"); // alpha_min
        }
        assert_eq!(rig.allowance(), Some(10));
    }
}

#[test]
fn an_idle_link_is_relieved() {
    // ends cannot be seen: they take another path
    let blind = |relief: bool| {
        let mut rig = Rig::new(CloseProbe::new(Config { relief, ..Config::default() }));
        for _ in 0..20 {
            rig.epoch(200, |admitted| admitted.min(100));
        }
        (rig.queue_drops, rig.min_queue_packets) = (0, 0);
        for _ in 0..40 {
            rig.epoch(200, |_| 0);
        }
        rig
    };
    assert_eq!(blind(false).allowance(), Some(10));
    let mut rig = blind(true);
    assert_eq!(rig.allowance(), None);
    let row = rig.epoch(200, |_| 0);
    assert_eq!((row.counts.admitted, row.decision.phase), (200, "relief"));

    // each sign of congestion alone ends it: by hand, half of what arrived, as SFCR < 1
    for (drops, waiting) in [(1, 0), (0, 1)] {
        let mut rig = blind(true);
        (rig.queue_drops, rig.min_queue_packets) = (drops, waiting);
        let row = rig.epoch(200, |_| 0);
        assert_eq!((row.decision.phase, row.decision.set), ("close", 100.0));
    }
}

#[test]
fn resets_are_ends_where_relief_is_on() {
    let ended = |relief: bool| {
        let mut rig = Rig::new(CloseProbe::new(Config { relief, beta: 1.0, ..Config::default() }));
        rig.epoch(100, |admitted| admitted / 2);
        rig.reset(30);
        rig.epoch(100, |admitted| admitted / 4).decision.from
    };
    // by hand: the first epoch admits 100 and 50 end, so it closes to 100 + 40 (50 - 100) / 50 = 60;
    // of these a quarter ends, and 30 more break off
    assert_eq!((ended(false), ended(true)), (15.0, 45.0));
}

#[test]
fn without_smoothing_the_last_epoch_is_all_that_counts() {
    let mut rig = Rig::new(CloseProbe::new(Config { beta: 1.0, ..Config::default() }));
    for ends in [50, 80, 20] {
        assert_eq!(rig.epoch(100, |_| ends).decision.from, ends as f64);
    }
}

#[test]
fn an_excess_begins_beyond_the_buffer_factor() {
    // 105 is 1.05 x 100 and no excess yet: probe 1.1 x 100. 106 is: 106 + 40 (100 - 106) / 100.
    for (came, phase, set) in [(105, "probe", 110.0), (106, "close", 103.6)] {
        let mut rig = Rig::new(CloseProbe::new(Config::default()));
        let decision = rig.epoch(came, |_| 100).decision;
        assert_eq!((decision.phase, libm::round(decision.set * 10.0) / 10.0), (phase, set));
    }
}
