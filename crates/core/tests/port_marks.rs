//! Marks of a port's stages: whichever stage marks a packet, it leaves with CE and is counted once.

use crate::draws::Never;
use tidegate_core::law::greedy::Filter;
use tidegate_core::law::queue::{ArrivalContext, Discipline, QueueLaw, Waiting, dqm};
use tidegate_core::law::settings::{Link, Setting};
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Outcome, Port, Stages};
use tidegate_core::units::{Rate, Time};

/// A stage that always says the same.
struct Always(Verdict);

impl PerPacket for Always {
    fn arrive(&mut self, _: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        self.0
    }
}

impl Filter for Always {}

const PASS: Verdict = Verdict::Pass;
const MARK: Verdict = Verdict::Mark(Reason::Filtered);
const DROP: Verdict = Verdict::Drop(Reason::Custom);

/// What becomes of a packet: its outcome, whether it left with CE, and how many marks were counted.
fn fate(filter: Verdict, custom: Option<Verdict>, flags: Flags) -> (Outcome, Option<bool>, u64) {
    let mut stages = Stages::new();
    stages.filter = Some(Box::new(Always(filter)));
    stages.custom = custom.map(|verdict| Box::new(Always(verdict)) as Box<dyn PerPacket>);
    let mut port: Port = Port::new(0, Rate::from_bps(8_000_000), Time::ZERO, Limit::Packets(9))
        .with_stages(stages, Box::new(Never));
    let outcome = port.arrive(&Packet { size: 1000, flags, ..Packet::default() }, (), Time::ZERO);
    let left = port.deliver(Time::from_secs(1)).map(|(packet, ())| packet.flags.has(Flags::CE));
    (outcome, left, port.counters().marked)
}

/// A verdict to mark lets the packet go on with CE (`Verdict::Mark`), so what a later stage says
/// can only add to it: pass leaves the mark, and one more mark is the same mark. A packet without
/// ECT is dropped for it.
#[test]
fn the_mark_of_a_filter_stays_whatever_comes_behind_it() {
    let ect = Flags::DATA.with(Flags::ECT);
    let marked = (Outcome::Taken, Some(true), 1);
    for custom in [None, Some(PASS), Some(MARK)] {
        assert_eq!(fate(MARK, custom, ect), marked, "{custom:?} behind a filter that marks");
        let (outcome, left, _) = fate(MARK, custom, Flags::DATA);
        assert_eq!((outcome, left), (Outcome::Lost(Reason::Filtered, ()), None), "{custom:?}");
    }
    assert_eq!(fate(PASS, Some(MARK), ect), marked);
    assert_eq!(fate(PASS, Some(PASS), ect), (Outcome::Taken, Some(false), 0));
    assert_eq!(fate(MARK, Some(DROP), ect), (Outcome::Lost(Reason::Custom, ()), None, 0));
}

impl Discipline for Always {
    fn arrive(
        &mut self,
        _: &Packet,
        _: &mut Waiting,
        _: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        self.0
    }
}

/// The average of `dqm` over a law that says this of every packet: ten come at once, and one each
/// 20 and 30 ms after these have been sent.
fn average(beneath: Verdict) -> f64 {
    let link = Link { rate: Rate::from_bps(8_000_000), delay: Time::ZERO };
    let settings = dqm::Config { w: Setting::Is(0.05), ..dqm::Config::default() };
    let mut stages = Stages::new();
    stages.queue = QueueLaw::Dqm(settings).build(link);
    stages.queue.put_own(Box::new(Always(beneath)));
    let mut port: Port = Port::new(0, link.rate, Time::ZERO, Limit::Packets(90))
        .with_stages(stages, Box::new(Never));
    let packet = Packet { size: 1000, flags: Flags::DATA.with(Flags::ECT), ..Packet::default() };
    for ms in [[0; 10].as_slice(), &[30, 40]].concat() {
        assert_eq!(port.arrive(&packet, (), Time::from_ms(ms)), Outcome::Taken);
    }
    port.avg_queue_packets(Time::from_ms(50)).expect("dqm keeps one")
}

/// A packet that is marked waits as any other does and is sent, so the link is as long idle, and the
/// average sinks as far.
#[test]
fn a_mark_beneath_dqm_leaves_its_average() {
    assert_eq!(average(MARK), average(PASS));
}
