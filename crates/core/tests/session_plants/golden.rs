//! Replays the golden vectors: each file says where its numbers come from.
//!
//! They are plain text so that another implementation (in the kernel) can be
//! held to the same rows.

use tidegate_core::law::session::close_probe::{self, CloseProbe};
use tidegate_core::law::session::fixed_rate::{self, FixedRate};
use tidegate_core::law::session::gss_ga::{self, GssGa};
use tidegate_core::law::session::{Admission, Admit, Counts, Knobs, Limiter, Opener, Refusal};
use tidegate_core::law::{Controller, Counted, Datapath, Moment, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Frequency, Time};

use super::rig::Rig;

/// The rows of a file, with comments and the heading left out.
pub fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}

pub fn number(field: &str) -> u64 {
    field.parse().unwrap_or_else(|_| panic!("`{field}` is no number"))
}

fn replay(text: &str, law: impl Controller<Knobs, Counts> + 'static, expected_rows: usize) {
    let mut rig = Rig::new(law);
    let mut replayed = 0;
    for row in rows(text) {
        let [_, allowance, arrived, admitted, departed, resets, drops, waiting, next, phase, _] =
            row[..]
        else {
            panic!("not eleven fields: {row:?}");
        };
        let allowed = |rig: &Rig| rig.allowance().map_or("all".to_owned(), |n| n.to_string());
        assert_eq!(allowed(&rig), allowance, "{row:?}");
        rig.queue_drops = number(drops);
        rig.min_queue_packets = number(waiting) as u32;
        let counts = Counts {
            arrived: number(arrived),
            admitted: number(admitted),
            departed: number(departed),
            resets: number(resets),
            ..Counts::default()
        };
        let decision = rig.tick(Some(counts)).decision;
        assert_eq!((allowed(&rig).as_str(), decision.phase), (next, phase), "{row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, expected_rows);
}

#[test]
fn fixed_rate() {
    let config = fixed_rate::Config { rate: Frequency::per_s(65.5), ..Default::default() };
    replay(include_str!("../golden/fixed_rate.csv"), FixedRate::new(config), 8);
}

#[test]
fn fixed_rate_tokens() {
    // 1 s / 65.5 = 15.267175... ms, whatever the epoch carries over
    let config = fixed_rate::Config {
        rate: Frequency::per_s(65.5),
        limiter: Limiter::TokenBucket,
        ..Default::default()
    };
    let rig = Rig::new(FixedRate::new(config));
    assert_eq!((rig.knobs.token_interval_ns, rig.knobs.token_depth_ns), (15_267_175, 15_267_175));
}

/// By hand: ten tokens a second, and five in a full bucket. Of seven at once five pass; after
/// 100 ms there is one token more, and after a pause the bucket is full again. The rules of
/// nftables (`limit rate over 10/second burst 5 packets`) have such a bucket.
#[test]
fn fixed_rate_burst() {
    let config = fixed_rate::Config {
        rate: Frequency::per_s(10.0),
        limiter: Limiter::TokenBucket,
        burst: 5,
        ..Default::default()
    };
    let knobs = Rig::new(FixedRate::new(config)).knobs;
    let mut admit = Admit::new(Admission { limiter: Limiter::TokenBucket, ..Admission::default() });
    let mut counts = Counts::default();
    let syn = Packet { flags: Flags::SYN, ..Packet::default() };
    let mut passed = |ms: u64, offered: u32| {
        let now = Time::from_ms(ms);
        let verdicts = (0..offered).map(|_| admit.admit(&syn, now, &knobs, &mut counts));
        verdicts.filter(|verdict| *verdict == Verdict::Pass).count()
    };
    assert_eq!([passed(0, 7), passed(100, 3), passed(10_000, 7)], [5, 1, 5]);
}

#[test]
fn a_counter_has_no_burst() {
    let config = fixed_rate::Config { burst: 5, ..Default::default() };
    assert_eq!(config.check().expect_err("it is a counter").0, "burst");
}

#[test]
fn gss_ga() {
    let law = GssGa::new(gss_ga::Config::default());
    replay(include_str!("../golden/gss_ga.csv"), law, 140);
}

#[test]
fn close_probe() {
    let law = CloseProbe::new(close_probe::Config::default());
    replay(include_str!("../golden/close_probe.csv"), law, 140);
}

#[test]
fn close_probe_printed() {
    let config = close_probe::Config { guard: false, ..Default::default() };
    replay(include_str!("../golden/close_probe_printed.csv"), CloseProbe::new(config), 140);
}

#[test]
fn close_probe_relief() {
    let config = close_probe::Config { relief: true, ..Default::default() };
    replay(include_str!("../golden/close_probe_relief.csv"), CloseProbe::new(config), 60);
}

pub fn packet(flags: &str) -> Packet {
    let flags = flags.split('+').fold(Flags::NONE, |all, name| {
        all.with(match name {
            "SYN" => Flags::SYN,
            "ACK" => Flags::ACK,
            "FIN" => Flags::FIN,
            "RST" => Flags::RST,
            "DATA" => Flags::DATA,
            "OPAQUE" => Flags::OPAQUE,
            "RETRANSMIT" => Flags::RETRANSMIT,
            _ => panic!("`{name}` is no flag"),
        })
    });
    Packet { flags, ..Packet::default() }
}

/// The rows give what was counted since the last `epoch`.
fn replay_packets(text: &str, mut admit: Admit, expected_rows: usize) {
    let (mut knobs, mut counts) = (Knobs::default(), Counts::default());
    let mut told = Counts::default();
    let mut replayed = 0;
    for row in rows(text) {
        let [time, event, value, verdict, arrived, admitted, departed, resets] = row[..] else {
            panic!("not eight fields: {row:?}");
        };
        let mut shown = None;
        match event {
            "allow" => knobs.allow(number(value), Time::from_secs(1)),
            "open" => knobs.open(),
            "epoch" => {
                shown = Some(counts.since(&told));
                told = counts;
                let moment = Moment { now: Time::from_ns(number(time)), queue_bytes: 0 };
                admit.renewed(&moment, &knobs, &mut counts);
            }
            "queued" => admit.enqueued(&packet(value), &mut counts),
            "arrive" => {
                let now = Time::from_ns(number(time));
                let found = match admit.admit(&packet(value), now, &knobs, &mut counts) {
                    Verdict::Pass => "pass",
                    Verdict::Mark(_) => "mark",
                    Verdict::Drop(_) => "drop",
                    Verdict::Reject(_) => "reject",
                };
                assert_eq!(found, verdict, "{row:?}");
            }
            _ => panic!("`{event}` is no event"),
        }
        let seen = shown.unwrap_or_else(|| counts.since(&told));
        let expected = [arrived, admitted, departed, resets].map(number);
        assert_eq!([seen.arrived, seen.admitted, seen.departed, seen.resets], expected, "{row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, expected_rows);
}

#[test]
fn admit_counter() {
    replay_packets(include_str!("../golden/admit_counter.csv"), Admit::default(), 31);
}

#[test]
fn admit_token_bucket() {
    let rules = Admission {
        limiter: Limiter::TokenBucket,
        opener: Opener::SynAck,
        refusal: Refusal::Rst,
        ..Admission::default()
    };
    replay_packets(include_str!("../golden/admit_token_bucket.csv"), Admit::new(rules), 32);
}
