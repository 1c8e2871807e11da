//! The control on a simulated link, beside the built-in Reno.

use std::collections::BTreeMap;

use my_control::Mine;
use tidegate_core::units::Time;
use tidegate_model::{Source, load};
use tidegate_sim::transport::control::{CongestionEvent, Control, RateSample, Signal};
use tidegate_sim::{Custom, Data, Factory, Progress, Simulation};

struct Adapter(Mine);

impl Control for Adapter {
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }
    fn on_ack(&mut self, sample: &RateSample<'_>) {
        self.0.acknowledged(sample.opens());
    }
    fn on_congestion(&mut self, signal: Signal, _: &CongestionEvent) {
        if signal != Signal::LossAfterMark {
            self.0.congested();
        }
    }
    fn on_timeout(&mut self, _: &CongestionEvent, again: bool) {
        self.0.timed_out(again);
    }
}

const LINK: &str = r#"
    name = "mine beside Reno"
    duration = "60s"
    [topology.dumbbell]
    pairs = 2
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "18ms", buffer = "50packets" }
    [traffic.mine]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { tcp = { profile = "linux" } }
    [traffic.reno]
    arrivals = { at = ["0s"] }
    size = "unlimited"
    transport = { tcp = { profile = "linux", control = "reno" } }
"#;

/// Two flows that grow and give way alike come to share a link (Chiu and Jain 1989). The shares
/// here are of one minute from the start on, so none may have twice what the other has.
#[test]
fn it_shares_a_link_with_reno() {
    let source = Source { name: "link.toml", text: LINK };
    let scenario = load(source, &[], &BTreeMap::new()).expect("it is right");
    let mine: Factory = Box::new(|| Box::new(Adapter(Mine::new(10))));
    let custom = Custom { controls: vec![("mine".into(), mine)], ..Custom::default() };
    let mut run = Simulation::new(&scenario, 1, custom).expect("it can be built");
    while run.advance(Time::NEVER, 100_000).expect("nothing fails") == Progress::Paused {}

    let flows = run.finish().flows;
    let bytes = flows.iter().find(|column| column.name == "delivered_bytes");
    let Some(Data::U64(bytes)) = bytes.map(|column| &column.data) else { panic!("no such column") };
    let [mine, reno] = bytes[..] else { panic!("{} flows", bytes.len()) };
    assert!(mine < 2 * reno && reno < 2 * mine, "mine {mine}, reno {reno}");
    assert!((mine + reno) as f64 > 0.9 * 60.0 * 10e6 / 8.0, "the link is used");
}
