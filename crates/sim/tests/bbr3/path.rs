//! A path for one BBRv3 sender, and what the sender goes through.

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Ext, Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_model::profile::LostSyn;
use tidegate_sim::transport::control::bbr3::{Bbr3, State};
use tidegate_sim::transport::control::{
    CongestionEvent, Control, Feedback, Lost, RateSample, Signal,
};
use tidegate_sim::{Custom, Factory, Results};

/// Packets a second of 10 Mbit/s.
pub(super) const LINK_RATE: f64 = 10e6 / 12_000.0;

/// What happened to the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Ack,
    Lost,
    Spurious,
    Sent,
}

/// The sender after it happened; of acknowledgements those that change the state or the round.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub at: f64,
    pub what: What,
    pub limited: bool,
    pub b: Bbr3,
}

pub(super) type Log = Arc<Mutex<Vec<Seen>>>;

/// BBRv3, and what it went through.
pub(super) struct Spy {
    inner: Bbr3,
    log: Log,
}

impl Spy {
    fn record(&self, at: Time, what: What, limited: bool) {
        let mut log = self.log.lock().expect("no one panicked");
        log.push(Seen { at: at.secs(), what, limited, b: self.inner.clone() });
    }
}

impl Control for Spy {
    fn cwnd(&self) -> f64 {
        self.inner.cwnd()
    }
    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let before = (self.inner.state, self.inner.round_count);
        self.inner.on_ack(sample);
        if before != (self.inner.state, self.inner.round_count) {
            self.record(sample.now, What::Ack, sample.rate.is_some_and(|rate| rate.limited));
        }
    }
    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        self.inner.on_congestion(signal, at);
    }
    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        self.inner.on_timeout(at, again);
    }
    fn gap(&self) -> Option<Time> {
        self.inner.gap()
    }
    fn header(&mut self, now: Time) -> Ext {
        self.inner.header(now)
    }
    fn on_sent(&mut self, now: Time, flight: u32) {
        self.inner.on_sent(now, flight);
    }
    fn on_restart(&mut self, now: Time) {
        let idle = self.inner.idle_restart;
        self.inner.on_restart(now);
        if self.inner.idle_restart && !idle {
            self.record(now, What::Sent, false);
        }
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.inner.on_feedback(feedback);
    }
    fn on_spared(&mut self, segments: u32) {
        self.inner.on_spared(segments);
    }
    fn on_recovered(&mut self, window: f64) {
        self.inner.on_recovered(window);
    }
    fn on_lost_syn(&mut self, rule: LostSyn) {
        self.inner.on_lost_syn(rule);
    }
    fn samples_rate(&self) -> bool {
        true
    }
    fn hears_losses(&self) -> bool {
        true
    }
    fn on_lost(&mut self, lost: &Lost, now: Time) {
        self.record(now, What::Lost, lost.limited);
        self.inner.on_lost(lost, now);
        self.record(now, What::Lost, lost.limited);
    }
    fn on_spurious(&mut self) {
        self.record(Time::ZERO, What::Spurious, false);
        self.inner.on_spurious();
        self.record(Time::ZERO, What::Spurious, false);
    }
    fn holds_back(&self) -> bool {
        self.inner.holds_back()
    }
    fn keeps_window(&self) -> bool {
        true
    }
}

/// Loses data that passes from a time on: the first of so many, among so many.
pub(super) struct Lose {
    from: f64,
    every: usize,
    among: usize,
    passed: usize,
}

impl Lose {
    pub(super) fn new(from: f64, every: usize, among: usize) -> Option<Lose> {
        Some(Lose { from, every, among, passed: 0 })
    }
}

impl PerPacket for Lose {
    fn arrive(&mut self, packet: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
        if !packet.flags.has(Flags::DATA) || now.secs() < self.from {
            return Verdict::Pass;
        }
        self.passed += 1;
        if self.passed <= self.among && self.passed % self.every == 1 {
            Verdict::Drop(Reason::Custom)
        } else {
            Verdict::Pass
        }
    }
}

/// A path, what flows over it, and for how long.
pub(super) struct Case {
    pub rate: &'static str,
    pub delay: &'static str,
    pub buffer: &'static str,
    pub seconds: u32,
    /// When the flow starts, in ms.
    pub start: u32,
    pub traffic: &'static str,
    /// Further settings of TCP.
    pub tcp: &'static str,
    pub more: String,
    pub lose: Option<Lose>,
}

const BULK: &str = "size = \"unlimited\"";
/// Objects of 29 kB, one after the other, asked for every 100 ms and more.
pub(super) const OBJECTS: &str =
    "size = \"28960B\"\npages = { objects = 5000, connections = 1, concurrent = 1 }";
/// The same behind a document of 6 MB, which takes 5 s.
pub(super) const FIRST_A_LOT: &str = "size = \"28960B\"\n\
    pages = { document = \"6MB\", objects = 5000, connections = 1, concurrent = 1 }";

impl Default for Case {
    fn default() -> Case {
        Case {
            rate: "10Mbit",
            delay: "48ms",
            buffer: "1000packets",
            seconds: 12,
            start: 0,
            traffic: BULK,
            tcp: "",
            more: String::new(),
            lose: None,
        }
    }
}

impl Case {
    pub(super) fn run(self) -> (Vec<Seen>, Results) {
        let Case { rate, delay, buffer, seconds, start, traffic, tcp, more, lose } = self;
        let text = format!(
            "name = \"bbr3\"\nduration = \"{seconds}s\"\nwarmup = \"0s\"\n\
             [topology.dumbbell]\npairs = 1\naccess = {{ rate = \"1Gbit\", delay = \"1ms\" }}\n\
             bottleneck = {{ rate = \"{rate}\", delay = \"{delay}\", buffer = \"{buffer}\" }}\n\
             [traffic.one]\narrivals = {{ at = [\"{start}ms\"] }}\n{traffic}\n\
             transport = {{ tcp = {{ profile = \"linux\", control = \"bbr3\"{tcp} }} }}\n{more}\n"
        );
        let scenario = load(&text, &[]);
        let tcp = scenario.traffic[0].transport.tcp().expect("it is TCP").clone();
        let log = Log::default();
        let seen = log.clone();
        let factory: Factory =
            Box::new(move || Box::new(Spy { inner: Bbr3::new(&tcp), log: log.clone() }));
        let mut custom = Custom { controls: vec![("one".into(), factory)], ..Custom::default() };
        if let Some(lose) = lose {
            let mut stages = Stages::new();
            stages.custom = Some(Box::new(lose));
            custom.stages.push(("bottleneck".into(), stages));
        }
        let results = run_with(&scenario, 1, custom);
        let seen = std::mem::take(&mut *seen.lock().expect("no one panicked"));
        (seen, results)
    }
}

pub(super) fn change(what: &str, at: f64, to: &str) -> String {
    format!("[[change]]\nwhat = \"bottleneck.{what}\"\nat = \"{at:.6}s\"\nto = \"{to}\"\n")
}

/// The first change from one state to another: just before and just after.
fn step(seen: &[Seen], from: State, to: State) -> Option<(&Seen, &Seen)> {
    let mut pairs = seen.iter().zip(seen.iter().skip(1));
    pairs.find(|(old, new)| old.b.state == from && new.b.state == to)
}

pub(super) fn must(seen: &[Seen], from: State, to: State) -> (&Seen, &Seen) {
    step(seen, from, to).unwrap_or_else(|| panic!("never from {from:?} to {to:?}: {}", path(seen)))
}

/// The first time that a state is left: just before and just after.
pub(super) fn leaves(seen: &[Seen], state: State) -> (&Seen, &Seen) {
    let mut pairs = seen.iter().zip(seen.iter().skip(1));
    let left = pairs.find(|(old, new)| old.b.state == state && new.b.state != state);
    left.unwrap_or_else(|| panic!("never out of {state:?}: {}", path(seen)))
}

/// The states that were entered, and when.
pub(super) fn path(seen: &[Seen]) -> String {
    let mut text = String::new();
    let mut last = None;
    for one in seen {
        if last != Some(one.b.state) {
            text += &format!("{:.2} {:?}, ", one.at, one.b.state);
            last = Some(one.b.state);
        }
    }
    text
}

/// When a state is entered for the first time from a time on.
pub(super) fn enters(seen: &[Seen], state: State, after: f64) -> f64 {
    let pairs = seen.iter().zip(seen.iter().skip(1));
    let mut found = pairs.filter(|(old, new)| {
        new.at > after && new.b.state == state && old.b.state != state && new.what == What::Ack
    });
    found.next().unwrap_or_else(|| panic!("never {state:?}: {}", path(seen))).1.at
}

/// The state at a time.
pub(super) fn at(seen: &[Seen], seconds: f64) -> &Seen {
    seen.iter()
        .rfind(|one| one.at <= seconds && one.what == What::Ack)
        .expect("something was acknowledged")
}
