//! The explicit-rate option: bytes made by hand, checksums held to another
//! implementation (etherparse), and any bytes at all.

use etherparse::{Ipv4Header, TcpHeaderSlice};
use proptest::prelude::*;
use tidegate_core::packet::RateHeader;
use tidegate_core::units::{Rate, Time};
use tidegate_core::wire::{
    Checksum, EXPERIMENT, KIND, LENGTH, RateOption, WireError, find, lower, read, write,
};

/// 10 Mbit/s asked for, nothing handed back, an RTT of 40 ms; by hand:
/// 1,250,000 bytes/s = 312,500 << 2: 2 << 19 | 0x4C4B4; 40,000 us = 2,500 << 4: 4 << 12 | 0x9C4.
const ASKING: [u8; LENGTH] = [254, 12, 0x74, 0x67, 0x14, 0xC4, 0xB4, 0x00, 0x00, 0x00, 0x49, 0xC4];
const ASKED: RateOption = RateOption { request: 1_250_000, feedback: 0, rtt_us: 40_000 };

/// A maximum segment size and a window scale, as a SYN has them.
const USUAL: [u8; 7] = [2, 4, 0x05, 0xB4, 3, 3, 7];

fn tcp(options: &[u8]) -> Vec<u8> {
    let words = 5 + options.len().div_ceil(4);
    let mut header = vec![0xC3, 0x50, 0x01, 0xBB, 0, 0, 0, 1, 0, 0, 0, 0];
    header.extend([(words as u8) << 4, 0x02, 0xFA, 0xF0, 0, 0, 0, 0]);
    header.extend(options);
    header.resize(words * 4, 0);
    let whole = sum_of(&header, b"");
    header[16..18].copy_from_slice(&whole.to_be_bytes());
    header
}

/// What the checksum of the segment should be, between two given hosts.
fn sum_of(header: &[u8], payload: &[u8]) -> u16 {
    let protocol = etherparse::ip_number::TCP;
    let ip = Ipv4Header::new(0, 64, protocol, [192, 0, 2, 1], [192, 0, 2, 2]).unwrap();
    let tcp = TcpHeaderSlice::from_slice(header).unwrap();
    tcp.calc_checksum_ipv4(
        &etherparse::Ipv4HeaderSlice::from_slice(&ip.to_bytes()).unwrap(),
        payload,
    )
    .unwrap()
}

fn sum_in(header: &[u8]) -> u16 {
    u16::from_be_bytes([header[16], header[17]])
}

#[test]
fn the_bytes_are_those_made_by_hand() {
    assert_eq!(ASKED.to_bytes(), ASKING);
    assert_eq!(read(&tcp(&ASKING)), Ok(Some(ASKED)));
    // 0x5D3A7 << 31 and 0xABC << 15 are whole codes
    let large = RateOption { request: 0x5D3A7 << 31, feedback: 1, rtt_us: 0xABC << 15 };
    let bytes = [254, 12, 0x74, 0x67, 0xFD, 0xD3, 0xA7, 0x00, 0x00, 0x01, 0xFA, 0xBC];
    assert_eq!((large.to_bytes(), read(&tcp(&bytes))), (bytes, Ok(Some(large))));
}

/// Code and number that comes out again, at the edges of what a mantissa holds.
#[test]
fn rates_are_rounded_down_and_round_trips_to_the_nearest() {
    let rates = [
        (0, [0, 0, 0], 0),
        (1, [0, 0, 1], 1),
        (524_287, [0x07, 0xFF, 0xFF], 524_287),
        (524_288, [0x0C, 0x00, 0x00], 524_288),
        (524_289, [0x0C, 0x00, 0x00], 524_288),
        (1_048_575, [0x0F, 0xFF, 0xFF], 1_048_574),
        (1 << 50, [0xFF, 0xFF, 0xFF], 524_287 << 31),
        (u64::MAX, [0xFF, 0xFF, 0xFF], 524_287 << 31),
    ];
    for (request, code, out) in rates {
        let bytes = RateOption { request, ..RateOption::default() }.to_bytes();
        assert_eq!(bytes[4..7], code, "{request}");
        assert_eq!(read(&tcp(&bytes)).unwrap().unwrap().request, out);
    }
    let rtts = [
        (0, [0, 0], 0),
        (1, [0, 1], 1),
        (4_095, [0x0F, 0xFF], 4_095),
        (4_097, [0x18, 0x01], 4_098),
        (8_191, [0x28, 0x00], 8_192),
        (200_000, [0x6C, 0x35], 200_000),
        (4_096 << 15, [0xFF, 0xFF], 4_095 << 15),
        (u32::MAX, [0xFF, 0xFF], 4_095 << 15),
    ];
    for (rtt_us, code, out) in rtts {
        let bytes = RateOption { rtt_us, ..RateOption::default() }.to_bytes();
        assert_eq!(bytes[10..], code, "{rtt_us}");
        assert_eq!(read(&tcp(&bytes)).unwrap().unwrap().rtt_us, out);
    }
}

#[test]
fn quantities_become_units_of_the_wire_and_back() {
    let (request, rtt) = (Rate::from_bps(10_000_000), Time::from_ms(40));
    assert_eq!(RateOption::new(Some(request), None, Some(rtt)), ASKED);
    assert_eq!((ASKED.request(), ASKED.feedback(), ASKED.rtt()), (Some(request), None, Some(rtt)));
    // what is above zero does not become nothing, and what is too large the largest
    let least = RateOption::new(Some(Rate::from_bps(7)), None, Some(Time::from_ps(1)));
    assert_eq!(least, RateOption { request: 1, feedback: 0, rtt_us: 1 });
    let most = RateOption::new(None, Some(Rate::from_bps(u64::MAX)), Some(Time::NEVER));
    assert_eq!((most.feedback, most.rtt_us), (u64::MAX / 8, u32::MAX));
    let read = read(&tcp(&most.to_bytes())).unwrap().unwrap();
    assert_eq!(read.feedback(), Some(Rate::from_bps(8 * (524_287 << 31))));
}

#[test]
fn the_option_says_what_the_record_of_a_packet_says() {
    let header = RateHeader { request: 1_250_000, feedback: 0, rtt_us: 40_000 };
    assert_eq!((RateOption::from(header), RateHeader::from(ASKED)), (ASKED, header));
    let large = RateOption { request: 1 << 40, feedback: u32::MAX.into(), rtt_us: 1 };
    let header = RateHeader { request: u32::MAX, feedback: u32::MAX, rtt_us: 1 };
    assert_eq!(RateHeader::from(large), header);
}

#[test]
fn the_option_is_found_among_others_and_not_in_the_payload() {
    assert_eq!(find(&tcp(&[&USUAL[..], &[1, 1], &ASKING].concat())), Ok(Some(29)));
    assert_eq!(find(&tcp(&ASKING)), Ok(Some(20)));
    assert_eq!(find(&tcp(&[&ASKING[..], &ASKING].concat())), Ok(Some(20)), "the first counts");
    assert_eq!(find(&tcp(&USUAL)), Ok(None));
    assert_eq!(find(&tcp(&[&[0][..], &ASKING].concat())), Ok(None), "after the end of the list");
    assert_eq!(find(&[&tcp(&[])[..], &ASKING].concat()), Ok(None), "payload");
    // TCP Fast Open as it was tried out, and an experiment too short for a number
    assert_eq!(find(&tcp(&[254, 4, 0xF9, 0x89, 254, 3, 9, 254, 2])), Ok(None));
    assert_eq!(find(&tcp(&[1, 1, 254, 2])), Ok(None), "and one at the very end");
    assert_eq!(find(&tcp(&[&[253][..], &ASKING[1..]].concat())), Ok(None), "kind 253");
}

#[test]
fn what_is_wrong_is_named() {
    assert_eq!(read(&[0; 19]), Err(WireError::Cut { have: 19, needed: 20 }));
    let mut header = tcp(&ASKING);
    assert_eq!(read(&header[..31]), Err(WireError::Cut { have: 31, needed: 32 }));
    header[12] = 0x40;
    assert_eq!(read(&header), Err(WireError::DataOffset { words: 4 }));
    for (options, at, kind, length, room) in [
        ([1, 1, 1, 8], 23, 8, 0, 1),
        ([3, 0, 0, 0], 20, 3, 0, 4),
        ([3, 1, 0, 0], 20, 3, 1, 4),
        ([1, 5, 4, 0], 21, 5, 4, 3),
    ] {
        let expected = WireError::OptionLength { at, kind, length, room };
        assert_eq!(read(&tcp(&options)), Err(expected), "{expected}");
    }
    let short = tcp(&[254, 10, 0x74, 0x67, 0, 0, 1, 0, 0, 1]);
    assert_eq!(read(&short), Err(WireError::RateLength { at: 20, length: 10 }));
    let mut none = tcp(&USUAL);
    let before = none.clone();
    assert_eq!(write(&mut none, &ASKED, Checksum::Whole), Err(WireError::Missing));
    assert_eq!(none, before);
    assert_eq!(
        WireError::RateLength { at: 20, length: 10 }.to_string(),
        "the explicit-rate option at byte 20 has 10 bytes, not 12"
    );
}

#[test]
fn a_port_lowers_a_request_and_nothing_else() {
    for before in 0..4 {
        // at even and at odd bytes
        let mut header = tcp(&[&[1, 1, 1][..before], &ASKING].concat());
        let original = header.clone();
        let at = 20 + before;
        for grants in [Rate::from_bps(10_000_000), Rate::from_bps(u64::MAX)] {
            assert_eq!(lower(&mut header, grants, Checksum::Whole), Ok(false));
            assert_eq!(header, original, "a rate that is not below the request");
        }
        assert_eq!(lower(&mut header, Rate::from_bps(4_000_000), Checksum::Whole), Ok(true));
        assert_eq!(header[at + 4..at + 7], [0x07, 0xA1, 0x20], "500,000 bytes/s");
        assert_eq!(sum_in(&header), sum_of(&header, b""));
        assert_ne!(sum_in(&header), sum_in(&original));
        header[at + 4..at + 7].copy_from_slice(&original[at + 4..at + 7]);
        header[16..18].copy_from_slice(&original[16..18]);
        assert_eq!(header, original, "request and checksum apart");
    }
    let mut header = tcp(&ASKING);
    assert_eq!(lower(&mut header, Rate::from_bps(0), Checksum::Whole), Ok(true));
    assert_eq!(read(&header).unwrap().unwrap().request, 1, "it still asks");
    let mut nothing = tcp(&RateOption::default().to_bytes());
    assert_eq!(lower(&mut nothing, Rate::from_bps(8), Checksum::Whole), Ok(false));
    assert_eq!(lower(&mut tcp(&USUAL), Rate::from_bps(8), Checksum::Whole), Ok(false));
}

/// RFC 1624, section 4: as a word of 0x5555 becomes 0x3285 a checksum of 0xDD2F
/// becomes zero, where an older equation gives 0xFFFF. Here it is the low word of the feedback.
#[test]
fn the_example_of_rfc_1624() {
    let option = RateOption { feedback: 0x5555, ..ASKED };
    let mut header = tcp(&option.to_bytes());
    header[16..18].copy_from_slice(&[0xDD, 0x2F]);
    let option = RateOption { feedback: 0x3285, ..ASKED };
    assert_eq!(write(&mut header, &option, Checksum::Whole), Ok(()));
    assert_eq!((sum_in(&header), &header[28..30]), (0, &[0x32, 0x85][..]));
    // one more: a sum of 0xFFFF, which is zero, becomes 1, with two carries on the way
    let option = RateOption { feedback: 0x3286, ..ASKED };
    assert_eq!(write(&mut header, &option, Checksum::Whole), Ok(()));
    assert_eq!(sum_in(&header), 0xFFFE);
}

#[test]
fn a_checksum_that_the_device_completes_is_left_alone() {
    let mut header = tcp(&ASKING);
    let partial = sum_in(&header);
    let option = RateOption { feedback: 77, ..ASKED };
    assert_eq!(write(&mut header, &option, Checksum::Offloaded), Ok(()));
    assert_eq!((read(&header), sum_in(&header)), (Ok(Some(option)), partial));
}

proptest! {
    /// What is read is what was written, to 2^-18 for rates (never above), to 2^-12 for the RTT.
    #[test]
    fn written_and_read_again(
        // of every magnitude
        request in (any::<u64>(), 15..64u32).prop_map(|(n, by)| n >> by),
        feedback in (any::<u64>(), 15..64u32).prop_map(|(n, by)| n >> by),
        rtt_us in (0..134_184_960u32, 0..27u32).prop_map(|(n, by)| n >> by),
    ) {
        let option = RateOption { request, feedback, rtt_us };
        let read = read(&tcp(&option.to_bytes())).unwrap().unwrap();
        let largest = 524_287 << 31;
        for (rate, out) in [(request, read.request), (feedback, read.feedback)] {
            let rate = rate.min(largest);
            prop_assert!(out <= rate && rate - out <= rate >> 18, "{rate} as {out}");
        }
        prop_assert!(rtt_us.abs_diff(read.rtt_us) <= rtt_us >> 12, "{rtt_us} as {}", read.rtt_us);
        prop_assert_eq!(read.to_bytes(), option.to_bytes());
    }

    /// Codes compare like the numbers that they stand for.
    #[test]
    fn codes_are_in_order(a in any::<u64>(), b in any::<u64>(), by in 0..64u32) {
        let code = |request| RateOption { request, ..ASKED }.to_bytes();
        let (a, b) = (a >> by, b >> by);
        prop_assert!(code(a.min(b)) <= code(a.max(b)));
    }

    /// The mended checksum is that of the changed segment, wherever the option begins.
    #[test]
    fn the_checksum_is_mended(
        before in 0..21usize,
        old in any::<[u8; 8]>(),
        new in (any::<u64>(), any::<u64>(), any::<u32>()),
        ports in any::<[u8; 4]>(),
        most in any::<u64>(),
        payload in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let mut option = ASKING;
        option[4..].copy_from_slice(&old);
        let mut header = tcp(&[&[1u8; 20][..before], &option].concat());
        header[..4].copy_from_slice(&ports);
        let whole = sum_of(&header, &payload);
        header[16..18].copy_from_slice(&whole.to_be_bytes());

        lower(&mut header, Rate::from_bps(most), Checksum::Whole).unwrap();
        prop_assert_eq!(sum_in(&header), sum_of(&header, &payload));
        let (request, feedback, rtt_us) = new;
        let option = RateOption { request, feedback, rtt_us };
        write(&mut header, &option, Checksum::Whole).unwrap();
        prop_assert_eq!(sum_in(&header), sum_of(&header, &payload));
        prop_assert_eq!(&header[20 + before..][..LENGTH], &option.to_bytes()[..]);
    }

    /// Any bytes are read or refused; half of them have the option somewhere.
    #[test]
    fn any_bytes_are_read_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..80),
        planted in prop::option::of(20..60usize),
        most in any::<u64>(),
    ) {
        if let Some(place) = planted.and_then(|at| bytes.get_mut(at..at + 4)) {
            let [x, y] = EXPERIMENT.to_be_bytes();
            place.copy_from_slice(&[KIND, LENGTH as u8, x, y]);
        }
        let found = read(&bytes);
        let mut copy = bytes.clone();
        let lowered = lower(&mut copy, Rate::from_bps(most), Checksum::Whole);
        prop_assert_eq!(found.is_err(), lowered.is_err());
        if lowered != Ok(true) {
            prop_assert_eq!(&copy, &bytes);
        }
        prop_assert_eq!(write(&mut copy, &ASKED, Checksum::Whole).is_ok(), matches!(found, Ok(Some(_))));
        prop_assert_eq!(copy.len(), bytes.len());
    }
}
