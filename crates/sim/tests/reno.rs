//! Reno's window and the waits of SYNs by hand (features C6 and C8).
//!
//! Where the hand-worked cases of C1 to C13 are tested:
//!
//! | case | what | tests |
//! |---|---|---|
//! | C1 | transmission and propagation; the same seed, the same run | core `port_reference`, sim `topologies`, `identities` |
//! | C2 | drop-tail: limit, order, conservation | core `port_reference`, sim `udp`, `identities` |
//! | C3 | RED: average, idle time, share of drops | core `red` |
//! | C4 | gentle RED | core `red` |
//! | C5 | ECN | sim `ecn`, `aqm` |
//! | C6 | Reno | here, sim `transport`, `ns2`, `rto` (in its file) |
//! | C7 | opening and closing | sim `transport` |
//! | C8 | waits of SYNs | here, sim `transport` |
//! | C9 | NewReno, window, segment size | sim `transport` |
//! | C10 | arrivals and sizes | model `draws`, sim `identities` |
//! | C11 | lossy links | sim `loss` |
//! | C12 | changing capacity and buffer | sim `closed_form`, `udp` |
//! | C13 | UDP in the background | sim `udp` |

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::{Custom, Results};

/// Time in seconds and number of each data packet or SYN that came to the port.
type Seen = Arc<Mutex<Vec<(f64, u32)>>>;

/// Loses the listed packets of one kind, in their order, from 0.
struct Lose {
    what: Flags,
    which: Vec<usize>,
    seen: Seen,
}

impl PerPacket for Lose {
    fn arrive(&mut self, packet: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
        if !packet.flags.has(self.what) {
            return Verdict::Pass;
        }
        let mut seen = self.seen.lock().expect("no one panicked");
        let lost = self.which.contains(&seen.len());
        seen.push((now.secs(), packet.seq));
        if lost { Verdict::Drop(Reason::Custom) } else { Verdict::Pass }
    }
}

/// Runs a class over the link while its port loses what is listed.
fn lossy(class: &str, seed: u64, what: Flags, which: &[usize]) -> (Results, Vec<(f64, u32)>) {
    let text = format!("{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n{class}");
    let seen = Seen::default();
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(Lose { what, which: which.to_vec(), seen: seen.clone() }));
    let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
    let results = run_with(&load(&text, &[("duration", "400s")]), seed, custom);
    let seen = seen.lock().expect("no one panicked").clone();
    (results, seen)
}

/// Numbers of the data packets of a Reno flow with this loss rule and recovery.
fn bursts(rule: &str, recovery: &str, lost: &[usize]) -> Vec<Vec<u32>> {
    bursts_with(&format!("recovery = \"{recovery}\", loss_rule = \"{rule}\""), lost)
}

/// Numbers of the data packets of a Reno flow of 1000 B segments from a window of two, in
/// bursts: 0.1 s apart or more.
fn bursts_with(settings: &str, lost: &[usize]) -> Vec<Vec<u32>> {
    let class = format!(
        "size = \"100000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", mss = \"1000B\", \
         initial_window = 2, delayed_ack = false, {settings} }} }}"
    );
    let (_, seen) = lossy(&class, 1, Flags::DATA, lost);
    let mut bursts: Vec<Vec<u32>> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for (at, number) in seen {
        if at - last > 0.1 {
            bursts.push(Vec::new());
        }
        last = at;
        bursts.last_mut().expect("a burst was begun").push(number);
    }
    bursts
}

/// features C6, RFC 5681: the third duplicate halves what is in flight, and avoidance adds one
/// segment a round trip. By hand: of the sixteen from 14 on, 20 is lost. The acknowledgements of
/// 14 to 19 send 30 to 41, and the first two duplicates 42 and 43 (3.2 step 1; RFC 3042). Those
/// two do not count when the third sends 20 again with 24 in flight: ssthresh 11, cwnd 14. Of
/// the other 20 duplicates the first ten bring cwnd to 24 and ten send 44 to 53. Then all up to
/// 43 is acknowledged, cwnd is 11, and 54 makes it full. Eleven acknowledgements later it is
/// twelve, and so on. With SACK (RFC 6675) the pipe is 21 when 20 has gone: ten blocks bring it to
/// 11, and ten more send as many.
#[test]
fn three_duplicates_halve_the_window() {
    for recovery in ["reno", "sack"] {
        let bursts = bursts("rfc", recovery, &[20]);
        let first: Vec<usize> = bursts.iter().map(Vec::len).take(3).collect();
        assert_eq!(first, [2, 4, 8], "{recovery}");
        assert_eq!(bursts[3], (14..30).collect::<Vec<u32>>(), "{recovery}");
        assert_eq!(bursts[4], (30..44).chain([20]).collect::<Vec<u32>>(), "{recovery}");
        assert_eq!(bursts[5], (44..55).collect::<Vec<u32>>(), "{recovery}");
        let later: Vec<usize> = bursts[6..9].iter().map(Vec::len).collect();
        assert_eq!(later, [12, 13, 14], "{recovery}");
    }
}

/// features C6, RFC 5681, 3.1: a timeout leaves one segment, and half of what was in flight as
/// the end of slow start. By hand: all eight from 6 on are lost, so ssthresh is 4; one, two and
/// four segments; four acknowledgements bring cwnd to 4.9, then 5.7 and 6.6.
#[test]
fn a_timeout_leaves_one_segment() {
    let bursts = bursts("rfc", "reno", &[6, 7, 8, 9, 10, 11, 12, 13]);
    let sizes: Vec<usize> = bursts.iter().map(Vec::len).take(9).collect();
    assert_eq!(sizes, [2, 4, 8, 1, 2, 4, 5, 6, 7]);
    assert_eq!(bursts[3], [6], "the oldest one");
    assert_eq!(bursts[4], [7, 8], "and what follows it, again");
}

/// RFC 5681, eq. 4: the timer leaves half of what is in the network, and what blocks say has
/// arrived is not. By hand: 20 is lost, and so is its repetition, the 45th that came. As above
/// ssthresh is 11, so that beside 20 ten new segments are out in each round trip until the timer
/// ends recovery: of many more than that since 20 eleven have not arrived, ssthresh is 5.5. After
/// 20 everything is acknowledged: two and four segments, and slow start ends with six.
#[test]
fn what_has_arrived_does_not_count_when_the_timer_expires() {
    let bursts = bursts("rfc", "sack", &[20, 44]);
    let timeout = bursts.iter().position(|burst| burst == &[20]).expect("20 goes by the timer");
    let (first, last) = (&bursts[5], &bursts[timeout - 1]);
    assert_eq!((first.len(), last.len()), (10, 10), "{bursts:?}");
    assert!(timeout > 6, "{bursts:?}");
    let later: Vec<usize> = bursts[timeout + 1..timeout + 4].iter().map(Vec::len).collect();
    assert_eq!(later, [2, 4, 6]);
}

/// RFC 6675, section 2: what carries no new SACK information is no duplicate. By hand: the link
/// slows down for two seconds when ten segments are on their way, so that the timer sends 0 again
/// and, as all ten are acknowledged one by one, 1 to 9 behind it, for nothing. The ten that have
/// arrived twice are answered with ten acknowledgements up to 9 while 10 and more are on their
/// way. Without SACK they are duplicates (RFC 5681, section 2), and 10 is sent twice.
#[test]
fn what_tells_of_nothing_new_is_no_duplicate() {
    for (recovery, times) in [("sack", 1), ("newreno", 2)] {
        let class = format!(
            "size = \"100000B\"\ntransport = {{ tcp = {{ profile = \"rfc\", mss = \"1000B\", \
             initial_window = 10, delayed_ack = false, recovery = \"{recovery}\" }} }}\n\
             [[change]]\nwhat = \"bottleneck.rate\"\nat = \"200500us\"\nto = \"4kbit\"\n\
             [[change]]\nwhat = \"bottleneck.rate\"\nat = \"2200500us\"\nto = \"10Mbit\"\n"
        );
        let (results, seen) = lossy(&class, 1, Flags::DATA, &[]);
        let of = |number| seen.iter().filter(|(_, seq)| *seq == number).count();
        assert_eq!(flow(&results, "timeouts"), 1.0, "{recovery}");
        assert!((0..10).all(|number| of(number) == 2), "{recovery}: {seen:?}");
        assert_eq!(of(10), times, "{recovery}");
    }
}

/// The same where losses are noticed by time (RFC 8985). By hand: 20 is lost. Its first two
/// duplicates let out two segments, so that 24 are in flight under a window of 22, and ssthresh
/// is 11 (RFC 5681, 4.3): 20 and ten new ones, all of which are lost. Beside the 23 that have
/// arrived those eleven are in the network when the timer expires, so that ssthresh is 5.5: two
/// and four segments, and slow start ends with six. Half of all 34 that are outstanding would let
/// eight follow.
#[test]
fn what_has_arrived_does_not_count_either_where_losses_are_noticed_by_time() {
    let lost: Vec<usize> = [20].into_iter().chain(44..55).collect();
    let bursts = bursts_with("recovery = \"sack\", rack = true", &lost);
    assert_eq!(bursts[5], [20].into_iter().chain(44..54).collect::<Vec<u32>>());
    assert_eq!(bursts[6], [20], "by the timer");
    let later: Vec<usize> = bursts[7..10].iter().map(Vec::len).collect();
    assert_eq!(later, [2, 4, 6]);
}

/// ns-2's one-way agents (`loss_rule = "one-way"`) send one new segment for each of the first two
/// duplicates and repair one loss in a window; what else is lost in it waits for the timer. By
/// hand: 20 and 24 are lost. As above, but 42 and 43 go out before 20 does, with 24 in flight.
/// Five more duplicates bring cwnd from 11 + 3 to 19, the next fourteen to 33: 44 to 52. The
/// answer to 20 asks for 24 and leaves cwnd at 11. Nine duplicates do nothing; after the timeout
/// ssthresh is 5: one, two, four and five segments.
#[test]
fn one_way_agents_repair_one_loss_in_a_window() {
    let bursts = bursts("one-way", "reno", &[20, 24]);
    assert_eq!(bursts[3], (14..30).collect::<Vec<u32>>());
    assert_eq!(bursts[4], (30..44).chain([20]).collect::<Vec<u32>>());
    assert_eq!(bursts[5], (44..53).collect::<Vec<u32>>());
    assert_eq!(bursts[6], [24]);
    let later: Vec<usize> = bursts[6..10].iter().map(Vec::len).collect();
    assert_eq!(later, [1, 2, 4, 5]);
}

/// The same rule, where the first segment sent after a loss was noticed is lost (44, the 46th
/// that came): it still counts as the same window. By hand: six duplicates more than three bring
/// cwnd to 20 and the next fourteen to 34: 44 to 53; then all up to 43 is acknowledged, and 54
/// makes a window of 11 full. The first two of ten duplicates let out 55 and 56, the rest
/// nothing; 44 comes by the timer.
#[test]
fn the_segment_behind_a_window_counts_as_of_it() {
    let bursts = bursts("one-way", "reno", &[20, 45]);
    assert_eq!(bursts[5], (44..55).collect::<Vec<u32>>());
    assert_eq!(bursts[6], [55, 56]);
    assert_eq!(bursts[7], [44]);
}

/// The waits between the SYNs of a flow that all are lost, with the given settings.
fn waits(tcp: &str, seed: u64) -> Vec<f64> {
    let class = format!("size = \"100B\"\ntransport = {{ tcp = {{ profile = \"rfc\", {tcp} }} }}");
    let (_, seen) = lossy(&class, seed, Flags::SYN, &[0, 1, 2, 3, 4]);
    seen.windows(2).map(|two| two[1].0 - two[0].0).collect()
}

/// features C8: initial RTOs of 1, 3 and 6 s double up to `max_rto`, to the nanosecond.
#[test]
fn waits_double_up_to_the_largest() {
    for (tcp, expected) in [
        ("initial_rto = \"1s\", max_rto = \"4s\"", [1.0, 2.0, 4.0, 4.0, 4.0]),
        ("initial_rto = \"3s\", max_rto = \"60s\"", [3.0, 6.0, 12.0, 24.0, 48.0]),
        ("initial_rto = \"6s\", max_rto = \"64x\"", [6.0, 12.0, 24.0, 48.0, 96.0]),
        ("initial_rto = \"6s\", max_rto = \"2x\"", [6.0, 12.0, 12.0, 12.0, 12.0]),
    ] {
        let waits = waits(tcp, 1);
        assert_eq!(waits.len(), 5, "{tcp}");
        for (wait, expected) in waits.iter().zip(expected) {
            assert!((wait - expected).abs() < 1e-9, "{tcp}: {waits:?}");
        }
    }
}

/// features C8: a jitter of 0.2 makes every wait up to a fifth longer, never shorter, anew for
/// each wait and each seed.
#[test]
fn jitter_makes_waits_longer() {
    let tcp = "initial_rto = \"1s\", max_rto = \"64x\", syn_retries = { jitter = 0.2 }";
    let mut shares = Vec::new();
    for seed in 1..=40 {
        for (wait, exact) in waits(tcp, seed).iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
            assert!((1.0..1.2).contains(&(wait / exact)), "{wait} for {exact}");
            shares.push(wait / exact - 1.0);
        }
    }
    assert_eq!(shares.len(), 200);
    // uniform on 0 to 0.2: the mean of 200 has the standard deviation 0.2 / sqrt(12 x 200)
    assert!((mean(&shares) - 0.1).abs() < 4.0 * 0.2 / 2400f64.sqrt(), "{}", mean(&shares));
    shares.sort_by(f64::total_cmp);
    assert!(shares.windows(2).all(|two| two[0] < two[1]), "no wait twice");
}

/// SYNs that the admitted flows of 200 sessions/s needed, where the first ten of each second
/// are let in.
fn tries_of_the_admitted(jitter: f64) -> Vec<f64> {
    let text = format!(
        "{LINK}\n[port.bottleneck]\n\
         gate = {{ law = \"fixed-rate\", rate = \"10/s\", epoch = \"1s\", limiter = \"counter\" }}\n\
         [traffic.one]\narrivals = {{ every = \"5ms\" }}\nsize = \"500B\"\n\
         transport = {{ tcp = {{ profile = \"ns2-2006\", syn_retries = {{ jitter = {jitter} }} }} }}"
    );
    let results = run(&load(&text, &[("duration", "30s")]), 1);
    let admitted = column(&results.flows, "admitted_s");
    let tries = column(&results.flows, "syn_tries");
    (0..tries.len()).filter(|&row| admitted[row] > 0.0).map(|row| tries[row]).collect()
}

/// features C8: without jitter a refused SYN returns after 3, 9, 21 s, whole epochs of a second,
/// at the same place in its epoch, and is refused again: whoever gets in has sent one SYN alone.
/// Jitter brings some of the others to the front.
#[test]
fn refused_syns_are_locked_to_their_phase() {
    let locked = tries_of_the_admitted(0.0);
    assert!((290..=300).contains(&locked.len()), "{}", locked.len());
    assert!(locked.iter().all(|&tries| tries == 1.0));
    let free = tries_of_the_admitted(0.2);
    assert!((290..=300).contains(&free.len()), "{}", free.len());
    let later = free.iter().filter(|&&tries| tries > 1.0).count();
    assert!(later > 50, "{later}");
}
