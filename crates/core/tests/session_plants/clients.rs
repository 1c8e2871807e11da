//! Admission by client: who is let in, for how long, and with how many connections.

use tidegate_core::law::session::clients::{Config, Who};
use tidegate_core::law::session::eligibility::Window;
use tidegate_core::law::session::rounds::Rounds;
use tidegate_core::law::session::{Admission, Admit, Counts, Knobs, Limiter};
use tidegate_core::law::{Datapath, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

/// A gate that admits clients, and what it has been told and has counted.
struct Bench {
    admit: Admit,
    knobs: Knobs,
    counts: Counts,
}

/// With a token every 100 ms, of which a second's are kept.
fn bench() -> Bench {
    let clients = Some(Config::default());
    let limiter = Limiter::SavingBucket;
    let admit = Admit::new(Admission { limiter, clients, hashed: true, ..Admission::default() });
    let mut knobs = Knobs::default();
    knobs.allow(10, Time::from_secs(1));
    knobs.bypass = 2 << 16;
    Bench { admit, knobs, counts: Counts::default() }
}

impl Bench {
    /// A client opens a connection; whether it is admitted.
    fn opens(&mut self, client: u16, flow: u32, at_ms: u64) -> bool {
        let syn = Packet { flow, client, flags: Flags::SYN, ..Packet::default() };
        let (knobs, counts) = (&self.knobs, &mut self.counts);
        self.admit.admit(&syn, Time::from_ms(at_ms), knobs, counts) == Verdict::Pass
    }

    /// Nobody is eligible any more.
    fn shut(&mut self) {
        self.knobs.shut = u32::MAX;
    }
}

/// One connection brings its client in: the others of the same client pass though it is outside
/// the window, those of other clients wait. After 15 s without one the client waits too.
#[test]
fn a_client_stays_in_until_it_is_idle() {
    let mut bench = bench();
    assert!(bench.opens(1, 1, 0));
    bench.shut();
    assert!(bench.opens(1, 2, 1_000) && bench.opens(1, 3, 14_000));
    assert!(!bench.opens(2, 4, 14_000), "another client");
    // 14 s + 15 s, and a tick of a millisecond more or less
    assert!(bench.opens(1, 5, 28_990));
    assert!(!bench.opens(1, 6, 28_990 + 15_010));
}

/// The SYN of a client and the SYN+ACK that answers it name the same client.
#[test]
fn an_answer_is_for_the_client_that_asked() {
    let syn = Packet { src: 3, dst: 9, flags: Flags::SYN, ..Packet::default() };
    let answer = Packet { src: 9, dst: 3, flags: Flags::SYN.with(Flags::ACK), ..syn };
    assert_eq!(syn.client_hash(5), answer.client_hash(5));
    assert_ne!(syn.client_hash(5), Packet { src: 4, ..syn }.client_hash(5));
    let numbered = Packet { client: 7, ..syn };
    assert_eq!(numbered.client_hash(5), Packet { client: 7, src: 4, ..syn }.client_hash(5));
    assert_ne!(numbered.client_hash(5), syn.client_hash(5));
}

/// A bucket of ten tokens: of twelve clients ten are let in at once, each with all of its
/// connections. The next one comes with the next token.
#[test]
fn a_token_lets_a_client_in_with_all_of_its_connections() {
    let mut bench = bench();
    let come = (1..=12).filter(|&client| bench.opens(client, client.into(), 0)).count();
    assert_eq!(come, 10);
    let more = (1..=12).filter(|&flow| bench.opens(1, 100 + flow, 0)).count();
    assert_eq!(more, 12);
    assert!(!bench.opens(20, 20, 99) && bench.opens(20, 21, 100));
    let Counts { arrived, admitted, let_in, inside, eligible, .. } = bench.counts;
    assert_eq!((arrived, admitted, let_in, inside, eligible), (26, 23, 11, 12, 14));
}

/// A share of three: the fourth connection waits, also of a client that is in; in the next round
/// three more pass.
#[test]
fn a_client_opens_its_share_in_a_round() {
    let mut bench = bench();
    (bench.knobs.share, bench.knobs.round) = (3, 1);
    let of_four = |bench: &mut Bench, at| (0..4).filter(|&n| bench.opens(1, n, at)).count();
    assert_eq!(of_four(&mut bench, 0), 3);
    assert!(bench.opens(2, 9, 0), "another client has its own share");
    bench.knobs.round = 2;
    assert_eq!(of_four(&mut bench, 5_000), 3);
    // with a full bucket and nobody else who waits, beyond the share too
    bench.knobs.spare = 1;
    bench.knobs.bypass = 58_982;
    assert!(bench.opens(1, 9, 5_000));
    // one client in each of the rounds, and another one in the first
    assert_eq!((bench.counts.served, bench.counts.waited), (3, 0));
}

/// A client whose share is used up comes back when the number of the round has gone round a counter of
/// 8, 16 or 32 bits: it is a round of its own, and what was counted in the old one is over.
#[test]
fn a_share_is_of_one_round_whatever_its_number() {
    for bits in [8, 16] {
        let mut bench = bench();
        (bench.knobs.share, bench.knobs.round) = (3, 1);
        assert_eq!((0..4).filter(|&n| bench.opens(1, n, 0)).count(), 3);
        bench.knobs.round += 1 << bits;
        assert_eq!((0..4).filter(|&n| bench.opens(1, n, 5_000)).count(), 3, "{bits} bits");
    }
}

/// A client that is in until shortly after the start comes back when 2^32 ticks of 2^20 ns have
/// passed, 52 days: it is not in any more.
#[test]
fn nobody_is_in_again_after_a_turn_of_the_clock() {
    let mut bench = bench();
    assert!(bench.opens(1, 1, 1_000));
    bench.shut();
    let turn_ms = (1u64 << 52) / 1_000_000;
    assert!(!bench.opens(1, 2, turn_ms + 2_000));
}

/// By hand: a reserve of a quarter of the tokens has one every 400 ms, and a second of them. Three
/// clients that were refused at the start are outside the window, and others take every token.
/// Half a minute later two of the three get one of the reserve at once, and the third 200 ms later:
/// 800 ms were taken, 400 ms more fit when 600 ms are.
#[test]
fn who_has_waited_for_half_a_minute_is_let_in_at_the_next_try() {
    let mut bench = bench();
    bench.shut();
    for client in [1, 2, 3] {
        assert!(!bench.opens(client, 1, 0) && !bench.opens(client, 1, 15_000));
        assert!(!bench.opens(client, 1, 29_990), "not yet");
    }
    bench.knobs.shut = 0;
    assert_eq!((10..30).filter(|&client| bench.opens(client, 1, 30_010)).count(), 10);
    bench.shut();
    assert!(bench.opens(1, 2, 30_010) && bench.opens(2, 2, 30_010));
    assert!(!bench.opens(3, 2, 30_010));
    // others take each token that comes
    for (client, at) in [(50, 30_110), (51, 30_211)] {
        assert!(!bench.opens(3, 2, at - 11));
        bench.knobs.shut = 0;
        assert!(bench.opens(client, 1, at));
        bench.shut();
    }
    assert!(bench.opens(3, 2, 30_211));
    assert!(bench.opens(1, 3, 45_000), "it is in from then on");
    assert!(!bench.opens(1, 4, 61_000), "until it is idle; its wait begins anew");
    assert!(!bench.opens(1, 4, 90_000) && bench.opens(1, 4, 91_010));
}

/// Three clients are refused, one of them twice: three wait.
#[test]
fn who_waits_is_counted_once_in_a_round() {
    let mut bench = bench();
    bench.shut();
    for (client, flow) in [(1, 1), (2, 2), (1, 3), (3, 4)] {
        assert!(!bench.opens(client, flow, 0));
    }
    assert_eq!((bench.counts.served, bench.counts.waited), (0, 3));
    bench.knobs.round += 1;
    assert!(!bench.opens(1, 5, 0));
    assert_eq!(bench.counts.waited, 4);
}

/// Rounds of 10 s, epochs of 5 s. 300 connections of 60 clients: four times the mean of five is
/// 20. Of 20 clients with 2 each: 8, so the least, 16. Of two clients: half of all.
#[test]
fn the_share_is_a_multiple_of_the_mean() {
    let mut rounds = Rounds::new(&Config::default(), Time::from_secs(5));
    let mut share = |admitted, served| {
        let mut knobs = Knobs::default();
        for _ in 0..2 {
            let counts = Counts { admitted, served, ..Counts::default() };
            rounds.count(&counts);
        }
        rounds.set(&mut knobs, true);
        (knobs.round, knobs.share)
    };
    assert_eq!(share(150, 30), (2, 20));
    assert_eq!(share(20, 10), (3, 16));
    assert_eq!(share(150, 1), (4, 150));
}

/// However many ask, the window passes over every client within a turn of two minutes, and stays
/// over it for 15 s (an epoch less where it comes in between two).
#[test]
fn the_window_passes_over_every_client_within_a_turn() {
    let epoch = Time::from_ms(500);
    let mut window = Window::over(Who::Clients, &Config::default(), epoch);
    let crowd = Counts { arrived: 1_000_000, eligible: 1_000_000, ..Counts::default() };
    window.close(1.0, &crowd);
    assert!((window.theta() - 0.125).abs() < 1e-12, "15 s of two minutes");
    let hashes: Vec<u32> = (0..1_000).map(|n: u32| n.wrapping_mul(4_294_967)).collect();
    let (mut longest, mut now) = (vec![0; hashes.len()], vec![0; hashes.len()]);
    // a turn, and 15 s more for those over whom the window stands at its beginning
    for at in 0..270 {
        let mut knobs = Knobs::default();
        window.follow(1.0, &crowd);
        window.set(0.9, Time::from_ms(500 * at), &mut knobs);
        for (place, &hash) in hashes.iter().enumerate() {
            now[place] = if knobs.eligible(hash) { now[place] + 1 } else { 0 };
            longest[place] = longest[place].max(now[place]);
        }
    }
    let least = longest.iter().min().copied();
    assert!(least >= Some(29), "{least:?} epochs of half a second");
}
