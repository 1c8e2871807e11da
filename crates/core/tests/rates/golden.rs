//! Replays the golden vectors: each file says where its numbers come from.
//!
//! They are plain text so that another implementation (in the kernel) can be
//! held to the same rows.

use tidegate_core::law::rate::qfcp::{self, Qfcp};
use tidegate_core::law::rate::rcp::{self, Rcp};
use tidegate_core::law::rate::vcp::{self, Load, Vcp};
use tidegate_core::law::rate::xcp::{self, Share, Xcp};
use tidegate_core::law::rate::{Counts, Grant, Knobs};
use tidegate_core::law::{Controller, Counted, Datapath, Moment};
use tidegate_core::packet::{Ext, Packet, RateHeader, XcpHeader};
use tidegate_core::units::{Rate, Time};

use super::rig::{Rig, link, view};

/// The rows of a file, with comments and the heading left out.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}

fn number(field: &str) -> u64 {
    field.parse().unwrap_or_else(|_| panic!("`{field}` is no whole number"))
}

fn real(field: &str) -> f64 {
    field.parse().unwrap_or_else(|_| panic!("`{field}` is no number"))
}

/// Equal to as many places as a file gives.
fn same(found: f64, expected: &str, row: &[&str]) {
    let expected = real(expected);
    let close = (found - expected).abs() <= 1e-6 * expected.abs().max(1e-3);
    assert!(close, "{found} is not {expected}: {row:?}");
}

fn replay_qfcp(text: &str, config: &qfcp::Config, expected_rows: usize) {
    let mut rig = Rig::new(Qfcp::new(config, link(45_000_000)), 45_000_000);
    let mut replayed = 0;
    for row in rows(text) {
        let [_, at, bps, queue, packets, bytes, dropped, rtt_packets, rtt_us, n, rate, next, _] =
            row[..]
        else {
            panic!("not thirteen fields: {row:?}");
        };
        assert_eq!(rig.deadline.ps() / 1000, number(at), "{row:?}");
        rig.rate = Rate::from_bps(number(bps));
        let counts = Counts {
            packets: number(packets),
            bytes: number(bytes),
            dropped_bytes: number(dropped),
            rtt_packets: number(rtt_packets),
            rtt_us: number(rtt_us),
            ..Counts::default()
        };
        let decision = rig.tick(number(queue), counts);
        same(decision.from, n, &row);
        assert!(rig.knobs.rate.abs_diff(number(rate)) <= 1, "{}: {row:?}", rig.knobs.rate);
        assert_eq!(rig.deadline.ps() / 1000, number(next), "{row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, expected_rows);
}

#[test]
fn qfcp() {
    replay_qfcp(include_str!("../golden/qfcp.csv"), &qfcp::Config::default(), 118);
}

#[test]
fn qfcp_without_the_details_of_section_2_3() {
    let config = qfcp::Config { average: false, virtual_queue: false, ..Default::default() };
    replay_qfcp(include_str!("../golden/qfcp_printed.csv"), &config, 23);
}

#[test]
fn rcp() {
    let law = Rcp::new(&rcp::Config::default(), link(150_000_000));
    let mut rig = Rig::new(law, 150_000_000);
    let mut replayed = 0;
    for row in rows(include_str!("../golden/rcp.csv")) {
        let [_, at, bps, queue, bytes, rtt_bytes, rtt_us_bytes, rate, next, _] = row[..] else {
            panic!("not ten fields: {row:?}");
        };
        assert_eq!(rig.deadline.ps() / 1000, number(at), "{row:?}");
        rig.rate = Rate::from_bps(number(bps));
        let counts = Counts {
            bytes: number(bytes),
            rtt_bytes: number(rtt_bytes),
            rtt_us_bytes: number(rtt_us_bytes),
            ..Counts::default()
        };
        rig.tick(number(queue), counts);
        assert!(rig.knobs.rate.abs_diff(number(rate)) <= 1, "{}: {row:?}", rig.knobs.rate);
        assert_eq!(rig.deadline.ps() / 1000, number(next), "{row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, 125);
}

#[test]
fn vcp() {
    let rate = Rate::from_bps(10_000_000);
    let mut law = Vcp::new(&vcp::Config::default(), link(rate.bps()));
    let mut knobs = vcp::Knobs::default();
    let (mut counts, mut told) = (vcp::Counts::default(), vcp::Counts::default());
    let mut deadline = law.start(Time::ZERO, &mut knobs).expect("never fails");
    let mut load = 0.0;
    let mut replayed = 0;
    for row in rows(include_str!("../golden/vcp.csv")) {
        let [_, at, queue, bytes, code, rho, _] = row[..] else {
            panic!("not seven fields: {row:?}");
        };
        assert_eq!(deadline.ps() / 1000, number(at), "{row:?}");
        // in two packets, so that what is counted adds up
        for part in [number(bytes) / 2, number(bytes).div_ceil(2)] {
            let packet = Packet { size: part as u16, ..Packet::default() };
            let moment = Moment { now: deadline, queue_bytes: 0 };
            Load.offered(&packet, &moment, &knobs, &mut counts);
        }
        let view = view(rate, number(queue));
        let turn = law.update(deadline, &view, &counts.since(&told), &mut knobs);
        told = counts;
        let (next, decision) = turn.expect("never fails");
        deadline = next;
        assert_eq!(u64::from(knobs.code), number(code), "{row:?}");
        match decision {
            Some(decision) => same(decision.from, rho, &row),
            None => assert_eq!(real(rho), load, "a look decides nothing: {row:?}"),
        }
        load = real(rho);
        replayed += 1;
    }
    assert_eq!(replayed, 240);
}

/// A packet of XCP as a row has it.
fn xcp_packet(size: &str, rtt_us: &str, spacing: &str, delta: &str) -> Packet {
    let header = XcpHeader {
        rtt_us: number(rtt_us) as u32,
        spacing_s: real(spacing) as f32,
        delta: real(delta) as f32,
        reverse: 0.0,
    };
    Packet { size: number(size) as u16, ext: Ext::Xcp(header), ..Packet::default() }
}

#[test]
fn xcp() {
    let rate = Rate::from_bps(10_000_000);
    let mut law = Xcp::new(&xcp::Config::default(), link(rate.bps()));
    let (mut knobs, mut counts) = (xcp::Knobs::default(), xcp::Counts::default());
    let (mut share, mut told) = (Share::default(), xcp::Counts::default());
    let mut deadline = law.start(Time::ZERO, &mut knobs).expect("never fails");
    let mut replayed = 0;
    for row in rows(include_str!("../golden/xcp.csv")) {
        let [
            event,
            at,
            size,
            rtt,
            spacing,
            delta,
            queue,
            granted,
            positive,
            negative,
            d,
            standing,
            _,
        ] = row[..]
        else {
            panic!("not thirteen fields: {row:?}");
        };
        let now = Time::from_ns(number(at));
        let mut packet = xcp_packet(size, rtt, spacing, delta);
        let moment = Moment { now, queue_bytes: number(queue) };
        match event {
            "arrive" => share.offered(&packet, &moment, &knobs, &mut counts),
            "depart" => {
                share.depart(&mut packet, &moment, &knobs, &mut counts);
                let Ext::Xcp(header) = packet.ext else { panic!("the header has gone") };
                same(f64::from(header.delta), granted, &row);
            }
            "tick" => {
                assert_eq!(deadline.ps() / 1000, number(at), "{row:?}");
                let view = view(rate, number(queue));
                let turn = law.update(deadline, &view, &counts.since(&told), &mut knobs);
                told = counts;
                (deadline, _) = turn.expect("never fails");
                share.renewed(&moment, &knobs, &mut counts);
            }
            _ => panic!("`{event}` is no event"),
        }
        same(share.left.left_positive, positive, &row);
        same(share.left.left_negative, negative, &row);
        same(knobs.interval_s, d, &row);
        assert_eq!(counts.probe.standing_bytes, number(standing), "{row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, 601);
}

/// The datapath that a kernel will mirror: integers in, integers out.
#[test]
fn grant() {
    let (mut knobs, mut counts) = (Knobs::default(), Counts::default());
    let mut replayed = 0;
    for row in rows(include_str!("../golden/grant.csv")) {
        let [event, value, size, request, rtt_us, granted, bytes, dropped, rtt_sum, by_bytes, _] =
            row[..]
        else {
            panic!("not eleven fields: {row:?}");
        };
        let ext = match request {
            "" => Ext::None,
            request => Ext::Rate(RateHeader {
                request: number(request) as u32,
                feedback: 77,
                rtt_us: number(rtt_us) as u32,
            }),
        };
        let mut packet = Packet { size: number(size) as u16, ext, ..Packet::default() };
        let moment = Moment { now: Time::ZERO, queue_bytes: 0 };
        match event {
            "rate" => knobs.rate = number(value),
            "arrive" => Grant.offered(&packet, &moment, &knobs, &mut counts),
            "drop" => Grant.dropped(&packet, &mut counts),
            "depart" => Grant.depart(&mut packet, &moment, &knobs, &mut counts),
            _ => panic!("`{event}` is no event"),
        }
        match packet.ext {
            Ext::Rate(header) => {
                assert_eq!(u64::from(header.request), number(granted), "{row:?}");
                assert_eq!(header.feedback, 77, "feedback is the receiver's: {row:?}");
            }
            other => assert_eq!(other, ext, "{row:?}"),
        }
        let found = [counts.bytes, counts.dropped_bytes, counts.rtt_us, counts.rtt_us_bytes];
        assert_eq!(found, [bytes, dropped, rtt_sum, by_bytes].map(number), "{row:?}");
        replayed += 1;
    }
    assert_eq!(replayed, 14);
}
