//! Whatever is counted: no panic, no NaN, no allowance below the least, time goes on.

use proptest::prelude::*;

use tidegate_core::law::Controller;
use tidegate_core::law::session::clients::Who;
use tidegate_core::law::session::onset::AtOnset;
use tidegate_core::law::session::{
    Counts, Knobs, change, close_probe, fixed_rate, gss_ga, loss_rate, occupancy, tide, young,
};
use tidegate_core::law::settings::Refused;
use tidegate_core::law::settings::Setting;
use tidegate_core::units::{Frequency, Time};

use super::rig::Rig;

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => Just(0u64),
        3 => 1..20u64,
        5 => 20..3000u64,
        1 => any::<u64>(),
        1 => Just(u64::MAX),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Input {
    counts: Counts,
    queue_drops: u64,
    min_queue_packets: u32,
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let sessions = (count(), count(), count(), count(), count(), count());
    let input = (sessions, count(), count(), 0..2u64, 0..2u32).prop_map(
        |(sessions, bytes, young_bytes, queue_drops, min_queue_packets)| {
            let (arrived, admitted, departed, resets, eligible, lost_openers) = sessions;
            Input {
                counts: Counts {
                    arrived,
                    admitted,
                    departed,
                    resets,
                    eligible,
                    lost_openers,
                    uncharged: lost_openers,
                    lost_ends: resets,
                    bytes,
                    young_bytes,
                    served: admitted,
                    waited: arrived,
                    let_in: admitted,
                    inside: eligible,
                    answered: departed,
                },
                queue_drops,
                min_queue_packets,
            }
        },
    );
    proptest::collection::vec(input, 1..120)
}

fn drive(law: impl Controller<Knobs, Counts> + 'static, least: f64, inputs: &[Input]) {
    let mut rig = Rig::new(law);
    for input in inputs {
        let allowed = rig.allowance().unwrap_or(u64::MAX);
        assert!(allowed >= libm::floor(least) as u64, "{allowed} < {least}");
        let before = rig.deadline();
        (rig.queue_drops, rig.min_queue_packets) = (input.queue_drops, input.min_queue_packets);
        let row = rig.tick(Some(input.counts));
        assert!(row.decision.set >= least, "{:?}", row.decision);
        assert!(row.decision.from >= 0.0, "{:?}", row.decision);
        assert!(rig.deadline() > before);
        assert!(rig.allowance().is_none() || rig.knobs.token_interval_ns > 0);
    }
}

proptest! {
    #[test]
    fn fixed_rate(rate in 1e-3..1e9f64, epoch_ms in 1..3_600_000u64, inputs in inputs()) {
        let epoch = Time::from_ms(epoch_ms);
        let config =
            fixed_rate::Config { rate: Frequency::per_s(rate), epoch, ..Default::default() };
        config.check().unwrap();
        let least = rate * epoch.secs();
        drive(fixed_rate::FixedRate::new(config), least, &inputs);
    }

    #[test]
    fn gss_ga(
        (alpha_min, step_size, threshold) in (1.0..100.0f64, 1.0..100.0f64, 1.0..500.0f64),
        (gold, c, probe) in (1.0..3.0f64, 0.05..=0.5f64, 1.0..20.0f64),
        (skip, remeasure_after) in (0..3u32, 0..4u32),
        (ga, restart, hold_off) in (any::<bool>(), any::<bool>(), 0..8u32),
        inputs in inputs(),
    ) {
        let detector = change::Config { hold_off, ..Default::default() };
        let config = gss_ga::Config {
            alpha_min, step_size, threshold, gold, c, probe, skip, remeasure_after, ga, restart,
            detector, ..Default::default()
        };
        config.check().unwrap();
        drive(gss_ga::GssGa::new(config), alpha_min, &inputs);
    }

    #[test]
    fn close_probe(
        (alpha_min, step_size) in (1.0..100.0f64, 0.001..1000.0f64),
        (buffer_factor, increase_factor, beta) in (1.0..3.0f64, 1.001..3.0f64, 0.001..=1.0f64),
        (guard, relief) in (any::<bool>(), any::<bool>()),
        inputs in inputs(),
    ) {
        let config = close_probe::Config {
            alpha_min, step_size, buffer_factor, increase_factor, beta, guard, relief,
            ..Default::default()
        };
        config.check().unwrap();
        drive(close_probe::CloseProbe::new(config), alpha_min, &inputs);
    }

    #[test]
    fn tide(
        (g, gamma, w, v) in (0.001..=1.0f64, 0.0..1.0f64, 0.0..10.0f64, 0.0..10.0f64),
        (k0, above, alpha_min) in (0.0..1.0f64, 0.01..0.5f64, 0.001..1e4f64),
        (room, eligibility, epoch_ms) in (any::<bool>(), any::<bool>(), 1..3_600_000u64),
        inputs in inputs(),
    ) {
        let (k1, epoch) = ((k0 + above).min(1.01), Time::from_ms(epoch_ms));
        let config = tide::Config {
            g, gamma, w, v, k0, k1, room, eligibility, epoch, alpha_min: Setting::Is(alpha_min),
            // the least allowance is in connections
            admit: Who::Connections,
            ..Default::default()
        };
        config.check().unwrap();
        drive(tide::Tide::new(config), alpha_min * epoch.secs(), &inputs);
    }

    #[test]
    fn a_law_in_force_at_the_onset(wait_ms in 0..60_000u64, answers in any::<bool>(), inputs in inputs()) {
        let law = Box::new(tide::Tide::new(tide::Config::default()));
        drive(AtOnset::new(law, Time::from_ms(wait_ms), answers), 0.0, &inputs);
    }

    #[test]
    fn thresholds(threshold in 1e-9..=1.0f64, beta in 0.001..=1.0f64, inputs in inputs()) {
        let config = occupancy::Config { threshold, beta, ..Default::default() };
        config.check().unwrap();
        drive(occupancy::Occupancy::new(config), 0.0, &inputs);
        let config = loss_rate::Config { threshold, beta, ..Default::default() };
        config.check().unwrap();
        drive(loss_rate::LossRate::new(config), 0.0, &inputs);
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let refused = |result: Result<(), Refused>| {
        let (field, message) = result.unwrap_err();
        (field.into_owned(), message)
    };
    let epoch = Time::ZERO;
    for (field, message) in [
        refused(fixed_rate::Config { epoch, ..Default::default() }.check()),
        refused(gss_ga::Config { epoch, ..Default::default() }.check()),
        refused(close_probe::Config { epoch, ..Default::default() }.check()),
        refused(tide::Config { epoch, ..Default::default() }.check()),
        refused(occupancy::Config { epoch, ..Default::default() }.check()),
        refused(loss_rate::Config { epoch, ..Default::default() }.check()),
    ] {
        assert_eq!((field, message.contains("1ms to 1h")), ("epoch".to_owned(), true), "{message}");
    }
    let rate = Frequency::per_s(0.0);
    assert_eq!(refused(fixed_rate::Config { rate, ..Default::default() }.check()).0, "rate");
    let gss = |config: gss_ga::Config| refused(config.check()).0;
    assert_eq!(gss(gss_ga::Config { gold: 0.9, ..Default::default() }), "gold");
    assert_eq!(gss(gss_ga::Config { c: f64::NAN, ..Default::default() }), "c");
    let detector = change::Config { gain: 0.0, ..Default::default() };
    assert_eq!(gss(gss_ga::Config { detector, ..Default::default() }), "detector.gain");
    let tide = |config: tide::Config| refused(config.check()).0;
    assert_eq!(tide(tide::Config { k1: 0.75, ..Default::default() }), "k1");
    assert_eq!(tide(tide::Config { bypass: -0.1, ..Default::default() }), "bypass");
    let young = young::Config { cells: 0, ..Default::default() };
    assert_eq!(tide(tide::Config { young, ..Default::default() }), "young.cells");
    let cp = |config: close_probe::Config| refused(config.check());
    assert_eq!(cp(close_probe::Config { beta: 1.5, ..Default::default() }).0, "beta");
    let (field, message) = cp(close_probe::Config { alpha_min: 0.0, ..Default::default() });
    assert_eq!((field, message.contains("from 1 to")), ("alpha_min".to_owned(), true), "{message}");
    let threshold = 1.01;
    for (field, _) in [
        refused(occupancy::Config { threshold, ..Default::default() }.check()),
        refused(loss_rate::Config { threshold, ..Default::default() }.check()),
    ] {
        assert_eq!(field, "threshold");
    }
    // the defaults are in range
    assert_eq!(occupancy::Config::default().check(), Ok(()));
    assert_eq!(loss_rate::Config::default().check(), Ok(()));
    assert_eq!(fixed_rate::Config::default().check(), Ok(()));
    assert_eq!(gss_ga::Config::default().check(), Ok(()));
    assert_eq!(close_probe::Config::default().check(), Ok(()));
}
