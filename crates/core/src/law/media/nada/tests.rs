use super::*;

const ENCODER: Encoder = Encoder { least: 150e3, most: 1.5e6, start: 300e3, frames: 30.0 };

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0), "{found} {wanted}");
}

/// Packets of 1000 B from `number` on, one every 20 ms (400 kbit/s), each this long on its way in
/// ms; 0: it is lost.
fn packets(number: u64, delays: &[u64]) -> Vec<Reported> {
    let each = (number..).zip(delays).map(|(number, &delay)| {
        let sent = Time::from_ms(20 * number);
        let arrived = (delay > 0).then_some(sent + Time::from_ms(delay));
        Reported { sent, arrived, bytes: 1000, marked: false }
    });
    each.collect()
}

/// Equation 1 by hand: below 50 ms nothing changes; at 150 ms it is 50 exp(-0.5 * 100 / 50) =
/// 50 / e.
#[test]
fn a_long_delay_is_warped() {
    let config = Config::default();
    close(config.d_tilde(49.0), 49.0);
    close(config.d_tilde(50.0), 50.0);
    close(config.d_tilde(150.0), 50.0 / std::f64::consts::E);
}

/// 4.2 by hand, with a mean interval of 10 packets: warped up to 70 packets after the loss, half and
/// half at 75, as it is from 80 on; without any loss as it is.
#[test]
fn old_losses_are_forgotten_over_one_interval() {
    let config = Config::default();
    let (own, warped) = (150.0, 50.0 / std::f64::consts::E);
    close(config.warped(own, None), own);
    close(config.warped(own, Some((70.0, 10.0))), warped);
    close(config.warped(own, Some((75.0, 10.0))), (own + warped) / 2.0);
    close(config.warped(own, Some((80.0, 10.0))), own);
}

/// Equation 2 by hand: 2 % of losses add 10 * 2 * 2 = 40 ms, 3 % of marks 2 * 3 * 3 = 18 ms.
#[test]
fn losses_and_marks_add_the_square_of_their_share() {
    let config = Config::default();
    close(config.x_curr(5.0, 0.0, 0.02), 45.0);
    close(config.x_curr(5.0, 0.03, 0.0), 23.0);
}

/// Without the RFC: 20 % of losses would be 10 * 20 * 20 = 4000 ms; there are at most 500.
#[test]
fn the_level_of_congestion_is_bounded() {
    close(Config::default().x_curr(0.0, 0.0, 0.2), 500.0);
    let free = Config { xmax: Time::from_secs(3600), ..Config::default() };
    close(free.x_curr(0.0, 0.0, 0.2), 4000.0);
}

/// Equations 3 and 4 by hand: with 100 ms gamma is 50 / (100 + 100 + 120) = 0.15625, so 400 kbit/s
/// become 462.5; the rate does not fall; with no round trip 50 / 220 is below the bound of 0.5, and
/// with a bound of 0.1 it is that.
#[test]
fn the_ramp_up_goes_beyond_what_arrives() {
    let config = Config::default();
    let rtt = Time::from_ms(100);
    close(config.ramp_up(300e3, 400e3, rtt), 462.5e3);
    close(config.ramp_up(600e3, 400e3, rtt), 600e3);
    close(config.ramp_up(1.0, 220e3, Time::ZERO), 270e3);
    let less = Config { gamma_max: 0.1, ..Config::default() };
    close(less.ramp_up(1.0, 400e3, rtt), 440e3);
}

/// Equations 5 to 7 by hand: at 1 of 1.5 Mbit/s the target is 15 ms. With 20 ms, after 15 ms,
/// 100 ms after the last update: 0.5 * 0.2 * 5 / 500 = 0.001 and 0.5 * 2 * 5 / 500 = 0.01 of the
/// rate are given up. At the target, unchanged, it stays.
#[test]
fn the_gradual_update_follows_offset_and_change() {
    let config = Config::default();
    let delta = Time::from_ms(100);
    close(config.gradual(1e6, 1.5e6, (20.0, 15.0), delta), 989e3);
    close(config.gradual(1e6, 1.5e6, (15.0, 15.0), delta), 1e6);
    // twice the weight, twice the target: 15 ms are 15 below it, 0.5 * 0.2 * 15 / 500 = 0.003
    let heavy = Config { prio: 2.0, ..Config::default() };
    close(heavy.gradual(1e6, 1.5e6, (15.0, 15.0), delta), 1.003e6);
}

/// 4.3 by hand: 26 packets on a path without a queue fill the window of 500 ms (their ends count),
/// at 26 * 8000 / 0.5 = 416 kbit/s. With a round trip of 100 ms the ramp-up makes that 481 kbit/s.
#[test]
fn without_a_queue_the_rate_ramps_up() {
    let mut nada = Nada::new(Config::default(), ENCODER);
    nada.on_report(Time::from_ms(600), &packets(0, &[50; 26]), Time::from_ms(100));
    close(nada.encode(0), 416e3 * 1.15625);
}

/// 5.1.1 by hand: the least of the last 15 delays counts. While one of them is 50 ms there is no
/// queue; once all are 90 ms it is 40 ms, and the update is gradual: at 300 kbit/s the target is
/// 10 * 5 = 50 ms. Offset 40 - 50 = -10, change 40: 0.5 * 0.2 * -10 / 500 + 40 / 500 = 0.078.
#[test]
fn the_queue_is_the_least_of_fifteen_delays() {
    let mut nada = Nada::new(Config { gamma_max: 0.0, ..Config::default() }, ENCODER);
    let rtt = Time::from_ms(100);
    // 20 ms apart the rate that arrives is 416 kbit/s; 40 ms would be 208
    nada.on_report(Time::from_ms(100), &packets(0, &[50]), rtt);
    close(nada.encode(0), 300e3);
    nada.on_report(Time::from_ms(400), &packets(1, &[90; 14]), rtt);
    close(nada.encode(0), 300e3);
    nada.on_report(Time::from_ms(500), &packets(15, &[90]), rtt);
    close(nada.encode(0), 300e3 * (1.0 - 0.078));
}

/// 4.2, 4.3 by hand: one of 20 packets is lost, 5 %. Smoothed by 0.1 that is 0.5 %, which adds
/// 10 * 0.25 = 2.5 ms. Target 50 ms, offset -47.5, change 2.5: 0.5 * 0.2 * -47.5 / 500 + 2.5 / 500
/// = -0.0045, so the rate rises gradually.
#[test]
fn a_loss_ends_the_ramp_up() {
    let mut nada = Nada::new(Config::default(), ENCODER);
    let mut delays = [50; 20];
    delays[10] = 0;
    nada.on_report(Time::from_ms(450), &packets(0, &delays), Time::from_ms(100));
    close(nada.encode(0), 300e3 * 1.0045);
}

/// 5.2.2 says that 2000 B that wait change the rates by 48 kbit/s. By hand: more than a twentieth of
/// the rate they never do (equations 11 and 12), nor beyond the rates of the encoder (13 and 14).
#[test]
fn a_buffer_at_the_sender_is_emptied() {
    let mut nada = Nada::new(Config::default(), ENCODER);
    nada.r_ref = 1e6;
    close(nada.encode(2000), 952e3);
    close(nada.send(2000), 1048e3);
    close(nada.encode(100_000), 950e3);
    close(nada.send(100_000), 1050e3);
    nada.r_ref = 150e3;
    close(nada.encode(2000), 150e3);
    nada.r_ref = 1.5e6;
    close(nada.send(2000), 1.5e6);
}
