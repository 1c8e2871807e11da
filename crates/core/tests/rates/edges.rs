//! What the papers do not say: each edge, with its expected number by hand.

use tidegate_core::law::rate::Counts;
use tidegate_core::law::rate::qfcp::{self, Qfcp};
use tidegate_core::law::rate::rcp::{self, Rcp};
use tidegate_core::law::rate::vcp::{self, HIGH, LOW, Load, OVERLOAD};
use tidegate_core::law::rate::xcp::{self, Pool, Share};
use tidegate_core::law::{Datapath, Moment};
use tidegate_core::packet::{Ext, Packet, XcpHeader};
use tidegate_core::units::{Rate, Time};

use super::rig::{Rig, link};

/// 10 Mbit/s: 1.25 MB/s, 125 kB in the first control period of 100 ms.
const BPS: u64 = 10_000_000;

fn qfcp(config: qfcp::Config) -> Rig<Qfcp> {
    Rig::new(Qfcp::new(&config, link(BPS)), BPS)
}

#[test]
fn the_rate_starts_at_the_capacity_or_at_the_share_that_is_set() {
    assert_eq!(qfcp(qfcp::Config::default()).knobs.rate, 1_250_000);
    let config = qfcp::Config { initial_rate: 0.05, ..Default::default() };
    assert_eq!(qfcp(config).knobs.rate, 62_500);
}

/// y = 0 says nothing of flows: the next one may have the whole link, and with
/// averaging gets half of the way there in each period.
#[test]
fn without_traffic_the_rate_goes_back_to_the_capacity() {
    let mut rig = qfcp(qfcp::Config { initial_rate: 0.2, ..Default::default() });
    let rates: Vec<u64> = (0..3).map(|_| (rig.bytes(0, 0), rig.knobs.rate).1).collect();
    assert_eq!(rates, [750_000, 1_000_000, 1_125_000]);
    let mut rig = qfcp(qfcp::Config { initial_rate: 0.2, average: false, ..Default::default() });
    rig.bytes(0, 0);
    assert_eq!(rig.knobs.rate, 1_250_000);
}

/// A tenth of the capacity at a rate of all of it is a tenth of a flow: it counts as one.
#[test]
fn less_than_one_flow_counts_as_one() {
    let mut rig = qfcp(qfcp::Config::default());
    let decision = rig.bytes(0, 12_500);
    assert_eq!((decision.from, rig.knobs.rate), (1.0, 1_250_000));
}

/// N is taken from the rate in force while the traffic came: 4 flows at C / 2
/// send 2 C; with the new rate they would seem to be 8.
#[test]
fn the_number_of_flows_is_that_of_the_rate_in_force() {
    let config = qfcp::Config { initial_rate: 0.5, average: false, ..Default::default() };
    let mut rig = qfcp(config);
    let decision = rig.bytes(0, 250_000);
    assert_eq!((decision.from, rig.knobs.rate), (4.0, 312_500));
}

/// A queue of more than 2 C T (250 kB) asks for a negative share: a hundredth of
/// the capacity is divided, here by one flow and without averaging.
#[test]
fn a_long_queue_leaves_a_hundredth_of_the_capacity() {
    let config = qfcp::Config { average: false, ..Default::default() };
    for (queue, rate) in [(125_000, 625_000), (250_000, 12_500), (10_000_000, 12_500)] {
        let mut rig = qfcp(config.clone());
        rig.bytes(queue, 125_000);
        assert_eq!(rig.knobs.rate, rate, "{queue} B");
    }
}

/// What was dropped counts as queue in the period of the drop (62.5 kB at beta
/// 0.5 and 100 ms: a quarter of the capacity), and no longer in the next one.
#[test]
fn drops_count_as_queue_once() {
    let config = qfcp::Config { average: false, ..Default::default() };
    let mut rig = qfcp(config.clone());
    let lossy = Counts { bytes: 125_000, dropped_bytes: 62_500, ..Counts::default() };
    rig.tick(0, lossy);
    assert_eq!(rig.knobs.rate, 937_500);
    rig.bytes(0, 93_750);
    assert_eq!(rig.knobs.rate, 1_250_000);
    let mut rig = qfcp(qfcp::Config { virtual_queue: false, ..config });
    rig.tick(0, lossy);
    assert_eq!(rig.knobs.rate, 1_250_000, "switched off");
}

/// The least rate is a thousandth of the capacity: 1250 B/s.
#[test]
fn the_rate_has_a_floor_and_a_ceiling() {
    let config = qfcp::Config { average: false, ..Default::default() };
    let mut rig = qfcp(config);
    // 10 000 flows at C
    rig.bytes(10_000_000, 1_250_000_000);
    assert_eq!(rig.knobs.rate, 1_250);
    // less than one flow at that rate, an empty queue: all of the capacity, not more
    rig.bytes(0, 1);
    assert_eq!(rig.knobs.rate, 1_250_000);
    rig.rate = Rate::from_bps(BPS / 4);
    rig.bytes(0, 1);
    assert_eq!(rig.knobs.rate, 312_500, "a link that has become slower");
}

/// T moves an eighth of the way to the period's mean round trip, and stays within 10 ms and 1 s.
#[test]
fn the_control_period_follows_the_round_trips() {
    let mut rig = qfcp(qfcp::Config::default());
    let mut period = |mean_us: u64, times: u32| {
        let mut begin = rig.deadline;
        for _ in 0..times {
            begin = rig.deadline;
            let counts = Counts { rtt_packets: 3, rtt_us: 3 * mean_us, ..Counts::default() };
            rig.tick(0, counts);
        }
        (rig.deadline - begin).ps() / 1_000_000
    };
    assert_eq!(period(20_000, 1), 90_000, "100 - 80 / 8 ms");
    assert_eq!(period(90_000, 1), 90_000);
    assert_eq!(period(1, 100), 10_000, "not below");
    assert_eq!(period(30_000_000, 100), 1_000_000, "not above");
}

#[test]
fn without_a_round_trip_time_the_control_period_stays() {
    let mut rig = qfcp(qfcp::Config::default());
    rig.bytes(0, 1000);
    assert_eq!(rig.deadline, Time::from_ms(200));
}

/// n flows that answer within a period share the capacity, from any start: with
/// averaging the error halves each time.
#[test]
fn a_constant_number_of_flows_gets_its_share() {
    for n in [1, 2, 7, 50] {
        let mut rig = qfcp(qfcp::Config::default());
        for _ in 0..40 {
            let period_s = 0.1;
            let bytes = (n as f64 * rig.knobs.rate as f64 * period_s) as u64;
            rig.bytes(0, bytes);
        }
        let share = 1_250_000 / n;
        assert!(rig.knobs.rate.abs_diff(share) * 1000 <= share, "{n}: {}", rig.knobs.rate);
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = |config: qfcp::Config| config.check().expect_err("out of range").0;
    let base = qfcp::Config::default;
    assert!(base().check().is_ok());
    assert_eq!(refused(qfcp::Config { beta: -0.1, ..base() }), "beta");
    assert_eq!(refused(qfcp::Config { initial_rate: 1.5, ..base() }), "initial_rate");
    assert_eq!(refused(qfcp::Config { least_rate: 0.0, ..base() }), "least_rate");
    assert_eq!(refused(qfcp::Config { gain: 0.0, ..base() }), "gain");
    let crossed = qfcp::Config { greatest_interval: Time::from_ms(5), ..base() };
    assert_eq!(refused(crossed), "greatest_interval");
    assert_eq!(
        rcp::Config { alpha: f64::NAN, ..Default::default() }.check().unwrap_err().0,
        "alpha"
    );
    assert_eq!(xcp::Config { alpha: 0.6, ..Default::default() }.check().unwrap_err().0, "alpha");
    let vcp = vcp::Config { probe: Time::from_secs(2), ..Default::default() };
    assert_eq!(vcp.check().unwrap_err().0, "probe");
}

/// RCP stays between a hundredth of a packet per round trip (200 ms: 50 B/s) and the capacity.
#[test]
fn rcp_has_a_floor_and_a_ceiling() {
    let mut rig = Rig::new(Rcp::new(&rcp::Config::default(), link(BPS)), BPS);
    for _ in 0..4_000 {
        rig.bytes(0, 0);
    }
    assert_eq!(rig.knobs.rate, 1_250_000);
    for _ in 0..4_000 {
        rig.bytes(1_000_000, 50_000);
    }
    assert_eq!(rig.knobs.rate, 50);
}

/// The codes by hand, at 10 Mbit/s, 200 ms and 98 %: 245 000 B are a load of one.
#[test]
fn vcp_keeps_the_highest_code_of_the_way() {
    let moment = Moment { now: Time::ZERO, queue_bytes: 0 };
    for (code, port, expected) in
        [(LOW, HIGH, HIGH), (OVERLOAD, LOW, OVERLOAD), (HIGH, HIGH, HIGH), (0, OVERLOAD, 0)]
    {
        let mut packet = Packet { ext: Ext::Load { code, echo: 3 }, ..Packet::default() };
        let knobs = vcp::Knobs { code: u32::from(port) };
        Load.depart(&mut packet, &moment, &knobs, &mut vcp::Counts::default());
        assert_eq!(packet.ext, Ext::Load { code: expected, echo: 3 });
    }
}

/// Five packets of 1000 B that leave with what is left of 1000 B/s to add at 400
/// a packet, nothing to take: 400, 400, 200, and then nothing.
#[test]
fn xcp_gives_no_more_than_there_is() {
    let knobs = xcp::Knobs { interval_s: 0.1, capacity: 1e6, ..Default::default() };
    let left = Pool { left_positive: 1000.0, positive: 51_200.0, ..Default::default() };
    let mut share = Share { left };
    let granted = |delta: f32, rtt_us: u32, share: &mut Share| {
        let header = XcpHeader { rtt_us, spacing_s: 1.0 / 128.0, delta, reverse: 0.0 };
        let mut packet = Packet { size: 1000, ext: Ext::Xcp(header), ..Packet::default() };
        let moment = Moment { now: Time::ZERO, queue_bytes: 0 };
        share.depart(&mut packet, &moment, &knobs, &mut xcp::Counts::default());
        let Ext::Xcp(header) = packet.ext else { panic!("the header has gone") };
        header.delta
    };
    let mut give = |delta| granted(delta, 100_000, &mut share);
    assert_eq!([give(1e9), give(1e9), give(1e9), give(1e9)], [400.0, 400.0, 200.0, 0.0]);
    assert_eq!(granted(1e9, 0, &mut share), 0.0, "no round-trip time: nothing");
}

/// Another port gave 100 where this one would give 400: only 100 are used up,
/// and the 300 are made good by taking less (2002, appendix A).
#[test]
fn xcp_charges_what_was_really_given() {
    let knobs = xcp::Knobs { interval_s: 0.1, capacity: 1e6, ..Default::default() };
    for (delta, left_positive, left_negative) in
        [(100.0, 900.0, 200.0), (-50.0, 1000.0, 50.0), (1e9, 600.0, 500.0)]
    {
        let left = Pool {
            left_positive: 1000.0,
            positive: 40_000.0,
            left_negative: 500.0,
            ..Default::default()
        };
        let mut share = Share { left };
        let header = XcpHeader { rtt_us: 100_000, spacing_s: 0.01, delta, reverse: 0.0 };
        let mut packet = Packet { size: 1000, ext: Ext::Xcp(header), ..Packet::default() };
        let moment = Moment { now: Time::ZERO, queue_bytes: 0 };
        share.depart(&mut packet, &moment, &knobs, &mut xcp::Counts::default());
        let left = (share.left.left_positive, share.left.left_negative);
        assert!((left.0 - left_positive).abs() < 1e-3, "{delta}: {left:?}");
        assert!((left.1 - left_negative).abs() < 1e-3, "{delta}: {left:?}");
    }
}
