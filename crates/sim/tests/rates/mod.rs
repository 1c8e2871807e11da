//! Explicit rates end to end: ports that stamp, senders that obey.

mod protocols;
mod sender;
mod sharing;
mod stale;

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_model::Scenario;
use tidegate_model::law::stamp::StampLaw;
use tidegate_sim::Results;

/// 10 Mbit/s and 40 ms between hosts of 1 Gbit/s; packets of 1000 B: 1250 a
/// second, 50 in a round trip, which is also the buffer.
pub fn link(law: &str, pairs: u32) -> String {
    format!(
        "name = \"test\"\nduration = \"20s\"\nsample = \"10ms\"\n\
         [topology.dumbbell]\npairs = {pairs}\n\
         access = {{ rate = \"1Gbit\", delay = \"1ms\" }}\n\
         bottleneck = {{ rate = \"10Mbit\", delay = \"18ms\", buffer = \"1bdp\" }}\n\
         [port.bottleneck]\nstamp = {{ {law} }}\n"
    )
}

/// A class of one flow from `at` on; packets of 1000 B, two of them to start with.
pub fn class(name: &str, at: &str, size: &str, transport: &str, options: &str) -> String {
    format!(
        "[traffic.{name}]\narrivals = {{ at = [\"{at}\"] }}\nsize = {size}\n\
         transport.{transport} = {{ mss = \"960B\", initial_window = 2, {options} }}\n"
    )
}

/// Bits per second that left a port, between two instants.
pub fn throughput(results: &Results, from: f64, to: f64) -> f64 {
    let (times, bytes) =
        (column(&results.ports, "time_s"), column(&results.ports, "departed_bytes"));
    let ports = column(&results.ports, "port");
    let sum: f64 = (0..times.len())
        .filter(|&row| ports[row] == 0.0 && times[row] > from + 1e-9 && times[row] <= to + 1e-9)
        .map(|row| bytes[row])
        .sum();
    sum * 8.0 / (to - from)
}

/// The largest value of a column of the bottleneck between two instants.
pub fn peak(results: &Results, name: &str, from: f64, to: f64) -> f64 {
    let (times, values) = (column(&results.ports, "time_s"), column(&results.ports, name));
    let ports = column(&results.ports, "port");
    let inside = (0..times.len())
        .filter(|&row| ports[row] == 0.0 && times[row] > from + 1e-9 && times[row] <= to + 1e-9);
    inside.map(|row| values[row]).fold(0.0, f64::max)
}

/// The rates (bit/s) that the bottleneck's law set after an instant.
pub fn rates_after(results: &Results, from: f64) -> Vec<f64> {
    let (times, set) = (column(&results.events, "time_s"), column(&results.events, "set"));
    times.iter().zip(set).filter(|(at, _)| **at > from).map(|(_, set)| set).collect()
}

/// What a law inside the run and the test outside share.
pub type Noted<T> = Arc<Mutex<Vec<T>>>;

/// What was noted so far.
pub fn noted<T: Clone>(from: &Noted<T>) -> Vec<T> {
    from.lock().expect("no one panicked").clone()
}

/// Whether to lose a packet at that many seconds.
pub type Lose = Box<dyn FnMut(&Packet, f64) -> bool + Send>;

/// Stages by the name of their port.
pub type Named = Vec<(String, Stages)>;

/// Notes data packets that leave, and loses those that it is told to.
pub struct Watch {
    /// Seconds and packets.
    pub sent: Noted<(f64, Packet)>,
    /// Which to lose.
    pub lose: Lose,
}

impl PerPacket for Watch {
    fn arrive(&mut self, packet: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
        if (self.lose)(packet, now.secs()) { Verdict::Drop(Reason::Custom) } else { Verdict::Pass }
    }
    fn depart(&mut self, packet: &mut Packet, now: Time) {
        if packet.flags.has(Flags::DATA) {
            self.sent.lock().expect("no one panicked").push((now.secs(), *packet));
        }
    }
}

/// The stages of a port as the scenario has them, with a watch.
pub fn watched(
    scenario: &Scenario,
    port: &str,
    lose: impl FnMut(&Packet, f64) -> bool + Send + 'static,
) -> (Named, Noted<(f64, Packet)>) {
    let spec = scenario.network.ports.iter().find(|spec| spec.name == port).expect("a port");
    let sent = Noted::default();
    let mut stages = Stages::new();
    stages.stamp = spec.stamp.as_ref().and_then(|law: &StampLaw| law.build(spec.link()));
    stages.custom = Some(Box::new(Watch { sent: sent.clone(), lose: Box::new(lose) }));
    (vec![(port.to_owned(), stages)], sent)
}
