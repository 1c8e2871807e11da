//! DualPI2 against RFC 9332, by hand.

use tidegate_core::law::queue::dualpi2::{Config, Dualpi2};
use tidegate_core::law::queue::{ArrivalContext, Discipline, Next, Room, Slot, Sum, Waiting};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Reason, Verdict, View};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Rate, Time};

use crate::draws::Never;

const LINK: Link = Link { rate: Rate::from_bps(100_000_000), delay: Time::from_ms(10) };
const NOT_ECT: Flags = Flags::DATA;
const ECT_0: Flags = Flags::DATA.with(Flags::ECT);
const ECT_1: Flags = ECT_0.with(Flags::L4S);

/// What happened to a packet at its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Sent,
    Marked,
    Lost,
}

/// DualPI2 with packets of 1000 B, and a clock.
struct Rig {
    law: Dualpi2,
    waiting: Waiting,
    now: Time,
}

impl Rig {
    fn new(config: &Config) -> Rig {
        config.check(LINK).expect("the parameters are in range");
        let mut law = Dualpi2::new(config, LINK);
        let first = law.start(Time::from_secs(1)).expect("built-in laws never fail");
        assert_eq!(first, Time::from_secs(1) + config.t_update());
        Rig { law, waiting: Waiting::new(), now: Time::from_secs(1) }
    }

    fn arrive(&mut self, flags: Flags) {
        let packet = Packet { size: 1000, flags, at: self.now, ..Packet::default() };
        let queue = Sum { packets: self.waiting.packets(), bytes: self.waiting.bytes() };
        let room = Room { packets: 100_000, bytes: u64::MAX };
        let pace = LINK.rate.pace();
        let found = ArrivalContext { now: self.now, queue, fits: true, idle: None, pace, room };
        let verdict = self.law.arrive(&packet, &mut self.waiting, &found, &mut Never);
        assert_eq!(verdict, Verdict::Pass);
        let handle = self.waiting.push(&packet);
        self.law.taken(handle, &mut self.waiting);
    }

    /// The next packet's flags and fate.
    fn serve(&mut self) -> (Flags, Fate) {
        let slot = Slot { start: self.now, idle: Time::ZERO, pace: LINK.rate.pace() };
        let (handle, fate) = match self.law.next(&mut self.waiting, &slot, &mut Never) {
            Next::Send(handle) => (handle, Fate::Sent),
            Next::Mark(handle) => (handle, Fate::Marked),
            Next::Drop(handle, Reason::Early) => (handle, Fate::Lost),
            other => panic!("it has packets to send: {other:?}"),
        };
        (self.waiting.take(handle).expect("it waits").flags, fate)
    }

    fn tick(&mut self) {
        let view = View {
            rate: LINK.rate,
            queue_packets: self.waiting.packets(),
            queue_bytes: self.waiting.bytes(),
            min_queue_packets: 0,
            queue_offered: 0,
            queue_drops: 0,
            busy: Time::ZERO,
            idle_since: None,
            queued: &self.waiting,
        };
        self.law.tick(self.now, &view).expect("built-in laws never fail");
    }

    /// Of so many packets that find no queue, how many meet which fate.
    fn alone(&mut self, flags: Flags, packets: u32) -> [u32; 3] {
        let mut fates = [0; 3];
        for _ in 0..packets {
            self.arrive(flags);
            fates[self.serve().1 as usize] += 1;
        }
        fates
    }

    /// One Classic packet has waited so long when the probability is updated.
    fn updated_at(config: &Config, delay: Time) -> Rig {
        let mut rig = Rig::new(config);
        rig.arrive(NOT_ECT);
        rig.now += delay;
        rig.tick();
        rig.serve();
        rig
    }
}

/// A.1: Tupdate = min(15 ms, 100 ms / 3); alpha = 0.1 * 0.015 / 0.1^2 = 0.15 /s and
/// beta = 0.3 / 0.1 = 3 /s. From 20 to 25 ms: 0.15 * 0.010 + 3 * 0.005 = 0.0165.
#[test]
fn the_gains_follow_from_the_longest_round_trip() {
    let config = Config::default();
    assert_eq!(config.t_update(), Time::from_ms(15));
    let p = config.updated(0.1, Time::from_ms(25), Time::from_ms(20));
    assert!((p - 0.1165).abs() < 1e-12, "{p}");
    assert_eq!(config.updated(0.001, Time::ZERO, Time::from_ms(20)), 0.0);
    assert_eq!(config.updated(0.5, Time::from_secs(1), Time::ZERO), 1.0);
}

/// 2.1: Classic packets meet signals with the square of what L4S packets meet over k.
/// The delay rises from 0 to 25 ms: p' = 0.15 * 0.010 + 3 * 0.025 = 0.0765. Of 1000
/// packets k p' marks 153 of the L4S ones, and p'^2 loses 5.85 of the Classic ones.
#[test]
fn the_queues_are_coupled_by_a_square() {
    let rig = || Rig::updated_at(&Config::default(), Time::from_ms(25));
    assert_eq!(rig().alone(ECT_1, 1000), [847, 153, 0]);
    assert_eq!(rig().alone(NOT_ECT, 1000), [995, 0, 5]);
    assert_eq!(rig().alone(ECT_0, 1000), [995, 5, 0]);
}

/// Figure 2: only the last bit of the ECN field matters, so CE joins the L4S queue.
#[test]
fn what_is_marked_already_joins_the_l4s_queue() {
    let mut rig = Rig::new(&Config::default());
    rig.arrive(ECT_0);
    rig.arrive(ECT_0.with(Flags::CE));
    assert!(rig.serve().0.has(Flags::CE));
}

/// A.1 (`laqm`): no mark up to 1 ms; all packets above, but for the last of the queue.
#[test]
fn a_step_marks_l4s_packets_that_have_waited() {
    let mut rig = Rig::new(&Config::default());
    rig.arrive(ECT_1);
    rig.arrive(ECT_1);
    rig.arrive(ECT_1);
    rig.now += Time::from_ms(1);
    assert_eq!(rig.serve(), (ECT_1, Fate::Sent));
    rig.now += Time::from_ns(1000);
    // its probability is 1, and the sum has to go above 1
    assert_eq!(rig.serve(), (ECT_1, Fate::Sent));
    rig.arrive(ECT_1);
    rig.now += Time::from_ms(2);
    assert_eq!(rig.serve(), (ECT_1, Fate::Marked));
    assert_eq!(rig.serve(), (ECT_1, Fate::Sent), "one packet is no queue");
}

/// A.1: 800 us and a range of 400 us mark half of the packets at 1 ms.
#[test]
fn a_ramp_marks_a_share() {
    let (step, range) = (Time::from_ns(1000 * 800), Time::from_ns(1000 * 400));
    let config = Config { step, range, ..Config::default() };
    for (delay, share) in [(800, 0.0), (900, 0.25), (1000, 0.5), (1200, 1.0), (5000, 1.0)] {
        let native = config.native(Time::from_ns(1000 * delay));
        assert!((native - share).abs() < 1e-9, "{delay} us: {native}");
    }
}

/// A weight of 10 % for the Classic queue: of 1000 packets 100, while both wait.
#[test]
fn the_classic_queue_has_its_share() {
    let mut rig = Rig::new(&Config::default());
    for _ in 0..1000 {
        rig.arrive(ECT_1);
        rig.arrive(NOT_ECT);
    }
    let classic = (0..1000).filter(|_| rig.serve().0 == NOT_ECT).count();
    assert!((99..=101).contains(&classic), "{classic}");
}

/// A.2: from k p' = 1 on L4S packets are lost by p'^2, and those that are left all marked;
/// from p'^2 = 1 / k^2 on ECT(0) is lost as the others are. The delay rises from 0 to 200 ms:
/// p' = 0.15 * 0.185 + 3 * 0.2 = 0.62775; p'^2 = 0.39407.
#[test]
fn overload_is_met_with_losses() {
    let rig = || Rig::updated_at(&Config::default(), Time::from_ms(200));
    let [_, marked, lost] = rig().alone(ECT_1, 1000);
    assert_eq!(lost, 394);
    assert!(marked >= 605, "{marked}");
    assert_eq!(rig().alone(ECT_0, 1000)[1..], [0, 394]);
}

/// Without drops on overload p' stays at 1 / k, so that all L4S packets are marked once.
#[test]
fn marks_alone_when_asked_for() {
    let config = Config { drop_on_overload: false, ..Config::default() };
    let mut rig = Rig::updated_at(&config, Time::from_secs(10));
    let [_, marked, lost] = rig.alone(ECT_1, 1000);
    assert_eq!((marked >= 999, lost), (true, 0));
}
