//! L4S from end to end: Prague, CUBIC and unresponsive traffic at DualPI2 (RFC 9332).

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::queue::dualpi2::{Config, Dualpi2};
use tidegate_core::law::queue::{ArrivalContext, Discipline, Handle, Next, Queue, Slot, Waiting};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Draw, Fault, Turn, Verdict, View};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::{Rate, Time};
use tidegate_sim::{Custom, Results};

/// How long L4S packets and Classic ones have waited, in seconds.
type Waits = Arc<Mutex<[Vec<f64>; 2]>>;

/// DualPI2, with a note of how long each packet that is sent has waited.
struct Noted {
    law: Dualpi2,
    waits: Waits,
}

impl Discipline for Noted {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.law.arrive(packet, waiting, found, draw)
    }

    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        self.law.taken(handle, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, draw: &mut dyn Draw) -> Next {
        let next = self.law.next(waiting, slot, draw);
        if let Next::Send(handle) | Next::Mark(handle) = next
            && let Some(packet) = waiting.get(handle)
        {
            let classic = usize::from(!packet.flags.has(Flags::L4S));
            let mut waits = self.waits.lock().expect("no one panicked");
            waits[classic].push((slot.start - packet.at).secs());
        }
        next
    }

    fn start(&mut self, now: Time) -> Result<Time, Fault> {
        self.law.start(now)
    }

    fn tick(&mut self, now: Time, view: &View<'_>) -> Result<Turn, Fault> {
        self.law.tick(now, view)
    }
}

/// 100 Mbit/s and 20 ms of round trip, with these classes of traffic.
fn at_dualpi2(classes: &str) -> (Results, [Vec<f64>; 2]) {
    let text = format!(
        r#"
        name = "l4s"
        duration = "40s"
        warmup = "10s"
        [topology.dumbbell]
        pairs = 10
        access = {{ rate = "1Gbit", delay = "0.5ms" }}
        bottleneck = {{ rate = "100Mbit", delay = "9ms", buffer = "250ms" }}
        {classes}
        "#
    );
    let link = Link { rate: Rate::from_bps(100_000_000), delay: Time::from_ms(9) };
    let waits = Waits::default();
    let law = Dualpi2::new(&Config::default(), link);
    let mut stages = Stages::new();
    stages.queue = Queue::Custom(Box::new(Noted { law, waits: waits.clone() }));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &[]), 1, custom);
    let mut waits = std::mem::take(&mut *waits.lock().expect("no one panicked"));
    waits.iter_mut().for_each(|waits| waits.sort_by(f64::total_cmp));
    (results, waits)
}

fn tcp(name: &str, flows: u32, control: &str) -> String {
    format!(
        "[traffic.{name}]\narrivals = {{ uniform = {flows}, within = \"1s\" }}\n\
         size = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\", control = \"{control}\" }} }}\n"
    )
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(share * (sorted.len() - 1) as f64) as usize]
}

/// The sums of a column over the flows of the first class, and of the second.
fn by_class(results: &Results, name: &str) -> [f64; 2] {
    let class = column(&results.flows, "class");
    let rows = || class.iter().zip(column(&results.flows, name));
    [0.0, 1.0].map(|one| rows().filter(|(class, _)| **class == one).map(|(_, value)| value).sum())
}

/// RFC 9332, 1.2 and 2.1: L4S packets hardly wait beside Classic ones, whose delay is steered to
/// 15 ms, and the rates of five flows of each kind are alike (within a factor of 1.5).
#[test]
fn prague_hardly_waits_beside_cubic() {
    let (results, [l4s, classic]) =
        at_dualpi2(&(tcp("prague", 5, "prague") + &tcp("cubic", 5, "cubic")));
    let p99 = quantile(&l4s, 0.99);
    assert!(p99 < 0.002, "{p99}");
    let median = quantile(&classic, 0.5);
    assert!((0.008..0.020).contains(&median), "{median}");
    let [prague, cubic] = by_class(&results, "delivered_bytes");
    assert!((1.0 / 1.5..1.5).contains(&(prague / cubic)), "{prague} {cubic}");
    assert!(total(&results, "bottleneck", "utilisation") > 0.98);
    assert_eq!(by_class(&results, "retransmitted_packets")[0], 0.0, "marks alone");
}

/// RFC 9332, 2.1 and C.1: the coupling makes the windows of both kinds alike, and the rates differ
/// as the round trips do, of which Classic packets spend 15 ms in their queue. Here one flow of each
/// kind, and both within a tenth.
#[test]
fn one_flow_of_each_kind_has_the_same_window() {
    let classes = tcp("prague", 1, "prague") + &tcp("cubic", 1, "cubic");
    let series = "[series]\nflows = [\"prague:0\", \"cubic:0\"]\nevery = \"20ms\"\n";
    let (results, _) = at_dualpi2(&(classes + series));
    let flow = column(&results.flow_series, "flow");
    let late: Vec<bool> =
        column(&results.flow_series, "time_s").iter().map(|time| *time > 20.0).collect();
    let mean_of = |name: &str| {
        let values = column(&results.flow_series, name);
        [0.0, 1.0].map(|one| {
            let rows = values.iter().zip(&flow).zip(&late);
            let mine: Vec<f64> = rows
                .filter(|((_, flow), late)| **late && **flow == one)
                .map(|((value, _), _)| *value)
                .collect();
            mean(&mine)
        })
    };
    let [prague, cubic] = mean_of("cwnd_packets");
    assert!((0.9..1.1).contains(&(prague / cubic)), "{prague} {cubic}");
    let [short, long] = mean_of("srtt_s");
    let [fast, slow] = mean_of("rate_bps");
    let (rates, trips) = (fast / slow, long / short);
    assert!((0.9..1.1).contains(&(rates / trips)), "{rates} {trips}");
}

/// RFC 8257, 3: DCTCP too keeps the queue short, by marks of the same queue, and the link in use.
/// Its packets are ECT(0), so that DualPI2 takes them for Classic ones and CoDel marks them.
#[test]
fn dctcp_keeps_a_marking_queue_short() {
    let mean = |control: &str, queue: &str| {
        let text = format!(
            "name = \"dctcp\"\nduration = \"20s\"\nwarmup = \"5s\"\n[topology.dumbbell]\n\
             access = {{ rate = \"1Gbit\", delay = \"0.1ms\" }}\n\
             bottleneck = {{ rate = \"100Mbit\", delay = \"1ms\", buffer = \"500packets\" }}\n\
             [port.bottleneck]\nqueue = {queue}\n{}",
            tcp("long", 2, control)
        );
        let results = run(&load(&text, &[]), 1);
        assert!(total(&results, "bottleneck", "utilisation") > 0.97, "{control}");
        total(&results, "bottleneck", "queue_mean_packets")
    };
    // a step at 20 packets (RFC 8257, 4.1: a threshold K on the instantaneous queue)
    let step = "{ law = \"red\", min_th = 19, max_th = 20, max_p = 1.0, w = 1.0, ecn = true }";
    let dctcp = mean("dctcp", step);
    assert!((5.0..30.0).contains(&dctcp), "{dctcp}");
    let reno = mean("reno", "{ law = \"drop-tail\" }");
    assert!(reno > 3.0 * dctcp, "{reno} {dctcp}");
}

/// RFC 9332, 4.2.3 and A.2: marks do not slow an unresponsive flow of ECT(1) at twice the link.
/// So its excess, half of its packets, is lost; the L4S queue then waits as long as the target of
/// the Classic queue; and Classic packets keep their share of the turns, so that they do not wait.
#[test]
fn overload_by_ect_1_is_met_with_losses() {
    let flood = "[traffic.flood]\narrivals = { at = [\"0s\"] }\nstop = \"40s\"\n\
         transport = { udp = { rate = \"200Mbit\", ecn = \"ect1\" } }\n";
    let (results, [l4s, classic]) = at_dualpi2(&(flood.to_owned() + &tcp("cubic", 1, "cubic")));
    let count = |name: &str| total(&results, "bottleneck", name);
    let lost = count("drops_early") / count("arrived_packets");
    assert!((0.48..0.53).contains(&lost), "{lost}");
    let waited = quantile(&l4s, 0.5);
    assert!((0.012..0.018).contains(&waited), "{waited}");
    assert!(quantile(&classic, 0.99) < 0.015, "{}", quantile(&classic, 0.99));
    assert!(count("utilisation") > 0.98);
}

/// Loads that no signal slows down, beside another implementation of DualPI2: that of the public
/// repository GPRT/l4s-for-ns3 in ns-3 3.44, with RFC 9332's gains. By hand, of Classic packets so
/// many are lost that the rest fits, `p_C = 1 - (C - L) / offered`, and L4S packets are marked with
/// `k sqrt(p_C)`: 0.1818 and 0.853; 0.0625 and 0.5. There it was, of packets that are 2 B longer,
/// 0.1836 and 0.851 to 0.867; 0.0646 and 0.502 to 0.504; and half of the Classic packets waited
/// 15.3 and 15.5 ms, half of the L4S ones 0.4 to 0.7 ms where the link has 10 Mbit/s.
#[test]
fn unresponsive_loads_meet_what_another_implementation_does() {
    for (flows, each, lost, marked, there_s) in
        [(11, 10, 0.1818, 0.853, 0.0153), (6, 16, 0.0625, 0.5, 0.0155)]
    {
        let udp = |name: &str, flows: u32, mbit: u32, ecn: &str| {
            format!(
                "[traffic.{name}]\narrivals = {{ uniform = {flows}, within = \"1s\" }}\ntransport = \
                 {{ udp = {{ rate = \"{mbit}Mbit\", packet = \"1000B\"{ecn} }} }}\n"
            )
        };
        let loads = udp("one", flows, each, "") + &udp("two", 5, 2, ", ecn = \"ect1\"");
        let (results, [l4s, classic]) = at_dualpi2(&loads);
        let count = |name: &str| total(&results, "bottleneck", name);
        let share = 10.0 / f64::from(flows * each + 10);
        let arrived = count("arrived_packets");
        let found = count("drops_early") / (arrived * (1.0 - share));
        assert!((found - lost).abs() < 0.003, "{found}");
        let found = count("marked") / (arrived * share);
        assert!((found - marked).abs() < 0.02, "{found}");
        let waited = quantile(&classic, 0.5);
        assert!((waited / there_s - 1.0).abs() < 0.05, "{waited}");
        assert!(quantile(&l4s, 0.5) < 0.0007);
    }
}
