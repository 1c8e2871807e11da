//! What changes while a scenario runs: courses of rates, sizes and losses, and what is refused.

use tidegate_core::units::{Rate, Time};
use tidegate_model::scenario::{Arrivals, FlowSize, LinkValue};

use crate::load::{BASE, TANDEM, loaded, refusal};

#[test]
fn pulses_return_and_changes_of_one_thing_follow_each_other() {
    let changes = r#"[
        { what = "link2.reverse.rate", at = "50s", pulse = "25s", to = "20kbit" },
        { what = "topology.tandem.link2.reverse.rate", at = "10s", to = "40kbit" },
        { what = "traffic.one.arrivals", at = "150s", pulse = "25s", to = "2/s" },
        { what = "traffic.one.arrivals.poisson", at = "100s", until = "150s", to = "1/s" },
        { what = "traffic.three.size.mean", at = "0s", to = "1kB" },
    ]"#;
    let scenario = loaded(TANDEM, &[("change", changes)]).unwrap();
    let port = scenario.network.ports.iter().position(|p| p.name == "link2.reverse").unwrap();
    let capacity: Vec<(f64, usize, LinkValue)> = scenario
        .changes
        .iter()
        .map(|change| (change.at.secs(), change.port as usize, change.to))
        .collect();
    let rate = |kbps: u64| LinkValue::Rate(Rate::from_bps(kbps * 1000));
    let wanted = [(10.0, port, rate(40)), (50.0, port, rate(20)), (75.0, port, rate(40))];
    assert_eq!(capacity, wanted);
    let Arrivals::Poisson { rate, .. } = &scenario.traffic[0].arrivals else { panic!() };
    let points: Vec<(f64, f64)> = rate.points.iter().map(|&(at, v)| (at.secs(), v)).collect();
    let wanted =
        [(0.0, 0.651), (100.0, 0.651), (150.0, 1.0), (150.0, 2.0), (175.0, 2.0), (175.0, 1.0)];
    assert_eq!(points, wanted);
    let FlowSize::Drawn { mean, .. } = &scenario.traffic[2].size else { panic!() };
    assert_eq!(mean.value(Time::ZERO), 1000.0);
}

#[test]
fn overlapping_changes_of_one_thing_are_refused_and_others_are_not() {
    let change = |what: &str, at: u32, until: u32| {
        format!("{{ what = \"{what}\", at = \"{at}s\", until = \"{until}s\", to = \"5Mbit\" }}")
    };
    let two = |a: String, b: String| loaded(BASE, &[("change", &format!("[{a}, {b}]"))]);
    let forward = || change("bottleneck.rate", 10, 20);
    let report = two(forward(), change("topology.dumbbell.bottleneck.rate", 19, 30)).unwrap_err();
    assert!(report.to_string().contains("begins at 10s and ends at 20s"), "{report}");
    two(forward(), change("bottleneck.rate", 20, 30)).unwrap();
    two(forward(), change("bottleneck.reverse.rate", 15, 30)).unwrap();
}

/// By hand: a share of a half from 10 s to 20 s, besides what the link loses by itself.
#[test]
fn the_loss_of_a_link_changes_in_steps_and_ramps() {
    let of = |to: &str| {
        format!("[{{ what = \"bottleneck.loss\", at = \"10s\", pulse = \"10s\", to = \"{to}\" }}]")
    };
    let scenario = loaded(BASE, &[("change", &of("0.5"))]).unwrap();
    let share = scenario.network.ports[0].impairments.loss.clone().unwrap();
    let at = |seconds| share.value(Time::from_secs(seconds));
    assert_eq!([0, 9, 10, 19, 20].map(at), [0.0, 0.0, 0.5, 0.5, 0.0]);
    assert!(refusal(BASE, &[("change", &of("5%"))]).contains("`5%` is no share"));
    let found = refusal(BASE, &[("change", &of("1.5"))]);
    assert!(found.contains("`change.0.to`: 1.5 is out of range"), "{found}");
}

/// A help names the range, and each of its ends is one that may be written.
#[test]
fn what_is_out_of_range_is_told_the_range() {
    let change =
        |what: &str, to: &str| format!("[{{ what = \"{what}\", at = \"10s\", to = \"{to}\" }}]");
    for (what, wrong, ends) in [
        ("bottleneck.loss", "50", ["0", "1"]),
        ("bottleneck.rate", "11Tbit", ["1bit", "10Tbit"]),
        ("bottleneck.delay", "2h", ["0s", "1h"]),
        ("traffic.web.size.mean", "0B", ["1B", "1000GB"]),
        ("traffic.web.arrivals", "2000000000/s", ["0/s", "1000000000/s"]),
    ] {
        let found = refusal(BASE, &[("change", &change(what, wrong))]);
        // what no rate or frequency can be is refused as it is read, by its upper end
        let range = format!("to {}", ends[1]);
        assert!(found.contains(wrong) && found.contains("is out of range"), "{found}");
        assert!(found.contains(&range), "no `{range}` in\n{found}");
        for end in ends {
            assert!(loaded(BASE, &[("change", &change(what, end))]).is_ok(), "{what} to {end}");
        }
    }
}
