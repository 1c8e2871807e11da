use super::*;

const ENCODER: Encoder = Encoder { least: 150e3, most: 1.5e6, start: 300e3, frames: 30.0 };

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0), "{found} {wanted}");
}

/// 5.5, the table of states.
#[test]
fn states_follow_signals() {
    use {Signal::*, State::*};
    let row = |signal| [Hold, Increase, Decrease].map(|state: State| state.after(signal));
    assert_eq!(row(Overuse), [Decrease, Decrease, Decrease]);
    assert_eq!(row(Normal), [Increase, Increase, Hold]);
    assert_eq!(row(Underuse), [Hold, Hold, Hold]);
}

/// 5.5 by hand: 600 kbit/s are 20000 bits a frame in 3 packets, 6667 bits each. With a round trip of
/// 100 ms the response time is 200 ms: after 100 ms alpha is 0.25, which gives 1667 bits; after
/// 50 ms 833, of which there are at least 1000.
#[test]
fn the_additive_increase_is_half_a_packet_a_response_time() {
    let rtt = Time::from_ms(100);
    close(additive(600e3, Time::from_ms(100), rtt), 20_000.0 / 3.0 / 4.0);
    close(additive(600e3, Time::from_ms(50), rtt), 1000.0);
    close(additive(600e3, Time::from_secs(9), rtt), 20_000.0 / 3.0 / 2.0);
}

/// 6 by hand.
#[test]
fn losses_change_the_estimate() {
    close(after_losses(1e6, 0.0), 1.05e6);
    close(after_losses(1e6, 0.019), 1.05e6);
    close(after_losses(1e6, 0.02), 1e6);
    close(after_losses(1e6, 0.1), 1e6);
    close(after_losses(1e6, 0.2), 0.9e6);
}

/// 5.5 by hand, with the factor 0.95: the mean of 100 and then 120 is 101, the variance
/// 0.95 * 0.05 * 400 = 19.
#[test]
fn the_ceiling_is_smoothed() {
    let first = Ceiling::with(None, 100.0);
    let Ceiling { mean, variance } = Ceiling::with(Some(first), 120.0);
    close(mean, 101.0);
    close(variance, 19.0);
}

/// Groups of one packet of 1000 B every 20 ms: from the first on, each `more` ms longer on its way.
fn report(from: u64, packets: u64, more: f64) -> Vec<Reported> {
    let each = (from..from + packets).map(|number| {
        let sent = Time::from_ms(20 * number);
        let way = 0.05 + more * 1e-3 * (number - from) as f64;
        let arrived = Some(sent + Time::from_secs_f64(way));
        Reported { sent, arrived, bytes: 1000, marked: false }
    });
    each.collect()
}

/// 5.5 by hand: without any change of delay A_hat grows by 1.08^0.1 in 100 ms, and As_hat by 1.05,
/// which is more; the rate is the lower of the two.
#[test]
fn it_grows_by_eight_percent_a_second() {
    let mut gcc = Gcc::new(Config::default(), ENCODER);
    let rtt = Time::from_ms(100);
    gcc.on_report(Time::from_ms(200), &report(0, 5, 0.0), rtt);
    close(gcc.encode(0), 300e3);
    gcc.on_report(Time::from_ms(300), &report(5, 5, 0.0), rtt);
    close(gcc.encode(0), 300e3 * libm::pow(1.08, 0.1));
}

/// 5.5 by hand: packets that take 4 ms longer each time, 100 of them, are over-use. The last ones
/// came 24 ms apart: within 500 ms 21 of them, 8000 bits each, are 336 kbit/s, of which 0.85 stay.
#[test]
fn a_delay_that_grows_lowers_it_below_what_arrives() {
    let mut gcc = Gcc::new(Config::default(), ENCODER);
    gcc.on_report(Time::from_secs(3), &report(0, 100, 4.0), Time::from_ms(100));
    assert_eq!(gcc.state, State::Decrease);
    close(gcc.encode(0), 0.85 * 336e3);
    close(gcc.send(0), 2.5 * 0.85 * 336e3);
}

/// 6: where a fifth is lost, the rate falls by a tenth, whatever the delay says.
#[test]
fn many_losses_lower_it() {
    let mut gcc = Gcc::new(Config::default(), ENCODER);
    let mut packets = report(0, 10, 0.0);
    (packets[3].arrived, packets[7].arrived) = (None, None);
    gcc.on_report(Time::from_ms(300), &packets, Time::from_ms(100));
    close(gcc.encode(0), 270e3);
}
