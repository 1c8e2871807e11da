//! The per-packet half: what opens and ends a session, and how many pass.

use super::*;

fn packet(flags: Flags) -> Packet {
    Packet { flags, ..Packet::default() }
}

const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);
const REFUSED: Verdict = Verdict::Drop(Reason::SessionRefused);

/// Offers one SYN at each of `times_ms`; how many passed.
fn passed(admit: Admit, knobs: &Knobs, counts: &mut Counts, times_ms: &[u64]) -> usize {
    let syn = packet(Flags::SYN);
    times_ms
        .iter()
        .filter(|&&ms| admit.arrive(&syn, Time::from_ms(ms), knobs, counts) == Verdict::Pass)
        .count()
}

#[test]
fn the_first_alpha_of_an_epoch_pass() {
    let admit = Admit::default();
    let mut knobs = Knobs::default();
    knobs.allow(3, Time::from_secs(1));
    let mut counts = Counts::default();
    let syn = packet(Flags::SYN);
    let verdicts: Vec<Verdict> =
        (0..5).map(|ms| admit.arrive(&syn, Time::from_ms(ms), &knobs, &mut counts)).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Pass, REFUSED, REFUSED]);
    assert_eq!((counts.arrived, counts.admitted), (5, 3));

    // the next epoch counts from zero, without regard to the last
    let epoch = counts.take();
    assert_eq!((epoch.arrived, epoch.admitted), (5, 3));
    assert_eq!(counts, Counts::default());
    assert_eq!(passed(admit, &knobs, &mut counts, &[1000, 1000, 1000, 1000]), 3);
}

#[test]
fn nothing_passes_at_an_allowance_of_zero() {
    let mut knobs = Knobs::default();
    knobs.allow(0, Time::from_secs(1));
    for limiter in [Limiter::Counter, Limiter::TokenBucket] {
        let admit = Admit { limiter, ..Admit::default() };
        // the bucket holds one token at the start whatever its pace
        let at_most = usize::from(limiter == Limiter::TokenBucket);
        assert_eq!(passed(admit, &knobs, &mut Counts::default(), &[0, 500, 999]), at_most);
    }
}

#[test]
fn which_packet_opens_a_session_is_the_ports_choice() {
    let knobs = Knobs::default(); // nothing passes
    for (opener, opens, other) in
        [(Opener::Syn, Flags::SYN, SYN_ACK), (Opener::SynAck, SYN_ACK, Flags::SYN)]
    {
        let admit = Admit { opener, ..Admit::default() };
        let mut counts = Counts::default();
        assert_eq!(admit.arrive(&packet(other), Time::ZERO, &knobs, &mut counts), Verdict::Pass);
        assert_eq!(counts, Counts::default());
        assert_eq!(admit.arrive(&packet(opens), Time::ZERO, &knobs, &mut counts), REFUSED);
        assert_eq!((counts.arrived, counts.admitted), (1, 0));
    }
}

#[test]
fn established_sessions_and_opaque_packets_pass_uncounted() {
    let admit = Admit::default();
    let knobs = Knobs::default(); // nothing passes
    let mut counts = Counts::default();
    for flags in [Flags::NONE, Flags::ACK, Flags::DATA, Flags::FIN, Flags::RST] {
        assert_eq!(
            admit.arrive(&packet(flags), Time::ZERO, &knobs, &mut counts),
            Verdict::Pass,
            "{flags:?}"
        );
    }
    for flags in [Flags::SYN, Flags::FIN, Flags::RST] {
        let sealed = packet(flags.with(Flags::OPAQUE));
        assert_eq!(admit.arrive(&sealed, Time::ZERO, &knobs, &mut counts), Verdict::Pass);
        admit.enqueued(&sealed, &mut counts);
    }
    assert_eq!(counts, Counts::default());
}

#[test]
fn an_end_counts_when_the_queue_takes_it() {
    let admit = Admit::default();
    let mut counts = Counts::default();
    let fin = packet(Flags::FIN.with(Flags::ACK));
    // lost in the full queue: it arrives and is not taken
    admit.arrive(&fin, Time::ZERO, &Knobs::default(), &mut counts);
    assert_eq!(counts.departed, 0);
    // its retransmission is taken
    let again = packet(fin.flags.with(Flags::RETRANSMIT));
    admit.arrive(&again, Time::ZERO, &Knobs::default(), &mut counts);
    admit.enqueued(&again, &mut counts);
    assert_eq!((counts.departed, counts.resets), (1, 0));
    // a session that breaks off is counted apart, and a FIN with RST set once
    admit.enqueued(&packet(Flags::RST), &mut counts);
    admit.enqueued(&packet(Flags::FIN.with(Flags::RST)), &mut counts);
    admit.enqueued(&packet(Flags::DATA.with(Flags::ACK)), &mut counts);
    assert_eq!((counts.departed, counts.resets), (2, 1));
}

#[test]
fn a_refusal_can_be_told_to_the_sender() {
    let admit = Admit { refusal: Refusal::Rst, ..Admit::default() };
    let verdict =
        admit.arrive(&packet(Flags::SYN), Time::ZERO, &Knobs::default(), &mut Counts::default());
    assert_eq!(verdict, Verdict::Reject(Reason::SessionRefused));
}

#[test]
fn everything_passes_and_is_counted_while_the_gate_is_open() {
    let mut knobs = Knobs::default();
    knobs.open();
    for limiter in [Limiter::Counter, Limiter::TokenBucket] {
        let admit = Admit { limiter, ..Admit::default() };
        let mut counts = Counts::default();
        assert_eq!(passed(admit, &knobs, &mut counts, &[0; 1000]), 1000);
        assert_eq!((counts.arrived, counts.admitted), (1000, 1000));
    }
    // an allowance closes it again
    knobs.allow(1, Time::from_secs(1));
    assert_eq!(passed(Admit::default(), &knobs, &mut Counts::default(), &[0, 0]), 1);
}

#[test]
fn tokens_come_evenly_and_one_is_kept() {
    let admit = Admit { limiter: Limiter::TokenBucket, ..Admit::default() };
    let mut knobs = Knobs::default();
    knobs.allow(100, Time::from_secs(1));
    assert_eq!(knobs.token_interval_ns, 10_000_000); // 1 s / 100
    let mut counts = Counts::default();
    // by hand: tokens at 0, 10, 20, ... ms; one is kept while nobody comes
    assert_eq!(passed(admit, &knobs, &mut counts, &[0, 0, 9, 10, 19, 20, 20]), 3);
    assert_eq!(passed(admit, &knobs, &mut counts, &[500, 500, 509, 510]), 2);
    // 10 arrivals a millisecond for a second: 100 of them
    let many: Vec<u64> = (0..10_000).map(|i| 1000 + i / 10).collect();
    assert_eq!(passed(admit, &knobs, &mut counts, &many), 100);
    // the epoch's counts go, the bucket stays empty
    counts.take();
    assert_eq!(passed(admit, &knobs, &mut counts, &[1995, 2000]), 1);
}

#[test]
fn a_deeper_bucket_lets_a_burst_through() {
    let admit = Admit { limiter: Limiter::TokenBucket, ..Admit::default() };
    let knobs = Knobs {
        token_interval_ns: 10_000_000,
        token_depth_ns: 35_000_000, // three tokens and a half
        ..Knobs::default()
    };
    let mut counts = Counts::default();
    assert_eq!(passed(admit, &knobs, &mut counts, &[0; 10]), 3);
    // half a token was left: the next one is whole 5 ms on
    assert_eq!(passed(admit, &knobs, &mut counts, &[4, 5, 5]), 1);
}

#[test]
fn a_zero_interval_is_no_limit() {
    let admit = Admit { limiter: Limiter::TokenBucket, ..Admit::default() };
    assert_eq!(passed(admit, &Knobs::default(), &mut Counts::default(), &[7; 500]), 500);
}

#[test]
fn an_old_debt_is_not_paid_at_the_old_pace() {
    let admit = Admit { limiter: Limiter::TokenBucket, ..Admit::default() };
    let (mut slow, mut fast) = (Knobs::default(), Knobs::default());
    slow.allow(1, Time::from_secs(10));
    fast.allow(1000, Time::from_secs(10)); // a token each 10 ms
    let mut counts = Counts::default();
    assert_eq!(passed(admit, &slow, &mut counts, &[0]), 1);
    // the bucket is empty, of ten seconds; at the new pace it fills in 10 ms
    assert_eq!(passed(admit, &fast, &mut counts, &[1, 10, 11, 20, 21]), 2);
}

#[test]
fn the_far_end_of_time_does_not_overflow() {
    let admit = Admit { limiter: Limiter::TokenBucket, ..Admit::default() };
    let knobs = Knobs { token_interval_ns: u64::MAX, ..Knobs::default() };
    let mut counts = Counts { token_due_ns: u64::MAX, ..Counts::default() };
    let verdict = admit.arrive(&packet(Flags::SYN), Time::NEVER, &knobs, &mut counts);
    assert_eq!(verdict, REFUSED);
}

#[test]
fn state_does_not_grow_with_sessions() {
    // plain values that own nothing: their size is all the state there is
    fn plain<T: Copy>() -> usize {
        size_of::<T>()
    }
    assert_eq!((plain::<Knobs>(), plain::<Counts>(), plain::<Admit>()), (32, 40, 3));
}

#[test]
fn fractions_are_carried_over() {
    // by hand: 65.5, 131, 196.5, 262 in all
    let mut carry = Carry::default();
    let allowed: Vec<u64> = (0..4).map(|_| carry.whole(65.5)).collect();
    assert_eq!(allowed, [65, 66, 65, 66]);
    // a third of a session per epoch is one in three
    let mut carry = Carry::default();
    assert_eq!((0..300).map(|_| carry.whole(1.0 / 3.0)).sum::<u64>(), 100);
}
