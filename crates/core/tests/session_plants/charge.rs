//! Which opening packets are charged, and what the laws make of those that the queue loses.

use tidegate_core::law::session::clients;
use tidegate_core::law::session::fixed_rate::{self, FixedRate};
use tidegate_core::law::session::onset::AtOnset;
use tidegate_core::law::session::tide::{self, Tide};
use tidegate_core::law::session::{Admission, Admit, Charge, Counts, Knobs, Limiter};
use tidegate_core::law::{Datapath, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Frequency, Time};

use super::rig::Rig;

const CHARGES: [Charge; 2] = [Charge::Passed, Charge::Queued];

fn syn(flow: u32) -> Packet {
    Packet { flow, client: flow as u16, flags: Flags::SYN, ..Packet::default() }
}

/// A hundred openers come to an open gate, and a full queue loses forty of them.
fn sixty_of_a_hundred(charge: Charge) -> Counts {
    let mut admit = Admit::new(Admission { charge, ..Admission::default() });
    let (mut knobs, mut counts) = (Knobs::default(), Counts::default());
    knobs.open();
    for flow in 0..100 {
        assert_eq!(admit.admit(&syn(flow), Time::ZERO, &knobs, &mut counts), Verdict::Pass);
        match flow < 60 {
            true => admit.enqueued(&syn(flow), &mut counts),
            false => admit.dropped(&syn(flow), &mut counts),
        }
    }
    counts
}

/// By hand: a gate that closes allows the smaller of admissions and ends. Of a hundred openers forty
/// were lost, so sixty sessions were admitted, whichever of them are charged; a hundred end.
#[test]
fn tide_takes_off_each_lost_opener_once() {
    for charge in CHARGES {
        let (epoch, admit) = (Time::from_secs(1), clients::Who::Connections);
        let config = tide::Config { epoch, g: 1.0, admit, ..Default::default() };
        let mut rig = Rig::new(Tide::new(config));
        rig.busy = Time::from_secs(1);
        let counts =
            Counts { departed: 100, bytes: 1000, young_bytes: 1000, ..sixty_of_a_hundred(charge) };
        let decision = rig.tick(Some(counts)).decision;
        assert_eq!((decision.phase, decision.set), ("close", 60.0), "{charge:?}");
    }
}

/// A law that allows one session an epoch, in force once sessions pile up at a queue that loses: here
/// six packets of a hundred.
fn at_onset() -> Rig {
    let rate = Frequency::per_s(1.0);
    let law = Box::new(FixedRate::new(fixed_rate::Config { rate, ..Default::default() }));
    let mut rig = Rig::new(AtOnset::new(law, Time::from_secs(2), false));
    rig.queue_drops = 6;
    rig
}

/// Two epochs of 340 sessions of which 110 end: the law is in force (as worked out in `onset.rs`).
fn piled() -> Rig {
    let mut rig = at_onset();
    for _ in 0..2 {
        let counts = Counts { arrived: 340, admitted: 340, departed: 110, ..Counts::default() };
        rig.tick(Some(counts));
    }
    assert_eq!(rig.allowance(), Some(1));
    rig
}

/// The law is in force until an epoch without a refusal. Openers that the queue lost were not refused.
#[test]
fn what_the_queue_loses_is_not_refused() {
    for charge in CHARGES {
        let mut rig = piled();
        // all that piled up ends
        let counts = Counts { departed: 10_000, ..sixty_of_a_hundred(charge) };
        rig.tick(Some(counts));
        assert_eq!(rig.allowance(), None, "{charge:?}");
    }
}

/// 340 ends are accepted and 230 of them lost out of the queue: 110 ended, as in [`piled`].
#[test]
fn an_end_that_the_queue_lost_does_not_shrink_the_pile() {
    let mut rig = at_onset();
    for _ in 0..2 {
        let (arrived, admitted, departed, lost_ends) = (340, 340, 340, 230);
        let counts = Counts { arrived, admitted, departed, lost_ends, ..Counts::default() };
        rig.tick(Some(counts));
    }
    assert_eq!(rig.allowance(), Some(1));
}

/// 340 openers pass the gate, of which the queue loses 230: 110 sessions begin and 110 end, so nothing
/// piles up.
#[test]
fn what_the_queue_loses_does_not_pile_up() {
    let mut rig = at_onset();
    for _ in 0..5 {
        let counts = Counts {
            arrived: 340,
            admitted: 340,
            lost_openers: 230,
            departed: 110,
            ..Counts::default()
        };
        rig.tick(Some(counts));
    }
    assert_eq!(rig.allowance(), None);
}

/// By hand: a bucket of ten tokens, of which a lost opener gives its own back where only accepted ones
/// are charged. So ten clients are let in, or eleven.
#[test]
fn a_client_whose_opener_is_lost_gets_its_token_back_where_accepted_ones_are_charged() {
    let let_in = |charge| {
        let clients = Some(clients::Config::default());
        let limiter = Limiter::SavingBucket;
        let rules = Admission { limiter, charge, clients, hashed: true, ..Admission::default() };
        let mut admit = Admit::new(rules);
        let (mut knobs, mut counts) = (Knobs::default(), Counts::default());
        knobs.allow(10, Time::from_secs(1));
        knobs.bypass = 2 << 16;
        let mut opens = |packet: &Packet, lost: bool| {
            let passed = admit.admit(packet, Time::ZERO, &knobs, &mut counts) == Verdict::Pass;
            match lost {
                true => admit.dropped(packet, &mut counts),
                false if passed => admit.enqueued(packet, &mut counts),
                false => {}
            }
            passed
        };
        assert!(opens(&syn(1), true));
        // it is in: its next try takes no token, and gives none back
        assert!(opens(&syn(1), true) && opens(&syn(1), false));
        1 + (2..=20).filter(|&client| opens(&syn(client), false)).count()
    };
    assert_eq!(CHARGES.map(let_in), [10, 11]);
}
