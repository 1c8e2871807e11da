//! What stamping on arrival instead of at the start of service would do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tidegate_core::law::rate::qfcp::{Config, Qfcp};
use tidegate_core::law::rate::{Counts, Knobs};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Controller, Draw, Fault, PerPacket, Step, Verdict, View};
use tidegate_core::packet::{Ext, Packet};
use tidegate_core::port::{Stages, Stamp};
use tidegate_core::units::Time;
use tidegate_sim::Custom;

use super::link;
use crate::common::*;

/// The rate that the law has set last, for all to see.
type Shared = Arc<Mutex<u64>>;

/// QFCP, whose rate goes to a shared place while the port's own stamp grants everything.
struct Told {
    law: Qfcp,
    knobs: Knobs,
    rate: Shared,
}

impl Controller<Knobs, Counts> for Told {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        let next = self.law.start(now, &mut self.knobs)?;
        *self.rate.lock().expect("no one panicked") = self.knobs.rate;
        knobs.rate = u64::MAX;
        Ok(next)
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, _: &mut Knobs) -> Step {
        let turn = self.law.update(now, view, counts, &mut self.knobs)?;
        *self.rate.lock().expect("no one panicked") = self.knobs.rate;
        Ok(turn)
    }
}

/// Writes into each packet the rate that held when it came, or when it goes.
struct Written {
    on_arrival: bool,
    rate: Shared,
    waiting: VecDeque<u64>,
}

impl PerPacket for Written {
    fn arrive(&mut self, _: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        Verdict::Pass
    }
    fn enqueued(&mut self, _: &Packet, _: Time) {
        self.waiting.push_back(*self.rate.lock().expect("no one panicked"));
    }
    fn depart(&mut self, packet: &mut Packet, _: Time) {
        let then = self.waiting.pop_front().expect("it was enqueued");
        let now = *self.rate.lock().expect("no one panicked");
        if let Ext::Rate(header) = &mut packet.ext {
            let rate = if self.on_arrival { then } else { now };
            header.request = header.request.min(rate as u32);
        }
    }
}

/// Packets lost when a second flow joins a first one, on a buffer of four round
/// trips, and the longest time that the queue was above half of one afterwards.
fn joined(on_arrival: bool) -> (f64, f64) {
    let mut text = link("law = \"none\"", 2);
    for (name, starts) in [("old", "\"0s\""), ("new", "\"5s\", \"5s\", \"5s\"")] {
        text += &format!(
            "[traffic.{name}]\narrivals = {{ at = [{starts}] }}\nsize = \"unlimited\"\n\
             transport.qfcp = {{ mss = \"960B\", initial_window = 2 }}\n"
        );
    }
    let scenario = load(&text, &[("topology.dumbbell.bottleneck.buffer", "4bdp")]);
    let spec = &scenario.network.ports[0];
    let at = Link { rate: spec.rate, delay: spec.delay };
    let rate = Shared::default();
    let law = Told {
        law: Qfcp::new(&Config::default(), at),
        knobs: Knobs::default(),
        rate: rate.clone(),
    };
    let mut stages = Stages::new();
    stages.stamp = Some(Stamp::grant(Box::new(law)));
    stages.custom = Some(Box::new(Written { on_arrival, rate, waiting: VecDeque::new() }));
    let custom = Custom { stages: vec![("bottleneck".to_owned(), stages)], ..Custom::default() };
    let results = run_with(&scenario, 1, custom);
    let (times, queue) =
        (column(&results.ports, "time_s"), column(&results.ports, "queue_packets"));
    let ports = column(&results.ports, "port");
    let long: Vec<f64> = (0..times.len())
        .filter(|&row| ports[row] == 0.0 && times[row] > 5.0 && queue[row] > 25.0)
        .map(|row| times[row])
        .collect();
    let lost = column(&results.ports, "drops_queue_full").iter().sum();
    (lost, long.last().map_or(0.0, |last| last - 5.0))
}

/// With what was true on arrival, the feedback is as old as the queue is long: the
/// newcomers are held back later, more is lost, and the queue takes longer to drain.
#[test]
fn a_stamp_on_arrival_is_stale_at_a_full_queue() {
    let (departure, arrival) = (joined(false), joined(true));
    assert!(arrival.0 > 1.2 * departure.0, "lost: {arrival:?} {departure:?}");
    assert!(arrival.1 > 1.2 * departure.1, "drained: {arrival:?} {departure:?}");
}
