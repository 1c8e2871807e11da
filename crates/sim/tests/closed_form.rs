//! Against formulas: the M/D/1 queue, the square-root law of TCP, capacity.

use crate::common::*;
use rand::RngExt;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::{Limit, Port, Stages};
use tidegate_core::units::{Rate, Time};
use tidegate_model::draw::stream;
use tidegate_sim::{Custom, Results};

/// Pollaczek-Khinchine for constant service: the mean wait is rho / (2 (1 - rho)) services.
#[test]
fn a_port_is_an_md1_queue() {
    for rho in [0.5, 0.8, 0.9] {
        // batches long against the queue's memory give the statistical error
        let batches: Vec<f64> = (0..20).map(|batch| md1_wait(rho, batch, 200_000)).collect();
        let wait = mean(&batches);
        let spread: f64 = batches.iter().map(|b| (b - wait) * (b - wait)).sum::<f64>();
        let error = (spread / (20.0 * 19.0)).sqrt();
        let expected = rho / (2.0 * (1.0 - rho));
        assert!((wait - expected).abs() < 3.0 * error, "rho {rho}: {wait} +- {error}, {expected}");
        assert!(error < 0.03 * expected, "the test would notice an error of a tenth");
    }
}

/// Mean wait in units of the service time, over so many packets.
fn md1_wait(rho: f64, batch: u64, packets: u32) -> f64 {
    let mut random = stream(batch, "md1", "arrivals");
    // 1250 B at 10 Mbit/s: services of one millisecond
    let mut port: Port =
        Port::new(0, Rate::from_bps(10_000_000), Time::ZERO, Limit::Packets(u32::MAX));
    let packet = Packet { size: 1250, ..Packet::default() };
    let mut at = 0.0;
    let mut end = Time::ZERO;
    for _ in 0..packets {
        let uniform: f64 = random.random();
        at += -libm::log(1.0 - uniform) * 1e-3 / rho;
        end = Time::from_secs_f64(at);
        while port.next_event() <= end {
            let due = port.next_event();
            port.deliver(due);
        }
        port.arrive(&packet, (), end);
    }
    port.advance(end);
    port.waiting_ps(end) as f64 / 1e9 / f64::from(packets)
}

/// Loses data with a fixed probability.
struct Loss(f64);

impl PerPacket for Loss {
    fn arrive(&mut self, packet: &Packet, _: Time, draw: &mut dyn Draw) -> Verdict {
        if packet.flags.has(Flags::DATA) && draw.uniform() < self.0 {
            return Verdict::Drop(Reason::Custom);
        }
        Verdict::Pass
    }
}

/// Segments per round trip of one long flow that loses data with probability `p`.
fn window_under_loss(p: f64, seed: u64) -> f64 {
    let text = r#"
        name = "square root"
        duration = "1500s"
        [topology.dumbbell]
        pairs = 1
        access = { rate = "10Gbit", delay = "1ms" }
        bottleneck = { rate = "1Gbit", delay = "48ms", buffer = "100000packets" }
        [traffic.one]
        arrivals = { at = ["0s"] }
        size = "unlimited"
        transport = { tcp = { profile = "rfc", mss = "1460B", delayed_ack = false,
                              recovery = "sack", initial_ssthresh = 20 } }
    "#;
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(Loss(p)));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(text, &[]), seed, custom);
    // a round trip of 100 ms
    flow(&results, "delivered_bytes") / 1460.0 / 1500.0 * 0.1
}

/// Segments per round trip times the root of p, where every segment is acknowledged. Losses at equal
/// distances: sqrt(3/2) (Mathis, Semke, Mahdavi and Ott 1997, eq. 3). Independent losses, as here:
/// 1.31 in the limit of small p (Ott, Kemperman and Mathis 1996); timeouts and whole windows take
/// from it where p is large.
///
/// 1500 s have 180 losses at p = 1e-4, and runs with other seeds differ by 3.5 % (standard
/// deviation); so one run of each p serves.
#[test]
fn tcp_follows_the_square_root_law() {
    let (apart, independent) = (f64::sqrt(1.5), 1.31);
    for (p, constant) in [
        (1e-4, independent),
        (3e-4, independent),
        (1e-3, independent),
        (3e-3, apart),
        (1e-2, apart),
    ] {
        close(window_under_loss(p, 0), constant / f64::sqrt(p), 0.1);
    }
}

/// The rate of service follows the schedule.
#[test]
fn service_follows_a_change_of_capacity() {
    let text = format!(
        "{LINK}\n[traffic.one]\narrivals = {{ uniform = 20, within = \"1s\" }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\" }} }}\n\
         [[change]]\nwhat = \"bottleneck.rate\"\nat = \"30s\"\nto = \"5Mbit\"\n"
    );
    let results = run(&load(&text, &[("duration", "60s")]), 1);
    close(sent(&results, 10.0, 30.0), 10e6, 0.01);
    close(sent(&results, 35.0, 60.0), 5e6, 0.01);
}

/// Bits per second that the bottleneck sent from one instant to another.
fn sent(results: &Results, from: f64, to: f64) -> f64 {
    let port = column(&results.ports, "port");
    let bytes = column(&results.ports, "departed_bytes");
    let time = column(&results.ports, "time_s");
    let rows =
        (0..time.len()).filter(|&row| port[row] == port[0] && time[row] > from && time[row] <= to);
    rows.map(|row| bytes[row] * 8.0).sum::<f64>() / (to - from)
}

/// A fade of 10 ms to 1 kbit/s costs a busy link of 10 Mbit/s 10 ms of its two seconds, and
/// not the 12 s in which a packet of 1500 B would be sent at the lower rate.
#[test]
fn a_short_fade_costs_no_more_than_its_time() {
    let text = format!(
        "{LINK}\n[traffic.one]\narrivals = {{ uniform = 20, within = \"1s\" }}\nsize = \"unlimited\"\n\
         transport = {{ tcp = {{ profile = \"linux\" }} }}\n\
         [[change]]\nwhat = \"bottleneck.rate\"\nat = \"20.5s\"\nto = \"1kbit\"\npulse = \"10ms\"\n"
    );
    let results = run(&load(&text, &[("duration", "25s")]), 1);
    close(sent(&results, 20.0, 22.0), 10e6 * 1.99 / 2.0, 0.002);
}
