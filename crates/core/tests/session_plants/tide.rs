//! Tide: worked epochs, its golden vectors, and its datapath packet by packet.

use tidegate_core::law::session::clients::Who;
use tidegate_core::law::session::eligibility::Window;
use tidegate_core::law::session::tide::{Config, Tide};
use tidegate_core::law::session::young::{self, Young};
use tidegate_core::law::session::{Admission, Admit, Counts, Knobs, Limiter};
use tidegate_core::law::settings::Setting;
use tidegate_core::law::{Counted, Datapath, Moment, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Rate, Time};

use super::golden::{number, packet, rows};
use super::rig::Rig;

#[test]
fn golden_epochs() {
    let config = Config { g: 0.25, ..per_second() };
    let mut rig = Rig::new(Tide::new(config));
    let mut replayed = 0;
    for row in rows(include_str!("../golden/tide.csv")) {
        let at = |place: usize| number(row[place]);
        let allowed = |rig: &Rig| rig.allowance().map_or("all".to_owned(), |n| n.to_string());
        assert_eq!(allowed(&rig), row[1], "{row:?}");
        let counts = Counts {
            arrived: at(2),
            admitted: at(3),
            departed: at(4),
            eligible: at(5),
            lost_openers: at(6),
            bytes: at(7),
            young_bytes: at(8),
            ..Counts::default()
        };
        (rig.queue_offered, rig.queue_drops) = (at(9), at(10));
        (rig.busy, rig.min_queue_packets) = (Time::from_ms(at(11)), at(12) as u32);
        let decision = rig.tick(Some(counts)).decision;
        assert_eq!((allowed(&rig).as_str(), decision.phase), (row[13], row[14]), "{row:?}");
        // a power is not the same to the last bit in every language
        let shut = u64::from(rig.knobs.shut >> 16);
        assert!(shut.abs_diff(at(15)) <= 1, "{shut} {row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, 140);
}

/// Epochs of a second, at least five sessions in each, and connections that are judged one by one,
/// as the worked examples count.
fn per_second() -> Config {
    let (epoch, alpha_min) = (Time::from_secs(1), Setting::Is(5.0));
    Config { epoch, alpha_min, admit: Who::Connections, ..Config::default() }
}

fn young_for(packets: u32) -> young::Config {
    young::Config { packets: Setting::Is(packets.into()), ..young::Config::default() }
}

/// 255 packets of 1500 B are 0.306 s of 10 Mbit/s: so many up to there, and 1275 at 50 Mbit/s.
#[test]
fn a_session_takes_the_same_time_of_any_fast_link() {
    let auto = young::Config::default();
    for (mbit, packets) in [(1, 255), (10, 255), (50, 1275), (1000, 25_500)] {
        let here = auto.at(Rate::from_bps(mbit * 1_000_000));
        assert_eq!(here.packets, Setting::Is(f64::from(packets)), "{mbit} Mbit/s");
    }
    assert_eq!(young_for(9).at(Rate::from_bps(1_000_000_000)), young_for(9));
}

/// Nothing is smoothed: each epoch by itself.
fn at_once() -> Rig {
    Rig::new(Tide::new(Config { g: 1.0, ..per_second() }))
}

/// What one epoch was like, in the words of the law.
struct Seen {
    admitted: u64,
    ended: u64,
    share: u64,
    busy_ms: u64,
    lost: u64,
    waiting: u32,
}

fn show(rig: &mut Rig, seen: &Seen) -> (&'static str, f64) {
    let Seen { admitted, ended, share, .. } = *seen;
    let counts = Counts {
        arrived: 1000,
        admitted,
        departed: ended,
        eligible: 1000,
        bytes: 1000,
        young_bytes: share,
        ..Counts::default()
    };
    (rig.queue_offered, rig.queue_drops) = (100, seen.lost);
    (rig.busy, rig.min_queue_packets) = (Time::from_ms(seen.busy_ms), seen.waiting);
    let decision = rig.tick(Some(counts)).decision;
    (decision.phase, decision.set)
}

fn close_to(found: (&'static str, f64), phase: &str, set: f64) {
    assert_eq!(found.0, phase);
    assert!((found.1 - set).abs() < 1e-9 || found.1 == set, "{} for {set}", found.1);
}

/// Each branch, by hand from the equations.
#[test]
fn each_branch() {
    let mut rig = at_once();
    let seen = |admitted, ended, share, busy_ms, lost, waiting| Seen {
        admitted,
        ended,
        share,
        busy_ms,
        lost,
        waiting,
    };
    // never closed for what long flows fill, and not while it idles more than it loses
    close_to(show(&mut rig, &seen(100, 60, 750, 1000, 50, 9)), "open", f64::INFINITY);
    close_to(show(&mut rig, &seen(100, 60, 1000, 799, 10, 0)), "open", f64::INFINITY);
    // 2 x 0.10 > 1 - 0.9: min(100, 60)
    close_to(show(&mut rig, &seen(100, 60, 1000, 900, 10, 0)), "close", 60.0);
    // s 0.825: sigma 0.5; m = 60 - 0.5 x 10; 55 x 1.1 x (1 - 2 x 0.1 x 0.5)
    close_to(show(&mut rig, &seen(60, 50, 825, 1000, 10, 1)), "saturated", 54.45);
    // s 0.3: sigma 0, room 2.5: neither completions nor loss count
    close_to(show(&mut rig, &seen(54, 10, 300, 1000, 50, 1)), "saturated", 135.0);
    // the same with idle time: 90 / 0.9 x 2.5
    close_to(show(&mut rig, &seen(90, 10, 300, 900, 50, 0)), "spare", 250.0);
    // sessions alone, and the loss taken off: 90 / 0.9 x (1 - 0.05)
    close_to(show(&mut rig, &seen(90, 80, 1000, 900, 5, 0)), "spare", 95.0);
    // no loss halves more than once: 100 x 1.1 x 1/2
    close_to(show(&mut rig, &seen(100, 100, 1000, 1000, 90, 1)), "saturated", 55.0);
    // sessions that do not end bring it down to the least
    close_to(show(&mut rig, &seen(100, 0, 1000, 1000, 0, 1)), "saturated", 5.0);
    // an idle link: nobody came, nothing is known
    close_to(show(&mut rig, &seen(0, 0, 0, 0, 0, 0)), "spare", 5.0);
    // the busy share is taken to be 2 % at least: 30 / 0.02
    close_to(show(&mut rig, &seen(30, 30, 1000, 1, 0, 0)), "spare", 1500.0);
}

/// A link of 10 Mbit/s carries 833.3 full packets a second, so 3.27 sessions of 255 packets, and
/// 0.204 of 4080. It carries 8.3 of 100 packets, and then the least is 5.
#[test]
fn the_least_allowance_follows_from_the_link() {
    for (packets, least) in [(255, 10e6 / 8.0 / 1500.0 / 255.0), (4080, 0.204_248), (100, 5.0)] {
        let young = young_for(packets);
        let epoch = Time::from_secs(1);
        let config = Config { epoch, g: 1.0, young, ..per_second() };
        let config = Config { alpha_min: Setting::Auto, ..config };
        let mut rig = Rig::new(Tide::new(config));
        let stuck =
            Seen { admitted: 100, ended: 0, share: 1000, busy_ms: 1000, lost: 0, waiting: 1 };
        let (_, set) = show(&mut rig, &stuck);
        assert!((set - least).abs() < 1e-6, "{packets}: {set}");
    }
}

/// The memory spans four sessions: with two allowed in an epoch the newest has a weight of 2/4,
/// with one 1/4; with 0.04 it would be 0.01, and is 0.02. By hand from the equations of a link with
/// idle time: the allowance is f_A / f_u, and the filters begin with the epoch that closed the gate.
/// By visits it spans six times as many connections, so with six times the numbers it is the same.
#[test]
fn where_few_are_admitted_the_memory_is_longer() {
    for (admit, times) in [(Who::Connections, 1), (Who::Visits, 6)] {
        let one = times as f64;
        let alpha_min = Setting::Is(0.04 * one);
        let config = Config { g: 1.0, alpha_min, admit, ..per_second() };
        let mut rig = Rig::new(Tide::new(config));
        let seen = |sessions: u64, busy_ms, waiting| Seen {
            admitted: times * sessions,
            ended: times * sessions,
            share: 1000,
            busy_ms,
            lost: 0,
            waiting,
        };
        close_to(show(&mut rig, &seen(2, 1000, 1)), "close", 2.0 * one);
        // f_A = 2 + 1/2 (0 - 2) = 1, f_u = 1 + 1/2 (0.5 - 1) = 0.75
        close_to(show(&mut rig, &seen(0, 500, 0)), "spare", one / 0.75);
        // weight 1/3: f_A = 1 + (4 - 1) / 3 = 2, f_u = 0.75 + (0.75 - 0.75) / 3
        close_to(show(&mut rig, &seen(4, 750, 0)), "spare", 2.0 * one / 0.75);
        // full, and nobody ends; weight 2/3: f_A = 2 - 4/3, and so is f_d (2, 1, 2 before), times 1.1
        close_to(show(&mut rig, &seen(0, 1000, 1)), "saturated", 1.1 * 2.0 / 3.0 * one);
        for _ in 0..200 {
            show(&mut rig, &seen(0, 1000, 1));
        }
        // 0.04 / 4 = 0.01 is less than the least weight: f_A = 0 + 0.02 x 10, f_u = 1
        let (phase, set) = show(&mut rig, &seen(10, 1000, 0));
        assert_eq!(phase, "spare");
        assert!((set / one - 0.2).abs() < 0.01, "{admit:?}: {set}");
    }
}

#[test]
fn without_its_parts() {
    let config = Config { g: 1.0, room: false, eligibility: false, ..per_second() };
    let mut rig = Rig::new(Tide::new(config));
    let long = |share| Seen { admitted: 50, ended: 50, share, busy_ms: 1000, lost: 0, waiting: 1 };
    close_to(show(&mut rig, &long(1000)), "close", 50.0);
    // no room: 50 x 1.1, whatever long flows have
    close_to(show(&mut rig, &long(300)), "saturated", 55.0);
    assert_eq!(rig.knobs.shut, 0);
}

fn replay_packets(text: &str, mut admit: Admit, expected_rows: usize) {
    let (mut knobs, mut counts) = (Knobs::default(), Counts::default());
    let mut told = Counts::default();
    let mut replayed = 0;
    for row in rows(text) {
        let [time, event, flow, value, verdict, expected @ ..] = &row[..] else {
            panic!("too few fields: {row:?}");
        };
        let now = Time::from_ns(number(time));
        let mut sent = Packet::default();
        if !flow.is_empty() {
            sent = Packet { flow: number(flow) as u32, ..packet(value) };
            sent.size = if sent.flags.has(Flags::DATA) { 1000 } else { 40 };
        }
        let mut shown = None;
        match *event {
            "allow" => knobs.allow(number(value), Time::from_secs(1)),
            "open" => knobs.open(),
            "shut" => (knobs.shut, knobs.bypass) = (number(value) as u32, 58_982),
            "epoch" => {
                shown = Some(counts.since(&told));
                told = counts;
                admit.renewed(&Moment { now, queue_bytes: 0 }, &knobs, &mut counts);
            }
            "queued" => admit.enqueued(&sent, &mut counts),
            "lost" => admit.dropped(&sent, &mut counts),
            "arrive" => {
                let passed = admit.admit(&sent, now, &knobs, &mut counts) == Verdict::Pass;
                assert_eq!(if passed { "pass" } else { "drop" }, *verdict, "{row:?}");
            }
            _ => panic!("`{event}` is no event"),
        }
        let seen = shown.unwrap_or_else(|| counts.since(&told));
        let found = [
            seen.arrived,
            seen.admitted,
            seen.departed,
            seen.eligible,
            seen.lost_openers,
            seen.bytes,
            seen.young_bytes,
        ];
        let said: Vec<u64> = expected.iter().map(|field| number(field)).collect();
        assert_eq!(found[..], said, "{row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, expected_rows);
}

#[test]
fn golden_packets() {
    let rules = Admission {
        limiter: Limiter::SavingBucket,
        hashed: true,
        young: Some(young_for(2)),
        ..Admission::default()
    };
    let text = include_str!("../golden/admit_saving_bucket.csv");
    replay_packets(text, Admit::new(rules), 33);
}

/// By hand: a quarter of the hashes from 2^31 on, and one that wraps around.
#[test]
fn the_window_of_eligible_flows() {
    let window = |shut: u32, phase: u32| Knobs { shut, phase, ..Knobs::default() };
    let quarter = window(3 << 30, 1 << 31);
    for (hash, eligible) in [
        ((1 << 31) - 1, false),
        (1 << 31, true),
        ((1 << 31) + (1 << 30) - 1, true),
        ((1 << 31) + (1 << 30), false),
        (0, false),
    ] {
        assert_eq!(quarter.eligible(hash), eligible, "{hash:#x}");
    }
    let around = window(1 << 31, 3 << 30);
    assert!(around.eligible(u32::MAX) && around.eligible(0) && around.eligible((1 << 30) - 1));
    assert!(!around.eligible(1 << 30) && !around.eligible((3 << 30) - 1));
    assert!(window(0, 17).eligible(5), "nobody is shut out");
}

/// After an hour the window has moved by the golden section, 0.618 x 2^32; after two by 0.236.
#[test]
fn the_window_moves_once_an_hour() {
    let phase_at = |seconds: u64| {
        let mut knobs = Knobs::default();
        Window::default().set(0.9, Time::from_secs(seconds), &mut knobs);
        f64::from(knobs.phase) / 4_294_967_296.0
    };
    for (seconds, phase) in [(0, 0.0), (3599, 0.0), (3600, 0.618_034), (7200, 0.236_068)] {
        assert!((phase_at(seconds) - phase).abs() < 1e-6, "{seconds}: {}", phase_at(seconds));
    }
}

/// A try after a refusal is judged as the first was; the next owner of a slot anew.
#[test]
fn the_same_sessions_wait() {
    let rules = Admission { hashed: true, ..Admission::default() };
    let mut admit = Admit::new(rules);
    let mut knobs = Knobs::default();
    knobs.allow(u64::MAX, Time::from_secs(1));
    knobs.shut = 1 << 31;
    let mut passes = |flow: u32, generation: u16| {
        let syn = Packet { flow, generation, flags: Flags::SYN, ..Packet::default() };
        admit.admit(&syn, Time::ZERO, &knobs, &mut Counts::default()) == Verdict::Pass
    };
    let first: Vec<bool> = (0..1000).map(|flow| passes(flow, 0)).collect();
    let again: Vec<bool> = (0..1000).map(|flow| passes(flow, 0)).collect();
    assert_eq!(first, again);
    let half = first.iter().filter(|passed| **passed).count();
    // five standard deviations of a fair coin: 5 x sqrt(1000) / 2 = 79
    assert!(half.abs_diff(500) < 79, "{half}");
    let later = (0..1000).filter(|&flow| passes(flow, 1) == first[flow as usize]).count();
    assert!(later.abs_diff(500) < 79, "{later}");
}

/// One flow in four is watched: a quarter of the bytes, the share as it is.
#[test]
fn a_sample_of_the_flows_has_the_same_share() {
    let young = young::Config { sample: 4, ..young::Config::default() };
    let mut admit = Admit::new(Admission { young: Some(young), ..Admission::default() });
    let (mut knobs, mut counts) = (Knobs::default(), Counts::default());
    knobs.open();
    let of = |flow: u32, flags| Packet { flow, flags, size: 1000, ..Packet::default() };
    for flow in 0..4000 {
        if flow % 2 == 0 {
            admit.admit(&of(flow, Flags::SYN), Time::ZERO, &knobs, &mut counts);
        }
        admit.enqueued(&of(flow, Flags::DATA), &mut counts);
    }
    // binomial, five standard deviations: 5 x sqrt(4000 x 3/16) = 137 flows
    assert!((counts.bytes / 1000).abs_diff(1000) < 137, "{}", counts.bytes);
    let share = counts.young_bytes as f64 / counts.bytes as f64;
    assert!((share - 0.5).abs() < 5.0 * 0.5 / 1000f64.sqrt(), "{share}");
}

/// Young for 4080 packets: one in 16 is counted, 255 times, behind the first two. Two flows that
/// take turns are counted alike. Five standard deviations of a draw by chance are 5 x sqrt(253 x 16
/// x 15) = 1232 packets; the fixed sequence is within a tenth of that.
#[test]
fn many_packets_are_counted_by_a_sample() {
    let young = young_for(4080);
    assert_eq!((young.k(), young.counts()), (4, 255));
    let mut table = Young::new(young);
    let mut packets = [0, 0];
    for flow in [0, 1] {
        table.admit(flow << 32);
    }
    for _ in 0..10_000 {
        for flow in [0, 1] {
            packets[flow as usize] +=
                u32::from(table.queue(flow << 32).is_some_and(|age| age.young));
        }
    }
    for found in packets {
        assert!(found.abs_diff(2 + 253 * 16) < 123, "{packets:?}");
    }
    // 255 and 256 packets, and the most: 1000000 / 4096 = 244
    for (packets, k, counts) in [(255, 0, 255), (256, 1, 128), (1_000_000, 12, 244)] {
        let young = young_for(packets);
        assert_eq!((young.k(), young.counts()), (k, counts));
    }
}

/// A queue that drops when it is a packet's turn has taken it before: the end is no end.
#[test]
fn an_end_that_the_queue_took_and_lost_does_not_count() {
    let mut admit = Admit::default();
    let mut counts = Counts::default();
    let fin = packet("FIN+ACK");
    admit.enqueued(&fin, &mut counts);
    admit.dropped(&fin, &mut counts);
    admit.dropped_from_queue(&fin, &mut counts);
    admit.dropped_from_queue(&packet("FIN+OPAQUE"), &mut counts);
    admit.dropped_from_queue(&packet("DATA"), &mut counts);
    assert_eq!((counts.departed, counts.lost_ends, counts.lost_openers), (1, 1, 0));
    // three of ten ends were lost: closed at 7
    let mut rig = at_once();
    let seen = Counts {
        arrived: 100,
        admitted: 100,
        departed: 10,
        lost_ends: 3,
        bytes: 1000,
        young_bytes: 1000,
        ..Counts::default()
    };
    (rig.min_queue_packets, rig.busy) = (1, Time::from_secs(1));
    assert_eq!(rig.tick(Some(seen)).decision.set, 7.0);
}
