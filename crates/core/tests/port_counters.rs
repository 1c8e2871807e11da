//! The counts of a port beyond 2^32 and 2^64, in every kind of port.

use crate::draws::Never;
use tidegate_core::packet::Packet;
use tidegate_core::port::{Limit, LinkVariation, Port, Stages};
use tidegate_core::units::{Rate, Time};

/// 1080 B at 1 bit/s: a tenth of a day for each packet.
const SIZE: u16 = 1080;
const SERVICE: Time = Time::from_secs(8640);

/// A link of 1 bit/s in each kind of port: plain, with stages, and with a link that varies.
fn ports() -> [(&'static str, Port); 3] {
    let port = || Port::new(0, Rate::from_bps(1), Time::ZERO, Limit::Packets(u32::MAX));
    [
        ("plain", port()),
        ("with stages", port().with_stages(Stages::new(), Box::new(Never))),
        ("varying", port().varying(LinkVariation::default())),
    ]
}

/// By hand: of 1001 packets that come at once 1000 wait, and one fewer after each service. After
/// `n` services that is 1000 - (n - 1) / 2 packets on average, over n services. Steps over ten
/// days: 2^64 packet picoseconds are over before a quarter of the first day, and five times in each
/// day after it.
#[test]
fn the_mean_queue_is_right_after_days() {
    let packet = Packet { size: SIZE, ..Packet::default() };
    for (kind, mut port) in ports() {
        for _ in 0..=1000 {
            port.arrive(&packet, (), Time::ZERO);
        }
        for services in 1..=100 {
            let now = SERVICE * services;
            while port.deliver(now).is_some() {}
            // the service that begins at `now` ends a wait of length nothing
            let waited = port.waiting_ps(now) as f64 * 1e-12;
            let mean = waited / now.secs();
            let expected = 1000.0 - (services - 1) as f64 / 2.0;
            assert!((mean - expected).abs() < 1e-6, "{kind}: {mean}, {expected} by {now}");
        }
    }
}

/// By hand: a packet waits from day 99 for its predecessor, which takes a tenth of a day. The sum of
/// waiting times counts from the arrival, however late that is; and a packet that still waits
/// counts up to now.
#[test]
fn a_wait_near_the_end_of_time_is_as_long_as_any() {
    let packet = Packet { size: SIZE, ..Packet::default() };
    let late = Time::from_secs(99 * 86_400);
    for (kind, mut port) in ports() {
        for _ in 0..3 {
            port.arrive(&packet, (), late);
        }
        let half = late + SERVICE / 2;
        port.advance(half);
        assert_eq!(
            port.waiting_ps(half) as f64,
            SERVICE.ps() as f64,
            "{kind}: two, for half a turn"
        );
        let end = late + SERVICE * 3;
        while port.deliver(end).is_some() {}
        assert_eq!(port.waiting_ps(end) as f64, 3.0 * SERVICE.ps() as f64, "{kind}");
        assert_eq!(port.busy_ps(end), 3 * SERVICE.ps(), "{kind}");
    }
}
