//! Any bytes as a TCP header with an explicit rate: read or refused, and a
//! change leaves everything else, and the sum of the whole, as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::units::Rate;
use tidegate_core::wire::{
    Checksum, EXPERIMENT, KIND, LENGTH, RateOption, find, lower, read, write,
};

/// The ones' complement sum modulo 0xFFFF; the checksum keeps it constant.
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) * 256 + pair.get(1).map_or(0, |low| u64::from(*low)));
    words.sum::<u64>() % 0xFFFF
}

fuzz_target!(|input: (u64, u64, u32, Option<u8>, Vec<u8>)| {
    let (request, feedback, rtt_us, planted, mut bytes) = input;
    // four bytes that must all be right are seldom met by chance
    let place =
        planted.and_then(|at| bytes.get_mut(20 + usize::from(at) % 32..)?.first_chunk_mut());
    if let Some(place) = place {
        let [x, y] = EXPERIMENT.to_be_bytes();
        *place = [KIND, LENGTH as u8, x, y];
    }
    let Ok(Some(at)) = find(&bytes) else {
        let mut copy = bytes.clone();
        assert!(!lower(&mut copy, Rate::from_bps(request), Checksum::Whole).unwrap_or(false));
        assert!(write(&mut copy, &RateOption::default(), Checksum::Whole).is_err());
        return assert_eq!(copy, bytes);
    };
    let before = read(&bytes).expect("it was found").expect("it was found");
    let mut changed = bytes.clone();
    let most = Rate::from_bps(request);
    let lowered = lower(&mut changed, most, Checksum::Whole).expect("it was found");
    let after = read(&changed).expect("still there").expect("still there");
    assert_eq!(lowered, after.request < before.request);
    assert!(after.request <= before.request && after.request <= (most.bps() / 8).max(1));
    assert_eq!(after, RateOption { request: after.request, ..before });

    let option = RateOption { request, feedback, rtt_us };
    write(&mut changed, &option, Checksum::Whole).expect("it was found");
    assert_eq!(changed[at..at + LENGTH], option.to_bytes());
    assert_eq!(sum(&changed), sum(&bytes));
    for (place, (new, old)) in changed.iter().zip(&bytes).enumerate() {
        assert!(new == old || (at..at + LENGTH).contains(&place) || (16..18).contains(&place));
    }
});
