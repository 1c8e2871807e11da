//! Traffic draws against closed forms.
//!
//! Every bound is three standard deviations of the estimate, worked out from
//! the distribution; the seed is fixed, so a run passes always or never.

use std::collections::BTreeMap;

use tidegate_core::units::Time;
use tidegate_model::draw::{ClassDraws, FlowDraw, stream};
use tidegate_model::scenario::{Arrivals, Class, Course, FlowSize, Shape};
use tidegate_model::{Setting, Source, load};

const SEED: u64 = 1;

const DOCUMENT: &str = r#"
name = "one class"
duration = "300s"
[topology.dumbbell]
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "98ms" }
[traffic.web]
arrivals = { poisson = "1000/s" }
size = "10kB"
"#;

/// The classes of the document with some settings.
fn classes(set: &[(&str, &str)]) -> Vec<Class> {
    let set: Vec<Setting<'_>> = set.iter().map(|&(key, value)| Setting { key, value }).collect();
    let source = Source { name: "t", text: DOCUMENT };
    load(source, &set, &BTreeMap::new()).unwrap().traffic
}

fn class(set: &[(&str, &str)]) -> Class {
    classes(set).remove(0)
}

fn flows(class: &Class, seed: u64, number: usize) -> Vec<FlowDraw> {
    let mut draws = ClassDraws::new(seed, class);
    std::iter::from_fn(|| draws.next_flow()).take(number).collect()
}

fn sizes(size: &str, number: usize) -> Vec<f64> {
    let class = class(&[("traffic.web.size", size)]);
    flows(&class, SEED, number).iter().map(|flow| flow.size.unwrap() as f64).collect()
}

fn starts(arrivals: Arrivals, until: Time) -> Vec<f64> {
    let class = Class { arrivals, ..class(&[]) };
    let mut draws = ClassDraws::new(SEED, &class);
    let starts = std::iter::from_fn(|| draws.next_flow()).map(|flow| flow.start);
    starts.take_while(|start| *start <= until).map(Time::secs).collect()
}

fn course(points: &[(u64, f64)]) -> Course {
    Course { points: points.iter().map(|&(at, v)| (Time::from_secs(at), v)).collect() }
}

fn poisson(points: &[(u64, f64)]) -> Arrivals {
    Arrivals::Poisson { rate: course(points), start: Time::ZERO, stop: Time::NEVER }
}

#[track_caller]
fn close(found: f64, wanted: f64, sigma: f64) {
    let away = (found - wanted).abs() / sigma;
    assert!(away < 3.0, "{found} is {away:.1} standard deviations from {wanted}");
}

/// The share of `sizes` up to `limit`, against its probability.
#[track_caller]
fn share(sizes: &[f64], limit: f64, probability: f64) {
    let number = sizes.len() as f64;
    let below = sizes.iter().filter(|size| **size <= limit).count() as f64;
    close(below / number, probability, (probability * (1.0 - probability) / number).sqrt());
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

const N: usize = 200_000;

/// features C10: Pareto with mean 10 kB and shape 1.5: scale 10/3 kB, P(X > x) = (scale/x)^1.5.
#[test]
fn pareto_sizes_have_the_closed_form_shares_and_tail() {
    let drawn = sizes("{ pareto = { mean = \"10kB\", shape = 1.5 } }", N);
    share(&drawn, 10_000.0, 0.80755);
    share(&drawn, 100_000.0, 1.0 - 0.0060858);
    share(&drawn, 1_000_000.0, 1.0 - 0.00019245);
    let least = drawn.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((3334.0..3340.0).contains(&least), "{least}");
    // with shape 3 there is a variance: scale^2 x 3/4, scale = 2/3 of the mean
    let drawn = sizes("{ pareto = { mean = \"10kB\", shape = 3 } }", N);
    close(mean(&drawn), 10_000.5, 5773.5 / (N as f64).sqrt());
}

/// Sizes are rounded up to whole bytes, half a byte on average.
#[test]
fn exponential_and_lognormal_sizes_have_their_means_and_shares() {
    let drawn = sizes("{ exponential = { mean = \"10kB\" } }", N);
    close(mean(&drawn), 10_000.5, 10_000.0 / (N as f64).sqrt());
    share(&drawn, 10_000.0, 1.0 - 0.367_879);
    share(&drawn, 50_000.0, 1.0 - 0.006_738);
    let drawn = sizes("{ lognormal = { mean = \"10kB\", sigma = 1 } }", N);
    // variance e - 1 for a mean of 1; P(X <= mean) = Phi(1/2), P(X <= e mean) = Phi(3/2)
    close(mean(&drawn), 10_000.5, 13_108.0 / (N as f64).sqrt());
    share(&drawn, 10_000.0, 0.691_462);
    share(&drawn, 27_182.8, 0.933_193);
}

#[test]
fn constant_sizes_are_exact_and_follow_a_ramp() {
    assert!(sizes("4001B", 1000).iter().all(|size| *size == 4001.0));
    let ramp = r#"[{ what = "traffic.web.size.mean", at = "100s", until = "200s", to = "8000B" }]"#;
    let set = [
        ("traffic.web.size", "4000B"),
        ("traffic.web.arrivals", "{ every = \"50s\" }"),
        ("change", ramp),
    ];
    let sizes: Vec<_> =
        flows(&class(&set), SEED, 6).iter().map(|flow| flow.size.unwrap()).collect();
    assert_eq!(sizes, [4000, 4000, 4000, 6000, 8000, 8000]);
}

/// A quarter at 100 B, half evenly between 100 B and 300 B, a quarter at 300 B.
#[test]
fn empirical_sizes_follow_the_distribution_function() {
    let text = "100 0.25\n300 0.75\n300 1\n";
    let set = [Setting { key: "traffic.web.size", value: r#"{ empirical = { file = "f" } }"# }];
    let files = BTreeMap::from([("f".to_owned(), text.as_bytes().to_vec())]);
    let source = Source { name: "t", text: DOCUMENT };
    let class = load(source, &set, &files).unwrap().traffic.remove(0);
    let drawn: Vec<f64> =
        flows(&class, SEED, N).iter().map(|flow| flow.size.unwrap() as f64).collect();
    share(&drawn, 100.0, 0.25);
    share(&drawn, 200.0, 0.5);
    share(&drawn, 299.0, 0.7475);
    assert!(drawn.iter().all(|size| (100.0..=300.0).contains(size)));
}

/// features C10: 1000/s over 200 s, and counts that scatter as those of a Poisson process do.
#[test]
fn a_poisson_process_has_its_rate_and_its_dispersion() {
    let starts = starts(poisson(&[(0, 1000.0)]), Time::from_secs(200));
    close(starts.len() as f64, 200_000.0, 200_000f64.sqrt());
    let mut counts = vec![0.0; 200];
    for start in &starts {
        counts[(*start as usize).min(199)] += 1.0;
    }
    // variance over mean of Poisson counts is 1, its estimate's deviation sqrt(2/(n-1))
    let average = mean(&counts);
    let spread: f64 =
        counts.iter().map(|count| (count - average) * (count - average)).sum::<f64>() / 199.0;
    close(spread / average, 1.0, (2.0f64 / 199.0).sqrt());
}

/// 100/s, from 100 s to 200 s rising to 1000/s, from 300 s on none, from 310 s on 500/s.
#[test]
fn a_poisson_process_follows_ramps_and_steps() {
    let points = [
        (0, 100.0),
        (100, 100.0),
        (200, 1000.0),
        (300, 1000.0),
        (300, 0.0),
        (310, 0.0),
        (310, 500.0),
    ];
    let starts = starts(poisson(&points), Time::from_secs(400));
    let count = |from: f64, to: f64| {
        starts.iter().filter(|start| (from..to).contains(*start)).count() as f64
    };
    for (from, to, flows) in [
        (0.0, 100.0, 10_000.0),
        // the first half of the ramp: 50 s at (100 + 550)/2
        (100.0, 150.0, 16_250.0),
        (150.0, 200.0, 38_750.0),
        (200.0, 300.0, 100_000.0),
        (310.0, 400.0, 45_000.0),
    ] {
        close(count(from, to), flows, f64::sqrt(flows));
    }
    assert_eq!(count(300.0, 310.0), 0.0);
    assert!(starts.is_sorted());
}

#[test]
fn a_process_that_dies_out_ends() {
    let starts = starts(poisson(&[(0, 10.0), (10, 10.0), (20, 0.0)]), Time::NEVER);
    // 100 + 50
    close(starts.len() as f64, 150.0, 150f64.sqrt());
    assert!(starts.iter().all(|start| *start <= 20.0));
}

#[test]
fn regular_arrivals_are_exact_and_follow_a_ramp() {
    let set = [("traffic.web.arrivals", "{ every = \"10ms\", start = \"1s\", stop = \"101s\" }")];
    let drawn = flows(&class(&set), SEED, usize::MAX);
    assert_eq!(drawn.len(), 10_001);
    for (number, flow) in drawn.iter().enumerate() {
        assert_eq!(flow.start, Time::from_ms(1000 + 10 * number as u64));
    }
    // the rate t per second makes t^2/2 flows: number k starts at sqrt(2 k)
    let every = Arrivals::Every {
        rate: course(&[(0, 0.0), (100, 100.0)]),
        start: Time::ZERO,
        stop: Time::NEVER,
    };
    let starts = starts(every, Time::from_secs(100));
    assert_eq!(starts.len(), 5001);
    for (number, start) in starts.iter().enumerate() {
        assert!((start - (2.0 * number as f64).sqrt()).abs() < 1e-11, "{number}: {start}");
    }
}

#[test]
fn poisson_arrivals_keep_to_start_and_stop() {
    let set =
        [("traffic.web.arrivals", "{ poisson = \"1000/s\", start = \"50s\", stop = \"60s\" }")];
    let drawn = flows(&class(&set), SEED, usize::MAX);
    close(drawn.len() as f64, 10_000.0, 100.0);
    let inside = Time::from_secs(50)..=Time::from_secs(60);
    assert!(drawn.iter().all(|flow| inside.contains(&flow.start)));
}

#[test]
fn listed_arrivals_are_sorted_and_uniform_ones_spread_evenly() {
    let set = [("traffic.web.arrivals", "{ at = [\"3s\", \"1s\", \"2s\"] }")];
    let drawn: Vec<f64> =
        flows(&class(&set), SEED, 9).iter().map(|flow| flow.start.secs()).collect();
    assert_eq!(drawn, [1.0, 2.0, 3.0]);
    let set = [("traffic.web.arrivals", "{ uniform = 100000, within = \"10s\" }")];
    let drawn: Vec<f64> =
        flows(&class(&set), SEED, usize::MAX).iter().map(|flow| flow.start.secs()).collect();
    assert_eq!(drawn.len(), 100_000);
    assert!(drawn.is_sorted());
    for quarter in [2.5, 5.0, 7.5] {
        share(&drawn, quarter, quarter / 10.0);
    }
    let last = drawn.last().unwrap();
    assert!((9.99..=10.0).contains(last), "{last}");
}

#[test]
fn pairs_and_opacity_are_drawn_evenly() {
    let class = class(&[("traffic.web.opaque_share", "0.3")]);
    let drawn = flows(&class, SEED, N);
    let number = N as f64;
    for pair in 0..10 {
        let count = drawn.iter().filter(|flow| flow.pair == pair).count() as f64;
        close(count, number / 10.0, (number * 0.09).sqrt());
    }
    let opaque = drawn.iter().filter(|flow| flow.opaque).count() as f64;
    close(opaque, number * 0.3, (number * 0.21).sqrt());
}

/// What control is tried, and what other classes there are, changes nothing.
#[test]
fn a_class_has_the_same_flows_whatever_else_is_in_the_scenario() {
    let pareto = ("traffic.web.size", "{ pareto = { mean = \"10kB\", shape = 1.5 } }");
    let alone = flows(&class(&[pareto]), SEED, 1000);
    let other = ("traffic.a", "{ arrivals = { poisson = \"10/s\" }, size = \"1kB\" }");
    let gate = ("port.bottleneck.gate", "{ law = \"gss-ga\" }");
    let among = classes(&[pareto, other, gate]);
    let web = among.iter().find(|class| class.name == "web").unwrap();
    assert_eq!(flows(web, SEED, 1000), alone);
    assert_ne!(flows(web, SEED + 1, 1000), alone);
    let named = Class { name: "wob".to_owned(), ..web.clone() };
    assert_ne!(flows(&named, SEED, 1000), alone);
}

/// Purposes have streams of their own: sizes do not depend on the arrivals.
#[test]
fn sizes_stay_when_arrivals_change_and_the_reverse() {
    let pareto = ("traffic.web.size", "{ pareto = { mean = \"10kB\", shape = 1.5 } }");
    let slow = ("traffic.web.arrivals", "{ every = \"1s\" }");
    let size = |set: &[(&str, &str)]| -> Vec<_> {
        flows(&class(set), SEED, 100).iter().map(|flow| flow.size).collect()
    };
    assert_eq!(size(&[pareto]), size(&[pareto, slow]));
    let start = |set: &[(&str, &str)]| -> Vec<_> {
        flows(&class(set), SEED, 100).iter().map(|flow| flow.start).collect()
    };
    assert_eq!(start(&[pareto]), start(&[]));
}

#[test]
fn streams_of_different_names_or_purposes_are_unrelated() {
    let draw = |seed, name, purpose| {
        let mut stream = stream(seed, name, purpose);
        let mut draws = [0u64; 4];
        draws.fill_with(|| rand::Rng::next_u64(&mut stream));
        draws
    };
    let all = [
        draw(1, "web", "size"),
        draw(2, "web", "size"),
        draw(1, "web", "pair"),
        draw(1, "webs", "ize"),
        draw(1, "", "websize"),
        draw(1, "web\0", "size"),
        draw(0, "web", "size"),
    ];
    for (number, one) in all.iter().enumerate() {
        assert_eq!(all.iter().position(|other| other == one), Some(number));
    }
    assert_eq!(draw(1, "web", "size"), all[0]);
}

#[test]
fn shapes_of_mean_one_keep_huge_draws_in_range() {
    let endless = Class { size: FlowSize::Unlimited { stop: Time::NEVER }, ..class(&[]) };
    assert_eq!(flows(&endless, SEED, 1)[0].size, None);
    let wild = FlowSize::Drawn { shape: Shape::Pareto(1.0001), mean: Course::constant(1e12) };
    let wild = Class { size: wild, ..class(&[]) };
    assert!(
        flows(&wild, SEED, N)
            .iter()
            .all(|flow| (1..=1_000_000_000_000).contains(&flow.size.unwrap()))
    );
}

#[test]
fn a_course_is_linear_between_its_points_and_steps_to_the_later_value() {
    let at = Time::from_secs;
    let course = Course { points: vec![(at(10), 1.0), (at(20), 3.0), (at(20), 7.0)] };
    assert_eq!(course.value(Time::ZERO), 1.0);
    assert_eq!(course.value(at(15)), 2.0);
    assert_eq!(course.value(at(20)), 7.0);
    assert_eq!(course.value(at(99)), 7.0);
}
