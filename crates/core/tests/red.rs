//! RED against closed forms and hand calculations.

use tidegate_core::law::queue::red::{Config, Red};
use tidegate_core::law::queue::{ArrivalContext, Average, Discipline, Room, Sum};
use tidegate_core::law::settings::{Link, Setting};
use tidegate_core::law::{Reason, Verdict};
use tidegate_core::units::{Rate, Size, Time};

use crate::draws::{Always, Never, Uniform};

const EARLY: Verdict = Verdict::Drop(Reason::Early);

/// 500 B take 40 ms.
const SLOW: Link = Link { rate: Rate::from_bps(100_000), delay: Time::from_ms(20) };

fn waiting(packets: u32) -> ArrivalContext {
    ArrivalContext {
        now: Time::ZERO,
        queue: Sum { packets, bytes: u64::from(packets) * 500 },
        fits: true,
        idle: None,
        pace: SLOW.rate.pace(),
        room: Room { packets: u32::MAX, bytes: u64::MAX },
    }
}

/// The average as of the last arrival.
fn average(red: &Red) -> f64 {
    red.average(None, SLOW.rate.pace()).expect("RED keeps one")
}

/// Thresholds 10 and 20, `max_p` 0.2; the average is the queue itself.
fn config() -> Config {
    Config {
        min_th: Setting::Is(10.0),
        max_th: Setting::Is(20.0),
        max_p: 0.2,
        w: Setting::Is(1.0),
        ..Config::default()
    }
}

fn red(config: &Config) -> Red {
    config.check(SLOW).expect("the parameters are in range");
    Red::new(config, SLOW)
}

/// Distances between one early drop and the next, at a constant queue.
fn gaps(config: &Config, queue: u32, size: u16, drops: usize) -> Vec<u32> {
    let (mut red, mut draw) = (red(config), Uniform(7));
    let (mut gaps, mut gap) = (Vec::new(), 0);
    while gaps.len() <= drops {
        gap += 1;
        if red.meet(size, &waiting(queue), &mut draw) == EARLY {
            gaps.push(gap);
            gap = 0;
        }
    }
    // the first one counts from the start, not from a drop
    gaps.split_off(1)
}

fn close(measured: f64, expected: f64, relative: f64) {
    assert!(
        (measured - expected).abs() <= relative * expected,
        "measured {measured}, expected {expected}"
    );
}

/// features C3: after k arrivals that find q, the average is q (1 - (1-w)^k).
#[test]
fn the_average_follows_its_closed_form() {
    let mut average = Average::new(0.002);
    let mut remains = 1.0;
    for _ in 0..2000 {
        average.sample(50.0);
        remains *= 0.998;
        close(average.value(), 50.0 * (1.0 - remains), 1e-9);
    }
    // Floyd and Jacobson, on bursts: rising by one an arrival, the queue has the
    // average L + 1 + ((1-w)^(L+1) - 1)/w after L arrivals: 5.884 after 50 at w = 0.005
    let mut burst = Average::new(0.005);
    for queue in 1..=50 {
        burst.sample(f64::from(queue));
    }
    close(burst.value(), 5.884, 1e-4);
}

/// features C3: an idle time of m mean packets leaves (1-w)^m of the average.
#[test]
fn an_idle_link_lets_the_average_decay() {
    let config = Config { w: Setting::Is(0.1), ..config() };
    let mut red = red(&config);
    for _ in 0..100 {
        red.meet(500, &waiting(8), &mut Never);
    }
    let before = average(&red);
    // 0.3 s at 40 ms each: m = 7.5; 0.9^7 sqrt(0.9) = 0.453752
    let idle = ArrivalContext { idle: Some(Time::from_ms(300)), ..waiting(0) };
    close(red.average(idle.idle, idle.pace).expect("RED keeps one"), before * 0.453_752, 1e-5);
    assert_eq!(average(&red), before, "looking changes nothing");
    assert_eq!(red.meet(500, &idle, &mut Never), Verdict::Pass);
    close(average(&red), before * 0.453_752, 1e-5);
    // an empty queue behind a busy link is an ordinary sample
    red.meet(500, &waiting(0), &mut Never);
    close(average(&red), before * 0.453_752 * 0.9, 1e-5);
}

/// features C3: below min_th nothing is dropped, and no number is drawn.
#[test]
fn below_the_threshold_everything_passes() {
    let mut red = red(&config());
    for queue in (0..10).cycle().take(1000) {
        assert_eq!(red.meet(500, &waiting(queue), &mut Never), Verdict::Pass);
    }
}

/// Floyd and Jacobson 1993: p_b = max_p (avg - min)/(max - min); by hand for 10, 20 and 0.2.
#[test]
fn the_curve_is_linear_between_the_thresholds() {
    let red = red(&config());
    for (avg, expected) in [(9.99, 0.0), (10.0, 0.0), (12.5, 0.05), (15.0, 0.1), (19.0, 0.18)] {
        assert!((red.curve(avg) - expected).abs() < 1e-12, "{avg}: {}", red.curve(avg));
    }
}

/// features C4: max_p at max_th, 1 at twice max_th, linear between, never over 1;
/// plain RED drops everything from max_th on.
#[test]
fn gentle_red_rises_on_to_one() {
    let gentle = red(&config());
    for (avg, expected) in [(20.0, 0.2), (25.0, 0.4), (30.0, 0.6), (40.0, 1.0), (1e6, 1.0)] {
        assert!((gentle.curve(avg) - expected).abs() < 1e-12, "{avg}: {}", gentle.curve(avg));
    }
    let plain = red(&Config { gentle: false, ..config() });
    assert!(plain.curve(19.999) < 0.2);
    assert_eq!([plain.curve(20.0), plain.curve(30.0)], [1.0, 1.0]);
}

/// features C3: the share of drops at a constant average is that of the curve.
/// Floyd and Jacobson 1993: p_a = p/(1 - count p) makes the distance between two
/// drops uniform on 1 .. 1/p; here p = 0.1 (average 15), so 1 .. 10, each 1/10.
#[test]
fn drops_are_spread_evenly() {
    let gaps = gaps(&Config { wait: false, ..config() }, 15, 500, 20_000);
    assert_eq!(gaps.iter().max(), Some(&10));
    for gap in 1..=10 {
        let share = gaps.iter().filter(|&&other| other == gap).count() as f64 / 20_000.0;
        // 5 standard deviations of a share of 0.1 among 20000 are 0.0106
        assert!((share - 0.1).abs() < 0.0106, "{gap}: {share}");
    }
    // so the share of drops is 1/5.5; 5 standard deviations of the mean gap are 0.1
    let mean = f64::from(gaps.iter().sum::<u32>()) / 20_000.0;
    close(mean, 5.5, 0.02);
}

/// ns-2 with `wait_`: nothing for 1/p packets, then uniform, so on 1/p .. 2/p - 1: 10 .. 19.
#[test]
fn with_wait_drops_keep_their_distance() {
    let gaps = gaps(&config(), 15, 500, 20_000);
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&10), Some(&19)));
    for gap in 10..=19 {
        let share = gaps.iter().filter(|&&other| other == gap).count() as f64 / 20_000.0;
        assert!((share - 0.1).abs() < 0.0106, "{gap}: {share}");
    }
}

/// ns-2: an early drop leaves a queue of one packet alone, whatever the average.
#[test]
fn a_queue_of_one_packet_loses_nothing_early() {
    let config = Config { w: Setting::Is(0.001), gentle: false, ..config() };
    let mut red = red(&config);
    for _ in 0..5000 {
        red.meet(500, &waiting(100), &mut Always(0.0));
    }
    assert!(average(&red) > 90.0);
    assert_eq!(red.meet(500, &waiting(1), &mut Never), Verdict::Pass);
    assert_eq!(red.meet(500, &waiting(2), &mut Never), EARLY, "p is 1 beyond max_th");
}

/// ns-2: the first packet that finds the average above min_th is let through.
#[test]
fn the_first_packet_above_the_threshold_passes() {
    let mut red = red(&Config { wait: false, ..config() });
    let mut least = Always(0.0);
    assert_eq!(red.meet(500, &waiting(15), &mut Never), Verdict::Pass);
    assert_eq!(red.meet(500, &waiting(15), &mut least), EARLY);
    assert_eq!(red.meet(500, &waiting(9), &mut Never), Verdict::Pass);
    assert_eq!(red.meet(500, &waiting(15), &mut Never), Verdict::Pass, "above it again");
}

/// A full queue drops whatever the average, ECN or not, and the distance to the
/// next drop counts from there: at p = 0.1 with wait at least 10.
#[test]
fn a_full_queue_drops() {
    let mut red = red(&Config { ecn: true, ..config() });
    for _ in 0..9 {
        assert_eq!(red.meet(500, &waiting(15), &mut Never), Verdict::Pass);
    }
    let full = ArrivalContext { fits: false, ..waiting(15) };
    assert_eq!(red.meet(500, &full, &mut Never), Verdict::Drop(Reason::QueueFull));
    for _ in 0..9 {
        assert_eq!(red.meet(500, &waiting(15), &mut Never), Verdict::Pass);
    }
    assert_eq!(red.meet(500, &waiting(15), &mut Always(0.0)), Verdict::Mark(Reason::Early));
}

/// Byte mode: the queue is its bytes over the mean packet, and a packet's chance
/// is in proportion to its size. Twelve packets of 750 B wait with a mean of
/// 500 B: 18 mean packets, p = 0.16. Without wait a packet of 250 B has half the
/// chance of a mean one: 0.08 after a drop.
#[test]
fn byte_mode_measures_and_weighs_by_size() {
    let config = Config { bytes: true, wait: false, ..config() };
    let found = ArrivalContext { queue: Sum { packets: 12, bytes: 9000 }, ..waiting(12) };
    let after_a_drop = |size: u16, number: f64| {
        let mut red = red(&config);
        red.meet(500, &found, &mut Never);
        assert_eq!(red.meet(500, &found, &mut Always(0.0)), EARLY);
        assert_eq!(average(&red), 18.0);
        red.meet(size, &found, &mut Always(number))
    };
    assert_eq!(after_a_drop(250, 0.0799), EARLY);
    assert_eq!(after_a_drop(250, 0.0801), Verdict::Pass);
    assert_eq!(after_a_drop(500, 0.1599), EARLY);
    assert_eq!(after_a_drop(500, 0.1601), Verdict::Pass);
    // with wait half packets count half: p = 0.1 at 15 mean packets, so at least 20 of them
    let gaps = gaps(&Config { bytes: true, ..self::config() }, 15, 250, 2000);
    assert_eq!(gaps.iter().min(), Some(&20));
}

/// ns-2's automatic parameters by hand. 0.1 Mbit/s, 20 ms, 500 B (scenario of the
/// paper on DQM): ptc 25/s, rtt = 3 (0.02 + 0.04) = 0.18 s, w = 1 - exp(-1/45) = 0.021977;
/// 0.005 x 25/2 = 0.06, so 5 and 15. 10 Mbit/s, 98 ms: ptc 2500/s, rtt = 0.2952 s,
/// w = 1 - exp(-1/7380) = 1.35493e-4; 6.25 and 18.75. 1 ms instead: rtt is 0.1 s at least,
/// w = 1 - exp(-1/2500) = 3.9992e-4.
#[test]
fn automatic_parameters_are_those_of_ns2() {
    let fast = |delay| Link { rate: Rate::from_bps(10_000_000), delay };
    let cases = [
        (SLOW, 5.0, 15.0, 0.021_977),
        (fast(Time::from_ms(98)), 6.25, 18.75, 1.354_93e-4),
        (fast(Time::from_ms(1)), 6.25, 18.75, 3.9992e-4),
    ];
    for (link, min_th, max_th, w) in cases {
        let found = Config::default().at(link);
        close(found.0, min_th, 1e-9);
        close(found.1, max_th, 1e-9);
        close(found.2, w, 2e-5);
    }
    let half = Config { min_th: Setting::Is(7.0), ..Config::default() };
    assert_eq!(half.at(SLOW).1, 21.0, "max_th follows the min_th that is set");
}

/// A parameter out of range is refused by its name.
#[test]
fn parameters_out_of_range_are_refused() {
    let cases = [
        ("min_th", Config { min_th: Setting::Is(-1.0), ..Config::default() }),
        ("max_th", Config { max_th: Setting::Is(5.0), ..Config::default() }),
        ("min_th", Config { min_th: Setting::Is(0.0), ..Config::default() }),
        ("max_p", Config { max_p: 1.1, ..Config::default() }),
        ("max_p", Config { max_p: 0.0, ..Config::default() }),
        ("w", Config { w: Setting::Is(0.0), ..Config::default() }),
        ("w", Config { w: Setting::Is(f64::NAN), ..Config::default() }),
        ("mean_packet", Config { mean_packet: Size::from_bytes(0), ..Config::default() }),
    ];
    for (field, config) in cases {
        assert_eq!(config.check(SLOW).map_err(|(field, _)| field), Err(field.into()), "{config:?}");
    }
    assert_eq!(Config::default().check(SLOW), Ok(()));
}
