//! The datapath: what opens and ends a session, and how many pass.

use super::*;

fn packet(flags: Flags) -> Packet {
    Packet { flags, ..Packet::default() }
}

const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);
const REFUSED: Verdict = Verdict::Drop(Reason::SessionRefused);

/// Offers one SYN at each of `times_ms`; how many passed.
fn passed(admit: &mut Admit, knobs: &Knobs, times_ms: &[u64]) -> usize {
    let syn = packet(Flags::SYN);
    let mut counts = Counts::default();
    times_ms
        .iter()
        .filter(|&&ms| admit.admit(&syn, Time::from_ms(ms), knobs, &mut counts) == Verdict::Pass)
        .count()
}

fn limited(limiter: Limiter) -> Admit {
    Admit::new(Admission { limiter, ..Admission::default() })
}

/// The controller has set the knobs.
fn renew(admit: &mut Admit, knobs: &Knobs) {
    let moment = Moment { now: Time::ZERO, queue_bytes: 0 };
    admit.renewed(&moment, knobs, &mut Counts::default());
}

#[test]
fn the_first_alpha_of_an_epoch_pass() {
    let mut admit = Admit::default();
    let mut knobs = Knobs::default();
    knobs.allow(3, Time::from_secs(1));
    let mut counts = Counts::default();
    let syn = packet(Flags::SYN);
    let verdicts: Vec<Verdict> =
        (0..5).map(|ms| admit.admit(&syn, Time::from_ms(ms), &knobs, &mut counts)).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Pass, REFUSED, REFUSED]);
    assert_eq!((counts.arrived, counts.admitted), (5, 3));

    // the next epoch admits anew, without regard to the last, and counts go on
    renew(&mut admit, &knobs);
    for _ in 0..4 {
        admit.admit(&syn, Time::from_secs(1), &knobs, &mut counts);
    }
    assert_eq!((counts.arrived, counts.admitted), (9, 6));
}

#[test]
fn nothing_passes_at_an_allowance_of_zero() {
    let mut knobs = Knobs::default();
    knobs.allow(0, Time::from_secs(1));
    for limiter in [Limiter::Counter, Limiter::TokenBucket] {
        let mut admit = limited(limiter);
        // the bucket holds one token at the start whatever its pace
        let at_most = usize::from(limiter == Limiter::TokenBucket);
        assert_eq!(passed(&mut admit, &knobs, &[0, 500, 999]), at_most);
    }
}

#[test]
fn which_packet_opens_a_session_is_the_ports_choice() {
    let knobs = Knobs::default(); // nothing passes
    for (opener, opens, other) in
        [(Opener::Syn, Flags::SYN, SYN_ACK), (Opener::SynAck, SYN_ACK, Flags::SYN)]
    {
        let mut admit = Admit::new(Admission { opener, ..Admission::default() });
        let mut counts = Counts::default();
        assert_eq!(admit.admit(&packet(other), Time::ZERO, &knobs, &mut counts), Verdict::Pass);
        assert_eq!(counts, Counts::default());
        assert_eq!(admit.admit(&packet(opens), Time::ZERO, &knobs, &mut counts), REFUSED);
        assert_eq!((counts.arrived, counts.admitted), (1, 0));
    }
}

#[test]
fn a_port_of_uploads_and_downloads_takes_both_openers() {
    let knobs = Knobs::default(); // nothing passes
    let mut admit = Admit::new(Admission { opener: Opener::Either, ..Admission::default() });
    let mut counts = Counts::default();
    for flags in [Flags::SYN, SYN_ACK] {
        assert_eq!(admit.admit(&packet(flags), Time::ZERO, &knobs, &mut counts), REFUSED);
    }
    assert_eq!(admit.admit(&packet(Flags::ACK), Time::ZERO, &knobs, &mut counts), Verdict::Pass);
    assert_eq!((counts.arrived, counts.admitted), (2, 0));
}

#[test]
fn established_sessions_and_opaque_packets_pass_uncounted() {
    let mut admit = Admit::default();
    let knobs = Knobs::default(); // nothing passes
    let mut counts = Counts::default();
    for flags in [Flags::NONE, Flags::ACK, Flags::DATA, Flags::FIN, Flags::RST] {
        assert_eq!(
            admit.admit(&packet(flags), Time::ZERO, &knobs, &mut counts),
            Verdict::Pass,
            "{flags:?}"
        );
    }
    for flags in [Flags::SYN, Flags::FIN, Flags::RST] {
        let sealed = packet(flags.with(Flags::OPAQUE));
        assert_eq!(admit.admit(&sealed, Time::ZERO, &knobs, &mut counts), Verdict::Pass);
        admit.enqueued(&sealed, &mut counts);
    }
    assert_eq!(counts, Counts::default());
}

#[test]
fn an_end_counts_when_the_queue_takes_it() {
    let mut admit = Admit::default();
    let mut counts = Counts::default();
    let fin = packet(Flags::FIN.with(Flags::ACK));
    // lost in the full queue: it arrives and is not taken
    admit.admit(&fin, Time::ZERO, &Knobs::default(), &mut counts);
    assert_eq!(counts.departed, 0);
    // its retransmission is taken
    let again = packet(fin.flags.with(Flags::RETRANSMIT));
    admit.admit(&again, Time::ZERO, &Knobs::default(), &mut counts);
    admit.enqueued(&again, &mut counts);
    assert_eq!((counts.departed, counts.resets), (1, 0));
    // a session that breaks off is counted apart, and a FIN with RST set once
    admit.enqueued(&packet(Flags::RST), &mut counts);
    admit.enqueued(&packet(Flags::FIN.with(Flags::RST)), &mut counts);
    admit.enqueued(&packet(Flags::DATA.with(Flags::ACK)), &mut counts);
    assert_eq!((counts.departed, counts.resets), (2, 1));
}

/// session-control, II and V-B: the paper leaves open whether an opener that the full
/// queue loses has used up its place. By hand, an allowance of two, openers at 0, 1, 2, 3
/// and 4 ms of which the queue loses the first: charged as passed the third is refused,
/// charged as queued the fourth.
#[test]
fn what_the_queue_loses_is_charged_or_not() {
    let mut knobs = Knobs::default();
    knobs.allow(2, Time::from_secs(1));
    let syn = packet(Flags::SYN);
    let ways = [(Charge::Passed, 2, 2), (Charge::Queued, 3, 2)];
    for (charge, passed, charged) in ways {
        let mut admit = Admit::new(Admission { charge, ..Admission::default() });
        let mut counts = Counts::default();
        let mut through = 0;
        for ms in 0..5 {
            if admit.admit(&syn, Time::from_ms(ms), &knobs, &mut counts) == Verdict::Pass {
                through += 1;
                match ms {
                    0 => admit.dropped(&syn, &mut counts),
                    _ => admit.enqueued(&syn, &mut counts),
                }
            }
        }
        assert_eq!((through, counts.admitted), (passed, charged), "{charge:?}");
        assert_eq!(counts.arrived, 5);
    }
}

/// The same with tokens, one each 100 ms and a bucket of one: what the queue has lost
/// leaves its token to whoever comes next, what it has taken does not.
#[test]
fn a_token_stays_when_the_queue_loses_its_opener() {
    let mut knobs = Knobs::default();
    knobs.allow(10, Time::from_secs(1));
    let rules = Admission { limiter: Limiter::TokenBucket, ..Admission::default() };
    let mut admit = Admit::new(Admission { charge: Charge::Queued, ..rules });
    let mut counts = Counts::default();
    let syn = packet(Flags::SYN);
    let mut at = |ms, taken| {
        let verdict = admit.admit(&syn, Time::from_ms(ms), &knobs, &mut counts);
        match verdict {
            Verdict::Pass if taken => admit.enqueued(&syn, &mut counts),
            Verdict::Pass => admit.dropped(&syn, &mut counts),
            _ => {}
        }
        verdict
    };
    assert_eq!(at(0, false), Verdict::Pass);
    assert_eq!(at(1, true), Verdict::Pass);
    assert_eq!(at(2, false), REFUSED);
    assert_eq!(at(101, true), Verdict::Pass);
    assert_eq!(counts.admitted, 2);
}

#[test]
fn a_refusal_can_be_told_to_the_sender() {
    let mut admit = Admit::new(Admission { refusal: Refusal::Rst, ..Admission::default() });
    let verdict =
        admit.admit(&packet(Flags::SYN), Time::ZERO, &Knobs::default(), &mut Counts::default());
    assert_eq!(verdict, Verdict::Reject(Reason::SessionRefused));
}

#[test]
fn everything_passes_and_is_counted_while_the_gate_is_open() {
    let mut knobs = Knobs::default();
    knobs.open();
    for limiter in [Limiter::Counter, Limiter::TokenBucket] {
        let mut admit = limited(limiter);
        let mut counts = Counts::default();
        for _ in 0..1000 {
            admit.admit(&packet(Flags::SYN), Time::ZERO, &knobs, &mut counts);
        }
        assert_eq!((counts.arrived, counts.admitted), (1000, 1000));
    }
    // an allowance closes it again
    knobs.allow(1, Time::from_secs(1));
    assert_eq!(passed(&mut Admit::default(), &knobs, &[0, 0]), 1);
}

#[test]
fn tokens_come_evenly_and_one_is_kept() {
    let mut admit = limited(Limiter::TokenBucket);
    let mut knobs = Knobs::default();
    knobs.allow(100, Time::from_secs(1));
    assert_eq!(knobs.token_interval_ns, 10_000_000); // 1 s / 100
    // by hand: tokens at 0, 10, 20, ... ms; one is kept while nobody comes
    assert_eq!(passed(&mut admit, &knobs, &[0, 0, 9, 10, 19, 20, 20]), 3);
    assert_eq!(passed(&mut admit, &knobs, &[500, 500, 509, 510]), 2);
    // 10 arrivals a millisecond for a second: 100 of them
    let many: Vec<u64> = (0..10_000).map(|i| 1000 + i / 10).collect();
    assert_eq!(passed(&mut admit, &knobs, &many), 100);
    // the epoch goes, the bucket stays empty
    renew(&mut admit, &knobs);
    assert_eq!(passed(&mut admit, &knobs, &[1995, 2000]), 1);
}

#[test]
fn a_deeper_bucket_lets_a_burst_through() {
    let mut admit = limited(Limiter::TokenBucket);
    let knobs = Knobs {
        token_interval_ns: 10_000_000,
        token_depth_ns: 35_000_000, // three tokens and a half
        ..Knobs::default()
    };
    assert_eq!(passed(&mut admit, &knobs, &[0; 10]), 3);
    // half a token was left: the next one is whole 5 ms on
    assert_eq!(passed(&mut admit, &knobs, &[4, 5, 5]), 1);
}

#[test]
fn a_zero_interval_is_no_limit() {
    let mut admit = limited(Limiter::TokenBucket);
    assert_eq!(passed(&mut admit, &Knobs::default(), &[7; 500]), 500);
}

#[test]
fn an_old_debt_is_not_paid_at_the_old_pace() {
    let mut admit = limited(Limiter::TokenBucket);
    let (mut slow, mut fast) = (Knobs::default(), Knobs::default());
    slow.allow(1, Time::from_secs(10));
    fast.allow(1000, Time::from_secs(10)); // a token each 10 ms
    assert_eq!(passed(&mut admit, &slow, &[0]), 1);
    // the bucket is empty, of ten seconds; at the new pace it fills in 10 ms
    assert_eq!(passed(&mut admit, &fast, &[1, 10, 11, 20, 21]), 2);
}

#[test]
fn the_far_end_of_time_does_not_overflow() {
    let mut admit = limited(Limiter::TokenBucket);
    let knobs = Knobs { token_interval_ns: u64::MAX, ..Knobs::default() };
    admit.spent.token_due_ns = u64::MAX;
    let verdict = admit.admit(&packet(Flags::SYN), Time::NEVER, &knobs, &mut Counts::default());
    assert_eq!(verdict, REFUSED);
}

#[test]
fn state_does_not_grow_with_sessions() {
    // plain values that own nothing: their size is all the state there is
    fn plain<T: Copy>() -> usize {
        size_of::<T>()
    }
    assert_eq!((plain::<Knobs>(), plain::<Counts>(), plain::<Spent>()), (56, 120, 32));
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
