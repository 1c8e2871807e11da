//! BBRv3 against the 22 cases of its draft's appendix (draft-ietf-ccwg-bbr, August 2026, "BBR
//! Example Test Cases"), in the order of the draft. Each runs over a whole network.
//!
//! The round trip is 100 ms where nothing else is said, and the link 10 Mbit/s: 833.3 packets of
//! 1500 B a second, and a product of 83 packets.

mod path;

use crate::common::*;
use path::{
    Case, FIRST_A_LOT, LINK_RATE, Lose, OBJECTS, Seen, What, at, change, enters, leaves, must, path,
};
use tidegate_sim::transport::control::bbr3::State;

/// Case 1: Three rounds without growth end Startup, with the bandwidth of the link.
#[test]
fn case_01_startup_ends_at_the_plateau() {
    let (seen, _) = Case { seconds: 4, ..Case::default() }.run();
    let (before, after) = must(&seen, State::Startup, State::Drain);
    assert_eq!((before.b.full_bw_count, before.b.full_bw_reached), (2, false));
    assert_eq!(after.b.full_bw_count, 3);
    assert!(after.b.full_bw_now && after.b.full_bw_reached && !after.limited);
    close(after.b.max_bw, LINK_RATE, 0.02);
}

/// Case 2: Of a sender with little to send, every second of 20 packets is lost in Startup.
#[test]
fn case_02_losses_end_startup_of_a_limited_sender() {
    let lose = Lose::new(3.0, 2, 20);
    // the draft looks for too little to send at acknowledgements and timers too, Linux only when the
    // application writes
    let (traffic, tcp) = (OBJECTS, ", loss_rule = \"rfc\"");
    let (seen, _) = Case { seconds: 6, traffic, tcp, lose, ..Case::default() }.run();
    let (before, after) = leaves(&seen, State::Startup);
    assert!(after.limited && !before.b.full_bw_now);
    assert!(after.b.full_bw_now && after.b.full_bw_reached);
    assert!(after.b.inflight_longterm < f64::INFINITY);
    // so little is in flight that Drain ends with the same acknowledgement
    assert_eq!(after.b.drain_start_round, after.b.round_count);
    assert!(after.b.state == State::Drain || after.b.state.is_probe_bw());
}

/// Case 3: Drain has a gain of 0.5, and ends when no more than the product is in flight.
#[test]
fn case_03_drain_ends_by_what_is_in_flight() {
    let (seen, _) = Case { seconds: 4, ..Case::default() }.run();
    assert_eq!(State::Drain.gains().0, 0.5);
    let (before, after) = leaves(&seen, State::Drain);
    assert!(after.b.state.is_probe_bw());
    close(before.b.pacing_rate, 0.5 * 0.99 * before.b.bw, 1e-9);
    assert!(after.b.inflight <= after.b.bdp() && after.b.inflight > 0.9 * after.b.bdp());
    assert!(after.b.round_count <= after.b.drain_start_round + 3);
}

/// Case 4: The draft takes a tenth from the link when Drain begins. At half of the estimated rate
/// the queue still drains then, within three rounds, so the link falls to two fifths here.
#[test]
fn case_04_drain_ends_by_time() {
    let (seen, _) = Case { seconds: 4, ..Case::default() }.run();
    let begin = must(&seen, State::Startup, State::Drain).1.at;
    let slower = |to: &str| {
        let more = change("rate", begin, to);
        let (seen, _) = Case { seconds: 8, more, ..Case::default() }.run();
        let after = leaves(&seen, State::Drain).1.clone();
        assert!(after.b.state.is_probe_bw());
        after
    };
    let by_flight = slower("9Mbit");
    assert!(by_flight.b.inflight <= by_flight.b.bdp(), "{}", by_flight.b.inflight);
    let by_time = slower("4Mbit");
    assert!(by_time.b.inflight > by_time.b.bdp());
    assert_eq!(by_time.b.round_count, by_time.b.drain_start_round + 4);
}

/// Case 5: Three rounds without growth end a probe, and nothing is lost.
#[test]
fn case_05_up_ends_at_the_plateau() {
    let (seen, results) = Case::default().run();
    let (before, after) = must(&seen, State::Up, State::Down);
    assert_eq!((before.b.full_bw_count, before.b.full_bw_now), (2, false));
    assert!(after.b.full_bw_now && after.b.full_bw_count == 3);
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
}

/// Case 6: Losses end the probe of a sender with little to send. The draft's pseudo-code leaves
/// `inflight_longterm` as it is then (HandleInflightTooHigh).
#[test]
fn case_06_losses_end_up_of_a_limited_sender() {
    let traffic = FIRST_A_LOT;
    let (seen, _) = Case { seconds: 30, traffic, ..Case::default() }.run();
    let up = enters(&seen, State::Up, 6.5);
    let lose = Lose::new(up, 3, 18);
    let (seen, _) = Case { seconds: 30, traffic, lose, ..Case::default() }.run();
    let late: Vec<Seen> = seen.into_iter().filter(|one| one.at >= up).collect();
    let (before, after) = must(&late, State::Up, State::Down);
    assert!(after.limited && after.what == What::Lost);
    assert!(after.b.prev_probe_too_high && !after.b.full_bw_now);
    assert_eq!(after.b.inflight_longterm, before.b.inflight_longterm);
}

/// Case 7: Without losses a sender with little to send stays in Startup, and in a probe. Only ProbeRTT
/// comes between, where the five seconds are over while data is in flight.
#[test]
fn case_07_a_limited_sender_goes_on_probing() {
    let (seen, _) = Case { seconds: 60, traffic: OBJECTS, ..Case::default() }.run();
    let usual = [State::Startup, State::ProbeRtt];
    assert!(seen.iter().all(|one| usual.contains(&one.b.state)), "{}", path(&seen));
    let rounds: Vec<&Seen> = seen.iter().filter(|one| one.what == What::Ack).skip(20).collect();
    assert!(rounds.len() > 200 && rounds.iter().all(|one| one.limited));
    let (seen, _) = Case { seconds: 60, traffic: FIRST_A_LOT, ..Case::default() }.run();
    let up = enters(&seen, State::Up, 6.5);
    let late: Vec<Seen> = seen.into_iter().filter(|one| one.at >= up).collect();
    let (before, after) = leaves(&late, State::Up);
    assert_eq!(after.b.state, State::ProbeRtt, "{}", path(&late));
    assert!(before.b.round_count > late[0].b.round_count + 5, "{}", path(&late));
}

/// Case 8: Down has a gain of 0.9, and ends with headroom and without a queue.
#[test]
fn case_08_down_ends_by_what_is_in_flight() {
    assert_eq!(State::Down.gains().0, 0.9);
    let (seen, _) = Case::default().run();
    let (before, after) = must(&seen, State::Down, State::Cruise);
    assert!(after.b.inflight <= after.b.bdp() && before.b.inflight > 0.0);
    // with a bound by losses: 15 % of it are left free
    let (seen, _) = Case { buffer: "20packets", ..Case::default() }.run();
    let steps = seen.iter().zip(seen.iter().skip(1));
    let cruises = steps.filter(|(old, new)| {
        let step = (old.b.state, new.b.state) == (State::Down, State::Cruise);
        step && new.b.inflight_longterm < f64::INFINITY
    });
    let found: Vec<&Seen> = cruises.map(|(_, new)| new).collect();
    assert!(!found.is_empty(), "{}", path(&seen));
    for one in found {
        assert!(one.b.inflight <= 0.85 * one.b.inflight_longterm + 1e-9);
    }
}

/// Case 9: The link loses a tenth when Down begins, so the queue stays: after `bw_probe_wait` it probes
/// again without a cruise. The waits are drawn, and where they are long ProbeRTT comes first: so
/// flows that start at several times are tried.
#[test]
fn case_09_down_ends_by_time() {
    let case = |start: u32, more: &str| {
        let more = more.to_owned();
        Case { rate: "20Mbit", delay: "23ms", start, more, ..Case::default() }.run().0
    };
    let mut tried = Vec::new();
    for start in (0..1000).step_by(50) {
        let down = enters(&case(start, ""), State::Down, 6.0);
        let seen = case(start, &change("rate", down, "18Mbit"));
        let late: Vec<Seen> = seen.into_iter().filter(|one| one.at >= down).collect();
        let (before, after) = leaves(&late, State::Down);
        tried.push(after.b.state);
        if after.b.state == State::Refill {
            let waited = after.at - before.b.cycle_stamp.secs();
            let wait = before.b.bw_probe_wait.secs();
            assert!((wait..wait + 0.1).contains(&waited), "{waited} {wait}");
            assert!(before.b.inflight > before.b.bdp());
            return;
        }
    }
    panic!("{tried:?}");
}

/// Case 10: Five seconds after the least round trip was seen, ProbeRTT: half the product for 200 ms and
/// a round, then the probing of bandwidth again.
#[test]
fn case_10_probe_rtt() {
    let (seen, _) = Case { seconds: 15, ..Case::default() }.run();
    let probe = enters(&seen, State::ProbeRtt, 0.0);
    assert!((5.0..8.5).contains(&probe), "{}", path(&seen));
    let begun = seen.iter().find(|one| one.at >= probe).expect("it was entered");
    assert_eq!(begun.b.state.gains().1, 0.5);
    let within = seen.iter().filter(|one| one.b.state == State::ProbeRtt);
    let least = within.map(|one| one.b.cwnd).fold(f64::INFINITY, f64::min);
    assert!((38.0..45.0).contains(&least), "{least}");
    let late: Vec<Seen> = seen.into_iter().filter(|one| one.at >= probe).collect();
    let (_, after) = must(&late, State::ProbeRtt, State::Cruise);
    assert!((0.2..0.7).contains(&(after.at - probe)), "{}", after.at - probe);
    assert!(after.b.full_bw_reached && after.b.cwnd > 80.0);
    // a packet of headers takes 100.1 ms, one with data 101.3
    assert!((0.1..0.1014).contains(&after.b.min_rtt.secs()), "{}", after.b.min_rtt);
}

/// Case 11: After six seconds without data no ProbeRTT: the queue was empty anyway.
#[test]
fn case_11_an_idle_sender_skips_probe_rtt() {
    let traffic = "size = \"4MB\"\npages = { connections = 1, count = 2, think = \"6s\" }";
    let (seen, _) = Case { seconds: 14, traffic, ..Case::default() }.run();
    let restart = seen.iter().rfind(|one| one.what == What::Sent).expect("it went on");
    assert!(restart.at > 9.0 && restart.b.idle_restart && restart.b.state.is_probe_bw());
    close(restart.b.pacing_rate, 0.99 * restart.b.bw, 1e-9);
    assert!(seen.iter().all(|one| one.b.state != State::ProbeRtt), "{}", path(&seen));
}

/// A link that delivers every 40 ms what it has sent.
const BATCH: &str = "[port.bottleneck]\nbatch = { every = \"40ms\" }";

/// Case 12: Startup finds the bandwidth of a link that delivers in batches. By hand: 33 segments come
/// every 40 ms; in Startup the excess is that of the round alone (UpdateACKAggregation), so it is
/// less where a round has just begun. The time of a sample, a round trip, may have one batch more in
/// it than fits.
#[test]
fn case_12_startup_over_aggregation() {
    let (seen, _) = Case { seconds: 6, more: BATCH.into(), ..Case::default() }.run();
    let (_, after) = must(&seen, State::Startup, State::Drain);
    let within = seen.iter().filter(|one| one.b.state == State::Startup);
    let most = within.map(|one| one.b.extra_acked).fold(0.0, f64::max);
    assert!((15.0..34.0).contains(&most), "{most}");
    assert!(after.b.cwnd > 2.0 * after.b.bdp(), "{} {}", after.b.cwnd, after.b.bdp());
    let (share, most) = (after.b.max_bw / LINK_RATE, 1.0 + 0.04 / after.b.min_rtt.secs());
    assert!(0.9 < share && share < most, "{share} of {most}");
}

/// Case 13: So does the cruise, with the excess of ten rounds in its window.
#[test]
fn case_13_cruise_over_aggregation() {
    let (seen, results) = Case { seconds: 20, more: BATCH.into(), ..Case::default() }.run();
    let cruise: Vec<_> = seen.iter().filter(|one| one.b.state == State::Cruise).collect();
    assert!(cruise.len() > 5);
    let last = cruise[cruise.len() - 1];
    // 40 ms are 33 packets
    assert!((15.0..60.0).contains(&last.b.extra_acked), "{}", last.b.extra_acked);
    close(last.b.cwnd, 2.0 * last.b.bdp() + last.b.extra_acked, 0.1);
    let rate = flow(&results, "delivered_bytes") / 1448.0 / 20.0;
    assert!(rate > 0.9 * LINK_RATE, "{rate}");
}

/// Case 14: 64 kbit/s and 10 ms are a twentieth of a packet: four packets are the least window.
#[test]
fn case_14_a_product_below_a_packet() {
    let case =
        Case { rate: "64kbit", delay: "3ms", seconds: 60, buffer: "20packets", ..Case::default() };
    let (seen, results) = case.run();
    let steady: Vec<_> = seen.iter().filter(|one| one.b.state.is_probe_bw()).collect();
    assert!(!steady.is_empty(), "{}", path(&seen));
    assert!(steady.iter().all(|one| one.b.cwnd >= 4.0));
    let rate = 64e3 / 12_000.0;
    let last = steady[steady.len() - 1];
    assert!((0.85..1.3).contains(&(last.b.pacing_rate / rate)), "{}", last.b.pacing_rate / rate);
    let delivered = flow(&results, "delivered_bytes") / 1448.0 / 60.0;
    assert!(delivered > 0.9 * rate, "{delivered} {rate}");
}

/// Case 15: From 10 to 100 Mbit/s: `inflight_longterm`, known from a small buffer, grows by steps that
/// double each round, and the whole bandwidth is found.
#[test]
fn case_15_ten_times_the_bandwidth() {
    let more = change("rate", 8.0, "100Mbit");
    let (seen, _) = Case { seconds: 25, buffer: "60packets", more, ..Case::default() }.run();
    let known = at(&seen, 8.0);
    assert!(known.b.inflight_longterm < 200.0, "{}", known.b.inflight_longterm);
    let found = seen.iter().find(|one| one.b.max_bw > 0.95 * 10.0 * LINK_RATE);
    let found = found.unwrap_or_else(|| panic!("{} {}", path(&seen), at(&seen, 25.0).b.max_bw));
    // from the first probe after the change on
    let up = enters(&seen, State::Up, 8.0);
    let rounds = found.b.round_count - at(&seen, up).b.round_count;
    assert!(rounds < 40, "{rounds} rounds: {}", path(&seen));
    let rising = seen.iter().filter(|one| (up..found.at).contains(&one.at));
    let bounds: Vec<f64> = rising.map(|one| one.b.inflight_longterm).collect();
    let steps: Vec<f64> = bounds.windows(2).map(|two| two[1] - two[0]).collect();
    let doubled =
        steps.windows(2).filter(|two| two[0] >= 2.0 && (1.5..3.0).contains(&(two[1] / two[0])));
    assert!(doubled.count() >= 3, "{steps:?}");
}

/// Case 16: From 100 to 10 Mbit/s: losses lower `bw_shortterm` at once, and two cycles later `max_bw`.
#[test]
fn case_16_a_tenth_of_the_bandwidth() {
    let more = change("rate", 8.0, "10Mbit");
    let case = Case { rate: "100Mbit", seconds: 40, buffer: "100packets", more, ..Case::default() };
    let (seen, _) = case.run();
    close(at(&seen, 8.0).b.max_bw, 10.0 * LINK_RATE, 0.02);
    let lowered = seen.iter().find(|one| one.at > 8.0 && one.b.bw_shortterm < f64::INFINITY);
    let lowered = lowered.expect("losses lower it");
    assert!(lowered.at < 10.0 && lowered.b.bw_shortterm < 8.0 * LINK_RATE, "{}", lowered.at);
    // each cycle is a Refill: the third has forgotten what was before the change
    let refills = seen.iter().zip(seen.iter().skip(1)).filter(|(old, new)| {
        new.at > 8.0 && new.b.state == State::Refill && old.b.state != State::Refill
    });
    let third = refills.map(|(_, new)| new.at).nth(2).unwrap_or_else(|| panic!("{}", path(&seen)));
    close(at(&seen, third + 0.3).b.max_bw, LINK_RATE, 0.05);
}

/// Case 17: A policer of 5 Mbit/s with a bucket of 50 kB, at a link of 100 Mbit/s.
#[test]
fn case_17_a_policer() {
    let more = "[port.bottleneck]\npolice = { rate = \"5Mbit\", burst = \"50kB\" }".into();
    let case = Case { rate: "100Mbit", seconds: 60, more, ..Case::default() };
    let (seen, results) = case.run();
    assert!(seen.iter().any(|one| one.b.bw_shortterm < f64::INFINITY));
    assert!(seen.iter().any(|one| one.b.inflight_shortterm < f64::INFINITY));
    let rate = flow(&results, "delivered_bytes") / 1448.0 * 12_000.0 / 60.0;
    assert!((0.85 * 5e6..=1.01 * 5e6).contains(&rate), "{rate}");
    // the second half
    let lost = seen.iter().filter(|one| one.what == What::Lost && one.at > 30.0).count() / 2;
    let share = lost as f64 / (30.0 * 5e6 / 12_000.0);
    assert!(share < 0.1, "{share}");
}

/// Just before a recovery turns out to be for nothing, and just after.
fn undone(seen: &[Seen]) -> (&Seen, &Seen) {
    let place = seen.iter().position(|one| one.what == What::Spurious);
    let place = place.unwrap_or_else(|| panic!("none was noticed: {}", path(seen)));
    (&seen[place], &seen[place + 1])
}

/// Case 18: In a probe the path becomes 40 ms shorter: what is sent then overtakes what is under way.
#[test]
fn case_18_a_recovery_without_a_loss() {
    let (seen, _) = Case { seconds: 30, ..Case::default() }.run();
    let up = enters(&seen, State::Up, 6.0);
    let more = change("delay", up + 0.05, "8ms");
    let (seen, results) = Case { seconds: 30, more, ..Case::default() }.run();
    let (lowered, restored) = undone(&seen);
    let lost = seen.iter().find(|one| one.what == What::Lost).expect("some were marked lost");
    assert_eq!(lost.b.state, State::Up);
    assert!([State::Down, State::Cruise].contains(&lowered.b.state), "{}", path(&seen));
    assert_eq!(restored.b.state, State::Refill, "{}", path(&seen));
    assert_eq!(restored.b.inflight_longterm, lost.b.inflight_longterm);
    assert_eq!(restored.b.inflight_shortterm, lost.b.inflight_shortterm);
    assert_eq!(restored.b.bw_shortterm, lost.b.bw_shortterm);
    assert!(enters(&seen, State::Up, up) < up + 0.5, "{}", path(&seen));
    assert_eq!(flow(&results, "timeouts"), 0.0);
}

/// Case 19: In a probe the path becomes 1.2 s longer: the timer expires, and nothing is lost.
#[test]
fn case_19_a_timeout_without_a_loss() {
    let (seen, _) = Case { seconds: 30, ..Case::default() }.run();
    let up = enters(&seen, State::Up, 6.0);
    let more = change("delay", up + 0.05, "1248ms");
    let (seen, results) = Case { seconds: 30, more, ..Case::default() }.run();
    assert!(flow(&results, "timeouts") >= 1.0);
    let (lowered, restored) = undone(&seen);
    let lost = seen.iter().find(|one| one.what == What::Lost).expect("all were marked lost");
    assert_eq!(lost.b.state, State::Up);
    assert_eq!(lost.b.cwnd, 1.0, "OnEnterRTO, with nothing in flight");
    // with a window of few segments a new probe is due at once (IsRenoCoexistenceProbeTime)
    assert!([State::Refill, State::Up].contains(&restored.b.state), "{}", path(&seen));
    assert!(seen.iter().any(|one| one.what == What::Lost && one.b.state == State::Down));
    assert_eq!(restored.b.inflight_longterm, lost.b.inflight_longterm);
    assert!(restored.b.cwnd > lowered.b.cwnd && restored.b.cwnd > 150.0, "{}", restored.b.cwnd);
}

/// Case 20: With a round trip of a second Startup lasts more than 5 s: ProbeRTT, and Startup again.
#[test]
fn case_20_probe_rtt_in_startup() {
    let case = Case {
        rate: "10Mbit",
        delay: "498ms",
        seconds: 60,
        buffer: "9000packets",
        ..Case::default()
    };
    let (seen, _) = case.run();
    let (before, _) = must(&seen, State::Startup, State::ProbeRtt);
    assert!(!before.b.full_bw_reached && (5.0..8.0).contains(&before.at), "{}", before.at);
    must(&seen, State::ProbeRtt, State::Startup);
    let (_, drain) = must(&seen, State::Startup, State::Drain);
    close(drain.b.max_bw, LINK_RATE, 0.02);
}

/// Case 21: With a known `inflight_longterm` losses end a probe, and bound it anew: what was in flight
/// when they crossed 2 %, and no less than 0.7 of what is wanted.
#[test]
fn case_21_losses_in_a_probe() {
    let buffer = "60packets";
    let (seen, _) = Case { seconds: 20, buffer, ..Case::default() }.run();
    let known = |one: &&Seen| one.b.inflight_longterm < f64::INFINITY;
    let first = seen.iter().find(known).expect("the buffer is small").at;
    let up = enters(&seen, State::Up, first);
    let lose = Lose::new(up, 10, 80);
    let (seen, _) = Case { seconds: 20, buffer, lose, ..Case::default() }.run();
    let late: Vec<Seen> = seen.into_iter().filter(|one| one.at >= up).collect();
    let (before, after) = must(&late, State::Up, State::Down);
    assert_eq!(after.what, What::Lost);
    assert!(after.b.prev_probe_too_high);
    let least = 0.7 * before.b.bdp().min(before.b.cwnd);
    assert!(after.b.inflight_longterm >= least - 1e-9);
    assert!(after.b.inflight_longterm < before.b.inflight_longterm);
}

/// Case 22: A Refill with little to send leaves `max_bw` as it is, and Up follows.
#[test]
fn case_22_a_limited_sender_refills() {
    let (seen, _) = Case { seconds: 30, traffic: FIRST_A_LOT, ..Case::default() }.run();
    let late: Vec<Seen> = seen.into_iter().filter(|one| one.at > 6.5).collect();
    let (_, refill) = must(&late, State::Cruise, State::Refill);
    let (_, up) = must(&late, State::Refill, State::Up);
    assert!(refill.limited && up.limited);
    assert_eq!(up.b.max_bw, refill.b.max_bw);
    close(up.b.max_bw, LINK_RATE, 0.02);
    assert!(up.at - refill.at < 0.5);
}

/// Section "ECN": a sender that sets ECT treats marks as congestion. CoDel marks in Startup, which
/// ends; the queue stays a fraction of what it is without ECN, and nothing is lost.
#[test]
fn marks_are_congestion() {
    let queue = "[port.bottleneck]\nqueue = { law = \"codel\", ecn = true }";
    let case = |tcp| Case { seconds: 20, tcp, more: queue.into(), ..Case::default() }.run();
    let (seen, results) = case(", ecn = true");
    let (_, after) = leaves(&seen, State::Startup);
    assert!(after.b.inflight_longterm < f64::INFINITY && after.b.full_bw_count < 3);
    assert_eq!(flow(&results, "retransmitted_packets"), 0.0);
    assert!(flow(&results, "delivered_bytes") / 1448.0 / 20.0 > 0.8 * LINK_RATE);
    let (_, results) = case("");
    assert!(flow(&results, "retransmitted_packets") > 0.0);
}
