//! The seams that later laws need, each probed by a small law of the test's own.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::queue::{ArrivalContext, Discipline, Queue, Waiting};
use tidegate_core::law::session::{Admission, Admit, Counts, Knobs};
use tidegate_core::law::{
    Controller, Decision, Draw, Fault, PerPacket, Reason, Step, Verdict, View,
};
use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::port::{Stage, Stages};
use tidegate_core::units::Time;
use tidegate_sim::transport::control::{CongestionEvent, Control, RateSample, Signal};
use tidegate_sim::{Custom, Progress, Simulation};

type Noted<T> = Arc<Mutex<Vec<T>>>;

fn note<T>(to: &Noted<T>, value: T) {
    to.lock().expect("no one panicked").push(value);
}

fn noted<T: Clone>(from: &Noted<T>) -> Vec<T> {
    from.lock().expect("no one panicked").clone()
}

/// A fixed window, a fixed gap, and a note of what the receiver echoes.
struct Paced {
    gap: Option<Time>,
    echoes: Noted<(f64, [u32; 4])>,
}

impl Control for Paced {
    fn cwnd(&self) -> f64 {
        10.0
    }
    fn gap(&self) -> Option<Time> {
        self.gap
    }
    fn header(&mut self, _: Time) -> Ext {
        Ext::Custom([u32::MAX, 0, 0, 0])
    }
    fn on_ack(&mut self, ack: &RateSample<'_>) {
        if let Ext::Custom(words) = ack.ext {
            note(&self.echoes, (ack.now.secs(), *words));
        }
    }
    fn on_congestion(&mut self, _: Signal, _: &CongestionEvent) {}
    fn on_timeout(&mut self, _: &CongestionEvent, _: bool) {}
}

/// Writes the start of service, in microseconds, into what the sender asked for.
#[derive(Default)]
struct Stamp {
    arrivals: Noted<f64>,
    departures: Noted<f64>,
}

impl PerPacket for Stamp {
    fn enqueued(&mut self, packet: &Packet, now: Time) {
        if packet.flags.has(Flags::DATA) {
            note(&self.arrivals, now.secs());
        }
    }
    fn depart(&mut self, packet: &mut Packet, now: Time) {
        if packet.flags.has(Flags::DATA) {
            note(&self.departures, now.secs());
            if let Ext::Custom(words) = &mut packet.ext {
                words[1] = (now.ps() / 1_000_000) as u32;
            }
        }
    }
}

const ONE: &str = "[traffic.one]\narrivals = { at = [\"0s\"] }\nsize = \"10000B\"\n\
    transport = { tcp = { profile = \"rfc\", mss = \"1000B\", delayed_ack = false } }";

fn controlled(
    gap: Option<Time>,
    echoes: &Noted<(f64, [u32; 4])>,
) -> Vec<(String, tidegate_sim::Factory)> {
    let echoes = echoes.clone();
    let factory =
        Box::new(move || Box::new(Paced { gap, echoes: echoes.clone() }) as Box<dyn Control>);
    vec![("one".into(), factory as tidegate_sim::Factory)]
}

/// A stamp is written when service starts, not on arrival, and comes back to the sender.
#[test]
fn a_stamp_is_written_at_departure_and_echoed() {
    let stamp = Stamp::default();
    let (arrivals, departures) = (stamp.arrivals.clone(), stamp.departures.clone());
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(stamp));
    let echoes = Noted::default();
    let custom = Custom {
        stages: vec![("bottleneck".into(), stages)],
        controls: controlled(None, &echoes),
        ..Custom::default()
    };
    let scenario = load(&format!("{LINK}{ONE}"), &[]);
    let results = run_with(&scenario, 1, custom);
    assert!(flow(&results, "closed_s") > 0.0);
    let (arrivals, departures) = (noted(&arrivals), noted(&departures));
    // ten packets of 1040 B come at 100 and leave at 10 Mbit/s: the k-th waits k times 0.7488 ms
    for (k, (arrived, departed)) in arrivals.iter().zip(&departures).enumerate() {
        let expected = k as f64 * 1040.0 * 8.0 * (1.0 / 10e6 - 1.0 / 100e6);
        assert!((departed - arrived - expected).abs() < 1e-9, "{k}: {arrived} {departed}");
    }
    let told: Vec<u32> = noted(&echoes).iter().map(|(_, words)| words[1]).collect();
    let written: Vec<u32> = departures.iter().map(|at| (at * 1e6).floor() as u32).collect();
    // the last acknowledgement closes the flow and is not told to its control
    assert_eq!(told, written[..9]);
}

/// A paced control spaces its packets by its gap, and the timer does not mistake it for a loss.
#[test]
fn a_paced_control_spaces_its_packets() {
    let stamp = Stamp::default();
    let arrivals = stamp.arrivals.clone();
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(stamp));
    let custom = Custom {
        stages: vec![("bottleneck".into(), stages)],
        controls: controlled(Some(Time::from_ms(7)), &Noted::default()),
        ..Custom::default()
    };
    let results = run_with(&load(&format!("{LINK}{ONE}"), &[]), 1, custom);
    let arrivals = noted(&arrivals);
    assert_eq!(arrivals.len(), 10);
    // the first comes behind the acknowledgement of the handshake: 40 B at 100 Mbit/s
    assert!((arrivals[1] - arrivals[0] - 0.007 + 3.2e-6).abs() < 1e-9, "{arrivals:?}");
    for two in arrivals[1..].windows(2) {
        assert!((two[1] - two[0] - 0.007).abs() < 1e-9, "{arrivals:?}");
    }
    assert_eq!(flow(&results, "timeouts"), 0.0);
    assert_eq!(flow(&results, "delivered_bytes"), 10_000.0);
}

/// Refuses every SYN with word to its sender.
struct RejectSyns;

impl PerPacket for RejectSyns {
    fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        if packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK) {
            return Verdict::Reject(Reason::SessionRefused);
        }
        Verdict::Pass
    }
}

/// A rejected opener hears of it after its way to the port and back: 2 (1 ms + 3.2 us).
#[test]
fn a_law_that_rejects_is_answered_by_a_reset() {
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(RejectSyns));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&format!("{LINK}{ONE}"), &[]), 1, custom);
    assert!((flow(&results, "gave_up_s") - 0.002_006_4).abs() < 1e-12);
    assert_eq!(flow(&results, "syn_tries"), 1.0);
}

/// Gives a waiting packet up for every arrival at a full queue: the oldest.
struct DropFront;

impl Discipline for DropFront {
    fn arrive(
        &mut self,
        _: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        if !found.fits {
            let Some(oldest) = waiting.oldest() else { return Verdict::Drop(Reason::QueueFull) };
            waiting.evict(oldest);
        }
        Verdict::Pass
    }
}

/// A queue that evicts works under real flows: all bytes arrive, every eviction
/// is counted, and nothing is lost on arrival.
#[test]
fn a_queue_may_evict() {
    let text = format!(
        "{LINK}\n[traffic.many]\narrivals = {{ uniform = 20, within = \"1s\" }}\n\
         size = \"200kB\"\ntransport = {{ tcp = {{ profile = \"linux\" }} }}"
    );
    let settings = [("topology.dumbbell.bottleneck.buffer", "20packets"), ("duration", "300s")];
    let mut stages = Stages::new();
    stages.queue = Queue::Custom(Box::new(DropFront));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &settings), 1, custom);
    assert!(column(&results.flows, "delivered_bytes").iter().all(|&bytes| bytes == 200_000.0));
    let evicted: f64 = column(&results.port_totals, "drops_evicted").iter().sum();
    let full: f64 = column(&results.port_totals, "drops_queue_full").iter().sum();
    assert!(evicted > 50.0, "{evicted}");
    assert_eq!(full, 0.0);
    // the seven or so retransmissions that every eviction of data causes at least
    let again: f64 = column(&results.flows, "retransmitted_packets").iter().sum();
    assert!(again >= column(&results.port_totals, "data_dropped").iter().sum());
}

/// Admits so many sessions in the k-th epoch of a second.
struct Table {
    epoch: usize,
    fails: bool,
}

impl Controller<Knobs, Counts> for Table {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.allowance = 1;
        Ok(now + Time::from_secs(1))
    }
    fn update(&mut self, now: Time, view: &View<'_>, _: &Counts, knobs: &mut Knobs) -> Step {
        if self.fails {
            return Err("the user's law is broken".into());
        }
        assert_eq!(view.rate.bps(), 10_000_000);
        self.epoch += 1;
        knobs.allowance = self.epoch as u64 + 1;
        let decision = Decision { phase: "table", set: self.epoch as f64 + 1.0, from: 0.0 };
        Ok((now + Time::from_secs(1), Some(decision)))
    }
}

const OWN: &str = "[port.bottleneck]\ngate = { law = \"python\", name = \"mine\" }\n\
    [traffic.web]\narrivals = { every = \"1ms\" }\nsize = \"100B\"\n\
    transport = { tcp = { profile = \"ns2-2005\" } }";

/// An interval law of the user's own plugs in by its name and is asked on time.
#[test]
fn a_law_of_ones_own_sets_the_allowance() {
    let scenario = load(&format!("{LINK}{OWN}"), &[("duration", "5s")]);
    let mut laws = |name: &str| {
        (name == "mine").then(|| {
            Box::new(Table { epoch: 0, fails: false }) as Box<dyn Controller<Knobs, Counts>>
        })
    };
    let custom = Custom { laws: Some(&mut laws), ..Custom::default() };
    let results = run_with(&scenario, 1, custom);
    assert_eq!(column(&results.events, "time_s"), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(column(&results.events, "admitted"), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(Simulation::new(&scenario, 1, Custom::default()).is_err(), "no such law");
}

/// A law that fails ends the run with its own error.
#[test]
fn a_law_that_fails_ends_the_run() {
    let scenario = load(&format!("{LINK}{OWN}"), &[("duration", "5s")]);
    let mut laws = |_: &str| {
        Some(Box::new(Table { epoch: 0, fails: true }) as Box<dyn Controller<Knobs, Counts>>)
    };
    let custom = Custom { laws: Some(&mut laws), ..Custom::default() };
    let mut run = Simulation::new(&scenario, 1, custom).expect("the law is there");
    let fault = run.advance(Time::NEVER, u64::MAX).expect_err("the law fails at 1 s");
    assert_eq!(fault.to_string(), "the user's law is broken");
}

/// The events of a run, and its decisions.
fn events(text: &str, custom: Custom<'_>) -> (usize, Vec<f64>) {
    let scenario = load(text, &[("duration", "5s")]);
    let mut run = Simulation::new(&scenario, 1, custom).expect("the scenario can be built");
    let mut events = 0;
    while run.advance(Time::NEVER, 1).expect("the law does not fail") == Progress::Paused {
        events += 1;
    }
    (events, column(&run.finish().events, "time_s"))
}

/// Stages that are handed in take the place of those of the scenario: its law is not asked for and
/// not started, and each epoch of the other law has one tick. So the run has as many events as one
/// whose scenario has no gate at that port.
#[test]
fn stages_that_are_handed_in_are_the_only_ones() {
    let run = |text: &str| {
        let asked = Noted::default();
        let mut laws = |name: &str| {
            note(&asked, name.to_owned());
            Some(Box::new(Table { epoch: 0, fails: true }) as Box<dyn Controller<Knobs, Counts>>)
        };
        let mut stages = Stages::new();
        let law = Box::new(Table { epoch: 0, fails: false });
        stages.gate = Some(Stage::new(Admit::new(Admission::default()), law));
        let stages = vec![("bottleneck".to_owned(), stages)];
        let custom = Custom { laws: Some(&mut laws), stages, ..Custom::default() };
        (events(text, custom), noted(&asked))
    };
    let gated = format!("{LINK}{OWN}");
    let open = gated.replace("gate = {", "# gate = {");
    let ((found, times), asked) = run(&gated);
    let ((expected, _), _) = run(&open);
    assert_eq!(times, [1.0, 2.0, 3.0, 4.0, 5.0], "one decision in each epoch");
    assert_eq!(found, expected, "events");
    assert_eq!(asked, [""; 0], "no law of the scenario is asked for");
}

/// A name that the scenario does not have is refused, whatever was handed in under it.
#[test]
fn names_that_are_not_there_are_refused() {
    let web = "[traffic.web]\narrivals = { every = \"1s\" }\nsize = \"100B\"\n";
    let udp = "[traffic.voice]\narrivals = { at = [\"0s\"] }\nsize = \"1kB\"\n\
        transport = { udp = { rate = \"64kbit\" } }\n";
    let scenario = load(&format!("{LINK}{web}{udp}"), &[]);
    let refused =
        |custom| Simulation::new(&scenario, 1, custom).err().map(|error| error.to_string());
    let stages = vec![("botleneck".to_owned(), Stages::new())];
    let message = refused(Custom { stages, ..Custom::default() });
    assert_eq!(message.as_deref(), Some("no port is named `botleneck`"));
    for class in ["wep", "voice"] {
        let mut controls = controlled(None, &Noted::default());
        controls[0].0 = class.to_owned();
        let message = refused(Custom { controls, ..Custom::default() }).expect("it is refused");
        assert!(message.contains(class), "{message}");
    }
}

/// Admits nobody, and notes how many sessions broke off in each epoch.
struct Closed(Noted<(u64, u64)>);

impl Controller<Knobs, Counts> for Closed {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.allow(0, Time::from_secs(1));
        Ok(now + Time::from_secs(1))
    }
    fn update(&mut self, now: Time, _: &View<'_>, counts: &Counts, _: &mut Knobs) -> Step {
        note(&self.0, (counts.arrived, counts.resets));
        Ok((now + Time::from_secs(1), None))
    }
}

/// A session that was refused has not ended: the reset that tells its opener so
/// passes no gate of the node that sends it. Where the sender opens it goes back by
/// another port, where the receiver does by the very port that refused the SYN+ACK.
#[test]
fn the_reset_of_a_refused_session_is_no_end_of_one() {
    for (admit, opens) in [("syn", "sender"), ("syn-ack", "receiver")] {
        let text = format!(
            "{LINK}[port.bottleneck]\n\
             gate = {{ law = \"python\", name = \"mine\", admit = \"{admit}\", refuse = \"rst\" }}\n\
             [traffic.web]\narrivals = {{ every = \"10ms\" }}\nsize = \"100B\"\n\
             opens = \"{opens}\"\n\
             transport = {{ tcp = {{ profile = \"ns2-2005\" }} }}"
        );
        let counted = Noted::default();
        let mut laws =
            |_: &str| Some(Box::new(Closed(counted.clone())) as Box<dyn Controller<Knobs, Counts>>);
        let custom = Custom { laws: Some(&mut laws), ..Custom::default() };
        let results = run_with(&load(&text, &[("duration", "5s")]), 1, custom);
        let gave_up = column(&results.flows, "gave_up_s");
        assert!(gave_up.iter().filter(|at| at.is_finite()).count() > 400, "openers are told");
        let counted = noted(&counted);
        assert!(counted.iter().map(|(arrived, _)| arrived).sum::<u64>() > 400, "{counted:?}");
        assert!(counted.iter().all(|(_, resets)| *resets == 0), "{opens}: {counted:?}");
    }
}
