//! Any bytes as a TCP header with an explicit rate, and as an IP packet: read or
//! refused, and a change leaves everything else, and the sum of the whole, as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::packet::{Ext, Flags};
use tidegate_core::units::Rate;
use tidegate_core::wire::ip::{self, Reader};
use tidegate_core::wire::reset::reset;
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

/// As an IP packet: what a port may change is changed, and nothing else is.
fn packet(bytes: &[u8], request: u64) {
    let Ok(headers) = Reader::new((1, 2)).read(bytes) else { return };
    let size = usize::from(headers.record.size);
    assert!(size <= bytes.len());
    let mut record = headers.record;
    record.flags = record.flags.with(Flags::CE);
    if let Ext::Rate(header) = &mut record.ext {
        header.request = header.request.min(request as u32);
    }
    let mut changed = bytes.to_vec();
    ip::write(&mut changed, &headers, &record, Checksum::Whole).expect("the same bytes");
    assert_eq!(changed[size..], bytes[size..]);
    let again = Reader::new((1, 2)).read(&changed).expect("still a packet");
    let marked = headers.record.flags.has(Flags::ECT);
    assert_eq!(again.record.flags.has(Flags::CE), marked);
    if let (Ext::Rate(now), Ext::Rate(wanted)) = (again.record.ext, record.ext) {
        assert!(now.request <= wanted.request.max(1));
    }
    assert_eq!((again.ports, again.record.flow), (headers.ports, headers.record.flow));
    if let Ok(answer) = reset(&headers) {
        let answer = Reader::new((1, 2)).read(&answer).expect("it is whole");
        assert!(answer.record.flags.has(Flags::RST) && reset(&answer).is_err());
    }
}

fuzz_target!(|input: (u64, u64, u32, Option<u8>, Vec<u8>)| {
    let (request, feedback, rtt_us, planted, mut bytes) = input;
    packet(&bytes, request);
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
