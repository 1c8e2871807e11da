//! What was found against controls of other projects, each reduced to a scenario of its own
//! (`docs/certify/crates.md`). A newer version of a crate may pass: then the page is out of date.

use std::time::Duration;

use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::recovery::bandwidth::{Bandwidth, Estimator, RateSample};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::time::clock::{Clock, NoopClock};

use crate::common::*;

const LEAST_RTT: &str = include_str!("found/least-rtt.toml");
const AFTER_OUTAGE: &str = include_str!("found/after-outage.toml");
const EIGHT_FLOWS: &str = include_str!("found/eight-flows.toml");

/// Bytes that the bottleneck has sent on, and the share of packets that it has lost.
fn of_bottleneck(text: &str, name: &str, settings: &[(&str, &str)]) -> (f64, f64) {
    let control = format!("{{ crate = {{ name = \"{name}\", profile = \"linux\" }} }}");
    let mut all = vec![("traffic.subject.transport", control.as_str())];
    all.extend(settings);
    let totals = run(text, &all).port_totals;
    let total = |of| column(&totals, of)[0];
    (total("departed_bytes"), total("data_dropped") / total("data_arrived"))
}

/// RFC 9438, 4.3: in the region of Reno a window of about 103 packets falls by 31 at a loss, and grows by
/// 0.53 in a round trip of some 50 ms: three seconds to the next loss, so ten losses or so. CUBIC of
/// quinn has that. That of s2n counts round trips of 2 ms, the least.
#[test]
fn s2n_cubic_counts_round_trips_without_the_queue() {
    let (_, s2n) = of_bottleneck(LEAST_RTT, "s2n:cubic", &[]);
    let (_, quinn) = of_bottleneck(LEAST_RTT, "quinn:cubic", &[]);
    assert!(s2n > 0.02, "{s2n}");
    assert!(quinn < 0.002, "{quinn}");
}

/// What is acknowledged after the outage has been under way for 20 s, and s2n paces at 1.25 windows in
/// a smoothed round trip. Of 12.5 MB that the link carries in 5 s nearly a quarter is left (23 %, as
/// measured); a control without pacing leaves nothing worth the name.
#[test]
fn s2n_cubic_paces_by_the_round_trip_of_an_outage() {
    let after = |name| {
        let [whole, before] = ["45s", "40s"].map(|duration| {
            let settings = [("duration", duration), ("warmup", "10s")];
            of_bottleneck(AFTER_OUTAGE, name, &settings).0
        });
        (whole - before) / 12.5e6
    };
    let (s2n, quinn) = (after("s2n:cubic"), after("quinn:cubic"));
    assert!((0.7..0.8).contains(&s2n), "{s2n}");
    assert!(quinn > 0.95, "{quinn}");
}

/// Path and buffer hold 50 packets. Eight flows of BBR have 32 of them at the least, and send more than
/// arrives in recovery: they lose more than twice as much as those of NewReno. Four flows do not.
#[test]
fn s2n_bbr2_sends_more_than_arrives() {
    let lost = |name, flows| {
        of_bottleneck(EIGHT_FLOWS, name, &[("traffic.subject.arrivals.uniform", flows)]).1
    };
    let [four, eight] = ["4", "8"].map(|flows| lost("s2n:bbr2", flows));
    assert!(eight > 2.0 * lost("quinn:new-reno", "8"), "{eight}");
    assert!(four < 2.0 * lost("quinn:new-reno", "4"), "{four}");
}

/// Keeps the rate sampled last.
struct Last(Bandwidth);

impl Publisher for Last {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}

    fn on_delivery_rate_sampled(&mut self, sample: RateSample) {
        self.0 = sample.delivery_rate();
    }

    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: Ratio<u64>) {}

    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

/// Behind a first packet twenty of 1200 bytes leave at once, and come back after 100, 110, ... 290 ms.
/// At the last acknowledgement 24000 bytes have been delivered in 290 ms: 82 759 bytes a second
/// (draft-cheng-iccrg-delivery-rate-estimation-02, 3.3: every acknowledgement has a sample of its own).
/// The estimator of s2n keeps the interval of the first of them, 100 ms, as all left at the same count:
/// 240 000, twice what the link carries.
#[test]
fn s2n_keeps_the_interval_of_an_earlier_sample() {
    let at = |ms| NoopClock.get_time() + Duration::from_millis(ms);
    let mut estimator = Estimator::default();
    let mut last = Last(Bandwidth::ZERO);
    let first = estimator.on_packet_sent(0, 1200, Some(false), at(0));
    estimator.on_ack(1200, at(0), first, at(100), &mut last);
    let infos: Vec<_> = (0..20)
        .map(|before| estimator.on_packet_sent(before * 1200, 1200, Some(false), at(100)))
        .collect();
    for (number, info) in (0..).zip(infos) {
        estimator.on_ack(1200, at(100), info, at(200 + 10 * number), &mut last);
    }
    let rate = last.0.as_bytes_per_second() as f64;
    assert!((rate / 240_000.0 - 1.0).abs() < 0.01, "{rate}");
}
