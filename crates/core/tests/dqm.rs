//! Dual-queue management against the paper's figures and hand calculations.

use tidegate_core::law::queue::dqm::{Blocked, Config, Curve, Dqm, LengthOf, Measure, ServedFirst};
use tidegate_core::law::queue::red::{self, Red};
use tidegate_core::law::queue::{
    ArrivalContext, Discipline, Next, Queue, QueueLaw, Room, Slot, Sum, Waiting,
};
use tidegate_core::law::settings::{Link, Setting};
use tidegate_core::law::{Draw, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Size, Time};

use crate::draws::{Always, Never, Uniform};

/// The paper's link: 576 B take 46.08 ms.
const SLOW: Link = Link { rate: Rate::from_bps(100_000), delay: Time::from_ms(20) };
const ROOM: Room = Room { packets: 90, bytes: u64::MAX };
const REFUSED: Verdict = Verdict::Drop(Reason::Connection);
const FULL: Verdict = Verdict::Drop(Reason::QueueFull);

/// The triple of the paper over drop-tail.
fn triple(x_m: f64, bend: f64, share: f64) -> Config {
    Config { x_m, x_M: bend, P_M: share, mean_packet: Size::from_bytes(576), ..Config::default() }
}

fn p1() -> Config {
    triple(45.0, 90.0, 0.4)
}

fn p3() -> Config {
    triple(45.0, 45.0, 1.0)
}

/// A link whose average is the queue itself.
fn sharp(config: Config) -> Config {
    Config { w: Setting::Is(1.0), ..config }
}

fn syn() -> Packet {
    Packet { size: 40, flags: Flags::SYN, ..Packet::default() }
}

fn data() -> Packet {
    Packet { size: 576, flags: Flags::ACK.with(Flags::DATA), ..Packet::default() }
}

/// The law with its queue, and no port.
struct Dual {
    law: Dqm,
    waiting: Waiting,
}

impl Dual {
    fn arrive(&mut self, packet: &Packet, found: &ArrivalContext, draw: &mut dyn Draw) -> Verdict {
        let found = ArrivalContext { queue: self.waiting.all(), ..*found };
        self.law.arrive(packet, &mut self.waiting, &found, draw)
    }

    /// What has just arrived is taken.
    fn take(&mut self, packet: &Packet) {
        let handle = self.waiting.push(packet);
        self.law.taken(handle, &mut self.waiting);
    }

    /// Sends the next packet.
    fn send(&mut self) {
        let slot = Slot { start: Time::ZERO, idle: Time::ZERO, pace: SLOW.rate.pace() };
        match self.law.next(&mut self.waiting, &slot, &mut Never) {
            Next::Send(handle) => assert!(self.waiting.take(handle).is_some()),
            other => panic!("{other:?}"),
        }
    }

    fn average(&self) -> f64 {
        self.law.average(None, SLOW.rate.pace()).expect("the law keeps one")
    }
}

fn dual(config: &Config) -> Dual {
    config.check(SLOW).expect("the parameters are in range");
    Dual { law: Dqm::new(config, SLOW), waiting: Waiting::new() }
}

/// What an arrival at a busy link finds; the law counts its own sorts of packets.
fn busy() -> ArrivalContext {
    ArrivalContext {
        now: Time::ZERO,
        queue: Sum::default(),
        fits: true,
        idle: None,
        pace: SLOW.rate.pace(),
        room: ROOM,
    }
}

fn idle(time: Time) -> ArrivalContext {
    ArrivalContext { idle: Some(time), ..busy() }
}

/// Fills the queue with so much data.
fn fill(law: &mut Dual, packets: u32) {
    for _ in 0..packets {
        assert_eq!(law.arrive(&data(), &busy(), &mut Never), Verdict::Pass);
        law.take(&data());
    }
}

fn near(measured: f64, expected: f64) {
    assert!((measured - expected).abs() < 1e-9, "measured {measured}, expected {expected}");
}

/// dqm, II leaves open whether x counts connection packets too. By hand: 40 packets of data
/// and five SYNs wait; P3's step stands at 45, so the next SYN is lost only where all count.
#[test]
fn the_length_counts_data_or_all() {
    for (counts, verdict) in [(LengthOf::Data, Verdict::Pass), (LengthOf::All, REFUSED)] {
        for measure in [Measure::Average, Measure::Instantaneous] {
            let mut law = dual(&sharp(Config { counts, measure, ..p3() }));
            for _ in 0..5 {
                assert_eq!(law.arrive(&syn(), &busy(), &mut Never), Verdict::Pass);
                law.take(&syn());
            }
            fill(&mut law, 40);
            assert_eq!(law.arrive(&syn(), &busy(), &mut Never), verdict, "{counts:?} {measure:?}");
        }
    }
}

/// features D2, dqm fig. 2 and 4: P1 and P2 rise from 45 towards 0.4 and 0.7 at B = 90, where they
/// jump to 1; P3 is a step; a curve that bends before B has a second line.
#[test]
fn the_curve_has_the_values_of_the_figures() {
    let at = |config: &Config, x| Curve::new(config).at(x, 90.0);
    let p2 = triple(45.0, 90.0, 0.7);
    for (x, first, second) in [(45.0, 0.0, 0.0), (67.5, 0.2, 0.35), (90.0, 1.0, 1.0)] {
        near(at(&p1(), x), first);
        near(at(&p2, x), second);
    }
    near(at(&p1(), 89.999_999_999_9), 0.4);
    assert_eq!(at(&p3(), 44.999), 0.0);
    assert_eq!(at(&p3(), 45.0), 1.0);
    // 30 to 60 up to 0.3, from there to 1 at 90: half-way 0.15 and 0.65
    let bent = triple(30.0, 60.0, 0.3);
    for (x, expected) in [(30.0, 0.0), (45.0, 0.15), (60.0, 0.3), (75.0, 0.65), (90.0, 1.0)] {
        near(at(&bent, x), expected);
    }
}

/// algorithms.md 2: neither x_M - x_m = 0 nor B - x_M = 0 divides; a step that is not whole goes on
/// to 1 at B; a bend beyond B is cut off there; nothing is ever outside 0 to 1.
#[test]
fn the_corners_of_the_curve_do_not_divide_by_zero() {
    let half_step = Curve::new(&triple(45.0, 45.0, 0.5));
    near(half_step.at(45.0, 90.0), 0.5);
    near(half_step.at(67.5, 90.0), 0.75);
    let at_b = Curve::new(&triple(90.0, 90.0, 0.5));
    assert_eq!((at_b.at(89.0, 90.0), at_b.at(90.0, 90.0)), (0.0, 1.0));
    let beyond = Curve::new(&triple(45.0, 200.0, 1.0));
    near(beyond.at(89.0, 90.0), 44.0 / 155.0);
    assert_eq!(beyond.at(90.0, 90.0), 1.0);
    for config in [p1(), p3(), triple(0.0, 90.0, 1.0), triple(0.0, 1.0, 0.0)] {
        let (curve, mut last) = (Curve::new(&config), 0.0);
        for tenth in 0..1000 {
            let p_c = curve.at(f64::from(tenth) / 10.0, 90.0);
            assert!((0.0..=1.0).contains(&p_c) && p_c >= last, "{config:?} at {tenth}");
            last = p_c;
        }
    }
}

/// features D1: SYN and SYN+ACK meet the curve, whichever flow they belong to; everything else,
/// and what cannot be read, is data.
#[test]
fn the_flags_alone_say_what_a_packet_is() {
    let with = |flags: Flags| Packet { flags, ..data() };
    for flags in [Flags::SYN, Flags::SYN.with(Flags::ACK), Flags::SYN.with(Flags::ECT)] {
        assert!(Dqm::opens(&with(flags)), "{flags:?}");
    }
    for flags in [
        Flags::ACK,
        Flags::FIN.with(Flags::ACK),
        Flags::RST,
        Flags::DATA,
        Flags::SYN.with(Flags::OPAQUE),
    ] {
        assert!(!Dqm::opens(&with(flags)), "{flags:?}");
    }
    let mut law = dual(&sharp(p3()));
    fill(&mut law, 60);
    assert_eq!(law.arrive(&syn(), &busy(), &mut Never), REFUSED);
    assert_eq!(law.arrive(&with(Flags::ACK), &busy(), &mut Never), Verdict::Pass);
}

/// dqm, I: no state of a flow: whoever sends the packets, the decisions are the same.
#[test]
fn it_does_not_matter_whose_packets_they_are() {
    let decisions = |flow: fn(u32) -> u32| -> Vec<Verdict> {
        let (mut law, mut draw) = (dual(&sharp(p1())), Uniform(5));
        let packets = (0..400).map(|number| {
            let kind = if number % 4 == 3 { syn() } else { data() };
            Packet { flow: flow(number), src: flow(number) as u16, ..kind }
        });
        packets
            .map(|packet| {
                let verdict = law.arrive(&packet, &busy(), &mut draw);
                if verdict == Verdict::Pass {
                    law.take(&packet);
                }
                verdict
            })
            .collect()
    };
    let one = decisions(|_| 7);
    assert!(one.contains(&REFUSED) && one.contains(&FULL));
    assert_eq!(one, decisions(|number| number));
}

/// features D2: at a constant average of 67.5 of P1 a share of 0.2, each by a draw of its own:
/// the distances between two losses are geometric, mean 5 and deviation sqrt(0.8)/0.2 = 4.47.
#[test]
fn each_connection_packet_is_lost_by_a_draw_of_its_own() {
    let config = Config { measure: Measure::Instantaneous, ..triple(45.0, 85.0, 0.4) };
    let (mut law, mut draw) = (dual(&config), Uniform(3));
    fill(&mut law, 65);
    let (mut gaps, mut gap) = (Vec::new(), 0.0);
    while gaps.len() < 4000 {
        gap += 1.0;
        if law.arrive(&syn(), &busy(), &mut draw) == REFUSED {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    let mean = gaps.iter().sum::<f64>() / 4000.0;
    let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / 4000.0;
    // three standard errors of the mean: 3 x 4.47 / sqrt(4000) = 0.21
    assert!((mean - 5.0).abs() < 0.21, "{mean}");
    assert!((variance.sqrt() - 4.47).abs() < 0.4, "{variance}");
}

/// features D6: one arrival at 60 waiting packets leaves the average with w = 0.1 at 6 and below the
/// step, while what waits at this moment is above it.
#[test]
fn the_share_follows_the_average_or_the_moment() {
    for (measure, expected) in
        [(Measure::Average, Verdict::Pass), (Measure::Instantaneous, REFUSED)]
    {
        let mut law = dual(&Config { measure, w: Setting::Is(0.001), ..p3() });
        fill(&mut law, 60);
        assert_eq!(law.arrive(&syn(), &busy(), &mut Never), expected);
    }
}

/// Data does not meet the curve, and the connection packet not RED: over RED that drops all data
/// from an average of 4, a connection below x_m passes without a draw.
#[test]
fn either_sort_meets_its_own_test() {
    let beneath = red::Config {
        min_th: Setting::Is(1.0),
        max_th: Setting::Is(2.0),
        w: Setting::Is(1.0),
        ..red::Config::default()
    };
    let mut law = dual(&Config { over: QueueLaw::Red(beneath).into(), ..sharp(p3()) });
    while law.arrive(&data(), &busy(), &mut Always(0.999)) == Verdict::Pass {
        law.take(&data());
    }
    assert_eq!(law.arrive(&data(), &busy(), &mut Always(0.0)), Verdict::Drop(Reason::Early));
    assert_eq!(law.arrive(&syn(), &busy(), &mut Never), Verdict::Pass);
}

/// Over RED the law's average is RED's own: the weight is taken over, and both see every arrival.
/// Data alone, the RED beneath decides as RED alone does.
#[test]
fn over_red_data_meets_red() {
    let beneath = red::Config {
        min_th: Setting::Is(5.0),
        max_th: Setting::Is(20.0),
        w: Setting::Is(0.05),
        mean_packet: Size::from_bytes(576),
        ..red::Config::default()
    };
    let mut alone = Red::new(&beneath, SLOW);
    let mut law = dual(&Config { over: QueueLaw::Red(beneath).into(), ..p3() });
    let (mut one, mut other) = (Uniform(9), Uniform(9));
    let (mut waiting, mut early) = (0, 0);
    for step in 0..5000u32 {
        let queue = Sum { packets: waiting, bytes: 576 * u64::from(waiting) };
        let expected = alone.meet(576, &ArrivalContext { queue, ..busy() }, &mut one);
        assert_eq!(law.arrive(&data(), &busy(), &mut other), expected, "step {step}");
        near(law.average(), alone.average(None, SLOW.rate.pace()).expect("RED keeps one"));
        early += u32::from(expected != Verdict::Pass);
        if expected == Verdict::Pass {
            waiting += 1;
            law.take(&data());
        }
        if step % 3 > 0 && waiting > 0 && step % 200 > 20 {
            waiting -= 1;
            law.send();
        }
    }
    assert!(early > 100, "{early}");
}

/// features D5: with two queues each sort has room for B; with one they share it.
#[test]
fn two_queues_have_a_buffer_each_and_one_is_shared() {
    for (queues, first, second) in [(2, Verdict::Pass, Verdict::Pass), (1, FULL, FULL)] {
        let open = Config { queues, ..triple(1000.0, 1000.0, 1.0) };
        let small = ArrivalContext { room: Room { packets: 3, bytes: u64::MAX }, ..busy() };
        let mut law = dual(&open);
        for packet in [data(), data(), syn()] {
            assert_eq!(law.arrive(&packet, &small, &mut Never), Verdict::Pass);
            law.take(&packet);
        }
        assert_eq!(law.arrive(&syn(), &small, &mut Never), first);
        assert_eq!(law.arrive(&data(), &small, &mut Never), second);
    }
}

/// algorithms.md 2, the lock-out: 60 packets take the average of a step to its other side, the
/// data goes, and none comes back. An idle link lets it decay: from 60 to below 45 it takes
/// ln(0.75)/ln(0.98) = 14.24 services of 46.08 ms, 656.2 ms.
#[test]
fn a_step_does_not_lock_connections_out_once_the_link_is_idle() {
    let mut law = dual(&Config { w: Setting::Is(0.02), ..p3() });
    fill(&mut law, 60);
    for _ in 0..1500 {
        law.arrive(&data(), &busy(), &mut Never);
    }
    near(law.average(), 60.0);
    for _ in 0..60 {
        law.send();
    }
    let verdict = |law: &mut Dual, ms| law.arrive(&syn(), &idle(Time::from_ms(ms)), &mut Never);
    // refused ones do not make the time count twice
    for ms in [0, 100, 200, 300, 650] {
        assert_eq!(verdict(&mut law, ms), REFUSED, "{ms}");
    }
    assert_eq!(verdict(&mut law, 657), Verdict::Pass);
}

/// The same while the link is never idle: connection packets that are refused see the queue too,
/// so it does not take data to bring the average down.
#[test]
fn refused_connections_let_the_average_follow_the_queue() {
    let mut law = dual(&Config { w: Setting::Is(0.02), ..p3() });
    fill(&mut law, 60);
    for _ in 0..1500 {
        law.arrive(&data(), &busy(), &mut Never);
    }
    for _ in 0..50 {
        law.send();
    }
    // ten wait: 10 + 50 x 0.98^k < 45 from k = 18 on (17.7)
    let refused = std::iter::repeat_with(|| law.arrive(&syn(), &busy(), &mut Never))
        .take_while(|verdict| *verdict == REFUSED)
        .count();
    assert_eq!(refused, 17);
}

fn port(config: &Config, limit: u32) -> Port<u32> {
    config.check(SLOW).expect("the parameters are in range");
    let mut stages = Stages::new();
    stages.queue = Queue::Dqm(Dqm::new(config, SLOW));
    Port::new(0, SLOW.rate, SLOW.delay, Limit::Packets(limit)).with_stages(stages, Box::new(Never))
}

fn send(port: &mut Port<u32>, packet: Packet, flow: u32, now: Time) -> Outcome<u32> {
    port.arrive(&Packet { flow, ..packet }, flow, now)
}

fn drain(port: &mut Port<u32>, until: Time) -> Vec<(u32, Time)> {
    let mut delivered = Vec::new();
    while port.next_event() <= until {
        let at = port.next_event();
        if let Some((packet, cargo)) = port.deliver(at) {
            assert_eq!(packet.flow, cargo, "what it carries stays with its packet");
            delivered.push((packet.flow, packet.at));
        }
    }
    delivered
}

/// features D3: what is not lost leaves in the order in which it came.
#[test]
fn both_sorts_leave_in_the_order_of_arrival() {
    let mut port = port(&p1(), 90);
    for flow in 0..40 {
        let packet = if flow % 3 == 0 { syn() } else { data() };
        assert_eq!(send(&mut port, packet, flow, Time::from_ms(1)), Outcome::Taken);
    }
    let order: Vec<u32> = drain(&mut port, Time::from_secs(9)).iter().map(|left| left.0).collect();
    assert_eq!(order, (0..40).collect::<Vec<_>>());
}

/// By hand: 12 packets at once, of which 0, 3, 6 and 9 open connections. The link is idle, so that
/// 0 is in service before another comes. Of the rest the kind that goes first leaves first, and
/// each kind in the order in which it came.
#[test]
fn one_kind_may_go_before_the_other() {
    for (order, expected) in [
        (ServedFirst::Arrival, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (ServedFirst::Connections, [0, 3, 6, 9, 1, 2, 4, 5, 7, 8, 10, 11]),
        (ServedFirst::Data, [0, 1, 2, 4, 5, 7, 8, 10, 11, 3, 6, 9]),
    ] {
        let mut port = port(&Config { order, ..p1() }, 90);
        for flow in 0..12 {
            let packet = if flow % 3 == 0 { syn() } else { data() };
            assert_eq!(send(&mut port, packet, flow, Time::from_ms(1)), Outcome::Taken);
        }
        let left: Vec<u32> =
            drain(&mut port, Time::from_secs(9)).iter().map(|left| left.0).collect();
        assert_eq!(left, expected, "{order:?}");
    }
}

/// Ten packets of data, of which one is in transmission, and then connection packets: with a step
/// at five the instantaneous queue refuses all but holds two.
fn holding(measure: Measure, w: f64) -> Port<u32> {
    let config = Config {
        blocked: Blocked::Hold,
        hold_packets: 2,
        measure,
        w: Setting::Is(w),
        ..triple(5.0, 5.0, 1.0)
    };
    let config = Config { mean_packet: Size::from_bytes(576), ..config };
    let mut port = port(&config, 90);
    for flow in 0..10 {
        assert_eq!(send(&mut port, data(), flow, Time::ZERO), Outcome::Taken);
    }
    for flow in 10..13 {
        let outcome = send(&mut port, syn(), flow, Time::ZERO);
        let expected =
            if flow < 12 { Outcome::Taken } else { Outcome::Lost(Reason::Connection, flow) };
        assert_eq!(outcome, expected, "flow {flow}");
    }
    port
}

/// features D4: two are held back, the third is lost (bounded). Eight data packets that come later
/// overtake them while five or more wait: when 10 is the oldest, 20 to 27 wait; once 20 to 23 have
/// left, four do.
#[test]
fn held_connections_go_when_the_queue_has_sunk() {
    let mut port = holding(Measure::Instantaneous, 1.0);
    for flow in 20..28 {
        assert_eq!(send(&mut port, data(), flow, Time::ZERO), Outcome::Taken);
    }
    let order: Vec<u32> = drain(&mut port, Time::from_secs(9)).iter().map(|left| left.0).collect();
    let expected = (0..10).chain(20..24).chain(10..12).chain(24..28);
    assert_eq!(order, expected.collect::<Vec<_>>());
    assert_eq!(port.queue_packets(), 0);
}

/// The same by the average, over a link that falls idle with two held back: they go when it has
/// decayed to the step, to the picosecond that the closed form gives, and not before.
#[test]
fn held_connections_wait_at_an_idle_link_until_the_average_has_sunk() {
    let mut port = holding(Measure::Average, 0.9);
    let average = port.avg_queue_packets(Time::ZERO).expect("the law keeps one");
    assert!((8.0..9.0).contains(&average), "{average}");
    let delivered = drain(&mut port, Time::from_secs(9));
    let order: Vec<u32> = delivered.iter().map(|left| left.0).collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let services = libm::log(5.0 / average) / libm::log(0.1);
    // ten services of 46.08 ms, the decay, 3.2 ms for 40 B, and the delay
    let expected = 0.4608 + services * 0.046_08 + 0.0032 + 0.02;
    let measured = delivered[10].1.secs();
    assert!((measured - expected).abs() < 1e-6, "measured {measured}, expected {expected}");
    // the second follows at once
    assert!((delivered[11].1.secs() - measured - 0.0032).abs() < 1e-9);
}

/// What is out of range is refused under the name that was written.
#[test]
fn parameters_out_of_range_are_named() {
    let red = |red| Config { over: QueueLaw::Red(red).into(), ..p3() };
    let cases = [
        (triple(-1.0, 90.0, 0.4), "x_m"),
        (triple(45.0, 44.0, 0.4), "x_M"),
        (triple(0.0, 0.0, 0.4), "x_M"),
        (triple(45.0, 90.0, 1.1), "P_M"),
        (Config { queues: 3, ..p3() }, "queues"),
        (Config { w: Setting::Is(0.0), ..p3() }, "w"),
        (Config { hold_packets: 0, ..p3() }, "hold_packets"),
        (Config { blocked: Blocked::Hold, ..triple(0.0, 90.0, 0.4) }, "x_m"),
        (Config { mean_packet: Size::from_bytes(0), ..p3() }, "mean_packet"),
        (red(red::Config { max_p: 2.0, ..red::Config::default() }), "over.max_p"),
        (red(red::Config { max_th: Setting::Is(0.0), ..red::Config::default() }), "over.max_th"),
    ];
    for (config, field) in cases {
        assert_eq!(config.check(SLOW).expect_err(field).0, field);
    }
}
