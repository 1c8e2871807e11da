//! The golden vectors of `core` that tell arrival and queue apart, replayed against the programs.
//!
//! The hook is before the queue, where the end of a session is counted too; so
//! a FIN or a reset is shown when the row says that the queue takes it (`queued`).

use tidegate_core::law::session::Knobs;
use tidegate_core::units::Time;
use tidegate_gate::shared::{Settings, Tally};

use super::packets::{finish, frame, ipv4, tcp, with};
use super::{PASS, SHOT, settings};
use crate::machine::{Machine, machines};

/// Bytes of a packet with these flags, of a flow of its own.
fn packet(flags: &str, flow: u16) -> Vec<u8> {
    if flags.contains("OPAQUE") {
        return frame(0x0800, &ipv4(50, 0, &[0; 40])); // ESP, RFC 4303
    }
    if flags.contains("DATA") {
        let data = etherparse::PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [192, 0, 2, 9], 64)
            .tcp(flow, 443, 1, 9);
        return finish(with(data, flags));
    }
    tcp(flow, flags)
}

fn since(now: &Tally, before: &Tally) -> [u64; 5] {
    [
        now.arrived - before.arrived,
        now.admitted - before.admitted,
        now.departed - before.departed,
        now.resets - before.resets,
        now.eligible - before.eligible,
    ]
}

fn replay(text: &str, settings: Settings, expected_rows: usize) {
    for machine in machines(settings) {
        replay_in(text, machine, expected_rows);
    }
}

fn replay_in(text: &str, mut gate: Box<dyn Machine>, expected_rows: usize) {
    let (mut knobs, mut before) = (Knobs::default(), Tally::default());
    let mut replayed = 0;
    for (number, row) in text.lines().filter(|line| !line.starts_with('#')).skip(1).enumerate() {
        let fields: Vec<&str> = row.split(',').collect();
        let [time, event, value, verdict, expected @ ..] = &fields[..] else { panic!("{row}") };
        let now_ns: u64 = time.parse().expect("a time");
        gate.at(now_ns);
        let ends = value.contains("FIN") || value.contains("RST");
        let mut epoch = None;
        match *event {
            "allow" => {
                knobs.allow(value.parse().expect("a number"), Time::from_secs(1));
                gate.set_knobs(&knobs);
            }
            "open" => {
                knobs.open();
                gate.set_knobs(&knobs);
            }
            "epoch" => epoch = Some(gate.tally()),
            "arrive" if ends => {} // counted when the queue takes it
            "arrive" | "queued" => {
                let found = gate.show(&packet(value, 1000 + number as u16));
                // refused by a reset or by a drop: the packet goes no further
                let refused = matches!(*verdict, "drop" | "reject");
                assert_eq!(found, if refused { SHOT } else { PASS }, "{row}");
            }
            _ => panic!("`{event}` is no event"),
        }
        let [counted @ .., _] = since(&gate.tally(), &before);
        let seen = counted.map(|count| count.to_string());
        assert_eq!(seen.each_ref().map(String::as_str), expected[..], "{row}");
        before = epoch.unwrap_or(before);
        replayed += 1;
    }
    assert_eq!(replayed, expected_rows);
}

#[test]
fn counter() {
    let settings = Settings { opener: 0, limiter: 0, ..settings() };
    replay(include_str!("../../../core/tests/golden/admit_counter.csv"), settings, 31);
}

#[test]
fn token_bucket() {
    let settings = Settings { opener: 1, ..settings() };
    replay(include_str!("../../../core/tests/golden/admit_token_bucket.csv"), settings, 32);
}

/// The rows of the saving bucket that a hook before the queue can follow: what
/// the queue loses it does not see, so from such a row to the end of its epoch
/// they are left out. A packet comes and is queued in one.
#[test]
fn saving_bucket() {
    let settings = Settings { opener: 0, limiter: 2, hashed: 1, ..settings() };
    for machine in machines(settings) {
        replay_saving(machine);
    }
}

fn replay_saving(mut gate: Box<dyn Machine>) {
    let (mut knobs, mut before, mut unseen) = (Knobs::default(), Tally::default(), false);
    let text = include_str!("../../../core/tests/golden/admit_saving_bucket.csv");
    let mut replayed = 0;
    for row in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [time, event, flow, value, verdict, arrived, admitted, _, eligible, ..] = &fields[..]
        else {
            panic!("{row}")
        };
        let now_ns: u64 = time.parse().expect("a time");
        gate.at(now_ns);
        unseen |= *event == "lost";
        if *event == "epoch" {
            (before, unseen) = (gate.tally(), false);
            // an epoch begins with the same knobs
            gate.set_knobs(&knobs);
        }
        if unseen || matches!(*event, "epoch" | "queued") {
            continue;
        }
        match *event {
            "allow" => knobs.allow(value.parse().expect("a number"), Time::from_secs(1)),
            "open" => knobs.open(),
            "shut" => (knobs.shut, knobs.bypass) = (value.parse().expect("a number"), 58_982),
            "arrive" => {
                let port = 1000 + flow.parse::<u16>().expect("a number");
                let action = if *verdict == "drop" { SHOT } else { PASS };
                assert_eq!(gate.show(&tcp(port, value)), action, "{row}");
            }
            _ => panic!("`{event}` is no event"),
        }
        if *event != "arrive" {
            gate.set_knobs(&knobs);
            continue;
        }
        let [now_arrived, now_admitted, _, _, now_eligible] = since(&gate.tally(), &before);
        let seen = [now_arrived, now_admitted, now_eligible].map(|count| count.to_string());
        assert_eq!(seen.each_ref().map(String::as_str), [*arrived, *admitted, *eligible], "{row}");
        replayed += 1;
    }
    // two that open, five of the bucket, six of those that are not eligible
    assert_eq!(replayed, 13);
}
