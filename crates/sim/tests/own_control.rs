//! A control of the caller's own: the one of docs/own-law.md, alone and in a whole run.

#[path = "../../../examples/own_control.rs"]
mod own;

use tidegate_core::packet::Ext;
use tidegate_core::units::Time;
use tidegate_model::profile::{Profile, Tcp};
use tidegate_sim::transport::control::{CongestionEvent, Control, RateSample, Signal};
use tidegate_sim::{Custom, Factory};

fn sample(segments: u32) -> RateSample<'static> {
    RateSample {
        now: Time::ZERO,
        segments,
        delivered: segments,
        una: 0,
        sent: 0,
        flight: 0,
        srtt: Time::from_ms(100),
        rtt: Time::ZERO,
        recovering: false,
        marked: false,
        unused: false,
        any_order: false,
        ext: &Ext::None,
        rate: None,
    }
}

fn at(flight: u32) -> CongestionEvent {
    CongestionEvent { flight, window: f64::from(flight), ..CongestionEvent::default() }
}

/// T. Kelly 2003, by hand from a window of 100: a loss leaves 87.5, and a window of
/// segments acknowledged adds a hundredth of them, so that 14 round trips make up for it and 13 do
/// not. At 16 it halves, and a window of segments adds one, as Reno's.
#[test]
fn the_example_grows_by_a_share() {
    let tcp = Tcp { initial_window: 100, initial_ssthresh: 2, ..Profile::Rfc.tcp() };
    let mut control = own::Scalable::new(&tcp);
    control.on_congestion(Signal::Loss, &at(100));
    assert_eq!(control.cwnd(), 87.5);
    control.on_congestion(Signal::LossAfterMark, &at(100));
    assert_eq!(control.cwnd(), 87.5);
    for round in 1..=14 {
        let window = control.cwnd() as u32;
        (0..window).for_each(|_| control.on_ack(&sample(1)));
        assert_eq!(control.cwnd() >= 99.6, round == 14, "{round}: {}", control.cwnd());
    }
    control.on_ack(&RateSample { recovering: true, ..sample(50) });
    assert!(control.cwnd() < 101.0, "recovery opens nothing");

    let tcp = Tcp { initial_window: 16, initial_ssthresh: 2, ..Profile::Rfc.tcp() };
    let mut small = own::Scalable::new(&tcp);
    small.on_congestion(Signal::Loss, &at(16));
    assert_eq!(small.cwnd(), 8.0);
    small.on_ack(&sample(8));
    assert_eq!(small.cwnd(), 9.0);
    small.on_timeout(&at(9), false);
    assert_eq!(small.cwnd(), 1.0);
}

/// In a whole run: 100 Mbit/s and 100 ms are 833 segments, of which a loss takes an eighth;
/// Reno needs some 420 round trips to come back, the example 14. So it leaves less of the
/// link unused where one packet in 10,000 is lost.
#[test]
fn the_example_runs_through_the_rust_interface() {
    let text = r#"
        name = "long fat link"
        duration = "120s"
        [topology.dumbbell]
        pairs = 1
        access = { rate = "1Gbit", delay = "1ms" }
        bottleneck = { rate = "100Mbit", delay = "48ms", buffer = "1000packets", loss = { data = 0.0001 } }
        [traffic.one]
        arrivals = { at = ["0s"] }
        size = "unlimited"
        transport = { tcp = { profile = "rfc", sack = true } }
    "#;
    let scenario = crate::common::load(text, &[]);
    let tcp = scenario.traffic[0].transport.tcp().expect("it is TCP").clone();
    let factory: Factory = Box::new(move || Box::new(own::Scalable::new(&tcp)));
    let custom = Custom { controls: vec![("one".into(), factory)], ..Custom::default() };
    let scalable =
        crate::common::flow(&crate::common::run_with(&scenario, 1, custom), "delivered_bytes");
    let reno = crate::common::flow(&crate::common::run(&scenario, 1), "delivered_bytes");
    // 1.31 / sqrt(1e-4) = 131 segments a round trip for Reno; a / (b p) = 800 for the example
    assert!(scalable > 3.0 * reno, "{scalable} {reno}");
}
